//! What a sweep shows along an axis of numbers: where it peaks, from where on it is level, and
//! which point is out of line.
//!
//! The rules and their sources stand in `docs/method/sweeps.md`.

mod curve;

use crate::rows::row::{Covers, Ops, ResultRow};
use model::Setting;
use std::collections::BTreeMap;

pub(crate) use curve::curve as along;
pub use curve::{Curve, Odd};

/// Fewer points than this have no trend.
pub const LEAST_POINTS: usize = 4;

/// One operation of one workload, or a whole, along one axis of numbers, the other axes standing
/// still.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The scenario's label.
    pub scenario: String,
    /// The workload's name.
    pub workload: String,
    /// Which requests its figures count.
    pub ops: Ops,
    /// How much of each point that is.
    pub covers: Covers,
    /// Whether it is of operations on whole files.
    pub is_metadata: bool,
    /// The axis.
    pub axis: String,
    /// The other axes and their values.
    pub others: Vec<Setting>,
    /// What was looked at.
    pub measure: Measure,
    /// How many runs stand behind a point, at most: its value is their median.
    pub repetitions: u32,
    /// The axis's values in rising order: what the numbers of `curve` count.
    pub settings: Vec<Setting>,
    /// The numbers that these stand for, in the unit of their kind.
    pub along: Vec<f64>,
    /// The figure at each value.
    pub values: Vec<f64>,
    /// How long the shortest run at the peak lasted, in seconds.
    pub peak_s: f64,
    /// How long the longest run of all lasted, in seconds.
    pub longest_s: f64,
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

/// What the sweeps among `rows` show, in the order of the rows; nothing for an axis that has fewer
/// than [`LEAST_POINTS`] numbers.
///
/// Rows of stages that did not run to their end, and rows in which nothing was carried, do not
/// count.
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

/// What the rows of one series have in common: scenario, workload and number of its work,
/// operation, axis, other axes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a> {
    scenario: &'a str,
    workload: (&'a str, Option<u32>),
    ops: Ops,
    covers: Covers,
    axis: &'a str,
    others: Vec<&'a Setting>,
}

/// A row is part of one series for each of its axes.
fn keys(row: &ResultRow) -> impl Iterator<Item = Key<'_>> {
    row.sweep.iter().map(|setting| Key {
        scenario: &row.scenario,
        workload: (&row.workload, row.index),
        ops: row.ops,
        covers: row.covers,
        axis: setting.axis(),
        others: row.sweep.iter().filter(|other| other.axis() != setting.axis()).collect(),
    })
}

fn finding(key: &Key<'_>, rows: &[&ResultRow]) -> Option<Finding> {
    let setting =
        |row: &&ResultRow| row.sweep.iter().find(|setting| setting.axis() == key.axis).cloned();
    let settings: Vec<Setting> = rows.iter().filter_map(setting).collect();
    let first = settings.first()?;
    if !settings.iter().all(|setting| setting.quantity().is_of_one_kind(first.quantity())) {
        return None;
    }
    let measure = if first.is_request_size() { Measure::BytesPerSecond } else { Measure::Iops };
    // However it is written, a quantity is one point.
    let mut points: Vec<(Setting, Vec<f64>)> = Vec::new();
    for (row, setting) in rows.iter().zip(settings) {
        let y = measure.of(row);
        if !(y > 0.0 && y.is_finite()) {
            continue;
        }
        match points.iter_mut().find(|(known, _)| *known == setting) {
            Some((_, values)) => values.push(y),
            None => points.push((setting, vec![y])),
        }
    }
    points.sort_by(|a, b| a.0.cmp(&b.0));
    let repetitions = points.iter().map(|(_, values)| values.len() as u32).max()?;
    let along: Vec<f64> =
        points.iter().filter_map(|(setting, _)| setting.quantity().number()).collect();
    let values: Vec<f64> = points.iter_mut().map(|(_, values)| median(values)).collect();
    let curve = curve::curve(&along, &values)?;
    let (peak, _) = points.get(curve.peak)?;
    let seconds_at = |is_asked: &dyn Fn(&ResultRow) -> bool| {
        let asked: Vec<f64> =
            rows.iter().filter(|row| is_asked(row)).map(|row| row.seconds).collect();
        asked.into_iter()
    };
    Some(Finding {
        scenario: key.scenario.to_owned(),
        workload: key.workload.0.to_owned(),
        ops: key.ops,
        covers: key.covers,
        is_metadata: rows.iter().any(|row| row.is_metadata()),
        axis: key.axis.to_owned(),
        others: key.others.iter().map(|setting| (*setting).clone()).collect(),
        measure,
        repetitions,
        settings: points.iter().map(|(setting, _)| setting.clone()).collect(),
        peak_s: seconds_at(&|row| row.sweep.contains(peak)).fold(f64::INFINITY, f64::min),
        longest_s: seconds_at(&|_| true).fold(0.0, f64::max),
        curve,
        along,
        values,
    })
}

impl Finding {
    /// Whether `row` is one of those that the curve goes through.
    pub fn has(&self, row: &ResultRow) -> bool {
        let is_here = |setting: &Setting| row.sweep.contains(setting);
        (row.scenario.as_str(), row.workload.as_str()) == (&self.scenario, &self.workload)
            && (row.ops, row.covers) == (self.ops, self.covers)
            && self.others.iter().all(is_here)
            && self.settings.iter().any(is_here)
    }

    /// Whether the peak was over within a second, while other points lasted longer: a fixed amount
    /// was done at once.
    pub fn is_instant(&self) -> bool {
        self.peak_s < 1.0 && self.longest_s >= 1.0
    }

    /// The value of the axis at a point of the curve, as it was written.
    pub fn label(&self, point: usize) -> Option<&str> {
        self.settings.get(point).map(Setting::label)
    }
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
