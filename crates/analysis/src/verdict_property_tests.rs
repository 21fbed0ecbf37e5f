//! Taking evidence away never raises a verdict: random chains of layers, with random evidence.

use super::*;
use crate::results;
use crate::testing::Recorded;
use catalogue::targets::{Layer, layer};
use model::event::{Event, Flush, HostEnd};
use model::inventory::{DeviceFacts, Link, LinkKind};
use model::{Bytes, StageKind};
use proptest::prelude::*;

/// Layers that a chain can have: kind, name, and how a device is reached.
const LAYERS: [(LinkKind, &str, &str); 21] = [
    (LinkKind::FileSystem, "ext4", ""),
    (LinkKind::FileSystem, "overlay", ""),
    (LinkKind::FileSystem, "tmpfs", ""),
    (LinkKind::FileSystem, "fuse.x", ""),
    (LinkKind::FileSystem, "virtiofs", ""),
    (LinkKind::FileSystem, "zfs", ""),
    (LinkKind::FileSystem, "mystery", ""),
    (LinkKind::Network, "nfs4", ""),
    (LinkKind::Network, "fuse.sshfs", ""),
    (LinkKind::Mapper, "dm-0", "device mapper"),
    (LinkKind::Raid, "md0", "software RAID"),
    (LinkKind::Partition, "sda1", "sata"),
    (LinkKind::Loop, "loop0", "loop"),
    (LinkKind::Disk, "sda", "sata"),
    (LinkKind::Disk, "sda", "iscsi"),
    (LinkKind::Disk, "sdb", ""),
    (LinkKind::Disk, "nvme0n1", "pcie"),
    (LinkKind::Disk, "vda", "virtio"),
    (LinkKind::Disk, "zram0", "memory"),
    (LinkKind::Disk, "ublkb0", ""),
    (LinkKind::Disk, "pmem0", "memory"),
];

/// One layer of a chain, by its place in [`LAYERS`], with what was read of it.
#[derive(Clone, Debug)]
struct Drawn {
    layer: usize,
    /// How much deeper it is than the one before it, 0 or 1.
    deeper: u32,
    direct: Option<bool>,
    is_cache_read: bool,
}

/// What was seen of a run.
#[derive(Clone, Debug)]
struct Seen {
    writes: bool,
    chain: Vec<Drawn>,
    is_guest: bool,
    is_large: bool,
    is_counted: bool,
    is_noted: bool,
    is_flushed: bool,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let parts = (0..LAYERS.len(), 0..=1u32, any::<Option<bool>>(), any::<bool>());
    parts.prop_map(|(layer, deeper, direct, is_cache_read)| Drawn {
        layer,
        deeper,
        direct,
        is_cache_read,
    })
}

/// Most chains are such as there are: a file system, what it lies on, and a disk.
fn chain() -> impl Strategy<Value = Vec<Drawn>> {
    let below = |layer: usize| drawn().prop_map(move |drawn| Drawn { layer, deeper: 1, ..drawn });
    prop_oneof![
        prop::collection::vec(drawn(), 0..5),
        (below(0), prop::collection::vec(drawn(), 0..2), (13..18usize).prop_flat_map(below))
            .prop_map(|(top, middle, disk)| [vec![top], middle, vec![disk]].concat()),
    ]
}

fn seen() -> impl Strategy<Value = Seen> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    // Where all is counted and noted, most is at stake.
    let counts = (prop::bool::weighted(0.8), prop::bool::weighted(0.8), any::<bool>());
    (chain(), flags, counts).prop_map(|(chain, flags, counts)| Seen {
        chain,
        writes: flags.0,
        is_guest: flags.1,
        is_large: flags.2,
        is_counted: counts.0,
        is_noted: counts.1,
        is_flushed: counts.2,
    })
}

fn link(drawn: &Drawn, depth: u32) -> Link {
    let (kind, name, transport) = LAYERS[drawn.layer];
    let is_device = !matches!(kind, LinkKind::FileSystem | LinkKind::Network);
    let write_cache = if drawn.is_cache_read { "write through" } else { "" };
    let device = DeviceFacts {
        name: name.to_owned(),
        transport: transport.to_owned(),
        write_cache: write_cache.to_owned(),
        ..DeviceFacts::default()
    };
    let device = is_device.then_some(device);
    let (name, direct) = (name.to_owned(), drawn.direct.filter(|_| kind == LinkKind::Loop));
    Link { depth, kind, name, device, direct, ..Link::default() }
}

/// A steady run of 40 s, of reads or of writes, with all that can be seen.
struct Whole {
    recorded: Recorded,
    rows: Vec<ResultRow>,
}

