//! Doubts about machines of ours, each beside a truthful twin.

use super::*;
use crate::results;
use crate::testing::Recorded;
use model::machines::{Accelerator, HostCpu, NodeCounts, ProviderKind};
use model::plan::PlanNote;
use model::{Bytes, Nanos, Note, StageKind};

/// What guests read in a run.
const READ: u64 = 10 * 1_000 * 4096;

/// What stood below a run of ten seconds on one machine.
#[derive(Clone, Copy)]
struct Stood {
    cache: DiskCache,
    /// What the node's disks read for each byte that the guest read; `None` where nobody counted.
    from_disks: Option<f64>,
    /// How long its virtual CPU waited, in ms.
    waited_ms: u64,
}

const HONEST: Stood = Stood { cache: DiskCache::None, from_disks: Some(1.0), waited_ms: 0 };

fn record(op: Op, stood: Stood) -> Record {
    let share = if op == Op::Read { "100%" } else { "0%" };
    let mut recorded =
        Recorded::new(&format!("[[workload]]\nname = \"w\"\nread = \"{share}\"\ndepth = 4\n"));
    recorded.record_mut().testbed[0].logical_cpus = 1;
    let stage = recorded.stage(StageKind::Measure);
    recorded.load(0..10, &[(op, &[1_000; 1_000])]);
    let mut record = recorded.end();
    let machines = vec![record.plan.hosts[0].hostname.clone()];
    let made = MachinesMade {
        name: "a".into(),
        provider: ProviderKind::Qemu,
        nodes: vec![OnNode { node: "n1".into(), machines }],
        accelerator: Accelerator::Kvm,
        cache: stood.cache,
        boots: Vec::new(),
        go_with_run: true,
    };
    record.plan.notes.push(PlanNote { fact: Fact::Machines(made) });
    let read_bytes = stood.from_disks.map(|share| (READ as f64 * share) as u64);
    let waited = Some(Nanos::millis(stood.waited_ms));
    let node = BelowNode {
        node: "n1".into(),
        guests: Some(HostCpu { vcpu: Nanos::seconds(1), waited, ..HostCpu::default() }),
        counts: NodeCounts { read_bytes, ..NodeCounts::default() },
        ..BelowNode::default()
    };
    let of_stage = BelowStage {
        stage,
        length: Nanos::seconds(10),
        guest_read: Bytes(if op == Op::Read { READ } else { 0 }),
        guest_written: Bytes(0),
        nodes: vec![node],
    };
    let below = BelowGuests {
        length: Nanos::seconds(10),
        guest_read: Bytes(READ),
        guest_written: Bytes(0),
        nodes: Vec::new(),
        stages: vec![of_stage],
    };
    record.notes.push(Note { stage: None, host: 0, fact: Fact::BelowGuests(below) });
    record
}

fn codes(op: Op, stood: Stood) -> Vec<&'static str> {
    let rows = results(&record(op, stood));
    let codes = rows[0].warnings.iter().map(Warning::code);
    codes.filter(|code| ["host-cache", "guests-waited"].contains(code)).collect()
}

#[test]
fn a_cache_mode_is_a_doubt_where_the_memory_of_the_node_answers() {
    let of = |op, cache, from_disks| codes(op, Stood { cache, from_disks, ..HONEST });
    for mode in [DiskCache::None, DiskCache::Directsync] {
        assert_eq!(of(Op::Read, mode, Some(0.0)), [""; 0], "{mode}: some other cache");
        assert_eq!(of(Op::Write, mode, None), [""; 0]);
    }
    for mode in [DiskCache::Writeback, DiskCache::Writethrough, DiskCache::Unsafe] {
        assert_eq!(of(Op::Read, mode, Some(0.5)), ["host-cache"], "{mode}");
        assert_eq!(of(Op::Read, mode, None), ["host-cache"], "{mode}: nobody counted");
        // The truthful twin: all of it came from disks.
        assert_eq!(of(Op::Read, mode, Some(0.97)), [""; 0], "{mode}");
    }
    assert_eq!(of(Op::Write, DiskCache::Writeback, Some(1.0)), ["host-cache"]);
    assert_eq!(of(Op::Write, DiskCache::Unsafe, None), ["host-cache"]);
    assert_eq!(of(Op::Write, DiskCache::Writethrough, None), [""; 0], "each write is durable");
}

#[test]
fn virtual_cpus_that_wait_are_a_doubt_from_a_twentieth_on() {
    let of = |waited_ms| codes(Op::Read, Stood { waited_ms, ..HONEST });
    assert_eq!(of(490), [""; 0]);
    assert_eq!(of(510), ["guests-waited"]);
}

#[test]
fn where_a_hypervisor_ignores_flushes_no_write_is_durable() {
    let is_ignored = |cache| ignore_flushes(&record(Op::Write, Stood { cache, ..HONEST }));
    assert!(is_ignored(DiskCache::Unsafe));
    assert!(!is_ignored(DiskCache::Writeback) && !is_ignored(DiskCache::None));
}
