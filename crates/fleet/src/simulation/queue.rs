//! What will happen, in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Things that will happen, and the instant of the last that did. Of several at one instant, the one that was planned first comes first.
#[derive(Debug)]
pub(super) struct Queue<T> {
    /// Instant, number and place. The things themselves stay where they are, because messages are large and a heap moves what it holds.
    heap: BinaryHeap<Reverse<(u64, u64, u32)>>,
    things: Vec<Option<T>>,
    free: Vec<u32>,
    planned: u64,
    now_ns: u64,
}

impl<T> Queue<T> {
    pub(super) fn new() -> Queue<T> {
        Queue { heap: BinaryHeap::new(), things: Vec::new(), free: Vec::new(), planned: 0, now_ns: 0 }
    }

    /// True time, in ns since the simulation began.
    pub(super) fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Plans `what` for `at_ns`, or for now where that is over.
    pub(super) fn plan(&mut self, at_ns: u64, what: T) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.things.push(None);
            self.things.len() as u32 - 1
        });
        self.things[place as usize] = Some(what);
        self.planned += 1;
        self.heap.push(Reverse((at_ns.max(self.now_ns), self.planned, place)));
    }

    /// Goes on to the next instant at which something happens.
    pub(super) fn next(&mut self) -> Option<T> {
        let Reverse((at_ns, _, place)) = self.heap.pop()?;
        self.now_ns = at_ns;
        self.free.push(place);
        self.things[place as usize].take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_happen_in_order_and_at_one_instant_as_they_were_planned() {
        let mut queue = Queue::new();
        [(5, "c"), (3, "a"), (5, "d"), (3, "b")].into_iter().for_each(|(at_ns, what)| queue.plan(at_ns, what));
        assert_eq!([queue.next(), queue.next()], [Some("a"), Some("b")]);
        queue.plan(1, "late");
        assert_eq!((queue.next(), queue.now_ns()), (Some("late"), 3));
        assert_eq!([queue.next(), queue.next(), queue.next()], [Some("c"), Some("d"), None]);
        assert_eq!(queue.now_ns(), 5);
    }
}
