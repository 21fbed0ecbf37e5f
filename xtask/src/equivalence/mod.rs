//! `cargo xtask equivalence`: all jobs that are held against fio by the kernel's tracepoints, and
//! the table of what was found. Of them, a few run with the tests. With `--random`, jobs that
//! nobody chose.

#[allow(dead_code, reason = "the tests take the rest")]
#[path = "../../../tests/equivalence/chance.rs"]
mod chance;
mod draw;
mod judge;
#[allow(dead_code, reason = "the tests take the rest")]
#[path = "../../../tests/equivalence/kernel.rs"]
mod kernel;
mod machine;

use crate::kept;
use crate::leftovers;
use crate::shell::{self, Outcome};
use draw::Job;
use judge::{Difference, Facts, Kind, differences};
use machine::{Bench, Loop, Ours, run, scratch, text};
use model::rng::derive;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir as Scratch;

/// Where the table is kept; the page of fio's jobs has it.
const KEPT: &str = "crates/dialects/src/fio/held.md";
/// Where what became of random jobs is kept.
const DRAWN: &str = "crates/dialects/src/fio/drawn.md";
const TEST: &str = "equivalence::the_kernel_sees_the_same";
/// Where `--keep` puts jobs that differ and nobody says so.
const RANDOM: &str = "fixtures/fio/random";
/// So many at a time, each on devices of its own: more would wait for each other.
const AT_ONCE: usize = 2;
/// fio does not run every job that it reads: then the next one of the seed is drawn.
const DRAWS: u64 = 20;
/// What the import says of an amount that it cannot have: we take a second.
const LONG: &str = "60 s in place of the amount";
/// Tries to find a smaller job.
const TRIES: usize = 14;

/// What is held against fio.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Keep the table, or what became of the random jobs, in the docs.
    #[arg(long)]
    write: bool,
    /// So many jobs that are drawn from fio's grammar, in place of the chosen ones.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    random: Option<u64>,
    /// From which they are drawn.
    #[arg(long, value_name = "SEED", default_value_t = 1, requires = "random")]
    seed: u64,
    /// The jobs of a folder, in place of drawn ones: `DEV0` and `DIR0` stand in them for a device
    /// and a directory of 32 and 384 MiB.
    #[arg(long, value_name = "FOLDER", conflicts_with = "random")]
    jobs: Option<PathBuf>,
    /// Keep the smallest jobs that differ unstated in fixtures/fio/random.
    #[arg(long)]
    keep: bool,
}

/// Runs them, which takes minutes, root, and loop devices. With `write`, the table is kept.
///
/// # Errors
/// A job differs, or a part that it needs is not there.
pub fn run_chore(options: &Options) -> Outcome<()> {
    let given = match &options.jobs {
        Some(folder) => draw::read_all(folder)?,
        None => Vec::new(),
    };
    let count = if options.jobs.is_some() { Some(given.len() as u64) } else { options.random };
    let Some(count) = count else { return chosen(options.write) };
    // Nothing may stand behind the last line.
    if random(count, &given, options)? > 0 { std::process::exit(1) } else { Ok(()) }
}

/// So many jobs run in `ci --all`, of this seed.
const IN_CI: (u64, u64) = (100, 1);

/// The jobs of `ci --all`.
///
/// # Errors
/// One differs unstated, or a part that it needs is not there.
pub fn in_ci() -> Outcome<()> {
    let (count, seed) = IN_CI;
    let options = Options { write: false, random: Some(count), seed, jobs: None, keep: false };
    match random(count, &[], &options)? {
        0 => Ok(()),
        unstated => Err(format!(
            "{unstated} of {count} random jobs of fio differ unstated; `cargo xtask equivalence \
             --random {count} --seed {seed}` shows them"
        )),
    }
}

fn chosen(write: bool) -> Outcome<()> {
    let found = shell::root().join("target/equivalence.md");
    let _ = std::fs::remove_file(&found);
    let test = ["test", "--locked", "-p", "cli", "--test", "whole", "--", TEST, "--nocapture"];
    let ended = shell::show(shell::cargo().args(test).env("PLIMSOLL_EQUIVALENCE", &found));
    let rows = std::fs::read_to_string(&found).unwrap_or_default();
    if rows.is_empty() {
        return Err(format!("no job ran; `cargo xtask test -- {TEST}` says what is missing"));
    }
    let agree = rows.lines().filter(|row| row.ends_with("| agrees |")).count();
    println!("{agree} of {} jobs agree; {}", rows.lines().count(), found.display());
    if write {
        kept::write(KEPT, &rows)?;
        println!("`cargo xtask docs` puts it into docs/compat/fio.md");
    }
    ended
}

