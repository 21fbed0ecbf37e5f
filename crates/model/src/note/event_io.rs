//! I/O of an event itself, such as a migration's copies: what no host's load counts.

use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// What was read and written for an event of a stage, or beside it, while it went on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventIo {
    /// The event's name, as its occurrence has it.
    pub event: String,
    /// When it began, after the start of the stage.
    pub at: Nanos,
    /// How long it was counted.
    pub length: Nanos,
    /// Requests that read; `None` where nobody counts requests.
    pub reads: Option<u64>,
    /// Requests that wrote.
    pub writes: Option<u64>,
    /// Bytes that were read.
    pub read: Bytes,
    /// Bytes that were written.
    pub written: Bytes,
    /// Who counted, and what else is in it.
    pub by: CountedBy,
}

/// Who counted an event's I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountedBy {
    /// The simulated cluster's own mover: nothing else is in it.
    Simulation,
    /// The kernels of the nodes at their disks: the guests' own requests are in it, and whatever
    /// else ran there.
    Nodes {
        /// Requests that the guests' loads completed meanwhile.
        guest_requests: u64,
        /// Bytes that they read.
        guest_read: Bytes,
        /// Bytes that they wrote.
        guest_written: Bytes,
    },
}

impl EventIo {
    /// Its requests per second, reads and writes together; `None` where nobody counted them, or for
    /// no time at all.
    pub fn requests_per_s(&self) -> Option<f64> {
        let all = self.reads?.saturating_add(self.writes?);
        self.per_s(all)
    }

    /// A count per second of its time.
    pub fn per_s(&self, count: u64) -> Option<f64> {
        (self.length.0 > 0).then(|| count as f64 / (self.length.0 as f64 / 1e9))
    }
}
