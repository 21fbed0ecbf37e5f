//! How far a suite is from the trace that it was made of.

use model::Histogram;

/// The greatest difference of two cumulative distributions (Kolmogorov, Smirnov) over cells of
/// equal width: 0 for the same, 1 for what has nothing in common.
pub(super) fn of_cells(trace: &[u64], model: impl Fn(f64) -> f64) -> f64 {
    let total: u64 = trace.iter().sum();
    let mut below = 0;
    let mut greatest = 0.0f64;
    for (number, count) in (1..).zip(trace) {
        below += count;
        let at = f64::from(number) / trace.len() as f64;
        greatest = greatest.max((below as f64 / total.max(1) as f64 - model(at)).abs());
    }
    greatest
}

/// The same of inter-arrival times in ns, at the bounds of the histogram's buckets: within one,
/// nobody knows where they are.
pub(super) fn of_times(trace: &Histogram, model: impl Fn(f64) -> f64) -> f64 {
    let total = trace.count().max(1) as f64;
    let mut below = 0u64;
    let mut greatest = 0.0f64;
    for (from_ns, to_ns, count) in trace.buckets() {
        // Just before the bucket, and with its last value.
        let before = below as f64 / total - model(from_ns as f64 - 0.5);
        below += count;
        let after = below as f64 / total - model(to_ns as f64);
        greatest = greatest.max(before.abs()).max(after.abs());
    }
    greatest.min(1.0)
}

/// Half the sum of all differences of two sets of shares (total variation): 0 for the same.
pub(super) fn of_shares<K: Ord>(
    trace: &std::collections::BTreeMap<K, f64>,
    model: &std::collections::BTreeMap<K, f64>,
) -> f64 {
    let share =
        |of: &std::collections::BTreeMap<K, f64>, key: &K| of.get(key).copied().unwrap_or(0.0);
    let own: f64 = trace.iter().map(|(key, part)| (part - share(model, key)).abs()).sum();
    let others = model.iter().filter(|(key, _)| !trace.contains_key(key));
    (own + others.map(|(_, part)| part).sum::<f64>()) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_same_is_at_distance_0_and_what_has_nothing_in_common_at_1() {
        assert!(of_cells(&[5, 5, 5, 5], |at| at) < 1e-9);
        assert!((of_cells(&[20, 0, 0, 0], |at| at) - 0.75).abs() < 1e-9);
        let shares = |parts: &[(u32, f64)]| parts.iter().copied().collect::<BTreeMap<u32, f64>>();
        assert!(of_shares(&shares(&[(1, 0.5), (2, 0.5)]), &shares(&[(1, 0.5), (2, 0.5)])) < 1e-9);
        assert!((of_shares(&shares(&[(1, 1.0)]), &shares(&[(2, 1.0)])) - 1.0).abs() < 1e-9);
        assert!(
            (of_shares(&shares(&[(1, 0.7), (2, 0.3)]), &shares(&[(1, 1.0)])) - 0.3).abs() < 1e-9
        );
    }

    #[test]
    fn arrivals_of_a_known_kind_are_near_it_and_far_from_others() {
        let mut rng = model::rng::Rng::new(9);
        let (mut poisson, mut even) = (Histogram::new(), Histogram::new());
        for _ in 0..100_000 {
            poisson.record((-1e6 * (1.0 - rng.unit()).ln()) as u64);
            even.record(1_000_000);
        }
        let exponential = |ns: f64| 1.0 - (-ns / 1e6).exp();
        let step = |ns: f64| if ns >= 1e6 { 1.0 } else { 0.0 };
        assert!(of_times(&poisson, exponential) < 0.02, "{}", of_times(&poisson, exponential));
        assert!(of_times(&poisson, step) > 0.5, "{}", of_times(&poisson, step));
        assert!(of_times(&even, step) < 0.02, "{}", of_times(&even, step));
        assert!(of_times(&even, exponential) > 0.5, "{}", of_times(&even, exponential));
    }
}
