//! Whether a worker's ring can be polled: the kernel would refuse each request, or wait for an
//! interrupt in vain, where it cannot.

use super::Setup;
use model::choices::Poll;
use model::note::{Degraded, WhyNoPoll};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat, major, minor};
use std::os::fd::{BorrowedFd, RawFd};

/// What there is to know of one file for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Facts {
    is_direct: bool,
    /// Whether the device under it has queues that do not interrupt; `false` also where nobody can
    /// say which device that is.
    has_poll_queues: bool,
}

/// The polling that the ring of `setup` can have, and if that is not what it wants, why.
pub(super) fn possible(setup: &Setup) -> (Poll, Option<Degraded>) {
    judge(setup.poll, setup.only_moves, setup.files.iter().map(|file| facts(*file)))
}

fn judge(
    wanted: Poll,
    only_moves: bool,
    mut files: impl Iterator<Item = Facts>,
) -> (Poll, Option<Degraded>) {
    if wanted != Poll::Completions {
        return (wanted, None);
    }
    let why = if !only_moves {
        Some(WhyNoPoll::OtherRequests)
    } else {
        files.find_map(|file| match file {
            Facts { is_direct: false, .. } => Some(WhyNoPoll::PageCache),
            Facts { has_poll_queues: false, .. } => Some(WhyNoPoll::NoQueues),
            Facts { .. } => None,
        })
    };
    match why {
        None => (wanted, None),
        Some(why) => (Poll::None, Some(Degraded::CannotPoll { poll: wanted, why })),
    }
}

fn facts(file: RawFd) -> Facts {
    // SAFETY: the caller keeps the files of a ring open.
    let file = unsafe { BorrowedFd::borrow_raw(file) };
    let has_poll_queues = fstat(file).is_ok_and(|stat| {
        let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
        polls(if is_device { stat.st_rdev } else { stat.st_dev })
    });
    Facts {
        is_direct: fcntl_getfl(file).is_ok_and(|flags| flags.contains(OFlags::DIRECT)),
        has_poll_queues,
    }
}

/// What the kernel says of a block device, or of that which it is a partition of.
fn polls(device: u64) -> bool {
    let place = format!("/sys/dev/block/{}:{}", major(device), minor(device));
    let read = |queue: &str| std::fs::read_to_string(format!("{place}/{queue}/io_poll"));
    read("queue").or_else(|_| read("../queue")).is_ok_and(|text| text.trim() == "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Facts = Facts { is_direct: true, has_poll_queues: true };

    #[test]
    fn completions_are_polled_only_where_every_file_can_be() {
        assert_eq!(
            judge(Poll::Completions, true, [GOOD, GOOD].into_iter()),
            (Poll::Completions, None)
        );
        for (bad, why) in [
            (Facts { is_direct: false, ..GOOD }, WhyNoPoll::PageCache),
            (Facts { has_poll_queues: false, ..GOOD }, WhyNoPoll::NoQueues),
        ] {
            let expected = Degraded::CannotPoll { poll: Poll::Completions, why };
            let judged = judge(Poll::Completions, true, [GOOD, bad].into_iter());
            assert_eq!(judged, (Poll::None, Some(expected)));
        }
        let why = WhyNoPoll::OtherRequests;
        let expected = Degraded::CannotPoll { poll: Poll::Completions, why };
        let judged = judge(Poll::Completions, false, [GOOD].into_iter());
        assert_eq!(judged, (Poll::None, Some(expected)));
    }

    #[test]
    fn what_asks_nothing_of_the_files_is_left_alone() {
        let bad = Facts { is_direct: false, has_poll_queues: false };
        for wanted in [Poll::None, Poll::Submissions] {
            assert_eq!(judge(wanted, false, [bad].into_iter()), (wanted, None));
        }
    }

    #[test]
    fn a_device_that_is_not_there_has_no_queues() {
        assert!(!polls(u64::MAX));
    }
}
