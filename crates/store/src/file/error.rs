//! What can be wrong with a run file, and what to do about it.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why a run file could not be made, written or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// Something stands there already.
    Exists(PathBuf),
    /// It cannot be made: no such folder, no permission.
    Create(PathBuf, String),
    /// What happened could not be written down; what was recorded before is safe.
    Write(PathBuf, String),
    /// There is nothing, or it cannot be opened.
    Open(PathBuf, String),
    /// It is something else.
    NotARunFile(PathBuf, String),
    /// Its tables are those of another version of Plimsoll.
    OtherFormat(PathBuf, u32),
    /// It holds results of another tool, and what was asked for needs a run of Plimsoll.
    Foreign(PathBuf),
    /// It no longer keeps every interval, and what was asked for needs them.
    Thinned(PathBuf),
    /// It is a run file, and a part of it is missing or contradicts the rest.
    Damaged(PathBuf, String),
}

impl StoreError {
    pub(crate) fn damaged(path: &Path, why: impl Into<String>) -> StoreError {
        StoreError::Damaged(path.to_owned(), why.into())
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Exists(path) => {
                write!(
                    f,
                    "{} exists, and a run file is never overwritten; name another with --out",
                    path.display()
                )
            }
            StoreError::Create(path, why) => {
                write!(
                    f,
                    "the run file {} cannot be made: {why}; name another place with --out",
                    path.display()
                )
            }
            StoreError::Write(path, why) => write!(
                f,
                "the run file {} cannot be written: {why}; what was recorded until then is kept: \
                 free some space, and go on with `plimsoll resume`, with --out in another place if \
                 need be",
                path.display()
            ),
            StoreError::Open(path, why) => {
                write!(
                    f,
                    "{} cannot be opened: {why}; check the path and your permission to read it",
                    path.display()
                )
            }
            StoreError::NotARunFile(path, why) => write!(
                f,
                "{} is not a run file ({why}); name one that `plimsoll run` wrote, which ends in \
                 .plimsoll",
                path.display()
            ),
            // The format is the last thing that is written when a file is made.
            StoreError::OtherFormat(path, 0) => write!(
                f,
                "the run of {} was killed while its file was made, so nothing is recorded; remove \
                 the file, and start the run again",
                path.display()
            ),
            StoreError::OtherFormat(path, format) => write!(
                f,
                "{} has format {format}, and this version reads format {}; use the version of \
                 Plimsoll that made it (`SELECT version FROM run`)",
                path.display(),
                crate::FORMAT
            ),
            StoreError::Foreign(path) => write!(
                f,
                "{} holds results of another tool, not a run of Plimsoll; `plimsoll show`, \
                 compare, trend, report and export take it",
                path.display()
            ),
            StoreError::Thinned(path) => write!(
                f,
                "{} keeps sums of its first intervals alone, as `keep.full` of its suite says; \
                 `plimsoll show`, report, compare and export take it",
                path.display()
            ),
            StoreError::Damaged(path, why) => write!(
                f,
                "the run file {} is damaged: {why}; get another copy (and its -wal file, if the \
                 run was killed)",
                path.display()
            ),
        }
    }
}

impl std::error::Error for StoreError {}
