//! Every field that a suite can have. Each is declared here once: the reader, `--set`, the sweep
//! axes and the reference in `docs/reference/suite.md` all come from these tables.

use crate::choices::{
    Arrivals, FileOrder, FilesPer, Flush, LayoutKind, Order, OtherFiles, Pin, PreconditionUntil,
    PrepareOrder, RateOf, Sharing, Spread, Time, Until, Verify, WorkloadKind, Zones,
};
use crate::names::Names;
use crate::operations::Operations;
use crate::placement::HostSet;
use crate::target_set::TargetSet;
use form::{Amount, Auto, Count, Depth, Whole, spec_table};
use model::choices::{
    Access, Backend, CloseTime, CountersKept, DuplicateScope, FileFsync, OnLostHost, Poll, TrimAs,
};
use model::load::{HotSpots, Part, Sequence, SizeMix, Skew};
use model::machines::{Accelerator, DiskAllocation, DiskBus, DiskCache, DiskContent};
use model::offered::Offered;
use model::priority::Priority;
use model::units::{Bytes, Nanos, Percent};

spec_table! {
    /// The top of the file.
    pub struct SuiteSpec {
        /// The name that reports print.
        name: String,
        /// What the suite is for, in one sentence.
        description: String = String::new(),
        /// The start of every random choice. The same seed gives the same sequence of requests.
        seed: u64 = 1,
    }
}

spec_table! {
    /// What the load goes to. In a directory Plimsoll creates these files; an existing device or
    /// file is loaded as it is.
    pub struct LayoutSpec {
        /// `"files"`: each host has its own; `"shared-file"`: all workers of all hosts share one,
        /// by `sharing`. `"tree"`: directories with many small files, for metadata workloads, sized
        /// by `[tree]`.
        kind: LayoutKind = LayoutKind::Files,
        /// The number of files in each target directory. `"auto"`: as many as the workload with the
        /// most workers has.
        files: Auto<Count> = Auto::Auto,
        /// What `files` counts: files of each target directory, or files of each worker in it.
        per: FilesPer = FilesPer::Target,
        /// The size of each file. `"auto"`: all files together take a tenth of the free space, at
        /// most 4 GiB and half of the memory.
        size: Auto<Bytes> = Auto::Auto,
        /// Several file sizes with weights, instead of `size`: `"4KiB:50, 1MiB:50"`. A workload
        /// leaves out files that are smaller than its blocks.
        sizes: Auto<SizeMix> = Auto::Auto,
    }
}

spec_table! {
    /// What a run has to keep to. `plimsoll run` reports each condition at every measured point. It
    /// ends with exit code 6 where one is broken.
    pub struct ObjectiveSpec {
        /// Conditions that hold at once: `"read p99 < 5ms, errors = 0"`. `""`: none.
        keep: String = String::new(),
        /// The change that `plimsoll gate --suite` is to find. `"auto"`: `--detect` says it.
        detect: Auto<Percent> = Auto::Auto,
        /// How often the gate is to find it, where there is time enough. `"auto"`: 90 %.
        power: Auto<Percent> = Auto::Auto,
        /// How often the gate may call equals worse or better. `"auto"`: 5 %.
        alpha: Auto<Percent> = Auto::Auto,
        /// How long the gate may take. `"auto"`: 20 minutes.
        budget: Auto<Nanos> = Auto::Auto,
    }
}

spec_table! {
    /// The machines that `plimsoll plan` plans for, instead of those at hand. `run` refuses this
    /// table.
    pub struct ClientsSpec {
        /// The number of hosts, at most 1024, each like the first one at hand. `"auto"`: those at
        /// hand.
        count: Auto<Count> = Auto::Auto,
        /// The memory of each. `"auto"`: that of the hosts at hand.
        memory: Auto<Bytes> = Auto::Auto,
    }
}

