//! The difference of one figure between two sides, with its interval and the probability of chance.
//!
//! All on logarithms, as a difference in percent is a ratio. One run on each side: the errors within the runs, by batch means. Several: the
//! mean of the repetitions, with Welch's test (1947; degrees of freedom by Satterthwaite 1946), or where they ran in turns, Student's
//! test of the differences of pairs (1908).

use crate::estimate::{Estimate, Interval};
use crate::student;

/// A ratio in percent with what chance has to do with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The difference of the other side to the base, in percent of the base.
    pub percent: f64,
    /// Its 95 % interval; `None` where the error is not known.
    pub interval: Option<Interval>,
    /// The probability of so large a difference between equals; `None` as before.
    pub chance: Option<f64>,
}

/// A logarithm as a difference in percent.
fn percent(logarithm: f64) -> f64 {
    100.0 * logarithm.exp_m1()
}

/// From one side to the other, each the mean of logarithms with its error.
pub fn unpaired(base: Estimate, other: Estimate) -> Ratio {
    let error = base.error.hypot(other.error);
    let part = |side: Estimate| side.error.powi(4) / side.freedom.max(1.0);
    let freedom = if error > 0.0 { error.powi(4) / (part(base) + part(other)) } else { 1.0 };
    of(Estimate { value: other.value - base.value, error, freedom })
}

/// The error of one measurement, as a test of differences takes it: 3 % wider. What intervals of time remember is itself an estimate; without
/// it, equals whose series remember are called different in up to 5.2 % of comparisons (simulated).
pub fn single(estimate: Estimate) -> Estimate {
    const WIDER: f64 = 1.03;
    Estimate { error: WIDER * estimate.error, ..estimate }
}

/// From pairs of logarithms, base and other, that ran in turns. `None` for fewer than two.
pub fn paired(pairs: &[(f64, f64)]) -> Option<Ratio> {
    let differences: Vec<f64> = pairs.iter().map(|(base, other)| other - base).collect();
    repeated(&differences).map(of)
}

/// The mean of repetitions with its error. `None` for fewer than two.
pub fn repeated(values: &[f64]) -> Option<Estimate> {
    let n = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Some(Estimate { value: mean, error: (variance / n).sqrt(), freedom: n - 1.0 })
}

/// A ratio of which no error is known.
pub fn bare(base: f64, other: f64) -> Ratio {
    Ratio { percent: percent(other - base), interval: None, chance: None }
}

fn of(difference: Estimate) -> Ratio {
    // Equal to the last digit without an error: no difference, and not "not a number".
    let t = if difference.value == 0.0 { 0.0 } else { difference.value / difference.error };
    Ratio {
        percent: percent(difference.value),
        interval: Some(difference.interval().map(percent)),
        chance: Some(student::two_sided(t, difference.freedom)),
    }
}

/// Probabilities of chance, corrected for how many are looked at: each as if it were the only one, while in all of them together equals are
/// called different in no more than the stated share of cases (Holm, *A simple sequentially rejective multiple test procedure*, 1979).
pub fn holm(chances: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|a, b| chances[*a].total_cmp(&chances[*b]));
    let mut adjusted = vec![1.0; chances.len()];
    let mut least = 0.0_f64;
    for (rank, index) in order.into_iter().enumerate() {
        least = least.max((chances.len() - rank) as f64 * chances[index]).min(1.0);
        adjusted[index] = least;
    }
    adjusted
}

#[cfg(test)]
#[path = "difference_tests.rs"]
mod tests;
