//! Everything decided, nothing optional left: what each worker of each host does in each stage.

use crate::load::{HotSpots, Pace, SizeMix, Skew};
use crate::metadata::{FileShare, MetadataWork, Tree};
use crate::op::Op;
use crate::part::Part;
use crate::planned_event::PlannedEvent;
use crate::priority::Priority;
use crate::scale::Scale;
use crate::search::Search;
use crate::spec::{Access, Backend, DuplicateScope, OnLostHost, Poll};
use crate::units::{Bytes, Nanos, Percent};
use crate::{NoteKind, spec};
use serde::{Deserialize, Serialize};

spec::words! {
    /// What a stage is for.
    pub enum StageKind {
        /// Writes every byte of the layout.
        Prepare = "prepare",
        /// Runs the workload without counting it.
        Precondition = "precondition",
        /// Runs the workload and counts it.
        Measure = "measure",
        /// Reads the layout once and checks every block.
        Verify = "verify",
    }
}

/// A whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Tells this run from all others; also stands in the marker of the targets.
    pub run_id: String,
    /// The suite's name.
    pub suite: String,
    /// The suite's description.
    pub description: String,
    /// The suite's seed.
    pub seed: u64,
    /// By how much sizes and times were shrunk.
    pub scale: Scale,
    /// The length of one sample.
    pub interval: Nanos,
    /// What the suite asks for; an agent that cannot have it says so in a note.
    pub backend: Backend,
    /// Whether the page cache is to be bypassed.
    pub direct: bool,
    /// Whether the layout is what stood there before, and nothing is written.
    pub existing: bool,
    /// The options that named the hosts, for a run that goes on with this one; none for this machine alone.
    pub hosts_from: Vec<String>,
    /// What the hosts are called besides their names, one entry for each; none in runs of versions that had no labels.
    #[serde(default)]
    pub places: Vec<HostPlace>,
    /// What holds for the hosts together.
    pub fleet: FleetPolicy,
    /// The points, in the order in which they run.
    pub points: Vec<Point>,
    /// The stages, in the order in which they run. A stage's place in this list is its number everywhere.
    pub stages: Vec<Stage>,
    /// Each host's share.
    pub hosts: Vec<HostPlan>,
    /// What the planner decided against the suite's word, and why.
    pub notes: Vec<PlanNote>,
    /// What is searched for, if further points follow from those that were measured.
    #[serde(default)]
    pub search: Option<Search>,
    /// What is to happen in the midst of measurements.
    #[serde(default)]
    pub events: Vec<PlannedEvent>,
}

/// What a host is called besides its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPlace {
    /// Its labels, in the order of the suite.
    pub labels: Vec<String>,
    /// The owner of each of its targets, in their order, which is a label; empty where nobody says.
    pub owners: Vec<String>,
}

/// What becomes of a run whose hosts fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetPolicy {
    /// What happens when one is lost.
    pub on_lost_host: OnLostHost,
    /// Hosts that have to be left at least for the run to go on; at least 1.
    pub quorum: u32,
    /// After so long a silence, coordinator and host give each other up.
    pub lost_after: Nanos,
}

/// Something that the planner has to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanNote {
    /// What about.
    pub kind: NoteKind,
    /// In words.
    pub detail: String,
}

/// One combination of scenario, workload and sweep values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// The scenario's name; `default` where the suite has none.
    pub scenario: String,
    /// The names of the workloads that run in it, all at the same time.
    pub workloads: Vec<String>,
    /// Axis and value of each sweep axis.
    pub sweep: Vec<(String, String)>,
    /// Which repetition of these values it is, from 1.
    pub repetition: u32,
    /// Field and value of what the suite wrote as arithmetic; before the field the workload's name where there are several.
    pub computed: Vec<(String, String)>,
    /// What is to be done before its first stage; `None` for nothing, and in runs of versions that knew none.
    #[serde(default)]
    pub prerun: Option<Prerun>,
}

/// What the coordinator has a shell do before a point begins: for caches that no host of the run can reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prerun {
    /// For `sh -c`. `None` where there was one that must not be run, because it stood in a run file: such a file may come from anybody.
    pub command: Option<String>,
}

impl Prerun {
    /// As a suite says it; `None` for an empty text.
    pub fn of(command: &str) -> Option<Prerun> {
        let command = command.trim();
        (!command.is_empty()).then(|| Prerun { command: Some(command.to_owned()) })
    }
}

impl Point {
    /// Its workloads' names in one.
    pub fn name(&self) -> String {
        self.workloads.join(" + ")
    }
}

