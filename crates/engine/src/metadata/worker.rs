//! One worker of a metadata stage: its operation on each of its files, once; or a mix of operations
//! on any of them, for a time.

use super::calls::Files;
use super::descriptors::keep_own;
use super::forest::visit;
use super::living::{self, Place};
use super::order::Agenda;
use crate::clock::Clock;
use crate::threads::shared::{Shared, begin_on_time, page};
use crate::worker::Finished;
use crate::worker::driver::{FromWorker, Line, Pages, WorkerEnd};
use model::plan::Worker;
use rustix::thread::gettid;
use std::os::fd::AsFd;

/// Runs a worker: set up, meet the others, go through the files, report.
pub(crate) fn run(shared: &Shared, worker: &Worker, line: &Line) -> WorkerEnd {
    let work = &shared.stage.works[worker.work as usize];
    let (Some(metadata), Some(share)) = (work.metadata, worker.files) else {
        return WorkerEnd::Complete;
    };
    // A plan whose share names no tree has no work for this worker.
    let Some(tree) = shared.plan.trees.get(share.tree as usize) else { return WorkerEnd::Complete };
    let visited;
    let root = if tree.joined {
        keep_own(None);
        let target =
            shared.plan.targets.get(tree.target as usize).map_or("", |target| &target.path);
        match visit(tree, target, &shared.plan.run_id, &shared.bounds) {
            Ok(root) => visited = root,
            Err(error) => return WorkerEnd::Broken(error),
        }
        visited.as_fd()
    } else {
        let own =
            shared.plan.trees.iter().take(share.tree as usize).filter(|tree| !tree.joined).count();
        let Some(root) = shared.trees.get(own) else { return WorkerEnd::Complete };
        keep_own(Some(root.as_fd()));
        root.as_fd()
    };
    let clock = shared.control.clock();
    let contents = shared.contents.worker(work, 1, worker.seed);
    let mut files = Files::new(root, tree, metadata, clock, contents, worker.seed);
    if let Some(population) = metadata.population {
        let place = Place { shared, worker, line, tree, root, share };
        return living::run(&place, population, &mut files);
    }
    let mut agenda = Agenda::new(metadata, worker, share);
    let first = page(shared, worker);
    // The stage outlives its workers' setting up, so somebody listens.
    let _ = line.out.send(FromWorker::Ready { worker: line.worker, thread: gettid() });
    let Some(timetable) = shared.gate.wait() else { return WorkerEnd::Complete };
    begin_on_time(shared, &timetable, &clock);
    let mut pages = Pages::open(timetable, line, first);
    let mut start_ns = clock.now_ns();
    while let Some(((slot, op), number)) = agenda.next(tree) {
        let (outcome, uncounted_ns) = files.perform(op, number);
        // One reading serves both: it ends this operation and begins the next.
        let now_ns = clock.now_ns();
        let is_over = pages.turn(now_ns, shared.control.cuts(), || None);
        let latency_ns = now_ns.saturating_sub(start_ns).saturating_sub(uncounted_ns);
        pages.write_down(Finished { op: slot, latency_ns, outcome });
        if is_over {
            break;
        }
        start_ns = now_ns;
    }
    let now_ns = clock.now_ns();
    pages.turn(now_ns, shared.control.cuts(), || None);
    if let (Some(once), true) = (work.stop.once(), agenda.is_through()) {
        shared.control.done(now_ns, once.stonewall);
    }
    pages.close(now_ns, None);
    if files.leaves_names() && !shared.control.is_stopped() {
        agenda.handed_out().for_each(|number| files.undo(number));
    }
    WorkerEnd::Complete
}
