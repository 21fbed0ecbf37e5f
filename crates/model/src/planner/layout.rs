//! What each target becomes: files of ours, a device given up by name, or something that is only read.

use super::clients::are_imagined;
use super::computed::has_own_layouts;
use super::{GivenUp, Refusal, RefusalKind, Request, is_null};
use crate::event::NoteKind;
use crate::load::SizeMix;
use crate::plan::{PlanNote, PlannedTarget, Target, TargetFile};
use crate::scale::{Fraction, Scale};
use crate::spec::{Auto, Count, FilesPer, LayoutKind, PointSpec, Spread, WorkloadSpec};
use crate::testbed::{DirectIo, DirectoryState, HostFacts, SIMULATED_CLUSTER, TargetFacts, TargetKind};
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
    points: &[&PointSpec],
    notes: &mut Vec<PlanNote>,
) -> Result<Vec<Target>, Vec<Refusal>> {
    let mut refusals = Vec::new();
    let mut targets = Vec::new();
    let sizes = Sizes::of(request, facts, points);
    for target in &facts.targets {
        match kind_of(request, facts, target) {
            Ok(kind) => match files_of(request, target, &kind, &sizes, notes) {
                Ok(files) => {
                    if request.spec.layout.kind.value != LayoutKind::Tree {
                        refusals.extend(misaligned(request, target, points));
                    }
                    targets.push(Target { path: target.path.clone(), kind, files });
                }
                Err(refusal) => refusals.push(refusal),
            },
            Err(refusal) => refusals.push(refusal),
        }
    }
    if !are_imagined(request.spec) {
        refusals.extend(space(facts, &targets, request.scale));
    }
    let simulated = targets.iter().filter(|target| target.kind == PlannedTarget::Simulated).count();
    if simulated > 0 && simulated < targets.len() {
        let what = "real and simulated targets cannot be loaded together: their times differ";
        refusals.push(Refusal::new(RefusalKind::Usage, what, "name either real targets or `sim:` ones"));
    }
    if sizes.files > Count::MAX as u32 {
        let what = format!("{} files in each target directory are more than {}", sizes.files, Count::MAX);
        refusals.push(Refusal::new(RefusalKind::Usage, what, "give fewer layout.files, or per = \"target\""));
    }
    if facts.targets.is_empty() {
        refusals.push(Refusal::new(RefusalKind::Usage, "no target is named", "name one with --target PATH"));
    }
    if refusals.is_empty() { Ok(targets) } else { Err(refusals) }
}

fn refuse(target: &TargetFacts, what: &str, remedy: &str) -> Refusal {
    Refusal::new(RefusalKind::Target, format!("target {}: {what}", target.path), remedy)
}

/// Makes the targets of a host that is not the first what the first host's are: all load the same files, which the first one makes.
///
/// # Errors
/// When there is nothing that hosts could have in common.
pub(super) fn join(first: &[Target], mine: &mut Vec<Target>, host: &str) -> Result<(), Refusal> {
    let refuse = |what: String| {
        let remedy = "name the same directories on every host, or write layout.kind = \"files\"";
        Refusal::new(
            RefusalKind::Target,
            format!("host {host}: a shared file is one for all hosts, and {what}"),
            remedy,
        )
    };
    if first.len() != mine.len() {
        return Err(refuse(format!("the first host has {} targets and this one {}", first.len(), mine.len())));
    }
    for (theirs, mine) in first.iter().zip(mine) {
        let are_directories =
            [&theirs.kind, &mine.kind].iter().all(|kind| matches!(kind, PlannedTarget::Directory { .. }));
        if !are_directories || theirs.path != mine.path {
            return Err(refuse(format!("target {} is not a directory of the first host, too", mine.path)));
        }
        mine.kind = PlannedTarget::Joined;
        mine.files.clone_from(&theirs.files);
    }
    Ok(())
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
        TargetKind::Unreadable(why) => Err(refuse(
            target,
            &format!("cannot be looked at: {why}"),
            "check the path, your permissions on it, and whether it answers",
        )),
    }
}

