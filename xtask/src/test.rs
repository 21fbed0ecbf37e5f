//! `cargo xtask test`: every test, with the real parts that they need.

mod again;
mod groups;
mod programs;

use crate::parts::Parts;
use crate::scope::{KEPT, Scope};
use crate::shell::{self, Outcome};
use crate::{leftovers, parts};
pub use programs::Program;

/// Takes away what killed tests left, sees to the real parts, and runs the tests of the workspace:
/// with `all`, also those that the usual check leaves out. With words in `rest`, which go to their
/// programs, cargo runs them itself.
///
/// Tests find which parts are here in `PLIMSOLL_TEST_PARTS`. All of them run even when one fails,
/// so that one look says what is to be mended.
///
/// # Errors
/// The tests do not compile, one fails, or in CI a part is missing that could be installed.
pub fn run(all: bool, rest: &[String]) -> Outcome<()> {
    if rest.is_empty() {
        let (programs, parts) = build()?;
        let flaky = run_all(&programs, &parts, &Scope::of(all))?;
        flaky.iter().for_each(|line| println!("{line}"));
        return Ok(());
    }
    let parts = prepared()?;
    let mut cargo = shell::cargo();
    cargo.args(["test", "--locked", "--workspace", "--no-fail-fast", "--"]).args(rest);
    cargo.env("PLIMSOLL_TEST_PARTS", parts.list());
    let outcome = shell::show(&mut cargo);
    // Again at the end, where it is read.
    parts.announce();
    outcome.map_err(|_| "a test failed; its output stands above".to_owned())
}

/// Builds every test program, while the real parts are seen to.
///
/// # Errors
/// They do not compile, or in CI a part is missing that could be installed.
pub fn build() -> Outcome<(Vec<Program>, Parts)> {
    let (programs, parts) = std::thread::scope(|scope| {
        let parts = scope.spawn(prepared);
        (programs::build(), parts.join())
    });
    let parts = parts.map_err(|_| "looking for the real parts panicked".to_owned())?;
    Ok((programs?, parts?))
}

/// Runs the programs, and says again at the end what was missing or left out. The lines that come
/// back name the flaky tests.
///
/// # Errors
/// Names the programs of which a test failed.
pub fn run_all(programs: &[Program], parts: &Parts, scope: &Scope) -> Outcome<Vec<String>> {
    let groups = groups::read()?;
    let outcome = programs::run(programs, &parts.list(), &groups, scope);
    parts.announce();
    groups.iter().filter_map(|group| group.left_out(scope)).for_each(|line| println!("{line}"));
    if *scope != Scope::All {
        println!("LEFT OUT: proofs (`ignored`) of packages in which nothing changed since {KEPT}");
    }
    outcome
}

fn prepared() -> Outcome<Parts> {
    leftovers::clear(&shell::target_dir()?.join("tmp"));
    let parts = parts::ensure();
    parts.announce();
    parts.insist(shell::in_ci())?;
    Ok(parts)
}
