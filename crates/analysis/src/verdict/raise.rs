//! What is missing for a better verdict: each step once, the one that sets the level first, with
//! the time that it takes.

use crate::doubts::Warning;
use crate::doubts::servers::one_machine;
use crate::layers::targets::OfTargets;
use crate::rows::row::ResultRow;
use crate::verdict::check::{Check, Found};
use catalogue::targets::Known;
use model::choices::CountersKept;
use model::plan::{PlannedTarget, Steady, Stop};
use model::{Level, Nanos, Plan, Record, StageKind};

model::plain_words! {
    /// One thing that would raise a verdict.
    pub enum Step {
        /// Run it on storage: a simulation, a backend that sends nothing, memory.
        RealTarget = "real-target",
        /// Run the machines with KVM: their processors are emulated.
        Kvm = "kvm",
        /// Load what lies below a layer that shows nothing.
        SeenTarget = "seen-target",
        /// Leave `--scale` out.
        FullScale = "full-scale",
        /// Let it run to its end.
        Complete = "complete",
        /// Write the layout first.
        Prepare = "prepare",
        /// Remove the cause of the first doubt.
        Doubt = "doubt",
        /// Flush behind the load.
        FlushEnd = "flush-end",
        /// Sync each file.
        SyncFiles = "sync-files",
        /// Measure until it is steady.
        UntilSteady = "until-steady",
        /// The same, for longer than was measured: in less it cannot be shown.
        LongerUntilSteady = "longer-until-steady",
        /// Condition it first.
        Precondition = "precondition",
        /// Measure longer.
        Longer = "longer",
        /// Measure a larger amount.
        LargerAmount = "larger-amount",
        /// Replay a longer trace.
        LongerTrace = "longer-trace",
        /// Record the kernels' counters.
        Counters = "counters",
        /// Load more than the caches hold.
        LargerFootprint = "larger-footprint",
        /// Ask for one rate all the time.
        OneRate = "one-rate",
    }
}

/// A step, and the time that it adds to a run at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raise {
    /// What to do.
    pub step: Step,
    /// What it adds to a run at least; `None` where nobody knows, or it is no time.
    pub time: Option<Nanos>,
}

impl Step {
    /// The step, where it takes no time that is known.
    pub fn in_no_time(self) -> Raise {
        Raise { step: self, time: None }
    }
}

/// How long `Longer`, `LongerUntilSteady` and `Precondition` measure or condition each point.
const LONGER: Nanos = Nanos::seconds(300);
const UNTIL_STEADY: Nanos = Nanos::seconds(60);
const PRECONDITION: Nanos = Nanos::seconds(60);

/// The least time in which a point can show that it is steady.
pub(crate) fn least_steady(plan: &Plan) -> Nanos {
    Nanos(plan.interval.0.saturating_mul(Steady::ROUNDS * Steady::LEAST_IN_ROUND))
}

/// Whether a run like this could be begun with `--quotable`: it was not, and neither a replay, a
/// command of the user's nor a load of what is there has it.
pub(crate) fn may_be_asked(plan: &Plan) -> bool {
    let is_given = plan.existing || plan.origin.words.iter().any(|word| word == "--quotable");
    let mut works = plan.stages.iter().flat_map(|stage| &stage.works);
    !is_given && works.all(|work| work.trace.is_none() && work.command.is_none())
}

/// Whether more can be loaded in a stage: neither the requests of a trace grow with their target,
/// nor files without bytes with their number, nor what is there.
pub(crate) fn can_grow(plan: &Plan, stage: u32) -> bool {
    let works = plan.stages.get(stage as usize).into_iter().flat_map(|stage| &stage.works);
    !plan.existing
        && plan.footprint_of(stage).0 > 0
        && works.into_iter().all(|work| work.trace.is_none())
}

/// A step with the time that it adds to the run of `plan`.
pub fn timed(plan: &Plan, step: Step) -> Raise {
    let each = match step {
        Step::UntilSteady => Some(least_steady(plan)),
        Step::LongerUntilSteady => Some(UNTIL_STEADY),
        Step::Longer => Some(LONGER),
        Step::Precondition => Some(PRECONDITION),
        _ => None,
    };
    let points = plan.points.len().max(1) as u64;
    Raise { step, time: each.map(|each| Nanos(each.0.saturating_mul(points))) }
}

