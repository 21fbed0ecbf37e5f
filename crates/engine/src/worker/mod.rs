//! One worker as a state machine: what is due now, what has completed, when to wake next.
//!
//! It knows neither kernel nor clock; a driver tells it the time and carries its requests.

pub(crate) mod amount_end;
pub(crate) mod batching;
pub(crate) mod buffers;
pub(crate) mod driver;
pub(crate) mod flushes;
pub(crate) mod pace;
pub(crate) mod recorder;
pub(crate) mod stuck;
pub(crate) mod turns;
pub(crate) mod waiting;

use crate::error::EngineError;
use crate::generator::{Bookmark, Generator};
use crate::io::{Completion, Io};
use crate::replay::Replay;
use crate::worker::pace::Pacer;
use crate::worker::turns::Turn;
use crate::worker::waiting::Told;
use crate::zones::{Placed, Zoned};
use model::Op;
use model::event::LEAST_WAIT_NS;
use model::plan::{Stop, Work, Worker};

/// Requests that were due and never sent are told one by one up to this number.
const MOST_TOLD: u64 = 1 << 20;
/// What was due later before the end had no time to be sent; rounded dues lie there, too.
const LEAST_AGE_NS: u64 = 1_000;

/// What is remembered of a request while the target has it.
#[derive(Clone, Copy, Debug, Default)]
struct Outstanding {
    /// In a closed loop, when it was submitted: its time is the service time. In an open loop,
    /// when it was due: the time is the response time, and a stall of the target is seen by every
    /// request that it delayed. An fsync has no place in a rate and is never due: its time is
    /// always the service time.
    since_ns: u64,
    length: u32,
    /// Index into the recorder's operations.
    op: u8,
}

/// A request that came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finished {
    /// Index into the recorder's operations.
    pub(crate) op: usize,
    pub(crate) latency_ns: u64,
    pub(crate) outcome: Outcome,
}

/// How a request came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// In full.
    Success { bytes: u32 },
    /// With an errno, or 0 where a part moved.
    Failure { errno: i32, bytes: u32 },
}

/// Requests until the stage ends: in a closed loop a fixed number outstanding, in an open loop at
/// their own times.
pub(crate) struct WorkerState {
    generator: Generator,
    pacer: Pacer,
    /// Whether it was stopped, or has a turn or a trace: one comparison for all three, which the
    /// loop would have for the first alone.
    is_apart: bool,
    /// Of a work that is bound to others by ratio.
    turn: Option<Turn>,
    /// The trace that its requests and their instants come from, in place of the two above.
    replay: Option<Box<Replay>>,
    /// The zones that its requests find their places in.
    zones: Option<Box<Zoned>>,
    start_ns: u64,
    is_open: bool,
    outstanding: Box<[Outstanding]>,
    /// Slots without a request, as a stack.
    free: Vec<u32>,
    stop_on_failure: bool,
    stopped: bool,
}

impl WorkerState {
    /// A worker at the start of its stage.
    pub(crate) fn new(work: &Work, worker: &Worker, depth: u32) -> WorkerState {
        WorkerState {
            generator: Generator::new(work, worker),
            pacer: Pacer::new(work, worker),
            is_apart: false,
            turn: None,
            replay: None,
            zones: None,
            start_ns: 0,
            is_open: work.pace.is_open(),
            outstanding: vec![Outstanding::default(); depth as usize].into(),
            free: (0..depth).rev().collect(),
            // A layout with a hole is worth nothing: the first failed write ends its stage.
            stop_on_failure: work.stop == Stop::Amount && work.changes(),
            stopped: false,
        }
    }

    /// The same, with its requests in the order of the works that it is bound to.
    pub(crate) fn in_turn(self, turn: Option<Turn>) -> WorkerState {
        WorkerState { is_apart: self.is_apart || turn.is_some(), turn, ..self }
    }

    /// The same, with the places of its requests in zones.
    pub(crate) fn on_zones(self, zones: Option<Zoned>) -> WorkerState {
        let zones = zones.map(Box::new);
        WorkerState { is_apart: self.is_apart || zones.is_some(), zones, ..self }
    }

