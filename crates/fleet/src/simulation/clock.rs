//! A host's steady clock: some offset, and a crystal that is not quite right.

use super::SECOND;
use model::rng::Rng;

/// A clock that shows `offset + true × (1 + drift)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostTime {
    pub(super) offset_ns: u64,
    /// In parts per 10⁹, against the coordinator's clock, which is the true one here.
    pub(super) drift_ppb: i64,
    /// From when to when it stands still, in ns of true time: a machine that sleeps, or is not
    /// scheduled, and hears nothing meanwhile.
    pub(super) stands_still: Option<(u64, u64)>,
}

const BILLION: i128 = 1_000_000_000;

impl HostTime {
    /// What it shows at `true_ns`.
    pub(super) fn shows(self, true_ns: u64) -> u64 {
        let ns = i128::from(awake_ns(self.stands_still, true_ns));
        (i128::from(self.offset_ns) + ns + (ns * i128::from(self.drift_ppb)).div_euclid(BILLION))
            as u64
    }

    /// The first instant at which it shows at least `local_ns`; 0 where it did from the beginning.
    pub(super) fn first_at(self, local_ns: u64) -> u64 {
        let ahead = i128::from(local_ns) - i128::from(self.offset_ns);
        let guess =
            (ahead * BILLION).div_euclid(BILLION + i128::from(self.drift_ppb)).max(0) as u64;
        let mut at_ns = guess.saturating_sub(2);
        let awake = HostTime { stands_still: None, ..self };
        while awake.shows(at_ns) < local_ns {
            at_ns += 1;
        }
        match self.stands_still {
            Some((from_ns, until_ns)) if at_ns > from_ns => at_ns + (until_ns - from_ns),
            _ => at_ns,
        }
    }

    /// Other offset and drift by a seed.
    pub(super) fn drawn(rng: &mut Rng) -> HostTime {
        HostTime {
            offset_ns: rng.below(48 * 3_600 * SECOND),
            drift_ppb: rng.below(1_000_001) as i64 - 500_000,
            stands_still: None,
        }
    }
}

/// True time without that for which something stood still, in ns.
pub(super) fn awake_ns(stands_still: Option<(u64, u64)>, true_ns: u64) -> u64 {
    match stands_still {
        Some((from_ns, until_ns)) if true_ns > from_ns => {
            from_ns + true_ns.saturating_sub(until_ns)
        }
        _ => true_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_instant_is_the_first(offset_ns in 0..1u64 << 50,
            drift_ppb in -500_000i64..=500_000, true_ns in 1..1u64 << 50,
            from_ns in 0..1u64 << 50, still_ns in 0..1u64 << 40, stands_still: bool) {
            let stands_still = stands_still.then_some((from_ns, from_ns + still_ns));
            let clock = HostTime { offset_ns, drift_ppb, stands_still };
            let local_ns = clock.shows(true_ns);
            let first = clock.first_at(local_ns);
            prop_assert!(clock.shows(first) >= local_ns && clock.shows(first - 1) < local_ns,
                "{} {}", first, true_ns);
        }
    }
}
