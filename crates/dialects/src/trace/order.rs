//! Requests in the order of their instants, as far as a window of them reaches.

use super::{Place, Seen, TraceProblem};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// So many requests are held to be sorted: what is further from its place is for the caller.
pub const WINDOW: usize = 1 << 16;

/// A request with its instant first, and its number to keep equal instants in their order.
struct Held {
    seen: Seen,
    number: u64,
    place: Place,
}

impl PartialEq for Held {
    fn eq(&self, other: &Held) -> bool {
        (self.seen.at_ns, self.number) == (other.seen.at_ns, other.number)
    }
}

impl Eq for Held {}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Held) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Held) -> std::cmp::Ordering {
        (self.seen.at_ns, self.number).cmp(&(other.seen.at_ns, other.number))
    }
}

/// The window.
#[derive(Default)]
pub(super) struct Sorter {
    held: BinaryHeap<Reverse<Held>>,
    number: u64,
    last_in_ns: Option<i128>,
    last_out_ns: Option<i128>,
    sorted: u64,
}

impl Sorter {
    /// Takes a request in.
    ///
    /// # Errors
    /// One that is later has gone out already.
    pub(super) fn put(&mut self, seen: Seen, place: Place) -> Result<(), TraceProblem> {
        if self.last_out_ns.is_some_and(|last_ns| seen.at_ns < last_ns) {
            let what = format!("the request is earlier than one {WINDOW} requests before it");
            let remedy = "sort the trace by its instants first, as with `sort -n`";
            let problem = TraceProblem { is_order: true, ..TraceProblem::new(what, remedy) };
            return Err(problem.at(place));
        }
        self.pass(seen.at_ns);
        self.held.push(Reverse(Held { seen, number: self.number, place }));
        self.number += 1;
        Ok(())
    }

    /// Looks whether a request is out of order.
    pub(super) fn pass(&mut self, at_ns: i128) {
        self.sorted += u64::from(self.last_in_ns.is_some_and(|last_ns| at_ns < last_ns));
        self.last_in_ns = Some(self.last_in_ns.map_or(at_ns, |last| last.max(at_ns)));
    }

    /// Whether it holds so many that the first can go out.
    pub(super) fn is_full(&self) -> bool {
        self.held.len() > WINDOW
    }

    /// The earliest request.
    pub(super) fn take(&mut self) -> Option<(Seen, Place)> {
        let Reverse(held) = self.held.pop()?;
        self.last_out_ns = Some(held.seen.at_ns);
        Some((held.seen, held.place))
    }

    /// Requests that were out of order.
    pub(super) fn sorted(&self) -> u64 {
        self.sorted
    }
}
