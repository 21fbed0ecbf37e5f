//! The load line: the highest rate at which an objective holds, from the points of a run that
//! searched for it.
//!
//! The rules and their sources stand in `docs/method/load-line.md`, "The load line".

pub mod axis;
pub mod map;
mod others;
pub mod search;

use crate::compare::Metric;
use crate::doubts::Warning;
use crate::estimate::quantile::QUANTILES;
use crate::rows::little;
use crate::rows::row::{Ops, ResultRow};
use model::load::{Pace, Rate};
use model::objective::{Condition, Limit, Objective};
use model::search::{Search, SearchAxis};
use model::{Histogram, Record};
pub use others::Others;
use search::{Answer, Next, Tried};

/// Errors on both sides that hold 95 % of a normal distribution.
const SURE: f64 = 1.96;
/// So many times its limit, a figure is by no chance, even where its interval is not known.
const UNLIKELY: f64 = 10.0;

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadLine {
    /// What had to hold.
    pub objective: Objective,
    /// The points in the order in which they were measured; those that were cut short are not
    /// among them.
    pub points: Vec<LoadPoint>,
    /// The load line itself.
    pub answer: Answer,
    /// Whether the search came to its end.
    pub finished: bool,
    /// The rate of the point with the greatest power: requests per second ÷ mean response time
    /// (Kleinrock 1979). `None` for fewer than three rates that the target kept up with.
    pub knee: Option<f64>,
    /// The highest rate that the target kept up with, in requests per second.
    pub kept_up: Option<f64>,
    /// The lowest rate above it that it did not keep up with: from here on, queues grow without
    /// end.
    pub fell_behind: Option<f64>,
    /// The most requests per second that came back at any point.
    pub most: f64,
}

impl LoadLine {
    /// The number of the point that stands for the answer, the last of several at its rate; `None`
    /// where there is no answer.
    pub fn answer_point(&self) -> Option<u32> {
        let rate = self.answer.rate?;
        let held = |point: &&LoadPoint| point.tried.rate == Some(rate) && point.holds;
        self.points.iter().rfind(held).map(|point| point.point)
    }

    /// Whether the lowest rate failed by chance, for all that is known: its figure's interval of
    /// 95 % reaches below the limit, or a figure of latency was measured once and has none. False
    /// where there is an answer.
    pub fn is_by_chance(&self) -> bool {
        let Some(lowest) = self.answer.fails_at.filter(|_| self.answer.rate.is_none()) else {
            return false;
        };
        let at: Vec<_> =
            self.points.iter().filter(|point| point.tried.rate == Some(lowest)).collect();
        self.answer.contradiction.is_none() && at.iter().all(|point| point.may_hold(at.len()))
    }
}

/// One point of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadPoint {
    /// Its number in the plan.
    pub point: u32,
    /// What the search saw.
    pub tried: Tried,
    /// The condition whose figure is worst against its limit; `None` where the target fell behind
    /// its rate.
    pub worst: Option<Condition>,
    /// That figure ÷ its limit (or the limit ÷ the figure, where more is better).
    pub of_limit: f64,
    /// Whether the objective holds.
    pub holds: bool,
    /// Whether the target kept up with the rate; of a closed loop, it always does.
    pub keeps_up: bool,
    /// The response times of all requests (in a closed loop the service times).
    pub latency: Histogram,
    /// Requests that failed.
    pub errors: u64,
    /// What others took of the CPUs of the load hosts meanwhile; `None` where no counters tell it.
    pub others: Option<Others>,
}

impl LoadPoint {
    /// Whether the objective may hold there, of a rate that was measured so many times.
    fn may_hold(&self, times: usize) -> bool {
        let is_latency =
            |worst: &Condition| matches!(worst.limit, Limit::Quantile { .. } | Limit::Mean(_));
        self.worst.as_ref().is_some_and(is_latency)
            && match self.tried.error {
                Some(error) => self.tried.excess * (-SURE * error).exp() <= 1.0,
                None => times == 1 && self.tried.excess < UNLIKELY,
            }
    }
}

/// The load line that `record` tells of; `None` where its run searched for none.
pub fn load_line(record: &Record, rows: &[ResultRow]) -> Option<LoadLine> {
    let search = record.plan.search.as_ref().filter(|search| search.along == SearchAxis::Rate)?;
    let mut points = points(record, search, rows);
    points.iter_mut().for_each(|point| point.others = others::of_point(record, point.point));
    let tried: Vec<Tried> = points.iter().map(|point| point.tried).collect();
    let open = || points.iter().filter_map(|point| point.tried.rate.map(|rate| (rate, point)));
    let kept_up =
        open().filter(|(_, point)| point.keeps_up).map(|(rate, _)| rate).max_by(f64::total_cmp);
    let fell = open().filter(|(_, point)| !point.keeps_up).map(|(rate, _)| rate);
    Some(LoadLine {
        answer: search::answer(&tried),
        finished: search::next(&tried) == Next::Done,
        knee: knee(&points),
        kept_up,
        fell_behind: fell
            .filter(|rate| kept_up.is_none_or(|kept| *rate > kept))
            .min_by(f64::total_cmp),
        most: points.iter().map(|point| point.tried.carried).fold(0.0, f64::max),
        objective: search.objective.clone(),
        points,
    })
}

