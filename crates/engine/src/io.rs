//! What is asked of a target, and what comes back: the words that workers, buffers, checks and
//! backends share.

use model::Op;

/// One request with its place among the worker's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Io {
    /// Which of the worker's outstanding requests it is, from 0 to the depth − 1.
    pub(crate) slot: u32,
    pub(crate) op: Op,
    pub(crate) file: u32,
    pub(crate) offset: u64,
    pub(crate) length: u32,
}

/// A request that came back: bytes moved (0 for a trim or an fsync), or a negative errno, or as
/// such the number of a damage (`model::sample::VERIFY_…`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    pub(crate) slot: u32,
    pub(crate) result: i32,
}
