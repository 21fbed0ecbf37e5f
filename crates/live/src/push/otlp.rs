//! OTLP over HTTP, as JSON
//! (<https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>).

use super::{Body, Snapshot};
use crate::web::metrics::{Amount, Kind, Native, Point, SCHEMA, Told, Value, ZERO_THRESHOLD_S};
use serde_json::{Value as Json, json};

const HEADERS: [[&str; 2]; 1] = [["content-type", "application/json"]];
/// Totals since a beginning, and not since the last push.
const CUMULATIVE: u32 = 2;

/// A writer. It need not know what arrived: each point says since when it counts.
#[derive(Clone, Debug, Default)]
pub struct Otlp {
    version: String,
}

impl Otlp {
    /// One that says which version of Plimsoll it is.
    pub fn new(version: &str) -> Otlp {
        Otlp { version: version.to_owned() }
    }

    pub(super) fn body(&self, snapshot: &Snapshot, lost: u64) -> Body {
        let metrics: Vec<Json> =
            snapshot.told(lost).iter().map(|family| metric(family, snapshot)).collect();
        let attributes = [
            attribute("service.name", "plimsoll"),
            attribute("service.instance.id", &snapshot.scrape.label),
        ];
        let request = json!({"resourceMetrics": [{
            "resource": {"attributes": attributes},
            "scopeMetrics": [{
                "scope": {"name": "plimsoll", "version": self.version},
                "metrics": metrics,
            }],
        }]});
        Body { bytes: request.to_string().into_bytes(), is_snappy: false, headers: &HEADERS }
    }
}

fn attribute(key: &str, text: &str) -> Json {
    json!({"key": key, "value": {"stringValue": text}})
}

fn metric(family: &Told, snapshot: &Snapshot) -> Json {
    let points: Vec<Json> =
        family.points.iter().map(|point| data(family, point, snapshot)).collect();
    let mut metric = json!({"name": family.name, "description": family.help});
    let inner = match family.kind {
        Kind::Gauge => return with(metric, "gauge", json!({"dataPoints": points})),
        Kind::Counter => json!({"dataPoints": points, "isMonotonic": true,
            "aggregationTemporality": CUMULATIVE}),
        Kind::Histogram => {
            json!({"dataPoints": points, "aggregationTemporality": CUMULATIVE})
        }
    };
    metric = with(
        metric,
        if family.kind == Kind::Counter { "sum" } else { "exponentialHistogram" },
        inner,
    );
    metric
}

fn with(mut object: Json, key: &str, value: Json) -> Json {
    object[key] = value;
    object
}

/// One data point. Whole numbers of 64 bits are texts in this form of JSON.
fn data(family: &Told, point: &Point, snapshot: &Snapshot) -> Json {
    let filled = point.labels.iter().filter(|(_, text)| !text.is_empty());
    let attributes: Vec<Json> = filled.map(|(key, text)| attribute(key, text)).collect();
    let mut data = json!({"attributes": attributes, "timeUnixNano": snapshot.unix_ns.to_string()});
    // Without it, the beginning is not known.
    if family.kind != Kind::Gauge && family.is_new {
        data["startTimeUnixNano"] = snapshot.began_unix_ns.to_string().into();
    }
    match &point.amount {
        Amount::Value(Value::Whole(number)) if i64::try_from(*number).is_ok() => {
            data["asInt"] = number.to_string().into();
        }
        Amount::Value(value) => data["asDouble"] = fraction(value.number()),
        Amount::Durations { sum_ns, native } => histogram(&mut data, *sum_ns, native),
    }
    data
}

/// A number that JSON has no digits for is a text here.
fn fraction(number: f64) -> Json {
    match number {
        _ if number.is_nan() => "NaN".into(),
        f64::INFINITY => "Infinity".into(),
        f64::NEG_INFINITY => "-Infinity".into(),
        _ => number.into(),
    }
}

fn histogram(data: &mut Json, sum_ns: u128, native: &Native) {
    let (offset, counts) = dense(native);
    let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
    data["count"] = native.count().to_string().into();
    data["sum"] = (sum_ns as f64 / 1e9).into();
    data["scale"] = SCHEMA.into();
    data["zeroCount"] = native.zeros().to_string().into();
    data["zeroThreshold"] = ZERO_THRESHOLD_S.into();
    data["positive"] = json!({"offset": offset, "bucketCounts": counts});
}

/// The bucket of the first count, and all from there on. Bucket *i* of Prometheus ends at 2^(*i* ÷
/// 16) s, and that of OpenTelemetry begins there: its numbers are smaller by one.
fn dense(native: &Native) -> (i32, &[u64]) {
    let (low, counts) = native.counts();
    (if counts.is_empty() { 0 } else { low - 1 }, counts)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{counted, snapshot};
    use super::*;

    fn sent(values: &[u64]) -> Json {
        let body = Otlp::new("1").body(&snapshot(2_000, &counted(values)), 3);
        serde_json::from_slice(&body.bytes).expect("JSON")
    }

    fn find<'a>(request: &'a Json, name: &str) -> &'a Json {
        let metrics = &request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
        let all = metrics.as_array().expect("metrics");
        all.iter().find(|metric| metric["name"] == name).expect(name)
    }

    #[test]
    fn totals_say_since_when_they_count_and_whole_numbers_are_texts() {
        let request = sent(&[5_000, 6_000]);
        let requests = &find(&request, "plimsoll_requests_total")["sum"];
        assert_eq!(
            (&requests["isMonotonic"], &requests["aggregationTemporality"]),
            (&true.into(), &2.into())
        );
        let point = &requests["dataPoints"][0];
        assert_eq!(point["asInt"], "2");
        assert_eq!(
            (&point["startTimeUnixNano"], &point["timeUnixNano"]),
            (&"1000000000".into(), &"2000000000".into())
        );
        let lost = &find(&request, "plimsoll_pushes_lost_total")["sum"]["dataPoints"][0];
        assert_eq!(lost["asInt"], "3");
        assert_eq!(find(&request, "plimsoll_run_over")["gauge"]["dataPoints"][0]["asInt"], "0");
        let keys = point["attributes"].as_array().expect("attributes");
        assert!(keys.iter().all(|pair| pair["value"]["stringValue"] != ""), "{point}");
    }

    #[test]
    fn a_histogram_has_its_counts_where_opentelemetry_looks_for_them() {
        // A power of two of seconds ends its bucket: 2^(1 ÷ 16) over it begins the next.
        let request = sent(&[0, 250_000_000, 5_000]);
        let metric = find(&request, "plimsoll_request_duration_seconds");
        let point = &metric["exponentialHistogram"]["dataPoints"][0];
        assert_eq!(
            (&point["scale"], &point["count"], &point["zeroCount"]),
            (&4.into(), &"3".into(), &"1".into())
        );
        let offset = point["positive"]["offset"].as_i64().expect("a number");
        let counts = point["positive"]["bucketCounts"].as_array().expect("counts");
        for ns in [250_000_000.0_f64, 5_000.0] {
            // The bucket whose lower end is below, and whose upper end is not.
            let place = ((ns / 1e9).log2() * 16.0).ceil() as i64 - 1;
            let near = (place - 1..=place + 1)
                .map(|place| &counts[(place - offset).clamp(0, counts.len() as i64 - 1) as usize]);
            assert!(near.into_iter().any(|count| *count == "1"), "{ns}: {point}");
        }
    }

    #[test]
    fn numbers_without_digits_are_texts() {
        let told = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.5].map(fraction);
        assert_eq!(told, ["NaN".into(), "Infinity".into(), "-Infinity".into(), Json::from(0.5)]);
    }
}
