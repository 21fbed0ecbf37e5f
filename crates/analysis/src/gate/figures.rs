//! What a run is judged by.

use crate::compare::{Asked, Key, Metric, grouped};
use crate::rows::row::{Covers, Ops, ResultRow};
use std::fmt;
use std::str::FromStr;

/// What a gate watches.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// The time that the whole command takes.
    CommandTime,
    /// A figure of a point.
    Figure {
        /// Which point.
        key: Key,
        /// Whether it is of operations on whole files.
        is_metadata: bool,
        /// Which figure.
        metric: Metric,
    },
}

impl Subject {
    /// Whether more of it is better.
    pub fn more_is_better(&self) -> bool {
        match self {
            Subject::CommandTime => false,
            Subject::Figure { metric, .. } => metric.more_is_better(),
        }
    }
}

/// A figure that somebody chose, such as `p99` or `read p99`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Of which points; `None` for each total.
    pub of: Option<Asked>,
    /// The figure.
    pub metric: Metric,
}

/// A text that is no choice of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadChoice;

impl fmt::Display for BadChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = Metric::ALL.iter().map(|metric| metric.word()).collect();
        write!(
            f,
            "it names no figure; write one of {}, with an operation before it if you like: 'read \
             p99'",
            words.join(", ")
        )
    }
}

impl std::error::Error for BadChoice {}

impl FromStr for Choice {
    type Err = BadChoice;

    fn from_str(text: &str) -> Result<Choice, BadChoice> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (of, word) = match words.as_slice() {
            [word] => (None, *word),
            [of, word] => (Some(Asked::from_name(of).ok_or(BadChoice)?), *word),
            _ => return Err(BadChoice),
        };
        let metric = Metric::ALL.into_iter().find(|metric| metric.word() == word);
        Ok(Choice { of, metric: metric.ok_or(BadChoice)? })
    }
}

/// The figures of a run with their repetitions, as rows: those that were chosen, or of each total
/// the rate, and the mean latency where the rate is given. Empty where the run has none of them.
pub fn figures<'a>(
    rows: &'a [ResultRow],
    choices: &[Choice],
) -> Vec<(Subject, Vec<&'a ResultRow>)> {
    let mut found = Vec::new();
    for (key, repetitions) in grouped(rows) {
        let Some(first) = repetitions.first().copied() else { continue };
        for metric in wanted(&key, first, choices) {
            if repetitions.iter().all(|row| metric.value(row).is_some()) {
                let is_metadata = first.is_metadata();
                let subject = Subject::Figure { key: key.clone(), is_metadata, metric };
                found.push((subject, repetitions.clone()));
            }
        }
    }
    found
}

fn wanted(key: &Key, row: &ResultRow, choices: &[Choice]) -> Vec<Metric> {
    let is_total = row.covers >= Covers::Workload;
    if choices.is_empty() {
        let usual = if row.is_paced() { Metric::Mean } else { Metric::Iops };
        return if is_total { vec![usual] } else { Vec::new() };
    }
    let is_meant = |choice: &&Choice| match choice.of {
        None | Some(Asked::All) => is_total,
        Some(Asked::One(op)) => key.ops == Ops::One(op),
    };
    choices.iter().filter(is_meant).map(|choice| choice.metric).collect()
}
