//! The page cache, emptied or not.

use super::SystemError;
use crate::units::Bytes;
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
    /// Pages stayed after the eviction: somebody has them mapped, or nobody evicted them.
    Left {
        /// Bytes that stayed.
        bytes: Bytes,
        /// Bytes of the files.
        of: Bytes,
    },
}

impl PageCache {
    /// Whether the cache is not as empty as it was asked to be.
    pub fn is_left(&self) -> bool {
        !matches!(self, PageCache::Before(_))
    }
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
