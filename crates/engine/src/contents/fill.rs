//! What is written: bytes that compress and repeat as much as the plan says, no more.
//!
//! The unit of both is 4 KiB at multiples of 4 KiB in its file, which is what deduplicating storage
//! compares and what every compressor sees whole. A unit is a slice of a pool of random bytes, each
//! 8 of them combined (exclusive or) with a number of the unit's own: as unlike every other unit as
//! fresh random bytes are, for a compressor with a window of any length, at the cost of a copy.

use super::position::{ORIGINALS, Positions, UNIT};
use model::choices::DuplicateScope;
use model::plan::Contents;
use model::rng::{Rng, derive, split_mix};
use std::sync::Arc;

/// 128 KiB stay in a core's second-level cache beside the buffers.
const POOL_WORDS: usize = 16 << 10;
const UNIT_WORDS: usize = UNIT / 8;
/// Deduplicating storage compares blocks of this size or larger.
const SECTOR: usize = 512;

/// Random bytes, the same for all workers of all hosts of a run, so that any two of them can write
/// the same unit.
#[derive(Clone, Debug)]
pub(crate) struct Pool(Arc<[u64]>);

impl Pool {
    /// The pool of the runs with this seed.
    pub(crate) fn new(seed: u64) -> Pool {
        let mut rng = Rng::new(derive(seed, &[0]));
        Pool((0..POOL_WORDS).map(|_| rng.next_u64()).collect())
    }
}

/// Fills a worker's writes.
pub(crate) struct Filler {
    pool: Pool,
    /// Where the units' own numbers come from.
    numbers: u64,
    choices: Rng,
    duplicate_ppm: u32,
    /// Copies that are due so far, less those that were made, in millionths.
    copies_due: i64,
    /// The numbers of the units that copies are copies of.
    originals: Box<[u64]>,
    /// Random bytes of a unit; the rest are zeros.
    random_ppm: u64,
    /// Whether writes take over the bytes of an earlier one, but for a stamp in each sector.
    is_stamped: bool,
    /// Decides about copies where writes do not cover whole units.
    positions: Option<Positions>,
}

impl Filler {
    /// A filler for one worker of one stage.
    pub(crate) fn new(contents: &Contents, pool: Pool, worker_seed: u64) -> Filler {
        let (of_worker, of_all) = (derive(worker_seed, &[1]), derive(contents.seed, &[1]));
        let scope_seed = |number: u64| match contents.duplicate_scope {
            DuplicateScope::Worker => of_worker,
            DuplicateScope::Hosts => of_all,
            DuplicateScope::Both => [of_worker, of_all][(number % 2) as usize],
        };
        let random_ppm = 1_000_000 - u64::from(contents.compressible.ppm.min(1_000_000));
        Filler {
            pool,
            numbers: derive(worker_seed, &[2]),
            choices: Rng::new(derive(worker_seed, &[3])),
            duplicate_ppm: contents.duplicate.ppm,
            copies_due: 0,
            originals: (0..ORIGINALS as u64)
                .map(|number| derive(scope_seed(number), &[number]))
                .collect(),
            random_ppm,
            // Nothing is asked of the bytes but that no storage can make them fewer.
            is_stamped: random_ppm == 1_000_000 && contents.duplicate.ppm == 0,
            positions: Positions::of(contents),
        }
    }

    /// A number that no other unit has.
    #[inline]
    pub(crate) fn number(&mut self) -> u64 {
        split_mix(&mut self.numbers)
    }

    /// Whether writes take over the bytes of an earlier one, but for a stamp in each sector.
    pub(crate) fn is_stamped(&self) -> bool {
        self.is_stamped
    }

    /// From now on, each piece is a copy or none by itself: what is written is files of its own,
    /// and nobody else writes to their units.
    pub(crate) fn write_files(&mut self) {
        self.positions = None;
    }

    /// From now on, no byte of a write is one of an earlier write.
    pub(crate) fn fill_anew(&mut self) {
        self.is_stamped = false;
    }

