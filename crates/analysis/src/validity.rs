//! Reasons to doubt a figure. Thresholds and their reasons stand in `docs/METHOD.md`.

use crate::results::{ResultRow, RunState, run_state};
use model::plan::StageKind;
use model::record::StageRecord;
use model::spec::Backend;
use model::testbed::{DirectoryState, TargetFacts, TargetKind};
use model::{Bytes, Nanos, NoteKind, Record, Scale};
use std::collections::BTreeMap;

/// Fewer samples than this support no tail: the p99 then rests on fewer than ten.
const LEAST_SAMPLES: u64 = 1_000;
/// A quantile with fewer samples beyond it moves by more than a third from run to run by chance alone.
const LEAST_BEYOND: f64 = 10.0;
/// A worker that leaves less than a tenth of its core idle is likely to be the limit itself.
const BUSY_WORKER: f64 = 0.9;
/// Past nine tenths, flash and most file systems slow down because they are full.
const LEAST_FREE_SHARE: f64 = 0.1;

/// One of the quantiles that results state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantile {
    /// As people write it: `p99.9`.
    pub name: &'static str,
    /// As JSON names it: `p99_9`.
    pub key: &'static str,
    /// The share of requests at or below it, 0 to 1.
    pub share: f64,
}

/// The quantiles that every result states, in rising order.
pub const QUANTILES: [Quantile; 5] = [
    Quantile { name: "p50", key: "p50", share: 0.5 },
    Quantile { name: "p90", key: "p90", share: 0.9 },
    Quantile { name: "p99", key: "p99", share: 0.99 },
    Quantile { name: "p99.9", key: "p99_9", share: 0.999 },
    Quantile { name: "p99.99", key: "p99_99", share: 0.9999 },
];

/// A reason to doubt a figure, with its evidence.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// The page cache could hold the whole layout.
    Cached {
        /// Bytes of the layout on that host.
        footprint: Bytes,
        /// Memory of that host.
        memory: Bytes,
    },
    /// The target refused direct I/O: requests went through the page cache.
    DirectRefused {
        /// The agent's words.
        detail: String,
    },
    /// Another backend took the place of the one that was asked for.
    BackendFallback {
        /// The agent's words.
        detail: String,
    },
    /// Too few samples for any quantile of the tail.
    FewSamples {
        /// How many there are.
        samples: u64,
    },
    /// A quantile and those above it rest on a handful of samples.
    ThinTail {
        /// The lowest of them: `p99.9`.
        quantile: &'static str,
        /// How many samples lie beyond it.
        beyond: u64,
    },
    /// A worker had no CPU time left: the generator may be what was measured.
    WorkerBusy {
        /// The share of one core, 0 to 1.
        share: f64,
    },
    /// The file system was nearly full with the layout in it.
    LittleSpace {
        /// The target.
        target: String,
        /// The share of the file system that stayed free, 0 to 1.
        free: f64,
    },
    /// The workload was measured from its first request.
    NotPreconditioned,
    /// Blocks were read that nobody ever wrote.
    NotPrepared,
    /// Some requests failed; they are in no rate and no quantile.
    Errors {
        /// How many, by errno; 0 is a transfer that was short.
        by_errno: BTreeMap<i32, u64>,
    },
    /// The stage did not run to its planned end.
    Incomplete {
        /// How the run ended.
        how: RunState,
        /// What was measured.
        measured: Nanos,
    },
    /// Sizes and times were shrunk.
    Scaled {
        /// The factor.
        scale: Scale,
    },
    /// No request came back.
    NothingCompleted,
}

impl Warning {
    /// A stable word for machines.
    pub fn code(&self) -> &'static str {
        match self {
            Warning::Cached { .. } => "fits-in-memory",
            Warning::DirectRefused { .. } => NoteKind::DirectRefused.word(),
            Warning::BackendFallback { .. } => NoteKind::BackendFallback.word(),
            Warning::FewSamples { .. } => "few-samples",
            Warning::ThinTail { .. } => "thin-tail",
            Warning::WorkerBusy { .. } => "worker-busy",
            Warning::LittleSpace { .. } => "little-space",
            Warning::NotPreconditioned => "not-preconditioned",
            Warning::NotPrepared => "not-prepared",
            Warning::Errors { .. } => "errors",
            Warning::Incomplete { .. } => "incomplete",
            Warning::Scaled { .. } => "scaled",
            Warning::NothingCompleted => "nothing-completed",
        }
    }
}

