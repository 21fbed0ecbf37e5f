//! Who keeps what happens in a run and says how it goes on, and how it ended.

use model::search::Addition;
use model::{Event, RunEnd};

/// How a run ended, and what it left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// How.
    pub end: RunEnd,
    /// What could not be removed from the targets, in words.
    pub left: Vec<String>,
}

/// Who keeps a run's events, and says how it goes on.
pub trait Director {
    /// Takes in what happened, in its order: all that came together, at least one event and at most
    /// a few hundred.
    fn record(&mut self, events: &[Event]) -> Result<(), String>;

    /// The point that follows those that were measured; `None` ends the run.
    fn next(&mut self) -> Option<Addition>;

    /// Whether these rounds of a stage, a window in the order of time, are steady: then the stage
    /// ends. Each is what all hosts together did in it.
    fn is_steady(&mut self, rounds: &[f64]) -> bool;
}

/// A run that goes as it was planned.
pub(super) struct Planned<'a> {
    pub(super) record: &'a mut dyn FnMut(&[Event]) -> Result<(), String>,
    pub(super) is_steady: &'a dyn Fn(&[f64]) -> bool,
}

impl Director for Planned<'_> {
    fn record(&mut self, events: &[Event]) -> Result<(), String> {
        (self.record)(events)
    }

    fn next(&mut self) -> Option<Addition> {
        None
    }

    fn is_steady(&mut self, rounds: &[f64]) -> bool {
        (self.is_steady)(rounds)
    }
}
