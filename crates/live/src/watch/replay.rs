//! A recorded run as events in time: played at any speed, back and forth.
//!
//! What hosts did is taken from a [`Film`] as it is played, and not held. To go back, states that
//! were passed are kept: many of the last minutes, few of those long ago.

mod script;
mod speed;
#[cfg(test)]
mod tests;

pub use speed::Speed;

use super::state::{Memory, State};
use model::{CounterSample, Event, Plan, Record};
use script::Script;
use std::collections::BTreeMap;

const NS_PER_S: u64 = 1_000_000_000;
/// Samples between two states that are kept: some tenths of a second to play them again.
const APART: usize = 65_536;
/// States that are kept. Each has the last sample of every host.
const MOST_KEPT: usize = 12;
/// Samples that are played at once: whoever plays faster than that gets a look in between.
const AT_ONCE: usize = 32_768;

/// What hosts did and what their kernels counted in a run, stage by stage in the order of time.
pub trait Film {
    /// Why it cannot be read.
    type Error;

    /// When the last interval of each host in a stage ended, in ns after its start.
    fn heard_ns(&self, stage: u32) -> BTreeMap<u32, u64>;

    /// When the last sample of counters in a stage ended, in ns after its start.
    fn counted_ns(&self, stage: u32) -> Option<u64>;

    /// Goes to what ended behind an instant of a stage, in ns after its start; to counters alone
    /// where nothing else is wanted.
    ///
    /// # Errors
    /// It cannot be read.
    fn seek(&mut self, stage: u32, from_ns: u64, counters_alone: bool) -> Result<(), Self::Error>;

    /// The next sample, with its end in ns after the stage's start.
    ///
    /// # Errors
    /// It cannot be read.
    fn next_sample(&mut self) -> Result<Option<(u64, Event)>, Self::Error>;
}

/// A recorded run, at some time of it.
#[derive(Debug)]
pub struct Replay<F: Film> {
    plan: Plan,
    started_unix_ns: u64,
    script: Script,
    /// The next event of the script.
    next: usize,
    film: F,
    /// The stage that is played: its number, when it began, and what nothing of it comes after.
    stage: Option<(u32, u64, u64)>,
    /// The next sample of that stage, with its time after the run's start.
    sample: Option<(u64, Event)>,
    now_ns: u64,
    speed: Speed,
    kept: Vec<Kept>,
    /// Samples since the last state was kept, and between two of them.
    since: usize,
    apart: usize,
    /// Samples that are played at once.
    at_once: usize,
}

/// A state that was passed.
#[derive(Debug)]
struct Kept {
    at_ns: u64,
    next: usize,
    stage: u32,
    memory: Memory,
}

impl<F: Film> Replay<F> {
    /// A run from its beginning; `record` without what its hosts did.
    pub fn new(record: &Record, film: F, speed: Speed) -> Replay<F> {
        let script = Script::of(record, &film);
        Replay {
            plan: record.plan.clone(),
            started_unix_ns: record.started_unix_ns,
            script,
            next: 0,
            film,
            stage: None,
            sample: None,
            now_ns: 0,
            speed,
            kept: Vec::new(),
            since: 0,
            apart: APART,
            at_once: AT_ONCE,
        }
    }

    /// How long the run was, in ns.
    pub fn length_ns(&self) -> u64 {
        self.script.length_ns()
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
        self.sample.is_none() && self.next >= self.script.events.len()
    }

    /// So many ns passed for whoever looks: what happened meanwhile goes into `state`. Where that
    /// is very much, a part of it goes. True if anything happened.
    ///
    /// # Errors
    /// The film cannot be read.
    pub fn pass(&mut self, real_ns: u64, state: &mut State) -> Result<bool, F::Error> {
        // Saturates: nothing is so long.
        let by_ns = (real_ns as f64 * self.speed.0) as u64;
        self.go_on(self.now_ns.saturating_add(by_ns), self.at_once, state)
    }

    /// Goes so many seconds on, or back.
    ///
    /// # Errors
    /// The film cannot be read.
    pub fn step(&mut self, seconds: i64, state: &mut State) -> Result<(), F::Error> {
        let by_ns = seconds.unsigned_abs().saturating_mul(NS_PER_S);
        if seconds >= 0 {
            self.go_on(self.now_ns.saturating_add(by_ns), usize::MAX, state)?;
            return Ok(());
        }
        let to_ns = self.now_ns.saturating_sub(by_ns);
        self.go_back(to_ns, state)?;
        self.go_on(to_ns, usize::MAX, state)?;
        Ok(())
    }

