//! The durable rate of writes: what was acknowledged while the load was on, over the time until all
//! of it was safe.
//!
//! What memory acknowledges and then overwrites never reaches a device. Of such writes no more
//! counts than the devices wrote; where nobody counted, there is no durable rate.

use crate::layers::io_path::has_worker;
use crate::rows::row::{Ops, ResultRow};
use catalogue::targets::{Known, layer};
use model::event::Flush;
use model::inventory::LinkKind;
use model::plan::Work;
use model::testbed::TargetFacts;
use model::usage::{Part, Usage};
use model::{NoteKind, Op, Record};
use std::collections::BTreeSet;

/// A durable rate that differs from the acknowledged one by less is shown as the same, and is no
/// doubt: a flush of milliseconds is the way to the device and back.
pub const NOTABLE: f64 = 0.05;

/// Writes with the time that it took to make them durable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Durable {
    /// Writes that were acknowledged while the load was on, of which devices can have written the
    /// data.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their share of all that were acknowledged, 0 to 1.
    pub written: f64,
    /// The time in which the load was on, and the flush behind it, in seconds.
    pub seconds: f64,
    /// The flush alone, in ns: that of the host that took longest. 0 where the flush is a part of
    /// what was measured.
    pub flush_ns: u64,
}

impl Durable {
    /// Durable writes per second; 0 if that is no time.
    pub fn iops(&self) -> f64 {
        if self.seconds > 0.0 { self.ios as f64 / self.seconds } else { 0.0 }
    }

    /// Durable bytes per second; 0 if that is no time.
    pub fn bytes_per_s(&self) -> f64 {
        if self.seconds > 0.0 { self.bytes as f64 / self.seconds } else { 0.0 }
    }

    /// The durable rate as a share of the acknowledged one, 0 to 1.
    pub fn share(&self) -> f64 {
        let flush_s = self.flush_ns as f64 / 1e9;
        let in_time =
            if self.seconds > 0.0 { (1.0 - flush_s / self.seconds).clamp(0.0, 1.0) } else { 1.0 };
        in_time * self.written
    }

    /// Whether it differs from the acknowledged rate by enough to be worth a column.
    pub fn is_notable(&self) -> bool {
        self.share() < 1.0 - NOTABLE
    }
}

/// The durable rate of a row of writes. `None` for every other row, and where nobody flushed, or a
/// flush failed, did not end, or is ignored by a hypervisor, where a layer below the target may
/// ignore it, or where memory may have been overwritten and nobody counted what devices wrote: then
/// nobody knows.
pub fn durable(record: &Record, row: &ResultRow) -> Option<Durable> {
    flushed(record, row).filter(|_| !shows_no_flush(record, row.stage))
}

/// The same by the word of whatever answered the flush.
pub(crate) fn flushed(record: &Record, row: &ResultRow) -> Option<Durable> {
    if row.ops != Ops::One(Op::Write)
        || row.ios == 0
        || crate::layers::guests::ignore_flushes(record)
    {
        return None;
    }
    let planned = record.plan.stages.get(row.stage as usize)?;
    let all = if let Some(once) = planned.stop().once() {
        // Each worker flushed its own files within its time.
        let done = row.done.filter(|_| once.fsync)?.last;
        let (ios, bytes, seconds) = (done.ios, done.bytes, done.seconds);
        Durable { ios, bytes, written: 1.0, seconds, flush_ns: 0 }
    } else {
        let flush_ns = flush_ns(record, row)?;
        let seconds = row.seconds + flush_ns as f64 / 1e9;
        Durable { ios: row.ios, bytes: row.bytes, written: 1.0, seconds, flush_ns }
    };
    // As far as devices can have written them.
    let written = written(record, row, all.bytes)?;
    let part = |all: u64| (all as f64 * written) as u64;
    Some(Durable { ios: part(all.ios), bytes: part(all.bytes), written, ..all })
}

/// Whether a layer below a target shows nothing of a flush: memory, or a server that nobody knows.
fn shows_no_flush(record: &Record, stage: u32) -> bool {
    let is_none = |(host, target): (u32, &TargetFacts)| {
        let facts = record.testbed.get(host as usize);
        let is_guest = facts.is_some_and(|facts| facts.hypervisor.is_some());
        let layers = target.chain.iter().filter_map(|link| layer(link, is_guest));
        layers.into_iter().any(|layer| layer.durability.value == Known::Never)
    };
    below(record, stage).into_iter().flatten().any(is_none)
}

