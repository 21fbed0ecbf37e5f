//! The fields of a suite that are one of a few words: what the words are, and what each means.

use form::words;
use model::machines::MachineAct;

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
    /// Whether a workload keeps to the zones of a device.
    pub enum Zones {
        /// A device is one range of bytes, whatever it is.
        Ignored = "ignored",
        /// Writes go to the write pointers of zones, reads stay below them, trims reset zones.
        Device = "device",
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
    /// How `prepare` writes the layout.
    pub enum PrepareOrder {
        /// Every byte once, in order.
        Sequential = "sequential",
        /// One pass that leaves flash as a long time of random writes does.
        Aged = "aged",
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
    /// What ends preconditioning.
    pub enum PreconditionUntil {
        /// `precondition` is over.
        Time = "time",
        /// The caches are warm, by the rates and by the shares of hits that kernels count, or
        /// `precondition_max` is over.
        Warm = "warm",
    }
}

words! {
    /// When the targets are flushed to learn how long durability takes.
    pub enum Flush {
        /// Once, behind each measured load that writes.
        End = "end",
        /// Never.
        None = "none",
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
    /// Whose workers a count of workers counts.
    pub enum Spread {
        /// Those of each host.
        EachHost = "each-host",
        /// Those of all hosts together, spread evenly over them.
        AllHosts = "all-hosts",
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
        /// A command of the suite's author, which is watched and not replaced.
        Command = "command",
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

words! {
    /// What an event does to machines of `[vms]`.
    pub enum Act {
        /// Nothing.
        None = "none",
        /// They stand still.
        Pause = "pause",
        /// They go on after a pause.
        Resume = "resume",
        /// Their power fails.
        Off = "off",
        /// What their disks hold is kept, and writes go to a file on top of each.
        Snapshot = "snapshot",
        /// Their disks move to another pool while they run.
        Move = "move",
        /// They move to another node of libvirt while they run.
        Migrate = "migrate",
    }
}

impl Act {
    /// The same for those who do it.
    pub fn kind(self) -> Option<MachineAct> {
        Some(match self {
            Act::None => return None,
            Act::Pause => MachineAct::Pause,
            Act::Resume => MachineAct::Resume,
            Act::Off => MachineAct::Off,
            Act::Snapshot => MachineAct::Snapshot,
            Act::Move => MachineAct::Move,
            Act::Migrate => MachineAct::Migrate,
        })
    }
}
