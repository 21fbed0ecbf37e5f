use super::script::Script;
use super::*;
use crate::progress::Progress;
use crate::watch::Subject;
use crate::watch::testing::{Held, busy};
use analysis::testing::Recorded;
use model::{Fact, Note, Op, StageKind};

/// Two stages of ten seconds; the load of a node grows with each second.
fn record() -> Record {
    let mut recorded = Recorded::new(
        "[stages]\nmeasure = \"10s\"\n[[workload]]\nname = \"mix\"\nread = \"70%\"\n",
    );
    recorded.prepare();
    let stage = recorded.stage(StageKind::Measure);
    recorded.load(0..10, &[(Op::Read, &[250_000; 70])]);
    let mut record = recorded.end();
    let last = record.stages.last_mut().expect("a stage");
    for second in 0..10 {
        let mut sample = busy(0, second + 1);
        (sample.stage, sample.number, sample.start_ns) = (stage, second as u32, second * NS_PER_S);
        last.counters_mut().push(sample);
    }
    record
}

fn state(record: &Record) -> State {
    State::new(Subject::Replay, &record.testbed, Some(&record.plan))
}

fn film_of(record: &Record) -> Replay<Held> {
    Replay::new(record, Held::of(record), Speed::REAL)
}

/// When the last stage began, in ns after the run's start.
fn begin_of_last(replay: &Replay<Held>) -> u64 {
    replay.script.events[*replay.script.starts.last().expect("a stage")].0
}

fn reads(state: &State) -> Option<f64> {
    state.total().read.iops
}

#[test]
fn time_passes_as_fast_as_it_was_told() {
    let record = record();
    let mut state = state(&record);
    let mut replay = film_of(&record);
    let start_ns = begin_of_last(&replay);
    replay.pass(start_ns, &mut state).expect("held");
    assert_eq!(reads(&state), None, "nothing was counted yet");
    replay.set_speed("4x".parse().expect("a speed"));
    replay.pass(NS_PER_S / 2, &mut state).expect("held");
    assert_eq!(reads(&state), Some(2.0 * 2_100.0), "two seconds of the run");
    assert!(!replay.is_over());
    replay.pass(u64::MAX, &mut state).expect("held");
    assert!(replay.is_over());
    assert_eq!(reads(&state), Some(10.0 * 2_100.0));
    assert_eq!(replay.now_ns(), replay.length_ns());
}

#[test]
fn a_step_back_shows_what_was_shown_then() {
    let record = record();
    let (mut state, mut other) = (state(&record), state(&record));
    let mut replay = film_of(&record);
    let mut fresh = film_of(&record);
    let length_ns = replay.length_ns();
    replay.pass(length_ns, &mut state).expect("held");
    replay.step(-4, &mut state).expect("held");
    fresh.pass(length_ns - 4 * NS_PER_S, &mut other).expect("held");
    assert_eq!(reads(&state), reads(&other));
    assert_eq!(state.progress().map(Progress::now), other.progress().map(Progress::now));
    assert_eq!(replay.next, fresh.next);
    replay.step(i64::MIN, &mut state).expect("held");
    assert_eq!((replay.now_ns(), reads(&state)), (0, None));
}

#[test]
fn a_stage_ends_before_the_next_one_begins() {
    let mut record = record();
    // The second one begins while the first one still tells of its last interval.
    let first_ns = record.stages[0].started_unix_ns;
    record.stages[1].started_unix_ns = first_ns;
    let order: Vec<(bool, u32)> = Script::of(&record, &Held::of(&record))
        .events
        .iter()
        .filter_map(|(_, event)| match event {
            Event::StageStarted { stage, .. } => Some((true, *stage)),
            Event::StageEnded { stage, .. } => Some((false, *stage)),
            _ => None,
        })
        .collect();
    assert_eq!(order[..3], [(true, 0), (false, 0), (true, 1)]);
}

