//! How long a simulated cluster is loaded: every request is simulated, so that the hours of a field
//! report would take hours.

use analysis::ceiling::{Workload, ceiling, touched_in};
use catalogue::Cluster;
use model::Fraction;
use model::plan::{HostStage, Plan, Work};

/// Requests of a whole run: well under a minute of one core.
const REQUESTS: f64 = 30e6;
/// What a request takes at least, where the storage software is said to take nothing: the time of a
/// flash medium, in ns.
const LEAST_NS: u64 = 100_000;

/// The largest round factor for the times of `plan`, made at their full length, at which no more
/// than the budget of requests is simulated. `stack_ns` is what the storage software adds to each
/// request.
pub(crate) fn time_scale(plan: &Plan, cluster: &Cluster, stack_ns: u64) -> Fraction {
    let requests: f64 =
        (0..plan.stages.len()).map(|stage| most_requests(plan, stage, cluster, stack_ns)).sum();
    Fraction::one_in(divisor(requests / REQUESTS))
}

/// At least `ratio`, in two digits.
fn divisor(ratio: f64) -> u32 {
    let mut unit = 1.0;
    while ratio / unit > 99.0 && unit < 1e7 {
        unit *= 10.0;
    }
    // A cast ends at the largest number.
    ((ratio / unit).ceil() * unit).max(1.0) as u32
}

/// The most requests of a stage of some time: what is outstanding can come back no faster than the
/// software takes (Little's law), no faster than the cluster's ceiling, and at a fixed rate no
/// faster than that.
fn most_requests(plan: &Plan, number: usize, cluster: &Cluster, stack_ns: u64) -> f64 {
    let Some(time) = plan.stages[number].stop().time() else { return 0.0 };
    let hosts: Vec<&HostStage> =
        plan.hosts.iter().filter_map(|host| host.stages.get(number)).collect();
    let works = plan.stages[number].works.iter().zip(0u32..);
    works
        .map(|(work, place)| {
            most_rate(work, place, &hosts, cluster, stack_ns) * time.0 as f64 / 1e9
        })
        .sum()
}

/// The most requests per second of a work, on all hosts together.
fn most_rate(
    work: &Work,
    place: u32,
    hosts: &[&HostStage],
    cluster: &Cluster,
    stack_ns: u64,
) -> f64 {
    let workers =
        || hosts.iter().flat_map(|host| &host.workers).filter(|worker| worker.work == place);
    let touched = touched_in(hosts.iter().copied(), |work| work == place);
    let outstanding = workers().count() as f64 * f64::from(work.depth);
    let at_once = outstanding * 1e9 / stack_ns.max(LEAST_NS) as f64;
    let carried = ceiling(cluster, &Workload::of_work(work, touched))
        .binding()
        .map_or(f64::INFINITY, |limit| limit.iops);
    at_once.min(carried)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_divisor_is_round_and_never_too_small() {
        for (ratio, wanted) in [
            (0.0, 1),
            (0.9, 1),
            (1.0, 1),
            (1.1, 2),
            (99.0, 99),
            (99.5, 100),
            (173.2, 180),
            (1_601.0, 1_700),
        ] {
            assert_eq!(divisor(ratio), wanted, "{ratio}");
        }
        assert_eq!(divisor(f64::INFINITY), u32::MAX);
    }
}
