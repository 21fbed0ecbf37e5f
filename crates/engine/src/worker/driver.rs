//! Drives one worker in real time: the one loop for every workload and every backend.

use crate::backend::Backend;
use crate::clock::Clock;
use crate::control::{Control, Cuts};
use crate::io::Io;
use crate::threads::cpu::CpuTime;
use crate::timetable::Timetable;
use crate::worker::batching::Bunch;
use crate::worker::recorder::{Interval, SLOTS};
use crate::worker::waiting::{Outstanding, Told};
use crate::worker::{Finished, Outcome, WorkerState};
use model::{Phase, WriteMark};
use rustix::thread::Pid;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

/// How long a worker sleeps at most before it looks whether its stage was stopped.
const LONGEST_SLEEP_NS: u64 = 50_000_000;

/// Timers and wake-ups of a good machine are late by less than this.
pub(crate) const AWAKE_NS: u64 = 60_000;

/// Pages that a worker has beside the one it writes: it makes itself another in mid-load only when
/// the collector is this many intervals late.
pub(crate) const SPARE_PAGES: usize = 2;

/// What a worker tells the collector.
pub(crate) enum FromWorker {
    /// It is set up and waits for the start; `thread` is the kernel's number of its thread.
    Ready { worker: u32, thread: Pid },
    /// It has left an interval, and is now in `now_in` or, with `None`, past the end of the load.
    Left { worker: u32, interval: Box<Interval>, now_in: Option<Slot> },
    /// It is done and tells nothing more.
    Done { worker: u32, end: WorkerEnd },
}

/// How a worker ended.
#[derive(Debug)]
pub(crate) enum WorkerEnd {
    /// Its time was over or its amount done.
    Complete,
    /// An error of the target ended its amount.
    AmountFailed,
    /// A failure of ours.
    Broken(crate::EngineError),
    /// The target did not answer so many requests, long after the end of the load.
    Stuck { requests: u32 },
}

/// How a worker's load ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drained {
    /// Everything came back.
    Whole,
    /// So many requests did not. They may still come, so their memory must stay.
    GivenUp { requests: u32 },
}

/// An interval of the timetable, and which part of it: that before the first worker was done, or
/// that after it.
pub(crate) type Slot = (u32, Phase);

/// A worker's line to the collector: full intervals go out, emptied ones come back.
pub(crate) struct Line {
    pub(crate) worker: u32,
    pub(crate) out: SyncSender<FromWorker>,
    pub(crate) back: Receiver<Box<Interval>>,
    pub(crate) outstanding: Arc<Outstanding>,
}

/// Runs `worker` until it is done; everything that the target had comes back first, or is given up.
/// The books stay open unless it is.
///
/// # Errors
/// When the backend itself fails.
///
/// After an error or a giving-up, requests may still be with the kernel, so the caller must keep
/// the backend's buffers.
pub(crate) fn drive<B: Backend, C: Clock>(
    worker: &mut WorkerState,
    backend: &mut B,
    clock: &C,
    control: &Control,
    pages: &mut Pages<'_>,
) -> io::Result<Drained> {
    worker.begin(pages.timetable.start_ns);
    pages.tell(0, || worker.waits(0));
    let mut now_ns = clock.now_ns();
    let mut bunch = Bunch::new(worker.depth(), backend.is_carried());
    loop {
        let mut left = bunch.size();
        if worker.is_apart() {
            left = prepare_apart(worker, backend, left, now_ns);
        } else {
            backend.prepare_all(|| one_of(&mut left, || worker.next_plain(now_ns)));
        }
        if worker.is_done() {
            break;
        }
        let in_flight = worker.in_flight();
        let has_more = left == 0 && (in_flight as u32) < worker.depth();
        let patience_ns = if has_more {
            bunch.goes_on(bunch.size(), now_ns);
            0
        } else {
            bunch.waits(now_ns);
            pages.patience_ns(now_ns, control.cuts()).min(awake(worker.quiet_ns(now_ns)))
        };
        if in_flight > 0 {
            pages.goes(in_flight, now_ns);
            backend.submit(patience_ns)?;
        } else {
            clock.rest(patience_ns);
        }
        // One reading serves a whole bunch: it ends the requests that are reaped now and begins
        // those that go out next.
        now_ns = clock.now_ns();
        let mut is_turned = false;
        let is_over = pages.turn(now_ns, control.cuts(), || {
            is_turned = true;
            backend.mark()
        });
        if is_over {
            worker.stop(control.stop_at_ns(), &mut |op, age_ns, count| {
                pages.never(op, age_ns, count);
            });
        }
        let mut run = Run::default();
        backend
            .reap(|completion| pages.write_down_in(&mut run, worker.complete(completion, now_ns)));
        pages.end(run);
        if is_turned {
            pages.tell(now_ns, || worker.waits(now_ns));
        }
        if is_over
            && worker.in_flight() > 0
            && pages.timetable.patience.is_over(control.stop_at_ns(), now_ns)
        {
            worker.give_up(now_ns, &mut |op, age_ns, count| pages.never(op, age_ns, count));
            pages.close(now_ns, backend.mark());
            return Ok(Drained::GivenUp { requests: worker.in_flight() as u32 });
        }
    }
    Ok(Drained::Whole)
}

