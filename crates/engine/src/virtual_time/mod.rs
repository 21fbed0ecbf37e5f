//! Runs one stage on simulated devices in virtual time: one scheduler drives all workers of one
//! host or several, in order of their next event. Workers, generators, pace, books and collector
//! are those of real time; only who waits for whom differs.

pub(crate) mod together;
pub(crate) mod virtual_worker;

use crate::collector::Collector;
use crate::control::{Control, Cuts};
use crate::io::Completion;
use crate::outcome::StageOutcome;
use crate::targets::{Done, World, purge};
use crate::timetable::Timetable;
use crate::virtual_time::virtual_worker::Doer;
use crate::worker::driver::{FromWorker, Line, Pages, SPARE_PAGES};
use crate::worker::flushes::{Flushes, is_probed};
use crate::worker::recorder::{Interval, slots};
use crate::worker::stuck::Patience;
use crate::worker::turns::Turns;
use crate::worker::waiting::Outstanding;
use model::event::{Flush, MOST_FLUSHES};
use model::plan::{HostPlan, HostStage, Once, Steady, Stop, Target, Work};
use model::sample::OpSample;
use model::{IntervalSample, Note, Op, StageKind};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use twin::Request;

/// Pages for each worker that fit into the channel to the collector.
const ROOM: usize = 8;

/// After so many things that happen, it is looked whether somebody stopped the load.
const LOOK_EVERY: u32 = 4096;

/// Something that happens at an instant of virtual time. Of several at one instant, the one that
/// was planned first comes first.
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
    /// An interval of a host ends.
    Tick { host: u32 },
}

/// A host that takes part in a stage.
pub(crate) struct Member<'a> {
    /// Whose targets the world has in this place of its plans.
    pub(crate) plan: &'a HostPlan,
    /// What it does.
    pub(crate) stage: &'a HostStage,
    /// Stops it.
    pub(crate) control: &'a Control,
    /// Hears each interval when it is over.
    pub(crate) sink: &'a mut dyn FnMut(IntervalSample),
}

/// A worker with its books.
struct Actor<'a> {
    state: Doer,
    pages: Pages<'a>,
    host: u32,
    /// The work that it does.
    work: u32,
    /// The first of its host's devices.
    base: u32,
    /// When it is to be woken next; later than that, nothing is planned.
    due_ns: u64,
}

impl Actor<'_> {
    /// Turns its page, if it is over. True when the load is.
    fn turn(&mut self, now_ns: u64, cuts: Cuts) -> bool {
        let mut is_turned = false;
        let is_over = self.pages.turn(now_ns, cuts, || {
            is_turned = true;
            None
        });
        if is_turned && let Doer::Blocks(state) = &self.state {
            self.pages.goes(state.in_flight(), now_ns);
            self.pages.tell(now_ns, || state.waits(now_ns));
        }
        is_over
    }

    /// Its load is over.
    fn stop(&mut self, cuts: Cuts) {
        let pages = &mut self.pages;
        self.state.stop(cuts.stop_at_ns, &mut |op, age_ns, count| pages.never(op, age_ns, count));
    }
}

/// A host's part of a stage.
struct Host {
    /// Its first actor, and the one behind its last.
    first: usize,
    end: usize,
    cuts: Cuts,
    timetable: Timetable,
    /// How an amount that is measured ends.
    once: Option<Once>,
    is_amount: bool,
    control: Control,
    /// Of a stage that ends when it is steady.
    judging: Option<Judging>,
    /// The order of requests that are bound to each other by ratio.
    turns: Option<Arc<Turns>>,
}

/// In virtual time nothing waits for whoever judges a stage, unless the stage does.
#[derive(Clone, Copy)]
struct Judging {
    /// Nothing behind this instant happens before the stage was judged up to it.
    until_ns: u64,
    round_ns: u64,
}

impl Judging {
    fn new(steady: Steady, start_ns: u64) -> Judging {
        Judging {
            until_ns: start_ns.saturating_add(steady.least.0),
            round_ns: steady.round.0.max(1),
        }
    }
}

/// The state of a stage in virtual time.
struct Scheduler<'a> {
    world: &'a mut World,
    hosts: Vec<Host>,
    actors: Vec<Actor<'a>>,
    events: BinaryHeap<Reverse<Event>>,
    order: u64,
}

/// What takes in the intervals of a host.
struct HostCollector {
    collector: Collector,
    inbox: Receiver<FromWorker>,
    back: Vec<SyncSender<Box<Interval>>>,
    outstanding: Vec<Arc<Outstanding>>,
}

