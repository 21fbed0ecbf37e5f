//! What each target becomes: files of ours, a device given up by name, or something that is only
//! read.

use super::clients::are_imagined;
use super::room::{space, used};
use super::sizes::{Sizes, alignment, unit_of};
use super::{Refusal, ScenarioRequest, is_commanded, is_null, none, trims, zones};
use crate::{LayoutKind, PointSpec, WorkloadSpec};
use form::{Auto, Count};
use model::load::SizeMix;
use model::note::{Adjusted, Fact};
use model::plan::names::{SHARED, data_file_name};
use model::plan::{PlanNote, PlannedTarget, Target, TargetFile};
use model::testbed::{DirectoryState, HostFacts, SIMULATED_CLUSTER, TargetFacts, TargetKind};
use model::units::Bytes;

/// The targets of one host.
pub(super) fn targets(
    request: &ScenarioRequest<'_>,
    facts: &HostFacts,
    points: &[&PointSpec],
    notes: &mut Vec<PlanNote>,
) -> Result<Vec<Target>, Vec<Refusal>> {
    let mut refusals = Vec::new();
    let mut targets = Vec::new();
    let sizes = Sizes::of(request, facts, points);
    for target in &facts.targets {
        let planned = kind_of(request, facts, target).and_then(|kind| {
            let files = files_of(request, target, &kind, &sizes, notes)?;
            Ok(Target { path: target.path.clone(), kind, files })
        });
        let planned = match planned {
            Ok(planned) => planned,
            Err(refusal) => {
                refusals.push(refusal);
                continue;
            }
        };
        refusals.extend(trims::refusal(request.scenario, &planned.kind, target));
        refusals.extend(zones::refusal(request.scenario, &planned.kind, target));
        let purges = request.scenario.stages.purge.value && !is_null(request);
        refusals.extend(purge_refusal(&planned.kind, target).filter(|_| purges));
        let is_of_blocks = request.scenario.layout.kind.value != LayoutKind::Tree;
        if is_of_blocks && !is_commanded(request) {
            refusals.extend(misaligned(request, target, points));
        }
        targets.push(planned);
    }
    if !are_imagined(request.spec) {
        refusals.extend(space(facts, &targets, request.scale, sizes.least));
    }
    let simulated = targets.iter().filter(|target| target.kind == PlannedTarget::Simulated).count();
    if simulated > 0 && simulated < targets.len() {
        let what = "real and simulated targets cannot be loaded together: their times differ";
        refusals.push(Refusal::usage(what, "name either real targets or `sim:` ones"));
    }
    if sizes.files > Count::MAX as u32 {
        let what =
            format!("{} files in each target directory are more than {}", sizes.files, Count::MAX);
        refusals.push(Refusal::usage(what, "give fewer layout.files, or per = \"target\""));
    }
    if facts.targets.is_empty() {
        refusals.push(Refusal::usage("no target is named", "name one with --target PATH"));
    }
    none(refusals).map(|()| targets)
}

/// Why a target cannot be purged: its kernel knows of no discards.
fn purge_refusal(kind: &PlannedTarget, target: &TargetFacts) -> Option<Refusal> {
    let takes_none =
        target.device.as_ref().is_some_and(|device| device.most_discard == Some(Bytes(0)));
    (*kind == PlannedTarget::Device && takes_none).then(|| {
        refuse(
            target,
            "cannot be purged: it takes no discards (its queue/discard_max_bytes is 0)",
            "purge it by a command of its own, such as `nvme format` or `hdparm`, then run with \
             --set stages.purge=false",
        )
    })
}

fn refuse(target: &TargetFacts, what: &str, remedy: &str) -> Refusal {
    Refusal::target(format!("target {}: {what}", target.path), remedy)
}

