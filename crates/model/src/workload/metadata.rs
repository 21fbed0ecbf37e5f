//! Metadata work: what is done to whole files, in which trees, by whom.

use crate::choices::{CloseTime, FileFsync};
use crate::load::SizeMix;
use crate::op::Op;
use crate::population::{MOST_WEIGHT, Population, PopulationStage};
use crate::units::Bytes;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Levels of directories that a tree has at most. The longest path below a tree then stays well
/// below `PATH_MAX`.
pub const MOST_DEPTH: u32 = 16;
/// Files that a tree has at most.
pub const MOST_FILES: u64 = 1 << 32;
/// The largest file of a tree: each worker has room for one.
pub const MOST_SIZE: Bytes = Bytes::mib(64);
/// What a directory takes of a file system at least, and what the space of a file is a multiple of.
const BLOCK: u64 = 4096;
/// What the name of a file takes of its directory at most: ext4 has 8 bytes beside the 19 of the
/// name, up to a multiple of 4 (`struct ext4_dir_entry_2`), and leaves blocks half empty when it
/// splits them.
const ENTRY: u64 = 64;

/// Operations that a mix has at most: as many as a worker keeps books of.
pub const MOST_MIXED: usize = 4;

/// Operations that leave a tree as it is, with weights: each time, one of them is drawn, in
/// proportion to its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpMix([Option<(Op, u32)>; MOST_MIXED]);

impl OpMix {
    /// A mix of `parts`, whose weights are 1 to [`MOST_WEIGHT`].
    ///
    /// # Errors
    /// What is wrong with them, in words: too many or none, one twice, a weight out of range, or
    /// one that changes the tree.
    pub fn new(parts: &[(Op, u32)]) -> Result<OpMix, String> {
        if !(1..=MOST_MIXED).contains(&parts.len()) {
            return Err(format!(
                "a mix of {} operations, where 1 to {MOST_MIXED} go together",
                parts.len()
            ));
        }
        for (number, (op, weight)) in parts.iter().enumerate() {
            if !OpMix::takes(*op) {
                return Err(format!(
                    "`{op}` does not go into a mix: the tree would not stay as it is"
                ));
            }
            if parts[..number].iter().any(|(other, _)| other == op) {
                return Err(format!("`{op}` twice in a mix"));
            }
            if !(1..=MOST_WEIGHT).contains(weight) {
                return Err(format!("a weight of {weight} is out of range"));
            }
        }
        Ok(OpMix(std::array::from_fn(|index| parts.get(index).copied())))
    }

    /// Whether `op` leaves names, sizes and contents as they are, so that any operation may follow
    /// it.
    pub fn takes(op: Op) -> bool {
        op.leaves_files()
    }

    /// Its operations with their weights.
    pub fn parts(&self) -> impl Iterator<Item = (Op, u32)> + '_ {
        self.0.iter().copied().flatten()
    }

    /// The sum of the weights; at least 1.
    pub fn total(&self) -> u64 {
        self.parts().map(|(_, weight)| u64::from(weight)).sum::<u64>().max(1)
    }

    /// The place among the parts, from 0, and the operation, that `point` falls upon: a number from
    /// 0 to [`total`](Self::total) − 1.
    #[inline]
    pub fn at(&self, mut point: u64) -> (usize, Op) {
        let mut last = (0, Op::Stat);
        for (place, (op, weight)) in (0..).zip(self.parts()) {
            last = (place, op);
            if point < u64::from(weight) {
                break;
            }
            point -= u64::from(weight);
        }
        last
    }
}

impl fmt::Display for OpMix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (op, weight)) in self.parts().enumerate() {
            write!(formatter, "{}{op}:{weight}", if place > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

/// One operation on every file of a share, or a mix of operations on files drawn from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetadataWork {
    /// What is done; one of those for which [`Op::is_metadata`] holds. Of a mix, its first.
    pub op: Op,
    /// What is done instead where operations are mixed: for a time, and to files that come again
    /// and again.
    #[serde(default)]
    pub mix: Option<OpMix>,
    /// What is done instead to a population of files that are born and die.
    #[serde(default)]
    pub population: Option<Population>,
    /// Whether the files come in an order without pattern, not in that of their numbers.
    pub random: bool,
    /// Bytes of each file; of the largest where they differ.
    pub size: Bytes,
    /// Their mean, where they differ.
    #[serde(default)]
    pub mean_size: Option<Bytes>,
    /// Whether a file that was written is made durable before it is closed.
    pub fsync: FileFsync,
    /// Whether the closing of a file counts in its time.
    pub close: CloseTime,
}

impl MetadataWork {
    /// The operations that it consists of; those of a mix in their order.
    pub fn ops(&self) -> impl Iterator<Item = Op> + '_ {
        let living = self.living().into_iter().flat_map(|population| population.mix.parts());
        let mixed = self.mix.iter().flat_map(OpMix::parts);
        let single = self.mix.is_none() && self.living().is_none();
        living.chain(mixed).map(|(op, _)| op).chain(single.then_some(self.op))
    }

