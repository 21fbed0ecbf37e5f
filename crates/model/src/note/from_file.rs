//! Counters of a host that nobody of ours watched: a file told them.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};

crate::words! {
    /// In which form a file tells counters.
    #[derive(Default)]
    pub enum CounterForm {
        /// The CSV of Windows' performance counters: perfmon, relog, logman, typeperf.
        #[default]
        Perfmon = "perfmon",
        /// The same form of esxtop's batch mode.
        Esxtop = "esxtop",
        /// The answer of Prometheus to a range query.
        Prometheus = "prometheus",
        /// What `sadf -d` writes of sar's files.
        Sar = "sar",
    }
}

/// Where the counters of one host came from, and how far they are to be trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountersFrom {
    /// The host, as the file names it.
    pub host: String,
    /// The form of the file.
    pub form: CounterForm,
    /// The file's name.
    pub file: String,
    /// Its SHA-256, in hexadecimal.
    pub sha256: String,
    /// What was added to the file's times, in ns.
    pub offset_ns: i64,
    /// Its usual interval. Where an interval lies is known to half of it.
    pub interval: Nanos,
    /// How much of the measurements its intervals cover.
    pub covered: Nanos,
    /// Of how much.
    pub measured: Nanos,
    /// Columns or series of the host that were taken.
    pub taken: u64,
    /// Those of the whole file for which there is no noun of ours.
    pub left_out: u64,
}