/// Prepares at most `left` requests of a worker that was stopped, has a trace, or is bound to
/// others; how many more it may have. Out of the loop of all others, which has one comparison for
/// it.
#[cold]
#[inline(never)]
fn prepare_apart<B: Backend>(
    worker: &mut WorkerState,
    backend: &mut B,
    mut left: u32,
    now_ns: u64,
) -> u32 {
    backend.prepare_all(|| one_of(&mut left, || worker.next_apart(now_ns)));
    left
}

/// The next request of a bunch that may have `left` more. What is not due takes nothing of it: a
/// worker that has none due has not sent its bunch, and waits.
#[inline(always)]
fn one_of(left: &mut u32, next: impl FnOnce() -> Option<Io>) -> Option<Io> {
    if *left == 0 {
        return None;
    }
    let io = next()?;
    *left -= 1;
    Some(io)
}

/// How long to sleep when the next request is due in `quiet_ns`: the last stretch is spent awake,
/// because a sleeper wakes too late, and the request would pay for it.
#[inline]
fn awake(quiet_ns: u64) -> u64 {
    quiet_ns.saturating_sub(AWAKE_NS)
}

/// Equal requests that came back one after the other. A target that completes a batch at once has
/// nothing else, and to count them together costs a fraction of counting each.
#[derive(Clone, Copy, Default)]
struct Run {
    op: usize,
    bytes: u32,
    latency_ns: u64,
    count: u32,
}

/// A worker's books: one page for each interval, handed to the collector when it is turned.
pub(crate) struct Pages<'a> {
    timetable: Timetable,
    line: &'a Line,
    page: Box<Interval>,
    page_end_ns: u64,
    draining: bool,
    /// Whether another worker has done its amount.
    past_wall: bool,
    /// At the last turn.
    cpu: Option<CpuTime>,
}

impl<'a> Pages<'a> {
    /// Opens the books at the first interval, on the worker's own thread.
    pub(crate) fn open(timetable: Timetable, line: &'a Line, page: Box<Interval>) -> Pages<'a> {
        Pages { cpu: Some(CpuTime::of_this_thread()), ..Pages::without_cpu(timetable, line, page) }
    }

    /// The same for a worker that shares its thread with others: whose CPU time it is, nobody
    /// knows.
    pub(crate) fn without_cpu(
        timetable: Timetable,
        line: &'a Line,
        page: Box<Interval>,
    ) -> Pages<'a> {
        let page_end_ns = timetable.end_of(0);
        Pages { timetable, line, page, page_end_ns, draining: false, past_wall: false, cpu: None }
    }

    /// Counts a request that came back.
    #[inline]
    pub(crate) fn write_down(&mut self, finished: Finished) {
        let stats = &mut self.page.ops[finished.op];
        match finished.outcome {
            Outcome::Success { bytes } => stats.success(bytes, finished.latency_ns),
            Outcome::Failure { errno, bytes } => stats.failure(errno, bytes),
        }
    }

    /// Counts a request that came back, at the latest with the [`end`](Self::end) of its `run`.
    #[inline(always)]
    fn write_down_in(&mut self, run: &mut Run, finished: Finished) {
        match finished.outcome {
            Outcome::Success { bytes }
                if (finished.op, bytes, finished.latency_ns)
                    == (run.op, run.bytes, run.latency_ns) =>
            {
                run.count += 1;
            }
            Outcome::Success { bytes } => {
                let next =
                    Run { op: finished.op, bytes, latency_ns: finished.latency_ns, count: 1 };
                self.end(std::mem::replace(run, next));
            }
            Outcome::Failure { .. } => self.write_down(finished),
        }
    }

