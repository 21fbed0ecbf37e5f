//! What can be known of the targets of a load, by the layers that they lie on: the weakest layer
//! of a chain decides, and a layer that the table does not have shows nothing.

use catalogue::targets::{Known, Layer, layer};
use model::inventory::Link;
use model::testbed::{HostFacts, TargetFacts};
use model::{HostPlan, Level};

/// The layer that keeps a target from a better verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The target's path.
    pub target: String,
    /// The layer's name: a file system's type, or a device.
    pub of: String,
    /// What the table has of it; `None`: nothing, or nothing is known of what is below it.
    pub layer: Option<&'static Layer>,
}

/// What can be known of a target, or of several together.
#[derive(Clone, Debug, PartialEq)]
pub struct OfTargets {
    /// The best verdict.
    pub best: Level,
    /// Of caches: seen, or shown by size, or never.
    pub caches: Known,
    /// Of durability: seen or never.
    pub durability: Known,
    /// What bounds it most; `None` where all can be seen.
    pub bound: Option<Bound>,
}

impl OfTargets {
    /// Of nothing: no target speaks against it.
    pub const NONE: OfTargets = OfTargets {
        best: Level::Quotable,
        caches: Known::Seen,
        durability: Known::Seen,
        bound: None,
    };

    /// Of a load whose targets nobody looked at.
    pub const UNKNOWN: OfTargets = OfTargets {
        best: Level::Indicative,
        caches: Known::Never,
        durability: Known::Never,
        bound: None,
    };

    /// What is known of both together: the less of each.
    #[must_use]
    pub fn and(self, other: OfTargets) -> OfTargets {
        let rank = |one: &OfTargets| (std::cmp::Reverse(one.best), one.caches, one.durability);
        let bound = if rank(&other) > rank(&self) { other.bound } else { self.bound };
        OfTargets {
            best: self.best.min(other.best),
            caches: self.caches.max(other.caches),
            durability: self.durability.max(other.durability),
            bound,
        }
    }
}

/// The targets that a host loads in a stage, as it found them.
pub fn loaded<'a>(
    host: &'a HostPlan,
    facts: &'a HostFacts,
    stage: u32,
) -> impl Iterator<Item = &'a TargetFacts> {
    let planned = host.targets.get(host.targets_of(stage)).unwrap_or_default();
    let is_loaded = move |target: &&TargetFacts| planned.iter().any(|one| one.path == target.path);
    facts.targets.iter().filter(is_loaded)
}

/// What can be known of all targets that hosts load in a stage, by what was found of each; of one
/// that nobody looked at, nothing. `are_guests`: the run made its hosts.
pub fn of_stage(
    hosts: &[HostPlan],
    testbed: &[HostFacts],
    stage: u32,
    are_guests: bool,
) -> Option<OfTargets> {
    let of_host = |(number, host): (usize, &HostPlan)| {
        let facts = testbed.get(number);
        let is_guest = are_guests || facts.is_some_and(|facts| facts.hypervisor.is_some());
        let planned = host.targets.get(host.targets_of(stage)).unwrap_or_default();
        let found = planned.iter().map(|target| {
            let mut known = facts.into_iter().flat_map(|facts| &facts.targets);
            let known = known.find(|one| one.path == target.path);
            known.map_or(OfTargets::UNKNOWN, |known| of_target(known, is_guest))
        });
        found.collect::<Vec<_>>()
    };
    hosts.iter().enumerate().flat_map(of_host).reduce(OfTargets::and)
}

/// What can be known of a target; `is_guest`: its host runs under a hypervisor.
pub fn of_target(target: &TargetFacts, is_guest: bool) -> OfTargets {
    let unknown = |of: &str| unseen(target, of, None);
    if target.chain.is_empty() {
        return unknown(target.file_system.as_deref().unwrap_or_default());
    }
    let followers = target.chain.iter().skip(1).map(Some).chain([None]);
    let each = target.chain.iter().zip(followers).map(|(link, next)| {
        let is_last = next.is_none_or(|next| next.depth <= link.depth);
        match layer(link, is_guest) {
            Some(layer) => of_link(target, link, layer, is_last),
            None => unknown(&link.name),
        }
    });
    each.fold(OfTargets::NONE, OfTargets::and)
}

fn of_link(target: &TargetFacts, link: &Link, layer: &'static Layer, is_last: bool) -> OfTargets {
    if is_last && !layer.ends_a_chain() {
        return unseen(target, &link.name, Some(layer));
    }
    // Whether a device has a cache is known where the kernel says so.
    let is_read = link.device.as_ref().is_none_or(|device| !device.write_cache.is_empty());
    let known = |known: Known| match known {
        Known::Below => Known::Seen,
        Known::Seen if !is_read => Known::Never,
        other => other,
    };
    let (caches, durability) = (known(layer.caches.value), known(layer.durability.value));
    let best = match caches {
        Known::Never => layer.best.value.min(Level::Indicative),
        _ => layer.best.value,
    };
    let is_bound = (caches, durability) != (Known::Seen, Known::Seen);
    let bound = || Bound { target: target.path.clone(), of: link.name.clone(), layer: Some(layer) };
    OfTargets { best, caches, durability, bound: is_bound.then(bound) }
}

/// Of a layer that nothing is known of, or nothing of what is below it.
fn unseen(target: &TargetFacts, of: &str, layer: Option<&'static Layer>) -> OfTargets {
    let best = layer.map_or(Level::Indicative, |layer| layer.best.value.min(Level::Indicative));
    let bound = Some(Bound { target: target.path.clone(), of: of.to_owned(), layer });
    OfTargets { best, caches: Known::Never, durability: Known::Never, bound }
}
