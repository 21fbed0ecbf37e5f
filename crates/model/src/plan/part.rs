//! Parts of a plan: where a run has scenarios with layouts of their own, each layout is made before
//! its first stage and removed after its last.

use crate::plan::{EngineSettings, HostPlan, HostStage, Part, Plan, PlannedTarget};
use crate::units::Bytes;
use std::ops::Range;

impl Part {
    /// Whether its layout stands while `stage` runs: from its first stage to its last.
    pub fn stands_at(&self, stage: u32) -> bool {
        let (first, last) = (self.stages.first(), self.stages.last());
        first.is_some_and(|first| *first <= stage) && last.is_some_and(|last| stage <= *last)
    }

    /// Whether it stands no more when `stage` begins.
    pub fn is_over_at(&self, stage: u32) -> bool {
        self.stages.last().is_none_or(|last| *last < stage)
    }

    /// Whether its layout and that of `other` stand at the same time.
    pub fn meets(&self, other: &Part) -> bool {
        let first = |part: &Part| part.stages.first().copied().unwrap_or(0);
        self.stands_at(first(other)) || other.stands_at(first(self))
    }

    /// Bytes of the files in its trees at their fullest.
    fn in_trees(&self, plan: &HostPlan) -> u64 {
        let stages = self.stages.iter().filter_map(|stage| plan.stages.get(*stage as usize));
        stages.map(HostStage::tree_bytes).max().unwrap_or(0)
    }

    /// Bytes of it on a host whose plan is `plan`; what another host makes counts there.
    fn bytes(&self, plan: &HostPlan) -> u64 {
        let targets =
            plan.targets.iter().zip(0..).filter(|(_, number)| self.targets.contains(number));
        let own =
            targets.map(|(target, _)| target).filter(|target| target.kind != PlannedTarget::Joined);
        let files = own
            .flat_map(|target| &target.files)
            .map(|file| file.size.0)
            .fold(0, u64::saturating_add);
        files.saturating_add(self.in_trees(plan))
    }
}

fn places(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

impl HostPlan {
    /// The plan as it would be if one of its parts were all: its own files, trees and settings, and
    /// of its stages those of the part, with their numbers. `None` where there is no such part.
    pub fn alone(&self, number: usize) -> Option<HostPlan> {
        let Some(part) = self.parts.get(number) else {
            return (self.parts.is_empty() && number == 0).then(|| self.clone());
        };
        let before = self.targets.get(..part.targets.start as usize)?;
        let files_before = before.iter().map(|target| target.files.len() as u32).sum::<u32>();
        let of_part = |number: &u32| {
            let mut stage = self.stages.get(*number as usize)?.clone();
            for worker in &mut stage.workers {
                for extent in &mut worker.extents {
                    extent.file = extent.file.checked_sub(files_before)?;
                }
                if let Some(files) = &mut worker.files {
                    files.tree = files.tree.checked_sub(part.trees.start)?;
                }
            }
            Some(stage)
        };
        let mut trees = self.trees.get(places(&part.trees))?.to_vec();
        for tree in &mut trees {
            tree.target = tree.target.checked_sub(part.targets.start)?;
        }
        Some(HostPlan {
            run_id: self.run_id.clone(),
            host: self.host,
            hostname: self.hostname.clone(),
            interval: self.interval,
            engine: part.engine.clone(),
            targets: self.targets.get(places(&part.targets))?.to_vec(),
            trees,
            stages: part.stages.iter().map(of_part).collect::<Option<_>>()?,
            parts: Vec::new(),
        })
    }

    /// How many parts it has; a plan without scenarios is one.
    pub fn part_count(&self) -> usize {
        self.parts.len().max(1)
    }

    /// The number of the part that a stage belongs to.
    pub fn part_of(&self, stage: u32) -> Option<usize> {
        match self.parts.as_slice() {
            [] => Some(0),
            parts => parts.iter().position(|part| part.stages.binary_search(&stage).is_ok()),
        }
    }

    /// Bytes of the files in the trees of one part at their fullest.
    pub fn in_trees_of(&self, part: usize) -> Bytes {
        self.parts.get(part).map_or_else(|| self.in_trees(), |part| Bytes(part.in_trees(self)))
    }

    /// How the host loads in a stage.
    pub fn engine_of(&self, stage: u32) -> EngineSettings {
        let part = self.part_of(stage).and_then(|number| self.parts.get(number));
        part.map_or_else(|| self.engine.clone(), |part| part.engine.clone())
    }

    /// The places of the targets of a stage's part among those of the host.
    pub fn targets_of(&self, stage: u32) -> Range<usize> {
        let part = self.part_of(stage).and_then(|number| self.parts.get(number));
        part.map_or(0..self.targets.len(), |part| places(&part.targets))
    }
}

impl Plan {
    /// Bytes of the layouts on all hosts together while a stage runs, of the stage's own part alone
    /// if `own`; what hosts share counts once.
    fn standing(&self, stage: u32, own: bool) -> u64 {
        let of_host = |host: &HostPlan| {
            let mine = host.part_of(stage);
            let parts = host.parts.iter().enumerate();
            let counted = parts
                .filter(|(n, part)| if own { mine == Some(*n) } else { part.stands_at(stage) });
            counted.map(|(_, part)| part.bytes(host)).fold(0, u64::saturating_add)
        };
        self.hosts.iter().map(of_host).fold(0, u64::saturating_add)
    }

    /// Bytes of the layout that a stage works on, on all hosts together.
    pub fn footprint_of(&self, stage: u32) -> Bytes {
        if self.has_parts() { Bytes(self.standing(stage, true)) } else { self.footprint() }
    }

    /// Bytes of all layouts at the time at which they are most.
    pub fn largest_footprint(&self) -> Bytes {
        // More begin to stand only where a part begins.
        let parts = self.hosts.first().map_or(&[][..], |host| &host.parts);
        let begins = parts.iter().filter_map(|part| part.stages.first());
        Bytes(begins.map(|stage| self.standing(*stage, false)).max().unwrap_or(0))
    }

    /// Whether scenarios have layouts of their own.
    pub fn has_parts(&self) -> bool {
        self.hosts.iter().any(|host| !host.parts.is_empty())
    }

    /// How the first host loads in a stage; all hosts of a stage load alike but for their CPUs.
    /// `None` for a plan without hosts.
    pub fn engine_of(&self, stage: u32) -> Option<EngineSettings> {
        self.hosts.first().map(|host| host.engine_of(stage))
    }

    /// The names of the scenarios, in the order in which they begin.
    pub fn scenarios(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for point in &self.points {
            if !names.contains(&point.scenario.as_str()) {
                names.push(&point.scenario);
            }
        }
        names
    }
}
