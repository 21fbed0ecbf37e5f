//! What was sent to the targets since the run began: counts, bytes, service times, errors.

use super::MOST_DETAILED_HOSTS;
use super::family::{Family, Series};
use super::kind::Kind;
use super::native::Native;
use super::out::Out;
use super::value::{Durations, Value};
use model::event::Waiting;
use model::histogram::{bucket_of, take_apart};
use model::{IntervalSample, Op, Plan};
use report::ground::words;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How many buckets a classic histogram has, without the last one, which is for all.
const EDGES: usize = 27;

/// The upper ends of the buckets in ns, inclusive: the last nanosecond before each power of two
/// from 1 µs to 69 s. Each is the upper end of a bucket of our own histograms, so that the counts
/// are exact.
fn edges_ns() -> [u64; EDGES] {
    std::array::from_fn(|number| (1 << (number + 10)) - 1)
}

/// The families of this file.
pub const NAMES: [&str; 7] = [
    "plimsoll_requests_total",
    "plimsoll_bytes_total",
    "plimsoll_request_errors_total",
    "plimsoll_request_duration_seconds",
    "plimsoll_worker_cpu_seconds_total",
    "plimsoll_unanswered_requests",
    "plimsoll_oldest_unanswered_seconds",
];

/// Which requests a total is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Labels {
    /// The host's number.
    pub host: u32,
    /// The workload's name; empty for the whole layout.
    pub workload: String,
    /// The values of the point's sweep, `depth=32, block_size=4KiB`; empty where nothing is swept,
    /// for the whole layout, and of more than [`MOST_DETAILED_HOSTS`] hosts.
    pub sweep: String,
    /// What the stage is for.
    pub stage: String,
    /// The operation.
    pub op: Op,
}

#[derive(Clone, Debug, Default)]
struct Total {
    ios: u64,
    bytes: u64,
    errors: BTreeMap<i32, u64>,
    sum_ns: u128,
    /// Cumulative: requests that took no longer than each edge.
    at_most: [u64; EDGES],
    native: Native,
}

/// Totals since the run began. A copy shares them until one of the two changes them.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    totals: BTreeMap<Labels, Arc<Total>>,
    /// By host: CPU time of its workers in user mode and in the kernel, in ns.
    cpu_ns: BTreeMap<u32, [u128; 2]>,
    /// By host: requests that have no answer now, and the age of the oldest, in ns.
    waiting: BTreeMap<u32, (u64, u64)>,
}

impl Requests {
    /// Adds a sample: everything that was sent, drains included, so that it agrees with the
    /// kernel's counters.
    pub fn add(&mut self, plan: &Plan, sample: &IntervalSample) {
        let Some(stage) = plan.stages.get(sample.stage as usize) else { return };
        let cpu_ns = self.cpu_ns.entry(sample.host).or_default();
        for worker in &sample.workers {
            let parts = [worker.cpu_user_ns, worker.cpu_system_ns];
            for (sum, ns) in cpu_ns.iter_mut().zip(parts) {
                *sum = sum.saturating_add(u128::from(ns));
            }
        }
        let mut buckets = Vec::new();
        let sweep = sweep(plan, stage.point);
        for op in &sample.ops {
            let workload = stage
                .works
                .get(op.work as usize)
                .map(|work| work.workload.clone())
                .unwrap_or_default();
            let (host, sweep, stage) = (sample.host, sweep.clone(), stage.kind.to_string());
            let labels = Labels { host, workload, sweep, stage, op: op.op };
            let total = Arc::make_mut(self.totals.entry(labels).or_default());
            // One that is no histogram is refused where it is recorded.
            let Ok(head) = take_apart(&op.latency.0, &mut buckets) else { continue };
            total.native.add(&buckets);
            add_cumulative(&mut total.at_most, &buckets);
            total.sum_ns = total.sum_ns.saturating_add(head.sum_ns);
            total.ios = total.ios.saturating_add(op.ios);
            total.bytes = total.bytes.saturating_add(op.bytes);
            for (errno, count) in &op.errors {
                let sum = total.errors.entry(*errno).or_insert(0);
                *sum = sum.saturating_add(*count);
            }
        }
    }

