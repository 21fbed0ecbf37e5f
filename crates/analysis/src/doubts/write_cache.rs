//! Whether writes counted as soon as a volatile cache had them.
//!
//! A device whose cache is *write back* acknowledges a write that a power cut can still lose. The
//! rate of such writes is that of the cache until somebody asks for a flush.

use crate::doubts::Warning::{self, VolatileCache};
use crate::doubts::flushes::{Flushes, WRITE_BACK};
use crate::layers::targets::{loaded, of_target};
use crate::rows::durable::{Durable, broken, durable, flushed};
use crate::rows::row::{Covers, Ops, ResultRow, does};
use catalogue::targets::Known;
use model::inventory::{DeviceFacts, LinkKind, Media};
use model::load::Pace;
use model::plan::Work;
use model::testbed::TargetFacts;
use model::{Nanos, Op, Record};
use std::collections::BTreeSet;

/// Writes that count as soon as a volatile cache has them, where no flush behind the load showed
/// how long it takes until they are durable.
pub(crate) fn doubt(record: &Record, row: &ResultRow, counted: &Flushes) -> Option<Warning> {
    let devices = unflushed(record, row)?;
    let of_writes = ResultRow { ops: Ops::One(Op::Write), ..row.clone() };
    let flushed = durable(record, &of_writes);
    let is_known = flushed.is_some_and(|it| instant(record, row, &it, counted).is_none());
    (!is_known || matches!(counted, Flushes::Lost(_))).then_some(VolatileCache { devices })
}

/// The devices with a volatile cache below the targets, where nothing in the load made the writes
/// durable; `None` where there are none.
fn unflushed(record: &Record, row: &ResultRow) -> Option<Vec<String>> {
    let is_unflushed = |work: &&Work| does(work, Op::Write) && work.fsync_every == 0 && !work.dsync;
    if row.is_metadata() || !row.plans(Op::Write) || !row.works.iter().any(|w| is_unflushed(&w)) {
        return None;
    }
    // A measured amount may be flushed within its time.
    let stop = record.plan.stages.get(row.stage as usize).and_then(|stage| stage.stop().once());
    if stop.is_some_and(|once| once.fsync) {
        return None;
    }
    Some(volatile(record, row)).filter(|devices| !devices.is_empty())
}

/// The devices below a row's targets whose cache is volatile: those of its stage alone, because
/// another scenario may have other targets.
fn volatile(record: &Record, row: &ResultRow) -> Vec<String> {
    let hosts = record.plan.hosts.iter().zip(&record.testbed);
    let targets = hosts.flat_map(|(host, facts)| loaded(host, facts, row.stage));
    let names: BTreeSet<String> = targets
        .flat_map(media)
        .filter(|device| device.write_cache == WRITE_BACK)
        .map(|device| device.name.clone())
        .collect();
    names.into_iter().collect()
}

/// The devices that a target's chain ends in: a loop device or a volume has no cache of its own,
/// whatever the kernel says of it. In runs of versions that followed no chain, the one right below.
fn media(target: &TargetFacts) -> impl Iterator<Item = &DeviceFacts> {
    let of_chain = target.chain.iter().filter(|link| link.kind == LinkKind::Disk);
    let of_chain = of_chain.filter_map(|link| link.device.as_ref());
    of_chain.chain(target.device.iter().filter(|_| target.chain.is_empty()))
}

/// What the flush behind a load says of the writes of a row: that it took long, or that it failed;
/// and what those on the way say; `counted` is what disks say.
pub(crate) fn of_flush(record: &Record, row: &ResultRow, counted: &Flushes) -> Option<Warning> {
    if let Flushes::Lost(share) = counted {
        return Some(Warning::FlushLost { share: *share });
    }
    let of_load = of_last_flush(record, row, counted);
    of_load.or_else(|| instant_on_the_way(record, row, counted))
}

