//! A canary for machines: lines while it runs, and one object as its status. The fields stand in
//! `docs/guide/canaries.md`.

use super::Told;
use crate::pens::json::{FORMAT, Value, each, object};
use model::Nanos;
use model::canary::{AlertChange, Changed, Counts, Harm, Segment, Totals};

fn seconds(unix_ns: u64) -> f64 {
    unix_ns as f64 / 1e9
}

fn counts(counts: Counts) -> Value {
    object! { ..counts { good, bad } }
}

fn segment(segment: &Segment) -> Value {
    object! {
        segment: segment.number, began_unix_s: seconds(segment.began_unix_ns),
        ended_unix_s: seconds(segment.ended_unix_ns), cut: segment.is_cut,
        requests: segment.counts.all(), counts: counts(segment.counts),
        ..segment { errors, p50_ns, p99_ns },
    }
}

/// A segment that ended, as a line.
pub fn segment_line(one: &Segment, told: &Told<'_>) -> Value {
    object! {
        format: FORMAT, kind: "segment", segment: segment(one), budget_left: told.budget_left(),
    }
}

fn alert(change: &AlertChange) -> Value {
    object! {
        alert: change.alert.word(), on: change.is_on, unix_s: seconds(change.unix_ns),
    }
}

/// An alert that began or ended, as a line.
pub fn alert_line(change: AlertChange, told: &Told<'_>) -> Value {
    object! {
        format: FORMAT, kind: "alert", alert: alert(&change), budget_left: told.budget_left(),
    }
}

/// An alert that only tries who gets alerts, as a line.
pub fn test_line(unix_ns: u64) -> Value {
    object! {
        format: FORMAT, kind: "alert",
        alert: object! { alert: "test", on: true, unix_s: seconds(unix_ns) },
    }
}

fn changed(one: &Changed) -> Value {
    object! {
        segment: one.number, figure: "p99_ns", before: one.before_ns, after: one.after_ns,
    }
}

/// A change of level, as a line.
pub fn changed_line(one: &Changed) -> Value {
    object! { format: FORMAT, kind: "changed", changed: changed(one) }
}

fn harm(harm: Harm) -> Value {
    match harm {
        Harm::Slow { p99_ns, usual_ns } => {
            object! { why: "slow", p99_ns, usual_ns }
        }
        Harm::Failing { errors, of } => object! { why: "failing", errors, of },
        Harm::Silent => object! { why: "silent" },
    }
}

/// A pause, as a line; `until_unix_ns` is `None` for the end of the canary.
pub fn paused_line(why: Harm, until_unix_ns: Option<u64>) -> Value {
    object! {
        format: FORMAT, kind: "paused", harm: harm(why), until_unix_s: until_unix_ns.map(seconds),
    }
}

fn totals(totals: &Totals) -> Value {
    let latency = totals.latency.decode().unwrap_or_default();
    let buckets: Vec<[u64; 3]> = latency.buckets().map(|(low, high, n)| [low, high, n]).collect();
    object! {
        requests: totals.counts.all(), counts: counts(totals.counts),
        latency_sum_ns: latency.sum_ns().to_string(), latency_buckets_ns: buckets,
        ..totals { bytes, errors, missed },
    }
}

/// What is on record, as one object.
pub fn status_object(told: &Told<'_>) -> Value {
    let state = told.state;
    let window_s = |window: Nanos| window.0 as f64 / 1e9;
    let rates: Vec<Value> = told
        .burn_rates()
        .iter()
        .map(|(window, rate)| object! { window_s: window_s(*window), burn_rate: rate })
        .collect();
    let paused = state.paused_until_unix_ns;
    let targets: Vec<Value> =
        state.terms.targets.iter().map(|(host, path)| object! { host, path }).collect();
    object! {
        format: FORMAT, suite: state.terms.suite, rate: state.terms.rate_milli as f64 / 1e3,
        targets, objective: state.terms.objective.to_string(),
        slo: f64::from(state.terms.target_ppm) / 1e6, window_s: window_s(state.terms.window),
        budget_left: told.budget_left(),
        coverage: told.loaded().0 as f64 / state.terms.window.0.max(1) as f64,
        window_counts: counts(told.counted(state.terms.window)),
        unanswered: told.unanswered.map(|waiting| object! { ..waiting { requests, oldest_ns } }),
        burn_rates: rates, alerts_on: each(&state.firing, |alert| alert.word()),
        alerts: each(&state.alerts, alert), changes: each(&state.changes, changed),
        totals: totals(&state.totals), files: state.files.len(),
        file_bytes: state.files.values().map(|file| file.bytes).fold(0, u64::saturating_add),
        running: state.running.map(|began| began.number),
        paused_until_unix_s: (paused > told.unix_ns).then(|| seconds(paused)),
        recent: each(&state.recent, segment), ..state { segments, cut },
    }
}
