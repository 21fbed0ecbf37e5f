//! What requests of a load are made of, beyond their sizes and places.

use crate::op::Op;
use std::fmt;

/// What a request is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Object {
    /// Blocks of devices or files that a host has to itself.
    #[default]
    Blocks,
    /// Blocks of one file that all hosts share, each of them in parts of its own.
    SharedFile,
    /// Whole files: this operation, for which [`Op::is_metadata`] holds.
    Files(Op),
}

impl Object {
    /// The operation on whole files, if that is what it is.
    pub fn op(self) -> Option<Op> {
        match self {
            Object::Files(op) => Some(op),
            Object::Blocks | Object::SharedFile => None,
        }
    }

    /// The object with this word, as [`Display`](fmt::Display) writes it.
    pub fn from_word(word: &str) -> Option<Object> {
        match word {
            "blocks" => Some(Object::Blocks),
            "shared-file" => Some(Object::SharedFile),
            op => Op::from_name(op).filter(|op| op.is_metadata()).map(Object::Files),
        }
    }

    /// Whether its requests move data, and not names alone.
    pub fn moves_data(self) -> bool {
        self.op().is_none_or(Op::moves_file)
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Object::Blocks => "blocks",
            Object::SharedFile => "shared-file",
            Object::Files(op) => op.name(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip_and_operations_on_blocks_are_none() {
        let files = Op::EACH.into_iter().filter(|op| op.is_metadata()).map(Object::Files);
        for object in [Object::Blocks, Object::SharedFile].into_iter().chain(files) {
            assert_eq!(Object::from_word(&object.to_string()), Some(object));
        }
        assert_eq!(["read", "trim", ""].map(Object::from_word), [None; 3]);
        assert!(Object::Files(Op::Create).moves_data() && !Object::Files(Op::Stat).moves_data());
    }
}
