//! Where a rate changed its level.
//!
//! Binary segmentation (Vostrikova 1981): the series is cut where the two sides differ most, and
//! each side again, as long as the difference is more than chance. The measure is the largest
//! cumulated deviation from the mean (CUSUM), whose limit in a series without a change is the
//! supremum of a Brownian bridge: P(sup > x) = 2 Σ (−1)^(k+1) exp(−2k²x²) (Kolmogorov 1933). The
//! variance that scales it is the long-run one of a first-order autoregression fitted to both sides
//! of the cut, so that neither dependence in time nor the change itself passes for noise of the
//! other kind (Andrews 1991; Aue and Horváth, *Structural breaks in time series*, 2013).

use crate::estimate::memory;

/// Neither side of a cut is shorter than this many values.
const LEAST_SIDE: usize = 8;
/// Nor a side of a change that needs no statistics.
const LEAST_GROSS_SIDE: usize = 3;
/// Among fewer independent values than this, the limit below is not reached in the limit.
const LEAST_INDEPENDENT: f64 = 20.0;
/// By how many times its usual bias the memory is corrected where up to three cuts were fitted.
const FLATTERY: f64 = 10.0;
/// Smaller changes of the level are true, perhaps, and of no interest: the share of the level
/// before.
pub const LEAST_CHANGE: f64 = 0.05;
/// Series that change more often than this are not steady, and a list of changes is no help.
const MOST_CHANGES: usize = 16;

/// A change of the level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The place of the first value of the new level.
    pub at: usize,
    /// The mean from the change before until here.
    pub before: f64,
    /// The mean from here until the next change.
    pub after: f64,
}

/// The changes of level in values at equal distances in time, in their order. `false_alarms` is the
/// share (0 to 1) of series without a change in which one may be found; for one of many hosts,
/// divide it by their number (Bonferroni).
pub fn changes(values: &[f64], false_alarms: f64) -> Vec<Change> {
    if !values.iter().all(|value| value.is_finite()) {
        return Vec::new();
    }
    let mut cuts = Vec::new();
    cuts.extend(gross(values));
    let mut open = vec![(0, values.len())];
    while let Some((from, to)) = open.pop() {
        if let Some(cut) =
            cut(&values[from..to], false_alarms).filter(|_| cuts.len() < MOST_CHANGES)
        {
            cuts.push(from + cut);
            open.push((from, from + cut));
            open.push((from + cut, to));
        }
    }
    cuts.sort_unstable();
    let ends: Vec<usize> = [0].into_iter().chain(cuts).chain([values.len()]).collect();
    let change = |ends: &[usize]| {
        let (before, after) = (mean(&values[ends[0]..ends[1]]), mean(&values[ends[1]..ends[2]]));
        ((after - before).abs() >= LEAST_CHANGE * before.abs()).then_some(Change {
            at: ends[1],
            before,
            after,
        })
    };
    ends.windows(3).filter_map(change).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Where so few values that chance has no limit yet fall to a half, or double, and more: both
/// sides, a value in mid-change apart, are further from each other than any of their own are.
fn gross(values: &[f64]) -> Option<usize> {
    let (side, n) = (LEAST_GROSS_SIDE, values.len());
    if n < 3 * side || n as f64 >= LEAST_INDEPENDENT {
        return None;
    }
    let ends = |side: &[f64]| {
        side.iter()
            .fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)))
    };
    let is_gross = |at: &usize| {
        let (before, after) = (ends(&values[..*at]), ends(&values[at + 1..]));
        let (low, high) = if before.0 > after.0 { (after, before) } else { (before, after) };
        let between = (high.0 / low.1.max(f64::MIN_POSITIVE)).ln();
        let within = (low.1 / low.0.max(f64::MIN_POSITIVE)).ln() + (high.1 / high.0).ln();
        between >= f64::ln(2.0).max(within)
    };
    let at = (side..n - side).find(is_gross)?;
    let nearer = |level: &[f64]| (values[at] - mean(level)).abs();
    Some(at + usize::from(nearer(&values[..at]) < nearer(&values[at + 1..])))
}

/// Where the two sides differ most, and the cumulated deviation there.
fn candidate(values: &[f64]) -> Option<(usize, f64)> {
    let level = mean(values);
    let mut sum = 0.0;
    let mut best = (0, 0.0);
    for (index, value) in values.iter().enumerate().take(values.len().saturating_sub(LEAST_SIDE)) {
        sum += value - level;
        if index + 1 >= LEAST_SIDE && f64::abs(sum) > best.1 {
            best = (index + 1, sum.abs());
        }
    }
    (best.0 > 0).then_some(best)
}

/// Where the two sides differ most, if by more than chance.
fn cut(values: &[f64], false_alarms: f64) -> Option<usize> {
    let n = values.len() as f64;
    let (at, deviation) = candidate(values)?;
    // Each side may have a change of its own, which must not pass for noise: the noise is what is
    // left after a cut of both.
    let mut rest = Vec::with_capacity(values.len());
    for side in [&values[..at], &values[at..]] {
        let middle = candidate(side).map_or(0, |(at, _)| at);
        for part in [&side[..middle], &side[middle..]].into_iter().filter(|part| !part.is_empty()) {
            let level = mean(part);
            rest.extend(part.iter().map(|value| value - level));
        }
    }
    // Cuts where they hurt most make the noise look smaller and shorter of memory; simulation says
    // by how much.
    let found = memory(&rest);
    let phi = (found + FLATTERY * (1.0 + 3.0 * found) / n).min(0.99);
    if n * (1.0 - phi) / (1.0 + phi) < LEAST_INDEPENDENT {
        return None;
    }
    let variance = rest.iter().map(|value| value * value).sum::<f64>() / (n - 4.0);
    let long_run = variance * (1.0 + phi) / (1.0 - phi);
    let chance = beyond_bridge(deviation / (long_run * n).sqrt());
    (chance < false_alarms).then_some(at)
}

