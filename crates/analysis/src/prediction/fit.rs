//! Fits parameters to measured rows, and says how sure they and what follows from them are.
//!
//! Residuals and parameters are logarithms. With priors N(μ, τ²) of the parameters and a spread s
//! of the rows about the model, the fit minimises Σ(ln X − ln Y)² ÷ s² + Σ(θ − μ)² ÷ τ²
//! (Levenberg and Marquardt; Press et al., *Numerical Recipes*, 3rd edition, 2007, 15.5). About
//! its minimum, with the Jacobian J, the covariance is C = (JᵀJ ÷ s² + T⁻¹)⁻¹ (Seber and Wild,
//! *Nonlinear Regression*, 1989, 2.1 and 5.1; Gelman et al., *Bayesian Data Analysis*, 3rd edition,
//! 2013, 4.1 and 14.8).
//!
//! s² has a scaled inverse χ² prior of ν₀ degrees of freedom and s₀²; after n rows of which the
//! parameters took p = tr(J·C·Jᵀ) ÷ s², s² = (ν₀·s₀² + Σr²) ÷ (ν₀ + n − p) with as many degrees of
//! freedom. About the minimum, a prediction with the gradient g lies within t·√(g·C·gᵀ + s²) of its
//! logarithm; further away, where rates are no straight lines, [`super::posterior`] draws.

use super::load::{Measured, fitted};
use super::matrix::Symmetric;
use super::network::Network;
use super::parameter::{DEPENDS, PARAMETERS, Parameter, Values};
use super::posterior::{self, About, Draw, Mode};
use super::priors::Priors;
use super::rows::Points;
use crate::estimate::student;
use catalogue::Cluster;

/// How far rows lie from the model before anything is known of a system: 10 %. Assumed.
const PRIOR_SPREAD: f64 = 0.1;
/// As much as so many rows would say of it.
const PRIOR_ROWS: f64 = 1.0;
/// What lies outside of an interval.
pub(super) const OUTSIDE: f64 = 0.1;
/// Steps of a fit; each is a fraction of a millisecond.
const MOST_STEPS: usize = 60;
/// Steps on the way to a minimum that may not be the deepest.
const FEW_STEPS: usize = 25;
/// A minimum whose cost is more than this above the deepest one's has less than 2 % of its
/// likelihood.
const AS_DEEP: f64 = 8.0;
const MOST_MINIMA: usize = 4;
/// Middles of draws at most.
const MOST_MODES: usize = 10;
/// Where a parameter that does not bind lies below what binds it, in deviations of its prior: the
/// mean of a normal distribution of which half is cut off.
const SPARED: f64 = 0.8;
/// Draws of less weight say nothing.
const LEAST_WEIGHT: f64 = 1e-6;

/// A value with the interval that it lies in with a probability of 90 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The value.
    pub value: f64,
    /// 5 % lie below.
    pub low: f64,
    /// 5 % lie above.
    pub high: f64,
}

impl Range {
    /// How far it reaches to its wider side, as a logarithm.
    pub fn reaches(&self) -> f64 {
        let (below, above) = (self.value / self.low, self.high / self.value);
        below.max(above).max(1.0).ln()
    }
}

/// Parameters with how sure they are.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The most likely values.
    pub values: Values,
    /// What was held likely before.
    prior: Priors,
    /// Of the logarithms of the parameters.
    covariance: Symmetric,
    /// The spread of rows about the model, as a logarithm: 0.1 is 10 %.
    pub spread: f64,
    /// Degrees of freedom of the spread.
    pub freedom: f64,
    /// The share of a row's variance that its repetitions have in common, 0 to 1. Above 0, rows
    /// stray by what the model or the testbed has wrong, and not by chance.
    pub alike: f64,
    /// Parameters that may be the true ones.
    draws: Vec<Draw>,
}

impl Fit {
    /// What is known before anything was measured: class estimates, and what the testbed gives.
    pub fn unfitted(cluster: &Cluster) -> Fit {
        let prior = Priors::of(cluster);
        let none = Points::none();
        Fit::around(prior.medians, prior, &none, PRIOR_SPREAD).drawn(&none, Vec::new())
    }

