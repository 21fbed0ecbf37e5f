//! What holds after any run, whatever went wrong in it.

use super::agent::LOAD_AFTER_NS;
use super::clock::awake_ns;
use super::load::{Tally, end_ns};
use super::scenario::{HostScript, Scenario};
use super::world::{Outcome, parts};
use super::{Held, SECOND, ensure, layouts, told};
use crate::coordinator::WAIT_NS;
use model::choices::OnLostHost;
use model::record::Record;
use model::{Note, NoteKind, RunEnd, StageEnd};

/// So long a command before a point is let run, and waited for when it was killed, in ns.
const PRERUN_NS: u64 = 610 * SECOND;

/// What is between two readings of a clock that are rounded to its ns.
const ROUNDING_NS: u64 = 10;

/// Checks a run against its record.
pub(super) fn check(scenario: &Scenario, outcome: &Outcome, record: &Record) -> Held {
    samples_count_once(scenario, outcome, record)?;
    the_run_ends(scenario, outcome, record)?;
    no_load_without_a_coordinator(outcome)?;
    starts_are_within_their_error(scenario, outcome, record)?;
    the_policy_holds(scenario, outcome, record)?;
    who_is_healthy_is_never_lost(scenario, outcome)?;
    a_stop_reaches_every_host(scenario, outcome)?;
    ensure(outcome.broken.is_empty(), || outcome.broken.join("; "))?;
    told::check(scenario, outcome, record)?;
    layouts::check(&parts(&scenario.plan), outcome.hosts.len(), &outcome.deeds)?;
    complete_is_complete(scenario, outcome, record)
}

/// The record holds what arrived, and of hosts that were never given up, all that they sent.
fn samples_count_once(scenario: &Scenario, outcome: &Outcome, record: &Record) -> Held {
    let (hosts, stages) = (outcome.hosts.len(), scenario.all_stages());
    let mut recorded = vec![vec![Tally::default(); stages]; hosts];
    let mut next = vec![vec![0u32; stages]; hosts];
    for sample in record.samples() {
        let (host, stage) = (sample.host as usize, sample.stage as usize);
        recorded[host][stage].add(sample);
        ensure(sample.interval == next[host][stage], || {
            format!(
                "host {host}, stage {stage}: interval {} after {}",
                sample.interval, next[host][stage]
            )
        })?;
        next[host][stage] += 1;
    }
    let is_recorded = scenario.coordinator.records.is_none();
    for (number, host) in outcome.hosts.iter().enumerate() {
        for (stage, recorded) in recorded[number].iter().enumerate() {
            let (arrived, sampled) = (&host.arrived[stage], &host.sampled[stage]);
            ensure(recorded == arrived || !is_recorded, || {
                format!(
                    "host {number}, stage {stage}: {arrived:?} arrived, but {recorded:?} is \
                     recorded"
                )
            })?;
            ensure(arrived == sampled || host.is_lost || outcome.end.is_none(), || {
                format!(
                    "host {number}, stage {stage}: {sampled:?} was sent, but {arrived:?} arrived"
                )
            })?;
        }
    }
    Ok(())
}

/// In time, once, and in the record as to the caller.
fn the_run_ends(scenario: &Scenario, outcome: &Outcome, record: &Record) -> Held {
    let Some((end, at_ns)) = &outcome.end else {
        return ensure(scenario.coordinator.dies_at_ns.is_some(), || {
            "the run never ended".to_owned()
        });
    };
    let plan = &scenario.plan;
    // Each stage is set up, agreed on, run and waited for; whoever takes longer than this is given
    // up.
    let wait_ns = 4 * plan.fleet.silence().0 + plan.hosts[0].engine.patience.0 + 60 * SECOND;
    // A stage lasts as long as its slowest host.
    let slowest_ns = |stage: u32| {
        scenario
            .hosts
            .iter()
            .map(|host| end_ns(&host.load, stage, record.plan.stages[stage as usize].stop()))
            .max()
    };
    let plan = &record.plan;
    let amounts_ns: u64 = (0..plan.stages.len() as u32).filter_map(slowest_ns).sum();
    let stages_ns = plan.fixed_time().0 + amounts_ns;
    // Commands may hang before each point, and those of events be waited for behind each stage.
    let preruns = plan.points.iter().filter(|point| point.prerun.is_some()).count() as u64;
    let waits_ns: u64 = plan.events.iter().map(|event| event.wait.0).sum();
    let commands_ns = preruns * PRERUN_NS + (plan.stages.len() as u64 + 1) * waits_ns;
    // A clock that stands still lets nobody wait for less.
    let stalls_ns = scenario.coordinator.stalls.map_or(0, |(from_ns, until_ns)| until_ns - from_ns);
    // Before each, those that are away are waited for once.
    let waited_ns = (plan.stages.len() as u64 + 2) * (wait_ns + WAIT_NS);
    let most_ns = stages_ns + waited_ns + commands_ns + stalls_ns;
    ensure(*at_ns <= most_ns, || format!("the run ended after {at_ns} ns, more than {most_ns}"))?;
    if scenario.coordinator.records.is_some() {
        return Ok(());
    }
    let told = record.end.as_ref().map(|(_, end)| end);
    ensure(told == Some(end), || {
        format!("the run ended with {end:?}, but the record says {told:?}")
    })
}

