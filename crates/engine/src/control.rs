//! How a running stage is told to end.

use crate::clock::{Clock, Monotonic};
use model::event::Waiting;
use std::fmt;
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
    /// When the load of the current stage ends, on `clock`. Workers read it once a batch; hardly
    /// anybody writes it.
    stop_at_ns: AtomicU64,
    /// When the load of the current stage begins. A stage that is stopped before it begins ends
    /// when it begins.
    start_at_ns: AtomicU64,
    /// When the first worker of the current stage had done its amount, or when that was heard of
    /// another host, on `clock`.
    wall_at_ns: AtomicU64,
    stopped: AtomicBool,
    judged: Mutex<Judged>,
    /// Rung when a stage is judged or stopped.
    news: Condvar,
    wall: Mutex<Wall>,
}

/// How far the current stage was judged, in ns after its start.
#[derive(Clone, Copy, Debug, Default)]
struct Judged {
    to_ns: u64,
    /// Its end, if it has one because of that.
    end_after_ns: Option<u64>,
}

/// What is known of the first worker of a stage that had done its amount: here, or on another host.
#[derive(Default)]
struct Wall {
    /// The stage that runs.
    stage: Option<u32>,
    /// The stage of which another host was the first, and whether it ends there. That may be heard
    /// before the stage begins here.
    elsewhere: Option<(u32, bool)>,
    /// Is told once that a worker of this host was the first one here.
    herald: Option<Box<dyn FnOnce() + Send>>,
    /// Is told what waits while the stage runs.
    watcher: Option<Box<dyn FnMut(Waiting) + Send>>,
}

