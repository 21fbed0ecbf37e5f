//! The targets of a host, claimed and opened: the only place that makes, sizes or removes files.

mod claim;
mod descriptions;
mod directory;
mod fallback;
mod marker;
mod open;
mod opener;
pub(crate) mod purge;
mod simulated;
mod time_limit;
mod tree_removal;

pub use claim::{Removed, clean, clean_in, marked_by};
pub(crate) use claim::{joined, remedy};
pub(crate) use descriptions::{Own, again, numbers, ours};
pub use directory::{Bounds, Place};
pub(crate) use directory::{Directory, open_in as open_below};
pub(crate) use marker::{is_removed, lock_for_one, run_of};
pub use open::{OpenTargets, open, open_in, open_together};
pub(crate) use simulated::{Done, World};
pub use simulated::{is_simulated, simulated};
pub use time_limit::{Doing, Haste, Progress, patiently};
