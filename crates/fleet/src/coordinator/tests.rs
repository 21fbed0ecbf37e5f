mod between_stages;
mod hosts_lost;
mod stage_ends;

use super::*;
use crate::wire::FromAgent;
use model::choices::{Access, Backend, OnLostHost};
use model::event::HostStart;
use model::plan::{Stage, StageKind, Steady, Stop, Work};
use model::sample::Phase;
use model::units::{Bytes, Nanos, Percent};
use model::{IntervalSample, Scale};

/// A plan of nothing but so many hosts and stages.
pub(crate) fn plan(hosts: usize, stages: usize) -> Plan {
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
        keep: model::plan::Keep::default(),
        fleet: FleetPolicy {
            on_lost_host: OnLostHost::Abort,
            quorum: 1,
            lost_after: Nanos::seconds(10),
            hold: Nanos(0),
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
        rate_shares: model::plan::RateShares::default(),
        rounds: model::plan::Rounds::default(),
        objective: None,
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

pub(super) fn complete(host: usize, stage: u32) -> Input {
    ended(host, stage, StageEnd::Complete)
}

pub(super) fn stopped(host: usize, stage: u32) -> Input {
    ended(host, stage, StageEnd::Interrupted)
}

/// All hosts are in its first stage.
pub(super) fn running(plan: &Plan) -> Coordinator {
    let mut coordinator = own(plan);
    let hosts = plan.hosts.len();
    let all = (0..hosts).map(ready).chain((0..hosts).map(|host| armed(host, 0)));
    run(&mut coordinator, std::iter::once(Input::Begin).chain(all).collect());
    coordinator
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
    assert_eq!(run(&mut coordinator, vec![ready(1)]), [""; 0]);
    assert_eq!(run(&mut coordinator, vec![ready(0)]), ["0:arm 0", "1:arm 0"]);
    assert_eq!(run(&mut coordinator, vec![armed(1, 0)]), [""; 0]);
    assert_eq!(run(&mut coordinator, vec![armed(0, 0)]), ["started 0", "0:go", "1:go"]);
    let next = run(&mut coordinator, vec![complete(0, 0), complete(1, 0)]);
    assert_eq!(next, ["ended 0 Complete", "0:arm 1", "1:arm 1"]);
    run(&mut coordinator, vec![armed(0, 1), armed(1, 1)]);
    let last = run(&mut coordinator, vec![complete(1, 1), complete(0, 1)]);
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
        repetition: 1,
        ..model::plan::Point::default()
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
        along: model::search::SearchAxis::Rate,
        grid: Vec::new(),
    })
    .expect("one");
    plan
}

#[test]
fn remote_hosts_begin_at_one_instant_on_their_own_clocks() {
    let mut coordinator = Coordinator::new(&plan(2, 1), &ALL, Reach::Remote, false);
    run(&mut coordinator, vec![Input::Begin, ready(0), ready(1), armed(0, 0)]);
    let waits = run(&mut coordinator, vec![armed(1, 0)]);
    assert_eq!(waits, [""; 0], "no clock is known yet");
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
    // Its clock is read once more, behind the start, before it is said by how much that is off.
    let now = Now { steady_ns: 200_000_000, unix_ns: 0 };
    assert_eq!(coordinator.step(heard(0, end), now), [Action::Ping { host: 0 }]);
    let told = coordinator.step(pong(0, 200_000_000, 204_999_050, 200_000_100), now);
    // Half a round trip, the drift of 100 ms at 1,000 ppm, and each rounded up; and its own drift.
    let start = HostStart { stage: 0, host: 0, late_ns: 70, error_ns: 501 + 100_102 + 101 };
    assert_eq!(told[1..], [Action::Emit(Event::HostStarted(start))]);
}

#[test]
fn an_interrupt_stops_all_keeps_the_part_and_lets_go() {
    let mut coordinator = Coordinator::new(&plan(1, 3), &ALL, Reach::OwnProcess, true);
    run(&mut coordinator, vec![Input::Begin, ready(0), armed(0, 0)]);
    assert_eq!(run(&mut coordinator, vec![Input::Interrupt, Input::Interrupt]), ["0:stop"]);
    let end = run(&mut coordinator, vec![stopped(0, 0), released(0)]);
    assert_eq!(
        end,
        ["ended 0 Interrupted", "run ended Interrupted", "0:release false", "finish Interrupted"]
    );
}

#[test]
fn a_stage_that_is_interrupted_before_it_begins_never_was() {
    let mut coordinator = own(&plan(2, 1));
    run(&mut coordinator, vec![Input::Begin, ready(0), ready(1), armed(0, 0), Input::Interrupt]);
    let end = run(&mut coordinator, vec![stopped(0, 0), armed(1, 0), stopped(1, 0)]);
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
    let mut coordinator = running(&plan(2, 2));
    let panicked = StageEnd::Panicked("thread worker-0 panicked: index out of bounds".into());
    assert_eq!(run(&mut coordinator, vec![ended(1, 0, panicked)]), ["0:stop", "1:stop"]);
    let end = run(&mut coordinator, vec![stopped(0, 0), released(0), released(1)]);
    let words = "Panicked(\"host h1: thread worker-0 panicked: index out of bounds\")";
    assert_eq!(end[..2], [format!("ended 0 {words}"), format!("run ended {words}")]);
    assert_eq!(end.last(), Some(&format!("finish {words}")));
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
    assert_eq!(run(&mut coordinator, vec![heard(0, sample(1, 9))]), [""; 0]);
    run(&mut coordinator, vec![complete(0, 0), armed(0, 1)]);
    assert_eq!(
        run(&mut coordinator, vec![heard(0, sample(0, 9)), heard(0, sample(1, 0))]),
        ["sample 0 of 0"]
    );
}

#[test]
fn a_resumed_run_goes_through_the_stages_that_are_left() {
    let mut coordinator = Coordinator::new(&plan(1, 3), &[0, 2, 9], Reach::OwnProcess, false);
    assert_eq!(run(&mut coordinator, vec![Input::Begin, ready(0)]), ["0:assign", "0:arm 0"]);
    let next = run(&mut coordinator, vec![armed(0, 0), complete(0, 0)]);
    assert_eq!(next, ["started 0", "0:go", "ended 0 Complete", "0:arm 2"]);
    let end = run(&mut coordinator, vec![armed(0, 2), complete(0, 2)]);
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
            complete(0, 0),
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