impl fmt::Debug for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wall")
            .field("stage", &self.stage)
            .field("elsewhere", &self.elsewhere)
            .finish_non_exhaustive()
    }
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
            wall: Mutex::default(),
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

    /// The stage that runs was judged up to `to_ns` after its start, and ends `end_after_ns` after
    /// its start if that is given and no earlier end is. An end that is over already ends it at
    /// once.
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

    /// Waits until the stage was judged up to `to_ns` after its start, or stopped. Comes back with
    /// its end in ns after its start, if that gave it one.
    pub(crate) fn wait_until_judged(&self, to_ns: u64) -> Option<u64> {
        let is_open = |judged: &mut Judged| {
            judged.to_ns < to_ns && judged.end_after_ns.is_none() && !self.is_stopped()
        };
        let judged = self
            .shared
            .news
            .wait_while(self.judged(), is_open)
            .unwrap_or_else(PoisonError::into_inner);
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

    /// Has `herald` called, once, when the first worker of this host has done its amount in the
    /// next stage, unless another host was earlier.
    pub fn on_first_done(&self, herald: impl FnOnce() + Send + 'static) {
        self.wall().herald = Some(Box::new(herald));
    }

    /// Has `watcher` told what the target leaves unanswered in the next stage.
    pub fn on_waiting(&self, watcher: impl FnMut(Waiting) + Send + 'static) {
        self.wall().watcher = Some(Box::new(watcher));
    }

    /// Tells what waits. Whoever hears it may take long: others act meanwhile.
    pub(crate) fn tell_waiting(&self, waiting: Option<Waiting>) {
        let Some(waiting) = waiting else { return };
        let watcher = self.wall().watcher.take();
        if let Some(mut watcher) = watcher {
            watcher(waiting);
            self.wall().watcher.get_or_insert(watcher);
        }
    }

    /// A worker of another host had done its amount in `stage`: the books of that stage are cut
    /// now, or when it begins; with `stops`, it ends there. Of a stage that is over, it means
    /// nothing.
    pub fn first_done_elsewhere(&self, stage: u32, stops: bool) {
        let mut wall = self.wall();
        wall.elsewhere = Some((stage, stops));
        if wall.stage == Some(stage) {
            wall.herald = None;
            let start_at_ns = self.shared.start_at_ns.load(Ordering::SeqCst);
            self.cut(self.shared.clock.now_ns().max(start_at_ns), stops);
        }
    }

    fn wall(&self) -> MutexGuard<'_, Wall> {
        self.shared.wall.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stage is over: nothing of it is told or cut any more.
    pub fn leave_stage(&self) {
        let mut wall = self.wall();
        wall.stage = None;
        wall.herald = None;
        wall.watcher = None;
    }

    /// Sets the number, the begin and the end of a new stage; a stop that came before stands, and
    /// so does what was heard of other hosts.
    pub fn begin_stage(&self, stage: u32, start_at_ns: u64, stop_at_ns: u64) {
        let mut wall = self.wall();
        wall.stage = Some(stage);
        self.shared.wall_at_ns.store(u64::MAX, Ordering::SeqCst);
        self.shared.start_at_ns.store(start_at_ns, Ordering::SeqCst);
        self.shared.stop_at_ns.store(stop_at_ns, Ordering::SeqCst);
        if let Some((_, stops)) = wall.elsewhere.take_if(|(earlier, _)| *earlier == stage) {
            wall.herald = None;
            self.cut(start_at_ns, stops);
        }
        if self.is_stopped() {
            self.end_stage();
        }
    }

    /// A worker had done its amount at `now_ns`; with `stonewall`, the stage ends there for all
    /// others.
    pub(crate) fn done(&self, now_ns: u64, stonewall: bool) {
        self.cut(now_ns, stonewall);
        let herald = self.wall().herald.take();
        if let Some(herald) = herald {
            herald();
        }
    }

    fn cut(&self, now_ns: u64, stops: bool) {
        let instant = if stops { &self.shared.stop_at_ns } else { &self.shared.wall_at_ns };
        instant.fetch_min(now_ns, Ordering::SeqCst);
    }

    /// The two instants at which the books of the current stage are cut.
    #[inline]
    pub(crate) fn cuts(&self) -> Cuts {
        Cuts {
            stop_at_ns: self.stop_at_ns(),
            wall_at_ns: self.shared.wall_at_ns.load(Ordering::Relaxed),
        }
    }

    /// When the load of the current stage ends, on the clock; `u64::MAX` is never.
    #[inline]
    pub fn stop_at_ns(&self) -> u64 {
        self.shared.stop_at_ns.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_between_stages_ends_the_next_one_at_once() {
        let control = Control::new();
        control.begin_stage(0, 0, u64::MAX);
        assert_eq!(control.stop_at_ns(), u64::MAX);
        control.stop();
        assert!(control.stop_at_ns() <= control.clock().now_ns());
        control.begin_stage(0, 0, u64::MAX);
        assert!(control.stop_at_ns() <= control.clock().now_ns());
    }

    #[test]
    fn a_stage_ends_at_the_instant_that_it_was_judged_to_and_the_next_one_does_not() {
        let control = Control::new();
        control.begin_stage(0, 1_000, u64::MAX / 2);
        control.judge(500, None);
        assert_eq!((control.stop_at_ns(), control.wait_until_judged(500)), (u64::MAX / 2, None));
        control.judge(600, Some(700));
        assert_eq!((control.stop_at_ns(), control.wait_until_judged(900)), (1_700, Some(700)));
        control.judge(1_000, Some(u64::MAX));
        assert_eq!(control.stop_at_ns(), 1_700, "the first end stands");
        control.begin_stage(1, 2_000, 9_000);
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
        control.begin_stage(0, start_ns, u64::MAX);
        control.stop();
        assert_eq!(control.stop_at_ns(), start_ns);
    }

    #[test]
    fn the_first_worker_is_told_once_and_nobody_where_another_host_was_earlier() {
        let told = Arc::new(AtomicU64::new(0));
        let control = Control::new();
        let herald = || {
            let told = told.clone();
            move || {
                told.fetch_add(1, Ordering::SeqCst);
            }
        };
        control.on_first_done(herald());
        control.begin_stage(1, 0, u64::MAX);
        control.done(7, false);
        control.done(9, false);
        assert_eq!((told.load(Ordering::SeqCst), control.cuts().wall_at_ns), (1, 7));
        control.on_first_done(herald());
        control.begin_stage(2, 0, u64::MAX);
        control.first_done_elsewhere(2, false);
        control.done(u64::MAX, false);
        assert_eq!(told.load(Ordering::SeqCst), 1);
        assert!(control.cuts().wall_at_ns < u64::MAX);
    }

    #[test]
    fn another_host_cuts_or_ends_its_stage_only_and_at_the_earliest_when_it_begins() {
        let start_ns = u64::MAX / 2;
        let never = Cuts { stop_at_ns: u64::MAX, wall_at_ns: u64::MAX };
        for (stops, cuts) in [
            (true, Cuts { stop_at_ns: start_ns, ..never }),
            (false, Cuts { wall_at_ns: start_ns, ..never }),
        ] {
            let control = Control::new();
            control.first_done_elsewhere(3, stops);
            control.begin_stage(2, start_ns, u64::MAX);
            assert_eq!(control.cuts(), never);
            control.begin_stage(3, start_ns, u64::MAX);
            assert_eq!(control.cuts(), cuts, "heard before it began");
            control.begin_stage(4, start_ns, u64::MAX);
            control.first_done_elsewhere(3, stops);
            assert_eq!(control.cuts(), never, "that stage is over");
            control.first_done_elsewhere(4, stops);
            assert_eq!(control.cuts(), cuts);
            control.leave_stage();
            control.begin_stage(5, start_ns, u64::MAX);
            control.first_done_elsewhere(4, stops);
            assert_eq!(control.cuts(), never);
        }
    }
}
