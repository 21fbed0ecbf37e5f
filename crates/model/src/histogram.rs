//! Latency histograms that merge exactly.
//!
//! The layout is log-linear, as in HdrHistogram (<https://hdrhistogram.org>): values below 256 ns
//! have a
//! bucket each, and every doubling above is cut into 128 equal buckets. A bucket is at most 1/128
//! of its value wide, so its midpoint is never further than 0.4 % from any value in it. Values
//! above one hour count in the last bucket; the maximum is kept exactly all the same.

use crate::varint::{self, BadNumber, take_u64, take_u128};
use serde::{Deserialize, Serialize};

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

/// The version of the byte layout, its first byte.
const ENCODING: u8 = 1;

/// A histogram as bytes: the layout's version (1), then, unless it is empty, the LEB128 numbers
/// minimum, maximum, sum (ns) and for each bucket in use its distance from the bucket before and
/// its count. Some 100 to 400 bytes in practice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncodedHistogram(pub Vec<u8>);

/// The bytes of counts of which the first is that of bucket `low`.
fn encoded(head: &Head, low: usize, counts: &[u64]) -> EncodedHistogram {
    let mut bytes = vec![ENCODING];
    if head.count > 0 {
        for number in [head.min_ns.into(), head.max_ns.into(), head.sum_ns] {
            varint::put(&mut bytes, number);
        }
        let mut last = 0;
        for (bucket, n) in (low..).zip(counts).filter(|(_, n)| **n > 0) {
            varint::put(&mut bytes, (bucket - last) as u128);
            varint::put(&mut bytes, u128::from(*n));
            last = bucket;
        }
    }
    EncodedHistogram(bytes)
}

/// The compact form of a histogram with this minimum, maximum and sum, in ns, and these buckets in
/// rising order; without buckets, that of nothing. Whether they fit each other, a reader checks.
pub fn encode_parts(
    [min_ns, max_ns, sum_ns]: [u64; 3],
    buckets: &[(u16, u64)],
) -> EncodedHistogram {
    let mut bytes = vec![ENCODING];
    if !buckets.is_empty() {
        [min_ns, max_ns, sum_ns].into_iter().for_each(|n| varint::put(&mut bytes, n.into()));
        let mut last = 0;
        for (bucket, n) in buckets {
            varint::put(&mut bytes, u128::from(bucket.wrapping_sub(last)));
            varint::put(&mut bytes, u128::from(*n));
            last = *bucket;
        }
    }
    EncodedHistogram(bytes)
}

