//! Runs one stage on simulated devices in virtual time: one scheduler drives all workers, in order of their next event. Workers, generators,
//! pace, books and collector are those of real time; only who waits for whom differs.

use crate::backend::Completion;
use crate::collector::Collector;
use crate::control::{Control, Cuts};
use crate::driver::{FromWorker, Line, Pages, SPARE_PAGES, Timetable};
use crate::recorder::{Interval, slots};
use crate::stage::StageOutcome;
use crate::stuck::Patience;
use crate::target::{OpenTargets, World};
use crate::worker::WorkerState;
use model::plan::{HostStage, Once, Stop, Work};
use model::sample::OpSample;
use model::{Histogram, IntervalSample, Op};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use twin::Request;

/// Pages for each worker that fit into the channel to the collector.
const ROOM: usize = 8;

/// Something that happens at an instant of virtual time. Of several at one instant, the one that was planned first comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at_ns: u64,
    order: u64,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// A request came back.
    Back { worker: u32, slot: u32, result: i32 },
    /// A request of a worker is due.
    Due { worker: u32 },
    /// An interval ends.
    Tick,
}

/// A worker with its books.
struct Actor<'a> {
    state: WorkerState,
    pages: Pages<'a>,
    /// When it is to be woken next; later than that, nothing is planned.
    due_ns: u64,
}

/// The state of a stage in virtual time.
struct Scheduler<'a> {
    world: &'a mut World,
    actors: Vec<Actor<'a>>,
    events: BinaryHeap<Reverse<Event>>,
    order: u64,
    cuts: Cuts,
    /// How an amount that is measured ends.
    once: Option<Once>,
    is_amount: bool,
}

/// Runs `stage` on `world`, telling `sink` each interval when it is over.
pub(crate) fn run_stage(
    targets: &OpenTargets,
    world: &mut World,
    stage: &HostStage,
    control: &Control,
    sink: &mut dyn FnMut(IntervalSample),
) -> StageOutcome {
    let plan = targets.plan();
    let timetable = Timetable {
        start_ns: world.now_ns,
        late_ns: 0,
        interval_ns: plan.interval.0.max(1),
        patience: Patience(plan.patience),
    };
    // Everything happens on this thread: a full channel would wait for ever. Between two ticks a worker turns a page or two.
    let (out, inbox) = sync_channel(ROOM * stage.workers.len() + ROOM);
    let (lines, back): (Vec<Line>, Vec<SyncSender<Box<Interval>>>) = (0..stage.workers.len() as u32)
        .map(|worker| {
            let (returned, spare) = sync_channel(SPARE_PAGES + 1);
            (Line { worker, out: out.clone(), back: spare, outstanding: Arc::default() }, returned)
        })
        .unzip();
    let mut collector = Collector::new(stage, plan.host, timetable);
    let mut collect = |sink: &mut dyn FnMut(IntervalSample)| take_all(&mut collector, &inbox, &back, sink);
    let mut scheduler = Scheduler::new(stage, &lines, world, timetable, plan.raw_latencies);
    scheduler.run(timetable, control, &mut || collect(sink));
    let failed = scheduler.actors.iter().any(|actor| actor.state.failed());
    let end_ns = scheduler.close();
    collect(sink);
    let complete = !failed && !control.is_stopped();
    let is_written = stage.stop() == Stop::Amount || stage.works.iter().any(Work::writes);
    let after = (stage.stop().time().is_none() && is_written && complete).then(|| sync(world));
    collector.finish(after, world.now_ns.max(end_ns), sink);
    let (degraded, findings) = (Vec::new(), Vec::new());
    StageOutcome { interrupted: control.is_stopped(), failed, stuck: None, degraded, findings, late_ns: 0 }
}

/// Hands the pages that were turned to the collector, and back to their workers.
fn take_all(
    collector: &mut Collector,
    inbox: &Receiver<FromWorker>,
    back: &[SyncSender<Box<Interval>>],
    sink: &mut dyn FnMut(IntervalSample),
) {
    while let Ok(message) = inbox.try_recv() {
        if let FromWorker::Left { worker, mut interval, now_in } = message {
            collector.take(worker, &interval, now_in, sink);
            interval.clear();
            // A worker that has enough of them takes nothing back.
            let _ = back[worker as usize].try_send(interval);
        }
    }
}

