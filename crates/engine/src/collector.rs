//! Puts the workers' pages together: one sample of the host for each interval, in order.

use crate::timetable::Timetable;
use crate::worker::driver::Slot;
use crate::worker::recorder::Interval;
use crate::worker::waiting::{Outstanding, Watch};
use model::event::{Left, Waiting};
use model::plan::HostStage;
use model::sample::{OpSample, WorkerOp, WorkerSample};
use model::{EncodedHistogram, Histogram, IntervalSample, Op, Phase};
use std::collections::{BTreeMap, BTreeSet};

/// What the workers of a host did, until it is told.
pub(crate) struct Collector {
    stage: u32,
    host: u32,
    timetable: Timetable,
    /// The work that each worker does.
    works: Box<[u32]>,
    /// The interval that each worker is in; `None` once it is past the load.
    now_in: Vec<Option<Slot>>,
    pending: BTreeMap<Slot, Merged>,
    drain: Merged,
    /// The ages of requests that never came back, by work and operation.
    never: BTreeMap<(u32, Op), Histogram>,
    next: Slot,
    /// How many intervals were handed out.
    told: u32,
    /// When the first worker had done its amount, if others went on.
    wall_ns: Option<u64>,
    load_end_ns: u64,
    drain_end_ns: u64,
    watch: Watch,
}

/// Pages of one interval, merged.
#[derive(Default)]
struct Merged {
    /// By work and operation.
    ops: BTreeMap<(u32, Op), MergedOp>,
    workers: Vec<WorkerSample>,
}

#[derive(Default)]
struct MergedOp {
    ios: u64,
    bytes: u64,
    errors: BTreeMap<i32, u64>,
    latency: Histogram,
    raw: Vec<u64>,
}

impl Merged {
    fn add(&mut self, worker: u32, work: u32, page: &Interval) {
        let mut ops = Vec::new();
        for (op, stats) in page
            .ops
            .iter()
            .filter(|stats| !stats.is_empty())
            .filter_map(|stats| Some((stats.op?, stats)))
        {
            let merged = self.ops.entry((work, op)).or_default();
            merged.ios += stats.ios;
            merged.bytes += stats.bytes;
            for (errno, count) in &stats.errors {
                *merged.errors.entry(*errno).or_default() += count;
            }
            merged.latency.add_counts(&stats.counts, stats.sum_ns, stats.min_ns, stats.max_ns);
            merged.raw.extend_from_slice(&stats.raw);
            let errors = stats.errors.iter().map(|(_, count)| count).sum();
            ops.push(WorkerOp { op, ios: stats.ios, bytes: stats.bytes, errors });
        }
        let (cpu_user_ns, cpu_system_ns) = (page.cpu.user_ns, page.cpu.system_ns);
        self.workers.push(WorkerSample {
            worker,
            cpu_user_ns,
            cpu_system_ns,
            ops,
            mark: page.mark.clone(),
        });
    }

    /// Adds what the stage itself sent, in the name of worker 0, which does this work. The worker
    /// may have sent the same operation itself.
    fn add_after(&mut self, work: u32, after: &OpSample) {
        let merged = self.ops.entry((work, after.op)).or_default();
        merged.ios += after.ios;
        merged.bytes += after.bytes;
        for (errno, count) in &after.errors {
            *merged.errors.entry(*errno).or_default() += count;
        }
        let whole = after.latency.merge_into(&mut merged.latency);
        assert!(whole.is_ok(), "the stage encoded these latencies itself a moment ago");
        if self.workers.iter().all(|sample| sample.worker != 0) {
            self.workers.push(WorkerSample::default());
        }
        for sample in self.workers.iter_mut().filter(|sample| sample.worker == 0).take(1) {
            if sample.ops.iter().all(|mine| mine.op != after.op) {
                sample.ops.push(WorkerOp { op: after.op, ios: 0, bytes: 0, errors: 0 });
            }
            for mine in sample.ops.iter_mut().filter(|mine| mine.op == after.op) {
                mine.ios += after.ios;
                mine.bytes += after.bytes;
                mine.errors += after.error_count();
            }
        }
    }

