//! Thousands of seeds in every test run; as many as one likes by `cargo xtask soak`.

use super::attempts::{held, play, soak};
use super::layouts::Deed;
use super::scenario::{Mishap, Scenario, Size, Weather, policy, with_engines};
use super::sometimes::Seen;
use super::world::{self, Outcome};
use super::{MILLI, SECOND, invariants};
use model::choices::OnLostHost;
use model::inventory::Inventory;
use model::plan::{FleetPolicy, Steady, Stop};
use model::record::Record;
use model::takeover::{self, Kept};
use model::units::Nanos;
use model::{Event, Fact, NoteKind, Phase, RunEnd, StageEnd, StageKind};

/// Runs a scenario and insists on its invariants.
fn hold(scenario: &Scenario) -> (Outcome, Record) {
    held(scenario).unwrap_or_else(|what| panic!("{what}"))
}

#[test]
fn a_fleet_that_nothing_befalls_completes() {
    (0..200).for_each(|seed| {
        hold(&Scenario::of_seed(seed, 0, None, Weather::Calm));
    });
}

#[test]
#[ignore = "a proof"]
fn whatever_goes_wrong_the_invariants_hold_and_what_is_left_completes() {
    for seed in 0..1_000 {
        soak(seed).unwrap_or_else(|what| panic!("{what}"));
    }
}

/// Hosts that are slow in every stage of every layout, each by another factor.
fn slow_hosts(seed: u64, in_turns: bool) -> Scenario {
    let size = Size {
        hosts: 4,
        stages_ns: vec![SECOND, 300 * MILLI, 2 * SECOND, SECOND, 100 * MILLI],
        interval_ns: SECOND,
    };
    let policy = policy(OnLostHost::Abort, Nanos::seconds(5), Nanos(0));
    let mut scenario = Scenario::calm(seed, &size, policy);
    scenario.lay_out(2 + (seed % 3) as u32, in_turns);
    for stage in &mut scenario.plan.stages {
        stage.works.iter_mut().for_each(|work| work.stop = Stop::Amount);
    }
    for (host, script) in (0u64..).zip(&mut scenario.hosts) {
        let slow = |(stage, ns): (u64, &u64)| ns * (1 + (seed + host * 7 + stage * 3) % 40);
        script.load =
            script.load.clone().lasting((0u64..).zip(&size.stages_ns).map(slow).collect());
        script.behaviour.pause_ns = SECOND * (1 + (seed + host) % 4);
    }
    scenario
}

#[test]
fn no_layout_is_given_back_while_a_host_however_slow_has_a_stage_of_it() {
    let mut given_back = 0;
    for seed in 0..200 {
        let (outcome, record) = hold(&slow_hosts(seed, seed % 2 == 0));
        assert_eq!(record.end.clone().map(|(_, end)| end), Some(RunEnd::Complete), "seed {seed}");
        given_back +=
            outcome.deeds.iter().filter(|(_, deed)| matches!(deed, Deed::GivesBack { .. })).count();
    }
    assert!(given_back > 200 * 4, "{given_back}");
}

/// The rule that agents once had: it must be seen.
#[test]
fn an_agent_that_gives_back_when_its_own_stage_is_over_breaks_an_invariant() {
    let mut broken = 0;
    for seed in 0..20 {
        let mut scenario = slow_hosts(seed, seed % 2 == 0);
        scenario.hosts.iter_mut().for_each(|host| host.behaviour.gives_back_alone = true);
        let (outcome, record) = play(&scenario);
        let Err(what) = invariants::check(&scenario, &outcome, &record) else { continue };
        assert!(what.contains("still has a stage of it"), "{what}");
        broken += 1;
    }
    assert_eq!(broken, 20);
}

/// All that is measured, in an order that does not say in which it came.
fn measured(record: &Record) -> Vec<&model::IntervalSample> {
    let mut samples: Vec<_> = record.samples().collect();
    samples.sort_by_key(|sample| (sample.stage, sample.host, sample.interval));
    samples
}

/// Whether no host hears of the end of a stage: that takes as long as its links.
fn ends_by_itself(scenario: &Scenario) -> bool {
    let mut stops = scenario.plan.stages.iter().map(model::plan::Stage::stop);
    stops.all(|stop| matches!(stop, Stop::After(_) | Stop::Amount))
}

