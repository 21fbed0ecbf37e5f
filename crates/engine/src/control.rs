//! How a running stage is told to end.

use crate::clock::{Clock, Monotonic};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

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
    judged: Mutex<Judged>,
    /// Rung when a stage is judged or stopped.
    news: Condvar,
}

/// How far the current stage was judged, in ns after its start.
#[derive(Clone, Copy, Debug, Default)]
struct Judged {
    to_ns: u64,
    /// Its end, if it has one because of that.
    end_after_ns: Option<u64>,
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
            judged: Mutex::default(),
            news: Condvar::new(),
        };
        Control { shared: Arc::new(shared) }
    }

    /// Ends the current stage at this instant, for all workers alike, and lets no other begin.
    pub fn stop(&self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        self.end_stage();
        // Under the lock, or whoever is about to wait would miss it.
        let _judged = self.judged();
        self.shared.news.notify_all();
    }

    /// The stage that runs was judged up to `to_ns` after its start, and ends `end_after_ns` after its start if that is given and no earlier end is.
    /// An end that is over already ends it at once.
    pub fn judge(&self, to_ns: u64, end_after_ns: Option<u64>) {
        if let Some(after_ns) = end_after_ns {
            let end_ns = self.shared.start_at_ns.load(Ordering::SeqCst).saturating_add(after_ns);
            self.shared.stop_at_ns.fetch_min(end_ns, Ordering::SeqCst);
        }
        let mut judged = self.judged();
        judged.to_ns = judged.to_ns.max(to_ns);
        judged.end_after_ns = judged.end_after_ns.or(end_after_ns);
        self.shared.news.notify_all();
    }

    fn judged(&self) -> MutexGuard<'_, Judged> {
        self.shared.judged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing of the stage that begins was judged.
    pub(crate) fn begin_judging(&self) {
        *self.judged() = Judged::default();
    }

    /// Waits until the stage was judged up to `to_ns` after its start, or stopped. Comes back with its end in ns after its start, if that gave it one.
    pub(crate) fn wait_until_judged(&self, to_ns: u64) -> Option<u64> {
        let is_open = |judged: &mut Judged| judged.to_ns < to_ns && judged.end_after_ns.is_none() && !self.is_stopped();
        let judged = self.shared.news.wait_while(self.judged(), is_open).unwrap_or_else(PoisonError::into_inner);
        judged.end_after_ns
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
    fn a_stage_ends_at_the_instant_that_it_was_judged_to_and_the_next_one_does_not() {
        let control = Control::new();
        control.begin_stage(1_000, u64::MAX / 2);
        control.judge(500, None);
        assert_eq!((control.stop_at_ns(), control.wait_until_judged(500)), (u64::MAX / 2, None));
        control.judge(600, Some(700));
        assert_eq!((control.stop_at_ns(), control.wait_until_judged(900)), (1_700, Some(700)));
        control.judge(1_000, Some(u64::MAX));
        assert_eq!(control.stop_at_ns(), 1_700, "the first end stands");
        control.begin_stage(2_000, 9_000);
        assert_eq!(control.stop_at_ns(), 9_000);
    }

    #[test]
    fn whoever_waits_for_a_judgement_hears_of_a_stop() {
        let control = Control::new();
        let waiter = std::thread::spawn({
            let control = control.clone();
            move || control.wait_until_judged(u64::MAX)
        });
        control.stop();
        assert_eq!(waiter.join().expect("no panic"), None);
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
