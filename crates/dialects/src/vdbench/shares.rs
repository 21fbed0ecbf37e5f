//! How the requests and the rate of a run are split among its workloads.

use super::definition::worsen;
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
    let asks = |values: &&Values| skew(values).is_some();
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

/// vdbench splits what is left of a rate once each fixed rate and ratio is taken, and ends where
/// ratios are not 100 in all.
pub fn whole(point: &Values, workloads: &[&Values], losses: &mut Losses) {
    let free = workloads.iter().filter(|values| values.id("own_rate").is_none());
    let free: Vec<Option<u64>> = free.map(|values| skew(values)).collect();
    let given = free.iter().flatten().fold(0_u64, |sum, skew| sum.saturating_add(*skew));
    let is_whole = match free.contains(&None) {
        true => given < SHARES,
        false => given.abs_diff(SHARES) <= 100,
    };
    if !is_whole {
        refuse(workloads, "shares that are 100 in all; vdbench ends at others, too", losses);
    }
    if !free.is_empty() && point.number("rate").is_some_and(|rate| rate <= own_rates(workloads)) {
        let needs = "rates of workloads that leave nothing of their run's rate; raise that";
        workloads.iter().for_each(|of| worsen(of, "own_rate", losses, Verdict::refused(needs)));
    }
}

/// What is said of a workload's share, in millionths; 0 says nothing.
fn skew(values: &Values) -> Option<u64> {
    values.number("skew").filter(|skew| *skew > 0)
}

fn own_rates(workloads: &[&Values]) -> u64 {
    let rates = workloads.iter().filter_map(|values| values.number("own_rate"));
    rates.fold(0, u64::saturating_add)
}

/// Shares that no workload can have.
pub fn refuse(workloads: &[&Values], needs: &str, losses: &mut Losses) {
    for id in workloads.iter().filter_map(|values| values.id("skew")) {
        losses.worsen(id, Verdict::refused(needs));
    }
}

/// All shares of workloads together, in millionths.
const SHARES: u64 = 100_000_000;

/// The rate of each of several workloads, whole: its share of what fixed rates leave of a rate in
/// millionths, or an equal part of the rest.
pub fn shares(rate: u64, workloads: &[&Values]) -> Vec<u64> {
    let rate = rate.saturating_sub(own_rates(workloads));
    let skews: Vec<Option<f64>> =
        workloads.iter().map(|values| skew(values).map(|skew| skew as f64 / 1e6)).collect();
    let given: f64 = skews.iter().flatten().sum();
    let is_rest = |values: &&&Values| skew(values).is_none() && values.id("own_rate").is_none();
    let without = workloads.iter().filter(is_rest).count().max(1) as f64;
    let rest = (100.0 - given).max(0.0) / without;
    let part = |skew: &Option<f64>| rate as f64 / 1e6 * skew.unwrap_or(rest) / 100.0;
    skews.iter().map(|skew| (part(skew).round() as u64).max(1)).collect()
}
