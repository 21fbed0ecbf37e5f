//! Places that the plan gives one by one, again and again.

use model::plan::Work;

/// How far a worker is in its sequence of places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    places: Box<[u32]>,
    advances: bool,
    /// Places that were taken.
    taken: u64,
}

impl Given {
    /// Of a work that has a sequence.
    pub(super) fn of(work: &Work) -> Option<Given> {
        let places = work.pattern.sequence.as_ref()?.places.clone();
        let advances = work.pattern.sequence_advances;
        (!places.is_empty()).then(|| Given { places: places.into(), advances, taken: 0 })
    }

    /// Goes on where `before` stopped, if it is the same sequence.
    pub(super) fn go_on(&mut self, before: Given) {
        if (Given { taken: self.taken, ..before.clone() }) == *self {
            *self = before;
        }
    }

    /// The next place of `count`; past the last of them, it begins anew.
    pub(super) fn next(&mut self, count: u64) -> u64 {
        let place = self.at(self.taken);
        if place < count {
            self.taken += 1;
            return place;
        }
        self.taken = 1;
        self.at(0).min(count.saturating_sub(1))
    }

    fn at(&self, number: u64) -> u64 {
        let length = self.places.len() as u64;
        let place = u64::from(self.places[(number % length) as usize]);
        if self.advances { number / length * length + place } else { place }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(places: &[u32], advances: bool, count: u64) -> Vec<u64> {
        let mut given = Given { places: places.into(), advances, taken: 0 };
        (0..8).map(|_| given.next(count)).collect()
    }

    #[test]
    fn a_sequence_repeats_or_goes_on_behind_itself() {
        assert_eq!(taken(&[2, 0, 1], false, 12), [2, 0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(taken(&[2, 0, 1], true, 12), [2, 0, 1, 5, 3, 4, 8, 6]);
        assert_eq!(taken(&[2, 0, 1], true, 6), [2, 0, 1, 5, 3, 4, 2, 0], "from the start again");
    }
}
