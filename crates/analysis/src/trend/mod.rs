//! The same workload over many runs: levels, where they changed, and whether the latest run holds
//! its level.

mod excluded;
pub(crate) mod level;

use crate::compare::difference::{self, Ratio};
use crate::compare::{
    Against, ComparedPoint, Comparison, Difference, Key, Metric, Unlike, Verdict, comparable,
    grouped, judge,
};
use crate::estimate::{CONFIDENCE, Estimate, Interval};
use crate::rows::row::ResultRow;
use crate::rows::state::{RunState, run_state};
use model::Record;
use std::collections::BTreeSet;

/// The figures that a trend follows, in the order in which they are shown: rate, bandwidth, p99,
/// CPU time of the generators per request, and where a command told anything, its own.
pub const METRICS: [Metric; 7] = [
    Metric::Iops,
    Metric::Bandwidth,
    Metric::Quantile(P99),
    Metric::CpuPerIo,
    Metric::Told,
    Metric::ToldBandwidth,
    Metric::ToldP99,
];

/// The place of the p99 among [`crate::QUANTILES`].
const P99: usize = 3;
const _: () = assert!(crate::QUANTILES[P99].share == 0.99);

/// Runs in the order of time, as far as they belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    /// Numbers of the runs among those that were given, by the time at which they began. The last
    /// one is what others are held against.
    pub runs: Vec<usize>,
    /// Runs that do not belong to it.
    pub apart: Vec<ExcludedRun>,
    /// One for each point of the latest run, in its order.
    pub points: Vec<TrendPoint>,
    /// The latest run against the level that each figure had before it: the runs since the last
    /// change.
    pub latest: Comparison,
}

/// A run that is set apart.
#[derive(Clone, Debug, PartialEq)]
pub struct ExcludedRun {
    /// Its number among the runs that were given.
    pub run: usize,
    /// Why.
    pub why: Why,
}

/// Why a run is not part of a trend.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// It did not come to its planned end.
    NotComplete,
    /// The same run was given twice.
    Again,
    /// It measured something else, or on something else: in what it differs from the latest run.
    Unlike(Vec<Unlike>),
}

/// One point over the runs.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendPoint {
    /// Which one.
    pub key: Key,
    /// Runs (their place in [`Trend::runs`]) in which a point of this name did other work, and in
    /// what.
    pub apart: Vec<(usize, Vec<Unlike>)>,
    /// One for each of [`METRICS`] that is ours, and for others that a run has.
    pub series: Vec<Followed>,
}

/// One figure of a point over the runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Followed {
    /// Which figure.
    pub metric: Metric,
    /// Its value in each of [`Trend::runs`]; `None` where the run has none.
    pub values: Vec<Option<Value>>,
    /// Where it changed its level, in the order of time.
    pub changes: Vec<LevelChange>,
}

/// A figure of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// In the metric's unit; the geometric mean of repetitions.
    pub value: f64,
    /// Its 95 % interval within the run (of its repetitions, where it has several); `None` where
    /// the error is not known.
    pub interval: Option<Interval>,
}

/// A new level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelChange {
    /// The place in [`Trend::runs`] of the first run of the new level.
    pub at: usize,
    /// The geometric mean of the level before, in the metric's unit.
    pub before: f64,
    /// That of the new one, until the next change.
    pub after: f64,
}

impl LevelChange {
    /// The step in percent of the level before.
    pub fn percent(&self) -> f64 {
        100.0 * (self.after / self.before - 1.0)
    }
}

