//! The load line: the highest rate at which an objective holds, from the points of a run that searched for it.
//!
//! The rules and their sources stand in `docs/METHOD.md`, "The load line".

pub mod along;
pub mod search;

use crate::compare::Metric;
use crate::row::ResultRow;
use crate::warning::QUANTILES;
use model::along::Along;
use model::load::{Pace, Rate};
use model::objective::{Condition, Limit, Objective};
use model::{Histogram, Op, Record};
use search::{Answer, Next, Tried};

/// A target keeps up with its rate if no more than this share of what is due does not come back.
const BEHIND: f64 = 0.01;

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadLine {
    /// What had to hold.
    pub objective: Objective,
    /// The points in the order in which they were measured; those that were cut short are not among them.
    pub points: Vec<LoadPoint>,
    /// The load line itself.
    pub answer: Answer,
    /// Whether the search came to its end.
    pub finished: bool,
    /// The rate of the point with the greatest power: requests per second ÷ mean response time (Kleinrock 1979). `None` for fewer than
    /// three rates that the target kept up with.
    pub knee: Option<f64>,
    /// The highest rate that the target kept up with, in requests per second.
    pub kept_up: Option<f64>,
    /// The lowest rate above it that it did not keep up with: from here on, queues grow without end.
    pub fell_behind: Option<f64>,
    /// The most requests per second that came back at any point.
    pub most: f64,
}

/// One point of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadPoint {
    /// Its number in the plan.
    pub point: u32,
    /// What the search saw.
    pub tried: Tried,
    /// The figure that is worst against its limit, as the objective writes it; `None` where the target fell behind its rate.
    pub worst: Option<String>,
    /// Whether the objective holds.
    pub holds: bool,
    /// Whether the target kept up with the rate; of a closed loop, it always does.
    pub keeps_up: bool,
    /// The response times of all requests (in a closed loop the service times).
    pub latency: Histogram,
    /// Requests that failed.
    pub errors: u64,
}

/// The load line that `record` tells of; `None` where its run searched for none.
pub fn load_line(record: &Record, rows: &[ResultRow]) -> Option<LoadLine> {
    let objective = record.plan.search.as_ref().filter(|search| search.along == Along::Rate)?.objective.clone();
    let points = points(record, &objective, rows);
    let tried: Vec<Tried> = points.iter().map(|point| point.tried).collect();
    let open = || points.iter().filter_map(|point| point.tried.rate.map(|rate| (rate, point)));
    let kept_up = open().filter(|(_, point)| point.keeps_up).map(|(rate, _)| rate).max_by(f64::total_cmp);
    let fell = open().filter(|(_, point)| !point.keeps_up).map(|(rate, _)| rate);
    Some(LoadLine {
        answer: search::answer(&tried),
        finished: search::next(&tried) == Next::Done,
        knee: knee(&points),
        kept_up,
        fell_behind: fell.filter(|rate| kept_up.is_none_or(|kept| *rate > kept)).min_by(f64::total_cmp),
        most: points.iter().map(|point| point.tried.carried).fold(0.0, f64::max),
        objective,
        points,
    })
}

/// The rate of the next point in thousandths of a request per second, for a search of which `record` is all so far; `None` where it is over.
pub fn next_rate_milli(record: &Record) -> Option<u64> {
    let objective = &record.plan.search.as_ref()?.objective;
    let points = points(record, objective, &crate::results(record));
    // A point that cannot be judged would be asked for again and again.
    if points.len() < record.plan.points.len() {
        return None;
    }
    let tried: Vec<Tried> = points.iter().map(|point| point.tried).collect();
    match search::next(&tried) {
        Next::Open(rate) => Some(((rate * 1e3).round() as u64).max(1)),
        Next::Closed | Next::Done => None,
    }
}

fn points(record: &Record, objective: &Objective, rows: &[ResultRow]) -> Vec<LoadPoint> {
    let numbers = 0..record.plan.points.len() as u32;
    numbers
        .filter_map(|number| {
            let rows: Vec<&ResultRow> =
                rows.iter().filter(|row| row.point == number && row.complete && row.op != Op::Fsync).collect();
            point(number, objective, &rows)
        })
        .collect()
}

