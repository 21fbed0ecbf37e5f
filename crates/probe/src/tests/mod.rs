//! The probe over trees of files whose numbers are known.

mod counters;
mod fixture;
mod memory;
mod reads;

/// Says to a test that it is alone in its process.
const ALONE: &str = "PLIMSOLL_ALONE";

/// Whether `test` (its path in this program) is to do its work here, alone in its process. In the
/// program of all tests it is started again, and must succeed there.
fn in_a_process_of_its_own(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut command = std::process::Command::new(std::env::current_exe().expect("this program"));
    let output = command.args(["--exact", test]).env(ALONE, "1").output().expect("starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    false
}
