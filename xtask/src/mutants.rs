//! `cargo xtask mutants`: changes the code in small ways, one at a time, and tells which changes no
//! test notices. `cargo-mutants` makes the changes and runs the tests.
//!
//! A room has thousands of places to change, and each costs a build: a sample is taken, another
//! one for each `--shard`. A survivor that `survivors.txt` has with its reason is no finding.
//!
//! With `--fleet`, the faults of a list ([`fleet`]), all of which have to die.

mod fleet;

use crate::shell::{self, Outcome};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// The rooms of pure decisions and of the run file, whose tests stand beside them.
const ROOMS: [&str; 4] = ["model", "suite", "analysis", "store"];
/// One of so many mutants, unless told otherwise: about two hundred of all rooms.
const PARTS: u64 = 60;
/// Seeds that a mutant of the fleet's list has to live through.
const SEEDS: u64 = 1_000;
/// Survivors that are known, each with its reason, from the root of the workspace.
const KNOWN: &str = "xtask/src/mutants/survivors.txt";

/// What is to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Options {
    rooms: Vec<String>,
    shard: u64,
    parts: u64,
    /// The list of the fleet in place of a sample.
    fleet: Option<Listed>,
}

/// What is to be run of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Listed {
    only: Option<String>,
    seeds: u64,
    write: bool,
}

/// Runs a sample of mutants of the rooms, and holds the survivors against the list.
///
/// # Errors
/// An argument that is none, no `cargo-mutants`, tests that fail without a mutant, or a survivor
/// that the list does not have.
pub fn run(rest: &[String]) -> Outcome<()> {
    let options = parse(rest)?;
    if let Some(Listed { only, seeds, write }) = &options.fleet {
        return fleet::run(only.as_deref(), *seeds, *write);
    }
    if shell::which("cargo-mutants").is_none() {
        return Err(
            "cargo-mutants is not installed; run `cargo install --locked cargo-mutants`".to_owned()
        );
    }
    let text = std::fs::read_to_string(shell::root().join(KNOWN))
        .map_err(|error| format!("{KNOWN}: {error}"))?;
    let known = known(&text)?;
    let mut unknown = Vec::new();
    for room in &options.rooms {
        let survivors = survivors(room, &options)?;
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
fn survivors(room: &str, options: &Options) -> Outcome<String> {
    let output = shell::target_dir()?.join("mutants").join(room);
    std::fs::create_dir_all(&output).map_err(|error| format!("{}: {error}", output.display()))?;
    let mut cargo = shell::cargo();
    cargo.args(["mutants", "--package", room, "--profile", "mutants", "--no-shuffle"]);
    cargo.args(["--sharding", "round-robin", "--shard"]);
    cargo.arg(format!("{}/{}", options.shard, options.parts));
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
    read(&output.join("mutants.out/missed.txt"))
}

fn status(command: &mut Command) -> Outcome<Option<i32>> {
    let status = command.stdin(Stdio::null()).status();
    status
        .map(|status| status.code())
        .map_err(|error| format!("`{}` cannot be started: {error}", shell::line(command)))
}

fn read(file: &Path) -> Outcome<String> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
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

fn parse(arguments: &[String]) -> Outcome<Options> {
    let rooms = ROOMS.map(str::to_owned).to_vec();
    let mut options = Options { rooms, shard: 0, parts: PARTS, fleet: None };
    let mut rest = arguments.iter().map(String::as_str);
    if arguments.first().is_some_and(|first| first == "--fleet") {
        options.fleet = Some(listed(rest.skip(1))?);
        return Ok(options);
    }
    while let Some(argument) = rest.next() {
        let value = rest.next().unwrap_or_default();
        match argument {
            "--room" if ROOMS.contains(&value) => options.rooms = vec![value.to_owned()],
            "--room" => {
                return Err(format!("--room {value}: there are {}", ROOMS.join(", ")));
            }
            "--shard" => {
                let parts = value.split_once('/').and_then(|(shard, parts)| {
                    Some((shard.parse::<u64>().ok()?, parts.parse::<u64>().ok()?))
                });
                match parts {
                    Some((shard, parts)) if shard < parts => {
                        (options.shard, options.parts) = (shard, parts);
                    }
                    _ => {
                        return Err(format!(
                            "--shard {value}: write it as 3/{PARTS}, the first one being 0"
                        ));
                    }
                }
            }
            other => {
                let known = "there are --room NAME, --shard K/N, and --fleet before all others";
                return Err(format!("{other} is no argument; {known}"));
            }
        }
    }
    Ok(options)
}

fn listed<'a>(mut rest: impl Iterator<Item = &'a str>) -> Outcome<Listed> {
    let mut listed = Listed { only: None, seeds: SEEDS, write: false };
    while let Some(argument) = rest.next() {
        match argument {
            "--write" => listed.write = true,
            "--only" => listed.only = Some(rest.next().unwrap_or_default().to_owned()),
            "--seeds" => {
                let value = rest.next().unwrap_or_default();
                let seeds = value.parse().ok().filter(|seeds| *seeds > 0);
                listed.seeds =
                    seeds.ok_or_else(|| format!("--seeds {value}: give at least 1 seed"))?;
            }
            other => {
                let known = "behind --fleet there are --only NAME, --seeds N and --write";
                return Err(format!("{other} is no argument; {known}"));
            }
        }
    }
    Ok(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Outcome<Options> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn rooms_and_shards_are_read_and_what_is_wrong_is_said() {
        assert_eq!(parsed("").map(|options| options.rooms.len()), Ok(4));
        let one = Options { rooms: vec!["store".to_owned()], shard: 3, parts: 50, fleet: None };
        assert_eq!(parsed("--room store --shard 3/50"), Ok(one));
        let fleet = |only: Option<&str>, seeds, write| {
            let only = only.map(str::to_owned);
            Ok(Some(Listed { only, seeds, write }))
        };
        assert_eq!(parsed("--fleet").map(|options| options.fleet), fleet(None, SEEDS, false));
        assert_eq!(
            parsed("--fleet --only a --seeds 7 --write").map(|options| options.fleet),
            fleet(Some("a"), 7, true)
        );
        for (line, word) in [
            ("--fleet --seeds 0", "at least 1"),
            ("--fleet --shard 1/2", "--only NAME"),
            ("--room cli", "model, suite"),
            ("--shard 3", "3/60"),
            ("--shard 3/3", "3/60"),
            ("--fast", "--room NAME"),
        ] {
            let problem = parsed(line).expect_err(line);
            assert!(problem.contains(word), "{line}: {problem}");
        }
    }

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
        let text = read(&shell::root().join(KNOWN)).expect("the list");
        assert!(known(&text).is_ok_and(|known| known.keys().all(|key| !key.ends_with(' '))));
    }
}
