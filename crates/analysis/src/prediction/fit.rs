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
//! freedom. A prediction with the gradient g lies within t·√(g·C·gᵀ + s²) of its logarithm.

use super::load::{Measured, fitted};
use super::matrix::Symmetric;
use super::network::Network;
use super::parameter::{PARAMETERS, Parameter, Values};
use crate::student;
use catalogue::Cluster;

/// How far rows lie from the model before anything is known of a system: 10 %. Assumed.
const PRIOR_SPREAD: f64 = 0.1;
/// As much as so many rows would say of it.
const PRIOR_ROWS: f64 = 4.0;
/// What lies outside of an interval.
const OUTSIDE: f64 = 0.1;
/// Steps of a fit; each is a fraction of a millisecond.
const MOST_STEPS: usize = 60;

/// How far one row that strays as assumed before anything was measured leaves its own rate open: a
/// logarithm that lies within it with a probability of 90 %. Less cannot be asked of a row that one
/// fitted row speaks for; a prediction that is less sure than that is an extrapolation.
pub(super) fn beside_one_row() -> f64 {
    student::bound(OUTSIDE, PRIOR_ROWS) * PRIOR_SPREAD
}

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

/// Parameters with how sure they are.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The most likely values.
    pub values: Values,
    /// What was held likely before.
    prior: Prior,
    /// Of the logarithms of the parameters.
    covariance: Symmetric,
    /// The spread of rows about the model, as a logarithm: 0.1 is 10 %.
    pub spread: f64,
    /// Degrees of freedom of the spread.
    pub freedom: f64,
}

/// The priors of all parameters; a deviation of 0 holds what is known.
#[derive(Clone, Debug)]
struct Prior {
    medians: Values,
    deviations: [f64; PARAMETERS],
}

impl Prior {
    fn of(cluster: &Cluster) -> Prior {
        let one = |parameter: Parameter| {
            let known = parameter.known(cluster);
            known.unwrap_or_else(|| parameter.prior(cluster).median).ln()
        };
        let deviation = |parameter: Parameter| match parameter.known(cluster) {
            Some(_) => 0.0,
            None => parameter.prior(cluster).deviation,
        };
        Prior {
            medians: Values(Parameter::ALL.map(one)),
            deviations: Parameter::ALL.map(deviation),
        }
    }

    /// Whether nothing can move this one.
    fn is_known(&self, parameter: usize) -> bool {
        self.deviations[parameter] <= 0.0
    }
}

/// A row with its network.
struct Point {
    network: Network,
    ln_rate: f64,
}

fn points(cluster: &Cluster, rows: &[Measured]) -> Vec<Point> {
    let point = |row: &Measured| Point {
        network: Network::new(cluster, &row.load),
        ln_rate: row.rate.max(1e-12).ln(),
    };
    rows.iter().map(point).collect()
}

impl Fit {
    /// What is known before anything was measured: class estimates, and what the testbed gives.
    pub fn unfitted(cluster: &Cluster) -> Fit {
        let prior = Prior::of(cluster);
        Fit::around(prior.medians, prior, &[], PRIOR_SPREAD)
    }

    /// The fit to these rows.
    pub fn to(cluster: &Cluster, rows: &[Measured]) -> Fit {
        let prior = Prior::of(cluster);
        let points = points(cluster, rows);
        let mut spread = PRIOR_SPREAD;
        let mut best: Option<Fit> = None;
        // The spread and the parameters depend on each other; few turns settle both.
        for _ in 0..4 {
            let starts = match &best {
                None => starts(&prior, &points),
                Some(fit) => vec![fit.values],
            };
            let reached = starts.into_iter().map(|start| descend(start, &prior, &points, spread));
            let least = reached.min_by(|a, b| {
                let cost = |values: &Values| cost(values, &prior, &points, spread);
                cost(a).total_cmp(&cost(b))
            });
            let Some(values) = least else { break };
            let fit = Fit::around(values, prior.clone(), &points, spread);
            spread = fit.spread;
            best = Some(fit);
        }
        best.unwrap_or_else(|| Fit::unfitted(cluster))
    }

    /// A calibration that was done before: the values and rows of a fitted testbed.
    pub fn found(cluster: &Cluster) -> Fit {
        let rows = fitted(cluster);
        let (prior, points) = (Prior::of(cluster), points(cluster, &rows));
        let mut fit = Fit::around(Values::of(cluster), prior, &points, PRIOR_SPREAD);
        for _ in 0..3 {
            fit = Fit::around(fit.values, fit.prior, &points, fit.spread);
        }
        fit
    }