impl HostCollector {
    /// Of a host, and the lines of its workers to them.
    fn new(member: &Member<'_>, timetable: Timetable) -> (HostCollector, Vec<Line>) {
        let workers = member.stage.workers.len();
        // Everything happens on this thread: a full channel would wait for ever. Between two ticks
        // a worker turns a page or two.
        let (out, inbox) = sync_channel(ROOM * workers + ROOM);
        let (lines, back): (Vec<Line>, _) = (0..workers as u32)
            .map(|worker| {
                let (returned, spare) = sync_channel(SPARE_PAGES + 1);
                (
                    Line { worker, out: out.clone(), back: spare, outstanding: Arc::default() },
                    returned,
                )
            })
            .unzip();
        (
            HostCollector {
                collector: Collector::new(member.stage, member.plan.host, timetable),
                inbox,
                back,
                outstanding: lines.iter().map(|line| line.outstanding.clone()).collect(),
            },
            lines,
        )
    }

    /// Hands the pages that were turned to the collector, and back to their workers.
    fn take_all(&mut self, sink: &mut dyn FnMut(IntervalSample)) {
        while let Ok(message) = self.inbox.try_recv() {
            if let FromWorker::Left { worker, mut interval, now_in } = message {
                self.collector.take(worker, &interval, now_in, sink);
                interval.clear();
                // A worker that has enough of them takes nothing back.
                let _ = self.back[worker as usize].try_send(interval);
            }
        }
    }
}

/// Runs a stage of all `members` on `world`, which was made of their plans in this order, and tells
/// each its intervals. Comes back with how it ended for each.
pub(crate) fn run_stage(members: &mut [Member<'_>], world: &mut World) -> Vec<StageOutcome> {
    world.begin(members.iter().map(|member| member.stage));
    let start_ns = world.now_ns;
    let timetable = |member: &Member<'_>| Timetable {
        start_ns,
        late_ns: 0,
        interval_ns: member.plan.interval.0.max(1),
        patience: Patience(member.plan.engine.patience),
    };
    let (mut books, lines): (Vec<HostCollector>, Vec<Vec<Line>>) =
        members.iter().map(|member| HostCollector::new(member, timetable(member))).unzip();
    let mut scheduler = Scheduler::new(members, &lines, world, timetable);
    scheduler.run(&mut |host, now_ns, stop_at_ns| {
        let (member, books) = (&mut members[host], &mut books[host]);
        books.take_all(member.sink);
        let workers = books.outstanding.iter().map(|outstanding| &**outstanding);
        member.control.tell_waiting(books.collector.look(now_ns, stop_at_ns, workers, false));
    });
    let failed: Vec<bool> = scheduler.hosts.iter().map(|host| scheduler.has_failed(host)).collect();
    let end_ns = scheduler.close(members);
    let mut counted = world.counted(start_ns, end_ns);
    let mut last_ns = end_ns;
    let mut outcomes = Vec::new();
    for (number, ((member, mut books), failed)) in
        members.iter_mut().zip(books).zip(failed).enumerate()
    {
        books.take_all(member.sink);
        let complete = !failed && !member.control.is_stopped();
        let after = (complete && flushes_after(member.stage)).then(|| sync(world, number, end_ns));
        let host_end_ns = after.as_ref().map_or(end_ns, |after| after.1);
        last_ns = last_ns.max(host_end_ns);
        let left = books.collector.finish(after.map(|after| after.0), host_end_ns, member.sink);
        let flushes = if complete && is_probed(member.plan, member.stage) {
            probe(world, number, member.plan, start_ns, end_ns)
        } else {
            Vec::new()
        };
        let behind_ns = |flush: &Flush| flush.at_ns.saturating_add(flush.took_ns);
        let flushed_ns = flushes.iter().map(behind_ns).max().unwrap_or(0);
        last_ns = last_ns.max(start_ns.saturating_add(flushed_ns));
        let degraded = Vec::new();
        // The cluster is that of all hosts: the first one says what it counted.
        let facts = std::mem::take(&mut counted);
        let (stage, host) = (Some(member.stage.stage), member.plan.host);
        let is_measured = member.stage.kind == StageKind::Measure;
        let findings: Vec<Note> = facts
            .into_iter()
            .filter(|_| is_measured)
            .map(|fact| Note { stage, host, fact })
            .chain(purge::notes(member.plan, member.stage).into_iter().filter(|_| complete))
            .collect();
        let interrupted = member.control.is_stopped();
        outcomes.push(StageOutcome {
            interrupted,
            failed,
            degraded,
            findings,
            left,
            flushes,
            ..StageOutcome::default()
        });
    }
    world.now_ns = last_ns;
    outcomes
}

