//! How the requests and the rate of a run on storage are split among its workloads.

use super::loops::Point;
use super::run::Rate;
use crate::loss::{Losses, Verdict};
use crate::mpi::job::Got;

/// A share of the requests of a group, and where it came from.
pub struct Part {
    /// The share.
    pub value: String,
    /// The parameter; empty where it has an equal part of the rest.
    pub from: String,
}

/// The shares of workloads that run at full speed; none where nobody asks for one.
pub fn at_full_speed(
    point: &Point,
    skews: &[Option<&Got<f64>>],
    has_own: bool,
    losses: &mut Losses,
) -> Vec<Part> {
    let is_max = point.rate.as_ref().is_none_or(|got| got.value == Rate::Max);
    if skews.len() < 2 || !is_max || skews.iter().all(Option::is_none) {
        return Vec::new();
    }
    if has_own {
        let needs = "shares of workloads of which one has a rate of its own; leave one out";
        for got in skews.iter().flatten() {
            losses.worsen(got.id, Verdict::refused(needs));
        }
        return Vec::new();
    }
    let values: Vec<Option<f64>> = skews.iter().map(|got| got.map(|got| got.value)).collect();
    let part = |(value, got): (u64, &Option<&Got<f64>>)| Part {
        value: value.to_string(),
        from: got.map(|got| losses.source(got.id)).unwrap_or_default(),
    };
    shares(SHARES, &values).into_iter().zip(skews).map(part).collect()
}

/// All shares of workloads together.
const SHARES: f64 = 100.0;

/// The rate of each of several workloads: its share, or an equal part of what is left.
pub fn shares(rate: f64, skews: &[Option<f64>]) -> Vec<u64> {
    let given: f64 = skews.iter().flatten().sum();
    let without = skews.iter().filter(|skew| skew.is_none()).count().max(1) as f64;
    let rest = (100.0 - given).max(0.0) / without;
    let part = |skew: &Option<f64>| rate * skew.unwrap_or(rest) / 100.0;
    skews.iter().map(|skew| (part(skew).round() as u64).max(1)).collect()
}
