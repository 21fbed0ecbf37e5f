//! Whether writes counted as soon as a volatile cache had them.
//!
//! A device whose cache is *write back* acknowledges a write that a power cut can still lose. The
//! rate of such writes is that of the cache until somebody asks for a flush.

use crate::doubts::Warning::{self, VolatileCache};
use crate::durable::{Durable, broken, durable};
use crate::row::{Covers, Ops, ResultRow, does};
use model::plan::Work;
use model::{Nanos, Op, Record};
use std::collections::BTreeSet;

/// What sysfs says of a device whose cache is volatile (Linux, `queue/write_cache`).
pub(crate) const WRITE_BACK: &str = "write back";

/// The devices with a volatile cache below the targets, where nothing made the writes durable.
pub(crate) fn doubt(record: &Record, row: &ResultRow) -> Option<Warning> {
    let is_unflushed = |work: &&Work| does(work, Op::Write) && work.fsync_every == 0 && !work.dsync;
    if row.is_metadata() || !row.plans(Op::Write) || !row.works.iter().any(|w| is_unflushed(&w)) {
        return None;
    }
    // A measured amount may be flushed within its time.
    let stop = record.plan.stages.get(row.stage as usize).and_then(|stage| stage.stop().once());
    if stop.is_some_and(|once| once.fsync) {
        return None;
    }
    let devices = volatile(record, row);
    (!devices.is_empty()).then_some(VolatileCache { devices })
}

/// The devices below a row's targets whose cache is volatile: those of its stage alone, because
/// another scenario may have other targets.
fn volatile(record: &Record, row: &ResultRow) -> Vec<String> {
    let targets = record.plan.hosts.iter().zip(&record.testbed).flat_map(|(host, facts)| {
        let planned = host.targets.get(host.targets_of(row.stage)).unwrap_or_default();
        let is_loaded = |path: &str| planned.iter().any(|target| target.path == path);
        facts.targets.iter().filter(move |target| is_loaded(&target.path))
    });
    let names: BTreeSet<String> = targets
        .filter_map(|target| target.device.as_ref())
        .filter(|device| device.write_cache == WRITE_BACK)
        .map(|device| device.name.clone())
        .collect();
    names.into_iter().collect()
}

/// What the flush behind a load says of the writes of a row: that it took long, or that it failed.
pub(crate) fn of_flush(record: &Record, row: &ResultRow) -> Option<Warning> {
    if row.is_metadata() || !row.plans(Op::Write) {
        return None;
    }
    if let Some(flush) = broken(record, row.stage) {
        let (target, errno) = (flush.target.clone(), flush.errno);
        return Some(Warning::FlushBroken { target, errno, took: Nanos(flush.took_ns) });
    }
    let durable = durable(record, row)?;
    if !durable.is_notable() {
        return instant(record, row, &durable);
    }
    let (flush, share) = (Nanos(durable.flush_ns), durable.share());
    Some(Warning::FlushOwed { flush, share, written: durable.written })
}

/// With fewer bytes to flush, a flush may well be quick.
const LEAST_FLUSHED: u64 = 4 << 20;
/// Fewer writes do not show how fast one can be.
const LEAST_WRITES: u64 = 1_000;
/// A flush that moves data to a medium takes longer than a write that only a cache has seen: NAND
/// takes some hundred µs for a page, a disk takes ms.
const INSTANT: f64 = 2.0;

/// Whether the flush of a volatile cache took no longer than the way to the device and back.
fn instant(record: &Record, row: &ResultRow, durable: &Durable) -> Option<Warning> {
    // What was flushed on the way leaves little to do.
    let VolatileCache { devices } = doubt(record, row)? else { return None };
    let fastest = row.latency.min_ns()?;
    let is_enough = row.bytes >= LEAST_FLUSHED && row.ios >= LEAST_WRITES && durable.flush_ns > 0;
    let is_instant = (durable.flush_ns as f64) < fastest as f64 * INSTANT;
    (is_enough && is_instant && !record.plan.is_simulated()).then_some(Warning::FlushInstant {
        devices,
        took: Nanos(durable.flush_ns),
        fastest: Nanos(fastest),
    })
}

/// Writes that are this many times as fast as reads of the same kind did not wait for a medium that
/// reads do wait for.
const MUCH_FASTER: f64 = 2.0;

