//! A column of whole numbers as few bytes: what does not change costs next to nothing, and what
//! wavers costs the bits in which it wavers.
//!
//! A column begins with its form, and is written in whichever is shortest:
//!
//! * 0, constant: the number.
//! * 1, packed: the least number, a common divisor of the distances from it, how many bits each
//!   takes, and the bits.
//! * 2, packed differences: the first number, and the differences from one to the next, packed.
//! * 3, sparse: the number that comes most often, how many others there are, and each of them as
//!   the numbers between it and the one before, and its difference from the usual one.

use model::varint::{BadNumber, fold, put, take_u64, unfold};
use std::collections::BTreeMap;

const CONSTANT: u64 = 0;
const PACKED: u64 = 1;
const DIFFERENCES: u64 = 2;
const SPARSE: u64 = 3;

/// Writes a column.
pub fn encode(out: &mut Vec<u8>, column: &[u64]) {
    let Some(&first) = column.first() else { return };
    if column.iter().all(|value| *value == first) {
        put(out, CONSTANT.into());
        return put(out, first.into());
    }
    let mut best = Vec::new();
    put(&mut best, PACKED.into());
    pack(&mut best, column);
    let mut differences = Vec::new();
    put(&mut differences, DIFFERENCES.into());
    put(&mut differences, first.into());
    // From the least to the greatest difference as if they had no sign.
    let steps: Vec<u64> =
        column.windows(2).map(|pair| shifted(pair[1].wrapping_sub(pair[0]))).collect();
    pack(&mut differences, &steps);
    if differences.len() < best.len() {
        best = differences;
    }
    if let Some(sparse) = sparse(column).filter(|sparse| sparse.len() < best.len()) {
        best = sparse;
    }
    out.append(&mut best);
}

/// Writes a column of counts that waver: constant or packed, without a look for anything shorter.
/// Histograms have hundreds of such columns.
pub fn encode_counts(out: &mut Vec<u8>, column: &[u64]) {
    let Some(&first) = column.first() else { return };
    if column.iter().all(|value| *value == first) {
        put(out, CONSTANT.into());
        put(out, first.into());
    } else {
        put(out, PACKED.into());
        pack_by(out, column, 1);
    }
}

/// A difference in the order of signed numbers, and back.
fn shifted(difference: u64) -> u64 {
    difference ^ (1 << 63)
}

/// Numbers that are not all the same, or none.
fn pack(out: &mut Vec<u8>, numbers: &[u64]) {
    let least = numbers.iter().copied().min().unwrap_or_default();
    let divisor = numbers.iter().fold(0, |divisor, number| common(divisor, number - least)).max(1);
    pack_by(out, numbers, divisor);
}

/// The same, with a divisor of all their distances from the least.
fn pack_by(out: &mut Vec<u8>, numbers: &[u64], divisor: u64) {
    let least = numbers.iter().copied().min().unwrap_or_default();
    let most = numbers.iter().map(|number| (number - least) / divisor).max().unwrap_or_default();
    let width = u64::BITS - most.leading_zeros();
    put(out, least.into());
    put(out, divisor.into());
    put(out, width.into());
    let (mut bits, mut held) = (0u128, 0);
    for number in numbers {
        bits |= u128::from((number - least) / divisor) << held;
        held += width;
        while held >= 8 {
            out.push(bits as u8);
            bits >>= 8;
            held -= 8;
        }
    }
    if held > 0 {
        out.push(bits as u8);
    }
}

