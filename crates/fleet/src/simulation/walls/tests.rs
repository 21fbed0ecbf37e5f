//! Amounts in a cluster: when the first worker of all is done, the others hear of it within a
//! link's delay.

use super::load::Load;
use super::scenario::{Scenario, Size, Weather, policy};
use super::world::{self, Outcome};
use super::{MILLI, SECOND};
use model::choices::OnLostHost;
use model::plan::{Once, Stop};
use model::record::Record;
use model::units::Nanos;
use model::{Event, RunEnd, StageEnd};

/// The shortest amount of any host takes so long, and that of each next one so much more, in ns.
const STEP_NS: u64 = 2 * SECOND;

/// Two stages on hosts whose links and clocks differ by `seed`; the host `seed % hosts` has the
/// least to do.
fn unequal(seed: u64, stonewall: bool) -> Scenario {
    let hosts = 2 + seed % 6;
    let policy = policy(OnLostHost::Abort, Nanos::seconds(10), Nanos(0));
    let size = Size { hosts: hosts as u32, stages_ns: vec![STEP_NS; 2], interval_ns: SECOND };
    let mut scenario = Scenario::calm(seed, &size, policy);
    let varied = Scenario::of_seed(seed, 0, None, Weather::Calm);
    for stage in &mut scenario.plan.stages {
        stage.works[0].stop = Stop::Once(Once { stonewall, fsync: false, close: false });
    }
    for (number, host) in scenario.hosts.iter_mut().enumerate() {
        let like = &varied.hosts[number % varied.hosts.len()];
        (host.time, host.behaviour) = (like.time, like.behaviour.clone());
        for (line, like) in [(&mut host.down, &like.down), (&mut host.up, &like.up)] {
            (line.least_ns, line.jitter_ns) = (like.least_ns, like.jitter_ns);
        }
        if let Load::MadeUp { durations_ns, .. } = &mut host.load {
            let place = (number as u64 + hosts - seed % hosts) % hosts;
            durations_ns.fill(STEP_NS * (1 + place));
        }
    }
    scenario
}

fn play(scenario: &Scenario) -> (Outcome, Record) {
    let mut record = Record::new(scenario.plan.clone(), Vec::new(), "0".into(), 0);
    let outcome = world::run(scenario, &mut |event: &Event| record.apply(event.clone()));
    assert_eq!(
        outcome.end.as_ref().map(|(end, _)| end),
        Some(&RunEnd::Complete),
        "seed {}",
        scenario.seed
    );
    (outcome, record)
}

/// When the load of each host ended in `stage`, in ns of true time.
fn ends_ns(outcome: &Outcome, stage: usize) -> Vec<u64> {
    outcome.hosts.iter().map(|host| host.loads[stage].until_ns.expect("the load ended")).collect()
}

#[test]
fn a_stonewall_ends_all_hosts_within_a_links_delay_of_the_first_and_the_stage_is_complete() {
    for seed in 0..200 {
        let scenario = unequal(seed, true);
        let (outcome, record) = play(&scenario);
        let first = (seed % scenario.hosts.len() as u64) as usize;
        for stage in 0..2 {
            let ends_ns = ends_ns(&outcome, stage);
            let up = &scenario.hosts[first].up;
            for (host, script) in scenario.hosts.iter().enumerate() {
                let delay_ns = up.least_ns
                    + up.jitter_ns
                    + script.down.least_ns
                    + script.down.jitter_ns
                    + MILLI;
                let late_ns = ends_ns[host].saturating_sub(ends_ns[first]);
                assert!(
                    late_ns <= delay_ns,
                    "seed {seed}, stage {stage}, host {host}: {late_ns} ns late"
                );
            }
            assert_eq!(record.stages[stage].end, Some(StageEnd::Complete));
        }
        for (host, outcome) in outcome.hosts.iter().enumerate() {
            assert_eq!(
                outcome.arrived, outcome.sampled,
                "seed {seed}, host {host}: what was done is recorded"
            );
        }
    }
}

#[test]
fn without_a_stonewall_every_host_does_its_whole_amount() {
    for seed in 0..50 {
        let scenario = unequal(seed, false);
        let (outcome, _) = play(&scenario);
        let ends_ns = ends_ns(&outcome, 0);
        let (first, last) =
            (ends_ns.iter().min().expect("hosts"), ends_ns.iter().max().expect("hosts"));
        let steps = scenario.hosts.len() as u64 - 1;
        assert!(last - first > steps * STEP_NS - SECOND, "seed {seed}: {first} {last}");
    }
}
