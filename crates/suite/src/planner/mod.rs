//! Spec and testbed in, plan or refusals out. Pure: nothing is touched until the plan stands.

mod absent;
mod clients;
mod computed;
mod contents;
mod disks;
mod hosts;
mod late;
mod layout;
mod placement;
pub(crate) mod rate_shares;
mod refusal;
mod room;
mod rotation;
mod scenarios;
mod selection;
mod share;
mod shared_trees;
mod shares;
mod sizes;
mod stages;
mod trees;
mod trims;
mod zones;

pub use absent::without_hosts;
pub use clients::are_imagined;
pub use late::{may_join, presumed};
pub use placement::targets_of;
pub use refusal::{Refusal, RefusalKind, TooSmall};

use crate::checks::command::is_command;
use crate::{
    LayoutKind, PointSpec, PreconditionUntil, RoundsSpec, Scenario, Spec, Until, WorkloadKind,
    WorkloadSpec,
};
use computed::ComputedPoint;
use form::Auto;
use model::curve::Curve;
use model::note::{Adjusted, Fact, ScaledTime};
use model::plan::{
    FleetPolicy, HostPlan, Keep, Origin, Plan, PlanNote, Point, Prerun, Rounds, Steady, Stop,
    Target,
};
use model::scale::Scale;
use model::testbed::HostFacts;
use model::units::{Bytes, Nanos, Percent};

/// What a run is to be made of.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// A name that no other run has.
    pub run_id: &'a str,
    /// The suite.
    pub spec: &'a Spec,
    /// The factors for sizes and for times.
    pub scale: Scale,
    /// Load what stands at the targets, and write nothing.
    pub existing: bool,
    /// Devices that may be overwritten, as the user named them; they are targets too.
    pub destroy_data: &'a [GivenUp],
    /// The hosts with their targets.
    pub hosts: &'a [HostFacts],
}

/// What one scenario is to be made of.
#[derive(Clone, Copy, Debug)]
struct ScenarioRequest<'a> {
    run_id: &'a str,
    /// The suite: what all of its scenarios have in common.
    spec: &'a Spec,
    scenario: &'a Scenario,
    scale: Scale,
    existing: bool,
    destroy_data: &'a [GivenUp],
    /// The hosts with those of their targets that the scenario loads.
    hosts: &'a [HostFacts],
}

impl<'a> Request<'a> {
    fn of<'b>(&self, scenario: &'b Scenario, hosts: &'b [HostFacts]) -> ScenarioRequest<'b>
    where
        'a: 'b,
    {
        let Request { run_id, spec, scale, existing, destroy_data, .. } = *self;
        ScenarioRequest { run_id, spec, scenario, scale, existing, destroy_data, hosts }
    }
}

/// A device that its owner gave up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenUp {
    /// On which host; `None` for the only one.
    pub host: Option<String>,
    /// Its path there.
    pub device: String,
}

/// The number of a host, what it is, and its targets.
type Loaded<'a> = (usize, &'a HostFacts, Vec<Target>);

/// The greatest time of a stage that ends when it is steady, where the suite leaves it open, in
/// least times.
const AUTO_MOST: u64 = 12;
/// The shortest time that still gives a figure.
const LEAST_MEASURE: Nanos = Nanos::millis(100);
const LEAST_INTERVAL: Nanos = Nanos::millis(10);
/// Intervals of a stage whose time was shrunk.
const ENOUGH_INTERVALS: u64 = 60;

/// Decides everything.
///
/// # Errors
/// Every reason why this suite cannot run on these hosts, each with a remedy.
pub fn plan(request: &Request<'_>) -> Result<Plan, Vec<Refusal>> {
    let planned = if request.spec.has_named_scenarios() {
        scenarios::plan(request)
    } else {
        plan_alone(&request.of(request.spec.first_scenario(), request.hosts))
    };
    planned.map_err(told_once)
}

/// Each reason once, in the order in which they were found: what holds for several points, hosts or
/// scenarios is one reason.
fn told_once(refusals: Vec<Refusal>) -> Vec<Refusal> {
    let mut once: Vec<Refusal> = Vec::new();
    for refusal in refusals {
        if !once.contains(&refusal) {
            once.push(refusal);
        }
    }
    once
}

