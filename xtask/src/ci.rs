//! `cargo xtask ci`: everything that has to pass, and how long each step took.

use crate::shell::{self, Outcome};
use std::time::{Duration, Instant};

/// Runs every step in order and stops at the first that fails: the later ones would repeat its
/// complaints.
pub fn run() -> Outcome<()> {
    let mut times = Vec::new();
    let outcome = steps(&mut times);
    println!("\n== time per step");
    for (name, time, good) in &times {
        println!("{:>7.1} s  {name}{}", time.as_secs_f64(), if *good { "" } else { "  FAILED" });
    }
    outcome
}

fn steps(times: &mut Vec<(&'static str, Duration, bool)>) -> Outcome<()> {
    let mut step = |name: &'static str, work: &dyn Fn() -> Outcome<()>| {
        println!("\n== {name}");
        let start = Instant::now();
        let outcome = work();
        times.push((name, start.elapsed(), outcome.is_ok()));
        outcome
    };
    step("fmt", &|| {
        shell::show(shell::cargo().args(["fmt", "--all", "--check"]))
            .map_err(|_| "the formatting differs; run `cargo fmt --all`".to_owned())
    })?;
    step("clippy", &|| {
        let clippy = ["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"];
        shell::show(shell::cargo().args(clippy))
    })?;
    step("tidy", &crate::tidy::run)?;
    step("doc", &|| {
        let mut doc = shell::cargo();
        doc.args(["doc", "--locked", "--workspace", "--no-deps", "--document-private-items"]);
        shell::show(doc.env("RUSTDOCFLAGS", "-D warnings"))
            .map_err(|_| "a comment names what is not there; its place stands above".to_owned())
    })?;
    step("test", &|| crate::test::run(&[]))?;
    step("features", &|| {
        // What is off by default is what breaks unnoticed.
        let rooms = ["--package", "report", "--lib", "--package", "cli", "--test", "whole"];
        let features = ["--features", "cli/parquet,cli/png", "--", "export", "markdown"];
        shell::show(shell::cargo().args(["test", "--locked"]).args(rooms).args(features)).map_err(
            |_| "a test of the optional features failed; its output stands above".to_owned(),
        )
    })
}
