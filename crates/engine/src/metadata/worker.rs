//! One worker of a metadata stage: its operation on each of its files, once.

use super::calls::Files;
use crate::clock::Clock;
use crate::crew::{Shared, begin_on_time, page};
use crate::driver::{FromWorker, Line, Pages, WorkerEnd};
use crate::generator::Permutation;
use crate::worker::Finished;
use model::metadata::FileShare;
use model::plan::Worker;
use std::os::fd::AsFd;

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
    let mut start_ns = clock.now_ns();
    let mut index = 0;
    while index < share.count {
        let (outcome, uncounted_ns) = files.perform(order.number(share, index));
        index += 1;
        // One reading serves both: it ends this operation and begins the next.
        let now_ns = clock.now_ns();
        let is_over = pages.turn(now_ns, shared.control.cuts(), || None);
        let latency_ns = now_ns.saturating_sub(start_ns).saturating_sub(uncounted_ns);
        pages.write_down(Finished { op: 0, latency_ns, outcome });
        if is_over {
            break;
        }
        start_ns = now_ns;
    }
    let now_ns = clock.now_ns();
    pages.turn(now_ns, shared.control.cuts(), || None);
    if let (Some(once), true) = (work.stop.once(), index == share.count) {
        shared.control.done(now_ns, once.stonewall);
    }
    pages.close(now_ns, None);
    if files.leaves_names() && !shared.control.is_stopped() {
        (0..index).for_each(|index| files.undo(order.number(share, index)));
    }
    WorkerEnd::Complete
}
