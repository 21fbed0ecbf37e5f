//! fio's logs over time (fio's HOWTO, *Log File Formats*): `time, value, direction, block size`,
//! and more that is not read. What a log holds stands in its name alone.
//!
//! A log is read line by line: its length makes no difference to the memory that it takes.

use super::{Results, doubt, numbers};
use crate::import::ImportError;
use model::foreign::{
    DoubtKind, Form, GivenLatencies, GivenRow, GivenSeries, MOST_POINTS, Measured, Point, Quantity,
    Span, Statistic, short,
};
use model::{Histogram, Op};
use std::collections::BTreeMap;

/// No line of a log is longer.
const MOST_LINE: usize = 400;
/// Fewer lines than this share of all may be none: a log that was cut off ends in one.
const MOST_BAD: u64 = 10;

/// What the values of a log are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    /// Bandwidths in KiB/s.
    Bandwidth,
    /// Rates in requests per second.
    Rate,
    /// Latencies in ns.
    Latency(Span),
}

/// What a file of this name logs, if it is a log of fio: `NAME_clat.1.log`, `NAME_bw.log`.
pub fn kind_of_log(name: &str) -> Option<LogKind> {
    Some(parts(name)?.kind)
}

/// A name of a log taken apart.
struct Parts<'a> {
    job: &'a str,
    kind: LogKind,
    number: u32,
}

fn parts(name: &str) -> Option<Parts<'_>> {
    let stem = name.rsplit('/').next()?.strip_suffix(".log")?;
    let (stem, number) = match stem.rsplit_once('.') {
        Some((stem, number)) => (stem, number.parse().ok()?),
        None => (stem, 0),
    };
    let (job, kind) = stem.rsplit_once('_')?;
    let kind = match kind {
        "bw" => LogKind::Bandwidth,
        "iops" => LogKind::Rate,
        "lat" => LogKind::Latency(Span::Total),
        "clat" => LogKind::Latency(Span::Completion),
        "slat" => LogKind::Latency(Span::Submission),
        _ => return None,
    };
    Some(Parts { job, kind, number })
}

/// Values added up: their number, mean and spread (Welford 1962).
#[derive(Clone, Copy, Debug)]
struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
    least: f64,
    most: f64,
}

impl Moments {
    fn new() -> Moments {
        Moments { count: 0, mean: 0.0, squares: 0.0, least: f64::INFINITY, most: 0.0 }
    }

    fn add(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    fn deviation(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt())
    }
}

/// What a log says of one direction.
#[derive(Debug)]
struct Direction {
    all: Moments,
    latency: Histogram,
    /// Whether any line is of a single request: those of means have a size of 0.
    is_single: bool,
    /// Of lines of single requests: the sum of what each did, and the first and the last instant,
    /// in ms.
    done: f64,
    from_ms: u64,
    to_ms: u64,
    /// Sums and counts, by time.
    bins: BTreeMap<u64, (f64, u64)>,
    /// The length of each, in ms.
    bin_ms: u64,
}

impl Direction {
    fn new() -> Direction {
        let (all, latency) = (Moments::new(), Histogram::new());
        Direction {
            all,
            latency,
            is_single: false,
            done: 0.0,
            from_ms: u64::MAX,
            to_ms: 0,
            bins: BTreeMap::new(),
            bin_ms: 1_000,
        }
    }

    fn add(&mut self, at_ms: u64, value: f64) {
        self.all.add(value);
        self.done += value;
        (self.from_ms, self.to_ms) = (self.from_ms.min(at_ms), self.to_ms.max(at_ms));
        let bin = self.bins.entry(at_ms / self.bin_ms).or_insert((0.0, 0));
        *bin = (bin.0 + value, bin.1 + 1);
        if self.bins.len() > MOST_POINTS {
            self.bin_ms *= 2;
            let mut wider: BTreeMap<u64, (f64, u64)> = BTreeMap::new();
            for (at, (sum, count)) in std::mem::take(&mut self.bins) {
                let bin = wider.entry(at / 2).or_insert((0.0, 0));
                *bin = (bin.0 + sum, bin.1 + count);
            }
            self.bins = wider;
        }
    }

    /// What single requests did in a second. The first one only says when the time begins.
    fn per_s(&self) -> Option<f64> {
        let seconds = self.to_ms.saturating_sub(self.from_ms) as f64 / 1e3;
        let behind = self.done * (1.0 - 1.0 / self.all.count.max(1) as f64);
        (seconds > 0.0).then(|| behind / seconds)
    }

    /// What single requests did in each second. The last bin is over before its end.
    fn points_per_s(&self) -> Vec<Point> {
        let last = self.bins.last_key_value().map_or(0, |(at, _)| *at);
        let first = self.bins.first_key_value().map_or(0, |(at, _)| *at);
        let whole = (first..last).map(|at| Point {
            at_ms: at * self.bin_ms,
            value: self.bins.get(&at).map_or(0.0, |(sum, _)| *sum) * 1e3 / self.bin_ms as f64,
        });
        whole.take(MOST_POINTS).collect()
    }

