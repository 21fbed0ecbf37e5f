//! Zipf's law without a table.

use model::rng::Rng;

/// Ranks from 1 to `count`, rank *k* with a probability that falls as *k*⁻ˢ: rejection-inversion
/// (Hörmann and Derflinger, *Rejection-inversion to generate variates from monotone discrete
/// distributions*, 1996). A draw costs a few powers, whatever the count.
#[derive(Clone, Debug)]
pub(super) struct Zipf {
    count: f64,
    exponent: f64,
    /// The integral of the hat below 1.5, less the mass of rank 1.
    low: f64,
    high: f64,
    /// Within this of its rank, a point is accepted without asking.
    near: f64,
}

impl Zipf {
    /// The law of `exponent` (above 0) over `count` (at least 1) ranks.
    pub(super) fn new(count: u64, exponent: f64) -> Zipf {
        let mut zipf =
            Zipf { count: count.max(1) as f64, exponent, low: 0.0, high: 0.0, near: 0.0 };
        zipf.low = zipf.integral(1.5) - 1.0;
        zipf.high = zipf.integral(zipf.count + 0.5);
        zipf.near = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.hat(2.0));
        zipf
    }

    /// The next rank, from 1 to the count.
    #[inline]
    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let area = self.high + rng.unit() * (self.low - self.high);
            let point = self.inverse(area);
            let rank = point.round().clamp(1.0, self.count);
            if rank - point <= self.near || area >= self.integral(rank + 0.5) - self.hat(rank) {
                return rank as u64;
            }
        }
    }

    fn hat(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    /// ∫ x⁻ˢ dx, so written that it is exact around s = 1.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        over(f64::exp_m1, (1.0 - self.exponent) * log) * log
    }

    fn inverse(&self, area: f64) -> f64 {
        let scaled = (area * (1.0 - self.exponent)).max(-1.0);
        (over(f64::ln_1p, scaled) * area).exp()
    }
}

/// f(x) ÷ x, which goes to 1 at 0 for the two functions used here.
fn over(f: fn(f64) -> f64, x: f64) -> f64 {
    if x.abs() > 1e-8 { f(x) / x } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_follow_the_law() {
        for exponent in [0.5, 1.0, 1.2, 2.5] {
            let (zipf, mut rng) = (Zipf::new(1_000, exponent), Rng::new(11));
            let mut counts = [0u32; 1_001];
            let draws = 1_000_000;
            (0..draws).for_each(|_| counts[zipf.draw(&mut rng) as usize] += 1);
            assert_eq!(counts[0], 0);
            let total: f64 = (1..=1_000).map(|k| f64::from(k).powf(-exponent)).sum();
            for rank in [1u32, 2, 3, 10, 100] {
                let expected = f64::from(draws) * f64::from(rank).powf(-exponent) / total;
                let seen = f64::from(counts[rank as usize]);
                // Five standard deviations of a Poisson count.
                assert!(
                    (seen - expected).abs() < 5.0 * expected.sqrt() + 1.0,
                    "s {exponent}, rank {rank}: {seen} for {expected}"
                );
            }
        }
    }
}
