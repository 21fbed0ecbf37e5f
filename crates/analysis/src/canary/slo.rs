//! Which requests keep an objective.
//!
//! The budget counts requests, not intervals: a minute in which one request of ten thousand was
//! slow is not a bad minute, and one in which all were is not as bad as one other. `p99 < 5ms` says
//! of requests that 99 % take less than 5 ms, so that it brings its target along.

use model::canary::Counts;
use model::objective::{Limit, Objective};
use model::{Histogram, Op, Percent};
use std::fmt;

/// Less than this, and no load could spend the budget fast enough for the fast alert.
const LEAST_PPM: u32 = 950_000;
/// More than this, and one slow request of a day is more than the budget.
const MOST_PPM: u32 = 999_990;

/// Counts requests by an objective.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judge {
    limits: Vec<LatencyLimit>,
    target_ppm: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LatencyLimit {
    op: Option<Op>,
    at_most_ns: u64,
    is_inclusive: bool,
}

/// Why an objective is none for single requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unjudgeable {
    /// This condition is not one of single requests.
    NotOfRequests(String),
    /// Its conditions ask for different shares, or for none.
    NoTarget,
    /// The share is too small or too large.
    Target(Percent),
}

impl fmt::Display for Unjudgeable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unjudgeable::NotOfRequests(condition) => write!(
                f,
                "`{condition}` says nothing of single requests, and the error budget counts these; \
                 write a quantile such as \"p99 < 5ms\""
            ),
            Unjudgeable::NoTarget => f.write_str(
                "the objective names no one share of requests; add --slo, such as --slo 99.9%",
            ),
            Unjudgeable::Target(share) => {
                write!(f, "a target of {share} of requests is out of range; write 95% to 99.999%")
            }
        }
    }
}

impl Judge {
    /// The judge of `objective`, for the share `target` of requests; without it, for the share of
    /// its quantile.
    ///
    /// # Errors
    /// A condition that single requests cannot keep, or no one share.
    pub fn new(objective: &Objective, target: Option<Percent>) -> Result<Judge, Unjudgeable> {
        let (mut limits, mut shares) = (Vec::new(), Vec::new());
        for condition in &objective.conditions {
            let mut limit = |at_most: model::Nanos| {
                limits.push(LatencyLimit {
                    op: condition.op,
                    at_most_ns: at_most.0,
                    is_inclusive: condition.inclusive,
                });
            };
            match condition.limit {
                Limit::Quantile { share, at_most } => {
                    limit(at_most);
                    shares.push(share.ppm);
                }
                Limit::Max(at_most) => limit(at_most),
                Limit::ErrorShare(share) => shares.push(Percent::ALL.ppm - share.ppm),
                // A request that failed never keeps an objective.
                Limit::Errors(0) => {}
                Limit::Mean(_)
                | Limit::Errors(_)
                | Limit::Iops { .. }
                | Limit::Bandwidth { .. } => {
                    return Err(Unjudgeable::NotOfRequests(condition.to_string()));
                }
            }
        }
        shares.dedup();
        let target_ppm = match (target, shares.as_slice()) {
            (Some(target), _) => target.ppm,
            (None, [one]) => *one,
            (None, _) => return Err(Unjudgeable::NoTarget),
        };
        if !(LEAST_PPM..=MOST_PPM).contains(&target_ppm) {
            return Err(Unjudgeable::Target(Percent { ppm: target_ppm }));
        }
        Ok(Judge { limits, target_ppm })
    }

    /// The share of requests that have to keep the objective, in millionths.
    pub fn target_ppm(&self) -> u32 {
        self.target_ppm
    }

    /// The age from which on a request without an answer is too late, whatever it asked for, in ns;
    /// `None` where no latency is asked for.
    pub(super) fn overdue_ns(&self) -> Option<u64> {
        self.limits.iter().map(|limit| limit.at_most_ns).max()
    }

    /// Requests of `op`, of which `errors` failed and the others took what `latency` has. A bucket
    /// that the limit cuts counts as too slow: up to 0.8 % below the limit, a request may be called
    /// bad, and no bad one is called good.
    pub fn count(&self, op: Op, errors: u64, latency: &Histogram) -> Counts {
        let mine = self.limits.iter().filter(|limit| limit.op.is_none_or(|of| of == op));
        let good = mine.map(|limit| limit.good(latency)).min().unwrap_or(latency.count());
        Counts { good, bad: (latency.count() - good).saturating_add(errors) }
    }
}

impl LatencyLimit {
    fn holds(self, ns: u64) -> bool {
        if self.is_inclusive { ns <= self.at_most_ns } else { ns < self.at_most_ns }
    }

    fn good(self, latency: &Histogram) -> u64 {
        // The maximum is known exactly, so that a limit that nothing reaches cuts no bucket.
        if latency.max_ns().is_none_or(|max| self.holds(max)) {
            return latency.count();
        }
        latency.buckets().filter(|(_, high, _)| self.holds(*high)).map(|(_, _, n)| n).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(objective: &str, target: Option<&str>) -> Result<Judge, String> {
        let objective: Objective = objective.parse().expect("an objective");
        let target = target.map(|share| share.parse().expect("a share"));
        Judge::new(&objective, target).map_err(|why| why.to_string())
    }

    #[test]
    fn a_quantile_brings_its_target_along_and_what_no_request_can_keep_is_refused() {
        for (objective, target, ppm) in [
            ("p99 < 5ms", None, 990_000),
            ("p99.9 < 5ms, errors = 0", None, 999_000),
            ("p99 < 5ms", Some("99.9%"), 999_000),
            ("max < 5ms", Some("99.99%"), 999_900),
            ("errors < 0.1%", None, 999_000),
            ("read p99 < 1ms, write p99 < 9ms", None, 990_000),
        ] {
            let judged = judge(objective, target).map(|judge| judge.target_ppm());
            assert_eq!(judged, Ok(ppm), "{objective}");
        }
        for (objective, target, words) in [
            ("mean < 5ms", None, "single requests"),
            ("iops > 5", None, "single requests"),
            ("errors < 5", None, "single requests"),
            ("max < 5ms", None, "--slo"),
            ("p99 < 5ms, p99.9 < 9ms", None, "--slo"),
            ("p50 < 5ms", None, "95% to 99.999%"),
            ("p99 < 5ms", Some("100%"), "95% to 99.999%"),
        ] {
            let told = judge(objective, target).expect_err(objective);
            assert!(told.contains(words), "{objective}: {told}");
        }
    }

    #[test]
    fn requests_are_counted_exactly_where_the_limit_cuts_no_bucket() {
        let judge = judge("read p99 < 1ms", None).expect("a judge");
        let mut latency = Histogram::new();
        latency.record_many(500_000, 97);
        latency.record_many(2_000_000, 3);
        assert_eq!(judge.count(Op::Read, 5, &latency), Counts { good: 97, bad: 8 });
        assert_eq!(judge.count(Op::Write, 5, &latency), Counts { good: 100, bad: 5 });
        let mut near = Histogram::new();
        near.record_many(999_999, 10);
        assert_eq!(judge.count(Op::Read, 0, &near).good, 10, "all are below, as the maximum says");
        near.record(1_000_000);
        let counted = judge.count(Op::Read, 0, &near);
        assert_eq!(counted.all(), 11);
        assert!(counted.bad >= 1, "the one at the limit is never called good");
    }
}
