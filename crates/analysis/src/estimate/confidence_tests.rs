//! How often the interval of a quantile holds the true one, by series whose quantiles are known.

use super::*;
use crate::estimate::simulated::{Normal, Series, phi_of_normal};
use crate::rows::tally::Slot;
use model::histogram::bucket_of;

/// The deviation of the logarithms of latencies within an interval.
const WITHIN: f64 = 1.0;
/// The latency whose logarithm is in the middle, in ns.
const MIDDLE_NS: f64 = 1e5;

/// One simulated row: `intervals` intervals of `each` requests whose scale follows `series`.
fn row(seed: u64, series: Series, intervals: usize, each: usize) -> (Histogram, Vec<Slot>) {
    let mut normal = Normal::new(seed);
    let scales = series.draw(&mut normal, intervals);
    let mut latency = Histogram::new();
    let mut part = |scale: &f64| -> Vec<u64> {
        let one = |_| (MIDDLE_NS * (scale + WITHIN * normal.draw()).exp()) as u64;
        let values: Vec<u64> = (0..each).map(one).collect();
        values.iter().for_each(|value| latency.record(*value));
        values
    };
    let parts: Vec<Vec<u64>> = scales.iter().map(&mut part).collect();
    let limits =
        QUANTILES.map(|quantile| bucket_of(latency.quantile_ns(quantile.share).expect("requests")));
    let slot = |values: &Vec<u64>| Slot {
        length_s: 1.0,
        ios: each as f64,
        latency_ns: values.iter().sum::<u64>() as f64,
        at_most: limits
            .map(|limit| values.iter().filter(|value| bucket_of(**value) <= limit).count() as f64),
        ..Slot::default()
    };
    let slots = parts.iter().map(slot).collect();
    (latency, slots)
}

/// The true quantile of `share` of latencies whose scale follows `series`, in ns.
fn truth(series: Series, share: f64) -> f64 {
    let below = |ln: f64| match series {
        Series::Independent => phi_of_normal(ln / WITHIN),
        Series::Autoregressive { deviation, .. } => phi_of_normal(ln / WITHIN.hypot(deviation)),
        Series::Bursts { .. } => {
            let (on, by) = series.burst();
            on * phi_of_normal((ln - by) / WITHIN) + (1.0 - on) * phi_of_normal(ln / WITHIN)
        }
    };
    MIDDLE_NS * f64::exp(halved(-20.0, 20.0, 60, |middle| below(middle) < share).0)
}

/// For the median, p90, p95, p99 and p99.9: the share of runs in which the interval holds the truth
/// among those that have one, and their share.
fn coverage(series: Series, intervals: usize, each: usize, runs: u64) -> [(f64, f64); 5] {
    let truths: [f64; 5] = std::array::from_fn(|index| truth(series, QUANTILES[index].share));
    let mut counts = [(0.0, 0.0); 5];
    for seed in 0..runs {
        let (latency, total) = row(seed, series, intervals, each);
        let found = confidence(&Tally { total, ..Tally::default() }, &latency);
        for (index, (held, told)) in counts.iter_mut().enumerate() {
            let Some(interval) = found.quantiles_ns[index] else { continue };
            *told += 1.0;
            *held += f64::from(u8::from(interval.holds(truths[index])));
        }
    }
    counts.map(|(held, told): (f64, f64)| (held / told, told / runs as f64))
}

fn walk(phi: f64, deviation: f64) -> Series {
    Series::Autoregressive { phi, deviation }
}

/// With 30 independent intervals' worth or 30 bursts, and ten requests beyond the quantile, at
/// least; with fewer requests, 92 to 97.
#[test]
#[ignore = "a proof"]
fn a_95_percent_interval_holds_the_quantile_in_93_to_97_of_100_runs() {
    for (series, intervals, each) in [
        (Series::Independent, 30, 100),
        (Series::Independent, 60, 50),
        (walk(0.5, 0.2), 120, 100),
        (walk(0.5, 0.4), 120, 50),
        (walk(0.8, 0.2), 300, 50),
        (walk(0.8, 0.4), 300, 20),
        (Series::Bursts { begins: 0.1, ends: 0.5, by: 1.4 }, 300, 20),
        (Series::Bursts { begins: 0.03, ends: 0.3, by: 2.0 }, 900, 12),
    ] {
        for (quantile, (held, told)) in
            QUANTILES.iter().zip(coverage(series, intervals, each, 1_500))
        {
            let what =
                format!("{series:?}, {intervals} × {each}, {}: {held} of {told}", quantile.name);
            let has_enough = (1.0 - quantile.share) * (intervals * each) as f64 > 9.999;
            let least = if has_enough { 0.93 } else { 0.92 };
            assert!((least..=0.97).contains(&held) || (told == 0.0 && !has_enough), "{what}");
            assert!(told > 0.9 || !has_enough, "{what}");
        }
    }
}

#[test]
fn a_run_short_for_what_it_remembers_has_no_interval_more_often_than_a_wrong_one() {
    // 20 and 13 independent intervals' worth.
    for (series, intervals) in [(walk(0.5, 0.4), 60), (walk(0.8, 0.2), 120)] {
        for (quantile, (held, told)) in QUANTILES.iter().zip(coverage(series, intervals, 50, 1_000))
        {
            let what = format!("{series:?}, {intervals}, {}: {held} of {told}", quantile.name);
            assert!(told < 0.01 || held >= 0.91, "{what}");
        }
    }
}

#[test]
fn a_quantile_beyond_the_samples_has_no_interval() {
    let (latency, total) = row(1, Series::Independent, 30, 20);
    let found = confidence(&Tally { total, ..Tally::default() }, &latency);
    assert_eq!(found.quantiles_ns[5], None, "p99.99 of 600 requests");
    let median = found.quantiles_ns[0].expect("an interval");
    assert!(median.low < median.high && median.holds(MIDDLE_NS), "{median:?}");
    assert_eq!(quantile(&Histogram::new(), 0.5, &[], &[], 0.0), None);
}
