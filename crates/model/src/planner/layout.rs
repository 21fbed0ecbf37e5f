//! What each target becomes: files of ours, a device given up by name, or something that is only read.

use super::{GivenUp, Refusal, RefusalKind, Request, is_null};
use crate::event::NoteKind;
use crate::plan::{PlanNote, PlannedTarget, Target, TargetFile};
use crate::spec::{Auto, PointSpec, Spread, WorkloadSpec};
use crate::testbed::{DirectIo, DirectoryState, HostFacts, TargetFacts, TargetKind};
use crate::units::Bytes;

/// The most that `size = "auto"` takes, on all targets of a host together.
const AUTO_LIMIT: Bytes = Bytes::gib(4);
/// A file system is never filled past 95 %: past that, many of them measure their own distress.
const RESERVED_SHARE: u64 = 20;

/// The name of the `number`-th file of a layout. Only files with such names are ever written or removed.
pub fn data_file_name(number: u32) -> String {
    format!("data-{number:05}.bin")
}

/// The targets of one host.
pub(super) fn targets(
    request: &Request<'_>,
    facts: &HostFacts,
    slot: Slot,
    points: &[&PointSpec],
    notes: &mut Vec<PlanNote>,
) -> Result<Vec<Target>, Vec<Refusal>> {
    let mut refusals = Vec::new();
    let mut targets = Vec::new();
    let sizes = Sizes::of(request, facts, slot, points);
    for target in &facts.targets {
        match kind_of(request, facts, target) {
            Ok(kind) => match files_of(request, target, &kind, &sizes, notes) {
                Ok(files) => {
                    refusals.extend(misaligned(request, target, points));
                    targets.push(Target { path: target.path.clone(), kind, files });
                }
                Err(refusal) => refusals.push(refusal),
            },
            Err(refusal) => refusals.push(refusal),
        }
    }
    refusals.extend(space(facts, &targets));
    let simulated = targets.iter().filter(|target| target.kind == PlannedTarget::Simulated).count();
    if simulated > 0 && simulated < targets.len() {
        let what = "real and simulated targets cannot be loaded together: their times differ";
        refusals.push(Refusal::new(RefusalKind::Usage, what, "name either real targets or `sim:` ones"));
    }
    if facts.targets.is_empty() {
        refusals.push(Refusal::new(RefusalKind::Usage, "no target is named", "name one with --target PATH"));
    }
    if refusals.is_empty() { Ok(targets) } else { Err(refusals) }
}

fn refuse(target: &TargetFacts, what: &str, remedy: &str) -> Refusal {
    Refusal::new(RefusalKind::Target, format!("target {}: {what}", target.path), remedy)
}

/// What may be done to a target.
fn kind_of(request: &Request<'_>, facts: &HostFacts, target: &TargetFacts) -> Result<PlannedTarget, Refusal> {
    let several = request.hosts.len() > 1;
    let names = |host: &Option<String>| host.as_ref().map_or(!several, |host| *host == facts.hostname);
    let of_device = |given: &&GivenUp| given.device == target.path;
    let given_up = request.destroy_data.iter().filter(of_device).any(|given| names(&given.host));
    if several && request.destroy_data.iter().filter(of_device).any(|given| given.host.is_none()) {
        return Err(refuse(
            target,
            "--destroy-data names a device without its host, and there are several hosts",
            &format!("name it on each host, such as --destroy-data {}:{}", facts.hostname, target.path),
        ));
    }
    let directory = |root: &str| PlannedTarget::Directory { root: root.to_owned() };
    if is_null(request) {
        return Ok(PlannedTarget::ReadOnly);
    }
    if given_up && !matches!(target.kind, TargetKind::Device { .. }) {
        return Err(refuse(
            target,
            "--destroy-data names something that is not a block device",
            "name a device such as /dev/nvme1n1, or use --target for a directory",
        ));
    }
    match &target.kind {
        TargetKind::Simulated { .. } => Ok(PlannedTarget::Simulated),
        TargetKind::Missing | TargetKind::Directory { .. } if request.existing => {
            Err(refuse(target, "--existing wants a file or a device that is there", "name one"))
        }
        TargetKind::NoParent => {
            Err(refuse(target, "no such directory, nor one above it", "check the path, or make its parent directory"))
        }
        TargetKind::Missing | TargetKind::Directory { .. } if !target.writable => Err(refuse(
            target,
            "cannot be written to (read-only file system, or no permission)",
            "name a directory that you may write to, or check the mount",
        )),
        TargetKind::Missing => Ok(directory(&target.path)),
        TargetKind::Directory { root, state: DirectoryState::Foreign } => Err(refuse(
            target,
            &format!("{root} holds files that Plimsoll did not make"),
            "name another directory, or move those files away",
        )),
        TargetKind::Directory { root, .. } => Ok(directory(root)),
        TargetKind::File { .. } | TargetKind::Device { .. } if request.existing => Ok(PlannedTarget::ReadOnly),
        TargetKind::File { .. } => Err(refuse(
            target,
            "is a file that Plimsoll did not make",
            "name a directory, or read the file as it is with --existing",
        )),
        TargetKind::Device { in_use: Some(why), .. } => {
            Err(refuse(target, &format!("the device is in use: {why}"), "name an unused device"))
        }
        TargetKind::Device { .. } if !given_up => Err(refuse(
            target,
            "is a block device, and a run would overwrite it",
            &format!(
                "say --destroy-data {}{} to give up what is on it, or read it with --existing",
                if several { format!("{}:", facts.hostname) } else { String::new() },
                target.path
            ),
        )),
        TargetKind::Device { .. } if !target.writable => {
            Err(refuse(target, "may not be opened for writing", "run as root, or get permission on the device"))
        }
        TargetKind::Device { .. } => Ok(PlannedTarget::Device),
        TargetKind::Other(what) => Err(refuse(target, &format!("is {what}"), "name a directory, a file or a device")),
        TargetKind::Unreadable(why) => {
            Err(refuse(target, &format!("cannot be looked at: {why}"), "check the path and your permissions on it"))
        }
    }
}

