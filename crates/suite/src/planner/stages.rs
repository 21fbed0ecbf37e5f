//! The stages of a run, and each host's share of them.

use super::clients::are_imagined;
use super::rotation::Groups;
use super::share::{Share, too_much_memory};
use super::sizes::{Sizes, workers};
use super::trees::Forest;
use super::{
    Refusal, ScenarioRequest, Times, contents, is_commanded, is_null, none, selection, trees,
};
use crate::checks::table::MOST_SHARES;
use crate::{
    Arrivals, FileOrder, Flush, LayoutKind, Operation, Pin, PointSpec, RateOf, Scenario, Sharing,
    StagesSpec, Time, Verify, WorkloadKind, WorkloadSpec,
};
use form::{Amount, Auto};
use model::choices::{Access, Backend, Poll};
use model::load::{Pace, SizeMix, Skew};
use model::metadata::MetadataWork;
use model::note::{Adjusted, Fact};
use model::offered::Offered;
use model::op::Op;
use model::plan::{
    CommandWork, Contents, EngineSettings, Extent, HostPlan, HostStage, Once, Pattern, PlanNote,
    PlannedTarget, Stage, StageKind, Stop, Target, Work, Worker,
};
use model::population::{Population, PopulationStage};
use model::rng::derive;
use model::testbed::HostFacts;
use model::units::{Bytes, Nanos, Percent};
use std::num::NonZeroU64;

/// `prepare` writes in large blocks, a few at a time: as fast as most targets go, whatever the
/// workloads are.
const PREPARE_DEPTH: u32 = 8;
/// A pass that ages flash writes small blocks, one worker for each device.
const AGED_DEPTH: u32 = 32;
/// What a purge gives back at a time: enough for a drive to take in one command, and little enough
/// to stop in between.
const PURGED_AT_A_TIME: Bytes = Bytes::mib(256);

pub(super) fn stages(
    request: &ScenarioRequest<'_>,
    points: &[&PointSpec],
    times: &Times,
    notes: &mut Vec<PlanNote>,
) -> Vec<Stage> {
    let one_at_a_time = request.scenario.engine.backend.value == Backend::Sync;
    let depth = |wanted: u32| if one_at_a_time { 1 } else { wanted };
    let mut stages = Vec::new();
    let has_files = request.scenario.layout.kind.value != LayoutKind::Tree;
    let has_none = request.existing || is_null(request) || is_commanded(request);
    let is_ours = has_files && !has_none;
    if request.scenario.stages.purge.value && is_ours {
        stages.push(Stage { kind: StageKind::Purge, point: None, works: vec![purging()] });
    }
    if request.scenario.stages.prepare.value && is_ours {
        let work = preparing(&request.scenario.stages, depth);
        stages.push(Stage { kind: StageKind::Prepare, point: None, works: vec![work] });
    }
    for (number, point) in (0..).zip(points) {
        let of_point = match metadata_work(request, point, times) {
            Some(work) => metadata_stages(work, times),
            None => {
                let is_deep = |workload: &WorkloadSpec| workload.depth.value.0 > 1;
                if one_at_a_time && point.workloads.iter().any(is_deep) {
                    notes.push(PlanNote { fact: Fact::Adjusted(Adjusted::OneOutstanding) });
                }
                block_stages(request, point, times, &depth)
            }
        };
        let stage = |(kind, works)| Stage { kind, point: Some(number), works };
        stages.extend(of_point.into_iter().map(stage));
    }
    stages
}

/// The stages of a point of metadata, which has one work.
fn metadata_stages(work: Work, times: &Times) -> Vec<(StageKind, Vec<Work>)> {
    let mut stages = Vec::new();
    if work.metadata.is_some_and(|metadata| metadata.population.is_some()) {
        stages.push((StageKind::Prepare, vec![filling(&work)]));
        if times.precondition > Nanos(0) {
            let stop = times.precondition_stop();
            stages.push((StageKind::Precondition, vec![Work { stop, ..work.clone() }]));
        }
    }
    stages.push((StageKind::Measure, vec![work]));
    stages
}

