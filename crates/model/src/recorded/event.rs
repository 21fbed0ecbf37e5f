//! What happens in a run. Everything that shows or keeps a run consumes these events, live or
//! replayed.

use crate::counters::CounterSample;
use crate::histogram::EncodedHistogram;
use crate::occurrence::Occurrence;
use crate::op::Op;
use crate::sample::IntervalSample;
use crate::search::Addition;
use serde::{Deserialize, Serialize};

pub use crate::note::{Note, NoteKind};

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A stage began on all hosts.
    StageStarted {
        /// The stage's number.
        stage: u32,
        /// Wall-clock time, in ns since 1970, for people; never used to measure.
        unix_ns: u64,
    },
    /// A search goes on: the plan has a further point.
    PointAdded(Box<Addition>),
    /// A host completed an interval.
    Sample(IntervalSample),
    /// A host told when it really began a stage. It comes when the host ends the stage.
    HostStarted(HostStart),
    /// What a host had left over at the end of a stage. It comes before the host ends the stage.
    HostEnded(Box<HostEnd>),
    /// What a host's kernel counted while a stage ran.
    Counters(Box<CounterSample>),
    /// A host has requests without an answer, or none any more.
    Waiting(Box<Waiting>),
    /// A stage ended on all hosts.
    StageEnded {
        /// The stage's number.
        stage: u32,
        /// How.
        end: StageEnd,
    },
    /// Something that a reader of the results has to know.
    Note(Note),
    /// Something happened at an instant of the run that is no figure.
    Happened(Box<Occurrence>),
    /// The run is over.
    RunEnded {
        /// Wall-clock time, in ns since 1970.
        unix_ns: u64,
        /// How.
        end: RunEnd,
    },
}

/// When a host really began a stage, against the instant that all had agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostStart {
    /// The stage's number.
    pub stage: u32,
    /// The host.
    pub host: u32,
    /// How much later than agreed its last worker began, in ns on its own clock.
    pub late_ns: u64,
    /// By how much the instant that it took for the agreed one may be off, in ns, on the
    /// coordinator's clock: by what was known of its clock before and by what it showed after.
    pub error_ns: u64,
}

/// The most pauses of a host in a stage that are kept.
pub const MOST_PAUSES: usize = 1_000;
/// The most entries of what a host had left over: more works than a stage can have, with all their
/// operations.
pub const MOST_LEFT: usize = 1 << 16;

/// The most targets of a host of whose flush is told.
pub const MOST_FLUSHES: usize = 4_096;

/// What a host had left over when the load of a stage ended, and when its generator itself did not
/// run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostEnd {
    /// The stage's number.
    pub stage: u32,
    /// The host.
    pub host: u32,
    /// Requests that had not come back, by work and operation.
    pub left: Vec<Left>,
    /// When the generator did not run, in order; at most [`MOST_PAUSES`].
    pub pauses: Vec<Pause>,
    /// Of a stage that wrote: the flush of each target behind the load; at most [`MOST_FLUSHES`].
    /// Empty where none was asked for, and in runs of versions that did not flush.
    pub flushes: Vec<Flush>,
}

impl HostEnd {
    /// Whether it has no more entries than any host's, and they are histograms.
    pub fn is_bounded(&self) -> bool {
        let are_histograms =
            |left: &Left| left.late.decode().is_ok() && left.never.decode().is_ok();
        self.left.len() <= MOST_LEFT
            && self.pauses.len() <= MOST_PAUSES
            && self.flushes.len() <= MOST_FLUSHES
            && self.left.iter().all(are_histograms)
    }
}

/// Requests that were sent or due while the load was on, and had not come back at its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// The number of the work among those of the stage.
    pub work: u32,
    /// The operation.
    pub op: Op,
    /// The times of those that came back later: service times, or at a fixed rate from the due
    /// instant on.
    pub late: EncodedHistogram,
    /// The ages, at the end of the load, of those that were due and never sent; and of those that
    /// were given up, when they were.
    pub never: EncodedHistogram,
}

