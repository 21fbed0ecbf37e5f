//! How many requests a device had at once.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Requests that are remembered until they come back; with more at once, nothing is told.
const MOST_HELD: usize = 1 << 20;

/// How many requests the device had, each time it was sent one, that one included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InFlight {
    /// The requests at which it was looked.
    pub requests: u64,
    /// What was seen at all of them together: their mean is this, divided by the requests.
    pub sum: u64,
    /// The most that was seen.
    pub most: u64,
}

impl InFlight {
    /// A request is sent, and with it the device has so many.
    #[inline]
    pub fn sent(&mut self, now: u64) {
        self.requests += 1;
        self.sum = self.sum.saturating_add(now);
        self.most = self.most.max(now);
    }

    /// The mean; 0 of no requests.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.requests.max(1) as f64
    }

    /// What two devices had, each by itself.
    pub fn and(self, other: InFlight) -> InFlight {
        InFlight {
            requests: self.requests.saturating_add(other.requests),
            sum: self.sum.saturating_add(other.sum),
            most: self.most.max(other.most),
        }
    }
}

/// Counts from the instants at which requests were sent and came back.
#[derive(Clone, Debug, Default)]
pub struct FlightCount {
    /// When those that are under way come back, in ns.
    back: BinaryHeap<Reverse<i128>>,
    seen: InFlight,
    /// Whether some request did not say when it came back.
    is_unknown: bool,
}

impl FlightCount {
    /// A request was sent at `at_ns`, no earlier than the one before, and took so long; `None`
    /// where the trace does not say.
    pub fn sent(&mut self, at_ns: i128, took_ns: Option<i128>) {
        let Some(took_ns) = took_ns.filter(|_| !self.is_unknown) else {
            self.is_unknown = true;
            self.back = BinaryHeap::new();
            return;
        };
        while self.back.peek().is_some_and(|Reverse(back_ns)| *back_ns <= at_ns) {
            self.back.pop();
        }
        if self.back.len() >= MOST_HELD {
            self.is_unknown = true;
            return;
        }
        self.back.push(Reverse(at_ns.saturating_add(took_ns)));
        self.seen.sent(self.back.len() as u64);
    }

    /// What was seen; `None` where requests did not say when they came back, or there were none.
    pub fn seen(&self) -> Option<InFlight> {
        Some(self.seen).filter(|seen| !self.is_unknown && seen.requests > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_sees_those_that_are_not_back_and_itself() {
        let mut count = FlightCount::default();
        assert_eq!(count.seen(), None);
        // 0 to 10, 4 to 6, 6 to 7 and 10 to 11: what comes back at an instant is back.
        for (at_ns, took_ns) in [(0, 10), (4, 2), (6, 1), (10, 1)] {
            count.sent(at_ns, Some(took_ns));
        }
        let seen = count.seen().expect("all said when");
        assert_eq!(seen, InFlight { requests: 4, sum: 6, most: 2 });
        assert!((seen.mean() - 1.5).abs() < 1e-12);
        let both = seen.and(InFlight { requests: 1, sum: 9, most: 9 });
        assert_eq!(both, InFlight { requests: 5, sum: 15, most: 9 });
        count.sent(12, None);
        assert_eq!(count.seen(), None, "a part does not stand for the whole");
    }
}
