//! `pread` and `pwrite`, one at a time.

use super::{Backend, Setup};
use crate::contents::WorkerContents;
use crate::io::{Completion, Io};
use crate::targets::purge;
use crate::worker::buffers::Buffers;
use crate::zones;
use model::{Op, WriteMark};
use std::io;
use std::os::fd::RawFd;

/// One system call for each request.
pub(crate) struct Sync {
    files: Box<[RawFd]>,
    buffers: Buffers,
    /// Where the write's buffer is; 0 where a worker only reads or only writes.
    write_base: usize,
    /// Flags of each write: `RWF_DSYNC` or none.
    write_flags: i32,
    /// The mode of each trim.
    trim_mode: i32,
    /// Whether trims are those of a purge.
    purges: bool,
    /// Whether trims reset zones of devices.
    resets_zones: bool,
    /// The request that is ready; the depth is 1.
    ready: Option<Io>,
    done: Option<Completion>,
}

impl Sync {
    /// A backend for one request at a time.
    pub(crate) fn new(setup: Setup) -> Sync {
        let write_flags = setup.write_flags();
        Sync {
            files: setup.files,
            buffers: setup.buffers,
            write_base: setup.write_base,
            write_flags,
            trim_mode: setup.trim_mode,
            purges: setup.purges,
            resets_zones: setup.resets_zones,
            ready: None,
            done: None,
        }
    }

    fn call(&mut self, io: &Io) -> i32 {
        let file = self.files[io.file as usize];
        let length = io.length as usize;
        let offset = io.offset as libc::off_t;
        let moved = match io.op {
            Op::Read => {
                // SAFETY: buffer 0 holds at least `length` bytes, and nobody else uses it during
                // the call.
                unsafe { libc::pread(file, self.buffers.pointer(0).cast(), length, offset) }
            }
            Op::Write => {
                let vector = libc::iovec {
                    iov_base: self.buffers.pointer(self.write_base).cast(),
                    iov_len: length,
                };
                // SAFETY: the buffer holds at least `length` bytes, and nobody else uses it during
                // the call.
                unsafe { libc::pwritev2(file, &raw const vector, 1, offset, self.write_flags) }
            }
            // SAFETY: the file is open as long as this backend lives.
            Op::Fsync => unsafe { libc::fdatasync(file) as isize },
            Op::Trim if self.resets_zones => zones::reset_as_request(file, io),
            Op::Trim if self.purges && purge::is_device(file) => purge::discard(file, io),
            // SAFETY: the same.
            Op::Trim => unsafe {
                libc::fallocate(file, self.trim_mode, offset, io.length.into()) as isize
            },
            op => unreachable!("{op} goes to no backend"),
        };
        if moved < 0 {
            -io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
        } else {
            moved as i32
        }
    }
}

impl Backend for Sync {
    #[inline]
    fn prepare(&mut self, io: &Io) {
        debug_assert!(self.ready.is_none(), "the sync backend has a depth of 1");
        let index = if io.op == Op::Write { self.write_base } else { 0 };
        self.buffers.begin(index, io);
        self.ready = Some(*io);
    }

    #[inline]
    fn submit(&mut self, _patience_ns: u64) -> io::Result<()> {
        if let Some(io) = self.ready.take() {
            let mut result = self.call(&io);
            while result == -libc::EINTR {
                result = self.call(&io);
            }
            self.done =
                Some(Completion { slot: io.slot, result: self.buffers.end(io.slot, result) });
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, mut take: impl FnMut(Completion)) {
        if let Some(completion) = self.done.take() {
            take(completion);
        }
    }

    fn contents(&self) -> Option<&WorkerContents> {
        Some(self.buffers.contents())
    }

    fn mark(&mut self) -> Option<WriteMark> {
        self.buffers.mark()
    }
}
