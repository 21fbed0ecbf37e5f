//! How far another host's steady clock is ahead of ours, and how sure that is.
//!
//! An answer that left us at `sent`, showed `theirs` and came back at `received` bounds the offset:
//! it lies within half the round trip of `theirs - (sent + received) / 2` (F. Cristian,
//! "Probabilistic clock synchronization", Distributed Computing 3, 1989). Every answer gives
//! such an interval, which widens as the clocks drift apart; the true offset lies in all of them
//! (K. Marzullo, "Maintaining the time in a distributed system", 1984).

pub(crate) mod wall;

/// By how much two clocks drift apart at most, in parts per million. `CLOCK_MONOTONIC` goes as fast
/// as NTP has it go, and NTP corrects a clock's frequency by up to 500 ppm (RFC 5905, section 7.2,
/// `MAXFREQ`; the kernel's `include/linux/timex.h`, `MAXFREQ`), whatever its crystal does; the
/// other's may be corrected the other way.
const DRIFT_PPM: u64 = 1_000;

/// The offset of one host's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostClock {
    estimate: Option<Estimate>,
    answers: u32,
    round_trip_ns: u64,
}

/// Bounds of the offset at an instant of our clock.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    at_ns: u64,
    low_ns: i128,
    high_ns: i128,
}

impl Estimate {
    /// The same, seen later.
    fn widened(self, at_ns: u64) -> Estimate {
        let drift = drift_ns(at_ns.saturating_sub(self.at_ns));
        Estimate { at_ns, low_ns: self.low_ns - drift, high_ns: self.high_ns + drift }
    }
}

/// By how much two clocks may have drifted apart after so long, rounded up: what is lost by
/// rounding would add up with every answer.
pub(crate) fn drift_ns(elapsed_ns: u64) -> i128 {
    (i128::from(elapsed_ns) * i128::from(DRIFT_PPM) + 999_999) / 1_000_000
}

impl HostClock {
    /// Takes in an answer. One that came back before it was sent is ignored.
    pub fn answer(&mut self, sent_ns: u64, theirs_ns: u64, received_ns: u64) {
        let Some(round_trip) = received_ns.checked_sub(sent_ns) else { return };
        self.round_trip_ns = round_trip;
        self.answers = self.answers.saturating_add(1);
        let theirs = i128::from(theirs_ns);
        let new = Estimate {
            at_ns: received_ns,
            low_ns: theirs - i128::from(received_ns),
            // If it was read as soon as the question left, their clock has gained on ours since.
            high_ns: theirs - i128::from(sent_ns) + drift_ns(round_trip),
        };
        let Some(old) = self.estimate.map(|estimate| estimate.widened(received_ns)) else {
            self.estimate = Some(new);
            return;
        };
        let both = Estimate {
            at_ns: received_ns,
            low_ns: old.low_ns.max(new.low_ns),
            high_ns: old.high_ns.min(new.high_ns),
        };
        // Where they contradict each other, one of the clocks stood still (a suspended machine).
        // The latest word counts.
        self.estimate = Some(if both.low_ns <= both.high_ns { both } else { new });
    }

    /// Whether there was an answer.
    pub fn is_known(&self) -> bool {
        self.estimate.is_some()
    }

    /// How many answers it rests on.
    pub fn answers(&self) -> u32 {
        self.answers
    }

    /// The round trip of the last answer, in ns.
    pub fn round_trip_ns(&self) -> u64 {
        self.round_trip_ns
    }

    /// What their clock shows when ours shows `ours_ns`, and by how much that may be wrong, both in
    /// ns. `None` before the first answer.
    pub fn theirs(&self, ours_ns: u64) -> Option<(u64, u64)> {
        let estimate = self.estimate?.widened(ours_ns);
        let theirs = i128::from(ours_ns) + estimate.low_ns.midpoint(estimate.high_ns);
        let error = (estimate.high_ns - estimate.low_ns + 1) / 2;
        Some((u64::try_from(theirs).unwrap_or(0), u64::try_from(error).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_shortest_round_trip_says_most() {
        let mut clock = HostClock::default();
        assert_eq!(clock.theirs(0), None);
        clock.answer(1_000, 501_500, 2_000);
        assert_eq!(clock.theirs(2_000), Some((502_000, 501)));
        clock.answer(3_000, 503_020, 3_100);
        let (theirs, error) = clock.theirs(3_100).expect("two answers");
        assert!((503_050..=503_100).contains(&theirs) && error <= 51, "{theirs} ± {error}");
        // A slow answer takes nothing away, and 5.9 µs at 1,000 ppm are 6 ns, rounded up.
        clock.answer(4_000, 506_000, 9_000);
        assert!(clock.theirs(9_000).expect("three answers").1 <= 51 + 6);
    }

    #[test]
    fn a_clock_that_stood_still_is_taken_at_its_latest_word() {
        let mut clock = HostClock::default();
        clock.answer(1_000, 1_050, 1_100);
        clock.answer(5_000_000_000, 2_000, 5_000_000_100);
        let (theirs, error) = clock.theirs(5_000_000_100).expect("answers");
        assert!((1_900..=2_100).contains(&theirs) && error <= 51);
    }

    proptest! {
        #[test]
        fn the_truth_lies_within_the_bounds(
            offset in 0u64..1_000_000_000_000, drift_ppm in -500i64..=500,
            trips in prop::collection::vec((0u64..5_000_000_000, 0u64..5_000_000_000,
                0u64..2_000_000_000), 1..30),
        ) {
            let true_theirs = |ours: u64| {
                (i128::from(ours) + i128::from(offset) + i128::from(ours) * i128::from(
                    drift_ppm) / 1_000_000) as u64
            };
            let mut clock = HostClock::default();
            let mut now = 0;
            for (there, back, rest) in trips {
                let sent = now;
                let at = sent + there;
                now = at + back;
                clock.answer(sent, true_theirs(at), now);
                let later = now + rest;
                let (theirs, error) = clock.theirs(later).expect("an answer");
                prop_assert!(theirs.abs_diff(true_theirs(later)) <= error + 2,
                    "{} off by more than {}", theirs, error);
                now = later;
            }
        }

        #[test]
        fn any_answer_is_taken_without_a_panic(
            answers in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>()), 0..9),
            at: u64) {
            let mut clock = HostClock::default();
            for (sent, theirs, received) in answers {
                clock.answer(sent, theirs, received);
            }
            clock.theirs(at);
        }
    }
}
