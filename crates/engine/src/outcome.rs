//! How a stage ended on this host.

use crate::worker::stuck::Stuck;
use model::Note;
use model::event::{Flush, Left, Pause};
use model::note::Degraded;

/// How a stage ended on this host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageOutcome {
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// Whether an error of the target ended it: only where every byte had to be done.
    pub failed: bool,
    /// What the target never answered. The targets must be
    /// [abandoned](crate::targets::OpenTargets::abandon) then, and no other stage can begin.
    pub stuck: Option<Stuck>,
    /// What the kernel refused and the stage did without; no duplicates.
    pub degraded: Vec<Degraded>,
    /// What the checks of reads found (the first damaged places, and how much was not checked),
    /// and what there is to say of the page cache. Of a backend that the plan leaves open, which
    /// one was taken, and why.
    pub findings: Vec<Note>,
    /// How much later than asked for the last worker began, in ns.
    pub late_ns: u64,
    /// Requests that were sent or due while the load was on, and had not come back at its end.
    pub left: Vec<Left>,
    /// When the generator itself did not run, in order: only in real time.
    pub pauses: Vec<Pause>,
    /// How long each target took to make durable what the load wrote.
    pub flushes: Vec<Flush>,
}

impl StageOutcome {
    /// Of a stage that did not take place.
    pub fn called_off() -> StageOutcome {
        StageOutcome { interrupted: true, ..StageOutcome::default() }
    }
}
