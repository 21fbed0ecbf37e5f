//! Series with a known answer, for tests of the statistics.

pub use crate::estimate::simulated_normal::Normal;
use crate::estimate::student::{halved, incomplete_beta};

/// `n` values of a stationary first-order autoregression: each remembers the share `phi` of the one
/// before.
pub fn autoregressive(
    normal: &mut Normal,
    n: usize,
    phi: f64,
    mean: f64,
    deviation: f64,
) -> Vec<f64> {
    let mut state = normal.draw();
    let mut values = Vec::with_capacity(n);
    for _ in 0..n {
        values.push(mean + deviation * state);
        state = phi * state + (1.0 - phi * phi).sqrt() * normal.draw();
    }
    values
}

/// How something goes on from interval to interval; its level is 0 where nothing happens.
#[derive(Clone, Copy, Debug)]
pub enum Series {
    /// Always 0.
    Independent,
    /// A first-order autoregression around 0.
    Autoregressive { phi: f64, deviation: f64 },
    /// Mostly 0, and `by` in bursts: of each interval, the chance that one begins after it, and
    /// that one ends.
    Bursts { begins: f64, ends: f64, by: f64 },
}

impl Series {
    /// `n` values in the order of time, the first as probable as any.
    pub fn draw(self, normal: &mut Normal, n: usize) -> Vec<f64> {
        match self {
            Series::Independent => vec![0.0; n],
            Series::Autoregressive { phi, deviation } => {
                autoregressive(normal, n, phi, 0.0, deviation)
            }
            Series::Bursts { begins, ends, by } => {
                let mut on = normal.unit() < self.burst().0;
                let mut next = || {
                    let value = if on { by } else { 0.0 };
                    on = if on { normal.unit() >= ends } else { normal.unit() < begins };
                    value
                };
                (0..n).map(|_| next()).collect()
            }
        }
    }

    /// The share of intervals in a burst, and its height; nothing where there are none.
    pub fn burst(self) -> (f64, f64) {
        match self {
            Series::Bursts { begins, ends, by } => (begins / (begins + ends), by),
            _ => (0.0, 0.0),
        }
    }
}

/// The probability that a standard normal number is below `z`.
pub fn phi_of_normal(z: f64) -> f64 {
    let outside = crate::estimate::student::two_sided(z.abs(), f64::INFINITY) / 2.0;
    if z > 0.0 { 1.0 - outside } else { outside }
}

/// The greatest share of which `found` or fewer of `runs` still has a chance of more than
/// `outside`: the upper bound of Clopper and Pearson, *The use of confidence or fiducial limits
/// illustrated in the case of the binomial*, 1934. Between the two bounds lies 1 − 2 · `outside`.
pub fn upper_bound(found: u64, runs: u64, outside: f64) -> f64 {
    1.0 - lower_bound(runs - found, runs, outside)
}

/// The least share of which `found` or more of `runs` still has a chance of more than `outside`:
/// the lower bound.
pub fn lower_bound(found: u64, runs: u64, outside: f64) -> f64 {
    if found == 0 {
        return 0.0;
    }
    let (found, runs) = (found as f64, runs as f64);
    halved(0.0, 1.0, 40, |p| incomplete_beta(found, runs - found + 1.0, p) < outside).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_a_share_are_those_of_the_formula() {
        // All of n: the least p with pⁿ = 5 %; and a printed one: 10 of 100 lie between 4.90 and
        // 17.62 % (95 %).
        assert!(
            (lower_bound(20, 20, 0.05) - 0.05_f64.powf(0.05)).abs() < 1e-9
                && upper_bound(20, 20, 0.05) > 0.999_999
        );
        assert!(
            (lower_bound(10, 100, 0.025) - 0.0490).abs() < 5e-5,
            "{}",
            lower_bound(10, 100, 0.025)
        );
        assert!(
            (upper_bound(10, 100, 0.025) - 0.1762).abs() < 5e-5,
            "{}",
            upper_bound(10, 100, 0.025)
        );
        assert!(
            (phi_of_normal(1.959_964) - 0.975).abs() < 1e-6
                && (phi_of_normal(-1.0) - 0.158_655).abs() < 1e-6
        );
    }
}
