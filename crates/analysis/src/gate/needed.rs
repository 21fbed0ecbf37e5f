//! How many pairs a gate needs, and what it can find with those that it has.
//!
//! The logarithm of the evidence is close to a Brownian motion: for a shift of δ among differences
//! that stray by σ, it rises by δ² ÷ 2σ² a pair, and its variance is twice that. When it reaches a
//! limit is known (inverse Gaussian distribution: Siegmund, *Sequential Analysis*, 1985, 3.2). In
//! pairs × δ² ÷ σ² it depends on the limit alone.

use super::evidence::MAIN_SHARE;
use crate::estimate::student::halved;

/// However little differences stray, signs alone have to speak: a coin falls so often on one side.
const LEAST_PAIRS: f64 = 8.0;

/// Pairs × (shift ÷ spread)² within which the evidence reaches 1 ÷ `per_side`, with the probability
/// `power`.
fn effort(per_side: f64, power: f64) -> f64 {
    let limit = (1.0 / (per_side * MAIN_SHARE)).ln();
    let reached = |effort: f64| {
        let root = effort.sqrt();
        normal((0.5 * effort - limit) / root) + limit.exp() * normal(-(0.5 * effort + limit) / root)
    };
    let mut high = 1.0;
    while reached(high) < power && high < 1e6 {
        high *= 2.0;
    }
    halved(1e-3, high, 60, |middle| reached(middle) < power).1
}

/// What a gate is to hold, for each of its figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// The probability with which equals may be called worse, and the same with which better.
    pub false_alarm: f64,
    /// The probability with which a change of the size that is to be found may be waved through.
    pub miss: f64,
    /// The probability with which such a change, or the absence of any, is to be found.
    pub power: f64,
}

/// Pairs × (shift ÷ spread)² within which a gate answers, whether there is such a shift or none.
fn effort_of(errors: Errors) -> f64 {
    // For "no change", both sides have to be known.
    let both = f64::midpoint(1.0, errors.power);
    effort(errors.false_alarm, errors.power).max(effort(errors.miss, both))
}

/// The pairs after which a shift of `design` (a logarithm) is found or excluded, where differences
/// stray by `spread`.
pub fn pairs(design: f64, spread: f64, errors: Errors) -> u64 {
    let pairs = LEAST_PAIRS + effort_of(errors) * (spread / design).powi(2);
    pairs.min(1e15).ceil() as u64
}

/// The shift (a logarithm) that so many pairs find or exclude; `None` where they are too few for
/// any.
pub fn visible(pairs: u64, spread: f64, errors: Errors) -> Option<f64> {
    let left = pairs as f64 - LEAST_PAIRS;
    (left > 0.0).then(|| spread * (effort_of(errors) / left).sqrt())
}

/// The probability that a standard normal value is below `value` (Abramowitz and Stegun 1964,
/// 7.1.26: an error below 1e-7).
pub(crate) fn normal(value: f64) -> f64 {
    let x = value.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let series = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let above = 0.5 * series.iter().fold(0.0, |sum, term| t * (sum + term)) * (-x * x).exp();
    if value > 0.0 { 1.0 - above } else { above }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERRORS: Errors = Errors { false_alarm: 0.025, miss: 0.05, power: 0.9 };

    #[test]
    fn twice_the_noise_takes_four_times_the_pairs_and_what_they_find_agrees() {
        let (one, two) = (pairs(0.03, 0.06, ERRORS), pairs(0.03, 0.12, ERRORS));
        assert!(two - 8 >= 4 * (one - 8) - 4 && two <= 4 * one, "{one} {two}");
        let found = visible(one, 0.06, ERRORS).expect("enough");
        assert!((found / 0.03 - 1.0).abs() < 0.02, "{found}");
        assert_eq!((visible(8, 0.06, ERRORS), pairs(0.03, 0.0, ERRORS)), (None, 8));
    }

    #[test]
    fn the_normal_distribution_is_that_of_the_tables() {
        for (value, below) in [(0.0, 0.5), (1.0, 0.841_345), (-1.96, 0.024_998), (3.0, 0.998_650)] {
            assert!((normal(value) - below).abs() < 1e-6, "{value}");
        }
    }
}
