//! A search along another axis than the rate: how much of something, in a closed loop, an objective
//! bears.

use super::{Addition, Search, SearchAxis, axis_value, workers};
use crate::plan::{HostPlan, HostStage, Plan, Stage, StageKind, Stop, Work};
use crate::rng::derive;
use crate::setting::Setting;
use std::collections::BTreeSet;

impl Plan {
    /// Turns a plan of one point with one workload into the beginning of a search: its first point
    /// has all of what is searched along.
    ///
    /// # Errors
    /// The depth is searched for, and requests come at a fixed rate; or the workload's work has no
    /// such axis; in words.
    pub(crate) fn begin_along(&mut self, search: Search) -> Result<(), String> {
        let mut works = self
            .stages
            .iter()
            .filter(|stage| stage.kind == StageKind::Measure)
            .flat_map(|stage| &stage.works);
        if search.along == SearchAxis::Depth
            && works.any(|work| work.pace.is_open() || work.metadata.is_some())
        {
            return Err("at a fixed rate, and with whole files, the depth is only a bound; \
                        search for the depth of a workload without `rate`, of kind \"io\""
                .to_owned());
        }
        if search.along == SearchAxis::Workers && works.any(|work| work.metadata.is_some()) {
            return Err("each worker has files of its own to work on; search for the workers of \
                        a workload of kind \"io\""
                .to_owned());
        }
        if search.along == SearchAxis::Size && works.any(|work| work.metadata.is_some()) {
            return Err("a tree has no part of so many bytes; search for the size of a workload \
                        of kind \"io\""
                .to_owned());
        }
        let change = |kind: StageKind, work: &mut Work| {
            if kind == StageKind::Measure {
                work.stop = Stop::After(search.measure);
            }
        };
        for stage in &mut self.stages {
            stage.works.iter_mut().for_each(|work| change(stage.kind, work));
        }
        for stage in self.hosts.iter_mut().flat_map(|host| &mut host.stages) {
            stage.works.iter_mut().for_each(|work| change(stage.kind, work));
        }
        let along = search.along;
        self.search = Some(search);
        let value = self.along(0).unwrap_or(0);
        if let Some(first) = self.points.first_mut() {
            first.sweep = vec![Setting::new(along.word(), axis_value(along, value))];
        }
        Ok(())
    }

    /// How much a point has of what is searched along: requests of each worker, or workers or bytes
    /// of all hosts together (what several workers of a host share, once).
    /// `None` where the plan is no such search, or has no such point.
    pub fn along(&self, point: u32) -> Option<u64> {
        let along = self.search.as_ref()?.along;
        let stage = self.measure_stage(point)? as usize;
        match along {
            SearchAxis::Rate | SearchAxis::Map => None,
            SearchAxis::Depth => {
                self.stages.get(stage)?.works.first().map(|work| u64::from(work.depth))
            }
            SearchAxis::Size => Some(
                self.hosts
                    .iter()
                    .filter_map(|host| host.stages.get(stage))
                    .map(touched)
                    .fold(0, u64::saturating_add),
            ),
            SearchAxis::Workers => {
                Some(workers::counts(self, stage).iter().map(|count| *count as u64).sum())
            }
        }
    }

    /// The least that a point can have of what is searched along: one request, a worker on each
    /// host that has any, or a block for each worker.
    pub fn least_along(&self) -> Option<u64> {
        match self.search.as_ref()?.along {
            SearchAxis::Rate | SearchAxis::Map => None,
            SearchAxis::Depth => Some(1),
            SearchAxis::Workers => {
                let counts = workers::counts(self, self.measure_stage(0)? as usize);
                Some(counts.iter().filter(|count| **count > 0).count().max(1) as u64)
            }
            SearchAxis::Size => {
                let stage = self.measure_stage(0)? as usize;
                let workers = |host: &HostPlan| {
                    host.stages.get(stage).map_or(0, |stage| stage.workers.len() as u64)
                };
                let block = self.stages.get(stage)?.works.first()?.largest_block().0;
                Some(
                    self.hosts
                        .iter()
                        .map(workers)
                        .fold(0, u64::saturating_add)
                        .saturating_mul(block)
                        .max(1),
                )
            }
        }
    }

