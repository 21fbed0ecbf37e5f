//! When a figure may be quoted, and which steps would raise it.

use super::*;
use crate::results;
use crate::testing::Recorded;
use model::choices::CountersKept;
use model::event::{Event, Flush, HostEnd};
use model::inventory::{DeviceFacts, Link, LinkKind};
use model::machines::{Accelerator, DiskCache, MachinesMade, ProviderKind};
use model::plan::PlanNote;
use model::{Bytes, Fact, StageKind};

const THROUGH: &str = "write through";
const BACK: &str = crate::doubts::flushes::WRITE_BACK;

/// A steady run of 40 s on a physical disk; `flushed` says how the flush behind it went.
fn run(fields: &str, flushed: Option<i32>) -> Recorded {
    let mut recorded = Recorded::new(&format!(
        "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n{fields}\n"
    ));
    let stage = recorded.stage(StageKind::Measure);
    let op = if fields.contains("read = \"0%\"") { Op::Write } else { Op::Read };
    // A rate that is constant to the digit would be a limiter's.
    let values: Vec<u64> = (0..10_400u64).map(|n| 1_000 + n * 7 % 100).collect();
    for second in 0..40 {
        let count = 9_700 + second as usize * 137 % 400;
        recorded.interval(stage, second, &[(op, &values[..count])]);
    }
    recorded.seen_at_disks(stage, THROUGH);
    if let Some(errno) = flushed {
        let target = "/mnt/data".to_owned();
        let flush = Flush { target, at_ns: 40_000_000_000, took_ns: 5_000_000, errno, ended: true };
        let (left, pauses, flushes) = (Vec::new(), Vec::new(), vec![flush]);
        let end = HostEnd { stage, host: 0, left, pauses, flushes };
        recorded.record_mut().apply(Event::HostEnded(Box::new(end)));
    }
    recorded.end();
    recorded
}

fn judged(recorded: &Recorded) -> Verdict {
    let record = recorded.record();
    Verdict::of_run(&record, &results(&record))
}

const WRITES: &str = "read = \"0%\"";
const READS: &str = "read = \"100%\"";

/// The steps that would raise it.
fn raised(verdict: &Verdict) -> Vec<Step> {
    verdict.steps.iter().map(|one| one.step).collect()
}

/// Has the only target lie on these layers, one below the other.
fn on(layers: &[(LinkKind, &str, &str)], recorded: &mut Recorded) {
    let target = &mut recorded.record_mut().testbed[0].targets[0];
    let device = target.device.take().expect("a disk");
    let link = |(depth, (kind, name, transport)): (u32, &(LinkKind, &str, &str))| {
        let transport = (*transport).to_owned();
        let is_device = !matches!(kind, LinkKind::FileSystem | LinkKind::Network);
        let device = is_device.then(|| DeviceFacts { transport, ..device.clone() });
        Link { depth, kind: *kind, name: (*name).to_owned(), device, ..Link::default() }
    };
    target.file_system = layers.first().map(|(_, name, _)| (*name).to_owned());
    target.chain = (0..).zip(layers).map(link).collect();
}

const DISK: (LinkKind, &str, &str) = (LinkKind::Disk, "nvme0n1", "pcie");
const EXT4: (LinkKind, &str, &str) = (LinkKind::FileSystem, "ext4", "");

#[test]
fn what_is_steady_known_durable_and_past_caches_is_quotable() {
    let reads = judged(&run(READS, None));
    assert_eq!((reads.level, raised(&reads), reads.bound), (Level::Quotable, vec![], None));
    let writes = judged(&run(WRITES, Some(0)));
    assert_eq!(writes.level, Level::Quotable, "{writes:?}");
    assert_eq!(writes.checks_that(Found::Shown).count(), 4);
}

#[test]
fn writes_without_a_flush_and_with_a_failed_one_are_indicative() {
    let unflushed = judged(&run(WRITES, None));
    assert_eq!((unflushed.level, raised(&unflushed)), (Level::Indicative, vec![Step::FlushEnd]));
    let failed = judged(&run(WRITES, Some(5)));
    assert_eq!((failed.level, raised(&failed)), (Level::Indicative, vec![Step::Doubt]));
    assert_eq!(failed.checks_that(Found::Refuted).collect::<Vec<_>>(), [Check::Durability]);
}

#[test]
fn a_volatile_cache_is_named_whether_or_not_it_was_flushed() {
    for (flushed, level) in [(Some(0), Level::Quotable), (None, Level::Indicative)] {
        let mut recorded = run(WRITES, flushed);
        let target = &mut recorded.record_mut().testbed[0].targets[0];
        for device in target.chain.iter_mut().filter_map(|link| link.device.as_mut()) {
            device.write_cache = BACK.to_owned();
        }
        let verdict = judged(&recorded);
        let device = Cache { of: "nvme0n1".to_owned(), kind: CacheKind::Device };
        assert_eq!((verdict.level, verdict.caches), (level, vec![device]));
    }
}

