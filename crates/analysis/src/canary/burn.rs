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
    /// The share of the budget that is spent in the long window then.
    pub share: f64,
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

/// The budgets of the rules are for so many minutes, and for a week they still are of use.
const MONTH: u64 = 30 * 24 * HOUR;
const WEEK: u64 = 7 * 24 * HOUR;
/// A short window is full with this share of its requests: arrivals and hosts are not exact.
const FULL: f64 = 0.9;
/// So large a share of a short window's requests is told before it is full: a target that hangs.
const ENOUGH: f64 = 0.2;

/// The rules for a budget of so long a time. Of less than a week, windows are shorter in
/// proportion, and at least a minute, two and three.
pub fn rules(window: Nanos) -> [Rule; 3] {
    let budget = window.0 / SLOT_NS;
    let minutes = |count: u64, least: u64| {
        let in_proportion = (count * budget).div_ceil(MONTH).max(least);
        Nanos(SLOT_NS * if budget < WEEK { in_proportion } else { count })
    };
    let mut least = 0;
    RULES.map(|(alert, share, long, short)| {
        least += 1;
        let (long, short) = (minutes(long, least), minutes(short, 1));
        let factor = share * window.0 as f64 / long.0 as f64;
        Rule { alert, share, factor, long, short }
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

    /// What was counted in the window that ends at an instant, in ns since 1970: in whole minutes,
    /// and what is known of the one that has begun.
    pub fn until(&self, unix_ns: u64, window: Nanos) -> Counts {
        let begun = SLOT_NS * u64::from(!unix_ns.is_multiple_of(SLOT_NS));
        self.counted(unix_ns.div_ceil(SLOT_NS).saturating_sub(1), Nanos(window.0 + begun))
    }

    /// How many times faster than evenly the budget was spent in the window that ends at an
    /// instant: 1 spends all of it in the time that it is for. Only requests that were due count;
    /// `None` where none were: time without load is neither good nor bad.
    pub fn burn_rate(&self, unix_ns: u64, window: Nanos) -> Option<f64> {
        let counted = self.until(unix_ns, window);
        let bad = counted.bad as f64 / counted.all() as f64;
        (counted.all() > 0).then(|| bad / self.allowed())
    }

    /// The share of the budget that is left, of the requests that were due in the window; below 0
    /// where more than all is spent. Time without load is neither good nor bad.
    pub fn budget_left(&self, last: u64) -> f64 {
        let counted = self.counted(last, self.terms.window);
        let may_be_bad = counted.all() as f64 * self.allowed();
        if counted.bad == 0 { 1.0 } else { 1.0 - counted.bad as f64 / may_be_bad }
    }

    /// For how long of the window there was load.
    pub fn loaded(&self, last: u64) -> Nanos {
        let counted = self.counted(last, self.terms.window).all();
        let per_s = self.terms.rate_milli.max(1) as f64 / 1e3;
        Nanos((counted as f64 / per_s * 1e9) as u64).min(self.terms.window)
    }

    /// Whether a rule is met at an instant; `None` where too little was observed. The long window
    /// asks for what was spent: a time without load spends nothing, and one that is ahead is not
    /// waited for. The short one asks how fast it is spent, and has to be full, or as bad as a
    /// target that hangs makes it.
    fn is_met(&self, unix_ns: u64, rule: &Rule) -> Option<bool> {
        let [short, long] = [rule.short, rule.long].map(|window| self.until(unix_ns, window));
        // What rounding leaves of equal values is no difference.
        let exceeds =
            |bad: u64, of: f64| bad as f64 / of / self.allowed() >= rule.factor * (1.0 - 1e-9);
        let due = self.due(rule.short);
        let is_full = short.all() as f64 >= FULL * due;
        let is_enough = is_full || short.bad as f64 >= ENOUGH * due;
        let is_met = exceeds(short.bad, short.all() as f64)
            && exceeds(long.bad, self.due(rule.long).max(long.all() as f64));
        match is_met {
            true => is_enough.then_some(true),
            false => is_full.then_some(false),
        }
    }

    /// The alerts that are on at an instant, where `before` was on.
    fn firing(&self, unix_ns: u64, before: &[Alert]) -> Vec<Alert> {
        let is_on = |rule: &Rule| {
            self.is_met(unix_ns, rule).unwrap_or_else(|| before.contains(&rule.alert))
        };
        rules(self.terms.window).iter().filter(|rule| is_on(rule)).map(|rule| rule.alert).collect()
    }

    /// What changed until an instant, where `before` was on.
    pub fn changes(&self, unix_ns: u64, before: &[Alert]) -> Vec<AlertChange> {
        let now = self.firing(unix_ns, before);
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
            if minutes.firing((minute + 1) * SLOT_NS, &[]).contains(&alert) {
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
    fn a_budget_for_an_hour_has_windows_of_minutes() {
        let minutes = |nanos: Nanos| nanos.0 / SLOT_NS;
        let hour = rules(Nanos::seconds(3600));
        let windows = hour.map(|rule| (minutes(rule.long), minutes(rule.short)));
        assert_eq!(windows, [(1, 1), (2, 1), (6, 1)]);
        for rule in rules(Nanos::seconds(3600)).into_iter().chain(rules(Nanos::seconds(86_400))) {
            let spent = rule.factor * rule.long.0 as f64 / SLOT_NS as f64;
            assert!(rule.factor >= 1.0 && spent > 0.0, "{rule:?}");
        }
        assert_eq!(rules(Nanos::seconds(7 * 86_400)).map(|rule| minutes(rule.long))[0], 60);
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
    fn a_new_canary_is_not_alarmed_by_one_bad_request_and_the_budget_is_that_of_what_was_due() {
        let (terms, empty) = (terms(), BTreeMap::new());
        let kept = BTreeMap::from([(100, Counts { good: 599, bad: 1 })]);
        let minutes = Minutes { terms: &terms, kept: &kept, running: &empty };
        assert!(minutes.firing(101 * SLOT_NS, &[]).is_empty());
        // Of 600 requests that were due, 0.6 may be bad; those of days without load are none.
        let left = minutes.budget_left(100);
        assert!((left - (1.0 - 1.0 / 0.6)).abs() < 1e-9, "{left}");
        assert_eq!(minutes.loaded(100), Nanos::seconds(60));
        let running = BTreeMap::from([(101, Counts { good: 0, bad: 600 })]);
        let both = Minutes { running: &running, ..minutes };
        assert_eq!(
            both.firing(102 * SLOT_NS, &[]),
            [Alert::Fast],
            "ten minutes' budget in one, at 16.7 times"
        );
        assert_eq!(both.counted(101, Nanos(2 * SLOT_NS)), Counts { good: 599, bad: 601 });
    }

    #[test]
    fn an_alert_needs_a_full_short_window_or_much_of_one_and_none_ends_before() {
        let hour = Terms { window: Nanos::seconds(3_600), ..terms() };
        let none = BTreeMap::new();
        let of = |counts: &[(u64, u64)], begun: u64, before: &[Alert]| {
            let kept = (0..)
                .zip(counts)
                .map(|(minute, (bad, all))| (minute, Counts { good: all - bad, bad: *bad }));
            let kept = kept.collect();
            let minutes = Minutes { terms: &hour, kept: &kept, running: &none };
            minutes.firing(counts.len() as u64 * SLOT_NS - begun, before)
        };
        let on = |counts: &[(u64, u64)], before: &[Alert]| of(counts, 0, before);
        // Two seconds of a new canary, of which all was bad, and the minute behind them.
        assert_eq!(on(&[(19, 20)], &[]), []);
        assert_eq!(on(&[(19, 20), (600, 600)], &[]), Alert::ALL);
        assert_eq!(on(&[(119, 120)], &[]), [], "less than a fifth of a minute");
        assert_eq!(on(&[(120, 120)], &[]), Alert::ALL, "a hang of twelve seconds");
        assert_eq!(of(&[(60, 80), (60, 80)], 1, &[]), Alert::ALL, "it may span two minutes");
        // A stop, or a minute that just began, is no all-clear.
        for few in [(0, 0), (0, 30), (20, 20)] {
            assert_eq!(on(&[(600, 600), few], Alert::ALL), Alert::ALL, "{few:?}");
        }
        assert_eq!(on(&[(600, 600), (0, 600)], Alert::ALL), []);
    }

    #[test]
    fn a_time_without_load_thins_no_burn_rate() {
        let (terms, none) = (terms(), BTreeMap::new());
        let kept = BTreeMap::from([(100, Counts { good: 300, bad: 300 })]);
        let minutes = Minutes { terms: &terms, kept: &kept, running: &none };
        for last in [100, 140] {
            let rate = minutes
                .burn_rate((last + 1) * SLOT_NS, Nanos(60 * SLOT_NS))
                .expect("requests were due");
            assert!((rate - 500.0).abs() < 1e-6, "{rate}");
        }
        assert_eq!(minutes.burn_rate(200 * SLOT_NS, Nanos(60 * SLOT_NS)), None);
    }
}
