//! Where each worker's order began in each stage: as in the run, where it had stopped in an earlier
//! one.

use super::Entry;
use super::replay::STEP;
use crate::generator::{Bookmark, Bookmarks, Generator};
use model::Op;
use model::plan::{Work, Worker};
use model::sample::WorkerSample;

/// The requests of a sample that a generator drew: a flush has no place in any order.
pub(super) fn requests(worker: &WorkerSample) -> u64 {
    let drawn = worker.ops.iter().filter(|op| op.op != Op::Fsync);
    drawn.map(|op| op.ios.saturating_add(op.errors)).fold(0, u64::saturating_add)
}

/// Says of each entry, in the order of stages, where its order began. `tick` hears how many
/// requests were gone through.
///
/// A process numbers its writes through all of its stages. Where the numbers of a stage begin below
/// those before it, another process went on with the run, which knew no place to go on from.
pub(super) fn find(all: &mut [Entry<'_>], tick: &mut dyn FnMut(u64)) {
    let mut bookmarks = Bookmarks::default();
    let (mut stage, mut reached) = (None, 0);
    // Of the stage that is looked at.
    let mut highest = 0;
    for entry in all {
        if stage != Some(entry.number) {
            (stage, reached) = (Some(entry.number), highest);
        }
        if entry.known.base < reached {
            (bookmarks, reached, highest) = (Bookmarks::default(), 0, 0);
        }
        highest = highest.max(entry.known.sent());
        let worker = &entry.stage.workers[entry.worker as usize];
        let work = &entry.stage.works[worker.work as usize];
        entry.from = bookmarks.take(0, entry.worker, work);
        if Bookmarks::has(work) {
            let at = stopped(work, worker, entry.from.clone(), entry.requests, tick);
            bookmarks.keep(0, entry.worker, work, at);
        }
    }
}

/// Where a worker stopped that began at `from` and sent so many requests.
fn stopped(
    work: &Work,
    worker: &Worker,
    from: Option<Bookmark>,
    mut requests: u64,
    tick: &mut dyn FnMut(u64),
) -> Bookmark {
    let mut generator = Generator::new(work, worker);
    generator.go_on(from);
    let mut gone = 0;
    while requests > 0 {
        let Some(request) = generator.next_request() else { break };
        requests -= u64::from(request.op != Op::Fsync);
        gone += 1;
        if gone == STEP {
            tick(std::mem::take(&mut gone));
        }
    }
    tick(gone);
    generator.into_bookmark()
}
