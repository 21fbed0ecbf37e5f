//! Whether caches are warm, so that preconditioning may end: the rate has settled, and so has what
//! the caches have of what they are asked for, where a kernel counts that.
//!
//! The rate follows the rule of the SNIA ([`steady`]). A rate alone can look settled while a large
//! cache fills slowly; its share of hits tells more. The limit of that share is ours.

use crate::over_time::steady;
use model::counters::{Layer, Metric};
use model::{CounterSample, Event, Plan, StageKind};
use std::collections::VecDeque;

/// The most by which the shares of hits of the rounds may differ, 0 to 1.
pub const MOST_HITS_RANGE: f64 = 0.05;
/// Counter samples that are kept of a stage, of all hosts: those of the last rounds are what
/// counts.
const MOST_KEPT: usize = 1 << 16;

/// Decides for each stage of a run whether it may end, by what happened so far.
#[derive(Debug, Default)]
pub struct Warmth {
    /// The length of a round in ns, of a stage that warms caches.
    round_ns: Option<u64>,
    /// What caches had, in the order in which hosts said it.
    counted: VecDeque<Counted>,
}

/// What the caches of one host had in an interval.
#[derive(Clone, Copy, Debug)]
struct Counted {
    /// The middle of the interval, in ns after the start of the stage.
    at_ns: u64,
    hits: u64,
    misses: u64,
}

impl Warmth {
    /// Takes in what happened, in its order.
    pub fn take(&mut self, plan: &Plan, event: &Event) {
        match event {
            Event::StageStarted { stage, .. } => {
                let planned = plan.stages.get(*stage as usize);
                let warming = planned.filter(|planned| planned.kind == StageKind::Precondition);
                let steady = warming.and_then(|planned| planned.stop().steady());
                self.round_ns = steady.map(|steady| steady.round.0.max(1));
                self.counted.clear();
            }
            Event::Counters(sample) if self.round_ns.is_some() => {
                if let Some(counted) = of_caches(sample) {
                    if self.counted.len() == MOST_KEPT {
                        self.counted.pop_front();
                    }
                    self.counted.push_back(counted);
                }
            }
            _ => {}
        }
    }

    /// Whether these rounds of the stage that runs let it end.
    pub fn is_settled(&self, rounds: &[f64]) -> bool {
        steady::is_steady(rounds) && self.hits_are_settled()
    }

    /// Whether the caches' share of hits is the same in all of the last rounds. Where nobody
    /// counted in one of them, nothing speaks against it.
    fn hits_are_settled(&self) -> bool {
        let last_ns = self.counted.iter().map(|counted| counted.at_ns).max();
        let Some((round_ns, last_ns)) = self.round_ns.zip(last_ns) else { return true };
        let mut rounds = [(0u64, 0u64); steady::ROUNDS];
        for counted in &self.counted {
            let age = (last_ns.saturating_sub(counted.at_ns) / round_ns) as usize;
            if let Some((hits, misses)) = rounds.get_mut(age) {
                *hits = hits.saturating_add(counted.hits);
                *misses = misses.saturating_add(counted.misses);
            }
        }
        let share = |&(hits, misses): &(u64, u64)| {
            let all = hits.saturating_add(misses);
            (all > 0).then(|| hits as f64 / all as f64)
        };
        let Some(shares) = rounds.iter().map(share).collect::<Option<Vec<f64>>>() else {
            return true;
        };
        let (low, high) = shares
            .iter()
            .fold((f64::MAX, f64::MIN), |(low, high), share| (low.min(*share), high.max(*share)));
        high - low <= MOST_HITS_RANGE
    }
}

/// What all caches of a sample had together; `None` where none was asked for anything.
fn of_caches(sample: &CounterSample) -> Option<Counted> {
    let (mut hits, mut misses) = (0u64, 0u64);
    for entry in sample.entries.iter().filter(|entry| entry.layer == Layer::Cache) {
        let get = |metric| sample.get(Layer::Cache, &entry.name, metric).unwrap_or(0);
        hits = hits.saturating_add(get(Metric::Hits));
        misses = misses.saturating_add(get(Metric::Misses));
    }
    let at_ns = sample.start_ns.saturating_add(sample.length_ns / 2);
    (hits > 0 || misses > 0).then_some(Counted { at_ns, hits, misses })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;
    use model::counters::Entry;

    /// A plan that warms in rounds of 4 s.
    fn plan() -> Plan {
        Recorded::new(
            "[stages]\nprecondition = \"20s\"\nprecondition_until = \"warm\"\n[[workload]]\nname \
             = \"w\"\n",
        )
        .record()
        .plan
    }

    fn stage(plan: &Plan, kind: StageKind) -> u32 {
        plan.stages.iter().position(|stage| stage.kind == kind).expect("a stage") as u32
    }

    fn started(stage: u32) -> Event {
        Event::StageStarted { stage, unix_ns: 0 }
    }

    fn counters(stage: u32, second: u64, hits: u64, misses: u64) -> Event {
        let values = vec![(Metric::Hits, hits), (Metric::Misses, misses)];
        let entry = Entry { layer: Layer::Cache, name: "bcache0".into(), values };
        Event::Counters(Box::new(CounterSample {
            stage,
            number: second as u32,
            start_ns: second * 1_000_000_000,
            length_ns: 1_000_000_000,
            entries: vec![entry],
            ..CounterSample::default()
        }))
    }

    const LEVEL: [f64; 5] = [100.0; 5];

    #[test]
    fn a_share_of_hits_that_still_rises_is_not_warm_though_the_rate_is_level() {
        let plan = plan();
        let stage = stage(&plan, StageKind::Precondition);
        let mut warmth = Warmth::default();
        warmth.take(&plan, &started(stage));
        assert!(warmth.is_settled(&LEVEL), "nobody counts");
        assert!(!warmth.is_settled(&[100.0, 120.0, 140.0, 160.0, 180.0]));
        (0..20).for_each(|second| {
            warmth.take(&plan, &counters(stage, second, 10 + second, 90 - second));
        });
        assert!(!warmth.is_settled(&LEVEL));
        (20..40).for_each(|second| warmth.take(&plan, &counters(stage, second, 30, 70)));
        assert!(warmth.is_settled(&LEVEL));
        assert!(!warmth.is_settled(&LEVEL[..4]), "five rounds make a window");
    }

    #[test]
    fn hits_of_another_stage_and_of_idle_rounds_say_nothing() {
        let plan = plan();
        let stage = stage(&plan, StageKind::Precondition);
        let mut warmth = Warmth::default();
        warmth.take(&plan, &started(stage));
        (0..20).for_each(|second| warmth.take(&plan, &counters(stage, second, second, 20)));
        assert!(!warmth.is_settled(&LEVEL));
        warmth.take(&plan, &started(stage + 1));
        assert!(warmth.is_settled(&LEVEL), "a measured stage has the rule of rates alone");
        warmth.take(&plan, &started(stage));
        [0, 1, 19].into_iter().for_each(|second| {
            warmth.take(&plan, &counters(stage, second, second, 20));
        });
        assert!(warmth.is_settled(&LEVEL), "a round in which nobody asked");
    }
}
