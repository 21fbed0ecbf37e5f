//! What will happen, in order.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// What lies within so many ns is sorted together: about a millisecond. A single heap of what a
/// fleet of thousands has before it does not fit into a processor's nearest caches, and everything
/// that happens goes through it twice.
const BUCKET_BITS: u32 = 20;

/// Instant, number and place.
type Entry = Reverse<(u64, u64, u32)>;

/// Things that will happen, and the instant of the last that did. Of several at one instant, the
/// one that was planned first comes first.
#[derive(Debug)]
pub(super) struct Queue<T> {
    /// What comes next. The things themselves stay where they are, because messages are large and
    /// a heap moves what it holds.
    heap: BinaryHeap<Entry>,
    /// The bucket that the heap is of: everything before its end is in the heap.
    bucket: u64,
    /// What comes after the heap, by its bucket.
    later: BTreeMap<u64, Vec<Entry>>,
    things: Vec<Option<T>>,
    free: Vec<u32>,
    planned: u64,
    now_ns: u64,
}

impl<T> Queue<T> {
    pub(super) fn new() -> Queue<T> {
        let (heap, later) = (BinaryHeap::new(), BTreeMap::new());
        Queue {
            heap,
            bucket: 0,
            later,
            things: Vec::new(),
            free: Vec::new(),
            planned: 0,
            now_ns: 0,
        }
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
        let at_ns = at_ns.max(self.now_ns);
        let entry = Reverse((at_ns, self.planned, place));
        match at_ns >> BUCKET_BITS {
            bucket if bucket <= self.bucket => self.heap.push(entry),
            bucket => self.later.entry(bucket).or_default().push(entry),
        }
    }

    /// Goes on to the next instant at which something happens.
    pub(super) fn next(&mut self) -> Option<T> {
        if self.heap.is_empty() {
            let (bucket, entries) = self.later.pop_first()?;
            (self.bucket, self.heap) = (bucket, BinaryHeap::from(entries));
        }
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
        [(5, "c"), (3, "a"), (5, "d"), (3, "b")]
            .into_iter()
            .for_each(|(at_ns, what)| queue.plan(at_ns, what));
        assert_eq!([queue.next(), queue.next()], [Some("a"), Some("b")]);
        queue.plan(1, "late");
        assert_eq!((queue.next(), queue.now_ns()), (Some("late"), 3));
        assert_eq!([queue.next(), queue.next(), queue.next()], [Some("c"), Some("d"), None]);
        assert_eq!(queue.now_ns(), 5);
    }

    #[test]
    fn what_lies_far_apart_and_what_is_planned_meanwhile_comes_in_order_too() {
        let mut rng = model::rng::Rng::new(1);
        let mut queue = Queue::new();
        let mut waiting: Vec<(u64, u32)> = Vec::new();
        for number in 0..5_000u32 {
            let span_ns = 1 << rng.below(40);
            let at_ns = queue.now_ns() + rng.below(span_ns);
            queue.plan(at_ns, number);
            waiting.push((at_ns, number));
            if rng.below(3) > 0 || number == 4_999 {
                let first = waiting.iter().copied().min().expect("one was planned");
                waiting.retain(|entry| *entry != first);
                assert_eq!((queue.next(), queue.now_ns()), (Some(first.1), first.0));
            }
        }
        waiting.sort_unstable();
        waiting.iter().for_each(|(_, number)| assert_eq!(queue.next(), Some(*number)));
        assert_eq!(queue.next(), None);
    }
}
