//! What a command told of itself, beside what the kernel counted: a table, objects, a section of
//! the page, and how each command ended.

use crate::ground::markup::{Markup, list, under};
use crate::ground::words;
use crate::pens::Table;
use crate::pens::json::{Value, each, object, quantiles};
use analysis::told::{AtDevice, Beside, at_device, beside, told};
use analysis::{Flow, QUANTILES, ResultRow};
use model::note::{EndedBy, Told, ToldFigure, Traced};
use model::{EncodedHistogram, Histogram, Nanos, Op, Record};

/// How a command ended, and what else there is to know of it.
pub fn sentence(told: &Told) -> String {
    let program = told.command.first().map_or("", String::as_str);
    let code = match (told.code, told.signal) {
        (Some(code), _) => format!(" with code {code}"),
        (None, Some(signal)) => format!(" by signal {signal}"),
        (None, None) => String::new(),
    };
    let took = told.took;
    let mut said = match told.by {
        EndedBy::Itself => format!("{program} ended by itself{code} after {took}"),
        EndedBy::Asked => format!("{program} was asked to end, and ended{code} after {took}"),
        EndedBy::Killed => format!("{program} did not end when asked, and was killed after {took}"),
        EndedBy::NotStarted => format!("{program} was not started: {}", told.errors),
    };
    if told.left > 0 {
        let left = words::counted(told.left.into(), "process").replace("processs", "processes");
        said.push_str(&format!("; {left} that it left behind were ended"));
    }
    if told.by != EndedBy::NotStarted && told.figures.is_empty() {
        said.push_str("; no figure was read in what it printed (--result says where one stands)");
    }
    said
}

fn name(one: &Beside) -> &'static str {
    one.op.map_or("all", |op| op.name())
}

/// A rate of the tool or of the device, requests first; bytes where only these are known. What no
/// device carries is no I/O.
fn shown(one: &Beside, flow: &Flow) -> Option<String> {
    let unit = words::rate_unit(one.seen.is_none());
    let bytes = flow.bytes_per_s.map(words::bandwidth);
    let rate = flow.iops.map(|rate| format!("{} {unit}", words::iops(rate)));
    match (rate, bytes) {
        (Some(rate), Some(bytes)) => Some(format!("{rate}, {bytes}")),
        (rate, bytes) => rate.or(bytes),
    }
}

fn table(all: &[Beside]) -> Table<&Beside> {
    let share = |one: &Beside| one.share.map(|share| format!("{:.1} %", share * 100.0));
    Table::of(all)
        .words("tool", |one| one.tool.as_str())
        .words("op", |one| name(one))
        .figure("told", |one| shown(one, &one.told))
        .figure("seen", |one| shown(one, one.seen.as_ref()?))
        .figure("seen/told", share)
}

/// Latencies are the tool's, and behind them those of the block layer, where it was asked.
fn latencies(record: &Record, rows: &[ResultRow]) -> Vec<String> {
    let all = stages(rows).into_iter().flat_map(|stage| told(record, stage));
    let is_alone = record.plan.hosts.len() == 1;
    let of_host = |host: u32| match record.plan.hosts.iter().find(|one| one.host == host) {
        Some(one) if !is_alone => format!("{}: ", one.hostname),
        _ => String::new(),
    };
    let line = |host: u32, figure: &ToldFigure| {
        let shown = |time: Option<Nanos>| time.map(|time| time.to_string());
        let of = [("mean", shown(figure.mean)), ("p99", shown(figure.p99))];
        let of: Vec<String> = of
            .into_iter()
            .filter_map(|(name, time)| time.map(|time| format!("{name} {time}")))
            .collect();
        let op = figure.op.map_or("all", |op| op.name());
        let said = || format!("{}{} {op}: latency {}", of_host(host), figure.name, of.join(", "));
        (!of.is_empty()).then(said)
    };
    let all = all.flat_map(|(host, told)| told.figures.iter().map(move |one| (host, one)));
    let told = all.filter_map(|(host, one)| line(host, one)).take(MOST_LINES);
    told.chain(at_devices(record, rows)).collect()
}

