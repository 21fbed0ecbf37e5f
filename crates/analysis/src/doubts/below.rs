//! What devices and processors counted, held against what was asked of them.

use crate::doubts::{Seen, Warning};
use crate::rows::row::ResultRow;
use model::digest::Digest;
use model::inventory::LinkKind;
use model::testbed::TargetFacts;
use model::usage::{Part, Usage, Use};
use model::{NoteKind, Op, Record};
use std::collections::BTreeSet;

/// Counters lag by a tick at either end: a shorter load says nothing.
pub(crate) const LEAST_S: f64 = 3.0;
/// Less than this share of the bytes read reached a device: something above it answered.
pub(crate) const LEAST_READ: f64 = 0.7;
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
pub(crate) struct Flow {
    pub(crate) bytes: f64,
    pub(crate) requests: f64,
}

/// All of them for a row of `stage`.
pub(crate) fn doubts(seen: Seen<'_>) -> Vec<Warning> {
    let Seen { record, stage, digest, row } = seen;
    if record.plan.is_simulated()
        || !stage.is_counted_on(record.plan.hosts.len())
        || row.seconds < LEAST_S
    {
        return Vec::new();
    }
    let usage = stage.usage(record, digest);
    let mut found: Vec<Warning> = stolen(record, &usage).into_iter().collect();
    found.extend(throttled(record, &usage));
    if row.is_commanded() {
        // Of a command nobody knows what it asked for.
        return found;
    }
    if let Some(first) = disks(record, row, first) {
        found.extend(at_first(digest, row, &usage, &first));
    }
    let last = disks(record, row, media);
    if let Some(last) = &last {
        found.extend(less_read(digest, row, &usage, last));
    }
    let below = last.unwrap_or_else(|| carriers(record, digest, row, &usage));
    if !found.iter().any(|doubt| matches!(doubt, Warning::OtherIo { .. })) {
        // Of what lies below other layers, writes alone: a RAID reads what it needs to write, and
        // nothing writes what it needs to read.
        found.extend(of_others(digest, row, &usage, &below, Op::Write));
    }
    found
}

/// Devices by host and name.
pub(crate) type Disks = BTreeSet<(u32, String)>;

/// Those below all targets of a stage, as `of` finds them. `None` where requests need not reach
/// them: through the page cache above, or where what is below cannot be seen.
fn disks(
    record: &Record,
    row: &ResultRow,
    of: impl Fn(&TargetFacts) -> Option<Vec<String>>,
) -> Option<Disks> {
    let engine = record.plan.engine_of(row.stage)?;
    let is_refused = record.notes.iter().any(|note| note.kind() == NoteKind::DirectRefused);
    if !engine.direct || is_refused || engine.backend.sends_nothing() || row.is_metadata() {
        return None;
    }
    let mut names = BTreeSet::new();
    for ((number, host), facts) in (0..).zip(&record.plan.hosts).zip(&record.testbed) {
        let planned = host.targets.get(host.targets_of(row.stage))?;
        for target in planned {
            let facts = facts.targets.iter().find(|facts| facts.path == target.path)?;
            names.extend(of(facts)?.into_iter().map(|name| (number, name)));
        }
    }
    (!names.is_empty()).then_some(names)
}

/// File systems that send each request on as it is.
const PLAIN: [&str; 4] = ["ext4", "xfs", "ext3", "overlay"];

/// The device that a target's requests come to as they are: no layer above it splits, merges or
/// copies them.
fn first(target: &TargetFacts) -> Option<Vec<String>> {
    for link in &target.chain {
        match link.kind {
            LinkKind::FileSystem if PLAIN.contains(&link.name.as_str()) => {}
            LinkKind::Partition => {}
            LinkKind::FileSystem | LinkKind::Network => return None,
            _ => return Some(vec![link.name.clone()]),
        }
    }
    None
}

