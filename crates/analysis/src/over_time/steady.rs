//! Whether a rate has settled, by the rule of the SNIA.
//!
//! Source: SNIA, *Solid State Storage Performance Test Specification*, 2.0.2, 2020, 2.1.24: over a
//! measurement window of five rounds, the values differ by no more than 20 % of their mean, and the
//! straight line of least squares through them rises or falls by no more than 10 % of it from the
//! first round to the last.

use model::plan::Steady;

/// Rounds of a measurement window.
pub const ROUNDS: usize = Steady::ROUNDS as usize;
/// The most by which rounds may differ, as a share of their mean.
pub const MOST_RANGE: f64 = 0.2;
/// The most that the line through them may rise or fall over the window, as a share of their mean.
pub const MOST_SLOPE: f64 = 0.1;
/// With fewer intervals than this in a round, a round is noise.
const LEAST_IN_ROUND: usize = Steady::LEAST_IN_ROUND as usize;

/// How a window of rounds went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steadiness {
    /// Largest − smallest, as a share of the mean.
    pub range: f64,
    /// Rise (or, negative, fall) of the line through the rounds from the first to the last, as a
    /// share of the mean.
    pub slope: f64,
}

impl Steadiness {
    /// Whether both are within the rule.
    pub fn is_steady(&self) -> bool {
        self.range <= MOST_RANGE && self.slope.abs() <= MOST_SLOPE
    }
}

/// The rule's two figures for one window. `None` where the mean is not positive, or there are fewer
/// than two rounds.
pub fn window(rounds: &[f64]) -> Option<Steadiness> {
    let n = rounds.len() as f64;
    let mean = rounds.iter().sum::<f64>() / n;
    if rounds.len() < 2 || mean <= 0.0 || !mean.is_finite() {
        return None;
    }
    let (low, high) = rounds
        .iter()
        .fold((f64::MAX, f64::MIN), |(low, high), round| (low.min(*round), high.max(*round)));
    let middle = (n - 1.0) / 2.0;
    let places = || (0..rounds.len()).map(|place| place as f64 - middle);
    let rise = places().zip(rounds).map(|(place, round)| place * round).sum::<f64>()
        / places().map(|p| p * p).sum::<f64>();
    Some(Steadiness { range: (high - low) / mean, slope: rise * (n - 1.0) / mean })
}

/// The rule over a whole measured time: its intervals are cut into [`ROUNDS`] rounds of equally
/// many intervals, each the mean of its intervals; what does not fill a round is left out at the
/// start. `None` for fewer than four intervals a round.
pub fn steadiness(rates: &[f64]) -> Option<Steadiness> {
    let length = rates.len() / ROUNDS;
    if length < LEAST_IN_ROUND {
        return None;
    }
    let used = &rates[rates.len() - ROUNDS * length..];
    let rounds: Vec<f64> =
        used.chunks_exact(length).map(|round| round.iter().sum::<f64>() / length as f64).collect();
    window(&rounds)
}

/// Whether a window of [`ROUNDS`] rounds is steady; fewer rounds never are.
pub fn is_steady(rounds: &[f64]) -> bool {
    rounds.len() == ROUNDS && window(rounds).is_some_and(|found| found.is_steady())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::simulated::{Normal, autoregressive};

    /// The first of the [`ROUNDS`] rounds of the earliest steady window.
    fn steady_at(rounds: &[f64]) -> Option<usize> {
        rounds.windows(ROUNDS).position(is_steady)
    }

    #[test]
    fn the_two_limits_are_the_specifications() {
        let range = window(&[90.0, 110.0, 100.0, 110.0, 90.0]).expect("a window");
        assert!(
            (range.range - 0.2).abs() < 1e-12 && range.slope.abs() < 1e-12 && range.is_steady()
        );
        let wide = window(&[89.0, 111.0, 100.0, 111.0, 89.0]).expect("a window");
        assert!(!wide.is_steady());
        let rising = window(&[94.0, 97.0, 100.0, 103.0, 106.0]).expect("a window");
        assert!(
            (rising.slope - 0.12).abs() < 1e-12 && rising.range < MOST_RANGE && !rising.is_steady()
        );
    }

    #[test]
    fn a_decay_is_steady_once_it_has_decayed_and_not_before() {
        let rounds: Vec<f64> =
            (0..20).map(|round| 1_000.0 + 3_000.0 * f64::exp(-f64::from(round) / 2.0)).collect();
        let at = steady_at(&rounds).expect("it settles");
        assert!((6..=9).contains(&at), "{at}");
        assert_eq!(
            steady_at(&rounds[..at + ROUNDS - 1]),
            None,
            "not known before the window is full"
        );
        assert_eq!(steady_at(&rounds[..at + ROUNDS]), Some(at));
        assert_eq!(
            (steady_at(&[]), steady_at(&[0.0; 9]), steady_at(&[f64::NAN; 9])),
            (None, None, None)
        );
    }

    #[test]
    fn noise_of_a_tenth_is_steady_and_a_slow_slide_is_not() {
        let mut wrong = 0;
        for seed in 0..1_000 {
            let noise = autoregressive(&mut Normal::new(seed), 300, 0.5, 1_000.0, 100.0);
            let slide: Vec<f64> =
                (0..300).zip(&noise).map(|(second, rate)| rate - f64::from(second)).collect();
            wrong += u32::from(!steadiness(&noise).expect("long enough").is_steady());
            wrong += u32::from(steadiness(&slide).expect("long enough").is_steady());
        }
        assert!(wrong <= 10, "{wrong} of 2,000");
        assert_eq!(steadiness(&[1.0; 19]), None);
    }
}
