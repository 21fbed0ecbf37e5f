//! What the hosts are, as a probe read it.

pub use crate::inventory::DeviceFacts;

use crate::inventory::{Inventory, Link};
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// The file that marks a directory as ours. Only files beside it, named by us, are ever written or
/// removed.
pub const MARKER: &str = ".plimsoll";
/// The subfolder that takes our files where a target directory holds somebody's own.
pub const DATA_DIR: &str = "plimsoll-data";

/// No run has more hosts behind those of its plan.
pub const MOST_OTHERS: usize = 1_024;

/// What is added to the name of a host's own folder where several hosts load the same target path,
/// which may be one place for all of them.
pub fn host_suffix(host: u32) -> String {
    format!("-h{host:04}")
}

/// What is added to the name of a scenario's own folder, behind that of its host, where scenarios
/// take turns on one target and their layouts differ.
pub fn scenario_suffix(part: u32) -> String {
    format!("-s{part:04}")
}

/// One host, and the targets as that host sees them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFacts {
    /// The host's own name.
    pub hostname: String,
    /// Operating system and version of its kernel: `Linux 6.18.44`.
    pub kernel: String,
    /// The processor's model; empty where the kernel does not tell.
    pub cpu_model: String,
    /// Logical CPUs that this process may use.
    pub logical_cpus: u32,
    /// All of its memory.
    pub memory: Bytes,
    /// Memory that programs could still take.
    pub memory_available: Bytes,
    /// The logical CPUs of each NUMA node, by the node's number; empty where the kernel does not
    /// tell.
    pub numa_cpus: Vec<Vec<u32>>,
    /// The hypervisor, where one shows itself.
    pub hypervisor: Option<String>,
    /// Its place in the run; the planner gives it.
    #[serde(default)]
    pub place: Place,
    /// What tells this host from all others, even where they share a name: two that have it in
    /// common are one. Empty where unknown.
    #[serde(default)]
    pub identity: String,
    /// The version of the agent that read this.
    pub agent_version: String,
    /// Its parts; empty in runs of versions that did not look.
    #[serde(default)]
    pub inventory: Inventory,
    /// The targets, in the order in which they were asked for.
    pub targets: Vec<TargetFacts>,
}

impl HostFacts {
    /// The memory that this process and the page cache of what it loads may take: all, or what its
    /// control groups leave to it.
    pub fn usable_memory(&self) -> Bytes {
        self.inventory.limits.memory.map_or(self.memory, |limit| limit.min(self.memory))
    }

    /// Whether it loads in the run. One that does not stands behind all that do: its counters came
    /// from a file.
    pub fn sends_load(&self) -> bool {
        self.place.number < self.place.of.max(1)
    }

    /// A host of which only its name is known.
    pub fn unknown(hostname: &str) -> HostFacts {
        HostFacts { hostname: hostname.to_owned(), ..HostFacts::default() }
    }
}

/// A host's place among all hosts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Its number, from 0.
    pub number: u32,
    /// How many there are; 0 counts as 1.
    pub of: u32,
}

/// What the path of a target begins with that is a simulated cluster.
pub const SIMULATED_CLUSTER: &str = "sim:cluster=";

/// One target as a host sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// The path as the user named it.
    pub path: String,
    /// What stands there.
    pub kind: TargetKind,
    /// Whether this process may write there: for a directory, make files in it; for what is
    /// missing, make it.
    pub writable: bool,
    /// The file system that holds it (`ext4`); `None` for a device.
    pub file_system: Option<String>,
    /// Free bytes of that file system for this user.
    pub free: Bytes,
    /// Free bytes of that file system that this user may not take; 0 in runs of versions that did
    /// not look.
    #[serde(default)]
    pub reserved: Bytes,
    /// All bytes of that file system.
    pub total: Bytes,
    /// Files and directories that it could still take; `None` where there is no such limit, or
    /// nobody tells.
    #[serde(default)]
    pub free_inodes: Option<u64>,
    /// What direct I/O asks for, as far as the kernel tells.
    pub direct: DirectIo,
    /// The block device under it, where there is just one and sysfs tells.
    pub device: Option<DeviceFacts>,
    /// The layers from it down to its media, as far as this host sees; empty in runs of versions
    /// that did not look.
    #[serde(default)]
    pub chain: Vec<Link>,
}

/// What stands at a target's path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TargetKind {
    /// Nothing, and the parent directory is there.
    #[default]
    Missing,
    /// Nothing, and no parent either.
    NoParent,
    /// A directory. Files go to `root`: the directory itself if it is empty or claimed, else its
    /// subfolder `plimsoll-data`.
    Directory {
        /// Where files would go.
        root: String,
        /// What stands at `root`.
        state: DirectoryState,
    },
    /// A regular file.
    File {
        /// Its size.
        size: Bytes,
    },
    /// A block device.
    Device {
        /// Its size.
        size: Bytes,
        /// Why nobody may write to it just now: `mounted at /`, `has partitions`.
        in_use: Option<String>,
    },
    /// A simulated device: `sim:` and what it is.
    Simulated {
        /// Its size.
        size: Bytes,
    },
    /// Something that cannot be loaded, in words: `a character device`.
    Other(String),
    /// It could not be looked at; the system's own words.
    Unreadable(String),
}

/// What a directory holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DirectoryState {
    /// It is not there yet.
    Missing,
    /// Nothing.
    Empty,
    /// Our marker, and under it files of so many bytes.
    Claimed {
        /// Bytes that our own files take already.
        used: Bytes,
        /// The run that used it last; empty where its agent did not look.
        #[serde(default)]
        run: String,
    },
    /// Somebody's files and no marker.
    Foreign,
}

/// What a target asks of direct I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DirectIo {
    /// It works for offsets and lengths that are multiples of so many bytes.
    Aligned(u32),
    /// The file system refuses it.
    Refused,
    /// The kernel does not tell; the first open will.
    #[default]
    Unknown,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A host without targets.
    pub(crate) fn host() -> HostFacts {
        HostFacts {
            hostname: "h".into(),
            kernel: "Linux".into(),
            cpu_model: "cpu".into(),
            logical_cpus: 4,
            memory: Bytes::gib(16),
            memory_available: Bytes::gib(8),
            numa_cpus: vec![vec![0, 1], vec![2, 3]],
            agent_version: "0".into(),
            ..HostFacts::default()
        }
    }
}