/// The trend that leads to the latest complete run. Empty where no run is complete.
pub fn trend(records: &[&Record]) -> Trend {
    let (runs, apart) = sorted_out(records);
    let rows: Vec<Vec<ResultRow>> = runs.iter().map(|run| crate::results(records[*run])).collect();
    let groups: Vec<Vec<(Key, Vec<&ResultRow>)>> = rows.iter().map(|rows| grouped(rows)).collect();
    let mut points = Vec::new();
    let mut compared = Vec::new();
    for (key, last) in groups.last().map(Vec::as_slice).unwrap_or_default() {
        let mut others = Vec::new();
        let mut sides: Vec<&[&ResultRow]> = Vec::new();
        for (place, group) in groups.iter().enumerate() {
            let mine = group
                .iter()
                .find(|(known, _)| known == key)
                .map_or(&[] as &[&ResultRow], |(_, rows)| rows);
            let unlike = mine
                .first()
                .zip(last.first())
                .map(|(row, base)| excluded::rows(base, row))
                .unwrap_or_default();
            sides.push(if unlike.is_empty() { mine } else { &[] });
            if !unlike.is_empty() {
                others.push((place, unlike));
            }
        }
        let is_shown = |one: &Followed| {
            one.metric.measured() == one.metric || one.values.iter().any(Option::is_some)
        };
        let series =
            METRICS.iter().map(|metric| followed(*metric, &sides)).filter(is_shown).collect();
        points.push(TrendPoint { key: key.clone(), apart: others, series });
        compared.push(last);
    }
    find_changes(&mut points);
    let latest = runs.last().filter(|_| runs.len() > 1).map(|run| Against {
        run: *run,
        points: points.iter().zip(compared).filter_map(|(point, rows)| held(point, rows)).collect(),
        ..Against::default()
    });
    let mut latest = Comparison { others: latest.into_iter().collect() };
    judge(&mut latest);
    Trend { runs, apart, points, latest }
}

/// The runs that belong together by the time at which they began, and the others.
fn sorted_out(records: &[&Record]) -> (Vec<usize>, Vec<ExcludedRun>) {
    let mut order: Vec<usize> = (0..records.len()).collect();
    order.sort_by_key(|run| (records[*run].started_unix_ns, *run));
    let mut apart = Vec::new();
    let mut known = BTreeSet::new();
    order.retain(|run| {
        let record = records[*run];
        let why = if !known.insert((record.plan.run_id.as_str(), record.started_unix_ns)) {
            Some(Why::Again)
        } else if run_state(record) != RunState::Complete {
            Some(Why::NotComplete)
        } else {
            None
        };
        apart.extend(why.clone().map(|why| ExcludedRun { run: *run, why }));
        why.is_none()
    });
    if let Some(base) = order.last().copied() {
        order.retain(|run| {
            let unlike = excluded::runs(records[base], records[*run]);
            let belongs = unlike.is_empty();
            if !belongs {
                apart.push(ExcludedRun { run: *run, why: Why::Unlike(unlike) });
            }
            belongs
        });
    }
    apart.sort_by_key(|apart| apart.run);
    (order, apart)
}

