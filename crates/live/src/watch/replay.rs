//! A recorded run as events in time: played at any speed, back and forth.

use super::state::State;
use model::record::{StageData, StageRecord};
use model::{CounterSample, Event, Note, NoteKind, Plan, Record};
use std::collections::BTreeMap;
use std::str::FromStr;

const NS_PER_S: u64 = 1_000_000_000;

/// How much faster than the run was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed(f64);

impl Speed {
    const LEAST: f64 = 0.1;
    const MOST: f64 = 10_000.0;

    /// As the run was.
    pub const REAL: Speed = Speed(1.0);

    /// Twice as fast, up to a limit.
    pub fn faster(self) -> Speed {
        Speed((self.0 * 2.0).min(Speed::MOST))
    }

    /// Half as fast, down to a limit.
    pub fn slower(self) -> Speed {
        Speed((self.0 / 2.0).max(Speed::LEAST))
    }
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Speed, String> {
        let speed = text.trim_end_matches(['x', '×']).parse().ok();
        let speed = speed.filter(|speed| (Speed::LEAST..=Speed::MOST).contains(speed)).map(Speed);
        speed.ok_or_else(|| {
            format!("`{text}` is no speed; write {} to {}, such as 10", Speed::LEAST, Speed::MOST)
        })
    }
}

impl std::fmt::Display for Speed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}×", (self.0 * 100.0).round() / 100.0)
    }
}

/// A recorded run, at some time of it.
#[derive(Debug)]
pub struct Replay {
    plan: Plan,
    started_unix_ns: u64,
    /// Each with its time in ns after the run's start, in order.
    events: Vec<(u64, Event)>,
    /// Where stages begin among them: from there on, nothing older matters to the figures.
    starts: Vec<usize>,
    next: usize,
    now_ns: u64,
    speed: Speed,
}

impl Replay {
    /// A run from its beginning.
    pub fn new(record: Record, speed: Speed) -> Replay {
        let started_unix_ns = record.started_unix_ns;
        let plan = record.plan.clone();
        let events = timeline(record);
        let is_start = |(place, (_, event)): (usize, &(u64, Event))| {
            matches!(event, Event::StageStarted { .. }).then_some(place)
        };
        let starts = events.iter().enumerate().filter_map(is_start).collect();
        Replay { plan, started_unix_ns, events, starts, next: 0, now_ns: 0, speed }
    }

    /// How long the run was, in ns.
    pub fn length_ns(&self) -> u64 {
        self.events.last().map_or(0, |(at_ns, _)| *at_ns)
    }

    /// Where the replay is, in ns after the run's start.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// How fast it goes.
    pub fn speed(&self) -> Speed {
        self.speed
    }

    /// Goes at this speed from now on.
    pub fn set_speed(&mut self, speed: Speed) {
        self.speed = speed;
    }

    /// Whether all of it was played.
    pub fn is_over(&self) -> bool {
        self.next >= self.events.len()
    }

    /// So many ns passed for whoever looks: what happened meanwhile goes into `state`. True if
    /// anything did.
    pub fn pass(&mut self, real_ns: u64, state: &mut State) -> bool {
        // Saturates: nothing is so long.
        let by_ns = (real_ns as f64 * self.speed.0) as u64;
        self.go_on(self.now_ns.saturating_add(by_ns), state)
    }

    /// Goes so many seconds on, or back.
    pub fn step(&mut self, seconds: i64, state: &mut State) {
        let by_ns = seconds.unsigned_abs().saturating_mul(NS_PER_S);
        if seconds >= 0 {
            self.go_on(self.now_ns.saturating_add(by_ns), state);
            return;
        }
        let to_ns = self.now_ns.saturating_sub(by_ns);
        state.rewind(&self.plan);
        let begin = self.events.partition_point(|(at_ns, _)| *at_ns <= to_ns);
        let stage = self.starts.iter().rev().find(|start| **start < begin).copied().unwrap_or(0);
        for (_, event) in self.events[..stage]
            .iter()
            .filter(|(_, event)| matches!(event, Event::Note(_) | Event::Happened(_)))
        {
            state.event(event);
        }
        (self.next, self.now_ns) = (stage, to_ns);
        self.go_on(to_ns, state);
    }

    fn go_on(&mut self, to_ns: u64, state: &mut State) -> bool {
        let before = self.next;
        self.now_ns = to_ns.min(self.length_ns());
        while let Some((at_ns, event)) = self.events.get(self.next)
            && *at_ns <= self.now_ns
        {
            state.event(event);
            self.next += 1;
        }
        self.next > before
    }