#[test]
fn a_footprint_within_the_memory_behind_a_virtual_disk_is_not_quotable() {
    let mut recorded = run(READS, None);
    on(&[EXT4, (LinkKind::Disk, "vda", "virtio")], &mut recorded);
    let verdict = judged(&recorded);
    assert_eq!((verdict.level, raised(&verdict)), (Level::Indicative, vec![Step::LargerFootprint]));
    recorded.record_mut().testbed[0].memory = Bytes(1);
    assert_eq!(judged(&recorded).level, Level::Quotable, "twice the memory");
    let mut passed = run(READS, None);
    passed.record_mut().testbed[0].hypervisor = Some("KVM".to_owned());
    assert_eq!(judged(&passed).level, Level::Indicative, "an emulated NVMe drive looks real");
}

#[test]
fn memory_is_no_storage_wherever_it_is_in_a_chain() {
    const LOOP: (LinkKind, &str, &str) = (LinkKind::Loop, "loop0", "loop");
    const TMPFS: (LinkKind, &str, &str) = (LinkKind::FileSystem, "tmpfs", "");
    const OVERLAY: (LinkKind, &str, &str) = (LinkKind::FileSystem, "overlay", "");
    let chains: [&[(LinkKind, &str, &str)]; 5] = [
        &[TMPFS],
        &[OVERLAY, TMPFS],
        &[EXT4, LOOP, TMPFS],
        &[EXT4, (LinkKind::Disk, "zram0", "memory")],
        &[EXT4, (LinkKind::Mapper, "dm-0", "device mapper"), (LinkKind::Disk, "ram0", "memory")],
    ];
    for chain in chains {
        for (fields, flushed) in [(READS, None), (WRITES, Some(0))] {
            let mut recorded = run(fields, flushed);
            on(chain, &mut recorded);
            recorded.record_mut().testbed[0].memory = Bytes(1);
            let verdict = judged(&recorded);
            assert_eq!(verdict.level, Level::NotAMeasurement, "{chain:?}");
            assert_eq!(raised(&verdict)[0], Step::RealTarget, "{chain:?}");
            let shown: Vec<Check> = verdict.checks_that(Found::Shown).collect();
            assert!(!shown.contains(&Check::Caches) && !shown.contains(&Check::Durability));
        }
    }
}

#[test]
fn what_answers_as_it_likes_is_at_best_indicative() {
    let overlay = (LinkKind::FileSystem, "overlay", "");
    let chains: [&[(LinkKind, &str, &str)]; 5] = [
        &[(LinkKind::FileSystem, "fuse.x", "")],
        &[overlay],
        &[(LinkKind::FileSystem, "mystery", ""), DISK],
        &[EXT4],
        &[],
    ];
    for chain in chains {
        let mut recorded = run(WRITES, Some(0));
        on(chain, &mut recorded);
        recorded.record_mut().testbed[0].memory = Bytes(1);
        let verdict = judged(&recorded);
        assert_eq!(verdict.level, Level::Indicative, "{chain:?}");
        let missing: Vec<Check> = verdict.checks_that(Found::Missing).collect();
        assert_eq!(missing, [Check::Durability, Check::Caches], "{chain:?}");
        assert_eq!(raised(&verdict), [Step::SeenTarget], "{chain:?}");
        assert!(verdict.bound.is_some(), "{chain:?}");
    }
    let mut followed = run(WRITES, Some(0));
    on(&[overlay, EXT4, DISK], &mut followed);
    assert_eq!(judged(&followed).level, Level::Quotable, "as what it lies on");
}

#[test]
fn a_target_that_nobody_looked_at_is_not_covered_by_one_that_somebody_did() {
    let mut recorded = run(WRITES, Some(0));
    on(&[EXT4, DISK], &mut recorded);
    assert_eq!(judged(&recorded).level, Level::Quotable);
    let targets = &mut recorded.record_mut().plan.hosts[0].targets;
    let other = model::plan::Target { path: "/unseen".to_owned(), ..targets[0].clone() };
    targets.push(other);
    let verdict = judged(&recorded);
    let missing: Vec<Check> = verdict.checks_that(Found::Missing).collect();
    assert_eq!(
        (verdict.level, &missing[..]),
        (Level::Indicative, &[Check::Durability, Check::Caches][..])
    );
}

