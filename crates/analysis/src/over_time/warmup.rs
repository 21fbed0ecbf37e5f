//! How much of the start of a measured time is not like the rest.
//!
//! MSER-5: values are averaged in batches of five, and that start is cut off which makes the
//! standard error of the mean of the rest least (White, *An effective truncation heuristic for bias
//! reduction in simulation output*, 1997; White, Cobb and Spratt 2000). A minimum in the second
//! half says that the series has not settled at all.

use crate::estimate::{Estimate, mean_in_time, student};

/// Values in a batch.
const BATCH: usize = 5;
/// With fewer batches, there is nothing to tell a start from.
const LEAST_BATCHES: usize = 8;
/// A start whose mean differs less than this from the rest, as a share of it, does no harm.
const LEAST_DIFFERENCE: f64 = 0.05;
/// How often chance may pass for a warm-up.
const FALSE_ALARMS: f64 = 0.01;

/// How many values at the start are to be cut off, by MSER-5; a multiple of five. `None` where
/// there are too few values, or the series never settles.
pub fn mser5(values: &[f64]) -> Option<usize> {
    let batches: Vec<f64> =
        values.chunks_exact(BATCH).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    let n = batches.len();
    if n < LEAST_BATCHES || !batches.iter().all(|value| value.is_finite()) {
        return None;
    }
    let level = batches.iter().sum::<f64>() / n as f64;
    // From the end backwards, so that each start costs one step; about the mean, so that no digits
    // are lost.
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut best: Option<(usize, f64)> = None;
    for (start, value) in batches.iter().enumerate().rev() {
        sum += value - level;
        squares += (value - level).powi(2);
        let rest = (n - start) as f64;
        let error = (squares - sum * sum / rest).max(0.0) / (rest * rest);
        // The last few batches agree by chance.
        if n - start >= BATCH && best.is_none_or(|(_, least)| error <= least) {
            best = Some((start, error));
        }
    }
    best.map(|(start, _)| start).filter(|start| 2 * start <= n).map(|start| start * BATCH)
}

/// A start that is not like the rest: how many values, and its mean as a share of the mean of the
/// rest. `None` where MSER-5 cuts nothing off, or the difference is below 5 % or could be chance (t
/// test with the error of the rest by batch means, 1 % false alarms).
pub fn warm_up(values: &[f64]) -> Option<(usize, f64)> {
    let cut = mser5(values).filter(|cut| *cut > 0)?;
    let (start, rest) = values.split_at(cut);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let early = mean(start);
    let Estimate { value: late, error, freedom, .. } = mean_in_time(rest)?;
    // The start is shorter than the rest: its mean would stray further by chance.
    let both = error * (1.0 + rest.len() as f64 / start.len() as f64).sqrt();
    let is_chance = student::two_sided((early - late) / both, freedom) > FALSE_ALARMS;
    let share = early / late;
    (late > 0.0 && (share - 1.0).abs() >= LEAST_DIFFERENCE && !is_chance).then_some((cut, share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::simulated::{Normal, autoregressive};

    #[test]
    fn a_decaying_start_is_cut_and_noise_is_not() {
        for phi in [0.0, 0.5, 0.8] {
            let (mut alarms, mut found) = (0, 0);
            for seed in 0..1_000 {
                let noise = autoregressive(&mut Normal::new(seed), 300, phi, 1_000.0, 50.0);
                alarms += u32::from(warm_up(&noise).is_some());
                let decaying = |(second, rate): (u32, &f64)| {
                    rate + 1_500.0 * (-f64::from(second) / 10.0).exp()
                };
                let warm: Vec<f64> = (0..).zip(&noise).map(decaying).collect();
                found += u32::from(
                    warm_up(&warm)
                        .is_some_and(|(cut, share)| (15..=60).contains(&cut) && share > 1.2),
                );
            }
            assert!(alarms <= 30 && found >= 780, "memory {phi}: {alarms}, {found}");
        }
    }

    #[test]
    fn what_never_settles_has_no_warm_up() {
        let rising: Vec<f64> = (0..300).map(f64::from).collect();
        assert_eq!((mser5(&rising), warm_up(&rising)), (None, None));
        assert_eq!(mser5(&[1.0; 39]), None, "too few");
        assert_eq!((mser5(&[5.0; 100]), warm_up(&[5.0; 100])), (Some(0), None));
        assert_eq!(warm_up(&[f64::NAN; 100]), None);
    }
}