/// A time in which the generator itself did not run: it was stopped, or others had its processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// When it began, in ns after the stage's start.
    pub at_ns: u64,
    /// How long it was at least, in ns.
    pub length_ns: u64,
}

/// A request that has no answer for so long counts as [`Waiting`], in ns.
pub const LEAST_WAIT_NS: u64 = 1_000_000_000;
/// The most spans of a [`Waiting`]: two for each worker of more than any host has.
pub const MOST_SPANS: usize = 1 << 16;

/// What a host's target left unanswered at an instant of a stage, for [`LEAST_WAIT_NS`] and longer.
/// It is for those who watch, and in no run file: there, the same requests have their latencies, or
/// are [`Left`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// The stage's number.
    pub stage: u32,
    /// The host.
    pub host: u32,
    /// The instant, in ns after the stage's start.
    pub at_ns: u64,
    /// The requests; at most [`MOST_SPANS`], and none where all is well again.
    pub spans: Vec<WaitSpan>,
}

/// Requests that began to wait at even distances: in an open loop when they were due, sent or not,
/// and in a closed loop when they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitSpan {
    /// So many at least.
    pub requests: u64,
    /// The age of the oldest, in ns: at least.
    pub oldest_ns: u64,
    /// The age of the youngest, in ns.
    pub youngest_ns: u64,
}

impl Waiting {
    /// How many requests wait, at least.
    pub fn requests(&self) -> u64 {
        self.spans.iter().fold(0, |sum, span| sum.saturating_add(span.requests))
    }

    /// The age of the oldest, in ns; 0 where none waits.
    pub fn oldest_ns(&self) -> u64 {
        self.spans.iter().map(|span| span.oldest_ns).max().unwrap_or(0)
    }
}

impl WaitSpan {
    /// How many of them are older than `age_ns`.
    pub fn older_than(&self, age_ns: u64) -> u64 {
        let Some(more_ns) = self.oldest_ns.checked_sub(age_ns).filter(|more| *more > 0) else {
            return 0;
        };
        let length_ns = self.oldest_ns.saturating_sub(self.youngest_ns).max(1);
        // Every gap has one at its older end.
        let gaps = u128::from(self.requests.saturating_sub(1)) * u128::from(more_ns);
        let older = gaps.div_ceil(u128::from(length_ns)).max(1);
        if self.youngest_ns > age_ns { self.requests } else { (older as u64).min(self.requests) }
    }
}

/// How long a target took to make durable what the load had written to it: an `fdatasync` of each
/// of its files, once every write was back. It is part of no rate and no latency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flush {
    /// The target as the plan names it.
    pub target: String,
    /// When it began, in ns after the stage's start.
    pub at_ns: u64,
    /// How long it took, in ns; at least, where it had not ended.
    pub took_ns: u64,
    /// Whether it ended before it was given up.
    pub ended: bool,
    /// The first error of it, as a positive errno; 0 for none.
    pub errno: i32,
}

/// How a stage ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StageEnd {
    /// As planned.
    Complete,
    /// Somebody stopped it; what was recorded is a part.
    Interrupted,
    /// It could not go on; the reason in words.
    Failed(String),
    /// A bug of ours ended it: which thread panicked, and with which words.
    Panicked(String),
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunEnd {
    /// Every stage is complete.
    Complete,
    /// Somebody stopped it.
    Interrupted,
    /// It could not go on; the reason in words.
    Failed(String),
    /// A bug of ours ended it: on which host, which thread panicked, and with which words.
    Panicked(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_a_span_are_counted_by_their_age() {
        // Eleven, a second apart.
        let span = WaitSpan { requests: 11, oldest_ns: 12_000, youngest_ns: 2_000 };
        let older =
            [0, 1_999, 2_000, 2_001, 11_000, 11_999, 12_000].map(|age| span.older_than(age));
        assert_eq!(older, [11, 11, 10, 10, 1, 1, 0]);
        let one = WaitSpan { requests: 1, oldest_ns: 5, youngest_ns: 5 };
        assert_eq!([4, 5].map(|age| one.older_than(age)), [1, 0]);
    }
}