    /// Takes in what a host's target leaves unanswered.
    pub fn wait(&mut self, waiting: &Waiting) {
        self.waiting.insert(waiting.host, (waiting.requests(), waiting.oldest_ns()));
    }

    /// How many requests of all hosts have no answer, and the age of the oldest, in ns.
    pub fn waiting(&self) -> (u64, u64) {
        self.waiting.values().fold((0, 0), |all, one| (all.0 + one.0, all.1.max(one.1)))
    }

    /// A stage is over: nothing is waited for.
    pub fn wait_no_more(&mut self) {
        self.waiting.values_mut().for_each(|waiting| *waiting = (0, 0));
    }

    /// Writes what has no answer behind `out`.
    fn render_waiting(&self, series: Series<'_>, out: &mut Out, names: &[String]) {
        let [.., requests, oldest] = NAMES;
        let help = "Requests that have no answer for a second, at least.";
        let mut requests = Family::new(series, Kind::Gauge, requests, help);
        let help = "Age of the oldest of them.";
        let mut oldest = Family::new(series, Kind::Gauge, oldest, help);
        // A host that never waited says 0, so that an alert has something to look at.
        for host in self.cpu_ns.keys().chain(self.waiting.keys()).collect::<BTreeSet<_>>() {
            let (count, oldest_ns) = self.waiting.get(host).copied().unwrap_or_default();
            let label = [("host", names.get(*host as usize).map_or("", String::as_str))];
            requests.add(&label, Value::Whole(count.into()));
            oldest.add(&label, Value::Time(oldest_ns.into()));
        }
        out.put(requests);
        out.put(oldest);
    }

    /// Requests of a host that failed.
    pub fn errors_of(&self, host: u32) -> u64 {
        let from = Labels {
            host,
            workload: String::new(),
            sweep: String::new(),
            stage: String::new(),
            op: Op::Read,
        };
        let here = self.totals.range(from..).take_while(|(labels, _)| labels.host == host);
        here.flat_map(|(_, total)| total.errors.values()).sum()
    }

    /// Writes the families behind `out`.
    pub fn render(&self, series: Series<'_>, out: &mut Out, names: &[String]) {
        let [ios, bytes, errors, durations, cpu, ..] = NAMES;
        let mut ios = Family::new(series, Kind::Counter, ios, "Requests that succeeded in full.");
        let mut bytes = Family::new(
            series,
            Kind::Counter,
            bytes,
            "Bytes that the targets accepted or delivered.",
        );
        let help = "Requests that failed, by the kernel's error or what a check found.";
        let mut errors = Family::new(series, Kind::Counter, errors, help);
        let help = "Times of requests that succeeded: service times (completed - submitted), at \
                    a fixed rate response times (completed - due).";
        let mut durations = Family::new(series, Kind::Histogram, durations, help);
        let mut cpu =
            Family::new(series, Kind::Counter, cpu, "CPU time of the workers' own threads.");
        for (host, times_ns) in &self.cpu_ns {
            let host = names.get(*host as usize).map_or("", String::as_str);
            for (mode, ns) in ["user", "system"].into_iter().zip(times_ns) {
                cpu.add(&[("host", host), ("mode", mode)], Value::Time(*ns));
            }
        }
        for (labels, total) in &self.totals {
            let host = names.get(labels.host as usize).map_or("", String::as_str);
            let common = [
                ("op", labels.op.name()),
                ("workload", &labels.workload),
                ("sweep", &labels.sweep),
                ("host", host),
                ("stage", &labels.stage),
            ];
            ios.add(&common, Value::Whole(u128::from(total.ios)));
            bytes.add(&common, Value::Whole(u128::from(total.bytes)));
            for (errno, count) in &total.errors {
                let word = words::errno(*errno);
                errors.add(
                    &[common.as_slice(), &[("error", &word)]].concat(),
                    Value::Whole(u128::from(*count)),
                );
            }
            let at_most: Vec<(u64, u64)> = edges_ns().into_iter().zip(total.at_most).collect();
            let (sum_ns, native) = (total.sum_ns, &total.native);
            durations.add_durations(
                &common,
                &Durations { at_most: &at_most, count: total.ios, sum_ns, native },
            );
        }
        for family in [ios, bytes, errors, durations, cpu] {
            out.put(family);
        }
        self.render_waiting(series, out, names);
    }
}

