//! The layouts of a host's plan: all of it at once, or those of scenarios, each from its first
//! stage to its last.

use crate::coordinator::{LayoutsOver, RunOver};
use engine::{Bounds, EngineError, Haste, OpenTargets, Together};
use model::plan::{HostPlan, HostStage, PlannedTarget};
use model::{Note, StageKind};
use std::time::{Duration, Instant};

/// How long a device that the layout before had is waited for between two looks, and in all.
const LOOK: Duration = Duration::from_millis(50);
const MOST_LOOKS: Duration = Duration::from_secs(5);

/// A host's plan with what of it is open.
pub(super) struct Parts {
    plan: HostPlan,
    /// In the order of the plan's parts.
    open: Vec<Option<OpenTargets>>,
    together: Option<Together>,
    /// Which places may be touched.
    bounds: Bounds,
    /// Whether somebody wants to leave.
    haste: Haste,
}

impl Parts {
    /// Claims and opens what has no part of its own; layouts of scenarios wait for their first
    /// stage. The notes say what had to be done otherwise than planned.
    pub(super) fn begin(
        plan: HostPlan,
        together: Option<Together>,
        bounds: Bounds,
        haste: Haste,
    ) -> Result<(Parts, Vec<Note>), EngineError> {
        let mut parts = Parts {
            open: (0..plan.part_count()).map(|_| None).collect(),
            plan,
            together,
            bounds,
            haste,
        };
        let mut notes = Vec::new();
        if parts.plan.parts.is_empty() {
            let opened = parts.opened(parts.plan.clone())?;
            notes.extend(opened.notes().iter().cloned());
            parts.open = vec![Some(opened)];
        }
        Ok((parts, notes))
    }

    pub(super) fn plan(&self) -> &HostPlan {
        &self.plan
    }

    fn opened(&self, plan: HostPlan) -> Result<OpenTargets, EngineError> {
        match &self.together {
            Some(together) => engine::open_together(plan, together, &self.haste),
            None => engine::open_in(plan, &self.bounds, &self.haste),
        }
    }

    /// Takes in stages that the plan gets while it runs. Only a plan without parts grows.
    pub(super) fn extend(&mut self, stages: Vec<HostStage>) {
        if let [Some(targets)] = self.open.as_mut_slice() {
            targets.extend(stages);
        }
    }

    /// Sees to it that the layout of a stage is there.
    pub(super) fn ready(&mut self, stage: u32) -> Result<(), String> {
        let is_over = |number: &usize| {
            self.plan.parts.get(*number).is_some_and(|part| part.is_over_at(stage))
        };
        if (0..self.open.len()).filter(is_over).any(|number| self.open[number].is_some()) {
            return Err(format!(
                "stage {stage} was begun before the layout of an earlier scenario was given back"
            ));
        }
        let Some(number) = self.plan.part_of(stage).filter(|number| self.open[*number].is_none())
        else {
            return Ok(());
        };
        let plan = self
            .plan
            .alone(number)
            .ok_or_else(|| format!("stage {stage} is not in this host's plan"))?;
        self.open[number] =
            Some(self.opened_after_others(&plan).map_err(|error| error.to_string())?);
        Ok(())
    }

    /// Opens a layout behind others. The kernel ends the rings of their workers in its own time,
    /// and until then a device counts as in use.
    fn opened_after_others(&self, plan: &HostPlan) -> Result<OpenTargets, EngineError> {
        let has_device = plan.targets.iter().any(|target| target.kind == PlannedTarget::Device);
        let began = Instant::now();
        loop {
            match self.opened(plan.clone()) {
                // By time and not by number: a look at a device that does not answer takes all of
                // the patience.
                Err(_) if has_device && began.elapsed() < MOST_LOOKS => {}
                outcome => return outcome,
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Removes the layouts that all hosts are through with, by the coordinator's word. This host's
    /// own last stage of one says nothing: what it made another one may still load.
    pub(super) fn give_back(&mut self, word: &LayoutsOver) -> Result<(), String> {
        let mut failed = None;
        for (_, open) in self.open.iter_mut().enumerate().filter(|(number, _)| word.covers(*number))
        {
            if let Some(Err(error)) = open.take().map(OpenTargets::remove) {
                failed.get_or_insert(error.to_string());
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// The open targets of a stage, and the stage as they know it.
    pub(super) fn of(&self, stage: u32) -> Option<(&OpenTargets, &HostStage)> {
        let targets = self.open.get(self.plan.part_of(stage)?)?.as_ref()?;
        let found = targets.plan().stages.iter().find(|known| known.stage == stage)?;
        Some((targets, found))
    }

    /// What had to be done otherwise than planned when the scenario's layout was opened, for a
    /// stage whose figures it concerns.
    pub(super) fn notes(&self, stage: u32) -> Vec<Note> {
        let found = self
            .of(stage)
            .filter(|(_, found)| !self.plan.parts.is_empty() && found.kind == StageKind::Measure);
        let notes = found.map_or(&[][..], |(targets, _)| targets.notes());
        notes.iter().map(|note| Note { stage: Some(stage), ..note.clone() }).collect()
    }

    /// Lets go of everything, by the coordinator's word. Comes back with what could not be removed,
    /// in words.
    pub(super) fn release(self, word: &RunOver) -> Option<String> {
        let open = self.open.into_iter().flatten();
        let let_go = |targets: OpenTargets| {
            if word.removes() { targets.remove().map(drop) } else { targets.close() }
        };
        let left: Vec<String> = open
            .filter_map(|targets| let_go(targets).err())
            .map(|error| error.to_string())
            .collect();
        (!left.is_empty()).then(|| left.join("; "))
    }

    /// Lets go of targets that do not answer. Comes back with the places where something stays.
    pub(super) fn abandon(self) -> Vec<String> {
        let open = self.open.into_iter().flatten();
        open.flat_map(|targets| {
            let paths: Vec<String> =
                targets.plan().targets.iter().map(|target| target.path.clone()).collect();
            targets.abandon();
            paths
        })
        .collect()
    }
}
