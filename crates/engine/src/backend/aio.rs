//! Linux's older asynchronous I/O ("libaio"), straight from the kernel: for kernels and containers
//! without io_uring.
//!
//! Asynchronous only with direct I/O; through the page cache the kernel does one request after the
//! other inside of `io_submit`.

use super::{Backend, Setup};
use crate::contents::WorkerContents;
use crate::io::{Completion, Io};
use crate::worker::buffers::Buffers;
use model::{Op, WriteMark};
use std::io;
use std::os::fd::RawFd;

// From linux/aio_abi.h.
const READ: u16 = 0;
const WRITE: u16 = 1;
const FDSYNC: u16 = 3;
/// `aio_reqprio` holds a priority.
const WITH_PRIORITY: u32 = 1 << 1;

/// `struct io_event` of linux/aio_abi.h.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Event {
    data: u64,
    request: u64,
    result: i64,
    second_result: i64,
}

/// Whether the kernel lets this process have a context and use it, and if not, why. A filter of
/// system calls (seccomp) may let the first through and not the second.
pub(crate) fn is_allowed() -> io::Result<()> {
    let context = Context::new(1)?;
    // SAFETY: of no requests the kernel looks at none, whatever the pointer.
    let sent = unsafe {
        libc::syscall(libc::SYS_io_submit, context.0, 0 as libc::c_long, std::ptr::null_mut::<u8>())
    };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut patience = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let mut event = Event::default();
    let (least, most): (libc::c_long, libc::c_long) = (0, 1);
    // SAFETY: there is room for one event; the kernel keeps neither pointer.
    let came = unsafe {
        libc::syscall(
            libc::SYS_io_getevents,
            context.0,
            least,
            most,
            &raw mut event,
            &raw mut patience,
        )
    };
    if came < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The kernel's side of a worker's requests.
struct Context(libc::c_ulong);

impl Context {
    fn new(depth: u32) -> io::Result<Context> {
        let mut context: libc::c_ulong = 0;
        // SAFETY: the kernel writes one word into `context`, which is 0 as it demands.
        let failed = unsafe {
            libc::syscall(libc::SYS_io_setup, libc::c_ulong::from(depth), &raw mut context)
        } != 0;
        if failed { Err(io::Error::last_os_error()) } else { Ok(Context(context)) }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context is ours. The call waits for what is outstanding, so that nothing
        // writes into the buffers afterwards.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.0) };
    }
}

/// A worker's context with a control block for each slot.
pub(crate) struct Aio {
    // Before the buffers: fields are dropped in this order, and the context's end waits for the
    // kernel.
    context: Context,
    files: Box<[RawFd]>,
    buffers: Buffers,
    /// Where writes begin among the buffers; 0 where a worker only reads or only writes.
    write_base: usize,
    /// Flags of each write: `RWF_DSYNC` or none.
    write_flags: i32,
    /// The priority of each read and write; 0 for that of the thread.
    ioprio: u16,
    blocks: Box<[libc::iocb]>,
    /// Blocks that wait to be submitted, the oldest first.
    ready: Vec<*mut libc::iocb>,
    /// Requests that the kernel has.
    outstanding: usize,
    events: Box<[Event]>,
    /// How many of `events` came with the last wait.
    arrived: usize,
    /// Requests that the kernel refused at submission.
    refused: Vec<Completion>,
}

impl Aio {
    /// A backend for what `setup` says.
    ///
    /// # Errors
    /// When the kernel gives no context: `EAGAIN` where `fs.aio-max-nr` is used up.
    pub(crate) fn new(setup: Setup) -> io::Result<Aio> {
        let context = Context::new(setup.depth)?;
        let (depth, write_flags) = (setup.depth as usize, setup.write_flags());
        // SAFETY: an iocb is made of integers, for which zero is a value.
        let blocks = (0..depth).map(|_| unsafe { std::mem::zeroed() }).collect();
        Ok(Aio {
            context,
            files: setup.files,
            buffers: setup.buffers,
            write_base: setup.write_base,
            write_flags,
            ioprio: setup.ioprio,
            blocks,
            ready: Vec::with_capacity(depth),
            outstanding: 0,
            events: vec![Event::default(); depth].into(),
            arrived: 0,
            refused: Vec::with_capacity(depth),
        })
    }

    /// Hands the kernel all that is ready. What it refuses is an answer of the target.
    fn send(&mut self) -> io::Result<()> {
        let mut sent = 0;
        while sent < self.ready.len() {
            let (count, first) =
                ((self.ready.len() - sent) as libc::c_long, self.ready[sent..].as_mut_ptr());
            // SAFETY: the pointers are those of `blocks`, whose buffers and files live as long as
            // the context.
            let taken = unsafe { libc::syscall(libc::SYS_io_submit, self.context.0, count, first) };
            if taken > 0 {
                sent += taken as usize;
                self.outstanding += taken as usize;
                continue;
            }
            let errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
            match refusal(taken, errno) {
                Refusal::Again => {}
                Refusal::Later => break,
                Refusal::OfTarget => {
                    // SAFETY: it points into `blocks`, which nobody else looks at during this call.
                    let slot = unsafe { (*self.ready[sent]).aio_data } as u32;
                    self.refused.push(Completion { slot, result: -errno });
                    sent += 1;
                }
                Refusal::OfOurs => return Err(io::Error::from_raw_os_error(errno)),
            }
        }
        self.ready.drain(..sent);
        Ok(())
    }
}

/// What it means that `io_submit` took nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// A signal came.
    Again,
    /// The kernel has no room before something completes.
    Later,
    /// The first request cannot be done on its file: an error like any other of the target.
    OfTarget,
    /// The call itself was wrong.
    OfOurs,
}