/// What the suite says about sizes, resolved for one host.
pub(super) struct Sizes {
    files: u32,
    /// Where the suite fixes sizes: what points ask for, each as (files, size of each, scaled), in rising order of files.
    fixed: Vec<(u32, Bytes)>,
    /// Whether points load the parts that they ask for, rather than all of it.
    are_own: bool,
    /// The sizes of files, where they differ, scaled.
    mix: Option<SizeMix>,
    /// The share of `"auto"` that one target gets before its own free space is asked, scaled.
    auto_share: Bytes,
    /// The least that a file must have for every worker to find a block.
    least: Bytes,
}

impl Sizes {
    pub(super) fn of(request: &Request<'_>, facts: &HostFacts, points: &[&PointSpec]) -> Sizes {
        Sizes::with(request, facts, points, has_own_layouts(request))
    }

    fn with(request: &Request<'_>, facts: &HostFacts, points: &[&PointSpec], are_own: bool) -> Sizes {
        let most_workers = |points: &[&PointSpec]| {
            let workloads = points.iter().flat_map(|point| &point.workloads);
            workloads.map(|workload| workers(workload, facts)).max().unwrap_or(1).max(1)
        };
        let all_workers = most_workers(points);
        let layout = &request.spec.layout;
        let is_shared = layout.kind.value == LayoutKind::SharedFile;
        let of_worker = layout.per.value == FilesPer::Worker;
        let files_of = |point: &PointSpec| match point.layout.files.value {
            _ if is_shared => 1,
            Auto::Fixed(count) if of_worker && are_own => count.0.saturating_mul(most_workers(&[point])),
            Auto::Fixed(count) if of_worker => count.0.saturating_mul(all_workers),
            Auto::Fixed(count) => count.0,
            Auto::Auto if are_own => most_workers(&[point]),
            Auto::Auto => all_workers,
        };
        let shrink = |bytes: Bytes| Bytes(request.scale.size.apply(bytes.0));
        let fixed = |point: &&PointSpec| match point.layout.size.value {
            Auto::Fixed(size) => Some((files_of(point), shrink(size))),
            Auto::Auto => None,
        };
        let mut fixed: Vec<(u32, Bytes)> = points.iter().filter_map(fixed).collect();
        fixed.sort_unstable();
        fixed.dedup();
        let sharing = |point: &PointSpec| {
            let of_host = |facts| point.workloads.iter().map(|workload| workers(workload, facts)).max().unwrap_or(1);
            let workers = match is_shared {
                true => request.hosts.iter().map(of_host).fold(0, u32::saturating_add),
                false if are_own => most_workers(&[point]),
                false => all_workers,
            };
            u64::from(workers.div_ceil(files_of(point)))
        };
        let workloads = points.iter().flat_map(|point| &point.workloads);
        let largest_block = workloads.flat_map(WorkloadSpec::sizes).map(|size| size.0).max().unwrap_or(0);
        let targets = facts.targets.len().max(1) as u64;
        Sizes {
            files: points.iter().map(|point| files_of(point)).max().unwrap_or(1),
            fixed,
            are_own,
            mix: match &layout.sizes.value {
                Auto::Fixed(mix) => {
                    let parts = mix.parts.iter().map(|(size, weight)| (shrink(*size), *weight)).collect();
                    Some(SizeMix { parts })
                }
                Auto::Auto => None,
            },
            auto_share: shrink(Bytes(AUTO_LIMIT.0.min(facts.memory.0 / 2) / targets)),
            least: {
                let sharers = points.iter().map(|point| sharing(point)).max().unwrap_or(1);
                Bytes(largest_block.saturating_mul(2).saturating_mul(sharers))
            },
        }
    }

    /// The largest size that any point asks for.
    fn largest(&self) -> Option<Bytes> {
        self.fixed.iter().map(|(_, size)| *size).max()
    }

