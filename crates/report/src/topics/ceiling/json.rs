//! Ceilings for machines. The fields stand in `docs/reference/json.md`.

use super::Ceilings;
use crate::ground::words;
use crate::pens::json::{Value, each, object};
use analysis::ceiling::{Assumption, Ceiling, Reached};

/// All ceilings as one object.
pub fn results(ceilings: &Ceilings<'_>) -> Value {
    let list = |all: &[Ceiling]| all.iter().map(ceiling).collect::<Vec<_>>();
    let what_if =
        |(name, all): &(String, Vec<Ceiling>)| object! { what_if: name, ceilings: list(all) };
    object! {
        format: crate::pens::json::FORMAT, testbed: ceilings.cluster.top.name.value,
        ceilings: list(&ceilings.base), what_ifs: each(&ceilings.what_ifs, what_if),
        measured: ceilings.measured_iops()
            .map(|(iops, ceiling)| object! { iops, share: ceiling.share(iops) }),
        remarks: ceilings.remarks(),
    }
}

/// What a run reached of the ceilings of the testbed of this name, as one object.
pub(crate) fn reached(name: &str, all: &[Reached]) -> Value {
    let one = |reached: &Reached| {
        object! {
            workload: reached.ceiling.workload.name, sweep: words::axes(&reached.sweep),
            repetition: reached.repetition.unwrap_or(1), above: reached.is_above(),
            ceiling: ceiling(&reached.ceiling), ..reached { iops, share() },
        }
    };
    object! { testbed: name, reached: each(all.iter(), one) }
}

fn ceiling(ceiling: &Ceiling) -> Value {
    let limit = |limit: analysis::ceiling::Limit| {
        object! {
            layer: limit.layer.code(), iops: limit.iops,
            bytes_per_s: limit.iops * ceiling.workload.bytes(),
        }
    };
    object! {
        workload: ceiling.workload.name, read_share: ceiling.workload.read_share(),
        random_share: ceiling.workload.random, mean_bytes: ceiling.workload.bytes(),
        footprint_bytes: ceiling.workload.footprint.map(|bytes| bytes.0),
        limits: each(ceiling.limits.iter().copied(), limit),
        binding: ceiling.binding().map(|limit| limit.layer.code()),
        next: ceiling.next().map(|limit| limit.layer.code()),
        drive_writes_per_write: ceiling.amplification.drive_writes,
        cache_hits: ceiling.hits.map(|(reads, writes)| object! { read: reads, write: writes }),
        assumptions: each(&ceiling.assumptions, |assumption| word(*assumption)),
    }
}

fn word(assumption: Assumption) -> &'static str {
    match assumption {
        Assumption::InCache => "in-cache",
        Assumption::LocalReads(_) => "local-reads",
        Assumption::LocalWrites => "local-writes",
        Assumption::OneCopy => "one-copy",
        Assumption::CacheSize(_) => "cache-size",
        Assumption::Fits(_) => "footprint-fits",
        Assumption::PartlyFilled(_) => "partly-filled",
    }
}