/// The probability that a Brownian bridge strays further than `x` from 0.
fn beyond_bridge(x: f64) -> f64 {
    if x.is_nan() {
        return 1.0;
    }
    if x < 0.2 {
        return 1.0;
    }
    let term = |k: i32| {
        f64::from(if k % 2 == 1 { 2 } else { -2 }) * (-2.0 * f64::from(k * k) * x * x).exp()
    };
    (1..=20).map(term).sum::<f64>().clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::simulated::{Normal, autoregressive};

    /// Of 1,000 series with 10 % noise: in how many a change is seen where there is none, how many
    /// steps of 15 % at a third are found, and how many of these alone and in the right place, to a
    /// twentieth of the series.
    fn rates(n: usize, phi: f64) -> (u32, u32, u32) {
        let (mut alarms, mut found, mut placed) = (0, 0, 0);
        for seed in 0..1_000 {
            let noise = autoregressive(&mut Normal::new(seed), n, phi, 1_000.0, 100.0);
            alarms += u32::from(cut(&noise, 0.05).is_some());
            let step =
                |(index, value): (usize, &f64)| if index >= n / 3 { value - 150.0 } else { *value };
            let seen = changes(&noise.iter().enumerate().map(step).collect::<Vec<f64>>(), 0.05);
            found += u32::from(!seen.is_empty());
            placed += u32::from(seen.len() == 1 && seen[0].at.abs_diff(n / 3) <= n / 20);
        }
        (alarms, found, placed)
    }

    #[test]
    fn false_alarms_keep_to_their_rate_whatever_the_series_remembers() {
        for n in [30, 60, 120, 300] {
            for phi in [0.0, 0.3, 0.6, 0.8, 0.9] {
                let (alarms, ..) = rates(n, phi);
                assert!(alarms <= 65, "{n} values, memory {phi}: {alarms} of 1,000");
            }
        }
    }

    #[test]
    fn a_step_of_15_percent_in_noise_of_10_percent_is_found() {
        for (n, phi) in [(60, 0.0), (120, 0.3), (300, 0.5), (900, 0.8)] {
            let (_, found, placed) = rates(n, phi);
            assert!(found >= 940 && placed >= 700, "{n} values, memory {phi}: {found}, {placed}");
        }
    }

    #[test]
    fn two_steps_are_two_changes_and_a_small_one_is_none() {
        let level = |index: usize| [1_000.0, 700.0, 1_000.0][index / 100];
        let mut normal = Normal::new(3);
        let values: Vec<f64> = (0..300).map(|index| level(index) + 30.0 * normal.draw()).collect();
        let seen = changes(&values, 0.01);
        assert_eq!(seen.iter().map(|change| change.at).collect::<Vec<_>>(), [100, 200]);
        assert!((seen[0].before / seen[0].after - 1.43).abs() < 0.05);
        let slight: Vec<f64> =
            (0..300).map(|index| if index < 150 { 1_000.0 } else { 1_020.0 }).collect();
        assert_eq!(changes(&slight, 0.01), []);
    }

    #[test]
    fn of_few_values_a_fall_to_a_half_is_a_change_and_noise_is_none() {
        let seen =
            |values: &[f64]| changes(values, 0.01).iter().map(|one| one.at).collect::<Vec<_>>();
        let mut fall =
            [2_000.0, 1_900.0, 2_100.0, 1_950.0, 2_000.0, 1_980.0, 700.0, 100.0, 99.0, 101.0];
        assert_eq!(seen(&fall), [6]);
        fall[6] = 1_500.0;
        assert_eq!(seen(&fall), [7]);
        fall[8] = 1_200.0;
        assert_eq!(seen(&fall), []);
        assert_eq!(seen(&[9.0, 9.0, 9.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0]), [4]);
        assert_eq!(seen(&[0.0; 12]), []);
        for (n, deviation) in [(9, 1.0), (12, 1.0), (19, 1.0), (11, 0.3)] {
            let noisy = |seed| {
                let mut normal = Normal::new(seed);
                (0..n).map(|_| f64::exp(deviation * normal.draw())).collect::<Vec<f64>>()
            };
            let alarms = (0..4_000).filter(|seed| !seen(&noisy(*seed)).is_empty()).count();
            assert!(alarms <= 40, "{n} values, {deviation}: {alarms} of 4,000");
        }
    }

    #[test]
    fn nothing_and_nonsense_have_no_change() {
        assert_eq!(changes(&[], 0.05), []);
        assert_eq!(changes(&[0.0; 100], 0.05), []);
        assert_eq!(changes(&[f64::NAN; 100], 0.05), []);
        assert!(
            (beyond_bridge(1.358) - 0.05).abs() < 1e-3
                && (beyond_bridge(1.628) - 0.01).abs() < 1e-3
        );
    }
}
