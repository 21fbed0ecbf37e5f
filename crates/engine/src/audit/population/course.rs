//! What a worker of a population did, gone through again: which files are there after it, and which
//! of its writes each of them holds.

use crate::metadata::{Ledger, Life, Step};
use model::Op;
use model::metadata::{FileShare, MetadataWork, Tree};
use model::plan::Worker;
use model::population::{MOST_LIVING, Population};
use std::collections::BTreeMap;

/// Operations between two looks at whoever waits.
const STEP: u64 = 1 << 16;
/// Why operations on record cannot be those of a worker.
const OTHER: &str = "the operations of a population on record do not follow from its plan";
/// Where the number of a leg begins in what names a write.
const LEG_SHIFT: u32 = 48;

/// One stage of a worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg<'a> {
    /// The stage's number in the plan.
    pub(super) stage: u32,
    pub(super) worker: &'a Worker,
    pub(super) metadata: MetadataWork,
    pub(super) population: Population,
    /// Operations that are on record as done, by their place in the mix.
    pub(super) counts: [u64; MOST_LIVING],
    /// Those of them that failed.
    pub(super) errors: u64,
    /// Whether all that it did is on record.
    pub(super) is_whole: bool,
}

impl Leg<'_> {
    /// Operations that are on record as done.
    pub(super) fn done(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// Which operation wrote: its leg and its number there. 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Written(u64);

impl Written {
    fn of(leg: usize, step: &Step) -> Written {
        Written((leg as u64) << LEG_SHIFT | step.ordinal)
    }

    /// The leg's number.
    pub(super) fn leg(self) -> usize {
        (self.0 >> LEG_SHIFT) as usize
    }

    /// The number of the operation in its leg, from 1; 0 where nothing was written.
    pub(super) fn ordinal(self) -> u64 {
        self.0 & ((1 << LEG_SHIFT) - 1)
    }
}

/// What a file holds, from its first byte to its last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pieces {
    /// What stands before the first append.
    pub(super) base: Written,
    /// Appends: where they begin, and by whom they are.
    pub(super) appends: Vec<(u32, Written)>,
}

/// What the files of a worker hold; nothing of it is kept where no bytes are compared.
#[derive(Debug, Default)]
struct Contents {
    bases: Box<[Written]>,
    appends: BTreeMap<u64, Vec<(u32, Written)>>,
}

impl Contents {
    fn take(&mut self, step: &Step, by: Written) {
        let Some(base) = self.bases.get_mut(step.index as usize) else { return };
        match step.op {
            Op::Create => *base = by,
            Op::WriteFile if step.moves > 0 => *base = by,
            Op::Append => {
                return self.appends.entry(step.index).or_default().push((step.length, by));
            }
            Op::Remove => *base = Written::default(),
            Op::Truncate => {}
            _ => return,
        }
        self.appends.remove(&step.index);
    }

    fn pieces(&self, index: u64) -> Pieces {
        Pieces {
            base: self.bases.get(index as usize).copied().unwrap_or_default(),
            appends: self.appends.get(&index).cloned().unwrap_or_default(),
        }
    }
}

/// A worker on its way.
pub(super) struct Course<'a> {
    tree: &'a Tree,
    leg: usize,
    life: Life,
    contents: Contents,
}

impl<'a> Course<'a> {
    /// A worker with the files of `share` after all that is on record of its `legs`, of which there
    /// is at least one. `tick` hears now and then how many operations were gone through since.
    ///
    /// # Errors
    /// When the operations on record are not those that follow from the plan.
    pub(super) fn after(
        tree: &'a Tree,
        share: FileShare,
        legs: &[Leg<'_>],
        keeps_contents: bool,
        tick: &mut dyn FnMut(u64),
    ) -> Result<Course<'a>, &'static str> {
        let names = if keeps_contents { share.count as usize } else { 0 };
        let contents =
            Contents { bases: vec![Written::default(); names].into(), ..Contents::default() };
        let life =
            |leg: &Leg<'_>, ledger| Life::new(leg.population, share, leg.worker.seed, ledger);
        let first = life(&legs[0], Ledger::new(share.count));
        let mut course = Course { tree, leg: 0, life: first, contents };
        for (number, leg) in legs.iter().enumerate() {
            if number > 0 {
                let none = life(leg, Ledger::default());
                let ledger = std::mem::replace(&mut course.life, none).into_ledger();
                (course.leg, course.life) = (number, life(leg, ledger));
            }
            let (mut left, mut counts) = (leg.done(), [0; MOST_LIVING]);
            while left > 0 {
                let now = left.min(STEP);
                for _ in 0..now {
                    let step = course.next().ok_or(OTHER)?;
                    counts[step.slot] += 1;
                    course.take(&step);
                }
                tick(now);
                left -= now;
            }
            if counts != leg.counts {
                return Err(OTHER);
            }
        }
        Ok(course)
    }

    /// What it does next; `None` where it has done all.
    pub(super) fn next(&mut self) -> Option<Step> {
        self.life.next(self.tree)
    }

    /// It did that.
    pub(super) fn take(&mut self, step: &Step) {
        self.life.done(self.tree, step);
        self.contents.take(step, Written::of(self.leg, step));
    }

    /// Its files.
    pub(super) fn ledger(&self) -> &Ledger {
        self.life.ledger()
    }

    /// What the file with the name `index` holds.
    pub(super) fn pieces(&self, index: u64) -> Pieces {
        self.contents.pieces(index)
    }
}
