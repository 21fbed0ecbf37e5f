//! A path with a rate: one thing after another, exact over any length of time.

const NS_PER_S: u64 = 1_000_000_000;

/// Serves units (requests, bytes) one after another at a fixed rate. What a division leaves over is
/// carried, so that n units without a pause take n ÷ rate seconds to the ns, however large n is.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    units_per_s: u64,
    free_ns: u64,
    /// In 1 ÷ `units_per_s` of a ns.
    carry: u64,
}

impl Pacer {
    /// A path that is free from 0 on. A rate of 0 counts as 1.
    pub(crate) fn new(units_per_s: u64) -> Pacer {
        Pacer { units_per_s: units_per_s.max(1), free_ns: 0, carry: 0 }
    }

    /// When everything taken so far is through, in ns.
    #[inline]
    pub(crate) fn free_ns(&self) -> u64 {
        self.free_ns
    }

    /// Takes `units` (below 2^34) at `at_ns`, or as soon as the path is free, and says when they
    /// are through.
    #[inline]
    pub(crate) fn take(&mut self, at_ns: u64, units: u64) -> u64 {
        if at_ns > self.free_ns {
            self.free_ns = at_ns;
            self.carry = 0;
        }
        let work = units.saturating_mul(NS_PER_S).saturating_add(self.carry);
        self.free_ns = self.free_ns.saturating_add(work / self.units_per_s);
        self.carry = work % self.units_per_s;
        self.free_ns
    }

    /// How long `units` take on a free path, in ns, rounded down.
    pub(crate) fn span_ns(&self, units: u64) -> u64 {
        let span_ns = u128::from(units) * u128::from(NS_PER_S) / u128::from(self.units_per_s);
        u64::try_from(span_ns).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_divides_nothing_is_exact_over_many_units() {
        let mut pacer = Pacer::new(7);
        for _ in 0..7_000 {
            pacer.take(0, 1);
        }
        assert_eq!(pacer.free_ns(), 1_000 * NS_PER_S);
    }

    #[test]
    fn idle_time_is_not_saved_up() {
        let mut pacer = Pacer::new(1_000);
        assert_eq!(pacer.take(5_000_000, 1), 6_000_000);
        assert_eq!(pacer.take(5_500_000, 2), 8_000_000);
        assert_eq!(pacer.take(9_000_000, 0), 9_000_000);
    }

    #[test]
    fn the_end_of_time_is_the_end() {
        let mut pacer = Pacer::new(0);
        assert_eq!(pacer.take(u64::MAX - 1, u64::MAX), u64::MAX);
        assert_eq!(pacer.span_ns(u64::MAX), u64::MAX);
    }
}
