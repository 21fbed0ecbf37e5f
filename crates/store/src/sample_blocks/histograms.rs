//! Histograms of one host and operation, one behind the other in time, as columns: a bucket that is
//! in use nearly always costs the bits in which it wavers, and a rare one the bytes of its own.

use crate::file::values::Problem;
use model::columns::{In, Out};
use model::histogram::{BUCKETS, EncodedHistogram, encode_parts, take_apart};
use std::collections::BTreeMap;

/// Each as it came, with its length.
const PLAIN: u64 = 0;
const COLUMNS: u64 = 1;

/// The most buckets of all histograms of a piece in columns, those of the columns with 0 included:
/// they are held together while they are read, and a column of zeros takes two bytes.
const MOST_BUCKETS: usize = 1 << 24;

/// How many buckets in columns a piece may still have.
#[derive(Clone, Copy, Debug)]
pub struct Room(usize);

impl Default for Room {
    fn default() -> Room {
        Room(MOST_BUCKETS)
    }
}

impl Room {
    /// Takes room for so many; `None` where there is none.
    fn take(&mut self, buckets: usize) -> Option<()> {
        self.0 = self.0.checked_sub(buckets)?;
        Some(())
    }
}

/// Writes histograms, of which there is one at least. Those that find no room in columns are
/// written as they are.
pub fn encode(out: &mut Out, histograms: &[&[u8]], room: &mut Room) {
    match as_columns(histograms, room) {
        Some(columns) => {
            out.number(COLUMNS);
            out.raw(columns.bytes());
        }
        None => {
            out.number(PLAIN);
            histograms.iter().for_each(|histogram| out.block(histogram));
        }
    }
}

/// One histogram, taken apart: minimum, maximum and sum in ns, and its buckets.
type Parts = ([u64; 3], Vec<(u16, u64)>);

