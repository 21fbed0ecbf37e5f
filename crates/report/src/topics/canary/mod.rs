//! What a canary says: a line for each segment, its alerts, its status; for people, for machines
//! and for Prometheus.

mod json;
mod metrics;
mod status;

pub use json::{alert_line, changed_line, paused_line, segment_line, status_object, test_line};
pub use metrics::{Metric, MetricKind, metrics, metrics_text, test_metrics};
pub use status::status;

use crate::ground::words;
use analysis::canary::burn::{Minutes, rules};
use model::canary::{AlertChange, Changed, Counts, Harm, SLOT_NS, Segment, State, Unanswered};
use model::{Nanos, Percent};
use std::collections::BTreeMap;

/// A canary at an instant.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// What is on record.
    pub state: &'a State,
    /// Counts of the running segment by the minute, which are not on record yet.
    pub running: &'a BTreeMap<u64, Counts>,
    /// What has no answer; `None` where nothing waits.
    pub unanswered: Option<Unanswered>,
    /// The instant, in ns since 1970 of the canary's time.
    pub unix_ns: u64,
}

impl<'a> Told<'a> {
    fn minutes(&self) -> Minutes<'a> {
        Minutes { terms: &self.state.terms, kept: &self.state.slots, running: self.running }
    }

    /// The minute that ends at the instant, or that it is in.
    fn last(&self) -> u64 {
        self.unix_ns.div_ceil(SLOT_NS).saturating_sub(1)
    }

    /// What was counted in the window that ends there.
    pub fn counted(&self, window: Nanos) -> Counts {
        self.minutes().counted(self.last(), window)
    }

    /// The share of the error budget that is left; below 0 where more than all is spent.
    pub fn budget_left(&self) -> f64 {
        self.minutes().budget_left(self.last())
    }

    /// Every window of the rules, each once, with how many times faster than evenly the budget was
    /// spent in it: of whole minutes, and of what is known of the minute that has begun. `None`
    /// where no requests were due.
    pub fn burn_rates(&self) -> Vec<(Nanos, Option<f64>)> {
        let mut windows: Vec<Nanos> = rules(self.state.terms.window)
            .iter()
            .flat_map(|rule| [rule.short, rule.long])
            .collect();
        windows.sort_unstable();
        windows.dedup();
        let rate = |window: Nanos| (window, self.minutes().burn_rate(self.unix_ns, window));
        windows.into_iter().map(rate).collect()
    }

    /// For how long of the window there was load.
    pub fn loaded(&self) -> Nanos {
        self.minutes().loaded(self.last())
    }
}

fn objective(state: &State) -> String {
    let share = Percent { ppm: state.terms.target_ppm };
    format!("{share} of requests keep: {}", state.terms.objective)
}

/// What is left of the budget, in percent; where more than all is spent, how many times.
fn left(share: f64) -> String {
    match share {
        share if share < -1.0 => format!("none ({:.0} times spent)", 1.0 - share),
        share => format!("{:.1} %", share * 100.0),
    }
}

/// A segment in one line.
pub fn segment(segment: &Segment, told: &Told<'_>) -> String {
    let cut = if segment.is_cut { ", cut short" } else { "" };
    let took = Nanos(segment.ended_unix_ns.saturating_sub(segment.began_unix_ns));
    format!(
        "segment {} of {}, {took}{cut}: {}; p50 {}, p99 {}; budget left {}",
        segment.number,
        words::utc(segment.began_unix_ns),
        missed(segment.counts),
        words::latency(segment.p50_ns),
        words::latency(segment.p99_ns),
        left(told.budget_left()),
    )
}

/// `886 of 1,000 requests missed the objective`: all that were due, answered or not.
fn missed(counts: Counts) -> String {
    let [bad, all] = [counts.bad, counts.all()].map(words::count);
    format!("{bad} of {all} requests missed the objective")
}

fn waiting(unanswered: Unanswered) -> String {
    words::unanswered(unanswered.requests, unanswered.oldest_ns)
}

/// An alert that began or ended, in one line.
pub fn alert(change: AlertChange, told: &Told<'_>) -> String {
    let when = words::utc(change.unix_ns);
    let rules = rules(told.state.terms.window);
    let Some(rule) = rules.iter().find(|rule| rule.alert == change.alert && change.is_on) else {
        return format!("alert {} ended at {when}", change.alert);
    };
    let now = told.unanswered.map_or_else(String::new, |all| format!("; {}", waiting(all)));
    format!(
        "alert {} at {when}: {} within {}, which spends {:.0} % of the error budget or more; {} is \
         left{now}",
        change.alert,
        missed(told.minutes().until(told.unix_ns, rule.long)),
        rule.long,
        rule.share * 100.0,
        left(told.budget_left())
    )
}

/// An alert that only tries who gets alerts, in one line.
pub fn test_alert(unix_ns: u64) -> String {
    format!("alert test at {}: nothing is wrong; alerts arrive here", words::utc(unix_ns))
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