/// Whether what a stage wrote is made durable behind it, as part of it.
fn flushes_after(stage: &HostStage) -> bool {
    let is_written = stage.stop() == Stop::Amount || stage.works.iter().any(Work::writes);
    stage.kind != StageKind::Purge && stage.stop().time().is_none() && is_written
}

impl Host {
    /// Waits, before anything happens at `now_ns`, until the rounds that are over by then were
    /// judged.
    #[inline]
    fn wait_until_judged(&mut self, now_ns: u64) {
        while let Some(judging) = self.judging.filter(|judging| judging.until_ns < now_ns) {
            self.wait(judging);
        }
    }

    #[cold]
    fn wait(&mut self, judging: Judging) {
        let start_ns = self.timetable.start_ns;
        let next =
            Judging { until_ns: judging.until_ns.saturating_add(judging.round_ns), ..judging };
        self.judging = Some(next)
            .filter(|_| judging.until_ns < self.cuts.stop_at_ns && !self.control.is_stopped());
        if self.judging.is_none() {
            return;
        }
        if let Some(after_ns) =
            self.control.wait_until_judged(judging.until_ns.saturating_sub(start_ns))
        {
            self.cuts.stop_at_ns = self.cuts.stop_at_ns.min(start_ns.saturating_add(after_ns));
            self.judging = None;
        }
    }
}

