//! What each point carried: one row for each operation that it measured.

use crate::degraded::{counted, degraded};
use crate::sure::Sure;
use crate::warning::Warning;
use model::plan::Work;
use model::record::StageRecord;
use model::sample::OpSample;
use model::{Histogram, IntervalSample, Op, Phase, Record, StageEnd};
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

/// One row for each operation of each point whose `measure` stage began, in the order of the plan; no doubts yet.
pub(crate) fn figures(record: &Record) -> Vec<ResultRow> {
    let points = 0..record.plan.points.len() as u32;
    points
        .filter_map(|point| record.plan.measure_stage(point))
        .filter_map(|stage| record.stage(stage))
        .flat_map(|stage| rows(record, stage))
        .collect()
}

fn rows(record: &Record, stage: &StageRecord) -> Vec<ResultRow> {
    let Some(planned) = record.plan.stages.get(stage.stage as usize) else { return Vec::new() };
    let Some((number, point)) = planned.point.and_then(|n| Some((n, record.plan.points.get(n as usize)?))) else {
        return Vec::new();
    };
    let seconds = seconds(record, stage, Phase::counts);
    let once = planned.stop().once();
    let repeats = record.plan.repeats();
    let mut rows = Vec::new();
    for (index, work) in (0..).zip(&planned.works) {
        let cpu = cpu(record, stage, index);
        for op in operations(work, stage, index) {
            let mut row = ResultRow {
                point: number,
                stage: stage.stage,
                scenario: point.scenario.clone(),
                workload: work.workload.clone(),
                sweep: point.sweep.clone(),
                repetition: repeats.then_some(point.repetition),
                index,
                work: work.clone(),
                workers: record.plan.workers(stage.stage, index) as u32,
                op,
                ios: 0,
                bytes: 0,
                seconds,
                latency: Histogram::new(),
                errors: BTreeMap::new(),
                cpu,
                done: once.map(|once| done(record, stage, (index, op), once.stonewall)),
                complete: stage.end == Some(StageEnd::Complete),
                sure: Sure::default(),
                warnings: Vec::new(),
            };
            let samples = counted(record, stage).flat_map(|sample| &sample.ops);
            samples.filter(|sample| (sample.work, sample.op) == (index, op)).for_each(|sample| add(&mut row, sample));
            rows.push(row);
        }
    }
    rows
}

fn add(row: &mut ResultRow, sample: &OpSample) {
    row.ios += sample.ios;
    row.bytes += sample.bytes;
    // The run file was checked when it was read: a histogram that is none cannot come this far.
    let _ = sample.latency.merge_into(&mut row.latency);
    for (errno, count) in &sample.errors {
        *row.errors.entry(*errno).or_insert(0) += count;
    }
}

/// The intervals in which the load was on.
pub(crate) fn load(stage: &StageRecord) -> impl Iterator<Item = &IntervalSample> + Clone {
    stage.samples.iter().filter(|sample| sample.phase.counts())
}

/// The operations that the plan asks for, done or not, and then any other that was recorded.
fn operations(work: &Work, stage: &StageRecord, index: u32) -> Vec<Op> {
    let planned = |op: &Op| match (op, work.metadata) {
        (Op::Read, _) => work.reads(),
        (Op::Write, _) => work.writes(),
        (Op::Trim, _) => work.trims(),
        (op, Some(metadata)) => metadata.does(*op),
        (_, None) => false,
    };
    let seen =
        |op: &Op| load(stage).flat_map(|sample| &sample.ops).any(|sample| (sample.work, sample.op) == (index, *op));
    Op::ALL.into_iter().filter(|op| planned(op) || seen(op)).collect()
}

/// What was done until the first worker was done, and in all. At a stonewall, what was outstanding belongs to it; without one, nothing is.
fn done(record: &Record, stage: &StageRecord, (index, op): (u32, Op), stonewall: bool) -> Done {
    let progress = |is_in: fn(Phase) -> bool| {
        let samples = phases(record, stage, is_in).flat_map(|sample| &sample.ops);
        let mine = || samples.clone().filter(|sample| (sample.work, sample.op) == (index, op));
        Progress {
            seconds: seconds(record, stage, is_in),
            ios: mine().map(|sample| sample.ios).sum(),
            bytes: mine().map(|sample| sample.bytes).sum(),
        }
    };
    Done {
        first: progress(|phase| phase == Phase::Load),
        last: progress(if stonewall { |_| true } else { Phase::counts }),
    }
}

/// What counts of some phases; the drain, if it is one of them, only of a stage that no host was lost in.
fn phases<'a>(
    record: &Record,
    stage: &'a StageRecord,
    is_in: fn(Phase) -> bool,
) -> impl Iterator<Item = &'a IntervalSample> + Clone {
    let is_whole = degraded(record, stage).is_none();
    let drain = stage.samples.iter().filter(move |sample| sample.phase == Phase::Drain && is_whole);
    counted(record, stage).chain(drain).filter(move |sample| is_in(sample.phase))
}

