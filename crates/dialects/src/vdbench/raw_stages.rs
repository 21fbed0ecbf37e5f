//! How long a run on storage takes, and what comes before it.

use super::definition::Definition;
use super::raw_targets::is_device;
use super::raw_unit::Unit;
use crate::draft::{Group, size, time};
use crate::loss::{Losses, Verdict};
use crate::rows::Values;

const SECOND: u64 = 1_000_000_000;

pub(super) fn stages(
    run: &Values,
    units: &[Unit<'_>],
    used: &[&Definition],
    losses: &mut Losses,
    group: &mut Group,
) {
    let has_files = used.iter().any(|storage| !is_device(storage));
    group.stages.set("prepare", has_files.to_string(), "");
    let ends = |unit: &&Unit<'_>| unit.workload.values.text("seek") == Some("eof");
    let until_the_end = units.iter().find(ends).and_then(|unit| unit.workload.values.id("seek"));
    let mixed =
        |unit: &Unit<'_>| unit.fields.get("block_size").is_some_and(|text| text.contains(':'));
    // An amount is counted in blocks of one size.
    let has_mix = units.iter().any(mixed);
    if let Some(id) = until_the_end.filter(|_| has_mix) {
        losses.worsen(id, Verdict::near("a time ends it, not the last block"));
    }
    let source = run.source("amount", losses);
    match (until_the_end, run.number("amount"), run.id("elapsed")) {
        _ if has_mix => times(run, losses, group),
        (None, Some(1), _) => group.stages.text("amount", "all", source),
        (Some(id), ..) => group.stages.text("amount", "all", losses.source(id)),
        (None, Some(bytes), None) => group.stages.set("amount", size(bytes.max(1 << 20)), source),
        _ => times(run, losses, group),
    }
}

/// The times of a run.
pub fn times(run: &Values, losses: &Losses, group: &mut Group) {
    let measure = run.number("elapsed").map_or(30 * SECOND, |elapsed| elapsed.max(SECOND));
    group.stages.set("measure", time(measure), run.source("elapsed", losses));
    if let Some(warmup) = run.number("warmup").filter(|warmup| *warmup > 0) {
        group.stages.set("precondition", time(warmup), run.source("warmup", losses));
    }
    if let Some(interval) = run.number("interval").filter(|interval| *interval >= SECOND) {
        let interval = interval.min(60 * SECOND).min(measure);
        group.stages.set("interval", time(interval), run.source("interval", losses));
    }
}
