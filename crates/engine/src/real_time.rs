//! Runs one stage in real time: starts the workers together, collects, waits for the last or gives
//! it up.

use crate::clock::Clock;
use crate::collector::Collector;
use crate::contents::Findings;
use crate::control::Control;
use crate::error::EngineError;
use crate::outcome::StageOutcome;
use crate::replay::Replays;
use crate::targets::{OpenTargets, purge};
use crate::threads::heart::Heart;
use crate::threads::kernel_workers::Helpers;
use crate::threads::pinning::Seats;
use crate::threads::shared::Shared;
use crate::threads::start_gate::Gate;
use crate::threads::{self, Member};
use crate::timetable::Timetable;
use crate::worker::driver::{FromWorker, WorkerEnd};
use crate::worker::flushes::{Flushes, is_probed};
use crate::worker::stuck::{Patience, Stuck, targets_of};
use crate::worker::turns::Turns;
use crate::{page_cache, zones};
use model::choices::Backend;
use model::event::{Flush, MOST_FLUSHES, Pause};
use model::note::Carried;
use model::plan::{HostPlan, HostStage, Stop, Target, Work, Worker};
use model::sample::OpSample;
use model::units::Nanos;
use model::{Fact, IntervalSample, Note, StageKind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How often a stage looks whether its patience is over.
const LOOK: Duration = Duration::from_millis(50);

/// Messages for which each worker has room on its way to the collector. The room is there before
/// the load begins, because a queue that grows allocates on the workers' threads; a worker that
/// finds it full waits, but then the collector is dozens of intervals late.
const ROOM: usize = 64;

/// A probe of flushes may take so much longer than the patience: a host that takes 30 s longer
/// counts as lost.
const PROBE_LONGER: Nanos = Nanos::seconds(15);

/// Asks when the stage is to begin, as soon as all of its workers are set up: an instant on the
/// control's clock, or `None` to call it off.
pub type When<'a> = &'a mut dyn FnMut() -> Option<u64>;

/// Runs `stage` on `backend`, telling `sink` each interval as soon as all workers have left it.
/// Once all workers are ready, `when` says when they begin.
///
/// # Errors
/// When a worker could not be set up or its backend broke. What was recorded until then was told.
pub(crate) fn run_on(
    targets: &OpenTargets,
    backend: Backend,
    stage: &HostStage,
    control: &Control,
    when: When<'_>,
    sink: &mut dyn FnMut(IntervalSample),
) -> Result<StageOutcome, EngineError> {
    let plan = targets.plan();
    let shared = Arc::new(shared(targets, backend, stage, control)?);
    let before = match evicted_before(&shared) {
        Before::Stuck => return Ok(stuck_before(&shared)),
        Before::Evicted(before) => before,
    };
    let (out, inbox) = mpsc::sync_channel(ROOM * stage.workers.len().max(1));
    let crew = threads::wait_until_ready(&shared, threads::start(&shared, &out)?, &inbox)?;
    drop(out);
    // Also of what watches and collects.
    let _aside = shared.seats.make_way(stage.workers.len());
    let (heart, start_ns) = match Heart::start(control).map(|heart| (heart, when())) {
        Ok((heart, Some(start_ns))) => (heart, start_ns),
        ended => {
            threads::call_off(&shared, crew);
            let watched = |error| EngineError::worker("be watched by a thread of its own", error);
            return ended.map(|_| StageOutcome::called_off()).map_err(watched);
        }
    };
    let timetable = begin(&shared, plan, start_ns);
    heart.load_begins(timetable.start_ns);
    let mut collector = Collector::new(stage, plan.host, timetable);
    let mut helpers =
        Helpers::of(if backend == Backend::IoUring { numbers(&crew) } else { Vec::new() });
    let mut ends =
        collect(&mut collector, &inbox, &crew, &mut helpers, control, timetable.patience, sink);
    ends.pauses = heart.end();
    let carried = helpers.carried().filter(|_| stage.kind == StageKind::Measure);
    drop(helpers);
    if ends.stuck == 0 {
        threads::dismiss(crew);
    }
    let complete =
        ends.broken.is_none() && ends.stuck == 0 && !ends.failed && !control.is_stopped();
    let after = flushed(&shared, &mut ends, complete, timetable.patience);
    let now_ns = control.clock().now_ns();
    let left = collector.finish(after, now_ns, sink);
    // Every request is back and booked: what follows is in no rate.
    let is_probed = complete && is_probed(plan, stage);
    let flushes = if is_probed { probe(&shared, timetable) } else { Vec::new() };
    if let Some(error) = ends.broken {
        return Err(error);
    }
    let stuck = stuck(plan, stage, &ends, now_ns.saturating_sub(control.stop_at_ns()));
    let mut findings = findings(&shared, carried);
    findings.extend(before.into_iter().flat_map(|before| page_cache::after(before, plan, stage)));
    if complete {
        purge::reserve(plan, stage, &shared.files)?;
        findings.extend(purge::notes(plan, stage));
    }
    Ok(StageOutcome {
        interrupted: control.is_stopped(),
        failed: ends.failed,
        stuck,
        degraded: std::mem::take(&mut *locked(&shared.degraded)),
        findings,
        late_ns: shared.late_ns.load(Ordering::Relaxed),
        left,
        pauses: ends.pauses,
        flushes,
    })
}

/// What the target had not answered after so long.
fn stuck(plan: &HostPlan, stage: &HostStage, ends: &Ends, waited_ns: u64) -> Option<Stuck> {
    (ends.stuck > 0).then(|| Stuck {
        requests: ends.stuck,
        targets: targets_of(plan, &pick(&stage.workers, &ends.stuck_workers)),
        waited: Nanos(waited_ns),
    })
}

/// What the threads of a stage share.
fn shared(
    targets: &OpenTargets,
    backend: Backend,
    stage: &HostStage,
    control: &Control,
) -> Result<Shared, EngineError> {
    let plan = targets.plan();
    let (own, refused) = targets.own_files(stage)?;
    let files = targets.files();
    let is_simulated = targets.world().is_some();
    let seats = Seats::of(plan);
    let shared_cpus = seats.shared(stage.workers.len());
    let zones = zones::of_stage(plan, stage, &files, is_simulated, targets.zones())?;
    Ok(Shared {
        files,
        own,
        backend,
        world: targets.world().cloned(),
        plan: targets.shared_plan(),
        contents: targets.contents(),
        stage: stage.clone(),
        control: control.clone(),
        keep_raw: plan.engine.raw_latencies,
        gate: Gate::default(),
        degraded: Mutex::new(refused.into_iter().chain(shared_cpus).collect()),
        findings: Mutex::new(Findings::default()),
        late_ns: AtomicU64::new(0),
        trees: targets.trees(),
        ledgers: targets.ledgers(),
        files_left: Mutex::default(),
        bounds: targets.bounds().clone(),
        seats,
        turns: Turns::of(stage, true),
        zones,
        bookmarks: targets.bookmarks(),
        replays: Mutex::new(Replays::default()),
    })
}

/// What became of the page cache before a stage.
enum Before {
    /// It was emptied, or there was no need.
    Evicted(Option<page_cache::Before>),
    /// The system does not answer.
    Stuck,
}

/// Empties the page cache where a stage reads through it.
fn evicted_before(shared: &Arc<Shared>) -> Before {
    if !page_cache::is_read_through(&shared.stage, &shared.files) {
        return Before::Evicted(None);
    }
    let (ours, control) = (shared.clone(), &shared.control);
    control.begin_stage(shared.stage.stage, control.clock().now_ns(), u64::MAX);
    let evict = move || page_cache::evict(&ours.plan, &ours.stage, &ours.files);
    let patience = Patience(shared.plan.engine.patience);
    match on_own_thread(control, patience, false, evict) {
        None => Before::Stuck,
        before => Before::Evicted(before),
    }
}

/// The flush behind a load that came to its end, if one is asked for.
fn flushed(
    shared: &Arc<Shared>,
    ends: &mut Ends,
    complete: bool,
    patience: Patience,
) -> Option<OpSample> {
    if !complete || !flushes_after(&shared.stage) {
        return None;
    }
    let sample = sync_files(shared, patience);
    match &sample {
        Some(sample) => ends.failed |= sample.error_count() > 0,
        None => {
            ends.stuck = 1;
            ends.stuck_workers = (0..shared.stage.workers.len() as u32).collect();
        }
    }
    sample
}

/// What workers found in contents, what they played again, the ledger of their files, and what the
/// kernel's threads `carried`.
fn findings(shared: &Shared, carried: Option<Carried>) -> Vec<Note> {
    let (stage, host) = (shared.stage.stage, shared.plan.host);
    let mut findings = std::mem::take(&mut *locked(&shared.findings)).notes(stage, host);
    let note = |fact| Note { stage: Some(stage), host, fact };
    findings.extend(locked(&shared.replays).take().map(Fact::Replayed).map(note));
    let ledgers = locked(&shared.files_left).of_all(shared.stage.workers.len());
    findings.extend(ledgers.into_iter().map(Fact::Ledger).map(note));
    findings.extend(carried.map(Fact::Carried).map(note));
    findings
}

/// What a worker that panicked held is whole: it writes in one step.
fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pick<'a>(workers: &'a [Worker], numbers: &[u32]) -> Vec<&'a Worker> {
    numbers.iter().filter_map(|number| workers.get(*number as usize)).collect()
}

