//! How strongly paired differences speak against a shift, at any time at which somebody looks.
//!
//! Each pair has a run of the base and one of the head, and a fair coin decides which is first. If
//! the head differs by the factor e^μ and by nothing else, swapping the two runs of a pair changes
//! the sign of its difference less μ, and nothing else. So given all sizes, and all that came
//! before, each sign is a fair coin (Fisher, *The Design of Experiments*, 1935). That holds for
//! drift, autocorrelation, bursts and heavy tails alike.
//!
//! The evidence is the wealth of a gambler who bets on these signs. Each bet θ multiplies it by
//! exp(θ·sign) ÷ cosh θ, whose mean over a fair coin is 1. By Ville's inequality (1939), wealth
//! that begins at 1 ever reaches 1 ÷ *a* with a probability of at most *a*. So the test may stop at
//! every pair (Ramdas, Grünwald, Vovk and Shafer, *Statistical Science* 38, 2023; for symmetric
//! differences de la Peña, *Annals of Probability* 27, 1999).
//!
//! A bet may use all sizes so far, because the signs do not depend on them: they give the scale,
//! the root of their mean square. A size counts as 2.5 × the spread of normal sizes with the same
//! median at most, so that a burst moves little. The first bets are smaller: the scale is hardly
//! known.

use crate::estimate::Interval;
use crate::estimate::student::halved;

/// The side of a supposed shift on which the true one is suspected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The true shift is larger.
    Above,
    /// The true shift is smaller.
    Below,
}

impl Side {
    /// The sign of the true shift less the supposed one.
    fn sign(self) -> f64 {
        match self {
            Side::Above => 1.0,
            Side::Below => -1.0,
        }
    }
}

/// A part of the wealth, and what it bets on a difference.
struct Gambler {
    share: f64,
    bold: Bold,
}

/// How much is bet on a difference of one scale.
enum Bold {
    /// So many times what is best for a shift of the size that is to be found.
    Design(f64),
    /// This: for shifts of about the scale itself, which are clear after a few pairs.
    Scale(f64),
}

/// Chosen by simulation: of those tried, they find 3 % in the fewest pairs over the noises of
/// `docs/method/gate.md`.
const GAMBLERS: [Gambler; 3] = [
    Gambler { share: MAIN_SHARE, bold: Bold::Design(1.2) },
    Gambler { share: 0.1, bold: Bold::Design(0.5) },
    Gambler { share: 0.2, bold: Bold::Scale(2.5) },
];
/// The share that bets on the size that is to be found.
pub const MAIN_SHARE: f64 = 0.7;
/// After so many pairs, the bets are half of what they become.
const LEARNING_PAIRS: f64 = 6.0;
/// A median of absolute values × this is the standard deviation of what is normal.
pub const OF_MEDIAN: f64 = 1.4826;
/// Sizes count as so many spreads at most.
const MOST_SPREADS: f64 = 2.5;

/// The evidence that a shift lies on one side of a supposed one, pair by pair.
#[derive(Clone, Debug)]
pub struct Evidence {
    null: f64,
    side: Side,
    design: f64,
    /// The sizes of differences from the supposed shift so far, the least first.
    sizes: Vec<f64>,
    /// The logarithm of what each gambler has.
    wealths: [f64; GAMBLERS.len()],
}

impl Evidence {
    /// That of no pairs: that the shift lies on `side` of `null`, and not at it. `design` is the
    /// size of shift that is to be found, as a logarithm, positive.
    pub fn new(null: f64, side: Side, design: f64) -> Evidence {
        let wealths = GAMBLERS.map(|gambler| gambler.share.ln());
        Evidence { null, side, design, sizes: Vec::new(), wealths }
    }

    /// Takes in a pair: the logarithm of head ÷ base.
    pub fn add(&mut self, difference: f64) {
        let from_null = difference - self.null;
        let size = from_null.abs();
        self.sizes.insert(self.sizes.partition_point(|known| *known < size), size);
        if size == 0.0 {
            return;
        }
        let most = MOST_SPREADS * OF_MEDIAN * median(&self.sizes);
        let squares: f64 = self.sizes.iter().map(|size| size.min(most).powi(2)).sum();
        let pairs = self.sizes.len() as f64;
        let scale = (squares / pairs).sqrt();
        // Where more than half of all pairs are equal, any other is far out.
        let (in_scales, best) = if scale > 0.0 {
            (from_null.clamp(-most, most) / scale, self.design / scale)
        } else {
            (from_null.signum(), 1.0)
        };
        let learnt = pairs / (pairs + LEARNING_PAIRS);
        for (wealth, gambler) in self.wealths.iter_mut().zip(GAMBLERS) {
            let bold = match gambler.bold {
                Bold::Design(times) => times * best * learnt,
                Bold::Scale(bold) => bold,
            };
            let bet = self.side.sign() * bold * in_scales;
            *wealth += bet - ln_cosh(bet);
        }
    }

