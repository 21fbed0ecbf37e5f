use super::super::tests::{
    armed, complete, continuing, heard, lost, ready, released, run, script, stopped,
};
use super::super::{Input, Now, Reach};
use super::*;
use model::Plan;
use model::choices::OnLostHost;
use model::plan::{PlannedTarget, Stage, StageKind, Target, TargetFile};
use model::testbed::{DirectoryState, TargetFacts, TargetKind};
use model::units::Bytes;

fn at(second: u64) -> Now {
    Now { steady_ns: second * 1_000_000_000, unix_ns: 0 }
}

fn at_once(coordinator: &mut Coordinator, inputs: Vec<Input>, now: Now) -> Vec<String> {
    let actions: Vec<Action> =
        inputs.into_iter().flat_map(|input| coordinator.step(input, now)).collect();
    script(&actions)
}

/// Points of one stage each, behind one that lays out the data.
fn points(hosts: usize, points: u32) -> Plan {
    let mut plan = continuing(hosts, 1);
    let one = plan.stages[0].clone();
    plan.stages = vec![Stage { kind: StageKind::Prepare, point: None, ..one.clone() }];
    plan.stages.extend((0..points).map(|point| Stage { point: Some(point), ..one.clone() }));
    plan
}

fn stages(plan: &Plan) -> Vec<u32> {
    (0..plan.stages.len() as u32).collect()
}

fn pong(host: usize) -> Input {
    heard(host, FromAgent::Pong { sent_ns: 0, agent_ns: 0 })
}

/// Of the first host.
fn sign_of_life(second: u64) -> Input {
    let at_ns = second * 1_000_000_000;
    Input::Heard { host: 0, message: FromAgent::Pong { sent_ns: at_ns, agent_ns: at_ns }, at_ns }
}

fn facts(host: usize, identity: &str, targets: Vec<TargetFacts>) -> Input {
    let facts = HostFacts {
        logical_cpus: 1,
        identity: identity.to_owned(),
        targets,
        ..HostFacts::default()
    };
    heard(host, FromAgent::Facts { facts: Box::new(facts), unix_ns: 0 })
}

fn launched(host: usize, start: u32, outcome: Result<(), &str>) -> Input {
    Input::Launched { host, start, outcome: outcome.map_err(str::to_owned) }
}

/// Two hosts whose layout is there, in the first point.
fn in_first_point(plan: &Plan) -> Coordinator {
    let mut coordinator = Coordinator::new(plan, &stages(plan), Reach::Remote, false);
    run(&mut coordinator, vec![Input::Begin, ready(0), ready(1), pong(0), pong(1)]);
    run(&mut coordinator, vec![armed(0, 0), armed(1, 0)]);
    run(&mut coordinator, vec![complete(0, 0), complete(1, 0)]);
    run(&mut coordinator, vec![armed(0, 1), armed(1, 1)]);
    coordinator
}

/// The same, and the second was lost there; what follows the end of the point.
fn lost_in_first_point(plan: &Plan) -> (Coordinator, Vec<String>) {
    let mut coordinator = in_first_point(plan);
    assert_eq!(run(&mut coordinator, vec![lost(1)]), ["1:drop", "note HostLost Some(1)"]);
    let next = run(&mut coordinator, vec![complete(0, 1)]);
    (coordinator, next)
}

fn inspect(host: usize) -> String {
    format!("{host}:Inspect {{ targets: [], host: Some({host}), patience_ns: 30000000000 }}")
}

#[test]
fn a_host_comes_back_between_points_and_takes_part_in_the_next() {
    let (mut coordinator, next) = lost_in_first_point(&points(2, 3));
    assert_eq!(next, ["ended 1 Complete", "1:launch 1"], "the others wait");
    assert_eq!(
        run(&mut coordinator, vec![lost(1), ready(1)]),
        [""; 0],
        "of the agent that is gone"
    );
    assert_eq!(run(&mut coordinator, vec![launched(1, 1, Ok(()))]), [inspect(1)]);
    assert_eq!(run(&mut coordinator, vec![facts(1, "x", vec![])]), ["1:assign"]);
    assert_eq!(run(&mut coordinator, vec![ready(1)]), [""; 0], "its clock is not known");
    let told = coordinator.step(pong(1), Now::default());
    assert_eq!(script(&told).iter().filter(|line| !line.is_empty()).count(), 3);
    assert!(
        script(&told).ends_with(&["0:arm 2".to_owned(), "1:arm 2".to_owned()]),
        "{:?}",
        script(&told)
    );
    let said = told.iter().find_map(|action| match action {
        Action::Emit(Event::Note(note)) => Some(note.clone()),
        _ => None,
    });
    let said = said.expect("a note");
    assert_eq!((said.stage, said.host), (Some(2), 1));
    let from = TakesPart::Point(1);
    assert_eq!(said.fact, Fact::HostReturned { name: "h1".to_owned(), from });
    let happened = |action: &Action| {
        matches!(action,
        Action::Emit(Event::Happened(one)) if one.kind == model::OccurrenceKind::HostReturned)
    };
    assert!(told.iter().any(happened));
    // From here on it is a host as any other, and counts for the quorum.
    run(&mut coordinator, vec![armed(0, 2), armed(1, 2)]);
    assert_eq!(run(&mut coordinator, vec![lost(0)]), ["0:drop", "note HostLost Some(2)"]);
}

