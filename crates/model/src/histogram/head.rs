//! What a histogram says apart from its buckets: count, sum, minimum and maximum, all exact.

use super::{BUCKETS, BadHistogram, bucket_bounds};

/// What a histogram says apart from its buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// How many latencies were counted.
    pub count: u64,
    /// Their sum, in ns.
    pub sum_ns: u128,
    /// The smallest, in ns; of no meaning when nothing was counted.
    pub min_ns: u64,
    /// The largest, in ns; of no meaning when nothing was counted.
    pub max_ns: u64,
}

impl Default for Head {
    /// Of a histogram with nothing in it.
    fn default() -> Self {
        Head { count: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }
}

impl Head {
    /// Takes in what another one says. The sum is at most the count times the maximum, so it fits
    /// as long as the count does.
    pub(super) fn add(&mut self, other: &Head) {
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Whether it can take in so many more.
    pub(super) fn has_room(&self, count: u64) -> Result<(), BadHistogram> {
        self.count.checked_add(count).map(|_| ()).ok_or(BadHistogram)
    }

    /// The exact arithmetic mean in ns; `None` when nothing was counted.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// The exact largest latency in ns; `None` when nothing was counted.
    pub fn max_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max_ns)
    }

    /// What `Histogram::quantile_ns` says of the same histogram, from its buckets in use in rising
    /// order.
    pub fn quantile_ns(&self, buckets: &[(u16, u64)], q: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut seen = 0u64;
        for (bucket, n) in buckets {
            seen = seen.saturating_add(*n);
            if seen >= rank {
                return Some(self.middle_ns(usize::from(*bucket)));
            }
        }
        Some(self.max_ns)
    }

    /// The middle of a bucket in ns, within what was really counted.
    pub(super) fn middle_ns(&self, bucket: usize) -> u64 {
        let (low, high) = bucket_bounds(bucket);
        let high = if bucket == BUCKETS - 1 { self.max_ns } else { high };
        (low + high.saturating_sub(low) / 2).clamp(self.min_ns, self.max_ns)
    }
}
