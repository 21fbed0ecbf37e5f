//! The targets of a host, claimed and opened: the only place that makes, sizes or removes files.

mod claim;
mod open;

pub use claim::clean;
pub use open::{OpenTargets, open};
