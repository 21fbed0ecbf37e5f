//! What each row of a stage did in each interval, as plain numbers: what all statistics over time
//! rest on.

use crate::estimate::quantile::QUANTILES;
use crate::rows::row::ResultRow;
use model::digest::{Digest, Frame, HostPart, Moment, Span, Spans, Total, WorkerTotal};
use std::collections::BTreeMap;

/// One row of a measured point over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally<'a> {
    /// Each interval in order, all hosts together.
    pub total: Vec<Slot>,
    /// Each host, by its number in the plan.
    pub hosts: BTreeMap<u32, HostTally<'a>>,
    /// Requests that succeeded, by host and worker.
    pub workers: BTreeMap<(u32, u32), u64>,
}

/// One host over time. A day has so many intervals that those of all hosts are not spread out at
/// once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostTally<'a> {
    host: u32,
    spans: Option<&'a Spans>,
    frame: Option<&'a Frame>,
    parts: Vec<&'a HostPart>,
}

impl HostTally<'_> {
    /// Its intervals in order, with requests and the sum of their latencies; the latter only where
    /// the pace is open.
    pub fn intervals(&self) -> Vec<Interval> {
        let Some((spans, frame)) = self.spans.zip(self.frame) else { return Vec::new() };
        let ios: Vec<Vec<u64>> = self.parts.iter().map(|part| part.all_ios()).collect();
        let latencies_ns: Vec<Vec<u64>> =
            self.parts.iter().map(|part| part.all_latencies_ns()).collect();
        let sum = |columns: &[Vec<u64>], at: usize| -> f64 {
            columns.iter().map(|column| column.get(at).map_or(0.0, |value| *value as f64)).sum()
        };
        let interval = |(at, span): (usize, Span)| Interval {
            start_s: span.start_ns as f64 / 1e9,
            length_s: span.length_ns as f64 / 1e9,
            ios: sum(&ios, at),
            latency_ns: sum(&latencies_ns, at),
        };
        let is_counted =
            |(_, span): &(usize, Span)| span.phase.counts() && frame.is_counted(span.interval);
        let mut intervals = Vec::with_capacity(spans.len());
        intervals.extend(spans.iter().enumerate().filter(is_counted).map(interval));
        intervals
    }

    /// All its requests: those of the intervals that figures rest on.
    pub fn ios(&self) -> f64 {
        self.parts.iter().map(|part| part.counts.ios as f64).sum()
    }

    /// How long its intervals are together, in seconds.
    pub fn seconds(&self) -> f64 {
        self.frame.map_or(0.0, |frame| frame.counted_ns(self.host) as f64 / 1e9)
    }
}

/// One interval of one row, as far as it shows whether something settles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// When it began, in seconds after the stage's start.
    pub start_s: f64,
    /// How long it was, in seconds.
    pub length_s: f64,
    /// Requests that succeeded in it.
    pub ios: f64,
    /// The sum of their service times, in ns.
    pub latency_ns: f64,
}

impl Interval {
    /// Requests per second; 0 if it was no time.
    pub fn iops(&self) -> f64 {
        if self.length_s > 0.0 { self.ios / self.length_s } else { 0.0 }
    }
}

/// One interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slot {
    /// When it began, in seconds after the stage's start.
    pub start_s: f64,
    /// How long it was, in seconds; of several hosts, the longest.
    pub length_s: f64,
    /// Requests that succeeded in it.
    pub ios: f64,
    /// Bytes that moved in it.
    pub bytes: f64,
    /// The sum of their service times, in ns.
    pub latency_ns: f64,
    /// How many of them took no longer than each quantile of the whole stage.
    pub at_most: [f64; QUANTILES.len()],
    /// CPU time that the workers of the whole work took, in ns.
    pub cpu_ns: f64,
    /// Requests of all operations of the whole work.
    pub work_ios: f64,
}

impl Slot {
    /// Requests per second; 0 if it was no time.
    pub fn iops(&self) -> f64 {
        self.interval().iops()
    }

    /// The part of it that every host has of its own, too.
    pub fn interval(&self) -> Interval {
        let Slot { start_s, length_s, ios, latency_ns, .. } = *self;
        Interval { start_s, length_s, ios, latency_ns }
    }

    fn add_op(&mut self, total: &Total, quantiles_ns: [u64; QUANTILES.len()]) {
        self.ios += total.counts.ios as f64;
        self.bytes += total.counts.bytes as f64;
        // The run file was checked when it was read: a histogram that is none cannot come this far.
        self.latency_ns += total.latency.sum_ns().unwrap_or(0) as f64;
        let counts = total.latency.at_most(quantiles_ns).unwrap_or_default();
        self.at_most.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count as f64);
    }
}

