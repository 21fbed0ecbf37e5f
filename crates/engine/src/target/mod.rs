//! The targets of a host, claimed and opened: the only place that makes, sizes or removes files.

mod claim;
mod open;
mod patient;
mod simulated;

pub use claim::{Removed, clean};
pub(crate) use claim::{lock_for_one, run_of};
pub use open::{OpenTargets, open, open_in, open_together};
pub use patient::{Doing, Haste, Progress, patiently};
pub(crate) use simulated::{Done, World};
pub use simulated::{is_simulated, simulated};
