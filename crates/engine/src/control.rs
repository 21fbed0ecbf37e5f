//! How a running stage is told to end.

use crate::clock::{Clock, Monotonic};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Stops stages from outside. Clones control the same host.
#[derive(Clone, Debug)]
pub struct Control {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    clock: Monotonic,
    /// When the load of the current stage ends, on `clock`. Workers read it once a batch; hardly anybody writes it.
    stop_at_ns: AtomicU64,
    /// When the load of the current stage begins. A stage that is stopped before it begins ends when it begins.
    start_at_ns: AtomicU64,
    /// When the first worker of the current stage had done its amount, on `clock`.
    wall_at_ns: AtomicU64,
    stopped: AtomicBool,
}

/// Where the books of a stage are cut; `u64::MAX` is never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cuts {
    /// The end of the load.
    pub(crate) stop_at_ns: u64,
    /// When the first worker had done its amount.
    pub(crate) wall_at_ns: u64,
}

impl Default for Control {
    fn default() -> Self {
        Control::new()
    }
}

impl Control {
    /// A control that lets stages run.
    pub fn new() -> Control {
        let shared = Shared {
            clock: Monotonic::start(),
            stop_at_ns: AtomicU64::new(u64::MAX),
            start_at_ns: AtomicU64::new(0),
            wall_at_ns: AtomicU64::new(u64::MAX),
            stopped: AtomicBool::new(false),
        };
        Control { shared: Arc::new(shared) }
    }

    /// Ends the current stage at this instant, for all workers alike, and lets no other begin.
    pub fn stop(&self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        self.end_stage();
    }

    /// Whether [`stop`](Self::stop) was called.
    pub fn is_stopped(&self) -> bool {
        self.shared.stopped.load(Ordering::SeqCst)
    }

    /// The clock of all stages under this control.
    pub fn clock(&self) -> Monotonic {
        self.shared.clock
    }

    /// Ends the current stage only.
    pub(crate) fn end_stage(&self) {
        let now_ns = self.shared.clock.now_ns().max(self.shared.start_at_ns.load(Ordering::SeqCst));
        self.shared.stop_at_ns.fetch_min(now_ns, Ordering::SeqCst);
    }

    /// Sets the begin and the end of a new stage; a stop that came before stands.
    pub(crate) fn begin_stage(&self, start_at_ns: u64, stop_at_ns: u64) {
        self.shared.wall_at_ns.store(u64::MAX, Ordering::SeqCst);
        self.shared.start_at_ns.store(start_at_ns, Ordering::SeqCst);
        self.shared.stop_at_ns.store(stop_at_ns, Ordering::SeqCst);
        if self.is_stopped() {
            self.end_stage();
        }
    }

    /// A worker had done its amount at `now_ns`; with `stonewall`, the stage ends there for all others.
    pub(crate) fn done(&self, now_ns: u64, stonewall: bool) {
        let instant = if stonewall { &self.shared.stop_at_ns } else { &self.shared.wall_at_ns };
        instant.fetch_min(now_ns, Ordering::SeqCst);
    }

    /// The two instants at which the books of the current stage are cut.
    #[inline]
    pub(crate) fn cuts(&self) -> Cuts {
        Cuts { stop_at_ns: self.stop_at_ns(), wall_at_ns: self.shared.wall_at_ns.load(Ordering::Relaxed) }
    }

    #[inline]
    pub(crate) fn stop_at_ns(&self) -> u64 {
        self.shared.stop_at_ns.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_between_stages_ends_the_next_one_at_once() {
        let control = Control::new();
        control.begin_stage(0, u64::MAX);
        assert_eq!(control.stop_at_ns(), u64::MAX);
        control.stop();
        assert!(control.stop_at_ns() <= control.clock().now_ns());
        control.begin_stage(0, u64::MAX);
        assert!(control.stop_at_ns() <= control.clock().now_ns());
    }

    #[test]
    fn a_stage_that_is_stopped_before_it_begins_ends_when_it_begins() {
        let control = Control::new();
        let start_ns = u64::MAX / 2;
        control.begin_stage(start_ns, u64::MAX);
        control.stop();
        assert_eq!(control.stop_at_ns(), start_ns);
    }
}
