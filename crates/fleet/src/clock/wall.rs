//! The time of day, for people: what is measured goes by clocks that nobody sets.

use std::time::{SystemTime, UNIX_EPOCH};

/// The time of day in ns since 1970; 0 where the clock is set to before that.
pub fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
