//! By how much a host's start may be off the agreed instant.
//!
//! A start is told by what was known of the host's clock before it. A clock that stands still
//! between that and the start (a suspended machine) shows it in a later answer alone, and an answer
//! that takes long overlaps with all that was known: it hides the jump. So a start is bounded by
//! what was known before it and by what the host's clock shows after it, and holds in both. One
//! jump, before the start or after it, leaves one of the two true.
//!
//! Two clocks that stand still for about as long show no jump. And where one jump shows, a second
//! one may hide behind it: then neither is true. But an answer that was read before the start was
//! asked before it, and one that was read behind it came back behind it. Where a jump shows, or
//! where this contradicts what the clocks say, this counts.

use crate::clock::drift_ns;

/// Answers behind a start that come one after the other: the quickest of them says most.
const ANSWERS_BEHIND: u8 = 4;

/// A start as it was told to a host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    /// The agreed instant on our clock.
    pub(super) at_ns: u64,
    /// The same on the host's clock.
    pub(super) theirs_ns: u64,
    /// By how much that may be wrong.
    pub(super) error_ns: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// When it was asked, on our clock.
    pub(super) sent_ns: u64,
    /// What its clock showed.
    pub(super) theirs_ns: u64,
    /// When the answer was here, on our clock.
    pub(super) received_ns: u64,
}

/// Bounds of how far the start of a host is off.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartBound {
    told: Told,
    /// When the host's stage was heard to be over, on our clock.
    over_ns: u64,
    behind: Option<Behind>,
    /// The host's clock had not come to it at this time of ours, as far as that was asked. Before
    /// it was told, it may have: then the host begins late.
    not_before_ns: Option<u64>,
    /// It had begun at this time of ours.
    not_after_ns: u64,
    answers: u8,
}

/// By how much their clock is ahead of what was told, in ns, by answers behind the start.
#[derive(Clone, Copy, Debug)]
struct Behind {
    low_ns: i64,
    high_ns: i64,
}

impl Behind {
    fn extent_ns(self) -> u64 {
        self.low_ns.unsigned_abs().max(self.high_ns.unsigned_abs())
    }

    /// Whether a clock stood still between this and what was known within `error_ns`.
    fn is_beyond(self, error_ns: u64) -> bool {
        let error_ns = clamped(error_ns.into());
        self.low_ns > error_ns || self.high_ns < -error_ns
    }
}

impl StartBound {
    pub(super) fn of(told: Told) -> StartBound {
        StartBound {
            told,
            over_ns: u64::MAX,
            behind: None,
            not_before_ns: None,
            not_after_ns: u64::MAX,
            answers: 0,
        }
    }

    /// The host's stage is over: what is asked from here on is behind its start.
    pub(super) fn is_over(&mut self, now_ns: u64) {
        self.over_ns = self.over_ns.min(now_ns);
    }

    /// Takes in an answer. Whether another one is wanted at once.
    pub(super) fn answer(&mut self, answer: Answer) -> bool {
        let Answer { sent_ns, theirs_ns, received_ns } = answer;
        if received_ns < sent_ns {
            return false;
        }
        if theirs_ns < self.told.theirs_ns && sent_ns < self.over_ns {
            self.not_before_ns = self.not_before_ns.max(Some(sent_ns));
            return false;
        }
        self.not_after_ns = self.not_after_ns.min(received_ns);
        let ahead = i128::from(self.told.theirs_ns) - i128::from(self.told.at_ns);
        let off = |ours_ns: u64| i128::from(theirs_ns) - i128::from(ours_ns) - ahead;
        let drift = drift_ns(received_ns.abs_diff(self.told.at_ns));
        let new = Behind {
            low_ns: clamped(off(received_ns) - drift),
            high_ns: clamped(off(sent_ns) + drift),
        };
        self.behind = Some(match self.behind {
            None => new,
            Some(old) if old.high_ns < new.low_ns || new.high_ns < old.low_ns => {
                // A clock stood still behind the start: either may be true of it.
                self.told.error_ns = self.told.error_ns.max(old.extent_ns());
                new
            }
            Some(old) => {
                Behind { low_ns: old.low_ns.max(new.low_ns), high_ns: old.high_ns.min(new.high_ns) }
            }
        });
        self.answers = self.answers.saturating_add(1);
        self.answers < ANSWERS_BEHIND
    }

    /// The bound in ns; `None` before an answer from behind the start.
    pub(super) fn error_ns(&self) -> Option<u64> {
        let behind = self.behind?;
        let error_ns = self.told.error_ns.max(behind.extent_ns());
        // A clock that stood still did not count for how long the two drifted apart meanwhile.
        let drift = u64::try_from(drift_ns(error_ns)).unwrap_or(u64::MAX);
        let error_ns = error_ns.saturating_add(drift);
        let at_ns = self.told.at_ns;
        let contradicts = self.not_before_ns.is_some_and(|ns| ns > at_ns.saturating_add(error_ns))
            || self.not_after_ns < at_ns.saturating_sub(error_ns);
        Some(match contradicts || behind.is_beyond(self.told.error_ns) {
            false => error_ns,
            true => {
                let early_ns = self.not_before_ns.map_or(error_ns, |ns| ns.abs_diff(at_ns));
                self.not_after_ns.abs_diff(at_ns).max(early_ns)
            }
        })
    }
}