#[test]
fn a_try_takes_a_bounded_time_and_the_next_one_comes_later_and_later_until_there_is_none() {
    let plan = points(2, 40);
    let mut coordinator = in_first_point(&plan);
    run(&mut coordinator, vec![lost(1)]);
    let (mut second, mut tries, mut out) = (0, Vec::new(), Vec::new());
    for stage in 1..40 {
        let mut told = at_once(&mut coordinator, vec![complete(0, stage)], at(second));
        if told.iter().any(|line| line.starts_with("1:launch")) {
            tries.push(second);
            let most_s = WAIT_NS / 1_000_000_000;
            for later in 1..most_s {
                assert_eq!(
                    at_once(
                        &mut coordinator,
                        vec![sign_of_life(second + later), Input::Tick],
                        at(second + later)
                    ),
                    [""; 0]
                );
            }
            second += most_s;
            told = at_once(&mut coordinator, vec![sign_of_life(second), Input::Tick], at(second));
            assert_eq!(told[0], "1:drop");
        }
        out.extend(told.iter().filter(|line| line.starts_with("note")).cloned());
        assert!(told.contains(&format!("0:arm {}", stage + 1)), "stage {stage}: {told:?}");
        second += 10;
        at_once(&mut coordinator, vec![sign_of_life(second), armed(0, stage + 1)], at(second));
    }
    assert_eq!(tries.len(), MOST_TRIES as usize);
    let pauses: Vec<u64> = tries.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(pauses.is_sorted() && pauses[4] >= 160, "{pauses:?}");
    assert_eq!(out, ["note Hosts None"], "that it stays out is said once");
}

#[test]
fn only_with_continue_and_only_between_points() {
    let mut abort = points(2, 2);
    abort.fleet.on_lost_host = OnLostHost::Abort;
    let mut coordinator = in_first_point(&abort);
    run(&mut coordinator, vec![lost(1)]);
    let next = run(&mut coordinator, vec![stopped(0, 1)]);
    assert!(next.iter().all(|line| !line.contains("launch")), "{next:?}");

    let mut warm = points(2, 2);
    warm.stages[1].kind = StageKind::Precondition;
    warm.stages[2].point = Some(0);
    let (_, next) = lost_in_first_point(&warm);
    assert_eq!(
        next,
        ["ended 1 Complete", "0:arm 2"],
        "a warm-up and its measurement are one point"
    );
}

/// A folder of a layout with so many bytes.
fn there(used: u64) -> Vec<TargetFacts> {
    let state = DirectoryState::Claimed { used: Bytes(used), run: String::new() };
    vec![TargetFacts {
        path: "/d".into(),
        kind: TargetKind::Directory { root: "/d".into(), state },
        writable: true,
        ..TargetFacts::default()
    }]
}

