use super::*;
use crate::wire::FromAgent;
use model::choices::{Access, Backend, OnLostHost};
use model::event::HostStart;
use model::plan::{Stage, StageKind, Steady, Stop, Work};
use model::sample::Phase;
use model::units::{Bytes, Nanos, Percent};
use model::{IntervalSample, Scale};

pub(super) fn plan(hosts: usize, stages: usize) -> Plan {
    let stop = Stop::After(Nanos::seconds(1));
    let work = Work::simple(Bytes(4096), Percent::ALL, Access::Random, 1, stop);
    let host = model::HostPlan::empty(
        "r",
        Nanos::seconds(1),
        model::plan::EngineSettings::simple(Backend::Null),
    );
    Plan {
        run_id: "r".into(),
        suite: "s".into(),
        description: String::new(),
        seed: 1,
        scale: Scale::FULL,
        interval: Nanos::seconds(1),
        backend: Backend::Null,
        direct: true,
        existing: false,
        hosts_from: vec![],
        origin: model::plan::Origin::default(),
        places: vec![],
        fleet: FleetPolicy {
            on_lost_host: OnLostHost::Abort,
            quorum: 1,
            lost_after: Nanos::seconds(10),
        },
        points: vec![],
        stages: vec![Stage { kind: StageKind::Measure, point: Some(0), works: vec![work] }; stages],
        hosts: (0..hosts as u32)
            .map(|number| model::HostPlan {
                host: number,
                hostname: format!("h{number}"),
                ..host.clone()
            })
            .collect(),
        notes: vec![],
        search: None,
        events: Vec::new(),
    }
}

pub(super) fn continuing(hosts: usize, quorum: u32) -> Plan {
    let mut plan = plan(hosts, 2);
    plan.fleet = FleetPolicy { on_lost_host: OnLostHost::Continue, quorum, ..plan.fleet };
    plan
}

/// More stages than any of these plans has.
const ALL: [u32; 4] = [0, 1, 2, 3];

pub(super) fn own(plan: &Plan) -> Coordinator {
    Coordinator::new(plan, &ALL, Reach::OwnProcess, false)
}

pub(super) fn heard(host: usize, message: FromAgent) -> Input {
    Input::Heard { host, message, at_ns: 0 }
}

pub(super) fn ready(host: usize) -> Input {
    heard(host, FromAgent::Ready { notes: vec![] })
}

pub(super) fn armed(host: usize, stage: u32) -> Input {
    heard(host, FromAgent::Armed { stage })
}

pub(super) fn ended(host: usize, stage: u32, end: StageEnd) -> Input {
    heard(host, FromAgent::StageEnded { stage, end, notes: vec![], late_ns: None })
}

pub(super) fn released(host: usize) -> Input {
    heard(host, FromAgent::Released { left: None })
}

pub(super) fn lost(host: usize) -> Input {
    Input::Lost { host, why: "gone".to_owned() }
}

pub(super) fn sample(stage: u32, interval: u32) -> FromAgent {
    FromAgent::Sample(Box::new(IntervalSample {
        stage,
        host: 77,
        interval,
        start_ns: 0,
        length_ns: 1,
        phase: Phase::Load,
        ops: vec![],
        workers: vec![],
    }))
}

