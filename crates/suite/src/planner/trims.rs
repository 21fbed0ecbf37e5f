//! Whether a target can do to its bytes what the trims of a scenario ask.

use super::refusal::Refusal;
use crate::{Scenario, WorkloadSpec};
use model::Percent;
use model::choices::TrimAs;
use model::plan::PlannedTarget;
use model::testbed::TargetFacts;

/// Why a target of this kind cannot do it; `None` where it can.
pub(super) fn refusal(
    scenario: &Scenario,
    kind: &PlannedTarget,
    target: &TargetFacts,
) -> Option<Refusal> {
    let of_points = scenario.points.iter().flat_map(|point| &point.workloads);
    let odd = of_points
        .filter(|workload| workload.trim.value > Percent::ZERO)
        .find_map(|workload| Some((workload, remedy(kind, workload.trim_as.value)?)));
    let (workload, remedy) = odd?;
    Some(Refusal::target(message(workload, target), remedy))
}

fn message(workload: &WorkloadSpec, target: &TargetFacts) -> String {
    let (name, way) = (&workload.name.value, workload.trim_as.value);
    format!(
        "target {}: cannot do the trims of workload `{name}` (trim_as = \"{way}\")",
        target.path
    )
}

/// What to do where a kind of target has no such trims.
fn remedy(kind: &PlannedTarget, way: TrimAs) -> Option<&'static str> {
    match (kind, way) {
        (PlannedTarget::Device, TrimAs::Allocate) => {
            Some("name a directory: a device has all of its space")
        }
        (PlannedTarget::Simulated, TrimAs::Zeroes | TrimAs::Allocate) => {
            Some("leave out trim_as: a simulated target gives space back")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_target_has_trims_of_its_own() {
        let all = |kind: &PlannedTarget| -> Vec<bool> {
            TrimAs::ALL.iter().map(|way| remedy(kind, *way).is_none()).collect()
        };
        assert_eq!(all(&PlannedTarget::Device), [true, true, false]);
        assert_eq!(all(&PlannedTarget::Simulated), [true, false, false]);
        assert_eq!(all(&PlannedTarget::ReadOnly), [true; 3], "where nothing is written");
        let directory = PlannedTarget::Directory { root: "/x".to_owned() };
        assert_eq!(all(&directory), [true; 3]);
    }
}
