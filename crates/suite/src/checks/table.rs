//! Whether the values of a suite are in range and go together, each table by itself.

use crate::{
    ClientsSpec, EngineSpec, FleetSpec, KeepSpec, ObjectiveSpec, PointSpec, PreconditionUntil,
    RateOf, Spread, StagesSpec, Until, WorkloadKind, WorkloadSpec, contents,
};
use form::{Amount, Auto, Count, Given, Problem, Problems, Span};
use model::Objective;
use model::choices::{Access, Backend, Poll, TrimAs};
use model::offered::Offered;
use model::plan::Steady;
use model::units::{Bytes, Nanos, Percent};
use std::ops::RangeInclusive;

pub(crate) fn check_stages(stages: &StagesSpec, problems: &mut Problems) {
    let good = Nanos::millis(10)..=Nanos::seconds(60);
    range(&stages.interval, good, "an interval", "write one from 10ms to 60s", problems);
    check_until(stages, problems);
    check_warm(stages, problems);
    let measure = &stages.measure;
    if measure.value < Nanos::millis(100) {
        let message = format!("{} is too short to measure anything", measure.value);
        problems.push(measure.wrong(message, "write at least 100ms"));
    }
}

fn range(
    given: &Given<Nanos>,
    good: RangeInclusive<Nanos>,
    what: &str,
    remedy: &str,
    problems: &mut Problems,
) {
    if !good.contains(&given.value) {
        problems.push(given.wrong(format!("{what} of {} is out of range", given.value), remedy));
    }
}

/// Adds those of these problems that are there.
pub(crate) fn add<const N: usize>(problems: &mut Problems, rows: [(bool, Problem); N]) {
    problems.extend(rows.into_iter().filter_map(|(is_there, problem)| is_there.then_some(problem)));
}

/// What a rule needs to see that something has settled.
fn five_rounds(stages: &StagesSpec) -> Nanos {
    Nanos(stages.interval.value.0.saturating_mul(Steady::ROUNDS * Steady::LEAST_IN_ROUND))
}

/// Complains about a greatest time below the least; `field` is what the suite calls that.
fn check_most(
    field: &str,
    least: &Given<Nanos>,
    most: &Given<Auto<Nanos>>,
    problems: &mut Problems,
) {
    if let Auto::Fixed(time) = most.value
        && time < least.value
    {
        let message =
            format!("a greatest time of {time} is less than the least, which is {}", least.value);
        let remedy = format!("write a larger {field}_max, or a smaller {field}");
        problems.push(most.wrong(message, remedy));
    }
}

/// Complains about steadiness that cannot be told, and of a greatest time that means nothing.
fn check_until(stages: &StagesSpec, problems: &mut Problems) {
    let (until, measure, most) = (&stages.until, &stages.measure, &stages.measure_max);
    if until.value == Until::Time {
        let message = "a measure_max means nothing where measuring ends after `measure`";
        let remedy = "add until = \"steady\", or leave it out";
        return add(problems, [(most.value != Auto::Auto, most.wrong(message, remedy))]);
    }
    let least = five_rounds(stages);
    let too_short = format!(
        "in {} there are no five rounds of four intervals, by which to tell whether it is steady",
        measure.value
    );
    let remedy = format!("write at least {least}, or a shorter interval");
    let message = "an amount ends when it is done, steady or not";
    add(
        problems,
        [
            (
                stages.amount.value != Amount::None,
                until.wrong(message, "leave out until, or the amount"),
            ),
            (measure.value < least, measure.wrong(too_short, remedy)),
        ],
    );
    check_most("measure", measure, most, problems);
}

/// Complains about preconditioning whose end by the caches' state nobody could see.
fn check_warm(stages: &StagesSpec, problems: &mut Problems) {
    let (least, most) = (&stages.precondition, &stages.precondition_max);
    if stages.precondition_until.value == PreconditionUntil::Time {
        let message =
            "a precondition_max means nothing where `precondition` alone ends preconditioning";
        let remedy = "add precondition_until = \"warm\", or leave it out";
        return add(problems, [(most.value != Auto::Auto, most.wrong(message, remedy))]);
    }
    let rounds = five_rounds(stages);
    if least.value < rounds {
        let message = format!(
            "in {} there are no five rounds of four intervals, by which to tell whether the caches \
             are warm",
            least.value
        );
        let remedy = format!("write precondition = \"{rounds}\" or more, or a shorter interval");
        problems.push(stages.precondition_until.wrong(message, remedy));
    }
    check_most("precondition", least, most, problems);
}