    /// Its natural logarithm: at least ln 1 ÷ *a* at any time with a probability of at most *a*,
    /// where the shift is the supposed one.
    pub fn ln(&self) -> f64 {
        ln_sum(&self.wealths)
    }

    fn refutes(&self, error: f64) -> bool {
        self.ln() >= -error.ln()
    }
}

/// The evidence of all these pairs against a shift; `None` where any look refutes it. What was
/// refuted once stays refuted: that it ever happens to the true one has a probability of at most
/// `error`.
pub(crate) fn unless_refuted(
    differences: &[f64],
    shift: f64,
    side: Side,
    design: f64,
    error: f64,
) -> Option<Evidence> {
    let mut evidence = Evidence::new(shift, side, design);
    let is_refuted = differences.iter().any(|pair| {
        evidence.add(*pair);
        evidence.refutes(error)
    });
    (!is_refuted).then_some(evidence)
}

/// A supposed shift and all beyond it. Evidence against a far shift may be less than against a near
/// one: one that is refuted says nothing of those behind it.
#[derive(Clone, Debug)]
pub struct Beyond {
    nearest: Evidence,
    /// The probability with which any of them may be refuted where it is the true one.
    error: f64,
    /// Those that are left since the nearest is refuted; `None` before.
    left: Option<Vec<Evidence>>,
}

impl Beyond {
    /// All of them: `null`, and on from there away from `side`, on which the true shift is
    /// suspected.
    pub fn new(null: f64, side: Side, design: f64, error: f64) -> Beyond {
        Beyond { nearest: Evidence::new(null, side, design), error, left: None }
    }

    /// Takes in the last of these pairs.
    pub fn add(&mut self, pairs: &[f64]) {
        let Some(last) = pairs.last() else { return };
        if let Some(left) = &mut self.left {
            left.iter_mut().for_each(|evidence| evidence.add(*last));
            left.retain(|evidence| !evidence.refutes(self.error));
            return;
        }
        self.nearest.add(*last);
        if self.nearest.refutes(self.error) {
            let Evidence { null, side, design, .. } = self.nearest;
            let away = -side.sign();
            let left = looked_at(pairs, null, away, design).into_iter().filter_map(|distance| {
                let shift = null + away * distance;
                unless_refuted(pairs, shift, side, design, self.error)
            });
            self.left = Some(left.collect());
        }
    }

    /// Whether all are refuted.
    pub fn is_refuted(&self) -> bool {
        self.left.as_ref().is_some_and(Vec::is_empty)
    }

    /// The interval without what is refuted, where that errs no more often than `per_side`.
    pub fn cut(&self, interval: Interval, per_side: f64) -> Interval {
        let null = self.nearest.null;
        match self.nearest.side {
            _ if !self.is_refuted() || self.error > per_side => interval,
            Side::Above => Interval { low: interval.low.max(null), ..interval },
            Side::Below => Interval { high: interval.high.min(null), ..interval },
        }
    }
}

/// The distances from a shift, into the direction of `away`, at which others are looked at, the
/// farthest first. Between two of them the evidence hardly changes: it jumps where a shift passes
/// one of the first pairs, of which the scale is hardly known. At such a pair itself it may be
/// ruined for thousands of pairs; no shift is believed because it is one of them.
fn looked_at(differences: &[f64], from: f64, away: f64, design: f64) -> Vec<f64> {
    // A factor of e^20 is beyond every figure that two runs of one thing could have.
    const FARTHEST: f64 = 20.0;
    const STEP: f64 = 1.15;
    const FIRST: usize = 12;
    let least = design / 16.0;
    let steps = std::iter::successors(Some(FARTHEST), |last| Some(last / STEP));
    let steps = steps.take_while(|distance| *distance > least);
    let first = differences.iter().take(FIRST).map(|pair| away * (pair - from));
    let first = first.flat_map(|at| [at - least, at + least]).filter(|distance| *distance > 0.0);
    let mut all: Vec<f64> = steps.chain(first).chain([0.0]).collect();
    all.sort_unstable_by(|one, two| two.total_cmp(one));
    all
}

/// The shifts that no look refutes, each side with a probability of at most `per_side`. An end is
/// infinite where there are too few pairs to know it.
pub fn interval(differences: &[f64], per_side: f64, design: f64) -> Interval {
    let Some(centre) = centre(differences) else {
        return Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
    };
    let end = |side: Side| {
        let away = -side.sign();
        let shift = |distance: f64| centre + away * distance;
        let refuted = |distance: f64| {
            unless_refuted(differences, shift(distance), side, design, per_side).is_none()
        };
        shift(reach(&looked_at(differences, centre, away, design), refuted))
    };
    Interval { low: end(Side::Above), high: end(Side::Below) }
}

