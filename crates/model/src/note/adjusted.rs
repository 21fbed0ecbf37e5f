//! What is done otherwise than the suite says.

use crate::scale::Fraction;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// What is done otherwise than the suite says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adjusted {
    /// Copies of blocks spread over all hosts, because writes do not cover whole units.
    CopiesSpread,
    /// The sync backend has one request outstanding for each worker.
    OneOutstanding,
    /// Nobody named a backend, and on this file system the kernel's own threads may have to carry
    /// what a ring is asked: where they would, a short trial finds the better way.
    BackendTried {
        /// Its name.
        file_system: String,
    },
    /// A file has another size.
    FileSize {
        /// What it has.
        size: Bytes,
        /// What was wanted.
        wanted: Bytes,
    },
    /// A time was not shrunk as far as asked for.
    LeastTime {
        /// Which.
        what: ScaledTime,
        /// The suite's.
        time: Nanos,
        /// The factor.
        scale: Fraction,
        /// What is taken instead.
        least: Nanos,
    },
    /// It takes longer to see whether a stage is steady.
    SteadyTakesLonger {
        /// The least time for it.
        least: Nanos,
        /// What was wanted.
        measure: Nanos,
    },
    /// The times of a simulation were shrunk.
    SimulatedTimes {
        /// The times are divided by this.
        divisor: u64,
        /// How long all of it would take.
        all: Nanos,
    },
    /// A scenario is not simulated, because it has too many requests.
    ScenarioLeftOut {
        /// Its name.
        name: String,
    },
    /// What a simulated migration does is assumed.
    MigrationAssumed,
    /// A simulated testbed says nothing of its software, which costs next to nothing there.
    SoftwareNotGiven {
        /// The testbed's file.
        testbed: String,
    },
    /// Workloads that load some of the targets load a simulated cluster, which is one.
    TargetsJoined,
}

/// A time that a scale shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScaledTime {
    /// How long caches are warmed at least.
    Precondition,
    /// How long is measured.
    Measure,
    /// The length of an interval.
    Interval,
}