    /// Every counter sample in order, with the wall-clock time of its end in ns since 1970.
    pub fn samples(&self) -> impl Iterator<Item = (u64, &CounterSample)> {
        self.events.iter().filter_map(|(at_ns, event)| match event {
            Event::Counters(sample) => {
                Some((self.started_unix_ns.saturating_add(*at_ns), &**sample))
            }
            _ => None,
        })
    }
}

/// All events of a record with their times. A run file has no times of notes: they come with the
/// end of their stage, the loss of a host after the last that was heard of it.
fn timeline(record: Record) -> Vec<(u64, Event)> {
    let began_ns = record.started_unix_ns;
    let of_none = |note: &&Note| note.stage.is_none_or(|stage| record.stage(stage).is_none());
    let mut events: Vec<(u64, Event)> =
        record.notes.iter().filter(of_none).map(|note| (0, Event::Note(note.clone()))).collect();
    // A run that was resumed may have gone back to a stage.
    let mut stages = record.stages;
    stages.sort_by_key(|stage| stage.started_unix_ns);
    let starts: Vec<u64> =
        stages.iter().map(|stage| stage.started_unix_ns.saturating_sub(began_ns)).collect();
    let starts_of: Vec<(u32, u64)> =
        stages.iter().map(|stage| stage.stage).zip(starts.iter().copied()).collect();
    let mut last_ns = 0;
    for (place, stage) in stages.into_iter().enumerate() {
        let first = events.len();
        put_stage(&mut events, stage, starts[place], &record.notes);
        // The last sample ends by a host's clock, the next stage begins by ours: nothing of a stage
        // comes after the next one began.
        let limit_ns = starts.get(place + 1).copied().unwrap_or(u64::MAX);
        for (at_ns, _) in &mut events[first..] {
            *at_ns = limit_ns.min(*at_ns);
            last_ns = last_ns.max(*at_ns);
        }
    }
    for occurrence in record.occurrences {
        let stage = starts_of.iter().find(|(number, _)| Some(*number) == occurrence.stage);
        let at_ns = match stage {
            Some((_, start_ns)) => start_ns.saturating_add(occurrence.at_ns),
            None => occurrence.unix_ns.saturating_sub(began_ns),
        };
        last_ns = last_ns.max(at_ns);
        events.push((at_ns, Event::Happened(Box::new(occurrence))));
    }
    if let Some((unix_ns, end)) = record.end {
        events.push((
            unix_ns.saturating_sub(began_ns).max(last_ns),
            Event::RunEnded { unix_ns, end },
        ));
    }
    // Stable: what happened at one time stays in order.
    events.sort_by_key(|(at_ns, _)| *at_ns);
    events
}

