//! Copies where writes do not cover whole units: a unit that several writes make up is a copy only
//! if all of them agree.
//!
//! So its place decides, not the write: whether the unit at this place of this file is a copy, and
//! of which original. All workers of all stages and hosts decide alike, and a unit that is written
//! again in part stays what it was.

use model::plan::Contents;
use model::rng::{derive, split_mix};

/// The unit of compression and of duplication.
pub(crate) const UNIT: usize = 4096;
/// Units that copies are copies of, for each scope. Few, so that small layouts reach the share as
/// well: the originals themselves are not copies.
pub(crate) const ORIGINALS: usize = 64;

/// Units among which the share is kept exactly, so that small layouts have it, too.
const GROUP: u64 = 64;

/// Sets these originals apart from those that workers choose.
const SEED_PATH: u64 = 4;

/// Decides for places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Positions {
    seed: u64,
    duplicate_ppm: u64,
}

impl Positions {
    /// For a run with these contents; `None` where every write covers whole units, or nothing is to
    /// be a copy.
    pub(crate) fn of(contents: &Contents) -> Option<Positions> {
        let is_needed = contents.duplicate.ppm > 0 && !contents.grain.0.is_multiple_of(UNIT as u64);
        let duplicate_ppm = u64::from(contents.duplicate.ppm.min(1_000_000));
        is_needed.then_some(Positions { seed: derive(contents.seed, &[SEED_PATH]), duplicate_ppm })
    }

    /// The number of the original of which the unit at `offset` of `file` is a copy; `None` if it
    /// is none.
    #[inline]
    pub(crate) fn original(&self, file: u32, offset: u64) -> Option<u64> {
        let unit = offset / UNIT as u64;
        let (group, place) = (unit / GROUP, unit % GROUP);
        let mut random =
            self.seed ^ (u64::from(file) << 40) ^ group.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // Of each group, so many are copies that all up to here have the share: no rounding adds
        // up.
        let up_to = |groups: u64| {
            (u128::from(groups) * u128::from(GROUP * self.duplicate_ppm) / 1_000_000) as u64
        };
        let copies = up_to(group + 1) - up_to(group);
        let (step, first) = (split_mix(&mut random) | 1, split_mix(&mut random));
        // An odd step goes through all places of a group.
        let rank = mixed(place.wrapping_mul(step).wrapping_add(first) % GROUP, step >> 32) % GROUP;
        if rank >= copies {
            return None;
        }
        let mut which =
            self.seed ^ (u64::from(file) << 40) ^ unit.wrapping_mul(0xd6e8_feb8_6659_fd93);
        Some(derive(self.seed, &[split_mix(&mut which) % ORIGINALS as u64]))
    }
}

/// One of the places of a group for another, without an order that can be seen: each step can be
/// undone.
#[inline]
fn mixed(place: u64, key: u64) -> u64 {
    let place = (place ^ (place >> 3) ^ key) % GROUP;
    let place = place.wrapping_mul(0x2545_f491_4f6c_dd1d) % GROUP;
    (place ^ (place >> 2)) % GROUP
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::units::{Bytes, Percent};

    fn positions(percent: u32) -> Positions {
        let contents =
            Contents { duplicate: Percent::of(percent), grain: Bytes(512), ..Contents::RANDOM };
        Positions::of(&contents).expect("needed")
    }

    #[test]
    fn a_layout_of_any_size_has_its_share_of_copies() {
        for percent in [1, 30, 50, 99, 100] {
            for units in [64, 640, 1_000_000] {
                let positions = positions(percent);
                let copies = (0..units)
                    .filter(|unit| positions.original(3, unit * 4096).is_some())
                    .count() as u64;
                assert_eq!(copies, units * u64::from(percent) / 100, "{percent} % of {units}");
            }
        }
        let many_small =
            (0..10_000).filter(|file| positions(30).original(*file, 0).is_some()).count();
        assert!((2_800..3_200).contains(&many_small), "{many_small} of 10,000 files of one unit");
    }

    #[test]
    fn copies_are_of_all_originals_and_stand_in_no_pattern() {
        let positions = positions(50);
        let units: Vec<Option<u64>> =
            (0..100_000).map(|unit| positions.original(0, unit * 4096)).collect();
        let originals: std::collections::BTreeSet<u64> = units.iter().flatten().copied().collect();
        assert_eq!(originals.len(), ORIGINALS);
        let turns = units.windows(2).filter(|pair| pair[0].is_some() != pair[1].is_some()).count();
        assert!((40_000..60_000).contains(&turns), "{turns} changes between copies and others");
        assert_ne!(
            units[..64],
            (0..64).map(|unit| positions.original(1, unit * 4096)).collect::<Vec<_>>()[..]
        );
    }

    #[test]
    fn whole_units_need_no_places() {
        let contents = |grain, percent| Contents {
            duplicate: Percent::of(percent),
            grain: Bytes(grain),
            ..Contents::RANDOM
        };
        for (grain, percent, needed) in [
            (512, 50, true),
            (2048, 1, true),
            (4096, 50, false),
            (1 << 20, 50, false),
            (512, 0, false),
        ] {
            assert_eq!(
                Positions::of(&contents(grain, percent)).is_some(),
                needed,
                "{grain} {percent}"
            );
        }
    }
}
