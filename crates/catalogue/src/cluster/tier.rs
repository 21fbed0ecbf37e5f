//! What a cache tier keeps, as far as more than one room has to know the same of it.

use super::{CacheKind, Cluster, fixed};
use form::Auto;
use model::units::Percent;

/// How unevenly a footprint lies on the drives of the tier: the standard deviation of the logarithm
/// of a drive's share. Assumed: it smooths the step where a footprint just fits.
const UNEVEN: f64 = 0.1;

/// How much work that nobody waits for may lie before a drive, in ns of its time. More of it goes
/// before other requests, so that a cache that is full lets in no more than the drives behind it
/// take. Assumed: a few times that of a disk's request.
pub const DESTAGE_SLACK_NS: u64 = 20_000_000;

impl Cluster {
    /// The share of the tier's bytes that is data, 0 to 1, where each byte of data takes `space`
    /// bytes; `None` without a tier.
    ///
    /// Reads and writes share one space: a block that was written is read from there, and one that
    /// is there is overwritten there. Where the testbed divides the space, both parts add up.
    pub fn cached_share(&self, space: f64) -> Option<f64> {
        let cache = &self.cache;
        let part = |share: Auto<Percent>| fixed(share).map(|share| f64::from(share.ppm) / 1e6);
        let space = space.max(1.0);
        let read_copies = fixed(cache.read_copies.value).map_or(space, |n| f64::from(n.0));
        let (read, write) = (part(cache.read_share.value), part(cache.write_share.value));
        Some(match (self.cache_kind(), read, write) {
            (CacheKind::None, ..) => return None,
            (CacheKind::Read, read, _) => read.unwrap_or(1.0) / read_copies,
            (CacheKind::Write, _, write) => write.unwrap_or(1.0) / space,
            (CacheKind::ReadWrite, Some(read), Some(write)) if read + write <= 1.0 => {
                read / read_copies + write / space
            }
            (CacheKind::ReadWrite, ..) => 1.0 / space,
        })
    }
}

/// The share of a footprint that a tier has not got, 0 to 1, where it keeps `fits` of it.
///
/// Every block is equally likely, so a cache of `s` bytes answers s ÷ footprint (King 1971). The
/// footprint lies unevenly on the drives: with a lognormal share of mean 1 on each, what is over is
/// E[(share − fits)⁺] = Φ(d₁) − fits·Φ(d₂), with d₁ = −ln fits ÷ σ + σ ÷ 2 and d₂ = d₁ − σ (the
/// lognormal distribution's partial expectation).
pub fn missing(fits: f64) -> f64 {
    if fits.is_nan() || fits <= 0.0 {
        return 1.0;
    }
    let first = -fits.ln() / UNEVEN + UNEVEN / 2.0;
    (standard_normal(first) - fits * standard_normal(first - UNEVEN)).clamp(0.0, 1.0)
}

/// By which factors the space for a block's own drive differs, each with its weight: the same
/// shares as in [`missing`], seen by a block. Weights add up to 1.
pub(super) fn shares_on_drives() -> Vec<(f64, f64)> {
    // A normal number from −5 to 5 in steps of a quarter: the trapezoidal rule is exact to 1e-6.
    let numbers = || (-20..=20).map(|number| f64::from(number) / 4.0);
    let density = |z: f64| (-z * z / 2.0).exp();
    let all: f64 = numbers().map(density).sum();
    let factor = |z: f64| (-UNEVEN * z - UNEVEN * UNEVEN / 2.0).exp();
    numbers().map(|z| (factor(z), density(z) / all)).collect()
}

/// The probability that a standard normal number is below `value`, within 1.2e-7 relative: the
/// complementary error function of Press et al., *Numerical Recipes*, 2nd edition, 1992, 6.2.
fn standard_normal(value: f64) -> f64 {
    const COEFFICIENTS: [f64; 10] = [
        0.170_872_77, -0.822_152_23, 1.488_515_87, -1.135_203_98, 0.278_868_07, -0.186_288_06,
        0.096_784_18, 0.374_091_96, 1.000_023_68, -1.265_512_23,
    ];
    let x = value.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * x);
    let power = COEFFICIENTS.iter().fold(0.0, |sum, coefficient| sum * t + coefficient);
    let tail = 0.5 * t * (power - x * x).exp();
    if value > 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_is_that_of_the_printed_tables() {
        for (value, expected) in
            [(0.0, 0.5), (1.0, 0.841_345), (-1.96, 0.024_998), (3.0, 0.998_650)]
        {
            let found = standard_normal(value);
            assert!((found - expected).abs() < 1e-6, "{value}: {found}");
        }
    }

    #[test]
    fn far_from_full_it_is_the_share_and_at_the_step_it_is_smooth() {
        assert!(missing(2.0) < 1e-9);
        assert!((missing(0.25) - 0.75).abs() < 1e-6, "{}", missing(0.25));
        // σ ÷ √(2π) at the money.
        assert!((missing(1.0) - 0.0399).abs() < 1e-4, "{}", missing(1.0));
        assert!(missing(1.0 / 1.05) > missing(1.0) && missing(1.0 / 0.95) < missing(1.0));
        assert_eq!((missing(0.0), missing(f64::NAN)), (1.0, 1.0));
    }
}
