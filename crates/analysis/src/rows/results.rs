//! What each point carried: a row for each operation that it measured, and for each whole that
//! these are parts of.

use crate::doubts::standstill::LEAST_STALL_NS;
use crate::rows::row::{
    Confidence, Covers, Cpu, Done, Flow, LeftOver, Ops, Progress, ResultRow, does,
};
use model::digest::{Counts, Digest, Part};
use model::plan::{Once, Work};
use model::record::StageRecord;
use model::{Histogram, Op, Phase, Record, StageEnd};
use std::collections::BTreeMap;

/// The rows of a `measure` stage: for each work, one for each operation, and one of all I/O where
/// it mixes operations; then one of all works, where there are several. No doubts yet.
pub(crate) fn rows(record: &Record, stage: &StageRecord, digest: &Digest) -> Vec<ResultRow> {
    let Some(planned) = record.plan.stages.get(stage.stage as usize) else { return Vec::new() };
    let Some((number, point)) =
        planned.point.and_then(|n| Some((n, record.plan.points.get(n as usize)?)))
    else {
        return Vec::new();
    };
    let seconds = seconds(digest, Phase::counts);
    let once = planned.stop().once();
    let repetition = record.plan.repeats().then_some(point.repetition);
    let empty = ResultRow {
        point: number,
        stage: stage.stage,
        scenario: point.scenario.clone(),
        workload: String::new(),
        sweep: point.sweep.clone(),
        repetition,
        index: None,
        works: Vec::new(),
        workers: 0,
        ops: Ops::Group,
        covers: Covers::Point,
        ios: 0,
        bytes: 0,
        seconds,
        latency: Histogram::new(),
        left: LeftOver::default(),
        errors: BTreeMap::new(),
        cpu: Cpu::default(),
        done: None,
        complete: stage.end == Some(StageEnd::Complete),
        confidence: Confidence::default(),
        settled: None,
        told: Flow::default(),
        warnings: Vec::new(),
    };
    let filled = |row| filled(row, stage, digest, once);
    let is_alone = planned.works.len() == 1;
    let mut rows = Vec::new();
    for (index, work) in (0..).zip(&planned.works) {
        for (ops, covers) in kinds(work, &operations(work, digest, index), is_alone) {
            rows.push(filled(ResultRow {
                workload: work.workload.clone(),
                index: Some(index),
                works: vec![work.clone()],
                workers: record.plan.workers(stage.stage, index) as u32,
                ops,
                covers,
                ..empty.clone()
            }));
        }
    }
    if !is_alone && !planned.works.is_empty() {
        let names: Vec<&str> = planned.works.iter().map(|work| work.workload.as_str()).collect();
        let workers =
            (0..).zip(&planned.works).map(|(index, _)| record.plan.workers(stage.stage, index));
        rows.push(filled(ResultRow {
            workload: names.join(" + "),
            works: planned.works.clone(),
            workers: workers.sum::<usize>() as u32,
            ..empty
        }));
    }
    rows
}

/// The row with what its requests came to.
fn filled(
    mut row: ResultRow,
    stage: &StageRecord,
    digest: &Digest,
    once: Option<Once>,
) -> ResultRow {
    row.cpu = cpu(digest, &row);
    row.done = once.map(|once| done(digest, &row, once.stonewall));
    row.left = left_over(stage, digest, &row);
    let parts = digest.sums.parts.iter().filter(|((work, op), _)| row.counts(*work, *op));
    let parts: Vec<&Part> = parts.map(|(_, part)| part).collect();
    parts.into_iter().for_each(|part| add(&mut row, part));
    if !row.counts_what_was_due() {
        let longest_ns = row.latency.max_ns().unwrap_or(0);
        row.latency.merge(&outlasting(&row.left.all(), longest_ns));
    }
    row
}

/// What had not come back of what a row counts, all hosts together; nothing of a stage that a host
/// was lost in, whose figures end before its end.
fn left_over(stage: &StageRecord, digest: &Digest, row: &ResultRow) -> LeftOver {
    let mut sum = LeftOver::default();
    let left = stage
        .ends
        .iter()
        .filter(|_| digest.frame.degraded_from.is_none())
        .flat_map(|end| &end.left);
    for left in left.filter(|left| row.counts(left.work, left.op)) {
        // Checked when they were taken in.
        let _ = left
            .late
            .merge_into(&mut sum.late)
            .and_then(|()| left.never.merge_into(&mut sum.never));
    }
    sum
}

