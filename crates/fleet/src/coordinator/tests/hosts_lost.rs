//! Hosts that are lost, silent or slow, and what becomes of the run.

use super::*;
use model::{Fact, Note};

#[test]
fn a_lost_host_ends_the_run_and_nobody_waits_for_it_and_the_layout_stays() {
    let mut coordinator = running(&plan(2, 2));
    assert_eq!(run(&mut coordinator, vec![lost(1)]), ["1:drop", "note HostLost Some(0)", "0:stop"]);
    let end = run(&mut coordinator, vec![stopped(0, 0), lost(0)]);
    assert!(
        end[0].starts_with("ended 0 Failed(\"host h1 was lost: gone; go on with `plimsoll resume`"),
        "{end:?}"
    );
    assert_eq!(end[2], "0:release false");
    assert!(end.last().expect("lines").starts_with("finish Failed"));
}

#[test]
fn a_run_that_cannot_be_recorded_ends_and_its_layout_stays_for_whoever_goes_on_with_it() {
    let full = || Input::Unrecordable("full".to_owned());
    let mut coordinator = running(&plan(2, 2));
    assert_eq!(run(&mut coordinator, vec![full()]), ["0:stop", "1:stop"]);
    let ends = [0, 1].map(|host| stopped(host, 0));
    let end = run(&mut coordinator, ends.to_vec());
    assert_eq!(end[1..], ["run ended Failed(\"full\")", "0:release false", "1:release false"]);
    // Nothing is on record that anybody could go on with.
    let mut coordinator = own(&plan(2, 2));
    run(&mut coordinator, vec![Input::Begin, full()]);
    let end = run(&mut coordinator, vec![ready(0), ready(1)]);
    assert_eq!(end.last().map(String::as_str), Some("1:release true"), "{end:?}");
}

#[test]
fn with_a_quorum_the_run_goes_on_without_the_lost() {
    let mut coordinator = running(&continuing(3, 2));
    assert_eq!(run(&mut coordinator, vec![lost(1)]), ["1:drop", "note HostLost Some(0)"]);
    let next = run(&mut coordinator, vec![complete(0, 0), complete(2, 0)]);
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
        assert_eq!(tick(&mut coordinator, at(second * 1_000_000_000)), [""; 0]);
    });
    let now = at(10_000_000_001);
    let pong = FromAgent::Pong { sent_ns: 0, agent_ns: 0 };
    coordinator.step(Input::Heard { host: 0, message: pong, at_ns: 9_000_000_000 }, now);
    assert_eq!(tick(&mut coordinator, now), ["1:drop", "note HostLost Some(0)"]);
    assert_eq!(tick(&mut coordinator, now), [""; 0]);
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
        [""; 0],
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
            told.starts_with(
                "gone. The cause is the coordinator, not this host: it stood still \
                              for 40 s "
            ),
            "{told}"
        );
        assert!(
            told.contains("after 10 s without it")
                && told.ends_with("(fleet.lost_after, fleet.hold)."),
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
    let mut coordinator = running(&continuing(3, 2));
    assert_eq!(run(&mut coordinator, vec![stopped(1, 0)]), ["1:drop", "note HostLost Some(0)"]);
    let next = run(&mut coordinator, vec![complete(0, 0), complete(2, 0)]);
    assert_eq!(next, ["ended 0 Complete", "0:arm 1", "2:arm 1"]);
}

