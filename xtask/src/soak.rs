//! `cargo xtask soak`: simulated fleets, seed after seed. Each has its own hosts, links, clocks and
//! mishaps; a seed that breaks an invariant is named with the command that shows it again. With
//! `--runs`, whole runs of random suites (`tests/property.rs`).

mod scale;

use crate::shell::{self, Outcome};
use clap::builder::RangedU64ValueParser;

/// Seeds that take a minute or two.
const SEEDS: u64 = 100_000;
/// Whole runs in virtual time that take some minutes, and so many real ones.
const RUNS: u64 = 10_000;
const REAL_RUNS: u64 = 200;

/// What is to be run.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Options {
    /// So many fleets.
    #[arg(long, value_name = "N", default_value_t = SEEDS, value_parser = at_least_one())]
    seeds: u64,
    /// The first of the seeds.
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    first: u64,
    /// What fleets of up to 10,000 hosts cost, instead.
    #[arg(long, conflicts_with = "runs")]
    scale: bool,
    /// Keep the table of --scale in the docs.
    #[arg(long, requires = "scale")]
    write: bool,
    /// Whole runs of random suites in place of fleets [default: 10000, of real ones 200].
    #[arg(long, value_name = "N", num_args = 0..=1, value_parser = at_least_one())]
    runs: Option<Option<u64>>,
    /// On real files in place of simulated targets.
    #[arg(long, requires = "runs")]
    real: bool,
}

fn at_least_one() -> RangedU64ValueParser<u64> {
    RangedU64ValueParser::new().range(1..)
}

/// Runs the simulation of fleets, optimised.
///
/// # Errors
/// A simulation that does not compile, or a seed that breaks an
/// invariant.
pub fn run(options: &Options) -> Outcome<()> {
    if options.scale {
        return scale::run(options.write);
    }
    if let Some(runs) = options.runs {
        return whole_runs(runs, options);
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
fn whole_runs(count: Option<u64>, options: &Options) -> Outcome<()> {
    let (tests, name, count): (&[&str], _, _) = match options.real {
        true => (
            &[
                "property::real_runs_keep_every_rule",
                "property::places::requests_go_where_the_suite_says_by_the_kernels_word",
            ][..],
            "PLIMSOLL_REAL_RUNS",
            count.unwrap_or(REAL_RUNS),
        ),
        false => {
            (&["property::simulated_runs_keep_every_rule"], "PLIMSOLL_RUNS", count.unwrap_or(RUNS))
        }
    };
    let mut cargo = shell::cargo();
    cargo.args(["test", "--release", "--locked", "--package", "cli", "--test", "whole", "--"]);
    cargo.args(["--nocapture", "--exact"]).args(tests);
    cargo.env(name, count.to_string()).env("PLIMSOLL_RUNS_FIRST", options.first.to_string());
    shell::show(&mut cargo).map_err(|_| "a run broke a rule; its seed stands above".to_owned())
}