/// A short script of what a list of actions does, without the pings.
pub(super) fn script(actions: &[Action]) -> Vec<String> {
    let line = |action: &Action| match action {
        Action::Send { host, message } => match message {
            ToAgent::Assign(_) => format!("{host}:assign"),
            ToAgent::Arm { stage } => format!("{host}:arm {stage}"),
            ToAgent::Go { start_ns: None } => format!("{host}:go"),
            ToAgent::Go { start_ns: Some(at) } => format!("{host}:go at {at}"),
            ToAgent::Stop => format!("{host}:stop"),
            ToAgent::Extend(stages) => format!("{host}:extend by {}", stages.len()),
            ToAgent::GiveBack(word) => {
                let parts: Vec<usize> = (0..9).filter(|part| word.covers(*part)).collect();
                format!("{host}:give back {parts:?}")
            }
            ToAgent::Release(word) => format!("{host}:release {}", word.removes()),
            other => format!("{host}:{other:?}"),
        },
        Action::Ping { .. } => String::new(),
        Action::Drop { host } => format!("{host}:drop"),
        // What happens at instants has tests of its own.
        Action::Launch { host, start } => format!("{host}:launch {start}"),
        Action::Emit(Event::Happened(_)) => String::new(),
        Action::Emit(Event::StageStarted { stage, .. }) => format!("started {stage}"),
        Action::Emit(Event::StageEnded { stage, end }) => format!("ended {stage} {end:?}"),
        Action::Emit(Event::RunEnded { end, .. }) => format!("run ended {end:?}"),
        Action::Emit(Event::Note(note)) => format!("note {:?} {:?}", note.kind(), note.stage),
        Action::Emit(Event::Sample(sample)) => {
            format!("sample {} of {}", sample.interval, sample.host)
        }
        Action::Emit(Event::PointAdded(_)) => "point added".to_owned(),
        Action::Emit(event) => format!("{event:?}"),
        Action::Placed { ticket, marked } => format!("placed {ticket} {marked:?}"),
        Action::Command { number, .. } => format!("command {number}"),
        Action::EndCommand { number } => format!("end command {number}"),
        Action::Ask => "ask".to_owned(),
        Action::Judge { stage, rounds } => format!("judge {stage} {rounds:?}"),
        Action::Finish { end, .. } => format!("finish {end:?}"),
    };
    actions.iter().map(line).filter(|line| !line.is_empty()).collect()
}

pub(super) fn run(coordinator: &mut Coordinator, inputs: Vec<Input>) -> Vec<String> {
    inputs.into_iter().flat_map(|input| script(&coordinator.step(input, Now::default()))).collect()
}

#[test]
fn a_stage_begins_when_all_are_set_up_and_ends_when_all_have_ended() {
    let mut coordinator = own(&plan(2, 2));
    assert_eq!(run(&mut coordinator, vec![Input::Begin]), ["0:assign", "1:assign"]);
    assert_eq!(run(&mut coordinator, vec![ready(1)]), Vec::<String>::new());
    assert_eq!(run(&mut coordinator, vec![ready(0)]), ["0:arm 0", "1:arm 0"]);
    assert_eq!(run(&mut coordinator, vec![armed(1, 0)]), Vec::<String>::new());
    assert_eq!(run(&mut coordinator, vec![armed(0, 0)]), ["started 0", "0:go", "1:go"]);
    let next = run(
        &mut coordinator,
        vec![ended(0, 0, StageEnd::Complete), ended(1, 0, StageEnd::Complete)],
    );
    assert_eq!(next, ["ended 0 Complete", "0:arm 1", "1:arm 1"]);
    run(&mut coordinator, vec![armed(0, 1), armed(1, 1)]);
    let last = run(
        &mut coordinator,
        vec![ended(1, 1, StageEnd::Complete), ended(0, 1, StageEnd::Complete)],
    );
    assert_eq!(
        last,
        ["ended 1 Complete", "run ended Complete", "0:release true", "1:release true"]
    );
    assert_eq!(run(&mut coordinator, vec![released(0), released(1)]), ["finish Complete"]);
}

/// A plan of two hosts that searches, with its first point.
pub(super) fn searching() -> Plan {
    let mut plan = plan(2, 1);
    plan.points = vec![model::plan::Point {
        scenario: "default".into(),
        workloads: vec!["w".into()],
        sweep: vec![],
        repetition: 1,
        computed: vec![],
        prerun: None,
    }];
    for host in &mut plan.hosts {
        let works = plan.stages[0].works.clone();
        host.stages = vec![model::plan::HostStage {
            stage: 0,
            kind: StageKind::Measure,
            works,
            workers: vec![],
        }];
    }
    let objective = "p99 < 1ms".parse().expect("an objective");
    plan.begin_search(model::search::Search {
        objective,
        poisson: false,
        measure: Nanos::seconds(2),
        along: model::along::Along::Rate,
    })
    .expect("one");
    plan
}

/// Two scenarios, each of one stage, in the first of which a command begins.
fn with_event(mut plan: Plan) -> Plan {
    let point = |scenario: &str| model::plan::Point {
        scenario: scenario.into(),
        ..searching().points[0].clone()
    };
    plan.points = vec![point("a"), point("b")];
    (0..).zip(&mut plan.stages).for_each(|(number, stage)| stage.point = Some(number));
    let event = model::planned_event::PlannedEvent {
        name: "move".into(),
        at: model::planned_event::EventTime::default(),
        workloads: vec![],
        scenarios: vec!["a".into()],
        command: Some("sleep 20".into()),
        wait: Nanos::seconds(600),
    };
    plan.events = vec![event];
    plan
}