    /// The fit to these rows.
    pub fn to(cluster: &Cluster, rows: &[Measured]) -> Fit {
        let prior = Priors::of(cluster);
        let points = Points::of(cluster, rows);
        let minima = minima(starts(&prior, &points), &prior, &points, PRIOR_SPREAD);
        let Some(first) = minima.first() else { return Fit::unfitted(cluster) };
        let mut fit = Fit::around(*first, prior, &points, PRIOR_SPREAD);
        // The spread and the parameters depend on each other; few turns settle both.
        for _ in 0..3 {
            let values = descend(fit.values, &fit.prior, &points, fit.spread, MOST_STEPS);
            fit = Fit::around(values, fit.prior, &points, fit.spread);
        }
        let taken = fit.taken(&points);
        let points = points.beside(&fit.values, taken);
        for _ in 0..3 {
            let values = descend(fit.values, &fit.prior, &points, fit.spread, MOST_STEPS);
            fit = Fit::around(values, fit.prior, &points, fit.spread);
        }
        let others = minima[1..].to_vec();
        fit.drawn(&points, others)
    }

    /// A calibration that was done before: the values and rows of a fitted testbed.
    pub fn found(cluster: &Cluster) -> Fit {
        let rows = fitted(cluster);
        let (prior, points) = (Priors::of(cluster), Points::of(cluster, &rows));
        let mut fit = Fit::around(Values::of(cluster), prior, &points, PRIOR_SPREAD);
        for _ in 0..3 {
            fit = Fit::around(fit.values, fit.prior, &points, fit.spread);
        }
        let taken = fit.taken(&points);
        let points = points.beside(&fit.values, taken);
        for _ in 0..3 {
            fit = Fit::around(fit.values, fit.prior, &points, fit.spread);
        }
        let minima = minima(starts(&fit.prior, &points), &fit.prior, &points, PRIOR_SPREAD);
        fit.drawn(&points, minima)
    }

    /// The same with draws of what its rows leave likely, about its minimum and about `others` that
    /// are another one and nearly as deep.
    fn drawn(self, points: &Points, others: Vec<Values>) -> Fit {
        let mut all = vec![self.values];
        for other in others {
            let values = descend(other, &self.prior, points, self.spread, FEW_STEPS);
            let depth = |values: &Values| cost(values, &self.prior, points, self.spread);
            if depth(&values) - depth(&self.values) <= AS_DEEP
                && all.iter().all(|known| is_other(known, &values, &self.prior))
                && all.len() < MOST_MINIMA
            {
                all.push(values);
            }
        }
        let mut ways = self.other_ways(points, &all);
        ways.truncate(MOST_MODES - all.len());
        all.extend(ways);
        let mode = |values: Values| {
            let mut rows_tell = Symmetric::zero(PARAMETERS);
            for point in &points.all {
                let slopes = known_out(point.network.slopes(&values), &self.prior);
                rows_tell.add_outer(&slopes, point.worth);
            }
            Mode { values, rows_tell }
        };
        let about = About {
            modes: all.into_iter().map(mode).collect(),
            prior: &self.prior,
            spread: self.spread,
            freedom: self.freedom,
            rows: points.worth(),
            before: (PRIOR_ROWS, PRIOR_ROWS * PRIOR_SPREAD.powi(2)),
            has: Parameter::EACH
                .map(|parameter| points.all.iter().any(|point| point.network.has(parameter))),
        };
        let draws = posterior::draws(&about, &|values| points.squares(values));
        Fit { draws, ..self }
    }

