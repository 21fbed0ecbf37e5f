//! IOR and mdtest: command lines, with the launcher that stands before them.

mod ior;
mod mdtest;

use crate::draft::Fields;
use crate::import::{Import, ImportError};
use crate::loss::{Losses, OptionId, Verdict};
use crate::rows::{Given, Reads, Row, Table, Values};
use crate::words::line::{self, Line, WORKERS};
use crate::words::values::Notation;
use std::sync::LazyLock;

/// IOR's options.
pub static IOR: LazyLock<Table> = LazyLock::new(|| Table::read(include_str!("ior.txt")));
/// mdtest's options.
pub static MDTEST: LazyLock<Table> = LazyLock::new(|| Table::read(include_str!("mdtest.txt")));

/// Launchers, and their options for the number of ranks.
const LAUNCHERS: [&str; 8] =
    ["mpirun", "mpiexec", "mpiexec.hydra", "srun", "prun", "aprun", "jsrun", "orterun"];
const RANKS: [&str; 4] = ["-n", "-np", "--np", "--ntasks"];

/// A command line of one of them.
struct Job {
    tool: &'static str,
    values: Values,
    /// `-X` of IOR, `-R` of mdtest.
    seed: Option<(u64, OptionId)>,
    ranks: Ranks,
}

/// The ranks that a launcher starts.
#[derive(Clone, Debug, Default)]
struct Ranks {
    /// How many; `None` where no launcher says so.
    count: Option<u64>,
    /// What said so.
    id: Option<OptionId>,
    /// The program is the first word: nothing starts more than one.
    is_alone: bool,
}

impl Reads for Job {
    fn values(&mut self) -> &mut Values {
        &mut self.values
    }

    fn notation(&self) -> Notation {
        Notation::BINARY
    }

    fn decide(&mut self, row: &Row, given: &Given) -> Result<Verdict, String> {
        match row.slot {
            Some("file" | "directory") if given.value.contains('@') => {
                Err("several paths, which ranks take in turns; name them with --target".to_owned())
            }
            Some("api") => interface(self.tool, &given.value),
            Some("option") => ior::option(&given.value),
            Some("size") if self.values.number("size") > Some(64 << 20) => {
                self.values.forget("size");
                Err("files of more than 64 MiB in a tree".to_owned())
            }
            Some("random") if ["", "0"].contains(&given.value.as_str()) => Ok(row.verdict("")),
            None if given.value.starts_with('-') => {
                self.seed = None;
                Ok(Verdict::near("each run has a seed of its own; tasks are not reordered"))
            }
            Some("random") | None => {
                self.seed = Some((self.notation().number(&given.value)?, given.id));
                Ok(row.verdict(&given.value))
            }
            Some(_) => Ok(row.verdict(&given.value)),
        }
    }
}

/// `-a`: the interface that requests go through.
fn interface(tool: &str, name: &str) -> Result<Verdict, String> {
    match name.to_ascii_uppercase().as_str() {
        "POSIX" => Ok(Verdict::same("calls of POSIX")),
        "MPIIO" if tool == "ior" => {
            Ok(Verdict::near("POSIX calls in place of MPI-IO's: no hints of its own"))
        }
        "MMAP" => Ok(Verdict::near("calls in place of page faults of mapped files")),
        other => Err(format!("the interface {other}")),
    }
}

impl Job {
    /// Reads a command line; `words` begin where the launcher or the program does.
    fn read(
        tool: &'static str,
        name: &str,
        words: &[String],
        table: &'static Table,
        losses: &mut Losses,
    ) -> Job {
        let (mut ranks, first) = launcher(words, tool, losses);
        ranks.count = ranks.count.map(|count| WORKERS.keep(count, ranks.id, losses));
        let mut job = Job { tool, values: Values::of(table), seed: None, ranks };
        let line = Line { tool: name, words, first, bare: |_| None };
        line.read(table.chapter("Options"), &mut job, losses);
        job
    }

    /// Workers of all hosts, as the launcher has ranks.
    fn workers(&self, losses: &Losses, fields: &mut Fields) {
        match self.ranks.count {
            Some(count) => {
                let from = self.ranks.id.map(|id| losses.source(id)).unwrap_or_default();
                fields.set("workers", count.to_string(), from);
                fields.text("spread", "all-hosts", "");
            }
            None => fields.set("workers", "1", "without a launcher"),
        }
    }

    /// Fields of the top of the suite.
    fn top(&self, losses: &Losses) -> Fields {
        let mut top = Fields::default();
        if let Some((seed, id)) = self.seed {
            top.set("seed", seed.to_string(), losses.source(id));
        }
        top
    }
}

/// A command line of IOR.
pub fn ior(words: &[String]) -> Import {
    let mut losses = Losses::default();
    let mut job = Job::read("ior", "IOR", words, &IOR, &mut losses);
    let group = ior::group(&mut job, &mut losses);
    line::import("ior", "ior", job.top(&losses), group, losses)
}

/// A command line of mdtest.
///
/// # Errors
/// It does not say how many files there are, or too many.
pub fn mdtest(words: &[String]) -> Result<Import, ImportError> {
    let mut losses = Losses::default();
    let job = Job::read("mdtest", "mdtest", words, &MDTEST, &mut losses);
    let group = mdtest::group(&job, &mut losses)?;
    Ok(line::import("mdtest", "mdtest", job.top(&losses), group, losses))
}

/// The ranks that the launcher starts, and the number of the first word behind the program.
fn launcher(words: &[String], program: &str, losses: &mut Losses) -> (Ranks, usize) {
    let base = |word: &str| word.rsplit('/').next().unwrap_or(word).to_ascii_lowercase();
    let at = words.iter().position(|word| base(word) == program);
    let end = at.unwrap_or(0);
    let mut ranks = Ranks { is_alone: at == Some(0), ..Ranks::default() };
    let mut number = 0;
    while number < end {
        let word = words[number].as_str();
        let place = format!("word {}", number + 1);
        number += 1;
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let next = words.get(number).filter(|_| value.is_empty() && number < end);
        let value = if value.is_empty() { next.map_or("", String::as_str) } else { value };
        if RANKS.contains(&name) {
            number += usize::from(!word.contains('='));
            let count = value.parse().ok();
            let verdict = match count {
                Some(_) => Verdict::same("`workers`, with `spread = \"all-hosts\"`"),
                None => Verdict::refused(format!("`{value}` is no number of ranks")),
            };
            let id = losses.tell(name, value, &place, verdict);
            (ranks.count, ranks.id) = (count.or(ranks.count), Some(id));
        } else if !LAUNCHERS.contains(&base(word).as_str()) {
            let why = "of the launcher: hosts are named with `--hosts` or `--slurm`";
            losses.tell(word, "", &place, Verdict::harmless(why));
        }
    }
    (ranks, at.map_or(0, |at| at + 1))
}
