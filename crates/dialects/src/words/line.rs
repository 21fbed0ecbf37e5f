//! Command lines with options of one letter, and words behind two dashes.

use crate::draft::{Draft, Fields, Group, size, time};
use crate::import::Import;
use crate::loss::{Losses, OptionId, Verdict};
use crate::rows::{Chapter, Reads, Values};
use crate::write;

/// A command line from its word `first` on.
pub struct Line<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// All words.
    pub words: &'a [String],
    /// The number of the first one that is read.
    pub first: usize,
    /// The option to which a word without a dash belongs, behind an option of this name.
    pub bare: fn(&str) -> Option<&'static str>,
}

impl Line<'_> {
    /// Reads the options into `job`.
    pub fn read(&self, options: &'static Chapter, job: &mut impl Reads, losses: &mut Losses) {
        let mut last = String::new();
        let mut number = self.first;
        while let Some(word) = self.words.get(number) {
            let place = format!("word {}", number + 1);
            number += 1;
            let next = self.words.get(number).map(String::as_str);
            let takes = |name: &str| options.find(name).map(|row| row.takes.a_value());
            let (all, took) = match (self.bare)(&last).filter(|_| !word.starts_with('-')) {
                Some(name) => (vec![(name.to_owned(), word.clone())], false),
                None => split(word, next, takes),
            };
            number += usize::from(took);
            for (name, value) in all {
                options.read(self.tool, [&name, &value, &place], job, losses);
                last = name;
            }
        }
    }
}

/// The suite of a command line.
pub fn import(
    dialect: &'static str,
    tool: &str,
    top: Fields,
    group: Group,
    losses: Losses,
) -> Import {
    let what = format!("a command line of {tool}");
    let draft = Draft { top, ..Draft::imported(dialect, "", &what, "the word that", vec![group]) };
    Import::new(dialect, losses, vec![write::suite(&draft)])
}

/// The least and the most that a field of a suite takes, and how it is written.
pub struct Limits(pub u64, pub u64, pub fn(u64) -> String);

/// `block_size` and `align`.
pub const BLOCK: Limits = Limits(512, 1 << 30, size);
/// `workers`.
pub const WORKERS: Limits = Limits(1, 65_536, count);
/// `depth`.
pub const DEPTH: Limits = Limits(1, 4_096, count);
/// `burst`.
pub const BURST: Limits = Limits(1, 65_536, count);
/// `think`, of milliseconds.
pub const THINK: Limits = Limits(0, 1 << 30, |ms| time(ms.saturating_mul(1_000_000)));
/// `stages.measure`.
pub const MEASURE: Limits = Limits(1_000_000_000, 1 << 60, time);
/// `layout.files` and `segments`.
pub const FILES: Limits = Limits(1, 65_536, count);
/// `tree.files` and `tree.per_directory`.
pub const FILES_OF_TREE: Limits = Limits(1, 1 << 32, count);

/// A count as TOML writes it.
pub fn count(number: u64) -> String {
    number.to_string()
}

impl Limits {
    /// The nearest number within; where that is another one, the option that gave it says so.
    pub fn keep(&self, own: u64, id: Option<OptionId>, losses: &mut Losses) -> u64 {
        let kept = own.clamp(self.0, self.1);
        if let Some(id) = id.filter(|_| kept != own) {
            let (written, end) = ((self.2)(kept), if kept > own { "least" } else { "most" });
            let written = written.trim_matches('"');
            // It says more than that the option is near.
            losses.replace(id, Verdict::near(format!("{written}, the {end} that a suite takes")));
        }
        kept
    }

    /// The same of the number of a slot.
    pub fn of(&self, slot: &str, values: &Values, losses: &mut Losses) -> Option<u64> {
        Some(self.keep(values.number(slot)?, values.id(slot), losses))
    }

    /// Sets a field to it, where there is one.
    pub fn copy(
        &self,
        slot: &str,
        values: &Values,
        losses: &mut Losses,
        fields: &mut Fields,
        key: &'static str,
    ) {
        if let Some(kept) = self.of(slot, values, losses) {
            fields.set(key, (self.2)(kept), values.source(slot, losses));
        }
    }
}

/// `sweep.repetitions`, as the slot of this name has it.
pub fn repetitions(values: &Values, losses: &mut Losses, group: &mut Group) {
    if values.number("repetitions") > Some(1) {
        let limits = Limits(1, 1_000, count);
        limits.copy("repetitions", values, losses, &mut group.sweep, "repetitions");
    }
}

/// A word as options with their values, and whether it took the next one. `takes` says of an option
/// whether it takes a value; `None` of what is none.
fn split(
    word: &str,
    next: Option<&str>,
    takes: impl Fn(&str) -> Option<bool>,
) -> (Vec<(String, String)>, bool) {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    if let Some(takes) = takes(name) {
        return match (takes, word.contains('='), next) {
            (true, false, Some(next)) => (vec![(name.to_owned(), next.to_owned())], true),
            _ => (vec![(name.to_owned(), value.to_owned())], false),
        };
    }
    let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
        return (vec![(name.to_owned(), value.to_owned())], false);
    };
    // `-i4`, `-wr`, and both together.
    let mut all = Vec::new();
    for (at, letter) in letters.char_indices() {
        let name = format!("-{letter}");
        let rest = &letters[at + letter.len_utf8()..];
        match takes(&name) {
            Some(true) if rest.is_empty() => {
                all.push((name, next.unwrap_or_default().to_owned()));
                return (all, next.is_some());
            }
            Some(true) => {
                all.push((name, rest.to_owned()));
                return (all, false);
            }
            Some(false) => all.push((name, String::new())),
            None => return (vec![(word.to_owned(), String::new())], false),
        }
    }
    (all, false)
}
