//! One row of the results: what a point carried of an operation, of a mix, or of all workloads side
//! by side; how sure that is; what speaks against it.
//!
//! A row never says by itself that it is the whole: [`ResultRow::covers`] says how much of its
//! point it counts. Who adds rows up takes those that [are addends](ResultRow::is_addend); who
//! looks for the largest takes those that [are whole](ResultRow::is_whole).

use crate::doubts::Warning;
use crate::estimate::quantile::QUANTILES;
use crate::estimate::{Estimate, Interval};
use model::plan::Work;
use model::{Histogram, Op, Setting};
use std::collections::BTreeMap;

/// Which requests of a point a row counts.
///
/// There is no operation "all": a row of several has none, and whoever wants one has to say what
/// becomes of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ops {
    /// Those of one operation of one workload.
    One(Op),
    /// The I/O of one workload that mixes operations.
    Mix,
    /// The I/O of all workloads that ran at the same time.
    Group,
}

impl Ops {
    /// The name in tables, JSON and exports: that of the operation, or `all`.
    pub fn name(self) -> &'static str {
        match self {
            Ops::One(op) => op.name(),
            Ops::Mix | Ops::Group => "all",
        }
    }

    /// The one operation; `None` where there may be several.
    pub fn one(self) -> Option<Op> {
        match self {
            Ops::One(op) => Some(op),
            Ops::Mix | Ops::Group => None,
        }
    }

    /// Whether requests of `op` are among them. An fsync is no I/O of a mix: how often it comes
    /// follows from the writes, and it moves nothing.
    pub fn has(self, op: Op) -> bool {
        match self {
            Ops::One(own) => own == op,
            Ops::Mix | Ops::Group => op != Op::Fsync,
        }
    }
}

/// How much of its point a row counts, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Covers {
    /// Nothing of the I/O: fsyncs, which are in no total.
    Beside,
    /// One operation of several of its workload.
    Part,
    /// All I/O of its workload, beside which others ran.
    Workload,
    /// All I/O of the point.
    Point,
}

impl Covers {
    /// A stable word for machines.
    pub fn word(self) -> &'static str {
        match self {
            Covers::Beside => "beside",
            Covers::Part => "part",
            Covers::Workload => "workload",
            Covers::Point => "point",
        }
    }
}

/// A load: what its source says of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flow {
    /// Requests per second.
    pub iops: Option<f64>,
    /// Bytes per second.
    pub bytes_per_s: Option<f64>,
    /// The mean latency, in ns; a device has none.
    pub mean_ns: Option<f64>,
    /// The p99, in ns; that of several figures is not known.
    pub p99_ns: Option<f64>,
}

/// What a measured point carried, of some of its requests.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultRow {
    /// The point's number in the plan.
    pub point: u32,
    /// The number of its `measure` stage.
    pub stage: u32,
    /// The scenario's label.
    pub scenario: String,
    /// The workload's name; of several that ran at the same time, theirs with ` + ` between them.
    pub workload: String,
    /// Axis and value of each sweep axis.
    pub sweep: Vec<Setting>,
    /// Which repetition of these values it is, from 1; `None` where the run repeats nothing.
    pub repetition: Option<u32>,
    /// The number of its work among those of the point; `None`: all of them.
    pub index: Option<u32>,
    /// What its workers did: one work, or all of the point in the order of the plan.
    pub works: Vec<Work>,
    /// Workers of all hosts.
    pub workers: u32,
    /// Which requests it counts.
    pub ops: Ops,
    /// How much of the point that is.
    pub covers: Covers,
    /// Requests that succeeded while the load was on.
    pub ios: u64,
    /// Bytes that moved while the load was on.
    pub bytes: u64,
    /// How long the load was on, in seconds: the longest of all hosts.
    pub seconds: f64,
    /// Their service times, merged exactly over hosts, workers and intervals. Those join them that
    /// had not come back when the load ended and took longer than all others. At a fixed rate the
    /// response times of all requests that were due while the load was on: also of those that had
    /// not come back at its end, with at least their age.
    pub latency: Histogram,
    /// What had not come back when the load ended.
    pub left: LeftOver,
    /// Requests that failed, by errno.
    pub errors: BTreeMap<i32, u64>,
    /// CPU time that the workers of the point took.
    pub cpu: Cpu,
    /// Of a measured amount: what had been done when the first worker was done with its share, and
    /// when the last one was.
    pub done: Option<Done>,
    /// Whether the stage ran to its planned end.
    pub complete: bool,
    /// How sure the figures are.
    pub confidence: Confidence,
    /// Whether SNIA's rule held over the measured time; `None` where it is too short for the rule.
    pub settled: Option<bool>,
    /// What a command told of the same requests; nothing of loads of our own.
    pub told: Flow,
    /// Every reason to doubt this row.
    pub warnings: Vec<Warning>,
}

/// Requests that were sent or due while the load was on, and had not come back at its end. Nothing
/// in runs of versions that did not tell it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeftOver {
    /// Those that came back later, with the time that they took.
    pub late: Histogram,
    /// Those that were due and never sent, or given up, with their ages.
    pub never: Histogram,
}

impl LeftOver {
    /// Those of both kinds, with the time that they took at least.
    pub fn all(&self) -> Histogram {
        let mut all = self.late.clone();
        all.merge(&self.never);
        all
    }
}