impl<'a> Scheduler<'a> {
    fn new(
        members: &[Member<'_>],
        lines: &'a [Vec<Line>],
        world: &'a mut World,
        timetable: impl Fn(&Member<'_>) -> Timetable,
    ) -> Scheduler<'a> {
        let mut actors = Vec::new();
        let mut hosts = Vec::new();
        for (number, (member, lines)) in members.iter().zip(lines).enumerate() {
            let (stage, timetable, base) = (member.stage, timetable(member), world.base(number));
            let first = actors.len();
            let turns = Turns::of(stage, false);
            for (worker, line) in stage.workers.iter().zip(lines) {
                let work = &stage.works[worker.work as usize];
                let page = Box::new(Interval::new(slots(work), member.plan.engine.raw_latencies));
                let from = world.bookmarks.take(number as u32, line.worker, work);
                let state =
                    Doer::new(member.plan, work, worker, timetable.start_ns, turns.as_ref(), from);
                let pages = Pages::without_cpu(timetable, line, page);
                let (host, work) = (number as u32, worker.work);
                actors.push(Actor { state, pages, host, work, base, due_ns: u64::MAX });
            }
            member.control.begin_judging();
            let stop_at_ns = stage
                .stop()
                .time()
                .map_or(u64::MAX, |time| timetable.start_ns.saturating_add(time.0));
            hosts.push(Host {
                first,
                end: actors.len(),
                cuts: Cuts { stop_at_ns, wall_at_ns: u64::MAX },
                timetable,
                once: stage.stop().once(),
                is_amount: stage.stop().time().is_none(),
                control: member.control.clone(),
                turns,
                judging: stage
                    .stop()
                    .steady()
                    .map(|steady| Judging::new(steady, timetable.start_ns)),
            });
        }
        Scheduler { world, hosts, actors, events: BinaryHeap::new(), order: 0 }
    }

    fn plan(&mut self, at_ns: u64, what: What) {
        self.order += 1;
        self.events.push(Reverse(Event { at_ns, order: self.order, what }));
    }

    fn has_failed(&self, host: &Host) -> bool {
        self.actors[host.first..host.end].iter().any(|actor| actor.state.failed())
    }

    fn is_done(&self, host: &Host) -> bool {
        self.actors[host.first..host.end].iter().all(|actor| actor.state.is_done())
    }

    /// Runs until nothing is left to happen; `collect` is called for a host whenever one of its
    /// intervals is over, with the instant and with the end of its load.
    fn run(&mut self, collect: &mut dyn FnMut(usize, u64, u64)) {
        let start_ns = self.world.now_ns;
        (0..self.actors.len()).for_each(|worker| self.send(worker, start_ns));
        for host in 0..self.hosts.len() {
            let first_ns =
                self.hosts[host].timetable.end_of(0).min(self.hosts[host].cuts.stop_at_ns);
            self.plan(first_ns, What::Tick { host: host as u32 });
        }
        let mut steps = 0u32;
        loop {
            steps = steps.wrapping_add(1);
            if steps.is_multiple_of(LOOK_EVERY) {
                self.look();
            }
            let until_ns = self.events.peek().map_or(u64::MAX, |event| event.0.at_ns);
            if let Some(Done { at_ns, ticket, result }) = self.world.advance(until_ns) {
                let (worker, slot) = ((ticket >> 32) as u32, ticket as u32);
                if at_ns < until_ns {
                    self.world.now_ns = at_ns;
                    self.back(worker as usize, Completion { slot, result }, at_ns);
                } else {
                    // Behind what is planned for that instant.
                    self.plan(at_ns, What::Back { worker, slot, result });
                }
                continue;
            }
            let Some(Reverse(event)) = self.events.pop() else { return };
            let now_ns = event.at_ns;
            self.hosts.iter_mut().for_each(|host| host.wait_until_judged(now_ns));
            match event.what {
                What::Tick { host } => {
                    let host = host as usize;
                    let is_over =
                        self.hosts[host].is_amount || self.hosts[host].cuts.stop_at_ns < now_ns;
                    if is_over && self.is_done(&self.hosts[host]) {
                        // The amount ended within the interval, or somebody stopped the load in it.
                        continue;
                    }
                    self.world.now_ns = now_ns;
                    self.tick(host, now_ns);
                    if now_ns >= self.hosts[host].cuts.stop_at_ns {
                        self.world.end_load(now_ns);
                    }
                    collect(host, now_ns, self.hosts[host].cuts.stop_at_ns);
                }
                What::Back { worker, slot, result } => {
                    self.world.now_ns = now_ns;
                    self.back(worker as usize, Completion { slot, result }, now_ns);
                }
                What::Due { worker } => {
                    self.world.now_ns = now_ns;
                    self.due(worker as usize, now_ns);
                }
            }
        }
    }

    /// Stops the load of hosts that somebody stopped: an interval of virtual time may be minutes of
    /// ours.
    #[cold]
    fn look(&mut self) {
        let now_ns = self.world.now_ns;
        for host in 0..self.hosts.len() {
            let Host { control, cuts, .. } = &mut self.hosts[host];
            if control.is_stopped() && now_ns < cuts.stop_at_ns {
                cuts.stop_at_ns = now_ns;
                self.plan(now_ns, What::Tick { host: host as u32 });
            }
        }
    }

    /// Sends what is due of a worker, and plans when to look again.
    #[inline]
    fn send(&mut self, worker: usize, now_ns: u64) {
        let is_sent = self.send_own(worker, now_ns);
        if is_sent && self.hosts[self.actors[worker].host as usize].turns.is_some() {
            self.pass_on(worker, now_ns);
        }
    }

    /// Lets those go on that waited for their turn, as long as one of them is in turn: the workers
    /// of a work one after the other, from the one behind the last.
    fn pass_on(&mut self, mut last: usize, now_ns: u64) {
        let host = &self.hosts[self.actors[last].host as usize];
        let (first, end, turns) = (host.first, host.end, host.turns.clone());
        loop {
            let in_turn = |worker: &usize| {
                let actor = &self.actors[*worker];
                actor.state.is_held() && turns.as_ref().is_some_and(|turns| turns.is_of(actor.work))
            };
            let Some(next) = (last + 1..end).chain(first..=last).find(in_turn) else { return };
            if !self.send_own(next, now_ns) {
                return;
            }
            last = next;
        }
    }

    /// The same, without a look at others. Whether anything was sent.
    #[inline]
    fn send_own(&mut self, worker: usize, now_ns: u64) -> bool {
        let mut is_sent = false;
        while let Some(io) = self.actors[worker].state.next_io(now_ns) {
            let request = Request { op: io.op, offset: io.offset, length: io.length };
            let place = self.actors[worker].base + io.file;
            let ticket = (worker as u64) << 32 | u64::from(io.slot);
            if let Some(answer) = self.world.submit(place, now_ns, request, ticket) {
                let back =
                    What::Back { worker: worker as u32, slot: io.slot, result: answer.result };
                self.plan(answer.completed_ns, back);
            }
            is_sent = true;
        }
        let actor = &self.actors[worker];
        let due_ns = now_ns.saturating_add(actor.state.quiet_ns(now_ns));
        if due_ns < actor.due_ns && due_ns < self.hosts[actor.host as usize].cuts.stop_at_ns {
            self.actors[worker].due_ns = due_ns;
            self.plan(due_ns, What::Due { worker: worker as u32 });
        }
        is_sent
    }

    #[inline]
    fn back(&mut self, worker: usize, completion: Completion, now_ns: u64) {
        let actor = &mut self.actors[worker];
        let host = &mut self.hosts[actor.host as usize];
        if actor.turn(now_ns, host.cuts) {
            actor.stop(host.cuts);
        }
        let finished = actor.state.complete(completion, now_ns);
        actor.pages.write_down(finished);
        if let (Some(once), true) = (host.once, actor.state.has_done_all()) {
            self.first_done(once, now_ns);
        }
        self.send(worker, now_ns);
    }

    /// A worker has done its amount: the books of all hosts are cut at the earliest such instant.
    fn first_done(&mut self, once: Once, now_ns: u64) {
        for host in &mut self.hosts {
            let instant =
                if once.stonewall { &mut host.cuts.stop_at_ns } else { &mut host.cuts.wall_at_ns };
            *instant = now_ns.min(*instant);
        }
    }

    fn due(&mut self, worker: usize, now_ns: u64) {
        let actor = &mut self.actors[worker];
        if actor.due_ns == now_ns {
            actor.due_ns = u64::MAX;
        }
        let cuts = self.hosts[actor.host as usize].cuts;
        if actor.turn(now_ns, cuts) {
            actor.stop(cuts);
        }
        self.send(worker, now_ns);
    }

    /// Turns the page of every worker of a host, so that an interval is told when it is over and
    /// not when its last worker has something to do again.
    fn tick(&mut self, number: usize, now_ns: u64) {
        let host = &mut self.hosts[number];
        if host.control.is_stopped() {
            host.cuts.stop_at_ns = host.cuts.stop_at_ns.min(now_ns);
        }
        for actor in &mut self.actors[host.first..host.end] {
            if actor.turn(now_ns, host.cuts) {
                actor.stop(host.cuts);
            }
        }
        let (timetable, stop_at_ns) = (host.timetable, host.cuts.stop_at_ns);
        if now_ns < stop_at_ns && !self.is_done(&self.hosts[number]) {
            let next_ns = timetable.end_of(timetable.interval_at(now_ns));
            self.plan(next_ns.min(stop_at_ns), What::Tick { host: number as u32 });
        }
    }

    /// Closes the books, with a mark where each worker stopped; comes back with the instant at
    /// which the last request was back.
    fn close(self, members: &[Member<'_>]) -> u64 {
        let now_ns = self.world.now_ns;
        for (number, mut actor) in self.actors.into_iter().enumerate() {
            let host = &self.hosts[actor.host as usize];
            actor.pages.turn(now_ns, host.cuts, || None);
            actor.pages.close(now_ns, None);
            let work = &members[actor.host as usize].stage.works[actor.work as usize];
            if let Some(at) = actor.state.into_bookmark() {
                let worker = (number - host.first) as u32;
                self.world.bookmarks.keep(actor.host, worker, work, at);
            }
        }
        now_ns
    }
}

/// Makes durable what a host wrote, from `start_ns` on: part of what was sent, so it is counted
/// like everything else. Comes back with when it was.
fn sync(world: &mut World, host: usize, start_ns: u64) -> (OpSample, u64) {
    let mut flushes = Flushes::default();
    let mut now_ns = start_ns;
    for device in 0..world.devices(host) {
        let (done_ns, result) = flush(world, host, device, now_ns);
        let took_ns = done_ns.saturating_sub(now_ns);
        flushes.count(if result < 0 { Err(-result) } else { Ok(took_ns) });
        now_ns = done_ns.max(now_ns);
    }
    (flushes.into_sample(), now_ns)
}

/// How long each target of a host takes to make durable what a load wrote that began and ended at
/// these instants: one after the other, as in real time.
fn probe(
    world: &mut World,
    host: usize,
    plan: &HostPlan,
    start_ns: u64,
    end_ns: u64,
) -> Vec<Flush> {
    let mut now_ns = end_ns;
    let mut devices = 0..world.devices(host);
    let of_target = |target: &Target| {
        let at_ns = now_ns.saturating_sub(start_ns);
        let mut errno = 0;
        for device in devices.by_ref().take(target.files.len()) {
            let (done_ns, result) = flush(world, host, device, now_ns);
            now_ns = done_ns.max(now_ns);
            if errno == 0 {
                errno = result.min(0).saturating_neg();
            }
        }
        let took_ns = now_ns.saturating_sub(start_ns).saturating_sub(at_ns);
        Flush { target: target.path.clone(), at_ns, took_ns, ended: true, errno }
    };
    plan.targets.iter().take(MOST_FLUSHES).map(of_target).collect()
}

/// One flush of a device: when it was done, and what came back.
fn flush(world: &mut World, host: usize, device: u32, now_ns: u64) -> (u64, i32) {
    let request = Request { op: Op::Fsync, offset: 0, length: 0 };
    match world.submit(world.base(host) + device, now_ns, request, 0) {
        Some(answer) => (answer.completed_ns, answer.result),
        None => world.advance(u64::MAX).map_or((now_ns, 0), |done| (done.at_ns, done.result)),
    }
}
