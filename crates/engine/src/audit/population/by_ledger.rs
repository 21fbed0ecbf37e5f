//! Files of workers whose operations failed. What a failed operation left does not follow from a
//! seed, so such a worker cannot be gone through again. But its ledger asked the file system each
//! time, and the record has the sum of all ledgers of the host at the end of the stage.

use super::course::Leg;
use super::{FileDamage, Findings, PopulationAudit};
use model::ledger::{FilesSum, LedgerSum};
use model::{Fact, Record};
use std::collections::BTreeMap;

/// What stands of a worker whose operations failed.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    /// The number of the population among those that are told.
    pub(super) population: usize,
    pub(super) path: &'a str,
    pub(super) names: u64,
    pub(super) found: FilesSum,
}

/// Of a worker whose operations failed.
struct Failed {
    population: usize,
    path: String,
    names: u64,
    files: u64,
}

/// All workers whose last stage is the same.
#[derive(Default)]
struct Group {
    /// Files of those that were gone through again, as they must be.
    drawn: FilesSum,
    /// Files of the others, as they stand.
    found: FilesSum,
    failed: Vec<Failed>,
    /// Whether any worker of the stage is in neither.
    is_part: bool,
}

/// By the number of the stage.
#[derive(Default)]
pub(super) struct ByLedger(BTreeMap<u32, Group>);

impl ByLedger {
    /// Takes in the stages of a worker, and comes back with the last of them.
    pub(super) fn enter(&mut self, legs: &[Leg<'_>]) -> u32 {
        let (last, earlier) = match legs.split_last() {
            Some((last, earlier)) => (last.stage, earlier),
            None => (0, legs),
        };
        // Its files are not as they were at the end of these.
        for leg in earlier {
            self.miss(leg.stage);
        }
        last
    }

    /// A worker of `stage` has files that the sum holds and that are not known.
    pub(super) fn miss(&mut self, stage: u32) {
        self.0.entry(stage).or_default().is_part = true;
    }

    /// A worker must have left these files.
    pub(super) fn drawn(&mut self, stage: u32, files: FilesSum) {
        self.0.entry(stage).or_default().drawn.add_all(files);
    }

    /// A worker whose operations failed has left these.
    pub(super) fn found(&mut self, stage: u32, found: Found<'_>) {
        let Found { population, path, names, found } = found;
        let group = self.0.entry(stage).or_default();
        group.found.add_all(found);
        let files = found.files;
        group.failed.push(Failed { population, path: path.to_owned(), names, files });
    }

    /// Compares what was found with what the ledgers said at the end of each stage, by
    /// `ledger_of`, and writes it to `all`. Whether there was anything to compare.
    pub(super) fn settle(
        self,
        ledger_of: &dyn Fn(u32) -> Option<LedgerSum>,
        all: &mut [PopulationAudit],
        findings: &mut Findings,
    ) -> bool {
        let mut is_any = false;
        for (stage, group) in self.0 {
            let expected = ledger_of(stage)
                .filter(|ledger| !group.is_part && ledger.guessed == 0)
                .and_then(|ledger| ledger.sum.without(group.drawn));
            let Some(expected) = expected else {
                for Failed { population, names, .. } in group.failed {
                    all[population].unsure = all[population].unsure.saturating_add(names);
                }
                continue;
            };
            is_any |= !group.failed.is_empty();
            let is_same = expected == group.found;
            for Failed { population, files, .. } in &group.failed {
                all[*population].expected += files;
                all[*population].good += if is_same { *files } else { 0 };
            }
            if let Some(first) = group.failed.first().filter(|_| !is_same) {
                let kind = kind(expected, group.found);
                let words =
                    |sum: FilesSum| format!("{} files of {} bytes together", sum.files, sum.bytes);
                let (wanted, found) = (words(expected), words(group.found));
                findings.add(&mut all[first.population], kind, first.path.clone(), wanted, found);
            }
        }
        is_any
    }
}

/// What the ledgers of a host said at the end of a stage.
pub(super) fn of_record(record: &Record, host: u32, stage: u32) -> Option<LedgerSum> {
    record.notes.iter().rev().find_map(|note| match &note.fact {
        Fact::Ledger(ledger) if (note.host, note.stage) == (host, Some(stage)) => Some(*ledger),
        _ => None,
    })
}

/// What is wrong with files of which sums alone are known.
fn kind(expected: FilesSum, found: FilesSum) -> FileDamage {
    match (found.files.cmp(&expected.files), found.bytes == expected.bytes) {
        (std::cmp::Ordering::Less, _) => FileDamage::Missing,
        (std::cmp::Ordering::Greater, _) => FileDamage::Stray,
        (std::cmp::Ordering::Equal, false) => FileDamage::Length,
        (std::cmp::Ordering::Equal, true) => FileDamage::Name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_that_differ_say_how() {
        let of = |files, bytes, digest| FilesSum { files, bytes, digest };
        let expected = of(10, 100, 7);
        for (found, wanted) in [
            (of(9, 100, 7), FileDamage::Missing),
            (of(11, 90, 7), FileDamage::Stray),
            (of(10, 99, 7), FileDamage::Length),
            (of(10, 100, 8), FileDamage::Name),
        ] {
            assert_eq!(kind(expected, found), wanted, "{found:?}");
        }
    }
}