/// The rate of the next point in thousandths of a request per second, for a search of which
/// `record` is all so far; `None` where it is over.
pub fn next_rate_milli(record: &Record) -> Option<u64> {
    let points = points(record, record.plan.search.as_ref()?, &crate::results(record));
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

fn points(record: &Record, search: &Search, rows: &[ResultRow]) -> Vec<LoadPoint> {
    let numbers = 0..record.plan.points.len() as u32;
    numbers
        .filter_map(|number| {
            // What was measured without a lost host says nothing of the rate that was asked of all.
            let is_judged = |row: &&ResultRow| {
                row.point == number && row.complete && row.is_addend() && !is_of_some(row)
            };
            let rows: Vec<&ResultRow> = rows.iter().filter(is_judged).collect();
            point(number, search, &rows)
        })
        .collect()
}

/// Whether hosts were lost, and the figures are those of the others.
fn is_of_some(row: &ResultRow) -> bool {
    row.warnings.iter().any(|warning| matches!(warning, Warning::HostLost { wholly: true, .. }))
}

fn point(number: u32, search: &Search, rows: &[&ResultRow]) -> Option<LoadPoint> {
    let first = rows.first()?;
    let rate = match first.work()?.pace {
        Pace::Open { rate: Rate::Iops { milli }, .. } => Some(milli as f64 / 1e3),
        _ => None,
    };
    let seconds = rows.iter().map(|row| row.seconds).fold(0.0, f64::max);
    let errors = rows.iter().map(|row| row.error_count()).fold(0, u64::saturating_add);
    let ios = rows.iter().map(|row| row.ios).fold(0, u64::saturating_add);
    let per_second = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
    // What came back of what was due, where requests piled up.
    let missed = rows.iter().flat_map(|row| &row.warnings).find_map(|warning| match warning {
        Warning::RateMissed { done, .. } => Some(*done),
        _ => None,
    });
    let keeps_up = missed.is_none();
    let behind = missed.map_or(0.0, |done| 1.0 / done.clamp(1e-9, 1.0 - 1e-9));
    let judged =
        || search.objective.conditions.iter().map(|condition| (condition, judge(condition, rows)));
    let by_excess =
        |a: &(&Condition, Judged), b: &(&Condition, Judged)| a.1.excess.total_cmp(&b.1.excess);
    // What a target was not asked for, it did not refuse: at a rate that it keeps up with, a rate
    // that the objective wants is no figure of the target, and says nothing about how near the load
    // line is.
    let is_asked = search.along == SearchAxis::Rate && rate.is_some() && keeps_up;
    let wants = |condition: &Condition| is_asked && condition.limit.is_at_least();
    let is_too_low = judged().any(|(condition, judged)| wants(condition) && judged.excess > 1.0);
    let of_target = judged().filter(|(condition, _)| !wants(condition)).max_by(by_excess);
    let excess = of_target.as_ref().map_or(0.0, |(_, judged)| judged.excess);
    let (condition, worst) =
        if is_too_low { None } else { of_target }.or_else(|| judged().max_by(by_excess))?;
    let falls_behind = !keeps_up && behind > excess;
    let mut latency = Histogram::new();
    rows.iter().for_each(|row| latency.merge(&row.latency));
    let carried = per_second(ios);
    let outstanding = little::outstanding(carried, latency.mean_ns().unwrap_or(0.0) / 1e9);
    let excess = excess.max(behind);
    let error = worst.error.filter(|_| !falls_behind && !wants(condition));
    let is_even_closed = rate.is_none() && !search.poisson;
    let tried = Tried {
        rate,
        carried,
        excess,
        error,
        outstanding: if is_even_closed { outstanding } else { 0.0 },
        is_too_low,
    };
    Some(LoadPoint {
        point: number,
        tried,
        worst: (!falls_behind).then(|| condition.clone()),
        of_limit: if falls_behind { behind } else { worst.excess },
        holds: excess <= 1.0 && !is_too_low,
        keeps_up,
        latency,
        errors,
        others: None,
    })
}

/// A figure against its limit.
pub(crate) struct Judged {
    /// The figure ÷ its limit, or the limit ÷ the figure where more is better.
    pub(crate) excess: f64,
    error: Option<f64>,
}

/// Holds the figures of a point against a condition.
pub(crate) fn judge(condition: &Condition, all: &[&ResultRow]) -> Judged {
    let is_asked = |row: &&&ResultRow| {
        row.is_addend() && condition.op.is_none_or(|op| row.ops == Ops::One(op))
    };
    let rows: Vec<&ResultRow> = all.iter().filter(is_asked).copied().collect();
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
    let at_least =
        |figure: f64, limit: f64| if figure > 0.0 { limit / figure } else { f64::INFINITY };
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
        Limit::Iops { milli } => {
            (at_least(sum(ResultRow::iops), milli as f64 / 1e3), Some(Metric::Iops))
        }
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
    let power = |point: &LoadPoint| {
        Some((point.tried.rate?, point.tried.carried / point.latency.mean_ns()?))
    };
    let mut powers: Vec<(f64, f64)> =
        kept.filter_map(power).filter(|(_, power)| power.is_finite()).collect();
    powers.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut rates: Vec<f64> = powers.iter().map(|(rate, _)| *rate).collect();
    rates.dedup();
    (rates.len() > 2)
        .then(|| powers.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(rate, _)| *rate))?
}

#[cfg(test)]
mod tests;
