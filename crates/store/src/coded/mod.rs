//! The kernel's counters of a long run: column by column in blocks, each of one host.
//!
//! A run begins with rows that every program can read ([`counters`](crate::counters)). From
//! [`PLAIN_VALUES`] on, a sample is written as one row of `counter_tail`; when a host has enough of
//! them there, they become a block in the same transaction. So a `kill -9` takes no more than it
//! took before. What a block comes to stands beside it, in rows again.

mod chain;
mod read;

pub use chain::Coder;
pub use read::{Blocks, Extent, REMARKS};

use crate::file::values::Problem;
use model::columns::Bad;

/// So many values stand in rows of their own before the first block: those of a short run, which
/// is looked at second by second.
pub const PLAIN_VALUES: usize = 65_536;

/// The most samples of a block.
pub const MOST_SAMPLES: usize = 128;

/// The most values of a block: it is held whole while it is made and while it is read.
pub const MOST_VALUES: usize = 1 << 21;

/// The most values of a sample: a host of 10,000 disks and 500 processors has two thirds of it. One
/// with more stands in rows.
pub const MOST_SERIES: usize = 1 << 18;

/// The most values of the shapes that a writer or a reader holds at the same time.
const MOST_HELD: usize = 1 << 20;

/// Numbers of one chain in `counter_tail`: its samples stand together.
const CHAIN_STEP: i64 = 1_024;

impl From<Bad> for Problem {
    fn from(bad: Bad) -> Problem {
        match bad {
            Bad::OutOfRange => "a number is out of range".into(),
            Bad::CutOff | Bad::TooLong => "a block of counters is cut off".into(),
        }
    }
}

#[cfg(test)]
mod tests;
