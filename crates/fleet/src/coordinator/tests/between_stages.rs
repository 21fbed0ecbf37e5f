//! Between two stages: commands that are waited for, and points that a search adds.

use super::*;

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
        assert_eq!(run(&mut coordinator, vec![complete(0, 0), Input::Tick]), ["ended 0 Complete"]);
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
    assert_eq!(run(&mut last, vec![complete(0, 0)]), ["ended 0 Complete"]);
    assert_eq!(run(&mut last, vec![over()]), ["run ended Complete", "0:release true"]);
}

#[test]
fn a_search_asks_for_each_point_until_there_is_none() {
    let plan = searching();
    let mut coordinator = running(&plan);
    let first = run(&mut coordinator, vec![complete(0, 0), complete(1, 0)]);
    assert_eq!(first, ["ended 0 Complete", "ask"]);
    let addition = || Input::Added(plan.at_rate(5_000_000).map(Box::new));
    let more = run(&mut coordinator, vec![addition(), addition()]);
    let once = ["0:extend by 1", "1:extend by 1", "point added", "0:arm 1", "1:arm 1"];
    assert_eq!(more, once, "a second answer to one question changes nothing");
    run(&mut coordinator, vec![armed(0, 1), armed(1, 1)]);
    let second = run(&mut coordinator, vec![complete(0, 1), complete(1, 1)]);
    assert_eq!(second, ["ended 1 Complete", "ask"]);
    let last = run(&mut coordinator, vec![Input::Added(None)]);
    assert_eq!(last, ["run ended Complete", "0:release true", "1:release true"]);
}

#[test]
fn a_search_that_is_interrupted_asks_for_nothing_more() {
    let mut coordinator = running(&searching());
    assert_eq!(run(&mut coordinator, vec![Input::Interrupt]), ["0:stop", "1:stop"]);
    let end = run(&mut coordinator, vec![stopped(0, 0), stopped(1, 0)]);
    assert_eq!(end[..2], ["ended 0 Interrupted", "run ended Interrupted"]);
    let mut asking = running(&searching());
    run(&mut asking, vec![complete(0, 0), complete(1, 0)]);
    let halted = run(
        &mut asking,
        vec![Input::Interrupt, Input::Added(searching().at_rate(1).map(Box::new))],
    );
    assert_eq!(
        halted,
        ["0:stop", "1:stop", "run ended Interrupted", "0:release true", "1:release true"]
    );
}
