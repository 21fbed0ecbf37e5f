//! Which share of the requests the cache tier leaves to the drives behind it.

use crate::ceiling::Amplification;
use catalogue::cluster::{CacheKind, Role, fixed};
use catalogue::{Auto, Cluster};
use model::{Bytes, Percent};

/// How unevenly a footprint lies on the drives of the tier: the standard deviation of the logarithm
/// of a drive's share. Assumed: it smooths the step where a footprint just fits.
const UNEVEN: f64 = 0.1;

/// The bytes of data that a tier keeps, and what it keeps them for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tier {
    /// Data that all of it would keep; `None` where a capacity is not known: then everything fits.
    keeps: Option<f64>,
    /// Whether it answers reads.
    pub(super) reads: bool,
    /// Whether it takes up writes.
    pub(super) writes: bool,
}

impl Tier {
    /// The tier of a cluster; `None` where there is none.
    ///
    /// Reads and writes share one space: a block that was written is read from there, and one that
    /// is there is overwritten there. Where the testbed divides the space, both parts add up.
    pub(super) fn of(cluster: &Cluster, amplification: &Amplification) -> Option<Tier> {
        let kind = cluster.cache_kind();
        let raw: Option<f64> = cluster
            .drives(Role::Cache)
            .map(|(count, figures)| Some(count as f64 * figures.capacity_bytes?))
            .sum();
        let cache = &cluster.cache;
        let part = |share: Auto<Percent>| fixed(share).map(|share| f64::from(share.ppm) / 1e6);
        let read_copies =
            fixed(cache.read_copies.value).map_or(amplification.space, |n| f64::from(n.0));
        let (read, write) = (part(cache.read_share.value), part(cache.write_share.value));
        let share = match (kind, read, write) {
            (CacheKind::None, ..) => return None,
            (CacheKind::Read, read, _) => read.unwrap_or(1.0) / read_copies,
            (CacheKind::Write, _, write) => write.unwrap_or(1.0) / amplification.space,
            (CacheKind::ReadWrite, Some(read), Some(write)) if read + write <= 1.0 => {
                read / read_copies + write / amplification.space
            }
            (CacheKind::ReadWrite, ..) => 1.0 / amplification.space,
        };
        Some(Tier {
            keeps: raw.map(|raw| raw * share),
            reads: kind != CacheKind::Write,
            writes: kind != CacheKind::Read,
        })
    }

    /// The share of a footprint that is not there, 0 to 1, where so much of the tier is usable.
    ///
    /// Every block is equally likely, so a cache of `s` bytes answers s ÷ footprint (King 1971).
    /// The footprint lies unevenly on the drives: with a lognormal share of mean 1 on each and
    /// `fits` = s ÷ footprint, what is over is E[(share − fits)⁺] = Φ(d₁) − fits·Φ(d₂), with d₁ =
    /// −ln fits ÷ σ + σ ÷ 2 and d₂ = d₁ − σ (the lognormal distribution's partial expectation).
    pub(super) fn missing(&self, footprint: Option<Bytes>, usable: f64) -> f64 {
        let (Some(keeps), Some(footprint)) = (self.keeps, footprint) else { return 0.0 };
        let fits = keeps * usable / (footprint.0 as f64).max(1.0);
        if fits <= 0.0 {
            return 1.0;
        }
        let first = -fits.ln() / UNEVEN + UNEVEN / 2.0;
        (standard_normal(first) - fits * standard_normal(first - UNEVEN)).clamp(0.0, 1.0)
    }
}

/// The probability that a standard normal number is below `value`, within 1.2e-7 relative: the
/// complementary error function of Press et al., *Numerical Recipes*, 2nd edition, 1992, 6.2.
fn standard_normal(value: f64) -> f64 {
    const COEFFICIENTS: [f64; 10] = [
        0.170_872_77,
        -0.822_152_23,
        1.488_515_87,
        -1.135_203_98,
        0.278_868_07,
        -0.186_288_06,
        0.096_784_18,
        0.374_091_96,
        1.000_023_68,
        -1.265_512_23,
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
        let tier = Tier { keeps: Some(1e12), reads: true, writes: true };
        let missing = |footprint: f64| tier.missing(Some(Bytes(footprint as u64)), 1.0);
        assert!(missing(0.5e12) < 1e-9);
        assert!((missing(4e12) - 0.75).abs() < 1e-6, "{}", missing(4e12));
        // σ ÷ √(2π) at the money.
        assert!((missing(1e12) - 0.0399).abs() < 1e-4, "{}", missing(1e12));
        assert!(missing(1.05e12) > missing(1e12) && missing(0.95e12) < missing(1e12));
        assert_eq!(tier.missing(None, 0.1), 0.0);
        assert!((missing(2e12) - tier.missing(Some(Bytes(1_000_000_000_000)), 0.5)).abs() < 1e-9);
    }
}
