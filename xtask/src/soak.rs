//! `cargo xtask soak`: simulated fleets, seed after seed. Each has its own hosts, links, clocks and mishaps; a seed that breaks an invariant is
//! named with the command that shows it again.

mod scale;

use crate::shell::{self, Outcome};

/// Seeds that take a minute or two.
const SEEDS: u64 = 100_000;

/// What is to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Options {
    seeds: u64,
    first: u64,
    scale: bool,
    /// Whether the table of `scale` goes to its page.
    write: bool,
}

/// Runs the simulation of fleets, optimised.
///
/// # Errors
/// An argument that is none, a simulation that does not compile, or a seed that breaks an invariant.
pub fn run(rest: &[String]) -> Outcome<()> {
    let options = parse(rest)?;
    if options.scale {
        return scale::run(options.write);
    }
    let mut cargo = shell::cargo();
    cargo.args(["test", "--release", "--locked", "--package", "plimsoll-fleet", "--lib", "--"]);
    cargo.args(["--nocapture", "--exact"]);
    cargo.arg("simulation::tests::soak_seeds");
    cargo.env("PLIMSOLL_SOAK_SEEDS", options.seeds.to_string());
    cargo.env("PLIMSOLL_SOAK_FIRST", options.first.to_string());
    shell::show(&mut cargo).map_err(|_| "an invariant broke; its seed stands above".to_owned())
}

fn parse(arguments: &[String]) -> Outcome<Options> {
    let mut options = Options { seeds: SEEDS, first: 0, scale: false, write: false };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut number = || {
            let text = rest.next().map_or("", String::as_str);
            text.parse::<u64>().map_err(|_| format!("{argument} {text}: give a whole number after {argument}"))
        };
        match argument.as_str() {
            "--seeds" => options.seeds = number()?,
            "--first" => options.first = number()?,
            "--scale" => options.scale = true,
            "--write" => options.write = true,
            other => {
                let known = "there are --seeds N, --first SEED and --scale [--write]";
                return Err(format!("{other} is no argument; {known}"));
            }
        }
    }
    if options.write && !options.scale {
        return Err("--write keeps the table of --scale; give both".to_owned());
    }
    if options.seeds == 0 {
        return Err("--seeds 0 proves nothing; give at least 1".to_owned());
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
        let all = Options { seeds: SEEDS, first: 0, scale: false, write: false };
        assert_eq!(parsed(""), Ok(all));
        assert_eq!(parsed("--seeds 5 --first 77"), Ok(Options { seeds: 5, first: 77, ..all }));
        assert_eq!(parsed("--scale"), Ok(Options { scale: true, ..all }));
        assert_eq!(parsed("--scale --write"), Ok(Options { scale: true, write: true, ..all }));
        for (line, word) in [
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