/// Lets all workers go at `start_ns`, or now where that is over.
fn begin(shared: &Shared, plan: &HostPlan, start_ns: u64) -> Timetable {
    let now_ns = shared.control.clock().now_ns();
    let late_ns = now_ns.saturating_sub(start_ns);
    // No sample may reach back to where no load was.
    let start_ns = start_ns.max(now_ns);
    let stop_at_ns =
        shared.stage.stop().time().map_or(u64::MAX, |time| start_ns.saturating_add(time.0));
    shared.control.begin_stage(shared.stage.stage, start_ns, stop_at_ns);
    let timetable = Timetable {
        start_ns,
        late_ns,
        interval_ns: plan.interval.0.max(1),
        patience: Patience(plan.engine.patience),
    };
    shared.gate.open(timetable);
    timetable
}

/// How the workers of a stage ended.
#[derive(Default)]
struct Ends {
    failed: bool,
    broken: Option<EngineError>,
    /// Requests that were given up, and whose they were.
    stuck: u32,
    stuck_workers: Vec<u32>,
    /// When nothing of this program ran while the load was on.
    pauses: Vec<Pause>,
}

/// The kernel's numbers of the workers' threads. All have said theirs, or the stage would not have
/// begun.
fn numbers(crew: &[Member]) -> Vec<i32> {
    crew.iter()
        .map(|member| member.number().map_or(0, |number| number.as_raw_nonzero().get()))
        .collect()
}