fn of_last_flush(record: &Record, row: &ResultRow, counted: &Flushes) -> Option<Warning> {
    if row.is_metadata() || !row.plans(Op::Write) {
        return None;
    }
    if let Some(flush) = broken(record, row.stage) {
        let (target, errno) = (flush.target.clone(), flush.errno);
        return Some(Warning::FlushBroken { target, errno, took: Nanos(flush.took_ns) });
    }
    let told = flushed(record, row)?;
    if !told.is_notable() {
        return instant(record, row, &told, counted);
    }
    let durable = durable(record, row)?;
    let (flush, share) = (Nanos(durable.flush_ns), durable.share());
    Some(Warning::FlushOwed { flush, share, written: durable.written })
}

/// With fewer bytes to flush, a flush may well be quick.
const LEAST_FLUSHED: u64 = 4 << 20;
/// What was written within so long before the flush is in a cache when it begins.
const OWED_S: f64 = 0.01;
/// NAND takes some hundred µs to program a page, and no way to a device and back is free.
const LEAST_OF_FLASH: Nanos = Nanos(100_000);
/// A disk that turns has to come round.
const LEAST_OF_DISK: Nanos = Nanos::millis(1);

/// Whether a flush that had something to write was faster than a medium of its kind is.
fn instant(
    record: &Record,
    row: &ResultRow,
    durable: &Durable,
    counted: &Flushes,
) -> Option<Warning> {
    let syncs = |work: &Work| does(work, Op::Write) && (work.fsync_every > 0 || work.dsync);
    // What was flushed on the way leaves little to do.
    if record.plan.is_simulated() || row.works.iter().any(syncs) || durable.flush_ns == 0 {
        return None;
    }
    let media = caching(record, row, counted);
    let flushed = media.iter().map(|(name, _)| name.clone()).collect();
    let least = media.iter().map(|(_, least)| *least).min()?;
    // In a closed loop without rests, the flush comes as soon as the last writes have come back.
    let is_closed = |work: &Work| matches!(work.pace, Pace::Closed { think: Nanos(0), .. });
    let is_recent = row.works.iter().any(|work| does(work, Op::Write) && is_closed(work))
        || row.iops() * OWED_S >= 1.0;
    let is_owed = row.bytes >= LEAST_FLUSHED && is_recent;
    let took = Nanos(durable.flush_ns);
    (is_owed && took < least).then_some(Warning::FlushInstant { flushed, took, least })
}

/// Whether most of the fsyncs of a load, or of writes that each had to wait for the medium, were
/// faster than one of its kind is.
fn instant_on_the_way(record: &Record, row: &ResultRow, counted: &Flushes) -> Option<Warning> {
    let is_dsync = row.plans(Op::Write) && row.works.iter().all(|work| work.dsync);
    let is_each = row.ops == Ops::One(Op::Fsync) || row.ops == Ops::One(Op::Write) && is_dsync;
    if !is_each || row.is_metadata() || record.plan.is_simulated() {
        return None;
    }
    let took = Nanos(row.latency.quantile_ns(0.5)?);
    let media = caching(record, row, counted);
    let flushed = media.iter().map(|(name, _)| name.clone()).collect();
    let least = media.iter().map(|(_, least)| *least).min()?;
    (took < least).then_some(Warning::FlushInstant { flushed, took, least })
}

/// Below a row's targets: the devices that have a volatile cache, and the targets of which nobody
/// knows where they write to, unless its flushes came to disks here; each with the least time that
/// a flush takes there.
fn caching(record: &Record, row: &ResultRow, counted: &Flushes) -> BTreeSet<(String, Nanos)> {
    let least = |device: &DeviceFacts| match device.media {
        Media::Rotational => LEAST_OF_DISK,
        _ => LEAST_OF_FLASH,
    };
    let of = |target: &TargetFacts| {
        let is_unseen = !matches!(counted, Flushes::Came)
            && media(target).next().is_none()
            && of_target(target, false).durability == Known::Never;
        let unseen = is_unseen.then(|| (target.path.clone(), LEAST_OF_FLASH));
        // What a hypervisor keeps a disk on, nobody knows here.
        let is_known = |device: &&DeviceFacts| device.media != Media::Virtual;
        let media = media(target).filter(|device| device.write_cache == WRITE_BACK);
        let media = media.filter(is_known);
        media.map(|device| (device.name.clone(), least(device))).chain(unseen).collect::<Vec<_>>()
    };
    let hosts = record.plan.hosts.iter().zip(&record.testbed);
    hosts.flat_map(|(host, facts)| loaded(host, facts, row.stage)).flat_map(of).collect()
}