/// A second after the stream's end or too long a silence, there is none.
fn no_load_without_a_coordinator(outcome: &Outcome) -> Held {
    for (number, host) in outcome.hosts.iter().enumerate() {
        for span in &host.loads {
            let Some(until_ns) = span.until_ns else {
                return Err(format!("host {number}: {span:?} never ended"));
            };
            ensure(until_ns <= span.allowed_until_ns.saturating_add(LOAD_AFTER_NS), || {
                format!("host {number}: load of a host on its own, {span:?}")
            })?;
        }
    }
    Ok(())
}

/// Every host took an instant for the agreed one that is off by no more than is stated.
fn starts_are_within_their_error(scenario: &Scenario, outcome: &Outcome, record: &Record) -> Held {
    for start in record.stages.iter().flat_map(|stage| &stage.starts) {
        let agreed = outcome.agreed_ns.iter().find(|(stage, _)| *stage == start.stage);
        let theirs = outcome.hosts[start.host as usize]
            .starts
            .iter()
            .find(|(stage, _)| *stage == start.stage);
        let (Some((_, agreed_ns)), Some((_, theirs_ns))) = (agreed, theirs) else { continue };
        let script = scenario.coordinator;
        let still = script.stalls.filter(|_| script.clock_stalls);
        let off_ns = awake_ns(still, *theirs_ns).abs_diff(*agreed_ns);
        ensure(off_ns <= start.error_ns + start.error_ns / 5_000 + ROUNDING_NS, || {
            let still = scenario.hosts[start.host as usize].time.stands_still;
            format!("{start:?} was off by {off_ns} ns at {agreed_ns}; {still:?}, {script:?}")
        })?;
    }
    Ok(())
}

/// A run that may go on without a host does, and one that may not does not.
fn the_policy_holds(scenario: &Scenario, outcome: &Outcome, record: &Record) -> Held {
    let Some((end, _)) = &outcome.end else { return Ok(()) };
    if scenario.coordinator.records.is_some() {
        return Ok(());
    }
    let policy = scenario.plan.fleet;
    let lost: Vec<_> =
        record.notes.iter().filter(|note| note.kind() == NoteKind::HostLost).collect();
    let in_stages = lost.iter().filter(|note| note.stage.is_some()).count();
    let left = fewest(outcome.hosts.len(), record);
    let may_go_on = match policy.on_lost_host {
        OnLostHost::Abort => in_stages == 0,
        OnLostHost::Continue => left >= policy.quorum as usize && left > 0,
    };
    if *end == RunEnd::Complete {
        // Who is lost between stages because the coordinator stood still is counted before the
        // next one, with those who came back.
        let returned =
            record.notes.iter().filter(|note| note.kind() == NoteKind::HostReturned).count();
        let at_last = (outcome.hosts.len() + returned).saturating_sub(in_stages);
        let is_counted_again = policy.on_lost_host == OnLostHost::Continue
            && scenario.coordinator.stalls.is_some()
            && at_last >= (policy.quorum as usize).max(1);
        return ensure(may_go_on || is_counted_again, || {
            let of_hosts = [NoteKind::HostLost, NoteKind::HostReturned];
            let said: Vec<_> =
                record.notes.iter().filter(|note| of_hosts.contains(&note.kind())).collect();
            format!("{in_stages} lost, and the run is complete under {policy:?}: {said:?}")
        });
    }
    let fails = |script: &HostScript| {
        script.behaviour.refuses
            || script.behaviour.fails.is_some()
            || script.behaviour.fails_to_arm.is_some()
    };
    // Under `continue`, no loss costs the run, whenever it is.
    // What broke off because the coordinator stood still is measured anew.
    let stood_still = scenario.coordinator.stalls.is_some();
    let is_locked_out = outcome.hosts.iter().any(|host| host.locked_out);
    let is_lost_in_no_stage =
        policy.on_lost_host == OnLostHost::Abort && lost.iter().any(|note| note.stage.is_none());
    let has_other_reason = scenario.coordinator.interrupted_at_ns.is_some()
        || stood_still
        || is_lost_in_no_stage
        || is_locked_out
        || scenario.hosts.iter().any(fails);
    ensure(!may_go_on || has_other_reason, || {
        format!(
            "{in_stages} hosts were lost, which {policy:?} allows, but the run ended with {end:?}"
        )
    })
}