fn plan_alone(request: &ScenarioRequest<'_>) -> Result<Plan, Vec<Refusal>> {
    let (mut notes, mut refusals) = (Vec::new(), Vec::new());
    let hosts = clients::hosts(request, &mut notes);
    let (scenario, mut places) = placement::resolved(request.spec, request.scenario, &hosts)?;
    let spec = request.spec;
    let request = &ScenarioRequest { hosts: &hosts, scenario: &scenario, ..*request };
    let parted = rate_shares::parted(computed::points(request, &mut notes, &mut refusals));
    none(std::mem::take(&mut refusals))?;
    let usable = usable_points(request, &parted.planned, &mut notes, &mut refusals);
    let points: Vec<&PointSpec> = usable.iter().map(|point| &point.spec).collect();
    let times = Times::of(request, &mut notes);
    let mut hosts = hosts_with_targets(request, &points, &mut notes, refusals)?;
    let groups = rotation::join(request, &points, &mut hosts, &mut places)?;
    if !are_imagined(spec) {
        let least = hosts
            .first()
            .map_or(Bytes(0), |(_, facts, _)| sizes::Sizes::of(request, facts, &points).least);
        let each = hosts.iter().map(|(_, facts, targets)| (*facts, targets.as_slice()));
        none(room::space_together(each, request.scale, least))?;
    }
    hosts::notes(request.hosts, &mut notes);
    let stages = stages::stages(request, &points, &times, &mut notes);
    stages::backend_notes(request, &stages, &mut notes);
    let hosts = hosts.into_iter().zip(groups).map(|((number, facts, targets), groups)| {
        let host = stages::Host { number: number as u32, facts, targets, groups };
        stages::host_plan(request, &points, &stages, host, times.interval)
    });
    let mut hosts = all_or_refusals(hosts)?;
    none(contents::overlaps(request, &hosts))?;
    none(disks::shared(&hosts, request.hosts))?;
    none(if is_commanded(request) { disks::watched_twice(request.hosts) } else { Vec::new() })?;
    shared_trees::lend(request, &points, &stages, &mut hosts)?;
    take_turns(&mut hosts);
    contents::notes(request, &stages, &mut notes);
    notes.dedup();
    Ok(Plan {
        run_id: request.run_id.to_owned(),
        suite: spec.suite.name.value.clone(),
        description: spec.suite.description.value.clone(),
        seed: spec.suite.seed.value,
        scale: request.scale,
        interval: times.interval,
        backend: scenario.engine.backend.value,
        direct: scenario.engine.direct.value,
        existing: request.existing,
        hosts_from: Vec::new(),
        origin: Origin::default(),
        places,
        fleet: fleet_policy(request),
        keep: keep_of(request.spec),
        points: usable.iter().map(|point| point_of(request, point)).collect(),
        stages,
        hosts,
        notes,
        search: None,
        rate_shares: parted.shares(request, &usable),
        rounds: rounds(&scenario.rounds, &points),
        objective: spec.objective.objective(),
        events: spec.events.iter().map(|event| event.planned(&spec.vms, request.scale)).collect(),
    })
}

/// Goes on where nothing speaks against it.
fn none(refusals: Vec<Refusal>) -> Result<(), Vec<Refusal>> {
    if refusals.is_empty() { Ok(()) } else { Err(refusals) }
}

fn all_or_refusals<T>(
    each: impl Iterator<Item = Result<T, Vec<Refusal>>>,
) -> Result<Vec<T>, Vec<Refusal>> {
    let (mut all, mut refusals) = (Vec::new(), Vec::new());
    for one in each {
        match one {
            Ok(one) => all.push(one),
            Err(reasons) => refusals.extend(reasons),
        }
    }
    none(refusals).map(|()| all)
}

/// Each host with its number and its targets; of a shared file, all have those of the first.
/// `refusals` are those that are known already.
fn hosts_with_targets<'a>(
    request: &ScenarioRequest<'a>,
    points: &[&PointSpec],
    notes: &mut Vec<PlanNote>,
    mut refusals: Vec<Refusal>,
) -> Result<Vec<Loaded<'a>>, Vec<Refusal>> {
    let mut hosts = Vec::new();
    for (number, facts) in request.hosts.iter().enumerate() {
        match layout::targets(request, facts, points, notes) {
            Ok(targets) => hosts.push((number, facts, targets)),
            Err(reasons) => {
                refusals.extend(reasons.into_iter().map(|reason| named(request, facts, reason)));
            }
        }
    }
    none(refusals)?;
    let mut apart = Vec::new();
    if let [(_, _, first), others @ ..] = hosts.as_mut_slice()
        && request.scenario.layout.kind.value == LayoutKind::SharedFile
    {
        let join =
            |(_, facts, mine): &mut Loaded<'_>| layout::join(first, mine, &facts.hostname).err();
        apart.extend(others.iter_mut().filter_map(join));
    }
    none(apart).map(|()| hosts)
}