fn at_second(second: u64) -> Now {
    Now { steady_ns: second * 1_000_000_000, unix_ns: 0 }
}

#[test]
fn a_scenario_does_not_end_before_the_command_of_its_event_nor_waits_longer_than_it_may() {
    let begun = || {
        let mut coordinator = own(&with_event(plan(1, 2)));
        let first = run(&mut coordinator, vec![Input::Begin, ready(0), armed(0, 0), Input::Tick]);
        assert_eq!(first[2..], ["started 0", "0:go", "command 0"]);
        assert_eq!(
            run(&mut coordinator, vec![ended(0, 0, StageEnd::Complete), Input::Tick]),
            ["ended 0 Complete"]
        );
        coordinator
    };
    let over = || Input::CommandEnded { number: 0, status: Some(0), output: String::new() };
    assert_eq!(run(&mut begun(), vec![over()]), ["0:arm 1"]);
    let mut waits = begun();
    assert_eq!(script(&waits.step(Input::Tick, at_second(599))), [""; 0]);
    assert_eq!(script(&waits.step(Input::Tick, at_second(600))), ["0:arm 1"]);
    let doubt = |actions: &[Action]| {
        let is = |action: &Action| {
            matches!(action, Action::Emit(Event::Happened(one))
                if one.kind == model::OccurrenceKind::StillRunning && one.stage == Some(1)
                    && one.label == "move")
        };
        actions.iter().any(is)
    };
    assert!(doubt(&waits.step(armed(0, 1), at_second(601))), "what is measured now says so");
    assert_eq!(run(&mut begun(), vec![Input::Interrupt])[..2], ["0:stop", "run ended Interrupted"]);
    // The last scenario ends with the run.
    let mut last = own(&with_event(plan(1, 1)));
    run(&mut last, vec![Input::Begin, ready(0), armed(0, 0), Input::Tick]);
    assert_eq!(run(&mut last, vec![ended(0, 0, StageEnd::Complete)]), ["ended 0 Complete"]);
    assert_eq!(run(&mut last, vec![over()]), ["run ended Complete", "0:release true"]);
}

#[test]
fn a_search_asks_for_each_point_until_there_is_none() {
    let plan = searching();
    let mut coordinator = own(&plan);
    run(&mut coordinator, vec![Input::Begin, ready(0), ready(1), armed(0, 0), armed(1, 0)]);
    let first = run(
        &mut coordinator,
        vec![ended(0, 0, StageEnd::Complete), ended(1, 0, StageEnd::Complete)],
    );
    assert_eq!(first, ["ended 0 Complete", "ask"]);
    let addition = || Input::Added(plan.at_rate(5_000_000).map(Box::new));
    let more = run(&mut coordinator, vec![addition(), addition()]);
    let once = ["0:extend by 1", "1:extend by 1", "point added", "0:arm 1", "1:arm 1"];
    assert_eq!(more, once, "a second answer to one question changes nothing");
    run(&mut coordinator, vec![armed(0, 1), armed(1, 1)]);
    let second = run(
        &mut coordinator,
        vec![ended(0, 1, StageEnd::Complete), ended(1, 1, StageEnd::Complete)],
    );
    assert_eq!(second, ["ended 1 Complete", "ask"]);
    let last = run(&mut coordinator, vec![Input::Added(None)]);
    assert_eq!(last, ["run ended Complete", "0:release true", "1:release true"]);
}

#[test]
fn a_search_that_is_interrupted_asks_for_nothing_more() {
    let mut coordinator = own(&searching());
    run(&mut coordinator, vec![Input::Begin, ready(0), ready(1), armed(0, 0), armed(1, 0)]);
    assert_eq!(run(&mut coordinator, vec![Input::Interrupt]), ["0:stop", "1:stop"]);
    let end = run(
        &mut coordinator,
        vec![ended(0, 0, StageEnd::Interrupted), ended(1, 0, StageEnd::Interrupted)],
    );
    assert_eq!(end[..2], ["ended 0 Interrupted", "run ended Interrupted"]);
    let mut asking = own(&searching());
    run(&mut asking, vec![Input::Begin, ready(0), ready(1), armed(0, 0), armed(1, 0)]);
    run(&mut asking, vec![ended(0, 0, StageEnd::Complete), ended(1, 0, StageEnd::Complete)]);
    let halted = run(
        &mut asking,
        vec![Input::Interrupt, Input::Added(searching().at_rate(1).map(Box::new))],
    );
    assert_eq!(
        halted,
        ["0:stop", "1:stop", "run ended Interrupted", "0:release true", "1:release true"]
    );
}