#[test]
fn a_host_is_lost_after_the_last_that_was_heard_of_it() {
    let mut record = record();
    let stage = record.stages[1].stage;
    record.stages[1].samples_mut().truncate(4);
    record.notes = vec![Note {
        stage: Some(stage),
        host: 0,
        fact: Fact::HostLost { name: "h".to_owned(), why: "gone".to_owned() },
    }];
    let mut state = state(&record);
    let mut replay = film_of(&record);
    let start_ns = begin_of_last(&replay);
    replay.pass(start_ns + 3 * NS_PER_S, &mut state).expect("held");
    assert_eq!(state.host_counts(), (1, 0));
    replay.pass(NS_PER_S, &mut state).expect("held");
    assert_eq!((state.host_counts(), reads(&state)), ((1, 1), None));
}

/// A stage of some hours on one host, with more samples than lie between two states that are kept.
fn long(seconds: u32) -> Record {
    let mut recorded = Recorded::new(
        "[stages]\nmeasure = \"10s\"\n[[workload]]\nname = \"mix\"\nread = \"70%\"\n",
    );
    recorded.prepare();
    let stage = recorded.stage(StageKind::Measure);
    recorded.interval(stage, 0, &[(Op::Read, &[250_000; 70])]);
    let mut record = recorded.end();
    let last = record.stages.last_mut().expect("a stage");
    let first = last.samples()[0].clone();
    for second in 1..seconds {
        let start_ns = u64::from(second) * NS_PER_S;
        last.samples_mut().push(model::IntervalSample {
            interval: second,
            start_ns,
            ..first.clone()
        });
    }
    for second in 0..seconds {
        let mut sample = busy(0, u64::from(second % 5_000) + 1);
        (sample.stage, sample.number, sample.start_ns) =
            (stage, second, u64::from(second) * NS_PER_S);
        last.counters_mut().push(sample);
    }
    record
}

#[test]
fn a_long_stage_is_not_played_from_its_start_to_go_back() {
    let apart = 512;
    let record = long(apart as u32 * 8);
    let mut state = state(&record);
    let mut played = film_of(&record);
    (played.apart, played.at_once) = (apart, 1_000);
    let mut looks = 0;
    while !played.is_over() {
        played.pass(u64::MAX, &mut state).expect("held");
        looks += 1;
    }
    assert!(looks > 5, "whoever looks gets a look in between: {looks}");
    assert!(played.kept.len() > 1, "{} states are kept", played.kept.len());
    let before = played.film.handed_out;
    for back in [10, 10, 1_000, 1_500] {
        played.step(-back, &mut state).expect("held");
        let mut fresh = film_of(&record);
        let mut other = self::state(&record);
        fresh.go_on(played.now_ns(), usize::MAX, &mut other).expect("held");
        assert_eq!(reads(&state), reads(&other), "{back}");
        assert_eq!(
            state.progress().map(Progress::summary),
            other.progress().map(Progress::summary)
        );
        assert_eq!(state.progress().map(Progress::now), other.progress().map(Progress::now));
        assert_eq!(played.next, fresh.next);
    }
    let again = played.film.handed_out - before;
    assert!(again < 8 * apart, "{again} samples were played again");
}

#[test]
fn of_states_that_are_kept_the_young_ones_are_near_to_each_other() {
    let mut ages: Vec<u64> = Vec::new();
    for _ in 0..2_000 {
        ages.iter_mut().for_each(|age| *age += 1);
        ages.push(0);
        if ages.len() > MOST_KEPT {
            ages.remove(least_missed(&ages));
        }
    }
    assert_eq!(ages.len(), MOST_KEPT);
    assert!(ages[0] > 1_900, "the oldest stays: {ages:?}");
    for pair in ages.windows(2) {
        assert!(pair[0] <= 3 * pair[1] + 3, "{ages:?}");
    }
}

#[test]
fn counters_are_handed_out_until_nobody_wants_more() {
    let record = record();
    let mut numbers = Vec::new();
    let mut played = film_of(&record);
    let take = |unix_ns: u64, sample: &CounterSample| {
        numbers.push((unix_ns, sample.number));
        numbers.len() < 4
    };
    played.each_counter(take).expect("held");
    assert_eq!(numbers.iter().map(|(_, number)| *number).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert!(numbers.is_sorted() && numbers[0].0 > record.started_unix_ns);
}
