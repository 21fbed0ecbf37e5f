//! Which runs do not belong to a trend, and why.

use crate::compare::{Unlike, comparable};
use crate::rows::row::ResultRow;
use model::Record;

/// In what runs of one trend may differ: it is what a trend is to tell, or it takes nothing from
/// the figures.
const MAY_DIFFER: [&str; 2] = ["version of Plimsoll", "length of an interval"];

/// In what two points of one trend may differ.
const POINTS_MAY_DIFFER: [&str; 2] = ["measured time", "complete"];

/// In what a run differs from the one that a trend leads to, so that it is not part of it. Empty
/// where it is.
pub fn runs(base: &Record, other: &Record) -> Vec<Unlike> {
    let mut found = comparable::runs(base, other);
    found.retain(|unlike| !MAY_DIFFER.contains(&unlike.what));
    let (one, two) = (testbed(base), testbed(other));
    if one != two {
        found.push(Unlike { what: "testbed", base: one, other: two, refused: false });
    }
    found.iter_mut().for_each(|unlike| unlike.refused = true);
    found
}

/// In what the work of two rows of the same name differs, so that their figures do not belong
/// together.
pub fn rows(base: &ResultRow, other: &ResultRow) -> Vec<Unlike> {
    let mut found = comparable::rows(base, other);
    found.retain(|unlike| !POINTS_MAY_DIFFER.contains(&unlike.what));
    found.iter_mut().for_each(|unlike| unlike.refused = true);
    found
}

/// What the hosts are and what they load, each kind once with its number: names and addresses may
/// change, machines may not.
fn testbed(record: &Record) -> String {
    let mut kinds: Vec<String> = Vec::new();
    for host in record.loaders() {
        let target = |target: &model::testbed::TargetFacts| {
            let device = target.device.as_ref().map_or("", |device| device.model.trim());
            [target.file_system.as_deref().unwrap_or(""), device].join(" ").trim().to_owned()
        };
        let mut targets: Vec<String> =
            host.targets.iter().map(target).filter(|text| !text.is_empty()).collect();
        targets.sort_unstable();
        let memory_gib = host.memory.0.saturating_add(1 << 29) >> 30;
        let on =
            if targets.is_empty() { String::new() } else { format!(", {}", targets.join(", ")) };
        kinds
            .push(format!("{} CPUs ({}), {memory_gib} GiB{on}", host.logical_cpus, host.cpu_model));
    }
    kinds.sort_unstable();
    let mut text: Vec<String> = Vec::new();
    for kind in kinds.chunk_by(|a, b| a == b) {
        text.push(format!("{} × {}", kind.len(), kind.first().map_or("", String::as_str)));
    }
    text.join("; ")
}