/// `None` where they would not come back to the byte, or have no room.
fn as_columns(histograms: &[&[u8]], room: &mut Room) -> Option<Out> {
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
    let mut out = Out::default();
    for place in 0..3 {
        let column: Vec<u64> = parts.iter().map(|(head, _)| head[place]).collect();
        out.column(&column);
    }
    let often = often(&parts);
    out.count(often.len());
    let mut last = 0;
    for bucket in &often {
        out.number((bucket - last).into());
        last = *bucket;
    }
    let is_rare = |(bucket, _): &&(u16, u64)| often.binary_search(bucket).is_err();
    let listed = parts.iter().flat_map(|(_, buckets)| buckets).filter(is_rare).count();
    room.take(often.len() * parts.len() + listed)?;
    let mut table = vec![0u64; often.len() * parts.len()];
    let mut rare = Out::default();
    for (at, (_, buckets)) in parts.iter().enumerate() {
        let (mut last, mut count) = (0, 0u64);
        let mut listed = Out::default();
        for (bucket, n) in buckets {
            match often.binary_search(bucket) {
                Ok(place) => table[place * parts.len() + at] = *n,
                Err(_) => {
                    listed.number((bucket - last).into());
                    listed.number(n - 1);
                    (last, count) = (*bucket, count + 1);
                }
            }
        }
        rare.number(count);
        rare.raw(listed.bytes());
    }
    table.chunks_exact(parts.len()).for_each(|column| out.counts(column));
    out.raw(rare.bytes());
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

/// Takes so many histograms off the front.
///
/// # Errors
/// There are none.
pub fn decode(
    rest: &mut In<'_>,
    count: usize,
    room: &mut Room,
) -> Result<Vec<EncodedHistogram>, Problem> {
    match rest.number()? {
        PLAIN => (0..count).map(|_| plain(rest)).collect(),
        COLUMNS => from_columns(rest, count, room),
        _ => Err("histograms have another layout".into()),
    }
}

fn plain(rest: &mut In<'_>) -> Result<EncodedHistogram, Problem> {
    let one = rest.block().map_err(|_| "histograms are cut off")?;
    Ok(EncodedHistogram(one.to_vec()))
}

fn from_columns(
    rest: &mut In<'_>,
    count: usize,
    room: &mut Room,
) -> Result<Vec<EncodedHistogram>, Problem> {
    let too_many = "histograms of a piece have more buckets than any";
    let mut heads = Vec::with_capacity(count * 3);
    (0..3).try_for_each(|_| rest.column(count, &mut heads))?;
    let buckets = usize::try_from(rest.number()?).ok().filter(|buckets| *buckets <= BUCKETS);
    let buckets = buckets.ok_or("histograms have more buckets than there are")?;
    room.take(buckets * count).ok_or(too_many)?;
    let (mut often, mut last) = (Vec::with_capacity(buckets), 0u16);
    for _ in 0..buckets {
        last = next(last, rest.number()?)?;
        often.push(last);
    }
    let mut table = Vec::with_capacity(buckets * count);
    often.iter().try_for_each(|_| rest.column(count, &mut table))?;
    let mut histograms = Vec::with_capacity(count);
    let mut parts: Vec<(u16, u64)> = Vec::new();
    for at in 0..count {
        parts.clear();
        let of = |(place, bucket): (usize, &u16)| (*bucket, table[place * count + at]);
        parts.extend(often.iter().enumerate().map(of).filter(|(_, n)| *n > 0));
        let mut last = 0;
        for _ in 0..rest.number()? {
            room.take(1).ok_or(too_many)?;
            last = next(last, rest.number()?)?;
            parts.push((last, rest.number()?.saturating_add(1)));
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
    use model::columns::{In, Out};
    use model::histogram::Histogram;
    use model::rng::Rng;
    use proptest::prelude::*;

    fn back(histograms: &[Vec<u8>]) -> (usize, Vec<Vec<u8>>) {
        let mut out = Out::default();
        let given: Vec<&[u8]> = histograms.iter().map(Vec::as_slice).collect();
        encode(&mut out, &given, &mut Room::default());
        let mut rest = In::new(out.bytes());
        let Ok(found) = decode(&mut rest, given.len(), &mut Room::default()) else {
            panic!("own bytes")
        };
        assert!(rest.is_over());
        (out.bytes().len(), found.into_iter().map(|histogram| histogram.0).collect())
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

    /// As many buckets as there are, each in every histogram, in two bytes each.
    fn full(count: usize) -> Vec<u8> {
        let mut out = Out::default();
        out.number(COLUMNS);
        (0..3).for_each(|_| out.column(&vec![1; count]));
        out.count(BUCKETS);
        (0..BUCKETS).for_each(|bucket| out.number((bucket > 0).into()));
        (0..BUCKETS).for_each(|_| out.counts(&vec![1; count]));
        (0..count).for_each(|_| out.number(0));
        out.into_bytes()
    }

    #[test]
    fn many_full_histograms_in_few_bytes_are_refused_at_the_bound() {
        let (bytes, mut room, count) = (full(512), Room::default(), 512);
        assert!(bytes.len() < 16_384, "{} bytes", bytes.len());
        let most = MOST_BUCKETS / (BUCKETS * count);
        let found = (0..=most).map(|_| decode(&mut In::new(&bytes), count, &mut room).err());
        let found: Vec<String> = found.flatten().map(|problem| problem.0).collect();
        let [why] = &found[..] else { panic!("{found:?}") };
        assert!(why.contains("more buckets than any"), "{why}");
    }

    #[test]
    fn what_finds_no_room_in_columns_is_written_as_it_is() {
        let mut histogram = Histogram::new();
        (0..40).for_each(|value| histogram.record(value * 1_000));
        let one = histogram.encode().0;
        let given = vec![one.as_slice(); 8];
        let (mut out, mut room) = (Out::default(), Room(10));
        encode(&mut out, &given, &mut room);
        // Whoever reads it needs no room for it.
        let found = decode(&mut In::new(out.bytes()), 8, &mut Room(0)).map(|found| found.len());
        assert_eq!(found.ok(), Some(8));
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
            let _ = decode(&mut In::new(&bytes), 5, &mut Room::default());
        }
    }
}