#[test]
fn remote_hosts_begin_at_one_instant_on_their_own_clocks() {
    let mut coordinator = Coordinator::new(&plan(2, 1), &ALL, Reach::Remote, false);
    run(&mut coordinator, vec![Input::Begin, ready(0), ready(1), armed(0, 0)]);
    let waits = run(&mut coordinator, vec![armed(1, 0)]);
    assert_eq!(waits, Vec::<String>::new(), "no clock is known yet");
    let pong = |host, sent_ns, agent_ns, at_ns| Input::Heard {
        host,
        message: FromAgent::Pong { sent_ns, agent_ns },
        at_ns,
    };
    run(&mut coordinator, vec![pong(0, 1_000, 5_000_500, 2_000)]);
    let now = Now { steady_ns: 2_000, unix_ns: 0 };
    let go = script(&coordinator.step(pong(1, 1_000, 1_500, 2_000), now));
    // 100 ms, 50 µs for each of two hosts, and two of the longest round trips ahead of 2,000, as
    // each host's clock shows it.
    let at = 2_000 + 100_000_000 + 100_000 + 2_000;
    assert_eq!(
        go,
        ["started 0".to_owned(), format!("0:go at {}", at + 4_999_000), format!("1:go at {at}")]
    );
    let end = FromAgent::StageEnded {
        stage: 0,
        end: StageEnd::Complete,
        notes: vec![],
        late_ns: Some(70),
    };
    let told = coordinator.step(heard(0, end), now);
    // Half a round trip, the drift of 100 ms at 1,000 ppm, and each rounded up.
    let start = HostStart { stage: 0, host: 0, late_ns: 70, error_ns: 501 + 100_102 };
    assert_eq!(told, [Action::Emit(Event::HostStarted(start))]);
}

#[test]
fn an_interrupt_stops_all_keeps_the_part_and_lets_go() {
    let mut coordinator = Coordinator::new(&plan(1, 3), &ALL, Reach::OwnProcess, true);
    run(&mut coordinator, vec![Input::Begin, ready(0), armed(0, 0)]);
    assert_eq!(run(&mut coordinator, vec![Input::Interrupt, Input::Interrupt]), ["0:stop"]);
    let end = run(&mut coordinator, vec![ended(0, 0, StageEnd::Interrupted), released(0)]);
    assert_eq!(
        end,
        ["ended 0 Interrupted", "run ended Interrupted", "0:release false", "finish Interrupted"]
    );
}

#[test]
fn a_stage_that_is_interrupted_before_it_begins_never_was() {
    let mut coordinator = own(&plan(2, 1));
    run(&mut coordinator, vec![Input::Begin, ready(0), ready(1), armed(0, 0), Input::Interrupt]);
    let end = run(
        &mut coordinator,
        vec![ended(0, 0, StageEnd::Interrupted), armed(1, 0), ended(1, 0, StageEnd::Interrupted)],
    );
    assert_eq!(end, ["run ended Interrupted", "0:release true", "1:release true"]);
}

#[test]
fn what_a_host_says_that_was_stopped_while_it_opened_is_told_at_the_end() {
    let mut coordinator = own(&plan(2, 1));
    run(&mut coordinator, vec![Input::Begin, ready(1), Input::Interrupt]);
    run(
        &mut coordinator,
        vec![heard(0, FromAgent::Refused("stuck; what was made stays".into())), released(0)],
    );
    let last = coordinator.step(released(1), Now::default());
    let Some(Action::Finish { left, end }) = last.last() else { panic!("{last:?}") };
    assert_eq!(
        (left.as_slice(), end),
        (&["host h0: stuck; what was made stays".to_owned()][..], &RunEnd::Interrupted)
    );
}

#[test]
fn a_refusal_ends_the_run_before_any_stage_and_names_the_host() {
    let mut coordinator = own(&plan(2, 1));
    run(&mut coordinator, vec![Input::Begin]);
    let refused = run(&mut coordinator, vec![heard(0, FromAgent::Refused("full".into()))]);
    assert_eq!(refused, ["0:stop", "1:stop"]);
    let end = run(&mut coordinator, vec![ready(1), released(0), released(1)]);
    let failed = "Failed(\"host h0: full\")";
    assert_eq!(
        end,
        [
            format!("run ended {failed}"),
            "0:release true".into(),
            "1:release true".into(),
            format!("finish {failed}")
        ]
    );
}