/// The greatest common divisor.
fn common(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// `None` where it could not be the shortest.
fn sparse(column: &[u64]) -> Option<Vec<u8>> {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    column.iter().for_each(|value| *counts.entry(*value).or_default() += 1);
    let (&usual, &count) = counts.iter().max_by_key(|(_, count)| **count)?;
    let others = column.len() - count;
    if others * 4 > column.len() {
        return None;
    }
    let mut out = Vec::new();
    put(&mut out, SPARSE.into());
    put(&mut out, usual.into());
    put(&mut out, others as u128);
    let mut next = 0;
    for (place, value) in column.iter().enumerate().filter(|(_, value)| **value != usual) {
        put(&mut out, (place - next) as u128);
        put(&mut out, fold(value.wrapping_sub(usual) as i64).into());
        next = place + 1;
    }
    Some(out)
}

/// Takes a column of so many numbers off the front of `bytes`, and adds them to `out`.
///
/// # Errors
/// There is none.
pub fn decode(bytes: &mut &[u8], count: usize, out: &mut Vec<u64>) -> Result<(), BadNumber> {
    match take_u64(bytes)? {
        CONSTANT => {
            let value = take_u64(bytes)?;
            out.resize(out.len() + count, value);
        }
        PACKED => unpack(bytes, count, |number| out.push(number))?,
        DIFFERENCES => {
            let mut last = take_u64(bytes)?;
            out.push(last);
            unpack(bytes, count.checked_sub(1).ok_or(BadNumber)?, |step| {
                last = last.wrapping_add(shifted(step));
                out.push(last);
            })?;
        }
        SPARSE => {
            let (usual, others) = (take_u64(bytes)?, take_u64(bytes)?);
            let begun = out.len();
            out.resize(begun + count, usual);
            let mut place = 0u64;
            for _ in 0..others {
                place = place.checked_add(take_u64(bytes)?).ok_or(BadNumber)?;
                let value = usual.wrapping_add(unfold(take_u64(bytes)?) as u64);
                let at = usize::try_from(place).ok().filter(|at| *at < count).ok_or(BadNumber)?;
                out[begun + at] = value;
                place += 1;
            }
        }
        _ => return Err(BadNumber),
    }
    Ok(())
}

/// Takes a column of so many numbers off the front of `bytes`, and adds those at the `wanted`
/// places to `out`, each below `count`: of a packed column, no other is looked at.
///
/// # Errors
/// There is none.
pub fn decode_some(
    bytes: &mut &[u8],
    count: usize,
    wanted: &[usize],
    out: &mut Vec<u64>,
) -> Result<(), BadNumber> {
    let begun = out.len();
    match take_u64(&mut &**bytes)? {
        PACKED => {
            take_u64(bytes)?;
            let packed = Packed::take(bytes, count)?;
            out.extend(wanted.iter().map(|place| packed.get(*place)));
        }
        _ => {
            decode(bytes, count, out)?;
            // Places rise, so that none is overwritten before it is taken.
            (0..).zip(wanted).for_each(|(at, place)| out[begun + at] = out[begun + *place]);
            out.truncate(begun + wanted.len());
        }
    }
    Ok(())
}

/// Packed numbers.
struct Packed<'a> {
    least: u64,
    divisor: u64,
    /// Bits of each.
    width: u32,
    bytes: &'a [u8],
}

