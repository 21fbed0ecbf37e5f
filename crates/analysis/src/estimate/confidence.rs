//! How sure each figure of a row is.

use crate::estimate::quantile::QUANTILES;
use crate::estimate::student::{self, halved};
use crate::estimate::{
    CONFIDENCE, Estimate, Interval, mean_in_time, memory_beneath, ratio_beneath, residuals,
};
use crate::rows::row::Confidence;
use crate::rows::tally::{HostTally, Slot, Tally, column};
use model::Histogram;
use model::histogram::{bucket_bounds, bucket_of};

/// A quantile is never surer than so many times the requests that there are would make it, were
/// they independent.
const MOST_OF_ALL: f64 = 2.0;

/// How sure the figures are that `tally` and `latency` give.
pub fn confidence(tally: &Tally<'_>, latency: &Histogram) -> Confidence {
    let total = &tally.total;
    let (seconds, ios) = (column(total, |slot| slot.length_s), column(total, |slot| slot.ios));
    let phi = shared_memory(total, latency);
    let of =
        |figure: fn(&Slot) -> f64, per: &[f64]| ratio_beneath(&column(total, figure), per, phi);
    let sum = |figure: fn(&Slot) -> f64| total.iter().map(figure).sum::<f64>();
    let per = |what: f64, of: f64| (of > 0.0).then(|| what / of);
    let rates = column(without_short_end(total, |slot| slot.length_s), Slot::iops);
    let over_time = relative_deviation(&rates);
    let quantiles = std::array::from_fn(|index| {
        quantile(
            latency,
            QUANTILES[index].share,
            &column(total, |slot| slot.at_most[index]),
            &ios,
            phi,
        )
    });
    let hosts: Vec<f64> = tally.hosts.values().map(HostTally::ios).collect();
    Confidence {
        intervals: total.len(),
        iops: ratio_beneath(&ios, &seconds, phi),
        bytes_per_s: of(|slot| slot.bytes, &seconds),
        mean_ns: of(|slot| slot.latency_ns, &ios),
        quantiles_ns: quantiles.map(|found| found.map(|(interval, _)| interval)),
        quantiles_independent: quantiles
            .map(|found| found.map_or(0.0, |(_, independent)| independent)),
        cpu_per_io_ns: per(sum(|slot| slot.cpu_ns), sum(|slot| slot.work_ios)),
        cpu_per_io: of(|slot| slot.cpu_ns, &column(total, |slot| slot.work_ios)),
        over_time,
        ln_over_time: over_time.and_then(|_| jackknife(&rates)),
        over_hosts: relative_deviation(&hosts),
    }
}

/// How much each interval remembers of the one before it, 0 to 0.99, by the series that has less
/// noise: the mean latency, or how many requests did not exceed the median. Of both, it is known
/// how much noise single requests make; beyond a high quantile, there is little else.
fn shared_memory(total: &[Slot], latency: &Histogram) -> f64 {
    let ios = column(total, |slot| slot.ios);
    let requests: f64 = ios.iter().sum();
    let by_mean = residuals(&column(total, |slot| slot.latency_ns), &ios)
        .map(|(_, residuals)| memory_beneath(&residuals, variance(latency) * requests));
    let median = QUANTILES.iter().position(|quantile| quantile.share == 0.5);
    let by_median = median
        .and_then(|index| residuals(&column(total, |slot| slot.at_most[index]), &ios))
        .map(|(share, residuals)| memory_beneath(&residuals, share * (1.0 - share) * requests));
    let both = [by_mean, by_median].into_iter().flatten();
    both.max_by(|one, two| one.signal.total_cmp(&two.signal)).map_or(0.0, |clearest| clearest.phi)
}

/// The variance of all latencies, in ns², each as the middle of its bucket; 0 of none.
fn variance(latency: &Histogram) -> f64 {
    let n = latency.count().max(1) as f64;
    let middles = || {
        latency.buckets().map(|(low, high, count)| (0.5 * (low as f64 + high as f64), count as f64))
    };
    let mean = middles().map(|(middle, count)| middle * count).sum::<f64>() / n;
    middles().map(|(middle, count)| (middle - mean).powi(2) * count).sum::<f64>() / n
}

