//! What waits to be pushed: bounded, so that a receiver that is away costs neither memory nor time.

use live::push::Snapshot;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// So many wait at most; of more, the oldest are left out. Totals are cumulative: the next push has
/// what a lost one would have said.
pub(crate) const MOST_WAITING: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    snapshots: VecDeque<Snapshot>,
    left_out: u64,
    taken: u64,
    /// Nothing more comes, and nothing is sent from this instant on.
    ends_at: Option<Instant>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Whoever panicked has left it whole: each change is one step.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts one at the end; never waits.
    pub(crate) fn put(&self, snapshot: Snapshot) {
        let mut waiting = self.lock();
        waiting.snapshots.push_back(snapshot);
        waiting.taken += 1;
        if waiting.snapshots.len() > MOST_WAITING {
            waiting.snapshots.pop_front();
            waiting.left_out += 1;
        }
        self.changed.notify_all();
    }

    /// The next one, when there is one; `None` when none comes any more.
    pub(crate) fn next(&self) -> Option<Snapshot> {
        let mut waiting = self.lock();
        loop {
            if let Some(snapshot) = waiting.snapshots.pop_front() {
                return Some(snapshot);
            }
            if waiting.ends_at.is_some() {
                return None;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(crate) fn skip_to_newest(&self) {
        let mut waiting = self.lock();
        let skipped = waiting.snapshots.len().saturating_sub(1);
        waiting.snapshots.drain(..skipped);
        waiting.left_out += skipped as u64;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().snapshots.is_empty()
    }

    /// Nothing more comes; what waits may be sent until `ends_at`.
    pub(crate) fn close(&self, ends_at: Instant) {
        self.lock().ends_at = Some(ends_at);
        self.changed.notify_all();
    }

    /// Until when what waits may be sent; `None` while more comes.
    pub(crate) fn ends_at(&self) -> Option<Instant> {
        self.lock().ends_at
    }

    /// Waits until `until`, or until the queue is closed.
    pub(crate) fn rest(&self, until: Instant) {
        let mut waiting = self.lock();
        while waiting.ends_at.is_none() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let told = self.changed.wait_timeout(waiting, left);
            waiting = told.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(crate) fn left_out(&self) -> u64 {
        self.lock().left_out
    }

    pub(crate) fn taken(&self) -> u64 {
        self.lock().taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use live::web::metrics::{Detail, Scrape};

    fn snapshot(unix_ns: u64) -> Snapshot {
        let scrape = Scrape { detail: Detail::Auto, ..Scrape::default() };
        Snapshot { unix_ns, began_unix_ns: 0, scrape }
    }

    #[test]
    fn the_oldest_are_left_out_and_counted_and_the_newest_stays() {
        let queue = Queue::default();
        (0..100).for_each(|number| queue.put(snapshot(number)));
        assert_eq!((queue.left_out(), queue.taken()), (36, 100));
        assert_eq!(queue.next().map(|one| one.unix_ns), Some(36));
        queue.skip_to_newest();
        assert_eq!(queue.left_out(), 36 + 62);
        queue.close(Instant::now());
        assert_eq!(queue.next().map(|one| one.unix_ns), Some(99));
        assert!(queue.next().is_none() && queue.is_empty());
    }
}
