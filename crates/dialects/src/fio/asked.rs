//! What a job of fio asks for, in fio's own arithmetic and without a look at the suite.

use super::job::{Engine, Job};
use super::place::{Place, files, place, roams, workers};
use super::priorities;
use super::work::rests_are_slower;
use crate::asked::{Asked, Quantity};
use crate::words::values::Extent;

/// The slots that say a quantity, the nearest first.
const SAID_BY: [(Quantity, &[&str]); 7] = [
    (Quantity::Places, &["increment", "size", "filesize", "offset", "files", "filename"]),
    (
        Quantity::Amount,
        &[
            "io_size", "number", "loops", "size", "increment", "filesize", "offset", "rw",
            "filename",
        ],
    ),
    (Quantity::Time, &["runtime", "time_based", "delay", "size", "rw"]),
    (Quantity::Sizes, &["split", "range", "bs"]),
    (Quantity::Reads, &["mix", "rw"]),
    (Quantity::Rate, &["iops", "rate", "delay"]),
    (Quantity::InFlight, &["depth", "engine", "numjobs"]),
];

/// What the job asks for that became this workload; `None` where it cannot be counted so.
pub fn asked(job: &Job, workload: &str) -> Option<Asked> {
    let place = place(job);
    let is_plain = place != Place::Nothing
        && job.away.is_none()
        && job.zones.is_none()
        && job.commands.is_none()
        && !(job.space || job.is("fill") || job.is("steady") || job.is("sprandom"))
        && !matches!(job.engine_kind(), Engine::Null | Engine::Metadata(_) | Engine::Foreign)
        && !priorities::asks(job);
    // Of a range of sizes, chance takes one for each file.
    if !is_plain || job.filesize.is_some_and(|(least, most)| least != most) {
        return None;
    }
    let direction = job.asked();
    let [reads, writes] = job.sizes();
    let changes = direction.writes || direction.trims;
    let is_mixed = direction.reads && changes;
    let mix = match (direction.reads, changes) {
        (true, true) => job.number("mix").unwrap_or(500_000),
        (reads, _) => 1_000_000 * u64::from(reads),
    };
    let rests = job.number("think").is_some_and(|ns| ns > 0 && rests_are_slower(job, ns));
    let [iops, bytes] = if rests { [None; 2] } else { job.paces() };
    let is_deep = job.engine_kind() != Engine::Sync;
    let options = SAID_BY.iter().flat_map(|(quantity, slots)| {
        slots.iter().filter_map(|slot| job.id(slot)).map(|id| (*quantity, id))
    });
    let devices = match &place {
        Place::Devices(names) => names.clone(),
        _ => Vec::new(),
    };
    Some(Asked {
        workload: workload.to_owned(),
        streams: workers(job),
        file: job.filesize.map(|(bytes, _)| bytes),
        names: names(job, &place),
        roams: roams(job),
        stride: stride(job),
        align: job.number("align_offset").filter(|bytes| *bytes > 0).unwrap_or(least(job)),
        devices,
        files: files(job),
        own: place == Place::Own,
        from: job.offset.unwrap_or(Extent::Bytes(0)),
        step: job.increment.unwrap_or(Extent::Bytes(0)),
        size: job.size,
        amount: job.io_size,
        requests: job.number("number").filter(|count| *count > 0),
        rounds: job.number("loops").unwrap_or(1).max(1),
        time_ns: job.number("runtime").filter(|ns| *ns > 0),
        ramp_ns: job.number("ramp").unwrap_or(0),
        sizes: [
            if direction.reads && mix > 0 { reads } else { Vec::new() },
            if changes && mix < 1_000_000 { writes } else { Vec::new() },
        ],
        reads: match is_mixed {
            // Rates of their own say how many of each there are.
            true if iops.or(bytes).is_some() => None,
            _ => Some(mix),
        },
        iops,
        bytes_per_second: bytes,
        depth: job.number("depth").filter(|_| is_deep).unwrap_or(1).max(1),
        options: options.collect(),
    })
}

/// The files that it names, with their directories.
fn names(job: &Job, place: &Place) -> Vec<String> {
    let Place::Files(names) = place else { return Vec::new() };
    let directories = job.directory.clone().unwrap_or_default().join(":");
    names.iter().map(|name| format!("{directories}/{name}")).collect()
}

/// From one request in order to the next one, where bytes lie between.
fn stride(job: &Job) -> Option<u64> {
    let of = job.direction();
    let between = u64::try_from(of.behind).ok().filter(|bytes| *bytes > 0 && !of.random)?;
    Some(job.one_size()?.saturating_add(between))
}

/// The size of its smallest requests.
fn least(job: &Job) -> u64 {
    job.sizes().iter().flatten().map(|(size, _)| *size).min().unwrap_or(1)
}
