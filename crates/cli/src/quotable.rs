//! `run --quotable`: what a figure that may be quoted needs, as fields of the suite.

use crate::args::WorkArgs;
use form::{Amount, Override};
use model::plan::{PlannedTarget, Target};
use model::testbed::HostFacts;
use model::{Bytes, Nanos, Plan};
use suite::Spec;

/// The least time for which each workload runs before it is measured.
const LEAST_PRECONDITION: Nanos = Nanos::seconds(10);
/// A layout of so many times the memory is no page cache's.
const TIMES_MEMORY: u64 = 2;
/// The share of what is free that a layout may take, in tenths.
const TENTHS_OF_FREE: u64 = 8;

/// The fields that do not depend on the hosts.
pub fn sets(spec: &Spec) -> Vec<Override> {
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
/// enough, somebody chose their size, or there is no room.
pub fn larger(work: &WorkArgs, plan: &Plan, hosts: &[HostFacts]) -> Option<Override> {
    let is_size = |set: &Override| set.parts().0.trim_end().ends_with("size");
    if work.quick.size.is_some() || work.sets.iter().any(is_size) || plan.has_parts() {
        return None;
    }
    let is_ours = |target: &&Target| matches!(target.kind, PlannedTarget::Directory { .. });
    let sizes = plan.hosts.iter().zip(hosts).map(|(host, facts)| {
        let targets: Vec<&Target> = host.targets.iter().filter(is_ours).collect();
        let files = targets.iter().map(|target| target.files.len() as u64).sum::<u64>();
        let of_targets = |target: &&Target| {
            facts
                .targets
                .iter()
                .find(|facts| facts.path == target.path)
                .map_or(0, |facts| facts.free.0)
        };
        // Targets may be on one file system.
        let free = targets.iter().map(of_targets).min().unwrap_or(0);
        let wanted = facts.memory.0.saturating_mul(TIMES_MEMORY);
        let room = free / 10 * TENTHS_OF_FREE;
        let now = targets.iter().flat_map(|target| &target.files).map(|file| file.size.0).max();
        (wanted.min(room) / files.max(1), now.unwrap_or(u64::MAX))
    });
    let (size, now) = sizes.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
    let size = Bytes(size / Bytes::mib(1).0 * Bytes::mib(1).0);
    (size.0 > now).then(|| format!("layout.size={}", size.0).parse().ok()).flatten()
}
