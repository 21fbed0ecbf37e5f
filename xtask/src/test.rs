//! `cargo xtask test`: every test, with the real parts that they need.

use crate::shell::{self, Outcome};
use crate::{leftovers, parts};

/// Takes away what killed tests left, sees to the real parts, and runs the tests of the workspace;
/// `rest` goes to `cargo test`.
///
/// Tests find which parts are here in `PLIMSOLL_TEST_PARTS`. All of them run even when one fails,
/// so that one look says what is to be mended.
pub fn run(rest: &[String]) -> Outcome<()> {
    leftovers::clear(&shell::target_dir()?.join("tmp"));
    let parts = parts::ensure();
    parts.announce();
    parts.insist(shell::in_ci())?;
    let mut cargo = shell::cargo();
    cargo.args(["test", "--locked", "--workspace", "--no-fail-fast"]).args(rest);
    cargo.env("PLIMSOLL_TEST_PARTS", parts.list());
    let outcome = shell::show(&mut cargo);
    // Again at the end, where it is read.
    parts.announce();
    outcome.map_err(|_| "a test failed; its output stands above".to_owned())
}