    /// The population, if its mix runs; `None` also while it is filled, which creates alone.
    pub fn living(&self) -> Option<&Population> {
        self.population.as_ref().filter(|population| population.stage == PopulationStage::Live)
    }

    /// Whether operations are drawn from a mix, so that only a time ends them.
    pub fn is_mixed(&self) -> bool {
        self.mix.is_some() || self.living().is_some()
    }

    /// Whether it has `op`.
    pub fn does(&self, op: Op) -> bool {
        self.ops().any(|own| own == op)
    }

    /// `stat`, or `stat:70, open:20` of a mix.
    pub fn name(&self) -> String {
        let mix = self.living().map(|population| population.mix.to_string());
        mix.or_else(|| self.mix.map(|mix| mix.to_string())).unwrap_or_else(|| self.op.to_string())
    }
}

/// Directories below a directory of ours, and numbered files in the lowest of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tree {
    /// The number of its target among those of the host, which is a directory.
    pub target: u32,
    /// The path of the directory that holds all of it.
    pub path: String,
    /// Files that it holds at most.
    pub files: u64,
    /// Bytes of each; of the largest where they differ.
    pub size: Bytes,
    /// The sizes with their weights, where they differ: which file has which follows from its
    /// number.
    #[serde(default)]
    pub sizes: Option<SizeMix>,
    /// Levels of directories between `path` and the files, at most [`MOST_DEPTH`]; at 0, all files
    /// are in `path` itself.
    pub depth: u32,
    /// Directories in each directory, from the second level on; at least 1. The first level has as
    /// many as are needed.
    pub fan_out: u64,
    /// Files in each of the lowest directories; at least 1.
    pub per_directory: u64,
    /// Whether another host of the run makes its directories, and removes them.
    #[serde(default)]
    pub joined: bool,
}

impl Tree {
    /// Directories that hold files; 0 where there are no levels.
    pub fn leaves(&self) -> u64 {
        if self.depth == 0 { 0 } else { self.files.div_ceil(self.per_directory.max(1)) }
    }

    /// Directories that hold files, the one at `path` included where there are no levels: what
    /// `readdir` reads.
    pub fn listed(&self) -> u64 {
        self.leaves().max(1)
    }

    /// How many of the lowest directories are below one directory of `level`, which counts from 1.
    pub fn leaves_below(&self, level: u32) -> u64 {
        self.fan_out.max(1).saturating_pow(self.depth.saturating_sub(level))
    }

    /// All directories of it, the one at `path` included.
    pub fn directories(&self) -> u64 {
        let of_level = |level| self.leaves().div_ceil(self.leaves_below(level));
        (1..=self.depth).map(of_level).fold(1, u64::saturating_add)
    }

    /// The numbers of the directories that lead to file `number`, from the top; as many as there
    /// are levels.
    pub fn way(&self, number: u64) -> impl Iterator<Item = u64> {
        self.way_to(number / self.per_directory.max(1))
    }

    /// The numbers of the directories from the top to the lowest directory `leaf`, itself included;
    /// as many as there are levels.
    #[inline]
    pub fn way_to(&self, leaf: u64) -> impl Iterator<Item = u64> {
        (1..=self.depth).map(move |level| self.directory(leaf, level))
    }

    /// The number of the directory of `level` above the lowest directory `leaf`, among its
    /// siblings.
    pub fn directory(&self, leaf: u64, level: u32) -> u64 {
        let among_all = leaf / self.leaves_below(level);
        if level > 1 { among_all % self.fan_out.max(1) } else { among_all }
    }

    /// Inodes that it takes.
    pub fn inodes(&self) -> u64 {
        self.files.saturating_add(self.directories())
    }

    /// Bytes of file `number`.
    #[inline]
    pub fn size_of(&self, number: u64) -> Bytes {
        self.sizes.as_ref().map_or(self.size, |sizes| sizes.of_file(number))
    }

