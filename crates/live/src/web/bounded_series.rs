//! A series over time that never grows beyond its bound: when it is full, neighbours are added
//! together. Whatever is kept in one adds up exactly (counts, sums, histograms), so a long run
//! loses resolution and nothing else.

use std::collections::VecDeque;

/// So many stretches at most: more cannot be told apart on a page. Even, because a full track is
/// halved.
pub const MOST: usize = 240;
/// Intervals that hosts may still add to while others are ahead of them.
const OPEN: usize = 16;

/// What one stretch holds.
pub trait Part: Default {
    /// Takes in the stretch that follows.
    fn merge(&mut self, later: Self);
    /// Nobody is expected to add to it any more.
    fn settle(&mut self) {}
}

/// One stretch of time.
#[derive(Debug)]
pub struct Slot<P> {
    /// When its first interval began, in seconds after the run's start.
    pub start_s: f64,
    /// When its last interval ended.
    pub end_s: f64,
    /// The sum of its intervals' lengths, in seconds: rates are over this.
    pub length_s: f64,
    /// How many intervals it holds.
    pub intervals: u32,
    /// What happened in it.
    pub part: P,
}

/// An interval of a run; in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The number of its stage.
    pub stage: u32,
    /// Its number in the stage.
    pub interval: u32,
}

/// Stretches of time in order.
#[derive(Debug)]
pub struct Track<P> {
    slots: Vec<Slot<P>>,
    /// Intervals that go into one stretch.
    fold: u32,
    recent: VecDeque<Recent>,
}

#[derive(Debug)]
struct Recent {
    key: Key,
    slot: usize,
    length_s: f64,
}

impl<P> Default for Track<P> {
    fn default() -> Self {
        Track { slots: Vec::new(), fold: 1, recent: VecDeque::new() }
    }
}

impl<P: Part> Track<P> {
    /// The stretches so far, in order; at most [`MOST`].
    pub fn slots(&self) -> &[Slot<P>] {
        &self.slots
    }

    /// The stretch that an interval belongs to. Several hosts name the same one; it is as long as
    /// the longest of them says.
    pub fn at(&mut self, key: Key, start_s: f64, length_s: f64) -> &mut P {
        let slot = match self.recent.iter().position(|recent| recent.key == key) {
            Some(place) => self.known(place, start_s, length_s),
            None if self.is_late(key) => {
                self.slots.iter().rposition(|slot| slot.start_s <= start_s).unwrap_or(0)
            }
            None => self.fresh(key, start_s, length_s),
        };
        &mut self.slots[slot].part
    }

    fn known(&mut self, place: usize, start_s: f64, length_s: f64) -> usize {
        let recent = &mut self.recent[place];
        let slot = &mut self.slots[recent.slot];
        if length_s > recent.length_s {
            slot.length_s += length_s - recent.length_s;
            recent.length_s = length_s;
        }
        slot.end_s = slot.end_s.max(start_s + length_s);
        recent.slot
    }

    /// Whether this interval was given up as settled: its length is counted already.
    fn is_late(&self, key: Key) -> bool {
        !self.slots.is_empty() && self.recent.front().is_some_and(|oldest| key < oldest.key)
    }

    fn fresh(&mut self, key: Key, start_s: f64, length_s: f64) -> usize {
        let has_room = self.slots.last().is_some_and(|slot| slot.intervals < self.fold);
        if !has_room {
            if self.slots.len() == MOST {
                self.halve();
            }
            self.slots.push(Slot {
                start_s,
                end_s: start_s,
                length_s: 0.0,
                intervals: 0,
                part: P::default(),
            });
        }
        let slot = self.slots.len() - 1;
        let last = &mut self.slots[slot];
        last.intervals += 1;
        last.length_s += length_s;
        last.start_s = last.start_s.min(start_s);
        last.end_s = last.end_s.max(start_s + length_s);
        self.recent.push_back(Recent { key, slot, length_s });
        if self.recent.len() > OPEN
            && let Some(oldest) = self.recent.pop_front()
            && self.recent.iter().all(|recent| recent.slot != oldest.slot)
        {
            self.slots[oldest.slot].part.settle();
        }
        slot
    }

    fn halve(&mut self) {
        let mut halved: Vec<Slot<P>> = Vec::with_capacity(MOST);
        for (number, slot) in std::mem::take(&mut self.slots).into_iter().enumerate() {
            match halved.last_mut().filter(|_| number % 2 == 1) {
                Some(before) => {
                    before.end_s = before.end_s.max(slot.end_s);
                    before.length_s += slot.length_s;
                    before.intervals += slot.intervals;
                    before.part.merge(slot.part);
                }
                None => halved.push(slot),
            }
        }
        self.slots = halved;
        self.fold = self.fold.saturating_mul(2);
        self.recent.iter_mut().for_each(|recent| recent.slot /= 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default)]
    struct Sum(u64);

    impl Part for Sum {
        fn merge(&mut self, later: Sum) {
            self.0 += later.0;
        }
    }

    #[test]
    fn a_week_of_seconds_stays_bounded_and_nothing_is_lost() {
        let mut track = Track::<Sum>::default();
        for second in 0..604_800u32 {
            track.at(Key { stage: 0, interval: second }, f64::from(second), 1.0).0 += 1;
        }
        assert!(
            track.slots().len() <= MOST && track.slots().len() > MOST / 2,
            "{}",
            track.slots().len()
        );
        assert_eq!(track.slots().iter().map(|slot| slot.part.0).sum::<u64>(), 604_800);
        assert!(
            (track.slots().iter().map(|slot| slot.length_s).sum::<f64>() - 604_800.0).abs() < 1e-3
        );
        assert!(track.slots().windows(2).all(|pair| pair[0].end_s <= pair[1].start_s));
    }

    #[test]
    fn hosts_share_an_interval_and_late_ones_find_it() {
        let mut track = Track::<Sum>::default();
        for interval in 0..40 {
            for length_s in [0.5, 1.0] {
                track.at(Key { stage: 1, interval }, f64::from(interval), length_s).0 += 1;
            }
        }
        track.at(Key { stage: 1, interval: 3 }, 3.0, 1.0).0 += 100;
        assert_eq!(track.slots().len(), 40);
        assert_eq!(track.slots()[3].part.0, 102);
        assert!(
            track.slots().iter().all(|slot| (slot.length_s - 1.0).abs() < 1e-9),
            "the longest host's"
        );
    }
}