/// Writes that are this many times as fast as reads of the same kind did not wait for a medium that
/// reads do wait for.
const MUCH_FASTER: f64 = 2.0;

/// Doubts the writes that are much faster than reads of the same run with the same block size,
/// order, depth and workers, where a device says that it has a volatile cache, and the page cache
/// took no part.
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
        let is_direct = record.plan.engine_of(row.stage).is_some_and(|engine| engine.direct);
        if times >= MUCH_FASTER && !devices.is_empty() && is_direct {
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
        let op = if fields.contains("read = \"100%\"") { Op::Read } else { Op::Write };
        recorded.second(0, &[(op, &[100; 100_000])]);
        let mut record = recorded.end();
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
    /// in a second; `rest` is the depth of the writes, and what else the suite says.
    fn faster(reads: usize, writes: usize, rest: &str, write_cache: &str) -> Option<f64> {
        let mut recorded = Recorded::new(&format!(
            "[[workload]]\nname = \"r\"\ndepth = 4\n[[workload]]\nname = \"w\"\nread = \
             \"0%\"\ndepth = {rest}\n"
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
        assert_eq!(faster(1_000, 7_000, "4", WRITE_BACK), Some(7.0));
        assert_eq!(faster(1_000, 1_900, "4", WRITE_BACK), None, "less than twice");
        assert_eq!(faster(1_000, 7_000, "4", "write through"), None);
        assert_eq!(faster(1_000, 7_000, "8", WRITE_BACK), None, "another depth");
        let buffered = faster(1_000, 7_000, "4\n[engine]\ndirect = false", WRITE_BACK);
        assert_eq!(buffered, None, "it was the page cache that acknowledged them");
    }

    /// What is doubted of 2,000 writes of 4 KiB that took 10 µs at least, or of 40 larger ones, and
    /// of the flush behind them.
    fn flushed(took_ns: u64, fields: &str, write_cache: &str) -> Vec<Warning> {
        let suite = format!("[[workload]]\nname = \"w\"\nread = \"0%\"\n{fields}\n");
        let mut recorded = Recorded::new(&suite);
        let stage = recorded.stage(StageKind::Measure);
        let count = if fields.contains("4MiB") { 40 } else { 2_000 };
        let values: Vec<u64> = (0..count).map(|n| 10_000 + n).collect();
        recorded.interval(stage, 0, &[(Op::Write, &values)]);
        let target = "/mnt/data".to_owned();
        let flush = Flush { target, at_ns: 1_000_000_000, took_ns, errno: 0, ended: true };
        let (left, pauses, flushes) = (Vec::new(), Vec::new(), vec![flush]);
        let end = HostEnd { stage, host: 0, left, pauses, flushes };
        recorded.record_mut().apply(Event::HostEnded(Box::new(end)));
        recorded.end();
        let device = recorded.record_mut().testbed[0].targets[0].device.as_mut().expect("a disk");
        device.write_cache = write_cache.to_owned();
        results(&recorded.record()).swap_remove(0).warnings
    }

    /// The least time of a flush and the flush that are doubted.
    fn instantly(took_ns: u64, fields: &str, write_cache: &str) -> Option<(Nanos, Nanos)> {
        flushed(took_ns, fields, write_cache).iter().find_map(|warning| match warning {
            Warning::FlushInstant { took, least, .. } => Some((*least, *took)),
            _ => None,
        })
    }

    #[test]
    fn a_cache_that_was_flushed_is_no_doubt_and_one_that_ignored_the_flush_is() {
        let is_doubted = |took_ns| {
            let found = flushed(took_ns, "", WRITE_BACK);
            found.iter().any(|doubt| matches!(doubt, VolatileCache { .. }))
        };
        assert_eq!((is_doubted(300_000), is_doubted(12_000)), (false, true));
    }

    #[test]
    fn a_flush_that_is_faster_than_a_medium_is_doubted_whatever_the_block_size() {
        for fields in ["", "block_size = \"4MiB\""] {
            let found = Some((LEAST_OF_FLASH, Nanos(64_000)));
            assert_eq!(instantly(64_000, fields, WRITE_BACK), found);
            assert_eq!(instantly(300_000, fields, WRITE_BACK), None);
            assert_eq!(instantly(2_000_000, fields, WRITE_BACK), None);
        }
        let rests = "block_size = \"4MiB\"\nthink = \"50ms\"";
        assert_eq!(instantly(12_000, rests, WRITE_BACK), None, "flushed in a rest");
        let seldom = "block_size = \"4MiB\"\nrate = 40";
        assert_eq!(instantly(12_000, seldom, WRITE_BACK), None, "flushed before the next is due");
        assert_eq!(instantly(12_000, "", "write through"), None, "nothing to flush");
        assert_eq!(instantly(12_000, "fsync_every = 8", WRITE_BACK), None, "flushed on the way");
    }

    #[test]
    fn writes_and_fsyncs_that_did_not_wait_for_the_medium_are_doubted() {
        let is_instant = |fields, write_cache| instantly(400_000, fields, write_cache).is_some();
        assert!(is_instant("dsync = true", WRITE_BACK), "10 µs for each write");
        assert!(!is_instant("dsync = true", "write through") && !is_instant("", WRITE_BACK));
        let fsyncs = |took_ns: u64| {
            let suite = "[[workload]]\nname = \"w\"\nread = \"0%\"\nfsync_every = 1\n";
            let mut recorded = Recorded::new(suite);
            let both = [(Op::Write, &[10_000; 900][..]), (Op::Fsync, &[took_ns; 900])];
            recorded.second(0, &both);
            recorded.end();
            let target = &mut recorded.record_mut().testbed[0].targets[0];
            target.device.as_mut().expect("a disk").write_cache = WRITE_BACK.to_owned();
            let rows = results(&recorded.record());
            let mut doubts = rows.iter().flat_map(|row| &row.warnings);
            doubts.any(|doubt| matches!(doubt, Warning::FlushInstant { .. }))
        };
        assert!(fsyncs(20_000) && !fsyncs(200_000));
    }

    /// Whether a flush of 64 µs or so is doubted where a file system of this type has no device.
    fn without_device(file_system: &str, took_ns: u64) -> bool {
        let mut recorded = Recorded::new("[[workload]]\nname = \"w\"\nread = \"0%\"\n");
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[(Op::Write, &[10_000; 2_000])]);
        let target = "/mnt/data".to_owned();
        let flush = Flush { target, at_ns: 1_000_000_000, took_ns, errno: 0, ended: true };
        let (left, pauses, flushes) = (Vec::new(), Vec::new(), vec![flush]);
        let end = HostEnd { stage, host: 0, left, pauses, flushes };
        recorded.record_mut().apply(Event::HostEnded(Box::new(end)));
        recorded.end();
        let target = &mut recorded.record_mut().testbed[0].targets[0];
        target.device = None;
        let kind = match file_system {
            "nfs4" => LinkKind::Network,
            _ => LinkKind::FileSystem,
        };
        let name = file_system.to_owned();
        target.chain = vec![model::inventory::Link { kind, name, ..Default::default() }];
        let rows = results(&recorded.record());
        rows[0].warnings.iter().any(|doubt| matches!(doubt, Warning::FlushInstant { .. }))
    }

    #[test]
    fn flushes_that_memory_and_programs_ignore_are_doubted() {
        assert!(without_device("tmpfs", 1_000) && without_device("fuse.x", 64_000));
        assert!(!without_device("fuse.x", 400_000));
        assert!(!without_device("nfs4", 64_000), "what is stable needs no flush");
    }
}
