//! Whole fleets in virtual time: the real coordinator and the decisions of real agents over
//! simulated links, clocks and mishaps.
//!
//! One seed says everything that happens: how hosts are reached, what their clocks show, what
//! breaks and when. [`world`] lets it happen, event by event; [`invariants`] says what must hold
//! afterwards, whatever happened. What the threads of an agent do in real time is played by
//! [`agent`]; what they decide is `agent::state`, as in a real one. `cargo xtask soak` runs seeds
//! by the million.

mod agent;
mod attempts;
mod clock;
mod invariants;
mod layouts;
mod load;
mod queue;
#[path = "scale/tests.rs"]
mod scale;
mod scenario;
mod sometimes;
mod stream;
mod tests;
mod told;
#[path = "walls/tests.rs"]
mod walls;
mod world;

/// An invariant that holds, or what breaks it.
type Held = Result<(), String>;

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Held {
    if holds { Ok(()) } else { Err(what()) }
}

/// A second of virtual time, in ns.
const SECOND: u64 = 1_000_000_000;
/// A millisecond of virtual time, in ns.
const MILLI: u64 = 1_000_000;