pub(crate) fn check_engine(engine: &EngineSpec, problems: &mut Problems) {
    let good = Nanos::millis(100)..=Nanos::seconds(3600);
    range(&engine.patience, good, "a patience", "write one from 100ms to 1h", problems);
    let has_ring = matches!(engine.backend.value, Backend::IoUring | Backend::Auto);
    if engine.poll.value != Poll::None && !has_ring {
        let message = format!(
            "poll = \"{}\" belongs to io_uring, and the backend is {}",
            engine.poll.value, engine.backend.value
        );
        let remedy = "write backend = \"io_uring\", or leave out poll";
        problems.push(engine.poll.wrong(message, remedy));
    }
}

pub(crate) fn check_fleet(fleet: &FleetSpec, problems: &mut Problems) {
    let (hour, remedy) = (Nanos::seconds(3600), "write a lost_after from 2s to 10min");
    let good = Nanos::seconds(2)..=Nanos::seconds(600);
    range(&fleet.lost_after, good, "a silence", remedy, problems);
    if fleet.hold.value != Nanos(0) {
        let remedy = "write 0s, or a hold from 1s to 1h";
        range(&fleet.hold, Nanos::seconds(1)..=hour, "a hold", remedy, problems);
    }
    let remedy = "write at most 1h; 0s is one try";
    range(&fleet.start_within, Nanos(0)..=hour, "a start_within", remedy, problems);
}

pub(crate) fn check_keep(keep: &KeepSpec, problems: &mut Problems) {
    if let Auto::Fixed(full) = &keep.full.value
        && *full < Nanos::seconds(60)
    {
        let message = format!("a full of {full} is out of range");
        problems.push(keep.full.wrong(message, "write at least 1min, or \"auto\""));
    }
}

pub(crate) fn check_points(points: &[PointSpec], problems: &mut Problems) {
    let mut seen: Vec<&WorkloadSpec> = Vec::new();
    for workload in points.iter().flat_map(|point| &point.workloads) {
        check_shape(workload, problems);
        if workload.name.value.is_empty() && workload.name.span.is_some() {
            problems.push(workload.name.wrong("the workload's name is empty", "give it a name"));
        }
        let twin = |other: &&WorkloadSpec| {
            other.name.value == workload.name.value && other.name.span != workload.name.span
        };
        if !workload.name.value.is_empty() && seen.iter().any(twin) {
            let message = format!("a second workload is called `{}`", workload.name.value);
            problems.push(workload.name.wrong(message, "give each workload a name of its own"));
        }
        seen.push(workload);
    }
}

/// Whether the backend has a request for what the workloads ask.
pub(crate) fn check_trims(engine: &EngineSpec, points: &[PointSpec], problems: &mut Problems) {
    let all = || points.iter().flat_map(|point| &point.workloads);
    // A sweep may have points without trims.
    let trims = |name: &str| {
        let of_name = |other: &&WorkloadSpec| other.name.value == name;
        all().filter(of_name).any(|workload| workload.trim.value > Percent::ZERO)
    };
    let is_idle = |workload: &&WorkloadSpec| {
        workload.trim_as.value != TrimAs::Hole && !trims(&workload.name.value)
    };
    for workload in all().filter(is_idle) {
        let message = format!("workload `{}` has no trims", workload.name.value);
        let remedy = "write trim, or leave out trim_as";
        problems.push(workload.trim_as.wrong(message, remedy));
    }
    if engine.backend.value != Backend::Libaio {
        return;
    }
    for workload in all().filter(|workload| workload.trim.value > Percent::ZERO) {
        let message =
            format!("workload `{}` trims, and libaio has no request for that", workload.name.value);
        problems.push(workload.trim.wrong(message, "write backend = \"io_uring\" or \"sync\""));
    }
}

pub(crate) fn check_clients(clients: &ClientsSpec, problems: &mut Problems) {
    if matches!(clients.count.value, Auto::Fixed(Count(1025..))) {
        let message = "more than 1024 clients cannot be planned for";
        problems.push(clients.count.wrong(message, "write a count from 1 to 1024"));
    }
}

pub(crate) fn check_objective(objective: &ObjectiveSpec, problems: &mut Problems) {
    let text = objective.keep.value.trim();
    if text.is_empty() {
        return;
    }
    if let Err(error) = text.parse::<Objective>() {
        let message = format!("condition `{}`: {}", error.condition, error.problem);
        let remedy = "write conditions such as \"read p99 < 5ms, errors = 0\"";
        problems.push(objective.keep.wrong(message, remedy));
    }
}

/// Complains about a workload whose last values were only now computed; `verify` is whether reads
/// are checked.
pub(crate) fn check_workload(workload: &WorkloadSpec, verify: bool, problems: &mut Problems) {
    check_shape(workload, problems);
    if verify {
        contents::check_workload(workload, problems);
    }
}

