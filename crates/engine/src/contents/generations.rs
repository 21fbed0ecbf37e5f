//! The oldest generation that each grain of a host's files may hold.

use model::plan::{Contents, TargetFile};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// The last number that a write can have.
pub(crate) const LAST_GENERATION: u32 = u32::MAX - 1;
/// What stands for a grain that was trimmed: it holds zeros, or whatever it held.
const GIVEN_BACK: u32 = u32::MAX;

/// Four bytes for each grain, made before any clock starts and kept over all stages: workers change
/// from stage to stage, but within one no two of them share a byte, so that nobody waits for
/// anybody.
#[derive(Debug)]
pub(crate) struct Generations {
    /// For each file; 0 where this run wrote nothing yet, [`GIVEN_BACK`] where it trimmed since.
    floors: Vec<Box<[AtomicU32]>>,
    grain_shift: u32,
    /// The highest generation of all stages that are over.
    highest: AtomicU32,
}

impl Generations {
    /// None of `files` was written by this run.
    pub(crate) fn new<'a>(
        contents: &Contents,
        files: impl Iterator<Item = &'a TargetFile>,
    ) -> Generations {
        let grain_shift = contents.grain.0.max(1).ilog2();
        let floors = |file: &TargetFile| {
            (0..file.size.0.div_ceil(1 << grain_shift)).map(|_| AtomicU32::new(0)).collect()
        };
        Generations { floors: files.map(floors).collect(), grain_shift, highest: AtomicU32::new(0) }
    }

    /// Bytes of a grain.
    pub(crate) fn grain(&self) -> u64 {
        1 << self.grain_shift
    }

    /// The oldest generation that may stand at `offset` of `file`; 0 if nothing is known.
    #[inline]
    pub(crate) fn floor(&self, file: u32, offset: u64) -> u32 {
        match self.word(file, offset) {
            GIVEN_BACK => 0,
            floor => floor,
        }
    }

    /// Whether `offset` of `file` was trimmed and not written since.
    #[inline]
    pub(crate) fn is_given_back(&self, file: u32, offset: u64) -> bool {
        self.word(file, offset) == GIVEN_BACK
    }

    #[inline]
    fn word(&self, file: u32, offset: u64) -> u32 {
        let floors = self.floors.get(file as usize);
        floors
            .and_then(|floors| floors.get((offset >> self.grain_shift) as usize))
            .map_or(0, |floor| floor.load(Relaxed))
    }

    /// Zeros, or what stood there, stand in the `length` bytes at `offset` of `file`: of every
    /// grain that they touch, nothing more is known.
    pub(crate) fn give_back(&self, file: u32, offset: u64, length: u32) {
        let end = offset.saturating_add(u64::from(length));
        let first = (offset >> self.grain_shift) as usize;
        let last = end.div_ceil(1 << self.grain_shift) as usize;
        if let Some(floors) = self.floors.get(file as usize) {
            for floor in floors.get(first..last.min(floors.len())).unwrap_or_default() {
                floor.store(GIVEN_BACK, Relaxed);
            }
        }
    }

    /// Nothing older than `generation` stands in the `length` bytes at `offset` of `file` any more.
    /// A grain that is only partly in them keeps its floor: too low a floor misses a lost write,
    /// too high a one would invent it. A `generation` of 0 says nothing.
    #[inline]
    pub(crate) fn raise(&self, file: u32, offset: u64, length: u32, generation: u32) {
        if generation == 0 {
            return;
        }
        let end = offset.saturating_add(u64::from(length));
        let first = offset.div_ceil(1 << self.grain_shift) as usize;
        let last = (end >> self.grain_shift) as usize;
        if let Some(floors) = self.floors.get(file as usize) {
            for floor in floors.get(first..last.min(floors.len())).unwrap_or_default() {
                let before = floor.load(Relaxed);
                floor.store(
                    if before == GIVEN_BACK { generation } else { before.max(generation) },
                    Relaxed,
                );
            }
        }
    }

    /// Where the workers of a stage begin to count.
    pub(crate) fn highest(&self) -> u32 {
        self.highest.load(Relaxed)
    }

    /// A worker got as far as `generation`.
    pub(crate) fn reached(&self, generation: u32) {
        self.highest.fetch_max(generation, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::units::Bytes;

    #[test]
    fn only_whole_grains_are_raised_and_nothing_is_lowered() {
        let contents = Contents { grain: Bytes(4096), ..Contents::RANDOM };
        let files = [TargetFile { path: "a".into(), size: Bytes(40_000) }];
        let generations = Generations::new(&contents, files.iter());
        generations.raise(0, 512, 12_288, 5);
        let floors = |offsets: [u64; 4]| offsets.map(|offset| generations.floor(0, offset));
        assert_eq!(floors([0, 4096, 8192, 12_288]), [0, 5, 5, 0]);
        generations.raise(0, 4096, 4096, 3);
        assert_eq!(generations.floor(0, 8191), 5);
        generations.raise(0, 36_864, 1 << 30, 9);
        generations.raise(7, u64::MAX, u32::MAX, 9);
        generations.give_back(0, 4_608, 512);
        assert_eq!(
            floors([0, 4096, 8191, 8192]),
            [0, 0, 0, 5],
            "a grain that is touched is given back"
        );
        assert!(generations.is_given_back(0, 4096) && !generations.is_given_back(0, 8192));
        generations.raise(0, 4096, 4096, 0);
        assert!(
            generations.is_given_back(0, 4096),
            "a write that may have come before says nothing"
        );
        generations.raise(0, 4096, 4096, 2);
        assert_eq!((generations.floor(0, 4096), generations.is_given_back(0, 4096)), (2, false));
        assert_eq!(
            (generations.floor(0, 39_999), generations.floor(0, 1 << 50), generations.floor(7, 0)),
            (9, 0, 0)
        );
    }
}
