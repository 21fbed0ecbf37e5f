//! A sweep of few values as bars in groups: each workload, one bar for each value.

use crate::ground::chart::{Group, Groups, Step};
use crate::ground::gather::each_once;
use crate::ground::markup::{Markup, classed};
use crate::ground::words;
use crate::topics::results::row::{ceiling_of, most_bytes_per_s, most_iops};
use analysis::ResultRow;
use analysis::ceiling::{Reached, touched};
use model::{Record, Setting};

/// More bars than this are no picture any more.
const MOST_BARS: usize = 48;

type Words = fn(f64) -> String;
type Figure = fn(&ResultRow) -> f64;

type Most = fn(&Reached) -> Option<f64>;

/// One axis of few values: its values side by side for each workload.
pub(super) fn groups(record: &Record, rows: &[ResultRow], reached: &[Reached]) -> Markup {
    let is_one_axis = rows.iter().all(|row| row.sweep.len() == 1);
    let values = each_once(rows.iter().flat_map(|row| &row.sweep));
    // Each operation on files has rows of its own: there is nothing to hold side by side.
    let axis = values.first().map_or("", |value| value.axis());
    if !is_one_axis || values.len() < 2 || axis == "operation" {
        return Markup::new();
    }
    let figures: [(&str, Words, Figure, Most); 3] = [
        ("Requests per second", words::iops, ResultRow::iops, most_iops),
        ("Bandwidth", words::bandwidth, ResultRow::bytes_per_s, most_bytes_per_s),
        (
            "Mean latency",
            |ns| words::latency(Some(ns as u64)),
            |row| row.latency.mean_ns().unwrap_or(0.0),
            |_| None,
        ),
    ];
    let mut charts = Markup::new();
    for (title, say, figure, most) in figures {
        let most = |row: &ResultRow| ceiling_of(reached, row).and_then(most);
        let groups = grouped(rows, &values, figure, &Beside { record, most: &most });
        if groups.iter().map(|group| group.bars.len()).sum::<usize>() > MOST_BARS {
            return Markup::new();
        }
        charts.push(Groups { title: format!("{title} by {axis}"), words: say, groups }.render());
    }
    classed("div", "charts", charts)
}

/// What a row's bar stands under: its workload; operations on files have little to add up to, and
/// stand each by itself.
fn group_of(row: &ResultRow) -> String {
    if row.is_metadata() {
        format!("{} {}", row.workload, row.ops.name())
    } else {
        row.workload.clone()
    }
}

struct Beside<'a> {
    /// Where a swept size comes from: it is that of one file, and people ask for all of them.
    record: &'a Record,
    /// The ceiling.
    most: &'a dyn Fn(&ResultRow) -> Option<f64>,
}

/// A group for each workload, and for workloads that ran at the same time; repetitions as their
/// median, reads and writes of a mix together.
fn grouped(
    rows: &[ResultRow],
    values: &[&Setting],
    figure: Figure,
    beside: &Beside<'_>,
) -> Vec<Group> {
    let drawn = || rows.iter().filter(|row| row.is_whole() || row.is_metadata() && row.is_addend());
    let names = each_once(drawn().map(group_of));
    let bar = |name: &str, value: &Setting| {
        let mine = drawn().filter(|row| group_of(row) == name);
        let here: Vec<&ResultRow> = mine.filter(|row| row.sweep.contains(value)).collect();
        let mut runs: Vec<f64> = here.iter().map(|row| figure(row)).collect();
        runs.sort_by(f64::total_cmp);
        let ceiling = here.first().and_then(|row| (beside.most)(row));
        let footprint = here.first().filter(|_| value.axis() == "size");
        let footprint = footprint.map(|row| touched(beside.record, row));
        let footprint = footprint.filter(|all| all.0 > 0).map(words::decimal);
        let label = value.label();
        Step {
            label: footprint.map_or_else(|| label.to_owned(), |all| format!("{label} ({all})")),
            figure: runs.get(runs.len() / 2).copied(),
            ceiling,
            note: String::new(),
        }
    };
    let group = |name: &str| Group {
        name: name.to_owned(),
        bars: values.iter().map(|value| bar(name, value)).collect(),
    };
    names.iter().map(|name| group(name)).collect()
}
