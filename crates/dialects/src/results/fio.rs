//! fio's JSON and JSON+ (`fio --output-format=json+`; fio's HOWTO, *Interpreting the output*).

use super::{Results, doubt, fio_json};
use crate::import::ImportError;
use model::foreign::{
    DoubtKind, Form, GivenLatencies, GivenOption, GivenRow, MOST_ROWS, Measured, Quantity, Span,
    Statistic, short,
};
use model::{Histogram, Op};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// No job has more options.
const MOST_OPTIONS: usize = 500;
/// The sum of all hosts of `--client`.
const SUM: &str = "All clients";
/// fio has 64 bins for each doubling and prints their middles: half of 1/64.
const BIN_ERROR_PERMILLE: u32 = 8;

type Object = Map<String, Value>;

/// The results of fio as JSON.
///
/// # Errors
/// It is no JSON, or not of fio.
pub fn read(name: &str, text: &str) -> Result<Results, ImportError> {
    let wrong = |what: String| {
        ImportError::new(name, what, "name what `fio --output-format=json` wrote, to its end")
    };
    let found = fio_json::find(text).map_err(wrong)?;
    let (outputs, earlier) = last_states(found.outputs);
    let mut results = Results::new(Form::FioJson);
    found.duplicates.say(name, &mut results);
    if found.around > 0 {
        doubt(&mut results, DoubtKind::TextAroundJson, name, None);
    }
    if found.mended > 0 {
        let numbers = Some((0.0, found.mended as f64));
        doubt(&mut results, DoubtKind::JsonMended, name, numbers);
    }
    if earlier > 0 {
        let numbers = Some(((outputs.len() + earlier) as f64, earlier as f64));
        doubt(&mut results, DoubtKind::EarlierStates, name, numbers);
    }
    let mut first_group = 0;
    for (nth, value) in outputs.iter().enumerate() {
        let place = if outputs.len() > 1 { format!("[{nth}].") } else { String::new() };
        first_group = output(name, value, &Before { place, first_group }, &mut results)?;
    }
    if results.rows.is_empty() {
        return Err(wrong("no job of it did a request".to_owned()));
    }
    Ok(results)
}

/// What stands before an output in its file.
struct Before {
    /// What its places begin with.
    place: String,
    /// The number of its first job.
    first_group: u32,
}

/// One output; the number of the job behind it.
fn output(
    name: &str,
    value: &Value,
    before: &Before,
    results: &mut Results,
) -> Result<u32, ImportError> {
    if results.tool_version.is_empty() {
        let version = value.get("fio version").and_then(Value::as_str).unwrap_or_default();
        results.tool_version = short(version);
    }
    results.measured_unix_ns = results.measured_unix_ns.or_else(|| measured(value));
    let key = if value.get("jobs").is_some() { "jobs" } else { "client_stats" };
    let jobs = value.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if jobs.len() > MOST_ROWS / 4 {
        return Err(ImportError::new(name, "there are too many jobs", "name fewer results"));
    }
    let shared = value.get("global options").and_then(Value::as_object);
    let reader = Reader { list: format!("{}{key}", before.place), shared };
    let mut group = before.first_group;
    for (number, job) in jobs.iter().enumerate() {
        let Some(object) = job.as_object() else { continue };
        for row in reader.rows(number, object) {
            results.push(name, GivenRow { group, ..row })?;
        }
        for (said, computed) in impossible_rates(object) {
            let numbers = Some((said, computed));
            doubt(results, DoubtKind::AmountOverTime, &job_name(object), numbers);
        }
        if let Some(errno) = self::number(object, "error").filter(|errno| *errno != 0.0) {
            doubt(results, DoubtKind::Errors, &job_name(object), Some((errno, 0.0)));
        }
        group += 1;
    }
    unequal(jobs, results);
    Ok(group)
}

/// Rates of a job that no storage has, each with what follows from its requests and its time.
fn impossible_rates(job: &Object) -> Vec<(f64, f64)> {
    let of = |(direction, _): &(&str, Option<Op>)| {
        let data = job.get(*direction)?.as_object()?;
        let said = number(data, "iops").filter(|rate| !model::foreign::is_value(*rate))?;
        let (count, ms) = (number(data, "total_ios")?, number(data, "runtime")?);
        (ms > 0.0).then(|| (said, count / ms * 1e3))
    };
    DIRECTIONS.iter().filter_map(of).collect()
}

