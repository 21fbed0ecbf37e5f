//! How requests reach the kernel: a small contract, one file for each way.

mod aio;
#[cfg(test)]
mod forbidden;
mod nop;
mod null;
mod poll;
mod sim;
mod sync;
pub(crate) mod trial;
mod uring;

pub(crate) use aio::{Aio, is_allowed as aio_is_allowed};
pub(crate) use nop::Nop;
pub(crate) use null::Null;
pub(crate) use sim::Sim;
pub(crate) use sync::Sync;
pub(crate) use uring::{Ring, always_waits, is_allowed as ring_is_allowed};

use crate::contents::WorkerContents;
use crate::io::{Completion, Io};
use crate::worker::buffers::Buffers;
use model::WriteMark;
use model::choices::{Poll, TrimAs};
use std::io;
use std::os::fd::RawFd;

/// How a trim is asked for; the file's size stays. Where the space of a block device goes, the
/// kernel gives the blocks back where the device promises zeros for them.
pub(crate) fn trim_mode(trim: TrimAs) -> libc::c_int {
    let what = match trim {
        TrimAs::Hole => libc::FALLOC_FL_PUNCH_HOLE,
        TrimAs::Zeroes => libc::FALLOC_FL_ZERO_RANGE,
        TrimAs::Allocate => 0,
    };
    what | libc::FALLOC_FL_KEEP_SIZE
}

/// What a worker brings to its backend.
pub(crate) struct Setup {
    /// Requests under way at the same time.
    pub(crate) depth: u32,
    /// They must stay open as long as the backend lives.
    pub(crate) files: Box<[RawFd]>,
    pub(crate) buffers: Buffers,
    /// Where writes begin among the buffers; 0 where a worker only reads or only writes.
    pub(crate) write_base: usize,
    /// Whether each write is durable before it completes.
    pub(crate) dsync: bool,
    /// The mode of each trim, as `fallocate` takes it.
    pub(crate) trim_mode: libc::c_int,
    /// Whether trims are those of a purge: a device gets discards.
    pub(crate) purges: bool,
    /// Whether trims reset zones of devices.
    pub(crate) resets_zones: bool,
    /// The kernel's word for the priority of each read and write; 0 for that of the thread.
    pub(crate) ioprio: u16,
    /// Who is to look for requests and completions of a ring.
    pub(crate) poll: Poll,
    /// Whether all requests are reads and writes.
    pub(crate) only_moves: bool,
}

impl Setup {
    /// Flags of each write: `RWF_DSYNC` or none.
    fn write_flags(&self) -> libc::c_int {
        if self.dsync { libc::RWF_DSYNC } else { 0 }
    }
}

/// A way to the target. A worker calls `prepare` for everything that is due, `submit` once, and
/// takes back what is there.
pub(crate) trait Backend {
    /// Makes a request ready; the target need not see it before [`submit`](Self::submit).
    fn prepare(&mut self, io: &Io);

    /// Makes everything ready that `next` hands out.
    #[inline]
    fn prepare_all(&mut self, mut next: impl FnMut() -> Option<Io>) {
        while let Some(io) = next() {
            self.prepare(&io);
        }
    }

    /// Sends what is ready and waits until something has completed, but no longer than
    /// `patience_ns`; with a patience of 0 not at all.
    ///
    /// # Errors
    /// Only for failures of ours; an error of the target is a completion.
    fn submit(&mut self, patience_ns: u64) -> io::Result<()>;

    /// Hands over everything that has completed.
    fn reap(&mut self, take: impl FnMut(Completion));

    /// Whether other threads of the kernel take each request over at once: none then waits for the
    /// others that are sent with it.
    fn is_carried(&self) -> bool {
        false
    }

    /// What fills and checks its buffers; `None` if it has none.
    fn contents(&self) -> Option<&WorkerContents> {
        None
    }

    /// How far its writes have got since the last time that it was asked; `None` where nothing is
    /// checked.
    fn mark(&mut self) -> Option<WriteMark> {
        None
    }
}
