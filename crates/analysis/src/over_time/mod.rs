//! How a stage went on: its intervals, its levels, what happened in between and what came after.

pub mod aftermath;
pub mod backlog;
pub mod bursts;
pub mod changes;
pub mod effects;
pub mod event_io;
pub(crate) mod host_series;
pub(crate) mod offer;
pub mod rounds;
pub(crate) mod series;
#[cfg(test)]
mod settled_tests;
pub mod steady;
pub mod warm;
pub mod warmup;
