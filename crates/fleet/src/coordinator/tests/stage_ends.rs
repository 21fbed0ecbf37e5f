//! Stages that end before their time: because they are steady, or the first worker is done.

use super::*;

/// A plan whose stages end when they are steady, after 20 to 60 s, in rounds of 4 s.
fn settling(hosts: usize, virtual_time: bool) -> Plan {
    let mut plan = plan(hosts, 2);
    let steady = Steady::new(Nanos::seconds(20), Nanos::seconds(60), Nanos::seconds(1));
    plan.stages
        .iter_mut()
        .flat_map(|stage| &mut stage.works)
        .for_each(|work| work.stop = Stop::Steady(steady));
    let worker =
        model::plan::Worker { work: 0, seed: 0, turn: (0, 1), extents: vec![], files: None };
    let share = |(number, stage): (u32, &Stage)| model::plan::HostStage {
        stage: number,
        kind: stage.kind,
        works: stage.works.clone(),
        workers: vec![worker.clone()],
    };
    let shares: Vec<_> = (0..).zip(&plan.stages).map(share).collect();
    for host in &mut plan.hosts {
        host.engine.virtual_time = virtual_time;
        host.stages.clone_from(&shares);
    }
    plan
}

/// What follows from the intervals of all hosts up to `to`, without their own recording.
fn measure(
    coordinator: &mut Coordinator,
    hosts: usize,
    intervals: std::ops::Range<u32>,
) -> Vec<String> {
    let each =
        intervals.flat_map(|interval| (0..hosts).map(move |host| heard(host, sample(0, interval))));
    let mut told = run(coordinator, each.collect());
    told.retain(|line| !line.starts_with("sample"));
    told
}

fn judged(is_steady: bool) -> Input {
    Input::Judged { stage: 0, is_steady }
}

#[test]
fn all_hosts_end_at_one_instant_once_their_rounds_together_are_steady() {
    let mut coordinator = running(&settling(2, true));
    let window = "judge 0 [0.0, 0.0, 0.0, 0.0, 0.0]";
    assert_eq!(measure(&mut coordinator, 2, 0..20), [window]);
    let go_on = |to: u64| {
        (0..2).map(move |host| {
            format!("{host}:Judged {{ to_ns: {to}000000000, end_after_ns: None }}")
        })
    };
    assert_eq!(run(&mut coordinator, vec![judged(false)]), go_on(20).collect::<Vec<_>>());
    assert_eq!(measure(&mut coordinator, 2, 20..24), [window]);
    let end = (0..2).map(|host| {
        format!("{host}:Judged {{ to_ns: 24000000000, end_after_ns: Some(25000000000) }}")
    });
    assert_eq!(run(&mut coordinator, vec![judged(true)]), end.collect::<Vec<_>>());
    assert_eq!(measure(&mut coordinator, 2, 24..25), [""; 0], "nobody is asked any more");
    let next = run(&mut coordinator, vec![complete(0, 0), complete(1, 0)]);
    assert_eq!(next[..2], ["note Settled Some(0)", "ended 0 Complete"]);
}

#[test]
fn in_real_time_the_end_is_one_that_all_can_hear_of_before_and_nobody_is_told_to_go_on() {
    let mut coordinator = running(&settling(1, false));
    measure(&mut coordinator, 1, 0..20);
    assert_eq!(run(&mut coordinator, vec![judged(false)]), [""; 0]);
    let now = Now { steady_ns: 20_950_000_000, unix_ns: 0 };
    let told = script(&coordinator.step(judged(true), now));
    assert_eq!(told, ["0:Judged { to_ns: 20000000000, end_after_ns: Some(22000000000) }"]);
}

#[test]
fn what_never_settles_is_said_and_what_was_stopped_says_nothing_of_it() {
    let mut coordinator = running(&settling(1, false));
    measure(&mut coordinator, 1, 0..60);
    let next = run(&mut coordinator, vec![judged(false), complete(0, 0), judged(true)]);
    assert_eq!(
        next,
        ["note Unsettled Some(0)", "ended 0 Complete", "0:arm 1"],
        "a late answer changes nothing"
    );
    run(&mut coordinator, vec![armed(0, 1)]);
    let stopped = run(&mut coordinator, vec![Input::Interrupt, stopped(0, 1)]);
    assert_eq!(stopped[..2], ["0:stop", "ended 1 Interrupted"]);
}

#[test]
fn rounds_go_on_without_a_host_that_is_lost() {
    let mut plan = settling(2, false);
    plan.fleet = FleetPolicy { on_lost_host: OnLostHost::Continue, quorum: 1, ..plan.fleet };
    let mut coordinator = running(&plan);
    let early = (0..20).map(|interval| heard(0, sample(0, interval))).collect();
    assert!(
        run(&mut coordinator, early).iter().all(|line| line.starts_with("sample")),
        "host 1 is behind"
    );
    let told = run(&mut coordinator, vec![lost(1)]);
    assert!(told.contains(&"judge 0 [0.0, 0.0, 0.0, 0.0, 0.0]".to_owned()), "{told:?}");
}

/// A plan of `hosts` whose only stage is an amount, running.
fn running_once(hosts: usize, stonewall: bool) -> Coordinator {
    let mut plan = plan(hosts, 1);
    let stop = Stop::Once(model::plan::Once { stonewall, fsync: false, close: false });
    plan.fleet.on_lost_host = OnLostHost::Continue;
    plan.stages[0].works[0].stop = stop;
    let mut coordinator = Coordinator::new(&plan, &ALL, Reach::OwnProcess, false);
    let begin = std::iter::once(Input::Begin);
    run(
        &mut coordinator,
        begin.chain((0..hosts).map(ready)).chain((0..hosts).map(|host| armed(host, 0))).collect(),
    );
    coordinator
}

fn first_done(host: usize, stage: u32) -> Input {
    heard(host, FromAgent::FirstDone { stage })
}

#[test]
fn the_first_worker_of_the_cluster_is_told_to_the_others_once() {
    for stops in [true, false] {
        let mut coordinator = running_once(4, stops);
        let said = |host: usize| format!("{host}:FirstDone {{ stage: 0, stops: {stops} }}");
        run(&mut coordinator, vec![lost(3)]);
        assert_eq!(run(&mut coordinator, vec![first_done(3, 0), first_done(1, 7)]), [""; 0]);
        assert_eq!(run(&mut coordinator, vec![first_done(1, 0)]), [said(0), said(2)]);
        assert_eq!(run(&mut coordinator, vec![first_done(2, 0), first_done(1, 0)]), [""; 0]);
    }
}

#[test]
fn a_host_that_has_ended_is_not_told_and_a_stage_of_a_length_has_no_first() {
    let mut coordinator = running_once(2, true);
    run(&mut coordinator, vec![complete(0, 0)]);
    assert_eq!(run(&mut coordinator, vec![first_done(1, 0), first_done(0, 0)]), [""; 0]);
    let mut coordinator = running(&plan(2, 1));
    assert_eq!(run(&mut coordinator, vec![first_done(1, 0)]), [""; 0]);
}