    /// The samples of the operations that were completed, and of each worker by its number.
    fn into_samples(mut self) -> (Vec<OpSample>, Vec<WorkerSample>) {
        self.workers.sort_by_key(|sample| sample.worker);
        let done =
            self.ops.into_iter().filter(|(_, merged)| merged.ios > 0 || !merged.errors.is_empty());
        let ops = done
            .map(|((work, op), merged)| {
                let counted = merged.latency.count();
                assert_eq!(counted, merged.ios, "every request that succeeded has its latency");
                OpSample {
                    work,
                    op,
                    ios: merged.ios,
                    bytes: merged.bytes,
                    errors: merged.errors.into_iter().collect(),
                    latency: merged.latency.encode(),
                    raw_latencies: merged.raw,
                }
            })
            .collect();
        (ops, self.workers)
    }
}

impl Collector {
    /// A collector for the workers of `stage`, which are all in interval 0.
    pub(crate) fn new(stage: &HostStage, host: u32, timetable: Timetable) -> Collector {
        Collector {
            stage: stage.stage,
            host,
            timetable,
            works: stage.workers.iter().map(|worker| worker.work).collect(),
            now_in: vec![Some((0, Phase::Load)); stage.workers.len()],
            pending: BTreeMap::new(),
            drain: Merged::default(),
            never: BTreeMap::new(),
            next: (0, Phase::Load),
            told: 0,
            wall_ns: None,
            load_end_ns: timetable.start_ns,
            drain_end_ns: timetable.start_ns,
            watch: Watch::new(stage.stage, host, timetable),
        }
    }

    /// Takes in a page that `worker` has left, and hands out every interval that nobody is in any
    /// more.
    pub(crate) fn take(
        &mut self,
        worker: u32,
        page: &Interval,
        now_in: Option<Slot>,
        sink: &mut dyn FnMut(IntervalSample),
    ) {
        self.now_in[worker as usize] = now_in;
        let work = self.works[worker as usize];
        for (stats, never) in page.ops.iter().zip(&page.never) {
            if let (Some(op), Some(never)) = (stats.op, never) {
                self.never.entry((work, op)).or_default().merge(never);
            }
        }
        if page.phase == Phase::Load && now_in.is_some_and(|(_, phase)| phase == Phase::Tail) {
            self.wall_ns = Some(page.end_ns);
        }
        match page.phase {
            Phase::Load | Phase::Tail => {
                self.load_end_ns = self.load_end_ns.max(page.end_ns);
                // A page of a past interval cannot come: an interval is handed out when all workers
                // have left it. A worker may have turned a page before it saw that the first was
                // done: what it did on it belongs to the tail.
                let after = |wall_ns| page.number > self.timetable.interval_at(wall_ns);
                let phase = if self.wall_ns.is_some_and(after) { Phase::Tail } else { page.phase };
                let slot = (page.number, phase);
                assert!(slot >= self.next, "interval {slot:?} was handed out before");
                self.pending.entry(slot).or_default().add(worker, work, page);
            }
            Phase::Drain => {
                self.drain_end_ns = self.drain_end_ns.max(page.end_ns);
                self.drain.add(worker, work, page);
            }
        }
        // Workers past the load hold nothing back, but the last interval's length is only known at
        // the end.
        let behind = self.now_in.iter().flatten().min().copied();
        while behind.is_some_and(|behind| self.next < behind) {
            self.hand_out(u64::MAX, sink);
        }
    }