spec_table! {
    /// Virtual machines that `--provider` makes and that carry the load: each disk is a target.
    /// Without `--provider` this table has no effect.
    pub struct VmsSpec {
        /// What the names of the machines begin with: up to 40 small letters, digits and `-`.
        name: String = "plimsoll".to_owned(),
        /// The number of machines, at most 64.
        count: Count = Count(1),
        /// The virtual CPUs of each.
        vcpus: Count = Count(1),
        /// What runs a guest's instructions. `"auto"`: `"kvm"` where all nodes have it, else
        /// `"tcg"`. Providers that have their own take `"native"` alone, which is their default.
        accelerator: Auto<Accelerator> = Auto::Auto,
        /// The memory of each, at least 128 MiB.
        memory: Bytes = Bytes::mib(512),
        /// The disks of each, at most 16.
        disks: Count = Count(1),
        /// The size of each disk: whole MiB, at least 16 MiB.
        disk_size: Bytes = Bytes::gib(1),
        /// How guests see their disks.
        bus: DiskBus = DiskBus::VirtioBlk,
        /// What the hypervisor does between a disk and its file.
        cache: DiskCache = DiskCache::None,
        /// What disks hold before anything is measured.
        content: DiskContent = DiskContent::Random,
        /// What a disk takes of its pool before the guest writes it; random bytes take all.
        /// `"linked"`: clones of one image with this content (qemu, libvirt).
        allocation: DiskAllocation = DiskAllocation::Thin,
        /// An existing folder for the files of the disks (qemu), a pool of libvirt, a datastore, or
        /// what your program takes for a pool. `""`: the provider's own.
        pool: String = String::new(),
        /// The libvirt that makes them, as `virsh -c` takes it: `"qemu+ssh://host/system"`. Other
        /// providers: `"https://vcenter/sdk"`, or the path of your program: `"./my-provider"`.
        connect: String = "qemu:///system".to_owned(),
        /// What machines of vSphere are copies of, and those of your program if it is given: a
        /// machine or template. Others boot the guest that Plimsoll makes.
        template: String = String::new(),
        /// The hypervisors that make them, as `--hosts` takes a list: `"esx[1-4]"`. Machines are
        /// spread over them, one after the other. `""`: this machine.
        nodes: String = String::new(),
        /// Which machines each node makes, instead of a spread: `["esx1:1,9", "esx2:2-4"]`.
        place: Names = Names(Vec::new()),
        /// What reaches the nodes instead of ssh, as `--launcher` takes it.
        launcher: String = String::new(),
        /// How long the machines may take from their start to their agents: from 1 s to 1 h.
        boot: Nanos = Nanos::seconds(120),
    }
}

spec_table! {
    /// Points from combinations of values. Every other key is an axis.
    pub struct SweepSpec {
        /// The order in which the points run.
        order: Order = Order::Sequential,
        /// How often each point runs.
        repetitions: Count = Count(1),
        /// With `order = "interleaved"`, all points make a round. Rounds go on until the last five
        /// are steady by SNIA's rule, and end after so many. `"auto"`: after `repetitions`.
        repetitions_max: Auto<Count> = Auto::Auto,
        /// The points that have to be steady, by their values: `"read=0%, block_size=4KiB"`. All
        /// of them where it is empty.
        track: String = String::new(),
        /// A condition for points to leave out: `"workers * depth > 256"`.
        skip: String = String::new(),
    }
}

spec_table! {
    /// The files of a `tree` layout. The workloads' operations create and remove them; their
    /// directories exist before anything is measured.
    pub struct TreeSpec {
        /// Files on each host, all workers together.
        files: Whole = Whole(100_000),
        /// The size of each file, at most 64 MiB. It is written and read with one call.
        size: Bytes = Bytes(0),
        /// Several file sizes with weights, instead of `size`: `"4KiB:70, 64KiB:20, 1MiB:10"`. A
        /// file's number decides its size.
        sizes: Auto<SizeMix> = Auto::Auto,
        /// Files in each of the lowest directories.
        per_directory: Whole = Whole(1_000),
        /// Levels of directories above the files, at most 16. At 0 `per_directory` and `fan_out`
        /// have no effect.
        depth: Whole = Whole(1),
        /// Directories in each directory, from the second level on. The first level has as many as
        /// the files need.
        fan_out: Whole = Whole(10),
        /// Give each worker its own tree. Otherwise all workers of a host share the files of one
        /// tree.
        unique: bool = true,
    }
}

