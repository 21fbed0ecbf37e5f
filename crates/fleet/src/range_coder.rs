//! An adaptive binary range coder: numbers that are likely, by what came before, take a part of a
//! bit, and unlikely ones take more.
//!
//! The arithmetic is that of LZMA (I. Pavlov, "LZMA specification", 2015; after G. N. N. Martin,
//! "Range encoding", 1979): 32 bits of range, a carry that runs back over bytes that are held, and
//! odds that move towards what comes. They have 15 bits here where LZMA has 11: most of what a host
//! counts does not change, and a bit that is nearly certain costs a thousandth of one then.
//!
//! Both directions are one piece of code: a [`Coder`] is told the bit by the writer, and tells it
//! to the reader, so that the two cannot differ.

use crate::link::LinkError;

/// Odds are out of so many.
const ODDS_BITS: u32 = 15;
/// In the long run, odds follow by 1/32 of the way with each bit.
const FOLLOW: u8 = 5;
/// A range below this is widened by a byte.
const NARROW: u32 = 1 << 24;
/// The zeros at the end that need not be sent, as the reader takes what is missing for zeros.
const TRIMMED: usize = 4;

/// How likely it is that a bit is 0. The first bits count for more: little is known before them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Odds {
    of_zero: u16,
    seen: u8,
}

impl Default for Odds {
    fn default() -> Odds {
        Odds { of_zero: 1 << (ODDS_BITS - 1), seen: 0 }
    }
}

impl Odds {
    fn bound(self, range: u32) -> u32 {
        (range >> ODDS_BITS) * u32::from(self.of_zero)
    }

    fn follow(&mut self, bit: bool) {
        // 1/4 at first, 1/8 from the second bit on, 1/16 from the fourth, 1/32 from the eighth. It
        // never gets to the end of the scale, where the other bit had no room: what is left there
        // is too little for a step.
        let follow = (2 + self.seen.checked_ilog2().map_or(0, |seen| seen as u8)).min(FOLLOW);
        self.seen = (self.seen + 1).min(1 << FOLLOW);
        if bit {
            self.of_zero -= self.of_zero >> follow;
        } else {
            self.of_zero += ((1 << ODDS_BITS) - self.of_zero) >> follow;
        }
    }
}

/// Either direction. What is given to a reader makes no difference.
pub(crate) trait Coder {
    /// A bit of which something is known. Comes back with it.
    fn bit(&mut self, odds: &mut Odds, bit: bool) -> bool;
    /// The lowest `count` bits of a number (at most 16), of which nothing is known. Comes back with
    /// them.
    fn plain(&mut self, count: u32, bits: u32) -> u32;
    /// Whether there is still something to be read, or to be written.
    fn is_sound(&self) -> bool;
}

/// Writes.
#[derive(Debug)]
pub(crate) struct Encoder {
    out: Vec<u8>,
    low: u64,
    range: u32,
    held: u8,
    /// How many bytes are held: `held`, and behind it such as a carry would run through.
    waiting: usize,
}

impl Encoder {
    pub(crate) fn new() -> Encoder {
        Encoder { out: Vec::new(), low: 0, range: u32::MAX, held: 0, waiting: 1 }
    }

    fn shift(&mut self) {
        let carry = (self.low >> 32) as u8;
        if self.low as u32 >= 0xff00_0000 && carry == 0 {
            self.waiting += 1;
        } else {
            self.out.push(self.held.wrapping_add(carry));
            self.out.resize(self.out.len() + self.waiting - 1, 0xff_u8.wrapping_add(carry));
            (self.held, self.waiting) = ((self.low >> 24) as u8, 1);
        }
        self.low = (self.low & 0x00ff_ffff) << 8;
    }

    fn widen(&mut self) {
        while self.range < NARROW {
            self.range <<= 8;
            self.shift();
        }
    }

    /// All that was written.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        (0..5).for_each(|_| self.shift());
        // What was held before anything was written: always 0.
        self.out.remove(0);
        let least = self.out.len().saturating_sub(TRIMMED);
        while self.out.len() > least && self.out.last() == Some(&0) {
            self.out.pop();
        }
        self.out
    }
}

impl Coder for Encoder {
    fn bit(&mut self, odds: &mut Odds, bit: bool) -> bool {
        let bound = odds.bound(self.range);
        if bit {
            self.low += u64::from(bound);
            self.range -= bound;
        } else {
            self.range = bound;
        }
        odds.follow(bit);
        self.widen();
        bit
    }

    fn plain(&mut self, count: u32, bits: u32) -> u32 {
        self.range >>= count;
        self.low += u64::from(bits) * u64::from(self.range);
        self.widen();
        bits
    }

    fn is_sound(&self) -> bool {
        true
    }
}

/// Reads what an [`Encoder`] wrote, and something of any other bytes.
#[derive(Debug)]
pub(crate) struct Decoder<'a> {
    rest: &'a [u8],
    missing: usize,
    range: u32,
    code: u32,
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Decoder<'a> {
        let mut decoder = Decoder { rest: bytes, missing: 0, range: u32::MAX, code: 0 };
        (0..4).for_each(|_| decoder.shift());
        decoder
    }

    fn shift(&mut self) {
        let byte = match self.rest.split_first() {
            Some((byte, rest)) => {
                self.rest = rest;
                *byte
            }
            None => {
                self.missing = self.missing.saturating_add(1);
                0
            }
        };
        self.code = self.code << 8 | u32::from(byte);
    }

    fn widen(&mut self) {
        while self.range < NARROW {
            self.range <<= 8;
            self.shift();
        }
    }

    /// # Errors
    /// There were more bytes than were read, or fewer.
    pub(crate) fn finish(self) -> Result<(), LinkError> {
        if self.rest.is_empty() && self.is_sound() { Ok(()) } else { Err(LinkError::Garbled) }
    }
}