/// Doubts the writes that are much faster than reads of the same run with the same block size,
/// order, depth and workers, where the device says that it acknowledges from a volatile cache.
pub(crate) fn doubt_faster(record: &Record, rows: &mut [ResultRow]) {
    if record.plan.is_simulated() {
        return;
    }
    let alike = |row: &ResultRow| {
        let work = row.work()?;
        let kind = (work.largest_block(), work.pattern.access, work.pattern.random, work.depth);
        Some((kind, row.workers, row.scenario.clone()))
    };
    let is_of = |row: &ResultRow, op: Op| {
        row.ops == Ops::One(op) && row.covers >= Covers::Workload && !row.is_paced() && row.ios > 0
    };
    let of_reads: Vec<_> = rows
        .iter()
        .filter(|row| is_of(row, Op::Read))
        .map(|row| (alike(row), row.bytes_per_s()))
        .collect();
    for row in rows.iter_mut().filter(|row| is_of(row, Op::Write)) {
        let kind = alike(row);
        let same = of_reads.iter().filter(|(read, _)| *read == kind && kind.is_some());
        let fastest = same.map(|(_, rate)| *rate).fold(0.0, f64::max);
        let devices = volatile(record, row);
        let times = if fastest > 0.0 { row.bytes_per_s() / fastest } else { 0.0 };
        if times >= MUCH_FASTER && !devices.is_empty() {
            row.warnings.push(Warning::WritesFaster { devices, times });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results;
    use crate::testing::Recorded;
    use model::StageKind;
    use model::event::{Event, Flush, HostEnd};
    use model::inventory::DeviceFacts;

    /// The names of the devices that are doubted, for a workload with these fields.
    fn doubted(fields: &str, write_cache: &str) -> Option<Vec<String>> {
        let mut recorded = Recorded::new(&format!(
            "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n{fields}\n"
        ));
        let stage = recorded.stage(StageKind::Measure);
        let op = if fields.contains("read = \"100%\"") { Op::Read } else { Op::Write };
        recorded.interval(stage, 0, &[(op, &[100; 100_000])]);
        recorded.end();
        let mut record = recorded.record();
        let device = DeviceFacts {
            name: "vda".to_owned(),
            write_cache: write_cache.to_owned(),
            ..DeviceFacts::default()
        };
        for target in record.testbed.iter_mut().flat_map(|host| &mut host.targets) {
            target.device = Some(device.clone());
        }
        results(&record)[0].warnings.iter().find_map(|warning| match warning {
            VolatileCache { devices } => Some(devices.clone()),
            _ => None,
        })
    }

    #[test]
    fn unflushed_writes_into_a_volatile_cache_are_doubted_and_flushed_ones_are_not() {
        let writes = "read = \"0%\"";
        assert_eq!(doubted(writes, WRITE_BACK), Some(vec!["vda".to_owned()]));
        assert_eq!(doubted(writes, "write through"), None);
        assert_eq!(doubted(writes, ""), None, "nobody tells");
        assert_eq!(doubted("read = \"100%\"", WRITE_BACK), None);
        assert_eq!(doubted(&format!("{writes}\nfsync_every = 8"), WRITE_BACK), None);
    }

    /// How many times as fast writes are said to be, of a run that read and wrote so many blocks
    /// in a second; `depth` is that of the writes.
    fn faster(reads: usize, writes: usize, depth: u32, write_cache: &str) -> Option<f64> {
        let mut recorded = Recorded::new(&format!(
            "[[workload]]\nname = \"r\"\ndepth = 4\n[[workload]]\nname = \"w\"\nread = \
             \"0%\"\ndepth = {depth}\n"
        ));
        let first = recorded.stage(StageKind::Measure);
        recorded.interval(first, 0, &[(Op::Read, &vec![1_000; reads])]);
        recorded.interval(first + 1, 0, &[(Op::Write, &vec![1_000; writes])]);
        recorded.end();
        let device = recorded.record_mut().testbed[0].targets[0].device.as_mut().expect("a disk");
        device.write_cache = write_cache.to_owned();
        let rows = results(&recorded.record());
        rows.iter().flat_map(|row| &row.warnings).find_map(|warning| match warning {
            Warning::WritesFaster { times, .. } => Some(*times),
            _ => None,
        })
    }

    #[test]
    fn writes_that_outrun_reads_of_their_kind_into_a_cache_are_doubted() {
        assert_eq!(faster(1_000, 7_000, 4, WRITE_BACK), Some(7.0));
        assert_eq!(faster(1_000, 1_900, 4, WRITE_BACK), None, "less than twice");
        assert_eq!(faster(1_000, 7_000, 4, "write through"), None);
        assert_eq!(faster(1_000, 7_000, 8, WRITE_BACK), None, "another depth");
    }

    /// The fastest write and the flush that are doubted, of 2,000 writes of 4 KiB or so that took
    /// 10 µs at least.
    fn instantly(took_ns: u64, fields: &str, write_cache: &str) -> Option<(Nanos, Nanos)> {
        let suite = format!("[[workload]]\nname = \"w\"\nread = \"0%\"\n{fields}\n");
        let mut recorded = Recorded::new(&suite);
        let stage = recorded.stage(StageKind::Measure);
        let values: Vec<u64> = (0..2_000).map(|n| 10_000 + n).collect();
        recorded.interval(stage, 0, &[(Op::Write, &values)]);
        let target = "/mnt/data".to_owned();
        let flush = Flush { target, at_ns: 1_000_000_000, took_ns, errno: 0, ended: true };
        let (left, pauses, flushes) = (Vec::new(), Vec::new(), vec![flush]);
        let end = HostEnd { stage, host: 0, left, pauses, flushes };
        recorded.record_mut().apply(Event::HostEnded(Box::new(end)));
        recorded.end();
        let device = recorded.record_mut().testbed[0].targets[0].device.as_mut().expect("a disk");
        device.write_cache = write_cache.to_owned();
        results(&recorded.record())[0].warnings.iter().find_map(|warning| match warning {
            Warning::FlushInstant { took, fastest, .. } => Some((*fastest, *took)),
            _ => None,
        })
    }

    #[test]
    fn a_flush_like_a_cached_write_is_doubted_and_one_that_moves_data_is_not() {
        let found = Some((Nanos(10_000), Nanos(12_000)));
        assert_eq!(instantly(12_000, "", WRITE_BACK), found);
        assert_eq!(instantly(300_000, "", WRITE_BACK), None);
        assert_eq!(instantly(12_000, "", "write through"), None, "nothing to flush");
        assert_eq!(instantly(12_000, "fsync_every = 8", WRITE_BACK), None, "flushed on the way");
    }
}
