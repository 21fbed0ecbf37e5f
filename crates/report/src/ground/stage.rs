//! What a stage is called: in lines of a log, on axes and at marks.

use crate::ground::words;
use model::plan::{Point, Stage};
use model::{Plan, StageKind};

/// `prepare`, `4k-random-read`, or `4k-random-read · precondition`.
pub fn name(plan: &Plan, stage: &Stage) -> String {
    let Some(point) = stage.point.and_then(|number| plan.points.get(number as usize)) else {
        return stage.kind.to_string();
    };
    name_at(point, stage, plan.repeats())
}

/// The same of a stage of `point`, with the number of its repetition where points have several.
pub fn name_at(point: &Point, stage: &Stage, repeats: bool) -> String {
    let mut name = point.name();
    let axes = words::sweep(&point.sweep, repeats.then_some(point.repetition));
    if !axes.is_empty() {
        name.push_str(&format!(" {axes}"));
    }
    if stage.kind != StageKind::Measure {
        name.push_str(&format!(" · {}", stage.kind));
    }
    name
}
