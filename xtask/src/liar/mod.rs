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

use crate::shell::{self, Outcome};
use rates::{Count, table};
use runner::{Runner, Staged};

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

/// Runs every lie that this machine can stage, its twins and the honest runs; prints the table, and
/// as its last line how many were found.
///
/// # Errors
/// The program does not compile, or a run of it fails for another reason than its target.
pub fn run(arguments: &[String]) -> Outcome<()> {
    let is_quick = arguments.iter().any(|word| word == "--quick");
    let effort = if is_quick { QUICK } else { FULL };
    let writes = arguments.iter().any(|word| word == "--write");
    let is_option = |word: &&String| ["--quick", "--write"].contains(&word.as_str());
    let programs: Vec<&String> = arguments.iter().filter(|word| !is_option(word)).collect();
    let program = match programs.as_slice() {
        [] => shell::build_plimsoll()?,
        [program] if !program.starts_with('-') => shell::root().join(program),
        _ => return Err("it takes `--quick`, `--write` and a program, and nothing else".to_owned()),
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
    if writes {
        // The page of the doubts is made with it: `cargo xtask docs`.
        let path = shell::root().join(MEASURED);
        std::fs::write(&path, format!("{table}\n`{last}`\n"))
            .map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
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
