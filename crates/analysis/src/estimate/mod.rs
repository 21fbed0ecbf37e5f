//! How sure a mean over time is, although samples in time are not independent.
//!
//! Batch means: the intervals are cut into batches long enough that their means hardly depend on
//! each other, and the spread of these means gives the error of the whole (Law, *Simulation
//! Modeling and Analysis*, 5th edition, 2015, 9.5.3). How long they must be follows from a
//! first-order autoregression that is fitted to the series, its known bias removed (Kendall 1954),
//! and what dependence is left between the batches is corrected for under the same fit.
//!
//! What an interval tells of few requests is noise on top of what remembers, and makes the series
//! look as if it remembered less. Where another series of the same requests shows the memory better
//! ([`memory_beneath`]), the fit is an autoregression with white noise on it: its autocorrelations
//! are w·φ, w·φ², ... (Box, Jenkins and Reinsel, *Time Series Analysis*, 4th edition, 2008, A4.3).

pub(crate) mod confidence;
pub(crate) mod quantile;
#[cfg(test)]
pub(crate) mod simulated;
#[cfg(any(test, feature = "testing"))]
pub(crate) mod simulated_normal;
pub(crate) mod student;

/// Fewer batches than this and the interval is too wide to be of use; fewer independent samples and
/// it would be a guess.
const LEAST_BATCHES: usize = 5;
/// More batches make no interval narrower that is worth it, and depend on each other the more.
const MOST_BATCHES: usize = 30;
/// Fewer samples say too little about what they remember.
const LEAST_SAMPLES: usize = 20;
/// A batch is at least so many times as long as the time that the series remembers.
const MEMORIES: f64 = 2.0;
/// The share of repetitions in which an interval is to hold the true value.
pub const CONFIDENCE: f64 = 0.95;

/// Two values between which the true one lies with a confidence of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end, in the unit of the figure.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The values `by` away from `value` on both sides.
    pub fn around(value: f64, by: f64) -> Interval {
        Interval { low: value - by, high: value + by }
    }

    /// Whether `value` lies in it.
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Both ends through a rising function.
    pub fn map(&self, rising: impl Fn(f64) -> f64) -> Interval {
        Interval { low: rising(self.low), high: rising(self.high) }
    }
}

/// A figure and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Its standard error, in its unit.
    pub error: f64,
    /// The degrees of freedom of that error.
    pub freedom: f64,
    /// How many independent values its series is worth, by what it seems to remember: n ÷ (1 +
    /// *w*·2φ ÷ (1 − φ)). Infinite where nothing had to be guessed, as with repetitions.
    pub independent: f64,
}

impl Estimate {
    /// The 95 % interval.
    pub fn interval(&self) -> Interval {
        Interval::around(self.value, student::bound(1.0 - CONFIDENCE, self.freedom) * self.error)
    }
}

/// How strongly each value of a series depends on the one before it: the lag-1 autocorrelation, 0
/// to 0.99, corrected for its bias E\[r\] ≈ φ − (1 + 3φ) ÷ n (Kendall 1954; Marriott and Pope
/// 1954). Negative dependence counts as none: that errs on the wide side.
pub fn memory(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let spread: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let together: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    if spread <= 0.0 || n < 4.0 {
        return 0.0;
    }
    ((n * together / spread + 1.0) / (n - 3.0)).clamp(0.0, 0.99)
}

/// What a series of residuals lets see of the memory beneath its noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beneath {
    /// The memory of what lies beneath, 0 to 0.99.
    pub phi: f64,
    /// The share of the series' variance that is no noise, 0 to 1.
    pub signal: f64,
}

/// The memory beneath a series of residuals, where `noise` is the part of their sum of squares that
/// the chance of single requests alone makes: noise has no memory, so that the lag-1
/// autocorrelation falls short by its share.
///
/// At most 2.5 times what [`memory`] finds: a share of noise beyond 60 % is not known well enough
/// to divide by what is left.
pub fn memory_beneath(residuals: &[f64], noise: f64) -> Beneath {
    const LEAST_SIGNAL: f64 = 0.4;
    const MOST: f64 = 0.95;
    let spread: f64 = residuals.iter().map(|value| value * value).sum();
    let seen = memory(residuals);
    if spread <= 0.0 || !noise.is_finite() {
        return Beneath { phi: seen, signal: 0.0 };
    }
    let signal = (1.0 - noise / spread).clamp(0.0, 1.0);
    Beneath { phi: (seen / signal.max(LEAST_SIGNAL)).min(MOST).max(seen), signal }
}

