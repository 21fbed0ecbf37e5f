//! One host's share of a run.

use super::HostStage;
use super::names::SHARED;
use crate::choices::{Backend, DuplicateScope, Poll};
use crate::metadata::Tree;
use crate::testbed::SIMULATED_CLUSTER;
use crate::units::{Bytes, Nanos, Percent};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How a host loads: a whole plan, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineSettings {
    /// How requests reach the kernel.
    pub backend: Backend,
    /// Whether nobody named `backend`: where the kernel's own threads would carry what a ring is
    /// asked, the better way is taken. Runs of versions without it knew no such choice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_open: bool,
    /// Who looks for requests and completions.
    pub poll: Poll,
    /// Whether to bypass the page cache.
    pub direct: bool,
    /// Whether files are to be evicted from the page cache before a stage reads through it.
    pub evict: bool,
    /// Whether all that the host has cached is to be dropped before a stage reads through the page
    /// cache.
    pub drop_caches: bool,
    /// How long after the end of a stage it is waited for requests that the target has not
    /// answered.
    pub patience: Nanos,
    /// Whether to keep every single latency.
    pub raw_latencies: bool,
    /// The CPUs that workers run on; empty for any.
    pub cpus: Vec<u32>,
    /// Whether each worker has one of `cpus` for itself, as far as they reach.
    pub own_cpu: bool,
    /// Whether time is that of the simulation, which passes as fast as it can be computed. Only
    /// where all targets are simulated.
    pub virtual_time: bool,
    /// What written blocks hold.
    pub contents: Contents,
    /// Whether the targets are flushed, and that is timed, behind a measured load that wrote. Runs
    /// of versions without it did not.
    #[serde(default)]
    pub flush: bool,
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
    /// How it loads. Where there are parts, each has settings of its own.
    #[serde(flatten)]
    pub engine: EngineSettings,
    /// What it loads.
    pub targets: Vec<Target>,
    /// The trees of its metadata workloads.
    pub trees: Vec<Tree>,
    /// Its stages; as many as the plan has.
    pub stages: Vec<HostStage>,
    /// What is opened and released by itself, in the order of the first stages; every stage,
    /// target and tree is in one of them. None where all of it is one: without scenarios, or where
    /// they have one layout in common.
    pub parts: Vec<Part>,
}

impl EngineSettings {
    /// Settings to begin from: random bytes past the page cache, by workers that stay on no
    /// processor, and half a minute of patience.
    pub fn simple(backend: Backend) -> EngineSettings {
        EngineSettings {
            backend,
            left_open: false,
            poll: Poll::None,
            direct: true,
            evict: false,
            drop_caches: false,
            patience: Nanos::seconds(30),
            raw_latencies: false,
            cpus: Vec::new(),
            own_cpu: false,
            virtual_time: false,
            contents: Contents::RANDOM,
            flush: false,
        }
    }
}

impl HostPlan {
    /// The plan of host 0, named `h`, that has nothing to load and nothing to do: a plan to begin
    /// from.
    pub fn empty(run_id: &str, interval: Nanos, engine: EngineSettings) -> HostPlan {
        HostPlan {
            run_id: run_id.to_owned(),
            host: 0,
            hostname: "h".to_owned(),
            interval,
            engine,
            targets: Vec::new(),
            trees: Vec::new(),
            stages: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// The files of all targets in order: what [`Extent::file`](super::Extent::file) counts.
    pub fn files(&self) -> impl Iterator<Item = &TargetFile> {
        self.targets.iter().flat_map(|target| &target.files)
    }

    /// Bytes of the files in its trees at their fullest.
    pub fn in_trees(&self) -> Bytes {
        Bytes(self.stages.iter().map(HostStage::tree_bytes).max().unwrap_or(0))
    }
}

/// What of a host's plan is opened, and released, by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The numbers of its stages, in rising order; at least one.
    pub stages: Vec<u32>,
    /// The places of its targets among those of the host.
    pub targets: Range<u32>,
    /// The places of its trees among those of the host.
    pub trees: Range<u32>,
    /// How it is loaded.
    pub engine: EngineSettings,
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
    /// Whether every byte carries a header before the first workload begins, so that one without
    /// is damage.
    pub filled: bool,
    /// Bytes for which one generation is kept: every write begins and ends at multiples of it. A
    /// power of two from 512 to 1 MiB.
    pub grain: Bytes,
    /// How many hosts write the same files, with numbers from 0: a block of any of them is in its
    /// place. 1 where each host has files of its own.
    #[serde(default = "one_host")]
    pub hosts: u16,
}

/// Hosts of a run from before hosts checked a file that they share.
fn one_host() -> u16 {
    1
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
        hosts: 1,
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
    /// Files in a directory that another host of the run claims, makes and removes: host 0 a shared
    /// file, any other its own. Others wait until they are there, and open them.
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

impl TargetFile {
    /// Whether it is a simulated drive of flash, which copies as it cleans.
    pub fn is_simulated_flash(&self) -> bool {
        let has_flash = |parameter: &str| {
            parameter.trim().strip_prefix("flash=").is_some_and(|value| value.trim() != "none")
        };
        self.path.starts_with("sim:") && self.path.split(',').any(has_flash)
    }

    /// Whether it is simulated flash that begins as a long time of random writes leaves it.
    pub fn is_used_flash(&self) -> bool {
        let says_used = |parameter: &str| parameter.trim() == "flash-state=used";
        self.is_simulated_flash() && self.path.split(',').any(says_used)
    }

    /// Whether it is one file of a simulated cluster that all hosts share.
    pub fn is_shared_in_simulation(&self) -> bool {
        self.path.starts_with(SIMULATED_CLUSTER)
            && self.path.split(',').any(|parameter| parameter.trim() == SHARED)
    }
}