/// The stages of a point that reads and writes blocks.
fn block_stages(
    request: &ScenarioRequest<'_>,
    point: &PointSpec,
    times: &Times,
    depth: &dyn Fn(u32) -> u32,
) -> Vec<(StageKind, Vec<Work>)> {
    let spec = &request.scenario.stages;
    let works = |stop| -> Vec<Work> {
        let work = |workload: &WorkloadSpec| {
            let mut work = work(workload, depth(workload.depth.value.0), stop);
            work.command = command(workload, point);
            work.most = most(request, &work);
            if workload.sharing.value == Sharing::Interleaved {
                let turns = all_workers(request, workload);
                work.pattern.stride = Bytes(work.largest_block().0.saturating_mul(turns));
            }
            if workload.rate_of.value == RateOf::Worker {
                of_each_worker(&mut work.pace, all_workers(request, workload));
            }
            if let Pace::Changing { curve, .. } = &mut work.pace {
                *curve = times.shrink(curve, spec.measure.value);
            }
            work
        };
        point.workloads.iter().map(work).collect()
    };
    let mut stages = Vec::new();
    if times.precondition > Nanos(0) {
        stages.push((StageKind::Precondition, works(times.precondition_stop())));
    }
    let measured = works(measure_stop(spec, times));
    let has_pass = contents::has_pass(request, &measured);
    stages.push((StageKind::Measure, measured));
    if has_pass {
        let (depth, stop) = (depth(PREPARE_DEPTH), Stop::Amount);
        let pass = Work::simple(spec.pass_block(), Percent::ALL, Access::Sequential, depth, stop);
        stages.push((StageKind::Verify, vec![pass]));
    }
    stages
}

/// What a workload has started in place of workers, with the values of its point.
fn command(workload: &WorkloadSpec, point: &PointSpec) -> Option<CommandWork> {
    let (words, result) = (workload.command.value.0.clone(), workload.result.value.clone());
    let axes = point.sweep.iter().map(|setting| (setting.axis(), setting.label()));
    let command = CommandWork { words, result, trace: workload.trace.value };
    let words = command.filled(&axes.collect::<Vec<_>>());
    (!words.is_empty()).then_some(CommandWork { words, ..command })
}

/// How many workers of all hosts together do what a workload says.
fn all_workers(request: &ScenarioRequest<'_>, workload: &WorkloadSpec) -> u64 {
    request.hosts.iter().map(|host| u64::from(workers(workload, host))).sum()
}

/// What a purge gives back: everything, in order and one after the other.
fn purging() -> Work {
    let none = Percent::ZERO;
    let work = Work::simple(PURGED_AT_A_TIME, none, Access::Sequential, 1, Stop::Amount);
    Work { trim: Percent::ALL, ..work }
}

/// What `prepare` writes.
fn preparing(stages: &StagesSpec, depth: impl Fn(u32) -> u32) -> Work {
    let (block, none, stop) = (stages.block(), Percent::ZERO, Stop::Amount);
    let Some(spare) = stages.aged_for() else {
        return Work::simple(block, none, Access::Sequential, depth(PREPARE_DEPTH), stop);
    };
    let mut work = Work::simple(block, none, Access::Random, depth(AGED_DEPTH), stop);
    work.pattern.aged = Some(spare);
    work
}

/// Makes the pace that is meant for each of so many workers that of all of them together.
fn of_each_worker(pace: &mut Pace, workers: u64) {
    match pace {
        Pace::Open { rate, .. } => *rate = rate.times(workers),
        Pace::Changing { curve, .. } => *curve = curve.times(workers),
        Pace::Closed { .. } => {}
    }
}

/// The one operation of a point of metadata, or its mix; `None` for a point that reads and writes
/// blocks. The suite was checked: such a point has one workload, with one operation or mix.
fn metadata_work(request: &ScenarioRequest<'_>, point: &PointSpec, times: &Times) -> Option<Work> {
    let workload =
        point.workloads.first().filter(|workload| workload.kind.value == WorkloadKind::Metadata)?;
    let tree = &point.tree;
    let size = tree.largest();
    // Each worker ends with its last file, and there is nothing of its own to flush or close; what
    // the first had done when it was is known.
    let every = Once { stonewall: false, fsync: false, close: false };
    let operation = *workload.operations.value.0.first()?;
    let (op, mix) = match operation {
        Operation::Each(op) => (op, None),
        Operation::Mix(mix) => (mix.parts().next()?.0, Some(mix)),
        Operation::Living(mix) => (mix.parts().next()?.0, None),
    };
    let population = match operation {
        Operation::Living(mix) => Some(Population {
            mix,
            fill: workload.fill.value,
            append: workload.append.value,
            stage: PopulationStage::Live,
        }),
        Operation::Each(_) | Operation::Mix(_) => None,
    };
    let is_mixed = mix.is_some() || population.is_some();
    // Files come again and again in a mix, so that only a time ends it.
    let stop = if is_mixed { times.stop() } else { Stop::Once(every) };
    let mut work = Work::simple(size, Percent::ALL, Access::Sequential, 1, stop);
    work.workload = workload.name.value.clone();
    if population.is_some() {
        work.pace = self::work(workload, 1, stop).pace;
        if let (Pace::Open { rate, .. }, RateOf::Worker) = (&mut work.pace, workload.rate_of.value)
        {
            *rate = rate.times(all_workers(request, workload));
        }
    }
    work.metadata = Some(MetadataWork {
        op,
        mix,
        population,
        random: population.is_some() || workload.file_order.value == FileOrder::Random,
        size,
        mean_size: tree.mix().map(SizeMix::mean),
        fsync: workload.fsync.value,
        close: workload.close.value,
    });
    Some(work)
}

