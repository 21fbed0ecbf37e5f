//! Every field that a suite can have. Each is declared here once: the reader, `--set`, the sweep
//! axes and the reference in `docs/reference/suite.md` all come from these tables.

use crate::choices::{
    Arrivals, FileOrder, FilesPer, Flush, LayoutKind, Order, OtherFiles, Pin, RateOf, Sharing,
    Spread, Time, Until, Verify, WorkloadKind,
};
use crate::operations::Operations;
use crate::placement::HostSet;
use form::{Amount, Auto, Count, Depth, Whole, spec_table};
use model::choices::{Access, Backend, CloseTime, DuplicateScope, FileFsync, OnLostHost, Poll};
use model::load::{HotSpots, Part, Rate, SizeMix, Skew};
use model::priority::Priority;
use model::units::{Bytes, Nanos, Percent};

spec_table! {
    /// The top of the file.
    pub struct SuiteSpec {
        /// The suite's name, as reports print it.
        name: String,
        /// What the suite is for, in a sentence.
        description: String = String::new(),
        /// Where every random choice of the run starts: the same seed gives the same sequence of
        /// requests.
        seed: u64 = 1,
    }
}

spec_table! {
    /// What the load goes to. In a directory, Plimsoll makes these files; a device or a file that
    /// is there already is taken as it is.
    pub struct LayoutSpec {
        /// Files that each host has for itself, or one file that all workers of all hosts share. In
        /// a shared file, `sharing` in the workloads says who touches what. Or a tree of
        /// directories with many small files, for workloads of metadata: `[tree]` says which.
        kind: LayoutKind = LayoutKind::Files,
        /// How many files each target directory gets. `"auto"`: as many as the workload with the
        /// most workers has.
        files: Auto<Count> = Auto::Auto,
        /// What `files` counts: those of each target directory, or those of each worker in it (of
        /// the workload with the most workers).
        per: FilesPer = FilesPer::Target,
        /// The size of each file. `"auto"`: all files together take a tenth of the free space, at
        /// most 4 GiB and half of the memory.
        size: Auto<Bytes> = Auto::Auto,
        /// The sizes of files, where they differ, with weights: with `"4KiB:50, 1MiB:50"` every
        /// other file has 4 KiB. Instead of `size`; a workload leaves out files that are smaller
        /// than its blocks.
        sizes: Auto<SizeMix> = Auto::Auto,
    }
}

spec_table! {
    /// The machines that `plimsoll plan` is to plan for in place of those at hand; `run` refuses
    /// it.
    pub struct ClientsSpec {
        /// How many hosts, up to 1024, each like the first one at hand. `"auto"`: those at hand.
        count: Auto<Count> = Auto::Auto,
        /// The memory of each. `"auto"`: what those at hand have.
        memory: Auto<Bytes> = Auto::Auto,
    }
}

spec_table! {
    /// Points from combinations of values. Every other key is an axis.
    pub struct SweepSpec {
        /// In what order the points run.
        order: Order = Order::Sequential,
        /// How often each point runs.
        repetitions: Count = Count(1),
        /// Leaves out the points for which it is true: `"workers * depth > 256"`.
        skip: String = String::new(),
    }
}

spec_table! {
    /// The files of a layout of kind `tree`. They are created and removed by the operations of the
    /// workloads; the directories that hold them are there before anything is measured. The name of
    /// each has 19 bytes, as that of mdtest's files (`f000000000000012345`).
    pub struct TreeSpec {
        /// Files on each host, all workers together.
        files: Whole = Whole(100_000),
        /// The size of each file, at most 64 MiB; it is written and read in one piece.
        size: Bytes = Bytes(0),
        /// The sizes of files, where they differ, with weights, each at most 64 MiB: with
        /// `"4KiB:70, 64KiB:20, 1MiB:10"` seven of ten files have 4 KiB. Which file has which size
        /// follows from its number. Instead of `size`.
        sizes: Auto<SizeMix> = Auto::Auto,
        /// Files in each of the lowest directories.
        per_directory: Whole = Whole(1_000),
        /// Levels of directories above the files, at most 16. At 0 there are none, and
        /// `per_directory` and `fan_out` mean nothing.
        depth: Whole = Whole(1),
        /// Directories in each directory from the second level on; the first level has as many as
        /// the files need.
        fan_out: Whole = Whole(10),
        /// Each worker has a tree of its own. Otherwise all workers of a host take turns with the
        /// files of one tree, and work in the same directories.
        unique: bool = true,
    }
}

