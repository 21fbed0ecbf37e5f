//! Results as fio's JSON (fio's HOWTO, *JSON output*), for programs made for fio: ours, and those
//! that came from another tool. What is not known is left out, and never made up.

use crate::ground::gather::grouped;
use crate::pens::json::{Map, Value, object, plain};
use analysis::foreign::{DURABLE, VERDICT};
use model::Op;
use model::foreign::{Form, GivenRow, Measured, Quantity, Source, Span, Statistic};

/// The bounds of fio's coarse histograms, as their keys have them.
const BOUNDS: [&str; 10] = ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000"];

/// What stands in a result of ours in place of fio's own word for it.
const REMARK: &str = "clat_ns and lat_ns are both the time from before the submission to the \
                      completion; Plimsoll takes no other";

/// What is written.
#[derive(Clone, Copy, Debug)]
pub struct Exported<'a> {
    /// The rows.
    pub rows: &'a [GivenRow],
    /// Where they come from; none for a run of our own.
    pub sources: &'a [Source],
    /// When it was measured, in ns since 1970, where that is known.
    pub measured_unix_ns: Option<u64>,
    /// The version of Plimsoll that made or imported the run.
    pub version: &'a str,
}

/// The rows as fio's JSON.
///
/// # Errors
/// It has no place for any of them: why.
pub fn text(exported: Exported<'_>) -> Result<String, &'static str> {
    let keyed = exported.rows.iter().map(|row| ((&row.source, &row.group, &row.workload), row));
    let jobs: Vec<Value> =
        grouped(keyed).iter().filter_map(|(_, rows)| job(rows, exported)).collect();
    if jobs.is_empty() {
        return Err("no row of it reads, writes, trims or flushes blocks");
    }
    let source = exported.sources.iter().find(|source| source.form == Form::FioJson);
    let version = source.map(|source| source.tool_version.clone());
    let mut object = Map::new();
    let version = version.unwrap_or_else(|| format!("plimsoll-{}", exported.version));
    object.insert("fio version".to_owned(), Value::from(version));
    if let Some(measured) = exported.measured_unix_ns {
        object.insert("timestamp".to_owned(), Value::from(measured / 1_000_000_000));
        object.insert("timestamp_ms".to_owned(), Value::from(measured / 1_000_000));
    }
    object.insert("jobs".to_owned(), Value::Array(jobs));
    if exported.sources.is_empty() {
        object.insert("plimsoll".to_owned(), object! { note: REMARK });
    }
    // Maps of strings and numbers always have a text.
    Ok(serde_json::to_string_pretty(&plain(Value::Object(object))).unwrap_or_default() + "\n")
}

/// The key of a row's direction; `None` where fio has none.
fn direction(row: &GivenRow) -> Option<&'static str> {
    match row.op {
        Some(Op::Read) => Some("read"),
        Some(Op::Write) => Some("write"),
        Some(Op::Trim) => Some("trim"),
        Some(Op::Fsync) => Some("sync"),
        None => Some("mixed"),
        Some(_) => None,
    }
}

fn job(rows: &[&GivenRow], exported: Exported<'_>) -> Option<Value> {
    let first = rows.first()?;
    let is_split = rows.iter().any(|row| direction(row).is_some_and(|key| key != "mixed"));
    let is_of_fio = exported.sources.iter().any(|source| source.form == Form::FioJson);
    let mut job = Map::new();
    job.insert("jobname".to_owned(), Value::from(first.workload.as_str()));
    job.insert("groupid".to_owned(), Value::from(0));
    let whole = |measured| rows.iter().find_map(|row| row.get(Quantity::whole(measured)));
    job.insert("error".to_owned(), Value::from(whole(Measured::Errno).unwrap_or(0.0) as u64));
    let of_job = first.options.iter().filter(|one| ![VERDICT, DURABLE].contains(&&*one.name));
    let options: Map<String, Value> =
        of_job.map(|one| (one.name.clone(), Value::from(one.value.as_str()))).collect();
    job.insert("job options".to_owned(), Value::Object(options));
    let mut has_any = false;
    for key in ["read", "write", "trim", "sync", "mixed"] {
        let row = rows.iter().find(|row| direction(row) == Some(key));
        // The sum of directions is none, unless fio printed it (`unified_rw_reporting=both`).
        let row = row.filter(|_| key != "mixed" || !is_split || is_of_fio);
        has_any |= row.is_some();
        match row {
            Some(row) => {
                job.insert(key.to_owned(), data(row, exported.sources.is_empty()));
            }
            // Of a job whose directions are all told, this one did nothing.
            None if is_split && ["read", "write", "trim"].contains(&key) => {
                job.insert(key.to_owned(), nothing());
            }
            None => {}
        }
    }
    for (key, measured) in [("usr_cpu", Measured::CpuUser), ("sys_cpu", Measured::CpuSystem)] {
        job.insert(key.to_owned(), Value::from(whole(measured)));
    }
    coarse(rows, &mut job);
    has_any.then_some(Value::Object(job))
}

fn nothing() -> Value {
    object! {
        io_bytes: 0, io_kbytes: 0, bw_bytes: 0, bw: 0, iops: 0.0, runtime: 0, total_ios: 0,
        short_ios: 0, drop_ios: 0,
    }
}

/// A number, whole where it is whole: fio's counts are.
fn number(value: f64) -> Value {
    const MOST_EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && (0.0..MOST_EXACT).contains(&value) {
        Value::from(value as u64)
    } else {
        Value::from(value)
    }
}

