//! Which backend carries a stage, where that is not decided: tries both ways for a moment, and
//! chooses.
//!
//! A suite with `backend = "auto"` has the load itself tried before each stage, by rate. Where
//! nobody named a backend, nothing is tried but what needs it: targets whose requests a ring hands
//! to the kernel's own threads, because they know none that do not wait (tmpfs). There, a thread
//! costs more than the call that it makes, unless the target is slow enough for the depth to count.
//! These trials are short, read only, and weigh CPU time as much as rate.

use crate::backend::always_waits;
use crate::clock::Clock;
use crate::control::Control;
use crate::error::EngineError;
use crate::generator::Bookmarks;
use crate::outcome::StageOutcome;
use crate::real_time::run_on;
use crate::targets::OpenTargets;
use model::choices::Backend;
use model::note::{Choice, CpuOfEach, Fact};
use model::plan::{HostStage, Stop, Work};
use model::rng::derive;
use model::units::{Bytes, Nanos, Percent};
use model::{IntervalSample, Note, Phase, StageKind};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many trials each way has, taking turns: what disturbs the machine for a moment disturbs
/// both.
const ROUNDS: u64 = 2;
/// How much better one request at a time has to be: two such short trials of the same thing differ
/// by a few percent.
const MARGIN: f64 = 1.05;
/// Sets the trials' random choices apart from those of the stage: blocks that a trial has touched
/// are cached.
const SEED_PATH: u64 = u64::from_be_bytes(*b"trials\0\0");

/// What is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trial {
    /// The load itself.
    Load,
    /// Reads of what it reads or writes.
    Reads,
}

impl Trial {
    /// How long each takes.
    fn length(self) -> Nanos {
        match self {
            Trial::Load => Nanos::millis(100),
            Trial::Reads => Nanos::millis(25),
        }
    }

    /// The stage as a trial: as long as one, with random choices of its own.
    fn of(self, stage: &HostStage, round: u64) -> HostStage {
        let mut stage = stage.clone();
        for work in &mut stage.works {
            work.stop = Stop::After(self.length());
            if self == Trial::Reads {
                *work = reads(work);
            }
        }
        for worker in &mut stage.workers {
            worker.seed = derive(worker.seed, &[SEED_PATH, round]);
        }
        stage
    }
}

/// The same places and sizes, of which nothing is written.
fn reads(work: &Work) -> Work {
    let sizes = if work.reads() { &work.block_size } else { &work.write_block_size };
    Work {
        block_size: sizes.clone(),
        read: Percent::ALL,
        trim: Percent::ZERO,
        fsync_every: 0,
        most: None,
        share: 0,
        ..work.clone()
    }
}

/// What the trials of one way came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tried {
    /// Requests that succeeded, and their bytes, while the load was on.
    ios: u64,
    bytes: u64,
    /// How long it was on.
    load_ns: u64,
    /// CPU time of the workers, and of the kernel's threads for them.
    cpu_ns: u64,
}

impl Tried {
    fn add(&mut self, sample: &IntervalSample) {
        if sample.phase == Phase::Load {
            self.ios += sample.ops.iter().map(|op| op.ios).sum::<u64>();
            self.bytes += sample.ops.iter().map(|op| op.bytes).sum::<u64>();
            self.load_ns += sample.length_ns;
            let workers = sample.workers.iter();
            self.cpu_ns += workers.map(|one| one.cpu_user_ns + one.cpu_system_ns).sum::<u64>();
        }
    }

    /// Rounded; 0 where there was no time.
    fn iops(self) -> u64 {
        let per_second = u128::from(self.ios) * 1_000_000_000;
        per_second.checked_div(u128::from(self.load_ns)).map_or(0, |iops| iops as u64)
    }

    /// CPU time for a request.
    fn cpu_of_each(self) -> Nanos {
        Nanos(self.cpu_ns.checked_div(self.ios).unwrap_or(0))
    }

    /// What speaks for this way: the rate, of reads alone for what a request costs.
    fn merit(self, trial: Trial) -> f64 {
        let cost = match trial {
            Trial::Load => 1,
            Trial::Reads => self.cpu_of_each().0.max(1),
        };
        self.iops() as f64 / cost as f64
    }
}