    /// A point with so much of what is searched along, at most what the first one has, behind those
    /// that there are: warmed up as that one is. `None` where the plan is no such search, or not
    /// whole.
    pub fn at(&self, value: u64) -> Option<Addition> {
        let search = self.search.as_ref()?;
        let full = self.along(0).filter(|full| *full > 0)?;
        let is_load =
            |kind: StageKind| matches!(kind, StageKind::Precondition | StageKind::Measure);
        let templates: Vec<usize> = (0..self.stages.len())
            .filter(|number| {
                self.stages[*number].point == Some(0) && is_load(self.stages[*number].kind)
            })
            .collect();
        let (number, first_stage) = (self.points.len() as u32, self.stages.len() as u32);
        let change = |work: &mut Work| {
            if search.along == SearchAxis::Depth {
                work.depth = u32::try_from(value).unwrap_or(u32::MAX).clamp(1, work.depth.max(1));
            }
        };
        let planned = |template: &usize| {
            let mut stage: Stage = self.stages.get(*template)?.clone();
            stage.point = Some(number);
            stage.works.iter_mut().for_each(change);
            Some(stage)
        };
        let share = |(place, host): (usize, &HostPlan)| {
            let one = |(stage_number, template): (u32, &usize)| {
                let mut stage = host.stages.get(*template)?.clone();
                stage.stage = stage_number;
                stage.works.iter_mut().for_each(change);
                if search.along == SearchAxis::Size {
                    cut(&mut stage, value.min(full), full);
                }
                if search.along == SearchAxis::Workers {
                    let shared = workers::Shared::of(&workers::counts(self, *template), value);
                    shared.leave(&mut stage, place);
                }
                // Other requests than those of the points before, or a cache would know them.
                stage.workers.iter_mut().for_each(|worker| {
                    worker.seed = derive(worker.seed, &[u64::from(stage_number)]);
                });
                Some(stage)
            };
            (first_stage..).zip(&templates).map(one).collect::<Option<Vec<HostStage>>>()
        };
        let stages = templates.iter().map(planned).collect::<Option<Vec<_>>>()?;
        let hosts = self.hosts.iter().enumerate().map(share).collect::<Option<Vec<_>>>()?;
        let mut point = self.points.first()?.clone();
        point.sweep = vec![Setting::new(search.along.word(), axis_value(search.along, value))];
        point.repetition =
            1 + self.points.iter().filter(|other| other.sweep == point.sweep).count() as u32;
        Some(Addition { point, stages, hosts })
    }
}

/// The bytes that a host's workers load, what they share once.
fn touched(stage: &HostStage) -> u64 {
    let extents = stage.workers.iter().flat_map(|worker| &worker.extents);
    let apart: BTreeSet<(u32, u64, u64)> =
        extents.map(|extent| (extent.file, extent.offset, extent.length)).collect();
    apart.iter().map(|(.., length)| *length).fold(0, u64::saturating_add)
}

/// Leaves each worker the first `value` ÷ `full` of its bytes, in whole blocks and at least one.
fn cut(stage: &mut HostStage, value: u64, full: u64) {
    let works = stage.works.clone();
    for worker in &mut stage.workers {
        let block = works.get(worker.work as usize).map_or(1, |work| work.largest_block().0.max(1));
        let own = worker.extents.iter().map(|extent| extent.length).fold(0, u64::saturating_add);
        let wanted = u128::from(own) * u128::from(value) / u128::from(full.max(1));
        let mut left =
            (u64::try_from(wanted).unwrap_or(own) / block).saturating_mul(block).max(block);
        worker.extents.retain_mut(|extent| {
            extent.length = extent.length.min(left);
            left -= extent.length;
            extent.length > 0
        });
    }
}
