//! Whether the target's latency says that others suffer, so that the load is to be taken away.
//!
//! The canary is small: if its own requests take several times what they usually do, something else
//! is wrong, and it is better to add nothing to that. What is usual is the median of the p99s of
//! earlier windows that were quiet themselves. Windows with harm never count as usual.

use model::canary::{Harm, MOST_LEVELS};
use model::{Histogram, Nanos};
use std::collections::VecDeque;

/// Before so many windows, nobody knows what is usual.
const LEAST_WINDOWS: usize = 12;
/// A p99 of fewer requests is the luck of one of them.
const LEAST_REQUESTS: u64 = 200;
/// Of more than this share of failed requests, the target is worse than slow.
const MOST_ERRORS: f64 = 0.05;

/// When the load is taken away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuardTerms {
    /// By how many times its usual level the p99 has to be higher.
    pub times: f64,
    /// Over so many minutes; at least 1.
    pub over: usize,
}

/// What came back in one minute with load from its first instant to its last.
#[derive(Clone, Debug, PartialEq)]
pub struct SlotSeen {
    /// The requests that succeeded.
    pub latency: Histogram,
    /// The requests that failed.
    pub errors: u64,
}

/// The first pause; each further one in a row is twice as long.
const FIRST_PAUSE: Nanos = Nanos::seconds(600);
/// The longest pause.
const LONGEST_PAUSE: Nanos = Nanos::seconds(4 * 3600);

/// How long the load stays away after so many pauses in a row.
pub fn pause(before: u32) -> Nanos {
    let doubled = FIRST_PAUSE.0.saturating_mul(1 << before.min(16));
    Nanos(doubled.min(LONGEST_PAUSE.0))
}

/// Watches one minute after the other.
#[derive(Clone, Debug)]
pub struct Guard {
    terms: GuardTerms,
    /// Requests due in a minute, less than which is no load at all.
    due: f64,
    latest: VecDeque<SlotSeen>,
    /// Minutes since the last window whose level was kept.
    since: usize,
    usual_ns: VecDeque<u64>,
}

impl Guard {
    /// A guard that knows the levels of earlier windows. `rate_milli` is thousandths of a request
    /// per second.
    pub fn new(terms: GuardTerms, rate_milli: u64, levels_ns: &VecDeque<u64>) -> Guard {
        Guard {
            terms,
            due: rate_milli as f64 * 60.0 / 1e3,
            latest: VecDeque::new(),
            since: 0,
            usual_ns: levels_ns.clone(),
        }
    }

    /// The usual p99, in ns; `None` where it is not known yet.
    pub fn usual_ns(&self) -> Option<u64> {
        if self.usual_ns.len() < LEAST_WINDOWS {
            return None;
        }
        let mut sorted: Vec<u64> = self.usual_ns.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied()
    }

    /// Begins anew after a pause: windows do not reach over it.
    pub fn begin(&mut self) {
        self.latest.clear();
        self.since = 0;
    }

    /// Takes a minute in. The answer is what is wrong, or the p99 of a quiet window that is over.
    ///
    /// # Errors
    /// Why the load is to be taken away.
    pub fn slot(&mut self, seen: SlotSeen) -> Result<Option<u64>, Harm> {
        self.latest.push_back(seen);
        while self.latest.len() > self.terms.over {
            self.latest.pop_front();
        }
        self.since += 1;
        if self.latest.len() < self.terms.over {
            return Ok(None);
        }
        let mut window = Histogram::new();
        self.latest.iter().for_each(|slot| window.merge(&slot.latency));
        let errors: u64 = self.latest.iter().map(|slot| slot.errors).sum();
        let all = window.count().saturating_add(errors);
        if all == 0 && self.due * self.terms.over as f64 >= 2.0 {
            return Err(Harm::Silent);
        }
        if all >= LEAST_REQUESTS && errors as f64 > MOST_ERRORS * all as f64 {
            return Err(Harm::Failing { errors, of: all });
        }
        let enough = window.count() >= LEAST_REQUESTS;
        let Some(p99_ns) = window.quantile_ns(0.99).filter(|_| enough) else { return Ok(None) };
        if let Some(usual_ns) = self.usual_ns()
            && p99_ns as f64 > self.terms.times * usual_ns as f64
        {
            return Err(Harm::Slow { p99_ns, usual_ns });
        }
        if self.since < self.terms.over {
            return Ok(None);
        }
        self.since = 0;
        self.usual_ns.push_back(p99_ns);
        while self.usual_ns.len() > MOST_LEVELS {
            self.usual_ns.pop_front();
        }
        Ok(Some(p99_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(p99_ns: u64, errors: u64) -> SlotSeen {
        let mut latency = Histogram::new();
        latency.record_many(p99_ns / 2, 500);
        latency.record_many(p99_ns, 100);
        SlotSeen { latency, errors }
    }

    fn guard() -> Guard {
        let terms = GuardTerms { times: 3.0, over: 5 };
        Guard::new(terms, 10_000, &VecDeque::new())
    }

    #[test]
    fn a_target_that_becomes_slower_is_left_alone_within_the_window_and_not_before() {
        let mut guard = guard();
        for minute in 0..60 {
            // Nobody knows yet what is usual: nothing is harm.
            let strange = if minute == 7 { 50_000_000 } else { 1_000_000 };
            assert!(guard.slot(slot(strange, 0)).is_ok(), "{minute}");
        }
        let usual = guard.usual_ns().expect("twelve windows");
        assert!((990_000..1_010_000).contains(&usual), "the one slow window is no level: {usual}");
        for _ in 0..600 {
            assert!(guard.slot(slot(2_500_000, 0)).is_ok(), "slower, but not three times");
        }
        let mut guard = Guard { usual_ns: VecDeque::from(vec![1_000_000; 12]), ..self::guard() };
        let found: Vec<usize> =
            (0..9).filter(|_| guard.slot(slot(4_000_000, 0)).is_err()).collect();
        assert_eq!(found.first(), Some(&4), "five minutes, each slow");
        assert_eq!(guard.usual_ns.len(), 12, "harm is never usual");
    }

    #[test]
    fn pauses_double_up_to_four_hours() {
        let minutes = [0, 1, 2, 4, 5, u32::MAX].map(|before| pause(before).0 / 60_000_000_000);
        assert_eq!(minutes, [10, 20, 40, 160, 240, 240]);
    }

    #[test]
    fn failing_and_silent_targets_are_left_alone() {
        let mut guard = guard();
        let found = (0..5).map(|_| guard.slot(slot(1_000_000, 60))).last();
        assert_eq!(found, Some(Err(Harm::Failing { errors: 300, of: 3300 })));
        guard.begin();
        let nothing = SlotSeen { latency: Histogram::new(), errors: 0 };
        let found: Vec<_> = (0..5).map(|_| guard.slot(nothing.clone())).collect();
        assert_eq!(found[3], Ok(None));
        assert_eq!(found[4], Err(Harm::Silent));
        // Of a load of one request an hour, silence says nothing.
        let terms = GuardTerms { times: 3.0, over: 5 };
        let mut rare = Guard::new(terms, 1, &VecDeque::new());
        assert!((0..50).all(|_| rare.slot(nothing.clone()) == Ok(None)));
    }
}
