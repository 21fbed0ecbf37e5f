//! `cargo xtask equivalence`: all jobs that are held against fio by the kernel's tracepoints, and
//! the table of what was found. Of them, a few run with the tests. With `--random`, jobs that
//! nobody chose.

#[allow(dead_code, reason = "the tests take the rest")]
#[path = "../../../tests/equivalence/chance.rs"]
mod chance;
mod draw;
mod fio;
mod grammar;
mod judge;
#[allow(dead_code, reason = "the tests take the rest")]
#[path = "../../../tests/equivalence/kernel.rs"]
mod kernel;
mod machine;
mod tools;

use crate::kept;
use crate::leftovers;
use crate::shell::{self, Outcome};
use draw::Job;
use judge::{Difference, Kind};
use machine::{Bench, Loop, run, scratch, text};
use model::rng::derive;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir as Scratch;

/// Where the table is kept; the page of fio's jobs has it.
const KEPT: &str = "crates/dialects/src/fio/held.md";
const TEST: &str = "equivalence::the_kernel_sees_the_same";
/// Where `--keep` puts jobs that differ and nobody says so.
const RANDOM: &str = "fixtures/fio/random";
/// So many at a time, each on devices of its own: more would wait for each other.
const AT_ONCE: usize = 2;
/// fio does not run every job that it reads: then the next one of the seed is drawn.
const DRAWS: u64 = 20;
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
    /// Keep the smallest jobs that differ unstated in fixtures/fio/random.
    #[arg(long, requires = "random")]
    keep: bool,
    /// The jobs of a folder, in place of drawn ones: `DEV0` and `DIR0` stand in them for a device
    /// and a directory of 32 and 384 MiB.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["random", "write"])]
    jobs: Option<PathBuf>,
    /// The tool whose jobs are drawn; it is found in PATH.
    #[arg(long, value_enum, default_value_t, requires = "random", conflicts_with = "keep")]
    tool: Tool,
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
    let (write, keep, jobs, tool) = (false, false, None, Tool::Fio);
    let options = Options { write, random: Some(count), seed, keep, jobs, tool };
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

impl Verdict {
    /// Of what differs, and of what the import says of it.
    fn of(
        found: Vec<Difference>,
        lost: Vec<Lost>,
        explains: impl Fn(&Lost, &Difference) -> bool,
    ) -> Verdict {
        let is_stated = |one: &Difference| lost.iter().any(|lost| explains(lost, one));
        let (stated, unstated): (Vec<_>, Vec<_>) = found.into_iter().partition(is_stated);
        match (stated.is_empty(), unstated.is_empty()) {
            (true, true) => Verdict::Agree,
            (false, true) => {
                let says = |lost: &Lost| stated.iter().any(|one| explains(lost, one));
                let why = lost.into_iter().filter(says).collect();
                Verdict::Stated(stated, why)
            }
            _ => Verdict::Unstated(unstated),
        }
    }
}

/// Where drawn jobs of a tool are held against it.
trait Oracle {
    /// A job, as it is printed.
    type Job: Clone + fmt::Display;

    /// The job of a seed.
    fn draw(&self, seed: u64) -> Self::Job;

    /// What the import does not keep of it; or the words in which it is refused.
    fn lost(&self, job: &Self::Job) -> Result<Vec<Lost>, String>;

    /// Holds the job, one of `jobs`, against the tool; the error is the tool's.
    fn hold(&self, job: &Self::Job, jobs: u64) -> Outcome<Verdict>;

    /// Jobs that have something less.
    fn smaller(&self, job: &Self::Job) -> Vec<Self::Job>;
}

/// The tool that drawn jobs are held against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Tool {
    /// Its job files, by the kernel's tracepoints.
    #[default]
    Fio,
    /// Its command lines, by their system calls.
    Ior,
    /// The same.
    Mdtest,
}

impl Tool {
    /// The name of its program.
    fn name(self) -> &'static str {
        match self {
            Tool::Fio => "fio",
            Tool::Ior => "ior",
            Tool::Mdtest => "mdtest",
        }
    }

    /// What it needs, and what to do where that is missing.
    fn needs(self) -> (Vec<&'static str>, &'static str) {
        let disks = ["losetup", "mkfs.ext4", "mount"];
        let (own, remedy): (&[&str], _) = match self {
            Tool::Fio => (&["fio"], "`cargo xtask test` installs it"),
            Tool::Ior | Tool::Mdtest => (
                &["strace", "mpirun"],
                "install strace and OpenMPI, build github.com/hpc/ior, and put its `src` into PATH",
            ),
        };
        ([own, &[self.name()], &disks].concat(), remedy)
    }

    /// Its version.
    fn version(self) -> String {
        match self {
            Tool::Fio => run("fio", ["--version"]),
            _ => tools::version(self),
        }
    }

    /// Where what became of random jobs is kept.
    fn drawn(self) -> &'static str {
        match self {
            Tool::Fio => "crates/dialects/src/fio/drawn.md",
            Tool::Ior => "crates/dialects/src/mpi/ior_drawn.md",
            Tool::Mdtest => "crates/dialects/src/mpi/mdtest_drawn.md",
        }
    }
}

