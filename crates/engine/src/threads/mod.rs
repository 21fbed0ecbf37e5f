//! The threads of a stage: how they are set up, let go, and taken back, or left where they hang.
//!
//! They own what they use together with the stage, so that a thread that never comes back keeps its
//! files open and its memory in place.

pub(crate) mod cpu;
pub(crate) mod heart;
pub(crate) mod kernel_workers;
pub(crate) mod pinning;
pub(crate) mod priority;
pub(crate) mod shared;
pub(crate) mod start_gate;

use crate::backend::{Aio, Backend, Nop, Null, Ring, Setup, Sim, Sync, trim_mode};
use crate::clock::Clock;
use crate::contents::spares;
use crate::error::EngineError;
use crate::metadata;
use crate::replay::Replay;
use crate::threads::shared::{Shared, begin_on_time, page};
use crate::worker::WorkerState;
use crate::worker::amount_end::{self, Amount, OwnFiles};
use crate::worker::buffers::{Buffers, SECTOR, stride};
use crate::worker::driver::{Drained, FromWorker, Line, Pages, SPARE_PAGES, WorkerEnd, drive};
use crate::worker::recorder::Interval;
use crate::worker::turns::Turn;
use crate::worker::waiting::Outstanding;
use crate::zones::{Zoned, whole_zones};
use model::note::Degraded;
use model::plan::{Work, Worker};
use model::{StageKind, choices};
use rustix::thread::{Pid, gettid};
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::{panic, thread};

/// A worker's own memory is on the heap; its stack holds a few frames.
const STACK_BYTES: usize = 256 << 10;

/// One thread, seen from the stage.
pub(crate) struct Member {
    /// Where emptied pages go back.
    pub(crate) back: SyncSender<Box<Interval>>,
    outstanding: Arc<Outstanding>,
    thread: JoinHandle<()>,
    /// The kernel's number of the thread, once it is set up.
    number: Option<Pid>,
}

impl Member {
    /// What it has outstanding.
    pub(crate) fn outstanding(&self) -> &Outstanding {
        &self.outstanding
    }

    /// The kernel's number of its thread; `None` before it is set up.
    pub(crate) fn number(&self) -> Option<Pid> {
        self.number
    }
}

/// Starts a thread for each worker, which tells `out` what happens.
///
/// # Errors
/// When the system gives no more threads; those that were started are gone again.
pub(crate) fn start(
    shared: &Arc<Shared>,
    out: &SyncSender<FromWorker>,
) -> Result<Vec<Member>, EngineError> {
    let mut crew = Vec::new();
    for (number, worker) in shared.stage.workers.iter().enumerate() {
        let (back, spare) = mpsc::sync_channel(SPARE_PAGES + 1);
        for _ in 0..SPARE_PAGES {
            // It has room for them, and the worker's end is still here.
            let _ = back.try_send(page(shared, worker));
        }
        let outstanding = Arc::new(Outstanding::default());
        let line = Line {
            worker: number as u32,
            out: out.clone(),
            back: spare,
            outstanding: outstanding.clone(),
        };
        let theirs = shared.clone();
        let started = thread::Builder::new()
            .name(format!("worker-{number}"))
            .stack_size(STACK_BYTES)
            .spawn(move || run_worker(&theirs, &line));
        match started {
            Ok(thread) => crew.push(Member { back, outstanding, thread, number: None }),
            Err(error) => {
                call_off(shared, crew);
                let bounds = "`ulimit -u` and pids.max of its control group bound threads";
                return Err(EngineError::worker(
                    format!("be started (thread {number}; {bounds})"),
                    error,
                ));
            }
        }
    }
    Ok(crew)
}

/// Waits until all are set up.
///
/// # Errors
/// When one could not be; all are gone then.
pub(crate) fn wait_until_ready(
    shared: &Shared,
    mut crew: Vec<Member>,
    inbox: &Receiver<FromWorker>,
) -> Result<Vec<Member>, EngineError> {
    for _ in 0..crew.len() {
        match inbox.recv() {
            Ok(FromWorker::Ready { worker, thread }) => crew[worker as usize].number = Some(thread),
            Ok(FromWorker::Done { end: WorkerEnd::Broken(error), .. }) => {
                call_off(shared, crew);
                return Err(error);
            }
            _ => {}
        }
    }
    Ok(crew)
}

/// Sends workers home that wait for their start.
pub(crate) fn call_off(shared: &Shared, crew: Vec<Member>) {
    shared.gate.call_off();
    dismiss(crew);
}

/// Waits for threads that are done; a panic of one of them goes on here.
pub(crate) fn dismiss(crew: Vec<Member>) {
    for Member { back, thread, .. } in crew {
        // Nothing more is asked of it.
        drop(back);
        if let Err(payload) = thread.join() {
            panic::resume_unwind(payload);
        }
    }
}