/// The numbers of an encoded histogram that stand before its buckets, and what is left; the count
/// is that of the buckets, and not known yet. `None` where nothing was counted.
fn take_head(bytes: &[u8]) -> Result<Option<(Head, &[u8])>, BadHistogram> {
    let (&version, mut rest) = bytes.split_first().ok_or(BadHistogram)?;
    if version != ENCODING {
        return Err(BadHistogram);
    }
    if rest.is_empty() {
        return Ok(None);
    }
    let (min_ns, max_ns) = (take_u64(&mut rest)?, take_u64(&mut rest)?);
    let head = Head { count: 0, sum_ns: take_u128(&mut rest)?, min_ns, max_ns };
    Ok(Some((head, rest)))
}

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
    fn add(&mut self, other: &Head) {
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Whether it can take in so many more.
    fn has_room(&self, count: u64) -> Result<(), BadHistogram> {
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

    /// What [`Histogram::quantile_ns`] says of the same histogram, from its buckets in use in
    /// rising order.
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
    fn middle_ns(&self, bucket: usize) -> u64 {
        let (low, high) = bucket_bounds(bucket);
        let high = if bucket == BUCKETS - 1 { self.max_ns } else { high };
        (low + high.saturating_sub(low) / 2).clamp(self.min_ns, self.max_ns)
    }
}

/// Takes an encoded histogram apart: its buckets in use with their counts, in rising order, go into
/// `buckets`, whose room is used again.
///
/// # Errors
/// When the bytes are of another layout, cut off or contradict themselves; never panics.
pub fn take_apart(bytes: &[u8], buckets: &mut Vec<(u16, u64)>) -> Result<Head, BadHistogram> {
    buckets.clear();
    let Some((head, mut rest)) = take_head(bytes)? else { return Ok(Head::default()) };
    let Head { min_ns, max_ns, sum_ns, .. } = head;
    let (mut bucket, mut count) = (0usize, 0u64);
    while !rest.is_empty() {
        let step = usize::try_from(take_u64(&mut rest)?).map_err(|_| BadHistogram)?;
        let n = take_u64(&mut rest)?;
        bucket = bucket.checked_add(step).filter(|b| *b < BUCKETS).ok_or(BadHistogram)?;
        if n == 0 || (step == 0 && !buckets.is_empty()) {
            return Err(BadHistogram);
        }
        count = count.checked_add(n).ok_or(BadHistogram)?;
        // There are far fewer buckets than 65,536.
        buckets.push((bucket as u16, n));
    }
    let bounds = (u128::from(min_ns) * u128::from(count), u128::from(max_ns) * u128::from(count));
    if count == 0 || min_ns > max_ns || sum_ns < bounds.0 || sum_ns > bounds.1 {
        return Err(BadHistogram);
    }
    Ok(Head { count, sum_ns, min_ns, max_ns })
}

/// A [`Histogram`] that holds only the buckets between the lowest and the highest in use: for many
/// that are filled at the same time. Once it is [packed](Self::pack), it holds those in use alone,
/// in some hundred bytes.
#[derive(Clone, Debug, Default, Eq)]
pub struct Tight {
    low: usize,
    counts: Vec<u64>,
    /// In place of the counts: the compact form; empty where the counts stand.
    packed: Box<[u8]>,
    head: Head,
}

/// Packed or not makes no difference.
impl PartialEq for Tight {
    fn eq(&self, other: &Tight) -> bool {
        self.encode() == other.encode()
    }
}

impl Tight {
    /// Takes as little memory as it can until something is added again.
    pub fn pack(&mut self) {
        if self.counts.is_empty() {
            return;
        }
        let EncodedHistogram(bytes) = self.encode();
        (self.packed, self.counts, self.low) = (bytes.into(), Vec::new(), 0);
    }

    /// The buckets in use, where it is packed.
    fn packed_buckets(&self) -> Vec<(u16, u64)> {
        let mut buckets = Vec::new();
        if !self.packed.is_empty() {
            let head = take_apart(&self.packed, &mut buckets);
            assert_eq!(head, Ok(self.head), "what was packed is what was counted");
        }
        buckets
    }

    fn unpack(&mut self) {
        let buckets = self.packed_buckets();
        self.packed = Box::default();
        if let (Some(first), Some(last)) = (buckets.first(), buckets.last()) {
            self.reach(usize::from(first.0), usize::from(last.0));
            self.add_buckets(&buckets);
        }
    }

    fn add_buckets(&mut self, buckets: &[(u16, u64)]) {
        let counts = &mut self.counts[..];
        for (bucket, n) in buckets {
            // There is room since `reach`.
            counts[usize::from(*bucket) - self.low] += n;
        }
    }

    /// Adds a histogram that was [taken apart](take_apart). Order and grouping make no difference.
    ///
    /// # Errors
    /// More latencies than can be counted; then it stays as it was.
    pub fn add(&mut self, head: &Head, buckets: &[(u16, u64)]) -> Result<(), BadHistogram> {
        let (Some(first), Some(last)) = (buckets.first(), buckets.last()) else { return Ok(()) };
        self.head.has_room(head.count)?;
        if !self.packed.is_empty() {
            self.unpack();
        }
        self.reach(usize::from(first.0), usize::from(last.0));
        self.add_buckets(buckets);
        self.head.add(head);
        Ok(())
    }

    /// Adds everything that `other` counted.
    ///
    /// # Errors
    /// More latencies than can be counted; then it stays as it was.
    pub fn merge(&mut self, other: &Tight) -> Result<(), BadHistogram> {
        if other.head.count == 0 {
            return Ok(());
        }
        self.head.has_room(other.head.count)?;
        if !self.packed.is_empty() {
            self.unpack();
        }
        let buckets = other.packed_buckets();
        if let (Some(first), Some(last)) = (buckets.first(), buckets.last()) {
            self.reach(usize::from(first.0), usize::from(last.0));
            self.add_buckets(&buckets);
        } else {
            self.reach(other.low, other.low + other.counts.len().saturating_sub(1));
            for (mine, theirs) in self.counts[other.low - self.low..].iter_mut().zip(&other.counts)
            {
                *mine += theirs;
            }
        }
        self.head.add(&other.head);
        Ok(())
    }

    /// Makes room for the buckets from `first` to `last`.
    fn reach(&mut self, first: usize, last: usize) {
        if self.counts.is_empty() {
            self.low = first;
        }
        if first < self.low {
            let missing = self.low - first;
            self.counts.splice(0..0, std::iter::repeat_n(0, missing));
            self.low = first;
        }
        if last - self.low >= self.counts.len() {
            self.counts.resize(last - self.low + 1, 0);
        }
    }

    /// The compact form for run files and the wire: the same bytes as those of a [`Histogram`] with
    /// the same counts.
    pub fn encode(&self) -> EncodedHistogram {
        if !self.packed.is_empty() {
            return EncodedHistogram(self.packed.to_vec());
        }
        encoded(&self.head, self.low, &self.counts)
    }

    /// The bytes that its counts take.
    pub fn held_bytes(&self) -> usize {
        self.counts.capacity() * size_of::<u64>() + self.packed.len()
    }
}

/// Bytes that are not an encoded histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadHistogram;

impl std::fmt::Display for BadHistogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("not a histogram in a layout this version knows")
    }
}

