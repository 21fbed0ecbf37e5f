//! The points of a plan, a line for each workload.

use crate::ground::folding::hung;
use crate::ground::words;
use crate::pens::Table;
use crate::pens::terminal::Want;
use model::plan::{Point, Stop, Work};
use model::{HostPlan, Plan, StageKind};

pub(super) fn points(plan: &Plan, room: usize) -> String {
    let stage = |number: u32| plan.stages.get(plan.measure_stage(number)? as usize);
    let works = |(number, point)| {
        let works = stage(number).into_iter().flat_map(|stage| &stage.works);
        (0u32..).zip(works).map(move |(index, work)| (number, point, index, work))
    };
    let all: Vec<(u32, &Point, u32, &Work)> = (0..).zip(&plan.points).flat_map(works).collect();
    let name = |(_, point, index, work): (u32, &Point, u32, &Work)| {
        let repetition = plan.repeats().then_some(point.repetition);
        let name = words::with_sweep(&work.workload, &point.sweep, repetition);
        // What runs at the same time as the line above it.
        if index > 0 { format!("+ {name}") } else { name }
    };
    let workers = |number: u32, index: u32| {
        plan.measure_stage(number).map(|measure| workers(&plan.hosts, measure, index))
    };
    let mut table = Table::of(all)
        .words("workload", name)
        .want(Want::Folded)
        .figure("block", |(.., work)| ours(work, words::blocks(work)))
        .words("pattern", |(.., work)| match &work.command {
            Some(command) => format!("the command {}", command.words.join(" ")),
            None => words::pattern(work),
        })
        .want(Want::Folded)
        .figure("depth", |(.., work)| ours(work, work.depth.to_string()))
        .figure("workers", |(number, _, index, _)| workers(number, index))
        .figure("precondition", |(number, ..)| duration(plan, number, StageKind::Precondition))
        .want(Want::Spare(4))
        .figure("measure", |(number, ..)| duration(plan, number, StageKind::Measure));
    if plan.points.iter().any(|point| !point.computed.is_empty()) {
        // All values of a point stand in its first line.
        let first = |point: &Point, index| if index > 0 { String::new() } else { computed(point) };
        table =
            table.words("computed", |(_, point, index, _)| first(point, index)).want(Want::Folded);
    }
    let (mut text, left_out) = table.fitted(room);
    if !left_out.is_empty() {
        let said = format!("Columns hidden for width: {}.", left_out.join(", "));
        text.push_str(&format!("{}\n", hung("", &said, 0, room)));
    }
    text
}

/// What a work says of requests of ours; of a command, nothing.
fn ours(work: &Work, said: impl Into<String>) -> Option<String> {
    work.command.is_none().then(|| said.into())
}

/// `size=4 GiB, files=128`.
fn computed(point: &Point) -> String {
    let values: Vec<String> =
        point.computed.iter().map(|(field, value)| format!("{field}={value}")).collect();
    values.join(", ")
}

fn workers(hosts: &[HostPlan], stage: u32, work: u32) -> String {
    let of = |host: &HostPlan| {
        let stage = host.stages.get(stage as usize)?;
        Some(stage.workers.iter().filter(|worker| worker.work == work).count())
    };
    let each: Vec<usize> = hosts.iter().map(|host| of(host).unwrap_or(0)).collect();
    match each.as_slice() {
        [one] => one.to_string(),
        [first, rest @ ..] if rest.iter().all(|n| n == first) => {
            format!("{} × {first}", each.len())
        }
        _ => each.iter().sum::<usize>().to_string(),
    }
}

/// The time of a stage, or its amount.
fn duration(plan: &Plan, point: u32, kind: StageKind) -> String {
    let found =
        (0..).zip(&plan.stages).find(|(_, stage)| stage.point == Some(point) && stage.kind == kind);
    match found.map(|(number, stage)| (number, stage, stage.stop())) {
        Some((.., Stop::After(time))) => time.to_string(),
        Some((.., Stop::Steady(steady))) => format!("{} to {}", steady.least, steady.most),
        Some((_, stage, Stop::Once(_))) if stage.is_metadata() => "all files".to_owned(),
        Some((number, _, Stop::Once(_))) => plan.amount(number).to_string(),
        _ => "–".to_owned(),
    }
}