/// What the trials of a stage led to.
pub(crate) enum Trials {
    /// The load is to run on this backend; what the trials found and what speaks for it, for the
    /// stage's own findings.
    Chosen(Backend, Vec<Note>),
    /// A trial ended so that nothing else can begin.
    Over(StageOutcome),
}

/// How `stage` is to be tried first: not where nothing is left to choose, not what goes through the
/// layout once, with its own depth, and not where whole files are worked on, which goes to no
/// backend and would find other files after a trial.
pub(crate) fn wanted(targets: &OpenTargets, stage: &HostStage) -> Option<Trial> {
    if targets.world().is_some()
        || targets.backend() == Backend::Sync
        || matches!(stage.kind, StageKind::Purge | StageKind::Prepare | StageKind::Verify)
        || stage.works.iter().any(|work| work.metadata.is_some())
    {
        return None;
    }
    let engine = &targets.plan().engine;
    let is_carried = || targets.files().iter().all(always_waits);
    match (engine.backend, targets.backend()) {
        (Backend::Auto, _) => Some(Trial::Load),
        (_, Backend::IoUring) if engine.left_open && is_carried() => Some(Trial::Reads),
        _ => None,
    }
}

/// Tries `stage` with the backend of `targets`, which keeps the whole depth outstanding, and with
/// `pread` and `pwrite`.
///
/// # Errors
/// Those of a stage ([`crate::stage`]).
pub(crate) fn choose(
    targets: &OpenTargets,
    stage: &HostStage,
    trial: Trial,
    control: &Control,
) -> Result<Trials, EngineError> {
    let deep = targets.backend();
    let (bookmarks, is_audited) = (targets.bookmarks(), targets.plan().engine.contents.verify);
    let before = match trial {
        // Other sizes than the stage's: it has no place that these could go on from.
        Trial::Reads => Some(std::mem::take(&mut *lock(&bookmarks))),
        // What is found again after a crash follows from what is on record, and a trial is not.
        Trial::Load => is_audited.then(|| lock(&bookmarks).clone()),
    };
    let (mut of_deep, mut of_sync) = (Tried::default(), Tried::default());
    let mut findings = Vec::new();
    for round in 0..2 * ROUNDS {
        let (backend, tried) =
            if round % 2 == 0 { (deep, &mut of_deep) } else { (Backend::Sync, &mut of_sync) };
        // At once: the hosts of a fleet meet when all of them have chosen.
        let mut when = || Some(control.clock().now_ns());
        let mut sink = |sample: IntervalSample| tried.add(&sample);
        let outcome =
            run_on(targets, backend, &trial.of(stage, round), control, &mut when, &mut sink)?;
        if outcome.interrupted || outcome.stuck.is_some() {
            return Ok(Trials::Over(outcome));
        }
        if trial == Trial::Load {
            findings.extend(outcome.findings);
        }
    }
    if let Some(before) = before {
        *lock(&bookmarks) = before;
    }
    let choice = judge(stage, trial, deep, of_deep, of_sync);
    let (taken, fact) = (choice.taken, Fact::BackendChosen(choice));
    findings.push(Note { stage: Some(stage.stage), host: targets.plan().host, fact });
    Ok(Trials::Chosen(taken, findings))
}

fn lock(bookmarks: &Mutex<Bookmarks>) -> MutexGuard<'_, Bookmarks> {
    bookmarks.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Which way the load of `stage` is to go, and why. With `sync`, a worker has one request
