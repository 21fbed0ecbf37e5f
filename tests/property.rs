//! Whole runs that nobody thought of: random suites, each of which runs and is then held to what
//! must be true of every run. A seed that breaks a rule is named with a simpler suite that breaks
//! it too, and with the command that shows it again.

// What a soak of many seeds says while it goes on.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod invariants;
mod places;
mod real;
mod simulated;
mod suites;

use crate::common::scratch;
use invariants::Broken;
use simulated::Outcome;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use suites::{Case, Ground};

/// Simulated runs and real ones, where nobody says how many.
const SIMULATED: u64 = 48;
const REAL: u64 = 6;
/// So many simpler cases are tried, at most.
const MOST_TRIES: usize = 400;

/// What one ground's runs are.
struct Runs {
    ground: Ground,
    run: fn(&Case, &Path) -> Result<Outcome, Broken>,
    threads: usize,
}

/// A number in the environment.
fn number(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

impl Runs {
    /// Runs these seeds, and panics with all that broke a rule. At least half of them must have
    /// run.
    fn go(&self, first: u64, count: u64, folder: &Path) {
        let (next, ran) = (AtomicU64::new(first), AtomicU64::new(0));
        let broken = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|| {
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= first + count {
                            return;
                        }
                        let case = Case::new(seed, self.ground);
                        if count == 1 {
                            println!(
                                "{} hosts, target {}\n{}",
                                case.hosts,
                                case.target,
                                case.text()
                            );
                        }
                        match (self.run)(&case, folder) {
                            Ok(Outcome::Ran) => _ = ran.fetch_add(1, Ordering::Relaxed),
                            Ok(Outcome::Refused) => {}
                            Err(found) => {
                                let told = self.told(case, found, folder);
                                eprintln!("{told}");
                                broken.lock().expect("no panic").push(told);
                            }
                        }
                    }
                });
            }
        });
        let (broken, ran) = (broken.into_inner().expect("no panic"), ran.into_inner());
        println!("{:?}: {ran} of {count} suites ran, the others were refused", self.ground);
        assert!(
            broken.is_empty(),
            "{} of {count} seeds break a rule:\n{}",
            broken.len(),
            broken.join("\n")
        );
        assert!(
            count < 20 || ran * 2 >= count,
            "{ran} of {count} ran: suites that are refused show nothing"
        );
    }

    /// What broke, in the simplest suite that was found.
    fn told(&self, case: Case, found: Broken, folder: &Path) -> String {
        let seed = case.seed;
        let (case, found) = self.simplest(case, found, folder);
        let flag = if self.ground == Ground::Real { " --real" } else { "" };
        format!(
            "seed {seed}: {} does not hold: {}\n  cargo xtask soak --runs 1 --first \
             {seed}{flag}\n  {} hosts, target {}\n{}",
            found.rule,
            found.how,
            case.hosts,
            case.target,
            case.text().lines().map(|line| format!("    {line}\n")).collect::<String>()
        )
    }

    /// Takes away whatever the rule does not need to break.
    fn simplest(&self, mut case: Case, mut found: Broken, folder: &Path) -> (Case, Broken) {
        let mut tries = if self.ground == Ground::Real { MOST_TRIES / 10 } else { MOST_TRIES };
        'simpler: loop {
            for simpler in case.simpler() {
                if tries == 0 {
                    return (case, found);
                }
                tries -= 1;
                if let Err(still) = (self.run)(&simpler, folder)
                    && still.rule == found.rule
                {
                    (case, found) = (simpler, still);
                    continue 'simpler;
                }
            }
            return (case, found);
        }
    }
}

#[test]
fn simulated_runs_keep_every_rule() {
    let (first, count) =
        (number("PLIMSOLL_RUNS_FIRST").unwrap_or(0), number("PLIMSOLL_RUNS").unwrap_or(SIMULATED));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let folder = scratch();
    Runs { ground: Ground::Simulated, run: simulated::run, threads }.go(first, count, &folder);
}

#[test]
fn real_runs_keep_every_rule() {
    let (first, count) =
        (number("PLIMSOLL_RUNS_FIRST").unwrap_or(0), number("PLIMSOLL_REAL_RUNS").unwrap_or(REAL));
    let folder = real::folder();
    Runs { ground: Ground::Real, run: real::run, threads: 2 }.go(first, count, &folder);
}

/// A way to spoil a record.
type Spoil = fn(&mut model::Record);

fn first_sample(record: &mut model::Record) -> &mut model::IntervalSample {
    let samples = record.stages.iter_mut().flat_map(model::record::StageRecord::samples_mut);
    samples.into_iter().find(|sample| !sample.ops.is_empty()).expect("requests")
}

const SPOILT: [(Spoil, &str); 9] = [
    (|record| first_sample(record).ops[0].ios += 1, "workers add up"),
    (|record| first_sample(record).workers[0].ops[0].bytes += 1, "workers add up"),
    (
        |record| first_sample(record).ops[0].latency = model::Histogram::new().encode(),
        "each request has a latency",
    ),
    (|record| first_sample(record).start_ns += 1, "intervals adjoin"),
    (|record| drop(record.stages[0].samples_mut().pop()), "sums are those of the samples"),
    (|record| record.stages[0].end = None, "ends complete"),
    (|record| record.end = None, "ends complete"),
    (|record| record.stages[0].samples_mut().clear(), "each host reports"),
    (fail_all, "no error without a cause"),
];

/// Has a request fail, with all counts as they must be.
fn fail_all(record: &mut model::Record) {
    let sample = first_sample(record);
    let op = &mut sample.ops[0];
    op.errors.push((5, 1));
    let (work, op, number) = (op.work, op.op, sample.host as usize);
    let stage = sample.stage as usize;
    let planned = record.plan.hosts[number].stages[stage].workers.clone();
    let of_work =
        |worker: &&mut model::sample::WorkerSample| planned[worker.worker as usize].work == work;
    let workers = &mut first_sample(record).workers;
    let worker = workers
        .iter_mut()
        .filter(of_work)
        .find_map(|w| w.ops.iter_mut().find(|done| done.op == op));
    worker.expect("a worker did it").errors += 1;
}

/// A rule that cannot break shows nothing: each is broken once, by hand.
#[test]
fn rules_can_break() {
    let folder = scratch();
    let path = folder.join("kept.plimsoll");
    let is_plain = |case: &Case| {
        !case.target.contains("error=") && !case.says("metadata") && !case.says("amount")
    };
    let cases = (0..).map(|seed| Case::new(seed, Ground::Simulated)).filter(is_plain);
    let mut runs = cases.filter(|case| {
        let _ = std::fs::remove_file(&path);
        matches!(simulated::keep(case, &path), Ok(Outcome::Ran))
    });
    let case = runs.next().expect("a case that runs");
    let (held, summed) =
        (store::read(&path).expect("a run file"), store::read_judged(&path).expect("a run file"));
    for (number, (spoil, rule)) in SPOILT.into_iter().enumerate() {
        let mut spoilt = held.clone();
        spoil(&mut spoilt);
        let found = invariants::check_records(&case, &spoilt, &summed).expect_err(rule);
        assert_eq!(found.rule, rule, "{number}: {}", found.how);
    }
    assert_eq!(invariants::check_records(&case, &held, &summed), Ok(()), "unspoilt, it holds");
}
