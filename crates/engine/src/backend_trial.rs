//! `backend = "auto"`: tries the load itself both ways for a moment, and chooses.

use crate::clock::Clock;
use crate::control::Control;
use crate::error::EngineError;
use crate::generator::Bookmarks;
use crate::outcome::StageOutcome;
use crate::real_time::run_on;
use crate::targets::OpenTargets;
use model::choices::Backend;
use model::note::{Choice, Fact};
use model::plan::{HostStage, Stop};
use model::rng::derive;
use model::units::{Bytes, Nanos};
use model::{IntervalSample, Note, Phase, StageKind};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How long each trial takes.
const LENGTH: Nanos = Nanos::millis(100);
/// How many trials each way has, taking turns: what disturbs the machine for a moment disturbs
/// both.
const ROUNDS: u64 = 2;
/// How much faster one request at a time has to be, in hundredths: two such short trials of the
/// same thing differ by a few.
const MARGIN: u64 = 105;
/// Sets the trials' random choices apart from those of the stage: blocks that a trial has touched
/// are cached.
const SEED_PATH: u64 = u64::from_be_bytes(*b"trials\0\0");

/// What the trials of one way came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tried {
    /// Requests that succeeded, and their bytes, while the load was on.
    ios: u64,
    bytes: u64,
    /// How long it was on.
    load_ns: u64,
}

impl Tried {
    fn add(&mut self, sample: &IntervalSample) {
        if sample.phase == Phase::Load {
            self.ios += sample.ops.iter().map(|op| op.ios).sum::<u64>();
            self.bytes += sample.ops.iter().map(|op| op.bytes).sum::<u64>();
            self.load_ns += sample.length_ns;
        }
    }

    /// Rounded; 0 where there was no time.
    fn iops(self) -> u64 {
        let per_second = u128::from(self.ios) * 1_000_000_000;
        per_second.checked_div(u128::from(self.load_ns)).map_or(0, |iops| iops as u64)
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

/// Whether `stage` is to be tried first: not where nothing is left to choose, not what goes through
/// the layout once, with its own depth, and not where whole files are worked on, which goes to no
/// backend and would find other files after a trial.
pub(crate) fn is_wanted(targets: &OpenTargets, stage: &HostStage) -> bool {
    targets.plan().engine.backend == Backend::Auto
        && targets.world().is_none()
        && targets.backend() != Backend::Sync
        && !matches!(stage.kind, StageKind::Purge | StageKind::Prepare | StageKind::Verify)
        && stage.works.iter().all(|work| work.metadata.is_none())
}

/// Tries `stage` with the backend of `targets`, which keeps the whole depth outstanding, and with
/// `pread` and `pwrite`.
///
/// # Errors
/// Those of a stage ([`crate::stage`]).
pub(crate) fn choose(
    targets: &OpenTargets,
    stage: &HostStage,
    control: &Control,
) -> Result<Trials, EngineError> {
    let deep = targets.backend();
    let (bookmarks, is_audited) = (targets.bookmarks(), targets.plan().engine.contents.verify);
    // What is found again after a crash follows from what is on record, and a trial is not.
    let before = is_audited.then(|| lock(&bookmarks).clone());
    let (mut of_deep, mut of_sync) = (Tried::default(), Tried::default());
    let mut findings = Vec::new();
    for round in 0..2 * ROUNDS {
        let (backend, tried) =
            if round % 2 == 0 { (deep, &mut of_deep) } else { (Backend::Sync, &mut of_sync) };
        // At once: the hosts of a fleet meet when all of them have chosen.
        let mut when = || Some(control.clock().now_ns());
        let mut sink = |sample: IntervalSample| tried.add(&sample);
        let outcome =
            run_on(targets, backend, &short(stage, round), control, &mut when, &mut sink)?;
        if outcome.interrupted || outcome.stuck.is_some() {
            return Ok(Trials::Over(outcome));
        }
        findings.extend(outcome.findings);
    }
    if let Some(before) = before {
        *lock(&bookmarks) = before;
    }
    let choice = judge(stage, deep, of_deep, of_sync);
    let (taken, fact) = (choice.taken, Fact::BackendChosen(choice));
    findings.push(Note { stage: Some(stage.stage), host: targets.plan().host, fact });
    Ok(Trials::Chosen(taken, findings))
}

fn lock(bookmarks: &Mutex<Bookmarks>) -> MutexGuard<'_, Bookmarks> {
    bookmarks.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The stage as a trial: as long as one, with random choices of its own.
fn short(stage: &HostStage, round: u64) -> HostStage {
    let mut stage = stage.clone();
    stage.works.iter_mut().for_each(|work| work.stop = Stop::After(LENGTH));
    stage
        .workers
        .iter_mut()
        .for_each(|worker| worker.seed = derive(worker.seed, &[SEED_PATH, round]));
    stage
}

/// Which way the load of `stage` is to go, and why. With `sync`, a worker has one request
/// outstanding, so that it has to be faster by more than chance to be worth the depth.
fn judge(stage: &HostStage, deep: Backend, of_deep: Tried, of_sync: Tried) -> Choice {
    let (deep_iops, sync_iops) = (of_deep.iops(), of_sync.iops());
    let is_faster = u128::from(sync_iops) * 100 > u128::from(deep_iops) * u128::from(MARGIN);
    Choice {
        workloads: stage.works.iter().map(|work| work.workload.clone()).collect(),
        stage: stage.kind,
        taken: if is_faster { Backend::Sync } else { deep },
        deep,
        deep_iops,
        sync_iops,
        rounds: ROUNDS,
        length: LENGTH,
        ios: of_deep.ios.saturating_add(of_sync.ios),
        bytes: Bytes(of_deep.bytes.saturating_add(of_sync.bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage() -> HostStage {
        HostStage { stage: 0, kind: StageKind::Measure, works: Vec::new(), workers: Vec::new() }
    }

    fn tried(ios: u64) -> Tried {
        Tried { ios, bytes: ios * 4096, load_ns: 200_000_000 }
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
            assert_eq!(
                judge(&stage(), Backend::IoUring, tried(of_deep), tried(of_sync)).taken,
                expected,
                "{of_deep} {of_sync}"
            );
        }
        assert_eq!(judge(&stage(), Backend::Libaio, tried(1), tried(1)).taken, Backend::Libaio);
        let none = Tried::default();
        let taken = judge(&stage(), Backend::IoUring, none, none).taken;
        assert_eq!(taken, Backend::IoUring, "no time, no load");
    }

    #[test]
    fn the_choice_is_told_with_both_figures() {
        let choice = judge(&stage(), Backend::IoUring, tried(100), tried(150));
        assert_eq!((choice.taken, choice.deep), (Backend::Sync, Backend::IoUring));
        assert_eq!((choice.deep_iops, choice.sync_iops), (500, 750));
        assert_eq!((choice.ios, choice.bytes), (250, Bytes::kib(1000)));
    }
}
