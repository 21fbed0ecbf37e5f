//! fio's JSON and JSON+.

use super::{Doubt, DoubtKind, MOST_ROWS, Measure, Quantity, Results, Row};
use crate::import::ImportError;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Rates and means are rounded, and taken over times that differ a little.
const SLACK: f64 = 0.02;
/// A system call alone takes longer, in ns.
const CALL_NS: f64 = 100.0;

type Object = Map<String, Value>;

/// The results of fio as JSON.
///
/// # Errors
/// It is no JSON, or not of fio.
pub fn read(name: &str, text: &str) -> Result<Results, ImportError> {
    let wrong = |what: String| {
        ImportError::new(name, what, "name what `fio --output-format=json` wrote, to its end")
    };
    // fio prints warnings into its output.
    let begin = text.find('{').ok_or_else(|| wrong("there is no JSON in it".to_owned()))?;
    let mut all = serde_json::Deserializer::from_str(&text[begin..]).into_iter::<Value>();
    let value = match all.next() {
        Some(Ok(value)) => value,
        Some(Err(error)) => {
            return Err(wrong(format!("it is no JSON, {error} behind byte {begin}")));
        }
        None => return Err(wrong("there is no JSON in it".to_owned())),
    };
    let end = begin + all.byte_offset();
    let around = text[..begin].trim().len() + text[end..].trim().len();
    let version = value.get("fio version").and_then(Value::as_str).unwrap_or_default();
    let version: String = version.chars().take(60).collect();
    let mut results = Results { tool: version, ..Results::default() };
    if around > 0 {
        doubt(&mut results, DoubtKind::TextAroundJson, name, None);
    }
    let jobs = ["jobs", "client_stats"].iter().find_map(|key| value.get(key));
    let jobs = jobs.and_then(Value::as_array).ok_or_else(|| wrong("no job is in it".to_owned()))?;
    let shared = value.get("global options").and_then(Value::as_object);
    for (number, found) in jobs.iter().enumerate() {
        let Some(found) = found.as_object() else { continue };
        if results.rows.len() > MOST_ROWS {
            return Err(wrong("there are too many jobs".to_owned()));
        }
        job(number, found, shared, &mut results);
    }
    unequal(jobs, &mut results);
    Ok(results)
}

fn doubt(results: &mut Results, kind: DoubtKind, name: &str, numbers: Option<(f64, f64)>) {
    let (said, computed) = numbers.unzip();
    results.doubts.push(Doubt { kind, name: name.to_owned(), said, computed });
}

fn number(object: &Object, key: &str) -> Option<f64> {
    object.get(key).and_then(Value::as_f64).filter(|number| number.is_finite())
}

fn job_name(job: &Object) -> String {
    let name = job.get("jobname").and_then(Value::as_str).unwrap_or("unnamed");
    name.chars().take(100).collect()
}

/// An option of a job, its own or that of all.
fn option(job: &Object, shared: Option<&Object>, name: &str) -> Option<u64> {
    let own = job.get("job options").and_then(Value::as_object);
    let text = own.and_then(|own| own.get(name)).or_else(|| shared.and_then(|all| all.get(name)));
    text.and_then(Value::as_str).and_then(|text| text.parse().ok())
}

fn job(number_of_job: usize, job: &Object, shared: Option<&Object>, results: &mut Results) {
    let name = job_name(job);
    let mut in_flight = 0.0;
    for direction in ["read", "write", "trim"] {
        let Some(data) = job.get(direction).and_then(Value::as_object) else { continue };
        if number(data, "total_ios").is_none_or(|count| count <= 0.0) {
            continue;
        }
        let place = format!("jobs[{number_of_job}].{direction}");
        let row = Row { name: format!("{name} {direction}"), place, measures: measures(data) };
        check(&row, data, results);
        let rate = row.get(Quantity::RatePerS).unwrap_or(0.0);
        in_flight += rate * row.get(Quantity::LatencyMeanNs).unwrap_or(0.0) / 1e9;
        results.rows.push(row);
    }
    let most = option(job, shared, "iodepth").unwrap_or(1) as f64
        * option(job, shared, "numjobs").unwrap_or(1) as f64;
    // `--client` adds hosts up, and says not how many they were.
    let is_sum = name == "All clients";
    if !is_sum && in_flight > most * (1.0 + SLACK) + 0.1 {
        doubt(results, DoubtKind::LittlesLaw, &name, Some((most, in_flight)));
    }
    if let Some(errors) = number(job, "error").filter(|errors| *errors != 0.0) {
        doubt(results, DoubtKind::Errors, &name, Some((errors, 0.0)));
    }
}

