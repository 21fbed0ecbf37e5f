//! What a record says of hosts, events, marks and counters, beside its samples.

use super::agent::counted;
use super::scenario::{HostScript, Scenario};
use super::world::Outcome;
use super::{Held, SECOND, ensure};
use crate::coordinator::Marked;
use model::plan::Stop;
use model::record::{Record, StageRecord};
use model::{Note, NoteKind, Occurrence, OccurrenceKind, RunEnd, StageEnd};
use std::collections::BTreeMap;

/// How long after its reason to be there an agent is there at most, in ns: it ends its stage, and
/// lets go.
const LINGERS_NS: u64 = 40 * SECOND;

/// Checks it.
pub(super) fn check(scenario: &Scenario, outcome: &Outcome, record: &Record) -> Held {
    who_is_lost_is_named_once(record)?;
    no_verified_run_takes_hosts_back(scenario, record)?;
    counters_are_those_of_the_samples(scenario, outcome, record)?;
    marks_are_answered_once(scenario, outcome, record)?;
    events_happen_once(scenario, record)?;
    files_go_when_they_may(scenario, outcome, record)?;
    no_agent_outlives_its_reason(scenario, outcome)
}

/// A host is lost, comes back, is lost again: each is said once, and who returned is there.
fn who_is_lost_is_named_once(record: &Record) -> Held {
    let mut away = BTreeMap::new();
    for note in &record.notes {
        let is_away = away.entry(note.host).or_insert(false);
        match note.kind() {
            NoteKind::HostLost => ensure(!std::mem::replace(is_away, true), || {
                format!("host {} is said to be lost twice: {note:?}", note.host)
            })?,
            NoteKind::HostReturned => ensure(std::mem::replace(is_away, false), || {
                format!("host {} returned, and was not away: {note:?}", note.host)
            })?,
            _ => {}
        }
    }
    Ok(())
}

/// Of which generation each block is, only the agent knew that is gone.
fn no_verified_run_takes_hosts_back(scenario: &Scenario, record: &Record) -> Held {
    let verifies = scenario.plan.hosts.iter().any(|host| host.engine.contents.verify);
    let returned = record.notes.iter().find(|note| note.kind() == NoteKind::HostReturned);
    ensure(!verifies || returned.is_none(), || {
        format!("reads are checked, but a host came back: {returned:?}")
    })
}

/// Every reading of a kernel's counters is as it was sent, and stands beside its sample.
fn counters_are_those_of_the_samples(
    scenario: &Scenario,
    outcome: &Outcome,
    record: &Record,
) -> Held {
    if scenario.coordinator.records.is_some() {
        return Ok(());
    }
    let is_told = scenario.hosts.iter().any(|host| host.behaviour.counts);
    for stage in &record.stages {
        let samples: BTreeMap<(u32, u32), _> =
            stage.samples().iter().map(|one| ((one.host, one.interval), one)).collect();
        let mut told = BTreeMap::new();
        for counters in stage.counters() {
            let sample = samples.get(&(counters.host, counters.number));
            ensure(sample.is_some_and(|sample| counted(sample) == *counters), || {
                format!("stage {}: {counters:?} is not what {sample:?} counted", stage.stage)
            })?;
            *told.entry(counters.host).or_insert(0) += 1;
        }
        for (number, host) in (0..).zip(&outcome.hosts) {
            let samples = stage.samples().iter().filter(|sample| sample.host == number).count();
            let told = told.get(&number).copied().unwrap_or(0);
            let is_all = !is_told || host.is_lost || outcome.end.is_none();
            ensure(is_all || told == samples, || {
                format!("host {number}, stage {}: {told} of {samples} counters", stage.stage)
            })?;
        }
    }
    Ok(())
}

fn of_kind(record: &Record, kind: OccurrenceKind) -> impl Iterator<Item = &Occurrence> {
    record.occurrences.iter().filter(move |one| one.kind == kind)
}

/// Whoever sets a mark hears of it once, and what he hears stands in the record.
fn marks_are_answered_once(scenario: &Scenario, outcome: &Outcome, record: &Record) -> Held {
    if scenario.coordinator.records.is_some() {
        return Ok(());
    }
    for (ticket, answer) in &outcome.marks {
        let label = format!("mark {ticket}");
        let stands: Vec<&Occurrence> =
            of_kind(record, OccurrenceKind::Mark).filter(|one| one.label == label).collect();
        let holds = match answer {
            Some(Marked::Recorded(mark)) => stands == [&**mark],
            // The coordinator died, or was over, before it looked at it.
            None => outcome.end.is_none() || outcome.end_is_at_least(scenario, *ticket),
            Some(_) => stands.is_empty(),
        };
        ensure(holds, || format!("{label}: {answer:?}, but the record has {stands:?}"))?;
    }
    Ok(())
}