impl Coder for Decoder<'_> {
    fn bit(&mut self, odds: &mut Odds, _: bool) -> bool {
        let bound = odds.bound(self.range);
        let bit = self.code >= bound;
        if bit {
            self.code -= bound;
            self.range -= bound;
        } else {
            self.range = bound;
        }
        odds.follow(bit);
        self.widen();
        bit
    }

    fn plain(&mut self, count: u32, _: u32) -> u32 {
        self.range >>= count;
        // More than that is in no bytes of ours.
        let bits = (self.code / self.range).min((1 << count) - 1);
        self.code = self.code.wrapping_sub(bits.wrapping_mul(self.range));
        self.widen();
        bits
    }

    fn is_sound(&self) -> bool {
        self.missing <= TRIMMED
    }
}

/// Bits of a number's length.
const LENGTH_BITS: u32 = 6;
/// The bits behind a number's first of which something is known; those behind them are as good as
/// random.
const KNOWN_BITS: u32 = 2;

/// How likely numbers other than 0 are, by their length in bits.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    lengths: [Odds; 1 << LENGTH_BITS],
    next: [[Odds; 1 << KNOWN_BITS]; 8],
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes {
            lengths: [Odds::default(); 1 << LENGTH_BITS],
            next: [[Odds::default(); 1 << KNOWN_BITS]; 8],
        }
    }
}

impl Sizes {
    /// A number from 1.
    pub(crate) fn code(&mut self, coder: &mut impl Coder, number: u64) -> u64 {
        let mut bits = u64::BITS - number.max(1).leading_zeros() - 1;
        let mut node = 1;
        for at in (0..LENGTH_BITS).rev() {
            node = node << 1 | usize::from(coder.bit(&mut self.lengths[node], bits >> at & 1 == 1));
        }
        bits = node as u32 - (1 << LENGTH_BITS);
        let known = bits.min(KNOWN_BITS);
        let next = &mut self.next[(bits as usize).min(7)];
        let mut read = 1u64;
        let mut node = 1;
        for at in 0..known {
            let bit = coder.bit(&mut next[node], number >> (bits - 1 - at) & 1 == 1);
            node = node << 1 | usize::from(bit);
            read = read << 1 | u64::from(bit);
        }
        let mut left = bits - known;
        while left > 0 {
            let count = left.min(16);
            left -= count;
            let plain = coder.plain(count, (number >> left) as u32 & ((1 << count) - 1));
            read = read << count | u64::from(plain);
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Of one kind or of the other, as counters are: mostly 0, small, or anything.
    fn numbers() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(prop_oneof![8 => Just(0), 4 => 1u64..200, 1 => any::<u64>()], 0..400)
    }

    fn written(numbers: &[u64]) -> Vec<u8> {
        let (mut encoder, mut is_some, mut sizes) =
            (Encoder::new(), Odds::default(), Sizes::default());
        for number in numbers {
            if encoder.bit(&mut is_some, *number > 0) {
                sizes.code(&mut encoder, *number);
            }
        }
        encoder.finish()
    }

    fn read(bytes: &[u8], count: usize) -> Result<Vec<u64>, LinkError> {
        let (mut decoder, mut is_some, mut sizes) =
            (Decoder::new(bytes), Odds::default(), Sizes::default());
        let one =
            |_| if decoder.bit(&mut is_some, false) { sizes.code(&mut decoder, 0) } else { 0 };
        let numbers = (0..count).map(one).collect();
        decoder.finish().map(|()| numbers)
    }

    proptest! {
        #[test]
        fn numbers_come_back(numbers in numbers()) {
            prop_assert_eq!(read(&written(&numbers), numbers.len()), Ok(numbers));
        }

        #[test]
        fn any_bytes_are_read_as_something_or_refused(bytes in prop::collection::vec(any::<u8>(),
            0..100)) {
            let _ = read(&bytes, 1_000);
        }

        #[test]
        fn what_is_cut_off_never_reads_as_what_was_written_and_what_goes_on_is_refused(
            numbers in prop::collection::vec(any::<u64>(), 40..60)
        ) {
            let bytes = written(&numbers);
            // Other numbers can be as long as what is left of these; the length of a frame is held
            // elsewhere.
            let cut = read(&bytes[..bytes.len() - 8], numbers.len());
            prop_assert_ne!(cut, Ok(numbers.clone()));
            prop_assert_eq!(read(&[&bytes[..], &[1; 8]].concat(), numbers.len()),
                Err(LinkError::Garbled));
        }
    }

    #[test]
    fn a_carry_runs_through_bytes_that_wait() {
        // The upper part of the range each time: the lower end runs close to a carry.
        for ones in 0..200 {
            let (mut encoder, mut odds) = (Encoder::new(), Odds::default());
            let bits: Vec<bool> = (0..400).map(|at| at < ones || at % 7 == 0).collect();
            bits.iter().for_each(|bit| {
                encoder.bit(&mut odds, *bit);
            });
            let bytes = encoder.finish();
            let (mut decoder, mut odds) = (Decoder::new(&bytes), Odds::default());
            let back: Vec<bool> = bits.iter().map(|_| decoder.bit(&mut odds, false)).collect();
            assert_eq!((back, decoder.finish()), (bits, Ok(())));
        }
    }

    #[test]
    fn what_never_changes_takes_next_to_nothing() {
        let bytes = written(&[0; 10_000]);
        assert!(bytes.len() < 10, "{} bytes", bytes.len());
    }
}