/// The least distance from which on all are refuted, of those that are looked at, the farthest
/// first; infinite where the farthest is not.
fn reach(looked_at: &[f64], refuted: impl Fn(f64) -> bool) -> f64 {
    let Some(place) = looked_at.iter().position(|distance| !refuted(*distance)) else {
        return 0.0;
    };
    if place == 0 {
        return f64::INFINITY;
    }
    halved(looked_at[place], looked_at[place - 1], 30, |middle| !refuted(middle)).1
}

/// The median of the means of all pairs of values (Hodges and Lehmann, *Annals of Mathematical
/// Statistics* 34, 1963): the centre of what is symmetric. `None` for no values.
pub fn centre(values: &[f64]) -> Option<f64> {
    let mut means = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (place, one) in values.iter().enumerate() {
        means.extend(values[place..].iter().map(|two| f64::midpoint(*one, *two)));
    }
    if means.is_empty() {
        return None;
    }
    let middle = means.len() / 2;
    Some(*means.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// The spread of values about their centre: 1.4826 × the median distance, which is the standard
/// deviation of what is normal. 0 for fewer than two.
pub fn spread(values: &[f64]) -> f64 {
    let Some(centre) = centre(values).filter(|_| values.len() > 1) else { return 0.0 };
    let mut sizes: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    OF_MEDIAN * median(&sizes)
}

fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        0 if middle > 0 => f64::midpoint(sorted[middle - 1], sorted[middle]),
        _ => sorted.get(middle).copied().unwrap_or(0.0),
    }
}

/// ln cosh, without overflow.
fn ln_cosh(value: f64) -> f64 {
    let size = value.abs();
    size + (-2.0 * size).exp().ln_1p() - std::f64::consts::LN_2
}

/// The logarithm of the sum of numbers that are given by their logarithms.
fn ln_sum(logarithms: &[f64]) -> f64 {
    let most = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + logarithms.iter().map(|one| (one - most).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The logarithm of the evidence of all these pairs.
    fn ln_evidence(differences: &[f64], null: f64, side: Side, design: f64) -> f64 {
        let mut evidence = Evidence::new(null, side, design);
        differences.iter().for_each(|difference| evidence.add(*difference));
        evidence.ln()
    }

    #[test]
    fn the_mean_of_the_evidence_over_all_signs_is_one_whatever_the_sizes_are() {
        for sizes in [[1.0; 8], [0.1, 9.0, 0.2, 0.0, 3.0, 1e6, 0.3, 0.3]] {
            for design in [0.01, 1.0, 50.0] {
                let of = |signs: u32| {
                    let signed = |(place, size): (usize, &f64)| {
                        if signs >> place & 1 == 1 { *size } else { -size }
                    };
                    let pairs: Vec<f64> = sizes.iter().enumerate().map(signed).collect();
                    ln_evidence(&pairs, 0.0, Side::Above, design).exp()
                };
                let mean = (0..256).map(of).sum::<f64>() / 256.0;
                assert!((mean - 1.0).abs() < 1e-9, "{sizes:?} {design}: {mean}");
            }
        }
    }

    #[test]
    fn a_clear_shift_is_known_after_a_few_pairs_and_none_after_one() {
        let pairs: Vec<f64> = (0..12).map(|n| 0.1 + 0.001 * f64::from(n % 3)).collect();
        let known = |n: usize| ln_evidence(&pairs[..n], 0.0, Side::Above, 0.03) > 40f64.ln();
        let first = (0..=12).find(|n| known(*n)).expect("known");
        assert!((6..=9).contains(&first), "{first}");
        assert!(ln_evidence(&pairs, 0.0, Side::Below, 0.03) < 0.0);
        assert_eq!(interval(&pairs[..2], 0.025, 0.03).high, f64::INFINITY);
        let range = interval(&pairs, 0.025, 0.03);
        assert!(range.holds(0.101) && range.low > 0.09 && range.high < 0.11, "{range:?}");
    }

    #[test]
    fn pairs_that_are_equal_to_the_last_digit_speak_against_every_shift_and_not_against_none() {
        let equal = [0.0; 9];
        assert!(ln_evidence(&equal, 0.0, Side::Above, 0.03) <= 1e-12);
        assert!(ln_evidence(&equal, 0.03, Side::Below, 0.03) > 20f64.ln());
    }

    #[test]
    fn the_centre_and_the_spread_hardly_move_with_an_outlier() {
        let clean = [1.0, 2.0, 3.0, 4.0, 5.0];
        let spoiled = [1.0, 2.0, 3.0, 4.0, 5e9];
        assert_eq!(centre(&clean), Some(3.0));
        assert!(centre(&spoiled).is_some_and(|centre| (2.5..=3.5).contains(&centre)));
        assert!(spread(&spoiled) < 2.0 * spread(&clean));
        assert_eq!((centre(&[]), spread(&[7.0])), (None, 0.0));
    }
}