/// outstanding, so that it has to be better by more than chance to be worth the depth.
fn judge(stage: &HostStage, trial: Trial, deep: Backend, of_deep: Tried, of_sync: Tried) -> Choice {
    // What a request costs never makes up for a lower rate.
    let is_slower = trial == Trial::Reads && of_sync.iops() < of_deep.iops();
    let is_better = !is_slower && of_sync.merit(trial) > of_deep.merit(trial) * MARGIN;
    let cpu = CpuOfEach { deep: of_deep.cpu_of_each(), sync: of_sync.cpu_of_each() };
    Choice {
        workloads: stage.works.iter().map(|work| work.workload.clone()).collect(),
        stage: stage.kind,
        taken: if is_better { Backend::Sync } else { deep },
        deep,
        deep_iops: of_deep.iops(),
        sync_iops: of_sync.iops(),
        rounds: ROUNDS,
        length: trial.length(),
        ios: of_deep.ios.saturating_add(of_sync.ios),
        bytes: Bytes(of_deep.bytes.saturating_add(of_sync.bytes)),
        cpu: (trial == Trial::Reads).then_some(cpu),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::choices::Access;

    fn stage() -> HostStage {
        HostStage { stage: 0, kind: StageKind::Measure, works: Vec::new(), workers: Vec::new() }
    }

    fn tried(ios: u64) -> Tried {
        Tried { ios, bytes: ios * 4096, load_ns: 200_000_000, cpu_ns: 0 }
    }

    #[test]
    fn one_request_at_a_time_has_to_be_faster_by_more_than_chance() {
        for (of_deep, of_sync, expected) in [
            (1000, 1060, Backend::Sync),
            (1000, 1050, Backend::IoUring),
            (1000, 1000, Backend::IoUring),
            (1000, 0, Backend::IoUring),
            (0, 1, Backend::Sync),
            (0, 0, Backend::IoUring),
            (u64::MAX / 4096, 1, Backend::IoUring),
        ] {
            let (of_deep, of_sync) = (tried(of_deep), tried(of_sync));
            let choice = judge(&stage(), Trial::Load, Backend::IoUring, of_deep, of_sync);
            assert_eq!(choice.taken, expected, "{of_deep:?} {of_sync:?}");
        }
        assert_eq!(
            judge(&stage(), Trial::Load, Backend::Libaio, tried(1), tried(1)).taken,
            Backend::Libaio
        );
        let none = Tried::default();
        let taken = judge(&stage(), Trial::Load, Backend::IoUring, none, none).taken;
        assert_eq!(taken, Backend::IoUring, "no time, no load");
    }

    #[test]
    fn the_choice_is_told_with_both_figures() {
        let choice = judge(&stage(), Trial::Load, Backend::IoUring, tried(100), tried(150));
        assert_eq!((choice.taken, choice.deep), (Backend::Sync, Backend::IoUring));
        assert_eq!((choice.deep_iops, choice.sync_iops), (500, 750));
        assert_eq!((choice.ios, choice.bytes), (250, Bytes::kib(1000)));
        assert_eq!(choice.cpu, None, "by rate alone");
    }

    #[test]
    fn where_nobody_named_a_backend_rate_counts_as_much_as_what_a_request_costs() {
        for (deep, sync, expected) in [
            ((1300, 3000), (1000, 1000), Backend::IoUring),
            ((1300, 3000), (1300, 1000), Backend::Sync),
            ((1000, 1000), (1040, 1000), Backend::IoUring),
            ((1000, 1000), (1000, 900), Backend::Sync),
            // A share over a network.
            ((32_000, 3000), (1000, 1000), Backend::IoUring),
            ((0, 0), (0, 0), Backend::IoUring),
        ] {
            let of = |(ios, each_ns)| Tried { cpu_ns: ios * each_ns, ..tried(ios) };
            let choice = judge(&stage(), Trial::Reads, Backend::IoUring, of(deep), of(sync));
            assert_eq!(choice.taken, expected, "{deep:?} {sync:?}");
            let cpu = CpuOfEach { deep: Nanos(deep.1), sync: Nanos(sync.1) };
            assert_eq!(choice.cpu, Some(cpu));
        }
    }

    #[test]
    fn a_trial_of_a_backend_that_nobody_named_writes_nothing() {
        let written = Work {
            write_block_size: model::load::SizeMix::single(Bytes::kib(64)),
            trim: Percent::of(10),
            fsync_every: 3,
            ..Work::simple(Bytes(4096), Percent::ZERO, Access::Random, 8, Stop::Amount)
        };
        let stage = HostStage { works: vec![written], ..stage() };
        let [work] = &Trial::Reads.of(&stage, 0).works[..] else { panic!("one work") };
        assert!(work.reads() && !work.writes() && !work.trims() && work.fsync_every == 0);
        assert_eq!((work.largest_block(), work.depth), (Bytes::kib(64), 8), "the same places");
        assert_eq!(work.stop, Stop::After(Nanos::millis(25)));
        let [work] = &Trial::Load.of(&stage, 0).works[..] else { panic!("one work") };
        assert!(work.writes() && work.trims());
    }
}
