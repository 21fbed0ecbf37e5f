//! One seed: a fleet under a foul sky, and attempt after attempt at what is left of its plan.
//!
//! Agents of an attempt that broke off may still have their targets when the next one begins; or
//! somebody takes them over, and joins what they kept to the record.

use super::load::Tally;
use super::scenario::{Scenario, Weather};
use super::sometimes::Seen;
use super::world::{self, Outcome};
use super::{SECOND, invariants, sometimes};
use model::record::Record;
use model::rng::{Rng, derive};
use model::takeover::{self, Kept};
use model::{Event, NoteKind, StageEnd};

#[derive(Debug, Default)]
pub(super) struct Soaked {
    /// Things that happened, of all kinds.
    pub(super) happened: u64,
    /// What is rare, and was seen.
    pub(super) seen: Seen,
}

/// Runs a scenario into a record.
pub(super) fn play(scenario: &Scenario) -> (Outcome, Record) {
    let mut record = Record::new(scenario.plan.clone(), Vec::new(), "0".into(), 0);
    let outcome = world::run(scenario, &mut |event: &Event| record.apply(event.clone()));
    (outcome, record)
}

/// The same, where its invariants hold.
pub(super) fn held(scenario: &Scenario) -> Result<(Outcome, Record), String> {
    let (outcome, record) = play(scenario);
    match invariants::check(scenario, &outcome, &record) {
        Ok(()) => Ok((outcome, record)),
        Err(what) => Err(named(scenario.seed, &what)),
    }
}

fn named(seed: u64, what: &str) -> String {
    format!("seed {seed}: {what}; see it with `cargo xtask soak --first {seed} --seeds 1`")
}

/// All attempts of a seed, until its plan is complete.
pub(super) fn soak(seed: u64) -> Result<Soaked, String> {
    let (mut soaked, mut left, mut locked_ns) = (Soaked::default(), None, Vec::new());
    for attempt in 0..=4 {
        // In the end even the worst day is over, and who had the targets is gone.
        let is_last = attempt == 4;
        let weather = if is_last { Weather::Calm } else { Weather::Foul };
        let mut scenario = Scenario::of_seed(seed, attempt, left.as_deref(), weather);
        if !is_last {
            scenario = scenario.locked_until(&locked_ns);
        }
        let (outcome, mut record) = held(&scenario)?;
        soaked.happened += outcome.happened;
        sometimes::look(&scenario, &outcome, &record, &mut soaked.seen);
        let joined = join(&scenario, &outcome, &mut record).map_err(|what| named(seed, &what))?;
        if let Some(is_whole) = joined {
            soaked.seen.see(if is_whole {
                "a take-over makes the stage whole"
            } else {
                "a take-over leaves a gap"
            });
        }
        let next = left_over(&scenario, &outcome, &record);
        if next.is_empty() {
            return Ok(soaked);
        }
        // A search cannot be taken up in the middle.
        left = scenario.further_points.is_none().then_some(next);
        let mut gap = Rng::new(derive(seed, &[18, attempt.into()]));
        let most_ns = [SECOND, 90 * SECOND][gap.below(2) as usize];
        let begins_ns = outcome.over_ns + gap.below(most_ns);
        let locked = |gone_ns: Option<u64>| gone_ns.unwrap_or(0).saturating_sub(begins_ns);
        locked_ns = outcome.hosts.iter().map(|host| locked(host.gone_ns)).collect();
    }
    Err(named(seed, &format!("{left:?} are left of the plan, though nothing went wrong any more")))
}

/// What is left of the plan.
fn left_over(scenario: &Scenario, outcome: &Outcome, record: &Record) -> Vec<u32> {
    let is_complete = |stage: &u32| {
        record.stage(*stage).is_some_and(|stage| stage.end == Some(StageEnd::Complete))
    };
    let is_searched = matches!(&outcome.end, Some((model::RunEnd::Complete, _)));
    if scenario.further_points.is_some() && !is_searched {
        return scenario.stages.clone();
    }
    scenario.stages.iter().copied().filter(|stage| !is_complete(stage)).collect()
}

/// Joins what agents kept that were taken over. Whether that made their stage whole; `None` where
/// nobody took over, or no stage was under way.
fn join(
    scenario: &Scenario,
    outcome: &Outcome,
    record: &mut Record,
) -> Result<Option<bool>, String> {
    let under_way = takeover::under_way(record);
    let Some(stage) = under_way.filter(|_| outcome.taken_over && outcome.end.is_none()) else {
        return Ok(None);
    };
    if scenario.coordinator.records.is_some() {
        return Ok(None);
    }
    let told: Vec<(u32, Kept)> = (0..)
        .zip(&outcome.hosts)
        .filter_map(|(number, host)| Some((number, host.kept.clone()?)))
        .collect();
    let ended = |host: u32| {
        told.iter().any(|(number, kept)| *number == host && kept.end == Some(StageEnd::Complete))
    };
    let hosts = outcome.hosts.len() as u32;
    let all_ended = (0..hosts).filter(|host| is_there(record, *host)).all(ended);
    takeover::join(record, stage, told.clone());
    let is_whole = record.stage(stage).is_some_and(|one| one.end == Some(StageEnd::Complete));
    if is_whole != all_ended {
        return Err(format!(
            "stage {stage} was taken over: all ended it is {all_ended}, but it is whole is \
             {is_whole}"
        ));
    }
    for host in 0..hosts {
        let mut tally = Tally::default();
        let samples = record.samples().filter(|one| one.host == host && one.stage == stage);
        for (next, sample) in (0..).zip(samples) {
            if sample.interval != next {
                return Err(format!(
                    "host {host}, stage {stage}: interval {} in place of {next} behind a take-over",
                    sample.interval
                ));
            }
            tally.add(sample);
        }
        let sent = &outcome.hosts[host as usize].sampled[stage as usize];
        if is_whole && is_there(record, host) && tally != *sent {
            return Err(format!(
                "host {host}, stage {stage}: {sent:?} was sent, and {tally:?} is on record behind \
                 a take-over"
            ));
        }
    }
    Ok(Some(is_whole))
}

fn is_there(record: &Record, host: u32) -> bool {
    let about = |kind: NoteKind| matches!(kind, NoteKind::HostLost | NoteKind::HostReturned);
    let last = record.notes.iter().rfind(|note| note.host == host && about(note.kind()));
    last.is_none_or(|note| note.kind() == NoteKind::HostReturned)
}
