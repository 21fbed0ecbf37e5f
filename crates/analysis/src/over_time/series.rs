//! How a stage went over time, for the charts.

use crate::rows::row::ResultRow;
use model::digest::Part;
use model::{Histogram, Record};

/// What a row counts in one interval, all hosts together.
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
    /// Requests that failed in it; `None` where the run file knows only how many did in all.
    pub errors: Option<u64>,
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

/// How a row went over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// How many intervals there are.
    pub intervals: usize,
    /// What was done, in order; each point stands for as many neighbouring intervals as the
    /// others, the last one for the rest.
    pub points: Vec<SeriesPoint>,
}

/// The intervals in which the load was on, in order, with what `row` counts in them; an interval
/// without a completion is one with 0 requests. If they are more than `most`, neighbours are taken
/// together: counts are added and histograms merged, never averaged.
pub fn series(record: &Record, row: &ResultRow, most: usize) -> Series {
    let Some(stage) = record.stage(row.stage) else { return Series::default() };
    let digest = stage.digest(record);
    let parts = digest.sums.parts.iter().filter(|((work, op), _)| row.counts(*work, *op));
    let parts: Vec<&Part> = parts.map(|(_, part)| part).collect();
    let moments = &digest.frame.moments;
    let together = moments.len().div_ceil(most.max(1)).max(1);
    let chunks = (0..).step_by(together).zip(moments.chunks(together));
    let failed: u64 = parts.iter().flat_map(|part| part.failed.values()).sum();
    let is_known = failed >= row.error_count();
    let point = |(first, chunk): (usize, &[model::digest::Moment])| {
        let mut point = SeriesPoint {
            start_s: chunk.first().map_or(0.0, |moment| moment.start_ns as f64 / 1e9),
            length_s: chunk.iter().map(|moment| moment.length_ns as f64 / 1e9).sum(),
            ios: 0,
            bytes: 0,
            latency: Histogram::new(),
            errors: None,
        };
        let places = first..first + chunk.len();
        let of = |part: &&Part| part.failed.range(places.clone()).map(|(_, count)| *count).sum();
        point.errors = is_known.then(|| parts.iter().map(of).fold(0, u64::saturating_add));
        for total in places.flat_map(|at| parts.iter().filter_map(move |part| part.total(at))) {
            point.ios = point.ios.saturating_add(total.counts.ios);
            point.bytes = point.bytes.saturating_add(total.counts.bytes);
            // Checked when the run file was read.
            let merged = total.latency.merge_into(&mut point.latency);
            merged.expect("a histogram of a digest");
        }
        point
    };
    Series { intervals: moments.len(), points: chunks.map(point).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;
    use model::{Op, StageKind};

    fn of_first(recorded: &Recorded, most: usize) -> Series {
        let record = recorded.record();
        series(&record, &crate::results(&record)[0], most)
    }

    #[test]
    fn an_interval_in_which_nothing_came_back_is_a_zero_and_not_a_gap() {
        let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\n", 2);
        for host in 0..2 {
            recorded.host_second(host, 0, &[(Op::Read, &[100; 5])]);
            recorded.host_second(host, 1, &[]);
            recorded.host_second(host, 2, &[(Op::Read, &[100; 7])]);
        }
        let points = of_first(&recorded, 10).points;
        let ios: Vec<u64> = points.iter().map(|point| point.ios).collect();
        assert_eq!(ios, [10, 0, 14]);
        assert_eq!((points[2].start_s, points[2].iops()), (2.0, 14.0));
    }

    #[test]
    fn requests_that_failed_are_counted_where_they_did_or_nobody_knows_where() {
        let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\n", 2);
        let stage = recorded.stage(StageKind::Measure);
        for second in 0..4 {
            recorded.host_interval(stage, 0, second, &[(Op::Read, &[100; 5])]);
            recorded.host_interval(stage, 1, second, &[(Op::Read, &[100; 5])]);
        }
        recorded.fail(stage, 1, Op::Read, 5, 2);
        recorded.fail(stage, 3, Op::Read, 28, 4);
        let errors = |record: &Record, most| -> Vec<Option<u64>> {
            let points = series(record, &crate::results(record)[0], most).points;
            points.iter().map(|point| point.errors).collect()
        };
        let record = recorded.record();
        assert_eq!(errors(&record, 10), [Some(0), Some(2), Some(0), Some(4)]);
        assert_eq!(errors(&record, 2), [Some(2), Some(4)]);
    }

    #[test]
    fn a_long_run_is_merged_and_nothing_is_lost() {
        let mut recorded = Recorded::new("[[workload]]\nname = \"w\"\n");
        (0..1_000).for_each(|second| {
            recorded.second(second, &[(Op::Read, &[u64::from(second) + 1, 5])]);
        });
        let merged = of_first(&recorded, 240);
        let points = merged.points;
        assert_eq!((merged.intervals, points.len()), (1_000, 200));
        assert_eq!(points.iter().map(|point| point.ios).sum::<u64>(), 2_000);
        assert_eq!(points.iter().map(|point| point.latency.count()).sum::<u64>(), 2_000);
        assert_eq!(points.iter().filter_map(|point| point.latency.max_ns()).max(), Some(1_000));
        assert!((points[0].iops() - 2.0).abs() < 1e-9, "rates are those of the whole stretch");
        assert_eq!(points[1].start_s, 5.0);
    }
}