/// The disks that the chain of a target ends in, where all of it can be seen and nothing in it
/// compresses.
fn media(target: &TargetFacts) -> Option<Vec<String>> {
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

/// Of programs that serve the targets from this host: the disks that carried what was asked for.
fn carriers(record: &Record, digest: &Digest, row: &ResultRow, usage: &Usage) -> Disks {
    let disks = usage.uses.iter().filter(|((_, part), _)| *part == Part::Disk);
    let disks = disks.flat_map(|((host, _), all)| all.keys().map(|name| (*host, name.clone())));
    let carried = |disk: &(u32, String), op: Op| {
        let asked = asked(digest, op, row.seconds).bytes;
        let counted = counted(usage, &Disks::from([disk.clone()]), op);
        asked > 0.0 && counted.is_some_and(|flow| flow.bytes >= asked * LEAST_READ)
    };
    let is_served = super::port_traffic::is_elsewhere(record);
    disks
        .filter(|disk| is_served && (carried(disk, Op::Read) || carried(disk, Op::Write)))
        .collect()
}

/// Less read from the disks than was asked for.
fn less_read(digest: &Digest, row: &ResultRow, usage: &Usage, disks: &Disks) -> Option<Warning> {
    let (op, asked) = (Op::Read, asked(digest, Op::Read, row.seconds));
    let share = counted(usage, disks, op)?.bytes / asked.bytes.max(1.0);
    let is_less = row.plans(op) && asked.bytes > 0.0 && share < LEAST_READ;
    is_less.then_some(Warning::LessAtDevice { op, share })
}

/// More than half of the load's bytes in a direction in which nothing was asked for.
fn of_others(
    digest: &Digest,
    row: &ResultRow,
    usage: &Usage,
    disks: &Disks,
    op: Op,
) -> Option<Warning> {
    let asked = |op: Op| asked(digest, op, row.seconds).bytes;
    let bytes_per_s = counted(usage, disks, op)?.bytes;
    let least = (asked(Op::Read) + asked(Op::Write)) * (MOST_MOVED - 1.0) + SLACK_BYTES_PER_S;
    let is_others = !disks.is_empty() && asked(op) == 0.0 && bytes_per_s > least;
    is_others.then_some(Warning::OtherIo { op, bytes_per_s })
}

/// What devices counted to which requests come as they were sent.
fn at_first(digest: &Digest, row: &ResultRow, usage: &Usage, disks: &Disks) -> Vec<Warning> {
    let largest = row.works.iter().map(|work| work.largest_block().0).max().unwrap_or(0);
    let of = |op: Op| {
        let (asked, device) = (asked(digest, op, row.seconds), counted(usage, disks, op)?);
        if !row.plans(op) || asked.bytes == 0.0 {
            return of_others(digest, row, usage, disks, op);
        }
        let share = device.bytes / asked.bytes;
        if device.bytes > asked.bytes * MOST_MOVED + SLACK_BYTES_PER_S {
            return Some(Warning::MoreAtDevice { op, share });
        }
        let is_whole = largest <= LARGEST_WHOLE && share >= LEAST_READ;
        let share = device.requests / asked.requests;
        (is_whole && share < LEAST_REQUESTS).then_some(Warning::Merged { op, share })
    };
    [Op::Read, Op::Write].into_iter().filter_map(of).collect()
}

/// What all workloads of a stage asked for in one direction, per second.
pub(crate) fn asked(digest: &Digest, op: Op, seconds: f64) -> Flow {
    let parts = digest.sums.parts.iter().filter(|((_, of), _)| *of == op);
    let sum = parts.fold((0u64, 0u64), |(bytes, ios), (_, part)| {
        let load = part.under_load();
        (bytes.saturating_add(load.bytes), ios.saturating_add(load.ios))
    });
    Flow { bytes: sum.0 as f64 / seconds, requests: sum.1 as f64 / seconds }
}

/// What the disks counted in one direction, per second; `None` where nobody counted.
pub(crate) fn counted(usage: &Usage, disks: &Disks, op: Op) -> Option<Flow> {
    let mut sum = Flow::default();
    for (host, name) in disks {
        let of = |part: Part| usage.uses.get(&(*host, part))?.get(name);
        let used = of(Part::Disk).or_else(|| of(Part::Stacked))?;
        let seconds = (used.carried_ns > 0).then(|| used.carried_ns as f64 / 1e9)?;
        let (bytes, requests) = match op {
            Op::Read => (used.received_bytes, used.reads),
            Op::Fsync => (0, used.flushes?),
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
