//! Thousands of seeds in every test run; as many as one likes by `cargo xtask soak`.

use super::invariants;
use super::scenario::{Scenario, Size, Weather, with_engines};
use super::world::{self, Outcome};
use super::{MILLI, SECOND};
use model::plan::{FleetPolicy, HostStage, Steady, Stop, Worker};
use model::record::Record;
use model::spec::OnLostHost;
use model::{Event, Nanos, Phase, StageEnd};

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

/// Far links, clocks that are off and hosts that wake late: all hear of the common end in time.
#[test]
fn a_stage_that_is_found_steady_ends_with_the_same_whole_interval_on_all_hosts() {
    let policy = FleetPolicy { on_lost_host: OnLostHost::Abort, quorum: 1, lost_after: Nanos::seconds(10) };
    let steady = Steady::new(Nanos::seconds(4), Nanos::seconds(30), Nanos(200 * MILLI));
    for seed in 0..100 {
        let size = Size { hosts: 1 + (seed % 7) as u32, stages_ns: vec![30 * SECOND], interval_ns: 200 * MILLI };
        let mut scenario = Scenario::calm(seed, &size, policy);
        scenario
            .plan
            .stages
            .iter_mut()
            .flat_map(|stage| &mut stage.works)
            .for_each(|work| work.stop = Stop::Steady(steady));
        let stage = scenario.plan.stages[0].clone();
        let worker = Worker { work: 0, seed: 0, turn: (0, 1), extents: Vec::new(), files: None };
        for host in &mut scenario.plan.hosts {
            let workers = vec![worker.clone()];
            host.stages = vec![HostStage { stage: 0, kind: stage.kind, works: stage.works.clone(), workers }];
        }
        let (_, record) = play(&scenario);
        let told = &record.stages[0];
        assert_eq!(told.end, Some(StageEnd::Complete), "seed {seed}");
        let whole = |host: u32| {
            let load = told.samples.iter().filter(|sample| sample.host == host && sample.phase == Phase::Load);
            load.inspect(|sample| assert_eq!(sample.length_ns, 200 * MILLI, "seed {seed}")).count()
        };
        let counts: Vec<usize> = (0..size.hosts).map(whole).collect();
        assert!(counts.iter().all(|count| *count == counts[0]), "seed {seed}: {counts:?}");
        assert!((21..100).contains(&counts[0]), "seed {seed}: {counts:?}");
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