/// With `--status-interval`, fio prints what it has so far again and again. The last of a run
/// holds all; how many were earlier is said.
fn last_states(outputs: Vec<Value>) -> (Vec<Value>, usize) {
    let mut last: Vec<Value> = Vec::new();
    let mut earlier = 0;
    for output in outputs {
        match last.last_mut() {
            Some(before) if is_later_state(before, &output) => {
                earlier += 1;
                *before = output;
            }
            _ => last.push(output),
        }
    }
    (last, earlier)
}

/// Whether an output is of the same run as the one before: it has its jobs, and its run began
/// before that one was printed. fio's `elapsed` counts whole seconds, `runtime` ms of requests:
/// either may say so.
fn is_later_state(before: &Value, after: &Value) -> bool {
    let jobs = |output: &Value| {
        let all = output.get("jobs").and_then(Value::as_array)?;
        let names = all.iter().map(|job| job.get("jobname").cloned().unwrap_or_default());
        Some(names.collect::<Vec<Value>>())
    };
    let elapsed = |output: &Value| {
        let all = output.get("jobs")?.as_array()?;
        all.iter().filter_map(|job| job.get("elapsed")?.as_f64()).reduce(f64::max)
    };
    let at = |output: &Value| measured(output).map(|ns| ns as f64 / 1e9);
    let (Some(first), Some(second), Some(past), Some(more)) =
        (at(before), at(after), elapsed(before), elapsed(after))
    else {
        return false;
    };
    let began_before = second - more < first - 1.5
        || (second - requests_s(after) < first - 0.1 && has_gone_on(before, after));
    jobs(before) == jobs(after) && more >= past && began_before
}

/// For how long the longest of all jobs sent requests, in seconds.
fn requests_s(output: &Value) -> f64 {
    let jobs = output.get("jobs").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let of = |job: &Value| {
        let all = DIRECTIONS.iter().filter_map(|(way, _)| job.get(*way)?.get("runtime")?.as_f64());
        all.fold(0.0, f64::max)
    };
    jobs.iter().map(of).fold(0.0, f64::max) / 1e3
}

/// Whether no job has done less than before.
fn has_gone_on(before: &Value, after: &Value) -> bool {
    let done = |output: &Value| -> Vec<f64> {
        let jobs = output.get("jobs").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let count = |job: &Value, way: &str| job.get(way)?.get("total_ios")?.as_f64();
        let ways = |job: &Value| DIRECTIONS.map(|(way, _)| count(job, way).unwrap_or(0.0));
        jobs.iter().flat_map(ways).collect()
    };
    done(before).iter().zip(done(after)).all(|(less, more)| *less <= more)
}

fn measured(value: &Value) -> Option<u64> {
    let of = |key: &str, ns: u64| value.get(key)?.as_u64()?.checked_mul(ns);
    of("timestamp_ms", 1_000_000).or_else(|| of("timestamp", 1_000_000_000))
}

fn number(object: &Object, key: &str) -> Option<f64> {
    object.get(key).and_then(Value::as_f64).filter(|number| number.is_finite())
}

fn job_name(job: &Object) -> String {
    short(job.get("jobname").and_then(Value::as_str).unwrap_or("unnamed"))
}

/// Where a job says what it did; `mixed` with `unified_rw_reporting`.
const DIRECTIONS: [(&str, Option<Op>); 5] = [
    ("read", Some(Op::Read)),
    ("write", Some(Op::Write)),
    ("trim", Some(Op::Trim)),
    ("sync", Some(Op::Fsync)),
    ("mixed", None),
];

/// What holds for all jobs.
struct Reader<'a> {
    list: String,
    shared: Option<&'a Object>,
}