spec_table! {
    /// The stages that every point goes through, and their times.
    pub struct StagesSpec {
        /// Write every byte of the layout before anything is measured. Without it, reads may hit
        /// blocks that were never written.
        prepare: bool = true,
        /// The size of each write in `prepare`: from 4 KiB to 64 MiB.
        prepare_block: Bytes = Bytes::mib(1),
        /// How long each workload runs before it is measured. `"0s"` leaves the stage out, and the
        /// report says so.
        precondition: Nanos = Nanos(0),
        /// How long each workload is measured; with `until = "steady"`, how long at least.
        measure: Nanos = Nanos::seconds(60),
        /// What ends the measuring: `"time"`, `measure` is over; `"steady"`, the rate of all hosts
        /// together (at a fixed rate, the mean latency) has settled by SNIA's rule over five
        /// rounds, each a fifth of `measure` and at least four intervals.
        until: Until = Until::Time,
        /// With `until = "steady"`: measuring ends then, steady or not, and the result says which.
        /// `"auto"`: twelve times `measure`.
        measure_max: Auto<Nanos> = Auto::Auto,
        /// Measure an amount instead of a time: `"all"`, every worker goes through its share once;
        /// a size, at most so much of it; `measure` is not looked at then. `"none"`: `measure` is
        /// what counts.
        amount: Amount = Amount::None,
        /// With an amount: all workers of all hosts stop when the first one is done. Otherwise each
        /// does its own, and results tell what had been done when the first was.
        stonewall: bool = false,
        /// With an amount: each worker ends with an `fsync` of the files that it wrote, within its
        /// time. Otherwise the files are flushed when nothing is measured any more.
        count_fsync: bool = true,
        /// With an amount: each worker opens its files for itself, and closes them within its time.
        count_close: bool = true,
        /// Behind a measured load that writes, when every request is back: `"end"`, flush each
        /// target (`fdatasync`) and record how long that takes. Results then state a durable rate
        /// beside the acknowledged one. The flush is in no rate and no latency. It is given up
        /// 15 s after `engine.patience`. `"none"`: no flush.
        flush: Flush = Flush::End,
        /// The length of one sample: from 10 ms to 60 s.
        interval: Nanos = Nanos::seconds(1),
        /// What the coordinator has `sh -c` do before each point (fio's `exec_prerun`), when the
        /// point before it has ended and nothing of its own has begun; no other host does. It is
        /// for caches that no host of the run can reach, those of servers and arrays: `pdsh -S -w
        /// server[1-4] 'sync; echo 3 > /proc/sys/vm/drop_caches'`. Its exit status, duration and
        /// last lines are recorded. Where it fails, or is not over after 10 min and is killed with
        /// its children, the run goes on, and the results of the point say that caches were not
        /// emptied as asked. Ctrl-C ends it with the run. A file system on which the run has a
        /// layout cannot be unmounted by it, because the layout's files are open from its first
        /// stage to its last; what the hosts of the run have cached is what `engine.evict` and
        /// `engine.drop_caches` are for. Under simulated time, and in a run that is resumed, it is
        /// left out. `""`: nothing.
        prerun: String = String::new(),
    }
}

spec_table! {
    /// How requests are made.
    pub struct EngineSpec {
        /// How requests reach the kernel. Where the kernel forbids io_uring, `libaio` takes its
        /// place, and where it forbids both, `sync`; the report says so. `libaio` is asynchronous
        /// with direct I/O only.
        backend: Backend = Backend::IoUring,
        /// Bypass the page cache (`O_DIRECT`). Where a file system refuses it, the run goes on
        /// through the cache and the result is marked.
        direct: bool = true,
        /// With io_uring: whether workers ask the device for completions instead of being
        /// interrupted (wants direct I/O, a device with poll queues, and neither fsync nor trim),
        /// or a thread of the kernel fetches each worker's requests (and takes a core for it, which
        /// no CPU figure counts). Where it cannot be had, the run goes on without and says so.
        poll: Poll = Poll::None,
        /// Before a stage that reads through the page cache, write its files back and ask the
        /// kernel to forget them (`posix_fadvise`).
        evict: bool = true,
        /// The same for everything that the host has cached (`/proc/sys/vm/drop_caches`), which
        /// takes root and slows down whatever else runs there.
        drop_caches: bool = false,
        /// On which CPUs workers run: those of the targets' NUMA node, one for each, or any.
        pin: Pin = Pin::Node,
        /// Which time passes where all targets are simulated (`sim:`); on others it is always that
        /// of the wall.
        time: Time = Time::Virtual,
        /// How long after the end of a stage, or after Ctrl-C, to wait for requests that the target
        /// has not answered: from 100 ms to 1 h. Then they are given up, and the run ends. As long,
        /// at most, a target may leave a single call unanswered that looks at it, opens, lays out,
        /// closes or removes something.
        patience: Nanos = Nanos::seconds(30),
        /// Keep every single latency in the run file besides the histograms (8 bytes a request):
        /// for checking Plimsoll itself.
        raw_latencies: bool = false,
    }
}

