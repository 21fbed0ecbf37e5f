//! One stage: what it is for, and what workers do on all hosts, or on one.

use super::{Stop, Work, Worker};
use crate::op::Op;
use crate::setting::Setting;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

crate::words! {
    /// What a stage is for.
    pub enum StageKind {
        /// Gives every byte of the layout back, so that flash begins as from its box.
        Purge = "purge",
        /// Writes every byte of the layout.
        Prepare = "prepare",
        /// Runs the workload without counting it.
        Precondition = "precondition",
        /// Runs the workload and counts it.
        Measure = "measure",
        /// Reads the layout once and checks every block.
        Verify = "verify",
    }
}

/// One combination of scenario, workload and sweep values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// The scenario's name; `default` where the suite has none.
    pub scenario: String,
    /// The names of the workloads that run in it, all at the same time.
    pub workloads: Vec<String>,
    /// Axis and value of each sweep axis.
    pub sweep: Vec<Setting>,
    /// Which repetition of these values it is, from 1.
    pub repetition: u32,
    /// Field and value of what the suite wrote as arithmetic; before the field the workload's name
    /// where there are several.
    pub computed: Vec<(String, String)>,
    /// What is to be done before its first stage; `None` for nothing, and in runs of versions that
    /// knew none.
    #[serde(default)]
    pub prerun: Option<Prerun>,
}

/// What the coordinator has a shell do before a point begins: for caches that no host of the run
/// can reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prerun {
    /// For `sh -c`. `None` where there was one that must not be run, because it stood in a run
    /// file: such a file may come from anybody.
    pub command: Option<String>,
}

impl Prerun {
    /// As a suite says it; `None` for an empty text.
    pub fn of(command: &str) -> Option<Prerun> {
        let command = command.trim();
        (!command.is_empty()).then(|| Prerun { command: Some(command.to_owned()) })
    }
}

impl Point {
    /// Its workloads' names in one.
    pub fn name(&self) -> String {
        self.workloads.join(" + ")
    }
}

/// One stage, on all hosts at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// What it is for.
    pub kind: StageKind,
    /// The point that it belongs to; `None` for a `prepare` that serves all points of its part.
    /// That of a population has its point.
    pub point: Option<u32>,
    /// What the workers do, each one of these; at least one, and all end alike.
    pub works: Vec<Work>,
}

impl Stage {
    /// When it ends.
    pub fn stop(&self) -> Stop {
        self.works.first().map_or(Stop::Amount, |work| work.stop)
    }

    /// Whether it lays out what all points of its part work on.
    pub fn prepares_all(&self) -> bool {
        self.kind == StageKind::Prepare && self.point.is_none()
    }

    /// Whether it gives the layout back before anything is written to it.
    pub fn purges(&self) -> bool {
        self.kind == StageKind::Purge
    }

    /// Whether whole files are what it works on.
    pub fn is_metadata(&self) -> bool {
        self.works.iter().any(|work| work.metadata.is_some())
    }
}

/// One host's share of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostStage {
    /// The stage's number.
    pub stage: u32,
    /// What it is for.
    pub kind: StageKind,
    /// What its workers do, as in the plan's stage.
    pub works: Vec<Work>,
    /// Each worker's own share.
    pub workers: Vec<Worker>,
}

impl HostStage {
    /// Operations of its metadata work: one for each file, or directory, of every worker. Of a
    /// population, the files that live.
    pub fn operations(&self) -> u64 {
        let population = |worker: &Worker| {
            self.works.get(worker.work as usize)?.metadata.and_then(|work| work.population)
        };
        let files = |worker: &Worker| {
            let names = worker.files.map_or(0, |share| share.count);
            population(worker).map_or(names, |population| population.target(names))
        };
        self.workers.iter().map(files).fold(0, u64::saturating_add)
    }

    /// Bytes of the files that its metadata work goes through; where sizes differ, what is to be
    /// expected.
    pub fn tree_bytes(&self) -> u64 {
        let Some(work) = self.works.iter().find_map(|work| work.metadata) else { return 0 };
        let mean = work.mean_size.unwrap_or(work.size).0;
        let shares = || self.workers.iter().filter_map(|worker| worker.files);
        match work.population {
            Some(population) => shares()
                .map(|share| population.target(share.count))
                .map(|files| files.saturating_mul(mean).saturating_add(population.grown(files).0))
                .fold(0, u64::saturating_add),
            None if work.op == Op::Readdir => 0,
            None => self.operations().saturating_mul(mean),
        }
    }

    /// Bytes that its metadata work writes.
    pub fn written_to_files(&self) -> Bytes {
        let writes = |work: &Work| {
            work.metadata.is_some_and(|work| {
                !work.is_mixed() && matches!(work.op, Op::Create | Op::WriteFile)
            })
        };
        Bytes(if self.works.iter().any(writes) { self.tree_bytes() } else { 0 })
    }

    /// When it ends.
    pub fn stop(&self) -> Stop {
        self.works.first().map_or(Stop::Amount, |work| work.stop)
    }
}
