//! The stages of a run, and each host's share of them.

use super::layout::workers;
use super::shares::{parts, shares};
use super::{Refusal, RefusalKind, Request, Times, is_null};
use crate::event::NoteKind;
use crate::load::{Pace, Part, Skew};
use crate::plan::{HostPlan, HostStage, Pattern, PlanNote, Stage, StageKind, Stop, Target, Work, Worker};
use crate::rng::derive;
use crate::spec::{Access, Arrivals, Auto, Backend, PointSpec, WorkloadSpec};
use crate::testbed::HostFacts;
use crate::units::{Bytes, Nanos, Percent};

/// `prepare` writes in large blocks, a few at a time: as fast as most targets go, whatever the workloads are.
const PREPARE_DEPTH: u32 = 8;
const PREPARE_WORKERS: u32 = 16;

/// All stages, in order.
pub(super) fn stages(
    request: &Request<'_>,
    points: &[&PointSpec],
    times: &Times,
    notes: &mut Vec<PlanNote>,
) -> Vec<Stage> {
    let one_at_a_time = request.spec.engine.backend.value == Backend::Sync;
    let depth = |wanted: u32| if one_at_a_time { 1 } else { wanted };
    let mut stages = Vec::new();
    if request.spec.stages.prepare.value && !request.existing && !is_null(request) {
        let block = request.spec.stages.prepare_block.value;
        let work = Work::simple(block, Percent::ZERO, Access::Sequential, depth(PREPARE_DEPTH), Stop::Amount);
        stages.push(Stage { kind: StageKind::Prepare, point: None, work });
    }
    for (number, point) in points.iter().enumerate() {
        let workload = &point.workload;
        if one_at_a_time && workload.depth.value.0 > 1 {
            let detail = "the sync backend has one request outstanding for each worker, whatever the depth".to_owned();
            notes.push(PlanNote { kind: NoteKind::Adjusted, detail });
        }
        let mut add = |kind, time| {
            let work = work(workload, depth(workload.depth.value.0), Stop::After(time));
            stages.push(Stage { kind, point: Some(number as u32), work });
        };
        if times.precondition > Nanos(0) {
            add(StageKind::Precondition, times.precondition);
        }
        add(StageKind::Measure, times.measure);
    }
    stages
}

/// A workload with nothing left to decide.
fn work(workload: &WorkloadSpec, depth: u32, stop: Stop) -> Work {
    let block_size = workload.block_size.value.clone();
    let write_block_size = match &workload.write_block_size.value {
        Auto::Fixed(mix) => mix.clone(),
        Auto::Auto => block_size.clone(),
    };
    let pace = match workload.rate.value {
        Auto::Fixed(rate) => Pace::Open { rate, poisson: workload.arrivals.value == Arrivals::Poisson },
        Auto::Auto => Pace::Closed { think: workload.think.value, burst: workload.burst.value.0 },
    };
    let mut work = Work {
        block_size,
        write_block_size,
        read: workload.read.value,
        pattern: Pattern::simple(workload.access.value),
        pace,
        fsync_every: workload.fsync_every.value,
        dsync: workload.dsync.value,
        depth,
        stop,
    };
    work.pattern = pattern(workload, &work);
    work
}

fn pattern(workload: &WorkloadSpec, work: &Work) -> Pattern {
    let access = workload.access.value;
    let simple = Pattern::simple(access);
    let random = match workload.random.value {
        Auto::Fixed(share) => share,
        Auto::Auto => simple.random,
    };
    let single = work.largest_block() == work.smallest_block();
    Pattern {
        // A sequential workload with a random share: its random requests are spread evenly.
        access: if access == Access::Sequential && random > Percent::ZERO { Access::Random } else { access },
        random,
        skew: match workload.skew.value {
            Auto::Fixed(skew) => skew,
            Auto::Auto if access == Access::Pareto => Skew { milli: 200 },
            Auto::Auto => Skew { milli: 1_200 },
        },
        hot_spots: workload.hot_spots.value.clone(),
        align: match workload.align.value {
            Auto::Fixed(align) => align,
            Auto::Auto if single => Bytes(0),
            Auto::Auto => work.smallest_block(),
        },
        stride: match workload.stride.value {
            Auto::Fixed(stride) => stride,
            Auto::Auto => Bytes(0),
        },
        streams: workload.streams.value.0,
    }
}