/// A host that is there, whose links are clear, and nobody between it and a coordinator that does
/// not stand still, is never given up.
fn who_is_healthy_is_never_lost(scenario: &Scenario, outcome: &Outcome) -> Held {
    let script = &scenario.coordinator;
    // Who stands still for less than agents wait for him loses nobody: the last word before it and
    // the first one behind it take their time.
    let stalls_too_long = script.stalls.is_some_and(|(from_ns, until_ns)| {
        until_ns - from_ns + 3 * SECOND >= scenario.plan.fleet.silence().0
    });
    if stalls_too_long || script.dies_at_ns.is_some() {
        return Ok(());
    }
    for (number, host) in outcome.hosts.iter().enumerate() {
        ensure(!outcome.is_reachable(scenario, number) || !host.is_lost, || {
            format!("host {number} was given up, and nothing had befallen it")
        })?;
    }
    Ok(())
}

/// Once hosts are told to stop, the load of every one that is there ends at once, whoever stands
/// between.
fn a_stop_reaches_every_host(scenario: &Scenario, outcome: &Outcome) -> Held {
    let stalls = scenario.coordinator.stalls;
    // Who stands still is told of an end afterwards.
    let asked_ns = scenario.coordinator.interrupted_at_ns.filter(|_| stalls.is_none());
    let is_over = |at_ns: &u64| outcome.end.as_ref().is_none_or(|(_, end_ns)| end_ns < at_ns);
    let asked_ns = asked_ns.filter(|at_ns| !is_over(at_ns));
    let Some(at_ns) = asked_ns.into_iter().chain(outcome.stopped_ns).min() else { return Ok(()) };
    for (number, host) in outcome.hosts.iter().enumerate() {
        let by_ns = at_ns + 2 * SECOND + host.relays.len() as u64 * SECOND;
        for span in host.loads.iter().filter(|_| outcome.is_reachable(scenario, number)) {
            ensure(span.until_ns.is_some_and(|until_ns| until_ns <= by_ns), || {
                format!("host {number}: {span:?} goes on behind the end at {at_ns}")
            })?;
        }
    }
    Ok(())
}

/// How many hosts of so many were there when the fewest were.
pub(super) fn fewest(hosts: usize, record: &Record) -> usize {
    let (mut there, mut fewest) = (hosts, hosts);
    for note in &record.notes {
        match note.kind() {
            NoteKind::HostLost if note.stage.is_some() => there -= 1,
            NoteKind::HostReturned => there += 1,
            _ => {}
        }
        fewest = fewest.min(there);
    }
    fewest
}

/// Whether a host took part in a stage from its beginning to its end, by what is said of it.
fn is_whole(record: &Record, host: usize, stage: u32) -> bool {
    let of_host =
        |note: &&Note| note.host as usize == host && note.stage.is_some_and(|said| said <= stage);
    let mut said = record.notes.iter().filter(of_host);
    let last =
        said.rfind(|note| matches!(note.kind(), NoteKind::HostLost | NoteKind::HostReturned));
    last.is_none_or(|note| note.kind() == NoteKind::HostReturned)
}

/// A complete run has every stage, each with all samples of all hosts that were there, also of
/// those that had come back; a fleet that nothing befalls completes.
fn complete_is_complete(scenario: &Scenario, outcome: &Outcome, record: &Record) -> Held {
    let Some((end, _)) = &outcome.end else { return Ok(()) };
    ensure(*end == RunEnd::Complete || !scenario.is_calm(), || {
        format!("nothing went wrong, but the run ended with {end:?}")
    })?;
    let added = scenario.plan.stages.len() as u32..record.plan.stages.len() as u32;
    let all = scenario.stages.iter().copied().chain(added);
    for stage in all.filter(|_| *end == RunEnd::Complete) {
        let said = record.stage(stage).and_then(|record| record.end.as_ref());
        ensure(said == Some(&StageEnd::Complete), || {
            format!("the run is complete, but stage {stage} is {said:?}")
        })?;
        // A layout that is written anew before a run goes on is of no row: who was lost meanwhile
        // is on record from the stages on that were left.
        let is_anew = scenario.stages.windows(2).any(|two| two[0] == stage && two[1] > stage + 1);
        let is_short = is_ended_early(record, stage);
        let is_whole = |number: usize| !is_anew && !is_short && is_whole(record, number, stage);
        for (number, host) in
            outcome.hosts.iter().enumerate().filter(|(number, _)| is_whole(*number))
        {
            let (sent, all) =
                (host.arrived[stage as usize].samples, count(scenario, number, stage));
            ensure(sent == all, || {
                format!("host {number}, stage {stage}: {sent} of {all} samples in a complete run")
            })?;
        }
    }
    Ok(())
}

/// Whether hosts end a stage before its time or their own amounts.
fn is_ended_early(record: &Record, stage: u32) -> bool {
    let stop = record.plan.stages[stage as usize].stop();
    stop.steady().is_some() || stop.once().is_some_and(|once| once.stonewall)
}

fn count(scenario: &Scenario, host: usize, stage: u32) -> u64 {
    (0..)
        .take_while(|interval| scenario.hosts[host].load.sample(stage, *interval).is_some())
        .count() as u64
}
