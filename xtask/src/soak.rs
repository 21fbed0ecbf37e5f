//! `cargo xtask soak`: simulated fleets, seed after seed. Each has its own hosts, links, clocks and
//! mishaps; a seed that breaks an invariant is named with the command that shows it again. With
//! `--runs`, whole runs of random suites (`tests/property.rs`).

mod scale;

use crate::shell::{self, Outcome};

/// Seeds that take a minute or two.
const SEEDS: u64 = 100_000;
/// Whole runs in virtual time that take some minutes, and so many real ones.
const RUNS: u64 = 10_000;
const REAL_RUNS: u64 = 200;

/// What is to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Options {
    seeds: u64,
    first: u64,
    scale: bool,
    /// Whether the table of `scale` goes to its page.
    write: bool,
    /// Whole runs in place of fleets.
    runs: Option<Runs>,
}

/// How many whole runs, where it is said, and on what ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Runs {
    count: Option<u64>,
    is_real: bool,
}

/// Runs the simulation of fleets, optimised.
///
/// # Errors
/// An argument that is none, a simulation that does not compile, or a seed that breaks an
/// invariant.
pub fn run(rest: &[String]) -> Outcome<()> {
    let options = parse(rest)?;
    if options.scale {
        return scale::run(options.write);
    }
    if let Some(runs) = options.runs {
        return whole_runs(runs, options.first);
    }
    let mut cargo = shell::cargo();
    cargo.args(["test", "--release", "--locked", "--package", "fleet", "--lib", "--"]);
    cargo.args(["--nocapture", "--exact"]);
    cargo.arg("simulation::tests::soak_seeds");
    cargo.env("PLIMSOLL_SOAK_SEEDS", options.seeds.to_string());
    cargo.env("PLIMSOLL_SOAK_FIRST", options.first.to_string());
    shell::show(&mut cargo).map_err(|_| "an invariant broke; its seed stands above".to_owned())
}

/// Runs the property test over whole runs, optimised.
fn whole_runs(runs: Runs, first: u64) -> Outcome<()> {
    let (tests, name, count): (&[&str], _, _) = match runs.is_real {
        true => (
            &[
                "property::real_runs_keep_every_rule",
                "property::places::requests_go_where_the_suite_says_by_the_kernels_word",
            ][..],
            "PLIMSOLL_REAL_RUNS",
            runs.count.unwrap_or(REAL_RUNS),
        ),
        false => (
            &["property::simulated_runs_keep_every_rule"],
            "PLIMSOLL_RUNS",
            runs.count.unwrap_or(RUNS),
        ),
    };
    let mut cargo = shell::cargo();
    cargo.args(["test", "--release", "--locked", "--package", "cli", "--test", "whole", "--"]);
    cargo.args(["--nocapture", "--exact"]).args(tests);
    cargo.env(name, count.to_string()).env("PLIMSOLL_RUNS_FIRST", first.to_string());
    shell::show(&mut cargo).map_err(|_| "a run broke a rule; its seed stands above".to_owned())
}

fn parse(arguments: &[String]) -> Outcome<Options> {
    let mut options = Options { seeds: SEEDS, first: 0, scale: false, write: false, runs: None };
    let mut is_real = false;
    let mut rest = arguments.iter().peekable();
    while let Some(argument) = rest.next() {
        if argument == "--runs" {
            let count = rest.peek().and_then(|next| next.parse().ok());
            rest.next_if(|_| count.is_some());
            options.runs = Some(Runs { count, is_real: false });
            continue;
        }
        let mut number = || {
            let text = rest.next().map_or("", String::as_str);
            text.parse::<u64>()
                .map_err(|_| format!("{argument} {text}: give a whole number after {argument}"))
        };
        match argument.as_str() {
            "--seeds" => options.seeds = number()?,
            "--first" => options.first = number()?,
            "--scale" => options.scale = true,
            "--write" => options.write = true,
            "--real" => is_real = true,
            other => {
                let known =
                    "there are --seeds N, --first SEED, --runs [N] [--real] and --scale [--write]";
                return Err(format!("{other} is no argument; {known}"));
            }
        }
    }
    if options.write && !options.scale {
        return Err("--write keeps the table of --scale; give both".to_owned());
    }
    if options.seeds == 0 || options.runs.is_some_and(|runs| runs.count == Some(0)) {
        return Err("--seeds 0 and --runs 0 prove nothing; give at least 1".to_owned());
    }
    match &mut options.runs {
        Some(runs) => runs.is_real = is_real,
        None if is_real => return Err("--real is for whole runs; give --runs, too".to_owned()),
        None => {}
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Outcome<Options> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn seeds_are_read_and_what_is_wrong_is_said() {
        let all = Options { seeds: SEEDS, first: 0, scale: false, write: false, runs: None };
        assert_eq!(parsed(""), Ok(all));
        assert_eq!(parsed("--seeds 5 --first 77"), Ok(Options { seeds: 5, first: 77, ..all }));
        assert_eq!(parsed("--scale"), Ok(Options { scale: true, ..all }));
        assert_eq!(parsed("--scale --write"), Ok(Options { scale: true, write: true, ..all }));
        let runs = |count, is_real| Some(Runs { count, is_real });
        assert_eq!(parsed("--runs"), Ok(Options { runs: runs(None, false), ..all }));
        assert_eq!(
            parsed("--runs 7 --first 3"),
            Ok(Options { runs: runs(Some(7), false), first: 3, ..all })
        );
        assert_eq!(
            parsed("--real --runs --first 3"),
            Ok(Options { runs: runs(None, true), first: 3, ..all })
        );
        for (line, word) in [
            ("--real", "--runs"),
            ("--runs 0", "at least 1"),
            ("--seeds", "--seeds"),
            ("--first x", "x"),
            ("--seeds 0", "at least 1"),
            ("-v", "--scale"),
            ("--write", "give both"),
        ] {
            let problem = parsed(line).expect_err(line);
            assert!(problem.contains(word), "{line}: {problem}");
        }
    }
}
