//! Results of other tools for programs.

use super::{NOT_QUOTABLE, doubt, lack};
use crate::pens::json::{FORMAT, Map, Value, each, object, plain};
use analysis::foreign::{Lack, lacks};
use model::foreign::{Doubt, ForeignRun, GivenRow, GivenSeries, Measure, Source};

/// A run of other tools' results.
pub fn run(run: &ForeignRun) -> Value {
    let told = |found: &Lack| {
        object! {
            missing: found.missing.word(), rows: found.rows, words: lack(found, run.rows.len()),
        }
    };
    plain(object! {
        format: FORMAT, foreign: true, quotable: false, why_not_quotable: NOT_QUOTABLE,
        sources: each(&run.sources, source), results: rows(&run.rows),
        lacks: each(&lacks(run), told), doubts: doubts(&run.doubts),
        ..run { run_id, name, version, imported_unix_ns, measured_unix_ns },
    })
}

/// A file that results came from.
pub fn source(source: &Source) -> Value {
    object! {
        form: source.form.word(), tool: source.form.tool(),
        ..source { tool_version, file, bytes, sha256 },
    }
}

/// The rows, with every number that they have.
pub fn rows(rows: &[GivenRow]) -> Vec<Value> {
    rows.iter().map(row).collect()
}

/// Doubts with their sentences.
pub fn doubts(all: &[Doubt]) -> Vec<Value> {
    let of = |found: &Doubt| {
        object! {
            kind: found.kind.word(), words: doubt(found), ..found { name, said, computed },
        }
    };
    all.iter().map(of).collect()
}

fn row(row: &GivenRow) -> Value {
    let options: Map<String, Value> =
        row.options.iter().map(|all| (all.name.clone(), Value::from(all.value.as_str()))).collect();
    let latencies = row.latencies.as_ref().map(|all| {
        let bins: Vec<[u64; 3]> =
            all.latency.buckets().map(|(low, high, count)| [low, high, count]).collect();
        object! {
            span: all.span.word(), error_permille: all.error_permille,
            requests: all.latency.count(), bins_ns: bins,
        }
    });
    object! {
        op: row.op.map(model::Op::name), job: row.group, options,
        measures: each(&row.measures, measure), latencies,
        series: each(&row.series, series), ..row { workload, source, place },
    }
}

fn measure(measure: &Measure) -> Value {
    let of = measure.quantity;
    object! {
        measured: of.measured.word(), span: of.span.map(model::foreign::Span::word),
        statistic: of.statistic.kind().word(),
        share: of.statistic.share().map(|share| f64::from(share) / 1e9), value: measure.value,
    }
}

fn series(series: &GivenSeries) -> Value {
    let of = series.quantity;
    let points: Vec<(u64, f64)> =
        series.points.iter().map(|point| (point.at_ms, point.value)).collect();
    object! {
        measured: of.measured.word(), span: of.span.map(model::foreign::Span::word),
        statistic: of.statistic.kind().word(), points_ms: points,
    }
}
