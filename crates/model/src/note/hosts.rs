//! Hosts: how they start, leave, return and differ, and who else loads them.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// Another run that loads a host, as it says itself there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherRun {
    /// The end of its name.
    pub run: String,
    /// The user who started its agent there.
    pub user: String,
    /// The address that its ssh connection came from.
    pub from: Option<String>,
    /// The process there.
    pub pid: u32,
    /// When it began there, in s since 1970.
    pub since_unix_s: u64,
    /// Whether it loads a disk or file system that this run loads there.
    pub same_place: bool,
}

/// From when on a host takes part again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TakesPart {
    /// From the next stage on, which is of no point.
    NextStage,
    /// From this point on, counted from 0.
    Point(u32),
    /// In what is left of a run that is resumed.
    Resumed,
    /// For the first time, from this point on, counted from 0: it was not there at the start.
    Joins {
        /// The point.
        point: u32,
        /// How many hosts load from there on.
        hosts: u64,
        /// Of how many.
        of: u64,
    },
}

/// Something about hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AboutHosts {
    /// They are unequal in one trait.
    Unequal {
        /// What most of them have.
        most: Trait,
        /// Some of those that differ: their names, and what they have.
        odd: Vec<(String, Trait)>,
        /// How many more differ.
        more: u64,
    },
    /// A host that was lost is not tried any more.
    StaysOut {
        /// Its name.
        name: String,
        /// The cause, as its launcher or its agent told it; for people.
        why: String,
    },
    /// Hosts that were asked for and could not be reached at the start: the plan is one for the
    /// others.
    LeftOut {
        /// Their names, each with the cause as its launcher told it, for people.
        hosts: Vec<(String, String)>,
        /// How many hosts were asked for.
        of: u64,
    },
    /// Hosts that could not be reached at the start and may join between two points: the plan has a
    /// share for each, as if it were like another host.
    Awaited {
        /// Their names, each with the cause as its launcher told it, for people.
        hosts: Vec<(String, String)>,
        /// How many hosts were asked for.
        of: u64,
    },
    /// How the start of each host's agent went, where not all went at once.
    Started(Vec<HostStart>),
    /// The agents hold out where their coordinator is gone, and can be taken over.
    HoldOut {
        /// For so long.
        within: Nanos,
        /// What their names begin with on their hosts.
        name: String,
    },
    /// One machine plays all nodes of a cluster, and the hosts of the run are these.
    OneMachine {
        /// How many.
        nodes: u32,
        /// The sites that they are spread over.
        sites: u32,
        /// Copies of each file.
        replicas: u32,
    },
    /// Another coordinator took the run over, with what the agents had kept.
    TakenOver {
        /// How many agents still held out.
        hosts: u64,
        /// Of how many.
        of: u64,
        /// Intervals that were not on record yet.
        intervals: u64,
    },
}

/// How the start of one host's agent went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostStart {
    /// Its name.
    pub name: String,
    /// The host that started it; `None` is the coordinator's.
    pub by: Option<String>,
    /// How often it was tried.
    pub tries: u32,
    /// From the first try to the end of the last.
    pub took: Nanos,
    /// Why it has no agent, as its launcher told it, for people; `None` where it has one.
    pub missing: Option<String>,
}

/// What hosts can differ in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trait {
    /// The model of the processors.
    CpuModel(String),
    /// How many processors.
    Cpus(u32),
    /// The kernel's release.
    Kernel(String),
    /// Memory, in whole GiB.
    MemoryGib(u64),
}