#[test]
fn nothing_is_shown_where_nobody_counted() {
    let mut recorded = run(READS, None);
    recorded.record_mut().notes.clear();
    assert_eq!(judged(&recorded).level, Level::Indicative, "what this process read");
    let mut recorded = run(READS, None);
    for stage in &mut recorded.record_mut().stages {
        stage.counters_mut().clear();
    }
    let verdict = judged(&recorded);
    assert_eq!(verdict.checks_that(Found::Missing).collect::<Vec<_>>(), [Check::Caches]);
    assert_eq!(raised(&verdict), [Step::Longer], "they were asked for");
    recorded.record_mut().plan.keep.counters = CountersKept::None;
    let verdict = judged(&recorded);
    assert_eq!((verdict.level, raised(&verdict)), (Level::Indicative, vec![Step::Counters]));
}

#[test]
fn emulated_guests_measure_nothing_and_kvm_comes_first() {
    let mut recorded = run(READS, None);
    let made = MachinesMade {
        name: "vm".to_owned(),
        provider: ProviderKind::Qemu,
        nodes: Vec::new(),
        accelerator: Accelerator::Tcg,
        cache: DiskCache::None,
        boots: Vec::new(),
        go_with_run: false,
    };
    let fact = Fact::Machines(made);
    recorded.record_mut().plan.notes.push(PlanNote { fact });
    let verdict = judged(&recorded);
    assert_eq!(verdict.level, Level::NotAMeasurement);
    assert_eq!(raised(&verdict), [Step::Kvm, Step::LargerFootprint]);
}

#[test]
fn every_step_that_is_missing_is_named_and_the_one_that_sets_the_level_first() {
    let mut recorded = Recorded::new("[[workload]]\nname = \"w\"\nread = \"0%\"\n");
    recorded.second(0, &[(Op::Write, &[1_000; 5_000])]);
    recorded.end();
    recorded.record_mut().plan.keep.counters = CountersKept::None;
    let verdict = judged(&recorded);
    let all = [Step::UntilSteady, Step::SeenTarget, Step::FlushEnd, Step::Counters];
    assert_eq!(raised(&verdict), all);
    assert_eq!(verdict.steps[0].time, Some(model::Nanos::seconds(20)));
    recorded.record_mut().plan.backend = model::choices::Backend::Null;
    assert_eq!(raised(&judged(&recorded))[0], Step::RealTarget);
}

#[test]
fn what_is_refuted_comes_first_and_what_is_missing_behind_it_with_its_time() {
    let mut recorded = Recorded::new(
        "[engine]\ndirect = false\n[[workload]]\nname = \"w\"\n[sweep]\ndepth = [1, 8]\n",
    );
    let stage = recorded.stage(StageKind::Measure);
    recorded.interval(stage, 0, &[(Op::Read, &[1_000; 5_000])]);
    recorded.seen_at_disks(stage, THROUGH);
    let left = model::note::PageCache::Left { bytes: Bytes::mib(1), of: Bytes::mib(2) };
    recorded.note(model::Note { stage: Some(stage), host: 0, fact: Fact::PageCache(left) });
    let record = recorded.end();
    let verdict = Verdict::of_run(&record, &results(&record)[..1]);
    assert_eq!(verdict.checks_that(Found::Refuted).collect::<Vec<_>>(), [Check::Caches]);
    let times: Vec<_> = verdict.steps.iter().map(|one| (one.step, one.time)).collect();
    let steady = (Step::UntilSteady, Some(model::Nanos::seconds(40)));
    assert_eq!(times, [(Step::LargerFootprint, None), (Step::Doubt, None), steady]);
}

#[test]
fn a_run_is_judged_by_its_least_result_and_an_empty_one_is_no_measurement() {
    let mut recorded = run(READS, None);
    let record = recorded.record_mut();
    let mut rows = results(record);
    let doubted = ResultRow {
        warnings: vec![Warning::NotCarried { op: Op::Read, share: 0.1 }],
        ..rows[0].clone()
    };
    rows.push(doubted);
    assert_eq!(Verdict::of_run(record, &rows).level, Level::NotAMeasurement);
    assert_eq!(Verdict::of_run(record, &[]).level, Level::NotAMeasurement);
}

#[test]
fn a_condition_is_read_as_it_is_written_and_nothing_else_is() {
    for (text, met) in [
        ("verdict < quotable", [true, true, false]),
        ("verdict <= indicative", [true, true, false]),
        ("verdict<indicative", [true, false, false]),
    ] {
        let gate: Gate = text.parse().expect("a condition");
        assert_eq!(Level::ALL.iter().map(|level| gate.is_met(*level)).collect::<Vec<_>>(), met);
    }
    for text in ["verdict > quotable", "iops < quotable", "verdict < good", "", "<"] {
        assert!(text.parse::<Gate>().is_err(), "{text}");
    }
}
