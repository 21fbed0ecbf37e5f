//! Notes of older run files.

use super::NoteKind;
use crate::choices::Backend;
use serde::{Deserialize, Serialize};

/// What a run file of an older format says in words, with the facts that the store read from them.
/// Nothing else makes one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InWords {
    /// What it is about.
    pub kind: NoteKind,
    /// The words, for people.
    pub words: String,
    /// The backend that was asked for and refused.
    pub refused: Option<Backend>,
    /// The backend that was taken.
    pub taken: Option<Backend>,
    /// The bytes that devices read.
    pub device_read: Option<u64>,
}

impl InWords {
    /// Words from which nothing was read.
    pub fn new(kind: NoteKind, words: impl Into<String>) -> InWords {
        let words = words.into();
        InWords { kind, words, refused: None, taken: None, device_read: None }
    }
}