/// Compares the jobs that are given, or so many drawn ones, with their tool, and says how many
/// differ unstated.
fn random(count: u64, given: &[Job], options: &Options) -> Outcome<u64> {
    let (needs, remedy) = options.tool.needs();
    if let Some(name) = needs.iter().find(|name| shell::which(name).is_none()) {
        return Err(format!("`{name}` is missing; {remedy}"));
    }
    if !shell::is_root() {
        return Err("loop devices and tracepoints need root; run it as root".to_owned());
    }
    leftovers::clear(Path::new("/dev/shm"));
    shell::show(shell::cargo().args(["build", "--locked", "-p", "cli"]))?;
    let program = shell::target_dir()?.join("debug/plimsoll");
    println!("{} and {}", options.tool.version(), program.display());
    let ended = match options.tool {
        Tool::Fio => all(count, given, options, || Bench::new(&program)),
        tool => all(count, &[], options, || tools::Ranks::new(tool, &program)),
    };
    let of = |is: fn(&Verdict) -> bool| ended.iter().filter(|verdict| is(verdict)).count();
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
        let tool = match options.tool {
            Tool::Fio => String::new(),
            tool => format!("--tool {} ", tool.name()),
        };
        let command =
            format!("cargo xtask equivalence {tool}--random {count} --seed {}", options.seed);
        let (day, version) = (run("date", ["-u", "+%Y-%m-%d"]), options.tool.version());
        kept::write(
            options.tool.drawn(),
            &format!("\n`{command}`, {day}, {version}: {last}; {refused} refused in words.\n"),
        )?;
    }
    println!("{last}");
    Ok(unstated as u64)
}

/// What became of each job, some at a time.
fn all<O: Oracle>(
    count: u64,
    given: &[O::Job],
    options: &Options,
    new: impl Fn() -> O + Sync,
) -> Vec<Verdict>
where
    O::Job: Sync,
{
    let (next, ended) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(count as usize) {
            scope.spawn(|| {
                let bench = new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let verdict = one(&bench, number, count, given, options);
                    ended.lock().expect("nobody panics").push(verdict);
                }
            });
        }
    });
    ended.into_inner().expect("nobody panics")
}

/// Draws a job that the tool runs, and tells what became of it.
fn one<O: Oracle>(
    bench: &O,
    number: u64,
    count: u64,
    given: &[O::Job],
    options: &Options,
) -> Verdict {
    for draw in 0..if given.is_empty() { DRAWS } else { 1 } {
        let job = given.get(number as usize).cloned();
        let job = job.unwrap_or_else(|| bench.draw(derive(options.seed, &[number, draw])));
        let verdict = match bench.hold(&job, count) {
            Ok(verdict) => verdict,
            Err(why) => {
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
        return Verdict::Refused(format!("{} does not run it here", options.tool.name()));
    }
    let none = format!("{} runs none of {DRAWS} jobs of this seed", options.tool.name());
    Verdict::Unstated(vec![(Kind::Failure, none)])
}

fn first_line(text: &str) -> &str {
    let is_error = |line: &&str| line.starts_with("error") || line.starts_with("refused");
    text.lines().find(is_error).or(text.lines().next()).unwrap_or_default()
}

/// The smallest job that differs in a way in which this one does, one line or section less at a
/// time.
fn smallest<O: Oracle>(
    bench: &O,
    job: O::Job,
    found: Vec<Difference>,
    jobs: u64,
) -> (O::Job, Vec<Difference>) {
    let (mut job, mut found, mut at) = (job, found, 0);
    for _ in 0..TRIES {
        let Some(smaller) = bench.smaller(&job).into_iter().nth(at) else { break };
        let is_same = |other: &[Difference]| {
            found.iter().any(|(kind, _)| other.iter().any(|(other, _)| other == kind))
        };
        match bench.hold(&smaller, jobs) {
            Ok(Verdict::Unstated(other)) if is_same(&other) => (job, found) = (smaller, other),
            _ => at += 1,
        }
    }
    (job, found)
}

/// What differs, what the import says, and the job.
fn report<O: Oracle>(bench: &O, job: &O::Job, found: &[Difference]) -> String {
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