#[test]
fn a_layout_that_is_gone_is_written_again_and_not_recorded_twice() {
    let mut plan = points(2, 2);
    let file = TargetFile { path: "/d/0".into(), size: Bytes(4096) };
    let kind = PlannedTarget::Directory { root: "/d".into() };
    plan.hosts[1].targets = vec![Target { path: "/d".into(), kind, files: vec![file] }];
    // A layout that takes longer than the others wait would take as long the next time.
    let (mut coordinator, _) = lost_in_first_point(&plan);
    run(
        &mut coordinator,
        vec![launched(1, 1, Ok(())), pong(1), facts(1, "x", there(0)), ready(1), armed(1, 0)],
    );
    let most_s = WAIT_NS / 1_000_000_000;
    at_once(&mut coordinator, vec![sign_of_life(most_s - 1), Input::Tick], at(most_s - 1));
    let told = coordinator.step(Input::Tick, at(most_s));
    let said = told.iter().find_map(|action| match action {
        Action::Emit(Event::Note(note)) => stays_out(note),
        _ => None,
    });
    let (name, why) = said.expect("a note");
    assert_eq!(name, "h1");
    assert!(why.starts_with("its layout was not written again within the 15 s"), "{why}");
    assert!(
        script(&told).contains(&"1:drop".to_owned())
            && script(&told).contains(&"0:arm 2".to_owned()),
        "{told:?}"
    );

    // New files of the same name are not what others have open.
    let mut lent = plan.clone();
    lent.hosts[0].targets =
        vec![Target { kind: PlannedTarget::Joined, ..plan.hosts[1].targets[0].clone() }];
    for (found, next) in
        [(there(0), vec!["1:assign"]), (vec![], vec!["1:drop", "note Hosts None", "0:arm 2"])]
    {
        let (mut coordinator, _) = lost_in_first_point(&lent);
        run(&mut coordinator, vec![launched(1, 1, Ok(())), pong(1)]);
        assert_eq!(run(&mut coordinator, vec![facts(1, "x", found)]), next);
    }

    for (used, needs_preparing) in [(4096, false), (4095, true)] {
        let (mut coordinator, _) = lost_in_first_point(&plan);
        run(&mut coordinator, vec![launched(1, 1, Ok(())), pong(1)]);
        assert_eq!(run(&mut coordinator, vec![facts(1, "x", there(used))]), ["1:assign"]);
        let next = run(&mut coordinator, vec![ready(1)]);
        if !needs_preparing {
            assert_eq!(next, ["note HostReturned Some(2)", "0:arm 2", "1:arm 2"]);
            continue;
        }
        assert_eq!(next, ["1:arm 0"]);
        assert_eq!(run(&mut coordinator, vec![armed(1, 0)]), ["1:go"]);
        assert_eq!(
            run(&mut coordinator, vec![heard(1, super::super::tests::sample(0, 0))]),
            [""; 0]
        );
        let next = run(&mut coordinator, vec![complete(1, 0)]);
        assert_eq!(next, ["note HostReturned Some(2)", "0:arm 2", "1:arm 2"]);
    }
}

#[test]
fn a_device_is_taken_again_only_by_the_same_start_of_the_same_host() {
    let mut plan = points(2, 2);
    plan.hosts[1].targets =
        vec![Target { path: "/dev/x".into(), kind: PlannedTarget::Device, files: vec![] }];
    for (was, is, comes_back) in
        [("boot 1", "boot 1", true), ("boot 1", "boot 2", false), ("", "", false)]
    {
        let (mut coordinator, _) = lost_in_first_point(&plan);
        coordinator.identify(vec!["boot 0".to_owned(), was.to_owned()]);
        run(&mut coordinator, vec![launched(1, 1, Ok(())), pong(1)]);
        let next = run(&mut coordinator, vec![facts(1, is, vec![])]);
        if comes_back {
            assert_eq!(next, ["1:assign"]);
        } else {
            assert_eq!(next, ["1:drop", "note Hosts None", "0:arm 2"]);
        }
    }
}

#[test]
fn a_run_that_is_stopped_waits_for_nobody_to_come_back() {
    let (mut coordinator, _) = lost_in_first_point(&points(2, 2));
    let next = run(&mut coordinator, vec![Input::Interrupt]);
    assert_eq!(next, ["0:stop", "1:drop", "run ended Interrupted", "0:release true"]);
    assert_eq!(run(&mut coordinator, vec![launched(1, 1, Ok(()))]), [""; 0]);
    assert_eq!(run(&mut coordinator, vec![released(0)]), ["finish Interrupted"]);
}

#[test]
fn a_host_that_is_lost_again_and_again_stays_out_in_the_end() {
    let plan = points(2, 9);
    let mut coordinator = in_first_point(&plan);
    for stage in 1..=MOST_RETURNS {
        run(&mut coordinator, vec![lost(1)]);
        let next = run(&mut coordinator, vec![complete(0, stage)]);
        assert_eq!(next[1..], [format!("1:launch {stage}")]);
        run(
            &mut coordinator,
            vec![launched(1, stage, Ok(())), facts(1, "", vec![]), pong(1), ready(1)],
        );
        run(&mut coordinator, vec![armed(0, stage + 1), armed(1, stage + 1)]);
    }
    assert_eq!(
        run(&mut coordinator, vec![lost(1)]).last().map(String::as_str),
        Some("note Hosts None")
    );
    let stage = MOST_RETURNS + 1;
    let next = run(&mut coordinator, vec![complete(0, stage)]);
    assert_eq!(next[1..], [format!("0:arm {}", stage + 1)]);
}

/// The host that a note says stays out, and why.
fn stays_out(note: &Note) -> Option<(&str, &str)> {
    match &note.fact {
        Fact::Hosts(AboutHosts::StaysOut { name, why }) => Some((name, why)),
        _ => None,
    }
}

