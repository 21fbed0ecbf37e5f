//! The durable rate of writes: what was acknowledged while the load was on, over the time until all
//! of it was safe.

use crate::io_path::has_worker;
use crate::row::{Ops, ResultRow};
use model::event::Flush;
use model::{Op, Record};

/// A durable rate that differs from the acknowledged one by less is shown as the same, and is no
/// doubt: a flush of milliseconds is the way to the device and back.
pub const NOTABLE: f64 = 0.05;

/// Writes with the time that it took to make them durable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Durable {
    /// Writes that were acknowledged while the load was on.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
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
        if self.seconds > 0.0 { (1.0 - flush_s / self.seconds).clamp(0.0, 1.0) } else { 1.0 }
    }

    /// Whether it differs from the acknowledged rate by enough to be worth a column.
    pub fn is_notable(&self) -> bool {
        self.share() < 1.0 - NOTABLE
    }
}

/// The durable rate of a row of writes. `None` for every other row, and where nobody flushed, or a
/// flush failed, did not end, or is ignored by a hypervisor: then nobody knows.
pub fn durable(record: &Record, row: &ResultRow) -> Option<Durable> {
    if row.ops != Ops::One(Op::Write) || row.ios == 0 || crate::guests::ignore_flushes(record) {
        return None;
    }
    let planned = record.plan.stages.get(row.stage as usize)?;
    if let Some(once) = planned.stop().once() {
        // Each worker flushed its own files within its time.
        let done = row.done.filter(|_| once.fsync)?.last;
        let (ios, bytes, seconds) = (done.ios, done.bytes, done.seconds);
        return Some(Durable { ios, bytes, seconds, flush_ns: 0 });
    }
    let flush_ns = flush_ns(record, row)?;
    let seconds = row.seconds + flush_ns as f64 / 1e9;
    Some(Durable { ios: row.ios, bytes: row.bytes, seconds, flush_ns })
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
    use model::event::{Event, HostEnd};

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
        recorded.end();
        let record = recorded.record();
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

    #[test]
    fn a_host_without_a_flush_that_ended_well_leaves_no_durable_rate() {
        let failed = Flush { errno: 5, ..flush(1) };
        let cut = Flush { ended: false, ..flush(1) };
        for broken in [Vec::new(), vec![failed], vec![flush(1), cut]] {
            assert_eq!(of_two([vec![flush(250_000_000)], broken.clone()]), None, "{broken:?}");
        }
    }
}