#[test]
#[ignore = "a proof"]
fn over_a_tree_the_result_is_the_same_to_the_bit() {
    let mut most_hosts = 0;
    for seed in 0..400 {
        if !ends_by_itself(&Scenario::of_seed(seed, 0, None, Weather::Calm)) {
            continue;
        }
        let shape = |fanout: usize| {
            let mut scenario = Scenario::of_seed(seed, 0, None, Weather::Calm);
            scenario.fanout = fanout;
            hold(&scenario).1
        };
        let flat = shape(1_000);
        most_hosts = most_hosts.max(flat.plan.hosts.len());
        for fanout in if flat.plan.hosts.len() > 8 { [4, 9] } else { [2, 3] } {
            let tree = shape(fanout);
            assert_eq!(measured(&tree), measured(&flat), "seed {seed}, fanout {fanout}");
            let ends = |record: &Record| {
                record.stages.iter().map(|stage| stage.end.clone()).collect::<Vec<_>>()
            };
            assert_eq!(ends(&tree), ends(&flat));
            assert_eq!(tree.end.map(|(_, end)| end), flat.end.clone().map(|(_, end)| end));
        }
    }
    assert!(most_hosts > 20, "no seed has a tree worth the name");
}

#[test]
fn a_relay_that_dies_takes_exactly_those_below_it_with_it() {
    let size = Size { hosts: 13, stages_ns: vec![20 * SECOND], interval_ns: SECOND };
    let policy = policy(OnLostHost::Continue, Nanos::seconds(3), Nanos(0));
    let scenario = Scenario { fanout: 3, ..Scenario::calm(3, &size, policy) };
    // The branches are 0 to 3, 4 to 7 and 8 to 12; of the last, 9, 10 and 11 with 12 are below 8.
    for (relay, closed_after_ns, lost) in [
        (4, Some(0), &[4, 5, 6, 7][..]),
        (4, None, &[4, 5, 6, 7]),
        (8, Some(0), &[8, 9, 10, 11, 12]),
        (11, Some(0), &[11, 12]),
    ] {
        let mut scenario = scenario.clone();
        scenario.hosts[relay].mishap = Some(Mishap::Dies { at_ns: 5 * SECOND, closed_after_ns });
        let (outcome, record) = hold(&scenario);
        assert_eq!(record.end.clone().map(|(_, end)| end), Some(RunEnd::Complete));
        let given_up: Vec<usize> = (0..13).filter(|host| outcome.hosts[*host].is_lost).collect();
        assert_eq!(given_up, lost);
        let mut named: Vec<u32> = record
            .notes
            .iter()
            .filter(|note| note.kind() == NoteKind::HostLost)
            .map(|note| note.host)
            .collect();
        named.sort_unstable();
        assert_eq!(named, lost.iter().map(|host| *host as u32).collect::<Vec<_>>());
        if closed_after_ns.is_some() {
            let told = |host: usize| {
                record
                    .notes
                    .iter()
                    .find(|note| note.host as usize == host)
                    .map(|note| note.fact.clone())
            };
            let (name, why) = (format!("h{}", lost[1]), format!("its relay h{relay} was lost"));
            assert_eq!(told(lost[1]), Some(Fact::HostLost { name, why }));
            // Nobody loads on without a relay.
            let ends_ns =
                |host: &usize| outcome.hosts[*host].loads.last().and_then(|span| span.until_ns);
            assert!(lost.iter().all(|host| ends_ns(host).is_some_and(|ns| ns < 6 * SECOND)));
        }
    }
}

/// What befell hosts that were lost, over many seeds: all of it has to occur, or the invariants
/// hold for nothing.
#[test]
#[ignore = "a proof"]
fn lost_hosts_come_back_in_the_sun_and_in_the_rain() {
    let (mut returned, mut over_trees, mut again, mut in_vain, mut completed) = (0, 0, 0, 0, 0);
    for seed in 0..1_500 {
        let mut scenario = Scenario::of_seed(seed, 0, None, Weather::Foul);
        scenario.plan.fleet =
            FleetPolicy { on_lost_host: OnLostHost::Continue, quorum: 1, ..scenario.plan.fleet };
        let (_, record) = hold(&scenario);
        let said = |kind: NoteKind, host: u32| {
            record
                .notes
                .iter()
                .filter(|note| note.kind() == kind && note.host == host && note.stage.is_some())
                .count()
        };
        let hosts = scenario.hosts.len() as u32;
        let back: Vec<u32> =
            (0..hosts).filter(|host| said(NoteKind::HostReturned, *host) > 0).collect();
        returned += back.len();
        over_trees += if scenario.fanout < hosts as usize { back.len() } else { 0 };
        again += back.iter().filter(|host| said(NoteKind::HostLost, **host) > 1).count();
        in_vain += (0..hosts)
            .filter(|host| said(NoteKind::HostLost, *host) > 0 && !back.contains(host))
            .count();
        let is_complete = record.end.as_ref().is_some_and(|(_, end)| *end == RunEnd::Complete);
        completed += usize::from(is_complete && !back.is_empty());
    }
    let all = [returned, over_trees, again, in_vain, completed];
    assert!(all.iter().all(|count| *count >= 10), "{all:?}");
}