#[test]
fn a_stage_that_one_host_never_ends_is_waited_for_with_patience_and_then_without_it() {
    let mut coordinator = running(&continuing(2, 1));
    run(&mut coordinator, vec![complete(0, 0)]);
    let at = |second: u64| Now { steady_ns: second * 1_000_000_000, unix_ns: 0 };
    // A second of load, 30 s of patience, 30 s of margin.
    (1..=61).for_each(|second| {
        assert_eq!(tick(&mut coordinator, at(second)), [""; 0], "{second}");
    });
    let told = coordinator.step(Input::Tick, at(62));
    assert_eq!(script(&told), ["1:drop", "note HostLost Some(0)", "ended 0 Complete", "0:arm 1"]);
    let note = told.iter().find_map(|action| match action {
        Action::Emit(Event::Note(Note { fact: Fact::HostLost { name, why }, .. })) => {
            Some((name.as_str(), why.as_str()))
        }
        _ => None,
    });
    let (name, why) = note.expect("a note");
    assert_eq!(name, "h1");
    assert!(why.starts_with("it answers, but did not end its stage"), "{why}");
}

#[test]
fn a_stopped_run_waits_for_no_stage_longer_than_its_patience() {
    let mut endless = plan(2, 1);
    endless.stages[0].works[0].stop = Stop::Amount;
    let mut coordinator = running(&endless);
    let at = |second: u64| Now { steady_ns: second * 1_000_000_000, unix_ns: 0 };
    (1..3_000).for_each(|second| {
        assert_eq!(tick(&mut coordinator, at(second)), [""; 0], "{second}");
    });
    assert_eq!(script(&coordinator.step(Input::Interrupt, at(3_000))), ["0:stop", "1:stop"]);
    run(&mut coordinator, vec![stopped(0, 0)]);
    (3_001..=3_060).for_each(|second| {
        assert_eq!(tick(&mut coordinator, at(second)), [""; 0], "{second}");
    });
    assert_eq!(tick(&mut coordinator, at(3_061))[..2], ["1:drop", "note HostLost Some(0)"]);
}

/// So many requests of an interval.
fn done(ios: u64) -> model::sample::OpSample {
    model::sample::OpSample { ios, bytes: ios, ..model::sample::OpSample::of(model::Op::Read) }
}

#[test]
fn a_host_that_answers_and_does_nothing_of_an_amount_is_lost_after_an_hour() {
    let mut endless = continuing(2, 1);
    endless.stages[0].works[0].stop = Stop::Amount;
    let at = |second: u64| Now { steady_ns: second * 1_000_000_000, unix_ns: 0 };
    let mut coordinator = running(&endless);
    // Both tell of each interval; one of them does something in it.
    let mut interval = 0;
    let mut second_of = |second: u64| {
        interval += 1;
        for (host, ios) in [(0, 1), (1, 0)] {
            let FromAgent::Sample(mut told) = sample(0, interval) else { unreachable!() };
            told.ops.push(done(ios));
            coordinator.step(heard(host, FromAgent::Sample(told)), at(second));
        }
        coordinator.step(Input::Tick, at(second))
    };
    // An hour, 30 s of patience, 30 s of margin.
    (1..=3_660).for_each(|second| assert!(script(&second_of(second)).is_empty(), "{second}"));
    let told = second_of(3_661);
    assert_eq!(script(&told), ["1:drop", "note HostLost Some(0)"]);
    let is_said = |action: &Action| {
        let Action::Emit(Event::Note(Note { fact: Fact::HostLost { why, .. }, .. })) = action
        else {
            return false;
        };
        why.starts_with("it answers, but did nothing of its stage for an hour")
    };
    assert!(told.iter().any(is_said));
    (3_662..9_000).for_each(|second| assert!(script(&second_of(second)).is_empty(), "{second}"));

    // Whoever waits for a due time may rest for longer.
    endless.stages[0].works[0].pace =
        model::load::Pace::Closed { think: Nanos::seconds(7_200), burst: 1 };
    let mut coordinator = running(&endless);
    (1..9_000).for_each(|second| {
        assert_eq!(tick(&mut coordinator, at(second)), [""; 0], "{second}");
    });
}

#[test]
fn a_host_that_is_lost_while_it_lets_go_does_not_change_how_the_run_ended() {
    let mut coordinator = running(&plan(2, 1));
    run(&mut coordinator, vec![complete(0, 0), complete(1, 0), released(0)]);
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