/// The events of a stage that began at `start_ns`, its notes among `notes`.
fn put_stage(events: &mut Vec<(u64, Event)>, stage: StageRecord, start_ns: u64, notes: &[Note]) {
    let number = stage.stage;
    let end =
        |begin_ns: u64, length_ns: u64| start_ns.saturating_add(begin_ns).saturating_add(length_ns);
    let mut heard_ns: BTreeMap<u32, u64> = BTreeMap::new();
    events.push((start_ns, Event::StageStarted { stage: number, unix_ns: stage.started_unix_ns }));
    let StageData::Samples { samples, counters } = stage.data else {
        panic!("a replay is of samples, and stage {number} has none");
    };
    for sample in samples {
        let at_ns = end(sample.start_ns, sample.length_ns);
        let heard = heard_ns.entry(sample.host).or_insert(at_ns);
        *heard = at_ns.max(*heard);
        events.push((at_ns, Event::Sample(sample)));
    }
    let mut end_ns = heard_ns.values().copied().max().unwrap_or(start_ns);
    for sample in counters {
        let at_ns = end(sample.start_ns, sample.length_ns);
        end_ns = end_ns.max(at_ns);
        events.push((at_ns, Event::Counters(Box::new(sample))));
    }
    for note in notes.iter().filter(|note| note.stage == Some(number)) {
        let at_ns = match note.kind() {
            NoteKind::HostReturned => start_ns,
            NoteKind::HostLost => heard_ns.get(&note.host).copied().unwrap_or(start_ns),
            _ => end_ns,
        };
        events.push((at_ns, Event::Note(note.clone())));
    }
    if let Some(end) = stage.end {
        events.push((end_ns, Event::StageEnded { stage: number, end }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Progress;
    use crate::watch::Subject;
    use crate::watch::testing::busy;
    use analysis::testing::Recorded;
    use model::{Fact, Op, StageKind};

    /// Two stages of ten seconds; the load of a node grows with each second.
    fn record() -> Record {
        let mut recorded = Recorded::new(
            "[stages]\nmeasure = \"10s\"\n[[workload]]\nname = \"mix\"\nread = \"70%\"\n",
        );
        recorded.prepare();
        let stage = recorded.stage(StageKind::Measure);
        for second in 0..10 {
            recorded.interval(stage, second, &[(Op::Read, &[250_000; 70])]);
        }
        recorded.end();
        let mut record = recorded.record();
        let last = record.stages.last_mut().expect("a stage");
        for second in 0..10 {
            let mut sample = busy(0, second + 1);
            (sample.stage, sample.number, sample.start_ns) =
                (stage, second as u32, second * NS_PER_S);
            last.counters_mut().push(sample);
        }
        record
    }

    fn state(record: &Record) -> State {
        State::new(Subject::Replay, &record.testbed, Some(&record.plan))
    }

    fn reads(state: &State) -> Option<f64> {
        state.total().read.iops
    }

    #[test]
    fn time_passes_as_fast_as_it_was_told() {
        let record = record();
        let mut state = state(&record);
        let mut replay = Replay::new(record, Speed::REAL);
        let start_ns = replay.events[*replay.starts.last().expect("a stage")].0;
        replay.pass(start_ns, &mut state);
        assert_eq!(reads(&state), None, "nothing was counted yet");
        replay.set_speed("4x".parse().expect("a speed"));
        replay.pass(NS_PER_S / 2, &mut state);
        assert_eq!(reads(&state), Some(2.0 * 2_100.0), "two seconds of the run");
        assert!(!replay.is_over());
        replay.pass(u64::MAX, &mut state);
        assert!(replay.is_over());
        assert_eq!(reads(&state), Some(10.0 * 2_100.0));
        assert_eq!(replay.now_ns(), replay.length_ns());
    }

    #[test]
    fn a_step_back_shows_what_was_shown_then() {
        let record = record();
        let (mut state, mut other) = (state(&record), state(&record));
        let mut replay = Replay::new(record.clone(), Speed::REAL);
        let mut fresh = Replay::new(record, Speed::REAL);
        let length_ns = replay.length_ns();
        replay.pass(length_ns, &mut state);
        replay.step(-4, &mut state);
        fresh.pass(length_ns - 4 * NS_PER_S, &mut other);
        assert_eq!(reads(&state), reads(&other));
        assert_eq!(state.progress().map(Progress::now), other.progress().map(Progress::now));
        assert_eq!(replay.next, fresh.next);
        replay.step(i64::MIN, &mut state);
        assert_eq!((replay.now_ns(), reads(&state)), (0, None));
    }

    #[test]
    fn a_stage_ends_before_the_next_one_begins() {
        let mut record = record();
        // The second one begins while the first one still tells of its last interval.
        let first_ns = record.stages[0].started_unix_ns;
        record.stages[1].started_unix_ns = first_ns;
        let order: Vec<(bool, u32)> = timeline(record)
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
        let mut replay = Replay::new(record, Speed::REAL);
        let start_ns = replay.events[*replay.starts.last().expect("a stage")].0;
        replay.pass(start_ns + 3 * NS_PER_S, &mut state);
        assert_eq!(state.host_counts(), (1, 0));
        replay.pass(NS_PER_S, &mut state);
        assert_eq!((state.host_counts(), reads(&state)), ((1, 1), None));
    }

    #[test]
    fn speeds_have_limits() {
        assert_eq!("10".parse(), Ok(Speed(10.0)));
        for wrong in ["0", "-1", "fast", "nan", "inf", "1e9", ""] {
            assert!(wrong.parse::<Speed>().is_err(), "{wrong}");
        }
        let (mut most, mut least) = (Speed::REAL, Speed::REAL);
        for _ in 0..100 {
            (most, least) = (most.faster(), least.slower());
        }
        assert_eq!((most, least), (Speed(Speed::MOST), Speed(Speed::LEAST)));
        assert_eq!(
            (Speed(0.125).to_string(), Speed(10.0).to_string()),
            ("0.13×".to_owned(), "10×".to_owned())
        );
    }
}
