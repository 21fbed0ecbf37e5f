//! Draws of parameters that the fitted rows leave likely, each with its weight.
//!
//! About a minimum, a fit is a normal distribution only as far as rates are straight lines there. A
//! footprint that just fits the cache, or a station that is about to bind, bends them. So intervals
//! and marks come from draws: importance sampling from a normal distribution about the minimum,
//! whose width follows a drawn spread (Geweke, "Bayesian inference in econometric models using
//! Monte Carlo integration", Econometrica 57, 1989), with weights cut off at √M
//! times their mean (Ionides, "Truncated importance sampling", Journal of Computational and
//! Graphical Statistics 17, 2008). Numbers are those of one seed, so the same rows give the same
//! draws.

use super::matrix::Symmetric;
use super::parameter::{PARAMETERS, Values};
use super::priors::Priors;
use crate::estimate::student::halved;
use crate::gate::needed::normal as below_normal;
use model::rng::Rng;

/// How many are drawn.
const DRAWS: usize = 800;
/// Their seed.
const SEED: u64 = 20;
/// What that of parameters which no row has differs by.
const FREE_SEED: u64 = 0x6672_6565;
/// One of so many comes from a distribution that is wider: what lies in the tails of the narrow one
/// would have too large a weight.
const WIDE_EVERY: usize = 4;
const WIDE: f64 = 1.5;

/// Parameters that may be the true ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draw {
    pub(super) values: Values,
    /// How far rows stray about the model there, as a logarithm.
    pub(super) spread: f64,
    /// All weights add up to 1.
    pub(super) weight: f64,
}

/// A minimum that draws are made about.
pub(super) struct Mode {
    pub(super) values: Values,
    /// Of the rows' rates there: JᵀJ.
    pub(super) rows_tell: Symmetric,
}

/// What draws are made of.
pub(super) struct About<'a> {
    /// Minima, at least one: as many draws about each.
    pub(super) modes: Vec<Mode>,
    pub(super) prior: &'a Priors,
    /// The spread of the rows at the first minimum, and its degrees of freedom.
    pub(super) spread: f64,
    pub(super) freedom: f64,
    /// How many rows there are, repetitions as far as they tell anything.
    pub(super) rows: f64,
    /// Of the spread's prior: its degrees of freedom, and the sum of squares that they stand for.
    pub(super) before: (f64, f64),
    /// Whether any row may depend on a parameter. What none does stays as it is held likely.
    pub(super) has: [bool; PARAMETERS],
}

/// Draws about minima; `squares` is the sum of the rows' squared residuals for parameters.
///
/// A spread is drawn first, and parameters next from the normal distribution that they have about a
/// minimum with this spread. Were rates straight lines, all weights would be nearly one. Parameters
/// that no row has come from their prior: they move no weight.
pub(super) fn draws(about: &About<'_>, squares: &dyn Fn(&Values) -> f64) -> Vec<Draw> {
    // Numbers of their own, so that a further parameter changes nothing of loads without it.
    let (mut rng, mut free_rng) = (Rng::new(SEED), Rng::new(SEED ^ FREE_SEED));
    let (unknown, free): (Vec<usize>, Vec<usize>) = (0..PARAMETERS)
        .filter(|index| !about.prior.is_known(*index))
        .partition(|index| about.has[*index] || !about.prior.is_alone(*index));
    // What is free or known has no part in it, and time grows with the third power.
    let mut before = Symmetric::zero(PARAMETERS);
    about.prior.add_to(&mut before);
    let before = before.picked(&unknown);
    let told: Vec<Symmetric> =
        about.modes.iter().map(|mode| mode.rows_tell.picked(&unknown)).collect();
    let sum = about.freedom * about.spread.powi(2);
    let mut drawn: Vec<(Draw, f64)> = Vec::with_capacity(DRAWS);
    for number in 0..DRAWS {
        let variance = sum / chi_squared(&mut rng, about.freedom);
        let lowers: Vec<Symmetric> = told
            .iter()
            .map(|told| told.scaled(1.0 / variance).plus(&before).inverse().lower())
            .collect();
        let here = number % about.modes.len();
        let wide = if (number / about.modes.len()).is_multiple_of(WIDE_EVERY) { WIDE } else { 1.0 };
        let standard: Vec<f64> = unknown.iter().map(|_| wide * normal(&mut rng)).collect();
        let mut values = about.modes[here].values;
        for (row, index) in unknown.iter().enumerate() {
            let lower = &lowers[here];
            let moved = (0..=row).map(|column| lower.at(row, column) * standard[column]);
            values.0[*index] += moved.sum::<f64>();
        }
        let densities = about.modes.iter().zip(&lowers).map(|(mode, lower)| {
            let away = |index: &usize| values.0[*index] - mode.values.0[*index];
            let from: Vec<f64> = unknown.iter().map(away).collect();
            let standard = lower.solved(&from);
            let away: f64 = standard.iter().map(|one| one.powi(2)).sum();
            let volume: f64 = (0..unknown.len()).map(|row| lower.at(row, row).ln()).sum();
            mixed(away, unknown.len() as f64) - volume
        });
        let proposed = scaled_inverse(variance, about.freedom, sum)
            + ln_of_sum(&densities.collect::<Vec<_>>());
        let (freedom, before) = about.before;
        let likely = scaled_inverse(variance, freedom, before)
            - 0.5 * (about.rows * variance.ln() + squares(&values) / variance)
            - 0.5 * about.prior.distance(&values);
        for index in &free {
            let from_median = about.prior.deviations[*index] * normal(&mut free_rng);
            values.0[*index] = about.prior.medians.0[*index] + from_median;
        }
        let draw = Draw { values, spread: variance.sqrt(), weight: 0.0 };
        drawn.push((draw, likely - proposed));
    }
    weighted(drawn)
}

