//! Runs one stage on one host: starts the workers together, collects, waits for the last.

use crate::backend::{Aio, Backend, Null, Ring, Sim, Sync};
use crate::buffers::Buffers;
use crate::clock::Clock;
use crate::collector::Collector;
use crate::contents::Findings;
use crate::control::Control;
use crate::driver::{FromWorker, Line, Pages, SPARE_PAGES, Timetable, WorkerEnd, drive};
use crate::error::EngineError;
use crate::gate::Gate;
use crate::recorder::Interval;
use crate::target::OpenTargets;
use crate::virtual_time;
use crate::worker::WorkerState;
use model::op::Op;
use model::plan::{HostPlan, HostStage, Stop, Work, Worker};
use model::sample::OpSample;
use model::spec;
use model::units::Nanos;
use model::{Histogram, IntervalSample, Note};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::os::fd::RawFd;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// A worker's own memory is on the heap; its stack holds a few frames.
const STACK_BYTES: usize = 256 << 10;

/// Messages for which each worker has room on its way to the collector. The room is there before the load begins, because a queue that grows
/// allocates on the workers' threads; a worker that finds it full waits, but then the collector is dozens of intervals late.
const ROOM: usize = 64;

/// How a stage ended on this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageOutcome {
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// Whether an error of the target ended it: only where every byte had to be done.
    pub failed: bool,
    /// What the kernel refused and the stage did without, in words; no duplicates.
    pub degraded: Vec<String>,
    /// What the checks of reads found: the first damaged places, and how much was not checked.
    pub findings: Vec<Note>,
}

/// Everything that the threads of a stage share.
struct Shared<'a> {
    targets: &'a OpenTargets,
    works: &'a [Work],
    control: &'a Control,
    keep_raw: bool,
    gate: Gate,
    degraded: Mutex<Vec<String>>,
    findings: Mutex<Findings>,
}

/// Runs `stage`, telling `sink` each interval as soon as all workers have left it.
///
/// # Errors
/// When a worker could not be set up or its backend broke. What was recorded until then was told.
pub fn run_stage(
    targets: &OpenTargets,
    stage: &HostStage,
    control: &Control,
    sink: &mut dyn FnMut(IntervalSample),
) -> Result<StageOutcome, EngineError> {
    let plan = targets.plan();
    if let Some(world) = targets.world().filter(|_| plan.virtual_time) {
        let mut world = world.lock().unwrap_or_else(PoisonError::into_inner);
        return Ok(virtual_time::run_stage(targets, &mut world, stage, control, sink));
    }
    let shared = Shared {
        targets,
        works: &stage.works,
        control,
        keep_raw: plan.raw_latencies,
        gate: Gate::default(),
        degraded: Mutex::new(Vec::new()),
        findings: Mutex::new(Findings::default()),
    };
    let mut outcome = StageOutcome { interrupted: false, failed: false, degraded: Vec::new(), findings: Vec::new() };
    thread::scope(|scope| -> Result<(), EngineError> {
        let (out, inbox) = mpsc::sync_channel(ROOM * stage.workers.len().max(1));
        let back = match start_workers(scope, &shared, stage, &out).and_then(|back| {
            wait_until_ready(&inbox, back.len())?;
            Ok(back)
        }) {
            Ok(back) => back,
            Err(error) => {
                shared.gate.call_off();
                return Err(error);
            }
        };
        drop(out);
        let timetable = begin(&shared, stage.stop(), plan.interval);
        let mut collector = Collector::new(stage, plan.host, timetable);
        let result = collect(&mut collector, &inbox, &back, &mut outcome, sink);
        let complete = result.is_ok() && !outcome.failed && !control.is_stopped();
        let after = (stage.stop() == Stop::Amount && complete).then(|| sync_files(targets, control));
        outcome.failed |= after.as_ref().is_some_and(|sample| sample.error_count() > 0);
        collector.finish(after, control.clock().now_ns(), sink);
        result
    })?;
    outcome.interrupted = control.is_stopped();
    outcome.degraded = shared.degraded.into_inner().unwrap_or_default();
    outcome.findings = shared.findings.into_inner().unwrap_or_default().notes(stage.stage, plan.host);
    Ok(outcome)
}

