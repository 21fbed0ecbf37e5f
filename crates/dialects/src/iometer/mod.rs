//! Iometer: configuration files (`.icf`), as its versions 1998 to 1.1 write them.

mod options;
mod scan;
mod suite;

pub use options::{MANAGER, SETUP, SPECIFICATION, WORKER};
pub use scan::detect;

use crate::import::{Import, ImportError, MOST_OPTIONS};
use crate::loss::{Losses, Verdict};
use crate::mpi::job::Got;
use crate::table::{Given, Opt, find, unknown};
use scan::{Entry, Section};

/// No configuration has more specifications, workers or targets of a worker.
const MOST_ITEMS: usize = 1_000;

/// How a number of something goes up from test to test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The first.
    pub start: u64,
    /// The last, where it is said.
    pub end: Option<u64>,
    /// What is added, or multiplied by.
    pub step: u64,
    /// Whether it is multiplied.
    pub exponential: bool,
}

/// What the tests run through (`Test Type`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cycled {
    /// Nothing.
    #[default]
    Nothing,
    /// Outstanding requests.
    Depth,
    /// Workers.
    Workers,
}

/// The test setup.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// `Test Description`
    pub description: Option<Got<String>>,
    /// `Run Time`, in s
    pub time: Option<Got<u64>>,
    /// `Ramp Up Time`, in s
    pub ramp: Option<Got<u64>>,
    /// `Default Disk Workers to Spawn`; `None` is as many as there are CPUs
    pub workers: Option<Got<Option<u64>>>,
    /// `Worker Cycling`
    pub worker_cycle: Option<Got<Cycle>>,
    /// `Queue Depth Cycling`
    pub depth_cycle: Option<Got<Cycle>>,
    /// `Test Type`
    pub cycled: Option<Got<Cycled>>,
}

/// A line of an access specification.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// `size`, in bytes
    pub size: Option<Got<u64>>,
    /// `% of size`
    pub weight: Option<Got<u64>>,
    /// `% reads`
    pub reads: Option<Got<u64>>,
    /// `% random`
    pub random: Option<Got<u64>>,
    /// `delay`, in ms
    pub delay: Option<Got<u64>>,
    /// `burst`
    pub burst: Option<Got<u64>>,
    /// `align`, in bytes; 0 is a sector
    pub align: Option<Got<u64>>,
}

/// An access specification: what requests are.
#[derive(Clone, Debug, Default)]
pub struct Specification {
    /// Its name.
    pub name: String,
    /// Whether each worker of disks has it, unless told otherwise.
    pub is_default: bool,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// A worker.
#[derive(Clone, Debug, Default)]
pub struct Worker {
    /// The manager that it belongs to, by number.
    pub manager: usize,
    /// `Number of outstanding IOs`, for each target
    pub depth: Option<Got<u64>>,
    /// `fixed seed value`, where it is used
    pub seed: Option<Got<u64>>,
    /// `Disk maximum size`, in sectors; 0 is all
    pub sectors: Option<Got<u64>>,
    /// `starting sector`
    pub first: Option<Got<u64>>,
    /// `Data pattern`
    pub pattern: Option<Got<u64>>,
    /// `use fixed seed`
    pub seeded: bool,
    /// `Assigned access specs`, by name
    pub specs: Vec<Got<String>>,
    /// `Target`
    pub targets: Vec<Got<Target>>,
}

/// A target of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its name in Iometer.
    pub name: String,
    /// The path that stands for it, if there is one.
    pub path: Option<String>,
}

/// A configuration.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// The setup.
    pub setup: Setup,
    /// The specifications.
    pub specs: Vec<Specification>,
    /// The workers of all managers.
    pub workers: Vec<Worker>,
    /// How many managers there are.
    pub managers: usize,
}

/// A configuration file as a suite.
///
/// # Errors
/// It has no access specification, or too many of something.
pub fn file(name: &str, text: &str) -> Result<Import, ImportError> {
    let entries = scan::entries(name, text)?;
    let mut losses = Losses::default();
    let mut all = Configuration::default();
    for entry in &entries {
        read(entry, &mut all, &mut losses);
        let most = all.workers.iter().map(|worker| worker.targets.len().max(worker.specs.len()));
        let most = most.max().unwrap_or(0).max(all.specs.len()).max(all.workers.len());
        if most > MOST_ITEMS || losses.len() > MOST_OPTIONS {
            let what = format!("there are more than {MOST_ITEMS} of one thing");
            return Err(ImportError::new(&entry.place, what, "split the configuration"));
        }
    }
    if all.specs.iter().all(|spec| spec.lines.is_empty()) {
        let remedy = "name a file that Iometer saved with its access specifications";
        return Err(ImportError::new(name, "no access specification is in it", remedy));
    }
    Ok(suite::suite(name, &all, losses))
}

/// Reads an entry of any section.
fn read(entry: &Entry, all: &mut Configuration, losses: &mut Losses) {
    let Entry { section, name, value, place } = entry;
    match (section, name.as_str()) {
        (Section::Display, _) => {
            let why = "what is shown while it runs; `--watch` shows it here";
            losses.tell(name, value, place, Verdict::harmless(why));
        }
        (Section::Setup, _) => apply(SETUP, &mut all.setup, entry, losses),
        (Section::Specifications, "Access specification name") => {
            losses.tell(name, value, place, Verdict::same("the workload's `name`"));
            all.specs.push(Specification { name: value.clone(), ..Specification::default() });
        }
        (Section::Specifications, "default assignment") => {
            let why = "which workers have it is said by each";
            losses.tell(name, value, place, Verdict::harmless(why));
            if let Some(spec) = all.specs.last_mut() {
                spec.is_default = ["ALL", "DISK"].contains(&value.as_str());
            }
        }
        (Section::Specifications, _) => {
            let Some(spec) = all.specs.last_mut() else {
                let why = "no access specification stands above it";
                losses.tell(name, value, place, Verdict::refused(why));
                return;
            };
            // The first column begins a line.
            if name == "size" || spec.lines.is_empty() {
                spec.lines.push(Line::default());
            }
            if let Some(line) = spec.lines.last_mut() {
                apply(SPECIFICATION, line, entry, losses);
            }
        }
        (Section::Managers, "Manager ID") => {
            losses.tell(name, value, place, Verdict::harmless("a number of Iometer's own"));
            all.managers += 1;
        }
        (Section::Managers, "Worker") => {
            losses.tell(name, value, place, Verdict::harmless("the name of a worker"));
            let manager = all.managers;
            all.workers.push(Worker { manager, ..Worker::default() });
        }
        (Section::Managers, _) => match all.workers.last_mut() {
            Some(worker) if find(&[MANAGER], name).is_none() => {
                apply(WORKER, worker, entry, losses);
            }
            _ => apply(MANAGER, &mut (), entry, losses),
        },
    }
}

fn apply<J>(table: &'static [Opt<J>], into: &mut J, entry: &Entry, losses: &mut Losses) {
    let id = losses.tell(&entry.name, &entry.value, &entry.place, Verdict::harmless(""));
    let verdict = match find(&[table], &entry.name) {
        Some(option) => option.apply(into, &Given { id, value: entry.value.clone() }),
        None => unknown(&[table], "Iometer", &entry.name),
    };
    losses.replace(id, verdict);
}