/// What the block layer saw, whoever sent it.
fn at_devices(record: &Record, rows: &[ResultRow]) -> Vec<String> {
    let line = |(op, latency): (&Op, &Histogram)| {
        let of = |name: &str, time: String| format!("{name} {time}");
        // At least one request lies beyond it.
        let is_seen = |share: f64| latency.count() as f64 * (1.0 - share) > 0.999;
        let quantiles = QUANTILES.iter().filter(|one| is_seen(one.share));
        let quantiles = quantiles.map(|one| of(one.name, words::quantile(latency, one.share)));
        let first = [of("mean", words::mean(latency))];
        let last = [of("max", words::latency(latency.max_ns()))];
        let of: Vec<String> = first.into_iter().chain(quantiles).chain(last).collect();
        let requests = words::counted(latency.count(), "request");
        format!("device {}: latency {} ({requests})", op.name(), of.join(", "))
    };
    let of_stage = |stage| match at_device(record, stage) {
        Some(AtDevice { unknown: Some(why), .. }) => {
            vec![format!("device: latencies are not known: {why}")]
        }
        Some(AtDevice { latencies, .. }) => latencies.iter().map(line).collect(),
        None => Vec::new(),
    };
    stages(rows).into_iter().flat_map(of_stage).take(MOST_LINES).collect()
}

fn stages(rows: &[ResultRow]) -> Vec<u32> {
    let mut stages: Vec<u32> = rows.iter().map(|row| row.stage).collect();
    stages.dedup();
    stages
}

/// So many latencies are told in words; all of them are in the JSON.
const MOST_LINES: usize = 8;

const BOTH: &str = "Told by the tool, and seen at the device";
const SEEN: &str = "Seen at the device";

/// Under the results; empty for loads of our own.
pub fn text(record: &Record, rows: &[ResultRow]) -> String {
    let (all, lines) = (beside(record, rows), latencies(record, rows));
    match all.is_empty() {
        true => words::titled(SEEN, lines),
        false => format!("\n{BOTH}\n{}\n{}", table(&all).text(), words::items(lines)),
    }
}

/// A section of the page.
pub fn section(record: &Record, rows: &[ResultRow]) -> Markup {
    let (all, lines) = (beside(record, rows), latencies(record, rows));
    match (all.is_empty(), lines.is_empty()) {
        (true, true) => Markup::new(),
        (true, false) => under(SEEN, [list(lines)]),
        _ => under(BOTH, [table(&all).html(), list(lines)]),
    }
}

/// For machines: each operation, told and seen.
pub fn objects(record: &Record, rows: &[ResultRow]) -> Vec<Value> {
    let flow = |flow: &Flow| object! { iops: flow.iops, bytes_per_s: flow.bytes_per_s };
    let one = |one: Beside| {
        object! {
            stage: one.stage, tool: one.tool, op: name(&one), told: flow(&one.told),
            seen: one.seen.as_ref().map(flow), share: one.share, differs: one.differs,
        }
    };
    beside(record, rows).into_iter().map(one).collect()
}

/// A figure as the tool gave it.
fn figure(one: &ToldFigure) -> Value {
    object! {
        name: one.name, op: one.op.map(Op::name), is_own: one.is_own, rate_milli: one.rate_milli,
        bytes_per_s: one.bytes_per_s, requests: one.requests, bytes: one.bytes,
        time: one.time, mean: one.mean, p99: one.p99,
    }
}

/// What the block layer of one host saw of it.
fn traced(traced: &Traced) -> Value {
    let one = |(op, latency): &(Op, EncodedHistogram)| {
        let latency = latency.decode().ok();
        object! {
            op: op.name(), requests: latency.as_ref().map(Histogram::count),
            latency_ns: latency.as_ref().map(quantiles),
            latency_max_ns: latency.as_ref().and_then(Histogram::max_ns),
        }
    };
    let is_known = traced.unknown.is_empty();
    object! {
        latencies: each(&traced.latencies, one), unknown: (!is_known).then_some(&traced.unknown),
    }
}

