//! One worker of a metadata stage in virtual time: what it asks of a simulated tree, and what came
//! of it.

use super::life::{Life, Step};
use super::order::Agenda;
use super::paced::Paced;
use crate::io::{Completion, Io};
use crate::worker::{Finished, Outcome};
use model::metadata::Tree;
use model::plan::{HostPlan, Work, Worker};

/// Where its operations come from.
enum Course {
    /// Every file in turn, or a mix that changes nothing.
    Agenda(Agenda),
    /// A population, whose files need nobody to make them.
    Life(Life),
}

/// A worker that has one operation under way at a time.
pub(crate) struct NamedState {
    course: Course,
    tree: Tree,
    paced: Paced,
    /// The place of its tree among the files and trees of its host.
    place: u32,
    /// Since when the operation is under way, and which it is.
    under_way: Option<(u64, Step)>,
    stopped: bool,
    /// Whether a population has all the files that a filling was to make.
    filled: bool,
}

impl NamedState {
    /// A worker of `work`, whose stage begins at `start_ns`; `None` where it is none of metadata.
    /// The host's trees have their places behind its files.
    pub(crate) fn new(
        plan: &HostPlan,
        work: &Work,
        worker: &Worker,
        start_ns: u64,
    ) -> Option<NamedState> {
        let (metadata, share) = (work.metadata?, worker.files?);
        let tree = plan.trees.get(share.tree as usize)?.clone();
        let place = plan.files().count() as u32 + share.tree;
        let course = match metadata.population {
            Some(population) => Course::Life(Life::settled(population, share, worker.seed, &tree)),
            None => Course::Agenda(Agenda::new(metadata, worker, share)),
        };
        Some(NamedState {
            course,
            tree,
            paced: Paced::new(work, worker, start_ns),
            place,
            under_way: None,
            stopped: false,
            filled: false,
        })
    }

    /// The next operation that is due, if nothing is under way: the number of its file is its
    /// offset, and what it moves its length.
    #[inline]
    pub(crate) fn next_io(&mut self, now_ns: u64) -> Option<Io> {
        if self.stopped || self.under_way.is_some() || self.quiet_ns(now_ns) > 0 {
            return None;
        }
        let step = match &mut self.course {
            Course::Agenda(agenda) => {
                let ((slot, op), number) = agenda.next(&self.tree)?;
                Step::plain(&self.tree, slot, op, number)
            }
            Course::Life(life) => match life.next(&self.tree) {
                Some(step) => step,
                None => {
                    self.filled = true;
                    return None;
                }
            },
        };
        self.under_way = Some((self.paced.since_ns(now_ns), step));
        self.paced.took(step.moves);
        Some(Io { slot: 0, op: step.op, file: self.place, offset: step.number, length: step.moves })
    }

    /// How long from `now_ns` on nothing is due; 0 where something is.
    #[inline]
    pub(crate) fn quiet_ns(&self, now_ns: u64) -> u64 {
        self.paced.due_ns().map_or(0, |due_ns| due_ns.saturating_sub(now_ns))
    }

    /// Whether what comes next has an instant of its own.
    pub(crate) fn waits(&self) -> bool {
        !self.stopped && self.under_way.is_none() && self.paced.due_ns().is_some()
    }

    /// Takes the operation back.
    #[inline]
    pub(crate) fn complete(&mut self, completion: Completion, now_ns: u64) -> Finished {
        let Some((since_ns, step)) = self.under_way.take() else {
            let outcome = Outcome::Failure { errno: 0, bytes: 0 };
            return Finished { op: 0, latency_ns: 0, outcome };
        };
        let outcome = match completion.result {
            moved if moved >= 0 && moved as u32 == step.moves => {
                Outcome::Success { bytes: step.moves }
            }
            moved if moved >= 0 => Outcome::Failure { errno: 0, bytes: moved as u32 },
            errno => Outcome::Failure { errno: -errno, bytes: 0 },
        };
        // What failed has changed nothing: there is no file system to ask.
        if let (Course::Life(life), Outcome::Success { .. }) = (&mut self.course, outcome) {
            life.done(&self.tree, &step);
        }
        self.paced.ended(now_ns);
        Finished { op: step.slot, latency_ns: now_ns.saturating_sub(since_ns), outcome }
    }

    /// Asks for nothing more from `end_ns` on, when the load is over. At a rate, `never` hears of
    /// what was due before and never sent: its operation, its age in ns, and how many it stands
    /// for.
    pub(crate) fn stop(&mut self, end_ns: u64, never: &mut dyn FnMut(usize, u64, u64)) {
        if std::mem::replace(&mut self.stopped, true) {
            return;
        }
        let (course, bytes) = (&mut self.course, self.tree.mean_size().0);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.paced.unsent(end_ns, bytes, &mut |age_ns, count| {
            let slot = match course {
                Course::Agenda(_) => 0,
                Course::Life(life) => life.any_slot(),
            };
            never(slot, age_ns, count);
        });
    }

    fn is_exhausted(&self) -> bool {
        match &self.course {
            Course::Agenda(agenda) => agenda.is_exhausted(),
            Course::Life(_) => self.filled,
        }
    }

    /// Whether nothing is under way and nothing will be.
    pub(crate) fn is_done(&self) -> bool {
        self.under_way.is_none() && (self.stopped || self.is_exhausted())
    }

    /// Whether it has had all of its files, and was not stopped before.
    pub(crate) fn has_done_all(&self) -> bool {
        let is_through = match &self.course {
            Course::Agenda(agenda) => agenda.is_through(),
            Course::Life(_) => self.filled,
        };
        self.under_way.is_none() && !self.stopped && is_through
    }
}
