//! How plain contents stay apart: a worker goes through more buffers than it has requests
//! outstanding.
//!
//! A write that is only stamped has most of its bytes from the last write of the same buffer.
//! Storage that compresses several writes together would find them. So a buffer comes back no
//! sooner than [`WINDOW`] bytes later, which is as much as storage compresses at once.
//! Filling every byte anew would keep more apart, at a tenth of the cost of a small write: that is
//! done where writes do not come to lie in the order in which they begin.

use model::choices::Access;
use model::plan::Work;
use model::units::Percent;
use rustix::process::{Resource, geteuid, getrlimit};

/// Within so many bytes of a worker's writes, in the order in which they begin, none repeat. The
/// largest record of ZFS (`recordsize`, by default at most 1 MiB); other storage compresses less at
/// once.
pub(crate) const WINDOW: usize = 1 << 20;

/// What the spares of one worker may take. Twice the window: the smaller sizes of a mix take as
/// much memory as its largest.
const ROOM_OF_WORKER: usize = 2 * WINDOW;

/// What the spares of all workers of a host may take.
const ROOM_OF_HOST: usize = 128 << 20;

/// Whether writes of `work` come to lie beside writes of quite other times, so that one buffer's
/// would meet in one record of the storage, however many buffers take turns. Those that fill a
/// record of their own cannot.
pub(crate) fn are_in_vain(work: &Work) -> bool {
    let pattern = &work.pattern;
    let is_scattered = pattern.access != Access::Sequential
        || pattern.random > Percent::ZERO
        || pattern.streams > 1;
    is_scattered && (work.write_block_size.smallest().0 as usize) < WINDOW
}

/// How many buffers of `stride` bytes a worker needs beside one for each write outstanding, of
/// writes of at least `smallest` bytes. `None` where these do not fit into `room` bytes.
pub(crate) fn spares(smallest: usize, stride: usize, room: usize) -> Option<usize> {
    let count = WINDOW.div_ceil(smallest.max(1)) - 1;
    (count * stride <= room).then_some(count)
}

/// The bytes that the spares of each of `workers` may take, if each has `own` bytes of buffers
/// besides, and all of them together may lock `lockable` bytes.
pub(crate) fn room(workers: usize, own: usize, lockable: usize) -> usize {
    let workers = workers.max(1);
    ROOM_OF_WORKER.min(ROOM_OF_HOST / workers).min((lockable / workers).saturating_sub(own))
}

/// How many bytes this process may lock, as registered buffers are.
pub(crate) fn lockable() -> usize {
    if geteuid().is_root() {
        return usize::MAX;
    }
    getrlimit(Resource::Memlock).current.map_or(usize::MAX, |bytes| bytes as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::units::Bytes;

    #[test]
    fn what_lands_anywhere_takes_no_turns_unless_it_fills_a_record() {
        let work = |block: usize, access| {
            let stop = crate::common::after_ms(1_000);
            Work::simple(Bytes(block as u64), Percent::ZERO, access, 1, stop)
        };
        assert!(!are_in_vain(&work(4096, Access::Sequential)));
        assert!(
            are_in_vain(&work(4096, Access::Random))
                && are_in_vain(&work(4096, Access::Permutation))
        );
        assert!(!are_in_vain(&work(WINDOW, Access::Random)));
        let mut in_part = work(4096, Access::Sequential);
        in_part.pattern.random = Percent::of(50);
        assert!(are_in_vain(&in_part));
        let mut several = work(4096, Access::Sequential);
        several.pattern.streams = 2;
        assert!(are_in_vain(&several));
    }

    #[test]
    fn a_buffer_comes_back_after_a_window() {
        for (smallest, expected) in
            [(4096, 255), (1000, 1048), (512 << 10, 1), (1 << 20, 0), (8 << 20, 0)]
        {
            let count = spares(smallest, smallest.next_multiple_of(512), ROOM_OF_WORKER);
            assert_eq!(count, Some(expected), "{smallest}");
            // It is used by one write, then as many go to the spares.
            assert!((expected + 1) * smallest >= WINDOW, "{smallest}");
        }
    }

    #[test]
    fn spares_that_do_not_fit_are_not_made() {
        assert_eq!(spares(4096, 1 << 20, ROOM_OF_WORKER), None, "a mix of sizes");
        assert_eq!(spares(4096, 4096, 254 * 4096), None);
        assert_eq!(spares(1 << 20, 1 << 20, 0), Some(0), "nothing is needed");
    }

    #[test]
    fn room_is_bounded_for_a_worker_for_a_host_and_by_what_may_be_locked() {
        assert_eq!(room(1, 4096, usize::MAX), ROOM_OF_WORKER);
        assert_eq!(room(1024, 4096, usize::MAX), 128 << 10);
        assert_eq!(room(16, 128 << 10, 8 << 20), 384 << 10);
        assert_eq!(room(16, 1 << 20, 8 << 20), 0);
    }
}
