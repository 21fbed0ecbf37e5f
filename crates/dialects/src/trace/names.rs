//! Names of sources as numbers.

use super::TraceProblem;
use std::collections::BTreeMap;

/// More sources than this are not told apart.
const MOST: usize = 1 << 16;
/// The longest name that is kept.
const MOST_BYTES: usize = 256;

/// The sources of a trace in the order in which they were met.
#[derive(Debug, Default)]
pub(super) struct Names {
    known: BTreeMap<String, u32>,
}

impl Names {
    /// The number of a source.
    pub(super) fn number(&mut self, name: &str) -> Result<u32, TraceProblem> {
        if let Some(number) = self.known.get(name) {
            return Ok(*number);
        }
        if self.known.len() >= MOST || name.len() > MOST_BYTES {
            return Err(TraceProblem::new(
                format!("the trace has more than {MOST} sources, or one with a very long name"),
                "cut the trace into several by their sources",
            ));
        }
        let number = self.known.len() as u32;
        self.known.insert(name.to_owned(), number);
        Ok(number)
    }

    /// The number of a source that was met.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        self.known.get(name).copied()
    }

    /// Some of the names that were met.
    pub(super) fn some(&self, count: usize) -> Vec<&str> {
        self.known.keys().map(String::as_str).take(count).collect()
    }
}