impl std::error::Error for BadHistogram {}

impl EncodedHistogram {
    /// The histogram that was encoded.
    ///
    /// # Errors
    /// When the bytes are of another layout, cut off or contradict themselves; never panics.
    pub fn decode(&self) -> Result<Histogram, BadHistogram> {
        let mut histogram = Histogram::new();
        self.merge_into(&mut histogram)?;
        Ok(histogram)
    }

    /// How many of the latencies lie in a bucket up to that of each of `values_ns`, without making
    /// a histogram of it.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), as far as has to be read.
    pub fn at_most<const N: usize>(&self, values_ns: [u64; N]) -> Result<[u64; N], BadHistogram> {
        let limits = values_ns.map(bucket_of);
        let mut counts = [0u64; N];
        let Some((_, mut rest)) = take_head(&self.0)? else { return Ok(counts) };
        // From the smallest limit on, so that each bucket is held to one of them.
        let mut order: [usize; N] = std::array::from_fn(|place| place);
        order.sort_unstable_by_key(|place| limits[*place]);
        let mut left = order.iter().peekable();
        let (mut bucket, mut seen) = (0usize, 0u64);
        while !rest.is_empty() && left.peek().is_some() {
            let step = usize::try_from(take_u64(&mut rest)?).map_err(|_| BadHistogram)?;
            let n = take_u64(&mut rest)?;
            bucket = bucket.checked_add(step).filter(|b| *b < BUCKETS).ok_or(BadHistogram)?;
            while let Some(place) = left.next_if(|place| limits[**place] < bucket) {
                counts[*place] = seen;
            }
            seen = seen.saturating_add(n);
        }
        left.for_each(|place| counts[*place] = seen);
        Ok(counts)
    }

    /// The exact sum of all latencies in ns, without making a histogram of it; 0 when nothing was
    /// counted.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn sum_ns(&self) -> Result<u128, BadHistogram> {
        Ok(take_head(&self.0)?.map_or(0, |(head, _)| head.sum_ns))
    }

    /// Adds the encoded counts to `total`, which stays as it was on an error.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn merge_into(&self, total: &mut Histogram) -> Result<(), BadHistogram> {
        let mut added = Vec::new();
        let head = take_apart(&self.0, &mut added)?;
        if head.count == 0 {
            return Ok(());
        }
        total.head.has_room(head.count)?;
        for (bucket, n) in added {
            total.counts[usize::from(bucket)] += n;
        }
        total.head.add(&head);
        Ok(())
    }

    /// The exact largest latency in ns, without making a histogram of it; `None` when nothing was
    /// counted.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn max_ns(&self) -> Result<Option<u64>, BadHistogram> {
        Ok(take_head(&self.0)?.map(|(head, _)| head.max_ns))
    }
}

impl From<BadNumber> for BadHistogram {
    fn from(_: BadNumber) -> BadHistogram {
        BadHistogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_bucket_holds_its_own_bounds_and_they_adjoin() {
        let mut next = 0;
        for bucket in 0..BUCKETS {
            let (low, high) = bucket_bounds(bucket);
            assert_eq!(low, next, "bucket {bucket} starts where the one before ends");
            assert_eq!((bucket_of(low), bucket_of(high)), (bucket, bucket));
            assert!((high - low) as f64 <= low as f64 / 127.0, "bucket {bucket} is wider than 1 %");
            next = high + 1;
        }
        assert!(next > 3_600_000_000_000, "an hour is told apart");
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn an_empty_histogram_has_no_quantiles() {
        let empty = Histogram::new();
        assert_eq!((empty.quantile_ns(0.5), empty.mean_ns(), empty.max_ns()), (None, None, None));
        assert_eq!(empty.encode().decode(), Ok(empty));
    }

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|v| histogram.record(*v));
        histogram
    }

