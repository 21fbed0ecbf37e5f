//! A canary for Prometheus, as a file of node_exporter's textfile collector.
//!
//! Counters go on over restarts, because the ledger keeps them.

use super::Told;
use model::Nanos;
use model::canary::Alert;
use std::fmt::Write;

const METRICS: [[&str; 3]; 11] = [
    ["plimsoll_canary_requests_total", "counter", "Requests by the objective."],
    ["plimsoll_canary_bytes_total", "counter", "Bytes that requests moved."],
    ["plimsoll_canary_segments_total", "counter", "Segments that ended."],
    ["plimsoll_canary_latency_seconds", "gauge", "Latency of the last segment."],
    ["plimsoll_canary_budget_left_ratio", "gauge", "Share of the error budget that is left."],
    ["plimsoll_canary_burn_rate", "gauge", "Times faster than evenly the budget is spent."],
    ["plimsoll_canary_alert", "gauge", "Whether an alert is on."],
    ["plimsoll_canary_unanswered_requests", "gauge", "Requests without an answer for a second."],
    ["plimsoll_canary_oldest_unanswered_seconds", "gauge", "Age of the oldest of them."],
    ["plimsoll_canary_paused", "gauge", "Whether the load is away, because others may suffer."],
    ["plimsoll_canary_updated_seconds", "gauge", "When this was written, in seconds since 1970."],
];

/// What a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A sum that only grows.
    Counter,
    /// A state.
    Gauge,
}

/// A metric of a canary.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: MetricKind,
    /// The same in a sentence.
    pub help: &'static str,
    /// Its values; each may have a label, with its name and its value.
    pub samples: Vec<(Option<[String; 2]>, f64)>,
}

/// All metrics. `written_unix_ns` is the wall clock.
pub fn metrics(told: &Told<'_>, written_unix_ns: u64) -> Vec<Metric> {
    let metric = |[name, kind, help]: [&'static str; 3]| Metric {
        name,
        kind: if kind == "counter" { MetricKind::Counter } else { MetricKind::Gauge },
        help,
        samples: samples(name, told, written_unix_ns),
    };
    METRICS.into_iter().map(metric).collect()
}

/// What a canary's file has while its alerts are tried.
pub fn test_metrics(written_unix_ns: u64) -> Vec<Metric> {
    let sample = |name: &str| match name {
        "plimsoll_canary_alert" => Some((Some(["alert".to_owned(), "test".to_owned()]), 1.0)),
        "plimsoll_canary_updated_seconds" => Some((None, (written_unix_ns / 1_000_000_000) as f64)),
        _ => None,
    };
    let metric = |[name, _, help]: [&'static str; 3]| {
        let samples = vec![sample(name)?];
        Some(Metric { name, kind: MetricKind::Gauge, help, samples })
    };
    METRICS.into_iter().filter_map(metric).collect()
}

/// The whole file.
pub fn metrics_text(metrics: &[Metric]) -> String {
    let mut text = String::new();
    for Metric { name, kind, help, samples } in metrics {
        let kind = match kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (label, value) in samples {
            // The values are words of ours.
            let label = label.as_ref().map(|[key, of]| format!("{{{key}=\"{of}\"}}"));
            let _ = writeln!(text, "{name}{} {value}", label.unwrap_or_default());
        }
    }
    text
}

fn samples(name: &str, told: &Told<'_>, written_unix_ns: u64) -> Vec<(Option<[String; 2]>, f64)> {
    let state = told.state;
    let plain = |value: f64| vec![(None, value)];
    let labelled = |key: &str, of: &str, value: f64| (Some([key.to_owned(), of.to_owned()]), value);
    let mut counts = state.totals.counts;
    told.running.values().for_each(|slot| counts.add(*slot));
    match name {
        "plimsoll_canary_requests_total" => vec![
            labelled("result", "good", counts.good as f64),
            labelled("result", "bad", counts.bad as f64),
        ],
        "plimsoll_canary_bytes_total" => plain(state.totals.bytes as f64),
        "plimsoll_canary_segments_total" => plain(state.segments as f64),
        "plimsoll_canary_latency_seconds" => {
            let last = state.recent.back();
            let figures = [
                ("p50", last.and_then(|last| last.p50_ns)),
                ("p99", last.and_then(|last| last.p99_ns)),
            ];
            let known = figures.into_iter().filter_map(|(figure, ns)| Some((figure, ns?)));
            known.map(|(figure, ns)| labelled("figure", figure, ns as f64 / 1e9)).collect()
        }
        "plimsoll_canary_budget_left_ratio" => plain(told.budget_left()),
        "plimsoll_canary_burn_rate" => told
            .burn_rates()
            .into_iter()
            .filter_map(|(window, rate)| Some(labelled("window", &label(window), rate?)))
            .collect(),
        "plimsoll_canary_alert" => Alert::ALL
            .iter()
            .map(|alert| {
                let is_on = f64::from(u8::from(state.firing.contains(alert)));
                labelled("alert", alert.word(), is_on)
            })
            .collect(),
        "plimsoll_canary_unanswered_requests" => {
            plain(told.unanswered.unwrap_or_default().requests as f64)
        }
        "plimsoll_canary_oldest_unanswered_seconds" => {
            plain(told.unanswered.unwrap_or_default().oldest_ns as f64 / 1e9)
        }
        "plimsoll_canary_paused" => {
            plain(f64::from(u8::from(state.paused_until_unix_ns > told.unix_ns)))
        }
        _ => plain((written_unix_ns / 1_000_000_000) as f64),
    }
}

/// A window as Prometheus writes durations: `5m`, `6h`, `3d`.
fn label(window: Nanos) -> String {
    let minutes = window.0 / 60_000_000_000;
    match minutes {
        _ if minutes.is_multiple_of(24 * 60) => format!("{}d", minutes / (24 * 60)),
        _ if minutes.is_multiple_of(60) => format!("{}h", minutes / 60),
        _ => format!("{minutes}m"),
    }
}
