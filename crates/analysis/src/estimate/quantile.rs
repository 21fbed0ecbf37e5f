//! The quantiles that results state.

/// One of the quantiles that results state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantile {
    /// As people write it: `p99.9`.
    pub name: &'static str,
    /// As JSON names it: `p99_9`.
    pub key: &'static str,
    /// The share of requests at or below it, 0 to 1.
    pub share: f64,
}

/// The quantiles that every result states, in rising order.
pub const QUANTILES: [Quantile; 6] = [
    Quantile { name: "p50", key: "p50", share: 0.5 },
    Quantile { name: "p90", key: "p90", share: 0.9 },
    Quantile { name: "p95", key: "p95", share: 0.95 },
    Quantile { name: "p99", key: "p99", share: 0.99 },
    Quantile { name: "p99.9", key: "p99_9", share: 0.999 },
    Quantile { name: "p99.99", key: "p99_99", share: 0.9999 },
];
