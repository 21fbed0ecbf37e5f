//! What a host knows of the files of its populations when a stage is over: the sums of its ledgers.

use crate::rng::derive;
use serde::{Deserialize, Serialize};

/// Files, added up so that two sums are equal only where the files are: as many, as long, under the
/// same names. The order in which they are added means nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesSum {
    /// How many.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// A sum of what each of them is: its tree, its number, its length and which of its two names
    /// it has.
    pub digest: u64,
}

/// A file of a population.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneFile {
    /// The number of its tree in the plan of its host.
    pub tree: u32,
    /// Its number in the tree.
    pub number: u64,
    /// Bytes.
    pub length: u32,
    /// Whether it has its second name.
    pub renamed: bool,
}

impl FilesSum {
    /// Adds a file.
    pub fn add(&mut self, file: OneFile) {
        let OneFile { tree, number, length, renamed } = file;
        let own = derive(tree.into(), &[number, u64::from(length) << 1 | u64::from(renamed)]);
        self.files = self.files.saturating_add(1);
        self.bytes = self.bytes.saturating_add(length.into());
        self.digest = self.digest.wrapping_add(own);
    }

    /// Adds the files of another sum.
    pub fn add_all(&mut self, other: FilesSum) {
        self.files = self.files.saturating_add(other.files);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.digest = self.digest.wrapping_add(other.digest);
    }

    /// The same without the files of `other`; `None` where it has not as many, or not as long ones.
    pub fn without(self, other: FilesSum) -> Option<FilesSum> {
        Some(FilesSum {
            files: self.files.checked_sub(other.files)?,
            bytes: self.bytes.checked_sub(other.bytes)?,
            digest: self.digest.wrapping_sub(other.digest),
        })
    }
}

/// What all ledgers of a host say at the end of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerSum {
    /// The files of the stage's workers.
    pub sum: FilesSum,
    /// How often the file system did not say what a failed operation left: so many names are a
    /// guess.
    pub guessed: u64,
}

impl LedgerSum {
    /// Adds the ledgers of others.
    pub fn add_all(&mut self, other: LedgerSum) {
        self.sum.add_all(other.sum);
        self.guessed = self.guessed.saturating_add(other.guessed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sums_are_equal_files_in_any_order() {
        let file = |tree, number, length, renamed| OneFile { tree, number, length, renamed };
        let sum = |files: &[OneFile]| {
            let mut sum = FilesSum::default();
            files.iter().for_each(|file| sum.add(*file));
            sum
        };
        let (one, two) = (file(0, 1, 10, false), file(0, 2, 20, false));
        let both = sum(&[one, two]);
        assert_eq!((both.files, both.bytes, both), (2, 30, sum(&[two, one])));
        let mut joined = sum(&[one]);
        joined.add_all(sum(&[two]));
        assert_eq!(joined, both);
        assert_eq!(
            (both.without(sum(&[one])), sum(&[one]).without(both)),
            (Some(sum(&[two])), None)
        );
        // As many and as long, but others.
        for others in [
            [file(0, 1, 20, false), file(0, 2, 10, false)],
            [file(0, 1, 10, true), file(0, 2, 20, false)],
            [file(0, 1, 10, false), file(0, 3, 20, false)],
            [file(0, 1, 10, false), file(1, 2, 20, false)],
        ] {
            let other = sum(&others);
            assert_eq!((other.files, other.bytes), (2, 30));
            assert_ne!(other.digest, both.digest, "{others:?}");
        }
    }
}
