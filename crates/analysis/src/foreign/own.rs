//! Results of our own in the form of those of others: for a comparison of both, and for an export
//! as fio's JSON.

use crate::estimate::quantile::QUANTILES;
use crate::rows::row::{Ops, ResultRow};
use crate::verdict::Verdict;
use model::foreign::{
    GivenLatencies, GivenOption, GivenRow, Measured, Quantity, Span, Statistic, short,
};
use model::plan::Work;
use model::{Histogram, Op, Percent, Record};

/// The rows of operations, and of all requests of workloads that mix them.
pub fn own_rows(record: &Record, rows: &[ResultRow]) -> Vec<GivenRow> {
    // One scenario is the run itself: other tools have no word for it.
    let is_one = rows.windows(2).all(|pair| pair[0].scenario == pair[1].scenario);
    // The sum over several workloads has no options of its own.
    let rows = rows.iter().filter(|row| row.index.is_some());
    rows.map(|row| own(record, row, !is_one)).collect()
}

/// The option that a row of ours has its verdict in.
pub const VERDICT: &str = "plimsoll_verdict";
/// The option that it has its durable rate in, in bytes per second, where that is known.
pub const DURABLE: &str = "plimsoll_durable_bytes_per_s";

fn own(record: &Record, row: &ResultRow, has_scenarios: bool) -> GivenRow {
    let mut name = row.workload.clone();
    for setting in &row.sweep {
        name.push_str(&format!(" {}={}", setting.axis(), setting.label()));
    }
    if let Some(repetition) = row.repetition {
        name.push_str(&format!(" #{repetition}"));
    }
    if has_scenarios && !row.scenario.is_empty() {
        name = format!("{}: {name}", row.scenario);
    }
    let mut given = GivenRow::new(&name, row.ops.one(), format!("stage {}", row.stage));
    given.group = row.point.saturating_mul(1_000).saturating_add(row.index.unwrap_or(0));
    if let Some(work) = row.work() {
        given.options = options(work, row);
    }
    // fio's JSON has no place for these; a job has options.
    let mut say = |name: &str, value: String| {
        given.options.push(GivenOption { name: name.to_owned(), value });
    };
    say(VERDICT, Verdict::of(record, row).level.word().to_owned());
    if let Some(durable) = crate::durable(record, row) {
        say(DURABLE, durable.bytes_per_s().to_string());
    }
    given.add(Quantity::whole(Measured::Rate), Some(row.iops()));
    if row.moves_bytes() {
        given.add(Quantity::whole(Measured::Bandwidth), Some(row.bytes_per_s()));
        given.add(Quantity::whole(Measured::Bytes), Some(row.bytes as f64));
    }
    given.add(Quantity::whole(Measured::Requests), Some(row.ios as f64));
    given.add(Quantity::whole(Measured::Time), Some(row.seconds * 1e9));
    let deviation = row.confidence.over_time.map(|share| share * row.iops());
    given.add(Quantity::of(Measured::Rate, Statistic::StdDev), deviation);
    let samples = row.confidence.intervals as f64;
    given.add(Quantity::of(Measured::Rate, Statistic::Count), deviation.map(|_| samples));
    let latency = &row.latency;
    let mut add = |statistic, value: Option<f64>| {
        given.add(Quantity::latency(Span::Total, statistic), value);
    };
    add(Statistic::Least, latency.min_ns().map(|ns| ns as f64));
    add(Statistic::Mean, latency.mean_ns());
    add(Statistic::Most, latency.max_ns().map(|ns| ns as f64));
    for quantile in QUANTILES {
        if let Some(statistic) = Statistic::percentile(quantile.share * 100.0) {
            add(statistic, latency.quantile_ns(quantile.share).map(|ns| ns as f64));
        }
    }
    add(Statistic::StdDev, deviation_ns(latency));
    add(Statistic::Count, Some(latency.count() as f64));
    let latency = latency.clone();
    // A bucket of ours is 1/128 wide, and its middle stands for it.
    given.latencies = Some(GivenLatencies { span: Span::Total, latency, error_permille: 4 });
    given
}

/// The standard deviation of latencies, each at the middle of its bucket; `None` for fewer than
/// two.
fn deviation_ns(latency: &Histogram) -> Option<f64> {
    let mean = latency.mean_ns()?;
    let squares: f64 = latency
        .buckets()
        .map(|(low, high, count)| {
            (low as f64 / 2.0 + high as f64 / 2.0 - mean).powi(2) * count as f64
        })
        .sum();
    let count = latency.count();
    (count > 1).then(|| (squares / (count - 1) as f64).sqrt())
}

/// What the work is, in fio's words: the field's common ones.
fn options(work: &Work, row: &ResultRow) -> Vec<GivenOption> {
    let option =
        |name: &str, value: String| GivenOption { name: name.to_owned(), value: short(&value) };
    let mut all = Vec::new();
    if work.metadata.is_none() {
        let size = if row.ops == Ops::One(Op::Write) || !work.reads() {
            &work.write_block_size
        } else {
            &work.block_size
        };
        if size.is_single() {
            all.push(option("bs", size.largest().0.to_string()));
        }
        all.push(option("rw", direction(work)));
        if work.read > Percent::ZERO && work.read < Percent::ALL {
            all.push(option("rwmixread", work.read.to_string().replace('%', "")));
        }
    }
    all.push(option("iodepth", work.depth.to_string()));
    all.push(option("numjobs", row.workers.to_string()));
    all
}

/// `randread`, `write`, `randrw`.
fn direction(work: &Work) -> String {
    let random =
        if work.pattern.access == model::choices::Access::Sequential { "" } else { "rand" };
    let what = match (work.reads(), work.writes()) {
        (true, true) => "rw",
        (true, false) => "read",
        (false, true) => "write",
        (false, false) => "trim",
    };
    format!("{random}{what}")
}
