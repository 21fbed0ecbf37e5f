//! How many requests a device has, from what it was sent and what came back.

use model::trace::InFlight;
use std::collections::BTreeMap;

/// Requests that are remembered; what comes after them is not counted.
const MOST_HELD: usize = 1 << 20;

/// Requests under way: where they begin, and how many sectors are still to come back. Flushes have
/// no place, and are not counted.
#[derive(Debug, Default)]
pub(super) struct Flight {
    held: BTreeMap<u64, u32>,
    seen: InFlight,
    is_unknown: bool,
}

impl Flight {
    /// A request was sent.
    pub(super) fn sent(&mut self, sector: u64, sectors: u32) {
        if self.held.len() >= MOST_HELD {
            self.is_unknown = true;
            return;
        }
        self.held.insert(sector, sectors);
        self.seen.sent(self.held.len() as u64);
    }

    /// Sectors came back: a request, or the first part of one. What was sent before the recording
    /// began is not known here.
    pub(super) fn back(&mut self, sector: u64, sectors: u32) {
        let Some(left) = self.held.remove(&sector) else { return };
        if let Some(left) = left.checked_sub(sectors).filter(|left| *left > 0 && sectors > 0) {
            self.held.insert(sector.saturating_add(sectors.into()), left);
        }
    }

    /// What was seen; `None` where there was too much to remember, or nothing.
    pub(super) fn seen(&self) -> Option<InFlight> {
        Some(self.seen).filter(|seen| !self.is_unknown && seen.requests > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_under_way_until_its_last_sector_came_back() {
        let mut flight = Flight::default();
        assert_eq!(flight.seen(), None);
        flight.back(99, 8);
        flight.sent(0, 8);
        flight.sent(100, 16);
        flight.back(100, 8);
        flight.sent(50, 8);
        flight.back(108, 8);
        flight.back(0, 8);
        flight.sent(0, 8);
        assert_eq!(flight.seen(), Some(InFlight { requests: 4, sum: 8, most: 3 }));
    }
}
