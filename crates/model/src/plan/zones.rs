//! How a work keeps to the zones of a zoned device: what fio's `zonemode=zbd` does.

use crate::units::{Bytes, Percent};
use serde::{Deserialize, Serialize};

/// No table of zones has more rows: the largest drives have some 120,000.
pub const MOST_ZONES: u64 = 1 << 22;

/// Zones are written at their write pointers and reset when they are full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneRules {
    /// The size of a zone: a target without zones is treated as if it had such, and one with zones
    /// must have it. 0: the device says it, and a target without zones is refused.
    pub size: Bytes,
    /// Zones that are written at the same time, by all workers of a host on one target; 0: as many
    /// as the device allows.
    pub open: u32,
    /// The same for one worker; 0: as many as `open`.
    pub worker_open: u32,
    /// The share of the loaded bytes that hold data before zones are reset while they have room.
    pub reset_threshold: Percent,
    /// From that threshold on, the share of the writes before which their zone is reset; 0: a zone
    /// is reset when it is full, and not before.
    pub reset_frequency: Percent,
    /// Whether reads also go behind write pointers.
    pub unwritten_reads: bool,
}
