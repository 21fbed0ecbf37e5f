//! Which lines are in the cache: the least recently used makes room.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

const NONE: u32 = u32::MAX;

/// Line numbers come from the load of a test, not from an adversary: one multiplication spreads
/// them (Knuth, *The Art of Computer Programming*, volume 3, 6.4). Which lines are in the cache
/// does not depend on it.
#[derive(Default)]
struct LineHasher(u64);

impl Hasher for LineHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, line: u64) {
        let product = (self.0 ^ line).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[derive(Clone, Debug)]
struct Slot {
    line: u64,
    newer: u32,
    older: u32,
}

/// A set of lines in the order of their use.
#[derive(Clone, Debug)]
pub(crate) struct Lru {
    slots: Vec<Slot>,
    places: HashMap<u64, u32, BuildHasherDefault<LineHasher>>,
    most: usize,
    newest: u32,
    oldest: u32,
}

impl Lru {
    /// An empty cache of `most` lines; 0 counts as 1. Memory is taken as lines come in.
    pub(crate) fn new(most: u32) -> Lru {
        let most = most.clamp(1, NONE - 1) as usize;
        Lru { slots: Vec::new(), places: HashMap::default(), most, newest: NONE, oldest: NONE }
    }

    /// Uses a line, and says whether it was there. It is there afterwards.
    pub(crate) fn touch(&mut self, line: u64) -> bool {
        if let Some(&slot) = self.places.get(&line) {
            if self.newest != slot {
                self.unlink(slot);
                self.link_newest(slot);
            }
            return true;
        }
        let slot = if self.slots.len() < self.most {
            self.slots.push(Slot { line, newer: NONE, older: NONE });
            (self.slots.len() - 1) as u32
        } else {
            let slot = self.oldest;
            self.unlink(slot);
            self.places.remove(&self.slots[slot as usize].line);
            self.slots[slot as usize].line = line;
            slot
        };
        self.link_newest(slot);
        self.places.insert(line, slot);
        false
    }

    fn unlink(&mut self, slot: u32) {
        let Slot { newer, older, .. } = self.slots[slot as usize];
        match self.slots.get_mut(newer as usize) {
            Some(neighbour) => neighbour.older = older,
            None => self.newest = older,
        }
        match self.slots.get_mut(older as usize) {
            Some(neighbour) => neighbour.newer = newer,
            None => self.oldest = newer,
        }
    }

    fn link_newest(&mut self, slot: u32) {
        let before = self.newest;
        self.slots[slot as usize].newer = NONE;
        self.slots[slot as usize].older = before;
        match self.slots.get_mut(before as usize) {
            Some(neighbour) => neighbour.newer = slot,
            None => self.oldest = slot,
        }
        self.newest = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::rng::Rng;

    #[test]
    fn the_least_recently_used_line_makes_room() {
        let mut lru = Lru::new(2);
        let hits: Vec<bool> = [1, 2, 1, 3, 2, 3, 1].map(|line| lru.touch(line)).into();
        assert_eq!(hits, [false, false, true, false, false, true, false]);
    }

    #[test]
    fn agrees_with_a_list_that_is_searched() {
        for most in [1, 2, 7] {
            let mut lru = Lru::new(most);
            let mut list: Vec<u64> = Vec::new();
            let mut rng = Rng::new(u64::from(most));
            for _ in 0..10_000 {
                let line = rng.below(12);
                let place = list.iter().position(|&other| other == line);
                if let Some(place) = place {
                    list.remove(place);
                }
                list.insert(0, line);
                list.truncate(most as usize);
                assert_eq!(lru.touch(line), place.is_some());
            }
            assert_eq!(lru.places.len(), list.len());
        }
    }
}
