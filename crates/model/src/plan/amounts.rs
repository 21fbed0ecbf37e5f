//! What a plan adds up to: bytes, times, workers.

use super::{HostPlan, HostStage, Plan, PlannedTarget, Stage, StageKind, Work, Worker};
use crate::metadata::MetadataWork;
use crate::population::LEDGER_BYTES;
use crate::units::{Bytes, Nanos};

impl Plan {
    /// Bytes that `prepare` writes on all hosts together.
    pub fn prepare_bytes(&self) -> Bytes {
        let is_prepare = |stage: &&HostStage| stage.kind == StageKind::Prepare;
        let stages = self.hosts.iter().flat_map(|host| host.stages.iter().filter(is_prepare));
        Bytes(stages.map(once_through).fold(0, u64::saturating_add))
    }

    /// Bytes in all extents of a stage on all hosts together: what one that stops at
    /// [`Stop::Amount`](super::Stop::Amount) goes through.
    pub fn stage_bytes(&self, stage: u32) -> Bytes {
        let stages = self.hosts.iter().filter_map(|host| host.stages.get(stage as usize));
        Bytes(stages.map(once_through).fold(0, u64::saturating_add))
    }

    /// Bytes that are read to check them after the points, on all hosts together.
    pub fn verify_bytes(&self) -> Bytes {
        let stages =
            self.stages.iter().zip(0..).filter(|(stage, _)| stage.kind == StageKind::Verify);
        Bytes(stages.map(|(_, number)| self.stage_bytes(number).0).fold(0, u64::saturating_add))
    }

    /// Bytes of the layout on all hosts together; what hosts share counts once. Where scenarios
    /// have layouts of their own: of those that stand at the same time, at their most.
    pub fn footprint(&self) -> Bytes {
        if self.has_parts() {
            return self.largest_footprint();
        }
        let targets = self.hosts.iter().flat_map(|host| &host.targets);
        let own = targets.filter(|target| target.kind != PlannedTarget::Joined);
        let files = own
            .flat_map(|target| &target.files)
            .map(|file| file.size.0)
            .fold(0, u64::saturating_add);
        // Each host has trees of its own.
        let trees = self.hosts.iter().map(|host| host.in_trees().0).fold(0, u64::saturating_add);
        Bytes(files.saturating_add(trees))
    }

    /// Bytes that a stage moves which ends with an amount: every worker's requests, in blocks.
    pub fn amount(&self, stage: u32) -> Bytes {
        let stages = self.hosts.iter().filter_map(|host| host.stages.get(stage as usize));
        let bytes = |stage: &HostStage, worker: &Worker| {
            stage.works.get(worker.work as usize).map_or(0, |work| {
                // Its workers take turns.
                if let Some(trace) = &work.trace {
                    return if worker.turn.0 == 0 { trace.bytes } else { 0 };
                }
                work.amount(worker)
            })
        };
        let all =
            stages.flat_map(|stage| stage.workers.iter().map(move |worker| bytes(stage, worker)));
        Bytes(all.fold(0, u64::saturating_add))
    }

    /// The time of all stages that end after a time; of those that end when they are steady, the
    /// greatest, and of traces, from their first instant to the last.
    pub fn fixed_time(&self) -> Nanos {
        let of_trace = |stage: &Stage| {
            stage.works.iter().filter_map(|work| Some(work.trace.as_ref()?.length)).max()
        };
        Nanos(
            self.stages
                .iter()
                .filter_map(|stage| stage.stop().time().or_else(|| of_trace(stage)))
                .map(|time| time.0)
                .fold(0, u64::saturating_add),
        )
    }

    /// By how much that may be shorter, because stages end when they are steady.
    pub fn steady_room(&self) -> Nanos {
        let rooms = self.stages.iter().filter_map(|stage| stage.stop().steady());
        Nanos(
            rooms
                .map(|steady| steady.most.0.saturating_sub(steady.least.0))
                .fold(0, u64::saturating_add),
        )
    }

    /// Whether points run more than once.
    pub fn repeats(&self) -> bool {
        self.points.iter().any(|point| point.repetition > 1)
    }

    /// How many workers do one of a stage's works, on all hosts together.
    pub fn workers(&self, stage: u32, work: u32) -> usize {
        let stages = self.hosts.iter().filter_map(|host| host.stages.get(stage as usize));
        stages.flat_map(|stage| &stage.workers).filter(|worker| worker.work == work).count()
    }

    /// The `measure` stage of a point.
    pub fn measure_stage(&self, point: u32) -> Option<u32> {
        let found = self
            .stages
            .iter()
            .position(|stage| stage.kind == StageKind::Measure && stage.point == Some(point));
        found.map(|index| index as u32)
    }
}

impl Work {
    /// What the buffers of one of its workers take: every outstanding request has one of its own, a
    /// mix has one for reads and one for writes, and a file of a tree is held whole.
    pub fn buffers(&self) -> Bytes {
        let buffers =
            u64::from(self.depth).saturating_mul(if self.reads() && self.writes() { 2 } else { 1 });
        let of_files = |metadata: MetadataWork| {
            let append = metadata.population.map_or(0, |population| population.append.0);
            metadata.size.0.max(append)
        };
        let file = self.metadata.map_or(0, of_files);
        // A trim moves nothing.
        let block = if self.reads() || self.writes() { self.largest_block().0 } else { 0 };
        Bytes(block.saturating_mul(buffers).saturating_add(file))
    }
}

/// Bytes that a stage moves which goes through its extents once.
fn once_through(stage: &HostStage) -> u64 {
    let of_worker = |worker: &Worker| {
        let bytes = worker.extents.iter().map(|extent| extent.length).fold(0, u64::saturating_add);
        stage.works.get(worker.work as usize).map_or(bytes, |work| work.pattern.pass(bytes))
    };
    stage.workers.iter().map(of_worker).fold(0, u64::saturating_add)
}

/// What a worker keeps of the files of its population, or of the blocks that a pass has written;
/// nothing where it has neither.
pub fn ledger(work: &Work, worker: &Worker) -> Bytes {
    if work.pattern.aged.is_some() {
        return Bytes(work.requests(worker) / 8);
    }
    let has_population = work.metadata.is_some_and(|metadata| metadata.population.is_some());
    let names = worker.files.filter(|_| has_population).map_or(0, |share| share.count);
    Bytes(names.saturating_mul(LEDGER_BYTES))
}

/// What the buffers of `workers` take, each of which does one of `works`.
pub fn buffers(works: &[Work], workers: &[Worker]) -> Bytes {
    let of = |worker: &Worker| {
        let work = works.get(worker.work as usize);
        work.map_or(0, |work| work.buffers().0.saturating_add(ledger(work, worker).0))
    };
    Bytes(workers.iter().map(of).fold(0, u64::saturating_add))
}

impl HostPlan {
    /// What the buffers of all workers take in the stage in which they take most.
    pub fn most_buffers(&self) -> Bytes {
        self.stages
            .iter()
            .map(|stage| buffers(&stage.works, &stage.workers))
            .max()
            .unwrap_or_default()
    }
}