#[test]
fn a_panic_on_a_host_ends_the_stage_and_the_run_as_a_bug_and_the_others_are_stopped() {
    let mut coordinator = own(&plan(2, 2));
    run(&mut coordinator, vec![Input::Begin, ready(0), ready(1), armed(0, 0), armed(1, 0)]);
    let panicked = StageEnd::Panicked("thread worker-0 panicked: index out of bounds".into());
    assert_eq!(run(&mut coordinator, vec![ended(1, 0, panicked)]), ["0:stop", "1:stop"]);
    let end =
        run(&mut coordinator, vec![ended(0, 0, StageEnd::Interrupted), released(0), released(1)]);
    let words = "Panicked(\"host h1: thread worker-0 panicked: index out of bounds\")";
    assert_eq!(end[..2], [format!("ended 0 {words}"), format!("run ended {words}")]);
    assert_eq!(end.last(), Some(&format!("finish {words}")));
}

#[test]
fn a_lost_host_ends_the_run_and_nobody_waits_for_it_and_the_layout_stays() {
    let mut coordinator = own(&plan(2, 2));
    run(&mut coordinator, vec![Input::Begin, ready(0), ready(1), armed(0, 0), armed(1, 0)]);
    assert_eq!(run(&mut coordinator, vec![lost(1)]), ["1:drop", "note HostLost Some(0)", "0:stop"]);
    let end = run(&mut coordinator, vec![ended(0, 0, StageEnd::Interrupted), lost(0)]);
    assert!(
        end[0].starts_with("ended 0 Failed(\"host h1 was lost: gone; go on with `plimsoll resume`"),
        "{end:?}"
    );
    assert_eq!(end[2], "0:release false");
    assert!(end.last().expect("lines").starts_with("finish Failed"));
}

#[test]
fn with_a_quorum_the_run_goes_on_without_the_lost() {
    let mut coordinator = own(&continuing(3, 2));
    run(
        &mut coordinator,
        vec![Input::Begin, ready(0), ready(1), ready(2), armed(0, 0), armed(1, 0), armed(2, 0)],
    );
    assert_eq!(run(&mut coordinator, vec![lost(1)]), ["1:drop", "note HostLost Some(0)"]);
    let next = run(
        &mut coordinator,
        vec![ended(0, 0, StageEnd::Complete), ended(2, 0, StageEnd::Complete)],
    );
    assert_eq!(next, ["ended 0 Complete", "0:arm 1", "2:arm 1"]);
    let too_few = run(&mut coordinator, vec![armed(0, 1), armed(2, 1), lost(0)]);
    assert_eq!(too_few[3..], ["0:drop", "note HostLost Some(1)", "2:stop"]);
}

#[test]
fn a_silent_host_is_lost_and_one_that_answers_is_not() {
    let mut coordinator = Coordinator::new(&continuing(2, 1), &ALL, Reach::Remote, false);
    run(&mut coordinator, vec![Input::Begin, ready(0), ready(1)]);
    let at = |steady_ns| Now { steady_ns, unix_ns: 0 };
    (1..=10).for_each(|second| {
        assert_eq!(tick(&mut coordinator, at(second * 1_000_000_000)), Vec::<String>::new());
    });
    let now = at(10_000_000_001);
    let pong = FromAgent::Pong { sent_ns: 0, agent_ns: 0 };
    coordinator.step(Input::Heard { host: 0, message: pong, at_ns: 9_000_000_000 }, now);
    assert_eq!(tick(&mut coordinator, now), ["1:drop", "note HostLost Some(0)"]);
    assert_eq!(tick(&mut coordinator, now), Vec::<String>::new());
}

fn tick(coordinator: &mut Coordinator, now: Now) -> Vec<String> {
    script(&coordinator.step(Input::Tick, now))
}

