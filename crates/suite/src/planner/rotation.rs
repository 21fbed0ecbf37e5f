//! Hosts that load what other hosts wrote: which files these are, and whether they can be seen
//! there.

use super::{Loaded, Refusal, ScenarioRequest, is_null};
use crate::PointSpec;
use model::plan::{HostPlace, PlannedTarget, Target};
use model::testbed::HostFacts;
use std::collections::BTreeSet;

/// Targets of one host, which hold the files of one host.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// How many places further the host is that makes them; 0 for its own.
    rotation: u32,
    /// Where they begin among all targets of the host that loads them.
    first: usize,
    count: usize,
}

/// The targets of a host that is planned: its own, then those of each host whose files it loads.
#[derive(Clone, Debug)]
pub(super) struct Groups(Vec<Group>);

impl Groups {
    /// The targets that a workload with this `rotate` loads, and the number of their first file
    /// among those of the host.
    pub(super) fn of<'a>(
        &self,
        rotate: u64,
        hosts: usize,
        targets: &'a [Target],
    ) -> (u32, &'a [Target]) {
        let rotation = reduced(rotate, hosts);
        let found = self.0.iter().find(|group| group.rotation == rotation);
        let (first, count) = found.map_or((0, 0), |group| (group.first, group.count));
        let files = targets.iter().take(first).map(|target| target.files.len()).sum::<usize>();
        (files as u32, targets.get(first..first + count).unwrap_or_default())
    }
}

/// Places on the ring of hosts: once around is none.
fn reduced(rotate: u64, hosts: usize) -> u32 {
    (rotate % hosts.max(1) as u64) as u32
}

/// Adds to each host's targets those of the hosts whose files it loads, and their owners to its
/// place.
pub(super) fn join(
    request: &ScenarioRequest<'_>,
    points: &[&PointSpec],
    hosts: &mut [Loaded<'_>],
    places: &mut [HostPlace],
) -> Result<Vec<Groups>, Vec<Refusal>> {
    let own: Vec<Vec<Target>> = hosts.iter().map(|(_, _, targets)| targets.clone()).collect();
    let facts: Vec<&HostFacts> = hosts.iter().map(|(_, facts, _)| *facts).collect();
    let workloads = points.iter().flat_map(|point| &point.workloads);
    let rotations: BTreeSet<u32> =
        workloads.map(|workload| reduced(workload.rotate.value, own.len())).collect();
    let mut refusals = Vec::new();
    let mut all = Vec::new();
    for (number, (_, mine, targets)) in hosts.iter_mut().enumerate() {
        let mut groups = vec![Group { rotation: 0, first: 0, count: targets.len() }];
        for rotation in rotations.iter().copied().filter(|rotation| *rotation > 0) {
            let maker = (number + rotation as usize) % own.len();
            groups.push(Group { rotation, first: targets.len(), count: own[maker].len() });
            for target in &own[maker] {
                if !is_null(request) {
                    refusals.extend(unseen(mine, facts[maker], target, "rotate"));
                }
                let is_file_of_another = matches!(target.kind, PlannedTarget::Directory { .. });
                let kind =
                    if is_file_of_another { PlannedTarget::Joined } else { target.kind.clone() };
                targets.push(Target { kind, ..target.clone() });
                let owner = |place: &HostPlace| {
                    let at = mine.targets.iter().position(|own| own.path == target.path)?;
                    place.owners.get(at).cloned()
                };
                if let Some(place) = places.get_mut(number) {
                    let owner = owner(place).unwrap_or_default();
                    place.owners.push(owner);
                }
            }
        }
        all.push(Groups(groups));
    }
    refusals.dedup();
    if refusals.is_empty() { Ok(all) } else { Err(refusals) }
}

/// Why `host` cannot load the files that `maker` makes at `target`, as `wish` has it.
pub(super) fn unseen(
    host: &HostFacts,
    maker: &HostFacts,
    target: &Target,
    wish: &str,
) -> Option<Refusal> {
    let refuse = |what: String| {
        let what = format!(
            "host {}: it is to load what {} writes ({wish}), and {what}",
            host.hostname, maker.hostname
        );
        Refusal::target(
            what,
            format!(
                "name the same folder of a shared file system on every host, or leave out {wish}"
            ),
        )
    };
    if !matches!(target.kind, PlannedTarget::Directory { .. }) {
        return Some(refuse(format!("target {} is not a directory", target.path)));
    }
    let of = |host: &HostFacts| {
        let found = host.targets.iter().find(|facts| facts.path == target.path)?;
        Some(format!(
            "{} of {}",
            found.file_system.as_deref().unwrap_or("no file system"),
            found.total
        ))
    };
    match (of(host), of(maker)) {
        (None, _) => Some(refuse(format!("target {} is not one of its own", target.path))),
        (Some(mine), Some(theirs)) if mine != theirs => Some(refuse(format!(
            "target {} is another file system there: {mine}, not {theirs}",
            target.path
        ))),
        _ => None,
    }
}