/// What makes the files of a population before its mix runs.
fn filling(work: &Work) -> Work {
    let to_fill = |metadata: MetadataWork| MetadataWork {
        op: Op::Create,
        population: metadata
            .population
            .map(|population| Population { stage: PopulationStage::Fill, ..population }),
        ..metadata
    };
    let metadata = work.metadata.map(to_fill);
    Work { pace: Pace::FREE, stop: Stop::Amount, metadata, ..work.clone() }
}

/// What ends a `measure` stage.
fn measure_stop(stages: &StagesSpec, times: &Times) -> Stop {
    if stages.amount.value == Amount::None {
        return times.stop();
    }
    Stop::Once(Once {
        stonewall: stages.stonewall.value,
        fsync: stages.count_fsync.value,
        close: stages.count_close.value,
    })
}

/// The requests of each worker's amount, where that is a size; one at least. With blocks of several
/// sizes, its bytes.
fn most(request: &ScenarioRequest<'_>, work: &Work) -> Option<NonZeroU64> {
    let Amount::Bytes(amount) = request.scenario.stages.amount.value else { return None };
    let bytes = request.scale.size.apply(amount.0);
    let most = if work.counts_bytes() { bytes } else { bytes / work.largest_block().0.max(1) };
    work.stop.once().map(|_| NonZeroU64::new(most).unwrap_or(NonZeroU64::MIN))
}

/// A workload with nothing left to decide.
fn work(workload: &WorkloadSpec, depth: u32, stop: Stop) -> Work {
    let block_size = workload.block_size.value.clone();
    let write_block_size =
        workload.write_block_size.value.clone().fixed().unwrap_or_else(|| block_size.clone());
    let poisson = workload.arrivals.value == Arrivals::Poisson;
    let pace = match &workload.rate.value {
        Auto::Fixed(Offered::Fixed(rate)) => Pace::Open { rate: *rate, poisson },
        Auto::Fixed(Offered::Changing(curve)) => Pace::Changing { curve: curve.clone(), poisson },
        // Of a share, what it is of is measured first; a pause is that of a workload without rate.
        Auto::Fixed(Offered::Share(_)) => Pace::FREE,
        Auto::Auto => Pace::Closed { think: workload.think.value, burst: workload.burst.value.0 },
    };
    let mut work = Work {
        workload: workload.name.value.clone(),
        block_size,
        write_block_size,
        trim: workload.trim.value,
        trim_as: workload.trim_as.value,
        read: workload.read.value,
        pattern: Pattern::simple(workload.access.value),
        pace,
        fsync_every: workload.fsync_every.value,
        dsync: workload.dsync.value,
        priority: workload.priority.value,
        depth,
        stop,
        most: None,
        share: workload.share.value.min(MOST_SHARES) as u32,
        metadata: None,
        trace: None,
        zones: crate::zones::rules(workload),
        command: None,
    };
    work.pattern = pattern(workload, &work);
    work
}

fn pattern(workload: &WorkloadSpec, work: &Work) -> Pattern {
    let access = workload.access.value;
    let simple = Pattern::simple(access);
    let random = workload.random.value.fixed().unwrap_or(simple.random);
    let single = work.largest_block() == work.smallest_block();
    let aligned = if single { Bytes(0) } else { work.smallest_block() };
    let usual = Skew { milli: if access == Access::Pareto { 200 } else { 1_200 } };
    Pattern {
        // A sequential workload with a random share: its random requests are spread evenly.
        access: if access == Access::Sequential && random > Percent::ZERO {
            Access::Random
        } else {
            access
        },
        random,
        skew: workload.skew.value.fixed().unwrap_or(usual),
        hot_spots: workload.hot_spots.value.clone(),
        align: workload.align.value.fixed().unwrap_or(aligned),
        stride: workload.stride.value.fixed().unwrap_or_default(),
        run: workload.run.value.fixed().unwrap_or_default(),
        backward: workload.backward.value,
        streams: workload.streams.value.0,
        follows_random: true,
        aged: None,
        sequence: workload.sequence.value.clone().fixed(),
        sequence_advances: workload.sequence_advances.value,
    }
}

