//! Blocks that are not what was written.

use serde::{Deserialize, Serialize};

/// One damaged place: the first of a read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mismatch {
    /// What is wrong with it.
    pub damage: Damage,
    /// The file.
    pub path: String,
    /// Where in it.
    pub offset: u64,
    /// The oldest generation that could stand there; 0 if this run wrote nothing there.
    pub expected: u32,
    /// What stood there.
    pub found: FoundBlock,
}

/// What is wrong with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Damage {
    /// Its bytes are not those that were written.
    Corrupt,
    /// It is the block of another place.
    Misdirected,
    /// Only a part of a write is there.
    Torn,
    /// A write is not there.
    Stale,
}

/// What stood in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FoundBlock {
    /// A whole block of another place.
    Elsewhere {
        /// Its generation.
        generation: u32,
        /// Whether another run wrote it.
        other_run: bool,
        /// The host that wrote it.
        host: u32,
        /// The number of its file.
        file: u32,
        /// Its place there.
        offset: u64,
    },
    /// A block of this place.
    Block {
        /// Its generation.
        generation: u32,
        /// Whether another run wrote it.
        other_run: bool,
        /// Whether its checksum is right.
        is_whole: bool,
    },
    /// Nothing but zeros.
    Zeros,
    /// Something that no run wrote.
    Foreign,
}

/// What was not compared with what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotChecked {
    /// The backend reads nothing.
    NothingIsRead,
    /// Files of a tree.
    Tree,
    /// Reads of files of a population: these are looked at after the run.
    Population,
    /// Simulated targets keep no bytes.
    Simulated,
    /// No workload reads.
    NoReads,
    /// What an earlier run wrote last is not known.
    EarlierRun,
    /// Blocks that no workload wrote.
    NotPrepared,
    /// Reads that met a write to the same place.
    Raced {
        /// How many.
        reads: u64,
    },
}
