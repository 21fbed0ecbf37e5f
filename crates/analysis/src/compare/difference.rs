//! The difference of one figure between two sides, with its interval and the probability of chance.
//!
//! All on logarithms, as a difference in percent is a ratio. One run on each side: the errors
//! within the runs, by batch means. Several: the mean of the repetitions, with Welch's test (1947;
//! degrees of freedom by Satterthwaite 1946, fewer for the test: see [`unpaired`]), or where they
//! ran in turns, Student's test of the differences of pairs (1908).

use crate::estimate::{CONFIDENCE, Estimate, Interval, student};

/// A ratio in percent with what chance has to do with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The difference of the other side to the base, in percent of the base.
    pub percent: f64,
    /// Its 95 % interval; `None` where the error is not known.
    pub interval: Option<Interval>,
    /// The probability of so large a difference between equals; `None` as before.
    pub chance: Option<f64>,
    /// The difference of logarithms as it was tested, with the test's own error and freedom;
    /// `None` as before.
    pub test: Option<Estimate>,
}

/// The interval that agrees with a test whose probability became `chance` by a correction: it holds
/// no difference exactly where `chance` is 5 % or more. It is never narrower than the test's own.
pub fn agreeing(test: Estimate, chance: f64) -> Interval {
    let raw = probability(test);
    let outside = if chance > 0.0 { OUTSIDE * (raw / chance).min(1.0) } else { OUTSIDE };
    // Without an error of its own, the test's interval is its value.
    let half = if test.error > 0.0 {
        student::bound(outside.max(1e-12), test.freedom) * test.error
    } else {
        0.0
    };
    Interval { low: percent(test.value - half), high: percent(test.value + half) }
}

/// What the intervals leave out: 5 %.
const OUTSIDE: f64 = 1.0 - CONFIDENCE;

/// The probability of so large a difference between equals.
fn probability(difference: Estimate) -> f64 {
    // Equal to the last digit without an error: no difference, and not "not a number".
    let t = if difference.value == 0.0 { 0.0 } else { difference.value / difference.error };
    student::two_sided(t, difference.freedom)
}

/// A logarithm as a difference in percent.
fn percent(logarithm: f64) -> f64 {
    100.0 * logarithm.exp_m1()
}

/// From one side to the other, each the mean of logarithms with its error.
///
/// The interval is by the errors as they are and Satterthwaite's degrees of freedom (1946): it
/// holds the truth in about 95 %. The chance is that of a more cautious test, because errors and
/// degrees of freedom are estimates themselves: equals are to be called different in no more than 5
/// %, and not in 5 % on average over all cases. So an interval may leave 0 out by a little where no
/// difference is told.
pub fn unpaired(base: Estimate, other: Estimate) -> Ratio {
    let difference =
        |base: Estimate, other: Estimate, freedom: fn(Estimate, Estimate) -> f64| Estimate {
            value: other.value - base.value,
            error: base.error.hypot(other.error),
            freedom: freedom(base, other),
            independent: base.independent.min(other.independent),
        };
    let tested = of(difference(cautious(base), cautious(other), cautious_freedom));
    Ratio { chance: tested.chance, test: tested.test, ..of(difference(base, other, satterthwaite)) }
}

/// The degrees of freedom of a difference as Satterthwaite estimates them (1946).
fn satterthwaite(base: Estimate, other: Estimate) -> f64 {
    let (one, two) = (base.freedom.max(1.0), other.freedom.max(1.0));
    let error = base.error.hypot(other.error);
    // As shares of the error, which do not underflow.
    let part = |side: f64, freedom: f64| (side / error).powi(4) / freedom;
    if error > 0.0 {
        (part(base.error, one) + part(other.error, two)).recip()
    } else {
        one.min(two)
    }
}

/// Satterthwaite's, less the greater ÷ the lesser of the two sides' degrees of freedom, and at
/// least the lesser.
///
/// Where the side of fewer repetitions strays most, his are too many: of equals with three
/// repetitions on each side, up to 5.9 % are called different, of two against ten up to 11.8 %.
/// With the lesser of both, it is never more than 5 % (Mickey and Brown, *Annals of Mathematical
/// Statistics* 37, 1966), but differences are found less often. With what is taken off here, an
/// integral over all ratios of the spreads stays within 5 % (tests compute it).
fn cautious_freedom(base: Estimate, other: Estimate) -> f64 {
    let (one, two) = (base.freedom.max(1.0), other.freedom.max(1.0));
    let (lesser, greater) = (one.min(two), one.max(two));
    lesser.max(satterthwaite(base, other) - greater / lesser)
}