fn latency<'a>(data: &'a Object, kind: &str) -> Option<(&'a Object, f64)> {
    let of = |unit: &str, factor: f64| {
        data.get(&format!("{kind}_{unit}")).and_then(Value::as_object).map(|all| (all, factor))
    };
    // Before version 3 there were microseconds, without a unit in the name.
    let old = || data.get(kind).and_then(Value::as_object).map(|all| (all, 1e3));
    of("ns", 1.0).or_else(old)
}

fn measures(data: &Object) -> Vec<Measure> {
    let mut all = Vec::new();
    let mut add = |quantity, value: Option<f64>| {
        all.extend(value.map(|value| Measure { quantity, value }));
    };
    // `bw` counts KiB.
    let bandwidth = number(data, "bw_bytes").or_else(|| Some(number(data, "bw")? * 1024.0));
    add(Quantity::BandwidthBytesPerS, bandwidth);
    add(Quantity::RatePerS, number(data, "iops"));
    add(Quantity::Requests, number(data, "total_ios"));
    add(Quantity::Bytes, bytes(data));
    add(Quantity::TimeNs, number(data, "runtime").map(|ms| ms * 1e6));
    if let Some((lat, factor)) = latency(data, "lat") {
        let of = |key| number(lat, key).map(|value| value * factor);
        add(Quantity::LatencyMeanNs, of("mean"));
        add(Quantity::LatencyMinNs, of("min"));
        add(Quantity::LatencyMaxNs, of("max"));
    }
    for (share, value) in quantiles(data) {
        add(Quantity::LatencyQuantileNs(share), Some(value));
    }
    all
}

fn bytes(data: &Object) -> Option<f64> {
    let old = || Some(number(data, "io_kbytes")? * 1024.0);
    number(data, "io_bytes").filter(|bytes| *bytes > 0.0).or_else(old)
}

/// Shares in millionths, with latencies in ns, in the order of the shares. fio prints those of
/// `clat` unless it is told otherwise.
fn quantiles(data: &Object) -> Vec<(u32, f64)> {
    let found = ["lat", "clat"].into_iter().find_map(|kind| {
        let (all, factor) = latency(data, kind)?;
        all.get("percentile").and_then(Value::as_object).map(|found| (found, factor))
    });
    let Some((found, factor)) = found else { return Vec::new() };
    let mut all: Vec<(u32, f64)> = found
        .iter()
        .filter_map(|(share, value)| {
            let share: f64 = share.parse().ok()?;
            let share = (0.0..=100.0).contains(&share).then_some((share * 1e4).round() as u32)?;
            Some((share, value.as_f64()? * factor))
        })
        .filter(|(share, _)| *share > 0)
        .take(1_000)
        .collect();
    all.sort_by_key(|(share, _)| *share);
    all
}

fn check(row: &Row, data: &Object, results: &mut Results) {
    let get = |quantity| row.get(quantity);
    let requests = get(Quantity::Requests).unwrap_or(0.0);
    if let (Some(rate), Some(bandwidth), Some(bytes)) =
        (get(Quantity::RatePerS), get(Quantity::BandwidthBytesPerS), get(Quantity::Bytes))
    {
        let computed = rate * bytes / requests;
        let is_long = get(Quantity::TimeNs).is_some_and(|time| time >= 1e9);
        if is_long && (computed - bandwidth).abs() > SLACK * bandwidth.max(1024.0) {
            doubt(results, DoubtKind::RateTimesSize, &row.name, Some((bandwidth, computed)));
        }
    }
    if let Some(mean) = get(Quantity::LatencyMeanNs).filter(|mean| *mean > 0.0 && *mean < CALL_NS) {
        doubt(results, DoubtKind::FasterThanACall, &row.name, Some((mean, CALL_NS)));
    }
    let all = quantiles(data);
    let falls = all.windows(2).find(|pair| pair[1].1 < pair[0].1);
    if let Some(pair) = falls {
        let numbers = Some((pair[1].1, pair[0].1));
        doubt(results, DoubtKind::QuantilesOutOfOrder, &row.name, numbers);
    }
    // A quantile is the middle or the end of a bin, which is 1/64 wide.
    let max = ["lat", "clat"].into_iter().find_map(|kind| {
        let (all, factor) = latency(data, kind)?;
        all.get("percentile")?;
        Some(number(all, "max")? * factor)
    });
    if let (Some(max), Some((_, last))) = (max, all.last())
        && max > 0.0
        && *last > max * 1.05 + 1e3
    {
        let numbers = Some((*last, max));
        doubt(results, DoubtKind::QuantilesOutOfOrder, &row.name, numbers);
    }
    let bins = latency(data, "clat").and_then(|(all, _)| all.get("bins")?.as_object());
    if let Some(bins) = bins.filter(|bins| !bins.is_empty()) {
        let counted: f64 = bins.values().filter_map(Value::as_f64).sum();
        if (counted - requests).abs() > SLACK * requests {
            doubt(results, DoubtKind::BinsDoNotAddUp, &row.name, Some((requests, counted)));
        }
    }
}

