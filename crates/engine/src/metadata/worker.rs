//! One worker of a metadata stage: its operation on each of its files, once.

use super::calls::Files;
use crate::clock::Clock;
use crate::crew::{Shared, begin_on_time, page};
use crate::driver::{FromWorker, Line, Pages, WorkerEnd};
use crate::generator::Permutation;
use crate::worker::{Finished, Outcome};
use model::metadata::FileShare;
use model::plan::Worker;
use model::units::Nanos;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};

/// The instant at which the first worker was done with all of its files, and what all of them had done by then.
pub(crate) struct Wall {
    at_ns: AtomicU64,
    done: AtomicU64,
}

impl Default for Wall {
    fn default() -> Self {
        Wall { at_ns: AtomicU64::new(u64::MAX), done: AtomicU64::new(0) }
    }
}

impl Wall {
    /// What it was, for a stage that began at `start_ns`; `None` where no worker was done.
    pub(crate) fn words(&self, start_ns: u64) -> Option<String> {
        let at_ns = self.at_ns.load(Ordering::SeqCst);
        let elapsed_ns = at_ns.saturating_sub(start_ns);
        if at_ns == u64::MAX || elapsed_ns == 0 {
            return None;
        }
        let done = self.done.load(Ordering::SeqCst);
        let rate = u128::from(done) * 1_000_000_000 / u128::from(elapsed_ns);
        let elapsed = Nanos(elapsed_ns);
        Some(format!(
            "after {elapsed}, when all workers of the host together had done {done} operations: {rate} a second"
        ))
    }
}

/// A worker's own count on its way to the wall.
struct ToWall<'a> {
    wall: &'a Wall,
    done: u64,
    passed: bool,
}

impl ToWall<'_> {
    /// Takes in an operation that ended at `now_ns`.
    #[inline]
    fn took(&mut self, now_ns: u64, succeeded: bool) {
        if !self.passed && now_ns > self.wall.at_ns.load(Ordering::Relaxed) {
            self.pass();
        }
        self.done += u64::from(succeeded);
    }

    #[cold]
    fn pass(&mut self) {
        self.passed = true;
        self.wall.done.fetch_add(self.done, Ordering::SeqCst);
    }

    /// All files are done.
    fn end(&mut self, now_ns: u64) {
        self.wall.at_ns.fetch_min(now_ns, Ordering::SeqCst);
        if !self.passed {
            self.pass();
        }
    }
}

/// In which order the files of a share come.
enum Order {
    ByNumber,
    Permuted(Permutation),
}

impl Order {
    fn of(worker: &Worker, share: FileShare, random: bool) -> Order {
        if random && share.count > 0 {
            Order::Permuted(Permutation::new(share.count, worker.seed))
        } else {
            Order::ByNumber
        }
    }

    #[inline]
    fn number(&self, share: FileShare, index: u64) -> u64 {
        match self {
            Order::ByNumber => share.number(index),
            Order::Permuted(permutation) => share.number(permutation.at(index)),
        }
    }
}

/// Runs a worker: set up, meet the others, go through the files, report.
pub(crate) fn run(shared: &Shared, worker: &Worker, line: &Line) -> WorkerEnd {
    let work = &shared.stage.works[worker.work as usize];
    let (Some(metadata), Some(share)) = (work.metadata, worker.files) else { return WorkerEnd::Complete };
    let (Some(tree), Some(root)) = (shared.plan.trees.get(share.tree as usize), shared.trees.get(share.tree as usize))
    else {
        // A plan whose share names no tree has no work for this worker.
        return WorkerEnd::Complete;
    };
    let clock = shared.control.clock();
    let contents = shared.contents.worker(work, 1, worker.seed);
    let mut files = Files::new(root.as_fd(), tree, metadata, clock, contents, worker.seed);
    let order = Order::of(worker, share, metadata.random);
    let first = page(shared, worker);
    // The stage outlives its workers' setting up, so somebody listens.
    let _ = line.out.send(FromWorker::Ready);
    let Some(timetable) = shared.gate.wait() else { return WorkerEnd::Complete };
    begin_on_time(shared, &timetable, &clock);
    let mut pages = Pages::open(timetable, line, first);
    let mut to_wall = ToWall { wall: &shared.wall, done: 0, passed: false };
    let mut start_ns = clock.now_ns();
    let mut index = 0;
    while index < share.count {
        let (outcome, uncounted_ns) = files.perform(order.number(share, index));
        index += 1;
        // One reading serves both: it ends this operation and begins the next.
        let now_ns = clock.now_ns();
        let is_over = pages.turn(now_ns, shared.control.stop_at_ns());
        let latency_ns = now_ns.saturating_sub(start_ns).saturating_sub(uncounted_ns);
        pages.write_down(Finished { op: 0, latency_ns, outcome });
        to_wall.took(now_ns, matches!(outcome, Outcome::Success { .. }));
        if is_over {
            break;
        }
        start_ns = now_ns;
    }
    let now_ns = clock.now_ns();
    if index == share.count {
        to_wall.end(now_ns);
    }
    pages.close(now_ns);
    if files.leaves_names() && !shared.control.is_stopped() {
        (0..index).for_each(|index| files.undo(order.number(share, index)));
    }
    WorkerEnd::Complete
}
