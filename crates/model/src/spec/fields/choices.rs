//! The fields of a suite that are one of a few words: what the words are, and what each means.

use crate::spec::reader::words;

words! {
    /// In what order a worker touches its blocks.
    pub enum Access {
        /// One block after the other, from the start again at the end.
        Sequential = "sequential",
        /// Every block equally likely each time.
        Random = "random",
        /// Every block once before any comes again, in an order without pattern.
        Permutation = "permutation",
        /// Few blocks often and many seldom: the k-th most wanted with a probability that falls as
        /// k to the power of `skew`.
        Zipf = "zipf",
        /// With a `skew` of 0.2, eight tenths of the requests go to two tenths of the blocks, and
        /// so on inside of these.
        Pareto = "pareto",
        /// By the table `hot_spots`.
        HotSpot = "hot-spot",
    }
}

words! {
    /// Whose rate a fixed rate is.
    pub enum RateOf {
        /// That of all workers of all hosts together.
        All = "all",
        /// That of each worker.
        Worker = "worker",
    }
}

words! {
    /// When requests of a fixed rate are due.
    pub enum Arrivals {
        /// At equal distances.
        Uniform = "uniform",
        /// Independent of each other, as those of many clients are: the distances are exponential.
        Poisson = "poisson",
    }
}

words! {
    /// What stands in each target directory.
    pub enum LayoutKind {
        /// Files that the workers of a host share out among them (N-N).
        Files = "files",
        /// One file for all workers of all hosts (N-1).
        SharedFile = "shared-file",
        /// Directories with many small files, for workloads of metadata; `[tree]` says which.
        Tree = "tree",
    }
}

words! {
    /// What `files` counts.
    pub enum FilesPer {
        /// The files of each target directory.
        Target = "target",
        /// The files of each worker, in each target directory.
        Worker = "worker",
    }
}

words! {
    /// How the bytes of the layout are shared out among the workers.
    pub enum Sharing {
        /// Each worker has a part in one piece (or one piece of each of `segments`) for itself.
        Segment = "segment",
        /// In a shared file, blocks go to the workers in turn: each has every n-th of them.
        Interleaved = "interleaved",
        /// Every worker has all of it.
        Whole = "whole",
    }
}

words! {
    /// What ends the measuring, where an amount does not.
    pub enum Until {
        /// `measure` is over.
        Time = "time",
        /// The rate is steady, by SNIA's rule, or `measure_max` is over.
        Steady = "steady",
    }
}

words! {
    /// How requests reach the kernel.
    pub enum Backend {
        /// One ring per worker, batched, with registered files and buffers.
        IoUring = "io_uring",
        /// Linux's older asynchronous I/O; asynchronous with direct I/O only.
        Libaio = "libaio",
        /// `pread`/`pwrite`, one at a time; the depth is 1 whatever the workload says.
        Sync = "sync",
        /// `io_uring` (or what takes its place) or `sync`: before each stage, both run the workload
        /// itself for 2 × 100 ms each, and `sync` is taken if it does at least 5 % more with its
        /// one request for each worker. A note says which, with both figures.
        Auto = "auto",
        /// Nothing is sent anywhere: shows what Plimsoll itself costs.
        Null = "null",
        /// The kernel's request that does nothing, over a ring, and nothing to any target: shows
        /// what Plimsoll and the ring cost together.
        Nop = "nop",
    }
}

impl Backend {
    /// Whether no target is opened, because nothing is sent to any.
    pub fn sends_nothing(self) -> bool {
        matches!(self, Backend::Null | Backend::Nop)
    }
}

words! {
    /// Who looks for requests and completions in an `io_uring`.
    pub enum Poll {
        /// Nobody: the device interrupts, and workers call the kernel.
        None = "none",
        /// Workers ask the device for completions (`IORING_SETUP_IOPOLL`): wants direct I/O and a
        /// device with poll queues.
        Completions = "completions",
        /// A thread of the kernel for each worker fetches its requests (`IORING_SETUP_SQPOLL`):
        /// takes a core each.
        Submissions = "submissions",
    }
}

words! {
    /// On which CPUs workers run.
    pub enum Pin {
        /// On those of the NUMA node that all targets' devices hang off, where there is such a one
        /// among several.
        Node = "node",
        /// Each worker on a CPU of its own, those of the targets' NUMA node first.
        Core = "core",
        /// Wherever the system puts them.
        None = "none",
    }
}

words! {
    /// Which time passes on simulated targets.
    pub enum Time {
        /// That of the simulation: an hour takes as long as it takes to compute.
        Virtual = "virtual",
        /// That of the wall: shows what the engine itself adds.
        Real = "real",
    }
}

words! {
    /// What becomes of a run that loses a host.
    pub enum OnLostHost {
        /// It ends; what was recorded is kept.
        Abort = "abort",
        /// It goes on as long as a quorum is left; what is measured without the host is marked.
        Continue = "continue",
    }
}

words! {
    /// Whose workers a count of workers counts.
    pub enum Spread {
        /// Those of each host.
        EachHost = "each-host",
        /// Those of all hosts together, spread evenly over them.
        AllHosts = "all-hosts",
    }
}

words! {
    /// Among whom copies of blocks are spread.
    pub enum DuplicateScope {
        /// Each worker copies its own blocks only.
        Worker = "worker",
        /// All workers of all hosts write copies of the same blocks.
        Hosts = "hosts",
        /// Half of the originals are a worker's own, the other half those of all workers of all
        /// hosts.
        Both = "both",
    }
}

words! {
    /// In what order the points of a sweep run.
    pub enum Order {
        /// One after the other, the repetitions of a point behind each other.
        Sequential = "sequential",
        /// Points and repetitions shuffled by the suite's seed, so that what drifts with time
        /// spreads over all of them.
        Random = "random",
        /// All points once, then all of them again.
        Interleaved = "interleaved",
    }
}

words! {
    /// What a workload consists of.
    pub enum WorkloadKind {
        /// Blocks that are read and written.
        Io = "io",
        /// Whole files that are created, looked up, read and removed.
        Metadata = "metadata",
    }
}

words! {
    /// In what order a worker touches its files.
    pub enum FileOrder {
        /// In that of their numbers, which is that of their creation.
        Sequential = "sequential",
        /// Each once, in an order without pattern.
        Random = "random",
    }
}

words! {
    /// Whose files the operations of a metadata workload go to, all but those that make them.
    pub enum OtherFiles {
        /// The worker's own.
        No = "false",
        /// What another worker of the host has made.
        Worker = "true",
        /// What another host has made.
        Host = "host",
    }
}

words! {
    /// Whether a file of a tree that was written is made durable before it is closed.
    pub enum FileFsync {
        /// It is not.
        Never = "never",
        /// It is, and that counts in the time of the operation.
        Timed = "timed",
        /// It is, and that counts in no latency.
        Untimed = "untimed",
    }
}

words! {
    /// Whether the closing of a file counts in the time of the operation.
    pub enum CloseTime {
        /// It counts.
        Timed = "timed",
        /// It counts in no latency.
        Untimed = "untimed",
    }
}

words! {
    /// What is checked.
    pub enum Verify {
        /// Nothing.
        No = "false",
        /// Every read, when it completes.
        Reads = "true",
        /// The same, and after each point that writes the whole layout.
        After = "after",
    }
}
