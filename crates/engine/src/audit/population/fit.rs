//! After which operation of a worker its files are as they stand.
//!
//! A worker does one operation after the other, and a killed run has done some that nobody took
//! down. So the files must be as they were after one of the operations that follow those on record,
//! the next of them perhaps half done.

use super::course::{Course, Pieces};
use super::standing::Standing;
use crate::metadata::{Known, Step};
use model::Op;
use std::collections::BTreeMap;

/// Operations beyond those on record that are looked at, at least; as many as are on record, where
/// these are more.
const LEAST_LOOK: u64 = 1 << 20;
/// Operations behind the first that fits of which any other may be the one: a file that was removed
/// and made again leaves its name as it was.
const WINDOW: u64 = 1 << 10;

/// What a standing was found to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fit {
    /// Operations beyond those on record after which the files are as they stand.
    pub(super) beyond: u64,
    /// The name to which the operation that was cut off went.
    pub(super) cut_off: Option<u64>,
    /// Of files that the last operations wrote to: what else they may hold.
    pub(super) others: BTreeMap<u64, Vec<Pieces>>,
}

/// Names whose files are not as they stand; odd ones are told by themselves.
struct Differences<'a> {
    standing: &'a Standing,
    count: u64,
}

impl<'a> Differences<'a> {
    fn new(course: &Course<'_>, standing: &'a Standing) -> Differences<'a> {
        let mut all = Differences { standing, count: 0 };
        let names = 0..standing.files.names();
        all.count = names.filter(|index| all.differs(course, *index)).count() as u64;
        all
    }

    fn differs(&self, course: &Course<'_>, index: u64) -> bool {
        course.ledger().get(index) != self.standing.files.get(index)
            && !self.standing.odd.contains_key(&index)
    }

    /// Takes `step` in `course`.
    fn take(&mut self, course: &mut Course<'_>, step: &Step) {
        let before = self.differs(course, step.index);
        course.take(step);
        let after = self.differs(course, step.index);
        self.count = self.count - u64::from(before) + u64::from(after);
    }

    /// How many there are, when `next` may have been cut off half done; and whether it was.
    fn at(&self, course: &Course<'_>, next: Option<&Step>) -> (u64, bool) {
        let is_cut_off = next.is_some_and(|step| {
            self.differs(course, step.index)
                && self.standing.files.get(step.index).is_some_and(|there| is_part(step, there))
        });
        (self.count - u64::from(is_cut_off), is_cut_off)
    }
}

/// Whether a file that is `there` is what a part of `step` makes of it.
fn is_part(step: &Step, there: Known) -> bool {
    let range = match step.op {
        Op::Create => 0..=step.moves,
        Op::Append => step.length..=step.length.saturating_add(step.moves),
        _ => return false,
    };
    there.renamed == step.renamed && range.contains(&there.length)
}

/// How far beyond the record it is looked at most, where `recorded` operations are on it.
pub(super) fn most_beyond(recorded: u64) -> u64 {
    recorded.max(LEAST_LOOK)
}

/// The fewest differences that files have with `standing` after one of the next `most` operations
/// of `course`.
pub(super) fn least(
    mut course: Course<'_>,
    standing: &Standing,
    most: u64,
    tick: &mut dyn FnMut(u64),
) -> u64 {
    let mut differences = Differences::new(&course, standing);
    let mut least = u64::MAX;
    for beyond in 0..=most {
        let step = course.next();
        least = least.min(differences.at(&course, step.as_ref()).0);
        let Some(step) = step.filter(|_| least > 0) else { break };
        differences.take(&mut course, &step);
        if beyond % (1 << 16) == 0 {
            tick(1 << 16);
        }
    }
    least
}

/// The first place beyond the record where `course` has as few differences as the `least`, and what
/// files may hold instead if it is one of the next such places.
pub(super) fn find(mut course: Course<'_>, standing: &Standing, most: u64, least: u64) -> Fit {
    let mut differences = Differences::new(&course, standing);
    let mut fit: Option<Fit> = None;
    // What was written since the last place that fits.
    let mut since: Vec<(u64, Pieces)> = Vec::new();
    for beyond in 0..=most {
        let step = course.next();
        let (count, is_cut_off) = differences.at(&course, step.as_ref());
        if count == least {
            let fit = fit.get_or_insert_with(|| Fit { beyond, ..Fit::default() });
            for (index, pieces) in since.drain(..) {
                fit.others.entry(index).or_default().push(pieces);
            }
        }
        let Some(step) = step else { break };
        if fit.as_ref().is_some_and(|fit| beyond > fit.beyond + WINDOW) {
            break;
        }
        differences.take(&mut course, &step);
        let Some(fit) = &mut fit else { continue };
        if !matches!(step.op, Op::Create | Op::WriteFile | Op::Append | Op::Truncate | Op::Remove) {
            continue;
        }
        let pieces = course.pieces(step.index);
        if count == least && is_cut_off {
            // Of a later place that fits it is one more thing that the file may hold.
            fit.cut_off = fit.cut_off.or((fit.beyond == beyond).then_some(step.index));
            fit.others.entry(step.index).or_default().push(pieces.clone());
        }
        since.push((step.index, pieces));
    }
    fit.unwrap_or_default()
}