/// Without a last interval that is much shorter than the rest: its rate has another spread.
pub(crate) fn without_short_end<T>(slots: &[T], length_s: impl Fn(&T) -> f64) -> &[T] {
    match slots {
        [rest @ .., last]
            if rest.first().is_some_and(|first| 2.0 * length_s(last) < length_s(first)) =>
        {
            rest
        }
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

/// The 95 % interval of the quantile `share` of `latency`, from how many requests of each interval
/// of time did not exceed it, and how many independent intervals of time those are worth.
///
/// By Woodruff (1952): the error of the share below the quantile, by batch means because intervals
/// of time depend on each other, makes an effective number of independent requests (Korn and
/// Graubard 1998); among so many, the ranks between which the quantile lies follow
/// from the binomial distribution. `phi` is what intervals of time remember at least. `None` where
/// that needs requests beyond the largest.
pub fn quantile(
    latency: &Histogram,
    share: f64,
    at_most: &[f64],
    ios: &[f64],
    phi: f64,
) -> Option<(Interval, f64)> {
    let below = ratio_beneath(at_most, ios, phi)?;
    let n = latency.count() as f64;
    let spread = below.value * (1.0 - below.value);
    let independent =
        if below.error > 0.0 && spread > 0.0 { spread / below.error.powi(2) } else { n };
    let widening = student::bound(1.0 - CONFIDENCE, f64::INFINITY)
        / student::bound(1.0 - CONFIDENCE, below.freedom);
    // A spread that is estimated is too small as often as too large; bounded by the number that
    // there are, it would only be too large. In a thin tail, chance can make it next to nothing.
    let (low, high) = ranks((independent * widening.powi(2)).min(MOST_OF_ALL * n), share)?;
    // A value is known to its bucket only: from the lower edge of the lower one to the upper edge
    // of the upper one.
    let (least, most) = (latency.min_ns()?, latency.max_ns()?);
    let edges = |share: f64| latency.quantile_ns(share).map(|ns| bucket_bounds(bucket_of(ns)));
    let interval =
        Interval { low: edges(low)?.0.max(least) as f64, high: edges(high)?.1.min(most) as f64 };
    Some((interval, below.independent))
}

/// The shares of the order statistics of `n` independent values between which the quantile `share`
/// lies in 95 % of all cases (David and Nagaraja, *Order Statistics*, 2003, 7.1), with ranks that
/// need not be whole. `None` where the upper one is beyond the last.
fn ranks(n: f64, share: f64) -> Option<(f64, f64)> {
    let outside = (1.0 - CONFIDENCE) / 2.0;
    // P(at least k of n lie below the quantile), falling in k.
    let at_least =
        |k: f64| if k <= 0.0 { 1.0 } else { student::incomplete_beta(k, n - k + 1.0, share) };
    if at_least(n) > outside {
        return None;
    }
    let (low, high) = (falls_to(1.0 - outside, n, at_least), falls_to(outside, n, at_least));
    Some((low / n, (high / n).min(1.0)))
}

/// Where a function that falls over 0 to `end` reaches `value`.
fn falls_to(value: f64, end: f64, falling: impl Fn(f64) -> f64) -> f64 {
    let (low, high) = halved(0.0, end, 50, |middle| falling(middle) > value);
    f64::midpoint(low, high)
}

/// The logarithm of the relative deviation with its error, by leaving out one batch after the other
/// (Künsch, *The jackknife and the bootstrap for general stationary observations*, 1989). `None`
/// where the mean has no interval either.
fn jackknife(rates: &[f64]) -> Option<Estimate> {
    const BATCHES: usize = 10;
    let whole = relative_deviation(rates)?;
    let independent = mean_in_time(rates)?.independent;
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
    let estimate =
        Estimate { value: whole.ln(), error: variance.sqrt(), freedom: n - 1.0, independent };
    (estimate.value.is_finite() && estimate.error.is_finite()).then_some(estimate)
}

#[cfg(test)]
#[path = "confidence_tests.rs"]
mod quantile_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::simulated::{Normal, autoregressive};

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
    fn latencies_that_are_all_the_same_or_nothing_are_no_trouble() {
        let mut latency = Histogram::new();
        (0..3_000).for_each(|_| latency.record(0));
        let same = quantile(&latency, 0.5, &[100.0; 30], &[100.0; 30], 0.0);
        assert_eq!(same, Some((Interval { low: 0.0, high: 0.0 }, 30.0)));
        let nothing = confidence(&Tally::default(), &Histogram::new());
        assert_eq!((nothing.iops, nothing.over_time, nothing.quantiles_ns[0]), (None, None, None));
    }
}
