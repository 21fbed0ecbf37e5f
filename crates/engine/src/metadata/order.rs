//! Which file comes when: every file of a share once, or files and operations drawn from a mix.

use crate::generator::Permutation;
use model::Op;
use model::metadata::{FileShare, MetadataWork, OpMix, Tree};
use model::plan::Worker;
use model::rng::Rng;

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

    /// The place in the mix and the operation that comes as number `index`, and what it goes to.
    /// Drawn files may come twice in a row; in the order of their numbers, all come before one
    /// comes again. `share` has a file at least.
    #[inline]
    fn next(
        &mut self,
        tree: &Tree,
        share: FileShare,
        random: bool,
        index: u64,
    ) -> ((usize, Op), u64) {
        let (slot, op) = self.mix.at(self.rng.below(self.total));
        let number =
            share.number(if random { self.rng.below(share.count) } else { index % share.count });
        match op {
            // The directory of that file.
            Op::Readdir if tree.depth == 0 => ((slot, op), 0),
            Op::Readdir => ((slot, op), number / tree.per_directory.max(1)),
            _ => ((slot, op), number),
        }
    }
}

/// What a worker does next: the operations of its stage, in order.
pub(super) struct Agenda {
    work: MetadataWork,
    share: FileShare,
    order: Order,
    mixer: Option<Mixer>,
    /// How many it has handed out.
    index: u64,
}

impl Agenda {
    /// Of a worker that has the files of `share`.
    pub(super) fn new(work: MetadataWork, worker: &Worker, share: FileShare) -> Agenda {
        let order = Order::of(worker, share, work.random);
        let mixer = work.mix.filter(|_| share.count > 0).map(|mix| Mixer::new(mix, worker.seed));
        Agenda { work, share, order, mixer, index: 0 }
    }

    /// The next operation, its place among those that the worker counts, and the number of its file
    /// (of `readdir`: of its directory); `None` when all is done, which never happens to a mix.
    #[inline]
    pub(super) fn next(&mut self, tree: &Tree) -> Option<((usize, Op), u64)> {
        let next = match &mut self.mixer {
            Some(mixer) => mixer.next(tree, self.share, self.work.random, self.index),
            None if self.index >= self.share.count => return None,
            None => ((0, self.work.op), self.order.number(self.share, self.index)),
        };
        self.index += 1;
        Some(next)
    }

    /// Whether each file had its turn, and there was one.
    pub(super) fn is_through(&self) -> bool {
        self.mixer.is_none() && self.index == self.share.count && self.index > 0
    }

    /// Whether nothing comes any more.
    pub(super) fn is_exhausted(&self) -> bool {
        self.mixer.is_none() && self.index >= self.share.count
    }

    /// The numbers of the files that it has handed out, where each comes once.
    pub(super) fn handed_out(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.index).map(|index| self.order.number(self.share, index))
    }
}
