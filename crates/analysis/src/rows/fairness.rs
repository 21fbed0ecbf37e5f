//! Whether those who did the same work got the same share of it.

/// The share of the median below which one of several got too little.
pub const LEAST_SHARE: f64 = 0.8;
/// Below this mean, the counts themselves are noise: with 400, a fifth is four standard deviations
/// of a Poisson count.
const LEAST_COUNT: f64 = 400.0;

/// How evenly requests were spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The median of all.
    pub median: f64,
    /// The least of all, as a share of the median.
    pub least: f64,
    /// The most of all, as a share of the median.
    pub most: f64,
    /// (Σx)² ÷ (n·Σx²): 1 where all have the same, 1 ÷ n where one has everything (Jain, Chiu and
    /// Hawe, *A quantitative measure of fairness*, 1984).
    pub jain: f64,
    /// How many got less than four fifths of the median.
    pub short: u32,
    /// How many there are.
    pub of: u32,
}

impl Spread {
    /// Whether who got this has too little.
    pub fn is_short(&self, count: f64) -> bool {
        count < LEAST_SHARE * self.median
    }

    /// Whether somebody got too little.
    pub fn is_unfair(&self) -> bool {
        self.short > 0
    }
}

/// How evenly requests were spread over those who did the same work. `None` for fewer than two, or
/// too few requests to say so.
pub fn spread(counts: &[f64]) -> Option<Spread> {
    let n = counts.len() as f64;
    let sum: f64 = counts.iter().sum();
    if counts.len() < 2 || !sum.is_finite() || sum / n < LEAST_COUNT {
        return None;
    }
    let mut sorted = counts.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = 0.5 * (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]);
    if median <= 0.0 {
        return None;
    }
    let squares: f64 = counts.iter().map(|count| count * count).sum();
    Some(Spread {
        median,
        least: sorted[0] / median,
        most: sorted[sorted.len() - 1] / median,
        jain: sum * sum / (n * squares),
        short: counts.iter().filter(|count| **count < LEAST_SHARE * median).count() as u32,
        of: counts.len() as u32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_starves_is_seen_and_counting_noise_is_not() {
        let found = spread(&[1_000.0, 1_020.0, 990.0, 150.0]).expect("a spread");
        assert!(found.is_unfair() && found.short == 1 && found.of == 4);
        assert!(
            (found.least - 150.0 / 995.0).abs() < 1e-12 && (found.jain - 0.8204).abs() < 0.001,
            "{found:?}"
        );
        assert!(!spread(&[1_000.0, 1_100.0, 900.0]).expect("a spread").is_unfair());
        assert_eq!(spread(&[30.0, 10.0]), None, "chance");
        assert_eq!((spread(&[1e6]), spread(&[])), (None, None));
    }
}
