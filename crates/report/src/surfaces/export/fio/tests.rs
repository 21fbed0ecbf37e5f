//! What it says, and that it says nothing that is not known.

use super::*;
use analysis::foreign::{DURABLE, VERDICT};
use model::foreign::{GivenOption, Measured, Quantity, Span, Statistic};
use model::{Histogram, Op};
use serde_json::Value;

fn row(name: &str, op: Option<Op>, rate: f64) -> GivenRow {
    let mut row = GivenRow::new(name, op, "1".to_owned());
    row.add(Quantity::whole(Measured::Rate), Some(rate));
    row.add(Quantity::whole(Measured::Bandwidth), Some(rate * 4096.0));
    row.add(Quantity::whole(Measured::Requests), Some(rate * 10.0));
    row.add(Quantity::whole(Measured::Bytes), Some(rate * 40960.0));
    row.add(Quantity::whole(Measured::Time), Some(1e10));
    row.add(Quantity::latency(Span::Total, Statistic::Mean), Some(2e6));
    row
}

fn exported(rows: &[GivenRow]) -> Exported<'_> {
    Exported { rows, sources: &[], measured_unix_ns: Some(1_800_000_000_000_000_000), version: "1" }
}

fn fio(rows: &[GivenRow]) -> Value {
    let text = text(exported(rows)).expect("jobs");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn programs_for_fio_find_their_fields() {
    let mut read = row("a", Some(Op::Read), 1000.0);
    read.options = vec![GivenOption { name: "bs".to_owned(), value: "4096".to_owned() }];
    let mut latency = Histogram::new();
    latency.record_many(1_500_000, 9_000);
    latency.record_many(3_000_000_000, 1_000);
    let error_permille = 4;
    read.latencies =
        Some(model::foreign::GivenLatencies { span: Span::Total, latency, error_permille });
    let object = fio(&[read]);
    let job = &object["jobs"][0];
    assert_eq!(job["jobname"], "a");
    assert_eq!(job["job options"]["bs"], "4096");
    assert_eq!(job["read"]["iops"], 1000);
    assert_eq!(job["read"]["bw"], 4000);
    assert_eq!(job["read"]["lat_ns"]["mean"], 2_000_000);
    assert_eq!(job["read"]["clat_ns"]["mean"], 2_000_000, "ours has one time for both");
    assert!(object["plimsoll"]["note"].as_str().is_some_and(|note| note.contains("clat_ns")));
    assert_eq!(job["read"]["iops_stddev"], Value::Null, "not known is not 0");
    assert_eq!(job["write"]["total_ios"], 0);
    assert_eq!(job["latency_ms"]["2"], 90.0);
    assert_eq!(job["latency_ms"][">=2000"], 10.0);
    assert_eq!(object["timestamp"], 1_800_000_000);
}

#[test]
fn a_mix_that_is_not_told_apart_is_mixed() {
    let object = fio(&[row("a", None, 1000.0)]);
    assert_eq!(object["jobs"][0]["mixed"]["iops"], 1000);
    assert_eq!(object["jobs"][0]["read"], Value::Null);
    let both =
        fio(&[row("a", Some(Op::Read), 1.0), row("a", Some(Op::Write), 2.0), row("a", None, 3.0)]);
    assert_eq!(both["jobs"].as_array().map(Vec::len), Some(1));
    assert_eq!(both["jobs"][0]["mixed"], Value::Null);
}

#[test]
fn rows_of_ours_have_their_verdict_and_durable_rate() {
    let mut writes = row("w", Some(Op::Write), 300.0);
    for (name, value) in [(VERDICT, "indicative"), (DURABLE, "4096.5")] {
        writes.options.push(GivenOption { name: name.to_owned(), value: value.to_owned() });
    }
    let rows = [row("w", Some(Op::Read), 700.0), writes];
    let job = &fio(&rows)["jobs"][0];
    assert_eq!(job["write"][VERDICT], "indicative");
    assert_eq!(job["write"][DURABLE], "4096.5");
}
