//! A request under way: what it meets first, then all of its branches at the same time, then what
//! is left.

use super::tokens::Ask;
use super::topology::Place;

/// A stop on the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub(super) at: At,
    /// What passes after it, in ns, before the next.
    pub(super) delay_ns: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum At {
    /// Nothing to queue for.
    Nowhere,
    /// Waits its turn and keeps the place for so many ns.
    Queue(Place, u64),
    /// Leaves so many ns of work there, and goes on as soon as there is room for it.
    Defer(Place, u64),
    /// Waits until its host has the token, by its place among those that the request asks for.
    Token(u32),
}

/// Which part of a request goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lane {
    Head,
    Branch(u16),
    Tail,
}

/// The hops of one request. Its lists are used again by later ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    pub(super) head: Vec<Hop>,
    /// One branch after the other; `ends` says where each is over.
    pub(super) branches: Vec<Hop>,
    ends: Vec<u32>,
    pub(super) tail: Vec<Hop>,
    /// The tokens that it needs, in the order of their blocks: so nobody waits for each other.
    pub(super) asks: Vec<Ask>,
    /// Branches that are not over.
    pub(super) left: u32,
    pub(super) ticket: u64,
    pub(super) result: i32,
}

impl Flow {
    pub(super) fn clear(&mut self) {
        self.head.clear();
        self.branches.clear();
        self.ends.clear();
        self.tail.clear();
        self.asks.clear();
        self.left = 0;
    }

    /// What `branches` got since the last one is a branch.
    pub(super) fn end_branch(&mut self) {
        self.ends.push(self.branches.len() as u32);
    }

    /// How many branches there are.
    pub(super) fn width(&self) -> u16 {
        self.ends.len() as u16
    }

    /// Passes what only takes time from a place of a lane on: comes back with the next place where
    /// there is more to it, and the time.
    pub(super) fn pass(&self, lane: Lane, mut index: u32) -> (u32, u64) {
        let mut sum_ns = 0u64;
        while let Some(Hop { at: At::Nowhere, delay_ns }) = self.hop(lane, index) {
            sum_ns = sum_ns.saturating_add(delay_ns);
            index += 1;
        }
        (index, sum_ns)
    }

    /// The hop at a place of a lane; `None` behind its end.
    pub(super) fn hop(&self, lane: Lane, index: u32) -> Option<Hop> {
        match lane {
            Lane::Head => self.head.get(index as usize).copied(),
            Lane::Tail => self.tail.get(index as usize).copied(),
            Lane::Branch(number) => {
                let begin =
                    number.checked_sub(1).map_or(0, |before| self.ends[usize::from(before)]);
                let end = self.ends[usize::from(number)];
                let place = begin + index;
                (place < end).then(|| self.branches[place as usize])
            }
        }
    }
}
