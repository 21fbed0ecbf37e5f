//! `HostPlan` → samples: the hot path.
//!
//! Pinned down by its contract: no async, no allocation, no locks and no logging in the loop;
//! everything that a worker needs exists before the clock starts; an error of the target is data,
//! only our own failures are `Err`. This is the only crate with `unsafe`: memory that the kernel
//! writes into, and the ring.

mod audit;
mod backend;
mod clock;
mod collector;
mod contents;
mod control;
mod error;
mod generator;
mod io;
mod metadata;
mod outcome;
mod page_cache;
mod real_time;
mod replay;
mod stage;
mod targets;
mod threads;
mod timetable;
mod virtual_time;
mod worker;
mod zones;

pub use audit::{AuditError, AuditOptions, AuditStep, audit, audited_host};
pub use clock::{Clock, Monotonic};
pub use control::Control;
pub use error::EngineError;
pub use generator::{Generator, Request};
pub use outcome::StageOutcome;
pub use real_time::When;
pub use stage::run_stage;
pub use targets::{
    Bounds, Doing, Haste, OpenTargets, Place, Progress, Removed, clean, clean_in, is_simulated,
    marked_by, open, open_in, open_together, patiently, simulated,
};
pub use virtual_time::together::Together;
pub use worker::stuck::Stuck;

#[cfg(test)]
mod common {
    #![allow(dead_code)] // Its tests use a part.
    include!("../tests/common.rs");
}