pub(super) struct Host<'a> {
    pub(super) number: u32,
    pub(super) facts: &'a HostFacts,
    /// Its own, then those of hosts whose files it loads.
    pub(super) targets: Vec<Target>,
    pub(super) groups: Groups,
}

pub(super) fn host_plan(
    request: &ScenarioRequest<'_>,
    points: &[&PointSpec],
    stages: &[Stage],
    host: Host<'_>,
    interval: Nanos,
) -> Result<HostPlan, Vec<Refusal>> {
    let mut refusals = Vec::new();
    let mut host_stages = Vec::new();
    let mut shares = Shares {
        request,
        host: &host,
        wanted: Sizes::of(request, host.facts, points),
        forest: Forest::new(request, &host.targets),
    };
    for (number, stage) in (0..).zip(stages) {
        let point = stage.point.map(|point| points[point as usize]);
        let mut workers: Vec<Worker> = Vec::new();
        for index in 0..stage.works.len() as u32 {
            match shares.of(stage, point, index) {
                Ok(mine) => workers.extend(mine),
                Err(refusal) => refusals.push(refusal),
            }
        }
        refusals.extend(too_much_memory(stage, &workers, host.facts));
        for (place, worker) in (0..).zip(&mut workers) {
            // The stages of one point differ in their seeds, or the measured requests would repeat
            // the preconditioning ones.
            let path = [u64::from(number), u64::from(host.number), place];
            worker.seed = derive(request.spec.suite.seed.value, &path);
        }
        workers.retain(|worker| {
            let is_command = stage.works[worker.work as usize].command.is_some();
            let has_files = worker.files.is_some_and(|share| share.count > 0);
            is_command || has_files || !worker.extents.is_empty()
        });
        let works = stage.works.clone();
        host_stages.push(HostStage { stage: number, kind: stage.kind, works, workers });
    }
    let trees = shares.forest.into_trees();
    if !are_imagined(request.spec) {
        refusals.extend(trees::refusals(host.facts, &host.targets, &trees, &host_stages));
    }
    let contents = contents::contents(request, &host.targets, &host_stages);
    refusals.extend(contents::refusals(&contents, host.facts, &sizes(&host.targets)));
    refusals.dedup();
    none(refusals)?;
    Ok(HostPlan {
        run_id: request.run_id.to_owned(),
        host: host.number,
        hostname: host.facts.hostname.clone(),
        interval,
        engine: engine_settings(request, stages, &host, contents),
        targets: host.targets,
        trees,
        parts: Vec::new(),
        stages: host_stages,
    })
}

/// What gives each worker of a host its share of files.
struct Shares<'a> {
    request: &'a ScenarioRequest<'a>,
    host: &'a Host<'a>,
    wanted: Sizes,
    forest: Forest<'a>,
}

impl Shares<'_> {
    /// The workers that do the work of this number of a stage, as yet without their seeds.
    fn of(
        &mut self,
        stage: &Stage,
        point: Option<&PointSpec>,
        index: u32,
    ) -> Result<Vec<Worker>, Refusal> {
        let (request, host) = (self.request, self.host);
        let work = &stage.works[index as usize];
        let (number, facts) = (host.number, host.facts);
        // What goes through the layout as a whole is no workload's.
        let of_workloads = point.filter(|_| stage.kind != StageKind::Verify);
        let workload = of_workloads.and_then(|point| point.workloads.get(index as usize));
        let tree = of_workloads.map(|point| &point.tree);
        let worker =
            Worker { work: index, seed: 0, turn: (0, 1), extents: Vec::new(), files: None };
        let wants = workload.filter(|workload| workers(workload, facts) > 0);
        if work.command.is_some() {
            return Ok(wants.map(|_| worker).into_iter().collect());
        }
        if let Some(refusal) = wants.and_then(|wants| selection::missing(wants, facts)) {
            return Err(refusal);
        }
        if let (Some(metadata), Some(workload), Some(tree)) = (work.metadata, workload, tree) {
            let shares = self.forest.shares(tree, workload, &metadata, workers(workload, facts))?;
            let one = |share| Worker { files: Some(share), ..worker.clone() };
            return Ok(shares.into_iter().map(one).collect());
        }
        let rotate = workload.map_or(0, |workload| workload.rotate.value);
        let (first, targets) = host.groups.of(rotate, request.hosts.len(), &host.targets);
        let of_point = point.and_then(|point| self.wanted.of_point(request, facts, point, targets));
        let mut sizes = of_point.unwrap_or_else(|| sizes(targets));
        if let Some(workload) = workload {
            selection::keep(&workload.targets.value, targets, &mut sizes);
        }
        let asked = point.and_then(|point| point.layout.size.value.fixed());
        let share = Share { request, work, workload, sizes: &sizes, asked, number, facts };
        let one = |mut extents: Vec<Extent>| {
            extents.iter_mut().for_each(|extent| extent.file += first);
            Worker { extents, ..worker.clone() }
        };
        Ok(share.extents()?.into_iter().map(one).collect())
    }
}

