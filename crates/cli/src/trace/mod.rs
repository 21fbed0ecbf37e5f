//! Traces as files: opened, read through, and summed up.

mod file;
mod opened;
mod replay_suite;
mod scan;
mod share;
mod shares;
mod sorting;
mod spool;

pub(crate) use opened::{Opened, Stopped};
pub(crate) use replay_suite::{ReplaySuite, carry_into};
pub(crate) use scan::{Scanned, first_past, is_taken, scan, tell};
pub(crate) use shares::shares;
