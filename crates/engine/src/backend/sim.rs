//! Simulated devices in the time of the wall: shows what the engine adds to an answer that is
//! known.

use super::Backend;
use crate::clock::{Clock, Monotonic};
use crate::io::{Completion, Io};
use crate::targets::World;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::{Mutex, PoisonError};
use twin::Request;

/// Sleepers wake too late; the last stretch is spent awake.
const AWAKE_NS: u64 = 60_000;

/// A worker's requests to devices that it shares with the other workers of its host.
pub(crate) struct Sim<'a> {
    world: &'a Mutex<World>,
    clock: Monotonic,
    ready: Vec<Io>,
    /// When each request will be back.
    under_way: BinaryHeap<Reverse<(u64, u32, i32)>>,
}

impl<'a> Sim<'a> {
    pub(crate) fn new(world: &'a Mutex<World>, clock: Monotonic, depth: u32) -> Sim<'a> {
        let depth = depth as usize;
        Sim {
            world,
            clock,
            ready: Vec::with_capacity(depth),
            under_way: BinaryHeap::with_capacity(depth),
        }
    }
}

impl Backend for Sim<'_> {
    fn prepare(&mut self, io: &Io) {
        self.ready.push(*io);
    }

    fn submit(&mut self, patience_ns: u64) -> io::Result<()> {
        let now_ns = self.clock.now_ns();
        if !self.ready.is_empty() {
            let mut world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
            for io in self.ready.drain(..) {
                let request = Request { op: io.op, offset: io.offset, length: io.length };
                // What answers later is refused before a stage in the time of the wall begins.
                if let Some(answer) = world.submit(io.file, now_ns, request, 0) {
                    self.under_way.push(Reverse((answer.completed_ns, io.slot, answer.result)));
                }
            }
        }
        let first_ns = self.under_way.peek().map_or(u64::MAX, |first| first.0.0);
        let until_ns = first_ns.min(now_ns.saturating_add(patience_ns));
        self.clock.rest(until_ns.saturating_sub(now_ns).saturating_sub(AWAKE_NS));
        while self.clock.now_ns() < until_ns {
            std::hint::spin_loop();
        }
        Ok(())
    }

    fn reap(&mut self, mut take: impl FnMut(Completion)) {
        let now_ns = self.clock.now_ns();
        while let Some(Reverse((at_ns, slot, result))) = self.under_way.peek().copied() {
            if at_ns > now_ns {
                return;
            }
            self.under_way.pop();
            take(Completion { slot, result });
        }
    }
}