/// Complains about runs that no sequence of requests has.
fn sequence(workload: &WorkloadSpec, problems: &mut Problems) {
    let Auto::Fixed(Bytes(run)) = workload.run.value else { return };
    let mut complain = |message: &str, remedy: &str| {
        problems.push(workload.run.wrong(message, remedy));
    };
    let is_random = match workload.random.value {
        Auto::Fixed(share) => share > Percent::ZERO,
        Auto::Auto => workload.access.value != Access::Sequential,
    };
    let first = workload.sizes().next().map_or(1, |size| size.0.max(1));
    if is_random || workload.streams.value.0 > 1 {
        complain(
            "runs are those of one sequential stream",
            "write access = \"sequential\" and no streams, or leave out run",
        );
    } else if workload.sizes().any(|size| size.0 != first) || !run.is_multiple_of(first) || run == 0
    {
        complain("a run is no whole number of blocks", "write a multiple of one block_size");
    } else if !matches!(workload.stride.value, Auto::Fixed(Bytes(stride)) if stride >= run) {
        complain(
            "behind a run comes a stride, which is at least as long",
            "write a stride: from the start of one run to the start of the next",
        );
    }
}

/// Complains about given places that no random request takes.
fn places(workload: &WorkloadSpec, problems: &mut Problems) {
    let Auto::Fixed(_) = &workload.sequence.value else {
        if let Some(span) = &workload.sequence_advances.span {
            let remedy = "add sequence, or leave it out";
            problems.push(Problem::new(span.clone(), "there is no sequence to advance", remedy));
        }
        return;
    };
    let first = workload.sizes().next();
    let is_one = workload.sizes().all(|size| Some(size) == first);
    let is_random = workload.access.value == Access::Random
        && workload.random.value == Auto::Auto
        && workload.align.value == Auto::Auto;
    if !is_one || !is_random {
        let message = "given places are those of random requests of one size";
        let remedy = "write access = \"random\" and one block_size, without random and align";
        problems.push(workload.sequence.wrong(message, remedy));
    }
}

/// Whether the fields of a workload's shape are in range and go together.
fn check_shape(workload: &WorkloadSpec, problems: &mut Problems) {
    if let Some(size) = workload.sizes().find(|size| !(512..=1 << 30).contains(&size.0)) {
        let message = format!("a block of {size} is out of range");
        problems.push(workload.block_size.wrong(message, "write a size from 512 to 1GiB"));
    }
    let first = workload.sizes().next();
    let differ = workload.sizes().any(|size| Some(size) != first);
    if workload.access.value == Access::Permutation && differ {
        let message = "a permutation touches each block once, so all blocks have to have one size";
        let remedy = "write one block_size, or access = \"random\"";
        problems.push(workload.access.wrong(message, remedy));
    }
    sequence(workload, problems);
    places(workload, problems);
    let skew = workload.skew.value.fixed().map_or(0, |skew| skew.milli);
    let (good, remedy) = match workload.access.value {
        Access::Pareto => (skew < 500, "write a share below 0.5, such as 0.2"),
        Access::Zipf => (skew <= 10_000, "write an exponent of at most 10, such as 1.2"),
        _ => (true, ""),
    };
    let no_sense = match workload.skew.value {
        Auto::Fixed(skew) => format!("a skew of {skew} makes no sense here"),
        Auto::Auto => String::new(),
    };
    let of_each = workload.rate_of.value != RateOf::All;
    let (rate, rate_of) = (workload.rate.value != Auto::Auto, &workload.rate_of);
    let zero = workload.align.value == Auto::Fixed(Bytes(0));
    add(
        problems,
        [
            (zero, workload.align.wrong("offsets cannot be multiples of 0", "write 512 or more")),
            (!good, workload.skew.wrong(no_sense, remedy)),
            (
                of_each && share_of(workload).is_some(),
                rate_of.wrong(
                    "a share is one of what all workers carry together",
                    "leave out rate_of, or write a rate such as 10000",
                ),
            ),
            (
                of_each && !rate,
                rate_of.wrong(
                    "there is no rate that each worker could have",
                    "write rate, or leave out rate_of",
                ),
            ),
            (
                rate && workload.think.value > Nanos(0),
                workload.think.wrong(
                    "a fixed rate leaves no time to think: its requests are due at their own times",
                    "leave out think, or rate",
                ),
            ),
        ],
    );
}

/// The shares of a group add up to no more: the order of its requests has so many places.
pub(crate) const MOST_SHARES: u64 = 10_000;

