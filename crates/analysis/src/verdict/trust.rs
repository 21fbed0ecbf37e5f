//! Whether the figures of a run can be trusted: a pure function of what was found. Whatever says
//! "no reason to doubt" asks here, so that no green line contradicts what stands beside it.

use crate::layers::attribution::Attribution;
use crate::rows::issued::issued;
use crate::rows::row::ResultRow;
use crate::rows::state::{RunState, run_state};
use crate::verdict::{Level, Verdict};
use model::{NoteKind, Record};
use std::collections::BTreeSet;

/// What was found of a run, as far as trust depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Whether the run reached its planned end.
    pub is_complete: bool,
    /// Results that are shown.
    pub results: u64,
    /// Results in which no request succeeded.
    pub empty: u64,
    /// Results with a doubt beside a figure.
    pub doubted: u64,
    /// Results in which requests succeeded, but for whose rate or p99 no interval of confidence is
    /// known.
    pub unsure: u64,
    /// Those of them that have none for their rate.
    pub unsure_rates: u64,
    /// Results that may not be quoted, because evidence for them is missing or speaks against them.
    pub unquotable: u64,
    /// Requests that failed, in all stages.
    pub failed: u64,
    /// Hosts that were lost, even if they came back.
    pub lost_hosts: u64,
    /// Hosts whose CPUs were used up under load.
    pub saturated_hosts: u64,
}

/// One thing that speaks against the figures, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// There is no figure to judge, or not everywhere: so many results are empty.
    Nothing {
        /// Results in which no request succeeded; 0 where there is no result at all.
        results: u64,
    },
    /// The run did not reach its planned end.
    NotComplete,
    /// So many requests failed.
    Failed {
        /// How many, in all stages.
        requests: u64,
    },
    /// Hosts were lost.
    HostsLost {
        /// How many.
        hosts: u64,
    },
    /// Hosts that make the load had no CPU time left.
    HostsSaturated {
        /// How many.
        hosts: u64,
    },
    /// Results have doubts.
    Doubted {
        /// How many.
        results: u64,
    },
    /// It is not known how sure results are.
    Unsure {
        /// How many.
        results: u64,
        /// For how many it is the rate: for the others, it is the p99 alone.
        rates: u64,
    },
    /// Evidence for results is missing, or speaks against them: [`crate::verdict`] says which.
    Unquotable {
        /// How many.
        results: u64,
    },
}

impl Evidence {
    /// What stands in `record`, whose results are `rows`, by what its counters say, `limits`;
    /// `is_doubted` says whether a doubt stands beside a figure of a row that is shown.
    pub fn of(
        record: &Record,
        rows: &[ResultRow],
        limits: &[Attribution],
        is_doubted: impl Fn(&ResultRow) -> bool,
    ) -> Evidence {
        let count =
            |is: &dyn Fn(&ResultRow) -> bool| rows.iter().filter(|row| is(row)).count() as u64;
        // Of a rate that changes there can be none, and the verdict says so.
        let is_unsure = |row: &ResultRow| {
            row.ios > 0
                && !row.is_changing()
                && (row.confidence.iops.is_none() || row.confidence.p99_ns().is_none())
        };
        let lost = record
            .notes
            .iter()
            .filter(|note| note.kind() == NoteKind::HostLost)
            .map(|note| note.host);
        let saturated: BTreeSet<u32> =
            limits.iter().flat_map(Attribution::saturated_hosts).collect();
        Evidence {
            is_complete: run_state(record) == RunState::Complete,
            results: rows.len() as u64,
            empty: count(&|row| row.ios == 0),
            doubted: count(&is_doubted),
            unsure: count(&is_unsure),
            unsure_rates: count(&|row| is_unsure(row) && row.confidence.iops.is_none()),
            unquotable: count(&|row| Verdict::of(record, row).level < Level::Quotable),
            failed: issued(record).iter().map(|total| total.errors).fold(0, u64::saturating_add),
            lost_hosts: lost.collect::<BTreeSet<u32>>().len() as u64,
            saturated_hosts: saturated.len() as u64,
        }
    }

    /// What both say together.
    #[must_use]
    pub fn and(self, other: Evidence) -> Evidence {
        let sum = u64::saturating_add;
        Evidence {
            is_complete: self.is_complete && other.is_complete,
            results: sum(self.results, other.results),
            empty: sum(self.empty, other.empty),
            doubted: sum(self.doubted, other.doubted),
            unsure: sum(self.unsure, other.unsure),
            unsure_rates: sum(self.unsure_rates, other.unsure_rates),
            unquotable: sum(self.unquotable, other.unquotable),
            failed: sum(self.failed, other.failed),
            lost_hosts: sum(self.lost_hosts, other.lost_hosts),
            saturated_hosts: sum(self.saturated_hosts, other.saturated_hosts),
        }
    }