    fn around(values: Values, prior: Prior, points: &[Point], spread: f64) -> Fit {
        let mut information = Symmetric::zero(PARAMETERS);
        for index in 0..PARAMETERS {
            let deviation = prior.deviations[index];
            information.add(index, index, if deviation > 0.0 { deviation.powi(-2) } else { 1e12 });
        }
        let slopes: Vec<[f64; PARAMETERS]> =
            points.iter().map(|point| known_out(point.network.slopes(&values), &prior)).collect();
        for slope in &slopes {
            information.add_outer(slope, spread.powi(-2));
        }
        let covariance = information.inverse();
        let taken: f64 = slopes.iter().map(|slope| covariance.between(slope, slope)).sum::<f64>()
            / spread.powi(2);
        let squares: f64 = points
            .iter()
            .map(|point| (point.network.ln_rate(&values) - point.ln_rate).powi(2))
            .sum();
        let freedom = PRIOR_ROWS + (points.len() as f64 - taken).max(0.0);
        let spread = ((PRIOR_ROWS * PRIOR_SPREAD.powi(2) + squares) / freedom).sqrt();
        Fit { values, prior, covariance, spread, freedom }
    }

    /// The rate of a network, with its interval for one further measurement.
    pub fn predict(&self, network: &Network) -> Range {
        self.further(network.ln_rate(&self.values), network.slopes(&self.values))
    }

    /// A rate of this logarithm, which changes so with those of the parameters, with its interval
    /// for one further measurement.
    pub(super) fn further(&self, ln_rate: f64, slopes: [f64; PARAMETERS]) -> Range {
        let slopes = known_out(slopes, &self.prior);
        self.range(ln_rate, self.covariance.between(&slopes, &slopes) + self.spread.powi(2))
    }

    /// How far what the rows leave open of the parameters may put off a network's rate: the 90 %
    /// interval of the rate alone, without what one measurement strays by, as a logarithm.
    pub fn left_open(&self, network: &Network) -> f64 {
        let slopes = known_out(network.slopes(&self.values), &self.prior);
        let variance = self.covariance.between(&slopes, &slopes);
        student::bound(OUTSIDE, self.freedom) * variance.max(0.0).sqrt()
    }

    /// The parameters that leave a network's rate open, the one that does so most first: those
    /// whose own deviation moves it by at least half as much as the first one's.
    pub fn opens(&self, network: &Network) -> Vec<Parameter> {
        let slopes = known_out(network.slopes(&self.values), &self.prior);
        let moves = |parameter: &Parameter| {
            slopes[parameter.index()].abs() * self.variance(*parameter).sqrt()
        };
        let mut all: Vec<Parameter> = Parameter::ALL.to_vec();
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
    pub fn would_tell(&self, network: &Network) -> f64 {
        let slopes = known_out(network.slopes(&self.values), &self.prior);
        0.5 * (self.covariance.between(&slopes, &slopes) / self.spread.powi(2)).ln_1p()
    }

    /// The same fit as if a row of this network had been measured and were as predicted.
    pub fn having_seen(&self, network: &Network) -> Fit {
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
fn known_out(mut slopes: [f64; PARAMETERS], prior: &Prior) -> [f64; PARAMETERS] {
    for (index, slope) in slopes.iter_mut().enumerate() {
        if prior.is_known(index) || !slope.is_finite() {
            *slope = 0.0;
        }
    }
    slopes
}

/// Where fits begin: a cache that holds more or less is another valley.
fn starts(prior: &Prior, points: &[Point]) -> Vec<Values> {
    let cache = Parameter::CacheUsable.index();
    let moved = |by: f64| {
        let mut start = prior.medians;
        if !prior.is_known(cache) {
            start.0[cache] += by;
        }
        start
    };
    if points.iter().any(|point| point.network.has(Parameter::CacheUsable)) {
        vec![prior.medians, moved(-0.3), moved(-0.6), moved(0.2)]
    } else {
        vec![prior.medians]
    }
}

fn cost(values: &Values, prior: &Prior, points: &[Point], spread: f64) -> f64 {
    let rows: f64 = points
        .iter()
        .map(|point| ((point.network.ln_rate(values) - point.ln_rate) / spread).powi(2))
        .sum();
    let away = |index: usize| match prior.deviations[index] {
        deviation if deviation > 0.0 => {
            ((values.0[index] - prior.medians.0[index]) / deviation).powi(2)
        }
        _ => 0.0,
    };
    rows + (0..PARAMETERS).map(away).sum::<f64>()
}

fn descend(start: Values, prior: &Prior, points: &[Point], spread: f64) -> Values {
    let (mut values, mut damping) = (start, 1e-2);
    let mut here = cost(&values, prior, points, spread);
    for _ in 0..MOST_STEPS {
        let mut curvature = Symmetric::zero(PARAMETERS);
        let mut slope = [0.0; PARAMETERS];
        for (index, slope) in slope.iter_mut().enumerate() {
            let deviation = prior.deviations[index];
            if deviation > 0.0 {
                curvature.add(index, index, deviation.powi(-2));
                *slope += (values.0[index] - prior.medians.0[index]) / deviation.powi(2);
            } else {
                curvature.add(index, index, 1e12);
            }
        }
        for point in points {
            let row = known_out(point.network.slopes(&values), prior);
            let off = point.network.ln_rate(&values) - point.ln_rate;
            curvature.add_outer(&row, spread.powi(-2));
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