/// A worker's thread: whatever happens in it, the stage hears how it ended.
fn run_worker(shared: &Shared, line: &Line) {
    // What a panic leaves behind is not looked at again, but for what the target may still write
    // into, which stays where it is.
    let end =
        panic::catch_unwind(AssertUnwindSafe(|| work(shared, line))).unwrap_or_else(|payload| {
            WorkerEnd::Broken(EngineError::panicked(format!("worker-{}", line.worker), &*payload))
        });
    if !matches!(end, WorkerEnd::Complete) {
        // The others would go on with a load that nobody asked for, or a layout that is no longer
        // whole.
        shared.control.end_stage();
    }
    // The stage outlives its workers, so somebody listens.
    let _ = line.out.send(FromWorker::Done { worker: line.worker, end });
    // The kernel's threads that carry its requests end with this one, and with them the time that
    // they took can be read no more.
    while line.back.recv().is_ok() {}
}

/// Set up, meet the others, run.
fn work(shared: &Shared, line: &Line) -> WorkerEnd {
    let worker = &shared.stage.workers[line.worker as usize];
    let mut files: Box<[RawFd]> = shared.files.iter().map(OwnedFd::as_raw_fd).collect();
    shared.own[line.worker as usize].put_into(&mut files);
    shared.seats.take(line.worker, shared.stage.workers.len());
    let work = &shared.stage.works[worker.work as usize];
    let own = match OwnFiles::open(work.stop, &shared.plan, &shared.files, worker) {
        Ok(own) => own,
        Err(error) => return WorkerEnd::Broken(error),
    };
    own.put_into(&mut files);
    match (&shared.world, shared.backend) {
        _ if work.metadata.is_some() => metadata::run(shared, worker, line),
        (Some(world), _) => run_on(
            shared,
            worker,
            own,
            line,
            work.depth,
            Ok(Sim::new(world, shared.control.clock(), work.depth)),
        ),
        (None, choices::Backend::Null) => {
            run_on(shared, worker, own, line, work.depth, Ok(Null::new(work.depth)))
        }
        (None, choices::Backend::Nop) => {
            let ring = Nop::new(work.depth)
                .map_err(|error| EngineError::worker("set up its ring (io_uring)", error));
            run_on(shared, worker, own, line, work.depth, ring)
        }
        (None, choices::Backend::Sync) => {
            let setup = setup(shared, worker, files, 1, usize::MAX);
            run_on(shared, worker, own, line, 1, setup.map(Sync::new))
        }
        (None, choices::Backend::IoUring | choices::Backend::Auto) => {
            run_on(shared, worker, own, line, work.depth, ring(shared, worker, files))
        }
        (None, choices::Backend::Libaio) => {
            run_on(shared, worker, own, line, work.depth, aio(shared, worker, files))
        }
    }
}

fn ring(shared: &Shared, worker: &Worker, files: Box<[RawFd]>) -> Result<Ring, EngineError> {
    let (ring, refused) = Ring::new(whole_depth(shared, worker, files)?)
        .map_err(|error| EngineError::worker("set up its ring (io_uring)", error))?;
    degraded(shared, refused);
    Ok(ring)
}

/// Writes down what the kernel refused and the worker does without.
fn degraded(shared: &Shared, refused: impl IntoIterator<Item = Degraded>) {
    if let Ok(mut degraded) = shared.degraded.lock() {
        for refusal in refused {
            if !degraded.contains(&refusal) {
                degraded.push(refusal);
            }
        }
    }
}

fn aio(shared: &Shared, worker: &Worker, files: Box<[RawFd]>) -> Result<Aio, EngineError> {
    Aio::new(whole_depth(shared, worker, files)?).map_err(|error| {
        EngineError::worker(
            "set up its context (libaio; `sysctl fs.aio-max-nr` bounds all of them)",
            error,
        )
    })
}

/// What a worker needs to keep its whole depth under way: a buffer for every slot.
fn whole_depth(
    shared: &Shared,
    worker: &Worker,
    files: Box<[RawFd]>,
) -> Result<Setup, EngineError> {
    let depth = shared.stage.works[worker.work as usize].depth;
    setup(shared, worker, files, depth, spares::lockable())
}

/// What a worker needs for `depth` requests at a time; all workers together may lock `lockable`
/// bytes.
fn setup(
    shared: &Shared,
    worker: &Worker,
    files: Box<[RawFd]>,
    depth: u32,
    lockable: usize,
) -> Result<Setup, EngineError> {
    let work = &shared.stage.works[worker.work as usize];
    let (buffers, write_base) = buffers(shared, worker, depth as usize, lockable)?;
    Ok(Setup {
        depth,
        files,
        buffers,
        write_base,
        dsync: work.dsync,
        trim_mode: trim_mode(work.trim_as),
        purges: shared.stage.kind == StageKind::Purge,
        resets_zones: work.zones.is_some(),
        ioprio: ioprio(shared, work),
        poll: shared.plan.engine.poll,
        only_moves: work.fsync_every == 0 && !work.trims() && !has_flushes(work),
    })
}