/// Starts a thread for each worker; comes back with the lines on which emptied pages return to them.
fn start_workers<'scope, 'env>(
    scope: &'scope thread::Scope<'scope, 'env>,
    shared: &'scope Shared<'env>,
    stage: &'scope HostStage,
    out: &SyncSender<FromWorker>,
) -> Result<Vec<SyncSender<Box<Interval>>>, EngineError> {
    let mut back = Vec::new();
    for (number, worker) in stage.workers.iter().enumerate() {
        let (returned, spare) = mpsc::sync_channel(SPARE_PAGES + 1);
        for _ in 0..SPARE_PAGES {
            // It has room for them, and the worker's end is still here.
            let _ = returned.try_send(page(shared, worker));
        }
        back.push(returned);
        let line = Line { worker: number as u32, out: out.clone(), back: spare };
        thread::Builder::new()
            .name(format!("worker-{number}"))
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, move || run_worker(shared, worker, &line))
            .map_err(|error| EngineError::worker(format!("be started (thread {number})"), error))?;
    }
    Ok(back)
}

fn wait_until_ready(inbox: &Receiver<FromWorker>, workers: usize) -> Result<(), EngineError> {
    for _ in 0..workers {
        if let Ok(FromWorker::Done(WorkerEnd::Broken(error))) = inbox.recv() {
            return Err(error);
        }
    }
    Ok(())
}

/// Lets all workers go.
fn begin(shared: &Shared<'_>, stop: Stop, interval: Nanos) -> Timetable {
    let start_ns = shared.control.clock().now_ns();
    let stop_at_ns = match stop {
        Stop::After(time) => start_ns.saturating_add(time.0),
        Stop::Amount => u64::MAX,
    };
    shared.control.begin_stage(stop_at_ns);
    let timetable = Timetable { start_ns, interval_ns: interval.0.max(1) };
    shared.gate.open(timetable);
    timetable
}

fn collect(
    collector: &mut Collector,
    inbox: &Receiver<FromWorker>,
    back: &[SyncSender<Box<Interval>>],
    outcome: &mut StageOutcome,
    sink: &mut dyn FnMut(IntervalSample),
) -> Result<(), EngineError> {
    let mut result = Ok(());
    for message in inbox {
        match message {
            FromWorker::Left { worker, mut interval, now_in } => {
                collector.take(worker, &interval, now_in, sink);
                interval.clear();
                // A worker that has ended takes nothing back, and one that made itself more pages has enough.
                let _ = back[worker as usize].try_send(interval);
            }
            FromWorker::Ready | FromWorker::Done(WorkerEnd::Complete) => {}
            FromWorker::Done(WorkerEnd::AmountFailed) => outcome.failed = true,
            FromWorker::Done(WorkerEnd::Broken(error)) => result = Err(error),
        }
    }
    result
}

/// An empty page for what `worker` does.
fn page(shared: &Shared<'_>, worker: &Worker) -> Box<Interval> {
    let work = &shared.works[worker.work as usize];
    Box::new(Interval::new([work.reads(), work.writes(), work.fsync_every > 0], shared.keep_raw))
}

/// A worker's thread: set up, meet the others, run, report.
fn run_worker(shared: &Shared<'_>, worker: &Worker, line: &Line) {
    let files: Box<[RawFd]> = shared.targets.descriptors().into();
    settle(shared.targets.plan(), line.worker);
    let work = &shared.works[worker.work as usize];
    let end = match (shared.targets.world(), shared.targets.backend()) {
        (Some(world), _) => {
            run_on(shared, worker, line, work.depth, Ok(Sim::new(world, shared.control.clock(), work.depth)))
        }
        (None, spec::Backend::Null) => run_on(shared, worker, line, work.depth, Ok(Null::new(work.depth))),
        (None, spec::Backend::Sync) => {
            let contents = shared.targets.contents().worker(work, 1, worker.seed);
            let buffers = Buffers::new(2, work.largest_block().0 as usize, worker.seed, contents);
            run_on(shared, worker, line, 1, Ok(Sync::new(files, buffers, work.dsync)))
        }
        (None, spec::Backend::IoUring) => run_on(shared, worker, line, work.depth, ring(shared, worker, files)),
        (None, spec::Backend::Libaio) => run_on(shared, worker, line, work.depth, aio(shared, worker, files)),
    };
    if !matches!(end, WorkerEnd::Complete) {
        // The others would go on with a load that nobody asked for, or a layout that is no longer whole.
        shared.control.end_stage();
    }
    let _ = line.out.send(FromWorker::Done(end));
}