/// The rounds over the points of a plan, in the order in which they run.
fn rounds(spec: &RoundsSpec, points: &[&PointSpec]) -> Rounds {
    let first = |point: &&PointSpec| point.repetition == 1;
    let is_tracked = |point: &PointSpec| spec.track.iter().all(|one| point.sweep.contains(one));
    let round: Vec<&PointSpec> = points.iter().copied().filter(first).collect();
    if spec.most == 0 || round.is_empty() {
        return Rounds::default();
    }
    let numbered = (0..).zip(&round).filter(|(_, point)| is_tracked(point));
    Rounds {
        most: spec.most,
        points: round.len() as u32,
        tracked: numbered.map(|(number, _)| number).collect(),
    }
}

/// A refusal with the host's name, where there are several.
fn named(request: &ScenarioRequest<'_>, facts: &HostFacts, refusal: Refusal) -> Refusal {
    if request.hosts.len() == 1 {
        return refusal;
    }
    Refusal { message: format!("host {}: {}", facts.hostname, refusal.message), ..refusal }
}

/// Gives every worker its number among those of all hosts that do the same work: at a fixed rate
/// they take turns.
fn take_turns(hosts: &mut [HostPlan]) {
    let stages = hosts.first().map_or(0, |host| host.stages.len());
    for stage in 0..stages {
        let works = hosts.first().map_or(0, |host| host.stages[stage].works.len());
        for work in 0..works as u32 {
            let all = hosts.iter_mut().flat_map(|host| &mut host.stages[stage].workers);
            let mut mine: Vec<_> = all.filter(|worker| worker.work == work).collect();
            let of = mine.len() as u32;
            for (number, worker) in mine.iter_mut().enumerate() {
                worker.turn = (number as u32, of);
            }
        }
    }
}

/// The least number of hosts with which a run of so many goes on; at least 1.
pub fn quorum(spec: &Spec, hosts: u64) -> u32 {
    let share = u128::from(spec.fleet.quorum.value.ppm);
    let least = (u128::from(hosts) * share).div_ceil(1_000_000).max(1);
    u32::try_from(least).unwrap_or(u32::MAX)
}

fn fleet_policy(request: &ScenarioRequest<'_>) -> FleetPolicy {
    let fleet = &request.spec.fleet;
    FleetPolicy {
        on_lost_host: fleet.on_lost_host.value,
        quorum: quorum(request.spec, request.hosts.len() as u64),
        lost_after: fleet.lost_after.value,
        hold: fleet.hold.value,
    }
}

fn keep_of(spec: &Spec) -> Keep {
    Keep { full: spec.keep.full.value.fixed(), counters: spec.keep.counters.value }
}

/// Whether the scenario is one of commands: nothing of ours is laid out or sent there.
fn is_commanded(request: &ScenarioRequest<'_>) -> bool {
    request.scenario.points.iter().any(is_command)
}

/// Whether the run sends nothing anywhere.
fn is_null(request: &ScenarioRequest<'_>) -> bool {
    request.scenario.engine.backend.value.sends_nothing()
}

fn point_of(request: &ScenarioRequest<'_>, computed: &ComputedPoint) -> Point {
    let point = &computed.spec;
    Point {
        // Where there are several, they are named when their plans are joined.
        scenario: "default".to_owned(),
        workloads: point.workloads.iter().map(|workload| workload.name.value.clone()).collect(),
        sweep: point.sweep.clone(),
        repetition: point.repetition,
        computed: computed.values.clone(),
        prerun: Prerun::of(&request.scenario.stages.prerun.value),
    }
}

/// The points that may run: all, or under `--existing` those that only read.
fn usable_points<'a>(
    request: &ScenarioRequest<'_>,
    points: &'a [ComputedPoint],
    notes: &mut Vec<PlanNote>,
    refusals: &mut Vec<Refusal>,
) -> Vec<&'a ComputedPoint> {
    let only_reads = |workload: &WorkloadSpec| {
        workload.kind.value == WorkloadKind::Io
            && workload.read.value == Percent::ALL
            && workload.trim.value == Percent::ZERO
    };
    let reads_only = |point: &&ComputedPoint| point.spec.workloads.iter().all(only_reads);
    let (kept, left): (Vec<_>, Vec<_>) =
        points.iter().partition(|point| !request.existing || reads_only(point));
    let left = left.iter().flat_map(|point| &point.spec.workloads);
    let mut names: Vec<String> = left.map(|workload| workload.name.value.clone()).collect();
    names.dedup();
    if kept.is_empty() {
        refusals.push(Refusal::usage(
            "--existing writes nothing, and every workload of this suite writes",
            "name a directory without --existing, or a suite that reads",
        ));
    } else if !names.is_empty() {
        notes.push(PlanNote { fact: Fact::WorkloadsLeftOut { names } });
    }
    kept
}

