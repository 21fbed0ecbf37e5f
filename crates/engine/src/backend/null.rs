//! Completes everything at once: what is left is Plimsoll's own cost.

use super::Backend;
use crate::io::{Completion, Io};
use std::io;

/// Sends nothing anywhere.
pub(crate) struct Null {
    ready: Vec<Completion>,
}

impl Null {
    pub(crate) fn new(depth: u32) -> Null {
        Null { ready: Vec::with_capacity(depth as usize) }
    }
}

impl Backend for Null {
    #[inline]
    fn prepare(&mut self, io: &Io) {
        self.ready.push(Completion { slot: io.slot, result: io.length as i32 });
    }

    #[inline]
    fn submit(&mut self, _patience_ns: u64) -> io::Result<()> {
        Ok(())
    }

    #[inline]
    fn reap(&mut self, mut take: impl FnMut(Completion)) {
        self.ready.drain(..).for_each(&mut take);
    }
}
