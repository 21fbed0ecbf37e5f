//! Whether writes counted as soon as a volatile cache had them.
//!
//! A device whose cache is *write back* acknowledges a write that a power cut can still lose. The
//! rate of such writes is that of the cache until somebody asks for a flush.

use crate::durable::{Durable, broken, durable};
use crate::row::{Covers, Ops, ResultRow, does};
use crate::warning::Warning;
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
    (!devices.is_empty()).then_some(Warning::VolatileCache { devices })
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
    let durable = durable(record, row).filter(Durable::is_notable)?;
    Some(Warning::FlushOwed { flush: Nanos(durable.flush_ns), share: durable.share() })
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
            Warning::VolatileCache { devices } => Some(devices.clone()),
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
}
