//! A simulated month with injected faults: each is told within its window, and nothing else is.

use super::burn::{Minutes, rules};
use crate::estimate::simulated_normal::Normal;
use model::canary::{
    Alert, AlertChange, Began, Counts, Ended, Entry, SLOT_NS, State, Terms, Totals,
};
use model::{Histogram, Nanos};
use std::collections::BTreeMap;

const DAY: u64 = 24 * 60;
/// Requests of a minute.
const EACH: u64 = 600;

struct Fault {
    start: u64,
    minutes: u64,
    share: f64,
    /// The first alert that has to tell of it, and after how many minutes at the latest.
    told: (Alert, u64),
}

const FAULTS: [Fault; 3] = [
    Fault { start: 5 * DAY + 700, minutes: 20, share: 1.0, told: (Alert::Fast, 2) },
    Fault { start: 12 * DAY + 30, minutes: 360, share: 0.01, told: (Alert::Medium, 220) },
    Fault { start: 18 * DAY, minutes: 3 * DAY, share: 0.003, told: (Alert::Slow, 1_445) },
];

fn bad_share(minute: u64) -> f64 {
    let is_on = |fault: &&Fault| (fault.start..fault.start + fault.minutes).contains(&minute);
    // A tenth of what may be bad is bad all the time.
    FAULTS.iter().find(is_on).map_or(0.000_1, |fault| fault.share)
}

fn terms() -> Terms {
    Terms {
        suite: "month".to_owned(),
        rate_milli: 10_000,
        targets: Vec::new(),
        objective: "p99.9 < 5ms".parse().expect("an objective"),
        target_ppm: 999_000,
        window: Nanos(30 * DAY * SLOT_NS),
    }
}

/// So many of the requests of a minute are bad.
fn draw(normal: &mut Normal, share: f64) -> u64 {
    (0..EACH).filter(|_| normal.unit() < share).count() as u64
}

fn ended(number: u32, slots: &BTreeMap<u64, Counts>) -> Ended {
    let mut counts = Counts::default();
    slots.values().for_each(|slot| counts.add(*slot));
    let mut latency = Histogram::new();
    latency.record_many(1_000_000, counts.good);
    latency.record_many(9_000_000, counts.bad);
    let first = slots.keys().next().copied().unwrap_or(0);
    Ended {
        number,
        began_unix_ns: first * SLOT_NS,
        ended_unix_ns: (first + slots.len() as u64) * SLOT_NS,
        is_cut: false,
        harm: None,
        file_bytes: 1 << 20,
        totals: Totals {
            requests: counts.all(),
            bytes: counts.all() * 4096,
            errors: 0,
            missed: 0,
            counts,
            latency: latency.encode(),
        },
        slots: slots.clone(),
        levels_ns: vec![1_000_000; 12],
    }
}

#[test]
fn each_fault_is_told_within_its_window_nothing_else_is_and_the_state_stays_bounded() {
    let mut state = State::new("c".to_owned(), terms());
    let mut normal = Normal::new(11);
    let mut running = BTreeMap::new();
    let mut told: Vec<AlertChange> = Vec::new();
    let (mut all, mut most_slots) = (Counts::default(), 0);
    for minute in 0..30 * DAY {
        let bad = draw(&mut normal, bad_share(minute));
        let counts = Counts { good: EACH - bad, bad };
        all.add(counts);
        running.insert(minute, counts);
        let minutes = Minutes { terms: &state.terms, kept: &state.slots, running: &running };
        for change in minutes.changes((minute + 1) * SLOT_NS, &state.firing) {
            state.apply(&Entry::Alert(change));
            told.push(change);
        }
        if minute % 60 == 59 {
            let number = (minute / 60) as u32 + 1;
            state.apply(&Entry::Began(Began { number, unix_ns: 0 }));
            state.apply(&Entry::Ended(Box::new(ended(number, &running))));
            state.apply(&Entry::Removed { number });
            running.clear();
        }
        most_slots = most_slots.max(state.slots.len() as u64);
    }
    assert_eq!(state.totals.counts, all, "exact over 720 segments");
    assert!(most_slots <= 30 * DAY + 1 && state.files.is_empty(), "{most_slots} minutes");
    for fault in &FAULTS {
        let (alert, within) = fault.told;
        let begins = |change: &&AlertChange| {
            change.is_on
                && change.alert == alert
                && (fault.start..=fault.start + within).contains(&(change.unix_ns / SLOT_NS))
        };
        assert!(told.iter().any(|change| begins(&change)), "{alert} is missing: {told:?}");
    }
    for change in &told {
        let all = rules(terms().window);
        let rule = all.iter().find(|rule| rule.alert == change.alert);
        let short = rule.map_or(0, |rule| rule.short.0 / SLOT_NS);
        let minute = change.unix_ns / SLOT_NS;
        let belongs = |fault: &Fault| {
            minute > fault.start && minute <= fault.start + fault.minutes + short + 1
        };
        assert!(FAULTS.iter().any(belongs), "a false one: {change:?}");
    }
    assert!(state.firing.is_empty(), "every alert ended: {:?}", state.firing);
}