/// Buffers for `depth` requests, and where writes begin among them; all workers together may lock
/// `lockable` bytes.
///
/// # Errors
/// The system gives no more memory.
fn buffers(
    shared: &Shared,
    worker: &Worker,
    depth: usize,
    lockable: usize,
) -> Result<(Buffers, usize), EngineError> {
    let work = &shared.stage.works[worker.work as usize];
    // In a mix, reads and writes have buffers apart: what was read must not be what is written
    // next.
    let is_mix = work.writes() && work.reads();
    let (count, write_base) = if is_mix { (2 * depth, depth) } else { (depth, 0) };
    let mut contents = shared.contents.worker(work, depth, worker.seed);
    // A trim moves nothing.
    let largest = if work.reads() || work.writes() { work.largest_block().0 as usize } else { 0 };
    let (size, smallest) = (largest.max(SECTOR), work.write_block_size.smallest().0 as usize);
    let room = spares::room(shared.stage.workers.len(), count * stride(size), lockable);
    let spares = if work.writes() { contents.spares(smallest, stride(size), room) } else { 0 };
    let buffers = Buffers::new(count, spares, size, worker.seed, contents)
        .map_err(|error| EngineError::worker("have memory for its requests", error))?;
    Ok((buffers, write_base))
}

/// Whether a trace has some.
fn has_flushes(work: &Work) -> bool {
    work.trace.as_ref().is_some_and(|trace| trace.flushes)
}

fn ioprio(shared: &Shared, work: &Work) -> u16 {
    let (ioprio, refused) = priority::take(work.priority);
    degraded(shared, refused);
    ioprio
}

/// What a worker is to do, from where it stopped before.
fn state_of(
    shared: &Shared,
    worker: &Worker,
    number: u32,
    depth: u32,
) -> Result<WorkerState, EngineError> {
    let work = &shared.stage.works[worker.work as usize];
    let turn = Turn::of(shared.turns.as_ref(), worker.work);
    Ok(match Replay::of(work, worker)? {
        None if work.zones.is_some() => {
            let zoned = Zoned::new(work, worker, number, depth, &shared.zones);
            let whole = whole_zones(worker, &shared.zones);
            WorkerState::new(work, &whole, depth).in_turn(turn).on_zones(zoned)
        }
        None => {
            let from = shared.bookmarks().take(0, number, work);
            WorkerState::new(work, worker, depth).in_turn(turn).going_on(from)
        }
        Some(replay) => WorkerState::of_trace(work, worker, depth, replay),
    })
}

fn run_on<B: Backend>(
    shared: &Shared,
    worker: &Worker,
    own: OwnFiles,
    line: &Line,
    depth: u32,
    backend: Result<B, EngineError>,
) -> WorkerEnd {
    let work = &shared.stage.works[worker.work as usize];
    // Unless every request came back, the kernel would write into memory that is somebody else's by
    // then: in any other case, also in a panic, backend and buffers stay for good.
    let mut backend = match backend {
        Ok(backend) => ManuallyDrop::new(backend),
        Err(error) => return WorkerEnd::Broken(error),
    };
    let mut state = match state_of(shared, worker, line.worker, depth) {
        Ok(state) => state,
        Err(error) => return WorkerEnd::Broken(error),
    };
    let first = page(shared, worker);
    // The stage outlives its workers' setting up, so somebody listens.
    let _ = line.out.send(FromWorker::Ready { worker: line.worker, thread: gettid() });
    let Some(timetable) = shared.gate.wait() else {
        drop(ManuallyDrop::into_inner(backend));
        return WorkerEnd::Complete;
    };
    let clock = shared.control.clock();
    begin_on_time(shared, &timetable, &clock);
    let mut pages = Pages::open(timetable, line, first);
    let end = drive(&mut state, &mut *backend, &clock, &shared.control, &mut pages);
    if let (Some(contents), Ok(mut findings)) = (backend.contents(), shared.findings.lock()) {
        let path = |file: u32| shared.plan.files().nth(file as usize).map_or("", |file| &file.path);
        findings.add(contents.findings(path));
    }
    let mut unread = None;
    if let (Some(replay), Ok(mut replays)) = (state.replay(), shared.replays.lock()) {
        replay.count_into(&mut replays);
        unread = replay.take_failure();
    }
    unread = unread.or(state.take_zone_failure());
    match end {
        Ok(Drained::Whole) => {
            let mut mark = backend.mark();
            drop(ManuallyDrop::into_inner(backend));
            let amount = Amount { work, worker, files: &shared.files, own };
            amount_end::end(amount, &shared.control, &mut pages, &mut mark);
            let now_ns = clock.now_ns();
            pages.turn(now_ns, shared.control.cuts(), || mark.take());
            if let (Some(once), true) = (work.stop.once(), state.has_done_all()) {
                shared.control.done(now_ns, once.stonewall);
            }
            pages.close(now_ns, mark);
            let failed = state.failed().then_some(WorkerEnd::AmountFailed);
            if let Some(end) = unread.map(WorkerEnd::Broken).or(failed) {
                return end;
            }
            shared.bookmarks().keep(0, line.worker, work, state.into_bookmark());
            WorkerEnd::Complete
        }
        Ok(Drained::GivenUp { requests }) => {
            own.abandon();
            WorkerEnd::Stuck { requests }
        }
        Err(error) => {
            own.abandon();
            WorkerEnd::Broken(EngineError::worker("wait for its requests", error))
        }
    }
}
