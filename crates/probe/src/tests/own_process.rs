//! Tests that have to be alone in their process, because they look at all of it. The programs of
//! tests of `probe` and `engine` take this file in.

/// Says to a test that it is alone in its process.
const ALONE: &str = "PLIMSOLL_ALONE";

/// Whether `test` (its path in this program) is to do its work here, alone in its process. In the
/// program of all tests it is started again, and must succeed there.
pub fn in_a_process_of_its_own(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut command = std::process::Command::new(std::env::current_exe().expect("this program"));
    let output = command.args(["--exact", test]).env(ALONE, "1").output().expect("starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    false
}
