use super::*;
use model::plan::{Stage, StageKind, Stop, Work};
use model::spec::{Access, Backend};
use model::units::{Bytes, Nanos, Percent, Scale};

fn plan(hosts: usize, stages: usize) -> Plan {
    let stop = Stop::After(Nanos::seconds(1));
    let work = Work::simple(Bytes(4096), Percent::ALL, Access::Random, 1, stop);
    let host = model::HostPlan {
        run_id: "r".into(),
        host: 0,
        hostname: "h".into(),
        interval: Nanos::seconds(1),
        backend: Backend::Null,
        direct: true,
        patience: Nanos::seconds(30),
        raw_latencies: false,
        cpus: vec![],
        own_cpu: false,
        virtual_time: false,
        contents: model::plan::Contents::RANDOM,
        targets: vec![],
        stages: vec![],
    };
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
        points: vec![],
        stages: vec![Stage { kind: StageKind::Measure, point: Some(0), works: vec![work] }; stages],
        hosts: vec![host; hosts],
        notes: vec![],
    }
}

fn heard(host: usize, message: FromAgent) -> Input {
    Input::Heard { host, message }
}

fn ready(host: usize) -> Input {
    heard(host, FromAgent::Ready { notes: vec![] })
}

fn ended(host: usize, stage: u32, end: StageEnd) -> Input {
    heard(host, FromAgent::StageEnded { stage, end, notes: vec![] })
}

fn released(host: usize) -> Input {
    heard(host, FromAgent::Released { left: None })
}

/// A short script of what a list of actions does.
fn script(actions: &[Action]) -> Vec<String> {
    actions
        .iter()
        .map(|action| match action {
            Action::Send { host, message } => match message {
                ToAgent::Assign(_) => format!("{host}:assign"),
                ToAgent::Start { stage } => format!("{host}:start {stage}"),
                ToAgent::Stop => format!("{host}:stop"),
                ToAgent::Release { remove } => format!("{host}:release {remove}"),
                ToAgent::Inspect { .. } => format!("{host}:inspect"),
            },
            Action::Emit(Event::StageStarted { stage, .. }) => format!("started {stage}"),
            Action::Emit(Event::StageEnded { stage, end }) => format!("ended {stage} {end:?}"),
            Action::Emit(Event::RunEnded { end, .. }) => format!("run ended {end:?}"),
            Action::Emit(event) => format!("{event:?}"),
            Action::Finish { end, .. } => format!("finish {end:?}"),
        })
        .collect()
}

fn run(coordinator: &mut Coordinator, inputs: Vec<Input>) -> Vec<String> {
    inputs.into_iter().flat_map(|input| script(&coordinator.step(input, 0))).collect()
}

#[test]
fn a_stage_begins_when_all_are_ready_and_ends_when_all_have_ended() {
    let mut coordinator = Coordinator::new(&plan(2, 2), false);
    assert_eq!(run(&mut coordinator, vec![Input::Begin]), ["0:assign", "1:assign"]);
    assert_eq!(run(&mut coordinator, vec![ready(1)]), Vec::<String>::new());
    assert_eq!(run(&mut coordinator, vec![ready(0)]), ["started 0", "0:start 0", "1:start 0"]);
    let next = run(&mut coordinator, vec![ended(0, 0, StageEnd::Complete), ended(1, 0, StageEnd::Complete)]);
    assert_eq!(next, ["ended 0 Complete", "started 1", "0:start 1", "1:start 1"]);
    let last = run(&mut coordinator, vec![ended(1, 1, StageEnd::Complete), ended(0, 1, StageEnd::Complete)]);
    assert_eq!(last, ["ended 1 Complete", "run ended Complete", "0:release true", "1:release true"]);
    assert_eq!(run(&mut coordinator, vec![released(0), released(1)]), ["finish Complete"]);
}

#[test]
fn an_interrupt_stops_all_keeps_the_part_and_lets_go() {
    let mut coordinator = Coordinator::new(&plan(1, 3), true);
    run(&mut coordinator, vec![Input::Begin, ready(0)]);
    assert_eq!(run(&mut coordinator, vec![Input::Interrupt, Input::Interrupt]), ["0:stop"]);
    let end = run(&mut coordinator, vec![ended(0, 0, StageEnd::Interrupted), released(0)]);
    assert_eq!(end, ["ended 0 Interrupted", "run ended Interrupted", "0:release false", "finish Interrupted"]);
}

#[test]
fn a_refusal_ends_the_run_before_any_stage() {
    let mut coordinator = Coordinator::new(&plan(2, 1), false);
    run(&mut coordinator, vec![Input::Begin]);
    let refused = run(&mut coordinator, vec![heard(0, FromAgent::Refused("full".into()))]);
    assert_eq!(refused, ["0:stop", "1:stop"]);
    let end = run(&mut coordinator, vec![ready(1), released(0), released(1)]);
    assert_eq!(end, ["run ended Failed(\"full\")", "0:release true", "1:release true", "finish Failed(\"full\")"]);
}

#[test]
fn a_lost_host_ends_the_run_and_nobody_waits_for_it() {
    let mut coordinator = Coordinator::new(&plan(2, 2), false);
    run(&mut coordinator, vec![Input::Begin, ready(0), ready(1)]);
    assert_eq!(run(&mut coordinator, vec![Input::Lost { host: 1 }]), ["0:stop"]);
    let end = run(&mut coordinator, vec![ended(0, 0, StageEnd::Interrupted), Input::Lost { host: 0 }]);
    assert_eq!(
        end,
        [
            "ended 0 Failed(\"host 1 was lost\")",
            "run ended Failed(\"host 1 was lost\")",
            "0:release true",
            "finish Failed(\"host 1 was lost\")"
        ]
    );
}

#[test]
fn the_run_ends_whatever_is_heard_in_whatever_order() {
    // Every order of a handful of inputs, with all hosts lost at the end: the run is over, once.
    let inputs = || {
        vec![
            ready(0),
            ready(1),
            ended(0, 0, StageEnd::Complete),
            ended(1, 0, StageEnd::Failed("x".into())),
            Input::Interrupt,
            released(1),
        ]
    };
    for seed in 0..2_000 {
        let mut rng = model::rng::Rng::new(seed);
        let mut coordinator = Coordinator::new(&plan(2, 2), false);
        let mut told = run(&mut coordinator, vec![Input::Begin]);
        let mut rest = inputs();
        while !rest.is_empty() {
            let input = rest.swap_remove(rng.below(rest.len() as u64) as usize);
            told.extend(run(&mut coordinator, vec![input]));
        }
        told.extend(run(&mut coordinator, vec![Input::Lost { host: 0 }, Input::Lost { host: 1 }]));
        let finished = told.iter().filter(|line| line.starts_with("finish")).count();
        assert_eq!(finished, 1, "seed {seed}: {told:?}");
        let balance = |word: &str| told.iter().filter(|line| line.starts_with(word)).count();
        assert_eq!(balance("started "), balance("ended "), "seed {seed}: {told:?}");
    }
}