fn refusal(taken: libc::c_long, errno: i32) -> Refusal {
    match errno {
        // Nothing taken without an error happens only when nothing was offered.
        _ if taken == 0 => Refusal::Later,
        libc::EINTR => Refusal::Again,
        libc::EAGAIN => Refusal::Later,
        libc::EFAULT | libc::ENOSYS => Refusal::OfOurs,
        _ => Refusal::OfTarget,
    }
}

impl Backend for Aio {
    #[inline]
    fn prepare(&mut self, io: &Io) {
        let index =
            if io.op == Op::Write { self.write_base + io.slot as usize } else { io.slot as usize };
        self.buffers.begin(index, io);
        let block = &mut self.blocks[io.slot as usize];
        block.aio_data = u64::from(io.slot);
        block.aio_fildes = self.files[io.file as usize] as u32;
        block.aio_buf = self.buffers.pointer(index) as u64;
        block.aio_nbytes = u64::from(io.length);
        block.aio_offset = io.offset as i64;
        block.aio_rw_flags = if io.op == Op::Write { self.write_flags } else { 0 };
        (block.aio_flags, block.aio_reqprio) = match io.op {
            Op::Read | Op::Write if self.ioprio > 0 => (WITH_PRIORITY, self.ioprio as i16),
            _ => (0, 0),
        };
        block.aio_lio_opcode = match io.op {
            Op::Read => READ,
            Op::Write => WRITE,
            Op::Fsync => {
                // The kernel refuses one of these with a range.
                (block.aio_buf, block.aio_nbytes, block.aio_offset) = (0, 0, 0);
                FDSYNC
            }
            // The plan refuses libaio for a workload that trims, and no fallback takes it.
            Op::Trim => {
                return self.refused.push(Completion { slot: io.slot, result: -libc::EOPNOTSUPP });
            }
            op => unreachable!("{op} goes to no backend"),
        };
        self.ready.push(&raw mut *block);
    }

    #[inline]
    fn submit(&mut self, patience_ns: u64) -> io::Result<()> {
        self.send()?;
        self.arrived = 0;
        // What was refused is news already.
        let waits = self.outstanding > 0 && self.refused.is_empty() && patience_ns > 0;
        let least = libc::c_long::from(waits);
        let mut patience = libc::timespec {
            tv_sec: (patience_ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (patience_ns % 1_000_000_000) as libc::c_long,
        };
        // SAFETY: `events` has room for as many as there are slots; the kernel keeps neither
        // pointer.
        let came = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context.0,
                least,
                self.events.len() as libc::c_long,
                self.events.as_mut_ptr(),
                &raw mut patience,
            )
        };
        if came >= 0 {
            self.arrived = came as usize;
            return Ok(());
        }
        let error = io::Error::last_os_error();
        // After a signal: look and ask again.
        if error.raw_os_error() == Some(libc::EINTR) { Ok(()) } else { Err(error) }
    }

    #[inline]
    fn reap(&mut self, mut take: impl FnMut(Completion)) {
        for refused in self.refused.drain(..) {
            take(Completion {
                slot: refused.slot,
                result: self.buffers.end(refused.slot, refused.result),
            });
        }
        let arrived = std::mem::take(&mut self.arrived);
        self.outstanding -= arrived;
        for event in &self.events[..arrived] {
            let slot = event.data as u32;
            take(Completion { slot, result: self.buffers.end(slot, event.result as i32) });
        }
    }

    fn contents(&self) -> Option<&WorkerContents> {
        Some(self.buffers.contents())
    }

    fn mark(&mut self) -> Option<WriteMark> {
        self.buffers.mark()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::forbidden::without;

    #[test]
    fn a_refusal_is_the_targets_unless_the_kernel_or_the_call_is_to_blame() {
        assert_eq!(refusal(-1, libc::EBADF), Refusal::OfTarget);
        assert_eq!(refusal(-1, libc::EINVAL), Refusal::OfTarget);
        assert_eq!(refusal(-1, libc::EAGAIN), Refusal::Later);
        assert_eq!(refusal(-1, libc::EINTR), Refusal::Again);
        assert_eq!(refusal(-1, libc::EFAULT), Refusal::OfOurs);
    }

    #[test]
    fn a_context_that_cannot_be_used_is_none() {
        for call in [libc::SYS_io_setup, libc::SYS_io_submit, libc::SYS_io_getevents] {
            let error = without(&[call], is_allowed).expect_err("forbidden");
            assert_eq!(error.raw_os_error(), Some(libc::EPERM));
        }
        assert!(
            without(&[libc::SYS_io_cancel], is_allowed).is_ok(),
            "what is not forbidden is allowed"
        );
    }

    #[test]
    fn events_are_as_large_as_the_kernels() {
        assert_eq!((size_of::<Event>(), size_of::<libc::iocb>()), (32, 64));
    }
}
