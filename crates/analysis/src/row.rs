//! One row of the results: what an operation of a point carried, how sure that is, and what speaks against it.

use crate::estimate::{Estimate, Interval};
use crate::warning::{QUANTILES, Warning};
use model::plan::Work;
use model::{Histogram, Op};
use std::collections::BTreeMap;

/// One operation of one measured point.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultRow {
    /// The point's number in the plan.
    pub point: u32,
    /// The number of its `measure` stage.
    pub stage: u32,
    /// The scenario's label.
    pub scenario: String,
    /// The workload's name.
    pub workload: String,
    /// Axis and value of each sweep axis.
    pub sweep: Vec<(String, String)>,
    /// Which repetition of these values it is, from 1; `None` where the run repeats nothing.
    pub repetition: Option<u32>,
    /// The number of its work among those of the point.
    pub index: u32,
    /// What its workers did.
    pub work: Work,
    /// Workers of all hosts.
    pub workers: u32,
    /// The operation.
    pub op: Op,
    /// Requests that succeeded while the load was on.
    pub ios: u64,
    /// Bytes that moved while the load was on.
    pub bytes: u64,
    /// How long the load was on, in seconds: the longest of all hosts.
    pub seconds: f64,
    /// Their service times, merged exactly over hosts, workers and intervals.
    pub latency: Histogram,
    /// Requests that failed, by errno.
    pub errors: BTreeMap<i32, u64>,
    /// CPU time that the workers of the point took.
    pub cpu: Cpu,
    /// Of a measured amount: what had been done when the first worker was done with its share, and when the last one was.
    pub done: Option<Done>,
    /// Whether the stage ran to its planned end.
    pub complete: bool,
    /// How sure the figures are.
    pub sure: Sure,
    /// Every reason to doubt this row.
    pub warnings: Vec<Warning>,
}

/// A measured amount at its two ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Done {
    /// When the first worker of the cluster was done, as the host that heard of it last has it: at the stonewall, if there is one.
    pub first: Progress,
    /// When the last one was, everything that was outstanding at a stonewall included.
    pub last: Progress,
}

/// What had been done after a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// From the start of the stage, in seconds: the longest of all hosts.
    pub seconds: f64,
    /// Requests that had succeeded.
    pub ios: u64,
    /// Bytes that had moved.
    pub bytes: u64,
}

impl Progress {
    /// Requests per second. 0 if that is no time.
    pub fn iops(&self) -> f64 {
        per_second(self.ios, self.seconds)
    }

    /// Bytes per second, as [`iops`](Self::iops).
    pub fn bytes_per_s(&self) -> f64 {
        per_second(self.bytes, self.seconds)
    }
}

/// CPU time of the load generators themselves while the load was on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cpu {
    /// In user mode, in ns, all workers together.
    pub user_ns: u64,
    /// In the kernel, in ns, all workers together.
    pub system_ns: u64,
    /// The share of one core (0 to 1) that the busiest worker took.
    pub busiest: f64,
}

impl ResultRow {
    /// Requests per second: those that succeeded while the load was on ÷ the time that it was on. 0 if that is no time.
    pub fn iops(&self) -> f64 {
        per_second(self.ios, self.seconds)
    }

    /// Bytes per second, as [`iops`](Self::iops).
    pub fn bytes_per_s(&self) -> f64 {
        per_second(self.bytes, self.seconds)
    }

    /// Whether it moves bytes, so that a rate of bytes means something.
    pub fn moves_bytes(&self) -> bool {
        match self.work.metadata {
            Some(metadata) => {
                matches!(self.op, Op::Create | Op::ReadFile | Op::WriteFile) && (metadata.size.0 > 0 || self.bytes > 0)
            }
            None => true,
        }
    }

    /// All requests that failed.
    pub fn error_count(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Cores that the workers of the point kept busy, on average.
    pub fn cpu_cores(&self) -> f64 {
        if self.seconds > 0.0 { (self.cpu.user_ns + self.cpu.system_ns) as f64 / 1e9 / self.seconds } else { 0.0 }
    }
}

fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

/// How sure the figures of a row are; `None` where it cannot be said: too few intervals, or too dependent ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sure {
    /// Intervals in which the load was on.
    pub intervals: usize,
    /// Requests per second.
    pub iops: Option<Estimate>,
    /// Bytes per second.
    pub bytes_per_s: Option<Estimate>,
    /// The mean latency, in ns.
    pub mean_ns: Option<Estimate>,
    /// The quantiles' intervals, in ns, as [`QUANTILES`] has them.
    pub quantiles_ns: [Option<Interval>; QUANTILES.len()],
    /// How many independent intervals of time each of them rests on; 0 where there is no interval.
    pub quantiles_independent: [f64; QUANTILES.len()],
    /// CPU time of the generators per request of the whole work, in ns; `None` where there was no request.
    pub cpu_per_io_ns: Option<f64>,
    /// The same with its error.
    pub cpu_per_io: Option<Estimate>,
    /// The standard deviation of the requests per second over the intervals ÷ their mean.
    pub over_time: Option<f64>,
    /// The natural logarithm of `over_time`, with its error.
    pub ln_over_time: Option<Estimate>,
    /// The standard deviation of the requests per second over the hosts ÷ their mean; `None` for one host.
    pub over_hosts: Option<f64>,
}

impl Sure {
    /// The interval of the p99, in ns.
    pub fn p99_ns(&self) -> Option<Interval> {
        let place = QUANTILES.iter().position(|quantile| quantile.key == "p99")?;
        self.quantiles_ns[place]
    }
}
