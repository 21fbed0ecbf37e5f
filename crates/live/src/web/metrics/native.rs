//! A native histogram of Prometheus: buckets whose ends are powers of a root of 2, in seconds
//! (<https://prometheus.io/docs/specs/native_histograms/>).

use model::histogram::{BUCKETS, bucket_bounds};
use std::sync::LazyLock;

/// 2 to the power of this many buckets for each doubling: each is 2^(1/16) − 1 = 4.4 % wide. Less
/// would tell quantiles worse than need be; more is a burden on who stores them, and ours are 0.8 %
/// wide at most, which must stay small against it.
pub const SCHEMA: i32 = 4;

/// What is no longer than this, in s, counts as 0: 2^−30 s, less than 1 ns, so that only 0 ns does.
pub const ZERO_THRESHOLD_S: f64 = 1.0 / (1_u64 << 30) as f64;

/// The native bucket of the middle of each of our own; none for 0 ns.
static PLACES: LazyLock<Vec<Option<i32>>> = LazyLock::new(|| (0..BUCKETS).map(place_of).collect());

/// The number of the native bucket in which the middle of `bucket` lies: bucket i is from 2^((i −
/// 1) ÷ 16) s, exclusive, to 2^(i ÷ 16) s, inclusive.
fn place_of(bucket: usize) -> Option<i32> {
    let (low, high) = bucket_bounds(bucket);
    let middle_s = (low + (high - low) / 2) as f64 / 1e9;
    (middle_s > ZERO_THRESHOLD_S).then(|| (middle_s.log2() * f64::from(1 << SCHEMA)).ceil() as i32)
}

/// Counts by native bucket; there are 16 for each doubling from 1 ns to 73 minutes, 673 at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Native {
    zeros: u64,
    low: i32,
    counts: Vec<u64>,
}

impl Native {
    /// Adds counts by the number of our own bucket, in rising order. Each goes whole into the
    /// native bucket of its middle.
    pub fn add(&mut self, buckets: &[(u16, u64)]) {
        for (bucket, count) in buckets {
            let Some(place) = PLACES.get(usize::from(*bucket)) else { continue };
            let sum = match place {
                None => &mut self.zeros,
                Some(place) => self.slot(*place),
            };
            *sum = sum.saturating_add(*count);
        }
    }

    fn slot(&mut self, place: i32) -> &mut u64 {
        if self.counts.is_empty() {
            self.low = place;
        }
        if place < self.low {
            let missing = self.low.abs_diff(place) as usize;
            self.counts.splice(0..0, std::iter::repeat_n(0, missing));
            self.low = place;
        }
        let place = place.abs_diff(self.low) as usize;
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        &mut self.counts[place]
    }

    /// How many were 0.
    pub fn zeros(&self) -> u64 {
        self.zeros
    }

    /// How many were counted: Prometheus refuses a histogram that says another number than its
    /// buckets add up to.
    pub fn count(&self) -> u64 {
        self.counts.iter().fold(self.zeros, |sum, count| sum.saturating_add(*count))
    }

    /// Buckets in use as stretches, each its distance from the end of the one before (the first:
    /// its bucket's number) and its length, and their counts, each but the first as the difference
    /// from the one before.
    pub fn spans(&self) -> (Vec<(i32, u32)>, Vec<i64>) {
        let (mut spans, mut deltas): (Vec<(i32, u32)>, Vec<i64>) = Default::default();
        let (mut next, mut last) = (0, 0);
        for (place, count) in (self.low..).zip(&self.counts).filter(|(_, count)| **count > 0) {
            match spans.last_mut() {
                Some((_, length)) if place == next => *length += 1,
                _ => spans.push((place - next, 1)),
            }
            next = place + 1;
            // Differences have a sign, so that half of the range must do; no run sends as many
            // requests.
            let count = i64::try_from(*count).unwrap_or(i64::MAX);
            deltas.push(count - last);
            last = count;
        }
        (spans, deltas)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::histogram::{Histogram, bucket_of, take_apart};

    /// The end of a native bucket, in ns.
    fn end_ns(place: i32) -> f64 {
        1e9 * (f64::from(place) / 16.0).exp2()
    }

    #[test]
    fn every_bucket_lies_in_that_of_its_middle_but_for_half_of_itself() {
        let mut last = i32::MIN;
        for bucket in 1..BUCKETS {
            let place = place_of(bucket).expect("more than 0");
            let (low, high) = bucket_bounds(bucket);
            let reach = (high - low) as f64 / 2.0 + 1.0;
            assert!(
                low as f64 > end_ns(place - 1) - reach && high as f64 <= end_ns(place) + reach,
                "{low} to {high} ns"
            );
            assert!(place >= last, "they rise");
            last = place;
        }
        assert_eq!((place_of(0), place_of(1)), (None, Some(-478)));
        assert_eq!(last - -478 + 1, 673, "as many as the documentation says");
        // A power of two of seconds is the inclusive end of its bucket.
        assert!((end_ns(0) - 1e9).abs() < 1.0 && place_of(bucket_of(990_000_000)) == Some(0));
    }

    fn counted(values: &[u64]) -> Native {
        let mut own = Histogram::new();
        values.iter().for_each(|value| own.record(*value));
        let mut buckets = Vec::new();
        take_apart(&own.encode().0, &mut buckets).expect("own encoding");
        let mut native = Native::default();
        native.add(&buckets);
        native
    }

    #[test]
    fn spans_give_back_what_was_counted_in_whatever_order() {
        let mut native = counted(&[5_000_000, 5_200_000, 9]);
        let mut buckets = Vec::new();
        let mut more = Histogram::new();
        [0, 1, 9, u64::MAX].into_iter().for_each(|value| more.record(value));
        take_apart(&more.encode().0, &mut buckets).expect("own encoding");
        native.add(&buckets);
        assert_eq!(native, counted(&[0, 1, 9, u64::MAX, 5_000_000, 5_200_000, 9]));
        assert_eq!((native.zeros(), native.count()), (1, 7));
        let (spans, deltas) = native.spans();
        let (mut place, mut count, mut told) = (0, 0, Vec::new());
        let mut deltas = deltas.into_iter();
        for (offset, length) in spans {
            place += offset;
            for _ in 0..length {
                count += deltas.next().expect("one for each bucket");
                told.push((place, count));
                place += 1;
            }
        }
        assert_eq!(deltas.next(), None);
        let at = |value| place_of(bucket_of(value)).expect("more than 0");
        let both = [(at(5_000_000), 1), (at(5_200_000), 1)];
        assert_eq!(
            told,
            [&[(at(1), 1), (at(9), 2)], both.as_slice(), &[(at(u64::MAX), 1)]].concat()
        );
    }

    #[test]
    fn forged_counts_stay_in_range() {
        let mut native = Native::default();
        native.add(&[(7, u64::MAX), (8, 1), (u16::MAX, 1)]);
        native.add(&[(7, 5), (0, u64::MAX)]);
        assert_eq!(native.count(), u64::MAX);
        assert_eq!(native.spans().1, [i64::MAX, 1 - i64::MAX]);
    }
}