    /// What is to be loaded of each file of the host at `point`; `None` where it is all of it.
    ///
    /// Points whose sizes differ share one layout: the `n`-th file is as large as the point needs that has so many files and the largest ones,
    /// and each point loads its first files from their starts. So every byte is written once, whatever the points are, and nothing is
    /// prepared again between them, which for the sizes of a cluster would take longer than what is measured.
    pub(super) fn of_point(
        &self,
        request: &Request<'_>,
        facts: &HostFacts,
        point: &PointSpec,
        targets: &[Target],
    ) -> Option<Vec<Bytes>> {
        if !self.are_own {
            return None;
        }
        let own = Sizes::with(request, facts, &[point], true);
        let mut sizes = Vec::new();
        for target in targets {
            let unit = facts.targets.iter().find(|facts| facts.path == target.path);
            let unit = unit.map_or(Bytes(512), |facts| unit_of(request, facts));
            let each = own.largest().map(|size| self.rounded(request, size, unit));
            let part = |(number, file): (u32, &TargetFile)| match each {
                _ if number >= own.files => Bytes(0),
                Some(each) => each.min(file.size),
                None => file.size,
            };
            sizes.extend((0..).zip(&target.files).map(part));
        }
        Some(sizes)
    }

    /// A size that the suite asks for, in whole units, and raised to the least where it was shrunk below it.
    fn rounded(&self, request: &Request<'_>, wanted: Bytes, unit: Bytes) -> Bytes {
        let size = wanted.round_down(unit);
        if request.scale.size.is_one() || size >= self.least {
            size
        } else {
            Bytes(self.least.0.next_multiple_of(unit.0))
        }
    }
}

