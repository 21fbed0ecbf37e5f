//! `cargo xtask ci`: everything that has to pass, and how long each step took.
//!
//! The tests that wait for runs leave processors free. So all is built first, and then clippy and
//! the documentation are checked while the tests run.

use crate::shell::{self, Outcome};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How long each step took, and whether it was good.
type Times = Mutex<Vec<(&'static str, Duration, bool)>>;

/// Runs every step, and stops where a later one would repeat the complaints of an earlier one.
///
/// # Errors
/// Names the steps that failed; their output stands above.
pub fn run() -> Outcome<()> {
    let start = Instant::now();
    let times = Times::default();
    let outcome = steps(&times);
    println!("\n== time per step");
    let mut times = times.into_inner().unwrap_or_default();
    times.push(("all", start.elapsed(), outcome.is_ok()));
    for (name, time, good) in &times {
        println!("{:>7.1} s  {name}{}", time.as_secs_f64(), if *good { "" } else { "  FAILED" });
    }
    outcome
}

fn steps(times: &Times) -> Outcome<()> {
    timed(times, "fmt", || {
        shell::show(shell::cargo().args(["fmt", "--all", "--check"]))
            .map_err(|_| "the formatting differs; run `cargo fmt --all`".to_owned())
    })?;
    timed(times, "tidy", crate::tidy::run)?;
    let (programs, parts) = timed(times, "build", crate::test::build)?;
    let (tests, checks) = std::thread::scope(|scope| {
        let checks = scope.spawn(|| timed(times, "clippy", clippy).and(timed(times, "doc", doc)));
        let tests = timed(times, "test", || crate::test::run_all(&programs, &parts));
        (tests, checks.join().unwrap_or_else(|_| Err("a check panicked".to_owned())))
    });
    let features = timed(times, "features", crate::features::run_where_changed);
    let failed: Vec<String> =
        [tests, checks, features].into_iter().filter_map(Result::err).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
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

fn clippy() -> Outcome<()> {
    let mut clippy = aside();
    clippy.args(["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"]);
    quietly(&mut clippy)
}

fn doc() -> Outcome<()> {
    let mut doc = aside();
    doc.args(["doc", "--locked", "--workspace", "--no-deps", "--document-private-items"]);
    quietly(doc.env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links"))
}

/// Cargo with less of the processors than the tests beside it.
fn aside() -> Command {
    let Some(nice) = shell::which("nice") else { return shell::cargo() };
    let cargo = shell::cargo();
    let mut command = Command::new(nice);
    command.current_dir(shell::root()).args(["-n", "10"]).arg(cargo.get_program());
    command
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