/// One host while it is planned.
pub(super) struct Host<'a> {
    pub(super) number: u32,
    pub(super) facts: &'a HostFacts,
    pub(super) targets: Vec<Target>,
}

/// One host's share of all stages.
pub(super) fn host_plan(
    request: &Request<'_>,
    points: &[&PointSpec],
    stages: &[Stage],
    host: Host<'_>,
    interval: Nanos,
) -> Result<HostPlan, Vec<Refusal>> {
    let sizes: Vec<Bytes> = host.targets.iter().flat_map(|target| &target.files).map(|file| file.size).collect();
    let mut refusals = Vec::new();
    let mut host_stages = Vec::new();
    for (number, stage) in stages.iter().enumerate() {
        let count = match stage.point {
            Some(point) => workers(points[point as usize], host.facts),
            None => (sizes.len() as u32).min(host.facts.logical_cpus.clamp(1, PREPARE_WORKERS)),
        };
        let block = stage.work.largest_block();
        let part = stage.point.map_or(Part::WHOLE, |point| points[point as usize].workload.range.value);
        let shares = shares(&parts(&sizes, part, block), count, block, stage.work.stop == Stop::Amount);
        if let Some(point) = stage.point
            && shares.iter().any(Vec::is_empty)
        {
            refusals.push(too_small(&points[point as usize].workload.name.value, count, stage, &sizes));
        }
        refusals.extend(too_much_memory(stage, count, host.facts));
        // The stages of one point differ in their seeds, or the measured requests would repeat the preconditioning ones.
        let seed = |worker: usize| {
            derive(request.spec.suite.seed.value, &[number as u64, u64::from(host.number), worker as u64])
        };
        let share = |(worker, extents)| Worker { seed: seed(worker), turn: (0, 1), extents };
        let mut workers: Vec<Worker> = shares.into_iter().enumerate().map(share).collect();
        workers.retain(|worker| !worker.extents.is_empty());
        host_stages.push(HostStage { stage: number as u32, kind: stage.kind, work: stage.work.clone(), workers });
    }
    refusals.dedup();
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let engine = &request.spec.engine;
    Ok(HostPlan {
        run_id: request.run_id.to_owned(),
        host: host.number,
        hostname: host.facts.hostname.clone(),
        interval,
        backend: engine.backend.value,
        direct: engine.direct.value,
        raw_latencies: engine.raw_latencies.value,
        targets: host.targets,
        stages: host_stages,
    })
}

/// Every outstanding request has a buffer of its own, and a mix has one for reads and one for writes.
fn too_much_memory(stage: &Stage, workers: u32, host: &HostFacts) -> Option<Refusal> {
    let work = &stage.work;
    let is_mix = work.writes() && work.read > Percent::ZERO;
    let each = work.largest_block().0.saturating_mul(u64::from(work.depth)).saturating_mul(if is_mix { 2 } else { 1 });
    let need = Bytes(each.saturating_mul(u64::from(workers)));
    (need.0 > host.memory.0 / 2).then(|| {
        Refusal::new(
            RefusalKind::Usage,
            format!(
                "host {}: {workers} workers × {} outstanding × {} need {need} of buffers, more than half of its {} of memory",
                host.hostname, work.depth, work.largest_block(), host.memory
            ),
            "give a smaller block_size or depth, or fewer workers",
        )
    })
}

fn too_small(workload: &str, workers: u32, stage: &Stage, sizes: &[Bytes]) -> Refusal {
    let total = Bytes(sizes.iter().map(|size| size.0).sum());
    let block = stage.work.largest_block();
    let sharing = if workers == 1 { "1 worker has".to_owned() } else { format!("{workers} workers share") };
    Refusal::new(
        RefusalKind::Usage,
        format!("workload `{workload}`: {sharing} {total}, which is less than one block of {block} each"),
        "give a larger layout.size, a smaller block_size or fewer workers",
    )
}
