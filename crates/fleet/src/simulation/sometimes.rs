//! What is rare and has to occur all the same: where no seed ever comes, no invariant holds
//! anything.

use super::invariants::fewest;
use super::scenario::Scenario;
use super::told::can_go_on;
use super::world::Outcome;
use model::choices::OnLostHost;
use model::note::AboutHosts;
use model::record::Record;
use model::{Fact, NoteKind, OccurrenceKind, RunEnd, StageEnd};
use std::collections::BTreeMap;
use std::fmt;

/// All that has to be seen in a soak.
const ALL: [&str; 41] = [
    "a host comes back",
    "a host below a dead relay comes back by itself",
    "a host comes back and is lost again",
    "a host stays out",
    "a host is dead at the start and comes in",
    "a host is dead at the start and stays away",
    "too few hosts are left",
    "a loss ends the run",
    "a run goes on behind a loss to its end",
    "a stream is taken up again without a loss",
    "a coordinator that slept goes on",
    "a stage breaks off because the coordinator stood still",
    "the coordinator's clock stands still",
    "a host sleeps with its clock and goes on",
    "a host sleeps with its clock and is lost",
    "agents hold out in vain",
    "a take-over makes the stage whole",
    "a take-over leaves a gap",
    "targets are still an earlier attempt's",
    "a start is called off",
    "an agent that was dropped still says something",
    "a search adds a point",
    "a host is lost in a search",
    "a stage is found steady",
    "a stage is never steady",
    "a host is lost while a stage settles",
    "a stonewall stops the others",
    "a layout is given back",
    "a layout is written again by one host",
    "reads are checked and a host stays out",
    "a command before a point fails",
    "a command was killed",
    "a command that does not die is left behind",
    "a command still runs in the next stage",
    "a mark stands between stages",
    "a mark stands in a stage",
    "a mark comes too late",
    "counters come packed",
    "the run cannot be recorded",
    "somebody ends the run",
    "files stay because the run can go on",
];

/// How many runs saw what.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen(BTreeMap<&'static str, u64>);

impl Seen {
    pub(super) fn see(&mut self, what: &'static str) {
        assert!(ALL.contains(&what), "{what} is not among what has to be seen");
        *self.0.entry(what).or_insert(0) += 1;
    }

    pub(super) fn add(&mut self, other: &Seen) {
        for (what, count) in &other.0 {
            *self.0.entry(what).or_insert(0) += count;
        }
    }

    /// What no run saw.
    pub(super) fn never(&self) -> Vec<&'static str> {
        ALL.into_iter().filter(|what| !self.0.contains_key(what)).collect()
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for what in ALL {
            writeln!(f, "{:>8} × {what}", self.0.get(what).copied().unwrap_or(0))?;
        }
        Ok(())
    }
}

/// Notes what was rare in a run.
pub(super) fn look(scenario: &Scenario, outcome: &Outcome, record: &Record, seen: &mut Seen) {
    outcome.seen.iter().for_each(|what| seen.see(what));
    let mut see = |is: bool, what: &'static str| {
        if is {
            seen.see(what);
        }
    };
    hosts(scenario, outcome, record, &mut see);
    coordinator(scenario, outcome, record, &mut see);
    stages(scenario, outcome, record, &mut see);
    instants(scenario, outcome, record, &mut see);
}

type See<'a> = dyn FnMut(bool, &'static str) + 'a;

fn count(record: &Record, kind: NoteKind, host: usize) -> usize {
    record.notes.iter().filter(|note| note.kind() == kind && note.host as usize == host).count()
}

fn hosts(scenario: &Scenario, outcome: &Outcome, record: &Record, see: &mut See<'_>) {
    let end = outcome.end.as_ref().map(|(end, _)| end);
    for (number, host) in outcome.hosts.iter().enumerate() {
        let script = &scenario.hosts[number];
        let lost = count(record, NoteKind::HostLost, number);
        let back = count(record, NoteKind::HostReturned, number);
        let is_below_a_dead_one =
            host.relays.iter().any(|relay| outcome.hosts[*relay].is_lost) && script.is_healthy();
        see(back > 0, "a host comes back");
        see(back > 0 && is_below_a_dead_one, "a host below a dead relay comes back by itself");
        see(back > 0 && lost > back, "a host comes back and is lost again");
        let stays_out = record.notes.iter().any(|note| {
            let stays = matches!(note.fact, Fact::Hosts(AboutHosts::StaysOut { .. }));
            stays && note.host as usize == number
        });
        see(stays_out, "a host stays out");
        let verifies = scenario.plan.hosts[number].engine.contents.verify;
        see(stays_out && verifies, "reads are checked and a host stays out");
        see(script.is_absent && back > 0, "a host is dead at the start and comes in");
        see(script.is_absent && back == 0, "a host is dead at the start and stays away");
        let goes_on = end == Some(&RunEnd::Complete);
        see(lost > 0 && goes_on, "a run goes on behind a loss to its end");
        let is_kept = !host.is_lost && goes_on;
        see(script.taken_up_again && is_kept, "a stream is taken up again without a loss");
        let sleeps = script.time.stands_still.is_some();
        see(sleeps && is_kept, "a host sleeps with its clock and goes on");
        see(sleeps && host.is_lost, "a host sleeps with its clock and is lost");
        let anew = host.sampled.iter().zip(&host.arrived).next();
        let prepares = scenario.plan.stages[0].prepares_all();
        let is_anew = anew.is_some_and(|(sent, came)| sent.samples > came.samples + 1);
        see(prepares && back > 0 && is_anew, "a layout is written again by one host");
    }
}

