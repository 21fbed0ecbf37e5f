//! `cargo xtask ci`: everything that has to pass, and how long each step took.
//!
//! The tests that wait for runs leave processors free. So all is built first, and then clippy and
//! the documentation are checked while the tests run.

use crate::scope::{self, Scope};
use crate::shell::{self, Outcome};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How long each step took, and whether it was good.
type Times = Mutex<Vec<(&'static str, Duration, bool)>>;

/// Runs every step, and stops where a later one would repeat the complaints of an earlier one: with
/// `--all` on everything, else on what changed since that passed.
///
/// # Errors
/// Names the steps that failed; their output stands above.
pub fn run(all: bool) -> Outcome<()> {
    let scope = Scope::of(all);
    let start = Instant::now();
    let times = Times::default();
    let outcome = steps(&times, &scope);
    println!("\n== time per step");
    let mut times = times.into_inner().unwrap_or_default();
    times.push(("all", start.elapsed(), outcome.is_ok()));
    for (name, time, good) in &times {
        println!("{:>7.1} s  {name}{}", time.as_secs_f64(), if *good { "" } else { "  FAILED" });
    }
    for line in outcome.as_ref().map_or(&[][..], Vec::as_slice) {
        println!("{line}");
    }
    if all && outcome.is_ok() {
        scope::keep()?;
    }
    outcome.map(drop)
}

/// The lines that come back name the flaky tests.
fn steps(times: &Times, scope: &Scope) -> Outcome<Vec<String>> {
    timed(times, "fmt", || {
        shell::show(shell::cargo().args(["fmt", "--all", "--check"]))
            .map_err(|_| "the formatting differs; run `cargo fmt --all`".to_owned())
    })?;
    timed(times, "tidy", crate::tidy::run)?;
    let (programs, parts) = timed(times, "build", crate::test::build)?;
    let (tests, checks) = std::thread::scope(|threads| {
        let looks = || {
            let (clippy, doc) = (|| clippy(scope), || doc(scope));
            timed(times, "clippy", clippy).and(timed(times, "doc", doc))
        };
        let checks = threads.spawn(looks);
        let tests = timed(times, "test", || crate::test::run_all(&programs, &parts, scope));
        (tests, checks.join().unwrap_or_else(|_| Err("a check panicked".to_owned())))
    });
    let failed = [tests.as_ref().err(), checks.as_ref().err()];
    let failed: Vec<&str> = failed.into_iter().flatten().map(String::as_str).collect();
    if !failed.is_empty() {
        return Err(failed.join("\n"));
    }
    if matches!(scope, Scope::All) {
        timed(times, "random jobs", crate::equivalence::in_ci)?;
    }
    tests
}

fn timed<T>(times: &Times, name: &'static str, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    println!("\n== {name}");
    let start = Instant::now();
    let outcome = work();
    if let Ok(mut times) = times.lock() {
        times.push((name, start.elapsed(), outcome.is_ok()));
    }
    outcome
}

fn clippy(scope: &Scope) -> Outcome<()> {
    let Some(mut clippy) = aside("clippy", scope) else { return Ok(()) };
    quietly(clippy.args(["--all-targets", "--", "-D", "warnings"]))
}

fn doc(scope: &Scope) -> Outcome<()> {
    let Some(mut doc) = aside("doc", scope) else { return Ok(()) };
    doc.args(["--no-deps", "--document-private-items"]);
    quietly(doc.env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links"))
}

/// Cargo for the packages that are looked at, with less of the processors than the tests beside it.
/// `None`: there are none.
fn aside(chore: &str, scope: &Scope) -> Option<Command> {
    let packages = scope.packages();
    if packages.as_ref().is_some_and(std::collections::BTreeSet::is_empty) {
        return None;
    }
    let cargo = shell::cargo();
    let mut command = match shell::which("nice") {
        Some(nice) => {
            let mut command = Command::new(nice);
            command.current_dir(shell::root()).args(["-n", "10"]).arg(cargo.get_program());
            command
        }
        None => cargo,
    };
    command.args([chore, "--locked"]);
    match packages {
        None => command.arg("--workspace"),
        Some(packages) => command.args(packages.iter().flat_map(|package| ["--package", package])),
    };
    Some(command)
}

/// Runs `command`, and prints what it wrote if it fails: the tests write meanwhile.
fn quietly(command: &mut Command) -> Outcome<()> {
    let output = command.stdin(Stdio::null()).output();
    let output =
        output.map_err(|error| format!("`{}` cannot be started: {error}", shell::line(command)))?;
    if output.status.success() {
        return Ok(());
    }
    println!("{}", String::from_utf8_lossy(&output.stderr));
    Err(format!("`{}` ended with {}; its output stands above", shell::line(command), output.status))
}
