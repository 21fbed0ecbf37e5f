//! What a sweep shows along an axis of numbers: where it peaks, from where on it is level, and which point is out of line.
//!
//! The rules and their sources stand in `docs/METHOD.md`, "Sweeps".

mod curve;

use crate::row::ResultRow;
use model::{Bytes, Nanos, Op, Percent};
use std::collections::BTreeMap;

pub use curve::{Curve, Odd};

/// Fewer points than this have no trend.
pub const LEAST_POINTS: usize = 4;

/// One operation of one workload along one axis of numbers, the other axes standing still.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The scenario's label.
    pub scenario: String,
    /// The workload's name.
    pub workload: String,
    /// The operation.
    pub op: Op,
    /// The axis.
    pub axis: String,
    /// The other axes and their values.
    pub others: Vec<(String, String)>,
    /// What was looked at.
    pub measure: Measure,
    /// How many runs stand behind a point, at most: its value is their median.
    pub repetitions: u32,
    /// The axis's values as written, in rising order: what the numbers of `curve` count.
    pub labels: Vec<String>,
    /// The numbers that these stand for: plain ones, bytes, ns or millionths.
    pub along: Vec<f64>,
    /// The figure at each value.
    pub values: Vec<f64>,
    /// What it shows.
    pub curve: Curve,
}

/// The figure of a sweep that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Requests per second.
    Iops,
    /// Bytes per second: along an axis of sizes, requests per second fall in any case.
    BytesPerSecond,
}

impl Measure {
    /// The name of the figure in an entry of the JSON's `results`.
    pub fn key(self) -> &'static str {
        match self {
            Measure::Iops => "iops",
            Measure::BytesPerSecond => "bytes_per_s",
        }
    }

    fn of(self, row: &ResultRow) -> f64 {
        match self {
            Measure::Iops => row.iops(),
            Measure::BytesPerSecond => row.bytes_per_s(),
        }
    }
}

/// What the sweeps among `rows` show, in the order of the rows; nothing for an axis that has fewer than [`LEAST_POINTS`] numbers.
///
/// Rows of stages that did not run to their end, and rows in which nothing was carried, do not count.
pub fn findings(rows: &[ResultRow]) -> Vec<Finding> {
    let mut series: Vec<(Key<'_>, Vec<&ResultRow>)> = Vec::new();
    let mut places: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.complete) {
        for key in keys(row) {
            let place = *places.entry(key.clone()).or_insert(series.len());
            match series.get_mut(place) {
                Some((_, members)) => members.push(row),
                None => series.push((key, vec![row])),
            }
        }
    }
    series.iter().filter_map(|(key, members)| finding(key, members)).collect()
}

/// What the rows of one series have in common: scenario, workload and number of its work, operation, axis, other axes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a> {
    scenario: &'a str,
    workload: (&'a str, u32),
    op: Op,
    axis: &'a str,
    others: Vec<&'a (String, String)>,
}

/// A row is part of one series for each of its axes.
fn keys(row: &ResultRow) -> impl Iterator<Item = Key<'_>> {
    row.sweep.iter().map(|(axis, _)| Key {
        scenario: &row.scenario,
        workload: (&row.workload, row.index),
        op: row.op,
        axis,
        others: row.sweep.iter().filter(|(other, _)| other != axis).collect(),
    })
}

fn finding(key: &Key<'_>, rows: &[&ResultRow]) -> Option<Finding> {
    let measure = if key.axis.ends_with("block_size") { Measure::BytesPerSecond } else { Measure::Iops };
    let label = |row: &&ResultRow| row.sweep.iter().find(|(axis, _)| axis == key.axis).map(|(_, label)| label.clone());
    let labels: Vec<String> = rows.iter().filter_map(label).collect();
    let along = numbers(&labels)?;
    // Labels that stand for the same number ("1KiB", "1024") are the same point.
    let mut points: Vec<(f64, String, Vec<f64>)> = Vec::new();
    for ((row, x), label) in rows.iter().zip(along).zip(labels) {
        let y = measure.of(row);
        if !(y > 0.0 && y.is_finite()) {
            continue;
        }
        match points.iter_mut().find(|(known, ..)| *known == x) {
            Some((_, _, values)) => values.push(y),
            None => points.push((x, label, vec![y])),
        }
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let repetitions = points.iter().map(|(_, _, values)| values.len() as u32).max()?;
    let along: Vec<f64> = points.iter().map(|(x, ..)| *x).collect();
    let values: Vec<f64> = points.iter_mut().map(|(_, _, values)| median(values)).collect();
    Some(Finding {
        scenario: key.scenario.to_owned(),
        workload: key.workload.0.to_owned(),
        op: key.op,
        axis: key.axis.to_owned(),
        others: key.others.iter().map(|axis| (*axis).clone()).collect(),
        measure,
        repetitions,
        labels: points.into_iter().map(|(_, label, _)| label).collect(),
        curve: curve::curve(&along, &values)?,
        along,
        values,
    })
}

/// The numbers that the labels of an axis stand for: all plain ones, or all sizes, durations or shares; `None` where they are words.
fn numbers<S: AsRef<str>>(labels: &[S]) -> Option<Vec<f64>> {
    let readers: [fn(&str) -> Option<f64>; 4] = [
        |label| label.parse::<f64>().ok().filter(|number| number.is_finite()),
        |label| label.parse().ok().map(|Bytes(bytes)| bytes as f64),
        |label| label.parse().ok().map(|Nanos(ns)| ns as f64),
        |label| label.parse().ok().map(|share: Percent| f64::from(share.ppm)),
    ];
    readers.iter().find_map(|read| labels.iter().map(|label| read(label.as_ref().trim())).collect())
}

/// The middle one of `values` in order, or the mean of the two middle ones; 0 of none.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match values {
        [] => 0.0,
        _ if values.len() % 2 == 1 => values[values.len() / 2],
        _ => (values[values.len() / 2 - 1] + values[values.len() / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests;