spec_table! {
    /// The stages of every point, and their times.
    pub struct StagesSpec {
        /// Write every byte of the layout first. Without it, reads may hit blocks that were never
        /// written.
        prepare: bool = true,
        /// Gives all bytes of the layout back before anything is written: flash begins as from its
        /// box. Devices get discards, files are punched. [How](../method/preparation.md#purge)
        purge: bool = false,
        /// `"sequential"`: every byte once, in order. `"aged"`: one pass that leaves a purged flash
        /// drive as a long time of random writes does; it needs `spare`.
        /// [How](../method/preparation.md)
        prepare_order: PrepareOrder = PrepareOrder::Sequential,
        /// The size of each write in `prepare`: from 4 KiB to 64 MiB. `"auto"`: 1 MiB, and 4 KiB
        /// with `prepare_order = "aged"`.
        prepare_block: Auto<Bytes> = Auto::Auto,
        /// The flash that the drive has beyond its capacity, as a share of the capacity: 1 % to
        /// 100 %. For `prepare_order = "aged"` alone.
        spare: Auto<Percent> = Auto::Auto,
        /// How long each workload runs before it is measured. `"0s"` leaves the stage out, and the
        /// report says so.
        precondition: Nanos = Nanos(0),
        /// What ends preconditioning: `"time"`, when `precondition` is over, or `"warm"`, when rate
        /// and hit shares have settled. [The rule](../method/preparation.md#warm) looks at five
        /// rounds, together at least as long as `precondition`.
        precondition_until: PreconditionUntil = PreconditionUntil::Time,
        /// The longest preconditioning with `precondition_until = "warm"`. `"auto"`: twelve times
        /// `precondition`. What is not warm by then is a doubt.
        precondition_max: Auto<Nanos> = Auto::Auto,
        /// How long each workload is measured. With `until = "steady"`, the least time.
        measure: Nanos = Nanos::seconds(60),
        /// What ends the measurement: `"time"`, when `measure` is over, or `"steady"`, when the
        /// rate has settled. [Steady state](../method/confidence.md) follows the rule of SNIA.
        until: Until = Until::Time,
        /// The longest measurement with `until = "steady"`. `"auto"`: twelve times `measure`.
        measure_max: Auto<Nanos> = Auto::Auto,
        /// Measure an amount instead of a time: a size, or `"all"` for each worker's whole share.
        /// `"none"`: `measure` decides.
        amount: Amount = Amount::None,
        /// With an amount: stop all workers of all hosts when the first one is done. Otherwise each
        /// completes its own amount.
        stonewall: bool = false,
        /// With an amount: each worker ends with an `fsync` of its files, within its time.
        /// Otherwise files are flushed after the measurement.
        count_fsync: bool = true,
        /// With an amount: each worker opens its own files, and closes them within its time.
        count_close: bool = true,
        /// After a measured load that writes: `"end"` flushes each target (`fdatasync`), and
        /// results state a durable rate beside the acknowledged one. `"none"`: no flush.
        flush: Flush = Flush::End,
        /// The length of one sample: from 10 ms to 60 s.
        interval: Nanos = Nanos::seconds(1),
        /// A command that the coordinator runs with `sh -c` before each point (fio's
        /// `exec_prerun`), to empty [caches that no host reaches](../method/page-cache.md). `""`:
        /// nothing.
        prerun: String = String::new(),
    }
}

spec_table! {
    /// How requests are made.
    pub struct EngineSpec {
        /// The interface to the kernel. Where the kernel forbids io_uring, the run uses `libaio`,
        /// then `sync`, and the report says so. Where nobody names one, and the kernel's own
        /// threads would carry a ring's requests (tmpfs), [a short trial that only
        /// reads](../method/timing.md#where-nobody-names-a-backend) takes it or `sync`.
        backend: Backend = Backend::IoUring,
        /// Bypass the page cache (`O_DIRECT`). Where a file system refuses it, the run uses the
        /// cache and marks the result.
        direct: bool = true,
        /// With io_uring: workers poll the device for completions, or a kernel thread fetches their
        /// requests and takes a core for it. Where neither is possible, the run continues without
        /// and says so.
        poll: Poll = Poll::None,
        /// Before a stage that reads through the page cache, write its files back and evict them
        /// (`posix_fadvise`).
        evict: bool = true,
        /// Before such a stage, drop all that the host has cached (`/proc/sys/vm/drop_caches`). It
        /// needs root, and slows the host's other work.
        drop_caches: bool = false,
        /// The CPUs of the workers: those of the target's NUMA node, one each, or any.
        pin: Pin = Pin::Node,
        /// The time of simulated targets (`sim:`), virtual or real. Other targets always have real
        /// time.
        time: Time = Time::Virtual,
        /// How long to wait for unanswered requests after a stage or Ctrl-C, before the run gives
        /// them up: from 100 ms to 1 h. The same bound holds for each call that opens, looks at or
        /// removes a target.
        patience: Nanos = Nanos::seconds(30),
        /// Store every single latency in the run file too, at 8 bytes a request. It serves to check
        /// Plimsoll itself.
        raw_latencies: bool = false,
    }
}

