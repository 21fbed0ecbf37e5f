//! io_uring: one ring for each worker, requests in batches.

use super::{Backend, Setup, poll};
use crate::contents::WorkerContents;
use crate::io::{Completion, Io};
use crate::worker::buffers::Buffers;
use io_uring::{EnterFlags, IoUring, opcode, squeue, types};
use model::choices::Poll;
use model::note::Degraded;
use model::{Op, WriteMark};
use rustix::io::{Errno, ReadWriteFlags, preadv2};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, RawFd};

/// The largest piece of memory that the kernel registers at once.
const LARGEST_REGISTERED: usize = 1 << 30;

/// Whether the kernel lets this process have a ring and hand it requests, and if not, why. A filter
/// of system calls (seccomp) may let the first through and not the second.
pub(crate) fn is_allowed() -> io::Result<()> {
    let mut ring = build(1)?;
    let nop = opcode::Nop::new().build();
    // SAFETY: a request for nothing has neither file nor buffer.
    unsafe { ring.submission().push(&nop) }.map_err(io::Error::other)?;
    ring.submit_and_wait(1).map(drop)
}

/// How long a thread of the kernel looks for requests in vain before it sleeps, in ms: longer than
/// a worker is away at the end of an interval.
const POLL_IDLE_MS: u32 = 100;

/// A ring that is polled as `setup` wants, as far as the kernel lets us; what it does not is added
/// to `refused`.
fn build_polled(setup: &Setup, refused: &mut Vec<Degraded>) -> io::Result<IoUring> {
    let (poll, why) = poll::possible(setup);
    refused.extend(why);
    let entries = setup.depth.next_power_of_two();
    let ring = match poll {
        Poll::None => return build(setup.depth),
        Poll::Completions => IoUring::builder().setup_iopoll().build(entries),
        // The kernel takes requests at its own time: their places may still be taken when they have
        // completed. One batch more than that it cannot have under its hands.
        Poll::Submissions => IoUring::builder().setup_sqpoll(POLL_IDLE_MS).build(2 * entries),
    };
    ring.or_else(|error| {
        refused.push(Degraded::PollRefused { poll, error: error.into() });
        build(setup.depth)
    })
}

/// A ring with the fastest set of flags that the kernel knows.
pub(super) fn build(depth: u32) -> io::Result<IoUring> {
    let entries = depth.next_power_of_two();
    // Kernel 6.1 and up: completions are only looked after when the one thread that owns the ring
    // asks for them.
    IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(entries)
        // 5.19: no interrupt from a running worker.
        .or_else(|_| IoUring::builder().setup_coop_taskrun().build(entries))
        // 5.6.
        .or_else(|_| IoUring::new(entries))
}

/// Submits what is ready and waits for a completion, no longer than `patience_ns` where the kernel
/// has a `timed_wait`; with a patience of 0 not at all.
#[inline]
pub(super) fn wait(ring: &mut IoUring, timed_wait: bool, patience_ns: u64) -> io::Result<()> {
    let result = if patience_ns == 0 {
        look(ring)
    } else if timed_wait {
        let patience = types::Timespec::new()
            .sec(patience_ns / 1_000_000_000)
            .nsec((patience_ns % 1_000_000_000) as u32);
        ring.submitter().submit_with_args(1, &types::SubmitArgs::new().timespec(&patience))
    } else {
        ring.submitter().submit_and_wait(1)
    };
    match result {
        Ok(_) => Ok(()),
        Err(error) => match error.raw_os_error() {
            // Time is up, a signal came, or the completion queue has to be emptied first: look and
            // ask again.
            Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN) => Ok(()),
            _ => Err(error),
        },
    }
}

/// Submits what is ready and has the kernel put completions where we see them, without a wait.
#[inline]
fn look(ring: &mut IoUring) -> io::Result<usize> {
    if ring.params().is_setup_sqpoll() {
        return ring.submit();
    }
    let ready = ring.submission().len() as u32;
    // The library asks for completions only where it waits for one; a ring that defers them would
    // show none.
    let flags = EnterFlags::GETEVENTS.bits();
    // SAFETY: so many entries are in the queue, and whoever put them there keeps their buffers and
    // files.
    unsafe { ring.submitter().enter::<libc::sigset_t>(ready, 0, flags, None) }
}

/// A worker's ring with its registered files and buffers.
pub(crate) struct Ring {
    ring: IoUring,
    form: Form,
    buffers: Buffers,
    /// Whether the kernel can wait with a time limit (5.11).
    timed_wait: bool,
}

/// How requests are put for the kernel.
struct Form {
    files: Box<[RawFd]>,
    /// For each file, how its requests go out.
    flags: Box<[squeue::Flags]>,
    /// Where writes begin among the buffers; 0 where a worker only reads or only writes.
    write_base: usize,
    registered_files: bool,
    registered_buffers: bool,
    /// Flags of each write: `RWF_DSYNC` or none.
    write_flags: i32,
    /// The mode of each trim.
    trim_mode: i32,
    /// The priority of each read and write; 0 for that of the thread.
    ioprio: u16,
}

impl Ring {
    /// A ring for what `setup` says. Must be called on the thread that uses it.
    ///
    /// Comes back with a list of what the kernel refused and the ring does without.
    ///
    /// # Errors
    /// When the kernel gives no ring.
    pub(crate) fn new(setup: Setup) -> io::Result<(Ring, Vec<Degraded>)> {
        let mut refused = Vec::new();
        let ring = build_polled(&setup, &mut refused)?;
        let write_flags = setup.write_flags();
        let Setup { files, buffers, write_base, ioprio, trim_mode, .. } = setup;
        let registered_files = match ring.submitter().register_files(&files) {
            Ok(()) => true,
            Err(error) => {
                refused.push(Degraded::RegisteredFiles(error.into()));
                false
            }
        };
        let registered_buffers = match register_buffers(&ring, &buffers) {
            Ok(()) => true,
            Err(error) => {
                refused.push(Degraded::RegisteredBuffers(error.into()));
                false
            }
        };
        let timed_wait = ring.params().is_feature_ext_arg();
        let flags = files.iter().map(|file| flags(*file)).collect();
        let form = Form {
            files,
            flags,
            write_base,
            registered_files,
            registered_buffers,
            write_flags,
            trim_mode,
            ioprio,
        };
        Ok((Ring { ring, form, buffers, timed_wait }, refused))
    }
}