    /// The same, going on where its work stopped before.
    pub(crate) fn going_on(mut self, from: Option<Bookmark>) -> WorkerState {
        self.generator.go_on(from);
        self
    }

    /// Where it stopped.
    pub(crate) fn into_bookmark(self) -> Bookmark {
        self.generator.into_bookmark()
    }

    /// Why its zones ended it.
    pub(crate) fn take_zone_failure(&mut self) -> Option<EngineError> {
        self.zones.as_mut().and_then(|zones| zones.take_failure())
    }

    /// Whether it has a request that waits for its turn alone.
    pub(crate) fn is_held(&self) -> bool {
        self.turn.as_ref().is_some_and(Turn::is_held)
    }

    /// A worker whose requests come from a trace.
    pub(crate) fn of_trace(
        work: &Work,
        worker: &Worker,
        depth: u32,
        replay: Replay,
    ) -> WorkerState {
        let replay = Some(Box::new(replay));
        let state = WorkerState::new(work, worker, depth);
        WorkerState { replay, is_apart: true, is_open: true, ..state }
    }

    /// What it sent of its trace, if it has one.
    pub(crate) fn replay(&mut self) -> Option<&mut Replay> {
        self.replay.as_deref_mut()
    }

    /// Whether nothing is left to ask for, or nobody asks any more.
    #[inline]
    fn is_over(&self) -> bool {
        if self.is_apart {
            return self.stopped || self.is_exhausted();
        }
        self.generator.is_exhausted()
    }

    /// Whether nothing is left to ask for.
    #[cold]
    #[inline(never)]
    fn is_exhausted(&self) -> bool {
        if let Some(zones) = &self.zones {
            let is_drawn = self.generator.is_exhausted() && !zones.has_pending();
            return is_drawn || zones.is_over();
        }
        self.replay
            .as_ref()
            .map_or_else(|| self.generator.is_exhausted(), |replay| replay.is_over())
    }

    /// Asks for nothing more; whether it did until now.
    fn halt(&mut self) -> bool {
        self.is_apart = true;
        !std::mem::replace(&mut self.stopped, true)
    }

