//! What devices and processors counted, held against what was asked of them.

use crate::doubts::Warning;
use crate::rows::row::ResultRow;
use model::digest::Digest;
use model::inventory::LinkKind;
use model::record::StageRecord;
use model::testbed::TargetFacts;
use model::usage::{Part, Usage, Use};
use model::{NoteKind, Op, Record};
use std::collections::BTreeSet;

/// Counters lag by a tick at either end: a shorter load says nothing.
const LEAST_S: f64 = 3.0;
/// Less than this share of the bytes read reached a device: something above it answered.
const LEAST_READ: f64 = 0.7;
/// More than this many times the bytes asked for, and [`SLACK_BYTES_PER_S`]: somebody else's, or
/// more than was asked for each request.
const MOST_MOVED: f64 = 1.5;
/// What a system does on its own disk: its logs, a file system's journal.
const SLACK_BYTES_PER_S: f64 = 5_000_000.0;
/// Fewer requests at the device than this share of those that were sent: they were merged.
const LEAST_REQUESTS: f64 = 0.7;
/// Larger requests are split on purpose.
const LARGEST_WHOLE: u64 = 128 * 1024;
/// From here on, a hypervisor takes enough from a host to change its figures.
const LEAST_STOLEN: f64 = 0.05;
/// From here on, a quota holds up a generator often enough to change its figures.
const LEAST_THROTTLED: f64 = 0.05;

/// Per second, of one direction.
#[derive(Clone, Copy, Default)]
struct Flow {
    bytes: f64,
    requests: f64,
}

/// All of them for a row of `stage`.
pub(crate) fn doubts(
    record: &Record,
    stage: &StageRecord,
    digest: &Digest,
    row: &ResultRow,
) -> Vec<Warning> {
    if record.plan.is_simulated() || !stage.is_counted() || row.seconds < LEAST_S {
        return Vec::new();
    }
    let usage = stage.usage(record, digest);
    let mut found: Vec<Warning> = stolen(record, &usage).into_iter().collect();
    found.extend(throttled(record, &usage));
    // Of a command nobody knows what it asked for.
    if let Some(disks) = disks(record, row).filter(|_| !row.is_commanded()) {
        found.extend(at_devices(digest, row, &usage, &disks));
    }
    found
}

/// The disks below all targets of a stage.
struct Disks {
    /// By host and name.
    names: BTreeSet<(u32, String)>,
    /// Whether each takes every request as it is: no layer in between splits, merges or copies it.
    is_plain: bool,
}

/// The disks below all targets of a stage. `None` where requests need not reach them: through the
/// page cache above, or where what is below cannot be seen.
fn disks(record: &Record, row: &ResultRow) -> Option<Disks> {
    let engine = record.plan.engine_of(row.stage)?;
    let is_refused = record.notes.iter().any(|note| note.kind() == NoteKind::DirectRefused);
    if !engine.direct || is_refused || engine.backend.sends_nothing() || row.is_metadata() {
        return None;
    }
    let (mut names, mut is_plain) = (BTreeSet::new(), true);
    for ((number, host), facts) in (0..).zip(&record.plan.hosts).zip(&record.testbed) {
        let planned = host.targets.get(host.targets_of(row.stage))?;
        for target in planned {
            let facts = facts.targets.iter().find(|facts| facts.path == target.path)?;
            names.extend(media(facts)?.into_iter().map(|name| (number, name)));
            is_plain &= facts.chain.iter().all(|link| is_passed_on(link.kind));
        }
    }
    (!names.is_empty()).then_some(Disks { names, is_plain })
}

/// Whether a layer of this kind hands each request on as it is.
fn is_passed_on(kind: LinkKind) -> bool {
    matches!(kind, LinkKind::FileSystem | LinkKind::Partition | LinkKind::Disk)
}

/// The disks that the chain of a target ends in, where all of it can be seen and nothing in it
/// compresses.
fn media(target: &TargetFacts) -> Option<Vec<String>> {
    const PLAIN: [&str; 4] = ["ext4", "xfs", "ext3", "overlay"];
    let next = target.chain.iter().skip(1).map(Some).chain([None]);
    let mut disks = Vec::new();
    for (link, next) in target.chain.iter().zip(next) {
        let is_last = next.is_none_or(|next| next.depth <= link.depth);
        match link.kind {
            LinkKind::Disk if !model::usage::is_stacked(&link.name) => {
                disks.push(link.name.clone());
            }
            LinkKind::FileSystem if !PLAIN.contains(&link.name.as_str()) => return None,
            LinkKind::Disk | LinkKind::Network => return None,
            _ if is_last => return None,
            _ => {}
        }
    }
    Some(disks)
}

