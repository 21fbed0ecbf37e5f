//! A second coordinator that is told the same as the first, many inputs at once: so its CPU time
//! can be measured, which takes a system call, without measuring the call; and nothing of the
//! simulated hosts lies in the processor's caches in its place.

use super::super::scenario::Scenario;
use super::SECOND;
use crate::coordinator::{Action, Coordinator, Input, Now, Reach};
use model::Event;
use rustix::time::{ClockId, clock_gettime};

/// Inputs that are decided on at once: with so many, the two looks at the clock cost less than a
/// nanosecond each, and the inputs stay in the nearer caches, as frames do that were read a moment
/// ago.
const BATCH: usize = 2_048;

/// The second coordinator, and what its decisions cost.
pub(super) struct Double {
    coordinator: Coordinator,
    waiting: Vec<(Input, Now)>,
    samples: u64,
    /// CPU time of each whole batch by the samples in it, in ns.
    each_ns: Vec<f64>,
}

impl Double {
    pub(super) fn new(scenario: &Scenario) -> Double {
        Double {
            coordinator: Coordinator::new(&scenario.plan, &scenario.stages, Reach::Remote, false),
            waiting: Vec::with_capacity(BATCH),
            samples: 0,
            each_ns: Vec::new(),
        }
    }

    /// Is told what the first one is told.
    pub(super) fn hear(&mut self, input: &Input, now: Now) {
        self.waiting.push((input.clone(), now));
        if self.waiting.len() == BATCH {
            self.decide();
        }
    }

    /// Every sample that it took, and what one of them cost in each batch, with all else that its
    /// host said in the second, in ns.
    pub(super) fn finish(mut self) -> (u64, Vec<f64>) {
        self.decide();
        (self.samples, self.each_ns)
    }

    fn decide(&mut self) {
        let mut samples = 0_u64;
        let began_ns = cpu_ns();
        for (input, now) in self.waiting.drain(..) {
            let actions = self.coordinator.step(input, now);
            let is_sample = |action: &&Action| matches!(action, Action::Emit(Event::Sample(_)));
            samples += actions.iter().filter(is_sample).count() as u64;
        }
        let took_ns = cpu_ns().saturating_sub(began_ns);
        self.samples += samples;
        if samples > 0 {
            self.each_ns.push(took_ns as f64 / samples as f64);
        }
    }
}

/// The CPU time of this thread, in ns.
pub(super) fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}