#[test]
fn where_reads_are_checked_a_host_stays_out_and_it_is_said_why() {
    let mut plan = points(2, 2);
    plan.hosts.iter_mut().for_each(|host| host.engine.contents.verify = true);
    let mut coordinator = in_first_point(&plan);
    let told = coordinator.step(lost(1), Now::default());
    let said = told.iter().find_map(|action| match action {
        Action::Emit(Event::Note(note)) => stays_out(note),
        _ => None,
    });
    assert!(
        said.is_some_and(|(name, why)| name == "h1" && why.starts_with("reads are checked")),
        "{said:?}"
    );
    let next = run(&mut coordinator, vec![complete(0, 1)]);
    assert_eq!(next, ["ended 1 Complete", "0:arm 2"]);
}

/// Facts of a host that loads a directory of this name.
fn at_directory(root: &str, memory: Bytes) -> HostFacts {
    let kind = TargetKind::Directory { root: root.into(), state: DirectoryState::Empty };
    let target = TargetFacts {
        path: "/t".into(),
        kind,
        writable: true,
        file_system: Some("ext4".into()),
        free: Bytes::gib(1),
        total: Bytes::gib(2),
        ..TargetFacts::default()
    };
    HostFacts { memory, targets: vec![target], ..HostFacts::unknown("h1") }
}

/// What follows where the second host of two was not there at the start, what was presumed of it,
/// and what it says of itself when it comes.
fn comes_late(size: Bytes, found: HostFacts) -> Vec<Action> {
    let mut plan = points(2, 2);
    let files = vec![TargetFile { path: "/t/x/data".into(), size }];
    let kind = PlannedTarget::Directory { root: "/t/x".into() };
    plan.hosts[1].targets = vec![Target { path: "/t".into(), kind, files }];
    let mut coordinator = Coordinator::new(&plan, &stages(&plan), Reach::Remote, false);
    coordinator.identify(vec!["first".into(), String::new()]);
    coordinator.presume(vec![(1, at_directory("/t/x", Bytes::gib(16)))]);
    coordinator.begin_without(1, "no route".into());
    run(&mut coordinator, vec![Input::Begin, ready(0), pong(0)]);
    run(&mut coordinator, vec![armed(0, 0)]);
    at_once(&mut coordinator, vec![complete(0, 0)], at(0));
    run(&mut coordinator, vec![armed(0, 1)]);
    let next = at_once(&mut coordinator, vec![complete(0, 1)], at(2));
    assert_eq!(next, ["ended 1 Complete", "1:launch 1"]);
    at_once(&mut coordinator, vec![launched(1, 1, Ok(()))], at(2));
    let facts = FromAgent::Facts { facts: Box::new(found), unix_ns: 0 };
    let mut told = coordinator.step(heard(1, facts), at(2));
    let set_up = [ready(1), pong(1), armed(1, 0), complete(1, 0)];
    told.extend(set_up.into_iter().flat_map(|input| coordinator.step(input, at(2))));
    told
}

fn facts_of(told: &[Action]) -> Vec<Fact> {
    let fact = |action: &Action| match action {
        Action::Emit(Event::Note(note)) => Some(note.fact.clone()),
        _ => None,
    };
    told.iter().filter_map(fact).collect()
}

#[test]
fn who_was_not_there_at_the_start_joins_if_it_is_what_was_presumed() {
    // Memory differs by what the firmware keeps.
    let like = at_directory("/t/x", Bytes(Bytes::gib(16).0 - 1));
    let told = facts_of(&comes_late(Bytes::gib(1), like.clone()));
    let from = TakesPart::Joins { point: 1, hosts: 2, of: 2 };
    assert_eq!(told, [Fact::HostReturned { name: "h1".into(), from }]);
    let stays_out = |size: Bytes, found: HostFacts| match &facts_of(&comes_late(size, found))[..] {
        [Fact::Hosts(AboutHosts::StaysOut { why, .. })] => why.clone(),
        other => panic!("{other:?}"),
    };
    let why = stays_out(Bytes::gib(1), at_directory("/t/y", Bytes::gib(16)));
    assert!(why.contains("/t/y") && why.contains("planned for files go to /t/x"), "{why}");
    let why = stays_out(Bytes::gib(1), at_directory("/t/x", Bytes::gib(8)));
    assert!(why.contains("memory: 8 GiB"), "{why}");
    let why = stays_out(Bytes::gib(2), like.clone());
    assert!(why.contains("1 GiB are free, and its layout takes 2 GiB"), "{why}");
    let why = stays_out(Bytes::gib(1), HostFacts { identity: "first".into(), ..like });
    assert!(why.contains("the same machine"), "{why}");
}