impl Reader<'_> {
    /// The rows of a job: one for each direction in which it did something.
    fn rows(&self, number: usize, job: &Object) -> Vec<GivenRow> {
        let options = self.options(job);
        let count = |name: &str| {
            let of = |options: &[GivenOption]| {
                let found = options.iter().find(|option| option.name == name)?;
                found.value.parse::<f64>().ok()
            };
            of(&options).unwrap_or(1.0)
        };
        // `--client` adds hosts up, and says not how many they were.
        let allowed = (job_name(job) != SUM).then(|| count("iodepth") * count("numjobs"));
        let mut rows = Vec::new();
        for (direction, op) in DIRECTIONS {
            let Some(data) = job.get(direction).and_then(Value::as_object) else { continue };
            // The first versions with JSON count no requests.
            let did = self::number(data, "total_ios").or_else(|| self::number(data, "io_bytes"));
            if did.is_none_or(|count| count <= 0.0) {
                continue;
            }
            let place = format!("{}[{number}].{direction}", self.list);
            let mut row = GivenRow::new(&job_name(job), op, place);
            row.options.clone_from(&options);
            measures(data, &mut row);
            for (key, measured) in [
                ("usr_cpu", Measured::CpuUser),
                ("sys_cpu", Measured::CpuSystem),
                ("error", Measured::Errno),
            ] {
                row.add(Quantity::whole(measured), self::number(job, key));
            }
            if op != Some(Op::Fsync) {
                row.add(Quantity::whole(Measured::Allowed), allowed);
            }
            rows.push(row);
        }
        rows
    }

    /// Its own options and those of all, its own first.
    fn options(&self, job: &Object) -> Vec<GivenOption> {
        let own = job.get("job options").and_then(Value::as_object);
        let mut all: Vec<GivenOption> = Vec::new();
        for (name, value) in own.into_iter().chain(self.shared).flatten() {
            let Some(value) = value.as_str() else { continue };
            if all.len() < MOST_OPTIONS && !all.iter().any(|known| known.name == *name) {
                all.push(GivenOption { name: short(name), value: short(value) });
            }
        }
        all
    }
}

/// An object of latencies, with what its numbers are to be multiplied with to be ns.
fn latency<'a>(data: &'a Object, kind: &str) -> Option<(&'a Object, f64)> {
    let of = |name: &str, factor: f64| {
        data.get(name).and_then(Value::as_object).map(|all| (all, factor))
    };
    // Before version 3 there were microseconds, without a unit in the name.
    of(&format!("{kind}_ns"), 1.0).or_else(|| of(kind, 1e3))
}

fn measures(data: &Object, row: &mut GivenRow) {
    let get = |key| number(data, key);
    // `bw` counts KiB.
    let bandwidth = get("bw_bytes").or_else(|| Some(get("bw")? * 1024.0));
    let is_io = row.op != Some(Op::Fsync);
    if is_io {
        row.add(Quantity::whole(Measured::Bandwidth), bandwidth);
        row.add(Quantity::whole(Measured::Rate), get("iops"));
        row.add(Quantity::whole(Measured::Bytes), bytes(data));
        row.add(Quantity::whole(Measured::Time), get("runtime").map(|ms| ms * 1e6));
        row.add(Quantity::whole(Measured::Short), get("short_ios"));
        row.add(Quantity::whole(Measured::Dropped), get("drop_ios"));
    }
    row.add(Quantity::whole(Measured::Requests), get("total_ios"));
    // Of samples, which fio takes twice a second; of none, they are zeros.
    if get("iops_samples").is_some_and(|samples| samples > 0.0) {
        for (key, statistic) in SAMPLES_OF_RATE {
            row.add(Quantity::of(Measured::Rate, statistic), get(key));
        }
    }
    if get("bw_samples").is_some_and(|samples| samples > 0.0) {
        for (key, statistic) in SAMPLES_OF_BANDWIDTH {
            let unit = if statistic == Statistic::Count { 1.0 } else { 1024.0 };
            let value = get(key).map(|value| value * unit);
            row.add(Quantity::of(Measured::Bandwidth, statistic), value);
        }
    }
    for (kind, span) in SPANS {
        let Some((all, factor)) = latency(data, kind) else { continue };
        latencies(all, Factor(factor), span, row);
    }
}

/// Multiplied with it, numbers of a version of fio are ns.
#[derive(Clone, Copy)]
struct Factor(f64);

const SAMPLES_OF_RATE: [(&str, Statistic); 5] = [
    ("iops_min", Statistic::Least),
    ("iops_max", Statistic::Most),
    ("iops_mean", Statistic::Mean),
    ("iops_stddev", Statistic::StdDev),
    ("iops_samples", Statistic::Count),
];

const SAMPLES_OF_BANDWIDTH: [(&str, Statistic); 5] = [
    ("bw_min", Statistic::Least),
    ("bw_max", Statistic::Most),
    ("bw_mean", Statistic::Mean),
    ("bw_dev", Statistic::StdDev),
    ("bw_samples", Statistic::Count),
];

