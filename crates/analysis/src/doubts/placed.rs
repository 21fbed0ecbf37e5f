//! Whether data and machines were where the plan has them: on a host's own node, on another one,
//! at the other site.
//!
//! A doubt needs evidence against the plan. Without any, nothing is known: a virtual disk shows its
//! guest neither ports nor media.

use crate::doubts::{Misplaced, Seen, Warning};
use crate::rows::by_place::owners;
use crate::rows::row::ResultRow;
use model::digest::Digest;
use model::inventory::Media;
use model::record::StageRecord;
use model::testbed::HostFacts;
use model::usage::{Part, Usage, Use};
use model::{Fact, Kernels, Op, Record};

/// Counters lag by a tick at either end: a shorter load says nothing.
const LEAST_S: f64 = 3.0;
/// From this share of what was read on, it came from there.
const MOST_OF_IT: f64 = 0.5;
/// Hosts that read less say nothing: what systems do by themselves would be taken for theirs.
const LEAST_BYTES_PER_S: f64 = 5_000_000.0;
/// A simulated cluster draws which block goes where.
const CHANCE: f64 = 0.1;
/// Buses that a host shares with nobody.
const OWN_BUSES: [&str; 3] = ["pcie", "sata", "sas"];

/// All of them for a row of `stage`.
pub(crate) fn doubts(seen: Seen<'_>) -> Vec<Warning> {
    let Seen { record, stage, digest, row } = seen;
    let mut found = machines(record, row);
    found.extend(sites(record, row));
    let is_counted = !record.plan.is_simulated()
        && stage.is_counted_on(record.plan.hosts.len())
        && row.seconds >= LEAST_S;
    if is_counted && row.plans(Op::Read) && !record.plan.backend.sends_nothing() {
        found.extend(nodes(record, stage, digest));
    }
    found.into_iter().map(Warning::Misplaced).collect()
}

/// Machines that were not where they were made when the stage was over. An event with a command may
/// have moved them by plan.
fn machines(record: &Record, row: &ResultRow) -> Vec<Misplaced> {
    if record.plan.events.iter().any(|event| event.command.is_some()) {
        return Vec::new();
    }
    let below = crate::layers::guests::below(record);
    let of_stage = below.and_then(|below| below.stages.iter().find(|one| one.stage == row.stage));
    let nodes = of_stage.into_iter().flat_map(|below| &below.nodes);
    let astray = nodes.filter(|node| !node.astray.is_empty());
    astray
        .map(|node| Misplaced::Machines { node: node.node.clone(), machines: node.astray.clone() })
        .collect()
}

/// What of a simulated cluster's reads and writes went to the other site.
fn sites(record: &Record, row: &ResultRow) -> Vec<Misplaced> {
    let ways =
        record.notes.iter().filter(|note| note.stage == Some(row.stage)).find_map(
            |note| match &note.fact {
                Fact::SimulatedSites(ways) => Some(ways),
                _ => None,
            },
        );
    let is_other = |planned: f64, found: f64| (planned - found).abs() > CHANCE;
    let ways = ways.into_iter().flatten().filter(|way| row.plans(way.op));
    ways.filter(|way| is_other(way.planned(), way.found()))
        .map(|way| Misplaced::OtherSite { op: way.op, planned: way.planned(), found: way.found() })
        .collect()
}

/// Where a host's targets are planned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Planned {
    OwnNode,
    OtherNode,
}

/// What a host read in a stage, and what its ports and own disks moved, in bytes per second.
struct Flow<'a> {
    host: &'a str,
    planned: Planned,
    read: f64,
    received: f64,
    own_disks: f64,
}

