//! The durable rate of writes: what was acknowledged while the load was on, over the time until all
//! of it was safe.

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
/// flush failed or did not end: then nobody knows.
pub fn durable(record: &Record, row: &ResultRow) -> Option<Durable> {
    if row.ops != Ops::One(Op::Write) || row.ios == 0 {
        return None;
    }
    let planned = record.plan.stages.get(row.stage as usize)?;
    if let Some(once) = planned.stop().once() {
        // Each worker flushed its own files within its time.
        let done = row.done.filter(|_| once.fsync)?.last;
        let (ios, bytes, seconds) = (done.ios, done.bytes, done.seconds);
        return Some(Durable { ios, bytes, seconds, flush_ns: 0 });
    }
    let flush_ns = flush_ns(record, row.stage)?;
    let seconds = row.seconds + flush_ns as f64 / 1e9;
    Some(Durable { ios: row.ios, bytes: row.bytes, seconds, flush_ns })
}

/// How long the flush behind a stage took on the host that took longest. `None` where a host that
/// ended the stage did not flush, or a flush failed or did not end.
fn flush_ns(record: &Record, stage: u32) -> Option<u64> {
    let stage = record.stage(stage)?;
    let of_host = |flushes: &[Flush]| {
        let is_good = |flush: &Flush| flush.ended && flush.errno == 0;
        let is_known = !flushes.is_empty() && flushes.iter().all(is_good);
        is_known.then(|| flushes.iter().fold(0u64, |sum, one| sum.saturating_add(one.took_ns)))
    };
    let mut longest = None;
    for end in stage.ends.iter().filter(|end| !end.flushes.is_empty()) {
        longest = longest.max(Some(of_host(&end.flushes)?));
    }
    longest
}

/// The first flush behind a stage that failed or did not end.
pub(crate) fn broken(record: &Record, stage: u32) -> Option<&Flush> {
    let flushes = record.stage(stage)?.ends.iter().flat_map(|end| &end.flushes);
    flushes.into_iter().find(|flush| !flush.ended || flush.errno != 0)
}