fn at_devices(digest: &Digest, row: &ResultRow, usage: &Usage, disks: &Disks) -> Vec<Warning> {
    let of = |op: Op| counted(usage, &disks.names, op);
    let (Some(read), Some(written)) = (of(Op::Read), of(Op::Write)) else { return Vec::new() };
    let asked = |op: Op| asked(digest, op, row.seconds);
    let (reads, writes) = (asked(Op::Read), asked(Op::Write));
    let all_bytes = reads.bytes + writes.bytes;
    let largest = row.works.iter().map(|work| work.largest_block().0).max().unwrap_or(0);
    let mut found = Vec::new();
    for (op, asked, device) in [(Op::Read, reads, read), (Op::Write, writes, written)] {
        let is_ours = row.plans(op) && asked.bytes > 0.0;
        let share = device.bytes / asked.bytes.max(1.0);
        if is_ours && op == Op::Read && share < LEAST_READ {
            found.push(Warning::LessAtDevice { op, share });
        } else if is_ours
            && disks.is_plain
            && device.bytes > asked.bytes * MOST_MOVED + SLACK_BYTES_PER_S
        {
            found.push(Warning::MoreAtDevice { op, share });
        } else if is_ours
            && disks.is_plain
            && largest <= LARGEST_WHOLE
            && share >= LEAST_READ
            && device.requests < asked.requests * LEAST_REQUESTS
        {
            let share = device.requests / asked.requests;
            found.push(Warning::Merged { op, share });
        }
        // A RAID reads what it needs to write; nothing writes what it needs to read.
        let is_others = asked.bytes == 0.0 && (disks.is_plain || op == Op::Write);
        if is_others && device.bytes > all_bytes * (MOST_MOVED - 1.0) + SLACK_BYTES_PER_S {
            found.push(Warning::OtherIo { op, bytes_per_s: device.bytes });
        }
    }
    found
}

/// What all workloads of a stage asked for in one direction, per second.
fn asked(digest: &Digest, op: Op, seconds: f64) -> Flow {
    let parts = digest.sums.parts.iter().filter(|((_, of), _)| *of == op);
    let sum = parts.fold((0u64, 0u64), |(bytes, ios), (_, part)| {
        (bytes.saturating_add(part.all.bytes), ios.saturating_add(part.all.ios))
    });
    Flow { bytes: sum.0 as f64 / seconds, requests: sum.1 as f64 / seconds }
}

/// What the disks counted in one direction, per second; `None` where nobody counted.
fn counted(usage: &Usage, disks: &BTreeSet<(u32, String)>, op: Op) -> Option<Flow> {
    let mut sum = Flow::default();
    for (host, name) in disks {
        let used = usage.uses.get(&(*host, Part::Disk))?.get(name)?;
        let seconds = (used.carried_ns > 0).then(|| used.carried_ns as f64 / 1e9)?;
        let (bytes, requests) = match op {
            Op::Read => (used.received_bytes, used.reads),
            _ => (used.sent_bytes, used.writes),
        };
        sum.bytes += bytes as f64 / seconds;
        sum.requests += requests as f64 / seconds;
    }
    Some(sum)
}

/// Whether a control group used its CPU quota up in so many of its periods that figures change.
pub(crate) fn is_throttled(quota: &Use) -> bool {
    quota.share().is_some_and(|share| share >= LEAST_THROTTLED)
}

/// The host whose quota held up its generator most.
fn throttled(record: &Record, usage: &Usage) -> Option<Warning> {
    let quotas = usage.uses.iter().filter(|((_, part), _)| *part == Part::Quota);
    let quotas = quotas.flat_map(|((host, _), things)| things.values().map(|used| (*host, used)));
    let (host, share) = quotas
        .filter(|(_, used)| is_throttled(used))
        .filter_map(|(host, used)| Some((host, used.share()?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let host = record.plan.hosts.get(host as usize)?.hostname.clone();
    Some(Warning::QuotaThrottled { host, share })
}

/// The host of which the hypervisor took most.
fn stolen(record: &Record, usage: &Usage) -> Option<Warning> {
    let shares = usage.uses.iter().filter(|((_, part), _)| *part == Part::Cpu);
    let shares = shares.filter_map(|((host, _), things)| Some((*host, things.get("")?)));
    let shares = shares.filter(|(_, used)| used.watched_ns > 0);
    let most = shares
        .map(|(host, used)| (host, used.stolen_ns as f64 / used.watched_ns as f64))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let host = record.plan.hosts.get(most.0 as usize)?.hostname.clone();
    (most.1 >= LEAST_STOLEN).then_some(Warning::Stolen { host, share: most.1 })
}

#[cfg(test)]
#[path = "below_tests.rs"]
mod tests;
