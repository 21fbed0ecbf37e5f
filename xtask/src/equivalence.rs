//! `cargo xtask equivalence`: all jobs that are held against fio by the kernel's tracepoints, and
//! the table of what was found. Of them, a few run with the tests.

use crate::kept;
use crate::shell::{self, Outcome};

/// Where the table is kept; the page of fio's jobs has it.
const KEPT: &str = "crates/dialects/src/fio/held.md";
const TEST: &str = "equivalence::the_kernel_sees_the_same";

/// Runs them, which takes minutes, root, and loop devices. With `write`, the table is kept.
///
/// # Errors
/// A job differs, or a part that it needs is not there.
pub fn run(write: bool) -> Outcome<()> {
    let found = shell::root().join("target/equivalence.md");
    let _ = std::fs::remove_file(&found);
    let test = ["test", "--locked", "-p", "cli", "--test", "whole", "--", TEST, "--nocapture"];
    let ended = shell::show(shell::cargo().args(test).env("PLIMSOLL_EQUIVALENCE", &found));
    let rows = std::fs::read_to_string(&found).unwrap_or_default();
    if rows.is_empty() {
        return Err(format!("no job ran; `cargo xtask test -- {TEST}` says what is missing"));
    }
    let agree = rows.lines().filter(|row| row.ends_with("| agrees |")).count();
    println!("{agree} of {} jobs agree; {}", rows.lines().count(), found.display());
    if write {
        kept::write(KEPT, &rows)?;
        println!("`cargo xtask docs` puts it into docs/compat/fio.md");
    }
    ended
}