/// An option that the import does not keep as it is, and why.
type Lost = (String, String);

/// How a job ends.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Refused(String),
    Agree,
    Stated(Vec<Difference>, Vec<Lost>),
    Unstated(Vec<Difference>),
}

/// Holds the jobs that are given against fio, or so many drawn ones, and says how many differ
/// unstated.
fn random(count: u64, given: &[Job], options: &Options) -> Outcome<u64> {
    let missing = ["fio", "losetup", "mkfs.ext4", "mount"].map(|name| (name, shell::which(name)));
    if let Some((name, _)) = missing.iter().find(|(_, path)| path.is_none()) {
        return Err(format!("`{name}` is missing; `cargo xtask test` installs it"));
    }
    if !shell::is_root() {
        return Err("loop devices and tracepoints need root; run it as root".to_owned());
    }
    leftovers::clear(Path::new("/dev/shm"));
    shell::show(shell::cargo().args(["build", "--locked", "-p", "cli"]))?;
    let program = shell::target_dir()?.join("debug/plimsoll");
    println!("{} and {}", run("fio", ["--version"]), program.display());
    let (next, ended) = (AtomicU64::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(count as usize) {
            scope.spawn(|| {
                let bench = Bench::new(&program);
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let verdict = one(&bench, number, count, given, options);
                    ended.lock().expect("nobody panics").insert(number, verdict);
                }
            });
        }
    });
    let ended = ended.into_inner().expect("nobody panics");
    let of = |is: fn(&Verdict) -> bool| ended.values().filter(|verdict| is(verdict)).count();
    let unstated = of(|verdict| matches!(verdict, Verdict::Unstated(_)));
    let refused = of(|verdict| matches!(verdict, Verdict::Refused(_)));
    println!("{refused} refused in words");
    let last = format!(
        "{} jobs: {} agree, {} differ as stated, {unstated} differ unstated",
        ended.len(),
        of(|verdict| *verdict == Verdict::Agree),
        of(|verdict| matches!(verdict, Verdict::Stated(..))),
    );
    if options.write {
        let command = format!("cargo xtask equivalence --random {count} --seed {}", options.seed);
        let (day, version) = (run("date", ["-u", "+%Y-%m-%d"]), run("fio", ["--version"]));
        kept::write(
            DRAWN,
            &format!("\n`{command}`, {day}, {version}: {last}; {refused} refused in words.\n"),
        )?;
    }
    println!("{last}");
    Ok(unstated as u64)
}

/// Draws a job that fio runs, and tells what became of it; or of the one that is given.
fn one(bench: &Bench, number: u64, count: u64, given: &[Job], options: &Options) -> Verdict {
    for draw in 0..if given.is_empty() { DRAWS } else { 1 } {
        let job = given.get(number as usize).cloned();
        let job = job.unwrap_or_else(|| draw::draw(derive(options.seed, &[number, draw])));
        let verdict = match bench.parses(&job).then(|| hold(bench, &job, count)) {
            Some(Ok(verdict)) => verdict,
            other => {
                let why = other.and_then(Result::err).unwrap_or_default();
                println!("job {number}: drawn again, {}", first_line(&why));
                continue;
            }
        };
        let line = job.to_string().trim_end().replace('\n', " ");
        match &verdict {
            Verdict::Refused(words) => {
                println!("job {number}: refused: {}\n  {line}", first_line(words));
            }
            Verdict::Agree => println!("job {number}: agree\n  {line}"),
            Verdict::Stated(found, why) => {
                let found: Vec<&str> = found.iter().map(|(_, what)| what.as_str()).collect();
                println!("job {number}: as stated: {}\n  {line}", found.join("; "));
                why.iter().for_each(|(name, why)| println!("  {name}: {why}"));
            }
            Verdict::Unstated(found) => {
                let (job, found) = smallest(bench, job, found.clone(), count);
                let text = report(bench, &job, &found);
                println!("job {number}: UNSTATED\n  {line}\n{text}");
                if options.keep {
                    let path = format!("{RANDOM}/{}-{number}.fio", options.seed);
                    if let Err(problem) = kept::write(&path, &text) {
                        println!("{problem}");
                    }
                }
            }
        }
        return verdict;
    }
    if !given.is_empty() {
        return Verdict::Refused("fio does not run it here".to_owned());
    }
    let none = format!("fio runs none of {DRAWS} jobs of this seed");
    Verdict::Unstated(vec![(Kind::Failure, none)])
}

