//! What a canary says: a line for each segment, its alerts, its status; for people, for machines
//! and for Prometheus.

mod json;
mod metrics;
mod status;

pub use json::{alert_line, changed_line, paused_line, segment_line, status_object};
pub use metrics::{Metric, MetricKind, metrics, metrics_text};
pub use status::status;

use crate::ground::words;
use analysis::canary::burn::{Minutes, rules};
use model::canary::{Alert, AlertChange, Changed, Counts, Harm, SLOT_NS, Segment, State};
use model::{Nanos, Percent};
use std::collections::BTreeMap;

/// A canary at an instant.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// What is on record.
    pub state: &'a State,
    /// Counts of the running segment by the minute, which are not on record yet.
    pub running: &'a BTreeMap<u64, Counts>,
    /// The instant, in ns since 1970 of the canary's time.
    pub unix_ns: u64,
}

impl<'a> Told<'a> {
    fn minutes(&self) -> Minutes<'a> {
        Minutes { terms: &self.state.terms, kept: &self.state.slots, running: self.running }
    }

    /// The last minute that is over.
    fn last(&self) -> u64 {
        (self.unix_ns / SLOT_NS).saturating_sub(1)
    }

    /// The share of the error budget that is left; below 0 where more than all is spent.
    pub fn budget_left(&self) -> f64 {
        self.minutes().budget_left(self.last())
    }

    /// Every window of the rules, each once, with how many times faster than evenly the budget was
    /// spent in it.
    pub fn burn_rates(&self) -> Vec<(Nanos, f64)> {
        let mut windows: Vec<Nanos> = rules(self.state.terms.window)
            .iter()
            .flat_map(|rule| [rule.short, rule.long])
            .collect();
        windows.sort_unstable();
        windows.dedup();
        let rate = |window: Nanos| (window, self.minutes().burn_rate(self.last(), window));
        windows.into_iter().map(rate).collect()
    }

    /// The share of the window in which there was load.
    pub fn coverage(&self) -> f64 {
        self.minutes().coverage(self.last())
    }
}

/// What the objective asks of requests: `99.9 % of requests: p99 < 5ms`.
fn objective(state: &State) -> String {
    let share = Percent { ppm: state.terms.target_ppm };
    format!("{share} of requests keep: {}", state.terms.objective)
}

/// What is left of the budget, in percent; negative where more than all is spent.
fn left(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A segment in one line.
pub fn segment(segment: &Segment, told: &Told<'_>) -> String {
    let cut = if segment.is_cut { ", cut short" } else { "" };
    let took = Nanos(segment.ended_unix_ns.saturating_sub(segment.began_unix_ns));
    format!(
        "segment {} of {}, {took}{cut}: {} requests, {} bad; p50 {}, p99 {}; budget left {}",
        segment.number,
        words::utc(segment.began_unix_ns),
        words::count(segment.counts.all()),
        words::count(segment.counts.bad),
        words::latency(segment.p50_ns),
        words::latency(segment.p99_ns),
        left(told.budget_left()),
    )
}

/// What an alert means.
fn meaning(alert: Alert) -> &'static str {
    match alert {
        Alert::Fast => "2 % of it in an hour",
        Alert::Medium => "5 % of it in six hours",
        Alert::Slow => "10 % of it in three days",
    }
}

/// An alert that began or ended, in one line.
pub fn alert(change: AlertChange, told: &Told<'_>) -> String {
    let when = words::utc(change.unix_ns);
    match change.is_on {
        true => format!(
            "alert {} at {when}: the error budget is spent too fast, {}; {} is left",
            change.alert,
            meaning(change.alert),
            left(told.budget_left())
        ),
        false => format!("alert {} ended at {when}", change.alert),
    }
}

/// A change of level, in one line.
pub fn changed(changed: &Changed) -> String {
    format!(
        "p99 changed its level with segment {}: {} before, {} since",
        changed.number,
        words::latency(Some(changed.before_ns as u64)),
        words::latency(Some(changed.after_ns as u64)),
    )
}

/// Why the load was taken away, as a part of a sentence.
pub fn harm(harm: Harm) -> String {
    match harm {
        Harm::Slow { p99_ns, usual_ns } => format!(
            "p99 is {}, and {} is usual",
            words::latency(Some(p99_ns)),
            words::latency(Some(usual_ns))
        ),
        Harm::Failing { errors, of } => {
            format!("{} of {} requests failed", words::count(errors), words::count(of))
        }
        Harm::Silent => "no request came back".to_owned(),
    }
}

#[cfg(test)]
mod tests;