    /// The stage begins.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        self.start_ns = start_ns;
    }

    /// How long from `now_ns` on nothing is due, whatever comes back; 0 if something is.
    #[inline]
    pub(crate) fn quiet_ns(&self, now_ns: u64) -> u64 {
        if self.free.is_empty() {
            return u64::MAX;
        }
        if self.is_apart {
            return self.quiet_apart_ns(now_ns);
        }
        // What is used up is never due again, however long ago its next instant was.
        if self.generator.is_exhausted() { u64::MAX } else { self.until_due_ns(now_ns) }
    }

    /// How long until the pace has a request due; `u64::MAX` without instants.
    #[inline]
    fn until_due_ns(&self, now_ns: u64) -> u64 {
        match self.pacer.due_ns() {
            Some(_) if self.generator.flushes_next() => 0,
            Some(due_ns) => self.start_ns.saturating_add(due_ns).saturating_sub(now_ns),
            None => u64::MAX,
        }
    }

    #[cold]
    #[inline(never)]
    fn quiet_apart_ns(&self, now_ns: u64) -> u64 {
        if self.is_over() {
            return u64::MAX;
        }
        if let Some(replay) = &self.replay {
            return self.start_ns.saturating_add(replay.due_ns()).saturating_sub(now_ns);
        }
        if let Some(zones) = self.zones.as_ref().filter(|zones| zones.has_pending()) {
            return zones.quiet_ns(now_ns);
        }
        match &self.turn {
            Some(turn) if turn.is_held() => turn.quiet_ns(now_ns),
            _ => self.until_due_ns(now_ns),
        }
    }

    /// Asks for nothing more from `end_ns` on, when the load is over. At a rate, `never` hears of
    /// each request that was due before and never sent: its operation as an index into the
    /// recorder's, its age in ns, and how many it stands for.
    pub(crate) fn stop(&mut self, end_ns: u64, never: &mut dyn FnMut(usize, u64, u64)) {
        // What is left of a trace is told by its own count.
        let is_drawn = self.replay.is_none();
        if self.halt() && self.is_open && is_drawn {
            // Drawn, and without a place in its zone.
            let held = self.zones.as_ref().and_then(|zones| zones.pending());
            if let Some((op, due_ns)) = held {
                never(op.index(), end_ns.saturating_sub(due_ns), 1);
            }
            self.tell_unsent(end_ns.saturating_sub(self.start_ns), never);
        }
    }

    /// The sequence goes on to the end of the load, but nothing is sent. Of very many, one stands
    /// for its neighbours.
    #[cold]
    fn tell_unsent(&mut self, end_ns: u64, never: &mut dyn FnMut(usize, u64, u64)) {
        let Some(first_ns) = self.pacer.due_ns() else { return };
        // The worker's own stays where it stopped.
        let mut generator = self.generator.clone();
        let (mut told, mut stands_for) = (0, 1);
        let has_time = |due_ns: &u64| due_ns.saturating_add(LEAST_AGE_NS) <= end_ns;
        while let Some(due_ns) = self.pacer.due_ns().filter(has_time) {
            let Some(request) = generator.next_request() else { return };
            if request.op == Op::Fsync {
                continue;
            }
            if told == MOST_TOLD {
                let left = u128::from(end_ns - due_ns) * u128::from(MOST_TOLD)
                    / u128::from((due_ns - first_ns).max(1));
                stands_for = (left as u64).div_ceil(MOST_TOLD).max(1);
            }
            told += 1;
            self.pacer.skip(request.length, stands_for);
            never(request.op.index(), end_ns - due_ns, stands_for);
        }
    }

    /// What the target still has is given up at `now_ns`: `never` hears of it as of what was never
    /// sent.
    pub(crate) fn give_up(&self, now_ns: u64, never: &mut dyn FnMut(usize, u64, u64)) {
        let is_out = |slot: &usize| !self.free.contains(&(*slot as u32));
        for outstanding in
            (0..self.outstanding.len()).filter(is_out).map(|slot| self.outstanding[slot])
        {
            never(usize::from(outstanding.op), now_ns.saturating_sub(outstanding.since_ns), 1);
        }
    }

    /// What waits at `now_ns`: sent long ago, or due and not sent.
    #[cold]
    pub(crate) fn waits(&self, now_ns: u64) -> Told {
        let is_old = |since_ns: u64| now_ns.saturating_sub(since_ns) >= LEAST_WAIT_NS;
        let mut sent: Option<(u64, u64, u64)> = None;
        for slot in (0..self.outstanding.len()).filter(|_| self.in_flight() > 0) {
            let since_ns = self.outstanding[slot].since_ns;
            // The places that are seldom used are at the bottom.
            if is_old(since_ns) && !self.free.contains(&(slot as u32)) {
                let (count, oldest_ns, youngest_ns) = sent.unwrap_or((0, u64::MAX, 0));
                sent = Some((count + 1, oldest_ns.min(since_ns), youngest_ns.max(since_ns)));
            }
        }
        let due_ns = self.replay.as_ref().map_or_else(|| self.pacer.due_ns(), |r| Some(r.due_ns()));
        let due_ns = due_ns.filter(|_| self.is_open && !self.is_over());
        let due_ns = due_ns.map(|due_ns| self.start_ns.saturating_add(due_ns));
        let unsent_since_ns = due_ns.filter(|due_ns| *due_ns <= now_ns);
        let gap_ns = self.pacer.gap_ns().filter(|_| self.replay.is_none());
        Told { next_ns: 0, sent, unsent_since_ns, gap_ns }
    }

    /// How many requests the target has at most.
    #[inline]
    pub(crate) fn depth(&self) -> u32 {
        self.outstanding.len() as u32
    }

    /// How many requests the target has.
    #[inline]
    pub(crate) fn in_flight(&self) -> usize {
        self.outstanding.len() - self.free.len()
    }

    /// Whether nothing is outstanding and nothing will be.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.in_flight() == 0 && self.is_over()
    }

    /// Whether it has done its amount, and was not stopped before.
    pub(crate) fn has_done_all(&self) -> bool {
        self.in_flight() == 0 && !self.stopped && self.is_exhausted()
    }

    /// Whether its next request is that of [`Self::next_apart`]. A batch asks once.
    #[inline(always)]
    pub(crate) fn is_apart(&self) -> bool {
        self.is_apart
    }

    /// The next request that is due now.
    #[inline]
    pub(crate) fn next_io(&mut self, now_ns: u64) -> Option<Io> {
        if self.is_apart { self.next_apart(now_ns) } else { self.next_plain(now_ns) }
    }

    /// The same of a worker that is not apart.
    // Inlined by force, and without a call in it that gives a request back: handing one over
    // through memory costs as much as drawing it.
    #[inline(always)]
    pub(crate) fn next_plain(&mut self, now_ns: u64) -> Option<Io> {
        debug_assert!(!self.is_apart, "whoever asks has looked");
        let slot = *self.free.last()?;
        let due_ns = self.due_by(now_ns)?;
        self.send(slot, due_ns, now_ns)
    }

    /// The instant at which the next request was due, on the clock; `None` if that is to come.
    #[inline(always)]
    fn due_by(&self, now_ns: u64) -> Option<u64> {
        match self.pacer.due_ns() {
            None => Some(now_ns),
            // It follows its write at once, in a rate as in a burst, and is none of their requests.
            Some(_) if self.generator.flushes_next() => Some(now_ns),
            Some(due_ns) => {
                let due_ns = self.start_ns.saturating_add(due_ns);
                (due_ns <= now_ns).then_some(due_ns)
            }
        }
    }

    #[inline(always)]
    fn send(&mut self, slot: u32, due_ns: u64, now_ns: u64) -> Option<Io> {
        let request = self.generator.next_request()?;
        if request.op != Op::Fsync {
            self.pacer.took(request.length);
        }
        let since_ns = if self.is_open { due_ns } else { now_ns };
        self.free.pop();
        self.outstanding[slot as usize] =
            Outstanding { since_ns, length: request.length, op: request.op.index() as u8 };
        Some(Io {
            slot,
            op: request.op,
            file: request.file,
            offset: request.offset,
            length: request.length,
        })
    }

    /// The same of a work that was stopped, has a trace, or is bound to others. An fsync follows
    /// its write, and is none of the requests that a share binds.
    #[cold]
    #[inline(never)]
    pub(crate) fn next_apart(&mut self, now_ns: u64) -> Option<Io> {
        let slot = *self.free.last()?;
        if self.stopped {
            return None;
        }
        if self.replay.is_some() {
            return self.next_of_trace(slot, now_ns);
        }
        if self.zones.is_some() {
            return self.next_on_zones(slot, now_ns);
        }
        let due_ns = self.due_by(now_ns)?;
        let is_first = self.generator.flushes_next()
            || self.turn.as_mut().is_none_or(|turn| turn.take(now_ns));
        if is_first { self.send(slot, due_ns, now_ns) } else { None }
    }

    /// The next request that is due now, once it has its place in a zone.
    fn next_on_zones(&mut self, slot: u32, now_ns: u64) -> Option<Io> {
        let due_ns = self.due_by(now_ns);
        let zones = self.zones.as_mut()?;
        if zones.is_over() {
            return None;
        }
        if !zones.has_pending() {
            let due_ns = due_ns?;
            if self.generator.flushes_next() {
                return self.send(slot, due_ns, now_ns);
            }
            if self.turn.as_mut().is_some_and(|turn| !turn.take(now_ns)) {
                return None;
            }
            let request = self.generator.next_request()?;
            self.pacer.took(request.length);
            zones.take(&request, due_ns);
        }
        let placed = zones.place(slot, now_ns)?;
        self.free.pop();
        let since_ns = if self.is_open { placed.due_ns } else { now_ns };
        let Placed { op, file, offset, length, .. } = placed;
        self.outstanding[slot as usize] = Outstanding { since_ns, length, op: op.index() as u8 };
        Some(Io { slot, op, file, offset, length })
    }

    /// Gives a zone back that a request had.
    #[cold]
    #[inline(never)]
    fn leave_zone(&mut self, slot: u32, outcome: Outcome) {
        if let Some(zones) = &mut self.zones {
            zones.came_back(slot, matches!(outcome, Outcome::Success { .. }));
        }
    }

    /// The next request of the trace that is due now.
    fn next_of_trace(&mut self, slot: u32, now_ns: u64) -> Option<Io> {
        let outstanding = (self.outstanding.len() - self.free.len()) as u64;
        let replay = self.replay.as_mut()?;
        let (request, due_ns) = replay.next(now_ns.saturating_sub(self.start_ns), outstanding)?;
        self.free.pop();
        self.outstanding[slot as usize] = Outstanding {
            since_ns: self.start_ns.saturating_add(due_ns),
            length: request.length,
            op: request.op.index() as u8,
        };
        Some(Io {
            slot,
            op: request.op,
            file: request.file,
            offset: request.offset,
            length: request.length,
        })
    }

    /// Takes a request back.
    #[inline(always)]
    pub(crate) fn complete(&mut self, completion: Completion, now_ns: u64) -> Finished {
        let outstanding = self.outstanding[completion.slot as usize];
        self.free.push(completion.slot);
        // What a burst wrote is durable before its rest begins.
        if self.in_flight() == 0 && !self.generator.flushes_next() {
            self.pacer.idle(now_ns.saturating_sub(self.start_ns));
        }
        let outcome = match completion.result {
            moved if moved == outstanding.length as i32 => {
                Outcome::Success { bytes: outstanding.length }
            }
            // A trim moves nothing: what it gave back is what it was asked for.
            0 if usize::from(outstanding.op) == Op::Trim.index() => {
                Outcome::Success { bytes: outstanding.length }
            }
            moved if moved >= 0 => Outcome::Failure { errno: 0, bytes: moved as u32 },
            errno => Outcome::Failure { errno: -errno, bytes: 0 },
        };
        if self.stop_on_failure && matches!(outcome, Outcome::Failure { .. }) {
            self.halt();
        }
        if self.is_apart {
            self.leave_zone(completion.slot, outcome);
        }
        let latency_ns = now_ns.saturating_sub(outstanding.since_ns);
        Finished { op: usize::from(outstanding.op), latency_ns, outcome }
    }

    /// Whether a failure ended the worker before its amount was done.
    pub(crate) fn failed(&self) -> bool {
        self.stop_on_failure && self.stopped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::choices::Access;
    use model::load::{Pace, Rate};
    use model::units::{Nanos, Percent};

    /// Ten blocks of 4 KiB, one after the other, by `depth` places.
    fn work(read: Percent, depth: u32, pace: Pace, fsync_every: u64, stop: Stop) -> Work {
        let work = crate::common::work(read, Access::Sequential, depth, stop);
        Work { pace, fsync_every, ..work }
    }

    fn state(work: &Work, places: u32) -> WorkerState {
        WorkerState::new(work, &crate::common::worker_at(1, 0, 10 * 4096), places)
    }

    fn worker(stop: Stop) -> WorkerState {
        state(&work(Percent::ZERO, 4, Pace::FREE, 0, stop), 4)
    }

    const SECOND: Stop = Stop::After(Nanos(1_000_000_000));

    fn rate(milli: u64) -> Pace {
        Pace::Open { rate: Rate::Iops { milli }, poisson: false }
    }

    #[test]
    fn it_keeps_its_depth_outstanding_and_never_more() {
        let mut worker = worker(SECOND);
        let first: Vec<Io> = std::iter::from_fn(|| worker.next_io(100)).collect();
        assert_eq!((first.len(), worker.in_flight()), (4, 4));
        let finished = worker.complete(Completion { slot: first[2].slot, result: 4096 }, 350);
        let outcome = Outcome::Success { bytes: 4096 };
        assert_eq!(finished, Finished { op: Op::Write.index(), latency_ns: 250, outcome });
        let slot = worker.next_io(400).map(|io| io.slot);
        assert_eq!(slot, Some(first[2].slot), "the slot is used again");
        worker.stop(500, &mut |_, _, _| panic!("a closed loop owes nothing"));
        assert!(!worker.is_done(), "what is outstanding has to come back");
    }

    #[test]
    fn an_amount_ends_by_itself() {
        let mut worker = worker(Stop::Amount);
        let mut count = 0;
        while !worker.is_done() {
            while let Some(io) = worker.next_io(0) {
                worker.complete(Completion { slot: io.slot, result: io.length as i32 }, 1);
                count += 1;
            }
        }
        assert_eq!((count, worker.failed()), (10, false));
    }

    #[test]
    fn nothing_is_due_of_an_amount_that_is_used_up() {
        let mut worker = state(&work(Percent::ZERO, 4, rate(1_000_000), 0, Stop::Amount), 16);
        let late_ns = 60_000_000;
        let due = std::iter::from_fn(|| worker.next_io(late_ns)).count();
        assert_eq!(due, 10, "all were due long ago");
        let waits = (worker.in_flight(), worker.quiet_ns(late_ns));
        assert_eq!(waits, (10, u64::MAX), "only what comes back is waited for");
    }

    #[test]
    fn failures_are_data_except_that_they_end_an_amount() {
        let mut timed = worker(SECOND);
        let io = timed.next_io(0).expect("due");
        let failure = timed.complete(Completion { slot: io.slot, result: -28 }, 1).outcome;
        assert_eq!(failure, Outcome::Failure { errno: 28, bytes: 0 });
        assert!(timed.next_io(1).is_some());
        let mut amount = worker(Stop::Amount);
        let io = amount.next_io(0).expect("due");
        let short = amount.complete(Completion { slot: io.slot, result: 512 }, 1).outcome;
        assert_eq!(short, Outcome::Failure { errno: 0, bytes: 512 });
        assert!(amount.failed() && amount.is_done() && amount.next_io(1).is_none());
    }

    #[test]
    fn a_trim_that_moved_nothing_is_whole_and_a_read_is_not() {
        let mut work = work(Percent::ALL, 1, Pace::FREE, 0, SECOND);
        for (trim, expected) in [
            (Percent::ALL, Outcome::Success { bytes: 4096 }),
            (Percent::ZERO, Outcome::Failure { errno: 0, bytes: 0 }),
        ] {
            work.trim = trim;
            let mut worker = state(&work, 1);
            let io = worker.next_io(0).expect("due");
            let done = worker.complete(Completion { slot: io.slot, result: 0 }, 1);
            assert_eq!(done.outcome, expected);
        }
    }

    #[test]
    fn in_an_open_loop_time_runs_from_the_due_instant_on() {
        let mut worker = at_rate(1_000_000);
        worker.begin(500);
        let first = worker.next_io(600).expect("due since 500");
        assert_eq!(worker.next_io(1_000_500), None, "no place");
        let done = worker.complete(Completion { slot: first.slot, result: 4096 }, 2_000_500);
        assert_eq!(done.latency_ns, 2_000_000);
        // The target was away for two milliseconds: the second request waited one of them without
        // having been sent.
        let second = worker.next_io(2_000_500).expect("due since 1,000,500");
        let done = worker.complete(Completion { slot: second.slot, result: 4096 }, 2_000_600);
        assert_eq!(done.latency_ns, 1_000_100);
        assert_eq!(worker.quiet_ns(2_000_600), 0, "the third was due at 2,000,500");
        worker.next_io(2_000_600).expect("the third");
        assert_eq!(worker.quiet_ns(2_000_700), u64::MAX, "no place until something comes back");
    }

    /// The operations that go out at `now_ns`, each of which comes back at once.
    fn sent(worker: &mut WorkerState, now_ns: u64) -> Vec<Op> {
        let one = |_: ()| {
            let io = worker.next_io(now_ns)?;
            worker.complete(Completion { slot: io.slot, result: io.length as i32 }, now_ns);
            Some(io.op)
        };
        std::iter::repeat(()).map_while(one).collect()
    }

    fn flushing(pace: Pace, every: u64) -> WorkerState {
        state(&work(Percent::ZERO, 4, pace, every, SECOND), 4)
    }

    #[test]
    fn an_fsync_takes_no_place_of_a_rate() {
        let mut worker = flushing(rate(1_000_000), 1);
        for due_ns in (0..50).map(|number| number * 1_000_000) {
            assert_eq!(sent(&mut worker, due_ns), [Op::Write, Op::Fsync], "at {due_ns} ns");
            assert_eq!(worker.quiet_ns(due_ns), 1_000_000);
        }
    }

    #[test]
    fn an_fsync_that_had_no_place_goes_out_as_soon_as_there_is_one_and_its_time_begins_there() {
        let mut worker = state(&work(Percent::ZERO, 1, rate(1_000_000), 1, SECOND), 1);
        let write = worker.next_io(0).expect("due");
        assert_eq!((worker.next_io(300), worker.quiet_ns(300)), (None, u64::MAX));
        worker.complete(Completion { slot: write.slot, result: 4096 }, 700);
        assert_eq!(worker.quiet_ns(700), 0);
        let flush = worker.next_io(700).expect("follows its write");
        let done = worker.complete(Completion { slot: flush.slot, result: 0 }, 900);
        assert_eq!((flush.op, done.latency_ns), (Op::Fsync, 200));
        assert_eq!(worker.quiet_ns(900), 999_100);
    }

    #[test]
    fn a_burst_counts_its_writes_and_rests_once_they_are_durable() {
        let mut worker = flushing(Pace::Closed { think: Nanos(500), burst: 3 }, 1);
        let burst = [Op::Write, Op::Fsync, Op::Write, Op::Fsync, Op::Write, Op::Fsync];
        assert_eq!(sent(&mut worker, 1_000), burst);
        assert_eq!((worker.quiet_ns(1_000), worker.next_io(1_499)), (500, None));
        assert_eq!(sent(&mut worker, 1_500), burst);
        // One that writes more seldom: its second burst ends in the middle of what an fsync makes
        // durable.
        let mut worker = flushing(Pace::Closed { think: Nanos(500), burst: 3 }, 2);
        assert_eq!(sent(&mut worker, 0), [Op::Write, Op::Write, Op::Fsync, Op::Write]);
        assert_eq!(sent(&mut worker, 500), [Op::Write, Op::Fsync, Op::Write, Op::Write, Op::Fsync]);
    }

    /// What a worker at a rate tells when its load ends: how many requests, the youngest, the
    /// oldest, and the sum of their ages.
    fn unsent(worker: &mut WorkerState, end_ns: u64) -> (u64, u64, u64, u128) {
        let (mut count, mut youngest, mut oldest, mut sum) = (0, u64::MAX, 0, 0);
        worker.stop(end_ns, &mut |op, age_ns, stands_for| {
            assert_eq!(op, Op::Read.index());
            (youngest, oldest) = (youngest.min(age_ns), oldest.max(age_ns));
            (count, sum) = (count + stands_for, sum + u128::from(stands_for) * u128::from(age_ns));
        });
        (count, youngest, oldest, sum)
    }

    fn at_rate(milli: u64) -> WorkerState {
        state(&work(Percent::ALL, 1, rate(milli), 0, SECOND), 1)
    }

    #[test]
    fn what_was_due_and_never_sent_is_told_once_with_its_age() {
        let mut worker = at_rate(1_000_000);
        worker.begin(500);
        worker.next_io(500).expect("due");
        // Its only place is taken: those of 1, 2 and 3 ms are due and not sent when the load ends
        // at 3.5 ms.
        assert_eq!(unsent(&mut worker, 3_500_500), (3, 500_000, 2_500_000, 4_500_000));
        assert_eq!(unsent(&mut worker, 9_000_500).0, 0, "it is over");
        // That of 3 ms is due with the end: nobody had the time to send it.
        let mut whole = at_rate(1_000_000);
        whole.begin(500);
        whole.next_io(500).expect("due");
        assert_eq!(unsent(&mut whole, 3_001_000).0, 2);
        let mut given_up = Vec::new();
        worker.give_up(4_000_500, &mut |op, age_ns, count| given_up.push((op, age_ns, count)));
        assert_eq!(given_up, [(Op::Read.index(), 4_000_000, 1)]);
    }

    #[test]
    fn of_very_many_one_stands_for_its_neighbours() {
        // A million a second, and nothing was sent for a minute.
        let (count, youngest, oldest, sum) = unsent(&mut at_rate(1_000_000_000), 60_000_000_000);
        assert!((59_900_000..=60_100_000).contains(&count), "{count}");
        assert!(youngest < 100_000 && oldest == 60_000_000_000, "{youngest} {oldest}");
        let mean_ns = (sum / u128::from(count)) as f64;
        assert!((mean_ns / 30e9 - 1.0).abs() < 0.01, "{mean_ns}");
    }
}
