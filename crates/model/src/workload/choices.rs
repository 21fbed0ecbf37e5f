//! What a plan holds of the choices that a suite makes: what the words are, and what each means.

use crate::words;

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
    /// What a trim asks the kernel to do with its bytes (`fallocate`).
    pub enum TrimAs {
        /// Give them back: they read as zeros or as what stood there. A device gets discards, or
        /// write zeroes that may unmap.
        Hole = "hole",
        /// Make them read as zeros, without moving any: a device gets write zeroes that do not
        /// unmap, a file system marks the space.
        Zeroes = "zeroes",
        /// Have space for them: what they hold stays. Files only.
        Allocate = "allocate",
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
    /// Which of the kernels' counters a run file keeps.
    pub enum CountersKept {
        /// All that a host counts.
        All = "all",
        /// Those of block devices.
        Disk = "disk",
        /// None; what was at its limit cannot be told then.
        None = "none",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro has its own derives")]
impl Default for CountersKept {
    fn default() -> CountersKept {
        CountersKept::All
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