impl Form {
    /// The buffer of a request.
    #[inline]
    fn index(&self, io: &Io) -> usize {
        if io.op == Op::Write { self.write_base + io.slot as usize } else { io.slot as usize }
    }

    #[inline]
    fn entry(&self, io: &Io, pointer: *mut u8) -> squeue::Entry {
        // The crate's two kinds of file have no common type that can be named.
        macro_rules! on {
            ($file:expr) => {
                match (io.op, self.registered_buffers) {
                    (Op::Read, true) => {
                        let read =
                            opcode::ReadFixed::new($file, pointer, io.length, 0).offset(io.offset);
                        read.ioprio(self.ioprio).build()
                    }
                    (Op::Read, false) => {
                        let read = opcode::Read::new($file, pointer, io.length).offset(io.offset);
                        read.ioprio(self.ioprio).build()
                    }
                    (Op::Write, true) => {
                        let write =
                            opcode::WriteFixed::new($file, pointer, io.length, 0).offset(io.offset);
                        write.ioprio(self.ioprio).rw_flags(self.write_flags).build()
                    }
                    (Op::Write, false) => {
                        let write = opcode::Write::new($file, pointer, io.length).offset(io.offset);
                        write.ioprio(self.ioprio).rw_flags(self.write_flags).build()
                    }
                    (Op::Fsync, _) => {
                        opcode::Fsync::new($file).flags(types::FsyncFlags::DATASYNC).build()
                    }
                    (Op::Trim, _) => opcode::Fallocate::new($file, io.length.into())
                        .offset(io.offset)
                        .mode(self.trim_mode)
                        .build(),
                    (op, _) => unreachable!("{op} goes to no backend"),
                }
            };
        }
        let entry = if self.registered_files {
            on!(types::Fixed(io.file))
        } else {
            on!(types::Fd(self.files[io.file as usize]))
        };
        entry.user_data(u64::from(io.slot)).flags(self.flags[io.file as usize])
    }
}

/// Where a file knows no requests that do not wait (zram, tmpfs), the ring tries each of them in
/// vain before it gives it to a thread of the kernel. There, asking for the thread at once saves a
/// quarter of the whole cost.
fn flags(file: RawFd) -> squeue::Flags {
    // SAFETY: the caller keeps the files of a ring open.
    let file = unsafe { BorrowedFd::borrow_raw(file) };
    if always_waits(&file) { squeue::Flags::ASYNC } else { squeue::Flags::empty() }
}

/// Whether a file knows no requests that do not wait.
pub(crate) fn always_waits(file: &impl AsFd) -> bool {
    // Far behind the end there is nothing to read, so that the target itself never hears of this.
    let (nowhere, mut room) = (1 << 62, [0; 1]);
    let mut room = [io::IoSliceMut::new(&mut room)];
    let answer = preadv2(file, &mut room, nowhere, ReadWriteFlags::NOWAIT);
    answer == Err(Errno::OPNOTSUPP)
}

fn register_buffers(ring: &IoUring, buffers: &Buffers) -> io::Result<()> {
    let (start, length) = buffers.whole();
    if length > LARGEST_REGISTERED {
        return Err(io::Error::other("more than 1 GiB for one worker"));
    }
    let whole = libc::iovec { iov_base: start.cast(), iov_len: length };
    // SAFETY: the memory belongs to `buffers`, which `Ring` keeps until after the ring is gone.
    unsafe { ring.submitter().register_buffers(&[whole]) }
}

impl Backend for Ring {
    fn prepare(&mut self, io: &Io) {
        let mut only = Some(*io);
        self.prepare_all(|| only.take());
    }

    #[inline]
    fn prepare_all(&mut self, mut next: impl FnMut() -> Option<Io>) {
        let mut queue = self.ring.submission();
        while let Some(io) = next() {
            let index = self.form.index(&io);
            self.buffers.begin(index, &io);
            let entry = self.form.entry(&io, self.buffers.pointer(index));
            // SAFETY: the buffer lives as long as the ring, holds `length` bytes, and is not used
            // again before this request's completion frees its slot; the files outlive the ring.
            let pushed = unsafe { queue.push(&entry) };
            // The ring has a place for every slot, and `submit` empties it.
            assert!(pushed.is_ok(), "the submission queue is as long as the depth");
        }
    }

    #[inline]
    fn submit(&mut self, patience_ns: u64) -> io::Result<()> {
        wait(&mut self.ring, self.timed_wait, patience_ns)
    }

    fn is_carried(&self) -> bool {
        self.form.flags.iter().all(|flags| flags.contains(squeue::Flags::ASYNC))
    }

    #[inline]
    fn reap(&mut self, mut take: impl FnMut(Completion)) {
        for entry in self.ring.completion() {
            let slot = entry.user_data() as u32;
            take(Completion { slot, result: self.buffers.end(slot, entry.result()) });
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
    fn a_ring_that_cannot_be_used_is_none() {
        for call in [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter] {
            let error = without(&[call], is_allowed).expect_err("forbidden");
            assert_eq!(error.raw_os_error(), Some(libc::EPERM));
        }
    }
}