fn data(row: &GivenRow, is_own: bool) -> Value {
    let mut data = Map::new();
    let mut put = |key: &str, value: Option<f64>| {
        data.insert(key.to_owned(), value.map_or(Value::Null, number));
    };
    let whole = |measured| row.get(Quantity::whole(measured));
    put("io_bytes", whole(Measured::Bytes));
    put("io_kbytes", whole(Measured::Bytes).map(|bytes| (bytes / 1024.0).floor()));
    let bandwidth = row.overall(Measured::Bandwidth);
    put("bw_bytes", bandwidth.map(f64::round));
    put("bw", bandwidth.map(|bandwidth| (bandwidth / 1024.0).floor()));
    put("iops", row.overall(Measured::Rate));
    put("runtime", whole(Measured::Time).map(|ns| (ns / 1e6).round()));
    put("total_ios", whole(Measured::Requests));
    put("short_ios", whole(Measured::Short));
    put("drop_ios", whole(Measured::Dropped));
    for (prefix, spread, measured, unit) in
        [("bw", "dev", Measured::Bandwidth, 1024.0), ("iops", "stddev", Measured::Rate, 1.0)]
    {
        let of = |statistic| row.get(Quantity::of(measured, statistic));
        put(&format!("{prefix}_min"), of(Statistic::Least).map(|value| value / unit));
        put(&format!("{prefix}_max"), of(Statistic::Most).map(|value| value / unit));
        put(&format!("{prefix}_mean"), of(Statistic::Mean).map(|value| value / unit));
        put(&format!("{prefix}_{spread}"), of(Statistic::StdDev).map(|value| value / unit));
        put(&format!("{prefix}_samples"), of(Statistic::Count));
    }
    for (key, span) in
        [("slat_ns", Span::Submission), ("clat_ns", Span::Completion), ("lat_ns", Span::Total)]
    {
        let of = if is_own && span == Span::Completion { Span::Total } else { span };
        if let Some(latencies) = latencies(row, of) {
            data.insert(key.to_owned(), latencies);
        }
    }
    for name in [VERDICT, DURABLE] {
        data.extend(row.option(name).map(|value| (name.to_owned(), Value::from(value))));
    }
    data.retain(|key, value| !value.is_null() || SAID.contains(&key.as_str()));
    Value::Object(data)
}

/// Keys that programs ask for, and that say `null` where nobody knows.
const SAID: [&str; 6] = ["io_bytes", "bw_bytes", "bw", "iops", "iops_stddev", "runtime"];

fn latencies(row: &GivenRow, span: Span) -> Option<Value> {
    let mut all = Map::new();
    for (key, statistic) in [
        ("min", Statistic::Least),
        ("max", Statistic::Most),
        ("mean", Statistic::Mean),
        ("stddev", Statistic::StdDev),
        ("N", Statistic::Count),
    ] {
        if let Some(value) = row.get(Quantity::latency(span, statistic)) {
            all.insert(key.to_owned(), number(value));
        }
    }
    let histogram = row.latencies.as_ref().filter(|latencies| latencies.span == span);
    if let Some(latencies) = histogram {
        all.entry("N").or_insert_with(|| Value::from(latencies.latency.count()));
    }
    let quantiles = row.quantiles(span);
    if !quantiles.is_empty() {
        let percent = |share: u32| format!("{:.6}", f64::from(share) / 1e7);
        let quantiles: Map<String, Value> = quantiles
            .iter()
            .map(|quantile| (percent(quantile.share), number(quantile.value_ns)))
            .collect();
        all.insert("percentile".to_owned(), Value::Object(quantiles));
    }
    if let Some(latencies) = histogram {
        let bins: Map<String, Value> = latencies
            .latency
            .buckets()
            .map(|(low, _, count)| (low.to_string(), Value::from(count)))
            .collect();
        all.insert("bins".to_owned(), Value::Object(bins));
    }
    (!all.is_empty()).then_some(Value::Object(all))
}

/// fio's coarse histograms over all directions of a job, in percent of its requests, where all of
/// them have a histogram; else they are empty.
fn coarse(rows: &[&GivenRow], job: &mut Map<String, Value>) {
    let io: Vec<&&GivenRow> =
        rows.iter().filter(|row| row.op.is_some() && row.op != Some(Op::Fsync)).collect();
    let histograms: Option<Vec<_>> = io.iter().map(|row| row.latencies.as_ref()).collect();
    let histograms = histograms.filter(|all| !all.is_empty()).unwrap_or_default();
    let total: u64 = histograms.iter().map(|all| all.latency.count()).sum();
    // A bucket counts below a bound where its middle lies below.
    let below = |bound_ns: u64| -> u64 {
        let buckets = histograms.iter().flat_map(|all| all.latency.buckets());
        buckets.filter(|(low, high, _)| low / 2 + high / 2 < bound_ns).map(|(_, _, n)| n).sum()
    };
    let mut last = 0;
    for (key, unit_ns) in [("latency_ns", 1), ("latency_us", 1_000), ("latency_ms", 1_000_000)] {
        let mut shares = Map::new();
        let more = if key == "latency_ms" { &["2000"][..] } else { &[] };
        for bound in BOUNDS.iter().chain(more) {
            let upto = below(bound.parse::<u64>().unwrap_or(0) * unit_ns);
            if total > 0 {
                let share = (upto.saturating_sub(last)) as f64 * 100.0 / total as f64;
                shares.insert((*bound).to_owned(), Value::from(share));
            }
            last = last.max(upto);
        }
        if key == "latency_ms" && total > 0 {
            let share = total.saturating_sub(last) as f64 * 100.0 / total as f64;
            shares.insert(">=2000".to_owned(), Value::from(share));
        }
        job.insert(key.to_owned(), Value::Object(shares));
    }
}

#[cfg(test)]
mod tests;