/// The error of one measurement, as a test of differences takes it: wider by 3 %, and by (12 ÷
/// *n*)² where its series is worth *n* independent intervals of time: a quarter for 24 of them, 1 %
/// for 120. That of repetitions as it is.
///
/// What intervals of time remember is an estimate, and a short series often looks as if it
/// remembered nothing. Without this, of those short pairs of equals that have an error at all, a
/// fifth is called different (simulated: 60 intervals, φ = 0.8).
fn cautious(estimate: Estimate) -> Estimate {
    const WIDER: f64 = 1.03;
    const SHORT: f64 = 12.0;
    if estimate.independent.is_infinite() {
        return estimate;
    }
    // No series is worth less than one value, and the error stays finite.
    let widening = WIDER * (1.0 + (SHORT / estimate.independent.max(1.0)).powi(2));
    Estimate { error: widening * estimate.error, ..estimate }
}

/// From pairs of logarithms, base and other, that ran in turns. `None` for fewer than two.
pub fn paired(pairs: &[(f64, f64)]) -> Option<Ratio> {
    let differences: Vec<f64> = pairs.iter().map(|(base, other)| other - base).collect();
    repeated(&differences).map(of)
}

/// The same difference, no surer than a figure can be read: `least` is the least error of its
/// logarithm.
pub(crate) fn no_surer_than(ratio: Ratio, least: f64) -> Ratio {
    match ratio.test {
        Some(test) if test.error < least => of(Estimate { error: least, ..test }),
        _ => ratio,
    }
}

/// The mean of repetitions with its error. `None` for fewer than two.
pub fn repeated(values: &[f64]) -> Option<Estimate> {
    let n = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Some(Estimate {
        value: mean,
        error: (variance / n).sqrt(),
        freedom: n - 1.0,
        independent: f64::INFINITY,
    })
}

/// A ratio of which no error is known.
pub fn bare(base: f64, other: f64) -> Ratio {
    Ratio { percent: percent(other - base), interval: None, chance: None, test: None }
}

fn of(difference: Estimate) -> Ratio {
    Ratio {
        percent: percent(difference.value),
        interval: Some(difference.interval().map(percent)),
        chance: Some(probability(difference)),
        test: Some(difference),
    }
}

/// The repetitions of each side with which a test would find this difference, if its mean and its
/// spread stayed what they are with `now`, as one of so many `tests` (Bonferroni: Holm's is never
/// stricter). `None` where more than [`MOST_NEEDED`] would, or none is known.
///
/// [`MOST_NEEDED`]: super::MOST_NEEDED
pub fn needed(test: Estimate, now: u64, tests: usize) -> Option<u64> {
    let (now, allowed) = (now.max(1), OUTSIDE / tests.max(1) as f64);
    let decides = |repetitions: &u64| {
        let more = *repetitions as f64;
        // A single measurement has no spread of its own: that of two is the least to be known.
        let freedom = test.freedom.min(2.0 * more) * (more - 1.0) / (now as f64 - 1.0).max(1.0);
        let error = test.error * (now as f64 / more).sqrt();
        probability(Estimate { error, freedom: freedom.max(1.0), ..test }) < allowed
    };
    (now.max(1) + 1..=super::MOST_NEEDED).find(decides)
}

/// The least change that a test finds in four of five cases, in percent, where figures stray by
/// `deviation` (relative) from repetition to repetition and there are so many of each side and so
/// many `tests`. `None` for fewer than two.
pub fn visible_percent(deviation: f64, repetitions: u64, tests: usize) -> Option<f64> {
    const MISSED: f64 = 0.2;
    if repetitions < 2 {
        return None;
    }
    let each = repetitions as f64;
    // The test's own, for sides that stray alike: Satterthwaite's less one, and no less than one
    // side's.
    let freedom = (2.0 * (each - 1.0) - 1.0).max(each - 1.0);
    let bounds = student::bound(OUTSIDE / tests.max(1) as f64, freedom)
        + student::bound(2.0 * MISSED, freedom);
    Some(percent(bounds * deviation * (2.0 / each).sqrt()))
}

/// Probabilities of chance, corrected for how many are looked at: each as if it were the only one,
/// while in all of them together equals are called different in no more than the stated share of
/// cases (Holm, *A simple sequentially rejective multiple test procedure*, 1979).
pub(crate) fn holm(chances: &[f64]) -> Vec<f64> {
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