impl<'a> Scheduler<'a> {
    fn new(
        stage: &HostStage,
        lines: &'a [Line],
        world: &'a mut World,
        timetable: Timetable,
        keep_raw: bool,
    ) -> Scheduler<'a> {
        let actor = |(worker, line): (&model::plan::Worker, &'a Line)| {
            let work = &stage.works[worker.work as usize];
            let page = Box::new(Interval::new(slots(work), keep_raw));
            let mut state = WorkerState::new(work, worker, work.depth);
            state.begin(timetable.start_ns);
            Actor { state, pages: Pages::without_cpu(timetable, line, page), due_ns: u64::MAX }
        };
        let stop_at_ns = stage.stop().time().map_or(u64::MAX, |time| timetable.start_ns.saturating_add(time.0));
        let cuts = Cuts { stop_at_ns, wall_at_ns: u64::MAX };
        let actors = stage.workers.iter().zip(lines).map(actor).collect();
        Scheduler {
            world,
            actors,
            events: BinaryHeap::new(),
            order: 0,
            cuts,
            once: stage.stop().once(),
            is_amount: stage.stop().time().is_none(),
        }
    }

    fn plan(&mut self, at_ns: u64, what: What) {
        self.order += 1;
        self.events.push(Reverse(Event { at_ns, order: self.order, what }));
    }

    fn run(&mut self, timetable: Timetable, control: &Control, collect: &mut dyn FnMut()) {
        let start_ns = self.world.now_ns;
        (0..self.actors.len()).for_each(|worker| self.send(worker, start_ns));
        self.plan(timetable.end_of(0).min(self.cuts.stop_at_ns), What::Tick);
        while let Some(Reverse(event)) = self.events.pop() {
            if event.what == What::Tick && self.is_amount && self.actors.iter().all(|actor| actor.state.is_done()) {
                // The amount ended within the interval.
                continue;
            }
            let now_ns = event.at_ns;
            self.world.now_ns = now_ns;
            match event.what {
                What::Back { worker, slot, result } => self.back(worker as usize, Completion { slot, result }, now_ns),
                What::Due { worker } => self.due(worker as usize, now_ns),
                What::Tick => {
                    self.tick(timetable, now_ns, control);
                    collect();
                }
            }
        }
    }

    /// Sends what is due of a worker, and plans when to look again.
    #[inline]
    fn send(&mut self, worker: usize, now_ns: u64) {
        while let Some(io) = self.actors[worker].state.next_io(now_ns) {
            let request = Request { op: io.op, offset: io.offset, length: io.length };
            let answer = self.world.submit(io.file, now_ns, request);
            self.plan(answer.completed_ns, What::Back { worker: worker as u32, slot: io.slot, result: answer.result });
        }
        let quiet_ns = self.actors[worker].state.quiet_ns(now_ns);
        let due_ns = now_ns.saturating_add(quiet_ns);
        if due_ns < self.actors[worker].due_ns && due_ns < self.cuts.stop_at_ns {
            self.actors[worker].due_ns = due_ns;
            self.plan(due_ns, What::Due { worker: worker as u32 });
        }
    }

    #[inline]
    fn back(&mut self, worker: usize, completion: Completion, now_ns: u64) {
        let actor = &mut self.actors[worker];
        if actor.pages.turn(now_ns, self.cuts, || None) {
            actor.state.stop();
        }
        let finished = actor.state.complete(completion, now_ns);
        actor.pages.write_down(finished);
        if let (Some(once), true) = (self.once, actor.state.has_done_all()) {
            let instant = if once.stonewall { &mut self.cuts.stop_at_ns } else { &mut self.cuts.wall_at_ns };
            *instant = now_ns.min(*instant);
        }
        self.send(worker, now_ns);
    }

    fn due(&mut self, worker: usize, now_ns: u64) {
        let actor = &mut self.actors[worker];
        if actor.due_ns == now_ns {
            actor.due_ns = u64::MAX;
        }
        if actor.pages.turn(now_ns, self.cuts, || None) {
            actor.state.stop();
        }
        self.send(worker, now_ns);
    }

    /// Turns every worker's page, so that an interval is told when it is over and not when its last worker has something to do again.
    fn tick(&mut self, timetable: Timetable, now_ns: u64, control: &Control) {
        if control.is_stopped() {
            self.cuts.stop_at_ns = self.cuts.stop_at_ns.min(now_ns);
        }
        for actor in &mut self.actors {
            if actor.pages.turn(now_ns, self.cuts, || None) {
                actor.state.stop();
            }
        }
        let goes_on = self.actors.iter().any(|actor| !actor.state.is_done());
        if now_ns < self.cuts.stop_at_ns && goes_on {
            let next_ns = timetable.end_of(timetable.interval_at(now_ns));
            self.plan(next_ns.min(self.cuts.stop_at_ns), What::Tick);
        }
    }

    /// Closes the books; comes back with the instant at which the last request was back.
    fn close(&mut self) -> u64 {
        let now_ns = self.world.now_ns;
        for actor in &mut self.actors {
            actor.pages.turn(now_ns, self.cuts, || None);
            actor.pages.close(now_ns, None);
        }
        now_ns
    }
}

/// Makes durable what was written: part of what was sent, so it is counted like everything else.
fn sync(world: &mut World) -> OpSample {
    let mut latency = Histogram::new();
    let mut errors: Vec<(i32, u64)> = Vec::new();
    for device in 0..world.devices() as u32 {
        let now_ns = world.now_ns;
        let answer = world.submit(device, now_ns, Request { op: Op::Fsync, offset: 0, length: 0 });
        world.now_ns = answer.completed_ns.max(now_ns);
        if answer.result < 0 {
            errors.push((-answer.result, 1));
        } else {
            latency.record(answer.completed_ns.saturating_sub(now_ns));
        }
    }
    OpSample {
        work: 0,
        op: Op::Fsync,
        ios: latency.count(),
        bytes: 0,
        errors,
        latency: latency.encode(),
        raw_latencies: Vec::new(),
    }
}
