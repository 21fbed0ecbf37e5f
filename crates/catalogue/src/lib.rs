//! What clusters, drives and publications are, as texts with sources: described testbeds, the
//! catalogue of drives, and figures that others published.
//!
//! Pure: the texts of `reference/` are embedded, and no file is opened, no clock read, no thread
//! started.

pub mod cluster;
pub mod devices;
pub mod published;
mod rows;
pub mod targets;
pub mod ways;

pub use cluster::Cluster;
pub use form::{Auto, Count, Given, Override, Problem, SpecErrors, Whole};
