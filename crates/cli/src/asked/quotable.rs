//! `run --quotable`: what a figure that may be quoted needs, as fields of the suite.

use form::{Amount, Auto, Override};
use model::plan::{PlannedTarget, Target};
use model::testbed::{HostFacts, TargetFacts};
use model::{Bytes, Nanos, Plan};
use suite::{LayoutSpec, Spec};

/// The least time for which each workload runs before it is measured.
const LEAST_PRECONDITION: Nanos = Nanos::seconds(10);
/// A layout of so many times the memory is no page cache's.
const TIMES_MEMORY: u64 = 2;
/// The planner leaves this part of a file system free.
const KEPT_FREE: u64 = 20;
/// The share of what is free that a layout may take, in tenths.
const TENTHS_OF_FREE: u64 = 8;

/// What the user's own `measure_max` needs: it ends what lasts until it is steady.
pub(crate) fn for_longest(own: &[Override]) -> Option<Override> {
    let is_longest = own.iter().any(|set| set.parts().0.trim().ends_with("measure_max"));
    is_longest.then(|| "stages.until=steady".parse().ok()).flatten()
}

pub(crate) fn sets(spec: &Spec) -> Vec<Override> {
    let mut texts = vec!["stages.flush=end".to_owned(), "stages.prepare=true".to_owned()];
    if spec.first_scenario().stages.amount.value == Amount::None {
        texts.push("stages.until=steady".to_owned());
        if spec.first_scenario().stages.precondition.value < LEAST_PRECONDITION {
            texts.push(format!("stages.precondition={}ms", LEAST_PRECONDITION.0 / 1_000_000));
        }
    }
    texts.iter().flat_map(|text| text.parse()).collect()
}

/// A larger `layout.size` for a plan whose files could be in a memory; `None` where they are large
/// enough, the suite or an option says their size, or there is no room.
pub(crate) fn larger(spec: &Spec, plan: &Plan, hosts: &[HostFacts]) -> Option<Override> {
    if is_size_chosen(spec) || plan.has_parts() {
        return None;
    }
    let is_ours = |target: &&Target| matches!(target.kind, PlannedTarget::Directory { .. });
    let sizes = plan.hosts.iter().zip(hosts).map(|(host, facts)| {
        let targets: Vec<&Target> = host.targets.iter().filter(is_ours).collect();
        let files = targets.iter().map(|target| target.files.len() as u64).sum::<u64>();
        let of_targets = |target: &&Target| {
            facts.targets.iter().find(|facts| facts.path == target.path).map_or(0, room)
        };
        // Targets may be on one file system.
        let free = targets.iter().map(of_targets).min().unwrap_or(0);
        let wanted = facts.memory.0.saturating_mul(TIMES_MEMORY);
        let now = targets.iter().flat_map(|target| &target.files).map(|file| file.size.0).max();
        (wanted.min(free).div_ceil(files.max(1)), now.unwrap_or(u64::MAX))
    });
    let (size, now) = sizes.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
    // Up: a byte less than twice the memory is not twice the memory.
    let size = Bytes(size.div_ceil(Bytes::mib(1).0).saturating_mul(Bytes::mib(1).0));
    (size.0 > now).then(|| format!("layout.size={}", size.0).parse().ok()).flatten()
}

/// The bytes that a layout may take: a part of what is free, and within what the planner lets any
/// layout take.
fn room(target: &TargetFacts) -> u64 {
    let kept_free = target.total.0 / KEPT_FREE;
    (target.free.0 / 10 * TENTHS_OF_FREE).min(target.free.0.saturating_sub(kept_free))
}

fn is_size_chosen(spec: &Spec) -> bool {
    let is_chosen =
        |layout: &LayoutSpec| layout.size.value != Auto::Auto || layout.sizes.value != Auto::Auto;
    let scenarios = spec.scenarios();
    scenarios.iter().any(|one| {
        is_chosen(&one.layout) || one.points.iter().any(|point| is_chosen(&point.layout))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_that_somebody_chose_stays() {
        let is_chosen = |text: &str, sets: &[&str]| {
            let text = format!("name = \"t\"\n{text}\n[[workload]]\nname = \"w\"\n");
            let sets: Vec<Override> = sets.iter().flat_map(|set| set.parse()).collect();
            is_size_chosen(&Spec::parse("t", &text, &sets).expect("a good suite"))
        };
        assert!(!is_chosen("", &[]));
        assert!(!is_chosen("", &["block_size=8KiB"]), "of requests, not of files");
        assert!(is_chosen("[layout]\nsize = \"64MiB\"", &[]));
        assert!(is_chosen("[layout]\nsizes = \"4KiB:1, 1MiB:1\"", &[]));
        assert!(is_chosen("", &["layout.size=64MiB"]));
        assert!(is_chosen("[sweep]\nsize = [\"64MiB\", \"1GiB\"]", &[]));
    }
}
