//! Student's t distribution, which every interval and every test here rests on.
//!
//! Source: Abramowitz and Stegun, *Handbook of Mathematical Functions*, 1964, 26.5 and 26.7 (the
//! distribution as an incomplete beta function); its continued fraction by Lentz's method and the
//! gamma function by Lanczos, as in Press et al., *Numerical Recipes*, 3rd edition, 2007, 6.1 and
//! 6.4. It is our own because that of `statrs` does not converge for many requests
//! (`docs/decisions/2026-11-22-own-beta-and-crc.md`).

/// The probability that |T| with `freedom` degrees of freedom exceeds `t`: the two-sided p-value, 0
/// to 1. 1 for what is not a number.
pub(crate) fn two_sided(t: f64, freedom: f64) -> f64 {
    if !t.is_finite() {
        return if t.is_nan() { 1.0 } else { 0.0 };
    }
    let freedom = freedom.clamp(1e-3, 1e7);
    incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// What is left of the range from `low` to `high` after so many halvings. Each keeps the upper half
/// if `is_below` holds in the middle, and the lower half if it does not.
pub(crate) fn halved(
    low: f64,
    high: f64,
    times: u32,
    is_below: impl Fn(f64) -> bool,
) -> (f64, f64) {
    (0..times).fold((low, high), |(low, high), _| {
        let middle = f64::midpoint(low, high);
        if is_below(middle) { (middle, high) } else { (low, middle) }
    })
}

/// The value that |T| exceeds with probability `outside` (0 to 1, exclusive): 1.96 for 0.05 and
/// very many degrees of freedom.
pub fn bound(outside: f64, freedom: f64) -> f64 {
    let mut high = 1.0;
    while two_sided(high, freedom) > outside && high < 1e9 {
        high *= 2.0;
    }
    // 50 halvings leave 1e-15 of the bracket.
    let (low, high) = halved(0.0, high, 50, |middle| two_sided(middle, freedom) > outside);
    f64::midpoint(low, high)
}

/// The regularised incomplete beta function I_x(a, b), for `x` from 0 to 1 and positive `a` and
/// `b`.
pub(crate) fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    // The fraction converges fast on one side of the mean, and the two sides mirror each other.
    let value = if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, 1.0 - x) / b
    };
    value.clamp(0.0, 1.0)
}

/// It takes some √max(a, b) steps near the mean: 2,300 for the median of 200 million requests.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const MOST_STEPS: u32 = 20_000;
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut h = d;
    for m in 1..MOST_STEPS {
        let m = f64::from(m);
        for numerator in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / away(1.0 + numerator * d);
            c = away(1.0 + numerator / c);
            h *= d * c;
        }
        if (d * c - 1.0).abs() < 1e-14 {
            break;
        }
    }
    h
}

fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 6] = [
        76.180_091_729_471_46, -86.505_320_329_416_77, 24.014_098_240_830_91,
        -1.231_739_572_450_155, 1.208_650_973_866_179e-3, -5.395_239_384_953e-6,
    ];
    let t = x + 5.5;
    let mut series = 1.000_000_000_190_015;
    for (index, coefficient) in (1..).zip(COEFFICIENTS) {
        series += coefficient / (x + f64::from(index));
    }
    (x + 0.5) * t.ln() - t + (2.506_628_274_631_000_5 * series / x).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_the_printed_tables() {
        let table = [
            (0.05, 1.0, 12.706),
            (0.05, 4.0, 2.776),
            (0.05, 9.0, 2.262),
            (0.01, 29.0, 2.756),
            (0.05, 1e6, 1.960),
        ];
        for (outside, freedom, expected) in table {
            let found = bound(outside, freedom);
            assert!((found - expected).abs() < 6e-4, "{outside} {freedom}: {found}");
        }
    }

    #[test]
    fn half_of_what_is_symmetric_lies_on_each_side_however_many_requests_there_are() {
        for many in [1.0, 1e2, 1e4, 1e6, 1e8] {
            let found = incomplete_beta(many, many, 0.5);
            assert!((found - 0.5).abs() < 1e-6, "{many}: {found}");
        }
    }

    #[test]
    fn extremes_are_probabilities_all_the_same() {
        assert_eq!(
            (two_sided(0.0, 5.0), two_sided(f64::INFINITY, 5.0), two_sided(f64::NAN, 5.0)),
            (1.0, 0.0, 1.0)
        );
        assert!(two_sided(1e30, 0.0).is_finite() && bound(1e-12, 0.0).is_finite());
    }
}
