//! Thousands of seeds in every test run; as many as one likes by `cargo xtask soak`.

use super::invariants;
use super::scenario::{Scenario, Weather, with_engines};
use super::world::{self, Outcome};
use model::record::Record;
use model::{Event, StageEnd};

/// Runs a scenario into a record.
fn play(scenario: &Scenario) -> (Outcome, Record) {
    let mut record = Record::new(scenario.plan.clone(), Vec::new(), "0".into(), 0);
    let outcome = world::run(scenario, &mut |event: &Event| record.apply(event.clone()));
    (outcome, record)
}

/// Runs a scenario and insists on its invariants.
fn hold(scenario: &Scenario) -> (Outcome, Record) {
    let (outcome, record) = play(scenario);
    if let Err(what) = invariants::check(scenario, &outcome, &record) {
        panic!("seed {}: {what}; see it with `cargo xtask soak --first {} --seeds 1`", scenario.seed, scenario.seed);
    }
    (outcome, record)
}

/// One seed: a fleet under a foul sky; then what is left of its plan until that is complete.
fn soak(seed: u64) -> u64 {
    let (mut happened, mut left) = (0, None);
    for attempt in 0..=4 {
        // In the end even the worst day is over.
        let weather = if attempt < 4 { Weather::Foul } else { Weather::Calm };
        let scenario = Scenario::of_seed(seed, attempt, left.as_deref(), weather);
        let (outcome, record) = hold(&scenario);
        happened += outcome.happened;
        let complete = |stage: &u32| record.stage(*stage).is_some_and(|stage| stage.end == Some(StageEnd::Complete));
        let next: Vec<u32> = scenario.stages.iter().copied().filter(|stage| !complete(stage)).collect();
        if next.is_empty() {
            return happened;
        }
        left = Some(next);
    }
    panic!("seed {seed}: {left:?} are left of the plan, though nothing went wrong any more");
}

#[test]
fn a_fleet_that_nothing_befalls_completes() {
    (0..200).for_each(|seed| {
        hold(&Scenario::of_seed(seed, 0, None, Weather::Calm));
    });
}

#[test]
fn whatever_goes_wrong_the_invariants_hold_and_what_is_left_completes() {
    (0..1_000).for_each(|seed| {
        soak(seed);
    });
}

#[test]
fn engines_in_virtual_time_lose_no_request_on_the_way() {
    for seed in 0..20 {
        let mut scenario = Scenario::of_seed(seed, 0, None, Weather::Foul);
        scenario.hosts.truncate(4);
        scenario.plan.hosts.truncate(4);
        scenario.plan.fleet.quorum = scenario.plan.fleet.quorum.min(4);
        with_engines(&mut scenario);
        hold(&scenario);
    }
}

#[test]
fn the_same_seed_is_the_same_run() {
    let scenario = Scenario::of_seed(7, 0, None, Weather::Foul);
    assert_eq!(play(&scenario).1, play(&scenario).1);
    assert_ne!(play(&scenario).1, play(&Scenario::of_seed(8, 0, None, Weather::Foul)).1);
}

/// What `cargo xtask soak` runs: `PLIMSOLL_SOAK_SEEDS` seeds from `PLIMSOLL_SOAK_FIRST` on; a few without it.
#[test]
fn soak_seeds() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("PLIMSOLL_SOAK_FIRST").unwrap_or(0);
    let seeds = number("PLIMSOLL_SOAK_SEEDS").unwrap_or(50);
    let happened: u64 = (first..first.saturating_add(seeds)).map(soak).sum();
    println!("{seeds} seeds from {first} on: every invariant held over {happened} events");
}