/// The time of some phases of a stage: hosts run side by side, so theirs do not add up.
fn seconds(record: &Record, stage: &StageRecord, is_in: fn(Phase) -> bool) -> f64 {
    let mut hosts: BTreeMap<u32, u64> = BTreeMap::new();
    for sample in phases(record, stage, is_in) {
        *hosts.entry(sample.host).or_insert(0) += sample.length_ns;
    }
    hosts.values().max().map_or(0.0, |ns| *ns as f64 / 1e9)
}

/// CPU time of the workers that do one work of a stage.
fn cpu(record: &Record, stage: &StageRecord, index: u32) -> Cpu {
    let mut total = Cpu::default();
    // By host and worker: CPU time, and the time in which it was taken.
    let mut workers: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
    for sample in counted(record, stage) {
        let planned =
            record.plan.hosts.get(sample.host as usize).and_then(|host| host.stages.get(stage.stage as usize));
        let does =
            |worker: u32| planned.and_then(|stage| stage.workers.get(worker as usize)).is_some_and(|w| w.work == index);
        for worker in sample.workers.iter().filter(|worker| does(worker.worker)) {
            total.user_ns += worker.cpu_user_ns;
            total.system_ns += worker.cpu_system_ns;
            let entry = workers.entry((sample.host, worker.worker)).or_default();
            entry.0 += worker.cpu_user_ns + worker.cpu_system_ns;
            entry.1 += sample.length_ns;
        }
    }
    let share = |(busy, time): &(u64, u64)| if *time > 0 { *busy as f64 / *time as f64 } else { 0.0 };
    total.busiest = workers.values().map(share).fold(0.0, f64::max);
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results;
    use crate::testing::Recorded;
    use model::StageKind;
    use proptest::prelude::*;

    const MIXED: &str = "[[workload]]\nname = \"mix\"\nread = \"70%\"\n";

    #[test]
    fn a_mix_gives_a_row_for_each_direction_and_the_drain_counts_in_neither() {
        let mut recorded = Recorded::new(MIXED);
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[(Op::Read, &[100, 200, 300]), (Op::Write, &[1000])]);
        recorded.interval(stage, 1, &[(Op::Read, &[400])]);
        recorded.drain(stage, 2, &[(Op::Read, &[9_000_000])]);
        let rows = results(&recorded.record());
        let read = &rows[0];
        assert_eq!((read.op, read.ios, read.bytes), (Op::Read, 4, 4 * 4096));
        assert_eq!((read.seconds, read.iops()), (2.0, 2.0));
        assert_eq!(read.latency.max_ns(), Some(400));
        assert_eq!((rows[1].op, rows[1].ios), (Op::Write, 1));
    }

    #[test]
    fn what_was_planned_and_never_came_is_a_row_with_nothing_in_it() {
        let mut recorded = Recorded::new(MIXED);
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[(Op::Read, &[100])]);
        let rows = results(&recorded.record());
        assert_eq!((rows[1].op, rows[1].ios, rows[1].iops()), (Op::Write, 0, 0.0));
        assert!(rows[1].warnings.contains(&Warning::NothingCompleted));
    }

    #[test]
    fn hosts_run_side_by_side() {
        let mut recorded = Recorded::with_hosts(MIXED, 2);
        let stage = recorded.stage(StageKind::Measure);
        recorded.host_interval(stage, 0, 0, &[(Op::Read, &[100; 30])]);
        recorded.host_interval(stage, 1, 0, &[(Op::Read, &[100; 50])]);
        let rows = results(&recorded.record());
        assert_eq!((rows[0].ios, rows[0].seconds, rows[0].iops()), (80, 1.0, 80.0));
    }

    proptest! {
        #[test]
        fn the_sum_over_intervals_and_hosts_is_the_total(
            parts in prop::collection::vec((0u32..3, prop::collection::vec(1u64..1_000_000, 0..50)), 1..20),
        ) {
            let mut recorded = Recorded::with_hosts(MIXED, 3);
            let stage = recorded.stage(StageKind::Measure);
            let mut together = Histogram::new();
            for (interval, (host, values)) in parts.iter().enumerate() {
                recorded.host_interval(stage, *host, interval as u32, &[(Op::Read, values.as_slice())]);
                values.iter().for_each(|value| together.record(*value));
            }
            let rows = results(&recorded.record());
            prop_assert_eq!(rows[0].ios, together.count());
            prop_assert_eq!(&rows[0].latency, &together);
        }
    }
}