/// The share of the bytes that a row's stage acknowledged, `own` of them the row's, that devices
/// can have written, 0 to 1. All that did not go through memory of the kernel's; `None` where
/// nobody can know.
fn written(record: &Record, row: &ResultRow, own: u64) -> Option<f64> {
    let in_memory = record.notes.iter().any(|note| note.kind() == NoteKind::DirectRefused);
    let engine = record.plan.engine_of(row.stage)?;
    let in_memory = in_memory || !engine.direct || has_loop(record, row.stage);
    if !in_memory || engine.backend.sends_nothing() || record.plan.is_simulated() {
        return Some(1.0);
    }
    let stage = record.stage(row.stage)?;
    let digest = stage.digest(record);
    let parts = digest.sums.parts.iter().filter(|((_, op), _)| *op == Op::Write);
    let (all, load) = parts.fold((0u64, 0u64), |(all, load), (_, part)| {
        (all.saturating_add(part.all.bytes), load.saturating_add(part.under_load().bytes))
    });
    let (all, load) = (all.max(own), load.max(own));
    let usage = stage.usage(record, &digest);
    if let Some(bytes) = by_devices(record, row, &usage) {
        return (load > 0).then(|| (bytes / load as f64).min(1.0));
    }
    let is_flushed = |work: &Work| work.fsync_every > 0 || work.dsync || !work.writes();
    let is_once = all <= record.plan.footprint_of(row.stage).0;
    (is_once || row.works.iter().all(is_flushed)).then_some(1.0)
}

/// The targets of a stage, each with its host's number and what was found below it; `None` of one
/// that nobody looked at.
fn below(record: &Record, stage: u32) -> Option<Vec<(u32, &TargetFacts)>> {
    let mut found = Vec::new();
    for ((number, host), facts) in (0..).zip(&record.plan.hosts).zip(&record.testbed) {
        for target in host.targets.get(host.targets_of(stage))? {
            found.push((number, facts.targets.iter().find(|facts| facts.path == target.path)?));
        }
    }
    Some(found)
}

/// Whether a target is on a file that serves as a device, with the page cache below it.
fn has_loop(record: &Record, stage: u32) -> bool {
    let links = below(record, stage).into_iter().flatten().flat_map(|(_, target)| &target.chain);
    links.into_iter().any(|link| link.kind == LinkKind::Loop && link.direct != Some(true))
}

/// What the disks below all targets of a row's stage wrote while the load was on and in the flush
/// behind it, in bytes: no more of its writes is durable. `None` where a disk is not known, or
/// nobody counted.
fn by_devices(record: &Record, row: &ResultRow, usage: &Usage) -> Option<f64> {
    let mut disks = BTreeSet::new();
    for (host, target) in below(record, row.stage)? {
        let links = target.chain.iter().filter(|link| link.kind == LinkKind::Disk);
        let mut names = links.map(|link| (host, link.name.clone())).peekable();
        names.peek()?;
        disks.extend(names);
    }
    let mut bytes = 0.0;
    for disk in &disks {
        let used = usage.uses.get(&(disk.0, Part::Disk))?.get(&disk.1)?;
        let counted_s = (used.carried_ns > 0).then_some(used.carried_ns as f64 / 1e9)?;
        // Of a long run some intervals were looked at, taken evenly out of all.
        let times = if usage.is_thinned { (row.seconds / counted_s).max(1.0) } else { 1.0 };
        let behind = usage.behind.get(disk).map_or(0, |behind| behind.written);
        bytes += used.sent_bytes as f64 * times + behind as f64;
    }
    (!disks.is_empty()).then_some(bytes)
}

/// How long the flush behind a row's stage took on the host that took longest. `None` where one of
/// the hosts that loaded did not flush, was lost, or its flush failed or did not end: what the
/// others flushed says nothing of its data.
fn flush_ns(record: &Record, row: &ResultRow) -> Option<u64> {
    let stage = record.stage(row.stage)?;
    let hosts = (0..).zip(&record.plan.hosts).filter(|(_, host)| has_worker(host, row));
    let mut longest = None;
    for (number, _) in hosts {
        let end = stage.ends.iter().find(|end| end.host == number)?;
        longest = longest.max(Some(of_host(&end.flushes)?));
    }
    longest
}

/// All flushes of a host together, in ns; `None` without any, or where one is not known.
fn of_host(flushes: &[Flush]) -> Option<u64> {
    let is_good = |flush: &Flush| flush.ended && flush.errno == 0;
    let is_known = !flushes.is_empty() && flushes.iter().all(is_good);
    is_known.then(|| flushes.iter().fold(0u64, |sum, one| sum.saturating_add(one.took_ns)))
}

