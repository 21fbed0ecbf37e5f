//! Results of other tools in words: what they hold, and what in them does not go together.

use dialects::results::{Doubt, DoubtKind, Measure, Quantity, Results};
use model::printable;
use serde_json::{Value, json};
use std::fmt::Write;

/// The results as people read them.
pub fn text(results: &Results) -> String {
    let mut text = format!("{} results: {} rows\n", plain(&results.tool), results.rows.len());
    let width = results.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    for row in &results.rows {
        let measures: Vec<String> = row.measures.iter().map(measure).collect();
        let name = plain(&row.name);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {name:width$}  {}", measures.join(", "));
    }
    for doubt in &results.doubts {
        let _ = writeln!(text, "doubt     {}", said(doubt));
    }
    text
}

/// The same for programs.
pub fn object(results: &Results) -> Value {
    json!({ "dialect": "results", "options": [], "suites": [], "results": results })
}

fn plain(text: &str) -> String {
    text.chars().map(|c| if printable::acts(c) { ' ' } else { c }).collect()
}

fn measure(measure: &Measure) -> String {
    let value = measure.value;
    let latency = |name: &str| format!("{name} {:.1} us", value / 1e3);
    match measure.quantity {
        Quantity::BandwidthBytesPerS => format!("{:.1} MiB/s", value / f64::from(1 << 20)),
        Quantity::RatePerS => format!("{value:.1}/s"),
        Quantity::Requests => format!("{value} requests"),
        Quantity::Bytes => format!("{value} bytes"),
        Quantity::TimeNs => format!("{:.1} s", value / 1e9),
        Quantity::LatencyMeanNs => latency("mean"),
        Quantity::LatencyMinNs => latency("min"),
        Quantity::LatencyMaxNs => latency("max"),
        Quantity::LatencyQuantileNs(share) => latency(&format!("p{}", f64::from(share) / 1e4)),
        Quantity::Score => format!("score {value:.6}"),
    }
}

/// A doubt as a sentence, with what to make of it.
fn said(doubt: &Doubt) -> String {
    let name = plain(&doubt.name);
    let (said, computed) = (doubt.said.unwrap_or(0.0), doubt.computed.unwrap_or(0.0));
    match doubt.kind {
        DoubtKind::ScoreDiffers => {
            format!("{name}: {said} is printed, {computed:.6} follows from the phases")
        }
        DoubtKind::PhaseMissing => format!("{name}: no result; the score counts it as none"),
        DoubtKind::MarkedInvalid => format!("{name}: the tool itself marked it as invalid"),
        DoubtKind::RateTimesSize => format!(
            "{name}: {said:.0} bytes/s are reported; rate times size of the requests is \
             {computed:.0}"
        ),
        DoubtKind::LittlesLaw => format!(
            "{name}: rate times latency is {computed:.1} requests in flight; the job allows {said}"
        ),
        DoubtKind::QuantilesOutOfOrder => {
            format!("{name}: a quantile of {said:.0} ns lies beyond {computed:.0} ns")
        }
        DoubtKind::FasterThanACall => format!(
            "{name}: a mean of {said:.0} ns is less than a system call takes; no device was asked"
        ),
        DoubtKind::BinsDoNotAddUp => {
            format!("{name}: the bins of the histogram count {computed}, the requests are {said}")
        }
        DoubtKind::Errors => format!("{name}: it ended with error {said}"),
        DoubtKind::TextAroundJson => {
            format!("{name}: text that is no JSON stood around it and was left out")
        }
        DoubtKind::UnequalJobs => format!(
            "{name}: its jobs reach {said:.1}/s to {computed:.1}/s; a mean hides the slowest"
        ),
    }
}
