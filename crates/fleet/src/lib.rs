//! Plan → agents → events: starts the agents, gives each its share, runs the stages on all of them at once.
//!
//! The [`Coordinator`] decides and does nothing; [`Fleet`] does what it decides. A local run is a fleet of one agent at the other
//! end of an in-memory pair, over the same messages that a remote one speaks.

mod agent;
mod coordinator;
mod performer;
mod sampler;
mod wire;

pub use coordinator::{Action, Coordinator, Input};
pub use performer::{Ending, Fleet, FleetError, Interrupter};
pub use wire::{FromAgent, Link, ToAgent, pair};
