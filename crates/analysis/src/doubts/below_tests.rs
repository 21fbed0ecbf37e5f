//! Doubts from counters, each beside a twin whose counters are those of the load.

use super::*;
use crate::results;
use crate::testing::Recorded;
use model::counters::{Entry, Layer, Metric};
use model::inventory::{Link, Media};
use model::{Fact, Nanos, Note, StageKind};

const SECOND: u64 = 1_000_000_000;
const BLOCK: u64 = 4096;
/// Requests that a worker completes in each second.
const IOS: u64 = 10_000;

/// What the disk counted in a second.
#[derive(Clone, Copy)]
struct Disk {
    reads: u64,
    read_bytes: u64,
    writes: u64,
    write_bytes: u64,
}

/// What the disk of an honest run counts, of reads or of writes.
fn honest(op: Op) -> Disk {
    let none = Disk { reads: 0, read_bytes: 0, writes: 0, write_bytes: 0 };
    match op {
        Op::Read => Disk { reads: IOS, read_bytes: IOS * BLOCK, ..none },
        _ => Disk { writes: IOS, write_bytes: IOS * BLOCK, ..none },
    }
}

/// The codes of all doubts of a run of ten seconds whose disk counted so each second, and from
/// whose only CPU the hypervisor took so much of each.
fn codes(op: Op, disk: Disk, stolen_ns: u64) -> Vec<&'static str> {
    codes_on(&PLAIN, op, disk, stolen_ns)
}

const PLAIN: [(LinkKind, &str); 2] = [(LinkKind::FileSystem, "ext4"), (LinkKind::Disk, "nvme0n1")];

/// The same on other layers.
fn codes_on(chain: &[(LinkKind, &str)], op: Op, disk: Disk, stolen_ns: u64) -> Vec<&'static str> {
    codes_of(chain, op, &[("nvme0n1", disk)], stolen_ns)
}

/// The same of several devices that count.
fn codes_of(
    chain: &[(LinkKind, &str)],
    op: Op,
    disks: &[(&str, Disk)],
    stolen_ns: u64,
) -> Vec<&'static str> {
    codes_in("", None, chain, op, disks, stolen_ns)
}

/// The same in a suite that begins so, with how its stage ended.
fn codes_in(
    stages: &str,
    how: Option<Fact>,
    chain: &[(LinkKind, &str)],
    op: Op,
    disks: &[(&str, Disk)],
    stolen_ns: u64,
) -> Vec<&'static str> {
    let share = if op == Op::Read { "100%" } else { "0%" };
    let work = format!("[[workload]]\nname = \"w\"\nread = \"{share}\"\ndepth = 4\n");
    let mut recorded = Recorded::new(&format!("{stages}{work}"));
    let link = |(depth, (kind, name)): (u32, &(LinkKind, &str))| Link {
        depth,
        kind: *kind,
        name: (*name).to_owned(),
        ..Link::default()
    };
    let target = &mut recorded.record_mut().testbed[0].targets[0];
    target.chain = (0..).zip(chain).map(link).collect();
    target.device.as_mut().expect("a disk").media = Media::Nvme;
    let stage = recorded.stage(StageKind::Measure);
    let seconds = if how.is_some() { 50 } else { 10 };
    for second in 0..seconds {
        recorded.interval(stage, second, &[(op, &[1_000; IOS as usize])]);
        let of_disk = |(name, disk): &(&str, Disk)| {
            let values = [
                (Metric::Reads, disk.reads),
                (Metric::ReadBytes, disk.read_bytes),
                (Metric::Writes, disk.writes),
                (Metric::WriteBytes, disk.write_bytes),
                (Metric::BusyNs, SECOND / 2),
            ];
            Entry::new(Layer::Block, name, &values)
        };
        let of_cpu = [
            (Metric::UserNs, SECOND / 10),
            (Metric::StealNs, stolen_ns),
            (Metric::IdleNs, SECOND - SECOND / 10 - stolen_ns),
        ];
        let counted = disks.iter().map(of_disk).chain([Entry::new(Layer::Cpu, "0", &of_cpu)]);
        recorded.counters(stage, 0, second, counted.collect());
    }
    let mut record = recorded.end();
    record.notes.extend(how.map(|fact| Note { stage: Some(stage), host: 0, fact }));
    let rows = results(&record);
    rows[0].warnings.iter().map(Warning::code).collect()
}

