//! How sure each figure of a row is.

use crate::estimate::{CONFIDENCE, Estimate, Interval, error_of_mean, ratio};
use crate::student;
use crate::tally::{HostTally, Slot, Tally, column};
use crate::warning::QUANTILES;
use model::Histogram;
use model::histogram::{bucket_bounds, bucket_of};

/// How sure the figures of a row are; `None` where it cannot be said: too few intervals, or too dependent ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sure {
    /// Intervals in which the load was on.
    pub intervals: usize,
    /// Requests per second.
    pub iops: Option<Estimate>,
    /// Bytes per second.
    pub bytes_per_s: Option<Estimate>,
    /// The mean latency, in ns.
    pub mean_ns: Option<Estimate>,
    /// The quantiles' intervals, in ns, as [`QUANTILES`] has them.
    pub quantiles_ns: [Option<Interval>; QUANTILES.len()],
    /// CPU time of the generators per request of the whole work, in ns; `None` where there was no request.
    pub cpu_per_io_ns: Option<f64>,
    /// The same with its error.
    pub cpu_per_io: Option<Estimate>,
    /// The standard deviation of the requests per second over the intervals ÷ their mean.
    pub over_time: Option<f64>,
    /// The natural logarithm of `over_time`, with its error.
    pub ln_over_time: Option<Estimate>,
    /// The standard deviation of the requests per second over the hosts ÷ their mean; `None` for one host.
    pub over_hosts: Option<f64>,
}

impl Sure {
    /// The interval of the p99, in ns.
    pub fn p99_ns(&self) -> Option<Interval> {
        let place = QUANTILES.iter().position(|quantile| quantile.key == "p99")?;
        self.quantiles_ns[place]
    }
}

/// How sure the figures are that `tally` and `latency` give.
pub fn sure(tally: &Tally<'_>, latency: &Histogram) -> Sure {
    let total = &tally.total;
    let (seconds, ios) = (column(total, |slot| slot.length_s), column(total, |slot| slot.ios));
    let of = |figure: fn(&Slot) -> f64, per: &[f64]| ratio(&column(total, figure), per);
    let sum = |figure: fn(&Slot) -> f64| total.iter().map(figure).sum::<f64>();
    let per = |what: f64, of: f64| (of > 0.0).then(|| what / of);
    let rates = column(whole(total), Slot::iops);
    let over_time = relative_deviation(&rates);
    let hosts: Vec<f64> = tally.hosts.values().map(HostTally::ios).collect();
    Sure {
        intervals: total.len(),
        iops: ratio(&ios, &seconds),
        bytes_per_s: of(|slot| slot.bytes, &seconds),
        mean_ns: of(|slot| slot.latency_ns, &ios),
        quantiles_ns: std::array::from_fn(|index| {
            quantile(latency, QUANTILES[index].share, &column(total, |slot| slot.at_most[index]), &ios)
        }),
        cpu_per_io_ns: per(sum(|slot| slot.cpu_ns), sum(|slot| slot.work_ios)),
        cpu_per_io: of(|slot| slot.cpu_ns, &column(total, |slot| slot.work_ios)),
        over_time,
        ln_over_time: over_time.and_then(|_| jackknife(&rates)),
        over_hosts: relative_deviation(&hosts),
    }
}

/// Without a last interval that is much shorter than the rest: its rate has another spread.
pub fn whole(slots: &[Slot]) -> &[Slot] {
    match slots {
        [rest @ .., last] if rest.first().is_some_and(|first| 2.0 * last.length_s < first.length_s) => rest,
        all => all,
    }
}

/// Standard deviation (n − 1) ÷ mean. `None` for fewer than two values or a mean of 0.
pub fn relative_deviation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let spread: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1 && mean > 0.0).then(|| (spread / (n - 1.0)).sqrt() / mean)
}

