//! A run whose points are not known beforehand: each follows from those before it.

mod axis;
mod map;
mod rounds;
pub mod setting;
mod shares;
mod workers;

pub use crate::plan::search::{
    Cell, RateShare, RateShares, Rounds, Search, SearchAxis, axis_value,
};

use crate::choices::Backend;
use crate::load::{Pace, Rate};
use crate::note::{Adjusted, Fact};
use crate::plan::{HostStage, Plan, Point, Stage, StageKind, Stop, Work};
use crate::rng::derive;
use crate::setting::Setting;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// The name of the axis along which the load line is searched, in the points' sweep values.
pub const RATE_AXIS: &str = "rate";
/// The axis's value of the point that goes as fast as the target.
pub const UNLIMITED: &str = "unlimited";
/// Workers of a search have at least so many requests outstanding, so that the target is what
/// limits, not the generator.
const LEAST_DEPTH: u32 = 256;
/// But their buffers take no more than this on a host.
const MOST_BUFFERS: Bytes = Bytes(1 << 30);

/// A point with its stages, which a plan gets while it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addition {
    /// The point.
    pub point: Point,
    /// Its stages, behind those of the plan.
    pub stages: Vec<Stage>,
    /// Each host's share of them, in the order of the plan's hosts.
    pub hosts: Vec<Vec<HostStage>>,
}

impl Plan {
    /// Turns a plan of one point with one workload into the beginning of a search: its first point
    /// goes as fast as the target.
    ///
    /// # Errors
    /// The plan has several points, or the point several workloads, or it does not end after a
    /// time; the words name them.
    pub fn begin_search(&mut self, search: Search) -> Result<(), String> {
        // What a search finds decides when it is over.
        self.rounds = Rounds::default();
        if search.along == SearchAxis::Map {
            return self.begin_map(search);
        }
        if self.points.len() != 1 {
            let names: Vec<String> = self.points.iter().map(Point::name).collect();
            return Err(format!(
                "a load line is that of one point, and this suite has {}: {}; name one workload \
                 with --workload, and no sweep",
                names.len(),
                names.iter().take(8).cloned().collect::<Vec<_>>().join(", ")
            ));
        }
        let first = &mut self.points[0];
        if first.workloads.len() != 1 {
            return Err(format!(
                "a load line is that of one workload, and {} run at the same time; write a suite \
                 with one of them",
                first.workloads.join(", ")
            ));
        }
        let measured = |stage: &&Stage| stage.kind == StageKind::Measure;
        if self.stages.iter().find(measured).is_none_or(|stage| stage.stop().time().is_none()) {
            return Err(format!(
                "workload `{}` ends when its work is done, and a load line needs one that goes on \
                 for a time; leave out what bounds it",
                first.workloads.join(", ")
            ));
        }
        if search.along != SearchAxis::Rate {
            return self.begin_along(search);
        }
        first.sweep = vec![Setting::new(RATE_AXIS, UNLIMITED)];
        // All points go the same way.
        for host in &mut self.hosts {
            host.engine.left_open = false;
            host.parts.iter_mut().for_each(|part| part.engine.left_open = false);
        }
        let is_of_trial =
            |fact: &Fact| matches!(fact, Fact::Adjusted(Adjusted::BackendTried { .. }));
        self.notes.retain(|note| !is_of_trial(&note.fact));
        let most_workers =
            self.hosts.iter().flat_map(|host| &host.stages).map(|stage| stage.workers.len()).max();
        let (backend, workers) = (self.backend, most_workers.unwrap_or(1).max(1) as u64);
        let half = Nanos((search.measure.0 / 2).max(1));
        let change = |kind: StageKind, work: &mut Work| {
            if !matches!(kind, StageKind::Measure | StageKind::Precondition) {
                return;
            }
            work.pace = Pace::FREE;
            work.depth = depth(work, backend, workers);
            if kind == StageKind::Measure {
                work.stop = Stop::After(half);
            }
        };
        for stage in &mut self.stages {
            stage.works.iter_mut().for_each(|work| change(stage.kind, work));
        }
        for stage in self.hosts.iter_mut().flat_map(|host| &mut host.stages) {
            stage.works.iter_mut().for_each(|work| change(stage.kind, work));
        }
        self.search = Some(search);
        Ok(())
    }

    /// A point at a fixed rate of all workers together, in thousandths of a request per second,
    /// behind those that there are. `None` where the plan is no search, or not whole.
    pub fn at_rate(&self, milli: u64) -> Option<Addition> {
        let search = self.search.as_ref()?;
        let pace = Pace::Open { rate: Rate::Iops { milli: milli.max(1) }, poisson: search.poisson };
        let mut point = self.points.first()?.clone();
        point.sweep = vec![Setting::new(RATE_AXIS, (milli as f64 / 1e3).to_string())];
        point.repetition =
            1 + self.points.iter().filter(|other| other.sweep == point.sweep).count() as u32;
        self.like(0, point, |_, work| {
            work.pace = pace.clone();
            work.stop = Stop::After(search.measure);
        })
    }

    /// A point that measures as point `of` does, with its works changed, behind those that there
    /// are. `change` hears the number of each work. `None` where there is no such point.
    fn like(&self, of: u32, point: Point, change: impl Fn(usize, &mut Work)) -> Option<Addition> {
        let template = self.measure_stage(of)? as usize;
        let (number, stage_number) = (self.points.len() as u32, self.stages.len() as u32);
        let change = |works: &mut Vec<Work>| {
            works.iter_mut().enumerate().for_each(|(number, work)| change(number, work));
        };
        let mut stage = self.stages.get(template)?.clone();
        stage.point = Some(number);
        change(&mut stage.works);
        let share = |host: &crate::HostPlan| {
            let mut stage = host.stages.get(template)?.clone();
            stage.stage = stage_number;
            change(&mut stage.works);
            // Other requests than those of the points before, or a cache would know them.
            stage
                .workers
                .iter_mut()
                .for_each(|worker| worker.seed = derive(worker.seed, &[u64::from(stage_number)]));
            Some(vec![stage])
        };
        Some(Addition {
            point,
            stages: vec![stage],
            hosts: self.hosts.iter().map(share).collect::<Option<_>>()?,
        })
    }

    /// Takes in a point that was added while it runs.
    pub fn add(&mut self, addition: &Addition) {
        self.points.push(addition.point.clone());
        self.stages.extend(addition.stages.iter().cloned());
        for (host, stages) in self.hosts.iter_mut().zip(&addition.hosts) {
            host.stages.extend(stages.iter().cloned());
        }
    }
}

/// The depth of a worker while it searches. A backend that has one request outstanding stays with
/// it.
fn depth(work: &Work, backend: Backend, workers: u64) -> u32 {
    if backend == Backend::Sync {
        return work.depth;
    }
    let each = work.largest_block().0.saturating_mul(2).saturating_mul(workers).max(1);
    let room = u32::try_from(MOST_BUFFERS.0 / each).unwrap_or(u32::MAX);
    work.depth.max(LEAST_DEPTH.min(room))
}