    /// Counts what is left of a batch.
    #[inline]
    fn end(&mut self, run: Run) {
        if run.count > 0 {
            self.page.ops[run.op].successes(run.count, run.bytes, run.latency_ns);
        }
    }

    /// Counts requests that never came back, once the load is over.
    #[cold]
    pub(crate) fn never(&mut self, op: usize, age_ns: u64, count: u64) {
        self.page.never[op].get_or_insert_default().record_many(age_ns, count);
    }

    /// The worker goes to the target for these requests.
    #[inline]
    pub(crate) fn goes(&self, requests: usize, now_ns: u64) {
        self.line.outstanding.goes(requests as u32, now_ns);
    }

    /// Says what waits, for those who watch.
    #[cold]
    pub(crate) fn tell(&self, now_ns: u64, what: impl FnOnce() -> Told) {
        self.line.outstanding.tell(self.timetable, now_ns, what);
    }

    /// How long the worker may wait for a completion.
    #[inline]
    pub(crate) fn patience_ns(&self, now_ns: u64, cuts: Cuts) -> u64 {
        if self.draining {
            return LONGEST_SLEEP_NS;
        }
        let wake_ns = self.next_turn(cuts);
        wake_ns.saturating_sub(now_ns).min(LONGEST_SLEEP_NS)
    }

    #[inline]
    fn next_turn(&self, cuts: Cuts) -> u64 {
        let wall_at_ns = if self.past_wall { u64::MAX } else { cuts.wall_at_ns };
        self.page_end_ns.min(cuts.stop_at_ns).min(wall_at_ns)
    }

    /// Turns the page if it is over, before anything that came back at `now_ns` is written down;
    /// `mark` says how far writes have got. True when the load is over.
    #[inline]
    pub(crate) fn turn(
        &mut self,
        now_ns: u64,
        cuts: Cuts,
        mark: impl FnOnce() -> Option<WriteMark>,
    ) -> bool {
        if self.draining || now_ns < self.next_turn(cuts) {
            return self.draining;
        }
        self.turn_now(now_ns, cuts, mark())
    }

    #[cold]
    fn turn_now(
        &mut self,
        now_ns: u64,
        Cuts { stop_at_ns, wall_at_ns }: Cuts,
        mark: Option<WriteMark>,
    ) -> bool {
        self.page.mark = mark;
        let mut next = self.line.back.try_recv().unwrap_or_else(|_| Box::new(self.page.sibling()));
        if now_ns >= stop_at_ns {
            self.draining = true;
            next.phase = Phase::Drain;
            self.hand_over(next, stop_at_ns, None);
        } else {
            let is_wall = now_ns >= wall_at_ns && !self.past_wall;
            self.past_wall |= is_wall;
            next.phase = if self.past_wall { Phase::Tail } else { Phase::Load };
            next.number = self.timetable.interval_at(now_ns);
            self.page_end_ns = self.timetable.end_of(next.number);
            let end_ns = if is_wall { wall_at_ns } else { self.timetable.end_of(self.page.number) };
            let now_in = (next.number, next.phase);
            self.hand_over(next, end_ns, Some(now_in));
        }
        self.draining
    }

    fn hand_over(&mut self, next: Box<Interval>, end_ns: u64, now_in: Option<Slot>) {
        let mut full = std::mem::replace(&mut self.page, next);
        if let Some(before) = &mut self.cpu {
            let now = CpuTime::of_this_thread();
            full.cpu = now.since(*before);
            *before = now;
        }
        full.end_ns = end_ns;
        // The collector outlives its workers; were it gone, the stage would be over and the figures
        // with it.
        let _ = self.line.out.send(FromWorker::Left {
            worker: self.line.worker,
            interval: full,
            now_in,
        });
    }

    /// Hands over the last page.
    pub(crate) fn close(&mut self, now_ns: u64, mark: Option<WriteMark>) {
        self.page.mark = mark;
        let empty = Box::new(Interval::new([None; SLOTS], false));
        self.hand_over(empty, now_ns, None);
    }
}