/// For machines: each command with its end and its own figures.
pub fn commands(record: &Record) -> Vec<Value> {
    let stages = record.stages.iter().map(|stage| stage.stage);
    let all = stages.flat_map(|stage| {
        told(record, stage).into_iter().map(move |(host, told)| (stage, host, told))
    });
    let one = |(stage, host, told): (u32, u32, &Told)| {
        let host = record.plan.hosts.iter().find(|one| one.host == host);
        object! {
            stage, host: host.map_or("", |host| host.hostname.as_str()), command: told.command,
            ended_by: told.by.word(), code: told.code, signal: told.signal, took_ns: told.took.0,
            printed_bytes: told.bytes.0, left: told.left, tool: told.tool,
            figures: told.figures.iter().map(figure).collect::<Vec<Value>>(),
            output: told.output, errors: told.errors, at_device: told.traced.as_ref().map(traced),
        }
    };
    all.map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, has};
    use model::{Fact, Note, StageKind};

    fn told(by: EndedBy) -> Told {
        let figure = ToldFigure {
            name: "job".to_owned(),
            op: Some(Op::Read),
            rate_milli: Some(1_000_000),
            mean: Some(Nanos(2_000_000)),
            ..ToldFigure::default()
        };
        let (mut latency, none) = (Histogram::new(), Traced::default());
        latency.record_many(1_000_000, 10);
        Told {
            command: vec!["fio".to_owned()],
            by,
            code: Some(3),
            took: Nanos::seconds(2),
            errors: "no".to_owned(),
            left: 2,
            tool: "fio-3.33".to_owned(),
            figures: vec![figure],
            traced: Some(Traced { latencies: vec![(Op::Write, latency.encode())], ..none }),
            ..Told::default()
        }
    }

    #[test]
    fn told_and_seen_stand_side_by_side() {
        let suite = "[[workload]]\nname = \"w\"\nkind = \"command\"\ncommand = [\"fio\"]\n";
        let mut recorded = Recorded::new(suite);
        let stage = recorded.stage(StageKind::Measure);
        (0..8).for_each(|at| recorded.interval(stage, at, &[(Op::Read, &[1_000; 100])]));
        let fact = Fact::Told(Box::new(told(EndedBy::Itself)));
        recorded.note(Note { stage: Some(stage), host: 0, fact });
        recorded.end();
        let record = recorded.record();
        let rows = analysis::results(&record);
        let said = text(&record, &rows);
        has(&said, &["fio-3.33", "1,000 IOPS", "100 IOPS", "10.0 %"]);
        has(&said, &["job read: latency mean 2 ms", "device write: latency mean 1 ms, p50 1 ms"]);
        has(&said, &["p90 1 ms, max 1 ms (10 requests)"]);
        has(&crate::topics::ran::text(&record), &["w: the command fio\n"]);
        let basis = analysis::verdict::Verdict::of(&record, &rows[0]);
        let steps: Vec<&str> = basis.steps.iter().map(|one| one.step.word()).collect();
        assert!(!basis.may_be_asked && !steps.contains(&"until-steady"), "{steps:?}");
        let object = &objects(&record, &rows)[0];
        assert_eq!((&object["told"]["iops"], &object["differs"]), (&1000.0.into(), &true.into()));
        let command = &commands(&record)[0];
        assert_eq!(command["ended_by"], "itself");
        assert_eq!(command["figures"][0]["op"], "read");
        assert_eq!(command["at_device"]["latencies"][0]["requests"], 10);
        // A part of the hosts does not stand for all.
        let why = "no room".to_owned();
        let unknown = Some(Traced { unknown: why, ..Traced::default() });
        let other = Told { traced: unknown, ..told(EndedBy::Itself) };
        recorded.note(Note { stage: Some(stage), host: 0, fact: Fact::Told(Box::new(other)) });
        let said = text(&recorded.record(), &rows);
        has(&said, &["device: latencies are not known: no room"]);
        assert!(!said.contains("device write"), "{said}");
        assert!(section(&record, &rows).into_string().contains("Told by the tool"));
    }

    #[test]
    fn each_end_is_a_sentence() {
        let ends = [
            (EndedBy::Itself, "ended by itself with code 3 after 2 s; 2 processes that it left"),
            (EndedBy::Asked, "was asked to end"),
            (EndedBy::Killed, "was killed after 2 s"),
            (EndedBy::NotStarted, "was not started: no"),
        ];
        for (by, words) in ends {
            let said = sentence(&told(by));
            assert!(said.contains(words), "{said}");
        }
    }
}