/// Complains about shares that bind nothing, or that cannot be kept.
pub(crate) fn check_shares(stages: &StagesSpec, points: &[PointSpec], problems: &mut Problems) {
    for point in points {
        let bound = || point.workloads.iter().filter(|workload| workload.share.value > 0);
        let Some(first) = bound().next() else { continue };
        let mut say = |workload: &WorkloadSpec, message: &str, remedy: &str| {
            let message = format!("workload `{}`: {message}", workload.name.value);
            problems.push(workload.share.wrong(message, remedy));
        };
        if bound().count() == 1 {
            let remedy = "give another workload of its group a share, or leave it out";
            say(first, "a share of nothing: no other workload of its group has one", remedy);
        }
        let sum = bound().map(|workload| workload.share.value).fold(0, u64::saturating_add);
        if sum > MOST_SHARES {
            let message = format!("the shares of its group add up to {sum}");
            say(first, &message, &format!("write smaller ones, {MOST_SHARES} together at most"));
        }
        if stages.amount.value != Amount::None {
            let message = "a share binds workloads over a time, and an amount ends each by itself";
            say(first, message, "leave out the amount, or the shares");
        }
        for workload in bound() {
            if workload.rate.value != Auto::Auto && share_of(workload).is_none() {
                let remedy = "leave out the rate; or leave out the shares: the rates are the ratio";
                say(workload, "a share binds a closed loop, and this one has a rate", remedy);
            }
            if workload.spread.value != Spread::EachHost {
                let remedy = "write spread = \"each-host\", or leave out the share";
                say(workload, "a share holds on each host, and its workers are spread", remedy);
            }
            if workload.hosts.value != first.hosts.value {
                let message = format!(
                    "it runs on other hosts than `{}`, which it is bound to",
                    first.name.value
                );
                say(workload, &message, "write the same hosts for both, or leave out the shares");
            }
        }
    }
}

/// The share that a workload asks for.
pub(crate) fn share_of(workload: &WorkloadSpec) -> Option<Percent> {
    match workload.rate.value {
        Auto::Fixed(Offered::Share(share)) => Some(share),
        _ => None,
    }
}

/// Complains about shares of a rate that cannot be measured first.
pub(crate) fn check_rate_shares(
    stages: &StagesSpec,
    points: &[PointSpec],
    problems: &mut Problems,
) {
    let mut told: Vec<Span> = Vec::new();
    let is_like = |one: &WorkloadSpec, other: &WorkloadSpec| {
        share_of(one) == share_of(other) && one.arrivals.value == other.arrivals.value
    };
    for point in points {
        for workload in point.workloads.iter().filter(|workload| share_of(workload).is_some()) {
            let (message, remedy) = if point.workloads.iter().any(|other| !is_like(workload, other))
            {
                (
                    "a share of a rate is that of its whole group, and another workload of it has \
                     none, another one, or other arrivals",
                    "write it once, as `rate` of [sweep]; or take the workload out of the group",
                )
            } else if workload.kind.value == WorkloadKind::Metadata {
                (
                    "a share of a rate is that of requests, and this workload is one of files",
                    "write a rate such as 5000",
                )
            } else if stages.amount.value != Amount::None {
                (
                    "a share of a rate is measured over a time, and this suite has an amount",
                    "leave out the amount, or write a rate such as 10000",
                )
            } else {
                continue;
            };
            let problem = workload.rate.wrong(message, remedy);
            if !told.contains(&problem.span) {
                told.push(problem.span.clone());
                problems.push(problem);
            }
        }
    }
}

/// Complains about a rate that changes where something else waits for it to be the same, or for an
/// amount that a rate of 0 never completes.
pub(crate) fn check_curves(stages: &StagesSpec, points: &[PointSpec], problems: &mut Problems) {
    let is_changing =
        |workload: &WorkloadSpec| matches!(workload.rate.value, Auto::Fixed(Offered::Changing(_)));
    if !points.iter().flat_map(|point| &point.workloads).any(is_changing) {
        return;
    }
    add(
        problems,
        [
            (
                stages.until.value == Until::Steady,
                stages.until.wrong(
                    "a rate that changes never becomes steady",
                    "write until = \"time\", or one rate for all the time",
                ),
            ),
            (
                stages.precondition_until.value == PreconditionUntil::Warm,
                stages.precondition_until.wrong(
                    "a rate that changes never shows that caches are warm",
                    "write precondition_until = \"time\", or one rate for all the time",
                ),
            ),
            (
                stages.amount.value != Amount::None,
                stages.amount.wrong(
                    "a rate that changes is one over time, and an amount has no time",
                    "leave out the amount, or write one rate for all the time",
                ),
            ),
        ],
    );
}
