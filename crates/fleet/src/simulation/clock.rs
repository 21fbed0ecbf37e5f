//! A host's steady clock: some offset, and a crystal that is not quite right.

/// A clock that shows `offset + true × (1 + drift)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostTime {
    pub(super) offset_ns: u64,
    /// In parts per 10⁹, against the coordinator's clock, which is the true one here.
    pub(super) drift_ppb: i64,
}

const BILLION: i128 = 1_000_000_000;

impl HostTime {
    /// What it shows at `true_ns`.
    pub(super) fn shows(self, true_ns: u64) -> u64 {
        let ns = i128::from(true_ns);
        (i128::from(self.offset_ns) + ns + (ns * i128::from(self.drift_ppb)).div_euclid(BILLION))
            as u64
    }

    /// The first instant at which it shows at least `local_ns`; 0 where it did from the beginning.
    pub(super) fn first_at(self, local_ns: u64) -> u64 {
        let ahead = i128::from(local_ns) - i128::from(self.offset_ns);
        let guess =
            (ahead * BILLION).div_euclid(BILLION + i128::from(self.drift_ppb)).max(0) as u64;
        let mut at_ns = guess.saturating_sub(2);
        while self.shows(at_ns) < local_ns {
            at_ns += 1;
        }
        at_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_instant_is_the_first(offset_ns in 0..1u64 << 50,
            drift_ppb in -500_000i64..=500_000, true_ns in 1..1u64 << 50) {
            let clock = HostTime { offset_ns, drift_ppb };
            let local_ns = clock.shows(true_ns);
            let first = clock.first_at(local_ns);
            prop_assert!(clock.shows(first) >= local_ns && clock.shows(first - 1) < local_ns,
                "{} {}", first, true_ns);
        }
    }
}