    /// What the target leaves unanswered at the workers, if it is time to say so; with `is_late`,
    /// their pages take a little time.
    pub(crate) fn look<'a>(
        &mut self,
        now_ns: u64,
        stop_at_ns: u64,
        workers: impl Iterator<Item = &'a Outstanding>,
        is_late: bool,
    ) -> Option<Waiting> {
        let Timetable { start_ns, interval_ns, .. } = self.timetable;
        let begin_of =
            |number: u32| start_ns.saturating_add(u64::from(number).saturating_mul(interval_ns));
        // Past the load, no page is turned.
        let turned = self.now_in.iter().map(|slot| slot.map_or(u64::MAX, |(n, _)| begin_of(n)));
        let workers = workers.zip(turned);
        match is_late {
            true => self.watch.look_late(now_ns, stop_at_ns, workers),
            false => self.watch.look(now_ns, stop_at_ns, workers),
        }
    }

    /// When the next interval begins: the one that the wall is in does so twice.
    fn next_begin_ns(&self) -> u64 {
        let (number, phase) = self.next;
        let begin_ns = self.timetable.end_of(number) - self.timetable.interval_ns;
        match phase {
            Phase::Load => begin_ns,
            // A worker that saw the wall late has told of the interval after it by then, and that
            // is empty.
            Phase::Tail | Phase::Drain => begin_ns.max(self.wall_ns.unwrap_or(0)),
        }
    }

    /// Hands out the next interval, which was over at `over_ns` at the latest.
    fn hand_out(&mut self, over_ns: u64, sink: &mut dyn FnMut(IntervalSample)) {
        let (number, phase) = self.next;
        let wall_ns = self.wall_ns.unwrap_or(u64::MAX);
        let full_ns = self.timetable.end_of(number);
        let begin_ns = self.next_begin_ns();
        let end_ns = if phase == Phase::Load { full_ns.min(wall_ns) } else { full_ns };
        let (ops, workers) = self.pending.remove(&self.next).unwrap_or_default().into_samples();
        let start_ns = begin_ns - self.timetable.start_ns;
        let length_ns = end_ns.min(over_ns).saturating_sub(begin_ns);
        self.next = match phase {
            Phase::Load if wall_ns <= full_ns => {
                (self.timetable.interval_at(wall_ns).max(number), Phase::Tail)
            }
            phase => (number + 1, phase),
        };
        let interval = self.told;
        self.told += 1;
        sink(self.sample(interval, start_ns, length_ns, phase, ops, workers));
    }

    fn sample(
        &self,
        interval: u32,
        start_ns: u64,
        length_ns: u64,
        phase: Phase,
        ops: Vec<OpSample>,
        workers: Vec<WorkerSample>,
    ) -> IntervalSample {
        IntervalSample {
            stage: self.stage,
            host: self.host,
            interval,
            start_ns,
            length_ns,
            phase,
            ops,
            workers,
        }
    }

    /// Hands out the rest, when all workers are done: the intervals that are left, then the drain
    /// with `after`, what the stage itself sent to the target in the name of worker 0. Comes back
    /// with what was left over when the load ended.
    pub(crate) fn finish(
        mut self,
        after: Option<OpSample>,
        end_ns: u64,
        sink: &mut dyn FnMut(IntervalSample),
    ) -> Vec<Left> {
        while let Some((&last, _)) = self.pending.last_key_value() {
            let over_ns = if self.next >= last { self.load_end_ns } else { u64::MAX };
            self.hand_out(over_ns, sink);
        }
        // Where the target answered nobody until the end, nobody turned a page there, and the time
        // counts all the same.
        while self.next_begin_ns() < self.load_end_ns {
            self.hand_out(self.load_end_ns, sink);
        }
        let start_ns = self.load_end_ns - self.timetable.start_ns;
        let length_ns = end_ns.max(self.drain_end_ns).saturating_sub(self.load_end_ns);
        assert!(
            self.pending.is_empty(),
            "every interval of the load is handed out before the drain"
        );
        let left = self.left_over();
        let mut drain = std::mem::take(&mut self.drain);
        if let Some(after) = after.filter(|after| after.ios > 0 || !after.errors.is_empty()) {
            drain.add_after(self.works.first().copied().unwrap_or(after.work), &after);
        }
        let (ops, workers) = drain.into_samples();
        if !ops.is_empty() {
            let sample = self.sample(self.told, start_ns, length_ns, Phase::Drain, ops, workers);
            sink(sample);
        }
        left
    }

    /// What had not come back when the load ended: what came back later, and what never did.
    fn left_over(&self) -> Vec<Left> {
        let late = self
            .drain
            .ops
            .iter()
            .filter(|(_, merged)| merged.latency.count() > 0)
            .map(|(key, _)| *key);
        let keys: BTreeSet<(u32, Op)> = late.chain(self.never.keys().copied()).collect();
        let left = |(work, op): (u32, Op)| Left {
            work,
            op,
            late: self
                .drain
                .ops
                .get(&(work, op))
                .map(|merged| merged.latency.encode())
                .unwrap_or_else(nothing),
            never: self.never.get(&(work, op)).map(Histogram::encode).unwrap_or_else(nothing),
        };
        keys.into_iter().map(left).collect()
    }
}

