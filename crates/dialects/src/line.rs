//! Command lines with options of one letter, and words behind two dashes.

use crate::draft::{Draft, Fields, Group};
use crate::import::Import;
use crate::loss::Losses;
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

/// `sweep.repetitions`, as the slot of this name has it.
pub fn repetitions(values: &Values, losses: &Losses, group: &mut Group) {
    if values.number("repetitions") > Some(1) {
        let at_most = |count: u64| count.min(1_000).to_string();
        values.copy("repetitions", losses, &mut group.sweep, "repetitions", at_most);
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
