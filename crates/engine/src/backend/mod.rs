//! How requests reach the kernel: a small contract, one file for each way.

mod aio;
mod nop;
mod null;
mod sim;
mod sync;
mod uring;

pub(crate) use aio::{Aio, is_allowed as aio_is_allowed};
pub(crate) use nop::Nop;
pub(crate) use null::Null;
pub(crate) use sim::Sim;
pub(crate) use sync::Sync;
pub(crate) use uring::{Ring, is_allowed as ring_is_allowed};

use crate::contents::WorkerContents;
use model::Op;
use std::io;

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

/// A request that came back: bytes moved, or a negative errno, or as such the number of a damage (`model::sample::VERIFY_…`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    pub(crate) slot: u32,
    pub(crate) result: i32,
}

/// A way to the target. A worker calls `prepare` for everything that is due, `submit` once, and takes back what is there.
pub(crate) trait Backend {
    /// Makes a request ready; the target need not see it before [`submit`](Self::submit).
    fn prepare(&mut self, io: &Io);

    /// Sends what is ready and waits until something has completed, but no longer than `patience_ns`.
    ///
    /// # Errors
    /// Only for failures of ours; an error of the target is a completion.
    fn submit(&mut self, patience_ns: u64) -> io::Result<()>;

    /// Hands over everything that has completed.
    fn reap(&mut self, take: impl FnMut(Completion));

    /// What fills and checks its buffers; `None` if it has none.
    fn contents(&self) -> Option<&WorkerContents> {
        None
    }
}