#[test]
fn a_coordinator_that_stood_still_takes_nobody_for_silent_meanwhile() {
    let mut coordinator = Coordinator::new(&continuing(2, 1), &ALL, Reach::Remote, false);
    run(&mut coordinator, vec![Input::Begin]);
    let at = |tenths: u64| Now { steady_ns: tenths * 100_000_000, unix_ns: 0 };
    assert_eq!(
        tick(&mut coordinator, at(300)),
        Vec::<String>::new(),
        "30 s pass at once, and what was said waits to be read"
    );
    let lost_at = (301..500).find(|tenths| !tick(&mut coordinator, at(*tenths)).is_empty());
    assert_eq!(lost_at, Some(401), "from then on a silence counts");
}

#[test]
fn a_host_that_is_lost_because_the_coordinator_stood_still_is_not_blamed() {
    let at = |second: u64| Now { steady_ns: second * 1_000_000_000, unix_ns: 0 };
    let note = |reach, gap: u64, tells: bool| {
        let mut coordinator = Coordinator::new(&continuing(2, 1), &ALL, reach, false);
        run(&mut coordinator, vec![Input::Begin, ready(0), ready(1)]);
        coordinator.step(Input::Tick, at(1));
        if tells {
            coordinator.step(Input::Tick, at(1 + gap));
        }
        let told = coordinator.step(lost(1), at(1 + gap));
        told.into_iter().find_map(|action| match action {
            Action::Emit(Event::Note(Note { fact: Fact::HostLost { why, .. }, .. })) => Some(why),
            _ => None,
        })
    };
    // Its agents are given 10 s; the word of their end may be read before the first tick or after
    // it.
    for tells in [true, false] {
        let told = note(Reach::Remote, 40, tells).expect("a note");
        assert!(
            told.starts_with("gone; but the coordinator itself stood still for 40 s "),
            "{told}"
        );
        assert!(
            told.contains("after 10 s (fleet.lost_after)") && told.ends_with("not this host"),
            "{told}"
        );
        assert_eq!(note(Reach::Remote, 10, tells).as_deref(), Some("gone"));
        assert_eq!(
            note(Reach::OwnProcess, 40, tells).as_deref(),
            Some("gone"),
            "nobody waits for it there"
        );
    }
}

#[test]
fn a_host_that_ends_its_stage_untold_is_lost_and_the_others_go_on() {
    let mut coordinator = own(&continuing(3, 2));
    run(
        &mut coordinator,
        vec![Input::Begin, ready(0), ready(1), ready(2), armed(0, 0), armed(1, 0), armed(2, 0)],
    );
    assert_eq!(
        run(&mut coordinator, vec![ended(1, 0, StageEnd::Interrupted)]),
        ["1:drop", "note HostLost Some(0)"]
    );
    let next = run(
        &mut coordinator,
        vec![ended(0, 0, StageEnd::Complete), ended(2, 0, StageEnd::Complete)],
    );
    assert_eq!(next, ["ended 0 Complete", "0:arm 1", "2:arm 1"]);
}

#[test]
fn a_stage_that_one_host_never_ends_is_waited_for_with_patience_and_then_without_it() {
    let mut coordinator = own(&continuing(2, 1));
    run(&mut coordinator, vec![Input::Begin, ready(0), ready(1), armed(0, 0), armed(1, 0)]);
    run(&mut coordinator, vec![ended(0, 0, StageEnd::Complete)]);
    let at = |second: u64| Now { steady_ns: second * 1_000_000_000, unix_ns: 0 };
    // A second of load, 30 s of patience, 30 s of margin.
    (1..=61).for_each(|second| {
        assert_eq!(tick(&mut coordinator, at(second)), Vec::<String>::new(), "{second}");
    });
    let told = coordinator.step(Input::Tick, at(62));
    assert_eq!(script(&told), ["1:drop", "note HostLost Some(0)", "ended 0 Complete", "0:arm 1"]);
    let note = told.iter().find_map(|action| match action {
        Action::Emit(Event::Note(Note { fact: Fact::HostLost { name, why }, .. })) => {
            Some((name.as_str(), why.as_str()))
        }
        _ => None,
    });
    assert!(
        note.is_some_and(
            |(name, why)| name == "h1" && why.starts_with("it answers, but did not end its stage")
        ),
        "{note:?}"
    );
}

