//! A load whose requests come from a trace, at their own instants.
//!
//! A thread of its own reads the file ahead into pages; the worker takes requests out of them and
//! never waits for a file.

mod feed;
mod tally;

pub(crate) use tally::Replays;

use crate::error::EngineError;
use crate::generator::Request;
use feed::Feed;
use model::plan::{Work, Worker};
use model::trace::InFlight;
use tally::Tally;

/// One worker's share of a trace, and what was sent of it.
pub(crate) struct Replay {
    feed: Feed,
    tally: Tally,
    /// How many requests its share holds.
    share: u64,
    /// How many requests the recorded device had at once.
    original: Option<InFlight>,
}

impl Replay {
    /// The share of `worker`, if its work has a trace.
    ///
    /// # Errors
    /// The trace cannot be read, or holds what the plan does not permit.
    pub(crate) fn of(work: &Work, worker: &Worker) -> Result<Option<Replay>, EngineError> {
        let Some(trace) = &work.trace else { return Ok(None) };
        let (turn, of) = (u64::from(worker.turn.0), u64::from(worker.turn.1.max(1)));
        let share = trace.requests / of + u64::from(turn < trace.requests % of);
        let feed = Feed::start(trace, work, worker)?;
        Ok(Some(Replay { feed, tally: Tally::default(), share, original: trace.in_flight }))
    }

    /// When the next request is due, in ns after the stage's start.
    #[inline]
    pub(crate) fn due_ns(&self) -> u64 {
        self.feed.due_ns()
    }

    /// The next request that is due `now_ns` after the stage's start, and when it was; the worker
    /// has so many outstanding without it.
    #[inline]
    pub(crate) fn next(&mut self, now_ns: u64, outstanding: u64) -> Option<(Request, u64)> {
        if self.feed.due_ns() > now_ns {
            return None;
        }
        let due = self.feed.next(now_ns)?;
        self.tally.sent(&due, now_ns - due.at_ns, outstanding + 1);
        Some((due.request, due.at_ns))
    }

    /// Whether no request is left.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.feed.is_over()
    }

    /// Why the trace could not be read to its end, if so.
    pub(crate) fn take_failure(&mut self) -> Option<EngineError> {
        self.feed.take_failure()
    }

    /// Adds what was sent.
    pub(crate) fn count_into(&self, all: &mut Replays) {
        all.add(&self.tally, &self.feed, self.share, self.original);
    }
}
