//! How long a run on storage takes, and what comes before it.

use super::raw_targets::is_device;
use super::raw_unit::Unit;
use super::run::Run;
use super::storage::{Seek, Storage};
use crate::draft::{Group, size, time};
use crate::loss::{Losses, Verdict};
use crate::mpi::job::Got;

const SECOND: u64 = 1_000_000_000;

pub(super) fn stages(
    run: &Run,
    units: &[Unit<'_>],
    used: &[usize],
    storages: &[Storage],
    losses: &mut Losses,
    group: &mut Group,
) {
    let has_files = used.iter().any(|number| !is_device(&storages[*number]));
    group.stages.set("prepare", has_files.to_string(), "");
    let until_the_end = units
        .iter()
        .find_map(|unit| unit.workload.seek.as_ref().filter(|got| got.value == Seek::UntilTheEnd));
    let mixed =
        |unit: &Unit<'_>| unit.fields.get("block_size").is_some_and(|text| text.contains(':'));
    // An amount is counted in blocks of one size.
    let has_mix = units.iter().any(mixed);
    if let Some(id) = until_the_end.map(|got| got.id).filter(|_| has_mix) {
        losses.worsen(id, Verdict::near("a time ends it, not the last block"));
    }
    match (until_the_end, &run.amount, &run.elapsed) {
        _ if has_mix => times(run, losses, group),
        (None, ..) if run.once.is_some() => {
            group.stages.text("amount", "all", Got::source(&run.once, losses));
        }
        (Some(got), _, _) => group.stages.text("amount", "all", losses.source(got.id)),
        (None, Some(got), None) => {
            group.stages.set("amount", size(got.value.max(1 << 20)), losses.source(got.id));
        }
        _ => times(run, losses, group),
    }
}

/// The times of a run.
pub fn times(run: &Run, losses: &Losses, group: &mut Group) {
    let measure = run.elapsed.as_ref().map_or(30 * SECOND, |got| got.value.max(SECOND));
    group.stages.set("measure", time(measure), Got::source(&run.elapsed, losses));
    if let Some(got) = run.warmup.as_ref().filter(|got| got.value > 0) {
        group.stages.set("precondition", time(got.value), losses.source(got.id));
    }
    if let Some(got) = run.interval.as_ref().filter(|got| got.value >= SECOND) {
        let interval = got.value.min(60 * SECOND).min(measure);
        group.stages.set("interval", time(interval), losses.source(got.id));
    }
}