/// The times of a run after scaling.
struct Times {
    precondition: Nanos,
    /// In place of `precondition`, where it goes on until the caches are warm.
    warm: Option<Steady>,
    measure: Nanos,
    interval: Nanos,
    /// In place of `measure`, where measuring goes on until it is steady.
    steady: Option<Steady>,
}

impl Times {
    fn of(request: &ScenarioRequest<'_>, notes: &mut Vec<PlanNote>) -> Times {
        let stages = &request.scenario.stages;
        let mut scaled = |what, time: Nanos, least: Nanos| {
            let shrunk = Nanos(request.scale.time().apply(time.0));
            if shrunk >= least || time < least {
                return shrunk.max(least.min(time));
            }
            let scale = request.scale.time();
            let fact = Fact::Adjusted(Adjusted::LeastTime { what, time, scale, least });
            notes.push(PlanNote { fact });
            least
        };
        let measure = scaled(ScaledTime::Measure, stages.measure.value, LEAST_MEASURE);
        // More of them would say no more, and cost more than the requests in them.
        let least = Nanos(measure.0 / ENOUGH_INTERVALS / LEAST_INTERVAL.0 * LEAST_INTERVAL.0)
            .max(LEAST_INTERVAL);
        let interval = scaled(
            ScaledTime::Interval,
            stages.interval.value,
            least.min(stages.interval.value.max(LEAST_INTERVAL)),
        );
        // A piece of an interval at the end would look as if the target stood still.
        let whole = Nanos(measure.0 / interval.0.max(1) * interval.0);
        let measure =
            if request.scale.time().is_one() { measure } else { whole.max(interval.min(measure)) };
        let precondition = Nanos(request.scale.time().apply(stages.precondition.value.0));
        let interval = interval.min(measure);
        let steady = (stages.until.value == Until::Steady)
            .then(|| steady(request, measure, interval, notes));
        let warm = (stages.precondition_until.value == PreconditionUntil::Warm)
            .then(|| warm(request, precondition, interval, notes));
        Times { precondition, warm, measure, interval, steady }
    }

    /// A curve that shrinks as the measured time does, which the suite has as `measure`.
    fn shrink(&self, curve: &Curve, measure: Nanos) -> Curve {
        if self.measure == measure {
            return curve.clone();
        }
        let (now, before) = (u128::from(self.measure.0), u128::from(measure.0.max(1)));
        let scale = |ns: u64| u64::try_from(u128::from(ns) * now / before).unwrap_or(u64::MAX);
        curve.stretched(scale)
    }

    fn precondition_stop(&self) -> Stop {
        self.warm.map_or(Stop::After(self.precondition), Stop::Steady)
    }

    /// What ends a stage that measures for a time.
    fn stop(&self) -> Stop {
        self.steady.map_or(Stop::After(self.measure), Stop::Steady)
    }
}

/// The greatest time of a stage, as the suite has it or by the least.
fn most(request: &ScenarioRequest<'_>, most: Auto<Nanos>, least: Nanos) -> Nanos {
    let scaled = |most: Nanos| Nanos(request.scale.time().apply(most.0));
    most.fixed().map_or(Nanos(least.0.saturating_mul(AUTO_MOST)), scaled)
}

/// When a stage ends that measures until it is steady, for `measure` at least.
fn steady(
    request: &ScenarioRequest<'_>,
    measure: Nanos,
    interval: Nanos,
    notes: &mut Vec<PlanNote>,
) -> Steady {
    let most = most(request, request.scenario.stages.measure_max.value, measure);
    let steady = Steady::new(measure, most, interval);
    if steady.least > measure {
        let least = steady.least;
        let fact = Fact::Adjusted(Adjusted::SteadyTakesLonger { least, measure });
        notes.push(PlanNote { fact });
    }
    steady
}

/// When preconditioning ends that goes on until caches are warm, for `precondition` at least.
fn warm(
    request: &ScenarioRequest<'_>,
    precondition: Nanos,
    interval: Nanos,
    notes: &mut Vec<PlanNote>,
) -> Steady {
    let stages = &request.scenario.stages;
    let most = most(request, stages.precondition_max.value, precondition);
    let warm = Steady::new(precondition, most, interval);
    if warm.least > precondition {
        let (what, time) = (ScaledTime::Precondition, stages.precondition.value);
        let (scale, least) = (request.scale.time(), warm.least);
        notes.push(PlanNote {
            fact: Fact::Adjusted(Adjusted::LeastTime { what, time, scale, least }),
        });
    }
    warm
}

#[cfg(test)]
mod sharing_tests;
#[cfg(test)]
pub(crate) mod tests;