/// Takes in what the workers say until the last is done, or until nothing more can be expected of
/// those that are left.
fn collect(
    collector: &mut Collector,
    inbox: &Receiver<FromWorker>,
    crew: &[Member],
    helpers: &mut Helpers,
    control: &Control,
    patience: Patience,
    sink: &mut dyn FnMut(IntervalSample),
) -> Ends {
    let mut ends = Ends::default();
    let mut silent: Vec<u32> = (0..crew.len() as u32).collect();
    while !silent.is_empty() {
        let (now_ns, stop_at_ns) = (control.clock().now_ns(), control.stop_at_ns());
        let members = crew.iter().map(Member::outstanding);
        control.tell_waiting(collector.look(now_ns, stop_at_ns, members, true));
        match inbox.recv_timeout(LOOK) {
            Ok(FromWorker::Left { worker, mut interval, now_in }) => {
                helpers.look(|| control.clock().now_ns());
                helpers.add_to(&mut interval.cpu, worker);
                collector.take(worker, &interval, now_in, sink);
                interval.clear();
                // A worker that has ended takes nothing back, and one that made itself more pages
                // has enough.
                let _ = crew[worker as usize].back.try_send(interval);
            }
            Ok(FromWorker::Ready { .. }) => {}
            Ok(FromWorker::Done { worker, end }) => {
                silent.retain(|number| *number != worker);
                crew[worker as usize].outstanding().ended();
                match end {
                    WorkerEnd::Complete => {}
                    WorkerEnd::AmountFailed => ends.failed = true,
                    WorkerEnd::Broken(error) => ends.broken = Some(error),
                    WorkerEnd::Stuck { requests } => {
                        ends.stuck += requests;
                        ends.stuck_workers.push(worker);
                    }
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                helpers.look_sometimes(|| control.clock().now_ns());
                if patience.is_over_for_silent(control.stop_at_ns(), control.clock().now_ns()) {
                    ends.stuck += silent
                        .iter()
                        .map(|worker| crew[*worker as usize].outstanding().requests().max(1))
                        .sum::<u32>();
                    ends.stuck_workers.append(&mut silent);
                }
            }
            // A worker that panicked: whoever takes the crew back hears of it.
            Err(RecvTimeoutError::Disconnected) => silent.clear(),
        }
    }
    ends
}

/// Whether the files are flushed once all workers are done: unless each of them has done that for
/// itself.
fn flushes_after(stage: &HostStage) -> bool {
    match stage.stop() {
        // Nothing that the trace has not.
        _ if stage.works.iter().any(|work| work.trace.is_some()) => false,
        Stop::After(_) | Stop::Steady(_) => false,
        Stop::Amount => stage.works.iter().any(Work::writes),
        Stop::Once(once) => !once.fsync && stage.works.iter().any(Work::writes),
    }
}

/// A stage that could not begin, because a target did not answer before it.
fn stuck_before(shared: &Shared) -> StageOutcome {
    let workers: Vec<&Worker> = shared.stage.workers.iter().collect();
    let waited = Nanos(shared.control.clock().now_ns().saturating_sub(shared.control.stop_at_ns()));
    let stuck = Some(Stuck { requests: 1, targets: targets_of(&shared.plan, &workers), waited });
    StageOutcome { stuck, ..StageOutcome::called_off() }
}

/// Makes durable what was written; part of what was sent to the target, so it is counted like
/// everything else. `None` if the target had not answered when the stage was stopped and the
/// patience was over.
fn sync_files(shared: &Arc<Shared>, patience: Patience) -> Option<OpSample> {
    let theirs = shared.clone();
    on_own_thread(&shared.control, patience, false, move || sync_here(&theirs))
}

/// How long each target takes to make durable what the load wrote. One that has not ended when the
/// patience and [`PROBE_LONGER`] are over, or when somebody stops the run, is left to itself: it is
/// no request of the load, and nothing waits for it.
fn probe(shared: &Arc<Shared>, timetable: Timetable) -> Vec<Flush> {
    let since_start = move |now_ns: u64| now_ns.saturating_sub(timetable.start_ns);
    let at_ns = since_start(shared.control.clock().now_ns());
    let patience = Patience(Nanos(timetable.patience.0.0.saturating_add(PROBE_LONGER.0)));
    let theirs = shared.clone();
    let flushed = on_own_thread(&shared.control, patience, true, move || {
        let clock = theirs.control.clock();
        let mut files = theirs.files.iter();
        let of_target = |target: &Target| {
            let at_ns = since_start(clock.now_ns());
            let files = files.by_ref().take(target.files.len());
            // All are flushed, whatever comes back of one.
            let errors: Vec<_> =
                files.filter_map(|file| rustix::fs::fdatasync(file).err()).collect();
            let took_ns = since_start(clock.now_ns()).saturating_sub(at_ns);
            let errno = errors.first().map_or(0, |error| error.raw_os_error());
            Flush { target: target.path.clone(), at_ns, took_ns, ended: true, errno }
        };
        let targets = theirs.plan.targets.iter().take(MOST_FLUSHES);
        targets.filter(|target| !target.files.is_empty()).map(of_target).collect()
    });
    flushed.unwrap_or_else(|| {
        let took_ns = since_start(shared.control.clock().now_ns()).saturating_sub(at_ns);
        let not_ended = |target: &Target| Flush {
            target: target.path.clone(),
            at_ns,
            took_ns,
            ended: false,
            errno: 0,
        };
        shared.plan.targets.iter().take(MOST_FLUSHES).map(not_ended).collect()
    })
}

/// Does `what` on a thread of its own, because nothing ends a wait in the kernel. `None` if it had
/// not come back when the stage was over and the patience was, too; or, if `stop_ends_it`, as soon
/// as somebody stops the stage.
fn on_own_thread<T: Send + 'static>(
    control: &Control,
    patience: Patience,
    stop_ends_it: bool,
    what: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (out, inbox) = mpsc::channel();
    let thread = thread::spawn(move || {
        // Whoever gave up does not listen.
        let _ = out.send(what());
    });
    loop {
        match inbox.recv_timeout(LOOK) {
            Ok(result) => return Some(result),
            Err(RecvTimeoutError::Timeout) => {
                let is_stopped = stop_ends_it && control.is_stopped();
                if is_stopped || patience.is_over(control.stop_at_ns(), control.clock().now_ns()) {
                    return None;
                }
            }
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => {
                    unreachable!("a thread that ends without a panic has sent what it was to send")
                }
            },
        }
    }
}

fn sync_here(shared: &Shared) -> OpSample {
    let clock = shared.control.clock();
    let mut flushes = Flushes::default();
    for file in shared.files.iter() {
        let start_ns = clock.now_ns();
        let outcome = rustix::fs::fdatasync(file);
        let took_ns = clock.now_ns().saturating_sub(start_ns);
        flushes.count(outcome.map(|()| took_ns).map_err(rustix::io::Errno::raw_os_error));
    }
    flushes.into_sample()
}
