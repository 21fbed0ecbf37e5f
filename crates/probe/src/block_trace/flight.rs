//! How many requests a device has, and how long each takes: from what it was sent, and what came
//! back.

use model::trace::InFlight;
use model::{Histogram, Op};
use std::collections::BTreeMap;

/// Requests that are remembered; what comes after them is not counted.
const MOST_HELD: usize = 1 << 20;

/// A request under way.
#[derive(Debug)]
struct Held {
    op: Op,
    sent_ns: u64,
    /// Sectors that are still to come back.
    left: u32,
}

/// Requests under way, by where they begin. Flushes have no place, and are not counted.
#[derive(Debug, Default)]
pub(super) struct Flight {
    held: BTreeMap<u64, Held>,
    seen: InFlight,
    latencies: BTreeMap<Op, Histogram>,
    is_unknown: bool,
}

impl Flight {
    /// A request was sent.
    pub(super) fn sent(&mut self, op: Op, sent_ns: u64, sector: u64, left: u32) {
        if self.held.len() >= MOST_HELD {
            self.is_unknown = true;
            return;
        }
        self.held.insert(sector, Held { op, sent_ns, left });
        self.seen.sent(self.held.len() as u64);
    }

    /// Sectors came back: a request, or the first part of one. What was sent before the recording
    /// began is not known here.
    pub(super) fn back(&mut self, at_ns: u64, sector: u64, sectors: u32) {
        let Some(held) = self.held.remove(&sector) else { return };
        match held.left.checked_sub(sectors).filter(|left| *left > 0 && sectors > 0) {
            Some(left) => {
                self.held.insert(sector.saturating_add(sectors.into()), Held { left, ..held });
            }
            None => {
                let latency = self.latencies.entry(held.op).or_default();
                latency.record(at_ns.saturating_sub(held.sent_ns));
            }
        }
    }

    /// What came back until now does not count.
    pub(super) fn forget(&mut self) {
        self.held.clear();
        self.latencies.clear();
        self.seen = InFlight::default();
    }

    /// What was seen; `None` where there was too much to remember, or nothing.
    pub(super) fn seen(&self) -> Option<InFlight> {
        Some(self.seen).filter(|seen| !self.is_unknown && seen.requests > 0)
    }

    /// From the instant at which a request was sent to that at which the last of it came back;
    /// `None` where there was too much to remember.
    pub(super) fn latencies(self) -> Option<BTreeMap<Op, Histogram>> {
        Some(self.latencies).filter(|_| !self.is_unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_under_way_until_its_last_sector_came_back() {
        let mut flight = Flight::default();
        assert_eq!(flight.seen(), None);
        flight.back(0, 99, 8);
        flight.sent(Op::Read, 10, 0, 8);
        flight.sent(Op::Write, 20, 100, 16);
        flight.back(30, 100, 8);
        flight.sent(Op::Read, 40, 50, 8);
        flight.back(50, 108, 8);
        flight.back(60, 0, 8);
        flight.sent(Op::Read, 70, 0, 8);
        assert_eq!(flight.seen(), Some(InFlight { requests: 4, sum: 8, most: 3 }));
        let latencies = flight.latencies().expect("room");
        let of = |op| latencies.get(&op).map(|one| (one.count(), one.min_ns()));
        assert_eq!([of(Op::Read), of(Op::Write)], [Some((1, Some(50))), Some((1, Some(30)))]);
    }

    #[test]
    fn what_was_before_the_begin_is_forgotten() {
        let mut flight = Flight::default();
        flight.sent(Op::Read, 10, 0, 8);
        flight.forget();
        flight.back(20, 0, 8);
        assert_eq!((flight.seen(), flight.latencies()), (None, Some(BTreeMap::new())));
    }
}
