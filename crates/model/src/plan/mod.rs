//! Everything decided, nothing optional left: what each worker of each host does in each stage.

mod amounts;
mod command_work;
mod host;
mod keep;
pub mod names;
pub mod origin;
mod part;
pub mod places;
pub(crate) mod search;
mod sound;
pub(crate) mod stage;
mod stop;
mod trace_work;
pub(crate) mod work;
mod zones;

pub use amounts::{buffers, ledger};
pub use command_work::CommandWork;
pub use host::{Contents, EngineSettings, HostPlan, Part, PlannedTarget, Target, TargetFile};
pub use keep::Keep;
pub use origin::Origin;
pub use places::Misplaced;
pub use search::{RateShare, RateShares, Rounds, Search};
pub use sound::Unsound;
pub use stage::{HostStage, Point, Prerun, Stage, StageKind};
pub use stop::{Once, Steady, Stop};
pub use trace_work::TraceWork;
pub use work::{Extent, Pattern, Work, Worker};
pub use zones::{MOST_ZONES, ZoneRules};

use crate::choices::{Backend, OnLostHost};
use crate::event::NoteKind;
use crate::note::Fact;
use crate::objective::Objective;
use crate::planned_event::PlannedEvent;
use crate::scale::Scale;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// A whole run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Tells this run from all others; also stands in the marker of the targets.
    pub run_id: String,
    /// The suite's name.
    pub suite: String,
    /// The suite's description.
    pub description: String,
    /// The suite's seed.
    pub seed: u64,
    /// By how much sizes and times were shrunk.
    pub scale: Scale,
    /// The length of one sample.
    pub interval: Nanos,
    /// What the suite asks for; an agent that cannot have it says so in a note.
    pub backend: Backend,
    /// Whether the page cache is to be bypassed.
    pub direct: bool,
    /// Whether the layout is what stood there before, and nothing is written.
    pub existing: bool,
    /// The options that named the hosts, for a run that goes on with this one; none for this
    /// machine alone.
    pub hosts_from: Vec<String>,
    /// What was typed, and the suite's text; nothing in runs of versions that kept neither.
    #[serde(default)]
    pub origin: Origin,
    /// What the hosts are called besides their names, one entry for each; none in runs of versions
    /// that had no labels.
    #[serde(default)]
    pub places: Vec<HostPlace>,
    /// What holds for the hosts together.
    pub fleet: FleetPolicy,
    /// What the run file keeps; all in runs of versions that had no choice.
    #[serde(default, skip_serializing_if = "Keep::is_all")]
    pub keep: Keep,
    /// The points, in the order in which they run.
    pub points: Vec<Point>,
    /// The stages, in the order in which they run. A stage's place in this list is its number
    /// everywhere.
    pub stages: Vec<Stage>,
    /// Each host's share.
    pub hosts: Vec<HostPlan>,
    /// What the planner decided against the suite's word, and why.
    pub notes: Vec<PlanNote>,
    /// What is searched for, if further points follow from those that were measured.
    #[serde(default)]
    pub search: Option<Search>,
    /// What the suite asks every point to keep; nothing in runs of versions that kept it nowhere.
    #[serde(default)]
    pub objective: Option<Objective>,
    /// Points at shares of rates that are measured first.
    #[serde(default)]
    pub rate_shares: RateShares,
    /// Rounds that go on until what is tracked is steady; none in runs of versions that knew none.
    #[serde(default)]
    pub rounds: Rounds,
    /// What is to happen in the midst of measurements.
    #[serde(default)]
    pub events: Vec<PlannedEvent>,
}

/// What a host is called besides its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPlace {
    /// Its labels, in the order of the suite.
    pub labels: Vec<String>,
    /// The owner of each of its targets, in their order, which is a label; empty where nobody
    /// says.
    pub owners: Vec<String>,
}

/// What becomes of a run whose hosts fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetPolicy {
    /// What happens when one is lost.
    pub on_lost_host: OnLostHost,
    /// Hosts that have to be left at least for the run to go on; at least 1.
    pub quorum: u32,
    /// After so long a silence, coordinator and host give each other up.
    pub lost_after: Nanos,
    /// For so long, agents hold out without a word and without a connection, and keep what is to be
    /// told; 0 is not at all.
    #[serde(default)]
    pub hold: Nanos,
}

impl FleetPolicy {
    /// How long coordinator and host may hear nothing of each other.
    pub fn silence(&self) -> Nanos {
        self.lost_after.max(self.hold)
    }
}

impl Plan {
    /// Whether further points follow from those that were measured.
    pub fn grows(&self) -> bool {
        self.search.is_some() || !self.rate_shares.shares.is_empty() || self.rounds.most > 0
    }

    /// Whether any target is simulated.
    pub fn is_simulated(&self) -> bool {
        let mut targets = self.hosts.iter().flat_map(|host| &host.targets);
        targets.any(|target| target.kind == PlannedTarget::Simulated)
    }
}

/// Something that the planner has to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanNote {
    /// What there is to know.
    pub fact: Fact,
}

impl PlanNote {
    /// What it is about.
    pub fn kind(&self) -> NoteKind {
        self.fact.kind()
    }
}
