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
mod tests {
    use super::*;
    use crate::estimate::ratio;
    use crate::simulated::{Normal, autoregressive};

    const RUNS: u64 = 4_000;

    /// In how many of 4,000 comparisons a difference is told, and the interval holds the true one (in percent).
    fn told(truth: f64, mut compare: impl FnMut(&mut Normal) -> Ratio) -> (f64, f64) {
        let (mut different, mut held) = (0.0, 0.0);
        for seed in 0..RUNS {
            let found = compare(&mut Normal::new(seed));
            different += f64::from(u8::from(found.chance.expect("an error") < 0.05));
            held += f64::from(u8::from(found.interval.expect("an error").holds(truth)));
        }
        (different / RUNS as f64, held / RUNS as f64)
    }

    fn runs(normal: &mut Normal, n: usize, level: f64, deviation: f64) -> Vec<f64> {
        (0..n).map(|_| (level * (1.0 + deviation * normal.draw())).ln()).collect()
    }

    fn welch(base: &[f64], other: &[f64]) -> Ratio {
        unpaired(repeated(base).expect("repetitions"), repeated(other).expect("repetitions"))
    }

    #[test]
    fn equals_are_called_different_in_5_of_100_and_the_interval_holds_the_truth_in_95() {
        for n in [3, 5, 10] {
            let (different, held) = told(0.0, |normal| {
                let base = runs(normal, n, 1_000.0, 0.03);
                welch(&base, &runs(normal, n, 1_000.0, 0.03))
            });
            assert!(different <= 0.055 && (0.93..=0.97).contains(&held), "{n} repetitions: {different}, {held}");
        }
        // Several tests of one size: at most 5 % with chance's own error.
        for (n, phi) in [(60, 0.0), (120, 0.5), (600, 0.8)] {
            let (different, held) = told(0.0, |normal| {
                let mut side = || {
                    let found =
                        ratio(&autoregressive(normal, n, phi, 1_000.0, 80.0), &vec![1.0; n]).expect("long enough");
                    Estimate { value: found.value.ln(), error: found.error / found.value, freedom: found.freedom }
                };
                let base = side();
                unpaired(base, side())
            });
            assert!(different <= 0.06 && held >= 0.93, "{n} intervals, memory {phi}: {different}, {held}");
        }
    }

    #[test]
    fn five_percent_are_found_with_five_repetitions_that_stray_by_two() {
        let (found, held) = told(-5.0, |normal| {
            let base = runs(normal, 5, 1_000.0, 0.02);
            welch(&base, &runs(normal, 5, 950.0, 0.02))
        });
        assert!(found >= 0.9 && (0.93..=0.97).contains(&held), "{found} {held}");
    }

    #[test]
    fn pairs_find_what_a_drift_hides_from_others() {
        let drifting = |normal: &mut Normal| -> Vec<(f64, f64)> {
            let day = autoregressive(normal, 5, 0.9, 1_000.0, 100.0);
            day.iter().map(|level| (level.ln(), (0.95 * level * (1.0 + 0.015 * normal.draw())).ln())).collect()
        };
        let (found, held) = told(-5.0, |normal| paired(&drifting(normal)).expect("pairs"));
        let (missed, _) = told(-5.0, |normal| {
            let pairs = drifting(normal);
            let side = |pick: fn(&(f64, f64)) -> f64| pairs.iter().map(pick).collect::<Vec<f64>>();
            welch(&side(|pair| pair.0), &side(|pair| pair.1))
        });
        assert!(found >= 0.9 && missed < 0.6 && (0.93..=0.97).contains(&held), "{found} {missed} {held}");
    }

    #[test]
    fn holm_keeps_the_share_of_false_findings_over_all_and_not_for_each() {
        assert_eq!(holm(&[0.04, 0.01, 0.03]), [0.06, 0.03, 0.06]);
        assert_eq!(holm(&[]), [0.0; 0]);
        let (mut any, mut alone) = (0u64, 0u64);
        for seed in 0..RUNS {
            let mut normal = Normal::new(seed);
            let chances: Vec<f64> = (0..12)
                .map(|_| {
                    welch(&runs(&mut normal, 5, 1.0, 0.02), &runs(&mut normal, 5, 1.0, 0.02)).chance.expect("known")
                })
                .collect();
            alone += u64::from(chances.iter().any(|chance| *chance < 0.05));
            any += u64::from(holm(&chances).iter().any(|chance| *chance < 0.05));
        }
        assert!(any as f64 <= 0.055 * RUNS as f64 && alone as f64 > 0.4 * RUNS as f64, "{any} {alone}");
    }

    #[test]
    fn figures_without_any_error_are_the_same_or_different() {
        let exact = |value: f64| Estimate { value, error: 0.0, freedom: 9.0 };
        assert_eq!(unpaired(exact(7.0), exact(7.0)).chance, Some(1.0));
        assert_eq!(unpaired(exact(7.0), exact(7.1)).chance, Some(0.0));
        assert_eq!((repeated(&[1.0]), paired(&[])), (None, None));
    }
}