fn coordinator(scenario: &Scenario, outcome: &Outcome, record: &Record, see: &mut See<'_>) {
    let (script, policy) = (&scenario.coordinator, scenario.plan.fleet);
    let end = outcome.end.as_ref().map(|(end, _)| end);
    let failed = matches!(end, Some(RunEnd::Failed(_)));
    let is_lost = can_go_on(scenario, outcome, record);
    let aborts = policy.on_lost_host == OnLostHost::Abort;
    let left = fewest(outcome.hosts.len(), record);
    let too_few = failed && !aborts && left < policy.quorum as usize;
    see(too_few, "too few hosts are left");
    see(aborts && is_lost, "a loss ends the run");
    let stall_ns = script.stalls.map_or(0, |(from_ns, until_ns)| until_ns - from_ns);
    let slept = stall_ns > policy.lost_after.0 && !script.clock_stalls;
    see(slept && end == Some(&RunEnd::Complete), "a coordinator that slept goes on");
    let breaks_off =
        record.stages.iter().any(|stage| stage.end == Some(StageEnd::Interrupted)) && failed;
    let stood_still = slept && breaks_off && is_lost;
    see(stood_still, "a stage breaks off because the coordinator stood still");
    see(script.clock_stalls && stall_ns > 0, "the coordinator's clock stands still");
    let holds = policy.hold.0 > 0;
    see(holds && end.is_none() && !outcome.taken_over, "agents hold out in vain");
    see(end == Some(&RunEnd::Interrupted), "somebody ends the run");
    see(is_lost && !scenario.keep_data, "files stay because the run can go on");
    let lost = record.notes.iter().any(|note| note.kind() == NoteKind::HostLost);
    see(lost && scenario.further_points.is_some(), "a host is lost in a search");
}

fn stages(scenario: &Scenario, outcome: &Outcome, record: &Record, see: &mut See<'_>) {
    let says = |kind: NoteKind| record.notes.iter().any(|note| note.kind() == kind);
    see(says(NoteKind::Settled), "a stage is found steady");
    see(says(NoteKind::Unsettled), "a stage is never steady");
    for stage in &record.stages {
        let stop = record.plan.stages[stage.stage as usize].stop();
        let lost = |note: &model::Note| {
            note.kind() == NoteKind::HostLost && note.stage == Some(stage.stage)
        };
        let is_lost = record.notes.iter().any(lost);
        see(stop.steady().is_some() && is_lost, "a host is lost while a stage settles");
        let stonewall = stop.once().is_some_and(|once| once.stonewall);
        let lengths: Vec<usize> = (0..outcome.hosts.len() as u32)
            .map(|host| stage.samples().iter().filter(|one| one.host == host).count())
            .collect();
        let all = |host: usize| {
            let load = &scenario.hosts[host].load;
            (0..).take_while(|interval| load.sample(stage.stage, *interval).is_some()).count()
        };
        let is_cut = || (0..lengths.len()).any(|host| lengths[host] < all(host));
        let is_whole = stage.end == Some(StageEnd::Complete);
        see(stonewall && is_whole && is_cut(), "a stonewall stops the others");
        see(!stage.counters().is_empty(), "counters come packed");
    }
    let gives = |(_, deed): &(usize, super::layouts::Deed)| {
        matches!(deed, super::layouts::Deed::GivesBack { .. })
    };
    see(outcome.deeds.iter().any(gives), "a layout is given back");
    see(says(NoteKind::CachesNotEmptied), "a command before a point fails");
}

fn instants(_: &Scenario, outcome: &Outcome, record: &Record, see: &mut See<'_>) {
    let of = |kind: OccurrenceKind| record.occurrences.iter().filter(move |one| one.kind == kind);
    let mut still = of(OccurrenceKind::StillRunning);
    see(still.next().is_some(), "a command still runs in the next stage");
    see(of(OccurrenceKind::Mark).any(|one| one.stage.is_none()), "a mark stands between stages");
    see(of(OccurrenceKind::Mark).any(|one| one.stage.is_some()), "a mark stands in a stage");
    let late = |(_, answer): &(u32, Option<crate::coordinator::Marked>)| {
        matches!(answer, Some(crate::coordinator::Marked::Over))
    };
    see(outcome.marks.iter().any(late), "a mark comes too late");
}
