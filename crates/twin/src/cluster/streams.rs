//! Which requests go on where another ended: for disks, the difference between a seek and none.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// How many streams of a volume are known at the same time.
const MOST: usize = 256;

/// Spreads offsets over a table: each request looks three times, and nobody gains by making places
/// collide in a simulation of their own.
#[derive(Clone, Debug, Default)]
pub(super) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, value: u64) {
        // Knuth's multiplicative hashing: the upper half is good, and offsets leave the lowest bits
        // empty.
        let product = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 32);
    }
}

/// The ends of the latest requests of a volume, each with how long its stream is.
#[derive(Clone, Debug, Default)]
pub(super) struct Streams {
    ends: HashMap<u64, u32, BuildHasherDefault<Spread>>,
    order: VecDeque<u64>,
}

impl Streams {
    /// Whether a request goes on a stream of at least two: one continuation may be chance.
    pub(super) fn goes_on(&mut self, offset: u64, length: u64) -> bool {
        let before = self.ends.remove(&offset).unwrap_or(0);
        let end = offset.saturating_add(length);
        if self.ends.insert(end, before.saturating_add(1)).is_none() {
            self.order.push_back(end);
        }
        // Ends that were gone on from count no more.
        while self.ends.len() > MOST {
            let Some(oldest) = self.order.pop_front() else { break };
            self.ends.remove(&oldest);
        }
        if self.order.len() > 4 * MOST {
            let ends = &self.ends;
            self.order.retain(|end| ends.contains_key(end));
        }
        before >= 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_found_among_each_other_and_chance_is_none() {
        let mut streams = Streams::default();
        for block in 0..50u64 {
            for stream in 0..8u64 {
                let goes_on = streams.goes_on((stream << 30) + block * 4096, 4096);
                assert_eq!(goes_on, block >= 2, "block {block} of stream {stream}");
            }
        }
        assert!(!streams.goes_on(7 << 40, 4096));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut streams = Streams::default();
        for block in 0..100_000u64 {
            streams.goes_on(block.wrapping_mul(0x9e37_79b9_7f4a_7c15), 512);
        }
        assert!(streams.ends.len() <= MOST && streams.order.len() <= 4 * MOST);
    }
}