/// Makes the targets of a host that is not the first what the first host's are: all load the same
/// files, which the first one makes.
pub(super) fn join(first: &[Target], mine: &mut Vec<Target>, host: &str) -> Result<(), Refusal> {
    let refuse = |what: String| {
        let remedy = "name the same directories on every host, or write layout.kind = \"files\"";
        Refusal::target(
            format!("host {host}: a shared file is one for all hosts, and {what}"),
            remedy,
        )
    };
    if first.len() != mine.len() {
        return Err(refuse(format!(
            "the first host has {} targets and this one {}",
            first.len(),
            mine.len()
        )));
    }
    for (theirs, mine) in first.iter().zip(mine) {
        if is_cluster(theirs) && is_cluster(mine) && theirs.path == mine.path {
            mine.files.clone_from(&theirs.files);
            continue;
        }
        let are_directories = [&theirs.kind, &mine.kind]
            .iter()
            .all(|kind| matches!(kind, PlannedTarget::Directory { .. }));
        if !are_directories || theirs.path != mine.path {
            return Err(refuse(format!(
                "target {} is not a directory of the first host, too",
                mine.path
            )));
        }
        mine.kind = PlannedTarget::Joined;
        mine.files.clone_from(&theirs.files);
    }
    Ok(())
}

fn is_cluster(target: &Target) -> bool {
    target.kind == PlannedTarget::Simulated && target.path.starts_with(SIMULATED_CLUSTER)
}

/// Whether its owner gave a target up, by the name of a device.
fn is_given_up(
    request: &ScenarioRequest<'_>,
    facts: &HostFacts,
    target: &TargetFacts,
) -> Result<bool, Refusal> {
    let mut given = request.destroy_data.iter().filter(|given| given.device == target.path);
    if request.hosts.len() == 1 {
        return Ok(
            given.any(|given| given.host.as_ref().is_none_or(|host| *host == facts.hostname))
        );
    }
    if given.clone().any(|given| given.host.is_none()) {
        let what = "--destroy-data names a device without its host, and there are several hosts";
        let (host, path) = (&facts.hostname, &target.path);
        let remedy = format!("name it on each host, such as --destroy-data {host}:{path}");
        return Err(refuse(target, what, &remedy));
    }
    Ok(given.any(|given| given.host.as_ref() == Some(&facts.hostname)))
}

/// What may be done to a target.
fn kind_of(
    request: &ScenarioRequest<'_>,
    facts: &HostFacts,
    target: &TargetFacts,
) -> Result<PlannedTarget, Refusal> {
    let several = request.hosts.len() > 1;
    let given_up = is_given_up(request, facts, target)?;
    let directory = |root: &str| PlannedTarget::Directory { root: root.to_owned() };
    if is_commanded(request) {
        return watched(target);
    }
    if is_null(request) {
        return Ok(PlannedTarget::ReadOnly);
    }
    // Of what could not be looked at, nobody knows that it is no device: why not is told below.
    if given_up && !matches!(target.kind, TargetKind::Device { .. } | TargetKind::Unreadable(_)) {
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
        // Where devices stand. A folder of that name would be in memory.
        TargetKind::Missing if target.file_system.as_deref() == Some("devtmpfs") => Err(refuse(
            target,
            "there is no such device",
            "look for its name with `plimsoll inventory`",
        )),
        TargetKind::NoParent => Err(refuse(
            target,
            "neither it nor its parent directory exists",
            "check the path, or make the parent with mkdir -p",
        )),
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
        TargetKind::File { .. } | TargetKind::Device { .. } if request.existing => {
            Ok(PlannedTarget::ReadOnly)
        }
        TargetKind::File { .. } => Err(refuse(
            target,
            "is a file that Plimsoll did not make",
            "name a directory, or read the file as it is with --existing",
        )),
        TargetKind::Device { in_use, .. } => {
            let host = if several { format!("{}:", facts.hostname) } else { String::new() };
            device(target, in_use.as_deref(), given_up, &host)
        }
        TargetKind::Other(what) => {
            Err(refuse(target, &format!("is {what}"), "name a directory, a file or a device"))
        }
        TargetKind::Unreadable(why) => Err(unreadable(target, why)),
    }
}

fn unreadable(target: &TargetFacts, why: &str) -> Refusal {
    let remedy = match target.path.starts_with("sim:") {
        true => {
            "correct it; docs/method lists what a simulated target can be (\"Simulated targets\")"
        }
        false => "check the path, your permissions on it, and whether it answers",
    };
    refuse(target, &format!("cannot be looked at: {why}"), remedy)
}