/// What the suite says about sizes, resolved for one host.
struct Sizes {
    files: u32,
    /// The size of a file, where the suite fixes it, scaled.
    fixed: Option<Bytes>,
    /// The share of `"auto"` that one target gets before its own free space is asked, scaled.
    auto_share: Bytes,
    /// The least that a file must have for every worker to find a block.
    least: Bytes,
}

impl Sizes {
    fn of(request: &Request<'_>, facts: &HostFacts, slot: Slot, points: &[&PointSpec]) -> Sizes {
        let layout = &request.spec.layout;
        let workloads = || points.iter().flat_map(|point| &point.workloads);
        let most_workers = workloads().map(|workload| workers(workload, facts, slot)).max().unwrap_or(1).max(1);
        let files = match layout.files.value {
            Auto::Fixed(count) => count.0,
            Auto::Auto => most_workers,
        };
        let largest_block = workloads().flat_map(WorkloadSpec::sizes).map(|size| size.0).max().unwrap_or(0);
        let shrink = |bytes: Bytes| Bytes(request.scale.apply(bytes.0));
        let targets = facts.targets.len().max(1) as u64;
        Sizes {
            files,
            fixed: match layout.size.value {
                Auto::Fixed(size) => Some(shrink(size)),
                Auto::Auto => None,
            },
            auto_share: shrink(Bytes(AUTO_LIMIT.0.min(facts.memory.0 / 2) / targets)),
            least: Bytes(2 * largest_block * u64::from(most_workers.div_ceil(files))),
        }
    }
}

/// A host's place among all hosts of the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// Its number, from 0.
    pub(super) number: u32,
    /// How many there are.
    pub(super) of: u32,
}

/// Workers of a workload on a host.
pub(super) fn workers(workload: &WorkloadSpec, facts: &HostFacts, slot: Slot) -> u32 {
    match (workload.workers.value, workload.spread.value) {
        (Auto::Fixed(count), Spread::EachHost) => count.0,
        // The first hosts have one more, where they do not come out even.
        (Auto::Fixed(count), Spread::AllHosts) => {
            let hosts = slot.of.max(1);
            count.0 / hosts + u32::from(slot.number < count.0 % hosts)
        }
        (Auto::Auto, _) => facts.logical_cpus.clamp(1, 4),
    }
}

fn files_of(
    request: &Request<'_>,
    target: &TargetFacts,
    kind: &PlannedTarget,
    sizes: &Sizes,
    notes: &mut Vec<PlanNote>,
) -> Result<Vec<TargetFile>, Refusal> {
    let unit = Bytes(u64::from(alignment(request, target)).max(512));
    match (&target.kind, kind) {
        (TargetKind::Device { size, .. } | TargetKind::File { size } | TargetKind::Simulated { size }, _) => {
            let whole = size.round_down(unit);
            let wanted = match sizes.fixed {
                Some(fixed) => fixed.max(if request.scale.is_full() { Bytes(0) } else { sizes.least }),
                None if request.existing => Bytes(request.scale.apply(whole.0)).max(sizes.least),
                None => sizes.auto_share.max(sizes.least).min(whole),
            };
            if wanted > whole {
                let what = format!("has {size}, less than the {wanted} that are to be loaded");
                return Err(refuse(target, &what, "give a smaller layout.size, or a smaller --scale"));
            }
            Ok(vec![TargetFile { path: target.path.clone(), size: wanted.round_down(unit) }])
        }
        (_, PlannedTarget::Directory { root }) => {
            let size = file_size(request, target, sizes, unit, notes);
            let file = |number| TargetFile { path: format!("{root}/{}", data_file_name(number)), size };
            Ok((0..sizes.files).map(file).collect())
        }
        // Nothing is sent to it, so any size will do.
        _ => {
            let size = sizes.fixed.unwrap_or(Bytes::gib(1)).max(sizes.least);
            Ok((0..sizes.files).map(|_| TargetFile { path: target.path.clone(), size }).collect())
        }
    }
}

