//! What is counted of the flushes behind a stage, in real time as in virtual time.

use model::plan::{HostPlan, HostStage, StageKind, Work};
use model::sample::OpSample;
use model::{Histogram, Op};
use std::collections::BTreeMap;

/// Whether the targets are flushed behind the load of `stage` to learn how long that takes: a load
/// that is measured by time, and that wrote. One by amount is flushed as a part of it.
pub(crate) fn is_probed(plan: &HostPlan, stage: &HostStage) -> bool {
    plan.engine.flush
        && stage.kind == StageKind::Measure
        && stage.stop().time().is_some()
        && stage.works.iter().any(Work::writes)
}

/// The flushes of a host's files once all its workers are done.
#[derive(Default)]
pub(crate) struct Flushes {
    latency: Histogram,
    errors: BTreeMap<i32, u64>,
}

impl Flushes {
    /// Counts one: the time in ns that it took, or the errno that it failed with.
    pub(crate) fn count(&mut self, outcome: Result<u64, i32>) {
        match outcome {
            Ok(latency_ns) => self.latency.record(latency_ns),
            Err(errno) => *self.errors.entry(errno).or_default() += 1,
        }
    }

    /// All of them as one sample. It goes to the first work, because a flush makes durable what all
    /// of them wrote.
    pub(crate) fn into_sample(self) -> OpSample {
        OpSample {
            ios: self.latency.count(),
            errors: self.errors.into_iter().collect(),
            latency: self.latency.encode(),
            ..OpSample::of(Op::Fsync)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flushes_that_failed_alike_are_one_error_and_have_no_latency() {
        let mut flushes = Flushes::default();
        for outcome in [Ok(1000), Err(28), Err(5), Ok(3000), Err(28)] {
            flushes.count(outcome);
        }
        let sample = flushes.into_sample();
        assert_eq!((sample.work, sample.op, sample.ios, sample.bytes), (0, Op::Fsync, 2, 0));
        assert_eq!(sample.errors, [(5, 1), (28, 2)]);
        let mut latency = Histogram::new();
        latency.record(1000);
        latency.record(3000);
        assert_eq!(sample.latency, latency.encode());
    }

    #[test]
    fn where_nothing_was_flushed_nothing_is_counted() {
        let sample = Flushes::default().into_sample();
        assert_eq!((sample.ios, sample.error_count()), (0, 0));
    }
}