spec_table! {
    /// What holds for the hosts together, where there are several.
    pub struct FleetSpec {
        /// What happens when a host dies, or falls silent, in mid-run: `"abort"` ends the run,
        /// `"continue"` goes on without it. With
        /// `"continue"`, its agent is started again between points, and a host that is ready within
        /// 15 s takes part from the next point on.
        on_lost_host: OnLostHost = OnLostHost::Abort,
        /// The least share of the hosts that has to be left for a run to go on.
        quorum: Percent = Percent::of(50),
        /// A host that was not heard of for so long is lost, and a host that did not hear of us for
        /// so long ends its load: from 2 s to 10 min.
        lost_after: Nanos = Nanos::seconds(10),
    }
}

spec_table! {
    /// What written blocks hold, in `prepare` and in every workload, and whether what is read is
    /// what was written. Without this table: random bytes, no two blocks alike.
    pub struct ContentsSpec {
        /// The share of each 4 KiB that compresses away.
        compressible: Percent = Percent::ZERO,
        /// The share of written 4 KiB blocks that are copies of others.
        duplicate: Percent = Percent::ZERO,
        /// Among whom the copies are spread.
        duplicate_scope: DuplicateScope = DuplicateScope::Worker,
        /// Write a header with address, generation and checksum into every 512 bytes, and check
        /// everything that is read; with `"after"`, read and check the whole layout once more after
        /// each point that writes. Damage is counted as errors are. Sizes and offsets have to be
        /// multiples of 512 bytes. What a run leaves behind, `plimsoll verify` checks.
        verify: Verify = Verify::No,
    }
}

