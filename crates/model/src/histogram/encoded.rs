//! Histograms as bytes, in run files and on the wire.

use super::{BUCKETS, BadHistogram, Head, Histogram, bucket_of};
use crate::columns::{In, Out};
use serde::{Deserialize, Serialize};

/// The version of the byte layout, its first byte.
const ENCODING: u8 = 1;

/// A histogram as bytes: the layout's version (1), then, unless it is empty, the LEB128 numbers
/// minimum, maximum, sum (ns) and for each bucket in use its distance from the bucket before and
/// its count. Some 100 to 400 bytes in practice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncodedHistogram(pub Vec<u8>);

/// The bytes of counts of which the first is that of bucket `low`.
pub(super) fn encoded(head: &Head, low: usize, counts: &[u64]) -> EncodedHistogram {
    // There are far fewer buckets than 65,536.
    let bucket = |(place, n): (usize, &u64)| ((low + place) as u16, *n);
    let buckets = counts.iter().enumerate().map(bucket).filter(|(_, n)| *n > 0);
    put([head.min_ns.into(), head.max_ns.into(), head.sum_ns], buckets)
}

/// The compact form of a histogram with this minimum, maximum and sum, in ns, and these buckets in
/// rising order; without buckets, that of nothing. Whether they fit each other, a reader checks.
pub fn encode_parts(head: [u64; 3], buckets: &[(u16, u64)]) -> EncodedHistogram {
    put(head.map(u128::from), buckets.iter().copied())
}

fn put(head: [u128; 3], buckets: impl Iterator<Item = (u16, u64)>) -> EncodedHistogram {
    let mut out = Out::of(ENCODING);
    let mut last = None;
    for (bucket, n) in buckets {
        if last.is_none() {
            head.into_iter().for_each(|number| out.wide(number));
        }
        out.number(bucket.wrapping_sub(last.unwrap_or_default()).into());
        out.number(n);
        last = Some(bucket);
    }
    EncodedHistogram(out.into_bytes())
}

/// The numbers of an encoded histogram that stand before its buckets, and what is left; the count
/// is that of the buckets, and not known yet. `None` where nothing was counted.
fn take_head(bytes: &[u8]) -> Result<Option<(Head, In<'_>)>, BadHistogram> {
    let mut rest = In::of(ENCODING, bytes).ok_or(BadHistogram)?;
    if rest.is_over() {
        return Ok(None);
    }
    let (min_ns, max_ns) = (rest.number()?, rest.number()?);
    let head = Head { count: 0, sum_ns: rest.wide()?, min_ns, max_ns };
    Ok(Some((head, rest)))
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
    while !rest.is_over() {
        let step: usize = rest.small()?;
        let n = rest.number()?;
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
        while !rest.is_over() && left.peek().is_some() {
            let step: usize = rest.small()?;
            let n = rest.number()?;
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
