//! The engine over real files, in one program. What looks at its whole process has one of its own:
//! `in_a_process_of_its_own` starts this program again, for one test.

mod amounts;
mod attacks;
mod contents;
mod cpu;
mod files;
mod metadata;
mod metadata_limits;
mod real_files;

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