fn ring(shared: &Shared<'_>, worker: &Worker, files: Box<[RawFd]>) -> Result<Ring, EngineError> {
    let work = &shared.works[worker.work as usize];
    let (buffers, write_base) = buffers(shared, work, worker);
    let (ring, refused) = Ring::new(work.depth, files, buffers, write_base, work.dsync)
        .map_err(|error| EngineError::worker("set up its ring (io_uring)", error))?;
    if let Ok(mut degraded) = shared.degraded.lock() {
        for refusal in refused {
            if !degraded.contains(&refusal) {
                degraded.push(refusal);
            }
        }
    }
    Ok(ring)
}

fn aio(shared: &Shared<'_>, worker: &Worker, files: Box<[RawFd]>) -> Result<Aio, EngineError> {
    let work = &shared.works[worker.work as usize];
    let (buffers, write_base) = buffers(shared, work, worker);
    Aio::new(work.depth, files, buffers, write_base, work.dsync).map_err(|error| {
        EngineError::worker("set up its context (libaio; `sysctl fs.aio-max-nr` bounds all of them)", error)
    })
}

/// A buffer for every slot, and where those of writes begin.
fn buffers(shared: &Shared<'_>, work: &Work, worker: &Worker) -> (Buffers, usize) {
    let depth = work.depth as usize;
    // In a mix, reads and writes have buffers apart: what was read must not be what is written next.
    let is_mix = work.writes() && work.reads();
    let (count, write_base) = if is_mix { (2 * depth, depth) } else { (depth, 0) };
    let contents = shared.targets.contents().worker(work, depth, worker.seed);
    (Buffers::new(count, work.largest_block().0 as usize, worker.seed, contents), write_base)
}

fn run_on<B: Backend>(
    shared: &Shared<'_>,
    worker: &Worker,
    line: &Line,
    depth: u32,
    backend: Result<B, EngineError>,
) -> WorkerEnd {
    let work = &shared.works[worker.work as usize];
    let mut backend = match backend {
        Ok(backend) => backend,
        Err(error) => return WorkerEnd::Broken(error),
    };
    let mut state = WorkerState::new(work, worker, depth);
    let first = page(shared, worker);
    // The stage outlives its workers, so somebody listens.
    let _ = line.out.send(FromWorker::Ready);
    let Some(timetable) = shared.gate.wait() else { return WorkerEnd::Complete };
    let clock = shared.control.clock();
    wake_on_time();
    let mut pages = Pages::open(timetable, line, first);
    let end = drive(&mut state, &mut backend, &clock, shared.control, &mut pages);
    if let (Some(contents), Ok(mut findings)) = (backend.contents(), shared.findings.lock()) {
        findings.add(contents.findings(|file| shared.targets.path(file)));
    }
    match end {
        Ok(()) if state.failed() => WorkerEnd::AmountFailed,
        Ok(()) => WorkerEnd::Complete,
        Err(error) => {
            // Requests may be under way: the kernel would write into memory that is somebody else's by then.
            std::mem::forget(backend);
            WorkerEnd::Broken(EngineError::worker("wait for its requests", error))
        }
    }
}

/// Goes to the CPUs of the plan, before the worker's memory is allocated: it then lies near them.
fn settle(plan: &HostPlan, worker: u32) {
    if plan.cpus.is_empty() {
        return;
    }
    let mut set = CpuSet::new();
    let own = plan.cpus[worker as usize % plan.cpus.len()];
    let usable = |cpu: &&u32| (**cpu as usize) < CpuSet::MAX_CPU;
    match plan.own_cpu && usable(&&own) {
        true => set.set(own as usize),
        false => plan.cpus.iter().filter(usable).for_each(|cpu| set.set(*cpu as usize)),
    }
    // A control group may forbid them; then the worker runs where it may.
    let _ = sched_setaffinity(None, &set);
}

/// Asks for timers as exact as the kernel has them, instead of the 50 µs that it allows itself by default.
fn wake_on_time() {
    // SAFETY: sets a property of this thread only; where it is refused, sleeps are a little longer.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

/// Makes durable what was written; part of what was sent to the target, so it is counted like everything else.
fn sync_files(targets: &OpenTargets, control: &Control) -> OpSample {
    let clock = control.clock();
    let mut latency = Histogram::new();
    let mut errors: Vec<(i32, u64)> = Vec::new();
    for file in targets.files() {
        let start_ns = clock.now_ns();
        match rustix::fs::fdatasync(file) {
            Ok(()) => latency.record(clock.now_ns() - start_ns),
            Err(error) => match errors.iter_mut().find(|(errno, _)| *errno == error.raw_os_error()) {
                Some((_, count)) => *count += 1,
                None => errors.push((error.raw_os_error(), 1)),
            },
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