/// A measured amount at its two ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Done {
    /// When the first worker of the cluster was done, as the host that heard of it last has it: at
    /// the stonewall, if there is one.
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
    /// Requests per second: those that succeeded while the load was on ÷ the time that it was on. 0
    /// if that is no time.
    pub fn iops(&self) -> f64 {
        per_second(self.ios, self.seconds)
    }

    /// Bytes per second, as [`iops`](Self::iops).
    pub fn bytes_per_s(&self) -> f64 {
        per_second(self.bytes, self.seconds)
    }

    /// Whether its latencies are those of all requests that were due: those of a fixed rate, of
    /// which an fsync is none.
    pub fn counts_what_was_due(&self) -> bool {
        self.is_paced() && self.ops != Ops::One(Op::Fsync)
    }

    /// Whether the longest of its latencies is the age of a request that never came back: it took
    /// that long at least.
    pub fn longest_is_age(&self) -> bool {
        let never = self.left.never.max_ns();
        never.is_some() && never >= self.latency.max_ns()
    }

    /// The one work whose requests it counts; `None` for several side by side.
    pub fn work(&self) -> Option<&Work> {
        self.index.and(self.works.first())
    }

    /// Whether it counts requests of the work with this number.
    pub fn has_work(&self, work: u32) -> bool {
        self.index.is_none_or(|own| own == work)
    }

    /// Whether it counts requests of this operation of the work with this number.
    pub fn counts(&self, work: u32, op: Op) -> bool {
        self.has_work(work) && self.ops.has(op)
    }

    /// Whether rows like it, none left out and none twice, add up to all I/O of the point.
    pub fn is_addend(&self) -> bool {
        matches!(self.ops, Ops::One(_)) && self.covers != Covers::Beside
    }

    /// Whether it counts all I/O of its workload, or more.
    pub fn is_whole(&self) -> bool {
        self.covers >= Covers::Workload
    }

    /// Whether it counts all I/O of one workload: there is one such row for each work of a point.
    pub fn is_of_workload(&self) -> bool {
        self.is_whole() && self.index.is_some()
    }

    /// Whether it counts all I/O of the point: there is one such row for each point.
    pub fn is_of_point(&self) -> bool {
        self.covers == Covers::Point
    }

    /// Whether the plan has requests of `op` among those that it counts.
    pub fn plans(&self, op: Op) -> bool {
        match self.ops {
            Ops::One(own) => own == op,
            Ops::Mix | Ops::Group => self.works.iter().any(|work| does(work, op)),
        }
    }

    /// Whether it counts operations on whole files.
    pub fn is_metadata(&self) -> bool {
        match self.ops {
            Ops::One(op) => op.is_metadata(),
            Ops::Mix | Ops::Group => self.works.iter().any(|work| work.metadata.is_some()),
        }
    }

    /// Whether it is what the kernel counted of a command's load: latencies of requests, and the
    /// requests themselves, are not known then.
    pub fn is_commanded(&self) -> bool {
        self.works.iter().any(|work| work.command.is_some())
    }

    /// Whether all that it counts had a given rate.
    pub fn is_paced(&self) -> bool {
        self.works.iter().all(|work| work.pace.is_open())
    }

    /// Whether any of what it counts had a rate that changes over time: then a mean over the time
    /// is that of different loads, and one interval is no sample of another.
    pub fn is_changing(&self) -> bool {
        self.works.iter().any(|work| work.pace.curve().is_some())
    }

    /// Whether it moves bytes, so that a rate of bytes means something.
    pub fn moves_bytes(&self) -> bool {
        const MOVING: [Op; 4] = [Op::Create, Op::ReadFile, Op::WriteFile, Op::Append];
        self.works.iter().any(|work| match work.metadata {
            Some(metadata) => {
                let moves = match self.ops {
                    Ops::One(op) => MOVING.contains(&op),
                    Ops::Mix | Ops::Group => metadata.ops().any(|op| MOVING.contains(&op)),
                };
                moves && (metadata.size.0 > 0 || self.bytes > 0)
            }
            None => true,
        })
    }

    /// All requests that failed.
    pub fn error_count(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Cores that the workers of the point kept busy, on average.
    pub fn cpu_cores(&self) -> f64 {
        if self.seconds > 0.0 {
            (self.cpu.user_ns + self.cpu.system_ns) as f64 / 1e9 / self.seconds
        } else {
            0.0
        }
    }
}

/// Whether a work consists of `op`, alone or among others. Fsyncs follow from its writes.
pub(crate) fn does(work: &Work, op: Op) -> bool {
    match (op, work.metadata) {
        (Op::Read, _) => work.reads(),
        (Op::Write, _) => work.writes(),
        (Op::Trim, _) => work.trims(),
        (op, Some(metadata)) => metadata.does(op),
        (_, None) => false,
    }
}

fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

/// How sure the figures of a row are; `None` where it cannot be said: too few intervals, or too
/// dependent ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Confidence {
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
    /// CPU time of the generators per request of the whole work, in ns; `None` where there was no
    /// request.
    pub cpu_per_io_ns: Option<f64>,
    /// The same with its error.
    pub cpu_per_io: Option<Estimate>,
    /// The standard deviation of the requests per second over the intervals ÷ their mean.
    pub over_time: Option<f64>,
    /// The natural logarithm of `over_time`, with its error.
    pub ln_over_time: Option<Estimate>,
    /// The standard deviation of the requests per second over the hosts ÷ their mean; `None` for
    /// one host.
    pub over_hosts: Option<f64>,
}

impl Confidence {
    /// Leaves out what rests on intervals that are samples of one load: those of a rate that
    /// changes are samples of many.
    pub(crate) fn forget_means(&mut self) {
        let Confidence { intervals, over_time, over_hosts, cpu_per_io_ns, .. } = *self;
        *self =
            Confidence { intervals, over_time, over_hosts, cpu_per_io_ns, ..Confidence::default() };
    }

    /// The interval of the p99, in ns.
    pub fn p99_ns(&self) -> Option<Interval> {
        let place = QUANTILES.iter().position(|quantile| quantile.key == "p99")?;
        self.quantiles_ns[place]
    }
}