/// What agents kept, joined to what a dead coordinator recorded, is what it would have recorded.
/// One interval less, and the stage is to be measured anew.
#[test]
fn what_agents_kept_makes_the_record_of_a_dead_coordinator_whole() {
    let size = Size { hosts: 3, stages_ns: vec![10 * SECOND], interval_ns: SECOND };
    let policy = policy(OnLostHost::Continue, Nanos::seconds(3), Nanos::seconds(60));
    for seed in 0..20 {
        let mut scenario = Scenario::calm(seed, &size, policy);
        let whole = play(&scenario).1;
        scenario.coordinator.dies_at_ns = Some(4 * SECOND + seed * 100 * MILLI);
        let cut_off = play(&scenario).1;
        assert_eq!(takeover::under_way(&cut_off), Some(0), "seed {seed}");
        let told = |lacking: Option<u32>| {
            let kept = |host: u32| Kept {
                samples: whole
                    .samples()
                    .filter(|sample| sample.host == host)
                    .filter(|sample| host != 1 || Some(sample.interval) != lacking)
                    .cloned()
                    .collect(),
                end: Some(StageEnd::Complete),
                ..Kept::default()
            };
            (0..3).map(|host| (host, kept(host))).collect::<Vec<_>>()
        };
        let missing = whole.samples().count() - cut_off.samples().count();
        let mut joined = cut_off.clone();
        assert_eq!(takeover::join(&mut joined, 0, told(None)), missing as u64, "seed {seed}");
        assert_eq!(joined.stages[0].end, Some(StageEnd::Complete));
        assert_eq!(measured(&joined), measured(&whole), "seed {seed}");
        let last = whole.samples().map(|sample| sample.interval).max();
        for lacking in [last.map(|last| last - 1), Some(9)] {
            let mut joined = cut_off.clone();
            takeover::join(&mut joined, 0, told(lacking));
            assert_eq!(joined.stages[0].end, None, "seed {seed}: a gap at {lacking:?}");
        }
        let mut joined = cut_off.clone();
        takeover::join(&mut joined, 0, told(None).split_off(1));
        assert_eq!(joined.stages[0].end, None, "seed {seed}: one host is not heard of");
    }
}

/// What is rare: each of it has to occur, or the invariants hold for nothing.
#[test]
#[ignore = "a proof"]
fn who_holds_out_is_taken_up_again_and_a_coordinator_that_slept_goes_on() {
    let (mut taken_up, mut slept_through, mut broken_off, mut held_in_vain) = (0, 0, 0, 0);
    for seed in 0..4_000 {
        let mut scenario = Scenario::of_seed(seed, 0, None, Weather::Foul);
        scenario.plan.fleet.on_lost_host = OnLostHost::Continue;
        let policy = scenario.plan.fleet;
        let script = scenario.coordinator;
        let holds = policy.hold > Nanos(0);
        let stall_ns = script.stalls.map_or(0, |(from_ns, until_ns)| until_ns - from_ns);
        let is_of_interest = scenario.hosts.iter().any(|host| host.taken_up_again)
            || stall_ns > policy.lost_after.0
            || (holds && script.dies_at_ns.is_some());
        if !is_of_interest {
            continue;
        }
        let (outcome, record) = hold(&scenario);
        let end = record.end.as_ref().map(|(_, end)| end);
        let is_complete = end == Some(&RunEnd::Complete);
        let again = scenario.hosts.iter().zip(&outcome.hosts);
        taken_up += again.filter(|(host, told)| host.taken_up_again && !told.is_lost).count();
        let sleeps = stall_ns > policy.lost_after.0;
        slept_through += usize::from(sleeps && holds && is_complete);
        let said = |end: &RunEnd| matches!(end, RunEnd::Failed(why) if why.contains("stood still"));
        broken_off += usize::from(sleeps && !holds && end.is_some_and(said));
        held_in_vain += usize::from(holds && outcome.end.is_none());
    }
    let all = [taken_up, slept_through, broken_off, held_in_vain];
    assert!(all.iter().all(|count| *count >= 5), "{all:?}");
}