/// One stage, on all hosts at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// What it is for.
    pub kind: StageKind,
    /// The point that it belongs to; `None` for `prepare`, which serves all points of its part.
    pub point: Option<u32>,
    /// What the workers do, each one of these; at least one, and all end alike.
    pub works: Vec<Work>,
}

impl Stage {
    /// When it ends.
    pub fn stop(&self) -> Stop {
        self.works.first().map_or(Stop::Amount, |work| work.stop)
    }

    /// Whether whole files are what it works on.
    pub fn is_metadata(&self) -> bool {
        self.works.iter().any(|work| work.metadata.is_some())
    }
}

/// What some workers of a stage do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// The workload's name.
    pub workload: String,
    /// The sizes of reads; the last request of an extent may be shorter in a stage that stops at [`Stop::Amount`].
    pub block_size: SizeMix,
    /// The sizes of writes and trims.
    pub write_block_size: SizeMix,
    /// The share of trims, of all requests.
    pub trim: Percent,
    /// The share of reads, of what is not a trim.
    pub read: Percent,
    /// Where requests go.
    pub pattern: Pattern,
    /// When requests are due.
    pub pace: Pace,
    /// An `fdatasync` after so many writes of a worker; 0 is never.
    pub fsync_every: u64,
    /// Whether every write is durable before it completes.
    pub dsync: bool,
    /// How urgent requests are to the kernel.
    pub priority: Priority,
    /// Requests that each worker keeps outstanding; at a fixed rate, the most that it has.
    pub depth: u32,
    /// When it ends.
    pub stop: Stop,
    /// What is done to whole files; `None` where blocks are read and written, and then all of the above counts.
    #[serde(default)]
    pub metadata: Option<MetadataWork>,
}

impl Work {
    /// Blocks of one size as fast as the target goes, one after the other or all over the place.
    pub fn simple(block: Bytes, read: Percent, access: Access, depth: u32, stop: Stop) -> Work {
        Work {
            workload: String::new(),
            block_size: SizeMix::single(block),
            write_block_size: SizeMix::single(block),
            trim: Percent::ZERO,
            read,
            pattern: Pattern::simple(access),
            pace: Pace::FREE,
            fsync_every: 0,
            dsync: false,
            priority: Priority::Inherited,
            depth,
            stop,
            metadata: None,
        }
    }

    /// Whether any request of it writes a block.
    pub fn writes(&self) -> bool {
        self.metadata.is_none() && self.read < Percent::ALL && self.trim < Percent::ALL
    }

    /// Whether any request of it is a trim.
    pub fn trims(&self) -> bool {
        self.trim > Percent::ZERO
    }

    /// Whether any request of it changes what stands at the target.
    pub fn changes(&self) -> bool {
        self.writes() || self.trims()
    }

    /// Whether any request of it reads a block.
    pub fn reads(&self) -> bool {
        self.metadata.is_none() && self.read > Percent::ZERO && self.trim < Percent::ALL
    }

    /// The sizes of reads, if there are any, and of writes and trims, if there are any.
    pub fn mixes(&self) -> impl Iterator<Item = &SizeMix> {
        let reads = self.reads().then_some(&self.block_size);
        reads.into_iter().chain(self.changes().then_some(&self.write_block_size))
    }

    /// Requests that take `worker` through its extents once: a block for each step, the last one of an extent perhaps shorter.
    pub fn requests(&self, worker: &Worker) -> u64 {
        let is_sequential = self.pattern.random == Percent::ZERO;
        let stride = if is_sequential { self.pattern.stride.0 } else { 0 };
        let step = self.largest_block().0.max(stride).max(1);
        worker.extents.iter().map(|extent| extent.length.div_ceil(step)).fold(0, u64::saturating_add)
    }

    /// The largest request.
    pub fn largest_block(&self) -> Bytes {
        self.mixes().map(SizeMix::largest).max().unwrap_or_default()
    }

    /// The smallest request.
    pub fn smallest_block(&self) -> Bytes {
        self.mixes().map(SizeMix::smallest).min().unwrap_or_default()
    }
}

/// Where requests go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    /// How the requests that are not sequential are spread; `Sequential` where there are none.
    pub access: Access,
    /// The share of requests that `access` places.
    pub random: Percent,
    /// The exponent or the share of a skewed access.
    pub skew: Skew,
    /// The table of [`Access::HotSpot`].
    pub hot_spots: HotSpots,
    /// What offsets of random requests are multiples of, from the start of their extent.
    pub align: Bytes,
    /// From one sequential request to the next; 0 where they adjoin.
    pub stride: Bytes,
    /// Sequential streams of each worker.
    pub streams: u32,
}

