//! Seeded random numbers: the only source of chance in a run.

/// xoshiro256++ by Blackman and Vigna (<https://prng.di.unimi.it>): a few cycles a number,
/// 256 bits of state, the same sequence on every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

/// One step of SplitMix64, which turns related seeds into unrelated states.
pub fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A seed of its own for each part of a plan: `derive(suite_seed, &[stage, host, worker])`.
pub fn derive(seed: u64, path: &[u64]) -> u64 {
    let mut state = seed;
    let mut value = split_mix(&mut state);
    for step in path {
        state = value ^ step.wrapping_mul(0xd1b5_4a32_d192_ed03);
        value = split_mix(&mut state);
    }
    value
}

impl Rng {
    /// A generator whose whole sequence follows from `seed`.
    pub fn new(seed: u64) -> Rng {
        let mut state = seed;
        Rng { state: std::array::from_fn(|_| split_mix(&mut state)) }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number from 0 to `bound − 1`, each equally likely (Lemire 2019, "Fast random integer
    /// generation in an interval"). `bound` must not be 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0, "an empty range has no number in it");
        let mut product = u128::from(self.next_u64()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// True with a probability of `ppm` in a million, exactly.
    #[inline]
    pub fn chance(&mut self, ppm: u32) -> bool {
        self.below(1_000_000) < u64::from(ppm)
    }

    /// A number from 0 up to but not including 1, with all 53 bits of a double.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the reference implementation seeded with SplitMix64 from 0
    /// (splitmix64.c: 0xe220a8397b1dcdaf is its published first output).
    #[test]
    fn split_mix_agrees_with_the_reference() {
        let mut state = 0;
        assert_eq!(split_mix(&mut state), 0xe220_a839_7b1d_cdaf);
        assert_eq!(split_mix(&mut state), 0x6e78_9e6a_a1b9_65f4);
    }

    /// xoshiro256plusplus.c with s = {1, 2, 3, 4}.
    #[test]
    fn xoshiro_agrees_with_the_reference() {
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let first: Vec<u64> = (0..4).map(|_| rng.next_u64()).collect();
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn the_same_seed_gives_the_same_sequence_and_another_seed_another() {
        let draw = |seed| {
            let mut rng = Rng::new(seed);
            (0..100).map(|_| rng.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert_ne!(derive(1, &[0, 1]), derive(1, &[1, 0]));
    }

    #[test]
    fn below_is_uniform_by_chi_square() {
        let mut rng = Rng::new(1);
        let mut counts = [0u32; 100];
        for _ in 0..100_000 {
            counts[rng.below(100) as usize] += 1;
        }
        let chi: f64 = counts.iter().map(|&n| (f64::from(n) - 1000.0).powi(2) / 1000.0).sum();
        // 99 degrees of freedom: 99.9 % of true samples lie between 60 and 149.
        assert!((60.0..149.0).contains(&chi), "chi-square {chi}");
    }
}