/// What a command loads is neither opened nor touched by us; what cannot be seen is refused.
fn watched(target: &TargetFacts) -> Result<PlannedTarget, Refusal> {
    let (what, remedy) = match &target.kind {
        TargetKind::Directory { .. } | TargetKind::File { .. } | TargetKind::Device { .. } => {
            return Ok(PlannedTarget::ReadOnly);
        }
        TargetKind::Simulated { .. } => {
            ("is simulated, and a command can load real targets alone", "name a real one")
        }
        TargetKind::Missing | TargetKind::NoParent => (
            "is not there, so that nobody knows which device to watch",
            "make it, or name what the command loads",
        ),
        TargetKind::Other(what) | TargetKind::Unreadable(what) => {
            (what.as_str(), "name a directory, a file or a device that you may look at")
        }
    };
    Err(refuse(target, what, remedy))
}

/// A device may be overwritten where nobody uses it and its owner gave it up.
fn device(
    target: &TargetFacts,
    in_use: Option<&str>,
    given_up: bool,
    host: &str,
) -> Result<PlannedTarget, Refusal> {
    if let Some(why) = in_use {
        let what = format!("the device is in use: {why}");
        return Err(refuse(target, &what, "name an unused device"));
    }
    if !given_up {
        let remedy = format!(
            "say --destroy-data {host}{} to give up what is on it, or read it with --existing",
            target.path
        );
        return Err(refuse(target, "is a block device, and a run would overwrite it", &remedy));
    }
    if !target.writable {
        let remedy = "run as root, or get permission on the device";
        return Err(refuse(target, "may not be opened for writing", remedy));
    }
    Ok(PlannedTarget::Device)
}

fn files_of(
    request: &ScenarioRequest<'_>,
    target: &TargetFacts,
    kind: &PlannedTarget,
    sizes: &Sizes,
    notes: &mut Vec<PlanNote>,
) -> Result<Vec<TargetFile>, Refusal> {
    let unit = unit_of(request, target);
    if is_commanded(request) {
        return Ok(Vec::new());
    }
    if request.scenario.layout.kind.value == LayoutKind::Tree {
        // Its files come and go with the operations.
        let is_folder = matches!(kind, PlannedTarget::Directory { .. })
            || *kind == PlannedTarget::Simulated && target.path.starts_with(SIMULATED_CLUSTER);
        let what = "is not a directory, and files of a tree go into one";
        return if is_folder {
            Ok(Vec::new())
        } else {
            Err(refuse(target, what, "name a directory"))
        };
    }
    match (&target.kind, kind) {
        // It has room for as many files as anybody asks for, and each lies somewhere else.
        (TargetKind::Simulated { size }, _)
            if target.path.starts_with(SIMULATED_CLUSTER)
                && sizes.largest().is_some()
                && !request.existing =>
        {
            volumes(request, target, *size, sizes, notes)
        }
        (
            TargetKind::Device { size, .. }
            | TargetKind::File { size }
            | TargetKind::Simulated { size },
            _,
        ) => {
            let whole = size.round_down(unit);
            let scale = request.scale.size;
            let wanted = match sizes.largest() {
                Some(fixed) => fixed.max(if scale.is_one() { Bytes(0) } else { sizes.least }),
                None if request.existing => Bytes(scale.apply(whole.0)).max(sizes.least),
                None => sizes.auto_share.max(sizes.least).min(whole),
            };
            has_room(request, target, *size, "", whole, wanted)?;
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
            let file = |number| TargetFile {
                path: format!("{root}/{}", data_file_name(number)),
                size: size_of(number),
            };
            Ok((0..sizes.files).map(file).collect())
        }
        // Nothing is sent to it, so any size will do.
        _ => {
            let size = sizes.largest().unwrap_or(Bytes::gib(1)).max(sizes.least);
            Ok((0..sizes.files).map(|_| TargetFile { path: target.path.clone(), size }).collect())
        }
    }
}

/// The files of a simulated cluster of so many bytes.
fn volumes(
    request: &ScenarioRequest<'_>,
    target: &TargetFacts,
    room: Bytes,
    sizes: &Sizes,
    notes: &mut Vec<PlanNote>,
) -> Result<Vec<TargetFile>, Refusal> {
    let size_of = file_sizes(request, target, sizes, unit_of(request, target), notes);
    let is_shared = request.scenario.layout.kind.value == LayoutKind::SharedFile;
    let path = if is_shared { format!("{},{SHARED}", target.path) } else { target.path.clone() };
    let file = |number| TargetFile { path: path.clone(), size: size_of(number) };
    let files: Vec<TargetFile> = (0..sizes.files).map(file).collect();
    let wanted = Bytes(files.iter().map(|file| file.size.0).fold(0, u64::saturating_add));
    has_room(request, target, room, " for each host", room, wanted)?;
    Ok(files)
}