fn whole(writes: bool) -> Whole {
    let share = if writes { "0%" } else { "100%" };
    let mut recorded = Recorded::new(&format!(
        "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\nread = \"{share}\"\n"
    ));
    let stage = recorded.stage(StageKind::Measure);
    let op = if writes { Op::Write } else { Op::Read };
    let values: Vec<u64> = (0..1_400u64).map(|n| 1_000 + n * 7 % 100).collect();
    for second in 0..40 {
        recorded.interval(stage, second, &[(op, &values[..970 + second as usize * 137 % 400])]);
    }
    recorded.seen_at_disks(stage, "write through");
    recorded.end();
    let rows = results(&recorded.record());
    let is_thin = |doubt: &Warning| matches!(doubt, Warning::ThinTail { .. });
    assert!(rows[0].warnings.iter().all(is_thin), "{:?}", rows[0].warnings);
    Whole { recorded, rows }
}

/// The verdict of a run of which only this was seen. `rows` are those of the whole: the honest run
/// gives no reason to doubt them.
fn level(whole: &Whole, seen: &Seen) -> Level {
    let mut recorded = whole.recorded.clone();
    let stage = recorded.stage(StageKind::Measure);
    if seen.is_flushed {
        let target = "/mnt/data".to_owned();
        let flush = Flush { target, at_ns: 1, took_ns: 5_000_000, errno: 0, ended: true };
        let (left, pauses, flushes) = (Vec::new(), Vec::new(), vec![flush]);
        let end = HostEnd { stage, host: 0, left, pauses, flushes };
        recorded.record_mut().apply(Event::HostEnded(Box::new(end)));
    }
    let record = recorded.record_mut();
    if !seen.is_noted {
        record.notes.clear();
    }
    if !seen.is_counted {
        record.stages.iter_mut().for_each(|stage| stage.counters_mut().clear());
    }
    let host = &mut record.testbed[0];
    host.hypervisor = seen.is_guest.then(|| "KVM".to_owned());
    host.memory = if seen.is_large { Bytes(1) } else { Bytes::gib(64) };
    let mut depth = 0;
    let links = seen.chain.iter().enumerate().map(|(place, drawn)| {
        depth = if place == 0 { 0 } else { (depth + drawn.deeper).max(1) };
        link(drawn, depth)
    });
    host.targets[0].chain = links.collect();
    host.targets[0].device = None;
    Verdict::of_run(record, &whole.rows).level
}

/// Whether a layer says that there is no storage: that speaks against a figure, and never for it.
fn is_memory(drawn: &Drawn) -> bool {
    row(drawn).is_some_and(|layer| layer.best.value == Level::NotAMeasurement)
}

fn row(drawn: &Drawn) -> Option<&'static Layer> {
    layer(&link(drawn, 0), false)
}

/// The same run with one piece of evidence less, in every way.
fn less(seen: &Seen) -> Vec<Seen> {
    let with = |change: &dyn Fn(&mut Seen)| {
        let mut less = seen.clone();
        change(&mut less);
        less
    };
    let mut all = vec![
        with(&|seen| seen.is_counted = false),
        with(&|seen| seen.is_noted = false),
        with(&|seen| seen.is_flushed = false),
        with(&|seen| seen.is_large = false),
    ];
    if !seen.chain.iter().any(is_memory) {
        all.push(with(&|seen| seen.chain.clear()));
    }
    for place in 0..seen.chain.len() {
        all.push(with(&|seen| seen.chain[place].is_cache_read = false));
        all.push(with(&|seen| seen.chain[place].direct = None));
        // Nobody looked at what is below.
        let has_more = seen.chain.get(place + 1).is_some_and(|next| place == 0 || next.deeper == 1);
        let is_end = row(&seen.chain[place]).is_none_or(Layer::ends_a_chain);
        if has_more && !is_end && !seen.chain.iter().any(is_memory) {
            all.push(with(&|seen| seen.chain.truncate(place + 1)));
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn taking_evidence_away_never_raises_a_verdict(seen in seen()) {
        thread_local! {
            static RUNS: [Whole; 2] = [whole(false), whole(true)];
        }
        RUNS.with(|runs| {
            let whole = &runs[usize::from(seen.writes)];
            let before = level(whole, &seen);
            for less in less(&seen) {
                let after = level(whole, &less);
                prop_assert!(after <= before, "{before} became {after}: {less:?}");
            }
            Ok(())
        })?;
    }
}

#[test]
fn chains_that_are_drawn_reach_every_level() {
    let disk = |layer| Drawn { layer, deeper: 1, direct: None, is_cache_read: true };
    let seen = |layers: &[usize]| Seen {
        writes: true,
        chain: layers.iter().map(|layer| disk(*layer)).collect(),
        is_guest: false,
        is_large: false,
        is_counted: true,
        is_noted: true,
        is_flushed: true,
    };
    let whole = whole(true);
    assert_eq!(level(&whole, &seen(&[0, 13])), Level::Quotable);
    assert_eq!(level(&whole, &seen(&[0, 17])), Level::Indicative);
    assert_eq!(level(&whole, &seen(&[0, 18])), Level::NotAMeasurement);
}
