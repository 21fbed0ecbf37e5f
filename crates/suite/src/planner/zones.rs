//! Whether a target can have the zones that the workloads of a scenario ask for. What a device has,
//! the engine sees.

use super::refusal::Refusal;
use crate::{Scenario, WorkloadSpec, Zones};
use form::Auto;
use model::plan::PlannedTarget;
use model::testbed::TargetFacts;

/// Why a target of this kind has no such zones; `None` where it may.
pub(super) fn refusal(
    scenario: &Scenario,
    kind: &PlannedTarget,
    target: &TargetFacts,
) -> Option<Refusal> {
    let of_points = scenario.points.iter().flat_map(|point| &point.workloads);
    let odd = of_points
        .filter(|workload| workload.zones.value == Zones::Device)
        .find_map(|workload| Some((workload, remedy(kind, workload)?)));
    let (workload, remedy) = odd?;
    let message =
        format!("target {}: has no zones for workload `{}`", target.path, workload.name.value);
    Some(Refusal::target(message, remedy))
}

fn remedy(kind: &PlannedTarget, workload: &WorkloadSpec) -> Option<&'static str> {
    match kind {
        PlannedTarget::Simulated => Some("leave out zones: no simulated target has any"),
        PlannedTarget::Directory { .. } | PlannedTarget::Joined => (workload.zone_size.value
            == Auto::Auto)
            .then_some("name a zoned device, or give zone_size: files are treated as if"),
        PlannedTarget::Device | PlannedTarget::ReadOnly => None,
    }
}
