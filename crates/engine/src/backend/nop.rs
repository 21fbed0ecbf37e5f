//! The kernel's request that does nothing, over a ring: all of the way to the target but the
//! target.

use super::Backend;
use super::uring::{build, wait};
use crate::io::{Completion, Io};
use io_uring::{IoUring, opcode};
use std::io;

/// A ring that sends nothing but no-ops, so that it needs neither files nor buffers.
pub(crate) struct Nop {
    ring: IoUring,
    timed_wait: bool,
}

impl Nop {
    /// A ring for `depth` requests. Must be called on the thread that uses it.
    ///
    /// # Errors
    /// When the kernel gives no ring.
    pub(crate) fn new(depth: u32) -> io::Result<Nop> {
        let ring = build(depth)?;
        let timed_wait = ring.params().is_feature_ext_arg();
        Ok(Nop { ring, timed_wait })
    }
}

impl Backend for Nop {
    fn prepare(&mut self, io: &Io) {
        let mut only = Some(*io);
        self.prepare_all(|| only.take());
    }

    #[inline]
    fn prepare_all(&mut self, mut next: impl FnMut() -> Option<Io>) {
        let mut queue = self.ring.submission();
        while let Some(io) = next() {
            // What the request asked for comes back with it, so that it counts as moved in full.
            let entry = opcode::Nop::new()
                .build()
                .user_data(u64::from(io.length) << 32 | u64::from(io.slot));
            // SAFETY: the request refers to no memory and no file.
            let pushed = unsafe { queue.push(&entry) };
            debug_assert!(pushed.is_ok(), "the submission queue is as long as the depth");
        }
    }

    #[inline]
    fn submit(&mut self, patience_ns: u64) -> io::Result<()> {
        wait(&mut self.ring, self.timed_wait, patience_ns)
    }

    #[inline]
    fn reap(&mut self, mut take: impl FnMut(Completion)) {
        for entry in self.ring.completion() {
            let (slot, length) = (entry.user_data() as u32, (entry.user_data() >> 32) as i32);
            take(Completion {
                slot,
                result: if entry.result() == 0 { length } else { entry.result() },
            });
        }
    }
}