impl Pattern {
    /// All sequential, or all random; offsets are multiples of the request's own size.
    pub fn simple(access: Access) -> Pattern {
        Pattern {
            access,
            random: if access == Access::Sequential { Percent::ZERO } else { Percent::ALL },
            skew: Skew { milli: 1_200 },
            hot_spots: HotSpots { spots: Vec::new() },
            align: Bytes(0),
            stride: Bytes(0),
            streams: 1,
        }
    }
}

/// When a stage ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// After so much time.
    After(Nanos),
    /// When the rate is steady, or after the greatest time.
    Steady(Steady),
    /// When every byte of every extent was touched once; then an `fsync` of every file.
    Amount,
    /// When every worker has done as many requests as blocks fit into its extents, as part of what is measured. Of metadata work: when
    /// it was at each of its files once.
    Once(Once),
}

impl Stop {
    /// The time that ends it at the latest, if time is what ends it.
    pub fn time(self) -> Option<Nanos> {
        match self {
            Stop::After(time) => Some(time),
            Stop::Steady(steady) => Some(steady.most),
            Stop::Amount | Stop::Once(_) => None,
        }
    }

    /// What is to be known of a measured amount, if it is one.
    pub fn once(self) -> Option<Once> {
        match self {
            Stop::Once(once) => Some(once),
            Stop::After(_) | Stop::Steady(_) | Stop::Amount => None,
        }
    }

    /// What is to be known of a stage that ends when it is steady, if it does.
    pub fn steady(self) -> Option<Steady> {
        match self {
            Stop::Steady(steady) => Some(steady),
            Stop::After(_) | Stop::Once(_) | Stop::Amount => None,
        }
    }
}

/// How a stage ends that goes on until it is steady: by SNIA's rule over [`Steady::ROUNDS`] rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steady {
    /// It does not end earlier: one window of rounds.
    pub least: Nanos,
    /// It ends then, steady or not.
    pub most: Nanos,
    /// The length of a round: whole intervals.
    pub round: Nanos,
}

impl Steady {
    /// Rounds of a measurement window (SNIA, *Solid State Storage Performance Test Specification*, 2.0.2, 2.1.24).
    pub const ROUNDS: u64 = 5;
    /// With fewer intervals than this in a round, a round is noise.
    pub const LEAST_IN_ROUND: u64 = 4;

    /// With a window of at least `least`, in rounds of whole intervals; the greatest time is never below the least.
    pub fn new(least: Nanos, most: Nanos, interval: Nanos) -> Steady {
        let interval = interval.0.max(1);
        let each = least.0.div_ceil(interval).div_ceil(Steady::ROUNDS).max(Steady::LEAST_IN_ROUND);
        let round = each.saturating_mul(interval);
        let least = round.saturating_mul(Steady::ROUNDS);
        // The greatest time ends with an interval, too.
        let most = most.0.div_ceil(interval).saturating_mul(interval).max(least);
        Steady { least: Nanos(least), most: Nanos(most), round: Nanos(round) }
    }
}

/// How a measured amount ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Once {
    /// Whether all workers of all hosts stop when the first of them is done.
    pub stonewall: bool,
    /// Whether each worker flushes what it wrote (`fsync`) within its time.
    pub fsync: bool,
    /// Whether each worker opens its files for itself and closes them within its time.
    pub close: bool,
}

/// One host's share of a run: all that its agent needs to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPlan {
    /// The run's name, for the marker.
    pub run_id: String,
    /// The host's number, from 0.
    pub host: u32,
    /// Its name, for people.
    pub hostname: String,
    /// The length of one sample.
    pub interval: Nanos,
    /// How requests reach the kernel.
    pub backend: Backend,
    /// Who looks for requests and completions.
    pub poll: Poll,
    /// Whether to bypass the page cache.
    pub direct: bool,
    /// Whether files are to be evicted from the page cache before a stage reads through it.
    pub evict: bool,
    /// Whether all that the host has cached is to be dropped before a stage reads through the page cache.
    pub drop_caches: bool,
    /// How long after the end of a stage it is waited for requests that the target has not answered.
    pub patience: Nanos,
    /// Whether to keep every single latency.
    pub raw_latencies: bool,
    /// The CPUs that workers run on; empty for any.
    pub cpus: Vec<u32>,
    /// Whether each worker has one of `cpus` for itself, as far as they reach.
    pub own_cpu: bool,
    /// Whether time is that of the simulation, which passes as fast as it can be computed. Only where all targets are simulated.
    pub virtual_time: bool,
    /// What written blocks hold.
    pub contents: Contents,
    /// What it loads.
    pub targets: Vec<Target>,
    /// The trees of its metadata workloads.
    #[serde(default)]
    pub trees: Vec<Tree>,
    /// Its stages; as many as the plan has.
    pub stages: Vec<HostStage>,
    /// What is opened and released by itself, in the order of the first stages; every stage, target and tree is in one of them. None where all of
    /// it is one: without scenarios, or where they have one layout in common.
    #[serde(default)]
    pub parts: Vec<Part>,
}

