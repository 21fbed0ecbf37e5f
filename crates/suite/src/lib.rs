//! A suite from its text to its plan: text → [`Spec`] → [`Plan`](model::Plan).
//!
//! A [`Spec`] is the file as its author wrote it, checked: what is common, and one [`Scenario`] at
//! least. The [`planner`] turns it, with what the hosts are, into a plan or into refusals. Pure: no
//! file, no clock, no thread.

mod amount;
mod check;
mod choices;
mod contents;
mod curve_file;
mod event;
mod fields;
mod machines;
mod metadata;
mod names;
mod operations;
mod overrides;
mod parse;
mod placement;
pub mod planner;
mod point;
mod population;
mod preparation;
mod ranges;
mod reference;
mod rounds;
mod scenario;
mod sections;
mod sharing;
mod spec;
mod sweep;
mod target_set;
mod zones;

pub use choices::{
    Arrivals, FileOrder, FilesPer, Flush, LayoutKind, Order, OtherFiles, Pin, PreconditionUntil,
    PrepareOrder, RateOf, Sharing, Spread, Time, Until, Verify, WorkloadKind, Zones,
};
pub use curve_file::Files;
pub use event::EventSpec;
pub use fields::{
    ClientsSpec, ContentsSpec, EngineSpec, FleetSpec, KeepSpec, LayoutSpec, ObjectiveSpec,
    StagesSpec, SuiteSpec, SweepSpec, TreeSpec, VmsSpec, WorkloadSpec,
};
pub use names::Names;
pub use operations::{Operation, Operations};
pub use placement::{ALL_HOSTS, HostSet, HostTargets, Label};
pub use point::PointSpec;
pub use reference::reference;
pub use rounds::RoundsSpec;
pub use sections::flag;
pub use spec::{Scenario, Spec};
pub use target_set::TargetSet;

pub(crate) use check::check_workload;
pub(crate) use metadata::check_tree;

#[cfg(test)]
mod tests;
