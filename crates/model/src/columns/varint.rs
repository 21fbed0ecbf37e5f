//! Whole numbers as bytes: LEB128, seven bits a byte and the lowest first, and signed ones folded
//! (zigzag), so that small ones in either direction are short.

use super::Bad;

/// Appends a number.
#[inline]
pub fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push((value as u8) | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Appends a number that may be longer than the others.
pub fn put_u128(bytes: &mut Vec<u8>, mut value: u128) {
    while value >= 1 << 63 {
        bytes.push((value as u8) | 0x80);
        value >>= 7;
    }
    put(bytes, value as u64);
}

/// Takes a number off the front of `bytes`.
///
/// # Errors
/// There is none, or a longer one.
#[inline]
pub fn take_u128(bytes: &mut &[u8]) -> Result<u128, Bad> {
    let mut value = 0u128;
    for shift in (0..126).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or(Bad::CutOff)?;
        *bytes = rest;
        value |= u128::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(Bad::CutOff)
}

/// Takes a number off the front of `bytes`.
///
/// # Errors
/// There is none, or a longer one.
#[inline]
pub fn take_u64(bytes: &mut &[u8]) -> Result<u64, Bad> {
    // Most counts and distances are a byte, and nearly all of those of many hosts together are two
    // or three.
    let all = *bytes;
    match *all {
        [one, ref rest @ ..] if one < 0x80 => {
            *bytes = rest;
            return Ok(u64::from(one));
        }
        [one, two, ref rest @ ..] if two < 0x80 => {
            *bytes = rest;
            return Ok(u64::from(one & 0x7f) | u64::from(two) << 7);
        }
        [one, two, three, ref rest @ ..] if three < 0x80 => {
            *bytes = rest;
            return Ok(u64::from(one & 0x7f) | u64::from(two & 0x7f) << 7 | u64::from(three) << 14);
        }
        _ => {}
    }
    take_long_u64(bytes)
}

/// A number of any length; not inlined, so that the loops that it is needed in stay short.
#[inline(never)]
fn take_long_u64(bytes: &mut &[u8]) -> Result<u64, Bad> {
    u64::try_from(take_u128(bytes)?).map_err(|_| Bad::CutOff)
}

/// A signed number as a whole one, small where it is small in either direction.
pub fn fold(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// Undoes [`fold`].
pub fn unfold(folded: u64) -> i64 {
    (folded >> 1) as i64 ^ -((folded & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_number_of_any_length_is_taken_as_the_long_way_takes_it(
            bits in 0u32..=64, drawn in any::<u64>(), cut in 0usize..12,
                mut stray in proptest::collection::vec(any::<u8>(), 0..12),
        ) {
            let mut written = Vec::new();
            put(&mut written, drawn.checked_shr(64 - bits).unwrap_or(0));
            written.truncate(cut.max(1));
            written.append(&mut stray.clone());
            stray.insert(0, 0x80);
            for bytes in [&written, &stray] {
                let (mut short, mut long) = (bytes.as_slice(), bytes.as_slice());
                let expected = take_long_u64(&mut long);
                let found = take_u64(&mut short);
                prop_assert!(expected.is_err() || short == long);
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn small_numbers_in_either_direction_are_short() {
        let numbers = [0, -1, 1, -2, i64::MAX, i64::MIN];
        assert_eq!(numbers.map(fold), [0, 1, 2, 3, u64::MAX - 1, u64::MAX]);
        assert_eq!(numbers.map(fold).map(unfold), numbers);
    }
}
