//! What a run finds and makes at its targets.

use crate::ground::gather::each_once;
use crate::ground::words;
use model::metadata::Tree;
use model::plan::{HostStage, PlannedTarget};
use model::testbed::{DirectIo, SIMULATED_CLUSTER, TargetFacts};
use model::{Bytes, HostPlan, Plan, StageKind};
use std::collections::BTreeMap;

/// The scenarios whose layout a target holds: `local, remote: `; nothing where all have one.
pub(super) fn scenarios(plan: &Plan, host: &HostPlan, target: u32) -> String {
    let Some(part) = host.parts.iter().find(|part| part.targets.contains(&target)) else {
        return String::new();
    };
    let stages = part.stages.iter().filter_map(|stage| plan.stages.get(*stage as usize));
    let points = stages.filter_map(|stage| plan.points.get(stage.point? as usize));
    format!("{}: ", each_once(points.map(|point| point.scenario.as_str())).join(", "))
}

/// When the layouts of scenarios stand, and what they take at most.
pub(super) fn layouts(plan: &Plan) -> String {
    let parts = plan.hosts.first().map_or(&[][..], |host| &host.parts);
    let meet = parts
        .iter()
        .enumerate()
        .any(|(number, part)| parts[..number].iter().any(|other| part.meets(other)));
    let most = plan.footprint();
    match meet {
        true => format!("{} side by side, {most} at most", parts.len()),
        false => format!(
            "{} one after the other, each removed before the next is made, {most} at most",
            parts.len()
        ),
    }
}

pub(super) fn made(plan: &Plan, host: &HostPlan, number: u32) -> String {
    let target = &host.targets[number as usize];
    let name = match &target.kind {
        PlannedTarget::Directory { root } => root,
        PlannedTarget::Joined
        | PlannedTarget::ReadOnly
        | PlannedTarget::Device
        | PlannedTarget::Simulated => &target.path,
    };
    format!("{name}: {}", layout(plan, host, number))
}

fn layout(plan: &Plan, host: &HostPlan, number: u32) -> String {
    let target = &host.targets[number as usize];
    let total = Bytes(target.files.iter().map(|file| file.size.0).sum());
    let each = target.files.first().map_or(Bytes(0), |file| file.size);
    if let Some(words) = trees(plan, host, number) {
        return words;
    }
    match (&target.kind, plan.backend) {
        (_, backend) if backend.sends_nothing() => format!("nothing is sent ({backend} backend)"),
        (PlannedTarget::Directory { .. }, _) if target.files.len() == 1 => {
            format!("1 file of {each}")
        }
        (PlannedTarget::Directory { .. }, _)
            if target.files.iter().any(|file| file.size != each) =>
        {
            let sizes = || target.files.iter().map(|file| file.size);
            let (least, most) =
                (sizes().min().unwrap_or_default(), sizes().max().unwrap_or_default());
            format!("{} files of {least} to {most}, {total} in all", target.files.len())
        }
        (PlannedTarget::Directory { .. }, _) => {
            format!("{} files × {each} = {total}", target.files.len())
        }
        (PlannedTarget::Joined, _) if target.files.len() == 1 => {
            format!("the {each} that another host makes")
        }
        (PlannedTarget::Joined, _) => {
            format!("the {} files of {total} that another host makes", target.files.len())
        }
        (PlannedTarget::ReadOnly, _) if target.files.is_empty() => {
            "watched, and not touched by us".to_owned()
        }
        (PlannedTarget::ReadOnly, _) => format!("{total} read as they are, nothing is written"),
        (PlannedTarget::Simulated, _) => match target.path.starts_with(SIMULATED_CLUSTER) {
            true if target.files.len() == 1 => {
                format!("{total} of a volume of a simulated cluster")
            }
            true => {
                format!("{} volumes of a simulated cluster, {total} in all", target.files.len())
            }
            false => format!("{total} of a simulated device"),
        },
        (PlannedTarget::Device, _) => {
            format!("{total} OVERWRITTEN: all that is on the device is lost")
        }
    }
}

