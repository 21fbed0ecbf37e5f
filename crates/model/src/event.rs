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