/// Every reason to doubt `row`, the gravest first.
pub(crate) fn warnings(record: &Record, stage: &StageRecord, row: &ResultRow) -> Vec<Warning> {
    let mut found = Vec::new();
    if row.ios == 0 {
        found.push(Warning::NothingCompleted);
    }
    if !row.errors.is_empty() {
        found.push(Warning::Errors { by_errno: row.errors.clone() });
    }
    if !row.complete {
        let measured = Nanos((row.seconds * 1e9) as u64);
        found.push(Warning::Incomplete { how: run_state(record), measured });
    }
    found.extend(refusals(record, stage.stage));
    found.extend(cached(record));
    if row.cpu.busiest >= BUSY_WORKER && record.plan.backend != Backend::Null {
        found.push(Warning::WorkerBusy { share: row.cpu.busiest });
    }
    found.extend(thin_quantiles(row.ios));
    found.extend(skipped_stages(record, row));
    found.extend(little_space(record));
    if !record.plan.scale.is_full() {
        found.push(Warning::Scaled { scale: record.plan.scale });
    }
    found
}

/// What the agents had to do otherwise than planned.
fn refusals(record: &Record, stage: u32) -> Vec<Warning> {
    let mut found: Vec<Warning> = Vec::new();
    for note in record.notes.iter().filter(|note| note.stage.is_none_or(|number| number == stage)) {
        let warning = match note.kind {
            NoteKind::DirectRefused => Warning::DirectRefused { detail: note.detail.clone() },
            NoteKind::BackendFallback => Warning::BackendFallback { detail: note.detail.clone() },
            _ => continue,
        };
        if !found.contains(&warning) {
            found.push(warning);
        }
    }
    found
}

/// The host with the least room beyond its memory, if the page cache was in between.
fn cached(record: &Record) -> Option<Warning> {
    let refused = record.notes.iter().any(|note| note.kind == NoteKind::DirectRefused);
    if (record.plan.direct && !refused) || record.plan.backend == Backend::Null {
        return None;
    }
    let hosts = record.plan.hosts.iter().zip(&record.testbed);
    hosts
        .map(|(host, facts)| (Bytes(host.files().map(|file| file.size.0).sum()), facts.memory))
        .find(|(footprint, memory)| footprint < memory)
        .map(|(footprint, memory)| Warning::Cached { footprint, memory })
}

fn thin_quantiles(samples: u64) -> Option<Warning> {
    if samples == 0 {
        return None;
    }
    if samples < LEAST_SAMPLES {
        return Some(Warning::FewSamples { samples });
    }
    let beyond = |quantile: &Quantile| samples as f64 * (1.0 - quantile.share);
    // The shares are not exact in binary: 1,000 × (1 − 0.99) must count as 10.
    let thin = QUANTILES.iter().find(|quantile| beyond(quantile) + 1e-6 < LEAST_BEYOND)?;
    Some(Warning::ThinTail { quantile: thin.name, beyond: (beyond(thin) + 1e-6) as u64 })
}

fn skipped_stages(record: &Record, row: &ResultRow) -> Vec<Warning> {
    if record.plan.backend == Backend::Null {
        return Vec::new();
    }
    let mut found = Vec::new();
    let stages = &record.plan.stages;
    let is =
        |kind: StageKind, point: Option<u32>| stages.iter().any(|stage| stage.kind == kind && stage.point == point);
    if !is(StageKind::Prepare, None) && !record.plan.existing && row.op == model::Op::Read {
        found.push(Warning::NotPrepared);
    }
    if !is(StageKind::Precondition, Some(row.point)) {
        found.push(Warning::NotPreconditioned);
    }
    found
}

