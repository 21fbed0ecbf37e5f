//! Plan → agents → events: starts the agents, gives each its share, runs the stages on all of them
//! at once.
//!
//! The [`Coordinator`] decides and does nothing; [`Fleet`] does what it decides. A local run is a
//! fleet of one agent at the other end of an in-memory pair, over the same messages that a remote
//! one speaks. Nothing listens but for a flow of `plimsoll network` ([`flow`]): an agent speaks on
//! its standard streams, and whoever started it
//! holds them.

mod agent;
mod clock;
mod command;
mod coordinator;
mod flow;
pub mod launch;
mod link;
mod packed;
mod performer;
mod relaunch;
mod relay;
mod sampler;
mod session;
#[cfg(test)]
mod simulation;
mod steps;
mod takeover;
mod tree;
mod watch;
mod wire;

pub use agent::{ALLOW_FILE, Guard, GuardError, HeldAs, serve_streams};
pub use clock::wall::unix_ns;
pub use coordinator::{Action, Coordinator, Input, Marked, Now, Reach};
pub use link::{Frame, LinkError};
pub use packed::{Packer, Unpacker};
pub use performer::{
    Absent, BothEnds, Director, Ending, Fleet, FleetError, FlowOrder, HostReport, Interrupter,
    Marker,
};
pub use session::{AttachError, attach};
pub use takeover::Takeover;
pub use watch::Watched;
pub use wire::{Cleaned, FromAgent, Outcome, ToAgent, Word};
