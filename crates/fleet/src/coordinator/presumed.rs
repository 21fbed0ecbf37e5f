//! Hosts that were not there when the run was planned: each may take part only if it is what was
//! presumed of it. Pure.

use model::plan::{HostPlan, PlannedTarget, Target};
use model::testbed::{DirectIo, DirectoryState, HostFacts, TargetFacts, TargetKind};
use model::units::Bytes;

/// Memory that the firmware keeps differs by a little from machine to machine: by less than one in
/// so many.
const MEMORY_DIFFERS: u64 = 16;

/// In what a host is other than its share was planned for, in words; `None` where it is not.
pub(super) fn unlike<'a>(
    presumed: &HostFacts,
    plan: &HostPlan,
    found: &HostFacts,
    mut others: impl Iterator<Item = &'a String>,
) -> Option<String> {
    if !found.identity.is_empty() && others.any(|other| *other == found.identity) {
        return Some("it is the same machine as another host of the run".to_owned());
    }
    let other = |what: &str, presumed: &str, found: &str| {
        (presumed != found).then(|| {
            format!("{what}: {found}, and its share was planned for {presumed}; begin anew with it")
        })
    };
    let cpus = |facts: &HostFacts| format!("{} in {:?}", facts.logical_cpus, facts.numa_cpus);
    let host = other("CPUs", &cpus(presumed), &cpus(found)).or_else(|| {
        let differs = presumed.memory.0.abs_diff(found.memory.0);
        (differs > presumed.memory.0 / MEMORY_DIFFERS)
            .then(|| other("memory", &presumed.memory.to_string(), &found.memory.to_string()))
            .flatten()
    });
    host.or_else(|| {
        presumed.targets.iter().find_map(|target| {
            let path = &target.path;
            let Some(there) = found.targets.iter().find(|there| there.path == *path) else {
                return Some(format!("its target {path} was not looked at"));
            };
            other(path, &traits(target), &traits(there)).or_else(|| lacks_room(plan, there))
        })
    })
}

/// What a plan depends on of a target, in words.
fn traits(target: &TargetFacts) -> String {
    let system = target.file_system.as_deref().unwrap_or("no file system");
    let direct = match target.direct {
        DirectIo::Aligned(bytes) => format!("direct I/O in multiples of {bytes} B"),
        DirectIo::Refused => "no direct I/O".to_owned(),
        DirectIo::Unknown => "direct I/O unknown".to_owned(),
    };
    format!("{} ({system}, {direct})", place(&target.kind))
}

/// What stands at a target, as far as a plan depends on it, in words.
fn place(kind: &TargetKind) -> String {
    match kind {
        TargetKind::Directory { state: DirectoryState::Foreign, root } => {
            format!("files of somebody else in {root}")
        }
        TargetKind::Directory { root, .. } => format!("files go to {root}"),
        TargetKind::Simulated { size } => format!("a simulated device of {size}"),
        TargetKind::Missing | TargetKind::NoParent => "it is not there".to_owned(),
        TargetKind::File { .. } => "a file".to_owned(),
        TargetKind::Device { .. } => "a device".to_owned(),
        TargetKind::Other(what) | TargetKind::Unreadable(what) => what.clone(),
    }
}

/// Whether its part of the layout does not fit there.
fn lacks_room(plan: &HostPlan, there: &TargetFacts) -> Option<String> {
    let is_it = |target: &&Target| {
        target.path == there.path && matches!(target.kind, PlannedTarget::Directory { .. })
    };
    let files = plan.targets.iter().filter(is_it).flat_map(|target| &target.files);
    let needs = files.map(|file| file.size.0).fold(0, u64::saturating_add);
    let used = match there.kind {
        TargetKind::Directory { state: DirectoryState::Claimed { used, .. }, .. } => used.0,
        _ => 0,
    };
    let free = there.free.0.saturating_add(used);
    (needs > free).then(|| {
        format!("{}: {} are free, and its layout takes {}", there.path, Bytes(free), Bytes(needs))
    })
}