impl<'a> Packed<'a> {
    fn take(bytes: &mut &'a [u8], count: usize) -> Result<Packed<'a>, BadNumber> {
        let (least, divisor, width) = (take_u64(bytes)?, take_u64(bytes)?, take_u64(bytes)?);
        let width =
            u32::try_from(width).ok().filter(|width| *width <= u64::BITS).ok_or(BadNumber)?;
        let length = (count * width as usize).div_ceil(8);
        let (packed, rest) = bytes.split_at_checked(length).ok_or(BadNumber)?;
        *bytes = rest;
        Ok(Packed { least, divisor, width, bytes: packed })
    }

    /// The number at this place, which is there.
    fn get(&self, place: usize) -> u64 {
        let bit = place * self.width as usize;
        let from = self.bytes.get(bit / 8..).unwrap_or_default();
        let mut whole = [0; 16];
        let length = from.len().min(whole.len());
        whole[..length].copy_from_slice(&from[..length]);
        let bits = u128::from_le_bytes(whole) >> (bit % 8);
        self.number((bits & ((1u128 << self.width) - 1)) as u64)
    }

    fn number(&self, bits: u64) -> u64 {
        self.least.wrapping_add(bits.wrapping_mul(self.divisor))
    }
}

fn unpack(bytes: &mut &[u8], count: usize, mut take: impl FnMut(u64)) -> Result<(), BadNumber> {
    let column = Packed::take(bytes, count)?;
    let width = column.width;
    let mask = (1u128 << width) - 1;
    let (mut bits, mut held, mut packed) = (0u128, 0, column.bytes.iter());
    for _ in 0..count {
        while held < width {
            bits |= u128::from(*packed.next().ok_or(BadNumber)?) << held;
            held += 8;
        }
        take(column.number((bits & mask) as u64));
        bits >>= width;
        held -= width;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes_of(column: &[u64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(&mut bytes, column);
        bytes
    }

    fn back(column: &[u64]) -> Vec<u64> {
        let bytes = bytes_of(column);
        let (mut rest, mut out) = (&bytes[..], Vec::new());
        if !column.is_empty() {
            assert_eq!(decode(&mut rest, column.len(), &mut out), Ok(()));
        }
        assert!(rest.is_empty());
        out
    }

    #[test]
    fn what_does_not_change_costs_two_bytes_and_what_wavers_its_bits() {
        assert_eq!(bytes_of(&[100; 128]).len(), 2);
        assert_eq!(bytes_of(&[0; 128]), [0, 0]);
        // 0 to 7 ticks of 10 ms: three bits each, and some bytes ahead of them.
        let ticks: Vec<u64> = (0..128).map(|n: u64| n * 5 % 8 * 10_000_000).collect();
        assert!(bytes_of(&ticks).len() <= 3 * 128 / 8 + 8, "{}", bytes_of(&ticks).len());
        // What grows evenly: its differences are one number.
        let grows: Vec<u64> = (0..128).map(|n| 1 << 40 | (n * 4_096)).collect();
        assert!(bytes_of(&grows).len() < 24);
        // Seldom other than usual: a few bytes each time.
        let mut seldom = [7; 128];
        (seldom[3], seldom[90]) = (1 << 30, 8);
        assert!(bytes_of(&seldom).len() < 16);
    }

    #[test]
    fn extremes_come_back() {
        for column in [
            vec![u64::MAX, 0],
            vec![0, u64::MAX, 1, u64::MAX - 1],
            vec![1 << 63, (1 << 63) - 1, 1 << 63],
            vec![5],
            vec![],
        ] {
            assert_eq!(back(&column), column);
        }
    }

    proptest! {
        #[test]
        fn any_column_comes_back(
            column in prop_oneof![
                prop::collection::vec(any::<u64>(), 0..140),
                prop::collection::vec(0u64..40, 0..140),
                prop::collection::vec((0u64..90).prop_map(|n| n * 512), 0..140),
                prop::collection::vec(prop_oneof![20 => Just(3u64), 1 => any::<u64>()], 0..140),
            ],
        ) {
            prop_assert_eq!(&back(&column), &column);
            let bytes = bytes_of(&column);
            for step in [1, 3, 200] {
                let wanted: Vec<usize> = (step / 2..column.len()).step_by(step).collect();
                let (mut rest, mut some) = (&bytes[..], vec![9]);
                if !column.is_empty() {
                    prop_assert_eq!(
                        decode_some(&mut rest, column.len(), &wanted, &mut some),
                        Ok(()),
                    );
                }
                prop_assert!(rest.is_empty());
                let expected = [9].into_iter().chain(wanted.iter().map(|place| column[*place]));
                prop_assert!(some.iter().copied().eq(expected));
            }
        }

        #[test]
        fn no_bytes_break_anything(
            bytes in prop::collection::vec(any::<u8>(), 0..60),
            count in 0usize..130,
        ) {
            let (mut rest, mut out) = (&bytes[..], Vec::new());
            if decode(&mut rest, count, &mut out).is_ok() {
                prop_assert_eq!(out.len(), count);
            }
            let wanted: Vec<usize> = (0..count).step_by(7).collect();
            let (mut other, mut some) = (&bytes[..], Vec::new());
            let is_read = decode_some(&mut other, count, &wanted, &mut some).is_ok();
            prop_assert_eq!(is_read, decode(&mut &bytes[..], count, &mut Vec::new()).is_ok());
            if is_read {
                prop_assert_eq!((some.len(), other), (wanted.len(), rest));
            }
        }
    }
}
