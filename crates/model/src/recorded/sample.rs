//! What one host did in one interval.

use crate::histogram::{EncodedHistogram, encode_parts};
use crate::mark::WriteMark;
use crate::op::Op;
use serde::{Deserialize, Serialize};

/// Which part of a stage an interval belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Phase {
    /// Load was on: it counts.
    Load,
    /// Load was still on, and the first worker of the host had done its amount: it counts, apart
    /// from what was done until then.
    Tail,
    /// The stage's time was over and requests that were still outstanding came back (and, after
    /// `prepare`, `fsync`): sent to the target, so in the totals of what was issued, but in no rate
    /// and no quantile.
    Drain,
}

impl Phase {
    /// The name used in run files.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Load => "load",
            Phase::Tail => "tail",
            Phase::Drain => "drain",
        }
    }

    /// Whether load was on.
    pub fn counts(self) -> bool {
        self != Phase::Drain
    }

    /// The phase with this [`name`](Phase::name).
    pub fn from_name(name: &str) -> Option<Phase> {
        [Phase::Load, Phase::Tail, Phase::Drain].into_iter().find(|phase| phase.name() == name)
    }
}

/// A read that brought other bytes than were written: their checksum is wrong. Counted in
/// [`OpSample::errors`] beside the errnos of the kernel, none of which is above 4095.
pub const VERIFY_CORRUPT: i32 = 4096;
/// A read that brought a block which was written for another place.
pub const VERIFY_MISDIRECTED: i32 = 4097;
/// A read that brought a part of one write, and older bytes for the rest of it.
pub const VERIFY_TORN: i32 = 4098;
/// A read that brought what stood there before an acknowledged write.
pub const VERIFY_STALE: i32 = 4099;

/// What one host did in one interval of one stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntervalSample {
    /// The stage's number in the plan.
    pub stage: u32,
    /// The host's number in the plan.
    pub host: u32,
    /// The interval's number, from 0. The last one of a stage is its drain.
    pub interval: u32,
    /// When it began, in ns after the stage's start.
    pub start_ns: u64,
    /// How long it was, in ns; the last one of a phase may be shorter than the rest.
    pub length_ns: u64,
    /// Whether it counts.
    pub phase: Phase,
    /// What all workers of a work did together, for each work and each operation that was
    /// completed at all.
    pub ops: Vec<OpSample>,
    /// What each worker did.
    pub workers: Vec<WorkerSample>,
}

/// Requests of one operation that were completed in an interval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpSample {
    /// The number of the work among those of the stage.
    pub work: u32,
    /// The operation.
    pub op: Op,
    /// Requests that succeeded in full.
    pub ios: u64,
    /// Bytes that the target accepted or delivered.
    pub bytes: u64,
    /// Requests that failed, by errno; 0 stands for a transfer that was short, `VERIFY_…` for
    /// damage that a check found.
    pub errors: Vec<(i32, u64)>,
    /// The service times (completed − submitted) of the requests that succeeded.
    pub latency: EncodedHistogram,
    /// Every one of these service times in ns, in the order of completion for each worker; empty
    /// unless the plan asks for them.
    pub raw_latencies: Vec<u64>,
}

impl OpSample {
    /// Of an operation of which nothing is known yet.
    pub fn of(op: Op) -> OpSample {
        let (errors, raw_latencies) = (Vec::new(), Vec::new());
        let latency = encode_parts([0; 3], &[]);
        OpSample { work: 0, op, ios: 0, bytes: 0, errors, latency, raw_latencies }
    }

    /// All requests that failed.
    pub fn error_count(&self) -> u64 {
        self.errors.iter().map(|(_, n)| n).sum()
    }
}

/// What one worker did in an interval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerSample {
    /// The worker's number on its host.
    pub worker: u32,
    /// CPU time in user mode, in ns.
    pub cpu_user_ns: u64,
    /// CPU time in the kernel, in ns.
    pub cpu_system_ns: u64,
    /// Its counts, for each operation that it completed.
    pub ops: Vec<WorkerOp>,
    /// How far its writes had got at the end; `None` where nothing is checked.
    pub mark: Option<WriteMark>,
}

/// One worker's counts of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerOp {
    /// The operation.
    pub op: Op,
    /// Requests that succeeded in full.
    pub ios: u64,
    /// Bytes that moved.
    pub bytes: u64,
    /// Requests that failed.
    pub errors: u64,
}