    fn points(&self) -> Vec<Point> {
        let point = |(at, (sum, count)): (&u64, &(f64, u64))| Point {
            at_ms: at * self.bin_ms,
            value: sum / *count as f64,
        };
        self.bins.iter().map(point).collect()
    }
}

/// Takes in the lines of a log, one after the other.
#[derive(Debug)]
pub struct LogReader {
    name: String,
    job: String,
    group: u32,
    kind: LogKind,
    directions: [Direction; 3],
    lines: u64,
    bad: u64,
}

impl LogReader {
    /// That of a file of this name; `None` where the name is none of a log.
    pub fn new(name: &str) -> Option<LogReader> {
        let parts = parts(name)?;
        Some(LogReader {
            name: short(name),
            job: short(parts.job),
            group: parts.number,
            kind: parts.kind,
            directions: [Direction::new(), Direction::new(), Direction::new()],
            lines: 0,
            bad: 0,
        })
    }

    /// Takes in a line. Empty ones are none.
    ///
    /// # Errors
    /// The log is none: its first lines are no lines of one.
    pub fn line(&mut self, line: &str) -> Result<(), ImportError> {
        if line.trim().is_empty() {
            return Ok(());
        }
        self.lines += 1;
        if self.entry(line).is_none() {
            self.bad += 1;
        }
        if self.bad > MOST_BAD && self.bad * 2 > self.lines {
            let place = format!("{}:{}", self.name, self.lines);
            let what = "it is no line `time, value, direction, size` of a log of fio";
            let remedy = "name a log that `write_lat_log`, `write_bw_log` or `write_iops_log` made";
            return Err(ImportError::new(&place, what, remedy));
        }
        Ok(())
    }

    fn entry(&mut self, line: &str) -> Option<()> {
        if line.len() > MOST_LINE {
            return None;
        }
        let mut words = line.split(',').map(str::trim);
        let at_ms: u64 = words.next()?.parse().ok()?;
        let value = numbers::number(words.next()?)?;
        let direction: usize = words.next()?.parse().ok()?;
        let size: u64 = words.next()?.parse().ok()?;
        let into = self.directions.get_mut(direction)?;
        let unit = if self.kind == LogKind::Bandwidth { 1024.0 } else { 1.0 };
        if value * unit >= 1e18 {
            return None;
        }
        into.is_single |= size > 0;
        if matches!(self.kind, LogKind::Latency(_)) && size > 0 {
            into.latency.record(value as u64);
        }
        // Of a single request, the value is what it would be if all were like it.
        into.add(
            at_ms,
            match self.kind {
                LogKind::Rate if size > 0 => 1.0,
                LogKind::Bandwidth if size > 0 => size as f64,
                _ => value * unit,
            },
        );
        Some(())
    }

    /// What all lines came to.
    ///
    /// # Errors
    /// There was no line of a log.
    pub fn finish(self) -> Result<Results, ImportError> {
        let mut results = Results::new(Form::FioLog);
        for (direction, op) in self.directions.iter().zip([Op::Read, Op::Write, Op::Trim]) {
            if direction.all.count > 0 {
                let row = self.row(direction, op);
                let is_of_means = matches!(self.kind, LogKind::Latency(_)) && !direction.is_single;
                if is_of_means {
                    let name = format!("{} {}", row.workload, op.name());
                    doubt(&mut results, DoubtKind::MeansOverTime, &name, None);
                }
                results.push(&self.name, row)?;
            }
        }
        if results.rows.is_empty() {
            let remedy = "name a log of a job that did something";
            return Err(ImportError::new(&self.name, "no line of a log of fio is in it", remedy));
        }
        if self.bad > 0 {
            let numbers = Some((self.lines as f64, self.bad as f64));
            doubt(&mut results, DoubtKind::LinesLeftOut, &self.name, numbers);
        }
        Ok(results)
    }

