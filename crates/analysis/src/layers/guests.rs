//! What made a guest's figures others than those of its node's storage: the memory of its
//! hypervisor, and virtual CPUs that waited for one of the node.

use crate::doubts::Warning;
use crate::rows::row::ResultRow;
use model::machines::{
    Accelerator, BelowGuests, BelowNode, BelowStage, DiskCache, MachinesMade, OnNode,
};
use model::testbed::HostFacts;
use model::{Fact, Nanos, Op, Record};

/// Where nodes' disks read at least this share of what guests read, memory answered little: as much
/// as `read-from-memory` leaves to a file system.
const LEAST_FROM_DISKS: f64 = 0.9;
/// From here on, waiting virtual CPUs change a guest's figures: the limit of `stolen`.
const LEAST_WAITED: f64 = 0.05;

/// All of them for a row.
pub(crate) fn doubts(record: &Record, row: &ResultRow) -> Vec<Warning> {
    let Some(made) = made(record) else { return Vec::new() };
    let below = below(record).and_then(|below| below.stages.iter().find(|s| s.stage == row.stage));
    let waited = below.and_then(|below| waited(record, made, below));
    host_cache(made.cache, row, below).into_iter().chain(waited).collect()
}

/// Whether the flushes of the machines that carried a run are answered without one.
pub(crate) fn ignore_flushes(record: &Record) -> bool {
    made(record).is_some_and(|made| made.cache.ignores_flushes())
}

/// Whether the instructions of the machines that carried a run were emulated.
pub(crate) fn is_emulated(record: &Record) -> bool {
    made(record).is_some_and(|made| made.accelerator == Accelerator::Tcg)
}

/// The machines of ours that carried a run.
pub fn made(record: &Record) -> Option<&MachinesMade> {
    record.plan.notes.iter().find_map(|note| match &note.fact {
        Fact::Machines(made) => Some(made),
        _ => None,
    })
}

/// What stood below them.
pub fn below(record: &Record) -> Option<&BelowGuests> {
    record.notes.iter().find_map(|note| match &note.fact {
        Fact::BelowGuests(below) => Some(below),
        _ => None,
    })
}

/// Reads may come from the hypervisor's page cache, unless its disks read as much; writes are done
/// as soon as it has them, unless each is written through.
fn host_cache(mode: DiskCache, row: &ResultRow, below: Option<&BelowStage>) -> Option<Warning> {
    if !mode.uses_host_memory() {
        return None;
    }
    let from_disks = below.and_then(share_from_disks).filter(|_| row.plans(Op::Read));
    let is_read_from_memory =
        row.plans(Op::Read) && from_disks.is_none_or(|share| share < LEAST_FROM_DISKS);
    let is_written_to_memory = row.plans(Op::Write) && mode.acknowledges_from_memory();
    (is_read_from_memory || is_written_to_memory).then_some(Warning::HostCache { mode, from_disks })
}

/// Bytes that the disks of all nodes read for each byte that guests read, whoever asked for them;
/// `None` where a node does not say, or guests read nothing.
fn share_from_disks(below: &BelowStage) -> Option<f64> {
    let all: Option<u64> = below.nodes.iter().map(|node| node.counts.read_bytes).sum();
    let is_known = below.guest_read.0 > 0 && !below.nodes.is_empty();
    is_known.then_some(all? as f64 / below.guest_read.0 as f64)
}

/// The node whose virtual CPUs waited for the largest share of their time.
fn waited(record: &Record, made: &MachinesMade, below: &BelowStage) -> Option<Warning> {
    let shares = below.nodes.iter().filter_map(|node| {
        let share = share_waited(record, made, node, below.length)?;
        Some((node, share))
    });
    let (node, share) = shares.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let node = node.node.clone();
    (share >= LEAST_WAITED).then_some(Warning::GuestsWaited { node, share })
}

/// The share of the time of all virtual CPUs of a node in which they had work, and no CPU. What the
/// node counted is of `length`.
pub fn share_waited(
    record: &Record,
    made: &MachinesMade,
    node: &BelowNode,
    length: Nanos,
) -> Option<f64> {
    let on = made.nodes.iter().find(|on| on.node == node.node)?;
    let all = virtual_cpus(record, on).checked_mul(length.0).filter(|all| *all > 0)?;
    Some(node.guests?.waited?.0 as f64 / all as f64)
}

/// The virtual CPUs of all machines of a node, as the guests see them.
pub(crate) fn virtual_cpus(record: &Record, on: &OnNode) -> u64 {
    let of = |facts: &&HostFacts| on.machines.contains(&facts.hostname);
    record.testbed.iter().filter(of).map(|facts| u64::from(facts.logical_cpus)).sum()
}

#[cfg(test)]
#[path = "guests_tests.rs"]
mod tests;