/// The file systems, besides a device itself, of which a ring's requests need no thread, in the
/// kernels of these years (`FMODE_NOWAIT`).
const READ_WITHOUT_WAITING: [&str; 5] = ["bcachefs", "btrfs", "ext4", "f2fs", "xfs"];

/// Whether the engine may take another way than the ring, after trials that only read: nobody said
/// which, and nothing bounds how fast the targets may be asked.
fn is_left_open(request: &ScenarioRequest<'_>, stages: &[Stage]) -> bool {
    let Scenario { engine, contents, .. } = request.scenario;
    let is_plain = |work: &Work| {
        let is_drawn = work.metadata.is_none() && work.trace.is_none() && work.zones.is_none();
        is_drawn && work.command.is_none() && work.pace == Pace::FREE
    };
    let is_named = engine.backend.span.is_some() || engine.poll.value != Poll::None;
    // Each host tries for itself: of several, some would keep the depth and others not.
    !is_named
        && request.hosts.len() == 1
        && contents.verify.value == Verify::No
        && stages.iter().flat_map(|of| &of.works).all(is_plain)
}

/// Says where the engine may take another way.
pub(super) fn backend_notes(
    request: &ScenarioRequest<'_>,
    stages: &[Stage],
    notes: &mut Vec<PlanNote>,
) {
    let targets = request.hosts.iter().flat_map(|host| &host.targets);
    let named = targets.filter_map(|target| target.file_system.as_deref());
    let may_wait = named.filter(|name| !READ_WITHOUT_WAITING.contains(name));
    let fact = |name: &str| Adjusted::BackendTried { file_system: name.to_owned() };
    if is_left_open(request, stages) {
        notes.extend(may_wait.map(|name| PlanNote { fact: Fact::Adjusted(fact(name)) }));
    }
}

fn engine_settings(
    request: &ScenarioRequest<'_>,
    stages: &[Stage],
    host: &Host<'_>,
    contents: Contents,
) -> EngineSettings {
    let engine = &request.scenario.engine;
    EngineSettings {
        // Nothing is sent by us, so that no way has to be there.
        backend: if is_commanded(request) { Backend::Sync } else { engine.backend.value },
        left_open: is_left_open(request, stages),
        poll: engine.poll.value,
        direct: engine.direct.value,
        evict: engine.evict.value,
        drop_caches: engine.drop_caches.value,
        patience: engine.patience.value,
        raw_latencies: engine.raw_latencies.value,
        cpus: cpus(engine.pin.value, host.facts),
        own_cpu: engine.pin.value == Pin::Core,
        virtual_time: engine.time.value == Time::Virtual
            && host.targets.iter().all(|target| target.kind == PlannedTarget::Simulated),
        contents,
        flush: request.scenario.stages.flush.value == Flush::End,
    }
}

/// The sizes of all files of `targets`.
fn sizes(targets: &[Target]) -> Vec<Bytes> {
    targets.iter().flat_map(|target| &target.files).map(|file| file.size).collect()
}

/// The CPUs that workers are to run on; empty for any.
fn cpus(pin: Pin, facts: &HostFacts) -> Vec<u32> {
    let nodes: Vec<Option<u32>> = facts
        .targets
        .iter()
        .map(|target| target.device.as_ref().and_then(|device| device.numa_node))
        .collect();
    // Only where all devices hang off one node of several is there a choice to make.
    let node = match nodes.as_slice() {
        [Some(first), rest @ ..] if rest.iter().all(|node| *node == Some(*first)) => {
            Some(*first as usize)
        }
        _ => None,
    };
    let near =
        node.filter(|_| facts.numa_cpus.len() > 1).and_then(|node| facts.numa_cpus.get(node));
    match (pin, near) {
        (Pin::None, _) | (Pin::Node, None) => Vec::new(),
        (Pin::Node, Some(near)) => near.clone(),
        (Pin::Core, near) => {
            let near = near.cloned().unwrap_or_default();
            let far = facts.numa_cpus.iter().flatten().copied().filter(|cpu| !near.contains(cpu));
            near.iter().copied().chain(far).collect()
        }
    }
}
