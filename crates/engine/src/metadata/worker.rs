//! One worker of a metadata stage: its operation on each of its files, once; or a mix of operations on any of them, for a time.

use super::calls::Files;
use super::descriptors::keep_own;
use super::forest::visit;
use crate::clock::Clock;
use crate::crew::{Shared, begin_on_time, page};
use crate::driver::{FromWorker, Line, Pages, WorkerEnd};
use crate::generator::Permutation;
use crate::worker::Finished;
use model::Op;
use model::metadata::{FileShare, OpMix, Tree};
use model::plan::Worker;
use model::rng::Rng;
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

/// Draws the operations of a mix.
struct Mixer {
    mix: OpMix,
    total: u64,
    rng: Rng,
}

impl Mixer {
    fn new(mix: OpMix, seed: u64) -> Mixer {
        Mixer { mix, total: mix.total(), rng: Rng::new(seed) }
    }

    /// The place in the mix and the operation that comes as number `index`, and what it goes to. Drawn files may come twice in a row; in
    /// the order of their numbers, all come before one comes again. `share` has a file at least.
    #[inline]
    fn next(&mut self, tree: &Tree, share: FileShare, random: bool, index: u64) -> ((usize, Op), u64) {
        let (slot, op) = self.mix.at(self.rng.below(self.total));
        let number = share.number(if random { self.rng.below(share.count) } else { index % share.count });
        match op {
            // The directory of that file.
            Op::Readdir if tree.depth == 0 => ((slot, op), 0),
            Op::Readdir => ((slot, op), number / tree.per_directory.max(1)),
            _ => ((slot, op), number),
        }
    }
}

/// Runs a worker: set up, meet the others, go through the files, report.
pub(crate) fn run(shared: &Shared, worker: &Worker, line: &Line) -> WorkerEnd {
    let work = &shared.stage.works[worker.work as usize];
    let (Some(metadata), Some(share)) = (work.metadata, worker.files) else { return WorkerEnd::Complete };
    // A plan whose share names no tree has no work for this worker.
    let Some(tree) = shared.plan.trees.get(share.tree as usize) else { return WorkerEnd::Complete };
    let visited;
    let root = if tree.joined {
        keep_own(None);
        match visit(tree) {
            Ok(root) => visited = root,
            Err(error) => return WorkerEnd::Broken(error),
        }
        visited.as_fd()
    } else {
        let own = shared.plan.trees.iter().take(share.tree as usize).filter(|tree| !tree.joined).count();
        let Some(root) = shared.trees.get(own) else { return WorkerEnd::Complete };
        keep_own(Some(root.as_fd()));
        root.as_fd()
    };
    let clock = shared.control.clock();
    let contents = shared.contents.worker(work, 1, worker.seed);
    let mut files = Files::new(root, tree, metadata, clock, contents, worker.seed);
    let order = Order::of(worker, share, metadata.random);
    let mut mixer = metadata.mix.filter(|_| share.count > 0).map(|mix| Mixer::new(mix, worker.seed));
    let each = (0, metadata.op);
    let first = page(shared, worker);
    // The stage outlives its workers' setting up, so somebody listens.
    let _ = line.out.send(FromWorker::Ready);
    let Some(timetable) = shared.gate.wait() else { return WorkerEnd::Complete };
    begin_on_time(shared, &timetable, &clock);
    let mut pages = Pages::open(timetable, line, first);
    let mut start_ns = clock.now_ns();
    let mut index = 0;
    while index < share.count || mixer.is_some() {
        let ((slot, op), number) = match &mut mixer {
            None => (each, order.number(share, index)),
            Some(mixer) => mixer.next(tree, share, metadata.random, index),
        };
        let (outcome, uncounted_ns) = files.perform(op, number);
        index += 1;
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
    if let (Some(once), true) = (work.stop.once(), index == share.count && index > 0) {
        shared.control.done(now_ns, once.stonewall);
    }
    pages.close(now_ns, None);
    if files.leaves_names() && !shared.control.is_stopped() {
        (0..index).for_each(|index| files.undo(order.number(share, index)));
    }
    WorkerEnd::Complete
}
