//! What there can be to doubt. Its row is in `table`; when each applies is decided in `validity`.

use crate::ceiling::Layer;
use crate::rows::state::RunState;
use model::load::Rate;
use model::machines::DiskCache;
use model::note::OtherRun;
use model::{Bytes, Fact, Nanos, Op, Percent, Scale};
use std::collections::BTreeMap;

/// A host that did much less than the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Straggler {
    /// Its name.
    pub host: String,
    /// What it did for each worker, as a share of the median host.
    pub level: f64,
    /// Its part of the loss, 0 to 1: of the requests that all stragglers together lack to the
    /// median host, for each of their workers.
    pub loss: f64,
}

/// What was measured where the plan has it elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub enum Misplaced {
    /// Machines of ours did not run on the node that they were made on.
    Machines {
        /// The node.
        node: String,
        /// The machines.
        machines: Vec<String>,
    },
    /// Hosts' targets are near to them alone, and what they read came through their ports.
    OwnNode {
        /// The hosts' names.
        hosts: Vec<String>,
        /// Bytes that ports received for each byte read, without what others wrote.
        received: f64,
    },
    /// Hosts' targets are near to others, and what they read came from their own disks.
    OtherNode {
        /// The hosts' names.
        hosts: Vec<String>,
        /// Bytes that their own disks read for each byte read.
        own_disks: f64,
        /// Bytes that their ports received for each byte read.
        received: f64,
    },
    /// In a simulated cluster, another share went to the other site than was to.
    OtherSite {
        /// Reads or writes.
        op: Op,
        /// The share that was to, 0 to 1.
        planned: f64,
        /// The share that did.
        found: f64,
    },
}

