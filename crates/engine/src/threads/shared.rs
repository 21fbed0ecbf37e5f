//! What the threads of a stage share, and the instant at which they all begin.

use crate::clock::{Clock, Monotonic};
use crate::contents::{Findings, HostContents};
use crate::control::Control;
use crate::generator::Bookmarks;
use crate::metadata::{Ledgers, SumOfStage};
use crate::replay::Replays;
use crate::targets::{Bounds, Own, World};
use crate::threads::pinning::Seats;
use crate::threads::start_gate::Gate;
use crate::timetable::Timetable;
use crate::worker::driver::AWAKE_NS;
use crate::worker::recorder::{Interval, slots};
use crate::worker::turns::Turns;
use crate::zones::Zones;
use model::choices;
use model::note::Degraded;
use model::plan::{HostPlan, HostStage, Worker};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Everything that the threads of a stage share.
pub(crate) struct Shared {
    pub(crate) files: Arc<[OwnedFd]>,
    /// What each worker has of them for itself.
    pub(crate) own: Vec<Own>,
    pub(crate) backend: choices::Backend,
    pub(crate) world: Option<Arc<Mutex<World>>>,
    pub(crate) plan: Arc<HostPlan>,
    pub(crate) contents: Arc<HostContents>,
    pub(crate) stage: HostStage,
    pub(crate) control: Control,
    pub(crate) keep_raw: bool,
    pub(crate) gate: Gate,
    pub(crate) degraded: Mutex<Vec<Degraded>>,
    pub(crate) findings: Mutex<Findings>,
    /// How much later than asked for the last worker began.
    pub(crate) late_ns: AtomicU64,
    /// Of metadata work: the directories of the trees that this host makes, in the order of the
    /// plan.
    pub(crate) trees: Arc<[OwnedFd]>,
    /// Of populations: which files are there.
    pub(crate) ledgers: Arc<Ledgers>,
    /// Of populations: what the ledgers of all workers say at the end of the stage.
    pub(crate) files_left: Mutex<SumOfStage>,
    /// Of metadata work: which places may be touched.
    pub(crate) bounds: Bounds,
    pub(crate) seats: Seats,
    /// The order of requests that are bound to each other by ratio.
    pub(crate) turns: Option<Arc<Turns>>,
    /// Of each file that is loaded by zones, its zones; empty where none is.
    pub(crate) zones: Arc<[Option<Zones>]>,
    /// Where workers stopped in what they go through in order.
    pub(crate) bookmarks: Arc<Mutex<Bookmarks>>,
    /// What was sent of traces.
    pub(crate) replays: Mutex<Replays>,
}

impl Shared {
    /// Where workers stopped.
    pub(crate) fn bookmarks(&self) -> MutexGuard<'_, Bookmarks> {
        self.bookmarks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An empty page for what `worker` does.
pub(crate) fn page(shared: &Shared, worker: &Worker) -> Box<Interval> {
    let work = &shared.stage.works[worker.work as usize];
    Box::new(Interval::new(slots(work), shared.keep_raw))
}

/// Waits for the instant at which all workers of all hosts begin, and notes how late this one is.
pub(crate) fn begin_on_time(shared: &Shared, timetable: &Timetable, clock: &Monotonic) {
    wake_on_time();
    // The last stretch is spent awake: a sleeper wakes too late.
    while let Some(left_ns) = timetable.start_ns.checked_sub(clock.now_ns() + AWAKE_NS) {
        clock.rest(left_ns.max(1));
    }
    shared.seats.leave();
    let now_ns = loop {
        let now_ns = clock.now_ns();
        if now_ns >= timetable.start_ns {
            break now_ns;
        }
        std::hint::spin_loop();
    };
    let late_ns = timetable.late_ns + (now_ns - timetable.start_ns);
    shared.late_ns.fetch_max(late_ns, Ordering::Relaxed);
}

/// Asks for timers as exact as the kernel has them, instead of the 50 µs that it allows itself by
/// default.
fn wake_on_time() {
    // SAFETY: sets a property of this thread only; where it is refused, sleeps are a little longer.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}