/// Workers of a workload on a host; none on one that does not run it.
pub(super) fn workers(workload: &WorkloadSpec, facts: &HostFacts) -> u32 {
    let Some(place) = workload.hosts.value.place(facts.place) else { return 0 };
    match (workload.workers.value, workload.spread.value) {
        (Auto::Fixed(count), Spread::EachHost) => count.0,
        // The first hosts have one more, where they do not come out even.
        (Auto::Fixed(count), Spread::AllHosts) => {
            let hosts = place.of.max(1);
            count.0 / hosts + u32::from(place.number < count.0 % hosts)
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
    let unit = unit_of(request, target);
    if request.spec.layout.kind.value == LayoutKind::Tree {
        // Its files come and go with the operations.
        return match kind {
            PlannedTarget::Directory { .. } => Ok(Vec::new()),
            _ => Err(refuse(target, "is not a directory, and files of a tree go into one", "name a directory")),
        };
    }
    match (&target.kind, kind) {
        // It has room for as many files as anybody asks for, and each lies somewhere else.
        (TargetKind::Simulated { size }, _)
            if target.path.starts_with(SIMULATED_CLUSTER) && sizes.largest().is_some() && !request.existing =>
        {
            let size_of = file_sizes(request, target, sizes, unit, notes);
            let files = (0..sizes.files).map(|number| TargetFile { path: target.path.clone(), size: size_of(number) });
            let files: Vec<TargetFile> = files.collect();
            let wanted = Bytes(files.iter().map(|file| file.size.0).fold(0, u64::saturating_add));
            if wanted > *size && !are_imagined(request.spec) {
                let what = format!("has {size} for each host, less than the {wanted} that are to be loaded");
                return Err(refuse(target, &what, "give a smaller layout.size, or a smaller --scale"));
            }
            Ok(files)
        }
        (TargetKind::Device { size, .. } | TargetKind::File { size } | TargetKind::Simulated { size }, _) => {
            let whole = size.round_down(unit);
            let wanted = match sizes.largest() {
                Some(fixed) => fixed.max(if request.scale.size.is_one() { Bytes(0) } else { sizes.least }),
                None if request.existing => Bytes(request.scale.size.apply(whole.0)).max(sizes.least),
                None => sizes.auto_share.max(sizes.least).min(whole),
            };
            if wanted > whole && !are_imagined(request.spec) {
                let what = format!("has {size}, less than the {wanted} that are to be loaded");
                return Err(refuse(target, &what, "give a smaller layout.size, or a smaller --scale"));
            }
            Ok(vec![TargetFile { path: target.path.clone(), size: wanted.round_down(unit) }])
        }
        (_, PlannedTarget::Directory { root }) => {
            let size_of: Box<dyn Fn(u32) -> Bytes> = match &sizes.mix {
                Some(mix) => {
                    let each = apportioned(mix, sizes.files, unit);
                    Box::new(move |number| each.get(number as usize).copied().unwrap_or_default())
                }
                None => Box::new(file_sizes(request, target, sizes, unit, notes)),
            };
            let file =
                |number| TargetFile { path: format!("{root}/{}", data_file_name(number)), size: size_of(number) };
            Ok((0..sizes.files).map(file).collect())
        }
        // Nothing is sent to it, so any size will do.
        _ => {
            let size = sizes.largest().unwrap_or(Bytes::gib(1)).max(sizes.least);
            Ok((0..sizes.files).map(|_| TargetFile { path: target.path.clone(), size }).collect())
        }
    }
}

/// The sizes of `files` files, up to whole units. Each next one has the size that is furthest behind its weight, so that the first files of any
/// number have the mix, too.
fn apportioned(mix: &SizeMix, files: u32, unit: Bytes) -> Vec<Bytes> {
    let total: i128 = mix.parts.iter().map(|(_, weight)| i128::from(*weight)).sum();
    let mut behind: Vec<i128> = vec![0; mix.parts.len()];
    let mut next = || {
        behind.iter_mut().zip(&mix.parts).for_each(|(behind, (_, weight))| *behind += i128::from(*weight));
        // The first one of several that are equally far behind.
        let furthest = (0..behind.len()).rev().max_by_key(|index| behind[*index]).unwrap_or(0);
        behind[furthest] -= total;
        let size = mix.parts.get(furthest).map_or(0, |(size, _)| size.0);
        Bytes(size.max(1).checked_next_multiple_of(unit.0.max(1)).unwrap_or(u64::MAX))
    };
    (0..files).map(|_| next()).collect()
}

/// `4 MiB instead of 3.9 MiB`, in bytes where the two would read alike.
fn instead(size: Bytes, wanted: Bytes) -> String {
    match (size.to_string(), wanted.to_string()) {
        (a, b) if a == b => format!("{} B instead of {} B", size.0, wanted.0),
        (a, b) => format!("{a} instead of {b}"),
    }
}

/// The size of each file in a directory, by its number.
fn file_sizes(
    request: &Request<'_>,
    target: &TargetFacts,
    sizes: &Sizes,
    unit: Bytes,
    notes: &mut Vec<PlanNote>,
) -> impl Fn(u32) -> Bytes + use<> {
    let mut steps = Vec::new();
    for (files, wanted) in sizes.fixed.iter().rev() {
        let size = sizes.rounded(request, *wanted, unit);
        // Arithmetic seldom comes to whole units, so that rounding it down is no news; raising it is.
        if size > *wanted || (size < *wanted && !sizes.are_own) {
            let detail = format!("file size: {}, for whole blocks in every worker's share", instead(size, *wanted));
            notes.push(PlanNote { kind: NoteKind::Adjusted, detail });
        }
        let after = steps.last().map_or(Bytes(0), |(_, size)| *size);
        steps.push((*files, size.max(after)));
    }
    steps.reverse();
    let free = Bytes(request.scale.size.apply((target.free.0 + used(target).0) / 10));
    let each = Bytes(sizes.auto_share.min(free).0 / u64::from(sizes.files));
    let unit = if each > Bytes::mib(1) { Bytes::mib(1) } else { unit };
    let automatic = match each.round_down(unit) {
        size if size < sizes.least => Bytes(sizes.least.0.next_multiple_of(unit.0)),
        size => size,
    };
    move |number| {
        let step = steps.partition_point(|(files, _)| *files <= number);
        steps.get(step).map_or(automatic, |(_, size)| *size)
    }
}

/// What sizes of files on a target are multiples of.
fn unit_of(request: &Request<'_>, target: &TargetFacts) -> Bytes {
    Bytes(u64::from(alignment(request, target)).max(512))
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

/// Equal totals and free bytes are taken for one file system: the worst that a chance likeness does is to ask for more room than is needed.
pub(super) fn same_file_system(one: &TargetFacts, other: &TargetFacts) -> bool {
    (one.free, one.total, &one.file_system) == (other.free, other.total, &other.file_system)
}

/// What the targets of one file system take of it.
struct Need<'a> {
    /// The first of them.
    target: &'a TargetFacts,
    /// All bytes of their layouts.
    total: u64,
    /// Those that are there already.
    there: u64,
}

/// The largest round scale (1/2, 1/5, 1/10, 1/20 and so on) at which `total` bytes, planned at `scale`, fit into `room`; `None` if none does.
fn fitting(scale: Scale, total: u64, room: u64) -> Option<Scale> {
    let size = scale.size;
    let wanted = |round: u32| {
        let planned = u128::from(total) * u128::from(size.denominator) / u128::from(size.numerator.max(1));
        planned / u128::from(round) <= u128::from(room)
    };
    let rounds = (0..9).flat_map(|power| [1, 2, 5].map(|factor| factor * 10u32.pow(power)));
    rounds.skip(1).find(|round| wanted(*round)).map(|denominator| scale.with_size(Fraction::one_in(denominator)))
}

/// Refuses a layout that would fill a file system past its limit.
pub(super) fn space(facts: &HostFacts, targets: &[Target], scale: Scale) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    // Two targets on one file system share its space.
    let mut needs: Vec<Need<'_>> = Vec::new();
    for target in &facts.targets {
        // Layouts of several scenarios can stand at one target at the same time.
        let is_ours =
            |planned: &&Target| planned.path == target.path && matches!(planned.kind, PlannedTarget::Directory { .. });
        if !targets.iter().any(|planned| is_ours(&planned)) {
            continue;
        }
        let files = targets.iter().filter(is_ours).flat_map(|planned| &planned.files);
        let total: u64 = files.map(|file| file.size.0).fold(0, u64::saturating_add);
        let need = total.saturating_sub(used(target).0);
        let there = total.saturating_sub(need);
        match needs.iter_mut().find(|other| same_file_system(other.target, target)) {
            Some(sum) => {
                sum.total = sum.total.saturating_add(total);
                sum.there = sum.there.saturating_add(there);
            }
            None => needs.push(Need { target, total, there }),
        }
    }
    for Need { target, total, there } in needs {
        let need = total.saturating_sub(there);
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
                match fitting(scale, total, usable.saturating_add(there)) {
                    Some(fits) => format!("--scale {fits} would fit; or give a smaller layout.size, or free some space"),
                    None => "give a smaller layout.size, or free some space".to_owned(),
                },
            ));
        }
    }
    refusals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sizes_that_read_alike_are_told_in_bytes() {
        assert_eq!(instead(Bytes(8 << 20), Bytes(4 << 20)), "8 MiB instead of 4 MiB");
        assert_eq!(instead(Bytes(4_005_888), Bytes(4_000_001)), "3.82 MiB instead of 3.81 MiB");
        assert_eq!(instead(Bytes(4_000_256), Bytes(4_000_001)), "4000256 B instead of 4000001 B");
    }

    #[test]
    fn the_scale_that_is_named_is_the_largest_round_one_that_fits() {
        let fits = |scale: Scale, total, room| fitting(scale, total, room).map(|scale| scale.to_string());
        assert_eq!(fits(Scale::FULL, 1_000, 500).as_deref(), Some("1/2"));
        assert_eq!(fits(Scale::FULL, 1_000, 499).as_deref(), Some("1/5"));
        assert_eq!(fits(Scale::FULL, 1_000, 1).as_deref(), Some("1/1000"));
        // 1,000 bytes at a tenth are 10,000 at full size.
        let tenth = Scale::both(Fraction::one_in(10));
        assert_eq!(fits(tenth, 1_000, 900).as_deref(), Some("1/20"));
        let short = Scale::new(Fraction::ONE, Fraction::one_in(60));
        assert_eq!(fits(short, 1_000, 500).as_deref(), Some("size=1/2,time=1/60"));
        assert_eq!(fits(Scale::FULL, u64::MAX, 0), None);
    }
}