/// What a series remembers: a first-order autoregression with white noise on it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fit {
    /// The memory of the autoregression.
    phi: f64,
    /// Its share of the variance; the rest is noise.
    share: f64,
}

impl Fit {
    /// The fit to `values`, of which it is known that what lies beneath remembers at least `phi`.
    fn of(values: &[f64], phi: f64) -> Fit {
        let seen = memory(values);
        let phi = seen.max(phi);
        Fit { phi, share: if phi > 0.0 { seen / phi } else { 0.0 } }
    }

    /// By how much dependence multiplies the variance of a long mean, from 1 up.
    fn time(self) -> f64 {
        1.0 + self.share * ((1.0 + self.phi) / (1.0 - self.phi) - 1.0)
    }

    /// Batches of a series: how many, and the length of each in samples. `None` where the series is
    /// too short for what it remembers.
    fn batches(self, n: usize) -> Option<(usize, usize)> {
        let length = if self.phi > 0.0 { (MEMORIES * self.time()).ceil() as usize } else { 1 };
        let length = length.max(n.div_ceil(MOST_BATCHES)).max(1);
        let count = n / length;
        (n >= LEAST_SAMPLES && count >= LEAST_BATCHES).then(|| (count, n / count))
    }

    /// The variance of the mean of `n` values, whose own variance is 1.
    fn mean_variance(self, n: usize) -> f64 {
        let (n, phi) = (n as f64, self.phi);
        let remembered =
            (1.0 + phi) / (1.0 - phi) - 2.0 * phi * (1.0 - phi.powf(n)) / (n * (1.0 - phi).powi(2));
        (self.share * remembered + 1.0 - self.share) / n
    }
}

/// Σ`numerators` ÷ Σ`denominators` over intervals in order, such as requests over seconds or
/// nanoseconds over requests, with its error, where what lies beneath the noise is known to
/// remember at least `phi` (0 to 0.99). `None` where there are too few intervals, or they depend
/// too much on each other, to know it.
///
/// The error is that of the [`residuals`] (Cochran, *Sampling Techniques*, 3rd edition, 1977, 6.3).
pub fn ratio_beneath(numerators: &[f64], denominators: &[f64], phi: f64) -> Option<Estimate> {
    let (value, residuals) = residuals(numerators, denominators)?;
    let mean = mean_beneath(&residuals, phi)?;
    let total: f64 = denominators.iter().sum();
    Some(Estimate { value, error: mean.error * residuals.len() as f64 / total, ..mean })
}

/// The same where nothing but the series itself is known.
#[cfg(test)]
pub fn ratio(numerators: &[f64], denominators: &[f64]) -> Option<Estimate> {
    ratio_beneath(numerators, denominators, 0.0)
}

/// The ratio of two sums, and of each interval the residual numerator − ratio · denominator. `None`
/// where there is no ratio.
pub fn residuals(numerators: &[f64], denominators: &[f64]) -> Option<(f64, Vec<f64>)> {
    let value = numerators.iter().sum::<f64>() / denominators.iter().sum::<f64>();
    let is_one = value.is_finite() && numerators.len() == denominators.len();
    is_one
        .then(|| (value, numerators.iter().zip(denominators).map(|(n, d)| n - value * d).collect()))
}

/// The mean of values in the order of time, with its error; `None` as in [`ratio_beneath`].
pub(crate) fn mean_in_time(values: &[f64]) -> Option<Estimate> {
    mean_beneath(values, 0.0)
}

