//! Draws service times from their distributions.

use crate::spec::Service;
use model::rng::Rng;

/// 2^-53: the distance between the uniform numbers that a double can hold from 1/2 to 1.
const STEP: f64 = 1.0 / (1u64 << 53) as f64;

/// A distribution made ready for drawing.
#[derive(Clone, Debug)]
pub(crate) enum Sampler {
    Constant(u64),
    Exponential { mean_ns: f64 },
    Lognormal { median_ns: f64, sigma: f64 },
    Empirical { times_ns: Vec<u64>, below: Vec<u64> },
}

impl Sampler {
    pub(crate) fn new(service: &Service) -> Sampler {
        match service {
            Service::Constant(ns) => Sampler::Constant(*ns),
            Service::Exponential { mean_ns } => Sampler::Exponential { mean_ns: *mean_ns as f64 },
            Service::Lognormal { median_ns, sigma } => {
                Sampler::Lognormal { median_ns: *median_ns as f64, sigma: *sigma }
            }
            Service::Empirical(points) => {
                let mut total = 0;
                let below: Vec<u64> = points
                    .iter()
                    .map(|&(_, weight)| {
                        total += u64::from(weight);
                        total
                    })
                    .collect();
                if total == 0 {
                    return Sampler::Constant(1);
                }
                Sampler::Empirical { times_ns: points.iter().map(|&(ns, _)| ns).collect(), below }
            }
        }
    }

    /// The next service time in ns; at least 1, so that no request completes at the instant at
    /// which it begins.
    ///
    /// Exponential by inversion, lognormal by the transformation of Box and Muller (*A Note on the
    /// Generation of Random Normal Deviates*, 1958), empirical by the cumulated weights.
    #[inline]
    pub(crate) fn draw_ns(&self, rng: &mut Rng) -> u64 {
        let ns = match self {
            Sampler::Constant(ns) => *ns,
            Sampler::Exponential { mean_ns } => round(-mean_ns * above_zero(rng).ln()),
            Sampler::Lognormal { median_ns, sigma } => {
                let radius = (-2.0 * above_zero(rng).ln()).sqrt();
                let normal = radius * (std::f64::consts::TAU * above_zero(rng)).cos();
                round(median_ns * (sigma * normal).exp())
            }
            Sampler::Empirical { times_ns, below } => {
                let total = below.last().copied().unwrap_or(1);
                let ticket = rng.below(total);
                let index = below.partition_point(|&end| end <= ticket);
                times_ns.get(index).copied().unwrap_or(1)
            }
        };
        ns.max(1)
    }
}

/// Above 0 and up to 1, uniform: its logarithm is finite.
#[inline]
fn above_zero(rng: &mut Rng) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 * STEP
}

/// A cast ends at the largest number, and what is no number becomes 0.
#[inline]
fn round(ns: f64) -> u64 {
    (ns + 0.5) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_many_draws_is_that_of_the_formula() {
        let services = [
            Service::Constant(100_000),
            Service::Exponential { mean_ns: 50_000 },
            Service::Lognormal { median_ns: 80_000, sigma: 0.5 },
            Service::Empirical(vec![(10_000, 90), (1_000_000, 10)]),
        ];
        for service in services {
            let sampler = Sampler::new(&service);
            let mut rng = Rng::new(3);
            let n = 400_000;
            let mean = (0..n).map(|_| sampler.draw_ns(&mut rng) as f64).sum::<f64>() / f64::from(n);
            // The widest of them, the empirical one, has a standard error of 0.43 %.
            assert!((mean / service.mean_ns() - 1.0).abs() < 0.015, "{service:?}: {mean}");
        }
    }

    #[test]
    fn specs_that_make_no_sense_still_take_a_nanosecond() {
        for service in [
            Service::Constant(0),
            Service::Empirical(vec![]),
            Service::Empirical(vec![(5, 0)]),
            Service::Lognormal { median_ns: 5, sigma: f64::NAN },
        ] {
            assert_eq!(Sampler::new(&service).draw_ns(&mut Rng::new(1)), 1, "{service:?}");
        }
    }
}
