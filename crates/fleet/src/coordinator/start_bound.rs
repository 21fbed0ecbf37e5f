//! By how much a host's start may be off, with what its clock showed afterwards.
//!
//! Answers that overlap are taken together, as long as no clock stands still. One that took long
//! overlaps with any earlier one, so that it hides a clock that stood still meanwhile. Answers to
//! questions that were asked once the start was agreed on bound it without those before.

use crate::clock::drift_ns;

/// Machines that sleep or are paused do so for longer.
const LEAST_SLEEP_NS: u64 = 1_000_000_000;

/// A start as it was told to a host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    /// When it was agreed on, on our clock.
    pub(super) asked_ns: u64,
    /// The agreed instant on our clock.
    pub(super) at_ns: u64,
    /// The same on the host's clock.
    pub(super) theirs_ns: u64,
    /// By how much that may be wrong.
    pub(super) error_ns: u64,
}

/// Bounds of how far the start of a host is off.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StartBound {
    asked_ns: u64,
    /// By how much their clock is ahead of ours, if what was told is right.
    ahead_ns: i64,
    error_ns: u64,
    /// The least bound that one answer gives by itself; `u64::MAX` before the first.
    alone_ns: u64,
}

impl StartBound {
    pub(super) fn of(told: Told) -> StartBound {
        let Told { asked_ns, at_ns, theirs_ns, error_ns } = told;
        // Two clocks that count from the start of their machines are less than 292 years apart.
        let ahead_ns = i128::from(theirs_ns) - i128::from(at_ns);
        let ahead_ns = i64::try_from(ahead_ns).unwrap_or_default();
        StartBound { asked_ns, ahead_ns, error_ns, alone_ns: u64::MAX }
    }

    /// Takes in an answer, and by how much it contradicts those before it.
    pub(super) fn answer(&mut self, jumped_ns: u64, sent_ns: u64, theirs_ns: u64, at_ns: u64) {
        self.error_ns = self.error_ns.saturating_add(jumped_ns);
        if self.alone_ns == 0 || sent_ns < self.asked_ns || at_ns < sent_ns {
            return;
        }
        // How far it is off at either end of the trip.
        let off = |instant_ns: u64| {
            i128::from(theirs_ns) - i128::from(instant_ns) - i128::from(self.ahead_ns)
        };
        let drift = drift_ns(at_ns - self.asked_ns);
        let most = off(sent_ns).abs().max(off(at_ns).abs()) + drift;
        self.alone_ns = self.alone_ns.min(u64::try_from(most).unwrap_or(u64::MAX).max(1));
    }

    /// The bound in ns: that of all answers together, unless a clock may have stood still unseen.
    pub(super) fn error_ns(&self) -> u64 {
        let is_open = (LEAST_SLEEP_NS..u64::MAX).contains(&self.alone_ns);
        if is_open { self.error_ns.max(self.alone_ns) } else { self.error_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    /// Agreed on at 10 s, for 11 s; their clock is 100 s ahead.
    fn told() -> StartBound {
        StartBound::of(Told { asked_ns: 10 * S, at_ns: 11 * S, theirs_ns: 111 * S, error_ns: 50 })
    }

    #[test]
    fn a_quick_answer_leaves_the_bound_as_it_was() {
        let mut start = told();
        start.answer(0, 12 * S, 112 * S + 100, 12 * S + 200);
        assert_eq!(start.error_ns(), 50);
    }

    #[test]
    fn slow_answers_leave_open_what_they_hide() {
        let mut start = told();
        // It stood still for 14 s before the start, and answers take 20 s.
        start.answer(0, 10 * S, 106 * S, 30 * S);
        assert!((24 * S..25 * S).contains(&start.error_ns()), "{}", start.error_ns());
        // What was asked before the start was agreed on proves nothing of it.
        start.answer(0, 9 * S, 109 * S, 9 * S + 100);
        assert!(start.error_ns() >= 24 * S);
        // A quick one shows the whole of it.
        start.answer(0, 31 * S, 117 * S, 31 * S + 100);
        assert!((14 * S..14 * S + S / 10).contains(&start.error_ns()), "{}", start.error_ns());
    }

    #[test]
    fn a_contradiction_adds_up_and_nothing_told_is_nothing_bound() {
        let mut start = told();
        start.answer(3 * S, 12 * S, 112 * S, 12 * S);
        assert_eq!(start.error_ns(), 3 * S + 50);
        let mut none = StartBound::default();
        none.answer(0, 0, 99 * S, 50 * S);
        assert_eq!(none.error_ns(), 0);
    }
}