fn mean_beneath(values: &[f64], phi: f64) -> Option<Estimate> {
    let fit = Fit::of(values, phi);
    let (count, length) = fit.batches(values.len())?;
    // What does not fill a batch is left out at the start, where a transient would be.
    let used = &values[values.len() - count * length..];
    let means: Vec<f64> =
        used.chunks_exact(length).map(|batch| batch.iter().sum::<f64>() / length as f64).collect();
    let mean = means.iter().sum::<f64>() / count as f64;
    let spread = means.iter().map(|batch| (batch - mean).powi(2)).sum::<f64>() / (count - 1) as f64;
    let (whole, part) = (fit.mean_variance(count * length), fit.mean_variance(length));
    let expected = count as f64 / (count - 1) as f64 * (part - whole);
    let variance = if expected > 0.0 { spread * whole / expected } else { spread / count as f64 };
    let n = values.len() as f64;
    Some(Estimate {
        value: values.iter().sum::<f64>() / n,
        error: variance.sqrt(),
        freedom: (count - 1) as f64,
        independent: n / fit.time(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::simulated::{Normal, autoregressive};

    /// The share of `runs` series in which the interval holds the true mean, and the share that has
    /// an interval at all.
    fn coverage(n: usize, phi: f64, runs: u64) -> (f64, f64) {
        let (mut held, mut told) = (0.0, 0.0);
        for seed in 0..runs {
            let values = autoregressive(&mut Normal::new(seed), n, phi, 1_000.0, 50.0);
            if let Some(estimate) = ratio(&values, &vec![1.0; n]) {
                told += 1.0;
                held += f64::from(u8::from(estimate.interval().holds(1_000.0)));
            }
        }
        (held / told, told / runs as f64)
    }

    #[test]
    fn a_95_percent_interval_holds_the_mean_in_93_to_97_of_100_series() {
        for (n, phi) in [(30, 0.0), (60, 0.0), (60, 0.3), (120, 0.6), (300, 0.8), (900, 0.9)] {
            let (held, told) = coverage(n, phi, 4_000);
            assert!((0.93..=0.97).contains(&held), "{n} samples, memory {phi}: {held}");
            assert!(told > 0.97, "{n} samples, memory {phi}: {told}");
        }
    }

    #[test]
    fn a_series_too_short_for_its_memory_has_no_interval_rather_than_a_wrong_one() {
        for (n, phi) in [(20, 0.3), (30, 0.6), (60, 0.8), (60, 0.95), (120, 0.9), (300, 0.95)] {
            let (held, told) = coverage(n, phi, 2_000);
            assert!(told * (1.0 - held) < 0.065, "{n} samples, memory {phi}: {held} of {told}");
        }
        assert_eq!(ratio(&[5.0; LEAST_SAMPLES - 1], &[1.0; LEAST_SAMPLES - 1]), None);
    }

    #[test]
    fn noise_hides_a_memory_that_is_found_again_where_its_size_is_known() {
        let mut found = [0.0; 3];
        for seed in 0..200 {
            let mut normal = Normal::new(seed);
            let beneath = autoregressive(&mut normal, 600, 0.8, 0.0, 1.0);
            let noisy: Vec<f64> = beneath.iter().map(|value| value + normal.draw()).collect();
            let seen = memory_beneath(&noisy, 600.0);
            let values = [memory(&noisy), seen.phi, seen.signal];
            found.iter_mut().zip(values).for_each(|(sum, value)| *sum += value / 200.0);
        }
        let [seen, phi, signal] = found;
        assert!(
            (seen - 0.4).abs() < 0.02 && (phi - 0.8).abs() < 0.03 && (signal - 0.5).abs() < 0.02,
            "{found:?}"
        );
        assert_eq!(memory_beneath(&[0.0; 30], 1.0), Beneath { phi: 0.0, signal: 0.0 });
        assert_eq!(memory_beneath(&[1.0, -1.0, 1.0, -1.0], f64::NAN).signal, 0.0);
    }

    #[test]
    fn nothing_and_nonsense_have_no_interval() {
        assert_eq!(ratio(&[], &[]), None);
        assert_eq!(ratio(&[0.0; 50], &[0.0; 50]), None);
        assert_eq!(ratio(&[f64::NAN; 50], &[1.0; 50]), None);
        let still = ratio(&[7.0; 50], &[1.0; 50]).expect("an interval");
        assert_eq!(
            (still.value, still.error, still.interval()),
            (7.0, 0.0, Interval { low: 7.0, high: 7.0 })
        );
    }
}
