//! The operations that an engine can send to a target.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One kind of request to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Op {
    /// Read a block.
    Read,
    /// Write a block.
    Write,
    /// Make everything written so far durable (`fdatasync`).
    Fsync,
    /// Give a block back (discard): what a read of it brings afterwards is zeros or what stood there.
    Trim,
}

impl Op {
    /// Every operation, in the order in which reports list them.
    pub const ALL: [Op; 4] = [Op::Read, Op::Write, Op::Fsync, Op::Trim];

    /// How many operations there are: the length of an array with one entry for each.
    pub const COUNT: usize = Op::ALL.len();

    /// The name used in run files, JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Fsync => "fsync",
            Op::Trim => "trim",
        }
    }

    /// The operation with this [`name`](Op::name).
    pub fn from_name(name: &str) -> Option<Op> {
        Op::ALL.into_iter().find(|op| op.name() == name)
    }

    /// A dense index, for arrays with one entry per operation.
    pub fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Op;

    #[test]
    fn names_round_trip_and_indices_are_dense() {
        for (index, op) in Op::ALL.into_iter().enumerate() {
            assert_eq!(Op::from_name(op.name()), Some(op));
            assert_eq!(op.index(), index);
        }
        assert_eq!(Op::from_name("frobnicate"), None);
    }
}