/// Of requests that had not come back, those that took longer than all that did, and as long as a
/// standstill: in a closed loop, the end of the load must not hide them. Others were under way as
/// at any instant.
pub(crate) fn outlasting(left: &Histogram, longest_ns: u64) -> Histogram {
    let least_ns = longest_ns.max(LEAST_STALL_NS);
    let most_ns = left.max_ns().unwrap_or(0);
    let mut longer = Histogram::new();
    for (_, high_ns, requests) in left.buckets().filter(|(low_ns, ..)| *low_ns > least_ns) {
        longer.record_many(high_ns.min(most_ns), requests);
    }
    longer
}

/// The rows of a work that has these operations, and how much of its point each is: those of I/O,
/// their total where there are several, and what stands beside them. A command always has a total:
/// whether a file system wrote something besides is chance, and runs are to be comparable.
fn kinds(work: &Work, operations: &[Op], is_alone: bool) -> Vec<(Ops, Covers)> {
    let whole = if is_alone { Covers::Point } else { Covers::Workload };
    let (io, beside): (Vec<Op>, Vec<Op>) = operations.iter().partition(|op| **op != Op::Fsync);
    let is_mix = io.len() > 1 || work.command.is_some();
    let of_one = if is_mix { Covers::Part } else { whole };
    let mut kinds: Vec<(Ops, Covers)> = io.into_iter().map(|op| (Ops::One(op), of_one)).collect();
    kinds.extend(is_mix.then_some((Ops::Mix, whole)));
    kinds.extend(beside.into_iter().map(|op| (Ops::One(op), Covers::Beside)));
    kinds
}

fn add(row: &mut ResultRow, part: &Part) {
    for host in part.hosts.values() {
        row.ios = row.ios.saturating_add(host.counts.ios);
        row.bytes = row.bytes.saturating_add(host.counts.bytes);
        if !row.is_commanded() {
            row.latency.merge_tight(&host.latency);
        }
        for (errno, count) in &host.errors {
            let sum = row.errors.entry(*errno).or_insert(0);
            *sum = sum.saturating_add(*count);
        }
    }
}

/// The operations that the plan asks for, done or not, and then any other that was recorded.
fn operations(work: &Work, digest: &Digest, index: u32) -> Vec<Op> {
    let seen = |op: &Op| digest.part(index, *op).is_some_and(|part| !part.totals.is_empty());
    Op::EACH.into_iter().filter(|op| does(work, *op) || seen(op)).collect()
}

