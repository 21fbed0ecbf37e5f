//! vdbench's `flatfile.html`: a line with the average of each run, under columns with names. What
//! is not known is `n/a`, as in vdbench.

use super::{Exported, groups};
use crate::ground::words::utc;
use analysis::foreign::{DURABLE, VERDICT};
use model::Op;
use model::foreign::{GivenRow, Measured, Quantity, Span, Statistic};

const MIB: f64 = (1_u64 << 20) as f64;

/// The columns that are written, in vdbench's order, and two of our own.
const COLUMNS: [&str; 23] = [
    "tod",
    "timestamp",
    "Run",
    "Interval",
    "reqrate",
    "rate",
    "MB/sec",
    "bytes/io",
    "read%",
    "resp",
    "read_resp",
    "write_resp",
    "resp_max",
    "read_max",
    "write_max",
    "resp_std",
    "read_std",
    "write_std",
    "xfersize",
    "threads",
    "queue_depth",
    VERDICT,
    DURABLE,
];

/// The rows as a flatfile.
pub fn text(exported: Exported<'_>) -> Result<String, &'static str> {
    let lines: Vec<String> = groups(exported.rows)
        .iter()
        .filter_map(|rows| line(rows, exported.measured_unix_ns))
        .collect();
    if lines.is_empty() {
        return Err("no row of it has a rate of reads or writes");
    }
    let head = "* vdbench flatfile, written by Plimsoll; n/a is what is not known\n*\n";
    Ok(format!("{head}{}\n{}\n", COLUMNS.join(" "), lines.join("\n")))
}

/// The same of all, reads and writes.
#[derive(Clone, Copy, Debug, Default)]
struct Parts {
    all: Option<f64>,
    read: Option<f64>,
    write: Option<f64>,
}

fn line(rows: &[&GivenRow], measured_unix_ns: Option<u64>) -> Option<String> {
    let of = |op: Option<Op>| rows.iter().find(|row| row.op == op).copied();
    let (all, read, write) = (of(None), of(Some(Op::Read)), of(Some(Op::Write)));
    let parts = |get: &dyn Fn(&GivenRow) -> Option<f64>| Parts {
        all: all.and_then(get),
        read: read.and_then(get),
        write: write.and_then(get),
    };
    let sum = |parts: Parts| parts.all.or_else(|| added(parts.read, parts.write));
    let rates = parts(&|row| row.overall(Measured::Rate));
    let rate = sum(rates)?;
    let bandwidth = sum(parts(&|row| row.overall(Measured::Bandwidth)));
    let latency = |statistic| {
        parts(&move |row| row.get(Quantity::latency(Span::Total, statistic)).map(|ns| ns / 1e6))
    };
    let (mean, most, spread) =
        (latency(Statistic::Mean), latency(Statistic::Most), latency(Statistic::StdDev));
    let only = all.or_else(|| read.xor(write));
    let first = rows.first()?;
    let size = bandwidth.filter(|_| rate > 0.0).map(|bandwidth| bandwidth / rate);
    let asked = only.and_then(|row| row.get(Quantity::whole(Measured::AskedRate)));
    let in_flight = only.and_then(|row| row.get(Quantity::whole(Measured::InFlight)));
    let option = |names: &[&str]| names.iter().find_map(|name| first.option(name)).map(word);
    let of_any = |name: &str| rows.iter().find_map(|row| row.option(name)).map(word);
    let date = measured_unix_ns.map(utc).unwrap_or_default();
    let mut date = date.split_whitespace();
    let day = word(date.next().unwrap_or("n/a"));
    let time = word(date.next().unwrap_or("00:00:00"));
    let cells = [
        time,
        day,
        word(&first.workload),
        "avg_1-1".to_owned(),
        figure(asked),
        figure(Some(rate)),
        figure(bandwidth.map(|bandwidth| bandwidth / MIB)),
        figure(size),
        figure(share(rates, rate)),
        figure(mean.all.or_else(|| weighted(mean, rates))),
        figure(mean.read),
        figure(mean.write),
        figure(most.all.or_else(|| greater(most))),
        figure(most.read),
        figure(most.write),
        figure(spread.all.or_else(|| only.and_then(|_| spread.read.or(spread.write)))),
        figure(spread.read),
        figure(spread.write),
        option(&["xfersize", "bs", "BlockSize"]).unwrap_or_else(|| "n/a".to_owned()),
        option(&["threads", "numjobs"]).unwrap_or_else(|| "n/a".to_owned()),
        figure(in_flight),
        of_any(VERDICT).unwrap_or_else(|| "n/a".to_owned()),
        of_any(DURABLE).unwrap_or_else(|| "n/a".to_owned()),
    ];
    Some(cells.join(" "))
}

fn added(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}

/// The share of reads in percent; not known where the directions have no rates.
fn share(rates: Parts, rate: f64) -> Option<f64> {
    let known = rates.read.is_some() || rates.write.is_some();
    (known && rate > 0.0).then(|| rates.read.unwrap_or(0.0) / rate * 100.0)
}

/// The mean of all from those of both, weighted with their rates.
fn weighted(mean: Parts, rates: Parts) -> Option<f64> {
    match (mean.read.zip(rates.read), mean.write.zip(rates.write)) {
        (Some((read, reads)), Some((write, writes))) if reads + writes > 0.0 => {
            Some((read * reads + write * writes) / (reads + writes))
        }
        (Some((mean, _)), None) if rates.write.is_none() => Some(mean),
        (None, Some((mean, _))) if rates.read.is_none() => Some(mean),
        _ => None,
    }
}

fn greater(most: Parts) -> Option<f64> {
    match (most.read, most.write) {
        (Some(read), Some(write)) => Some(read.max(write)),
        (one, other) => one.or(other),
    }
}

fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "n/a".to_owned(), |value| format!("{value:.4}"))
}

/// A text as one word, so that columns stay where they are.
fn word(text: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "_-=.:%()".contains(c) { c } else { '_' };
    let text: String = text.chars().map(plain).collect();
    if text.is_empty() { "n/a".to_owned() } else { text }
}
