//! The page cache, emptied or not.

use super::SystemError;
use serde::{Deserialize, Serialize};

/// What becomes of the page cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageCache {
    /// What is done before each stage that reads.
    Before(Eviction),
    /// A file could not be evicted.
    NotEvicted(SystemError),
    /// What the host has cached could not be dropped.
    NotDropped(SystemError),
}

/// What is evicted from the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Eviction {
    /// All that the host has cached.
    Everything,
    /// The files of the layout.
    Files,
    /// Nothing.
    Nothing,
}

/// What became of the command that empties caches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotEmptied {
    /// It was not run.
    LeftOut {
        /// Why, for people.
        why: String,
    },
    /// It was ended.
    Failed {
        /// Why, for people.
        why: String,
    },
    /// It ended by itself.
    Ended {
        /// Its exit status; `None` where it had none.
        status: Option<i32>,
        /// The last line that it wrote.
        last: String,
    },
}