impl HostPlan {
    /// The files of all targets in order: what [`Extent::file`] counts.
    pub fn files(&self) -> impl Iterator<Item = &TargetFile> {
        self.targets.iter().flat_map(|target| &target.files)
    }

    /// Bytes of the files in its trees at their fullest.
    pub fn in_trees(&self) -> Bytes {
        Bytes(self.stages.iter().map(HostStage::tree_bytes).max().unwrap_or(0))
    }
}

/// What written blocks hold, and whether reads are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// The same on all hosts of a run: where blocks that hosts have in common come from.
    pub seed: u64,
    /// The share of each 4 KiB that compresses away.
    pub compressible: Percent,
    /// The share of written 4 KiB blocks that are copies of others; none where reads are checked.
    pub duplicate: Percent,
    /// Among whom the copies are spread.
    pub duplicate_scope: DuplicateScope,
    /// Whether every 512 bytes carry a header, and reads are checked.
    pub verify: bool,
    /// Whether every byte carries a header before the first workload begins, so that one without is damage.
    pub filled: bool,
    /// Bytes for which one generation is kept: every write begins and ends at multiples of it. A power of two from 512 to 1 MiB.
    pub grain: Bytes,
}

impl Contents {
    /// Random bytes that nobody checks.
    pub const RANDOM: Contents = Contents {
        seed: 0,
        compressible: Percent::ZERO,
        duplicate: Percent::ZERO,
        duplicate_scope: DuplicateScope::Worker,
        verify: false,
        filled: false,
        grain: Bytes(512),
    };
}

/// One target of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The path as the user named it.
    pub path: String,
    /// What it is, and with that what may be done to it.
    pub kind: PlannedTarget,
    /// The files of it, or the device as a single one.
    pub files: Vec<TargetFile>,
}

/// What may be done to a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlannedTarget {
    /// Files of ours in the directory `root`, claimed by a marker.
    Directory {
        /// The directory; made if it is missing.
        root: String,
    },
    /// Files in a directory that another host of the run claims, makes and removes: host 0 a shared file, any other its own. Others wait until
    /// they are there, and open them.
    Joined,
    /// A file or device that is only read.
    ReadOnly,
    /// A device whose content the user gave up by name.
    Device,
    /// A simulated device; the text behind `sim:` says which.
    Simulated,
}

/// One file, or a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetFile {
    /// Its path.
    pub path: String,
    /// How many of its bytes are loaded, from the start.
    pub size: Bytes,
}

/// One host's share of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostStage {
    /// The stage's number.
    pub stage: u32,
    /// What it is for.
    pub kind: StageKind,
    /// What its workers do, as in the plan's stage.
    pub works: Vec<Work>,
    /// Each worker's own share.
    pub workers: Vec<Worker>,
}

impl HostStage {
    /// Operations of its metadata work: one for each file, or directory, of every worker.
    pub fn operations(&self) -> u64 {
        let shares = self.workers.iter().filter_map(|worker| worker.files);
        shares.map(|share| share.count).fold(0, u64::saturating_add)
    }

    /// Bytes of the files that its metadata work goes through; where sizes differ, what is to be expected.
    pub(crate) fn tree_bytes(&self) -> u64 {
        let Some(work) = self.works.iter().find_map(|work| work.metadata) else { return 0 };
        if work.op == Op::Readdir { 0 } else { self.operations().saturating_mul(work.mean_size.unwrap_or(work.size).0) }
    }

    /// Bytes that its metadata work writes.
    pub fn written_to_files(&self) -> Bytes {
        let writes = |work: &Work| work.metadata.is_some_and(|work| matches!(work.op, Op::Create | Op::WriteFile));
        Bytes(if self.works.iter().any(writes) { self.tree_bytes() } else { 0 })
    }