/// The first flush behind a stage that failed or did not end.
pub(crate) fn broken(record: &Record, stage: u32) -> Option<&Flush> {
    let flushes = record.stage(stage)?.ends.iter().flat_map(|end| &end.flushes);
    flushes.into_iter().find(|flush| !flush.ended || flush.errno != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results;
    use crate::testing::Recorded;
    use model::StageKind;
    use model::counters::{Entry, Layer, Metric};
    use model::event::{Event, HostEnd};
    use model::inventory::Link;

    fn flush(took_ns: u64) -> Flush {
        Flush {
            target: "/mnt/data".to_owned(),
            at_ns: 1_000_000_000,
            took_ns,
            errno: 0,
            ended: true,
        }
    }

    /// Two hosts that wrote 100 blocks each in a second, with these flushes behind it.
    fn of_two(flushes: [Vec<Flush>; 2]) -> Option<Durable> {
        let suite = "[[workload]]\nname = \"w\"\nread = \"0%\"\n";
        let mut recorded = Recorded::with_hosts(suite, 2);
        let stage = recorded.stage(StageKind::Measure);
        for (host, flushes) in (0..).zip(flushes) {
            recorded.host_interval(stage, host, 0, &[(Op::Write, &[1_000; 100])]);
            if !flushes.is_empty() {
                let (left, pauses) = (Vec::new(), Vec::new());
                let end = HostEnd { stage, host, left, pauses, flushes };
                recorded.record_mut().apply(Event::HostEnded(Box::new(end)));
            }
        }
        let record = recorded.end();
        results(&record).iter().find_map(|row| durable(&record, row))
    }

    #[test]
    fn the_durable_rate_counts_the_flush_of_the_slowest_host() {
        let found =
            of_two([vec![flush(250_000_000)], vec![flush(500_000_000), flush(500_000_000)]])
                .expect("all flushed");
        assert_eq!((found.ios, found.flush_ns), (200, 1_000_000_000));
        assert!((found.seconds - 2.0).abs() < 1e-9 && (found.iops() - 100.0).abs() < 1e-9);
        assert!((found.share() - 0.5).abs() < 1e-9 && found.is_notable());
    }

    /// A buffered run of a second that acknowledged 400 KiB in a file of so many KiB, and what its
    /// disk wrote while the load was on and in the flush behind it, in KiB.
    fn of_memory(fields: &str, kib: u64, counted: Option<[u64; 2]>) -> Option<Durable> {
        let disk = Link { kind: LinkKind::Disk, name: "sda".to_owned(), ..Link::default() };
        of_chain(vec![disk], fields, kib, counted)
    }

    fn of_chain(
        chain: Vec<Link>,
        fields: &str,
        kib: u64,
        counted: Option<[u64; 2]>,
    ) -> Option<Durable> {
        let suite = format!(
            "[engine]\ndirect = false\n[layout]\nsize = \"{kib}KiB\"\nfiles = \
             1\n[[workload]]\nname = \"w\"\nread = \"0%\"\n{fields}\n"
        );
        let mut recorded = Recorded::new(&suite);
        recorded.record_mut().testbed[0].targets[0].chain = chain;
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[(Op::Write, &[1_000; 100])]);
        for (number, kib) in (0..).zip(counted.into_iter().flatten()) {
            let values = vec![(Metric::ReadBytes, 0), (Metric::WriteBytes, kib << 10)];
            let entry = Entry { layer: Layer::Block, name: "sda".to_owned(), values };
            recorded.counters(stage, 0, number, vec![entry]);
        }
        let flushes = vec![flush(1_000_000_000)];
        let end = HostEnd { stage, host: 0, left: Vec::new(), pauses: Vec::new(), flushes };
        recorded.record_mut().apply(Event::HostEnded(Box::new(end)));
        let record = recorded.end();
        results(&record).iter().find_map(|row| durable(&record, row))
    }

    #[test]
    fn of_what_memory_acknowledged_no_more_counts_than_devices_wrote() {
        let half = of_memory("", 128, Some([72, 128])).expect("counted");
        assert_eq!((half.ios, half.bytes), (50, 200 << 10));
        assert!((half.bytes_per_s() * half.seconds - 204_800.0).abs() < 1e-6);
        assert!((half.share() - 0.25).abs() < 1e-9 && half.is_notable(), "{}", half.share());
        let all = of_memory("", 128, Some([300, 300])).expect("counted");
        assert_eq!((all.ios, all.bytes, all.written), (100, 400 << 10, 1.0));
    }

    #[test]
    fn below_a_server_that_nobody_knows_no_flush_shows_anything() {
        let link = |kind, name: &str| Link { kind, name: name.to_owned(), ..Link::default() };
        let server = link(LinkKind::FileSystem, "fuse.other");
        for fields in ["", "dsync = true", "fsync_every = 1"] {
            let chain = vec![server.clone(), link(LinkKind::Disk, "sda")];
            assert_eq!(of_chain(chain, fields, 512, Some([72, 128])), None, "{fields}");
        }
    }

    #[test]
    fn where_nobody_counted_memory_that_may_be_overwritten_leaves_no_durable_rate() {
        assert_eq!(of_memory("", 128, None), None);
        let bytes = |fields, kib| of_memory(fields, kib, None).map(|durable| durable.bytes);
        assert_eq!(bytes("", 512), Some(400 << 10), "every block at most once");
        assert_eq!(bytes("fsync_every = 1", 128), Some(400 << 10), "flushed on the way");
        assert_eq!(bytes("dsync = true", 128), Some(400 << 10));
    }

    #[test]
    fn a_host_without_a_flush_that_ended_well_leaves_no_durable_rate() {
        let failed = Flush { errno: 5, ..flush(1) };
        let cut = Flush { ended: false, ..flush(1) };
        for broken in [Vec::new(), vec![failed], vec![flush(1), cut]] {
            assert_eq!(of_two([vec![flush(250_000_000)], broken.clone()]), None, "{broken:?}");
        }
    }
}