/// What was done until the first worker was done, and in all. At a stonewall, what was outstanding
/// belongs to it; without one, nothing is.
fn done(digest: &Digest, row: &ResultRow, stonewall: bool) -> Done {
    let parts = || digest.sums.parts.iter().filter(|((work, op), _)| row.counts(*work, *op));
    let progress = |is_in: fn(Phase) -> bool| {
        let phases =
            || PHASES.into_iter().filter(|phase| is_in(*phase) && is_counted(digest, *phase));
        let counts: Vec<Counts> =
            parts().flat_map(|(_, part)| phases().map(|phase| part.phase(phase))).collect();
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
    let phases = PHASES.into_iter().filter(|phase| is_in(*phase) && is_counted(digest, *phase));
    let phases: Vec<Phase> = phases.collect();
    let host_ns = |host: &u32| {
        let lengths = phases.iter().map(|phase| digest.frame.length_ns(*host, *phase));
        lengths.fold(0u64, u64::saturating_add)
    };
    digest.frame.spans.keys().map(host_ns).max().map_or(0.0, |ns| ns as f64 / 1e9)
}

/// CPU time of the workers that do the works of a row.
fn cpu(digest: &Digest, row: &ResultRow) -> Cpu {
    let mut total = Cpu::default();
    // By host and worker: CPU time, and the time in which it was taken.
    let mut workers: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
    for ((host, worker), sums) in &digest.sums.workers {
        if digest.frame.work_of(*host, *worker).is_some_and(|work| row.has_work(work)) {
            total.user_ns = total.user_ns.saturating_add(sums.user_ns);
            total.system_ns = total.system_ns.saturating_add(sums.system_ns);
            workers.insert(
                (*host, *worker),
                (sums.user_ns.saturating_add(sums.system_ns), sums.time_ns),
            );
        }
    }
    let share =
        |(busy, time): &(u64, u64)| if *time > 0 { *busy as f64 / *time as f64 } else { 0.0 };
    total.busiest = workers.values().map(share).fold(0.0, f64::max);
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doubts::Warning;
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
        assert_eq!((read.ops, read.ios, read.bytes), (Ops::One(Op::Read), 4, 4 * 4096));
        assert_eq!((read.seconds, read.iops()), (2.0, 2.0));
        assert_eq!(read.latency.max_ns(), Some(400));
        assert_eq!((rows[1].ops, rows[1].ios), (Ops::One(Op::Write), 1));
    }

    #[test]
    fn what_was_planned_and_never_came_is_a_row_with_nothing_in_it() {
        let mut recorded = Recorded::new(MIXED);
        recorded.second(0, &[(Op::Read, &[100])]);
        let rows = results(&recorded.record());
        assert_eq!((rows[1].ops, rows[1].ios, rows[1].iops()), (Ops::One(Op::Write), 0, 0.0));
        assert!(rows[1].warnings.contains(&Warning::NothingCompleted));
    }

    #[test]
    fn hosts_run_side_by_side() {
        let mut recorded = Recorded::with_hosts(MIXED, 2);
        recorded.host_second(0, 0, &[(Op::Read, &[100; 30])]);
        recorded.host_second(1, 0, &[(Op::Read, &[100; 50])]);
        let rows = results(&recorded.record());
        assert_eq!((rows[0].ios, rows[0].seconds, rows[0].iops()), (80, 1.0, 80.0));
    }

    /// What each row is of, what it covers, and its requests.
    fn told(rows: &[ResultRow]) -> Vec<(&str, &'static str, &'static str, u64)> {
        rows.iter()
            .map(|row| (row.workload.as_str(), row.ops.name(), row.covers.word(), row.ios))
            .collect()
    }

    #[test]
    fn a_mix_has_a_row_of_all_its_io_and_fsyncs_are_none() {
        let mut recorded = Recorded::new(&format!("{MIXED}fsync_every = 2\n"));
        let stage = recorded.stage(StageKind::Measure);
        let ops: [(Op, &[u64]); 3] =
            [(Op::Read, &[100, 200, 300]), (Op::Write, &[1_000, 7_000]), (Op::Fsync, &[90_000])];
        recorded.interval(stage, 0, &ops);
        recorded.interval(stage, 1, &ops);
        recorded.fail(stage, 0, Op::Read, 5, 2);
        recorded.fail(stage, 0, Op::Write, 28, 1);
        recorded.fail(stage, 1, Op::Fsync, 5, 9);
        let rows = results(&recorded.record());
        assert_eq!(
            told(&rows),
            [
                ("mix", "read", "part", 6),
                ("mix", "write", "part", 4),
                ("mix", "all", "point", 10),
                ("mix", "fsync", "beside", 2)
            ]
        );
        let all = &rows[2];
        assert_eq!((all.seconds, all.iops(), all.bytes), (2.0, 5.0, 10 * 4096));
        assert_eq!((all.latency.count(), all.latency.max_ns()), (10, Some(7_000)));
        assert_eq!(all.errors, BTreeMap::from([(5, 2), (28, 1)]));
        assert_eq!(all.cpu, rows[0].cpu, "of all workers, as each of its parts");
        assert!(
            all.is_of_workload() && all.is_of_point() && !all.is_addend() && rows[0].is_addend()
        );
        assert!(!rows[3].is_addend() && !rows[3].is_whole());
    }

    #[test]
    fn a_workload_of_one_operation_is_whole_by_itself() {
        let mut recorded =
            Recorded::new("[[workload]]\nname = \"w\"\nread = \"0%\"\nfsync_every = 1\n");
        recorded.second(0, &[(Op::Write, &[100]), (Op::Fsync, &[900])]);
        let rows = results(&recorded.record());
        assert_eq!(told(&rows), [("w", "write", "point", 1), ("w", "fsync", "beside", 1)]);
        assert!(rows[0].is_addend() && rows[0].is_of_workload() && rows[0].is_of_point());
    }

    #[test]
    fn workloads_at_the_same_time_have_a_row_of_all_of_them() {
        let group = "[[workload]]\nname = \"a\"\ngroup = \"g\"\nread = \
                     \"50%\"\n[[workload]]\nname = \"b\"\ngroup = \"g\"\n";
        let mut recorded = Recorded::new(group);
        let stage = recorded.stage(StageKind::Measure);
        let ops: [(u32, Op, &[u64]); 3] =
            [(0, Op::Read, &[100; 5]), (0, Op::Write, &[300; 3]), (1, Op::Read, &[50; 40])];
        (0..40).for_each(|second| recorded.side_by_side(stage, second, &ops));
        let record = recorded.end();
        let rows = results(&record);
        assert_eq!(
            told(&rows),
            [
                ("a", "read", "part", 200),
                ("a", "write", "part", 120),
                ("a", "all", "workload", 320),
                ("b", "read", "workload", 1_600),
                ("a + b", "all", "point", 1_920)
            ]
        );
        let all = &rows[4];
        assert_eq!(
            (all.iops(), all.latency.count(), all.workers),
            (48.0, 1_920, rows[2].workers + rows[3].workers)
        );
        assert_eq!((all.index, all.work(), all.works.len(), all.ops), (None, None, 2, Ops::Group));
        assert!(
            all.confidence.iops.is_some() && all.confidence.p99_ns().is_some(),
            "as sure as other rows: {:?}",
            all.confidence
        );
        let of_hosts: u64 = crate::by_host(&record, all).iter().map(|share| share.ios).sum();
        assert_eq!(of_hosts, all.ios);
    }

    proptest! {
        #[test]
        fn parts_add_up_to_the_whole_in_everything_that_is_counted(
            parts in prop::collection::vec(
                (0u32..3, prop::collection::vec(1u64..1_000_000, 0..30),
                    prop::collection::vec(1u64..1_000_000, 0..30), 0u64..3),
                1..15,
            ),
        ) {
            let mut recorded = Recorded::with_hosts(MIXED, 3);
            let stage = recorded.stage(StageKind::Measure);
            for (interval, (host, reads, writes, failed)) in (0..).zip(&parts) {
                let ops: [(Op, &[u64]); 2] = [(Op::Read, reads), (Op::Write, writes)];
                recorded.host_interval(stage, *host, interval, &ops);
                recorded.fail(stage, interval, Op::Write, 5, *failed);
            }
            let record = recorded.record();
            let rows = results(&record);
            let (whole, addends): (Vec<&ResultRow>,
                Vec<&ResultRow>) = rows.iter().partition(|row| !row.is_addend());
            let [all] = whole.as_slice() else { panic!("one whole: {whole:?}") };
            let mut latency = Histogram::new();
            addends.iter().for_each(|row| latency.merge(&row.latency));
            prop_assert_eq!(&all.latency, &latency);
            prop_assert_eq!(all.ios, addends.iter().map(|row| row.ios).sum::<u64>());
            prop_assert_eq!(all.bytes, addends.iter().map(|row| row.bytes).sum::<u64>());
            prop_assert_eq!(all.error_count(),
                addends.iter().map(|row| row.error_count()).sum::<u64>());
            let of = |row: &ResultRow| crate::host_rates(&record,
                row).iter().map(|(_, rate)| rate).sum::<f64>();
            let sum: f64 = addends.iter().map(|row| of(row)).sum();
            prop_assert!((of(all) - sum).abs() < 1e-6, "{} {}", of(all), sum);
        }

        #[test]
        fn the_sum_over_intervals_and_hosts_is_the_total(
            parts in prop::collection::vec((0u32..3, prop::collection::vec(1u64..1_000_000, 0..50)),
                1..20),
        ) {
            let mut recorded = Recorded::with_hosts(MIXED, 3);
            let stage = recorded.stage(StageKind::Measure);
            let mut together = Histogram::new();
            for (interval, (host, values)) in parts.iter().enumerate() {
                recorded.host_interval(stage, *host, interval as u32,
                    &[(Op::Read, values.as_slice())]);
                values.iter().for_each(|value| together.record(*value));
            }
            let rows = results(&recorded.record());
            prop_assert_eq!(rows[0].ios, together.count());
            prop_assert_eq!(&rows[0].latency, &together);
        }
    }
}
