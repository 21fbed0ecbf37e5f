//! The points of a plan, a line for each workload.

use crate::ground::folding::hung;
use crate::ground::words;
use crate::pens::terminal::{self as columns, Column, Want};
use model::plan::{Point, Stop};
use model::{HostPlan, Plan, StageKind};

/// The table of all points, within so many columns.
pub(super) fn points(plan: &Plan, room: usize) -> String {
    let has_computed = plan.points.iter().any(|point| !point.computed.is_empty());
    let mut table = vec![
        Column::names("workload").want(Want::Folded),
        Column::figures("block"),
        Column::names("pattern").want(Want::Folded),
        Column::figures("depth"),
        Column::figures("workers"),
        Column::figures("precondition").want(Want::Spare(4)),
        Column::figures("measure"),
    ];
    table.extend(has_computed.then(|| Column::names("computed").want(Want::Folded)));
    for (number, point) in plan.points.iter().enumerate() {
        let number = number as u32;
        let Some(measure) = plan.measure_stage(number) else { continue };
        let Some(stage) = plan.stages.get(measure as usize) else { continue };
        for (index, work) in (0..).zip(&stage.works) {
            let name = match words::sweep(&point.sweep, plan.repeats().then_some(point.repetition))
                .as_str()
            {
                "" => work.workload.clone(),
                axes => format!("{} ({axes})", work.workload),
            };
            let mut row = vec![
                // What runs at the same time as the line above it.
                if index > 0 { format!("+ {name}") } else { name },
                words::blocks(work),
                words::pattern(work),
                work.depth.to_string(),
                workers(&plan.hosts, measure, index),
                duration(plan, number, StageKind::Precondition),
                duration(plan, number, StageKind::Measure),
            ];
            // All values of a point stand in its first line.
            row.extend(
                has_computed.then(|| if index > 0 { String::new() } else { computed(point) }),
            );
            columns::row(&mut table, row);
        }
    }
    let left_out = columns::fit(&mut table, room);
    let mut text = columns::render(&table);
    if !left_out.is_empty() {
        let said = format!("Columns hidden for width: {}.", left_out.join(", "));
        text.push_str(&format!("{}\n", hung("", &said, 0, room)));
    }
    text
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
