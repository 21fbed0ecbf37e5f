//! A suite from its text to its plan: text → [`Spec`] → [`Plan`](model::Plan).
//!
//! A [`Spec`] is the file as its author wrote it, checked: what is common, and one [`Scenario`] at
//! least. The [`planner`] turns it, with what the hosts are, into a plan or into refusals. Pure: no
//! file, no clock, no thread.

mod checks;
mod choices;
mod event;
mod fields;
mod machines;
mod names;
mod operations;
mod placement;
pub mod planner;
mod point;
mod spec;
mod target_set;
mod text;

use checks::{amount, contents, metadata, preparation, rounds, sharing, zones};
use text::{curve_file, overrides, ranges, scenario, sections, sweep};

pub use checks::rounds::RoundsSpec;
pub use choices::{
    Arrivals, FileOrder, FilesPer, Flush, LayoutKind, Order, OtherFiles, Pin, PreconditionUntil,
    PrepareOrder, RateOf, Sharing, Spread, Time, Until, Verify, WorkloadKind, Zones,
};
pub use event::EventSpec;
pub use fields::{
    ClientsSpec, ContentsSpec, EngineSpec, FleetSpec, KeepSpec, LayoutSpec, ObjectiveSpec,
    StagesSpec, SuiteSpec, SweepSpec, TreeSpec, VmsSpec, WorkloadSpec,
};
pub use names::Names;
pub use operations::{Operation, Operations};
pub use placement::{ALL_HOSTS, HostSet, HostTargets, Label};
pub use point::PointSpec;
pub use spec::{Scenario, Spec};
pub use target_set::TargetSet;
pub use text::curve_file::Files;
pub use text::reference::reference;
pub use text::sections::flag;

pub(crate) use checks::metadata::check_tree;
pub(crate) use checks::table::check_workload;

#[cfg(test)]
mod tests;
