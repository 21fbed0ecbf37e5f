//! `cargo xtask liar`: targets that deceive in known ways, each with a truthful twin, and how many
//! of them the program finds.
//!
//! A lie is found when its own doubt stands beside a result of the run. A twin that is given that
//! doubt, and an honest simulated run that is given any, is a false alarm.

mod honest;
mod rates;
mod real;
mod runner;
mod simulated;

use crate::kept;
use crate::shell::{self, Outcome};
use rates::{Count, table};
use runner::{Runner, Staged};
use std::path::PathBuf;

/// How much is done.
#[derive(Clone, Copy)]
struct Effort {
    /// Runs of each simulated lie, and of its twin.
    simulated: u64,
    /// Runs of each real lie, and of its twin.
    real: u64,
    /// Honest simulated runs.
    honest: u64,
}

/// What the page of the doubts shows of a whole run.
const MEASURED: &str = "crates/catalogue/src/ways/measured.txt";

const FULL: Effort = Effort { simulated: 20, real: 3, honest: 1_000 };
const QUICK: Effort = Effort { simulated: 5, real: 1, honest: 200 };

/// What is run.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// A quarter of the runs.
    #[arg(long)]
    quick: bool,
    /// Keep the table in the docs.
    #[arg(long)]
    write: bool,
    /// Instead of one that is built.
    program: Option<PathBuf>,
}

/// Runs every lie that this machine can stage, its twins and the honest runs; prints the table, and
/// as its last line how many were found.
///
/// # Errors
/// The program does not compile, or a run of it fails for another reason than its target.
pub fn run(options: &Options) -> Outcome<()> {
    let effort = if options.quick { QUICK } else { FULL };
    let program = match &options.program {
        None => shell::build_plimsoll()?,
        Some(program) => shell::root().join(program),
    };
    let runner = Runner::new(program)?;
    let mut counts = Vec::new();
    for lie in simulated::LIES {
        let count = |seed| runner.judge(&lie.lying(seed), &lie.honest(seed));
        counts.push(Count::of(
            lie.name,
            lie.doubt,
            "simulated",
            (1..=effort.simulated).map(count),
        )?);
    }
    for lie in real::LIES {
        match real_count(lie, &runner, effort)? {
            Ok(count) => counts.push(count),
            Err(why) => println!("SKIPPED: {} because {why}", lie.name),
        }
    }
    let honest = honest::alarms(&runner, effort.honest)?;
    let (table, last) = (table(&counts, &honest), rates::last_line(&counts, &honest));
    if options.write {
        // The page of the doubts is made with it: `cargo xtask docs`.
        kept::write(MEASURED, &format!("{table}\n`{last}`\n"))?;
    }
    println!("{table}\n{last}");
    Ok(())
}

/// The runs of one real lie; `Err` within says why this machine cannot stage it.
fn real_count(lie: &real::Lie, runner: &Runner, effort: Effort) -> Outcome<Result<Count, String>> {
    let mut results = Vec::new();
    for _ in 0..effort.real {
        let staged = match (lie.stage)(runner.folder()) {
            Ok(staged) => staged,
            Err(why) => return Ok(Err(why)),
        };
        let Staged { lying, honest, .. } = &staged;
        results.push(runner.judge(lying, honest));
    }
    Count::of(lie.name, lie.doubt, "real", results.into_iter()).map(Ok)
}
