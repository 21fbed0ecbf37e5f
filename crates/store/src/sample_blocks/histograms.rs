//! Histograms of one host and operation, one behind the other in time, as columns: a bucket that is
//! in use nearly always costs the bits in which it wavers, and a rare one the bytes of its own.

use crate::coded::columns;
use crate::values::Problem;
use model::histogram::{BUCKETS, EncodedHistogram, encode_parts, take_apart};
use model::varint::{put, take_u64};
use std::collections::BTreeMap;

/// Each as it came, with its length.
const PLAIN: u64 = 0;
const COLUMNS: u64 = 1;

/// Writes histograms, of which there is one at least.
pub fn encode(out: &mut Vec<u8>, histograms: &[&[u8]]) {
    match as_columns(histograms) {
        Some(columns) => {
            put(out, COLUMNS.into());
            out.extend_from_slice(&columns);
        }
        None => {
            put(out, PLAIN.into());
            for histogram in histograms {
                put(out, histogram.len() as u128);
                out.extend_from_slice(histogram);
            }
        }
    }
}

/// One histogram, taken apart: minimum, maximum and sum in ns, and its buckets.
type Parts = ([u64; 3], Vec<(u16, u64)>);

/// `None` where they would not come back to the byte.
fn as_columns(histograms: &[&[u8]]) -> Option<Vec<u8>> {
    let mut parts: Vec<Parts> = Vec::with_capacity(histograms.len());
    for bytes in histograms {
        let mut buckets = Vec::new();
        let head = take_apart(bytes, &mut buckets).ok()?;
        // That of nothing has no head.
        let (min_ns, max_ns) = if buckets.is_empty() { (0, 0) } else { (head.min_ns, head.max_ns) };
        let head = [min_ns, max_ns, u64::try_from(head.sum_ns).ok()?];
        if encode_parts(head, &buckets).0 != **bytes {
            return None;
        }
        parts.push((head, buckets));
    }
    let mut out = Vec::new();
    for place in 0..3 {
        let column: Vec<u64> = parts.iter().map(|(head, _)| head[place]).collect();
        columns::encode(&mut out, &column);
    }
    let often = often(&parts);
    put(&mut out, often.len() as u128);
    let mut last = 0;
    for bucket in &often {
        put(&mut out, u128::from(bucket - last));
        last = *bucket;
    }
    let mut table = vec![0u64; often.len() * parts.len()];
    let mut rare = Vec::new();
    for (at, (_, buckets)) in parts.iter().enumerate() {
        let (mut last, mut count) = (0, 0u64);
        let mut listed = Vec::new();
        for (bucket, n) in buckets {
            match often.binary_search(bucket) {
                Ok(place) => table[place * parts.len() + at] = *n,
                Err(_) => {
                    put(&mut listed, u128::from(bucket - last));
                    put(&mut listed, u128::from(n - 1));
                    (last, count) = (*bucket, count + 1);
                }
            }
        }
        put(&mut rare, count.into());
        rare.append(&mut listed);
    }
    table.chunks_exact(parts.len()).for_each(|column| columns::encode_counts(&mut out, column));
    out.append(&mut rare);
    Some(out)
}

/// The buckets that are shorter as columns than in lists, in rising order.
fn often(parts: &[Parts]) -> Vec<u16> {
    let mut uses: BTreeMap<u16, (usize, u64, u64)> = BTreeMap::new();
    for (bucket, n) in parts.iter().flat_map(|(_, buckets)| buckets) {
        let (count, least, most) = uses.entry(*bucket).or_insert((0, u64::MAX, 0));
        *count += 1;
        (*least, *most) = ((*least).min(*n), (*most).max(*n));
    }
    let is_often = |(bucket, (count, least, most)): (u16, (usize, u64, u64))| {
        let least = if count < parts.len() { 0 } else { least };
        let width = (u64::BITS - (most - least).leading_zeros()) as usize;
        let as_column = 5 + (width * parts.len()).div_ceil(8);
        (as_column < 2 * count).then_some(bucket)
    };
    uses.into_iter().filter_map(is_often).collect()
}

/// Takes so many histograms off the front of `bytes`.
///
/// # Errors
/// There are none.
pub fn decode(bytes: &mut &[u8], count: usize) -> Result<Vec<EncodedHistogram>, Problem> {
    match take_u64(bytes)? {
        PLAIN => (0..count).map(|_| plain(bytes)).collect(),
        COLUMNS => from_columns(bytes, count),
        _ => Err("histograms have another layout".into()),
    }
}