#[test]
fn a_stopped_run_waits_for_no_stage_longer_than_its_patience() {
    let mut endless = plan(2, 1);
    endless.stages[0].works[0].stop = Stop::Amount;
    let mut coordinator = own(&endless);
    run(&mut coordinator, vec![Input::Begin, ready(0), ready(1), armed(0, 0), armed(1, 0)]);
    let at = |second: u64| Now { steady_ns: second * 1_000_000_000, unix_ns: 0 };
    (1..9_000).for_each(|second| {
        assert_eq!(tick(&mut coordinator, at(second)), Vec::<String>::new(), "{second}");
    });
    assert_eq!(script(&coordinator.step(Input::Interrupt, at(9_000))), ["0:stop", "1:stop"]);
    run(&mut coordinator, vec![ended(0, 0, StageEnd::Interrupted)]);
    (9_001..=9_060).for_each(|second| {
        assert_eq!(tick(&mut coordinator, at(second)), Vec::<String>::new(), "{second}");
    });
    assert_eq!(tick(&mut coordinator, at(9_061))[..2], ["1:drop", "note HostLost Some(0)"]);
}

#[test]
fn a_host_that_is_lost_while_it_lets_go_does_not_change_how_the_run_ended() {
    let mut coordinator = own(&plan(2, 1));
    run(&mut coordinator, vec![Input::Begin, ready(0), ready(1), armed(0, 0), armed(1, 0)]);
    run(
        &mut coordinator,
        vec![ended(0, 0, StageEnd::Complete), ended(1, 0, StageEnd::Complete), released(0)],
    );
    let hurried = run(&mut coordinator, vec![Input::Interrupt]);
    assert_eq!(
        hurried,
        ["0:stop", "1:stop"],
        "a target that does not answer is waited for no longer"
    );
    let last = coordinator.step(lost(1), Now::default());
    assert_eq!(script(&last), ["1:drop", "note HostLost None", "finish Complete"]);
    let Some(Action::Finish { left, .. }) = last.last() else { panic!("{last:?}") };
    assert!(
        left[0].starts_with("host h1 was lost before it had let go of its targets (gone)"),
        "{left:?}"
    );
}

#[test]
fn each_interval_counts_once_and_only_in_its_stage() {
    let mut coordinator = own(&plan(1, 2));
    let early =
        run(&mut coordinator, vec![Input::Begin, ready(0), heard(0, sample(0, 0)), armed(0, 0)]);
    assert!(!early.iter().any(|line| line.starts_with("sample")));
    let told =
        run(&mut coordinator, [0, 0, 1, 3, 2].map(|interval| heard(0, sample(0, interval))).into());
    assert_eq!(told, ["sample 0 of 0", "sample 1 of 0", "sample 3 of 0"]);
    assert_eq!(run(&mut coordinator, vec![heard(0, sample(1, 9))]), Vec::<String>::new());
    run(&mut coordinator, vec![ended(0, 0, StageEnd::Complete), armed(0, 1)]);
    assert_eq!(
        run(&mut coordinator, vec![heard(0, sample(0, 9)), heard(0, sample(1, 0))]),
        ["sample 0 of 0"]
    );
}

#[test]
fn a_resumed_run_goes_through_the_stages_that_are_left() {
    let mut coordinator = Coordinator::new(&plan(1, 3), &[0, 2, 9], Reach::OwnProcess, false);
    assert_eq!(run(&mut coordinator, vec![Input::Begin, ready(0)]), ["0:assign", "0:arm 0"]);
    let next = run(&mut coordinator, vec![armed(0, 0), ended(0, 0, StageEnd::Complete)]);
    assert_eq!(next, ["started 0", "0:go", "ended 0 Complete", "0:arm 2"]);
    let end = run(&mut coordinator, vec![armed(0, 2), ended(0, 2, StageEnd::Complete)]);
    assert_eq!(
        end[2..],
        ["ended 2 Complete", "run ended Complete", "0:release true"],
        "there is no stage 9"
    );
}