const SPANS: [(&str, Span); 3] =
    [("slat", Span::Submission), ("clat", Span::Completion), ("lat", Span::Total)];

fn latencies(all: &Object, Factor(factor): Factor, span: Span, row: &mut GivenRow) {
    // Of nothing, fio prints zeros.
    if number(all, "N").or_else(|| number(all, "max")).is_none_or(|n| n <= 0.0) {
        return;
    }
    let is_counted = number(all, "N").is_some();
    for (key, statistic) in [
        ("min", Statistic::Least),
        ("max", Statistic::Most),
        ("mean", Statistic::Mean),
        ("stddev", Statistic::StdDev),
    ] {
        let value = number(all, key).map(|value| value * factor);
        row.add(Quantity::latency(span, statistic), value);
    }
    if is_counted {
        row.add(Quantity::latency(span, Statistic::Count), number(all, "N"));
    }
    let given = all.get("percentile").and_then(Value::as_object);
    for (share, value) in given.into_iter().flatten().take(1_000) {
        let Some(statistic) = share.parse().ok().and_then(Statistic::percentile) else { continue };
        let value = value.as_f64().map(|value| value * factor);
        row.add(Quantity::latency(span, statistic), value);
    }
    // Spans come in order: those of whole requests take the place of those of a part.
    if let Some(bins) = all.get("bins").and_then(Value::as_object).filter(|bins| !bins.is_empty())
        && span != Span::Submission
    {
        let found = histogram(bins, Factor(factor), span);
        row.latencies = found.or(row.latencies.take());
    }
}

/// The bins of JSON+: each counts at the middle that fio prints for it.
fn histogram(bins: &Object, Factor(factor): Factor, span: Span) -> Option<GivenLatencies> {
    let mut latency = Histogram::new();
    for (value, count) in bins.iter().take(100_000) {
        let value: f64 = value.parse().ok().filter(|value: &f64| *value >= 0.0 && *value < 1e18)?;
        let count = count.as_u64()?;
        // The sum of all is kept in 64 bits.
        if latency.count().checked_add(count)? > u64::MAX / 2 {
            return None;
        }
        latency.record_many((value * factor) as u64, count);
    }
    Some(GivenLatencies { span, latency, error_permille: BIN_ERROR_PERMILLE })
}

fn bytes(data: &Object) -> Option<f64> {
    let old = || Some(number(data, "io_kbytes")? * 1024.0);
    // Version 2 has KiB in `io_bytes`, and no `io_kbytes`.
    let is_new = data.contains_key("io_kbytes");
    let bytes = number(data, "io_bytes").filter(|bytes| *bytes > 0.0);
    match is_new {
        true => bytes.or_else(old),
        false if data.contains_key("bw_bytes") => bytes,
        false => bytes.map(|kib| kib * 1024.0),
    }
}

