//! What each point carried: one row for each operation that it measured.

use crate::row::{Cpu, Done, Progress, ResultRow, Sure};
use model::digest::{Counts, Digest, Part};
use model::plan::Work;
use model::record::StageRecord;
use model::{Histogram, Op, Phase, Record, StageEnd};
use std::collections::BTreeMap;

/// One row for each operation of a `measure` stage; no doubts yet.
pub(crate) fn rows(record: &Record, stage: &StageRecord, digest: &Digest) -> Vec<ResultRow> {
    let Some(planned) = record.plan.stages.get(stage.stage as usize) else { return Vec::new() };
    let Some((number, point)) = planned.point.and_then(|n| Some((n, record.plan.points.get(n as usize)?))) else {
        return Vec::new();
    };
    let seconds = seconds(digest, Phase::counts);
    let once = planned.stop().once();
    let repeats = record.plan.repeats();
    let mut rows = Vec::new();
    for (index, work) in (0..).zip(&planned.works) {
        let cpu = cpu(digest, index);
        for op in operations(work, digest, index) {
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
                done: once.map(|once| done(digest, (index, op), once.stonewall)),
                complete: stage.end == Some(StageEnd::Complete),
                sure: Sure::default(),
                warnings: Vec::new(),
            };
            if let Some(part) = digest.part(index, op) {
                add(&mut row, part);
            }
            rows.push(row);
        }
    }
    rows
}

fn add(row: &mut ResultRow, part: &Part) {
    for host in part.hosts.values() {
        row.ios = row.ios.saturating_add(host.counts.ios);
        row.bytes = row.bytes.saturating_add(host.counts.bytes);
        row.latency.merge_tight(&host.latency);
        for (errno, count) in &host.errors {
            let sum = row.errors.entry(*errno).or_insert(0);
            *sum = sum.saturating_add(*count);
        }
    }
}

/// The operations that the plan asks for, done or not, and then any other that was recorded.
fn operations(work: &Work, digest: &Digest, index: u32) -> Vec<Op> {
    let planned = |op: &Op| match (op, work.metadata) {
        (Op::Read, _) => work.reads(),
        (Op::Write, _) => work.writes(),
        (Op::Trim, _) => work.trims(),
        (op, Some(metadata)) => metadata.does(*op),
        (_, None) => false,
    };
    let seen = |op: &Op| digest.part(index, *op).is_some_and(|part| !part.totals.is_empty());
    Op::ALL.into_iter().filter(|op| planned(op) || seen(op)).collect()
}

/// What was done until the first worker was done, and in all. At a stonewall, what was outstanding belongs to it; without one, nothing is.
fn done(digest: &Digest, (index, op): (u32, Op), stonewall: bool) -> Done {
    let progress = |is_in: fn(Phase) -> bool| {
        let part = digest.part(index, op);
        let phases = PHASES.into_iter().filter(|phase| is_in(*phase) && is_counted(digest, *phase));
        let counts: Vec<Counts> = phases.filter_map(|phase| part.map(|part| part.phase(phase))).collect();
        Progress {
            seconds: seconds(digest, is_in),
            ios: counts.iter().fold(0, |sum, counts| sum.saturating_add(counts.ios)),
            bytes: counts.iter().fold(0, |sum, counts| sum.saturating_add(counts.bytes)),
        }
    };
    Done {
        first: progress(|phase| phase == Phase::Load),
        last: progress(if stonewall { |_| true } else { Phase::counts }),
    }
}

const PHASES: [Phase; 3] = [Phase::Load, Phase::Tail, Phase::Drain];

/// What counts of the phases: the drain only of a stage that no host was lost in.
fn is_counted(digest: &Digest, phase: Phase) -> bool {
    phase.counts() || digest.frame.degraded_from.is_none()
}

/// The time of some phases of a stage: hosts run side by side, so theirs do not add up.
fn seconds(digest: &Digest, is_in: fn(Phase) -> bool) -> f64 {
    let host_ns = |spans: &Vec<model::digest::Span>| {
        let counted = |span: &&model::digest::Span| {
            is_in(span.phase)
                && is_counted(digest, span.phase)
                && (!span.phase.counts() || digest.frame.is_counted(span.interval))
        };
        spans.iter().filter(counted).fold(0u64, |sum, span| sum.saturating_add(span.length_ns))
    };
    digest.frame.spans.values().map(host_ns).max().map_or(0.0, |ns| ns as f64 / 1e9)
}

/// CPU time of the workers that do one work of a stage.
fn cpu(digest: &Digest, index: u32) -> Cpu {
    let mut total = Cpu::default();
    // By host and worker: CPU time, and the time in which it was taken.
    let mut workers: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
    for ((host, worker), sums) in &digest.sums.workers {
        if digest.frame.work_of(*host, *worker) == Some(index) {
            total.user_ns = total.user_ns.saturating_add(sums.user_ns);
            total.system_ns = total.system_ns.saturating_add(sums.system_ns);
            workers.insert((*host, *worker), (sums.user_ns.saturating_add(sums.system_ns), sums.time_ns));
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
    use crate::warning::Warning;
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