    fn row(&self, direction: &Direction, op: Op) -> GivenRow {
        let mut row = GivenRow::new(&self.job, Some(op), self.name.clone());
        row.group = self.group;
        let all = &direction.all;
        let statistics = [
            (Statistic::Mean, Some(all.mean)),
            (Statistic::Least, Some(all.least)),
            (Statistic::Most, Some(all.most)),
            (Statistic::StdDev, all.deviation()),
            (Statistic::Count, Some(all.count as f64)),
        ];
        let quantity = match self.kind {
            LogKind::Bandwidth => Quantity::of(Measured::Bandwidth, Statistic::Mean),
            LogKind::Rate => Quantity::of(Measured::Rate, Statistic::Mean),
            LogKind::Latency(span) => Quantity::latency(span, Statistic::Mean),
        };
        let is_latency = matches!(self.kind, LogKind::Latency(_));
        if !is_latency && direction.is_single {
            row.add(quantity, direction.per_s());
            row.add(Quantity::whole(Measured::Requests), Some(all.count as f64));
            row.series = vec![GivenSeries { quantity, points: direction.points_per_s() }];
            return row;
        }
        // A mean of means without their weights is no mean.
        if !is_latency || direction.is_single {
            for (statistic, value) in statistics {
                row.add(Quantity { statistic, ..quantity }, value);
            }
        }
        if let LogKind::Latency(span) = self.kind
            && direction.is_single
        {
            let count = direction.latency.count() as f64;
            row.add(Quantity::whole(Measured::Requests), Some(count));
            let latency = direction.latency.clone();
            row.latencies = Some(GivenLatencies { span, latency, error_permille: 0 });
        }
        row.series = vec![GivenSeries { quantity, points: direction.points() }];
        row
    }
}

/// A log that is in memory as a whole.
///
/// # Errors
/// It is no log, by its name or its lines.
pub fn read(name: &str, text: &str) -> Result<Results, ImportError> {
    let remedy = "leave the file the name that fio gave it, such as job_clat.1.log";
    let reader = LogReader::new(name);
    let mut reader =
        reader.ok_or_else(|| ImportError::new(name, "it is not named as a log of fio", remedy))?;
    text.lines().try_for_each(|line| reader.line(line))?;
    reader.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_says_what_a_log_holds() {
        assert_eq!(kind_of_log("a/job_1_bw.2.log"), Some(LogKind::Bandwidth));
        assert_eq!(kind_of_log("x_clat.log"), Some(LogKind::Latency(Span::Completion)));
        assert_eq!(kind_of_log("x_clat_hist.1.log"), None);
        assert_eq!(kind_of_log("dmesg.log"), None);
    }

    #[test]
    fn single_latencies_have_quantiles_and_means_have_none() {
        let single =
            read("a_lat.1.log", "1, 100, 0, 4096, 0\n1500, 300, 0, 4096, 0\n").expect("log");
        let row = &single.rows[0];
        let mean = Quantity::latency(Span::Total, Statistic::Mean);
        assert_eq!(row.get(mean), Some(200.0));
        assert_eq!(row.latencies.as_ref().map(|all| all.latency.count()), Some(2));
        assert_eq!(row.series[0].points[1], Point { at_ms: 1_000, value: 300.0 });
        let means = read("a_lat.1.log", "500, 100, 1, 0, 0\n").expect("log");
        assert_eq!(means.rows[0].get(mean), None);
        assert_eq!(means.doubts[0].kind, DoubtKind::MeansOverTime);
    }

    #[test]
    fn logs_of_single_requests_say_what_was_done_in_a_second() {
        // What fio 3.33 writes without `log_avg_msec`: 128 requests of 4 KiB in each second.
        let log = |value: u64| -> String {
            let line = |n: u64| format!("{}, {value}, 1, 4096, 0\n", n * 1_000 / 128);
            (0..=320).map(line).collect()
        };
        let mean = |measured| Quantity::of(measured, Statistic::Mean);
        let rates = read("a_iops.1.log", &log(1)).expect("a log");
        assert_eq!(rates.rows[0].get(mean(Measured::Rate)), Some(128.0));
        let points: Vec<f64> = rates.rows[0].series[0].points.iter().map(|at| at.value).collect();
        assert_eq!(points, [128.0, 128.0]);
        let bytes = read("a_bw.1.log", &log(160_772)).expect("a log");
        assert_eq!(bytes.rows[0].get(mean(Measured::Bandwidth)), Some(128.0 * 4_096.0));
        // One request has no rate.
        let one = read("a_iops.1.log", "5, 1, 0, 4096, 0\n").expect("a log");
        assert_eq!(one.rows[0].get(mean(Measured::Rate)), None);
    }

    #[test]
    fn a_long_log_takes_the_room_of_a_short_one() {
        let mut reader = LogReader::new("a_bw.1.log").expect("a log");
        for second in 0..100_000u64 {
            reader.line(&format!("{}, 10, 0, 0", second * 1_000)).expect("a line");
        }
        let results = reader.finish().expect("results");
        let points = &results.rows[0].series[0].points;
        assert!(points.len() <= MOST_POINTS && points.len() > MOST_POINTS / 2, "{}", points.len());
        assert!(points.iter().all(|point| point.value == 10_240.0));
    }

    #[test]
    fn what_is_no_log_is_refused_with_its_line() {
        let text = "hello\n".repeat(100);
        let error = read("a_bw.1.log", &text).expect_err("no log");
        assert!(error.to_string().contains("a_bw.1.log:11"), "{error}");
        let cut = read("a_bw.1.log", "1, 10, 0, 0\n2, 1").expect("cut off");
        assert_eq!(cut.doubts[0].kind, DoubtKind::LinesLeftOut);
    }
}