/// A result whose verdict is to be raised.
pub(crate) struct Case<'a> {
    pub(crate) record: &'a Record,
    pub(crate) row: &'a ResultRow,
    pub(crate) checks: &'a [(Check, Found)],
    /// Its doubts, each with how far it lets the figure be trusted.
    pub(crate) doubts: &'a [(Level, &'a Warning)],
    pub(crate) known: &'a OfTargets,
}

/// How much a step is worth: those that make it a measurement come first, then what was refuted,
/// then what is missing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    SetsLevel,
    Refuted,
    Missing,
}

/// All that is missing, the step that sets the level first; not empty.
pub(crate) fn steps(case: &Case<'_>) -> Vec<Raise> {
    let mut found = of_target(case);
    found.extend(of_doubts(case));
    found.extend(of_time(case));
    found.extend(of_durability(case));
    found.extend(of_caches(case));
    found.sort_by_key(|(rank, _)| *rank);
    let mut steps: Vec<Raise> = Vec::new();
    for (_, step) in found {
        if !steps.iter().any(|known| known.step == step) {
            steps.push(timed(&case.record.plan, step));
        }
    }
    if steps.is_empty() {
        steps.push(Step::Doubt.in_no_time());
    }
    steps
}

/// Steps that make it a measurement at all.
fn of_target(case: &Case<'_>) -> Vec<(Rank, Step)> {
    let Case { record, row, known, .. } = case;
    let is_simulated = |target: &model::plan::Target| target.kind == PlannedTarget::Simulated;
    let mut planned = record.plan.hosts.iter().flat_map(|host| &host.targets);
    let is_memory = known.best == Level::NotAMeasurement;
    let is_played = one_machine(&record.plan).is_some();
    let sends_nothing = record.plan.backend.sends_nothing();
    let is_none = sends_nothing || is_memory || is_played || planned.any(is_simulated);
    let has = |is: fn(&Warning) -> bool| row.warnings.iter().any(is);
    let steps = [
        (is_none, Step::RealTarget),
        (crate::layers::guests::is_emulated(record), Step::Kvm),
        (!record.plan.scale.is_full(), Step::FullScale),
        (!row.complete || row.ios == 0, Step::Complete),
        (has(|doubt| matches!(doubt, Warning::NotPrepared)), Step::Prepare),
    ];
    steps.into_iter().filter(|(is, _)| *is).map(|(_, step)| (Rank::SetsLevel, step)).collect()
}

/// The step of doubts that have none of their own.
fn of_doubts(case: &Case<'_>) -> Option<(Rank, Step)> {
    let is_open = |doubt: &Warning| {
        !matches!(
            doubt,
            Warning::Simulated
                | Warning::OneMachine { .. }
                | Warning::NothingCompleted
                | Warning::Incomplete { .. }
                | Warning::Scaled { .. }
                | Warning::NotPrepared
                | Warning::NotPreconditioned
                | Warning::NotSteady { .. }
                | Warning::Unsettled(_)
                | Warning::Cached { .. }
                | Warning::ReadFromMemory { .. }
                | Warning::VolatileCache { .. }
                | Warning::FlushOwed { .. }
                | Warning::FewSamples { .. }
                | Warning::ThinTail { .. }
        )
    };
    let open =
        case.doubts.iter().filter(|(level, doubt)| *level < Level::Quotable && is_open(doubt));
    let least = open.map(|(level, _)| *level).min()?;
    let rank = if least == Level::NotAMeasurement { Rank::SetsLevel } else { Rank::Missing };
    Some((rank, Step::Doubt))
}

/// Whether a check is not shown, and how much that is worth.
fn lacks(case: &Case<'_>, check: Check) -> Option<Rank> {
    let found = case.checks.iter().find(|(one, _)| *one == check).map(|(_, found)| *found);
    match found {
        Some(Found::Missing) => Some(Rank::Missing),
        Some(Found::Refuted) => Some(Rank::Refuted),
        _ => None,
    }
}

/// How a row comes to last longer.
fn longer(case: &Case<'_>) -> Step {
    let stop = case.record.plan.stages.get(case.row.stage as usize).map(model::plan::Stage::stop);
    match case.row.done.is_some() || stop.is_some_and(|stop| stop.once().is_some()) {
        _ if case.row.works.iter().any(|work| work.trace.is_some()) => Step::LongerTrace,
        true => Step::LargerAmount,
        false => Step::Longer,
    }
}

