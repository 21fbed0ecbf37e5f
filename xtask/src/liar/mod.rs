//! `cargo xtask liar`: targets that deceive in known ways, each with a truthful twin, and how many
//! of them the program finds.
//!
//! A lie is found when one of its own words stands in what is said of the run. A twin of which one
//! of these is said, or which is [accused](ACCUSES), and an honest simulated run that is given any
//! doubt, is a false alarm. What this machine cannot stage is announced, and counts as neither.

mod honest;
mod rates;
mod runner;
mod stage;
mod table;

use crate::kept;
use crate::shell::Outcome;
use rates::{Count, Honest};
use runner::{Runner, Said};
use std::collections::BTreeMap;
use std::path::PathBuf;
use table::{KINDS, Lie, Run};

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

/// Doubts that accuse the target, or how it was reached. What other programs do to a busy machine
/// is true of a twin, too.
const ACCUSES: &str = "barriers-off burst-spent direct-refused errors flush-broken flush-instant \
    holes io-limited less-at-device little-broken little-space not-carried quota-throttled \
    throttled";

/// What is run.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// A quarter of the runs, and each twin once.
    #[arg(long)]
    quick: bool,
    /// Lies with this in their names or targets.
    #[arg(long, conflicts_with = "write")]
    only: Option<String>,
    /// Lies on this kind of target.
    #[arg(long, conflicts_with = "write", value_parser = KINDS)]
    kind: Option<String>,
    /// Keep the table in the docs.
    #[arg(long)]
    write: bool,
    /// Instead of one that is built.
    program: Option<PathBuf>,
}

impl Options {
    fn wants(&self, lie: &Lie) -> bool {
        self.only.as_ref().is_none_or(|only| lie.label().contains(only))
            && self.kind.as_ref().is_none_or(|kind| *kind == lie.kind)
    }
}

/// Runs every lie that this machine can stage, its twins and the honest runs; prints the tables,
/// and as its last line how many were found.
///
/// # Errors
/// The program does not compile, or a simulated run of it fails.
pub fn run(options: &Options) -> Outcome<()> {
    let effort = if options.quick { QUICK } else { FULL };
    let runner = Runner::new(options.program.as_deref())?;
    let mut told = Told { runner, once: options.quick, twins: BTreeMap::new() };
    let mut counts = Vec::new();
    for lie in table::lies()?.into_iter().filter(|lie| options.wants(lie)) {
        let runs = if lie.kind == "simulated" { effort.simulated } else { effort.real };
        counts.push(told.count(lie, runs));
    }
    let is_whole = options.only.is_none() && options.kind.as_ref().is_none_or(|k| k == KINDS[0]);
    let honest = if is_whole { honest::alarms(&told.runner, effort.honest)? } else { Honest::NONE };
    let (table, kinds) = (rates::table(&counts, &honest), rates::by_kind(&counts));
    let last = rates::last_line(&counts, &honest);
    if options.write {
        // The page of the doubts is made with it: `cargo xtask docs`.
        kept::write(MEASURED, &format!("{table}\n{kinds}\n`{last}`\n"))?;
    }
    println!("{table}\n{kinds}\n{last}");
    Ok(())
}

/// Has the program run, and remembers what it said.
struct Told {
    runner: Runner,
    /// Whether twins that are the same run once.
    once: bool,
    twins: BTreeMap<Run, Said>,
}

impl Told {
    fn of(&self, run: &Run) -> Outcome<Said> {
        self.runner.run(&self.runner.stage(&run.target)?, &run.load)
    }

    fn of_twin(&mut self, twin: &Run) -> Outcome<Said> {
        if let Some(said) = self.twins.get(twin).filter(|_| self.once) {
            return Ok(said.clone());
        }
        let said = self.of(twin)?;
        self.twins.insert(twin.clone(), said.clone());
        Ok(said)
    }

    /// The runs of a lie and of its twin. What is not found, and what is said without reason, is
    /// printed with all that was said.
    fn count(&mut self, lie: Lie, runs: u64) -> Count {
        let mut count = Count { found: 0, alarms: 0, runs: 0, lie };
        for seed in 1..=runs {
            let Lie { says, lying, honest, kind, .. } = count.lie.clone();
            let seeded = |run: Run| match kind.as_str() {
                "simulated" => Run { load: format!("{} --set seed={seed}", run.load), ..run },
                _ => run,
            };
            let (lying, honest) = (seeded(lying), seeded(honest));
            let both = self.of(&lying).and_then(|said| Ok((said, self.of_twin(&honest)?)));
            let (of_lie, of_twin) = match both {
                Ok(both) => both,
                Err(why) => {
                    println!("NOT STAGED: {}: {why}", count.lie.label());
                    return count;
                }
            };
            let is_own = |word: &String| says.contains(word);
            // In memory there is nothing to flush, and that is no lie of the twin's.
            let is_true =
                |word: &str| word == "flush-instant" && honest.target.starts_with("tmpfs");
            let is_accused =
                |word: &str| ACCUSES.split(' ').any(|one| one == word) && !is_true(word);
            let is_wrong = |word: &&String| is_own(word) || is_accused(word);
            let wrong: Vec<&String> = of_twin.iter().filter(is_wrong).collect();
            let is_found = of_lie.iter().any(is_own);
            count.runs += 1;
            count.found += u64::from(is_found);
            count.alarms += u64::from(!wrong.is_empty());
            if !is_found {
                println!("NOT FOUND: {}: `run {}` said {of_lie:?}", count.lie.label(), lying.load);
            }
            if !wrong.is_empty() {
                println!("FALSE: `run {}` of {} said {wrong:?}", honest.load, honest.target);
            }
        }
        count
    }
}