/// The doubts of this page.
const OURS: [&str; 5] = ["less-at-device", "more-at-device", "other-io", "merged", "stolen"];

fn ours(op: Op, disk: Disk, stolen_ns: u64) -> Vec<&'static str> {
    let mut found = codes(op, disk, stolen_ns);
    found.retain(|code| OURS.contains(code));
    found
}

#[test]
fn counters_that_are_those_of_the_load_are_no_doubt() {
    for op in [Op::Read, Op::Write] {
        assert_eq!(ours(op, honest(op), 0), [""; 0]);
        // Somewhat more, as a journal's, and a hypervisor's moment.
        let more = Disk { write_bytes: honest(op).write_bytes + 2_000_000, ..honest(op) };
        assert_eq!(ours(op, more, SECOND / 100), [""; 0]);
    }
}

#[test]
fn where_a_stage_settled_late_counters_are_held_against_its_last_window() {
    let stages = "[stages]\nuntil = \"steady\"\nmeasure = \"20s\"\n";
    let after = Nanos::seconds(50);
    let settled = Fact::Settled { to: after, rounds: 2, round: Nanos::seconds(4), after };
    for op in [Op::Read, Op::Write] {
        let codes =
            codes_in(stages, Some(settled.clone()), &PLAIN, op, &[("nvme0n1", honest(op))], 0);
        assert!(!codes.iter().any(|code| OURS.contains(code)), "{codes:?}");
    }
    let half = Disk { reads: IOS / 2, read_bytes: IOS * BLOCK / 2, ..honest(Op::Read) };
    let codes = codes_in(stages, Some(settled), &PLAIN, Op::Read, &[("nvme0n1", half)], 0);
    assert!(codes.contains(&"less-at-device"), "{codes:?}");
}

#[test]
fn each_lie_of_a_disk_has_its_own_doubt() {
    let (reads, writes) = (honest(Op::Read), honest(Op::Write));
    let answered_above = Disk { reads: IOS / 2, read_bytes: IOS * BLOCK / 2, ..reads };
    assert_eq!(ours(Op::Read, answered_above, 0), ["less-at-device"]);
    let changed_below = Disk { write_bytes: 3 * IOS * BLOCK, ..writes };
    assert_eq!(ours(Op::Write, changed_below, 0), ["more-at-device"]);
    let merged = Disk { writes: IOS / 8, ..writes };
    assert_eq!(ours(Op::Write, merged, 0), ["merged"]);
    let neighbour = Disk { writes: 200, write_bytes: 80_000_000, ..reads };
    assert_eq!(ours(Op::Read, neighbour, 0), ["other-io"]);
}

#[test]
fn what_a_hypervisor_takes_is_a_doubt_from_a_twentieth_on() {
    assert_eq!(ours(Op::Read, honest(Op::Read), SECOND / 25), [""; 0]);
    assert_eq!(ours(Op::Read, honest(Op::Read), SECOND / 10), ["stolen"]);
}

#[test]
fn disks_below_loop_devices_and_volumes_are_held_against_the_load_too() {
    let (file_system, disk) = (PLAIN[0], PLAIN[1]);
    let chains: [&[(LinkKind, &str)]; 4] = [
        &[(LinkKind::Loop, "loop14"), file_system, disk],
        &[file_system, (LinkKind::Mapper, "dm-0"), disk],
        &[file_system, (LinkKind::Raid, "md0"), disk],
        &[(LinkKind::FileSystem, "overlay"), file_system, disk],
    ];
    let (reads, writes) = (honest(Op::Read), honest(Op::Write));
    let holes = Disk { reads: IOS / 2, read_bytes: IOS * BLOCK / 2, ..reads };
    let neighbour = Disk { writes: 200, write_bytes: 80_000_000, ..reads };
    for chain in chains {
        let of = |op, disk| {
            let mut found = codes_on(chain, op, disk, 0);
            found.retain(|code| OURS.contains(code));
            found
        };
        assert_eq!(of(Op::Read, reads), [""; 0], "{chain:?}");
        assert_eq!(of(Op::Read, holes), ["less-at-device"], "{chain:?}");
        assert_eq!(of(Op::Read, neighbour), ["other-io"], "{chain:?}");
    }
    let on_the_loop = |loop_device| {
        codes_of(chains[0], Op::Read, &[("loop14", loop_device), ("nvme0n1", reads)], 0)
    };
    assert!(on_the_loop(neighbour).contains(&"other-io"), "a neighbour on the loop device alone");
    assert!(!on_the_loop(reads).contains(&"other-io"));
    let reads_first = Disk { reads: IOS, read_bytes: IOS * BLOCK, ..writes };
    let raid = [file_system, (LinkKind::Raid, "md0"), disk];
    assert!(!codes_on(&raid, Op::Write, reads_first, 0).contains(&"other-io"), "reads to write");
    let on_the_volume = [(LinkKind::Mapper, disk.1), file_system, (LinkKind::Disk, "sdb")];
    assert!(codes_on(&on_the_volume, Op::Write, reads_first, 0).contains(&"other-io"));
    let served = [(LinkKind::Network, "fuse.mergerfs")];
    assert!(codes_on(&served, Op::Read, neighbour, 0).contains(&"other-io"), "from a disk here");
    assert!(!codes_on(&served, Op::Read, reads, 0).contains(&"other-io"));
    let unseen = [(LinkKind::Loop, "loop14"), (LinkKind::FileSystem, "tmpfs")];
    assert!(!codes_on(&unseen, Op::Read, holes, 0).contains(&"less-at-device"), "no disk counts");
}

