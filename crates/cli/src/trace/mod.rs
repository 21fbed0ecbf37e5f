//! Traces as files: opened, read through, and summed up.

mod file;
mod opened;
mod replay_suite;
mod scan;
mod shares;
mod sorting;
mod spool;

pub use opened::{Opened, Stopped};
pub use replay_suite::{ReplaySuite, carry_into};
pub use scan::{Scanned, first_past, is_taken, scan, tell};
pub use shares::shares;