/// The size of each file in a directory.
fn file_size(
    request: &Request<'_>,
    target: &TargetFacts,
    sizes: &Sizes,
    unit: Bytes,
    notes: &mut Vec<PlanNote>,
) -> Bytes {
    let (wanted, unit) = match sizes.fixed {
        Some(fixed) => (fixed, unit),
        None => {
            let free = Bytes(request.scale.apply((target.free.0 + used(target).0) / 10));
            let each = Bytes(sizes.auto_share.min(free).0 / u64::from(sizes.files));
            (each, if each > Bytes::mib(1) { Bytes::mib(1) } else { unit })
        }
    };
    let mut size = wanted.round_down(unit);
    let may_raise = sizes.fixed.is_none() || !request.scale.is_full();
    if may_raise && size < sizes.least {
        size = Bytes(sizes.least.0.next_multiple_of(unit.0));
    }
    if sizes.fixed.is_some() && size != wanted {
        let detail = format!("file size: {size} instead of {wanted}, for whole blocks in every worker's share");
        notes.push(PlanNote { kind: NoteKind::Adjusted, detail });
    }
    size
}

fn used(target: &TargetFacts) -> Bytes {
    match target.kind {
        TargetKind::Directory { state: DirectoryState::Claimed { used }, .. } => used,
        _ => Bytes(0),
    }
}

/// What offsets and lengths must be multiples of; 1 where the page cache is in between.
fn alignment(request: &Request<'_>, target: &TargetFacts) -> u32 {
    match target.direct {
        DirectIo::Aligned(bytes) if request.spec.engine.direct.value && !is_null(request) => bytes,
        _ => 1,
    }
}

fn misaligned(request: &Request<'_>, target: &TargetFacts, points: &[&PointSpec]) -> Vec<Refusal> {
    let unit = u64::from(alignment(request, target)).max(1);
    let lengths = |workload: &WorkloadSpec| {
        let steps = [&workload.align.value, &workload.stride.value];
        let steps = steps.into_iter().filter_map(|step| if let Auto::Fixed(step) = step { Some(*step) } else { None });
        let all: Vec<Bytes> = workload.sizes().chain(steps).collect();
        all.into_iter().find(|length| length.0 % unit != 0).map(|length| (workload.name.value.clone(), length))
    };
    let mut refusals: Vec<Refusal> = points
        .iter()
        .flat_map(|point| &point.workloads)
        .filter_map(lengths)
        .map(|(name, length)| {
            let what = format!(
                "direct I/O needs blocks that are multiples of {unit} bytes, and workload `{name}` has {} bytes",
                length.0
            );
            let near = (length.0 / unit).max(1) * unit;
            let remedy = format!("write \"{near}\", or go through the page cache with --buffered");
            refuse(target, &what, &remedy)
        })
        .collect();
    refusals.dedup();
    refusals
}

/// Refuses a layout that would fill a file system past its limit.
fn space(facts: &HostFacts, targets: &[Target]) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    // Two targets on one file system share its space. Equal totals and free bytes are taken for one file system:
    // the worst that a chance likeness does is to ask for more room than is needed.
    let mut needs: Vec<(&TargetFacts, u64)> = Vec::new();
    for (target, planned) in facts
        .targets
        .iter()
        .filter_map(|facts| targets.iter().find(|planned| planned.path == facts.path).map(|planned| (facts, planned)))
    {
        if !matches!(planned.kind, PlannedTarget::Directory { .. }) {
            continue;
        }
        let total: u64 = planned.files.iter().map(|file| file.size.0).fold(0, u64::saturating_add);
        let need = total.saturating_sub(used(target).0);
        let same = |other: &TargetFacts| {
            (other.free, other.total, &other.file_system) == (target.free, target.total, &target.file_system)
        };
        match needs.iter_mut().find(|(other, _)| same(other)) {
            Some((_, sum)) => *sum = sum.saturating_add(need),
            None => needs.push((target, need)),
        }
    }
    for (target, need) in needs {
        let usable = target.free.0.saturating_sub(target.total.0 / RESERVED_SHARE);
        if need > usable {
            refusals.push(Refusal::new(
                RefusalKind::Space,
                format!(
                    "target {}: the layout needs {} more, and the file system has {} free, of which {} may be used (it is never filled past 95 %)",
                    target.path,
                    Bytes(need),
                    target.free,
                    Bytes(usable)
                ),
                "give a smaller layout.size or --scale, or free some space",
            ));
        }
    }
    refusals
}