/// Hosts that are dead when the run begins: the run goes on without, and some come in.
#[test]
fn who_is_dead_at_the_start_costs_nobody_the_run_and_may_come_in_between_points() {
    let (mut absent, mut came_in, mut stayed_out, mut completed) = (0, 0, 0, 0);
    for seed in 0..1_500 {
        let scenario = Scenario::of_seed(seed, 0, None, Weather::Foul);
        let dead: Vec<u32> =
            (0..).zip(&scenario.hosts).filter(|(_, host)| host.is_absent).map(|(n, _)| n).collect();
        if dead.is_empty() {
            continue;
        }
        let (_, record) = hold(&scenario);
        let said = |kind: NoteKind, host: u32| {
            record.notes.iter().filter(|note| note.kind() == kind && note.host == host).count()
        };
        let is_recorded = scenario.coordinator.records.is_none();
        assert!(
            !is_recorded || dead.iter().all(|host| said(NoteKind::HostLost, *host) > 0),
            "seed {seed}: each is on record"
        );
        absent += dead.len();
        let back = dead.iter().filter(|host| said(NoteKind::HostReturned, **host) > 0).count();
        (came_in, stayed_out) = (came_in + back, stayed_out + dead.len() - back);
        completed += usize::from(record.end.is_some_and(|(_, end)| end == RunEnd::Complete));
    }
    let all = [absent, came_in, stayed_out, completed];
    assert!(all.iter().all(|count| *count >= 20), "{all:?}");
}

/// A layout that is written anew by one host is on record once, of the first time.
#[test]
fn a_host_that_is_lost_while_the_layout_is_written_writes_it_again_and_is_in_the_next_point() {
    let policy = policy(OnLostHost::Continue, Nanos::seconds(3), Nanos(0));
    let size = Size { hosts: 3, stages_ns: vec![5 * SECOND; 8], interval_ns: SECOND };
    let mut came_back = 0;
    for seed in 0..50 {
        let mut scenario = Scenario::calm(seed, &size, policy);
        (scenario.plan.stages[0].kind, scenario.plan.stages[0].point) = (StageKind::Prepare, None);
        scenario.hosts[1].mishap =
            Some(Mishap::Dies { at_ns: 3 * SECOND, closed_after_ns: Some(0) });
        let (outcome, record) = hold(&scenario);
        let Some(back) = record.notes.iter().find(|note| note.kind() == NoteKind::HostReturned)
        else {
            continue;
        };
        came_back += 1;
        let samples = |stage: u32| {
            let of_stage =
                record.stage(stage).into_iter().flat_map(model::record::StageRecord::samples);
            of_stage.filter(|sample| sample.host == 1).count()
        };
        assert!(samples(0) <= 3, "seed {seed}: only what it had written when it was lost");
        let sent = outcome.hosts[1].sampled[0].samples;
        assert!(
            sent as usize > samples(0) + 5,
            "seed {seed}: it wrote it all again, in {sent} samples"
        );
        let from = back.stage.expect("a stage");
        let next_loss = record.notes.iter().filter(|note| note.kind() == NoteKind::HostLost).nth(1);
        let until = next_loss.and_then(|note| note.stage).unwrap_or(8);
        assert!(
            (from..until).all(|stage| samples(stage) == 6),
            "seed {seed}: from {from} to {until}"
        );
    }
    assert!(came_back > 10, "{came_back}");
}

#[test]
fn engines_in_virtual_time_lose_no_request_on_the_way() {
    let is_alone =
        |scenario: &Scenario| scenario.further_points.is_none() && ends_by_itself(scenario);
    let scenarios = (0..).map(|seed| Scenario::of_seed(seed, 0, None, Weather::Foul));
    for mut scenario in scenarios.filter(is_alone).take(20) {
        scenario.hosts.truncate(4);
        scenario.plan.hosts.truncate(4);
        scenario.plan.fleet.quorum = scenario.plan.fleet.quorum.min(4);
        scenario.hosts.iter_mut().for_each(|host| host.is_absent = false);
        with_engines(&mut scenario);
        hold(&scenario);
    }
}

