//! Backends that others took the place of, and what the engine did without.

use crate::choices::{Backend, Poll};
use crate::plan::StageKind;
use crate::priority::Priority;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// An error as the system tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemError {
    /// Its number; `None` where the system gave none.
    pub errno: Option<i32>,
    /// The system's own words, for people.
    pub words: String,
}

impl From<std::io::Error> for SystemError {
    fn from(error: std::io::Error) -> SystemError {
        SystemError { errno: error.raw_os_error(), words: error.to_string() }
    }
}

/// Which backend took the place of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fallback {
    /// Those that were not to be had, the one that was asked for first.
    pub refused: Vec<RefusedBackend>,
    /// The one that was taken.
    pub taken: Backend,
    /// Whether it does one request after the other, because it is libaio without direct I/O.
    pub one_after_the_other: bool,
}

/// A backend that was not to be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedBackend {
    /// Which.
    pub backend: Backend,
    /// Why.
    pub why: WhyRefused,
}

/// Why a backend was not to be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyRefused {
    /// It has no request for a trim, and the load trims.
    NoTrim,
    /// The kernel refused it.
    System(SystemError),
}

/// Which backend was taken for a stage that was tried both ways.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The stage's workloads.
    pub workloads: Vec<String>,
    /// What kind of stage.
    pub stage: StageKind,
    /// The one that was taken.
    pub taken: Backend,
    /// The one that keeps the workload's depth outstanding.
    pub deep: Backend,
    /// What that did, in requests per second.
    pub deep_iops: u64,
    /// What one request at a time did.
    pub sync_iops: u64,
    /// How many trials each had.
    pub rounds: u64,
    /// How long each was.
    pub length: Nanos,
    /// The requests of all trials; they are in no figure.
    pub ios: u64,
    /// Their bytes.
    pub bytes: Bytes,
    /// Where nobody named a backend: the trials only read, and CPU time counted as much as rate.
    #[serde(default)]
    pub cpu: Option<CpuOfEach>,
}

/// CPU time for a request, that of the kernel's threads for it included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuOfEach {
    /// With the whole depth outstanding.
    pub deep: Nanos,
    /// One at a time.
    pub sync: Nanos,
}

/// How much of a stage's CPU time was that of the kernel's threads behind rings (`iou-wrk`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// Theirs.
    pub kernel: Nanos,
    /// That of the workers, theirs included.
    pub all: Nanos,
}

/// What the engine did without.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Degraded {
    /// libaio does one request after the other where the page cache is in between.
    OneAfterTheOther,
    /// The backend cannot be polled.
    NoPoll {
        /// What was asked for.
        poll: Poll,
        /// The backend.
        backend: Backend,
    },
    /// This load or this target cannot be polled.
    CannotPoll {
        /// What was asked for.
        poll: Poll,
        /// Why.
        why: WhyNoPoll,
    },
    /// The kernel refused to poll.
    PollRefused {
        /// What was asked for.
        poll: Poll,
        /// The kernel's error.
        error: SystemError,
    },
    /// Some workers share a CPU that each was to have for itself.
    CpusShared {
        /// How many workers.
        workers: u32,
        /// How many CPUs.
        cpus: u32,
    },
    /// The system opens no file for each worker: several use one open file.
    OneForSeveral(SystemError),
    /// The kernel did not take the list of files.
    RegisteredFiles(SystemError),
    /// The kernel did not take the buffers.
    RegisteredBuffers(SystemError),
    /// The kernel refused a priority.
    Priority {
        /// Which.
        priority: Priority,
        /// The kernel's error.
        error: SystemError,
    },
}

/// Why a ring cannot be polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyNoPoll {
    /// There are requests besides reads and writes.
    OtherRequests,
    /// Requests go through the page cache.
    PageCache,
    /// A device under the target has no queues for it.
    NoQueues,
}