fn first_line(text: &str) -> &str {
    let is_error = |line: &&str| line.starts_with("error") || line.starts_with("refused");
    text.lines().find(is_error).or(text.lines().next()).unwrap_or_default()
}

/// Holds a job against fio; the error is fio's.
fn hold(bench: &Bench, job: &Job, jobs: u64) -> Outcome<Verdict> {
    let lost = match bench.lost(job) {
        Ok(lost) => lost,
        Err(words) => return Ok(Verdict::Refused(words)),
    };
    let is_long = lost.iter().any(|(_, why)| why.contains(LONG));
    let more: &[&str] = if is_long { &["--set", "measure=1s"] } else { &[] };
    let ours = match bench.ours(job, more) {
        Ours::Refused(words) => return Ok(Verdict::Refused(words)),
        Ours::Ran(ours) => Ok(ours),
        Ours::Failed(how) => Err(how),
        Ours::Lost(how) => return Err(how),
    };
    let theirs = [bench.fio(job, false)?, bench.fio(job, true)?];
    let ours = match ours {
        Ok(ours) => ours,
        Err(how) => return Ok(Verdict::Unstated(vec![(Kind::Failure, how)])),
    };
    let mut facts = Facts::of(job);
    facts.timed |= is_long;
    let mut found = differences(facts, [&theirs[0], &theirs[1]], &ours, jobs);
    if !found.is_empty() {
        // Once more: the machine may have been busy, or two draws alike.
        let other = bench.fio(job, true)?;
        let Ours::Ran(ours) = bench.ours(job, more) else {
            return Ok(Verdict::Unstated(found));
        };
        let again = differences(facts, [&theirs[0], &other], &ours, jobs);
        found.retain(|(kind, _)| again.iter().any(|(same, _)| same == kind));
    }
    found.extend(is_long.then(|| (Kind::Amount, format!("ours takes {LONG}"))));
    let (stated, unstated): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|(kind, _)| lost.iter().any(|(option, why)| kind.is_of(option, why)));
    Ok(match (stated.is_empty(), unstated.is_empty()) {
        (true, true) => Verdict::Agree,
        (false, true) => {
            let explains =
                |(option, why): &Lost| stated.iter().any(|(kind, _)| kind.is_of(option, why));
            let why = lost.into_iter().filter(explains).collect();
            Verdict::Stated(stated, why)
        }
        _ => Verdict::Unstated(unstated),
    })
}

/// The smallest job that differs in a way in which this one does, one line or section less at a
/// time.
fn smallest(bench: &Bench, job: Job, found: Vec<Difference>, jobs: u64) -> (Job, Vec<Difference>) {
    let (mut job, mut found, mut at) = (job, found, 0);
    for _ in 0..TRIES {
        let Some(smaller) = job.smaller().into_iter().nth(at) else { break };
        let is_same = |other: &[Difference]| {
            found.iter().any(|(kind, _)| other.iter().any(|(other, _)| other == kind))
        };
        match hold(bench, &smaller, jobs) {
            Ok(Verdict::Unstated(other)) if is_same(&other) => (job, found) = (smaller, other),
            _ => at += 1,
        }
    }
    (job, found)
}

/// What differs, what the import says, and the job, as a file that fio reads.
fn report(bench: &Bench, job: &Job, found: &[Difference]) -> String {
    let mut all = String::new();
    for (kind, what) in found {
        let lines: Vec<&str> = what.lines().collect();
        let _ = writeln!(all, "# {kind:?}: {}", lines.join(" | "));
    }
    for (name, why) in bench.lost(job).unwrap_or_default() {
        let _ = writeln!(all, "# the import says of {name}: {why}");
    }
    all + &job.to_string()
}
