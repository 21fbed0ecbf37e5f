//! How fast an error budget is spent, and which alerts that is worth.
//!
//! The rules are those of the *Site Reliability Workbook* (Google, 2018, chapter 5, "6:
//! Multiwindow, Multi-Burn-Rate Alerts"): an alert is on while the budget is spent faster than a
//! factor over a long window and over a short one of a twelfth, so that it means something and ends
//! soon after its cause. Of a budget for 30 days, the factors are 14.4, 6 and 1.

use model::Nanos;
use model::canary::{Alert, AlertChange, Counts, SLOT_NS, Terms};
use std::collections::BTreeMap;

/// When an alert is on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Which one.
    pub alert: Alert,
    /// By how many times faster than evenly the budget is spent.
    pub factor: f64,
    /// The long window.
    pub long: Nanos,
    /// The short window.
    pub short: Nanos,
}

/// Minutes of an hour.
const HOUR: u64 = 60;
/// Alert, share of the budget, long window, short window; windows in minutes.
const RULES: [(Alert, f64, u64, u64); 3] = [
    (Alert::Fast, 0.02, HOUR, 5),
    (Alert::Medium, 0.05, 6 * HOUR, 30),
    (Alert::Slow, 0.10, 72 * HOUR, 6 * HOUR),
];

/// The rules for a budget of so long a time.
pub fn rules(window: Nanos) -> [Rule; 3] {
    let minutes = |count: u64| Nanos(count * SLOT_NS);
    RULES.map(|(alert, share, long, short)| {
        let (long, short) = (minutes(long), minutes(short));
        let factor = share * window.0 as f64 / long.0 as f64;
        Rule { alert, factor, long, short }
    })
}

/// Counts by the minute: what is on record, and what the running segment added to it.
#[derive(Clone, Copy, Debug)]
pub struct Minutes<'a> {
    /// What is to be kept.
    pub terms: &'a Terms,
    /// What is on record.
    pub kept: &'a BTreeMap<u64, Counts>,
    /// What is not on record yet.
    pub running: &'a BTreeMap<u64, Counts>,
}

