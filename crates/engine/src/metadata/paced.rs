//! When a worker's next operation on files is due, one at a time.

use crate::worker::pace::Pacer;
use model::plan::{Work, Worker};

/// Operations that were due and never begun are told one by one up to this number.
const MOST_TOLD: u64 = 1 << 16;

/// The pace of a worker that has one operation under way at a time.
pub(super) struct Paced {
    pacer: Pacer,
    is_open: bool,
    start_ns: u64,
}

impl Paced {
    /// Of a worker whose stage begins at `start_ns`.
    pub(super) fn new(work: &Work, worker: &Worker, start_ns: u64) -> Paced {
        Paced { pacer: Pacer::new(work, worker), is_open: work.pace.is_open(), start_ns }
    }

    /// When the next operation is due; `None` for at once.
    #[inline]
    pub(super) fn due_ns(&self) -> Option<u64> {
        self.pacer.due_ns().map(|due_ns| self.start_ns.saturating_add(due_ns))
    }

    /// Since when the latency of an operation counts that begins at `now_ns`: in an open loop since
    /// it was due. To be asked before [`took`](Self::took).
    #[inline]
    pub(super) fn since_ns(&self, now_ns: u64) -> u64 {
        self.due_ns().filter(|_| self.is_open).unwrap_or(now_ns)
    }

    /// An operation began that moves so many bytes.
    #[inline]
    pub(super) fn took(&mut self, bytes: u32) {
        self.pacer.took(bytes);
    }

    /// It ended.
    #[inline]
    pub(super) fn ended(&mut self, now_ns: u64) {
        self.pacer.idle(now_ns.saturating_sub(self.start_ns));
    }

    /// The load is over at `end_ns`: in an open loop, `never` hears of each operation that was due
    /// before and never begun, its age in ns and how many it stands for. `bytes` is what one of
    /// them moves.
    #[cold]
    pub(super) fn unsent(&mut self, end_ns: u64, bytes: u32, never: &mut dyn FnMut(u64, u64)) {
        let Some(first_ns) = self.due_ns().filter(|_| self.is_open) else { return };
        let (mut told, mut stands_for) = (0, 1);
        while let Some(due_ns) = self.due_ns().filter(|due_ns| *due_ns < end_ns) {
            if told == MOST_TOLD {
                let left = u128::from(end_ns - due_ns) * u128::from(MOST_TOLD)
                    / u128::from((due_ns - first_ns).max(1));
                stands_for = (left as u64).div_ceil(MOST_TOLD).max(1);
            }
            told += 1;
            self.pacer.skip(bytes, stands_for);
            never(end_ns - due_ns, stands_for);
        }
    }
}