/// The trees of a target, where it has any. Points that differ in their workers have trees of their
/// own, one after the other.
fn trees(plan: &Plan, host: &HostPlan, target: u32) -> Option<String> {
    let trees = || {
        plan.hosts
            .iter()
            .flat_map(|host| &host.trees)
            .filter(|tree| tree.target == target && !tree.joined)
    };
    let first = trees().next()?;
    let directories = trees().map(Tree::directories).fold(0, u64::saturating_add);
    let stages: Option<&[u32]> = host
        .parts
        .iter()
        .find(|part| part.targets.contains(&target))
        .map(|part| part.stages.as_slice());
    let is_here = |stage: &&HostStage| stages.is_none_or(|stages| stages.contains(&stage.stage));
    // Hosts need not be at their fullest at the same point.
    let mut files: BTreeMap<u32, u64> = BTreeMap::new();
    for stage in plan.hosts.iter().flat_map(|host| &host.stages).filter(is_here) {
        let sum = files.entry(stage.stage).or_default();
        *sum = sum.saturating_add(stage.operations());
    }
    let fullest = files.into_values().max().unwrap_or(0);
    let sizes = || trees().map(|tree| tree.size);
    let (least, most) = (sizes().min().unwrap_or_default(), sizes().max().unwrap_or_default());
    let noun = if directories == 1 { "directory" } else { "directories" };
    Some(format!(
        "{} of {} at a time, in {} with {} {noun}",
        words::counted(fullest, "file"),
        match least == most {
            true => sizes_of(
                first,
                plan.hosts.iter().map(|host| host.in_trees().0).fold(0, u64::saturating_add)
            ),
            false => format!("{least} to {most}"),
        },
        words::counted(trees().count() as u64, "tree"),
        words::count(directories)
    ))
}

/// The size of a tree's files; where they differ, their mean and what all files of the plan have
/// together, both to be expected.
fn sizes_of(tree: &Tree, total: u64) -> String {
    match &tree.sizes {
        None => tree.size.to_string(),
        Some(sizes) => {
            format!("{sizes} (on average {}, about {} in all)", sizes.mean(), Bytes(total))
        }
    }
}

/// Whether requests of the measured stages bypass the page cache, and whether others go through it.
/// Files of trees do whatever is asked for; what is simulated, sent nowhere or the load of a
/// command does neither.
pub(crate) fn past_and_through(plan: &Plan, is_refused: impl Fn(u32) -> bool) -> [bool; 2] {
    let (mut past, mut through) = (false, false);
    let stages = (0..).zip(&plan.stages).filter(|(_, stage)| stage.kind == StageKind::Measure);
    for (number, stage) in stages.filter(|_| !plan.is_simulated()) {
        let Some(engine) = plan.engine_of(number).filter(|own| !own.backend.sends_nothing()) else {
            continue;
        };
        for work in stage.works.iter().filter(|work| work.command.is_none()) {
            let is_past = engine.direct && work.metadata.is_none() && !is_refused(number);
            (past, through) = (past | is_past, through | !is_past);
        }
    }
    [past, through]
}

/// What a target lies on: file system, device, free space, and direct I/O where the plan uses it.
pub fn medium(plan: &Plan, facts: &TargetFacts) -> String {
    let mut parts = Vec::new();
    match (&facts.file_system, &facts.device) {
        (Some(kind), Some(device)) => parts.push(format!("{kind} on {}", device_name(device))),
        (Some(kind), None) => parts.push(kind.clone()),
        (None, Some(device)) => parts.push(device_name(device)),
        (None, None) => {}
    }
    if facts.file_system.is_some() {
        parts.push(format!("{} free", facts.free));
    }
    match facts.direct {
        DirectIo::Aligned(_) if !past_and_through(plan, |_| false)[0] => {}
        DirectIo::Aligned(unit) => parts.push(format!("direct I/O in multiples of {unit} B")),
        DirectIo::Refused => parts.push("direct I/O refused".to_owned()),
        DirectIo::Unknown => {}
    }
    parts.join(", ")
}

fn device_name(device: &model::testbed::DeviceFacts) -> String {
    if device.model.is_empty() {
        device.name.clone()
    } else {
        format!("{} ({})", device.name, device.model)
    }
}