spec_table! {
    /// Rules for several hosts.
    pub struct FleetSpec {
        /// What happens when a host dies or falls silent: `"abort"` ends the run, `"continue"` goes
        /// on without it. With `"continue"`, a host whose agent starts again within 15 s joins from
        /// the next point on.
        on_lost_host: OnLostHost = OnLostHost::Abort,
        /// The least share of the hosts with which a run goes on.
        quorum: Percent = Percent::of(50),
        /// A host is lost after so long without a word, and ends its load after so long without one
        /// from us: from 2 s to 10 min.
        lost_after: Nanos = Nanos::seconds(10),
        /// Agents hold out for so long without a word and without a connection, and keep what is
        /// to be told: up to 1 h. Within it, a connection is taken up again, and `plimsoll take`
        /// takes a run over. Nothing loads longer without a coordinator. A suite with an event of
        /// `act = "migrate"` has 1 min where it does not say.
        hold: Nanos = Nanos(0),
        /// Hosts that cannot be reached at the start are tried again for so long, up to 1 h. Then
        /// `"continue"` leaves them out, if a quorum is there; `"abort"` refuses the run.
        start_within: Nanos = Nanos::seconds(5),
    }
}

spec_table! {
    /// What the file of a long run keeps. Totals and quantiles are exact with any of these.
    pub struct KeepSpec {
        /// How long single intervals of each host stay in the run file, from 1 min. Behind it,
        /// their sums and merged histograms remain. They go in blocks of 65,536 samples and
        /// operations: a shorter run keeps all. `"auto"`: to the end.
        /// See [long runs](../guide/long-runs.md).
        full: Auto<Nanos> = Auto::Auto,
        /// The kernels' counters that are recorded: `"all"`, those of block devices (`"disk"`), or
        /// `"none"`. Without them a report cannot say what was at its limit.
        counters: CountersKept = CountersKept::All,
    }
}

spec_table! {
    /// What written blocks hold, and whether reads are checked. Without this table: random bytes,
    /// no two blocks alike.
    pub struct ContentsSpec {
        /// The compressible share of each 4 KiB.
        compressible: Percent = Percent::ZERO,
        /// The share of written 4 KiB blocks that are copies of others.
        duplicate: Percent = Percent::ZERO,
        /// Where the copies are spread.
        duplicate_scope: DuplicateScope = DuplicateScope::Worker,
        /// Write address, generation and checksum into every 512 bytes, and check every read.
        /// `"after"` also checks the whole layout after each point that writes;
        /// [contents](../method/contents.md) has the rules.
        verify: Verify = Verify::No,
    }
}

