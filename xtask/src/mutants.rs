//! `cargo xtask mutants`: changes the code in small ways, one at a time, and tells which changes no
//! test notices. `cargo-mutants` makes the changes and runs the tests.
//!
//! A room has thousands of places to change, and each costs a build: a sample is taken, another
//! one for each `--shard`. A survivor that `survivors.txt` has with its reason is no finding.
//!
//! With `--fleet`, the faults of a list ([`fleet`]), all of which have to die.

mod fleet;

use crate::kept;
use crate::shell::{self, Outcome};
use clap::builder::PossibleValuesParser;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};

/// The rooms of pure decisions and of the run file, whose tests stand beside them.
const ROOMS: [&str; 4] = ["model", "suite", "analysis", "store"];
/// One of so many mutants, unless told otherwise: about two hundred of all rooms.
const PARTS: u64 = 60;
/// Survivors that are known, each with its reason, from the root of the workspace.
const KNOWN: &str = "xtask/src/mutants/survivors.txt";

/// What is to be run.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// One room in place of all four.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(ROOMS))]
    room: Option<String>,
    /// Which sample, the first one being 0.
    #[arg(long, value_name = "K/N", default_value_t = format!("0/{PARTS}"), value_parser = shard)]
    shard: String,
    /// The list of the fleet, all of which die, in place of a sample.
    #[arg(long, conflicts_with_all = ["room", "shard"])]
    fleet: bool,
    /// These of the list, with commas between.
    #[arg(long, value_name = "NAMES", requires = "fleet")]
    only: Option<String>,
    /// Seeds that a mutant of the list has to live through.
    #[arg(long, value_name = "N", default_value_t = 1_000, requires = "fleet",
        value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// Keep the table of the list in the docs.
    #[arg(long, requires = "fleet")]
    write: bool,
}

/// A part and how many there are, such as `3/60`.
fn shard(text: &str) -> Outcome<String> {
    let (part, parts) = text.split_once('/').unwrap_or_default();
    let is_one = part.parse::<u64>().is_ok_and(|part| parts.parse().is_ok_and(|all| part < all));
    is_one.then(|| text.to_owned()).ok_or(format!("write it as 3/{PARTS}, the first one being 0"))
}

/// Runs a sample of mutants of the rooms, and holds the survivors against the list.
///
/// # Errors
/// No `cargo-mutants`, tests that fail without a mutant, or a survivor
/// that the list does not have.
pub fn run(options: &Options) -> Outcome<()> {
    if options.fleet {
        return fleet::run(options.only.as_deref(), options.seeds, options.write);
    }
    if shell::which("cargo-mutants").is_none() {
        return Err(
            "cargo-mutants is not installed; run `cargo install --locked cargo-mutants`".to_owned()
        );
    }
    let text = kept::read(KNOWN)?;
    let known = known(&text)?;
    let mut unknown = Vec::new();
    let is_asked = |room: &&str| options.room.as_ref().is_none_or(|asked| asked == room);
    for room in ROOMS.into_iter().filter(is_asked) {
        let survivors = survivors(room, &options.shard)?;
        for survivor in survivors.lines().map(place_apart) {
            match known.get(survivor.as_str()) {
                Some(reason) => println!("known: {survivor}: {reason}"),
                None => unknown.push(survivor),
            }
        }
    }
    if unknown.is_empty() {
        println!("every mutant of this sample dies, or is known");
        return Ok(());
    }
    Err(format!(
        "no test notices {} of these mutants:\n  {}\nWrite a test that does, or add the line and \
         its reason to {KNOWN}",
        unknown.len(),
        unknown.join("\n  ")
    ))
}

/// What `cargo-mutants` found that no test of `room` notices, a line each.
fn survivors(room: &str, shard: &str) -> Outcome<String> {
    let output = shell::folder(shell::target_dir()?.join("mutants").join(room))?;
    let mut cargo = shell::cargo();
    cargo.args(["mutants", "--package", room, "--profile", "mutants", "--no-shuffle"]);
    cargo.args(["--sharding", "round-robin", "--shard", shard]);
    cargo.args(["--minimum-test-timeout", "120", "--caught", "--output"]).arg(&output);
    // Mutants of a room are held against the tests of the room alone, which stand beside it.
    cargo.args(["--test-package", room, "--", "--all-targets", "--", "--include-ignored"]);
    let code = status(&mut cargo)?;
    // 0: all died; 2: some survived; 3: some ran out of time, which is noticed, too.
    if !matches!(code, Some(0 | 2 | 3)) {
        return Err(format!(
            "`{}` ended without a verdict; its output stands above",
            shell::line(&cargo)
        ));
    }
    let missed = output.join("mutants.out/missed.txt");
    std::fs::read_to_string(&missed).map_err(shell::at(&missed))
}

fn status(command: &mut Command) -> Outcome<Option<i32>> {
    let status = command.stdin(Stdio::null()).status();
    status
        .map(|status| status.code())
        .map_err(|error| format!("`{}` cannot be started: {error}", shell::line(command)))
}

/// A survivor without its line and column, which move: `crates/model/src/units.rs: replace f`.
fn place_apart(line: &str) -> String {
    let mut parts = line.splitn(4, ':');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(file), Some(_), Some(_), Some(what)) => format!("{file}:{what}"),
        _ => line.to_owned(),
    }
}

/// The known survivors, each with its reason: a line of the file is `SURVIVOR  # REASON`.
fn known(text: &str) -> Outcome<BTreeMap<&str, &str>> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| match line.split_once("  # ") {
            Some((survivor, reason)) if !reason.trim().is_empty() => Ok((survivor, reason)),
            _ => Err(format!("{KNOWN}: {line}: write the reason behind it, after `  # `")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_survivor_is_known_wherever_its_line_moves() {
        let survivor = place_apart("crates/model/src/a.rs:12:5: replace f -> u64 with 0 in A::f");
        assert_eq!(survivor, "crates/model/src/a.rs: replace f -> u64 with 0 in A::f");
        let text = format!("# head\n\n{survivor}  # no caller can tell\n");
        assert_eq!(known(&text).map(|known| known[survivor.as_str()]), Ok("no caller can tell"));
        assert!(known(&survivor).expect_err("no reason").contains("write the reason"));
    }

    #[test]
    fn the_list_of_survivors_can_be_read() {
        let text = kept::read(KNOWN).expect("the list");
        assert!(known(&text).is_ok_and(|known| known.keys().all(|key| !key.ends_with(' '))));
    }
}
