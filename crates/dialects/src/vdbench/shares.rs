//! How the requests and the rate of a run are split among its workloads.

use crate::loss::{Losses, Verdict};
use crate::rows::Values;

/// A share of the requests of a group, and where it came from.
pub struct Part {
    /// The share.
    pub value: String,
    /// The parameter; empty where it has an equal part of the rest.
    pub from: String,
}

/// The shares of workloads that run at full speed; none where nobody asks for one.
pub fn at_full_speed(
    point: &Values,
    workloads: &[&Values],
    has_own: bool,
    losses: &mut Losses,
) -> Vec<Part> {
    let asks = |values: &&Values| values.id("skew").is_some();
    if workloads.len() < 2 || point.number("rate").is_some() || !workloads.iter().any(asks) {
        return Vec::new();
    }
    if has_own {
        let needs = "shares of workloads of which one has a rate of its own; leave one out";
        refuse(workloads, needs, losses);
        return Vec::new();
    }
    let part = |(value, values): (u64, &&Values)| Part {
        value: value.to_string(),
        from: values.source("skew", losses),
    };
    shares(SHARES, workloads).into_iter().zip(workloads).map(part).collect()
}

/// Shares that no workload can have.
pub fn refuse(workloads: &[&Values], needs: &str, losses: &mut Losses) {
    for id in workloads.iter().filter_map(|values| values.id("skew")) {
        losses.worsen(id, Verdict::refused(needs));
    }
}

/// All shares of workloads together, in millionths.
const SHARES: u64 = 100_000_000;

/// The rate of each of several workloads, whole: its share of a rate in millionths, or an equal
/// part of what is left.
pub fn shares(rate: u64, workloads: &[&Values]) -> Vec<u64> {
    let skew = |values: &&Values| values.number("skew").map(|skew| skew as f64 / 1e6);
    let skews: Vec<Option<f64>> = workloads.iter().map(skew).collect();
    let given: f64 = skews.iter().flatten().sum();
    let without = skews.iter().filter(|skew| skew.is_none()).count().max(1) as f64;
    let rest = (100.0 - given).max(0.0) / without;
    let part = |skew: &Option<f64>| rate as f64 / 1e6 * skew.unwrap_or(rest) / 100.0;
    skews.iter().map(|skew| (part(skew).round() as u64).max(1)).collect()
}