/// The fullest file system among the targets that files of ours went to.
fn little_space(record: &Record) -> Option<Warning> {
    let hosts = record.plan.hosts.iter().zip(&record.testbed);
    let shares = hosts.flat_map(|(host, facts)| {
        facts.targets.iter().filter_map(|facts| {
            let planned = host.targets.iter().find(|planned| planned.path == facts.path)?;
            let bytes: u64 = planned.files.iter().map(|file| file.size.0).sum();
            Some((facts.path.clone(), free_share(facts, bytes)?))
        })
    });
    let fullest = shares.min_by(|a, b| a.1.total_cmp(&b.1))?;
    (fullest.1 < LEAST_FREE_SHARE).then_some(Warning::LittleSpace { target: fullest.0, free: fullest.1 })
}

/// What is free of a target's file system once `layout` bytes of ours are in it. `None` for devices and single files.
fn free_share(facts: &TargetFacts, layout: u64) -> Option<f64> {
    let used = match &facts.kind {
        TargetKind::Directory { state: DirectoryState::Claimed { used }, .. } => used.0,
        TargetKind::Directory { .. } | TargetKind::Missing => 0,
        _ => return None,
    };
    let free = (facts.free.0 + used).saturating_sub(layout);
    (facts.total.0 > 0).then(|| free as f64 / facts.total.0 as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::results;
    use crate::testing::Recorded;
    use model::{Note, Op};

    const READS: &str = "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n";

    fn codes(recorded: &Recorded) -> Vec<&'static str> {
        results(&recorded.record())[0].warnings.iter().map(Warning::code).collect()
    }

    fn good(suite: &str) -> Recorded {
        let mut recorded = Recorded::new(suite);
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[(Op::Read, &[100; 100_000])]);
        recorded.end();
        recorded
    }

    #[test]
    fn a_good_run_has_no_warning() {
        assert_eq!(codes(&good(READS)), [""; 0]);
    }

    #[test]
    fn thin_samples_are_said_once() {
        assert_eq!(thin_quantiles(999), Some(Warning::FewSamples { samples: 999 }));
        assert_eq!(thin_quantiles(1_000), Some(Warning::ThinTail { quantile: "p99.9", beyond: 1 }));
        assert_eq!(thin_quantiles(10_000), Some(Warning::ThinTail { quantile: "p99.99", beyond: 1 }));
        assert_eq!(thin_quantiles(100_000), None);
    }

    #[test]
    fn the_page_cache_in_between_is_said() {
        let buffered = good(&READS.replace("[stages]", "[engine]\ndirect = false\n[stages]"));
        assert_eq!(codes(&buffered), ["fits-in-memory"]);
        let mut refused = good(READS);
        refused.note(Note { stage: None, host: 0, kind: NoteKind::DirectRefused, detail: "tmpfs".to_owned() });
        assert_eq!(codes(&refused), ["direct-refused", "fits-in-memory"]);
    }

    #[test]
    fn a_busy_worker_and_skipped_stages_are_said() {
        let mut recorded = good("[stages]\nprepare = false\nprecondition = 0\n[[workload]]\nname = \"w\"\n");
        recorded.busy(0.95);
        assert_eq!(codes(&recorded), ["worker-busy", "not-prepared", "not-preconditioned"]);
    }

    #[test]
    fn a_run_without_an_end_is_a_part() {
        let mut recorded = Recorded::new(READS);
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[(Op::Read, &[100; 100_000])]);
        let expected = Warning::Incomplete { how: RunState::Unfinished, measured: Nanos::seconds(1) };
        assert_eq!(results(&recorded.record())[0].warnings, [expected]);
    }

    #[test]
    fn a_full_file_system_is_said() {
        let mut recorded = good(READS);
        recorded.free(Bytes::gib(20));
        assert_eq!(codes(&recorded), ["little-space"]);
    }

    #[test]
    fn failed_requests_are_said_by_kind() {
        let mut recorded = good(READS);
        let stage = recorded.stage(StageKind::Measure);
        recorded.fail(stage, 0, Op::Read, 5, 7);
        let rows = results(&recorded.record());
        assert_eq!(rows[0].warnings, [Warning::Errors { by_errno: BTreeMap::from([(5, 7)]) }]);
        assert_eq!(rows[0].error_count(), 7);
    }
}
