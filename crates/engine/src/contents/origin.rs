//! What whole files hold where somebody looks at them afterwards: bytes that follow from the run,
//! the writer, the file and the operation. They need no room in the file, so that they fit any
//! length.

use super::fill::{Filler, Pool};
use super::position::UNIT;
use model::plan::Contents;
use model::rng::{derive, split_mix};

/// Which write of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The number of the file in its tree.
    pub(crate) number: u64,
    /// The number of the operation among those of its worker in its stage, from 1.
    pub(crate) ordinal: u64,
}

/// All that one worker of one stage writes.
pub(crate) struct Writings {
    filler: Filler,
    seed: u64,
}

impl Writings {
    /// What the worker with `worker_seed` writes in the run with the number `run`.
    pub(crate) fn new(contents: Contents, pool: Pool, run: u64, worker_seed: u64) -> Writings {
        Writings {
            filler: Filler::new(&contents, pool, worker_seed),
            seed: derive(run, &[worker_seed]),
        }
    }

    /// Fills `bytes` with those of `origin`, from its first on. How many there are changes none of
    /// them.
    pub(crate) fn fill(&self, origin: Origin, bytes: &mut [u8]) {
        let mut numbers = derive(self.seed, &[origin.number, origin.ordinal]);
        let random = self.filler.random_bytes(UNIT);
        let (whole, rest) = bytes.as_chunks_mut::<UNIT>();
        for unit in whole {
            self.filler.fill_random(unit, random, split_mix(&mut numbers));
        }
        if !rest.is_empty() {
            let mut unit = [0; UNIT];
            self.filler.fill_random(&mut unit, random, split_mix(&mut numbers));
            rest.copy_from_slice(&unit[..rest.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(run: u64, worker: u64, number: u64, ordinal: u64, length: usize) -> Vec<u8> {
        let contents = Contents::RANDOM;
        let writings = Writings::new(contents, Pool::new(contents.seed), run, worker);
        let mut bytes = vec![0; length];
        writings.fill(Origin { number, ordinal }, &mut bytes);
        bytes
    }

    #[test]
    fn a_write_is_known_by_each_of_its_sectors_and_its_length_changes_no_byte() {
        let one = of(1, 2, 3, 4, 10_000);
        assert_eq!(of(1, 2, 3, 4, 10_000), one);
        assert_eq!(of(1, 2, 3, 4, 5_001), one[..5_001]);
        for other in [of(2, 2, 3, 4, 10_000), of(1, 3, 3, 4, 10_000), of(1, 2, 4, 4, 10_000)] {
            assert!(one.chunks(64).zip(other.chunks(64)).all(|(one, other)| one != other));
        }
        let later = of(1, 2, 3, 5, 10_000);
        assert!(one.chunks(64).zip(later.chunks(64)).all(|(one, other)| one != other));
    }
}
