//! When a figure may be quoted, and which one step would raise it.

use super::*;
use crate::results;
use crate::testing::Recorded;
use model::event::{Event, Flush, HostEnd};

/// The target's disk, below a plain file system.
fn on_a_disk(media: Media, write_cache: &str, recorded: &mut Recorded) {
    let target = &mut recorded.record_mut().testbed[0].targets[0];
    let device = target.device.as_mut().expect("a disk");
    (device.media, device.write_cache) = (media, write_cache.to_owned());
    let link = model::inventory::Link { kind: LinkKind::Disk, ..Default::default() };
    target.chain = vec![link];
}

/// A steady run of 40 s on a physical disk; `flushed` says how the flush behind it went.
fn run(fields: &str, flushed: Option<i32>) -> Recorded {
    let mut recorded = Recorded::new(&format!(
        "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n{fields}\n"
    ));
    on_a_disk(Media::Nvme, "write through", &mut recorded);
    let stage = recorded.stage(StageKind::Measure);
    let op = if fields.contains("read = \"0%\"") { Op::Write } else { Op::Read };
    // A rate that is constant to the digit would be a limiter's.
    let values: Vec<u64> = (0..10_400u64).map(|n| 1_000 + n * 7 % 100).collect();
    for second in 0..40 {
        let count = 9_700 + second as usize * 137 % 400;
        recorded.interval(stage, second, &[(op, &values[..count])]);
    }
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

#[test]
fn what_is_steady_known_durable_and_past_caches_is_quotable() {
    let reads = judged(&run("read = \"100%\"", None));
    assert_eq!((reads.level, reads.step), (Level::Quotable, None), "{reads:?}");
    let writes = judged(&run(WRITES, Some(0)));
    assert_eq!(writes.level, Level::Quotable, "{writes:?}");
    assert_eq!(writes.checks_that(Found::Shown).count(), 4);
}

#[test]
fn writes_without_a_flush_and_with_a_failed_one_are_indicative() {
    let unflushed = judged(&run(WRITES, None));
    assert_eq!((unflushed.level, unflushed.step), (Level::Indicative, Some(Step::FlushEnd)));
    let failed = judged(&run(WRITES, Some(5)));
    assert_eq!(failed.level, Level::Indicative);
    assert_eq!(failed.checks_that(Found::Refuted).collect::<Vec<_>>(), [Check::Durability]);
}

#[test]
fn a_volatile_cache_is_named_whether_or_not_it_was_flushed() {
    for (flushed, level) in [(Some(0), Level::Quotable), (None, Level::Indicative)] {
        let mut recorded = run(WRITES, flushed);
        on_a_disk(Media::Nvme, crate::doubts::write_cache::WRITE_BACK, &mut recorded);
        let verdict = judged(&recorded);
        let device = Cache { of: "nvme0n1".to_owned(), kind: CacheKind::Device };
        assert_eq!((verdict.level, verdict.caches), (level, vec![device]));
    }
}

#[test]
fn a_footprint_within_the_memory_behind_a_virtual_disk_is_not_quotable() {
    let mut recorded = run("read = \"100%\"", None);
    on_a_disk(Media::Virtual, "write through", &mut recorded);
    let verdict = judged(&recorded);
    assert_eq!((verdict.level, verdict.step), (Level::Indicative, Some(Step::LargerFootprint)));
    recorded.record_mut().testbed[0].memory = model::Bytes(1);
    assert_eq!(judged(&recorded).level, Level::Quotable, "twice the memory");
}

#[test]
fn a_run_is_judged_by_its_least_result_and_an_empty_one_is_no_measurement() {
    let mut recorded = run("read = \"100%\"", None);
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
