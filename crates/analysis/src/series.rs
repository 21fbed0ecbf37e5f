//! How a stage went over time, for the charts.

use crate::results::load;
use model::{Histogram, Op, Record};
use std::collections::BTreeMap;

/// One operation in one interval, all hosts together.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesPoint {
    /// When the interval began, in seconds after the stage's start.
    pub start_s: f64,
    /// How long it was, in seconds.
    pub length_s: f64,
    /// Requests that succeeded in it.
    pub ios: u64,
    /// Bytes that moved in it.
    pub bytes: u64,
    /// Their service times.
    pub latency: Histogram,
}

impl SeriesPoint {
    /// Requests per second.
    pub fn iops(&self) -> f64 {
        if self.length_s > 0.0 { self.ios as f64 / self.length_s } else { 0.0 }
    }

    /// Bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        if self.length_s > 0.0 { self.bytes as f64 / self.length_s } else { 0.0 }
    }
}

/// The intervals of a stage in which the load was on, in order, for one of its works; an interval without a completion of `op` is one
/// with 0 requests.
pub fn series(record: &Record, stage: u32, work: u32, op: Op) -> Vec<SeriesPoint> {
    let mut intervals: BTreeMap<u32, SeriesPoint> = BTreeMap::new();
    for sample in record.stage(stage).into_iter().flat_map(load) {
        let point = intervals.entry(sample.interval).or_insert_with(|| SeriesPoint {
            start_s: sample.start_ns as f64 / 1e9,
            length_s: 0.0,
            ios: 0,
            bytes: 0,
            latency: Histogram::new(),
        });
        point.length_s = point.length_s.max(sample.length_ns as f64 / 1e9);
        for part in sample.ops.iter().filter(|part| (part.work, part.op) == (work, op)) {
            point.ios += part.ios;
            point.bytes += part.bytes;
            // Checked when the run file was read.
            let _ = part.latency.merge_into(&mut point.latency);
        }
    }
    intervals.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;
    use model::StageKind;

    #[test]
    fn an_interval_in_which_nothing_came_back_is_a_zero_and_not_a_gap() {
        let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\n", 2);
        let stage = recorded.stage(StageKind::Measure);
        for host in 0..2 {
            recorded.host_interval(stage, host, 0, &[(Op::Read, &[100; 5])]);
            recorded.host_interval(stage, host, 1, &[]);
            recorded.host_interval(stage, host, 2, &[(Op::Read, &[100; 7])]);
        }
        let points = series(&recorded.record(), stage, 0, Op::Read);
        let ios: Vec<u64> = points.iter().map(|point| point.ios).collect();
        assert_eq!(ios, [10, 0, 14]);
        assert_eq!((points[2].start_s, points[2].iops()), (2.0, 14.0));
    }
}