    /// All that speaks against the figures, the gravest first. Empty: no reason to doubt them was
    /// found.
    pub fn reasons(&self) -> Vec<Reason> {
        let is_nothing = self.results == 0 || self.empty > 0;
        let found = [
            (is_nothing, Reason::Nothing { results: self.empty }),
            (!self.is_complete, Reason::NotComplete),
            (self.failed > 0, Reason::Failed { requests: self.failed }),
            (self.lost_hosts > 0, Reason::HostsLost { hosts: self.lost_hosts }),
            (self.saturated_hosts > 0, Reason::HostsSaturated { hosts: self.saturated_hosts }),
            (self.doubted > 0, Reason::Doubted { results: self.doubted }),
            (self.unsure > 0, Reason::Unsure { results: self.unsure, rates: self.unsure_rates }),
            (self.unquotable > 0, Reason::Unquotable { results: self.unquotable }),
        ];
        found.into_iter().filter(|(is, _)| *is).map(|(_, reason)| reason).collect()
    }

    /// Whether nothing speaks against the figures.
    pub fn is_sound(&self) -> bool {
        self.reasons().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results;
    use crate::testing::Recorded;
    use model::{Fact, Note, Op, StageKind};

    fn without_doubt() -> Evidence {
        Evidence { is_complete: true, results: 9, ..Evidence::default() }
    }

    /// Puts a finding into what was found.
    type Find = fn(&mut Evidence);

    /// Every finding by itself, and the reason that it has to be.
    const FINDINGS: [(Find, Reason); 9] = [
        (|found| found.empty = 2, Reason::Nothing { results: 2 }),
        (|found| found.is_complete = false, Reason::NotComplete),
        (|found| found.failed = 3, Reason::Failed { requests: 3 }),
        (|found| found.lost_hosts = 4, Reason::HostsLost { hosts: 4 }),
        (|found| found.saturated_hosts = 5, Reason::HostsSaturated { hosts: 5 }),
        (|found| found.doubted = 6, Reason::Doubted { results: 6 }),
        (|found| found.unsure = 7, Reason::Unsure { results: 7, rates: 0 }),
        (|found| found.unquotable = 8, Reason::Unquotable { results: 8 }),
        (|found| found.results = 0, Reason::Nothing { results: 0 }),
    ];

    #[test]
    fn every_combination_of_findings_is_told_and_only_none_is_sound() {
        for set in 0u32..1 << FINDINGS.len() {
            let mut found = without_doubt();
            let mut expected: Vec<Reason> = Vec::new();
            for (_, (find, reason)) in (0..).zip(&FINDINGS).filter(|(bit, _)| set & (1 << bit) != 0)
            {
                find(&mut found);
                // What is empty and what is not there is one reason.
                let is_told = |told: &Reason| {
                    matches!((told, reason), (Reason::Nothing { .. }, Reason::Nothing { .. }))
                };
                if !expected.iter().any(is_told) {
                    expected.push(*reason);
                }
            }
            expected.sort();
            assert_eq!(found.reasons(), expected, "{found:?}");
            assert_eq!(found.is_sound(), set == 0, "{found:?}");
            assert_eq!(
                without_doubt().and(found).is_sound(),
                set == 0 || found.results == 0 && set == 1 << 8,
                "{found:?}"
            );
        }
    }

    /// A run of reads, long enough for an interval of confidence.
    fn recorded(hosts: usize) -> (Recorded, u32) {
        let mut recorded = Recorded::with_hosts(
            "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n",
            hosts,
        );
        let stage = recorded.stage(StageKind::Measure);
        for (second, host) in
            (0..40).flat_map(|second| (0..hosts as u32).map(move |host| (second, host)))
        {
            // A rate that is constant to the digit is a limiter's.
            let count = 1_000 + u64::from(second) * 7 % 23;
            let values: Vec<u64> =
                (0..count).map(|n| 90_000 + (n * 7 + u64::from(second) * 13) % 1_000).collect();
            recorded.host_interval(stage, host, second, &[(Op::Read, &values)]);
        }
        recorded.seen_at_disks(stage, "write through");
        (recorded, stage)
    }

    fn found(recorded: &Recorded) -> Evidence {
        let record = recorded.record();
        Evidence::of(&record, &results(&record), &[], |_| false)
    }

    #[test]
    fn what_stands_in_a_record_is_found() {
        let (mut sound, _) = recorded(2);
        assert!(!found(&sound).is_complete);
        sound.end();
        assert_eq!(found(&sound), Evidence { results: 1, ..without_doubt() });
        let (mut lossy, stage) = recorded(2);
        lossy.fail(stage, 3, Op::Read, 5, 3_784);
        lossy.note(Note {
            stage: None,
            host: 1,
            fact: Fact::HostLost { name: "h1".into(), why: "gone".into() },
        });
        lossy.end();
        let lossy = found(&lossy);
        assert_eq!((lossy.failed, lossy.lost_hosts), (3_784, 1));
        let mut short = Recorded::new("[[workload]]\nname = \"w\"\n");
        short.second(0, &[(Op::Read, &[100_000; 50_000])]);
        short.end();
        assert_eq!(
            found(&short).reasons(),
            [Reason::Unsure { results: 1, rates: 1 }, Reason::Unquotable { results: 1 }]
        );
    }
}
