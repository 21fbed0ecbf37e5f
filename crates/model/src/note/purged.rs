//! What became of a target's bytes before anything was written to it.

use crate::units::Bytes;
use serde::{Deserialize, Serialize};

crate::words! {
    /// How a target was purged.
    pub enum PurgedBy {
        /// The kernel discarded its bytes on the device (`BLKDISCARD`). Whether flash is erased by
        /// then, the device decides.
        Discard = "discard",
        /// The file system took the space of its files back (`fallocate`, punched holes) and
        /// reserved it anew. Of the drive below, nothing follows.
        Holes = "holes",
        /// A simulated device forgot its pages.
        Simulated = "simulated",
    }
}

/// What was purged of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purged {
    /// The target.
    pub path: String,
    /// How.
    pub by: PurgedBy,
    /// How many bytes this host gave back there.
    pub bytes: Bytes,
}
