//! The repetitions of a point in one line: mean, deviation, least and largest. What one repetition
//! says is a sample; what all of them say is the result.

use crate::ground::gather::grouped;
use crate::ground::markup::{Markup, plain};
use crate::ground::words;
use crate::pens::Table;
use crate::pens::terminal::Want;
use analysis::ResultRow;
use model::Histogram;

struct Summary {
    mean: f64,
    /// The standard deviation (of a sample) ÷ the mean.
    deviation: f64,
    least: f64,
    largest: f64,
}

impl Summary {
    /// Nothing of fewer than two values: one of them has no deviation.
    fn of(values: &[f64]) -> Option<Summary> {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        if values.len() < 2 || mean <= 0.0 {
            return None;
        }
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Summary {
            mean,
            deviation: (squares / (count - 1.0)).sqrt() / mean,
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            largest: values.iter().copied().fold(0.0, f64::max),
        })
    }
}

pub fn text(rows: &[ResultRow], room: usize) -> String {
    let lines = lines(rows);
    if lines.is_empty() {
        return String::new();
    }
    format!("\nRepetitions together\n{}\n", together(rows, &lines, "point").fitted(room).0)
}

pub fn table(rows: &[ResultRow]) -> Markup {
    let lines = lines(rows);
    if lines.is_empty() {
        return Markup::new();
    }
    let table = together(rows, &lines, "workload").capitals().caption(
        "Each line is all repetitions of a point. p99 of all: of their merged histogram. \
         Deviation: the standard deviation from run to run, as a share of the mean.",
    );
    [plain("h3", "Repetitions together"), table.scroll()].into()
}

fn together<'a>(rows: &[ResultRow], lines: &'a [Line], name: &str) -> Table<&'a Line> {
    let iops = |figure: fn(&Summary) -> f64| move |line: &Line| words::iops(figure(&line.rate));
    let latency = |figure: fn(&Summary) -> f64| {
        move |line: &Line| {
            let ns = line.p99.as_ref().map(figure)?;
            Some(words::latency(Some(ns.round() as u64)))
        }
    };
    Table::of(lines)
        .name(name, |line| &line.name)
        .want(Want::Folded)
        .words("op", |line| line.op)
        .figure("runs", |line| words::count(line.runs))
        .figure(format!("{}, mean", words::rate_head(rows)), iops(|rate| rate.mean))
        .figure("deviation", |line| words::share(line.rate.deviation))
        .figure("least", iops(|rate| rate.least))
        .want(Want::Spare(1))
        .figure("largest", iops(|rate| rate.largest))
        .want(Want::Spare(1))
        .figure("p99 of all", |line| words::latency(line.p99_of_all))
        .figure("deviation", |line| line.p99.as_ref().map(|p99| words::share(p99.deviation)))
        .called("deviation of p99")
        .want(Want::Spare(3))
        .figure("least", latency(|p99| p99.least))
        .called("least p99")
        .want(Want::Spare(2))
        .figure("largest", latency(|p99| p99.largest))
        .called("largest p99")
        .want(Want::Spare(2))
}

struct Line {
    name: String,
    op: &'static str,
    runs: u64,
    rate: Summary,
    p99: Option<Summary>,
    /// Of the histograms of all repetitions, merged, in ns.
    p99_of_all: Option<u64>,
}

fn lines(rows: &[ResultRow]) -> Vec<Line> {
    let complete = rows.iter().filter(|row| row.repetition.is_some() && row.complete);
    let keyed =
        complete.map(|row| ((&row.scenario, &row.workload, row.index, row.ops, &row.sweep), row));
    grouped(keyed).iter().filter_map(|(_, point)| Line::of(point)).collect()
}

impl Line {
    /// Nothing of a point that ran once.
    fn of(point: &[&ResultRow]) -> Option<Line> {
        let first = point.first()?;
        let rates: Vec<f64> = point.iter().map(|row| row.iops()).collect();
        let p99 = |row: &&ResultRow| row.latency.quantile_ns(0.99).map(|ns| ns as f64);
        let latencies: Vec<f64> = point.iter().filter_map(p99).collect();
        let mut all = Histogram::new();
        point.iter().for_each(|row| all.merge(&row.latency));
        Some(Line {
            name: words::with_sweep(&first.workload, &first.sweep, None),
            op: first.ops.name(),
            runs: point.len() as u64,
            rate: Summary::of(&rates)?,
            p99: Summary::of(&latencies),
            p99_of_all: all.quantile_ns(0.99),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{has, swept};

    #[test]
    fn repetitions_of_a_point_are_one_line() {
        let suite = "[[workload]]\nname = \"w\"\n[sweep]\ndepth = [1, 4]\nrepetitions = 3\n";
        let counts = [90, 100, 110, 90, 100, 110].map(|count| vec![1_000_000; count]);
        let rows = analysis::results(&swept(suite, counts));
        assert_eq!(rows.len(), 6);
        let shown = table(&rows).into_string();
        assert_eq!(shown.matches("<tr>").count(), 3, "a head and two points: {shown}");
        has(&shown, &["w (depth=4)", ">10 %<", ">90.0<", ">110<"]);
        let shown = text(&rows, 120);
        assert_eq!(shown.trim().lines().count(), 4, "two heads and two points: {shown}");
        assert!(shown.contains("w (depth=4)") && shown.contains(" 10 %"), "{shown}");
        assert_eq!(text(&rows[..1], 120), "", "one run has no deviation");
    }

    #[test]
    fn nothing_repeated_is_nothing_told() {
        assert_eq!(table(&[]), Markup::new());
    }
}