/// Far links, clocks that are off and hosts that wake late: all hear of the common end in time.
#[test]
fn a_stage_that_is_found_steady_ends_with_the_same_whole_interval_on_all_hosts() {
    let policy = policy(OnLostHost::Abort, Nanos::seconds(10), Nanos(0));
    let steady = Steady::new(Nanos::seconds(4), Nanos::seconds(30), Nanos(200 * MILLI));
    for seed in 0..100 {
        let size = Size {
            hosts: 1 + (seed % 7) as u32,
            stages_ns: vec![30 * SECOND],
            interval_ns: 200 * MILLI,
        };
        let mut scenario = Scenario::calm(seed, &size, policy);
        let works = scenario.plan.stages.iter_mut().flat_map(|stage| &mut stage.works);
        works.for_each(|work| work.stop = Stop::Steady(steady));
        scenario.share();
        let (_, record) = play(&scenario);
        let told = &record.stages[0];
        assert_eq!(told.end, Some(StageEnd::Complete), "seed {seed}");
        let whole = |host: u32| {
            let load = told
                .samples()
                .iter()
                .filter(|sample| sample.host == host && sample.phase == Phase::Load);
            load.inspect(|sample| assert_eq!(sample.length_ns, 200 * MILLI, "seed {seed}")).count()
        };
        let counts: Vec<usize> = (0..size.hosts).map(whole).collect();
        assert!(counts.iter().all(|count| *count == counts[0]), "seed {seed}: {counts:?}");
        assert!((21..100).contains(&counts[0]), "seed {seed}: {counts:?}");
    }
}

/// The run file's own writer takes the events of simulated fleets, some at a time, and what is read
/// back is what was told.
#[test]
fn what_a_fleet_says_is_read_back_from_its_run_file() {
    let folder = tempfile::tempdir().expect("a folder");
    for seed in 0..12 {
        let mut scenario = Scenario::of_seed(seed, 0, None, Weather::Foul);
        scenario.share();
        let stages = scenario.plan.hosts.iter_mut().flat_map(|host| &mut host.stages);
        stages.for_each(|stage| stage.workers.clear());
        let path = folder.path().join(format!("{seed}.plimsoll"));
        let facts = probe::Looker::new().host("0", Inventory::default(), Vec::new());
        let testbed = vec![facts; scenario.hosts.len()];
        let mut writer =
            store::Writer::create(&path, &scenario.plan, &testbed, "0", 0).expect("a run file");
        let mut waiting = Vec::new();
        let mut told = Record::new(scenario.plan.clone(), Vec::new(), "0".into(), 0);
        world::run(&scenario, &mut |event: &Event| {
            told.apply(event.clone());
            waiting.push(event.clone());
            if waiting.len() as u64 == 1 + seed {
                writer.append_all(&waiting).expect("room");
                waiting.clear();
            }
        });
        writer.append_all(&waiting).expect("room");
        writer.finish().expect("room");
        let mut read = store::read(&path).expect("a run file");
        for stage in told.stages.iter_mut().chain(&mut read.stages) {
            stage.samples_mut().sort_by_key(|sample| (sample.interval, sample.host));
            stage.counters_mut().sort_by_key(|sample| (sample.number, sample.host));
            stage.starts.sort_by_key(|start| start.host);
        }
        assert_eq!(read.stages, told.stages, "seed {seed}");
        assert_eq!((read.notes, read.occurrences), (told.notes, told.occurrences), "seed {seed}");
        assert_eq!((read.plan, read.end), (told.plan, told.end), "seed {seed}");
    }
}

#[test]
fn the_same_seed_is_the_same_run() {
    let scenario = Scenario::of_seed(7, 0, None, Weather::Foul);
    assert_eq!(play(&scenario).1, play(&scenario).1);
    assert_ne!(play(&scenario).1, play(&Scenario::of_seed(8, 0, None, Weather::Foul)).1);
}

/// So many seeds that break an invariant are named, and no more are looked for.
const MOST_BROKEN: u64 = 8;
/// In so many seeds, everything occurs that is rare.
const SEEDS_THAT_SEE_ALL: u64 = 1_000;

/// What `cargo xtask soak` runs: `PLIMSOLL_SOAK_SEEDS` seeds from `PLIMSOLL_SOAK_FIRST` on; a few
/// without it.
#[test]
fn soak_seeds() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("PLIMSOLL_SOAK_FIRST").unwrap_or(0);
    let seeds = number("PLIMSOLL_SOAK_SEEDS").unwrap_or(50);
    let most_broken = number("PLIMSOLL_SOAK_BROKEN").unwrap_or(MOST_BROKEN);
    let (mut happened, mut seen, mut broken) = (0, Seen::default(), Vec::new());
    for seed in first..first.saturating_add(seeds) {
        match soak(seed) {
            Ok(soaked) => {
                happened += soaked.happened;
                seen.add(&soaked.seen);
            }
            Err(what) => broken.push(what),
        }
        if broken.len() as u64 == most_broken {
            break;
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    println!("{seen}{seeds} seeds from {first} on: every invariant held over {happened} events");
    if seeds >= SEEDS_THAT_SEE_ALL {
        assert_eq!(seen.never(), [""; 0], "no seed comes there, so nothing is held there");
    }
}