    /// When it ends.
    pub fn stop(&self) -> Stop {
        self.works.first().map_or(Stop::Amount, |work| work.stop)
    }
}

/// One worker's share of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    /// The number of its work among those of the stage.
    pub work: u32,
    /// Where its random choices start.
    pub seed: u64,
    /// At a fixed rate: its number among all workers of all hosts that do this work, which take turns; and how many they are.
    pub turn: (u32, u32),
    /// Its byte ranges. Of two workers that do the same work each has its own blocks, unless the workload says that every one has all.
    pub extents: Vec<Extent>,
    /// Its files, where its work is metadata; no two workers of a host that do the same work share one.
    #[serde(default)]
    pub files: Option<FileShare>,
}

/// A range of bytes of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// The number of the file among [`HostPlan::files`].
    pub file: u32,
    /// The first byte.
    pub offset: u64,
    /// How many bytes; at least a block.
    pub length: u64,
}

impl Plan {
    /// Bytes that `prepare` writes on all hosts together.
    pub fn prepare_bytes(&self) -> Bytes {
        let is_prepare = |stage: &&HostStage| stage.kind == StageKind::Prepare;
        let stages = self.hosts.iter().flat_map(|host| host.stages.iter().filter(is_prepare));
        Bytes(
            stages
                .flat_map(|stage| &stage.workers)
                .flat_map(|worker| &worker.extents)
                .map(|extent| extent.length)
                .sum(),
        )
    }

    /// Bytes in all extents of a stage on all hosts together: what one that stops at [`Stop::Amount`] goes through.
    pub fn stage_bytes(&self, stage: u32) -> Bytes {
        let stages = self.hosts.iter().filter_map(|host| host.stages.get(stage as usize));
        let extents = stages.flat_map(|stage| &stage.workers).flat_map(|worker| &worker.extents);
        Bytes(extents.map(|extent| extent.length).fold(0, u64::saturating_add))
    }

    /// Bytes that are read to check them after the points, on all hosts together.
    pub fn verify_bytes(&self) -> Bytes {
        let stages = self.stages.iter().zip(0..).filter(|(stage, _)| stage.kind == StageKind::Verify);
        Bytes(stages.map(|(_, number)| self.stage_bytes(number).0).fold(0, u64::saturating_add))
    }

    /// Bytes of the layout on all hosts together; what hosts share counts once. Where scenarios have layouts of their own: of those that stand at the
    /// same time, at their most.
    pub fn footprint(&self) -> Bytes {
        if self.has_parts() {
            return self.largest_footprint();
        }
        let targets = self.hosts.iter().flat_map(|host| &host.targets);
        let own = targets.filter(|target| target.kind != PlannedTarget::Joined);
        let files = own.flat_map(|target| &target.files).map(|file| file.size.0).fold(0, u64::saturating_add);
        // Each host has trees of its own.
        let trees = self.hosts.iter().map(|host| host.in_trees().0).fold(0, u64::saturating_add);
        Bytes(files.saturating_add(trees))
    }

    /// Bytes that a stage moves which ends with an amount: every worker's requests, in blocks.
    pub fn amount(&self, stage: u32) -> Bytes {
        let stages = self.hosts.iter().filter_map(|host| host.stages.get(stage as usize));
        let bytes = |stage: &HostStage, worker: &Worker| {
            stage.works.get(worker.work as usize).map_or(0, |work| {
                let most = worker.extents.iter().map(|extent| extent.length).fold(0, u64::saturating_add);
                work.requests(worker).saturating_mul(work.largest_block().0).min(most)
            })
        };
        let all = stages.flat_map(|stage| stage.workers.iter().map(move |worker| bytes(stage, worker)));
        Bytes(all.fold(0, u64::saturating_add))
    }

    /// The time of all stages that end after a time; of those that end when they are steady, the greatest.
    pub fn fixed_time(&self) -> Nanos {
        Nanos(
            self.stages.iter().filter_map(|stage| stage.stop().time()).map(|time| time.0).fold(0, u64::saturating_add),
        )
    }

    /// By how much that may be shorter, because stages end when they are steady.
    pub fn steady_room(&self) -> Nanos {
        let rooms = self.stages.iter().filter_map(|stage| stage.stop().steady());
        Nanos(rooms.map(|steady| steady.most.0.saturating_sub(steady.least.0)).fold(0, u64::saturating_add))
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
        let found = self.stages.iter().position(|stage| stage.kind == StageKind::Measure && stage.point == Some(point));
        found.map(|index| index as u32)
    }
}