/// A reason to doubt a figure, with its evidence.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// The layout is less than twice the memory, so that the page cache could hold a good part of
    /// it.
    Cached {
        /// Bytes of the layout on that host.
        footprint: Bytes,
        /// Memory of that host; of all hosts, where they share a file.
        memory: Bytes,
        /// Whether it is that of files of trees, which nothing takes past the page cache.
        of_trees: bool,
    },
    /// A part of what was read came from the page cache.
    ReadFromMemory {
        /// The share of the bytes read, 0 to 1.
        share: f64,
    },
    /// Far fewer bytes crossed ports, the loopback and disks than were read or written: a cache of
    /// the file system answered.
    NotCarried {
        /// Which of the two.
        op: Op,
        /// The share that was carried, 0 to 1.
        share: f64,
    },
    /// Several readers ask for the same blocks in the same order, from the same start on: a cache
    /// can answer all but the first.
    ReadInStep {
        /// How many readers there are.
        readers: u32,
        /// How many of them read what no other reads.
        distinct: u32,
    },
    /// The target refused direct I/O: requests went through the page cache; as the note says.
    DirectRefused(Fact),
    /// Another backend took the place of the one that was asked for; as the note says.
    BackendFallback(Fact),
    /// Hosts were lost: figures rest on intervals with them, or on such without, never on both.
    HostLost {
        /// Their names.
        hosts: Vec<String>,
        /// Whether the figures are those of the others; else they end at the loss.
        wholly: bool,
        /// How long after the stage's start the figures of the others begin; `None` where they
        /// begin with it.
        behind: Option<Nanos>,
    },
    /// Hosts that were asked for could not be reached at the start: the plan is one for the others.
    HostsLeftOut {
        /// Their names.
        hosts: Vec<String>,
        /// How many hosts were asked for.
        of: u64,
    },
    /// The commands of events of an earlier stage still ran while this was measured.
    EventRunning {
        /// The names of the events.
        events: Vec<String>,
    },
    /// Other runs of this program loaded the same hosts meanwhile.
    OtherRuns {
        /// The hosts.
        hosts: Vec<String>,
        /// The runs, each once.
        runs: Vec<OtherRun>,
    },
    /// The hosts did not begin together.
    StartSkew {
        /// The host that began last.
        host: String,
        /// How much too late.
        late: Nanos,
    },
    /// What is known of a host's clock is not enough to say that it began with the others.
    ClockError {
        /// The host of which least is known.
        host: String,
        /// By how much the agreed instant may have been wrong on its clock.
        error: Nanos,
    },
    /// Measuring was to end when it was steady, and ended at its greatest time; as the note says.
    Unsettled(Fact),
    /// Preconditioning was to end when caches were warm, and ended at its greatest time.
    NotWarm {
        /// Which that was.
        after: Nanos,
    },
    /// What the suite has done before each point, so that caches are empty, was not done or failed;
    /// as the note says.
    CachesNotEmptied(Fact),
    /// Too few samples for any quantile of the tail.
    FewSamples {
        /// How many there are.
        samples: u64,
    },
    /// A quantile and those above it rest on a handful of samples.
    ThinTail {
        /// The lowest of them: `p99.9`.
        quantile: &'static str,
        /// How many samples lie beyond it.
        beyond: u64,
    },
    /// A worker had no CPU time left: the generator may be what was measured.
    WorkerBusy {
        /// The share of one core, 0 to 1.
        share: f64,
    },
    /// The kernel's own threads carried what rings were asked, and took much of the CPU time.
    KernelCarried {
        /// Their share of that of the workers and them.
        share: f64,
    },
    /// Hosts that made the load had no CPU time left: they may be what was measured.
    HostSaturated {
        /// Their names.
        hosts: Vec<String>,
        /// The share of the load for which the CPUs of the worst of them were all but used up, 0
        /// to 1.
        share: f64,
        /// What the workers themselves took of the CPUs of these hosts, 0 to 1.
        own: f64,
    },
    /// The CPU quota of a control group held up the generator.
    QuotaThrottled {
        /// The host where it did most.
        host: String,
        /// The share of the periods in which the group used its quota up, 0 to 1.
        share: f64,
    },
    /// At a fixed rate: requests that were due piled up, before the target or in the generator.
    RateMissed {
        /// What was asked for.
        asked: Rate,
        /// The share of it that came back, failed requests included, 0 to 1.
        done: f64,
        /// Requests that were due and had not come back at the end, without those that the mean
        /// latency keeps under way.
        piled_up: u64,
    },
    /// In a closed loop: the target stood still for a while, and few requests saw it.
    Stalled {
        /// The longest request of those intervals that did not wait for the generator: the longest
        /// of the row may have waited while others went on.
        longest: Nanos,
        /// How many intervals were slow for it.
        intervals: u32,
    },
    /// In a closed loop: the target stood still for a part of the time, each time for less than an
    /// interval shows.
    StalledOften {
        /// The longest request.
        longest: Nanos,
        /// How many requests waited for so long.
        waits: u64,
        /// The share of the time of all that was outstanding, 0 to 1.
        share: f64,
    },
    /// The generator itself did not run for a while: it was stopped, or others had its processors.
    GeneratorPaused {
        /// The host where it stood still for longest.
        host: String,
        /// The longest time.
        longest: Nanos,
        /// How often it did on that host.
        times: u32,
    },
    /// The start of the measured time was not like the rest of it.
    WarmUp {
        /// How long it took to become like the rest.
        length: Nanos,
        /// The level until then, as a share of the level after it.
        share: f64,
        /// Whether that is the level of the mean latency: the rate was given.
        of_latency: bool,
    },
    /// The level changed in the measured time.
    Changed {
        /// The one host where it did; `None` for all hosts together.
        host: Option<u32>,
        /// How often.
        times: u32,
        /// When the largest change was, after the start of the stage.
        at: Nanos,
        /// The level after the largest change, as a share of the level before it.
        share: f64,
        /// Whether that is the level of the mean latency: the rate was given.
        of_latency: bool,
    },
    /// The level did not settle, by the rule of the SNIA.
    NotSteady {
        /// Largest − smallest round, as a share of the mean.
        range: f64,
        /// Rise over the window, as a share of the mean.
        slope: f64,
        /// Whether that is of the mean latency: the rate was given.
        of_latency: bool,
    },
    /// Some workers with the same work got much less of it done.
    UnfairWorkers {
        /// How many.
        short: u32,
        /// Of how many.
        of: u32,
        /// The least, as a share of the median.
        least: f64,
    },
    /// Some hosts got much less done for each of their workers.
    UnequalHosts {
        /// How many.
        short: u32,
        /// Of how many.
        of: u32,
        /// Who they are, those that lack most first; at most three.
        stragglers: Vec<Straggler>,
    },
    /// Rate and latency together make more requests outstanding than there can have been.
    LittleBroken {
        /// Requests per second × mean latency.
        found: f64,
        /// The most that the workers can have outstanding.
        most: f64,
    },
    /// The file system was nearly full with the layout in it.
    LittleSpace {
        /// The target.
        target: String,
        /// The share of the file system that stayed free, 0 to 1.
        free: f64,
    },
    /// Writes counted as soon as a volatile write cache had them.
    VolatileCache {
        /// The devices below the targets, by the kernel's names; not empty.
        devices: Vec<String>,
    },
    /// Much of what was acknowledged was not durable yet when the load ended.
    FlushOwed {
        /// How long the flush behind the load took.
        flush: Nanos,
        /// The durable rate as a share of the acknowledged one, 0 to 1.
        share: f64,
        /// What the devices wrote, as a share of the acknowledged bytes, 0 to 1.
        written: f64,
    },
    /// The flush behind the load failed, or was given up.
    FlushBroken {
        /// The target.
        target: String,
        /// The errno; 0 where it was given up.
        errno: i32,
        /// How long it took until then.
        took: Nanos,
    },
    /// The file below a loop device had bytes that were never written.
    Holes {
        /// The loop device.
        device: String,
        /// Their share of the device, 0 to 1.
        share: f64,
    },
    /// The flush behind the load was faster than a medium of its kind is.
    FlushInstant {
        /// The devices with a write-back cache, and targets whose devices nobody knows.
        flushed: Vec<String>,
        /// How long the flush took.
        took: Nanos,
        /// The least that one takes there.
        least: Nanos,
    },
    /// What was written came to disks with a write-back cache, and the flushes of its fsyncs did
    /// not.
    FlushLost {
        /// Flushes that a disk saw for each fsync, 0 to 1.
        share: f64,
    },
    /// Writes were faster than reads of the same kind, on a device that acknowledges from a cache.
    WritesFaster {
        /// The devices.
        devices: Vec<String>,
        /// How many times as fast.
        times: f64,
    },
    /// Fewer bytes were read from the devices than were asked for: something above them answered.
    LessAtDevice {
        /// Reads.
        op: Op,
        /// The share that reached the devices.
        share: f64,
    },
    /// The devices moved more bytes than were asked for.
    MoreAtDevice {
        /// In which direction.
        op: Op,
        /// How many times as many.
        share: f64,
    },
    /// The devices moved bytes in a direction in which nothing was asked for.
    OtherIo {
        /// In which direction.
        op: Op,
        /// Bytes per second.
        bytes_per_s: f64,
    },
    /// The devices saw fewer requests than were sent: the kernel merged them.
    Merged {
        /// In which direction.
        op: Op,
        /// Their share.
        share: f64,
    },
    /// The rate is constant, and a round number: a limit, and not a device.
    Throttled {
        /// Requests per second.
        iops: f64,
        /// Bytes per second.
        bytes_per_s: f64,
        /// The standard deviation over the intervals ÷ the mean.
        spread: f64,
    },
    /// The rate fell and never came back: what was saved up, or a fast tier, was used up.
    BurstSpent {
        /// When, after the start of the stage.
        at: Nanos,
        /// What had moved until then.
        moved: Bytes,
        /// The level after it, as a share of the level before it.
        share: f64,
    },
    /// The hypervisor gave CPU time of a host to others.
    Stolen {
        /// The host of which it took most.
        host: String,
        /// The share of its CPU time, 0 to 1.
        share: f64,
    },
    /// Virtual CPUs of guests had work and waited for a CPU of their node.
    GuestsWaited {
        /// The node on which they waited most.
        node: String,
        /// The share of the time of its guests' virtual CPUs, 0 to 1.
        share: f64,
    },
    /// The cache mode of guests' disks lets the memory of their hypervisor answer.
    HostCache {
        /// The mode.
        mode: DiskCache,
        /// Bytes that the nodes' disks read for each byte that guests read, other programs'
        /// included; `None` where guests only wrote, or nobody counted.
        from_disks: Option<f64>,
    },
    /// Data or machines were not where the plan has them.
    Misplaced(Misplaced),
    /// A control group limits the I/O of a host's processes.
    IoLimited {
        /// The host.
        host: String,
        /// The limit as the kernel words it.
        limit: String,
    },
    /// More requests were outstanding than the device takes at a time.
    QueueShort {
        /// The device.
        device: String,
        /// Requests that workers keep outstanding.
        asked: u64,
        /// Requests that the device and its queues take.
        takes: u64,
    },
    /// A file system is mounted so that it sends no flushes.
    BarriersOff {
        /// Where.
        mount: String,
        /// The option.
        option: String,
    },
    /// A software RAID lacks members.
    ArrayDegraded {
        /// The device.
        device: String,
        /// How many.
        missing: u32,
    },
    /// A software RAID was rebuilding, checking or reshaping when the run began.
    ArrayBusy {
        /// The device.
        device: String,
        /// The kernel's word: `recover`, `check`.
        action: String,
    },
    /// A device's link is slower or narrower than both of its ends allow.
    LinkNarrow {
        /// The device.
        device: String,
        /// What it runs at: `8.0 GT/s PCIe x4`.
        now: String,
        /// What it could.
        best: String,
    },
    /// The host's clock is slow to read.
    ClockSource {
        /// The host.
        host: String,
        /// The kernel's word: `hpet`.
        source: String,
    },
    /// The workload was measured from its first request.
    NotPreconditioned,
    /// Random writes were measured on flash that is not in the state that they leave it in, or of
    /// which a part alone was loaded.
    ShortPreparation {
        /// The drive, or the first of them.
        device: String,
        /// Random writes before the figures ÷ what is loaded.
        overwritten: f64,
        /// How much of that is enough.
        needs: f64,
        /// The share of the drive that is loaded, where it is a part.
        part: Option<f64>,
        /// The spare for which one pass aged it.
        aged_for: Option<Percent>,
    },
    /// What was done to flash counts on a drive as from its box, and nobody made it so.
    NotPurged {
        /// The drive, or the first of them.
        device: String,
    },
    /// Blocks were read that nobody ever wrote.
    NotPrepared,
    /// Some requests failed; they are in no rate and no quantile.
    Errors {
        /// How many, by errno; 0 is a transfer that was short.
        by_errno: BTreeMap<i32, u64>,
        /// The operation, where it is one that not every target has, none succeeded, and each was
        /// refused as such.
        unsupported: Option<Op>,
    },
    /// Storage that compresses or finds duplicates had less to store than was written.
    Reducible {
        /// The share of each 4 KiB that compresses away.
        compressible: Percent,
        /// The share of written blocks that are copies of others.
        duplicate: Percent,
    },
    /// The stage did not run to its planned end.
    Incomplete {
        /// How the run ended.
        how: RunState,
        /// What was measured.
        measured: Nanos,
    },
    /// Sizes and times were shrunk.
    Scaled {
        /// The factor.
        scale: Scale,
    },
    /// More came back than the described testbed can give.
    AboveCeiling {
        /// The share of the ceiling, above 1.
        share: f64,
        /// The layer that ought to have bound.
        layer: Layer,
    },
    /// The target is a simulation.
    Simulated,
    /// Parts of the storage were not connected before the stage or after it.
    ClusterDegraded {
        /// Which storage.
        storage: String,
        /// The parts.
        down: Vec<String>,
        /// How many it has.
        of: u32,
    },
    /// All parts were there, and copies were not alike yet, before the stage or after it.
    ClusterHealing {
        /// Which storage.
        storage: String,
        /// How many entries.
        entries: u64,
    },
    /// One machine plays all nodes of the target.
    OneMachine {
        /// How many.
        nodes: u32,
    },
    /// No request came back.
    NothingCompleted,
    /// A command told other figures than the kernel counted at the devices.
    ToldOtherwise {
        /// The tool.
        tool: String,
        /// What it told, per second.
        told: f64,
        /// What was counted, per second.
        seen: f64,
        /// Whether these are requests; else bytes.
        is_rate: bool,
    },
}