/// The 95 % interval of the quantile `share` of `latency`, from how many requests of each interval of time did not exceed it.
///
/// By Woodruff (1952): the error of the share below the quantile, by batch means because intervals of time depend on each other, makes an
/// effective number of independent requests (Korn and Graubard 1998); among so many, the ranks between which the quantile lies follow
/// from the binomial distribution. `None` where that needs requests beyond the largest.
pub fn quantile(latency: &Histogram, share: f64, at_most: &[f64], ios: &[f64]) -> Option<Interval> {
    let below = ratio(at_most, ios)?;
    let n = latency.count() as f64;
    let spread = below.value * (1.0 - below.value);
    let independent = if below.error > 0.0 && spread > 0.0 { spread / below.error.powi(2) } else { n };
    let widening = student::bound(1.0 - CONFIDENCE, f64::INFINITY) / student::bound(1.0 - CONFIDENCE, below.freedom);
    // Never more than there are, whatever chance says about a thin tail.
    let (low, high) = ranks((independent * widening.powi(2)).min(n), share)?;
    // A value is known to its bucket only: from the lower edge of the lower one to the upper edge of the upper one.
    let (least, most) = (latency.min_ns()?, latency.max_ns()?);
    let edges = |share: f64| latency.quantile_ns(share).map(|ns| bucket_bounds(bucket_of(ns)));
    Some(Interval { low: edges(low)?.0.max(least) as f64, high: edges(high)?.1.min(most) as f64 })
}

/// The shares of the order statistics of `n` independent values between which the quantile `share` lies in 95 % of all cases (David and
/// Nagaraja, *Order Statistics*, 2003, 7.1), with ranks that need not be whole. `None` where the upper one is beyond the last.
fn ranks(n: f64, share: f64) -> Option<(f64, f64)> {
    let outside = (1.0 - CONFIDENCE) / 2.0;
    // P(at least k of n lie below the quantile), falling in k.
    let at_least = |k: f64| if k <= 0.0 { 1.0 } else { student::incomplete_beta(k, n - k + 1.0, share) };
    if at_least(n) > outside {
        return None;
    }
    let (low, high) = (falls_to(1.0 - outside, n, at_least), falls_to(outside, n, at_least));
    Some((low / n, (high / n).min(1.0)))
}

