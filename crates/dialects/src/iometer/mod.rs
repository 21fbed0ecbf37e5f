//! Iometer: configuration files (`.icf`), as its versions 1998 to 1.1 write them.

mod part;
mod requests;
mod scan;
mod suite;

pub use scan::detect;

use crate::import::{Import, ImportError, MOST_OPTIONS};
use crate::loss::{Losses, Verdict};
use crate::rows::Table;
use part::Part;
use scan::{Entry, Section};
use std::sync::LazyLock;

/// What a configuration of Iometer can say.
pub static OPTIONS: LazyLock<Table> = LazyLock::new(|| Table::read(include_str!("options.txt")));

/// No configuration has more specifications, workers or targets of a worker.
const MOST_ITEMS: usize = 1_000;

/// An access specification: what requests are.
struct Specification {
    name: String,
    /// Whether each worker of disks has it, unless told otherwise.
    is_default: bool,
    lines: Vec<Part>,
}

/// A configuration.
struct Configuration {
    setup: Part,
    specs: Vec<Specification>,
    /// The workers of all managers.
    workers: Vec<Part>,
    /// How many managers there are.
    managers: usize,
}

/// A configuration file as a suite.
///
/// # Errors
/// It has no access specification, or too many of something.
pub fn file(name: &str, text: &str) -> Result<Import, ImportError> {
    let entries = scan::entries(name, text)?;
    let mut losses = Losses::default();
    let mut all =
        Configuration { setup: Part::of(0), specs: Vec::new(), workers: Vec::new(), managers: 0 };
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
    let mut tell = |verdict| {
        losses.tell(name, value, place, verdict);
    };
    let managers = OPTIONS.chapter("`MANAGER LIST`: managers");
    let (chapter, part) = match (section, name.as_str()) {
        (Section::Display, _) => {
            return tell(Verdict::harmless("what is shown while it runs; `--watch` shows it here"));
        }
        (Section::Setup, _) => (OPTIONS.chapter("`TEST SETUP`"), &mut all.setup),
        (Section::Specifications, "Access specification name") => {
            let (name, lines) = (value.clone(), Vec::new());
            all.specs.push(Specification { name, is_default: false, lines });
            return tell(Verdict::same("the workload's `name`"));
        }
        (Section::Specifications, "default assignment") => {
            if let Some(spec) = all.specs.last_mut() {
                spec.is_default = ["ALL", "DISK"].contains(&value.as_str());
            }
            return tell(Verdict::harmless("which workers have it is said by each"));
        }
        (Section::Specifications, _) => {
            let Some(spec) = all.specs.last_mut() else {
                return tell(Verdict::refused("no access specification stands above it"));
            };
            // The first column begins a line.
            if name == "size" || spec.lines.is_empty() {
                spec.lines.push(Part::of(0));
            }
            let last = spec.lines.len() - 1;
            (OPTIONS.chapter("`ACCESS SPECIFICATIONS`, by column"), &mut spec.lines[last])
        }
        (Section::Managers, "Manager ID") => {
            all.managers += 1;
            return tell(Verdict::harmless("a number of Iometer's own"));
        }
        (Section::Managers, "Worker") => {
            all.workers.push(Part::of(all.managers));
            return tell(Verdict::harmless("the name of a worker"));
        }
        (Section::Managers, _) => match all.workers.last_mut() {
            Some(worker) if managers.find(name).is_none() => {
                (OPTIONS.chapter("`MANAGER LIST`: workers"), worker)
            }
            _ => (managers, &mut all.setup),
        },
    };
    chapter.read("Iometer", [name, value, place], part, losses);
}