/// Jobs of one group that are reported one by one are the same work: their means hide what differs.
fn unequal(jobs: &[Value], results: &mut Results) {
    let mut groups: BTreeMap<(u64, String), (f64, f64)> = BTreeMap::new();
    for job in jobs.iter().filter_map(Value::as_object).take(MOST_ROWS) {
        let rate: f64 = ["read", "write", "trim"]
            .iter()
            .filter_map(|key| number(job.get(*key)?.as_object()?, "iops"))
            .sum();
        let group = job.get("groupid").and_then(Value::as_u64).unwrap_or(0);
        let (low, high) = groups.entry((group, job_name(job))).or_insert((rate, rate));
        (*low, *high) = (low.min(rate), high.max(rate));
    }
    for ((_, name), (low, high)) in groups {
        if high > 2.0 * low && name != "All clients" {
            doubt(results, DoubtKind::UnequalJobs, &name, Some((low, high)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made up: 1,000 reads of 4 KiB a second for 10 s, each of 1 ms.
    fn output(job: &str, read: &str, options: &str) -> String {
        format!(
            r#"fio: a warning
{{"fio version": "fio-3.33", "jobs": [{{"jobname": "a", "groupid": 0, "error": 0, {job}
"job options": {{"bs": "4k"{options}}},
"read": {{"io_bytes": 40960000, "bw_bytes": 4096000, "iops": 1000.0, "runtime": 10000,
"total_ios": 10000, "lat_ns": {{"min": 5, "max": 2000000, "mean": 1000000.0}},
"clat_ns": {{"max": 2000000, "percentile": {{"50.000000": 900000, "99.000000": 1500000}},
"bins": {{"900000": 9000, "1500000": 1000}}}}{read}}},
"write": {{"total_ios": 0}}}}]}}
"#
        )
    }

    fn kinds(text: &str) -> Vec<DoubtKind> {
        let results = read("a.json", text).expect("results");
        let kinds = results.doubts.iter().map(|doubt| doubt.kind);
        kinds.filter(|kind| *kind != DoubtKind::TextAroundJson).collect()
    }

    #[test]
    fn what_a_job_measured_is_read() {
        let results = read("a.json", &output("", "", "")).expect("results");
        assert_eq!(results.tool, "fio-3.33");
        assert_eq!(results.rows.len(), 1);
        let row = &results.rows[0];
        assert_eq!((row.name.as_str(), row.place.as_str()), ("a read", "jobs[0].read"));
        assert_eq!(row.get(Quantity::LatencyQuantileNs(990_000)), Some(1_500_000.0));
        assert_eq!(row.get(Quantity::TimeNs), Some(1e10));
        assert_eq!(results.doubts.len(), 1, "the warning before it: {:?}", results.doubts);
    }

    #[test]
    fn what_does_not_go_together_is_doubted() {
        assert_eq!(
            kinds(&output("", r#", "iops": 2000.0"#, r#", "iodepth": "2""#)),
            [DoubtKind::RateTimesSize]
        );
        let slow = r#", "lat_ns": {"mean": 40000000.0}"#;
        assert_eq!(kinds(&output("", slow, "")), [DoubtKind::LittlesLaw]);
        assert_eq!(kinds(&output("", slow, r#", "iodepth": "8", "numjobs": "5""#)), []);
        let fast = r#", "lat_ns": {"mean": 20.0}"#;
        assert_eq!(kinds(&output("", fast, "")), [DoubtKind::FasterThanACall]);
        let falling = r#", "clat_ns": {"percentile": {"50.0": 9000, "99.0": 8000}}"#;
        assert_eq!(kinds(&output("", falling, "")), [DoubtKind::QuantilesOutOfOrder]);
        let bins = r#", "clat_ns": {"bins": {"1": 5}}"#;
        assert_eq!(kinds(&output("", bins, "")), [DoubtKind::BinsDoNotAddUp]);
        assert_eq!(kinds(&output(r#""error": 5,"#, "", "")), [DoubtKind::Errors]);
    }

    #[test]
    fn broken_json_is_an_error_with_its_place() {
        let whole = output("", "", "");
        let error = read("a.json", &whole[..whole.len() / 2]).expect_err("half of it");
        assert!(error.what.contains("line"), "{error}");
        assert!(read("a.json", "fio version").is_err());
        assert!(read("a.json", "{\"fio version\": 3}").is_err());
    }
}