    /// Bytes of a file, on average where they differ.
    pub fn mean_size(&self) -> Bytes {
        self.sizes.as_ref().map_or(self.size, SizeMix::mean)
    }

    /// What its files hold; where sizes differ, what is to be expected.
    pub fn bytes(&self) -> Bytes {
        Bytes(self.files.saturating_mul(self.mean_size().0))
    }

    /// What it takes of a file system with blocks of 4 KiB, at most.
    pub fn space(&self) -> Bytes {
        let each = self.size.0.checked_next_multiple_of(BLOCK).unwrap_or(u64::MAX);
        let alike = || Bytes(self.files.saturating_mul(each));
        let files =
            self.sizes.as_ref().map_or_else(alike, |sizes| sizes.most_space(self.files, BLOCK));
        let names = self.files.saturating_mul(ENTRY);
        Bytes(
            files.0.saturating_add(self.directories().saturating_mul(BLOCK)).saturating_add(names),
        )
    }
}

/// The files of one worker: every `step`-th of a tree from `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileShare {
    /// The number of the tree among those of the host.
    pub tree: u32,
    /// The number of its first file; of its first directory where directories are read.
    pub first: u64,
    /// From one of its files to the next; at least 1.
    pub step: u64,
    /// How many files it has.
    pub count: u64,
}

impl FileShare {
    /// The number of its `index`-th file in the tree.
    #[inline]
    pub fn number(&self, index: u64) -> u64 {
        self.first + index * self.step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: u64, depth: u32, fan_out: u64, per_directory: u64) -> Tree {
        Tree {
            path: "/t".into(),
            files,
            size: Bytes(1),
            depth,
            fan_out,
            per_directory,
            ..Tree::default()
        }
    }

    #[test]
    fn a_mix_draws_in_proportion_to_its_weights() {
        let mix =
            OpMix::new(&[(Op::Stat, 3), (Op::Readdir, 1), (Op::Open, 2)]).expect("a good mix");
        let drawn: Vec<(usize, Op)> = (0..mix.total()).map(|point| mix.at(point)).collect();
        let (stat, readdir, open) = ((0, Op::Stat), (1, Op::Readdir), (2, Op::Open));
        assert_eq!(drawn, [stat, stat, stat, readdir, open, open]);
        assert_eq!(mix.to_string(), "stat:3, readdir:1, open:2");
    }

    #[test]
    fn a_mix_that_would_change_the_tree_or_is_none_is_refused() {
        let cases: [(&[(Op, u32)], &str); 5] = [
            (&[], "a mix of 0"),
            (&[(Op::Stat, 1), (Op::Remove, 1)], "`remove` does not go into a mix"),
            (&[(Op::Stat, 1), (Op::Stat, 2)], "`stat` twice"),
            (&[(Op::Stat, 0)], "a weight of 0"),
            (&[(Op::Stat, MOST_WEIGHT + 1)], "out of range"),
        ];
        for (parts, wanted) in cases {
            let told = OpMix::new(parts).expect_err("refused");
            assert!(told.contains(wanted), "{told}");
        }
    }

    #[test]
    fn directories_are_as_many_as_the_files_need() {
        assert_eq!(tree(1000, 0, 10, 10).directories(), 1, "all files beside each other");
        assert_eq!(tree(1000, 1, 10, 10).directories(), 1 + 100);
        assert_eq!(tree(1001, 2, 10, 10).directories(), 1 + 11 + 101);
        assert_eq!(tree(1001, 2, 10, 10).inodes(), 1001 + 113);
        assert_eq!(tree(10, 1, 10, 10).space(), Bytes(10 * 4096 + 2 * 4096 + 10 * 64));
        let huge = tree(MOST_FILES, MOST_DEPTH, u64::MAX, 1);
        assert!(huge.inodes() > MOST_FILES, "and nothing overflows");
    }

    #[test]
    fn every_directory_has_a_way_of_its_own_and_no_more_than_its_share_of_files() {
        let tree = tree(1001, 3, 4, 10);
        let mut ways: Vec<Vec<u64>> = (0..1001).map(|number| tree.way(number).collect()).collect();
        assert!(!ways.is_empty());
        assert!(ways.iter().all(|way| way.len() == 3 && way[1..].iter().all(|n| *n < 4)));
        assert!(ways.chunk_by(|a, b| a == b).all(|files| files.len() <= 10));
        ways.dedup();
        let distinct: std::collections::BTreeSet<_> = ways.iter().collect();
        assert_eq!((ways.len(), distinct.len()), (101, 101));
    }
}