fn point(number: u32, objective: &Objective, rows: &[&ResultRow]) -> Option<LoadPoint> {
    let first = rows.first()?;
    let (rate, poisson) = match first.work.pace {
        Pace::Open { rate: Rate::Iops { milli }, poisson } => (Some(milli as f64 / 1e3), poisson),
        _ => (None, false),
    };
    let seconds = rows.iter().map(|row| row.seconds).fold(0.0, f64::max);
    let errors = rows.iter().map(|row| row.error_count()).fold(0, u64::saturating_add);
    let ios = rows.iter().map(|row| row.ios).fold(0, u64::saturating_add);
    let per_second = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
    // One that failed came back, too.
    let answered = ios.saturating_add(errors);
    let due = rate.unwrap_or(0.0) * seconds;
    // Strangers do not arrive by the clock: three standard deviations of a Poisson count.
    let chance = if poisson { 3.0 * due.max(1.0).sqrt() } else { 1.0 };
    let keeps_up = (answered as f64) >= due * (1.0 - BEHIND) - chance;
    let judged = objective.conditions.iter().map(|condition| (condition, judge(condition, rows)));
    let worst = judged.max_by(|a, b| a.1.excess.total_cmp(&b.1.excess))?;
    let behind = due / (answered as f64).max(1.0);
    let falls_behind = !keeps_up && behind > worst.1.excess;
    let mut latency = Histogram::new();
    rows.iter().for_each(|row| latency.merge(&row.latency));
    let excess = if keeps_up { worst.1.excess } else { worst.1.excess.max(behind) };
    Some(LoadPoint {
        point: number,
        tried: Tried { rate, carried: per_second(ios), excess, error: if falls_behind { None } else { worst.1.error } },
        worst: (!falls_behind).then(|| worst.0.figure()),
        holds: excess <= 1.0,
        keeps_up,
        latency,
        errors,
    })
}

/// A figure against its limit.
struct Judged {
    excess: f64,
    error: Option<f64>,
}

fn judge(condition: &Condition, all: &[&ResultRow]) -> Judged {
    let rows: Vec<&ResultRow> = all.iter().filter(|row| condition.op.is_none_or(|op| op == row.op)).copied().collect();
    let mut latency = Histogram::new();
    rows.iter().for_each(|row| latency.merge(&row.latency));
    let sum = |of: fn(&ResultRow) -> f64| rows.iter().map(|row| of(row)).sum::<f64>();
    let errors = sum(|row| row.error_count() as f64);
    let at_most = |figure: Option<f64>, limit: f64| match figure {
        // Nothing came back: no latency was kept.
        None => f64::INFINITY,
        Some(figure) if limit > 0.0 => figure / limit,
        Some(figure) => {
            if figure > 0.0 {
                f64::INFINITY
            } else {
                0.0
            }
        }
    };
    let at_least = |figure: f64, limit: f64| if figure > 0.0 { limit / figure } else { f64::INFINITY };
    let (excess, metric) = match condition.limit {
        Limit::Mean(limit) => (at_most(latency.mean_ns(), limit.0 as f64), Some(Metric::Mean)),
        Limit::Max(limit) => (at_most(latency.max_ns().map(|ns| ns as f64), limit.0 as f64), None),
        Limit::Quantile { share, at_most: limit } => {
            let share = f64::from(share.ppm.min(1_000_000)) / 1e6;
            let known = QUANTILES.iter().position(|quantile| (quantile.share - share).abs() < 1e-9);
            let figure = latency.quantile_ns(share).map(|ns| ns as f64);
            (at_most(figure, limit.0 as f64), known.map(Metric::Quantile))
        }
        Limit::Errors(limit) => (at_most(Some(errors), limit as f64), None),
        Limit::ErrorShare(limit) => {
            let all = errors + sum(|row| row.ios as f64);
            (at_most((all > 0.0).then(|| errors / all), f64::from(limit.ppm) / 1e6), None)
        }
        Limit::Iops { milli } => (at_least(sum(ResultRow::iops), milli as f64 / 1e3), Some(Metric::Iops)),
        Limit::Bandwidth { per_second } => {
            (at_least(sum(ResultRow::bytes_per_s), per_second as f64), Some(Metric::Bandwidth))
        }
    };
    // At the limit itself, only "at most" and "at least" hold.
    let excess = if excess == 1.0 && !condition.inclusive { 1.0 + f64::EPSILON } else { excess };
    // What chance does is known of one operation, not of their sum.
    let error = match (rows.as_slice(), metric) {
        ([row], Some(metric)) => metric.ln_estimate(row).map(|estimate| estimate.error),
        _ => None,
    };
    Judged { excess, error }
}

/// Kleinrock's knee among the points that the target kept up with.
fn knee(points: &[LoadPoint]) -> Option<f64> {
    let kept = points.iter().filter(|point| point.keeps_up && point.errors == 0);
    let power = |point: &LoadPoint| Some((point.tried.rate?, point.tried.carried / point.latency.mean_ns()?));
    let mut powers: Vec<(f64, f64)> = kept.filter_map(power).filter(|(_, power)| power.is_finite()).collect();
    powers.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut rates: Vec<f64> = powers.iter().map(|(rate, _)| *rate).collect();
    rates.dedup();
    (rates.len() > 2).then(|| powers.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(rate, _)| *rate))?
}

#[cfg(test)]
mod tests;
