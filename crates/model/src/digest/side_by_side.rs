//! Hosts of a digest shared out to processors.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

/// More threads than this wait for memory.
const MOST_THREADS: usize = 8;

/// With fewer values, another thread costs more than it saves.
const LEAST_VALUES: usize = 1_000_000;

/// What `work` makes of each item, in their order: by as many threads as there are processors where
/// all items together have many `values`, each of which takes some nanoseconds.
pub fn side_by_side<T: Sync, R: Send>(
    items: &[T],
    values: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    let each = items.len().div_ceil(threads).max(1);
    if values < LEAST_VALUES || each >= items.len() {
        return items.iter().map(work).collect();
    }
    thread::scope(|scope| {
        let work = &work;
        let started: Vec<_> = items
            .chunks(each)
            .map(|chunk| scope.spawn(move || chunk.iter().map(work).collect::<Vec<R>>()))
            .collect();
        let ended = started.into_iter();
        ended
            .flat_map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::{LEAST_VALUES, side_by_side};

    #[test]
    fn results_are_in_the_order_of_their_items() {
        let items: Vec<u32> = (0..103).collect();
        let doubled: Vec<u32> = items.iter().map(|item| item * 2).collect();
        for values in [0, LEAST_VALUES] {
            assert_eq!(side_by_side(&items, values, |item| item * 2), doubled);
        }
        assert!(side_by_side(&items[..0], LEAST_VALUES, |item| *item).is_empty());
    }
}