    /// Goes to the last state that is known at or before an instant.
    fn go_back(&mut self, to_ns: u64, state: &mut State) -> Result<(), F::Error> {
        let begin = self.script.events.partition_point(|(at_ns, _)| *at_ns <= to_ns);
        // From where a stage begins, nothing older matters to the figures.
        let start = self.script.starts.iter().rev().find(|start| **start < begin).copied();
        let start = start.unwrap_or(0);
        self.kept.retain(|kept| kept.at_ns <= to_ns);
        self.since = 0;
        (self.stage, self.sample) = (None, None);
        if let Some(kept) = self.kept.last().filter(|kept| kept.next > start) {
            state.recall(&kept.memory);
            (self.next, self.now_ns) = (kept.next, kept.at_ns);
            let (stage, at_ns) = (kept.stage, kept.at_ns);
            return self.enter(stage, at_ns);
        }
        state.rewind(&self.plan);
        for (_, event) in self.script.events[..start]
            .iter()
            .filter(|(_, event)| matches!(event, Event::Note(_) | Event::Happened(_)))
        {
            state.event(event);
        }
        (self.next, self.now_ns) = (start, to_ns);
        Ok(())
    }

    /// Plays a stage from an instant of the run on.
    fn enter(&mut self, stage: u32, from_ns: u64) -> Result<(), F::Error> {
        let Some((start_ns, end_ns)) = self.script.bounds.get(&stage).copied() else {
            return Ok(());
        };
        self.stage = Some((stage, start_ns, end_ns));
        self.film.seek(stage, from_ns.saturating_sub(start_ns), false)?;
        self.take_sample()
    }

    fn take_sample(&mut self) -> Result<(), F::Error> {
        self.sample = None;
        if let Some((_, start_ns, end_ns)) = self.stage
            && let Some((at_ns, event)) = self.film.next_sample()?
        {
            self.sample = Some((start_ns.saturating_add(at_ns).min(end_ns), event));
        }
        Ok(())
    }

    fn go_on(&mut self, to_ns: u64, most: usize, state: &mut State) -> Result<bool, F::Error> {
        let to_ns = to_ns.min(self.length_ns());
        let mut played = 0;
        let mut is_any = false;
        loop {
            let event = self.script.events.get(self.next);
            let of_script = event.map_or(u64::MAX, |(at_ns, _)| *at_ns);
            let of_film = self.sample.as_ref().map(|(at_ns, _)| *at_ns);
            // What hosts did comes before what is noted at the same instant.
            if let Some(at_ns) = of_film.filter(|at_ns| *at_ns <= of_script) {
                if at_ns > to_ns {
                    break;
                }
                if played >= most {
                    self.now_ns = at_ns.min(to_ns);
                    return Ok(is_any);
                }
                if let Some((_, event)) = self.sample.take() {
                    state.event(&event);
                }
                played += 1;
                self.take_sample()?;
                self.keep(at_ns, state);
            } else if let Some((at_ns, event)) = event.filter(|(at_ns, _)| *at_ns <= to_ns) {
                state.event(event);
                let (at_ns, begun) = match event {
                    Event::StageStarted { stage, .. } => (*at_ns, Some(*stage)),
                    _ => (*at_ns, None),
                };
                self.next += 1;
                if let Some(stage) = begun {
                    self.since = 0;
                    self.enter(stage, at_ns)?;
                }
            } else {
                break;
            }
            is_any = true;
        }
        self.now_ns = to_ns;
        Ok(is_any)
    }

    /// Keeps the state behind a sample, where the last one that is kept is far enough away and
    /// nothing else happens at this instant.
    fn keep(&mut self, at_ns: u64, state: &State) {
        self.since += 1;
        let Some((stage, _, end_ns)) = self.stage else { return };
        let is_last = self.sample.as_ref().is_some_and(|(next_ns, _)| *next_ns > at_ns);
        if self.since < self.apart || !is_last || at_ns >= end_ns {
            return;
        }
        self.since = 0;
        let memory = state.memory();
        self.kept.push(Kept { at_ns, next: self.next, stage, memory });
        if self.kept.len() > MOST_KEPT {
            let ages: Vec<u64> = self.kept.iter().map(|kept| at_ns - kept.at_ns).collect();
            self.kept.remove(least_missed(&ages));
        }
    }

    /// Hands out every counter sample in order, with the wall-clock time of its end in ns since
    /// 1970, as long as `take` wants more.
    ///
    /// # Errors
    /// The film cannot be read.
    pub fn each_counter(
        &mut self,
        mut take: impl FnMut(u64, &CounterSample) -> bool,
    ) -> Result<(), F::Error> {
        let mut stages: Vec<(u64, u64, u32)> =
            self.script.bounds.iter().map(|(stage, bounds)| (bounds.0, bounds.1, *stage)).collect();
        stages.sort_unstable();
        for (start_ns, end_ns, stage) in stages {
            self.film.seek(stage, 0, true)?;
            while let Some((at_ns, event)) = self.film.next_sample()? {
                let at_ns = start_ns.saturating_add(at_ns).min(end_ns);
                if let Event::Counters(sample) = event
                    && !take(self.started_unix_ns.saturating_add(at_ns), &sample)
                {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Of states of these ages, oldest first, the place of the one whose neighbours are nearest to each
/// other beside its age; never that of the oldest or the youngest.
fn least_missed(ages: &[u64]) -> usize {
    let gap = |place: usize| {
        let apart = ages[place - 1].saturating_sub(ages[place + 1]);
        apart as f64 / ages[place].max(1) as f64
    };
    (1..ages.len().saturating_sub(1)).min_by(|a, b| gap(*a).total_cmp(&gap(*b))).unwrap_or(0)
}