/// Jobs of one group that are reported one by one are the same work: their means hide what differs.
fn unequal(jobs: &[Value], results: &mut Results) {
    let mut groups: BTreeMap<(u64, String), (f64, f64)> = BTreeMap::new();
    for job in jobs.iter().filter_map(Value::as_object) {
        let rate: f64 = ["read", "write", "trim", "mixed"]
            .iter()
            .filter_map(|key| number(job.get(*key)?.as_object()?, "iops"))
            .sum();
        let group = job.get("groupid").and_then(Value::as_u64).unwrap_or(0);
        let (low, high) = groups.entry((group, job_name(job))).or_insert((rate, rate));
        (*low, *high) = (low.min(rate), high.max(rate));
    }
    for ((_, name), (low, high)) in groups {
        if high > 2.0 * low && name != SUM {
            doubt(results, DoubtKind::UnequalJobs, &name, Some((low, high)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    /// Made up: 1,000 reads of 4 KiB a second for 10 s, each of 1 ms.
    fn output(job: &str, read: &str, options: &str) -> String {
        format!(
            r#"fio: a warning
{{"fio version": "fio-3.33", "jobs": [{{"jobname": "a", "groupid": 0, "error": 0, {job}
"job options": {{"bs": "4k"{options}}},
"read": {{"io_bytes": 40960000, "io_kbytes": 40000, "bw_bytes": 4096000, "iops": 1000.0,
"runtime": 10000, "total_ios": 10000, "lat_ns": {{"min": 5, "max": 2000000, "mean": 1000000.0}},
"clat_ns": {{"max": 2000000, "percentile": {{"50.000000": 900000, "99.000000": 1500000}},
"bins": {{"897024": 9000, "1499136": 1000}}}}{read}}},
"write": {{"total_ios": 0}}}}]}}
"#
        )
    }

    fn of(text: &str) -> Result<Results, ImportError> {
        read("a.json", text, Form::FioJson)
    }

    fn kinds(text: &str) -> Vec<DoubtKind> {
        let results = of(text).expect("results");
        let kinds = results.doubts.iter().map(|doubt| doubt.kind);
        // What is put in comes again behind what was there.
        let is_own =
            |kind: &DoubtKind| ![DoubtKind::TextAroundJson, DoubtKind::DuplicateKey].contains(kind);
        kinds.filter(is_own).collect()
    }

    #[test]
    fn what_a_job_measured_is_read() {
        let results = of(&output("", "", "")).expect("results");
        assert_eq!(results.tool(), "fio-3.33");
        assert_eq!(results.rows.len(), 1);
        let row = &results.rows[0];
        assert_eq!((row.workload.as_str(), row.op), ("a", Some(Op::Read)));
        assert_eq!(row.place, "jobs[0].read");
        let p99 = Quantity::latency(Span::Completion, Statistic::Quantile(990_000_000));
        assert_eq!(row.get(p99), Some(1_500_000.0));
        assert_eq!(row.get(Quantity::whole(Measured::Time)), Some(1e10));
        assert_eq!(results.doubts.len(), 1, "the warning before it: {:?}", results.doubts);
        let latencies = row.latencies.as_ref().expect("bins");
        assert_eq!((latencies.span, latencies.latency.count()), (Span::Completion, 10_000));
    }

    #[test]
    fn what_does_not_go_together_is_doubted() {
        let wrong = output("", r#", "iops": 2000.0"#, r#", "iodepth": "2""#);
        assert_eq!(kinds(&wrong), [DoubtKind::RateTimesSize, DoubtKind::AmountOverTime]);
        let slow = r#", "lat_ns": {"max": 1, "mean": 40000000.0}"#;
        assert_eq!(kinds(&output("", slow, "")), [DoubtKind::LittlesLaw]);
        assert_eq!(kinds(&output("", slow, r#", "iodepth": "8", "numjobs": "5""#)), []);
        let fast = r#", "lat_ns": {"max": 1, "mean": 20.0}"#;
        assert_eq!(kinds(&output("", fast, "")), [DoubtKind::FasterThanACall]);
        let falling = r#", "clat_ns": {"max": 9000, "percentile": {"50.0": 9000, "99.0": 8000}}"#;
        assert_eq!(kinds(&output("", falling, "")), [DoubtKind::QuantilesOutOfOrder]);
        let bins = r#", "clat_ns": {"max": 1, "bins": {"1": 5}}"#;
        assert_eq!(kinds(&output("", bins, "")), [DoubtKind::BinsDoNotAddUp]);
        assert_eq!(kinds(&output(r#""error": 5,"#, "", "")), [DoubtKind::Errors]);
        let nan = r#", "bw_dev": -nan"#;
        assert_eq!(kinds(&output("", nan, "")), [DoubtKind::JsonMended]);
    }

    #[test]
    fn states_of_a_run_are_one_result_and_runs_are_several() {
        let state = |at: u64, elapsed: u64, count: u64| {
            format!(
                r#"{{"fio version": "fio-3.33", "timestamp_ms": {at}000, "jobs": [{{
"jobname": "a", "elapsed": {elapsed}, "read": {{"total_ios": {count}, "iops": 5.0}}}}]}}
"#
            )
        };
        // Printed after 10 and 20 s of a run, and after 10 s of another one.
        let text = [state(110, 10, 50), state(120, 20, 99), state(140, 10, 7)].concat();
        let results = of(&text).expect("results");
        let rows: Vec<(u32, &str, Option<f64>)> = results
            .rows
            .iter()
            .map(|row| (row.group, row.place.as_str(), row.overall(Measured::Requests)))
            .collect();
        assert_eq!(rows, [(0, "[0].jobs[0].read", Some(99.0)), (1, "[1].jobs[0].read", Some(7.0))]);
        let doubts: Vec<_> = results.doubts.iter().map(|one| (one.kind, one.computed)).collect();
        assert_eq!(doubts, [(DoubtKind::EarlierStates, Some(1.0))]);
    }

    #[test]
    fn all_states_of_a_short_run_are_one_result() {
        // What fio 3.33 printed with `--status-interval=1`: when, `elapsed`, requests, `runtime`.
        let state = |(at, elapsed, count, runtime): (u64, u64, u64, u64)| {
            format!(
                r#"{{"fio version": "fio-3.33", "timestamp_ms": {at}, "jobs": [{{"jobname": "a",
"elapsed": {elapsed}, "read": {{"total_ios": {count}, "iops": 5.0, "runtime": {runtime}}}}}]}}
"#
            )
        };
        let run = [
            (1_795_796_591_733, 1, 411, 800),
            (1_795_796_592_715, 2, 902, 1_805),
            (1_795_796_593_777, 4, 1_435, 2_867),
            (1_795_796_594_957, 5, 2_000, 4_004),
        ];
        let counts = |states: &[(u64, u64, u64, u64)]| -> Vec<Option<f64>> {
            let results = of(&states.iter().map(|one| state(*one)).collect::<String>());
            let rows = results.expect("results").rows;
            rows.iter().map(|row| row.overall(Measured::Requests)).collect()
        };
        assert_eq!(counts(&run), [Some(2_000.0)]);
        // Another run of the same job, which began when the first was over.
        let again = run.map(|(at, elapsed, count, runtime)| (at + 4_200, elapsed, count, runtime));
        assert_eq!(counts(&[run.as_slice(), &again].concat()), [Some(2_000.0), Some(2_000.0)]);
        let short = [(1_795_796_591_000, 1, 400, 900), (1_795_796_592_100, 1, 410, 950)];
        assert_eq!(counts(&short).len(), 2);
    }

    #[test]
    fn thousands_of_jobs_are_read_and_too_many_are_refused() {
        let jobs = |count: usize| {
            let job = |number| format!(r#"{{"jobname": "j{number}", "read": {{"total_ios": 1}}}}"#);
            let jobs: Vec<String> = (0..count).map(job).collect();
            of(&format!(r#"{{"fio version": "fio-3.33", "jobs": [{}]}}"#, jobs.join(",")))
        };
        let results = jobs(9_000).expect("results");
        assert_eq!((results.rows.len(), results.rows[8_999].group), (9_000, 8_999));
        assert!(jobs(MOST_ROWS / 4 + 1).is_err_and(|error| error.what.contains("too many")));
    }

    #[test]
    fn broken_json_is_an_error_with_its_place() {
        let whole = output("", "", "");
        let error = of(&whole[..whole.len() / 2]).expect_err("half of it");
        assert!(error.what.contains("line"), "{error}");
        assert!(of("fio version").is_err());
        assert!(of("{\"fio version\": 3}").is_err());
    }

    #[test]
    fn the_first_versions_count_no_requests() {
        let text = r#"{"fio version": "fio-2.1.4", "jobs": [{"jobname": "a", "write": {"io_bytes":
361984, "bw": 68118, "iops": 133, "runtime": 5314, "clat": {"min": 189263, "max": 869891,
"mean": 477734.84, "percentile": {"99.000000": 823296}}}, "read": {"io_bytes": 0}}]}"#;
        let results = of(text).expect("results");
        assert_eq!(results.rows.len(), 1);
        let row = &results.rows[0];
        assert_eq!((row.op, row.overall(Measured::Rate)), (Some(Op::Write), Some(133.0)));
        assert_eq!(row.overall(Measured::Bytes), Some(361_984.0 * 1024.0));
        let p99 = Quantity::latency(Span::Completion, Statistic::Quantile(990_000_000));
        assert_eq!(row.get(p99), Some(823_296e3));
    }

    #[test]
    fn bins_keep_the_values_that_fio_prints() {
        let results = of(&output("", "", "")).expect("results");
        let latencies = results.rows[0].latencies.as_ref().expect("bins");
        let bins: Vec<(u64, u64)> =
            latencies.latency.buckets().map(|(low, _, count)| (low, count)).collect();
        assert_eq!(bins, [(897_024, 9_000), (1_499_136, 1_000)]);
    }
}
