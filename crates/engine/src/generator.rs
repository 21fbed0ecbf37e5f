//! What a worker asks for next: operation, file, offset, length.

use model::Op;
use model::plan::{Stop, Work, Worker};
use model::rng::Rng;
use model::spec::Access;

/// One request of the plan, before it has a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Read or write.
    pub op: Op,
    /// The file's number on the host.
    pub file: u32,
    /// The first byte.
    pub offset: u64,
    /// How many bytes.
    pub length: u32,
}

/// A byte range, with its blocks counted.
#[derive(Clone, Copy, Debug)]
struct Range {
    file: u32,
    offset: u64,
    length: u64,
    /// Blocks in the ranges before this one.
    first_block: u64,
    blocks: u64,
}

/// The sequence of a worker's requests; the same for the same plan, whatever the target does.
#[derive(Clone, Debug)]
pub struct Generator {
    rng: Rng,
    ranges: Box<[Range]>,
    total_blocks: u64,
    block_size: u64,
    access: Access,
    read_ppm: u32,
    /// The next block of a sequential worker.
    cursor: u64,
    /// The range that holds the cursor.
    cursor_range: usize,
    /// How many requests are left; `None` where time decides.
    left: Option<u64>,
}

impl Generator {
    /// The sequence that `worker` follows.
    ///
    /// # Panics
    /// When the worker has no bytes: the planner gives every worker some.
    pub fn new(work: &Work, worker: &Worker) -> Generator {
        let block_size = work.block_size.0;
        let amount = work.stop == Stop::Amount;
        let mut total_blocks = 0;
        let ranges: Box<[Range]> = worker
            .extents
            .iter()
            .map(|extent| {
                let blocks = if amount { extent.length.div_ceil(block_size) } else { extent.length / block_size };
                let first_block = total_blocks;
                total_blocks += blocks;
                Range { file: extent.file, offset: extent.offset, length: extent.length, first_block, blocks }
            })
            .filter(|range| range.blocks > 0)
            .collect();
        assert!(total_blocks > 0, "the planner gives every worker at least one block");
        Generator {
            rng: Rng::new(worker.seed),
            ranges,
            total_blocks,
            block_size,
            access: work.access,
            read_ppm: work.read.ppm,
            cursor: 0,
            cursor_range: 0,
            left: amount.then_some(total_blocks),
        }
    }

    /// Whether no request is left.
    pub fn is_exhausted(&self) -> bool {
        self.left == Some(0)
    }

    /// The next request; `None` when a fixed amount is used up.
    #[inline]
    pub fn next_request(&mut self) -> Option<Request> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        let (range, block) = match self.access {
            Access::Sequential => self.advance(),
            Access::Random => self.draw(),
        };
        let within = (block - range.first_block) * self.block_size;
        let op = match self.read_ppm {
            1_000_000 => Op::Read,
            0 => Op::Write,
            ppm if self.rng.chance(ppm) => Op::Read,
            _ => Op::Write,
        };
        let length = self.block_size.min(range.length - within) as u32;
        Some(Request { op, file: range.file, offset: range.offset + within, length })
    }

    #[inline]
    fn advance(&mut self) -> (Range, u64) {
        let block = self.cursor;
        let range = self.ranges[self.cursor_range];
        self.cursor += 1;
        if self.cursor == range.first_block + range.blocks {
            self.cursor_range += 1;
            if self.cursor == self.total_blocks {
                self.cursor = 0;
                self.cursor_range = 0;
            }
        }
        (range, block)
    }

    #[inline]
    fn draw(&mut self) -> (Range, u64) {
        let block = self.rng.below(self.total_blocks);
        let index = match self.ranges.len() {
            1 => 0,
            _ => self.ranges.partition_point(|range| range.first_block <= block) - 1,
        };
        (self.ranges[index], block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::plan::Extent;
    use model::units::{Bytes, Nanos, Percent};

    fn generator(access: Access, read: Percent, stop: Stop, seed: u64) -> Generator {
        let work = Work { block_size: Bytes(4096), read, access, depth: 1, stop };
        let extents = vec![
            Extent { file: 0, offset: 8192, length: 40 * 4096 },
            Extent { file: 2, offset: 0, length: 59 * 4096 + 100 },
        ];
        Generator::new(&work, &Worker { seed, extents })
    }

    fn timed() -> Stop {
        Stop::After(Nanos::seconds(1))
    }

    #[test]
    fn sequential_is_sequential_over_all_ranges_and_starts_again() {
        let mut generator = generator(Access::Sequential, Percent::ALL, timed(), 1);
        for round in 0..3 {
            for block in 0..99 {
                let request = generator.next_request().expect("time decides");
                let (file, offset) = if block < 40 { (0, 8192 + block * 4096) } else { (2, (block - 40) * 4096) };
                assert_eq!((request.file, request.offset, request.length), (file, offset, 4096), "round {round}");
            }
        }
    }

    #[test]
    fn an_amount_touches_every_byte_once_and_the_last_request_is_short() {
        let mut generator = generator(Access::Sequential, Percent::ZERO, Stop::Amount, 1);
        let requests: Vec<Request> = std::iter::from_fn(|| generator.next_request()).collect();
        assert_eq!(requests.len(), 100);
        assert_eq!(requests.iter().map(|r| u64::from(r.length)).sum::<u64>(), 99 * 4096 + 100);
        assert_eq!(requests.last().map(|r| r.length), Some(100));
        assert!(requests.iter().all(|r| r.op == Op::Write) && generator.is_exhausted());
    }

    #[test]
    fn random_covers_every_block_without_bias() {
        let mut generator = generator(Access::Random, Percent::ALL, timed(), 5);
        let mut counts = [0u32; 99];
        for _ in 0..99_000 {
            let request = generator.next_request().expect("time decides");
            assert_eq!((request.offset % 4096, request.length), (0, 4096));
            let block = if request.file == 0 { request.offset / 4096 - 2 } else { request.offset / 4096 + 40 };
            counts[block as usize] += 1;
        }
        let chi: f64 = counts.iter().map(|&n| (f64::from(n) - 1000.0).powi(2) / 1000.0).sum();
        // 98 degrees of freedom: 99.98 % of true samples lie between 55 and 155.
        assert!((55.0..155.0).contains(&chi), "chi-square {chi}");
    }

    #[test]
    fn a_mix_of_70_to_30_is_one_within_its_binomial_bounds() {
        let mut generator = generator(Access::Random, Percent::of(70), timed(), 9);
        let n = 100_000;
        let reads = (0..n).filter(|_| generator.next_request().expect("time decides").op == Op::Read).count();
        // Four standard deviations of a binomial with p = 0.7.
        let bound = 4.0 * (f64::from(n) * 0.7 * 0.3).sqrt();
        assert!((reads as f64 - f64::from(n) * 0.7).abs() < bound, "{reads} reads of {n}");
    }

    #[test]
    fn the_same_seed_gives_the_same_requests() {
        let draw = |seed| {
            let mut generator = generator(Access::Random, Percent::of(50), timed(), seed);
            (0..1000).map(|_| generator.next_request().expect("time decides")).collect::<Vec<_>>()
        };
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
    }
}
