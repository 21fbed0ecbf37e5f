//! Latency histograms that merge exactly.
//!
//! The layout is log-linear, as in HdrHistogram (<https://hdrhistogram.org>): values below 256 ns
//! have a bucket each, and every doubling above is cut into 128 equal buckets. A bucket is at most
//! 1/128 of its value wide, so its midpoint is never further than 0.4 % from any value in it.
//! Values above one hour count in the last bucket; the maximum is kept exactly all the same.

mod bad;
mod encoded;
mod head;
mod tight;

pub use bad::BadHistogram;
use encoded::encoded;
pub use encoded::{EncodedHistogram, encode_parts, take_apart};
pub use head::Head;
pub use tight::Tight;

/// Buckets per doubling, as a power of two.
const PRECISION_BITS: u32 = 7;
const LINEAR: usize = 1 << (PRECISION_BITS + 1);
/// Values up to 2^42 − 1 ns (73 minutes) are told apart.
const TOP_BIT: u32 = 42;
/// How many buckets a histogram has.
pub const BUCKETS: usize =
    LINEAR + ((TOP_BIT - PRECISION_BITS - 1) as usize) * (1 << PRECISION_BITS);

/// The bucket that counts `value_ns`.
#[inline]
pub fn bucket_of(value_ns: u64) -> usize {
    if value_ns < LINEAR as u64 {
        return value_ns as usize;
    }
    let exponent = 63 - value_ns.leading_zeros();
    let shift = exponent - PRECISION_BITS;
    let within = (value_ns >> shift) as usize - (1 << PRECISION_BITS);
    let bucket = (((shift + 1) as usize) << PRECISION_BITS) + within;
    bucket.min(BUCKETS - 1)
}

/// The lowest and the highest value, in ns, that `bucket` counts.
pub fn bucket_bounds(bucket: usize) -> (u64, u64) {
    if bucket < LINEAR {
        return (bucket as u64, bucket as u64);
    }
    let shift = (bucket >> PRECISION_BITS) as u32 - 1;
    let within = (bucket & ((1 << PRECISION_BITS) - 1)) as u64;
    let low = ((1 << PRECISION_BITS) + within) << shift;
    (low, low + (1 << shift) - 1)
}

/// Counts of latencies by bucket, with exact count, sum, minimum and maximum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64]>,
    head: Head,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { counts: vec![0; BUCKETS].into(), head: Head::default() }
    }
}

impl Histogram {
    /// A histogram with nothing in it.
    pub fn new() -> Histogram {
        Histogram::default()
    }

    /// Counts one latency.
    pub fn record(&mut self, value_ns: u64) {
        self.record_many(value_ns, 1);
    }

    /// Counts so many values of `value_ns`.
    pub fn record_many(&mut self, value_ns: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.counts[bucket_of(value_ns)] += count;
        let sum_ns = u128::from(count) * u128::from(value_ns);
        self.head.add(&Head { count, sum_ns, min_ns: value_ns, max_ns: value_ns });
    }

    /// Adds counts that a recorder kept in the same bucket layout, with its own sum and extremes.
    ///
    /// # Panics
    /// When `counts` has not [`BUCKETS`] entries.
    pub fn add_counts(&mut self, counts: &[u32], sum_ns: u128, min_ns: u64, max_ns: u64) {
        assert_eq!(counts.len(), BUCKETS, "a recorder uses the histogram's own layout");
        let mut count = 0;
        for (mine, theirs) in self.counts.iter_mut().zip(counts) {
            *mine += u64::from(*theirs);
            count += u64::from(*theirs);
        }
        self.head.add(&Head { count, sum_ns, min_ns, max_ns });
    }

    /// Adds everything that `other` counted. Merging is exact: order and grouping make no
    /// difference.
    pub fn merge(&mut self, other: &Histogram) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.head.add(&other.head);
    }

    /// How many latencies were counted.
    pub fn count(&self) -> u64 {
        self.head.count
    }

    /// The exact sum of all latencies, in ns.
    pub fn sum_ns(&self) -> u128 {
        self.head.sum_ns
    }

    /// The exact smallest latency in ns; `None` when nothing was counted.
    pub fn min_ns(&self) -> Option<u64> {
        (self.head.count > 0).then_some(self.head.min_ns)
    }

    /// The exact largest latency in ns; `None` when nothing was counted.
    pub fn max_ns(&self) -> Option<u64> {
        self.head.max_ns()
    }

    /// The exact arithmetic mean in ns; `None` when nothing was counted.
    pub fn mean_ns(&self) -> Option<f64> {
        self.head.mean_ns()
    }

    /// The latency in ns that a share `q` (0 to 1) of all requests did not exceed: the value of
    /// rank ⌈q·n⌉ (nearest rank), within 0.4 %. `None` when nothing was counted.
    pub fn quantile_ns(&self, q: f64) -> Option<u64> {
        if self.head.count == 0 {
            return None;
        }
        let rank = ((q * self.head.count as f64).ceil() as u64).clamp(1, self.head.count);
        let mut seen = 0;
        for (bucket, n) in self.counts.iter().enumerate() {
            seen += n;
            if seen >= rank {
                return Some(self.head.middle_ns(bucket));
            }
        }
        Some(self.head.max_ns)
    }

    /// Adds everything that `other` counted, as [`merge`](Self::merge) does.
    pub fn merge_tight(&mut self, other: &Tight) {
        for (mine, theirs) in self.counts[other.low.min(BUCKETS)..].iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        for (bucket, count) in other.packed_buckets() {
            let mine = &mut self.counts[usize::from(bucket).min(BUCKETS - 1)];
            *mine += count;
        }
        self.head.add(&other.head);
    }

    /// Every bucket with something in it: lowest value, highest value (ns) and count, in rising
    /// order.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.counts.iter().enumerate().filter(|(_, n)| **n > 0).map(|(bucket, n)| {
            let (low, high) = bucket_bounds(bucket);
            (low, high, *n)
        })
    }

    /// The compact form for run files and the wire.
    pub fn encode(&self) -> EncodedHistogram {
        encoded(&self.head, 0, &self.counts)
    }
}

#[cfg(test)]
mod tests;
