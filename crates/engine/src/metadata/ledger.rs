//! Which files of a worker are there, under which of their names, and how long they are: four bytes
//! for each name.

use model::ledger::{FilesSum, LedgerSum, OneFile};
use model::metadata::FileShare;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Set where a file has its second name.
const RENAMED: u32 = 1 << 31;
/// The longest file that can be told: far beyond what appends add to one that dies or is cut back.
const LONGEST: u32 = RENAMED - 2;

/// What is known of a file that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// Bytes.
    pub(crate) length: u32,
    /// Whether it has its second name.
    pub(crate) renamed: bool,
}

/// The files of one worker.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// 0 where there is no file, else its length and one, and [`RENAMED`].
    entries: Box<[u32]>,
    living: u64,
    bytes: u64,
    /// How often the file system did not say what was left of a file: what stands here is a guess.
    guessed: u64,
}

impl Ledger {
    /// Of so many names, none of which has a file.
    pub(crate) fn new(names: u64) -> Ledger {
        Ledger { entries: vec![0; names as usize].into(), ..Ledger::default() }
    }

    /// How many names there are.
    pub(crate) fn names(&self) -> u64 {
        self.entries.len() as u64
    }

    /// How many of them have a file.
    pub(crate) fn living(&self) -> u64 {
        self.living
    }

    /// Bytes of all files.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What is known of the file with the name `index`; `None` where there is none.
    #[inline]
    pub(crate) fn get(&self, index: u64) -> Option<Known> {
        let entry = *self.entries.get(index as usize)?;
        let length = (entry & !RENAMED).checked_sub(1)?;
        Some(Known { length, renamed: entry & RENAMED != 0 })
    }

    /// Takes down what is there under the name `index`.
    #[inline]
    pub(crate) fn set(&mut self, index: u64, known: Option<Known>) {
        let before = self.get(index);
        let Some(entry) = self.entries.get_mut(index as usize) else { return };
        let length = |known: Option<Known>| known.map_or(0, |known| u64::from(known.length));
        *entry = known.map_or(0, |known| {
            (known.length.min(LONGEST) + 1) | if known.renamed { RENAMED } else { 0 }
        });
        self.living = self.living - u64::from(before.is_some()) + u64::from(known.is_some());
        self.bytes = self.bytes - length(before) + length(known);
    }

    /// What was set last is a guess.
    pub(crate) fn guess(&mut self) {
        self.guessed = self.guessed.saturating_add(1);
    }

    /// All files, which are those of `share`, added up.
    pub(crate) fn sum(&self, share: FileShare) -> FilesSum {
        let mut sum = FilesSum::default();
        for (index, known) in (0..self.names()).filter_map(|index| Some((index, self.get(index)?)))
        {
            let Known { length, renamed } = known;
            sum.add(OneFile { tree: share.tree, number: share.number(index), length, renamed });
        }
        sum
    }
}

/// By what a worker's ledger is found again in the next stage.
type Key = [u64; 4];

/// The ledgers of a host's workers, between stages.
#[derive(Debug, Default)]
pub(crate) struct Ledgers(Mutex<BTreeMap<Key, Ledger>>);

impl Ledgers {
    fn key(share: FileShare) -> Key {
        [u64::from(share.tree), share.first, share.step, share.count]
    }

    /// The ledger of the files of `share`; an empty one the first time.
    pub(crate) fn take(&self, share: FileShare) -> Ledger {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&Ledgers::key(share)).unwrap_or_else(|| Ledger::new(share.count))
    }

    /// Keeps it for the next stage.
    pub(crate) fn keep(&self, share: FileShare, ledger: Ledger) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(Ledgers::key(share), ledger);
    }
}

/// What the ledgers of a stage's workers say at its end.
#[derive(Debug, Default)]
pub(crate) struct SumOfStage {
    all: LedgerSum,
    workers: usize,
}

impl SumOfStage {
    /// Adds the ledger of a worker that has the files of `share`.
    pub(crate) fn add(&mut self, share: FileShare, ledger: &Ledger) {
        self.all.add_all(LedgerSum { sum: ledger.sum(share), guessed: ledger.guessed });
        self.workers += 1;
    }

    /// The sum, if it is that of so many workers: a part does not stand for all.
    pub(crate) fn of_all(&self, workers: usize) -> Option<LedgerSum> {
        (workers > 0 && self.workers == workers).then_some(self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_knows_each_file_and_adds_up_all() {
        let mut ledger = Ledger::new(3);
        assert_eq!(
            (ledger.names(), ledger.living(), ledger.get(0), ledger.get(9)),
            (3, 0, None, None)
        );
        let empty = Known { length: 0, renamed: false };
        let full = Known { length: 7, renamed: true };
        ledger.set(0, Some(empty));
        ledger.set(2, Some(full));
        assert_eq!((ledger.get(0), ledger.get(1), ledger.get(2)), (Some(empty), None, Some(full)));
        assert_eq!((ledger.living(), ledger.bytes()), (2, 7));
        ledger.set(2, Some(Known { length: 10, renamed: false }));
        ledger.set(0, None);
        ledger.set(1, None);
        assert_eq!((ledger.living(), ledger.bytes()), (1, 10));
    }

    #[test]
    fn it_waits_for_the_worker_that_has_the_same_files() {
        let share = |first| FileShare { tree: 0, first, step: 2, count: 4 };
        let ledgers = Ledgers::default();
        let mut mine = ledgers.take(share(0));
        mine.set(3, Some(Known { length: 1, renamed: false }));
        ledgers.keep(share(0), mine);
        assert_eq!(ledgers.take(share(1)).living(), 0, "another worker's");
        assert_eq!(ledgers.take(share(0)).living(), 1);
    }
}