    /// Where rows are explained otherwise, and nearly as well, without being a minimum: the deepest
    /// first.
    ///
    /// Of two parameters that may bind a row, the slower one does, and the other one may be as fast
    /// as anything. Both ways are arms of one valley, whose minimum lies in one of them. So each
    /// parameter that rows depend on is made one that does not bind, and the others explain the
    /// rows without it.
    fn other_ways(&self, points: &Points, known: &[Values]) -> Vec<Values> {
        let here = cost(&self.values, &self.prior, points, self.spread);
        let slopes: Vec<[f64; PARAMETERS]> =
            points.all.iter().map(|point| point.network.slopes(&self.values)).collect();
        let mut found: Vec<(f64, Values)> = Vec::new();
        for parameter in Parameter::EACH {
            let index = parameter.index();
            let depends = slopes.iter().any(|slopes| slopes[index].abs() >= DEPENDS);
            if self.prior.is_known(index) || !depends {
                continue;
            }
            let (median, value) = (self.prior.medians.0[index], self.values.0[index]);
            let spared = SPARED * self.prior.deviations[index];
            let mut held = self.prior.clone();
            held.deviations[index] = 0.0;
            held.medians.0[index] = if parameter.is_share() {
                median.max(value) + spared
            } else {
                median.min(value) - spared
            };
            let mut start = self.values;
            start.0[index] = held.medians.0[index];
            let values = descend(start, &held, points, self.spread, FEW_STEPS);
            let depth = cost(&values, &self.prior, points, self.spread);
            let is_new = |other: &Values| is_other(other, &values, &self.prior);
            if depth - here <= AS_DEEP
                && known.iter().all(is_new)
                && found.iter().all(|(_, other)| is_new(other))
            {
                found.push((depth, values));
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found.into_iter().map(|(_, values)| values).collect()
    }

    fn around(values: Values, prior: Priors, points: &Points, spread: f64) -> Fit {
        let mut information = Symmetric::zero(PARAMETERS);
        prior.add_to(&mut information);
        let slopes: Vec<[f64; PARAMETERS]> = points
            .all
            .iter()
            .map(|point| known_out(point.network.slopes(&values), &prior))
            .collect();
        let counts = || points.all.iter().map(|point| point.worth);
        for (slope, count) in slopes.iter().zip(counts()) {
            information.add_outer(slope, count * spread.powi(-2));
        }
        let covariance = information.inverse();
        let each = slopes.iter().zip(counts());
        let taken: f64 =
            each.map(|(slope, count)| count * covariance.between(slope, slope)).sum::<f64>()
                / spread.powi(2);
        let squares = points.squares(&values);
        let freedom = PRIOR_ROWS + (points.worth() - taken).max(0.0);
        let spread = ((PRIOR_ROWS * PRIOR_SPREAD.powi(2) + squares) / freedom).sqrt();
        let alike = points.alike;
        Fit { values, prior, covariance, spread, freedom, alike, draws: Vec::new() }
    }

    /// How many of these rows the parameters took.
    fn taken(&self, points: &Points) -> f64 {
        points.worth() + PRIOR_ROWS - self.freedom
    }

    pub(super) fn likely(&self) -> impl Iterator<Item = &Draw> {
        self.draws.iter().filter(|draw| draw.weight >= LEAST_WEIGHT)
    }

    /// A rate of this logarithm, which changes so with those of the parameters, with its interval
    /// for one further measurement.
    pub(super) fn further(&self, ln_rate: f64, slopes: [f64; PARAMETERS]) -> Range {
        let slopes = known_out(slopes, &self.prior);
        self.range(ln_rate, self.covariance.between(&slopes, &slopes) + self.spread.powi(2))
    }

    /// The parameters that leave a network's rate open, the one that does so most first: those
    /// whose own deviation moves it by at least half as much as the first one's.
    pub fn opens(&self, network: &Network) -> Vec<Parameter> {
        let slopes = known_out(network.slopes(&self.values), &self.prior);
        let moves = |parameter: &Parameter| {
            slopes[parameter.index()].abs() * self.variance(*parameter).sqrt()
        };
        let mut all: Vec<Parameter> = Parameter::EACH.to_vec();
        all.sort_by(|a, b| moves(b).total_cmp(&moves(a)));
        let most = all.first().map_or(0.0, moves);
        all.retain(|parameter| moves(parameter) > 0.0 && moves(parameter) >= 0.5 * most);
        all
    }

    /// A parameter with its interval, in seconds or as a share.
    pub fn parameter(&self, parameter: Parameter) -> Range {
        let index = parameter.index();
        let range = self.range(self.values.0[index], self.variance(parameter));
        if !parameter.is_share() {
            return range;
        }
        Range { value: range.value.min(1.0), low: range.low.min(1.0), high: range.high.min(1.0) }
    }

    /// The variance of a parameter's logarithm; 0 for what is known.
    fn variance(&self, parameter: Parameter) -> f64 {
        let index = parameter.index();
        if self.prior.is_known(index) { 0.0 } else { self.covariance.at(index, index) }
    }

    /// The share of what was open of a parameter that rows did not settle: its deviation now ÷
    /// before. 0 for what is known.
    pub fn open(&self, parameter: Parameter) -> f64 {
        let before = self.prior.deviations[parameter.index()];
        if before > 0.0 { self.variance(parameter).sqrt() / before } else { 0.0 }
    }

    /// How much a row of this network would tell: the logarithm by which it divides the volume of
    /// what is likely, ½·ln(1 + g·C·gᵀ ÷ s²) (Lindley, "On a measure of the information provided by
    /// an experiment", Annals of Mathematical Statistics 27, 1956).
    pub(crate) fn would_tell(&self, network: &Network) -> f64 {
        let slopes = known_out(network.slopes(&self.values), &self.prior);
        0.5 * (self.covariance.between(&slopes, &slopes) / self.spread.powi(2)).ln_1p()
    }

    /// The same fit as if a row of this network had been measured and were as predicted.
    pub(crate) fn having_seen(&self, network: &Network) -> Fit {
        let slopes = known_out(network.slopes(&self.values), &self.prior);
        let mut information = self.covariance.inverse();
        information.add_outer(&slopes, self.spread.powi(-2));
        Fit { covariance: information.inverse(), ..self.clone() }
    }

    fn range(&self, ln: f64, variance: f64) -> Range {
        let by = student::bound(OUTSIDE, self.freedom) * variance.max(0.0).sqrt();
        // Beyond e⁵⁰ nothing is a figure any more.
        let exp = |ln: f64| ln.clamp(-50.0, 50.0).exp();
        Range { value: exp(ln), low: exp(ln - by), high: exp(ln + by) }
    }
}

/// What is known does not move.
fn known_out(mut slopes: [f64; PARAMETERS], prior: &Priors) -> [f64; PARAMETERS] {
    for (index, slope) in slopes.iter_mut().enumerate() {
        if prior.is_known(index) || !slope.is_finite() {
            *slope = 0.0;
        }
    }
    slopes
}

/// Where fits begin: a cache that holds more or less is another valley, and so is a stream that is
/// bound by the software or by the drives.
fn starts(prior: &Priors, points: &Points) -> Vec<Values> {
    let cache = Parameter::CacheUsable.index();
    let moved = |by: f64| {
        let mut start = prior.medians;
        if !prior.is_known(cache) {
            start.0[cache] += by;
        }
        start
    };
    let mut starts = vec![prior.medians];
    if points.all.iter().any(|point| point.network.has(Parameter::CacheUsable)) {
        starts.extend([moved(-0.3), moved(-0.6), moved(0.2)]);
    }
    // What binds a stream: nothing of the software, or nothing of the drives.
    for (parameters, deviations) in [
        (&[Parameter::ReadPerMib, Parameter::WritePerMib][..], -2.0),
        (&[Parameter::StreamShare, Parameter::ReadPerMib, Parameter::WritePerMib][..], 1.4),
    ] {
        let mut start = prior.medians;
        for parameter in parameters {
            let index = parameter.index();
            start.0[index] += deviations * prior.deviations[index];
        }
        starts.push(start);
    }
    starts
}

fn cost(values: &Values, prior: &Priors, points: &Points, spread: f64) -> f64 {
    points.squares(values) / spread.powi(2) + prior.distance(values)
}

/// The minima that these starts lead to, the deepest first; near ones stand for each other.
fn minima(starts: Vec<Values>, prior: &Priors, points: &Points, spread: f64) -> Vec<Values> {
    let mut reached: Vec<(f64, Values)> = starts
        .into_iter()
        .map(|start| descend(start, prior, points, spread, FEW_STEPS))
        .map(|values| (cost(&values, prior, points, spread), values))
        .collect();
    reached.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut minima: Vec<Values> = Vec::new();
    for (_, values) in reached {
        if minima.iter().all(|known| is_other(known, &values, prior)) {
            minima.push(values);
        }
    }
    minima
}

/// Whether two minima are not one: a parameter differs by more than half of its prior's deviation.
fn is_other(one: &Values, other: &Values, prior: &Priors) -> bool {
    (0..PARAMETERS)
        .any(|index| (one.0[index] - other.0[index]).abs() > 0.5 * prior.deviations[index])
}

fn descend(
    start: Values,
    prior: &Priors,
    points: &Points,
    spread: f64,
    most_steps: usize,
) -> Values {
    let (mut values, mut damping) = (start, 1e-2);
    let mut here = cost(&values, prior, points, spread);
    for _ in 0..most_steps {
        let mut curvature = Symmetric::zero(PARAMETERS);
        prior.add_to(&mut curvature);
        let mut slope = prior.pull(&values);
        for point in &points.all {
            let row = known_out(point.network.slopes(&values), prior);
            let off = point.worth * point.off(&values);
            curvature.add_outer(&row, point.worth * spread.powi(-2));
            for (sum, one) in slope.iter_mut().zip(row) {
                *sum += one * off / spread.powi(2);
            }
        }
        let before = here;
        while damping < 1e9 {
            let mut damped = curvature.clone();
            for index in 0..PARAMETERS {
                damped.add(index, index, damping * curvature.at(index, index));
            }
            let step = damped.inverse().times(&slope);
            let mut next = values;
            for (value, step) in next.0.iter_mut().zip(&step) {
                *value -= step.clamp(-1.0, 1.0);
            }
            let there = cost(&next, prior, points, spread);
            if there < here {
                (values, here) = (next, there);
                damping = (damping / 5.0).max(1e-9);
                break;
            }
            damping *= 4.0;
        }
        if before - here <= 1e-9 * (1.0 + here) {
            break;
        }
    }
    values
}
