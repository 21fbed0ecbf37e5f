//! Which figure a doubt stands beside, and by which number.

use crate::ground::sentence::Sentence;
use crate::topics::warning;
use analysis::{ResultRow, Warning};

/// The figure that a doubt stands beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touches {
    /// The rate, and with it all the rest.
    Rate,
    /// The p99 and what lies beyond.
    P99,
    /// The p99.9 and what lies beyond.
    P999,
    /// A figure that tables do not show; JSON has it with its doubt.
    Other,
}

fn touches(warning: &Warning) -> Touches {
    match warning {
        Warning::FewSamples { .. } | Warning::ThinTail { quantile: "p99", .. } => Touches::P99,
        Warning::ThinTail { quantile: "p99.9", .. } => Touches::P999,
        Warning::ThinTail { .. } => Touches::Other,
        _ => Touches::Rate,
    }
}

/// Whether a doubt of `row` stands beside a figure that tables show.
pub fn is_shown(row: &ResultRow) -> bool {
    row.warnings.iter().any(|warning| touches(warning) != Touches::Other)
}

/// Numbers each different sentence once, from 1, in the order in which tables show them. Those that
/// differ in quantities alone are one.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    sentences: Vec<Sentence>,
}

impl Marks {
    /// The numbers of the doubts beside a figure of `row`.
    pub fn of(&mut self, row: &ResultRow, figure: Touches) -> Vec<usize> {
        let here = row.warnings.iter().filter(|warning| touches(warning) == figure);
        let mut numbers: Vec<usize> =
            here.map(|warning| self.number(warning::told(warning))).collect();
        numbers.dedup();
        numbers
    }

    /// The sentences in the order of their numbers; to be asked for once all rows have been.
    pub fn sentences(&self) -> Vec<String> {
        self.sentences.iter().map(Sentence::text).collect()
    }

    fn number(&mut self, one: Sentence) -> usize {
        let known = self.sentences.iter_mut().position(|other| other.merge(&one));
        known.unwrap_or_else(|| {
            self.sentences.push(one);
            self.sentences.len() - 1
        }) + 1
    }
}
