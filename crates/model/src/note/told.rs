//! What a command that made the load told, and how it ended.

use crate::EncodedHistogram;
use crate::op::Op;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

crate::words! {
    /// What ended a command.
    #[derive(Default)]
    pub enum EndedBy {
        /// It ended by itself.
        #[default]
        Itself = "itself",
        /// It was asked to, at the stage's end or at a stop, and did.
        Asked = "asked",
        /// It was asked to and did not, and was killed.
        Killed = "killed",
        /// It never began: the system's words are in `errors`.
        NotStarted = "not-started",
    }
}

/// A command, its end, and what it said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The words that were started.
    pub command: Vec<String>,
    /// What ended it.
    pub by: EndedBy,
    /// Its exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// How long it ran.
    pub took: Nanos,
    /// What it printed, or wrote to `{out}`: what is kept of it.
    pub output: String,
    /// How many bytes that was in all.
    pub bytes: Bytes,
    /// The last of what it wrote to its standard error.
    pub errors: String,
    /// Processes of it that were still there behind its end, and were ended.
    pub left: u32,
    /// The tool with its version, as its results have it; empty where nothing was read of them.
    #[serde(default)]
    pub tool: String,
    /// The figures that were read.
    #[serde(default)]
    pub figures: Vec<ToldFigure>,
    /// What the block layer saw of it, where that was asked for.
    #[serde(default)]
    pub traced: Option<Traced>,
}

/// Requests at the devices below the targets while a command ran, whoever sent them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traced {
    /// How long they took from issue to completion, by operation.
    pub latencies: Vec<(Op, EncodedHistogram)>,
    /// Why none are known, in words; empty where they are.
    pub unknown: String,
}

impl Told {
    /// So many bytes of the output go from a host to the coordinator, from its begin and from its
    /// end: more than a tool's own results take.
    pub const MOST_HEARD: usize = 1 << 20;
    /// So many bytes of it a run file keeps, once its figures were read.
    pub const MOST_KEPT: usize = 16 << 10;
    /// So many figures of one command are kept.
    pub const MOST_FIGURES: usize = 256;

    /// Whether the load failed: it ended with another code than 0, by a signal that was not ours,
    /// or never began.
    pub fn is_failed(&self) -> bool {
        match self.by {
            EndedBy::Itself => self.code != Some(0),
            EndedBy::NotStarted => true,
            EndedBy::Asked | EndedBy::Killed => false,
        }
    }
}

/// One figure that a tool gave, in whole numbers. What it does not say is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldFigure {
    /// The name of its job or phase.
    pub name: String,
    /// The operation; `None` for several, or where it does not say.
    pub op: Option<Op>,
    /// Whether its rate is of the tool's own operations, such as transactions, which no device
    /// counts.
    #[serde(default)]
    pub is_own: bool,
    /// Requests or operations in 1,000 seconds.
    pub rate_milli: Option<u64>,
    /// Bytes in a second.
    pub bytes_per_s: Option<u64>,
    /// Requests in all.
    pub requests: Option<u64>,
    /// Bytes in all.
    pub bytes: Option<u64>,
    /// The time that they took.
    pub time: Option<Nanos>,
    /// The mean latency.
    pub mean: Option<Nanos>,
    /// What 99 % of the latencies did not exceed.
    pub p99: Option<Nanos>,
}