fn followed(metric: Metric, sides: &[&[&ResultRow]]) -> Followed {
    let value = |rows: &&[&ResultRow]| {
        let logarithms =
            rows.iter().map(|row| metric.value(row).map(f64::ln)).collect::<Option<Vec<f64>>>()?;
        let estimate = match rows {
            [] => return None,
            [row] => metric.ln_estimate(row),
            _ => difference::repeated(&logarithms),
        };
        let value = mean(&logarithms).exp();
        Some(Value { value, interval: estimate.map(|estimate| estimate.interval().map(f64::exp)) })
    };
    Followed { metric, values: sides.iter().map(value).collect(), changes: Vec::new() }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

impl Followed {
    /// The runs that have it, and the logarithms of their values.
    fn known(&self) -> (Vec<usize>, Vec<f64>) {
        self.values
            .iter()
            .enumerate()
            .filter_map(|(place, value)| Some((place, value.as_ref()?.value.ln())))
            .unzip()
    }
}

/// Looks for changes in every series. The share of false alarms holds for all of them together
/// (Bonferroni); bandwidth follows from the rate.
fn find_changes(points: &mut [TrendPoint]) {
    let is_tested = |followed: &Followed| {
        followed.metric != Metric::Bandwidth && followed.values.iter().any(Option::is_some)
    };
    let tested = points
        .iter()
        .flat_map(|point| &point.series)
        .filter(|followed| is_tested(followed))
        .count();
    let false_alarms = (1.0 - CONFIDENCE) / tested.max(1) as f64;
    for followed in
        points.iter_mut().flat_map(|point| &mut point.series).filter(|followed| is_tested(followed))
    {
        let (places, values) = followed.known();
        let steps = level::steps(&values, false_alarms);
        followed.changes = levels(&places, &values, &steps);
    }
    for point in points {
        let starts: Vec<usize> = point
            .series
            .first()
            .map(|rate| rate.changes.iter().map(|change| change.at).collect())
            .unwrap_or_default();
        for bandwidth in
            point.series.iter_mut().filter(|followed| followed.metric == Metric::Bandwidth)
        {
            let (places, values) = bandwidth.known();
            let steps: Vec<usize> = starts
                .iter()
                .filter_map(|at| places.iter().position(|place| place == at))
                .collect();
            bandwidth.changes = levels(&places, &values, &steps);
        }
    }
}

fn levels(places: &[usize], values: &[f64], steps: &[usize]) -> Vec<LevelChange> {
    let ends: Vec<usize> =
        [0].into_iter().chain(steps.iter().copied()).chain([values.len()]).collect();
    let change = |ends: &[usize]| LevelChange {
        at: places[ends[1]],
        before: mean(&values[ends[0]..ends[1]]).exp(),
        after: mean(&values[ends[1]..ends[2]]).exp(),
    };
    ends.windows(3).map(change).collect()
}

/// The latest run against the level before it. `None` where no run before it has the point.
fn held(point: &TrendPoint, rows: &[&ResultRow]) -> Option<ComparedPoint> {
    let found: Vec<(Difference, usize)> = point.series.iter().filter_map(against_level).collect();
    // Of the rate: other figures may have had their level for longer.
    let runs = found.first()?.1;
    let row = rows.first()?;
    Some(ComparedPoint {
        key: point.key.clone(),
        covers: row.covers,
        is_metadata: row.is_metadata(),
        unlike: Vec::new(),
        repetitions: (runs, 1),
        paired: false,
        load: comparable::load(row, row),
        one_finding: false,
        rate_missed: false,
        differences: found.into_iter().map(|(difference, _)| difference).collect(),
    })
}

/// The difference of the latest run to the level of the runs before it since the last change, and
/// how many those are.
fn against_level(followed: &Followed) -> Option<(Difference, usize)> {
    let (places, values) = followed.known();
    let (last, before) = values.split_last()?;
    followed.values.last()?.as_ref()?;
    let start = followed.changes.last().map_or(0, |change| change.at);
    let from = places.iter().position(|place| *place >= start)?;
    let level = before.get(from..).filter(|level| !level.is_empty())?;
    let ratio = prediction(level, *last);
    let Ratio { percent, interval, chance, test } =
        difference::no_surer_than(ratio, followed.metric.resolution());
    let difference = Difference {
        metric: followed.metric,
        base: mean(level).exp(),
        other: last.exp(),
        percent,
        interval,
        chance,
        test,
        is_apart: false,
        verdict: Verdict::NotKnown,
    };
    Some((difference, level.len()))
}

/// One further run against runs of one level, all logarithms: what a run more strays by is the
/// error of the level's mean and its own, s·√(1 + 1/n) with n − 1 degrees of freedom (the
/// prediction interval: Hahn and Meeker, *Statistical Intervals*, 1991, 4.7).
fn prediction(level: &[f64], run: f64) -> Ratio {
    let Some(repeated) = difference::repeated(level) else {
        return difference::bare(mean(level), run);
    };
    let n = level.len() as f64;
    let base = Estimate { error: repeated.error * (n + 1.0).sqrt(), ..repeated };
    difference::unpaired(
        base,
        Estimate { value: run, error: 0.0, freedom: f64::INFINITY, ..repeated },
    )
}

#[cfg(test)]
mod tests;
