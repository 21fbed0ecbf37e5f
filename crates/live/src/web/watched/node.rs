//! What one host did in a stretch of time: only what adds up in a few bytes, because there may be
//! thousands of hosts.

use crate::watch::figures::{Counts, Sums};
use crate::web::bounded_series::Part;
use crate::web::load::System;
use model::CounterSample;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Side {
    /// Requests that completed.
    pub ios: u64,
    /// Bytes that moved.
    pub bytes: u64,
    /// The sum of their times in the kernel, in ns.
    pub time_ns: u64,
}

impl Side {
    fn of(counts: Counts) -> Side {
        let known = |value: Option<u64>| value.unwrap_or(0);
        Side { ios: known(counts.ios), bytes: known(counts.bytes), time_ns: known(counts.time_ns) }
    }

    fn merge(&mut self, later: Side) {
        self.ios = self.ios.saturating_add(later.ios);
        self.bytes = self.bytes.saturating_add(later.bytes);
        self.time_ns = self.time_ns.saturating_add(later.time_ns);
    }

    /// The mean time of a request in ns; `None` where there was none, or their times were shorter
    /// than the kernel can tell.
    pub fn latency_ns(self) -> Option<f64> {
        (self.ios > 0 && self.time_ns > 0).then(|| self.time_ns as f64 / self.ios as f64)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Node {
    /// Reads of devices and network mounts.
    pub read: Side,
    /// Writes to them.
    pub write: Side,
    /// Processors and networks.
    pub system: System,
    /// Samples that are in it.
    pub samples: u64,
}

impl Node {
    /// One host in the interval of `sample`, of which `sums` is made.
    pub fn of(sample: &CounterSample, sums: &Sums) -> Node {
        let mut system = System::of(sample);
        // A byte counts once, however many interfaces pass it on: without the plan's load beside
        // it, this is the only figure of the network.
        system.received_bytes = sums.received.unwrap_or(0);
        system.sent_bytes = sums.sent.unwrap_or(0);
        Node { read: Side::of(sums.read), write: Side::of(sums.write), system, samples: 1 }
    }
}

impl Part for Node {
    fn merge(&mut self, later: Node) {
        self.read.merge(later.read);
        self.write.merge(later.write);
        self.system.merge(later.system);
        self.samples = self.samples.saturating_add(later.samples);
    }
}