/// Steps for the checks that take time: intervals and steady state.
fn of_time(case: &Case<'_>) -> Option<(Rank, Step)> {
    let Case { record, row, .. } = case;
    let (steady, intervals) = (lacks(case, Check::Steady), lacks(case, Check::Intervals));
    let rank = steady.into_iter().chain(intervals).min()?;
    let stop = record.plan.stages.get(row.stage as usize).map(model::plan::Stage::stop);
    let until_steady = stop.is_some_and(|stop| stop.steady().is_some());
    let is_short = stop.and_then(Stop::time).is_some_and(|time| time < least_steady(&record.plan));
    let is_conditioned =
        record.plan.stages.iter().any(|stage| stage.kind == StageKind::Precondition);
    let lacks_steady = steady.is_some();
    let steps = [
        (is_command(case), Step::Longer),
        (longer(case) != Step::Longer, longer(case)),
        (lacks_steady && !until_steady && is_short, Step::LongerUntilSteady),
        (lacks_steady && !until_steady, Step::UntilSteady),
        (intervals.is_some() && row.is_changing(), Step::OneRate),
        (lacks_steady && !is_conditioned, Step::Precondition),
        (true, Step::Longer),
    ];
    steps.into_iter().find(|(is, _)| *is).map(|(_, step)| (rank, step))
}

/// Whether a command of the user's made the load: it alone knows when it is steady, and flushes.
fn is_command(case: &Case<'_>) -> bool {
    let stage = case.record.plan.stages.get(case.row.stage as usize);
    stage.is_some_and(|stage| stage.works.iter().any(|work| work.command.is_some()))
}

fn of_durability(case: &Case<'_>) -> Vec<(Rank, Step)> {
    let Some(rank) = lacks(case, Check::Durability) else { return Vec::new() };
    if rank == Rank::Refuted {
        // It was flushed, and that failed or was ignored: the doubt says how.
        return vec![(rank, Step::Doubt)];
    }
    let is_instant = |doubt: &Warning| matches!(doubt, Warning::FlushInstant { .. });
    let ends = case.record.stage(case.row.stage).into_iter().flat_map(|stage| &stage.ends);
    let is_flushed = ends.flat_map(|end| &end.flushes).next().is_some();
    let steps = [
        (case.known.durability == Known::Never, Step::SeenTarget),
        (case.row.warnings.iter().any(is_instant), Step::Doubt),
        (case.row.is_metadata(), Step::SyncFiles),
        (!case.row.is_metadata() && !is_flushed && !is_command(case), Step::FlushEnd),
    ];
    steps.into_iter().filter(|(is, _)| *is).map(|(_, step)| (rank, step)).collect()
}

fn of_caches(case: &Case<'_>) -> Vec<(Rank, Step)> {
    let Some(rank) = lacks(case, Check::Caches) else { return Vec::new() };
    let plan = &case.record.plan;
    let hosts = case.record.plan.hosts.len();
    let is_counted = case.record.stage(case.row.stage).is_some_and(|one| one.is_counted_on(hosts));
    // Where they were asked for and there are none, the stage was too short for them.
    let is_unasked = !is_counted && plan.keep.counters == CountersKept::None;
    let is_elsewhere = |doubt: &Warning| {
        matches!(doubt, Warning::NotCarried { .. } | Warning::LessAtDevice { .. })
    };
    let is_uncounted = rank == Rank::Missing && !is_counted;
    let step = match rank {
        Rank::Refuted if case.row.warnings.iter().any(is_elsewhere) => Some(Step::Doubt),
        _ if case.known.best == Level::NotAMeasurement => Some(Step::RealTarget),
        _ if case.known.caches == Known::Never => Some(Step::SeenTarget),
        _ if is_uncounted && !is_unasked => Some(longer(case)),
        _ if is_uncounted && case.known.caches == Known::Seen => None,
        _ => can_grow(plan, case.row.stage).then_some(Step::LargerFootprint),
    };
    let counters = is_unasked.then_some(Step::Counters);
    counters.into_iter().chain(step).map(|step| (rank, step)).collect()
}