/// In each stage that is complete, every event that is due in it happens once, not too early; each
/// command of one is told to have ended once.
fn events_happen_once(scenario: &Scenario, record: &Record) -> Held {
    if scenario.coordinator.records.is_some() {
        return Ok(());
    }
    let plan = &record.plan;
    let complete =
        |stage: &&StageRecord| stage.end == Some(StageEnd::Complete) && record.end.is_some();
    for stage in record.stages.iter().filter(complete) {
        let planned = &plan.stages[stage.stage as usize];
        let point = planned.point.and_then(|point| plan.points.get(point as usize));
        for event in &plan.events {
            let due_ns = event.due_ns(planned, point);
            let happened: Vec<u64> = of_kind(record, OccurrenceKind::Planned)
                .filter(|one| one.stage == Some(stage.stage) && one.label == event.name)
                .map(|one| one.at_ns)
                .collect();
            // A stage may end before it where time alone does not end it.
            let may_lack = !matches!(planned.stop(), Stop::After(_));
            let is_once = match due_ns {
                None => happened.is_empty(),
                Some(_) if happened.is_empty() => may_lack || scenario.coordinator.clock_stalls,
                Some(due_ns) => happened.len() == 1 && happened[0] >= due_ns,
            };
            ensure(is_once, || {
                format!(
                    "stage {}: {} is due at {due_ns:?}, and happened at {happened:?}",
                    stage.stage, event.name
                )
            })?;
        }
    }
    let commands = |name: &str| {
        let is_one = |one: &&Occurrence| one.label == name;
        let begun = of_kind(record, OccurrenceKind::Planned).filter(is_one).count();
        let ended = of_kind(record, OccurrenceKind::CommandEnded).filter(is_one).count();
        (begun, ended)
    };
    for event in plan.events.iter().filter(|event| event.command.is_some()) {
        let (begun, ended) = commands(&event.name);
        ensure(begun == ended || record.end.is_none(), || {
            format!("{}: {begun} commands began, and {ended} ended", event.name)
        })?;
    }
    Ok(())
}

/// Whether a loss ended a run that can go on with its files.
pub(super) fn can_go_on(scenario: &Scenario, outcome: &Outcome, record: &Record) -> bool {
    let fails = |host: &HostScript| {
        let behaviour = &host.behaviour;
        let stages = [behaviour.fails, behaviour.fails_to_arm];
        behaviour.refuses || behaviour.locked_until_ns > 0 || stages != [None; 2]
    };
    let is_alone = scenario.coordinator.records.is_none() && !scenario.hosts.iter().any(fails);
    let is_lost = |note: &Note| note.kind() == NoteKind::HostLost && note.stage.is_some();
    let failed = matches!(&outcome.end, Some((RunEnd::Failed(_), _)));
    let has_begun = !record.stages.is_empty();
    let lost = record.notes.iter().any(is_lost);
    failed && is_alone && has_begun && lost && scenario.further_points.is_none()
}

/// What a run made goes with it, unless it shall stay, or the run can go on with it.
fn files_go_when_they_may(scenario: &Scenario, outcome: &Outcome, record: &Record) -> Held {
    let Some((end, _)) = &outcome.end else { return Ok(()) };
    let is_unrecorded = outcome.is_unrecorded && !record.stages.is_empty();
    let stays = scenario.keep_data
        || can_go_on(scenario, outcome, record)
        || is_unrecorded && scenario.further_points.is_none();
    for (number, host) in outcome.hosts.iter().enumerate() {
        ensure(!(stays && host.removed), || {
            format!("host {number} removed what had to stay: {end:?}")
        })?;
        let goes = *end == RunEnd::Complete && !scenario.keep_data && record.end.is_some();
        ensure(
            !goes || host.removed || host.is_lost || !outcome.is_reachable(scenario, number),
            || format!("host {number} left behind what the run had made: {end:?}"),
        )?;
    }
    Ok(())
}

/// Behind the end of its coordinator, an agent lets go of its targets in bounded time, so that
/// another attempt has them.
fn no_agent_outlives_its_reason(scenario: &Scenario, outcome: &Outcome) -> Held {
    if outcome.taken_over {
        return Ok(());
    }
    let by_ns = outcome.over_ns + scenario.plan.fleet.silence().0 + LINGERS_NS;
    for (number, host) in outcome.hosts.iter().enumerate() {
        let is_there = outcome.is_reachable(scenario, number);
        ensure(!is_there || host.gone_ns.is_some_and(|gone_ns| gone_ns <= by_ns), || {
            format!("host {number} is there until {:?}, and not {by_ns} ns", host.gone_ns)
        })?;
    }
    Ok(())
}
