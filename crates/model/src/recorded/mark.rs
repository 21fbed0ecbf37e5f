//! How far a worker's writes have got: what it takes to say after a crash which of them must be
//! found.

use serde::{Deserialize, Serialize};

/// How far one worker's writes had got when it left an interval; kept where blocks carry headers
/// (`contents.verify`).
///
/// Writes are numbered by their generations: the first of a worker in a stage has `base + 1`, the
/// next `base + 2`, in the order of its generator. Whoever runs the generator again up to
/// `completed` knows for every block the oldest generation that must stand there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteMark {
    /// The worker's generations in this stage are above it. The same for all workers of a host in
    /// a stage.
    pub base: u32,
    /// The generation of the last write that was sent; `base` if there was none.
    pub sent: u32,
    /// Every write of this stage up to this generation has come back; `base` if none has.
    pub completed: u32,
    /// Every write of this stage up to this generation came back before an `fdatasync` was sent
    /// that succeeded; `base` if none has. Stays at `base` for a worker that writes to several
    /// files, because each `fdatasync` is for one of them.
    pub durable: u32,
    /// The most generations that lay, in this interval, between a write and the oldest write that
    /// was under way to some of the same bytes when it was sent. Any of these may have landed
    /// last.
    pub overtaken: u32,
    /// Generations of writes that failed in this interval, as far as they are told one by one.
    /// They may be there, or in part, or not.
    pub failed: Vec<u32>,
    /// More failed than are told: of the writes that came back in this interval, none is sure to
    /// be there.
    pub more_failed: bool,
}
