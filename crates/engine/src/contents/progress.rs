//! How far a worker's writes have got, for the record: what outlives a crash of this program or its
//! machine.

use model::WriteMark;

/// Failed writes that are told one by one in an interval. Room for them is made before the load
/// begins.
const FAILED_KEPT: usize = 64;

/// What of a worker's writes is written down when an interval ends.
#[derive(Debug)]
pub(crate) struct Progress {
    base: u32,
    durable: u32,
    overtaken: u32,
    failed: Vec<u32>,
    more_failed: bool,
    /// The file that all writes went to so far; `None` before the first.
    file: Option<u32>,
    /// An `fdatasync` is for one file only: after writes to several, none of them speaks for all.
    several_files: bool,
}

impl Progress {
    /// Nothing was sent; generations are above `base`.
    pub(crate) fn new(base: u32) -> Progress {
        Progress {
            base,
            durable: base,
            overtaken: 0,
            failed: Vec::with_capacity(FAILED_KEPT),
            more_failed: false,
            file: None,
            several_files: false,
        }
    }

    /// A write to `file` is about to be sent; the oldest write under way to some of the same bytes
    /// is `behind` generations back.
    #[inline]
    pub(crate) fn sends(&mut self, file: u32, behind: u32) {
        self.overtaken = self.overtaken.max(behind);
        if self.file != Some(file) {
            self.several_files |= self.file.is_some();
            self.file = Some(file);
        }
    }

    /// The write of `generation` failed, or only a part of it was taken.
    #[cold]
    pub(crate) fn failed(&mut self, generation: u32) {
        match self.failed.len() < FAILED_KEPT {
            true => self.failed.push(generation),
            false => self.more_failed = true,
        }
    }

    /// An `fdatasync` succeeded that was sent when every write up to `completed` had come back.
    pub(crate) fn synced(&mut self, completed: u32) {
        if !self.several_files {
            self.durable = self.durable.max(completed);
        }
    }

    /// The mark of the interval that ends, in which writes up to `sent` were sent and all up to
    /// `completed` have come back.
    pub(crate) fn mark(&mut self, sent: u32, completed: u32) -> WriteMark {
        let failed = self.failed.clone();
        self.failed.clear();
        WriteMark {
            base: self.base,
            sent,
            completed,
            durable: if self.several_files { self.base } else { self.durable },
            overtaken: std::mem::take(&mut self.overtaken),
            failed,
            more_failed: std::mem::take(&mut self.more_failed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_an_interval_is_told_once() {
        let mut progress = Progress::new(10);
        progress.sends(3, 2);
        progress.sends(3, 0);
        progress.failed(11);
        progress.synced(12);
        let first = progress.mark(14, 13);
        assert_eq!(
            (first.base, first.sent, first.completed, first.durable, first.overtaken),
            (10, 14, 13, 12, 2)
        );
        assert_eq!((first.failed, first.more_failed), (vec![11], false));
        let second = progress.mark(14, 14);
        assert_eq!((second.durable, second.overtaken, second.failed.len()), (12, 0, 0));
    }

    #[test]
    fn no_sync_of_one_file_speaks_for_several() {
        let mut progress = Progress::new(0);
        progress.sends(1, 0);
        progress.synced(1);
        progress.sends(2, 0);
        progress.synced(2);
        assert_eq!(progress.mark(2, 2).durable, 0);
    }

    #[test]
    fn more_failures_than_there_is_room_for_are_owned_up_to() {
        let mut progress = Progress::new(0);
        (1..=65).for_each(|generation| progress.failed(generation));
        let mark = progress.mark(65, 65);
        assert_eq!((mark.failed.len(), mark.more_failed), (FAILED_KEPT, true));
        assert!(!progress.mark(65, 65).more_failed);
    }
}