/// Refuses what is more than the `room` in a target of so many bytes.
fn has_room(
    request: &ScenarioRequest<'_>,
    target: &TargetFacts,
    size: Bytes,
    of: &str,
    room: Bytes,
    wanted: Bytes,
) -> Result<(), Refusal> {
    if wanted <= room || are_imagined(request.spec) {
        return Ok(());
    }
    let what = format!("has {size}{of}, less than the {wanted} that are to be loaded");
    let remedy = "give a smaller layout.size, or a smaller --scale";
    Err(refuse(target, &what, remedy).too_small(size, wanted))
}

/// The sizes of `files` files, down to whole units. Each next one has the size that is furthest
/// behind its weight, so that the first files of any number have the mix, too.
fn apportioned(mix: &SizeMix, files: u32, unit: Bytes) -> Vec<Bytes> {
    let total: i128 = mix.parts.iter().map(|(_, weight)| i128::from(*weight)).sum();
    let mut behind: Vec<i128> = vec![0; mix.parts.len()];
    let mut next = || {
        behind
            .iter_mut()
            .zip(&mix.parts)
            .for_each(|(behind, (_, weight))| *behind += i128::from(*weight));
        // The first one of several that are equally far behind.
        let furthest = (0..behind.len()).rev().max_by_key(|index| behind[*index]).unwrap_or(0);
        behind[furthest] -= total;
        let size = mix.parts.get(furthest).map_or(0, |(size, _)| size.0);
        // As `layout.size`: down to whole units, and at least one.
        Bytes(size).round_down(unit).max(unit)
    };
    (0..files).map(|_| next()).collect()
}

/// The size of each file in a directory, by its number.
fn file_sizes(
    request: &ScenarioRequest<'_>,
    target: &TargetFacts,
    sizes: &Sizes,
    unit: Bytes,
    notes: &mut Vec<PlanNote>,
) -> impl Fn(u32) -> Bytes + use<> {
    let mut steps = Vec::new();
    for (files, wanted) in sizes.fixed.iter().rev() {
        let size = sizes.rounded(request, *wanted, unit);
        // Arithmetic seldom comes to whole units, so that rounding it down is no news; raising it
        // is.
        if size > *wanted || (size < *wanted && !sizes.are_own) {
            let fact = Fact::Adjusted(Adjusted::FileSize { size, wanted: *wanted });
            notes.push(PlanNote { fact });
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

fn misaligned(
    request: &ScenarioRequest<'_>,
    target: &TargetFacts,
    points: &[&PointSpec],
) -> Vec<Refusal> {
    let unit = u64::from(alignment(request, target)).max(1);
    let lengths = |workload: &WorkloadSpec| {
        let steps = [&workload.align.value, &workload.stride.value, &workload.run.value];
        let steps = steps
            .into_iter()
            .filter_map(|step| if let Auto::Fixed(step) = step { Some(*step) } else { None });
        let all: Vec<Bytes> = workload.sizes().chain(steps).collect();
        all.into_iter()
            .find(|length| length.0 % unit != 0)
            .map(|length| (workload.name.value.clone(), length))
    };
    let mut refusals: Vec<Refusal> = points
        .iter()
        .flat_map(|point| &point.workloads)
        .filter_map(lengths)
        .map(|(name, length)| {
            let what = format!(
                "direct I/O needs blocks that are multiples of {unit} bytes, and workload \
                 `{name}` has {} bytes",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_differ_are_rounded_as_one_size_is() {
        let mix: SizeMix = "5000:1, 100:1".parse().expect("a mix");
        assert_eq!(apportioned(&mix, 2, Bytes(512)), [Bytes(4608), Bytes(512)]);
        assert_eq!(apportioned(&mix, 2, Bytes(1)), [Bytes(5000), Bytes(100)]);
    }
}