fn nothing() -> EncodedHistogram {
    Histogram::new().encode()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::recorder::slots_of;
    use crate::worker::stuck::Patience;
    use model::StageKind;
    use model::plan::Worker;
    use model::units::Nanos;

    fn page(number: u32, phase: Phase, end_ns: u64, ios: u64) -> Interval {
        let mut page = Interval::new(slots_of(&[Op::Read, Op::Write]), false);
        (page.number, page.phase, page.end_ns) = (number, phase, end_ns);
        for _ in 0..ios {
            page.ops[0].success(4096, 1000);
        }
        page
    }

    fn ios(sample: &IntervalSample) -> u64 {
        sample.ops.iter().map(|op| op.ios).sum()
    }

    /// A worker's page, and where it goes on.
    type Handed = (u32, Interval, Option<(u32, Phase)>);

    /// What is told of workers of these works that hand over these pages, and what was left.
    fn told(
        works: &[u32],
        pages: Vec<Handed>,
        flushed: Option<OpSample>,
        end_ns: u64,
    ) -> (Vec<IntervalSample>, Vec<Left>) {
        let timetable = Timetable {
            start_ns: 1_000,
            late_ns: 0,
            interval_ns: 100,
            patience: Patience(Nanos::seconds(1)),
        };
        let worker = |work: &u32| Worker { work: *work, ..crate::common::worker(1, Vec::new()) };
        let workers = works.iter().map(worker).collect();
        let stage = HostStage { stage: 3, kind: StageKind::Measure, works: Vec::new(), workers };
        let mut collector = Collector::new(&stage, 0, timetable);
        let mut told = Vec::new();
        let mut sink = |sample: IntervalSample| told.push(sample);
        for (worker, page, next) in pages {
            collector.take(worker, &page, next, &mut sink);
        }
        let left = collector.finish(flushed, end_ns, &mut sink);
        (told, left)
    }

    /// Interval, phase, start, length, successes, workers.
    fn summary(told: &[IntervalSample]) -> Vec<(u32, Phase, u64, u64, u64, usize)> {
        told.iter()
            .map(|s| (s.interval, s.phase, s.start_ns, s.length_ns, ios(s), s.workers.len()))
            .collect()
    }

    #[test]
    fn flushes_of_a_worker_and_of_its_stage_are_one_operation() {
        let mut drain = Interval::new(slots_of(&[Op::Fsync]), false);
        (drain.number, drain.phase, drain.end_ns) = (1, Phase::Drain, 1_150);
        drain.ops[0].success(0, 1_000);
        drain.ops[0].failure(28, 0);
        let mut flushes = crate::worker::flushes::Flushes::default();
        [Ok(3_000), Err(5)].into_iter().for_each(|outcome| flushes.count(outcome));
        let pages =
            vec![(0, page(0, Phase::Load, 1_100, 5), Some((1, Phase::Drain))), (0, drain, None)];
        // The host has no part in the first work.
        let (told, _) = told(&[1], pages, Some(flushes.into_sample()), 1_200);
        let last = told.last().expect("a drain");
        let fsyncs: Vec<_> = last.ops.iter().filter(|op| op.op == Op::Fsync).collect();
        assert_eq!((fsyncs.len(), fsyncs[0].work, fsyncs[0].ios), (1, 1, 2), "{last:?}");
        assert_eq!(fsyncs[0].errors, [(5, 1), (28, 1)]);
        assert_eq!(fsyncs[0].latency.decode().expect("a histogram").max_ns(), Some(3_000));
        let mine = WorkerOp { op: Op::Fsync, ios: 2, bytes: 0, errors: 2 };
        assert_eq!((last.workers.len(), &last.workers[0].ops), (1, &vec![mine]));
    }

    #[test]
    fn what_is_done_after_the_first_worker_is_told_apart() {
        let pages = vec![
            (0, page(0, Phase::Load, 1_100, 5), Some((1, Phase::Load))),
            (1, page(0, Phase::Load, 1_100, 5), Some((1, Phase::Load))),
            (0, page(1, Phase::Load, 1_130, 2), None),
            (1, page(1, Phase::Load, 1_130, 1), Some((1, Phase::Tail))),
            (1, page(1, Phase::Tail, 1_200, 4), Some((2, Phase::Tail))),
            (1, page(2, Phase::Tail, 1_250, 3), None),
        ];
        let expected = [
            (0, Phase::Load, 0, 100, 10, 2),
            (1, Phase::Load, 100, 30, 3, 2),
            (2, Phase::Tail, 130, 70, 4, 1),
            (3, Phase::Tail, 200, 50, 3, 1),
        ];
        assert_eq!(summary(&told(&[0, 0], pages, None, 1_250).0), expected);
    }

    #[test]
    fn the_time_in_which_nobody_was_answered_counts_to_the_end_of_the_load() {
        // A stall from 1,080 on; the load is over at 1,330, and what was outstanding comes back
        // later.
        let mut last = page(0, Phase::Drain, 1_400, 1);
        last.never[0].get_or_insert_default().record_many(250, 3);
        let pages = vec![
            (0, page(0, Phase::Load, 1_330, 5), None),
            (1, page(0, Phase::Load, 1_330, 5), None),
            (0, page(0, Phase::Drain, 1_400, 1), None),
            (1, last, None),
        ];
        let (told, left) = told(&[0, 0], pages, None, 1_400);
        let [left] = &left[..] else { panic!("{left:?}") };
        let (late, never) = (left.late.decode().expect("own"), left.never.decode().expect("own"));
        assert_eq!((left.op, late.count(), never.max_ns()), (Op::Read, 2, Some(250)));
        let expected = [
            (0, Phase::Load, 0, 100, 10, 2),
            (1, Phase::Load, 100, 100, 0, 0),
            (2, Phase::Load, 200, 100, 0, 0),
            (3, Phase::Load, 300, 30, 0, 0),
            (4, Phase::Drain, 330, 70, 2, 2),
        ];
        assert_eq!(summary(&told), expected);
    }

    #[test]
    fn an_interval_is_told_when_the_last_worker_has_left_it() {
        let pages = vec![
            (0, page(0, Phase::Load, 1_100, 5), Some((1, Phase::Load))),
            (0, page(1, Phase::Load, 1_200, 7), Some((2, Phase::Load))),
            // Worker 1 slept through interval 1.
            (1, page(0, Phase::Load, 1_100, 2), Some((2, Phase::Load))),
            (0, page(2, Phase::Load, 1_250, 1), None),
            (1, page(2, Phase::Load, 1_250, 1), None),
            (1, page(0, Phase::Drain, 1_260, 3), None),
        ];
        let (told, _) = told(&[0, 1], pages, None, 1_260);
        let expected = [
            (0, Phase::Load, 0, 100, 7, 2),
            (1, Phase::Load, 100, 100, 7, 1),
            (2, Phase::Load, 200, 50, 2, 2),
            (3, Phase::Drain, 250, 10, 3, 1),
        ];
        assert_eq!(summary(&told), expected);
        for sample in &told {
            let workers: u64 = sample.workers.iter().flat_map(|w| &w.ops).map(|op| op.ios).sum();
            assert_eq!(workers, ios(sample), "the sum over workers is the total");
            assert!(sample.ops.iter().is_sorted_by_key(|op| op.work), "each work has its own");
        }
    }
}