/// The doubt of a run whose control group used its quota up in so many of 40 periods.
fn by_quota(throttled: u64, of: u64) -> Option<Warning> {
    let record = Recorded::new("[[workload]]\nname = \"w\"\n").record();
    let values = [(Metric::Periods, of), (Metric::ThrottledPeriods, throttled)];
    let sample = model::CounterSample {
        length_ns: 4 * SECOND,
        entries: vec![
            Entry::new(Layer::Quota, "/sys/fs/cgroup/pod", &values),
            Entry::new(Layer::Quota, "/sys/fs/cgroup", &[(Metric::Periods, 0)]),
        ],
        ..Default::default()
    };
    super::throttled(&record, &Usage::of(&record.testbed, &(0..4 * SECOND), &[sample]))
}

#[test]
fn a_quota_that_is_used_up_is_a_doubt() {
    let found = |share| Some(Warning::QuotaThrottled { host: "node0".to_owned(), share });
    assert_eq!((by_quota(34, 34), by_quota(2, 40)), (found(1.0), found(0.05)));
    assert_eq!((by_quota(1, 40), by_quota(0, 0)), (None, None));
}

/// Whether fsyncs are said to be lost of a load of 10,000 writes a second, each with its fsync,
/// four at a time, where a disk wrote what it says and was flushed so often in ten seconds.
fn is_flush_lost(written: u64, flushes: impl Into<Option<u64>>) -> bool {
    let flushes = flushes.into();
    let suite = "[[workload]]\nname = \"w\"\nread = \"0%\"\nfsync_every = 1\ndepth = 4\n";
    let mut recorded = Recorded::new(suite);
    let disk = model::inventory::DeviceFacts {
        name: "sda".to_owned(),
        write_cache: crate::doubts::flushes::WRITE_BACK.to_owned(),
        ..Default::default()
    };
    recorded.record_mut().testbed[0].inventory.disks = vec![disk];
    let stage = recorded.stage(StageKind::Measure);
    for second in 0..10 {
        let took = [1_000; IOS as usize];
        recorded.interval(stage, second, &[(Op::Write, &took), (Op::Fsync, &took)]);
        let mut values = vec![(Metric::ReadBytes, 0), (Metric::WriteBytes, written / 10)];
        values.extend(flushes.map(|all| (Metric::Flushes, all / 10)));
        recorded.counters(stage, 0, second, vec![Entry::new(Layer::Block, "sda", &values)]);
    }
    let rows = results(&recorded.end());
    let mut doubts = rows.iter().flat_map(|row| &row.warnings);
    doubts.any(|doubt| matches!(doubt, Warning::FlushLost { .. }))
}

#[test]
fn fsyncs_that_no_disk_saw_are_lost_where_the_writes_came_to_one() {
    let all = 10 * IOS * BLOCK;
    assert!(is_flush_lost(all, 0) && is_flush_lost(all, 2_000));
    assert!(!is_flush_lost(all, 10 * IOS / 4), "four at a time shared one");
    assert!(!is_flush_lost(all / 2, 0), "it may be written elsewhere");
    assert!(!is_flush_lost(all, None), "kernels before 5.5 count none");
}