spec_table! {
    /// One workload. A suite has at least one `[[workload]]`; each is measured alone, in the order
    /// of the file.
    pub struct WorkloadSpec {
        /// Its name, unique in the suite.
        name: String,
        /// Workloads of one group run at the same time, as one point, each with its own results.
        /// `""`: it runs alone.
        group: String = String::new(),
        /// Its share of the requests of all workloads of its group that have one: with 3 and 1,
        /// three requests for each of the other, also when one of them slows down. 0: not bound.
        /// See [shares](../guide/changing-load.md#shares).
        share: u64 = 0,
        /// Requests for blocks, metadata operations on whole files of a `tree` layout, or a
        /// `command` of yours that is [watched](../guide/keep-your-tool.md).
        kind: WorkloadKind = WorkloadKind::Io,
        /// The program that each host starts, and its arguments, word by word: no shell reads them.
        /// `{host}`, `{target}`, `{out}`, `{seed}` and the axes of the sweep are filled in.
        command: Names = Names(Vec::new()),
        /// The place of a command's figure in what it prints, where no dialect reads it: `"tps =
        /// {/s}"`. See [the guide](../guide/keep-your-tool.md).
        result: String = String::new(),
        /// Whether the block layer's latencies while the command runs are recorded; as root.
        trace: bool = false,
        /// Metadata: each operation runs over all files once, in this order, as a point of its own.
        /// A mix with weights, `"stat:70, open:20, readdir:10"`, runs for `stages.measure`. With
        /// `create` and `remove` it is a [population](../guide/file-populations.md).
        /// [Metadata](../method/metadata.md) lists what mixes.
        operations: Operations = Operations::default(),
        /// A mix under which files are born and die: the share of `tree.files` that has a file,
        /// from 20 % to 90 %. Births and deaths keep the number within one of it for each worker.
        fill: Percent = Percent::of(80),
        /// A mix under which files are born and die: the bytes of each `append`, at most 1 MiB.
        append: Bytes = Bytes::kib(16),
        /// Metadata: the order in which a worker visits its files.
        file_order: FileOrder = FileOrder::Sequential,
        /// Metadata: operations go to files that another worker of the host created, or with
        /// `"host"` to those of the next host (mdtest's `-N`). `"host"` needs several hosts with as
        /// many workers each, and one file system at the same path.
        other: OtherFiles = OtherFiles::No,
        /// Metadata: an `fsync` of every file after its write, counted in the latency or not. The
        /// rate always counts it.
        fsync: FileFsync = FileFsync::Never,
        /// Metadata: whether a file's close counts in the latency. The rate always counts it.
        close: CloseTime = CloseTime::Timed,
        /// The size of every request, or several with weights: `"4KiB:70, 64KiB:30"`.
        block_size: SizeMix = SizeMix::single(Bytes::kib(4)),
        /// The sizes of writes and trims, where they differ. `"auto"`: as `block_size`.
        write_block_size: Auto<SizeMix> = Auto::Auto,
        /// The share of trims (discards) in all requests. A trim destroys its block as a write
        /// does, and needs `io_uring` or `sync`.
        trim: Percent = Percent::ZERO,
        /// What a trim does to its bytes.
        trim_as: TrimAs = TrimAs::Hole,
        /// The share of reads in the requests that are not trims. The rest are writes.
        read: Percent = Percent::ALL,
        /// The order in which a worker visits its blocks.
        access: Access = Access::Random,
        /// The share of requests that `access` places; each other one follows the request before
        /// it. `"auto"`: all, or none where `access` is sequential.
        random: Auto<Percent> = Auto::Auto,
        /// For `zipf` the exponent; `"auto"`: 1.2. For `pareto` the share of blocks that gets all
        /// but that share of the requests; `"auto"`: 0.2.
        skew: Auto<Skew> = Auto::Auto,
        /// For `hot-spot`: pairs of a share of the requests and a share of the space, from the
        /// start of each worker's bytes. The remaining requests go to the remaining space.
        hot_spots: HotSpots =
            HotSpots { spots: vec![(Percent::of(95), Percent::of(5)),
            (Percent::of(4), Percent::of(10))] },
        /// Random offsets are multiples of it. `"auto"`: the block size, or the smallest of a mix.
        align: Auto<Bytes> = Auto::Auto,
        /// From the start of one sequential request to the start of the next. `"auto"`: the block
        /// size, so that they adjoin.
        stride: Auto<Bytes> = Auto::Auto,
        /// How many bytes of sequential requests adjoin before each `stride`, which then counts
        /// from the start of one run to the start of the next. `"auto"`: one request.
        run: Auto<Bytes> = Auto::Auto,
        /// Whether sequential requests go from the end of a worker's share to its start.
        backward: bool = false,
        /// How workers share the layout's bytes: a part each, blocks in turn (in a shared file), or
        /// all of it for everyone.
        sharing: Sharing = Sharing::Segment,
        /// With `sharing = "segment"`: the number of pieces of each worker's part (IOR's `-s`).
        segments: Count = Count(1),
        /// Sequential streams of each worker, in turn.
        streams: Count = Count(1),
        /// The part of every file or device that is loaded: from one share or size to another, as
        /// in `"0%-50%"` or `"64MiB-100%"`, or from one so much, as in `"25%+8GiB"`.
        range: Part = Part::WHOLE,
        /// Requests that each worker keeps outstanding.
        depth: Depth = Depth(32),
        /// Workers on each host; they divide the layout's bytes. `"auto"`: one for each logical
        /// CPU, at most 4.
        workers: Auto<Count> = Auto::Auto,
        /// Whether `workers` counts those of each host, or those of all hosts, spread evenly.
        spread: Spread = Spread::EachHost,
        /// The hosts that run it: a label of `[labels]`, a host list such as `"node[01-04]"`,
        /// several of these with commas, or `"all"`. Every host creates the files, whoever loads
        /// them.
        hosts: HostSet = HostSet::all(),
        /// The targets that it loads on each host, by their numbers from 1 in the order in which
        /// they are given: `2`, `"1,3-4"`. The layout is on all targets, whoever loads them.
        targets: TargetSet = TargetSet::all(),
        /// Each host loads the files of the host so many places further, so that none reads what it
        /// wrote; 0: its own. It needs one file system at the same path on all hosts, and no
        /// `verify`.
        rotate: u64 = 0,
        /// A fixed rate (open loop): requests per second such as `10000`, or `"100MiB/s"`; or the
        /// steps of a rate that changes, as in [changing load](../guide/changing-load.md).
        /// `"auto"`: as fast as the target answers.
        rate: Auto<Offered> = Auto::Auto,
        /// Whether `rate` is that of all workers of all hosts together, or of each worker.
        rate_of: RateOf = RateOf::All,
        /// When requests of a fixed rate are due.
        arrivals: Arrivals = Arrivals::Uniform,
        /// Without a rate: the pause of a worker after each burst has completed.
        think: Nanos = Nanos(0),
        /// Requests between two pauses.
        burst: Count = Count(1),
        /// An `fdatasync` after so many writes of a worker. 0: never.
        fsync_every: u64 = 0,
        /// Every write is durable before it completes (`O_DSYNC`).
        dsync: bool = false,
        /// The priority for the kernel's I/O scheduler: `none` (that of the process), `realtime/0`
        /// to `realtime/7`, `best-effort/0` to `best-effort/7` (0 is the highest), or `idle`. Where
        /// the system refuses it, the run continues without and says so.
        priority: Priority = Priority::Inherited,
        /// The blocks of random requests one by one, again and again: numbers from 0 within each
        /// worker's bytes, as in `"2,0,1"`. `"auto"`: `access` places them.
        sequence: Auto<Sequence> = Auto::Auto,
        /// Whether each round of the `sequence` goes on behind the one before it.
        sequence_advances: bool = false,
        /// Whether requests keep to the zones of a zoned device (ZNS, SMR), as fio's
        /// `zonemode=zbd` has them: writes go to write pointers, one at a time in each zone, and a
        /// full zone is reset before it is written again. Resets stay within `range`, in whole
        /// zones. See [zoned devices](../guide/files-and-devices.md#a-zoned-device).
        zones: Zones = Zones::Ignored,
        /// The size of a zone. A device or file without zones is treated as if it had such; one
        /// with zones must have this size. `"auto"`: what the device says.
        zone_size: Auto<Bytes> = Auto::Auto,
        /// Zones that are written at the same time, by all workers of a host on one target. 0: as
        /// many as the device allows.
        open_zones: u64 = 0,
        /// The same for each worker. 0: as many as `open_zones`.
        worker_open_zones: u64 = 0,
        /// With a `zone_reset_frequency`: the share of the loaded bytes that hold data before zones
        /// are reset although they have room.
        zone_reset_threshold: Percent = Percent::ZERO,
        /// From that threshold on, the share of writes before which their zone is reset. 0: full
        /// zones alone are reset.
        zone_reset_frequency: Percent = Percent::ZERO,
        /// Whether reads on zones also go behind write pointers, where nothing was written.
        unwritten_reads: bool = false,
    }
}

impl TreeSpec {
    /// The sizes of files, where they differ.
    pub fn mix(&self) -> Option<&SizeMix> {
        match &self.sizes.value {
            Auto::Fixed(sizes) if !sizes.is_single() => Some(sizes),
            Auto::Fixed(_) | Auto::Auto => None,
        }
    }

    /// The size of each file, or of the largest.
    pub fn largest(&self) -> Bytes {
        match &self.sizes.value {
            Auto::Fixed(sizes) => sizes.largest(),
            Auto::Auto => self.size.value,
        }
    }
}

impl WorkloadSpec {
    /// Every size that a request of it can have.
    pub fn sizes(&self) -> impl Iterator<Item = Bytes> + '_ {
        let writes = match &self.write_block_size.value {
            Auto::Fixed(mix) => Some(mix),
            Auto::Auto => None,
        };
        self.block_size.value.sizes().chain(writes.into_iter().flat_map(SizeMix::sizes))
    }
}