impl Minutes<'_> {
    /// What was counted in the window that ends with minute `last`.
    pub fn counted(&self, last: u64, window: Nanos) -> Counts {
        let first = (last + 1).saturating_sub(window.0 / SLOT_NS);
        let mut sum = Counts::default();
        for minutes in [self.kept, self.running] {
            minutes.range(first..=last).for_each(|(_, counts)| sum.add(*counts));
        }
        sum
    }

    /// Requests that were due in a window with load throughout.
    fn due(&self, window: Nanos) -> f64 {
        self.terms.rate_milli as f64 / 1e3 * window.0 as f64 / 1e9
    }

    /// The share of requests that may be bad.
    fn allowed(&self) -> f64 {
        f64::from(1_000_000u32.saturating_sub(self.terms.target_ppm)) / 1e6
    }

    /// How many times faster than evenly the budget was spent in the window that ends with minute
    /// `last`: 1 spends all of it in the time that it is for. Of a window that the canary has not
    /// filled yet, what is missing counts as good: the first bad request of a new canary is not an
    /// outage, and a window without load spends nothing.
    pub fn burn_rate(&self, last: u64, window: Nanos) -> f64 {
        let counted = self.counted(last, window);
        let all = self.due(window).max(counted.all() as f64);
        if all <= 0.0 { 0.0 } else { counted.bad as f64 / all / self.allowed() }
    }

    /// The share of the budget that is left; below 0 where more than all is spent.
    pub fn budget_left(&self, last: u64) -> f64 {
        1.0 - self.burn_rate(last, self.terms.window)
    }

    /// The share of the requests due in the window that were seen, 1 at most.
    pub fn coverage(&self, last: u64) -> f64 {
        let due = self.due(self.terms.window);
        if due <= 0.0 {
            return 0.0;
        }
        (self.counted(last, self.terms.window).all() as f64 / due).min(1.0)
    }

    /// The alerts that are on at the end of minute `last`.
    pub fn firing(&self, last: u64) -> Vec<Alert> {
        let is_on = |rule: &Rule| {
            // The short one first: it seldom holds, and is the cheaper one.
            [rule.short, rule.long]
                .iter()
                // What rounding leaves of equal values is no difference.
                .all(|window| self.burn_rate(last, *window) >= rule.factor * (1.0 - 1e-9))
        };
        rules(self.terms.window).iter().filter(|rule| is_on(rule)).map(|rule| rule.alert).collect()
    }

    /// What changed at the end of minute `last`, where `before` was on.
    pub fn changes(&self, last: u64, before: &[Alert]) -> Vec<AlertChange> {
        let now = self.firing(last);
        let unix_ns = last.saturating_add(1).saturating_mul(SLOT_NS);
        let changed = Alert::ALL.iter().filter(|one| now.contains(one) != before.contains(one));
        changed.map(|&alert| AlertChange { alert, is_on: now.contains(&alert), unix_ns }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 99.9 % over 30 days at 10 requests per second.
    fn terms() -> Terms {
        Terms {
            suite: "s".to_owned(),
            rate_milli: 10_000,
            targets: Vec::new(),
            objective: "p99.9 < 5ms".parse().expect("an objective"),
            target_ppm: 999_000,
            window: Nanos::seconds(30 * 24 * 3600),
        }
    }

    /// When, in minutes after the start of a fault with this share of bad requests, an alert is
    /// first on.
    fn detected(share: f64, alert: Alert) -> Option<u64> {
        let terms = terms();
        let empty = BTreeMap::new();
        let mut kept = BTreeMap::new();
        let start = 5 * 24 * 60;
        for minute in 0..start {
            kept.insert(minute, Counts { good: 600, bad: 0 });
        }
        for minute in start..start + 4 * 24 * 60 {
            let bad = (600.0 * share).round() as u64;
            kept.insert(minute, Counts { good: 600 - bad, bad });
            let minutes = Minutes { terms: &terms, kept: &kept, running: &empty };
            if minutes.firing(minute).contains(&alert) {
                return Some(minute + 1 - start);
            }
        }
        None
    }

    #[test]
    fn factors_are_the_workbooks() {
        let month = rules(Nanos::seconds(30 * 24 * 3600)).map(|rule| rule.factor);
        for (found, known) in month.iter().zip([14.4, 6.0, 1.0]) {
            assert!((found - known).abs() < 1e-9, "{found} is not {known}");
        }
    }

    #[test]
    fn a_fault_is_detected_when_theory_says() {
        // Time to detection = (1 − target) ÷ share of bad requests × factor × long window.
        for (share, alert, minutes) in [
            (1.0, Alert::Fast, 1),
            (0.1, Alert::Fast, 9),
            (0.02, Alert::Fast, 44),
            (0.01, Alert::Medium, 216),
            (0.005, Alert::Slow, 864),
        ] {
            assert_eq!(detected(share, alert), Some(minutes), "{share} {alert}");
        }
        // 10 times too fast: six hours tell, one does not.
        assert_eq!(detected(0.01, Alert::Fast), None);
        // Evenly spent: nobody is called. (0.0 of 600 a minute cannot be less than 1.)
        assert_eq!(detected(0.0, Alert::Slow), None);
    }

    #[test]
    fn a_new_canary_is_not_alarmed_by_one_bad_request_and_the_budget_is_that_of_the_window() {
        let (terms, empty) = (terms(), BTreeMap::new());
        let kept = BTreeMap::from([(100, Counts { good: 599, bad: 1 })]);
        let minutes = Minutes { terms: &terms, kept: &kept, running: &empty };
        assert!(minutes.firing(100).is_empty());
        // 30 days have 25,920,000 requests, of which 25,920 may be bad.
        let left = minutes.budget_left(100);
        assert!((left - (1.0 - 1.0 / 25_920.0)).abs() < 1e-9, "{left}");
        let running = BTreeMap::from([(101, Counts { good: 0, bad: 600 })]);
        let both = Minutes { running: &running, ..minutes };
        assert_eq!(both.firing(101), [Alert::Fast], "ten minutes' budget in one, at 16.7 times");
        assert_eq!(both.counted(101, Nanos(2 * SLOT_NS)), Counts { good: 599, bad: 601 });
    }
}
