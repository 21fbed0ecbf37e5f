//! The figures that are compared, and where each comes from.

use crate::estimate::Estimate;
use crate::estimate::quantile::QUANTILES;
use crate::rows::row::ResultRow;
use model::Histogram;

/// A figure that runs are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Requests per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
    /// The mean latency, in ns.
    Mean,
    /// One of [`QUANTILES`], in ns.
    Quantile(usize),
    /// CPU time of the generators per request, in ns.
    CpuPerIo,
    /// The relative standard deviation of single requests' latencies.
    OfLatency,
    /// The relative deviation of the rate over time.
    OverTime,
    /// The relative deviation of the rate over hosts.
    OverHosts,
    /// Operations per second by the word of a command.
    Told,
    /// Bytes per second by its word.
    ToldBandwidth,
    /// The mean latency by its word, in ns.
    ToldMean,
    /// The p99 by its word, in ns.
    ToldP99,
}

impl Metric {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Metric; 17] = [
        Metric::Iops,
        Metric::Bandwidth,
        Metric::Mean,
        Metric::Quantile(0),
        Metric::Quantile(1),
        Metric::Quantile(2),
        Metric::Quantile(3),
        Metric::Quantile(4),
        Metric::Quantile(5),
        Metric::CpuPerIo,
        Metric::OfLatency,
        Metric::OverTime,
        Metric::OverHosts,
        Metric::Told,
        Metric::ToldBandwidth,
        Metric::ToldMean,
        Metric::ToldP99,
    ];

    /// A stable word for machines, and for `--fail-if`: `iops`, `p99.9`.
    pub fn word(self) -> &'static str {
        match self {
            Metric::Iops => "iops",
            Metric::Bandwidth => "bandwidth",
            Metric::Mean => "mean",
            Metric::Quantile(index) => {
                QUANTILES.get(index).map_or("quantile", |quantile| quantile.name)
            }
            Metric::CpuPerIo => "cpu",
            Metric::OfLatency => "latency-deviation",
            Metric::OverTime => "deviation",
            Metric::OverHosts => "host-deviation",
            Metric::Told => "told",
            Metric::ToldBandwidth => "told-bandwidth",
            Metric::ToldMean => "told-mean",
            Metric::ToldP99 => "told-p99",
        }
    }

    /// Whether it answers if a point is better or worse: the rate and the p99.
    pub fn is_headline(self) -> bool {
        self == Metric::Iops || self.word() == "p99"
    }

    /// Whether more of it is better.
    pub fn more_is_better(self) -> bool {
        matches!(self.measured(), Metric::Iops | Metric::Bandwidth)
    }

    /// The figure of ours that has the same unit: what a command tells of its load is told by the
    /// command alone.
    pub fn measured(self) -> Metric {
        match self {
            Metric::Told => Metric::Iops,
            Metric::ToldBandwidth => Metric::Bandwidth,
            Metric::ToldMean | Metric::ToldP99 => Metric::Mean,
            own => own,
        }
    }

    /// The figure of a row; `None` where it has none, or it is not positive: then there is no ratio
    /// to it.
    pub fn value(self, row: &ResultRow) -> Option<f64> {
        let value = match self {
            Metric::Iops => Some(row.iops()),
            Metric::Bandwidth => Some(row.bytes_per_s()),
            Metric::Mean => row.latency.mean_ns(),
            Metric::Quantile(index) => QUANTILES
                .get(index)
                .and_then(|quantile| row.latency.quantile_ns(quantile.share))
                .map(|ns| ns as f64),
            Metric::CpuPerIo => row.confidence.cpu_per_io_ns,
            Metric::OfLatency => latency_deviation(&row.latency),
            Metric::OverTime => row.confidence.over_time,
            Metric::OverHosts => row.confidence.over_hosts,
            Metric::Told => row.told.iops,
            Metric::ToldBandwidth => row.told.bytes_per_s,
            Metric::ToldMean => row.told.mean_ns,
            Metric::ToldP99 => row.told.p99_ns,
        };
        value.filter(|value| value.is_finite() && *value > 0.0)
    }

    /// The least error of the figure's logarithm, however quiet a run was: the bucket of a
    /// histogram for what is read from one, and for all else what was in flight at both ends and
    /// the clock's own steps come to.
    pub(crate) fn resolution(self) -> f64 {
        match self {
            Metric::Quantile(_) | Metric::OfLatency => 0.004,
            _ => 0.000_5,
        }
    }

    /// The natural logarithm of the figure, with the error that chance within the run gives it.
    pub(crate) fn ln_estimate(self, row: &ResultRow) -> Option<Estimate> {
        let value = self.value(row)?;
        let logarithm = |estimate: Estimate| Estimate {
            value: value.ln(),
            // The error of a logarithm is the relative error (first-order propagation).
            error: estimate.error / value,
            ..estimate
        };
        match self {
            Metric::Iops => row.confidence.iops.map(logarithm),
            Metric::Bandwidth => row.confidence.bytes_per_s.map(logarithm),
            Metric::Mean => row.confidence.mean_ns.map(logarithm),
            Metric::Quantile(index) => {
                let interval = (*row.confidence.quantiles_ns.get(index)?)?;
                // The interval was widened for its degrees of freedom already: half of it is 1.96
                // errors (Woodruff 1952).
                let error = (interval.high.ln() - interval.low.max(1.0).ln()) / (2.0 * 1.959_964);
                let independent = *row.confidence.quantiles_independent.get(index)?;
                Some(Estimate {
                    value: value.ln(),
                    error: error.max(0.0),
                    freedom: 1e6,
                    independent,
                })
            }
            Metric::CpuPerIo => row.confidence.cpu_per_io.map(logarithm),
            Metric::OverTime => row.confidence.ln_over_time,
            _ => None,
        }
    }
}

/// The standard deviation of the recorded latencies ÷ their mean, each taken as the middle of its
/// bucket, which is at most 0.4 % from it. `None` with fewer than two requests.
fn latency_deviation(latency: &Histogram) -> Option<f64> {
    let (count, total) = (latency.count(), latency.count() as f64);
    let middle = |low: u64, high: u64| f64::midpoint(low as f64, high as f64);
    let mean =
        latency.buckets().map(|(low, high, n)| n as f64 * middle(low, high)).sum::<f64>() / total;
    if count < 2 || mean <= 0.0 {
        return None;
    }
    // About the mean of the middles, not the exact one: latencies that all lie in one bucket do not
    // differ as far as we know.
    let squares: f64 =
        latency.buckets().map(|(low, high, n)| n as f64 * (middle(low, high) - mean).powi(2)).sum();
    Some((squares / (total - 1.0)).sqrt() / mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_of_latencies_is_that_of_single_requests() {
        let of = |values: &[u64]| {
            let mut latency = Histogram::new();
            values.iter().for_each(|value| latency.record(*value));
            latency_deviation(&latency)
        };
        // Below 256 ns a bucket is one value wide: mean 5, squares of 9 + 1 + 1 + 1 + 0 + 0 + 4 +
        // 16 = 32, over 7.
        let exact = of(&[2, 4, 4, 4, 5, 5, 7, 9]).expect("some");
        assert!((exact - (32f64 / 7.0).sqrt() / 5.0).abs() < 1e-9, "{exact}");
        assert_eq!((of(&[]), of(&[5]), of(&[5, 5])), (None, None, Some(0.0)));
        assert_eq!(of(&[1_000_000, 1_000_001, 1_000_002]), Some(0.0), "one bucket");
        let far = of(&[100_000, 300_000]).expect("some");
        assert!((far - 2f64.sqrt() / 2.0).abs() < 0.01, "{far}");
    }
}
