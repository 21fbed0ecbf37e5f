//! What a worker keeps of its completions: plain counters in memory of its own.

use crate::cpu::CpuTime;
use model::histogram::{BUCKETS, bucket_of};
use model::plan::Work;
use model::{Op, Phase};

/// Kinds of errors that are told apart in one interval; more are counted with the last.
const ERROR_KINDS: usize = 16;
/// Requests whose latency is kept one by one before the list has to grow.
const RAW_CAPACITY: usize = 1 << 16;

/// One worker's share of one interval.
pub(crate) struct Interval {
    /// The interval's number.
    pub(crate) number: u32,
    pub(crate) phase: Phase,
    /// When the worker left it, in ns on the stage's clock.
    pub(crate) end_ns: u64,
    pub(crate) cpu: CpuTime,
    pub(crate) ops: [OpStats; 3],
}

/// The operations of a worker, in the order of [`Interval::ops`]; `None` where there are fewer.
pub(crate) type Slots = [Option<Op>; 3];

/// The operations that workers of `work` count: what a ring carries at the index of each, or the one of metadata.
pub(crate) fn slots(work: &Work) -> Slots {
    match work.metadata {
        Some(metadata) => [Some(metadata.op), None, None],
        None => [
            work.reads().then_some(Op::Read),
            work.writes().then_some(Op::Write),
            (work.fsync_every > 0).then_some(Op::Fsync),
        ],
    }
}

/// Counters of one operation.
pub(crate) struct OpStats {
    /// `None` for an operation that the worker has not.
    pub(crate) op: Option<Op>,
    pub(crate) ios: u64,
    pub(crate) bytes: u64,
    pub(crate) errors: Vec<(i32, u64)>,
    /// In 32 bits: at ten million a second, a bucket holds out for 7 minutes, and an interval lasts a minute at most.
    pub(crate) counts: Box<[u32]>,
    pub(crate) sum_ns: u128,
    pub(crate) min_ns: u64,
    pub(crate) max_ns: u64,
    pub(crate) raw: Vec<u64>,
    keep_raw: bool,
}

impl OpStats {
    fn new(op: Option<Op>, keep_raw: bool) -> OpStats {
        let used = op.is_some();
        OpStats {
            op,
            ios: 0,
            bytes: 0,
            errors: Vec::with_capacity(ERROR_KINDS),
            counts: if used { vec![0; BUCKETS] } else { Vec::new() }.into(),
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            raw: Vec::with_capacity(if keep_raw && used { RAW_CAPACITY } else { 0 }),
            keep_raw,
        }
    }

    /// Whether nothing was completed.
    pub(crate) fn is_empty(&self) -> bool {
        self.ios == 0 && self.errors.is_empty() && self.bytes == 0
    }

    #[inline]
    pub(crate) fn success(&mut self, bytes: u32, latency_ns: u64) {
        self.ios += 1;
        self.bytes += u64::from(bytes);
        self.counts[bucket_of(latency_ns)] += 1;
        self.sum_ns += u128::from(latency_ns);
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
        if self.keep_raw {
            self.raw.push(latency_ns);
        }
    }

    #[cold]
    pub(crate) fn failure(&mut self, errno: i32, bytes: u32) {
        self.bytes += u64::from(bytes);
        if let Some((_, count)) = self.errors.iter_mut().find(|(known, _)| *known == errno) {
            *count += 1;
        } else if self.errors.len() < ERROR_KINDS {
            self.errors.push((errno, 1));
        } else if let Some((_, count)) = self.errors.last_mut() {
            *count += 1;
        }
    }

    fn clear(&mut self) {
        self.ios = 0;
        self.bytes = 0;
        self.errors.clear();
        self.counts.fill(0);
        self.sum_ns = 0;
        self.min_ns = u64::MAX;
        self.max_ns = 0;
        self.raw.clear();
    }
}

impl Interval {
    /// An empty one, for a worker with these operations.
    pub(crate) fn new(slots: Slots, keep_raw: bool) -> Interval {
        Interval {
            number: 0,
            phase: Phase::Load,
            end_ns: 0,
            cpu: CpuTime::default(),
            ops: slots.map(|op| OpStats::new(op, keep_raw)),
        }
    }

    /// Another empty one for the same worker.
    pub(crate) fn sibling(&self) -> Interval {
        Interval::new(self.ops.each_ref().map(|stats| stats.op), self.ops[0].keep_raw)
    }

    /// Makes it as good as new.
    pub(crate) fn clear(&mut self) {
        self.number = 0;
        self.cpu = CpuTime::default();
        // An operation that was not used has nothing to clear, and zeroing its histogram is the dear part.
        self.ops.iter_mut().filter(|stats| !stats.is_empty()).for_each(OpStats::clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_apart_up_to_a_bound_and_all_are_counted() {
        let mut stats = OpStats::new(Some(Op::Read), false);
        for errno in 1..=20 {
            stats.failure(errno, 0);
            stats.failure(5, 0);
        }
        assert_eq!(stats.errors.len(), ERROR_KINDS);
        assert_eq!(stats.errors.iter().map(|(_, n)| n).sum::<u64>(), 40);
    }
}