/// Where a function that falls over 0 to `end` reaches `value`.
fn falls_to(value: f64, end: f64, falling: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, end);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if falling(middle) > value {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The logarithm of the relative deviation with its error, by leaving out one batch after the other (Künsch, *The jackknife and the
/// bootstrap for general stationary observations*, 1989). `None` where the mean has no interval either.
fn jackknife(rates: &[f64]) -> Option<Estimate> {
    const BATCHES: usize = 10;
    let whole = relative_deviation(rates)?;
    error_of_mean(rates)?;
    let length = rates.len() / BATCHES;
    let without = |batch: usize| {
        let mut rest = rates[..batch * length].to_vec();
        rest.extend(&rates[(batch + 1) * length..]);
        relative_deviation(&rest).map(f64::ln)
    };
    let left: Vec<f64> = (0..BATCHES).map(without).collect::<Option<_>>()?;
    let n = BATCHES as f64;
    let mean = left.iter().sum::<f64>() / n;
    let variance = (n - 1.0) / n * left.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let estimate = Estimate { value: whole.ln(), error: variance.sqrt(), freedom: n - 1.0 };
    (estimate.value.is_finite() && estimate.error.is_finite()).then_some(estimate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::{Normal, autoregressive};

    /// Latencies of `intervals` intervals whose scale wanders with memory `phi` by `wander`, `each` in an interval: the share of runs in
    /// which the interval holds the true quantile, and in which there is one.
    fn coverage(share: f64, intervals: usize, each: usize, phi: f64, wander: f64, truth: f64) -> (f64, f64) {
        const RUNS: u64 = 1_000;
        let (mut held, mut told) = (0.0, 0.0);
        for seed in 0..RUNS {
            let (latency, parts) = wandering(seed, intervals, each, phi, wander);
            let at = latency.quantile_ns(share).expect("requests");
            let at_most: Vec<f64> = parts.iter().map(|part| count_at_most(part, at)).collect();
            if let Some(interval) = quantile(&latency, share, &at_most, &vec![each as f64; intervals]) {
                told += 1.0;
                held += f64::from(u8::from(interval.holds(truth)));
            }
        }
        (held / told, told / RUNS as f64)
    }

    fn wandering(seed: u64, intervals: usize, each: usize, phi: f64, wander: f64) -> (Histogram, Vec<Vec<u64>>) {
        let mut normal = Normal::new(seed);
        let scales = autoregressive(&mut normal, intervals, phi, 0.0, wander);
        let mut latency = Histogram::new();
        let parts = scales.iter().map(|scale| {
            let part: Vec<u64> = (0..each).map(|_| (1e5 * (scale + 0.5 * normal.draw()).exp()) as u64).collect();
            part.iter().for_each(|value| latency.record(*value));
            part
        });
        let parts = parts.collect();
        (latency, parts)
    }

    fn count_at_most(part: &[u64], at: u64) -> f64 {
        let limit = bucket_of(at);
        part.iter().filter(|value| bucket_of(**value) <= limit).count() as f64
    }

    #[test]
    fn a_95_percent_interval_holds_the_quantile_in_92_to_98_of_100_runs() {
        // The standard normal quantiles of the shares.
        for (share, z, intervals, each, phi, wander) in [
            (0.5, 0.0, 60, 20, 0.0, 0.0),
            (0.5, 0.0, 120, 20, 0.5, 0.2),
            (0.99, 2.326_348, 120, 50, 0.5, 0.2),
            (0.99, 2.326_348, 300, 50, 0.8, 0.1),
            (0.999, 3.090_232, 120, 100, 0.5, 0.1),
        ] {
            let truth = 1e5 * (z * f64::hypot(0.5, wander)).exp();
            let (held, told) = coverage(share, intervals, each, phi, wander, truth);
            // A little too wide where all is independent: never more independent requests than there are. A little too narrow where a slow
            // wandering hides in counting noise: 92.7 % at memory 0.8, as the counts beyond a quantile show less memory than there is.
            assert!((0.92..=0.98).contains(&held), "{share} of {intervals} × {each}, memory {phi}: {held} of {told}");
        }
    }

    #[test]
    fn the_spread_over_time_has_an_interval_that_holds_it() {
        for phi in [0.0, 0.5] {
            let mut held = 0;
            for seed in 0..1_000 {
                let rates = autoregressive(&mut Normal::new(seed), 300, phi, 1_000.0, 100.0);
                let interval = jackknife(&rates).expect("long enough").interval().map(f64::exp);
                held += u32::from(interval.holds(0.1));
            }
            assert!((920..=970).contains(&held), "memory {phi}: {held} of 1,000");
        }
    }

    #[test]
    fn a_quantile_beyond_the_samples_has_no_interval() {
        let (latency, parts) = wandering(1, 30, 20, 0.0, 0.0);
        let at_most = |share| {
            let at = latency.quantile_ns(share).expect("requests");
            parts.iter().map(|part| count_at_most(part, at)).collect::<Vec<f64>>()
        };
        assert_eq!(quantile(&latency, 0.9999, &at_most(0.9999), &[20.0; 30]), None, "600 requests");
        let median = quantile(&latency, 0.5, &at_most(0.5), &[20.0; 30]).expect("an interval");
        assert!(median.low < median.high && median.holds(1e5));
        assert_eq!(quantile(&Histogram::new(), 0.5, &[], &[]), None);
    }

    #[test]
    fn latencies_that_are_all_the_same_or_nothing_are_no_trouble() {
        let mut latency = Histogram::new();
        (0..3_000).for_each(|_| latency.record(0));
        let same = quantile(&latency, 0.5, &[100.0; 30], &[100.0; 30]);
        assert_eq!(same, Some(Interval { low: 0.0, high: 0.0 }));
        let nothing = sure(&Tally::default(), &Histogram::new());
        assert_eq!((nothing.iops, nothing.over_time, nothing.quantiles_ns[0]), (None, None, None));
    }
}