/// What ports and disks of the hosts say of where their targets are.
fn nodes(record: &Record, stage: &StageRecord, digest: &Digest) -> Vec<Misplaced> {
    let flows = flows(record, stage, digest);
    let own: Vec<&Flow<'_>> = flows
        .iter()
        .filter(|one| one.planned == Planned::OwnNode && one.received >= MOST_OF_IT * one.read)
        .collect();
    let other: Vec<&Flow<'_>> = flows
        .iter()
        .filter(|one| {
            one.planned == Planned::OtherNode
                && one.own_disks >= MOST_OF_IT * one.read
                && one.received < MOST_OF_IT * one.read
        })
        .collect();
    let names = |flows: &[&Flow<'_>]| flows.iter().map(|one| one.host.to_owned()).collect();
    let share = |flows: &[&Flow<'_>], of: fn(&Flow<'_>) -> f64| {
        let sum = |of: fn(&Flow<'_>) -> f64| flows.iter().map(|one| of(one)).sum::<f64>();
        sum(of) / sum(|one| one.read)
    };
    let own = (!own.is_empty()).then(|| Misplaced::OwnNode {
        hosts: names(&own),
        received: share(&own, |one| one.received),
    });
    let other = (!other.is_empty()).then(|| Misplaced::OtherNode {
        hosts: names(&other),
        own_disks: share(&other, |one| one.own_disks),
        received: share(&other, |one| one.received),
    });
    own.into_iter().chain(other).collect()
}

/// Those of hosts whose place is planned, which have a kernel of their own, and which read enough.
fn flows<'a>(record: &'a Record, stage: &StageRecord, digest: &Digest) -> Vec<Flow<'a>> {
    let (usage, kernels) = (stage.usage(record, digest), Kernels::of(&record.testbed));
    let written: Vec<f64> =
        (0..record.plan.hosts.len() as u32).map(|host| moved(digest, host, Op::Write)).collect();
    let all_written: f64 = written.iter().sum();
    let flow = |(host, facts): (u32, &'a HostFacts)| {
        // First, as most runs plan no place: all hosts beside each other are many.
        let planned = planned(record, stage.stage, host)?;
        let index = host as usize;
        let shares = (0..record.testbed.len())
            .filter(|other| kernels.first_on_kernel(*other) == kernels.first_on_kernel(index));
        if shares.count() > 1 {
            return None;
        }
        let read = moved(digest, host, Op::Read);
        let ports = usage.uses.get(&(host, Part::Port))?;
        // A node stores each write of another host once at most.
        let others = all_written - written.get(index).copied().unwrap_or(0.0);
        let received = (ports.values().map(carried).sum::<f64>() - others).max(0.0);
        let own_disks = own_disks(&usage, host, facts);
        (read >= LEAST_BYTES_PER_S).then_some(Flow {
            host: facts.hostname.as_str(),
            planned,
            read,
            received,
            own_disks,
        })
    };
    (0..).zip(&record.testbed).filter_map(flow).collect()
}

/// Where all that a host loads in a stage is planned. Of an owner with several hosts, as a site is,
/// their ports and disks say nothing.
fn planned(record: &Record, stage: u32, host: u32) -> Option<Planned> {
    let owners = owners(record, stage, host, |_| true);
    let holders = |owner: &str| -> Vec<u32> {
        let places = (0..).zip(&record.plan.places);
        places
            .filter(|(_, place)| place.labels.iter().any(|label| label == owner))
            .map(|(host, _)| host)
            .collect()
    };
    let is_known = !owners.is_empty() && owners.iter().all(|owner| !owner.is_empty());
    if is_known && owners.iter().all(|owner| holders(owner) == [host]) {
        return Some(Planned::OwnNode);
    }
    let is_elsewhere = is_known && owners.iter().all(|owner| !holders(owner).contains(&host));
    is_elsewhere.then_some(Planned::OtherNode)
}

/// Bytes per second that a host's requests of this direction moved.
fn moved(digest: &Digest, host: u32, op: Op) -> f64 {
    let parts = digest.sums.parts.iter().filter(|((_, of), _)| *of == op);
    let bytes = parts
        .filter_map(|(_, part)| part.hosts.get(&host))
        .fold(0u64, |sum, host| sum.saturating_add(host.counts.bytes));
    let time_ns = digest.frame.counted_ns(host);
    if time_ns > 0 { bytes as f64 / time_ns as f64 * 1e9 } else { 0.0 }
}

/// Bytes per second that a port received or a disk read.
fn carried(used: &Use) -> f64 {
    match used.carried_ns {
        0 => 0.0,
        time_ns => used.received_bytes as f64 / time_ns as f64 * 1e9,
    }
}

/// What the disks read that hang off nobody else.
fn own_disks(usage: &Usage, host: u32, facts: &HostFacts) -> f64 {
    let is_own = |name: &String| {
        facts.inventory.disks.iter().any(|disk| {
            disk.name == *name
                && matches!(disk.media, Media::Rotational | Media::Ssd | Media::Nvme)
                && OWN_BUSES.contains(&disk.transport.as_str())
        })
    };
    let disks = usage.uses.get(&(host, Part::Disk)).into_iter().flatten();
    disks.filter(|(name, _)| is_own(name)).map(|(_, used)| carried(used)).sum()
}

#[cfg(test)]
#[path = "placed_tests.rs"]
mod tests;