/// Two clocks that count from the start of their machines are less than 292 years apart.
fn clamped(ns: i128) -> i64 {
    i64::try_from(ns).unwrap_or(if ns < 0 { -i64::MAX } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: u64 = 1_000_000_000;

    /// For 11 s on our clock; theirs is 100 s ahead.
    fn told() -> StartBound {
        StartBound::of(Told { at_ns: 11 * S, theirs_ns: 111 * S, error_ns: 50 })
    }

    fn answer(sent_ns: u64, theirs_ns: u64, received_ns: u64) -> Answer {
        Answer { sent_ns, theirs_ns, received_ns }
    }

    #[test]
    fn what_was_read_before_the_start_proves_nothing() {
        let mut start = told();
        assert!(!start.answer(answer(10 * S, 110 * S, 10 * S + 20)));
        assert_eq!(start.error_ns(), None);
        // Asked when the stage was over, it is behind it, by a clock that stood still.
        start.is_over(12 * S);
        assert!(start.answer(answer(12 * S, 110 * S, 12 * S + 20)));
        // By its clock it was two seconds early. But it began between 10 s and 12 s.
        assert_eq!(start.error_ns(), Some(S + 20));
    }

    #[test]
    fn slow_answers_hide_how_far_a_start_is_off_and_leave_it_open() {
        let mut start = told();
        // It stood still for 14 s before the start, and the answer took 20 s.
        start.answer(answer(20 * S, 112 * S, 40 * S));
        assert_eq!(start.error_ns(), Some(29 * S));
        // How long the jump was is known now, and not whether it is the only one.
        start.answer(answer(41 * S, 127 * S, 41 * S + 100));
        assert_eq!(start.error_ns(), Some(29 * S));
    }

    #[test]
    fn a_jump_that_shows_may_hide_another() {
        let mut start = told();
        // Theirs stood still for 2.5 s and the host began at 13.5 s. Then ours stood still for a
        // tenth of a second, in which theirs was read.
        start.answer(answer(13 * S, 111 * S + S / 10, 13 * S + S / 2 + S / 50));
        let error_ns = start.error_ns().expect("one");
        assert!((2 * S + S / 2..2 * S + 3 * S / 5).contains(&error_ns), "{start:?}");
    }

    #[test]
    fn a_clock_that_stood_still_behind_the_start_takes_nothing_away() {
        let mut start = told();
        start.answer(answer(12 * S, 112 * S, 12 * S + S / 1_000));
        let before = start.error_ns().expect("one");
        start.answer(answer(30 * S, 123 * S, 30 * S + 100));
        assert!(start.error_ns().expect("two") > 6 * S && before < S / 100, "{start:?}");
    }

    #[test]
    fn a_host_that_is_told_late_may_have_been_at_the_instant_before_it_was_told() {
        // We stood still for 8 s, and what is known of the host's clock is from before.
        let told = Told { at_ns: 12 * S + S / 4, theirs_ns: 112 * S, error_ns: 50 };
        let mut start = StartBound::of(told);
        start.answer(answer(13 * S, 121 * S, 13 * S + 100));
        assert!(start.error_ns().expect("one") > 8 * S, "{start:?}");
    }

    #[test]
    fn two_clocks_that_stood_still_alike_are_seen_by_what_was_asked_when() {
        let mut start = told();
        // Asked at 16 s and read before the start; both clocks slept, and show no jump.
        start.answer(answer(16 * S, 110 * S, 17 * S));
        start.answer(answer(17 * S, 117 * S, 17 * S + 100));
        assert_eq!(start.error_ns(), Some(6 * S + 100));
    }

    #[test]
    fn few_answers_are_asked_for_at_once() {
        let mut start = told();
        let again: Vec<bool> =
            (12..17).map(|s| start.answer(answer(s * S, s * S + 100 * S, s * S + 9))).collect();
        assert_eq!(again, [true, true, true, false, false]);
    }

    proptest! {
        /// Their clock stands still once, at any time behind what was known of it at 10 s: the
        /// start is off by no more than is said.
        #[test]
        fn one_sleep_at_any_time_is_within_the_bound(
            wrong_ns in -1_000_000_000i64..1_000_000_000, asleep_at in 10 * S..40 * S,
            asleep in 0..20 * S,
            trips in prop::collection::vec((0..3 * S, 0..3 * S), 1..8),
        ) {
            let theirs = |ours: u64| {
                100 * S + ours - ours.saturating_sub(asleep_at).min(asleep)
            };
            let theirs_ns = (111 * S).saturating_add_signed(wrong_ns);
            let error_ns = wrong_ns.unsigned_abs();
            let mut start = StartBound::of(Told {
                at_ns: 11 * S, theirs_ns, error_ns,
            });
            let mut now = 11 * S;
            for (there, back) in trips {
                start.answer(answer(now, theirs(now + there), now + there + back));
                now += there + back;
            }
            // When their clock shows what it was told.
            let (mut before, mut begins) = (9 * S, 99 * S);
            while begins - before > 1 {
                let middle = before.midpoint(begins);
                if theirs(middle) < theirs_ns { before = middle } else { begins = middle }
            }
            if let Some(error_ns) = start.error_ns() {
                prop_assert!(begins.abs_diff(11 * S) <= error_ns, "{begins} {start:?}");
            }
        }

        #[test]
        fn any_answer_is_taken_without_a_panic(
            told in any::<(u64, u64, u64)>(),
            answers in prop::collection::vec(any::<(u64, u64, u64)>(), 0..9), over: u64) {
            let (at_ns, theirs_ns, error_ns) = told;
            let mut start = StartBound::of(Told { at_ns, theirs_ns, error_ns });
            start.is_over(over);
            for (sent, theirs, received) in answers {
                start.answer(answer(sent, theirs, received));
            }
            start.error_ns();
        }
    }
}