/// The logarithm of the density of a scaled inverse χ² distribution, but for what does not depend
/// on the variance.
fn scaled_inverse(variance: f64, freedom: f64, sum: f64) -> f64 {
    -(0.5 * freedom + 1.0) * variance.ln() - 0.5 * sum / variance
}

/// The logarithm of the density of the narrow and the wide normal distribution together, but for a
/// factor that all share, where the sum of squares from their middle is `away`.
fn mixed(away: f64, dimensions: f64) -> f64 {
    let wide_share = 1.0 / WIDE_EVERY as f64;
    let narrow = -0.5 * away + (1.0 - wide_share).ln();
    let wide = -0.5 * away / (WIDE * WIDE) - dimensions * WIDE.ln() + wide_share.ln();
    ln_of_sum(&[narrow, wide])
}

/// The logarithm of the sum of what has these logarithms.
fn ln_of_sum(logarithms: &[f64]) -> f64 {
    let most = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !most.is_finite() {
        return most;
    }
    most + logarithms.iter().map(|one| (one - most).exp()).sum::<f64>().ln()
}

/// Weights of logarithms, none above √M times their mean.
fn weighted(drawn: Vec<(Draw, f64)>) -> Vec<Draw> {
    let most = drawn.iter().map(|(_, ln)| *ln).fold(f64::NEG_INFINITY, f64::max);
    let raw = |ln: f64| if ln.is_finite() { (ln - most).exp() } else { 0.0 };
    let count = drawn.len().max(1) as f64;
    let mean = drawn.iter().map(|(_, ln)| raw(*ln)).sum::<f64>() / count;
    let cut = |ln: f64| raw(ln).min(mean * count.sqrt());
    let all: f64 = drawn.iter().map(|(_, ln)| cut(*ln)).sum();
    let with = |(draw, ln): (Draw, f64)| Draw { weight: cut(ln) / all.max(1e-300), ..draw };
    drawn.into_iter().map(with).collect()
}

/// The value below which a share of the weight lies.
pub(super) fn quantile(values: &mut [(f64, f64)], share: f64) -> f64 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut below = 0.0;
    for (value, weight) in values.iter() {
        below += weight;
        if below >= share {
            return *value;
        }
    }
    values.last().map_or(0.0, |(value, _)| *value)
}

/// The value below which a share of the probability lies of normal distributions, each with its
/// mean, its deviation and its weight.
pub(super) fn mixed_quantile(parts: &[(f64, f64, f64)], share: f64) -> f64 {
    let reach = |sign: f64| {
        let edges = parts.iter().map(|(mean, deviation, _)| sign * (mean + sign * 9.0 * deviation));
        sign * edges.fold(f64::NEG_INFINITY, f64::max)
    };
    let below = |value: f64| {
        let parts = parts.iter().map(|(mean, deviation, weight)| {
            weight * below_normal((value - mean) / deviation.max(1e-12))
        });
        parts.sum::<f64>()
    };
    // 30 halvings leave 1e-9 of the bracket.
    let (low, high) = halved(reach(-1.0), reach(1.0), 30, |value| below(value) < share);
    f64::midpoint(low, high)
}

/// A number of the standard normal distribution (Box and Muller, Annals of Mathematical Statistics
/// 29, 1958).
pub(super) fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}

/// A number of the χ² distribution: the squares of whole degrees of freedom, and a part of one for
/// what is left.
fn chi_squared(rng: &mut Rng, freedom: f64) -> f64 {
    let whole = freedom.floor();
    let squares: f64 = (0..whole as u32).map(|_| normal(rng).powi(2)).sum();
    (squares + (freedom - whole) * normal(rng).powi(2)).max(1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_mixtures_are_those_of_their_parts() {
        let one = [(2.0, 0.5, 1.0)];
        assert!((mixed_quantile(&one, 0.5) - 2.0).abs() < 1e-6);
        assert!((mixed_quantile(&one, 0.95) - (2.0 + 0.5 * 1.6449)).abs() < 1e-3);
        let two = [(-10.0, 0.1, 0.5), (10.0, 0.1, 0.5)];
        assert!((mixed_quantile(&two, 0.25) + 10.0).abs() < 1e-6);
        assert!((quantile(&mut [(3.0, 0.2), (1.0, 0.5), (2.0, 0.3)], 0.5) - 1.0).abs() < 1e-9);
        assert!((quantile(&mut [(3.0, 0.2), (1.0, 0.5), (2.0, 0.3)], 0.6) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn no_weight_stands_for_all_others() {
        let draw = Draw { values: Values([0.0; PARAMETERS]), spread: 0.1, weight: 0.0 };
        let drawn = (0..400).map(|number| (draw, if number == 7 { 0.0 } else { -30.0 })).collect();
        let weights: Vec<f64> = weighted(drawn).iter().map(|draw| draw.weight).collect();
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let none = weighted(vec![(draw, f64::NAN); 3]);
        assert!(none.iter().all(|draw| draw.weight.abs() < 1e-9));
    }
}
