//! One worker of a metadata stage in virtual time: what it asks of a simulated tree, and what came
//! of it.

use super::order::Agenda;
use crate::io::{Completion, Io};
use crate::worker::{Finished, Outcome};
use model::Op;
use model::metadata::Tree;
use model::plan::{HostPlan, Work, Worker};

/// A worker that has one operation under way at a time.
pub(crate) struct NamedState {
    agenda: Agenda,
    tree: Tree,
    /// The place of its tree among the files and trees of its host.
    place: u32,
    /// Since when the operation is under way, its place among those that are counted, and the
    /// bytes that it moves.
    under_way: Option<(u64, usize, u32)>,
    stopped: bool,
}

impl NamedState {
    /// A worker of `work`; `None` where it is none of metadata. The host's trees have their places
    /// behind its files.
    pub(crate) fn new(plan: &HostPlan, work: &Work, worker: &Worker) -> Option<NamedState> {
        let (metadata, share) = (work.metadata?, worker.files?);
        let tree = plan.trees.get(share.tree as usize)?.clone();
        let place = plan.files().count() as u32 + share.tree;
        Some(NamedState {
            agenda: Agenda::new(metadata, worker, share),
            tree,
            place,
            under_way: None,
            stopped: false,
        })
    }

    /// The next operation, if nothing is under way: the number of its file is its offset, and what
    /// it moves its length.
    #[inline]
    pub(crate) fn next_io(&mut self, now_ns: u64) -> Option<Io> {
        if self.stopped || self.under_way.is_some() {
            return None;
        }
        let ((slot, op), number) = self.agenda.next(&self.tree)?;
        let bytes = match op {
            Op::Create | Op::ReadFile | Op::WriteFile => {
                self.tree.size_of(number).0.min(u64::from(u32::MAX)) as u32
            }
            _ => 0,
        };
        self.under_way = Some((now_ns, slot, bytes));
        Some(Io { slot: 0, op, file: self.place, offset: number, length: bytes })
    }

    /// Takes the operation back.
    #[inline]
    pub(crate) fn complete(&mut self, completion: Completion, now_ns: u64) -> Finished {
        let (since_ns, op, wanted) = self.under_way.take().unwrap_or((now_ns, 0, 0));
        let outcome = match completion.result {
            moved if moved >= 0 && moved as u32 == wanted => Outcome::Success { bytes: wanted },
            moved if moved >= 0 => Outcome::Failure { errno: 0, bytes: moved as u32 },
            errno => Outcome::Failure { errno: -errno, bytes: 0 },
        };
        Finished { op, latency_ns: now_ns.saturating_sub(since_ns), outcome }
    }

    /// Asks for nothing more.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Whether nothing is under way and nothing will be.
    pub(crate) fn is_done(&self) -> bool {
        self.under_way.is_none() && (self.stopped || self.agenda.is_exhausted())
    }

    /// Whether it has had all of its files, and was not stopped before.
    pub(crate) fn has_done_all(&self) -> bool {
        self.under_way.is_none() && !self.stopped && self.agenda.is_through()
    }
}