    proptest! {
        #[test]
        fn quantiles_fall_in_the_bucket_of_the_true_value(
            mut values in prop::collection::vec(0u64..4_000_000_000_000, 1..500),
            q in 0.0f64..=1.0,
        ) {
            let histogram = of(&values);
            values.sort_unstable();
            let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let (truth, told) = (values[rank - 1], histogram.quantile_ns(q).expect("not empty"));
            prop_assert_eq!(bucket_of(told), bucket_of(truth));
            prop_assert!(told.abs_diff(truth) as f64 <= truth as f64 * 0.01);
        }

        #[test]
        fn merging_equals_recording_together_and_survives_encoding(
            left in prop::collection::vec(any::<u64>().prop_map(|v| v >> (v % 64)), 0..200),
            right in prop::collection::vec(0u64..1_000_000, 0..200),
        ) {
            let mut merged = of(&left);
            of(&right).encode().merge_into(&mut merged).expect("own encoding");
            let together = of(&[left, right].concat());
            prop_assert_eq!(&merged, &together);
            prop_assert_eq!(together.encode().decode(), Ok(merged));
        }

        #[test]
        fn a_tight_histogram_is_the_same_to_the_byte(
            parts in prop::collection::vec(
                prop::collection::vec(any::<u64>().prop_map(|v| v >> (v % 64)), 0..40), 0..6),
        ) {
            let (mut one, mut left, mut right) = (Tight::default(), Tight::default(),
                Tight::default());
            let mut buckets = Vec::new();
            for (place, part) in parts.iter().enumerate() {
                let head = take_apart(&of(part).encode().0, &mut buckets).expect("own encoding");
                one.add(&head, &buckets).expect("few");
                let side = if place % 2 == 0 { &mut left } else { &mut right };
                side.add(&head, &buckets).expect("few");
                // Packed in between, they go on as before.
                if place % 3 == 1 {
                    left.pack();
                    one.pack();
                }
            }
            if parts.len() % 2 == 1 {
                right.pack();
            }
            left.merge(&right).expect("few enough");
            let together = of(&parts.concat());
            let mut merged = Histogram::new();
            merged.merge_tight(&one);
            prop_assert_eq!(&merged, &together);
            prop_assert_eq!(one.encode(), together.encode());
            let mut packed = one.clone();
            packed.pack();
            prop_assert_eq!(&packed, &one);
            prop_assert!(packed.counts.is_empty() && packed.held_bytes() <= 3 + 40 + 8 * 240);
            let mut merged = Histogram::new();
            merged.merge_tight(&packed);
            prop_assert_eq!(&merged, &together);
            prop_assert_eq!(left.encode(), together.encode());
            prop_assert_eq!(together.encode().max_ns(), Ok(together.max_ns()));
        }

        #[test]
        fn what_is_counted_without_decoding_is_what_decoding_counts(
            values in prop::collection::vec(0u64..1_000_000, 0..200),
            limits in prop::array::uniform2(0u64..1_000_000),
        ) {
            let encoded = of(&values).encode();
            let below = |limit: u64| values.iter().filter(|v| bucket_of(**v) <= bucket_of(limit))
                .count() as u64;
            prop_assert_eq!(encoded.at_most(limits), Ok(limits.map(below)));
            prop_assert_eq!(encoded.sum_ns(), Ok(of(&values).sum_ns()));
        }

        #[test]
        fn quantiles_from_the_buckets_in_use_are_those_of_the_histogram(
            values in prop::collection::vec(any::<u64>().prop_map(|v| v >> (v % 64)), 0..200),
            q in 0.0f64..=1.0,
        ) {
            let (whole, mut buckets) = (of(&values), Vec::new());
            let head = take_apart(&whole.encode().0, &mut buckets).expect("own encoding");
            prop_assert_eq!(head.quantile_ns(&buckets, q), whole.quantile_ns(q));
            prop_assert_eq!((head.mean_ns(), head.max_ns()), (whole.mean_ns(), whole.max_ns()));
        }

        #[test]
        fn hostile_bytes_are_refused_and_never_panic(bytes in prop::collection::vec(any::<u8>(),
            0..64)) {
            let encoded = EncodedHistogram(bytes);
            let _ = (encoded.at_most([0, 1_000]), encoded.sum_ns());
            if let Ok(histogram) = encoded.decode() {
                let _ = histogram.quantile_ns(0.99);
            }
        }
    }
}
