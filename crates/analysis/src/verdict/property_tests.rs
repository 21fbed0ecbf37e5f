//! Taking evidence away never raises a verdict: random chains of layers, with random evidence.

use super::*;
use crate::results;
use crate::testing::Recorded;
use catalogue::targets::{Kind, Layer, layer, layers};
use model::event::{Event, Flush, HostEnd};
use model::inventory::{DeviceFacts, Link, LinkKind};
use model::{Bytes, StageKind};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// A layer that a chain can have.
struct Shape {
    /// Its row of the table; empty where it has none.
    row: &'static str,
    kind: LinkKind,
    name: String,
    transport: &'static str,
    model: &'static str,
}

/// Every row of the table of targets with each of its names, transports and models, and layers that
/// it does not know.
fn shapes() -> &'static [Shape] {
    static SHAPES: OnceLock<Vec<Shape>> = OnceLock::new();
    SHAPES.get_or_init(|| {
        let unknown = [(LinkKind::FileSystem, "mystery"), (LinkKind::Disk, "zz0")];
        let unknown = unknown.map(|(kind, name)| {
            let name = name.to_owned();
            Shape { row: "", kind, name, transport: "", model: "" }
        });
        layers().iter().flat_map(of_row).chain(unknown).collect()
    })
}

fn of_row(layer: &'static Layer) -> Vec<Shape> {
    let (kind, usual) = match layer.kind.value {
        Kind::FileSystem => (LinkKind::FileSystem, "mystery"),
        Kind::Network => (LinkKind::Network, "mystery"),
        Kind::Mapper => (LinkKind::Mapper, "dm-0"),
        Kind::Raid => (LinkKind::Raid, "md0"),
        Kind::Partition => (LinkKind::Partition, "sda1"),
        Kind::Loop => (LinkKind::Loop, "loop0"),
        Kind::Device => (LinkKind::Disk, "sda"),
    };
    let all = |list: &'static str, otherwise: &'static str| {
        let listed: Vec<&str> = list.split_whitespace().collect();
        if listed.is_empty() { vec![otherwise] } else { listed }
    };
    let mut shapes = Vec::new();
    for name in all(&layer.names.value, usual) {
        for transport in all(&layer.transports.value, "") {
            for model in all(&layer.models.value, "") {
                let name = name.replace('*', "0");
                shapes.push(Shape { row: &layer.id.value, kind, name, transport, model });
            }
        }
    }
    shapes
}

/// The first shape of a row.
fn of(row: &str) -> usize {
    shapes().iter().position(|shape| shape.row == row).expect("a row of the table")
}

/// One layer of a chain, by its place among [`shapes`], with what was read of it.
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
    let parts = (0..shapes().len(), 0..=1u32, any::<Option<bool>>(), any::<bool>());
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
    let is_disk = |at: &usize| shapes()[*at].kind == LinkKind::Disk;
    let disks: Vec<usize> = (0..shapes().len()).filter(is_disk).collect();
    let disk = prop::sample::select(disks).prop_flat_map(below);
    prop_oneof![
        prop::collection::vec(drawn(), 0..5),
        (below(of("file-system")), prop::collection::vec(drawn(), 0..2), disk)
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
    let Shape { kind, name, transport, model, .. } = &shapes()[drawn.layer];
    let kind = *kind;
    let is_device = !matches!(kind, LinkKind::FileSystem | LinkKind::Network);
    let write_cache = if drawn.is_cache_read { "write through" } else { "" };
    let device = DeviceFacts {
        name: name.clone(),
        transport: (*transport).to_owned(),
        model: (*model).to_owned(),
        write_cache: write_cache.to_owned(),
        ..DeviceFacts::default()
    };
    let device = is_device.then_some(device);
    let (name, direct) = (name.clone(), drawn.direct.filter(|_| kind == LinkKind::Loop));
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
    let rows = results(&recorded.end());
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
        never_raises(&seen);
    }
}

/// Whatever is taken away from what was seen.
fn never_raises(seen: &Seen) {
    thread_local! {
        static RUNS: [Whole; 2] = [whole(false), whole(true)];
    }
    RUNS.with(|runs| {
        let whole = &runs[usize::from(seen.writes)];
        let before = level(whole, seen);
        for less in less(seen) {
            let after = level(whole, &less);
            assert!(after <= before, "{before} became {after}: {less:?} of {seen:?}");
        }
    });
}

/// A plain run of writes with all that can be seen, on these layers.
fn plain(layers: &[usize]) -> Seen {
    let layer =
        |layer: &usize| Drawn { layer: *layer, deeper: 1, direct: None, is_cache_read: true };
    Seen {
        writes: true,
        chain: layers.iter().map(layer).collect(),
        is_guest: false,
        is_large: false,
        is_counted: true,
        is_noted: true,
        is_flushed: true,
    }
}

#[test]
fn no_row_of_the_table_of_targets_raises_a_verdict_by_silence() {
    let rows: BTreeSet<&str> = shapes().iter().map(|shape| shape.row).collect();
    assert_eq!(rows.len(), layers().len() + 1, "all rows, and what none has");
    let (top, disk) = (of("file-system"), of("disk"));
    for at in 0..shapes().len() {
        for chain in [vec![at], vec![at, disk], vec![top, at], vec![top, at, disk]] {
            let with = |is_guest, direct, writes| {
                let mut seen = Seen { is_guest, is_large: true, writes, ..plain(&chain) };
                seen.chain.iter_mut().for_each(|drawn| drawn.direct = direct);
                never_raises(&seen);
            };
            with(false, Some(true), true);
            with(true, Some(false), true);
            with(false, Some(true), false);
        }
    }
}

#[test]
fn chains_that_are_drawn_reach_every_level() {
    let whole = whole(true);
    let of_chain = |rows: [&str; 2]| level(&whole, &plain(&rows.map(of)));
    assert_eq!(of_chain(["file-system", "disk"]), Level::Quotable);
    assert_eq!(of_chain(["file-system", "virtual-disk"]), Level::Indicative);
    assert_eq!(of_chain(["file-system", "memory-disk"]), Level::NotAMeasurement);
}
