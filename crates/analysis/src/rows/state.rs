//! How a run ended.

use model::{Record, RunEnd};

/// How a run ended, as far as its file tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Every stage is complete.
    Complete,
    /// Somebody stopped it.
    Interrupted,
    /// It could not go on; the reason in words.
    Failed(String),
    /// The file has no end: the run was killed, or is still going on.
    Unfinished,
}

/// How a run ended.
pub fn run_state(record: &Record) -> RunState {
    match &record.end {
        Some((_, RunEnd::Complete)) => RunState::Complete,
        Some((_, RunEnd::Interrupted)) => RunState::Interrupted,
        Some((_, RunEnd::Failed(why) | RunEnd::Panicked(why))) => RunState::Failed(why.clone()),
        None => RunState::Unfinished,
    }
}