fn plain(bytes: &mut &[u8]) -> Result<EncodedHistogram, Problem> {
    let length = usize::try_from(take_u64(bytes)?).unwrap_or(usize::MAX);
    let (one, rest) = bytes.split_at_checked(length).ok_or("histograms are cut off")?;
    *bytes = rest;
    Ok(EncodedHistogram(one.to_vec()))
}

fn from_columns(bytes: &mut &[u8], count: usize) -> Result<Vec<EncodedHistogram>, Problem> {
    let mut heads = Vec::with_capacity(count * 3);
    (0..3).try_for_each(|_| columns::decode(bytes, count, &mut heads))?;
    let buckets = usize::try_from(take_u64(bytes)?).ok().filter(|buckets| *buckets <= BUCKETS);
    let buckets = buckets.ok_or("histograms have more buckets than there are")?;
    let (mut often, mut last) = (Vec::with_capacity(buckets), 0u16);
    for _ in 0..buckets {
        last = next(last, take_u64(bytes)?)?;
        often.push(last);
    }
    let mut table = Vec::with_capacity(buckets * count);
    often.iter().try_for_each(|_| columns::decode(bytes, count, &mut table))?;
    let mut histograms = Vec::with_capacity(count);
    let mut parts: Vec<(u16, u64)> = Vec::new();
    for at in 0..count {
        parts.clear();
        let of = |(place, bucket): (usize, &u16)| (*bucket, table[place * count + at]);
        parts.extend(often.iter().enumerate().map(of).filter(|(_, n)| *n > 0));
        let mut last = 0;
        for _ in 0..take_u64(bytes)? {
            last = next(last, take_u64(bytes)?)?;
            parts.push((last, take_u64(bytes)?.saturating_add(1)));
            if parts.len() > BUCKETS {
                return Err("histograms have more buckets than there are".into());
            }
        }
        parts.sort_unstable_by_key(|(bucket, _)| *bucket);
        let head = [heads[at], heads[count + at], heads[2 * count + at]];
        // Whether it can be one at all, each reader of a histogram looks at.
        histograms.push(encode_parts(head, &parts));
    }
    Ok(histograms)
}

fn next(last: u16, step: u64) -> Result<u16, Problem> {
    let bucket = u64::from(last).checked_add(step).filter(|bucket| *bucket < BUCKETS as u64);
    let bucket = bucket.and_then(|bucket| u16::try_from(bucket).ok());
    bucket.ok_or_else(|| "a histogram has a bucket that is none".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::histogram::Histogram;
    use model::rng::Rng;
    use proptest::prelude::*;

    fn back(histograms: &[Vec<u8>]) -> (usize, Vec<Vec<u8>>) {
        let mut bytes = Vec::new();
        let given: Vec<&[u8]> = histograms.iter().map(Vec::as_slice).collect();
        encode(&mut bytes, &given);
        let mut rest = &bytes[..];
        let Ok(found) = decode(&mut rest, given.len()) else { panic!("own bytes") };
        assert!(rest.is_empty());
        (bytes.len(), found.into_iter().map(|histogram| histogram.0).collect())
    }

    #[test]
    fn what_is_alike_takes_half() {
        let mut rng = Rng::new(3);
        let mut one = || {
            let mut histogram = Histogram::new();
            for _ in 0..2_000 {
                let bell = (0..12).map(|_| rng.below(1 << 20) as f64).sum::<f64>() / 1_048_576.0;
                histogram.record((300_000.0 * (0.2 * (bell - 6.0)).exp()) as u64);
            }
            histogram.encode().0
        };
        let histograms: Vec<Vec<u8>> = (0..128).map(|_| one()).collect();
        let plain: usize = histograms.iter().map(Vec::len).sum();
        let (coded, found) = back(&histograms);
        assert_eq!(found, histograms);
        assert!(coded * 2 < plain, "{coded} of {plain} bytes");
    }

    #[test]
    fn what_is_no_histogram_comes_back_all_the_same() {
        let long = vec![1, 0x85, 0, 5, 5, 5, 1];
        let given = vec![vec![], vec![1], vec![7, 7], long];
        assert_eq!(back(&given).1, given);
    }

    proptest! {
        #[test]
        fn any_come_back(
            values in prop::collection::vec(
                prop::collection::vec(prop_oneof![0u64..5_000, any::<u64>()], 0..40), 1..40),
        ) {
            let histogram = |values: &Vec<u64>| {
                let mut histogram = Histogram::new();
                values.iter().for_each(|value| histogram.record(*value));
                histogram.encode().0
            };
            let given: Vec<Vec<u8>> = values.iter().map(histogram).collect();
            prop_assert_eq!(back(&given).1, given);
        }

        #[test]
        fn no_bytes_break_anything(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = decode(&mut &bytes[..], 5);
        }
    }
}
