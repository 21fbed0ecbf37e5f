//! What a worker keeps of its completions: plain counters in memory of its own.

use crate::threads::cpu::CpuTime;
use model::histogram::{BUCKETS, bucket_of};
use model::plan::Work;
use model::population::MOST_LIVING;
use model::{Histogram, Op, Phase, WriteMark};

/// Kinds of errors that are told apart in one interval; more are counted with the last.
const ERROR_KINDS: usize = 16;
/// Requests whose latency is kept one by one before the list has to grow.
const RAW_CAPACITY: usize = 1 << 16;

/// One worker's share of one interval. It begins on a cache line (two, for the processor fetches
/// pairs) of its own: those of all workers are made by one thread, one behind the other.
#[repr(align(128))]
pub(crate) struct Interval {
    /// The interval's number.
    pub(crate) number: u32,
    pub(crate) phase: Phase,
    /// When the worker left it, in ns on the stage's clock.
    pub(crate) end_ns: u64,
    pub(crate) cpu: CpuTime,
    pub(crate) ops: [OpStats; SLOTS],
    /// The ages of requests that never came back or were never sent, in the order of `ops`; only
    /// of a load that is over.
    pub(crate) never: [Option<Box<Histogram>>; SLOTS],
    /// How far the worker's writes had got when it left; `None` where nothing is checked.
    pub(crate) mark: Option<WriteMark>,
}

/// Operations that a worker keeps books of at most: those of a population.
pub(crate) const SLOTS: usize = MOST_LIVING;

/// The operations that a worker's ring carries, in the order of [`Interval::ops`].
pub(crate) const RING_OPS: [Op; 4] = [Op::Read, Op::Write, Op::Fsync, Op::Trim];

/// The operations of a worker, in the order of [`Interval::ops`]; `None` where there are fewer.
pub(crate) type Slots = [Option<Op>; SLOTS];

/// The operations that workers of `work` count: those of [`RING_OPS`] that it asks for, or those of
/// metadata.
pub(crate) fn slots(work: &Work) -> Slots {
    if let Some(metadata) = work.metadata {
        let mut ops = metadata.ops();
        return std::array::from_fn(|_| ops.next());
    }
    // A measured amount ends with one.
    let of_trace = work.trace.as_ref().is_some_and(|trace| trace.flushes);
    let flushes = of_trace || work.fsync_every > 0 || (work.writes() && work.stop.once().is_some());
    let used = [work.reads(), work.writes(), flushes, work.trims()];
    std::array::from_fn(|index| RING_OPS.get(index).copied().filter(|_| used[index]))
}

/// The slots of a worker that counts `ops`.
#[cfg(test)]
pub(crate) fn slots_of(ops: &[Op]) -> Slots {
    std::array::from_fn(|index| ops.get(index).copied())
}

/// Counters of one operation.
pub(crate) struct OpStats {
    /// `None` for an operation that the worker has not.
    pub(crate) op: Option<Op>,
    pub(crate) ios: u64,
    pub(crate) bytes: u64,
    pub(crate) errors: Vec<(i32, u64)>,
    /// In 32 bits: at ten million a second, a bucket holds out for 7 minutes, and an interval
    /// lasts a minute at most.
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
        self.successes(1, bytes, latency_ns);
    }

    /// `count` requests of the same `bytes` and latency.
    #[inline]
    pub(crate) fn successes(&mut self, count: u32, bytes: u32, latency_ns: u64) {
        self.ios += u64::from(count);
        self.bytes += u64::from(count) * u64::from(bytes);
        self.counts[bucket_of(latency_ns)] += count;
        self.sum_ns += u128::from(count) * u128::from(latency_ns);
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
        if self.keep_raw {
            self.raw.extend(std::iter::repeat_n(latency_ns, count as usize));
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
            never: [const { None }; SLOTS],
            mark: None,
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
        self.mark = None;
        self.never = [const { None }; SLOTS];
        // An operation that was not used has nothing to clear, and zeroing its histogram is the
        // dear part.
        self.ops.iter_mut().filter(|stats| !stats.is_empty()).for_each(OpStats::clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_requests_counted_together_are_those_counted_one_by_one() {
        let (mut together, mut each) =
            (OpStats::new(Some(Op::Read), true), OpStats::new(Some(Op::Read), true));
        for (count, bytes, latency_ns) in [(1, 4096, 700), (32, 512, 1 << 40), (3, 4096, 0)] {
            together.successes(count, bytes, latency_ns);
            (0..count).for_each(|_| each.success(bytes, latency_ns));
        }
        let all =
            |stats: &OpStats| (stats.ios, stats.bytes, stats.sum_ns, stats.min_ns, stats.max_ns);
        assert_eq!(all(&together), all(&each));
        assert_eq!(all(&each), (36, 4 * 4096 + 32 * 512, 700 + (32 << 40), 0, 1 << 40));
        assert_eq!((together.counts, together.raw), (each.counts, each.raw));
    }

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
