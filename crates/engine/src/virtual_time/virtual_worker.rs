//! What a worker in virtual time has to do: requests to blocks, or operations on whole files.

use crate::generator::Bookmark;
use crate::io::{Completion, Io};
use crate::metadata::NamedState;
use crate::worker::turns::{Turn, Turns};
use crate::worker::{Finished, WorkerState};
use model::plan::{HostPlan, Work, Worker};
use std::sync::Arc;

/// A worker's state, of whichever kind.
#[expect(
    clippy::large_enum_variant,
    reason = "requests to blocks are the many: nothing stands between them and their state"
)]
pub(crate) enum Doer {
    Blocks(WorkerState),
    Named(Box<NamedState>),
}

impl Doer {
    /// The state of `worker` at `start_ns`, the beginning of its stage, whose bound works go by
    /// `turns`, and which goes on where it stopped before.
    pub(crate) fn new(
        plan: &HostPlan,
        work: &Work,
        worker: &Worker,
        start_ns: u64,
        turns: Option<&Arc<Turns>>,
        from: Option<Bookmark>,
    ) -> Doer {
        if let Some(named) = NamedState::new(plan, work, worker, start_ns) {
            return Doer::Named(Box::new(named));
        }
        let turn = Turn::of(turns, worker.work);
        let mut state = WorkerState::new(work, worker, work.depth).in_turn(turn).going_on(from);
        state.begin(start_ns);
        Doer::Blocks(state)
    }

    #[inline]
    pub(crate) fn next_io(&mut self, now_ns: u64) -> Option<Io> {
        match self {
            Doer::Blocks(state) => state.next_io(now_ns),
            Doer::Named(state) => state.next_io(now_ns),
        }
    }

    #[inline]
    pub(crate) fn complete(&mut self, completion: Completion, now_ns: u64) -> Finished {
        match self {
            Doer::Blocks(state) => state.complete(completion, now_ns),
            Doer::Named(state) => state.complete(completion, now_ns),
        }
    }

    /// How long from `now_ns` on nothing is due, whatever comes back. Operations on files come one
    /// after the other, mostly at no time of their own.
    #[inline]
    pub(crate) fn quiet_ns(&self, now_ns: u64) -> u64 {
        match self {
            Doer::Blocks(state) => state.quiet_ns(now_ns),
            Doer::Named(state) if state.waits() => state.quiet_ns(now_ns),
            Doer::Named(_) => u64::MAX,
        }
    }

    pub(crate) fn stop(&mut self, end_ns: u64, never: &mut dyn FnMut(usize, u64, u64)) {
        match self {
            Doer::Blocks(state) => state.stop(end_ns, never),
            Doer::Named(state) => state.stop(end_ns, never),
        }
    }

    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        match self {
            Doer::Blocks(state) => state.is_done(),
            Doer::Named(state) => state.is_done(),
        }
    }

    #[inline]
    pub(crate) fn has_done_all(&self) -> bool {
        match self {
            Doer::Blocks(state) => state.has_done_all(),
            Doer::Named(state) => state.has_done_all(),
        }
    }

    /// Whether it has a request that waits for its turn alone.
    pub(crate) fn is_held(&self) -> bool {
        match self {
            Doer::Blocks(state) => state.is_held(),
            Doer::Named(_) => false,
        }
    }

    /// Where it stopped, if it works on blocks.
    pub(crate) fn into_bookmark(self) -> Option<Bookmark> {
        match self {
            Doer::Blocks(state) => Some(state.into_bookmark()),
            Doer::Named(_) => None,
        }
    }

    /// Whether a failure ended it before its amount was done; that of a file ends nothing.
    pub(crate) fn failed(&self) -> bool {
        match self {
            Doer::Blocks(state) => state.failed(),
            Doer::Named(_) => false,
        }
    }
}
