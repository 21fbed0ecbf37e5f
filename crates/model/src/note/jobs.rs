//! Jobs of other tools, and what a suite lost of them.

use serde::{Deserialize, Serialize};

/// A job of another tool as a suite, with what was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// The tool's word: `fio`.
    pub dialect: String,
    /// How many options mean the same.
    pub same: u64,
    /// How many change nothing that is measured.
    pub harmless: u64,
    /// Those that differ or are missing, the gravest first, at most [`Imported::MOST`].
    pub lost: Vec<Lost>,
    /// How many more of them there are.
    pub more: u64,
}

impl Imported {
    /// No record names more options that differ.
    pub const MOST: usize = 200;
}

/// An option of another tool's job that the suite does not say as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// Its name there.
    pub name: String,
    /// Its value there.
    pub value: String,
    /// File and line.
    pub place: String,
    /// Whether the suite does without it, or else comes near to it.
    pub refused: bool,
    /// What differs, or what would be needed.
    pub why: String,
}
