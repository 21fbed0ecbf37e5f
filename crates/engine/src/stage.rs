//! Runs one stage on one host: in virtual time or in real time, and there on which backend.

use crate::backend::trial::{self, Trials};
use crate::control::Control;
use crate::error::EngineError;
use crate::outcome::StageOutcome;
use crate::real_time::{When, run_on};
use crate::targets::OpenTargets;
use crate::virtual_time;
use model::choices::Backend;
use model::plan::HostStage;
use model::{IntervalSample, StageKind};
use std::sync::PoisonError;

/// Runs `stage`, telling `sink` each interval as soon as all workers have left it. Once all workers
/// are ready, `when` says when they begin; in virtual time only whether.
///
/// # Errors
/// When a worker could not be set up or its backend broke. What was recorded until then was told.
pub fn run_stage(
    targets: &OpenTargets,
    stage: &HostStage,
    control: &Control,
    when: When<'_>,
    sink: &mut dyn FnMut(IntervalSample),
) -> Result<StageOutcome, EngineError> {
    let plan = targets.plan();
    if let Some(world) = targets.world().filter(|_| plan.engine.virtual_time) {
        if when().is_none() {
            return Ok(StageOutcome::called_off());
        }
        if let Some(together) = targets.together() {
            return together.run_stage(&targets.shared_plan(), stage, control, sink);
        }
        let mut world = world.lock().unwrap_or_else(PoisonError::into_inner);
        let mut members = [virtual_time::Member { plan, stage, control, sink }];
        let outcome = virtual_time::run_stage(&mut members, &mut world).pop();
        return Ok(outcome.unwrap_or_else(StageOutcome::called_off));
    }
    if stage.kind == StageKind::Purge && !targets.backend().sends_nothing() {
        // One call after the other: no ring has discards of devices everywhere.
        return run_on(targets, Backend::Sync, stage, control, when, sink);
    }
    let Some(trial) = trial::wanted(targets, stage) else {
        return run_on(targets, targets.backend(), stage, control, when, sink);
    };
    match trial::choose(targets, stage, trial, control)? {
        Trials::Over(outcome) => Ok(outcome),
        Trials::Chosen(backend, mut findings) => {
            let mut outcome = run_on(targets, backend, stage, control, when, sink)?;
            findings.append(&mut outcome.findings);
            Ok(StageOutcome { findings, ..outcome })
        }
    }
}
