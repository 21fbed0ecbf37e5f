//! One direction of a stream: late, but in order; cut and healed, or broken for good.

use super::{MILLI, SECOND};
use model::rng::Rng;

/// How messages travel in one direction.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// The least time that a message takes, in ns.
    pub(super) least_ns: u64,
    /// By how much it may vary, in ns.
    pub(super) jitter_ns: u64,
    /// Messages in a million that are late by up to 3 s, and all that follow them.
    pub(super) late_ppm: u32,
    /// From when to when nothing arrives: what was sent meanwhile arrives afterwards. `u64::MAX`
    /// is never.
    pub(super) cut: Option<(u64, u64)>,
    last_ns: u64,
    rng: Rng,
}

impl Line {
    pub(super) fn new(least_ns: u64, jitter_ns: u64, seed: u64) -> Line {
        Line { least_ns, jitter_ns, late_ppm: 0, cut: None, last_ns: 0, rng: Rng::new(seed) }
    }

    /// When a message arrives that is sent now; `None` where it never does.
    pub(super) fn arrival(&mut self, now_ns: u64) -> Option<u64> {
        let mut at_ns = now_ns + self.least_ns + self.rng.below(self.jitter_ns + 1);
        if self.late_ppm > 0 && self.rng.chance(self.late_ppm) {
            at_ns += MILLI + self.rng.below(3 * SECOND);
        }
        at_ns = at_ns.max(self.last_ns);
        if let Some((from, until)) = self.cut
            && (from..until).contains(&at_ns)
        {
            at_ns = until;
        }
        self.last_ns = at_ns;
        (at_ns < u64::MAX).then_some(at_ns)
    }
}
