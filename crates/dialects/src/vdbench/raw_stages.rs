//! How long a run on storage takes, and what comes before it.

use super::definition::{Definition, worsen};
use super::raw_targets::is_device;
use super::raw_unit::Unit;
use crate::draft::{Group, size, time};
use crate::loss::{Losses, OptionId, Verdict};
use crate::rows::Values;

const SECOND: u64 = 1_000_000_000;

pub(super) fn stages(
    run: &Values,
    point: &Values,
    units: &[Unit<'_>],
    used: &[&Definition],
    losses: &mut Losses,
    group: &mut Group,
) {
    let has_files = used.iter().any(|storage| !is_device(storage));
    group.stages.set("prepare", has_files.to_string(), "");
    let ends = |unit: &Unit<'_>| {
        let values = if point.id("seek").is_some() { point } else { &unit.workload.values };
        values.id("seek").filter(|_| values.text("seek").is_some())
    };
    let until_the_end: Vec<OptionId> = units.iter().filter_map(ends).collect();
    // vdbench ends a run when the last of its sequences does, or `elapsed` before.
    let all_end = until_the_end.len() == units.len();
    if !all_end {
        let why = "a time ends the run, even where the last block comes before";
        until_the_end.iter().for_each(|id| losses.worsen(*id, Verdict::near(why)));
    }
    let source = run.source("amount", losses);
    let end = until_the_end.first().filter(|_| all_end);
    match (end, run.number("amount"), run.id("elapsed")) {
        (Some(id), ..) => group.stages.text("amount", "all", losses.source(*id)),
        (None, Some(1), _) => group.stages.text("amount", "all", source),
        (None, Some(bytes), None) => group.stages.set("amount", size(bytes.max(1 << 20)), source),
        _ => {}
    }
    times(run, losses, group);
}

/// A run that no time ends, for this reason.
pub fn untimed(run: &Values, why: &str, losses: &mut Losses, group: &mut Group) {
    ["elapsed", "warmup"].iter().for_each(|slot| worsen(run, slot, losses, Verdict::near(why)));
    interval(run, u64::MAX, losses, group);
}

/// The times of a run.
pub fn times(run: &Values, losses: &mut Losses, group: &mut Group) {
    if group.stages.get("amount").is_some() {
        let why = "an amount ends the run; no time ends it or comes before it";
        return untimed(run, why, losses, group);
    }
    let elapsed = run.number("elapsed").unwrap_or(30 * SECOND);
    let measure = elapsed.max(SECOND);
    if elapsed < measure {
        let why = "1 s, the shortest stage; vdbench wants twice its interval";
        worsen(run, "elapsed", losses, Verdict::near(why));
    }
    group.stages.set("measure", time(measure), run.source("elapsed", losses));
    if let Some(warmup) = run.number("warmup").filter(|warmup| *warmup > 0) {
        group.stages.set("precondition", time(warmup), run.source("warmup", losses));
    }
    interval(run, measure, losses, group);
}

/// The interval of a run that measures so long.
fn interval(run: &Values, measure: u64, losses: &mut Losses, group: &mut Group) {
    let Some(asked) = run.number("interval") else { return };
    if asked < SECOND || asked > measure {
        let why = "an interval from 1 s to what is measured; vdbench wants half of that, or less";
        worsen(run, "interval", losses, Verdict::near(why));
    }
    if asked >= SECOND {
        let interval = asked.min(60 * SECOND).min(measure);
        group.stages.set("interval", time(interval), run.source("interval", losses));
    }
}
