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

use super::{Bad, In, Out};
use std::collections::BTreeMap;

const CONSTANT: u64 = 0;
const PACKED: u64 = 1;
const DIFFERENCES: u64 = 2;
const SPARSE: u64 = 3;

/// Writes a column in whichever form is shortest; nothing where it is empty.
pub(super) fn put(out: &mut Out, column: &[u64]) {
    let Some(&first) = column.first() else { return };
    if column.iter().all(|value| *value == first) {
        return put_constant(out, first);
    }
    let mut best = Out::default();
    best.number(PACKED);
    pack(&mut best, column);
    let mut differences = Out::default();
    differences.number(DIFFERENCES);
    differences.number(first);
    // From the least to the greatest difference as if they had no sign.
    let steps: Vec<u64> =
        column.windows(2).map(|pair| shifted(pair[1].wrapping_sub(pair[0]))).collect();
    pack(&mut differences, &steps);
    if differences.0.len() < best.0.len() {
        best = differences;
    }
    if let Some(sparse) = sparse(column).filter(|sparse| sparse.0.len() < best.0.len()) {
        best = sparse;
    }
    out.raw(&best.0);
}

/// Writes a column of counts that waver: constant or packed, without a look for anything shorter.
pub(super) fn put_counts(out: &mut Out, column: &[u64]) {
    let Some(&first) = column.first() else { return };
    if column.iter().all(|value| *value == first) {
        put_constant(out, first);
    } else {
        out.number(PACKED);
        pack_by(out, column, 1);
    }
}

fn put_constant(out: &mut Out, value: u64) {
    out.number(CONSTANT);
    out.number(value);
}

/// A difference in the order of signed numbers, and back.
fn shifted(difference: u64) -> u64 {
    difference ^ (1 << 63)
}

/// Numbers that are not all the same, or none.
fn pack(out: &mut Out, numbers: &[u64]) {
    let least = numbers.iter().copied().min().unwrap_or_default();
    let divisor = numbers.iter().fold(0, |divisor, number| common(divisor, number - least)).max(1);
    pack_by(out, numbers, divisor);
}

/// The same, with a divisor of all their distances from the least.
fn pack_by(out: &mut Out, numbers: &[u64], divisor: u64) {
    let least = numbers.iter().copied().min().unwrap_or_default();
    let most = numbers.iter().map(|number| (number - least) / divisor).max().unwrap_or_default();
    let width = u64::BITS - most.leading_zeros();
    out.number(least);
    out.number(divisor);
    out.number(width.into());
    let (mut bits, mut held) = (0u128, 0);
    for number in numbers {
        bits |= u128::from((number - least) / divisor) << held;
        held += width;
        while held >= 8 {
            out.0.push(bits as u8);
            bits >>= 8;
            held -= 8;
        }
    }
    if held > 0 {
        out.0.push(bits as u8);
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
fn sparse(column: &[u64]) -> Option<Out> {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    column.iter().for_each(|value| *counts.entry(*value).or_default() += 1);
    let (&usual, &count) = counts.iter().max_by_key(|(_, count)| **count)?;
    let others = column.len() - count;
    if others * 4 > column.len() {
        return None;
    }
    let mut out = Out::default();
    out.number(SPARSE);
    out.number(usual);
    out.count(others);
    let mut next = 0;
    for (place, value) in column.iter().enumerate().filter(|(_, value)| **value != usual) {
        out.count(place - next);
        out.difference(*value, usual);
        next = place + 1;
    }
    Some(out)
}

/// Takes a column of so many numbers off the front, and adds them to `out`.
///
/// # Errors
/// There is none.
pub(super) fn take(from: &mut In<'_>, count: usize, out: &mut Vec<u64>) -> Result<(), Bad> {
    match from.number()? {
        CONSTANT => {
            let value = from.number()?;
            out.resize(out.len() + count, value);
        }
        PACKED => unpack(from, count, |number| out.push(number))?,
        DIFFERENCES => {
            let mut last = from.number()?;
            out.push(last);
            unpack(from, count.checked_sub(1).ok_or(Bad::TooLong)?, |step| {
                last = last.wrapping_add(shifted(step));
                out.push(last);
            })?;
        }
        SPARSE => {
            let (usual, others) = (from.number()?, from.number()?);
            let begun = out.len();
            out.resize(begun + count, usual);
            let mut place = 0u64;
            for _ in 0..others {
                place = place.checked_add(from.number()?).ok_or(Bad::OutOfRange)?;
                let value = from.difference(usual)?;
                let at = usize::try_from(place).ok().filter(|at| *at < count);
                out[begun + at.ok_or(Bad::OutOfRange)?] = value;
                place += 1;
            }
        }
        _ => return Err(Bad::OutOfRange),
    }
    Ok(())
}

/// Takes a column of so many numbers off the front, and adds those at the `wanted`
/// places to `out`, each below `count`: of a packed column, no other is looked at.
///
/// # Errors
/// There is none.
pub(super) fn take_some(
    from: &mut In<'_>,
    count: usize,
    wanted: &[usize],
    out: &mut Vec<u64>,
) -> Result<(), Bad> {
    let begun = out.len();
    match In::new(from.rest()).number()? {
        PACKED => {
            from.number()?;
            let packed = Packed::take(from, count)?;
            out.extend(wanted.iter().map(|place| packed.get(*place)));
        }
        _ => {
            take(from, count, out)?;
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
    fn take(from: &mut In<'a>, count: usize) -> Result<Packed<'a>, Bad> {
        let (least, divisor, width) = (from.number()?, from.number()?, from.small()?);
        if width > u64::BITS {
            return Err(Bad::OutOfRange);
        }
        let length = (count * width as usize).div_ceil(8);
        Ok(Packed { least, divisor, width, bytes: from.raw(length)? })
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

fn unpack(from: &mut In<'_>, count: usize, mut take: impl FnMut(u64)) -> Result<(), Bad> {
    let column = Packed::take(from, count)?;
    let width = column.width;
    let mask = (1u128 << width) - 1;
    let (mut bits, mut held, mut packed) = (0u128, 0, column.bytes.iter());
    for _ in 0..count {
        while held < width {
            bits |= u128::from(*packed.next().ok_or(Bad::CutOff)?) << held;
            held += 8;
        }
        take(column.number((bits & mask) as u64));
        bits >>= width;
        held -= width;
    }
    Ok(())
}
