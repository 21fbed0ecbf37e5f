//! Results of other tools for programs.

use super::{NOT_QUOTABLE, doubt, lack};
use crate::pens::json::plain;
use analysis::foreign::{Lack, lacks};
use model::foreign::{Doubt, ForeignRun, GivenRow, GivenSeries, Measure, Source};
use serde_json::{Map, Value, json};

/// The version of this object; raised when a field changes its meaning.
const FORMAT: u32 = 1;

/// A run of other tools' results.
pub fn run(run: &ForeignRun) -> Value {
    let told = |found: &Lack| {
        json!({ "missing": found.missing.word(), "rows": found.rows,
                "words": lack(found, run.rows.len()) })
    };
    plain(json!({
        "format": FORMAT,
        "foreign": true,
        "quotable": false,
        "why_not_quotable": NOT_QUOTABLE,
        "run_id": run.run_id,
        "name": run.name,
        "version": run.version,
        "imported_unix_ns": run.imported_unix_ns,
        "measured_unix_ns": run.measured_unix_ns,
        "sources": run.sources.iter().map(source).collect::<Vec<_>>(),
        "results": rows(&run.rows),
        "lacks": lacks(run).iter().map(told).collect::<Vec<_>>(),
        "doubts": doubts(&run.doubts),
    }))
}

/// A file that results came from.
pub fn source(source: &Source) -> Value {
    json!({ "form": source.form.word(), "tool": source.form.tool(),
            "tool_version": source.tool_version, "file": source.file, "bytes": source.bytes,
            "sha256": source.sha256 })
}

/// The rows, with every number that they have.
pub fn rows(rows: &[GivenRow]) -> Vec<Value> {
    rows.iter().map(row).collect()
}

/// Doubts with their sentences.
pub fn doubts(all: &[Doubt]) -> Vec<Value> {
    let of = |found: &Doubt| {
        json!({ "kind": found.kind.word(), "name": found.name, "said": found.said,
                "computed": found.computed, "words": doubt(found) })
    };
    all.iter().map(of).collect()
}

fn row(row: &GivenRow) -> Value {
    let options: Map<String, Value> =
        row.options.iter().map(|all| (all.name.clone(), json!(all.value))).collect();
    let latencies = row.latencies.as_ref().map(|all| {
        let bins: Vec<[u64; 3]> =
            all.latency.buckets().map(|(low, high, count)| [low, high, count]).collect();
        json!({ "span": all.span.word(), "error_permille": all.error_permille,
                "requests": all.latency.count(), "bins_ns": bins })
    });
    json!({
        "workload": row.workload,
        "op": row.op.map(model::Op::name),
        "source": row.source,
        "job": row.group,
        "place": row.place,
        "options": options,
        "measures": row.measures.iter().map(measure).collect::<Vec<_>>(),
        "latencies": latencies,
        "series": row.series.iter().map(series).collect::<Vec<_>>(),
    })
}

fn measure(measure: &Measure) -> Value {
    let of = measure.quantity;
    json!({
        "measured": of.measured.word(),
        "span": of.span.map(model::foreign::Span::word),
        "statistic": of.statistic.kind().word(),
        "share": of.statistic.share().map(|share| f64::from(share) / 1e9),
        "value": measure.value,
    })
}

fn series(series: &GivenSeries) -> Value {
    let of = series.quantity;
    let points: Vec<(u64, f64)> =
        series.points.iter().map(|point| (point.at_ms, point.value)).collect();
    json!({
        "measured": of.measured.word(),
        "span": of.span.map(model::foreign::Span::word),
        "statistic": of.statistic.kind().word(),
        "points_ms": points,
    })
}
