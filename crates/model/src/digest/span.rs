//! One interval of one host.

use crate::Phase;
use crate::sample::IntervalSample;

/// One interval of one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// When it began, in ns after the stage's start.
    pub start_ns: u64,
    /// How long it was, in ns.
    pub length_ns: u64,
    /// Its number, from 0.
    pub interval: u32,
    /// Whether it counts.
    pub phase: Phase,
}

impl Span {
    /// The sample of it in which nothing was done so far.
    pub fn empty(self, stage: u32, host: u32) -> IntervalSample {
        let Span { start_ns, length_ns, interval, phase } = self;
        let (ops, workers) = (Vec::new(), Vec::new());
        IntervalSample { stage, host, interval, start_ns, length_ns, phase, ops, workers }
    }
}