#[test]
fn the_run_ends_whatever_is_heard_in_whatever_order() {
    // Every order of a handful of inputs, with all hosts lost at the end: the run is over, once.
    let inputs = || {
        vec![
            ready(0),
            ready(1),
            armed(0, 0),
            armed(1, 0),
            ended(0, 0, StageEnd::Complete),
            ended(1, 0, StageEnd::Failed("x".into())),
            lost(7),
            Input::Tick,
            Input::Interrupt,
            released(1),
            Input::CommandEnded { number: 0, status: Some(1), output: String::new() },
        ]
    };
    for seed in 0..2_000 {
        let mut rng = model::rng::Rng::new(seed);
        let mut plan = if seed % 2 == 0 { plan(2, 2) } else { continuing(2, 1) };
        if seed % 3 == 0 {
            plan.points = searching().points;
            plan.points[0].prerun = model::plan::Prerun::of("drop");
        }
        let mut coordinator = own(&plan);
        let mut told = run(&mut coordinator, vec![Input::Begin]);
        let mut rest = inputs();
        while !rest.is_empty() {
            let input = rest.swap_remove(rng.below(rest.len() as u64) as usize);
            told.extend(run(&mut coordinator, vec![input]));
        }
        told.extend(run(&mut coordinator, vec![lost(0), lost(1)]));
        let finished = told.iter().filter(|line| line.starts_with("finish")).count();
        assert_eq!(finished, 1, "seed {seed}: {told:?}");
        let balance = |word: &str| told.iter().filter(|line| line.starts_with(word)).count();
        assert_eq!(balance("started "), balance("ended "), "seed {seed}: {told:?}");
    }
}

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
    let mut coordinator = own(&settling(2, true));
    run(&mut coordinator, vec![Input::Begin, ready(0), ready(1), armed(0, 0), armed(1, 0)]);
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
    let next = run(
        &mut coordinator,
        vec![ended(0, 0, StageEnd::Complete), ended(1, 0, StageEnd::Complete)],
    );
    assert_eq!(next[..2], ["note Settled Some(0)", "ended 0 Complete"]);
}

#[test]
fn in_real_time_the_end_is_one_that_all_can_hear_of_before_and_nobody_is_told_to_go_on() {
    let mut coordinator = own(&settling(1, false));
    run(&mut coordinator, vec![Input::Begin, ready(0), armed(0, 0)]);
    measure(&mut coordinator, 1, 0..20);
    assert_eq!(run(&mut coordinator, vec![judged(false)]), [""; 0]);
    let now = Now { steady_ns: 20_950_000_000, unix_ns: 0 };
    let told = script(&coordinator.step(judged(true), now));
    assert_eq!(told, ["0:Judged { to_ns: 20000000000, end_after_ns: Some(22000000000) }"]);
}

#[test]
fn what_never_settles_is_said_and_what_was_stopped_says_nothing_of_it() {
    let mut coordinator = own(&settling(1, false));
    run(&mut coordinator, vec![Input::Begin, ready(0), armed(0, 0)]);
    measure(&mut coordinator, 1, 0..60);
    let next =
        run(&mut coordinator, vec![judged(false), ended(0, 0, StageEnd::Complete), judged(true)]);
    assert_eq!(
        next,
        ["note Unsettled Some(0)", "ended 0 Complete", "0:arm 1"],
        "a late answer changes nothing"
    );
    run(&mut coordinator, vec![armed(0, 1)]);
    let stopped = run(&mut coordinator, vec![Input::Interrupt, ended(0, 1, StageEnd::Interrupted)]);
    assert_eq!(stopped[..2], ["0:stop", "ended 1 Interrupted"]);
}

#[test]
fn rounds_go_on_without_a_host_that_is_lost() {
    let mut plan = settling(2, false);
    plan.fleet = FleetPolicy { on_lost_host: OnLostHost::Continue, quorum: 1, ..plan.fleet };
    let mut coordinator = own(&plan);
    run(&mut coordinator, vec![Input::Begin, ready(0), ready(1), armed(0, 0), armed(1, 0)]);
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
        assert_eq!(
            run(&mut coordinator, vec![first_done(3, 0), first_done(1, 7)]),
            Vec::<String>::new()
        );
        assert_eq!(run(&mut coordinator, vec![first_done(1, 0)]), [said(0), said(2)]);
        assert_eq!(
            run(&mut coordinator, vec![first_done(2, 0), first_done(1, 0)]),
            Vec::<String>::new()
        );
    }
}

#[test]
fn a_host_that_has_ended_is_not_told_and_a_stage_of_a_length_has_no_first() {
    let mut coordinator = running_once(2, true);
    run(&mut coordinator, vec![ended(0, 0, StageEnd::Complete)]);
    assert_eq!(
        run(&mut coordinator, vec![first_done(1, 0), first_done(0, 0)]),
        Vec::<String>::new()
    );
    let mut coordinator = own(&plan(2, 1));
    run(&mut coordinator, vec![Input::Begin, ready(0), ready(1), armed(0, 0), armed(1, 0)]);
    assert_eq!(run(&mut coordinator, vec![first_done(1, 0)]), Vec::<String>::new());
}
