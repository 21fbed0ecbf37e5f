//! An order without pattern of any number of things, in no memory.

use model::rng::split_mix;

/// A bijection of the numbers below `count`: a Feistel network over the next power of four, walked
/// until it hits a number below `count` (Black and Rogaway, *Ciphers with Arbitrary Finite
/// Domains*, 2002). Its domain is at most four times as large, so that the walk is short.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    count: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

/// Four rounds leave no structure that storage could see; this is no cipher.
const ROUNDS: usize = 4;

impl Permutation {
    /// The order that belongs to `seed`. `count` is at least 1.
    pub(crate) fn new(count: u64, seed: u64) -> Permutation {
        let bits = 64 - count.saturating_sub(1).leading_zeros();
        let mut state = seed;
        let keys = std::array::from_fn(|_| split_mix(&mut state));
        Permutation { count, half_bits: bits.div_ceil(2).max(1), keys }
    }

    /// The `index`-th number of the order. `index` is below `count`, and so is the result.
    #[inline]
    pub(crate) fn at(&self, index: u64) -> u64 {
        let mut value = index;
        loop {
            value = self.shuffle(value);
            if value < self.count {
                return value;
            }
        }
    }

    #[inline]
    fn shuffle(&self, value: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            let mixed = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let next = left ^ ((mixed ^ (mixed >> 29)) >> 7 & mask);
            left = right;
            right = next;
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_not_neighbours_any_more() {
        let order = Permutation::new(100_000, 5);
        let close = (1..100_000)
            .filter(|index| order.at(*index).abs_diff(order.at(index - 1)) < 1_000)
            .count();
        // By chance, 2 % of the pairs are this close.
        assert!((1_500..2_500).contains(&close), "{close}");
    }
}
