//! Rows of a run file as they are read one by one, for tables that no memory has to hold.

use crate::counters::{Layer, Metric};
use crate::histogram::EncodedHistogram;
use crate::op::Op;
use crate::sample::Phase;

/// What all workers of a work did on one host in one interval with one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleRow {
    /// The stage's number in the plan.
    pub stage: u32,
    /// The host's number in the plan.
    pub host: u32,
    /// The interval's number, from 0.
    pub interval: u32,
    /// Whether it counts.
    pub phase: Phase,
    /// When the interval began, in ns after the stage's start.
    pub start_ns: u64,
    /// How long it was, in ns.
    pub length_ns: u64,
    /// The number of the work among those of the stage.
    pub work: u32,
    /// The operation.
    pub op: Op,
    /// Requests that succeeded in full.
    pub ios: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Requests that failed.
    pub errors: u64,
    /// The latencies of the requests that succeeded.
    pub latency: EncodedHistogram,
}

/// One counter of one host's kernel in one interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterRow {
    /// The stage's number in the plan.
    pub stage: u32,
    /// The host's number in the plan.
    pub host: u32,
    /// The number of the sample in its stage, from 0.
    pub number: u32,
    /// When it began, in ns after the stage was started on this host.
    pub start_ns: u64,
    /// How long it was, in ns.
    pub length_ns: u64,
    /// The layer.
    pub layer: Layer,
    /// Which one of the layer.
    pub name: String,
    /// What was counted; its word ends in its unit.
    pub metric: Metric,
    /// The sum over the interval, or for a [gauge](Metric::is_gauge) the state at its end.
    pub value: u64,
}