/// One column of a tally.
pub fn column(slots: &[Slot], figure: impl Fn(&Slot) -> f64) -> Vec<f64> {
    slots.iter().map(figure).collect()
}

/// Each host of one row of a stage, by its number in the plan: no sum over hosts is worked out for
/// it.
pub fn by_host<'a>(digest: &'a Digest, row: &ResultRow) -> BTreeMap<u32, HostTally<'a>> {
    let frame = &digest.frame;
    let parts = || digest.sums.parts.iter().filter(|((work, op), _)| row.counts(*work, *op));
    let hosts = frame.spans.iter().filter(|(host, _)| frame.counted(**host).next().is_some());
    let hosts = hosts.map(|(host, spans)| {
        let parts = parts().filter_map(|(_, part)| part.hosts.get(host)).collect();
        (*host, HostTally { host: *host, spans: Some(spans), frame: Some(frame), parts })
    });
    hosts.collect()
}

/// The tally of one row of a stage.
pub fn tally<'a>(digest: &'a Digest, row: &ResultRow) -> Tally<'a> {
    let frame = &digest.frame;
    let workers = digest.sums.workers.iter();
    let works = |(host, worker): &(u32, u32)| {
        frame.work_of(*host, *worker).is_some_and(|work| row.has_work(work))
    };
    let ios = |worker: &WorkerTotal| {
        let mine = worker.ios.iter().filter(|(op, _)| row.ops.has(**op));
        mine.fold(0u64, |sum, (_, ios)| sum.saturating_add(*ios))
    };
    Tally {
        total: totals(digest, row),
        hosts: by_host(digest, row),
        workers: workers
            .filter(|(key, _)| works(key))
            .map(|(key, worker)| (*key, ios(worker)))
            .collect(),
    }
}

fn totals(digest: &Digest, row: &ResultRow) -> Vec<Slot> {
    let quantiles_ns =
        QUANTILES.map(|quantile| row.latency.quantile_ns(quantile.share).unwrap_or(0));
    let parts: Vec<_> =
        digest.sums.parts.iter().filter(|((work, _), _)| row.has_work(*work)).collect();
    let cpu_ns: Vec<&Vec<u64>> = digest
        .sums
        .cpu_ns
        .iter()
        .filter(|(work, _)| row.has_work(**work))
        .map(|(_, column)| column)
        .collect();
    let slot = |(at, moment): (usize, &Moment)| {
        let mut slot = Slot {
            start_s: moment.start_ns as f64 / 1e9,
            length_s: moment.length_ns as f64 / 1e9,
            cpu_ns: cpu_ns.iter().filter_map(|column| column.get(at)).map(|ns| *ns as f64).sum(),
            ..Slot::default()
        };
        for ((_, op), part) in &parts {
            let Some(total) = part.total(at) else { continue };
            slot.work_ios += total.counts.ios as f64;
            if row.ops.has(*op) {
                slot.add_op(total, quantiles_ns);
            }
        }
        slot
    };
    digest
        .frame
        .moments
        .iter()
        .enumerate()
        .filter(|(_, moment)| digest.frame.is_counted(moment.interval))
        .map(slot)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::results::rows;
    use crate::testing::Recorded;
    use model::{Op, StageKind};

    #[test]
    fn the_sum_over_intervals_hosts_and_workers_is_the_total() {
        let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\nread = \"50%\"\n", 2);
        let stage = recorded.stage(StageKind::Measure);
        for interval in 0..3 {
            recorded.host_interval(
                stage,
                0,
                interval,
                &[(Op::Read, &[100, 200]), (Op::Write, &[900])],
            );
            recorded.host_interval(stage, 1, interval, &[(Op::Read, &[50_000; 4])]);
        }
        let record = recorded.record();
        let stage = record.stage(stage).expect("recorded");
        let digest = stage.digest(&record);
        let rows = rows(&record, stage, &digest);
        let tally = tally(&digest, &rows[0]);
        let sum = |slots: &[Slot], figure: fn(&Slot) -> f64| slots.iter().map(figure).sum::<f64>();
        assert_eq!(sum(&tally.total, |slot| slot.ios), rows[0].ios as f64);
        assert_eq!(sum(&tally.total, |slot| slot.latency_ns), rows[0].latency.sum_ns() as f64);
        assert_eq!(tally.hosts.values().map(HostTally::ios).sum::<f64>(), rows[0].ios as f64);
        assert_eq!(tally.workers.values().sum::<u64>(), rows[0].ios);
        assert_eq!(sum(&tally.total, |slot| slot.work_ios), 21.0, "reads and writes of the work");
        // The median is one of the slow reads: everything is at or below it.
        assert_eq!(tally.total[0].at_most[0], 6.0);
        assert!((sum(&tally.total, |slot| slot.cpu_ns) - 6.0 * 2.5e8).abs() < 1.0);
    }
}
