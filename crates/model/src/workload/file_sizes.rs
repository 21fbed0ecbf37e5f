//! Sizes of numbered files that differ: which file has which size follows from its number, so that
//! nobody has to keep a list.

use crate::load::SizeMix;
use crate::rng::derive;
use crate::units::Bytes;

/// Where the choice of sizes starts: the same for every tree, so that a file of one number has one
/// size wherever it is.
const SEED: u64 = 0x7075_6273_697a_6573;

/// So many standard deviations above the mean, a sum of many draws is once in 30,000 trees (normal
/// approximation).
const SIGMAS: f64 = 4.0;

impl SizeMix {
    /// The sum of the weights; at least 1.
    fn total_weight(&self) -> u64 {
        self.parts.iter().map(|(_, weight)| u64::from(*weight)).sum::<u64>().max(1)
    }

    /// The size of file `number`: drawn by weight, independently for each number, and always the
    /// same.
    #[inline]
    pub fn of_file(&self, number: u64) -> Bytes {
        // Multiplied into the range instead of divided: the weights' sum is far below 2^64, so that
        // no size gains (Lemire, 2019).
        let draw = u128::from(derive(SEED, &[number])) * u128::from(self.total_weight());
        let mut point = (draw >> 64) as u64;
        for (size, weight) in &self.parts {
            match point.checked_sub(u64::from(*weight)) {
                Some(rest) => point = rest,
                None => return *size,
            }
        }
        self.largest()
    }

    /// What one file has on average, in bytes, after `counted` turned its size into what is counted
    /// of it.
    fn mean_by(&self, counted: impl Fn(f64) -> f64) -> f64 {
        let sum: f64 = self
            .parts
            .iter()
            .map(|(size, weight)| counted(size.0 as f64) * f64::from(*weight))
            .sum();
        sum / self.total_weight() as f64
    }

    /// The mean of the sizes by their weights, rounded to a byte.
    pub fn mean(&self) -> Bytes {
        Bytes(self.mean_bytes().round() as u64)
    }

    /// The mean of the sizes by their weights, in bytes.
    pub fn mean_bytes(&self) -> f64 {
        self.mean_by(|size| size)
    }

    /// The squared coefficient of variation of the sizes: their variance ÷ their squared mean.
    pub fn varies(&self) -> f64 {
        let mean = self.mean_bytes();
        if mean > 0.0 { self.mean_by(|size| size * size) / (mean * mean) - 1.0 } else { 0.0 }
    }

    /// What `files` files take of a file system at the very most, in blocks of so many bytes: *n* µ
    /// + 4 σ √*n*, and never more than *n* times the largest.
    pub(crate) fn most_space(&self, files: u64, block: u64) -> Bytes {
        let blocks = |size: f64| (size / block.max(1) as f64).ceil() * block.max(1) as f64;
        let mean = self.mean_by(blocks);
        let variance = (self.mean_by(|size| blocks(size).powi(2)) - mean * mean).max(0.0);
        let files = files as f64;
        let likely = files.mul_add(mean, SIGMAS * (files * variance).sqrt());
        Bytes(likely.min(files * blocks(self.largest().0 as f64)).ceil() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(text: &str) -> SizeMix {
        text.parse().expect("a mix")
    }

    #[test]
    fn a_file_has_one_size_and_sizes_come_by_their_weights() {
        let mix = mix("4KiB:70, 64KiB:20, 1MiB:10");
        let sizes: Vec<Bytes> = (0..100_000).map(|number| mix.of_file(number)).collect();
        assert!((0..100).all(|number| mix.of_file(number) == sizes[number as usize]));
        for (size, weight) in &mix.parts {
            // 4 σ of 100,000 draws at one in two are 633.
            let (count, wanted) =
                (sizes.iter().filter(|found| *found == size).count(), *weight as usize * 1_000);
            assert!(count.abs_diff(wanted) < 700, "{size}: {count}");
        }
        // Workers go through every so-manieth file: none may have one size alone.
        for step in [2, 5, 10] {
            assert!(
                (0..1_000).filter(|turn| sizes[turn * step].0 == 4096).count().abs_diff(700) < 100
            );
        }
    }

    #[test]
    fn the_mean_is_that_of_the_weights_and_space_is_enough() {
        let mix = mix("1KiB:50, 16KiB:50");
        assert_eq!(mix.mean(), Bytes(8704));
        for files in [1, 10, 1_000, 50_000] {
            let takes: u64 =
                (0..files).map(|number| mix.of_file(number).0.next_multiple_of(4096)).sum();
            let most = mix.most_space(files, 4096).0;
            assert!((takes..=files * 16_384).contains(&most), "{files}: {most}");
        }
        assert!(
            mix.most_space(1 << 20, 4096).0 < ((1 << 20) * 10_400),
            "close to the mean of 10 KiB"
        );
        assert_eq!(SizeMix::single(Bytes(5)).of_file(7), Bytes(5));
        assert_eq!(SizeMix::single(Bytes(5)).most_space(3, 4096), Bytes(3 * 4096));
        assert_eq!(SizeMix { parts: Vec::new() }.of_file(1), Bytes(0));
    }
}