spec_table! {
    /// One workload. A suite has at least one `[[workload]]`; each is measured by itself, in the
    /// order of the file.
    pub struct WorkloadSpec {
        /// Its name, unique in the suite.
        name: String,
        /// Workloads with the same word run at the same time, as one point; each has its own
        /// results. `""`: it runs by itself.
        group: String = String::new(),
        /// What it consists of: requests for blocks, or operations on whole files (which need a
        /// layout of kind `tree`).
        kind: WorkloadKind = WorkloadKind::Io,
        /// Of a metadata workload: each operation runs over all files once, as a point of its own,
        /// in this order. A mix with weights (`"stat:70, open:20, readdir:10"`, of `stat`, `open`,
        /// `read`, `readdir` and `setattr`) runs for `stages.measure` over files drawn from each
        /// worker's own; they come in turn with `file_order = "sequential"`.
        operations: Operations = Operations::default(),
        /// Of a metadata workload: in what order a worker touches its files.
        file_order: FileOrder = FileOrder::Sequential,
        /// Of a metadata workload: every operation but the making goes to the files that another
        /// worker of the host has made, or with `"host"` to those of the next host that does this
        /// work, the last one's to those of the first: so that no host finds in its own caches what
        /// it made (mdtest's `-N`). That wants several hosts with as many workers, and targets on a
        /// file system that all of them see at the same path.
        other: OtherFiles = OtherFiles::No,
        /// Of a metadata workload: an `fsync` of every file after it was written, and whether that
        /// counts in the latencies. The rate is of the wall's time in any case.
        fsync: FileFsync = FileFsync::Never,
        /// Of a metadata workload: whether the closing of a file counts in the latencies. The rate
        /// is of the wall's time in any case.
        close: CloseTime = CloseTime::Timed,
        /// The size of every request, or a mix of sizes with weights: `"4KiB:70, 64KiB:30"`.
        block_size: SizeMix = SizeMix::single(Bytes::kib(4)),
        /// The sizes of writes and trims, where they differ. `"auto"`: as `block_size`.
        write_block_size: Auto<SizeMix> = Auto::Auto,
        /// The share of trims (discards), of all requests: a block is given back, which destroys it
        /// as a write does. Wants `io_uring` or `sync`.
        trim: Percent = Percent::ZERO,
        /// The share of reads among the requests that are not trims; the rest are writes.
        read: Percent = Percent::ALL,
        /// In what order a worker touches its blocks.
        access: Access = Access::Random,
        /// The share of requests that `access` places; the others go on where the last of them
        /// ended. `"auto"`: all, or none where `access` is sequential.
        random: Auto<Percent> = Auto::Auto,
        /// For `zipf` the exponent (`"auto"`: 1.2), for `pareto` the share of blocks that gets all
        /// but that share of the requests (`"auto"`: 0.2).
        skew: Auto<Skew> = Auto::Auto,
        /// For `hot-spot`: share of the requests and share of the space, from the start of each
        /// worker's bytes on; the rest goes to the rest.
        hot_spots: HotSpots =
            HotSpots { spots: vec![(Percent::of(95), Percent::of(5)),
            (Percent::of(4), Percent::of(10))] },
        /// What offsets of random requests are multiples of. `"auto"`: the size, or the smallest
        /// one of a mix.
        align: Auto<Bytes> = Auto::Auto,
        /// From the start of one sequential request to that of the next. `"auto"`: the size, so
        /// that they adjoin.
        stride: Auto<Bytes> = Auto::Auto,
        /// How the layout's bytes are shared out among the workers: a part for each, blocks in turn
        /// (in a shared file), or all of it for every one.
        sharing: Sharing = Sharing::Segment,
        /// With `sharing = "segment"`: in how many segments each worker has a part (IOR's `-s`). 1:
        /// its part is in one piece.
        segments: Count = Count(1),
        /// Sequential streams of each worker, taking turns.
        streams: Count = Count(1),
        /// The part of every file that is loaded.
        range: Part = Part::WHOLE,
        /// Requests that each worker keeps outstanding.
        depth: Depth = Depth(32),
        /// Workers on each host. `"auto"`: one for each logical CPU, at most 4. They share the
        /// layout's bytes out among them.
        workers: Auto<Count> = Auto::Auto,
        /// Whether `workers` counts those of each host, or those of all hosts together, which are
        /// then spread evenly over them.
        spread: Spread = Spread::EachHost,
        /// The hosts that run it: a label of `[labels]`, a host list such as `"node[01-04]"`, both
        /// with commas between them, or `"all"`. Every host lays the files out, whoever loads them.
        hosts: HostSet = HostSet::all(),
        /// Each host loads the files of the host that is so many places further among all hosts of
        /// the run, the last one those of the first again: so nobody finds in its own cache what it
        /// wrote. Wants files on a file system that all hosts see at the same path, and nothing
        /// checked (`verify`). 0: its own files.
        rotate: u64 = 0,
        /// The rate of the workload (an open loop): requests per second such as `10000`, or
        /// `"100MiB/s"`. `"auto"`: as fast as the target goes.
        rate: Auto<Rate> = Auto::Auto,
        /// Whose rate that is: that of all workers of all hosts together, or that of each worker,
        /// so that more workers are more load.
        rate_of: RateOf = RateOf::All,
        /// When requests of a fixed rate are due.
        arrivals: Arrivals = Arrivals::Uniform,
        /// Without a rate: how long a worker rests after each burst has come back.
        think: Nanos = Nanos(0),
        /// Requests between two rests.
        burst: Count = Count(1),
        /// An `fdatasync` after so many writes of a worker; 0 is never.
        fsync_every: u64 = 0,
        /// Every write is durable before it completes (`O_DSYNC`).
        dsync: bool = false,
        /// How urgent requests are to the kernel's I/O scheduler: `none` (as the process),
        /// `realtime/0` to `realtime/7`, `best-effort/0` to `best-effort/7` (0 is the most urgent),
        /// or `idle`. Where the system refuses it, the run goes on without and says so.
        priority: Priority = Priority::Inherited,
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