/// The values of a point's sweep, as its label. Of so many hosts that each is told shortly, none:
/// every point would be as many series again.
fn sweep(plan: &Plan, point: Option<u32>) -> String {
    let point = point.and_then(|point| plan.points.get(point as usize));
    let point = point.filter(|_| plan.hosts.len() <= MOST_DETAILED_HOSTS);
    point.map_or_else(String::new, |point| words::sweep(&point.sweep, None))
}

/// Adds how many of the counts, by the number of our own bucket in rising order, lie below each
/// edge.
fn add_cumulative(at_most: &mut [u64; EDGES], buckets: &[(u16, u64)]) {
    let (mut rest, mut seen) = (buckets, 0u64);
    for (sum, edge_ns) in at_most.iter_mut().zip(edges_ns()) {
        let limit = bucket_of(edge_ns);
        while let Some(((_, count), behind)) =
            rest.split_first().filter(|((own, _), _)| usize::from(*own) <= limit)
        {
            seen = seen.saturating_add(*count);
            rest = behind;
        }
        *sum = sum.saturating_add(seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::metrics::form::Form;
    use analysis::testing::Recorded;
    use model::StageKind;
    use model::histogram::bucket_bounds;

    #[test]
    fn every_edge_is_one_of_our_own_histograms() {
        for edge in edges_ns() {
            assert_eq!(bucket_bounds(bucket_of(edge)).1, edge);
        }
    }

    /// The method says that the total of a mix is the sum over `op` without fsyncs: each request
    /// counts under one alone.
    #[test]
    fn the_sum_over_operations_without_fsyncs_is_the_row_of_all() {
        let mut recorded =
            Recorded::new("[[workload]]\nname = \"w\"\nread = \"70%\"\nfsync_every = 1\n");
        let stage = recorded.stage(StageKind::Measure);
        let ops: [(Op, &[u64]); 3] =
            [(Op::Read, &[2_000; 70]), (Op::Write, &[9_000; 30]), (Op::Fsync, &[70_000; 30])];
        recorded.interval(stage, 0, &ops);
        recorded.fail(stage, 0, Op::Write, 5, 3);
        let record = recorded.record();
        let rows = analysis::results(&record);
        let all = rows.iter().find(|row| row.is_of_point()).expect("a whole");
        let mut requests = Requests::default();
        record.samples().for_each(|sample| requests.add(&record.plan, sample));
        let mut out = Out::default();
        let series = Series { form: Some(Form::Text), run: "r" };
        requests.render(series, &mut out, &["n".to_owned()]);
        let out = String::from_utf8(out.bytes).expect("text");
        assert!(
            !out.contains("op=\"all\""),
            "a total beside its parts would be counted twice: {out}"
        );
        let sum = |family: &str, with: &str| -> u64 {
            let lines = out
                .lines()
                .filter(|line| line.starts_with(&format!("{family}{{")) && line.contains(with));
            let lines = lines.filter(|line| !line.contains("op=\"fsync\""));
            lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
        };
        assert_eq!(
            (sum("plimsoll_requests_total", ""), sum("plimsoll_bytes_total", "")),
            (all.ios, all.bytes)
        );
        assert_eq!(sum("plimsoll_request_errors_total", ""), all.error_count());
        let below = all
            .latency
            .buckets()
            .filter(|(_, high, _)| *high <= 4_095)
            .map(|(.., count)| count)
            .sum::<u64>();
        assert_eq!(sum("plimsoll_request_duration_seconds_bucket", "le=\"0.000004095\""), below);
        assert_eq!((below, all.ios), (70, 100));
    }

    #[test]
    fn each_point_of_a_sweep_is_a_series_of_its_own() {
        let told = |hosts| {
            let mut recorded = Recorded::with_hosts(
                "[[workload]]\nname = \"w\"\n[sweep]\ndepth = [1, 8]\n",
                hosts,
            );
            let first = recorded.stage(StageKind::Measure);
            recorded.interval(first, 0, &[(Op::Read, &[1_000; 3])]);
            recorded.interval(first + 1, 0, &[(Op::Read, &[1_000; 5])]);
            let record = recorded.record();
            let mut requests = Requests::default();
            record.samples().for_each(|sample| requests.add(&record.plan, sample));
            let mut out = Out::default();
            let series = Series { form: Some(Form::Text), run: "a" };
            requests.render(series, &mut out, &["n".to_owned()]);
            String::from_utf8(out.bytes).expect("text")
        };
        let line = |sweep: &str, count| {
            format!(
                "plimsoll_requests_total{{run=\"a\",op=\"read\",workload=\"w\",sweep=\"{sweep}\",\
                 host=\"n\",stage=\"measure\"}} {count}\n"
            )
        };
        let few = told(2);
        assert!(few.contains(&line("depth=1", 3)) && few.contains(&line("depth=8", 5)), "{few}");
        let many = told(MOST_DETAILED_HOSTS + 1);
        assert!(many.contains(&line("", 8)), "{many}");
    }

    #[test]
    fn counts_are_exact_on_both_sides_of_an_edge_and_add_up() {
        let mut recorded = Recorded::new("[[workload]]\nname = \"w\"\n");
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[(Op::Read, &[1_023, 1_024, 5_000_000])]);
        recorded.interval(stage, 1, &[(Op::Read, &[90_000_000_000])]);
        recorded.fail(stage, 1, Op::Read, 5, 3);
        recorded.busy(1.0);
        let record = recorded.record();
        let mut requests = Requests::default();
        record.samples().for_each(|sample| requests.add(&record.plan, sample));
        let mut out = Out::default();
        let series = Series { form: Some(Form::Text), run: "a" };
        requests.render(series, &mut out, &["n\"1".to_owned()]);
        let out = String::from_utf8(out.bytes).expect("text");
        let labels =
            "run=\"a\",op=\"read\",workload=\"w\",sweep=\"\",host=\"n\\\"1\",stage=\"measure\"";
        for (edge, count) in [
            ("0.000001023", 1),
            ("0.000002047", 2),
            ("0.008388607", 3),
            ("68.719476735", 3),
            ("+Inf", 4),
        ] {
            let line = format!(
                "plimsoll_request_duration_seconds_bucket{{{labels},le=\"{edge}\"}} {count}\n"
            );
            assert!(out.contains(&line), "{line}{out}");
        }
        assert!(
            out.contains(&format!(
                "plimsoll_request_duration_seconds_sum{{{labels}}} 90.005002047\n"
            )),
            "{out}"
        );
        assert!(
            out.contains(&format!("plimsoll_request_errors_total{{{labels},error=\"EIO\"}} 3\n")),
            "{out}"
        );
        let cpu =
            "plimsoll_worker_cpu_seconds_total{run=\"a\",host=\"n\\\"1\",mode=\"system\"} 1.4\n";
        assert!(out.contains(cpu), "{out}");
        assert_eq!((requests.errors_of(0), requests.errors_of(1)), (3, 0));
    }
}