    /// Fills `bytes`, which are to be written at `offset` of `file`. What they hold from the last
    /// time is random already.
    #[inline]
    pub(crate) fn fill(&mut self, bytes: &mut [u8], file: u32, offset: u64) {
        if self.is_stamped {
            return self.stamp(bytes);
        }
        if let Some(positions) = self.positions {
            return self.fill_by_position(positions, bytes, file, offset);
        }
        let mut rest = bytes;
        let mut place = offset as usize % UNIT;
        while !rest.is_empty() {
            let (unit, after) = rest.split_at_mut((UNIT - place).min(rest.len()));
            let number = if self.duplicate_ppm > 0 && self.is_copy() {
                self.originals[self.choices.below(ORIGINALS as u64) as usize]
            } else {
                self.number()
            };
            let random = (unit.len() as u64 * self.random_ppm / 1_000_000) as usize;
            self.fill_random(unit, random, number);
            (rest, place) = (after, 0);
        }
    }

    /// The same where places decide which units are copies.
    fn fill_by_position(&mut self, positions: Positions, bytes: &mut [u8], file: u32, offset: u64) {
        let (mut rest, mut offset) = (bytes, offset);
        while !rest.is_empty() {
            let place = offset as usize % UNIT;
            let (piece, after) = rest.split_at_mut((UNIT - place).min(rest.len()));
            offset += piece.len() as u64;
            match positions.original(file, offset - 1) {
                Some(original) if piece.len() == UNIT => {
                    self.fill_random(piece, self.random_bytes(UNIT), original);
                }
                Some(original) => {
                    let mut unit = [0; UNIT];
                    self.fill_random(&mut unit, self.random_bytes(UNIT), original);
                    piece.copy_from_slice(&unit[place..place + piece.len()]);
                }
                None => {
                    let number = self.number();
                    self.fill_random(piece, self.random_bytes(piece.len()), number);
                }
            }
            rest = after;
        }
    }

    /// Zeros, then `random` bytes, rounded up to 8, by the unit's `number`. `unit` is at most a
    /// unit long. In this order, because compressors look less and less closely the longer they
    /// find nothing.
    #[inline]
    pub(crate) fn fill_random(&self, unit: &mut [u8], random: usize, number: u64) {
        let zeros = unit.len() - random.next_multiple_of(8).min(unit.len());
        let (zeros, random) = unit.split_at_mut(zeros);
        let start = (number >> 32) as usize % (POOL_WORDS - UNIT_WORDS);
        let pool = &self.pool.0[start..];
        let mut words = random.chunks_exact_mut(8);
        for (word, from) in words.by_ref().zip(pool) {
            word.copy_from_slice(&(from ^ number).to_le_bytes());
        }
        for (byte, from) in words.into_remainder().iter_mut().zip(number.to_le_bytes()) {
            *byte = from;
        }
        zeros.fill(0);
    }

    /// Whether the next unit is to be a copy: by chance, but drawn to the share that was asked for,
    /// so that small layouts have it, too.
    fn is_copy(&mut self) -> bool {
        let share = i64::from(self.duplicate_ppm);
        self.copies_due += share;
        // An eighth of the debt each time leaves the order without pattern, and the debt at a few
        // units.
        let is_copy = self.choices.chance((share + self.copies_due / 8).clamp(0, 1_000_000) as u32);
        self.copies_due -= if is_copy { 1_000_000 } else { 0 };
        is_copy
    }

    /// Random bytes of a unit of `length` bytes.
    pub(crate) fn random_bytes(&self, length: usize) -> usize {
        (length as u64 * self.random_ppm / 1_000_000) as usize
    }

    /// Makes `bytes`, which are random from the start, unlike all others for what finds duplicates.
    /// Eight bytes in each sector dirty an eighth of the cache lines: each that is written again
    /// has to come back from the processor that carried it to the target, line by line.
    #[inline]
    fn stamp(&mut self, bytes: &mut [u8]) {
        let mut value = self.number();
        for sector in bytes.chunks_mut(SECTOR) {
            value = value.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(1);
            let length = sector.len().min(8);
            sector[..length].copy_from_slice(&value.to_le_bytes()[..length]);
        }
    }
}
