//! One pass that leaves flash as a long time of random writes does.
//!
//! In the long run, the log of a drive that cleans its oldest block first gets a share u of copies
//! and a share 1 − u of the host's random writes (`model::flash`). The pass writes such a log once:
//! with the probability 1 − u a block anywhere, otherwise one that no write had yet, in place of
//! the copy. So the places of what is overwritten are spread as they are in the long run: many in
//! what was written first, few in what was written last. The pass ends when it has written as many
//! blocks as the drive has, its spare included; by then every block was written.

use super::permutation::Permutation;
use super::places::Places;
use model::flash::valid_share;
use model::plan::{Extent, Pattern, Worker};
use model::rng::{Rng, derive};
use model::units::Percent;

/// Apart from the seeds of other choices.
const ORDER_SEED: u64 = u64::from_be_bytes(*b"aged-ord");

/// The pass of one worker.
#[derive(Clone, Debug)]
pub(super) struct Aged {
    places: Places,
    extents: Box<[Extent]>,
    block: u64,
    /// The share of copies, in parts per million.
    copies_ppm: u32,
    /// The order in which blocks that no write had yet are taken, and how far it got.
    order: Permutation,
    next: u64,
    /// A bit of each block that was written.
    written: Box<[u64]>,
    unwritten: u64,
    /// Writes that are left.
    left: u64,
}

impl Aged {
    /// The pass of `worker` in writes of `block` bytes.
    pub(super) fn new(worker: &Worker, pattern: &Pattern, spare: Percent, block: u64) -> Aged {
        let places = Places::new(&worker.extents, 1, block);
        let count = places.count();
        Aged {
            extents: worker.extents.clone().into(),
            block,
            copies_ppm: (valid_share(spare) * 1e6).round() as u32,
            order: Permutation::new(count.max(1), derive(worker.seed, &[ORDER_SEED])),
            next: 0,
            written: vec![0; count.div_ceil(64) as usize].into(),
            unwritten: count,
            left: pattern.pass(count),
            places,
        }
    }

    fn was_written(&self, block: u64) -> bool {
        self.written[(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    /// File, offset and length of the next write. Not asked for more than there are.
    pub(super) fn draw(&mut self, rng: &mut Rng) -> (u32, u64, u64) {
        // What has to be written yet must fit into what is left.
        let must = self.unwritten >= self.left;
        let copies = must || (self.unwritten > 0 && rng.chance(self.copies_ppm));
        let number = if copies { self.next_unwritten() } else { rng.below(self.places.count()) };
        self.left = self.left.saturating_sub(1);
        if !self.was_written(number) {
            self.written[(number / 64) as usize] |= 1 << (number % 64);
            self.unwritten -= 1;
        }
        let place = self.places.at(number);
        let extent = &self.extents[place.extent];
        let end = extent.offset + extent.length;
        (place.file, place.offset, self.block.min(end - place.offset))
    }

    /// The next of the order that no write had yet: there is one.
    fn next_unwritten(&mut self) -> u64 {
        loop {
            let number = self.order.at(self.next);
            self.next += 1;
            if !self.was_written(number) {
                return number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common;
    use crate::generator::{Generator, Request};
    use model::Op;
    use model::choices::Access;
    use model::plan::Stop;

    const BLOCK: u64 = 4096;

    fn pass(spare: &str, extents: Vec<Extent>) -> Vec<Request> {
        let mut work = common::work(Percent::ZERO, Access::Random, 32, Stop::Amount);
        work.pattern.aged = Some(spare.parse().expect("a share"));
        let worker = common::worker(7, extents);
        let mut generator = Generator::new(&work, &worker);
        let all: Vec<Request> = std::iter::from_fn(|| generator.next_request()).collect();
        assert_eq!(all.len() as u64, work.requests(&worker));
        assert!(generator.is_exhausted());
        all
    }

    #[test]
    fn every_byte_is_written_and_as_often_again_as_there_is_spare() {
        let extents = vec![
            Extent { file: 0, offset: 8192, length: 1_000 * BLOCK },
            Extent { file: 2, offset: 0, length: 10 * BLOCK + 512 },
        ];
        for spare in ["1%", "7%", "28%", "100%"] {
            let all = pass(spare, extents.clone());
            let mut places: Vec<(u32, u64, u32)> =
                all.iter().map(|one| (one.file, one.offset, one.length)).collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), 1_000 + 11, "{spare}: every block");
            let bytes: u64 = places.iter().map(|(.., length)| u64::from(*length)).sum();
            assert_eq!(bytes, 1_010 * BLOCK + 512, "{spare}: and no byte outside");
            assert!(all.iter().all(|one| one.op == Op::Write));
        }
    }

    #[test]
    fn what_is_overwritten_lies_where_it_lies_in_the_long_run() {
        const BLOCKS: u64 = 1 << 17;
        let spare = "28%";
        let all = pass(spare, vec![Extent { file: 0, offset: 0, length: BLOCKS * BLOCK }]);
        let mut last = vec![0; BLOCKS as usize];
        (0..).zip(&all).for_each(|(at, one)| last[(one.offset / BLOCK) as usize] = at);
        let mut valid = vec![false; all.len()];
        last.iter().for_each(|at| valid[*at as usize] = true);
        let parts = 16;
        let shares: Vec<f64> = valid
            .chunks(all.len() / parts)
            .take(parts)
            .map(|part| part.iter().filter(|one| **one).count() as f64 / part.len() as f64)
            .collect();
        // valid(x) = exp(−α·(1 − u)·x), x from the newest to the oldest.
        let share = valid_share(spare.parse().expect("a share"));
        for (part, found) in shares.iter().enumerate() {
            let age = 1.0 - (part as f64 + 0.5) / parts as f64;
            let expected = (-1.28 * (1.0 - share) * age).exp();
            // Four standard deviations of a part's 10,485 blocks, each of which is valid or not.
            let chance = 4.0 * (expected * (1.0 - expected) / 10_485.0).sqrt();
            assert!((found - expected).abs() < chance, "part {part}: {found} and {expected}");
        }
    }
}
