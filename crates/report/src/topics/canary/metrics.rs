//! A canary for Prometheus, as a file of node_exporter's textfile collector.
//!
//! Counters go on over restarts, because the ledger keeps them.

use super::Told;
use model::Nanos;
use model::canary::Alert;
use std::fmt::Write;

/// Name, kind and help of each metric.
const METRICS: [[&str; 3]; 9] = [
    ["plimsoll_canary_requests_total", "counter", "Requests by the objective."],
    ["plimsoll_canary_bytes_total", "counter", "Bytes that requests moved."],
    ["plimsoll_canary_segments_total", "counter", "Segments that ended."],
    ["plimsoll_canary_latency_seconds", "gauge", "Latency of the last segment."],
    ["plimsoll_canary_budget_left_ratio", "gauge", "Share of the error budget that is left."],
    ["plimsoll_canary_burn_rate", "gauge", "Times faster than evenly the budget is spent."],
    ["plimsoll_canary_alert", "gauge", "Whether an alert is on."],
    ["plimsoll_canary_paused", "gauge", "Whether the load is away, because others may suffer."],
    ["plimsoll_canary_updated_seconds", "gauge", "When this was written, in seconds since 1970."],
];

/// The whole file. `written_unix_ns` is the wall clock.
pub fn metrics(told: &Told<'_>, written_unix_ns: u64) -> String {
    let mut text = String::new();
    for [name, kind, help] in METRICS {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in samples(name, told, written_unix_ns) {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    }
    text
}

fn samples(name: &str, told: &Told<'_>, written_unix_ns: u64) -> Vec<(String, String)> {
    let state = told.state;
    let plain = |value: String| vec![(String::new(), value)];
    let mut counts = state.totals.counts;
    told.running.values().for_each(|slot| counts.add(*slot));
    match name {
        "plimsoll_canary_requests_total" => vec![
            ("{result=\"good\"}".to_owned(), counts.good.to_string()),
            ("{result=\"bad\"}".to_owned(), counts.bad.to_string()),
        ],
        "plimsoll_canary_bytes_total" => plain(state.totals.bytes.to_string()),
        "plimsoll_canary_segments_total" => plain(state.segments.to_string()),
        "plimsoll_canary_latency_seconds" => {
            let last = state.recent.back();
            let figures = [
                ("p50", last.and_then(|last| last.p50_ns)),
                ("p99", last.and_then(|last| last.p99_ns)),
            ];
            let known = figures.iter().filter_map(|(figure, ns)| Some((figure, (*ns)?)));
            let sample = |(figure, ns): (&&str, u64)| {
                (format!("{{figure=\"{figure}\"}}"), (ns as f64 / 1e9).to_string())
            };
            known.map(sample).collect()
        }
        "plimsoll_canary_budget_left_ratio" => plain(told.budget_left().to_string()),
        "plimsoll_canary_burn_rate" => told
            .burn_rates()
            .iter()
            .map(|(window, rate)| (format!("{{window=\"{}\"}}", label(*window)), rate.to_string()))
            .collect(),
        "plimsoll_canary_alert" => Alert::ALL
            .iter()
            .map(|alert| {
                let is_on = u8::from(state.firing.contains(alert));
                (format!("{{alert=\"{alert}\"}}"), is_on.to_string())
            })
            .collect(),
        "plimsoll_canary_paused" => {
            plain(u8::from(state.paused_until_unix_ns > told.unix_ns).to_string())
        }
        _ => plain((written_unix_ns / 1_000_000_000).to_string()),
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
