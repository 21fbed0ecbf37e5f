//! The events of a run as lines of JSON, for scripts that act while it goes on. The layout is
//! documented in `docs/reference/json.md`.

use crate::ground::words;
use model::event::{RunEnd, StageEnd};
use model::sample::OpSample;
use model::testbed::HostFacts;
use model::{CounterSample, Event, IntervalSample, Plan};
use serde_json::{Map, Value, json};

/// The first line: which run it is.
pub fn head(plan: &Plan, hosts: &[HostFacts], version: &str, started_unix_ns: u64) -> Value {
    let hosts: Vec<&str> = hosts.iter().map(|host| host.hostname.as_str()).collect();
    let stages: Vec<Value> =
        (0..plan.stages.len()).filter_map(|number| of_stage(plan, number)).collect();
    json!({
        "event": "run", "format": 1, "plimsoll": version, "run_id": plan.run_id,
            "suite": plan.suite,
        "started": words::utc(started_unix_ns), "hosts": hosts, "stages": stages,
    })
}

fn of_stage(plan: &Plan, number: usize) -> Option<Value> {
    let stage = plan.stages.get(number)?;
    let point = stage.point.and_then(|point| plan.points.get(point as usize));
    let sweep: Map<String, Value> = words::axes(point.map_or(&[], |point| &point.sweep));
    let works: Vec<&str> = stage.works.iter().map(|work| work.workload.as_str()).collect();
    Some(json!({ "stage": number, "kind": stage.kind.to_string(), "workloads": works,
            "sweep": sweep }))
}

/// The line of an event; `plan` has what it adds already.
pub fn line(event: &Event, plan: &Plan) -> Value {
    match event {
        Event::StageStarted { stage, unix_ns } => {
            json!({ "event": "stage_started", "stage": stage, "unix_ns": unix_ns })
        }
        Event::PointAdded(addition) => {
            let first = plan.stages.len().saturating_sub(addition.stages.len());
            let stages: Vec<Value> =
                (first..plan.stages.len()).filter_map(|number| of_stage(plan, number)).collect();
            json!({ "event": "point_added", "stages": stages })
        }
        Event::Sample(sample) => of_sample(sample, plan),
        Event::HostStarted(start) => json!({
            "event": "host_started", "stage": start.stage, "host": start.host,
                "late_ns": start.late_ns, "error_ns": start.error_ns,
        }),
        Event::HostEnded(end) => {
            let count = |histogram: &model::EncodedHistogram| {
                histogram.decode().map_or(0, |latency| latency.count())
            };
            let left = |left: &model::event::Left| {
                json!({ "work": left.work, "op": left.op.name(),
                "late": count(&left.late), "never": count(&left.never) })
            };
            let pause = |pause: &model::event::Pause| {
                json!({ "at_ns": pause.at_ns,
                "length_ns": pause.length_ns })
            };
            let flush = |flush: &model::event::Flush| {
                json!({ "target": flush.target, "at_ns": flush.at_ns, "took_ns": flush.took_ns,
                "ended": flush.ended, "errno": flush.errno })
            };
            json!({
                "event": "host_ended", "stage": end.stage, "host": end.host,
                "left": end.left.iter().map(left).collect::<Vec<_>>(),
                "pauses": end.pauses.iter().map(pause).collect::<Vec<_>>(),
                "flushes": end.flushes.iter().map(flush).collect::<Vec<_>>(),
            })
        }
        Event::Waiting(waiting) => json!({
            "event": "waiting", "stage": waiting.stage, "host": waiting.host,
            "at_ns": waiting.at_ns, "requests": waiting.requests(),
            "oldest_ns": waiting.oldest_ns(),
        }),
        Event::Counters(sample) => of_counters(sample),
        Event::StageEnded { stage, end } => {
            let (end, reason) = match end {
                StageEnd::Complete => ("complete", None),
                StageEnd::Interrupted => ("interrupted", None),
                StageEnd::Failed(why) => ("failed", Some(why)),
                StageEnd::Panicked(why) => ("panicked", Some(why)),
            };
            json!({ "event": "stage_ended", "stage": stage, "end": end, "reason": reason })
        }
        Event::Note(note) => json!({
            "event": "note", "stage": note.stage, "host": note.host, "code": note.kind().word(),
                "message": crate::topics::note::sentence(&note.fact),
        }),
        Event::Happened(occurrence) => {
            let mut line = crate::topics::occurrences::object(occurrence);
            line["event"] = Value::from("happened");
            line
        }
        Event::RunEnded { unix_ns, end } => {
            let (end, reason) = match end {
                RunEnd::Complete => ("complete", None),
                RunEnd::Interrupted => ("interrupted", None),
                RunEnd::Failed(why) => ("failed", Some(why)),
                RunEnd::Panicked(why) => ("panicked", Some(why)),
            };
            json!({ "event": "run_ended", "unix_ns": unix_ns, "end": end, "reason": reason })
        }
    }
}

fn of_sample(sample: &IntervalSample, plan: &Plan) -> Value {
    let works = plan
        .stages
        .get(sample.stage as usize)
        .map(|stage| stage.works.as_slice())
        .unwrap_or_default();
    let op = |op: &OpSample| {
        let workload = works.get(op.work as usize).map_or("", |work| work.workload.as_str());
        let errors: Map<String, Value> =
            op.errors.iter().map(|(errno, count)| (words::errno(*errno), json!(count))).collect();
        json!({
            "workload": workload, "op": op.op.name(), "ios": op.ios, "bytes": op.bytes,
                "errors": errors,
            "latency_ns": latency(op),
        })
    };
    let cpu = |time: fn(&model::sample::WorkerSample) -> u64| {
        sample.workers.iter().map(time).fold(0, u64::saturating_add)
    };
    json!({
        "event": "sample", "stage": sample.stage, "host": sample.host, "interval": sample.interval,
            "phase": sample.phase.name(),
        "start_ns": sample.start_ns, "length_ns": sample.length_ns,
        "cpu_user_ns": cpu(|worker| worker.cpu_user_ns),
            "cpu_system_ns": cpu(|worker| worker.cpu_system_ns),
        "ops": sample.ops.iter().map(op).collect::<Vec<Value>>(),
    })
}

/// `null` where nothing was completed.
fn latency(op: &OpSample) -> Value {
    let Some(histogram) = op.latency.decode().ok().filter(|histogram| histogram.count() > 0) else {
        return Value::Null;
    };
    let quantile = |share| histogram.quantile_ns(share);
    json!({
        "mean": histogram.mean_ns(), "p50": quantile(0.5), "p99": quantile(0.99),
            "p99_9": quantile(0.999),
        "max": histogram.max_ns(),
    })
}

fn of_counters(sample: &CounterSample) -> Value {
    let entry = |entry: &model::counters::Entry| {
        let values: Map<String, Value> = entry
            .values
            .iter()
            .map(|(metric, value)| (metric.word().to_owned(), json!(value)))
            .collect();
        json!({ "layer": entry.layer.word(), "name": entry.name, "values": values })
    };
    json!({
        "event": "counters", "stage": sample.stage, "host": sample.host, "number": sample.number,
            "start_ns": sample.start_ns,
        "length_ns": sample.length_ns,
            "entries": sample.entries.iter().map(entry).collect::<Vec<Value>>(),
            "notes": sample.notes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::testing::Recorded;
    use model::{Op, StageKind};

    #[test]
    fn a_sample_is_a_line_with_its_figures() {
        let mut recorded = Recorded::new("[[workload]]\nname = \"w\"\n");
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[(Op::Read, &[100; 100])]);
        recorded.fail(stage, 0, Op::Read, 5, 2);
        let record = recorded.record();
        let sample = record.stage(stage).expect("a stage").samples()[0].clone();
        let line = line(&Event::Sample(sample), &record.plan);
        assert_eq!(
            (&line["event"], &line["phase"], &line["stage"]),
            (&json!("sample"), &json!("load"), &json!(stage))
        );
        let op = &line["ops"][0];
        assert_eq!(
            (&op["workload"], &op["op"], &op["ios"], &op["errors"]["EIO"]),
            (&json!("w"), &json!("read"), &json!(100), &json!(2))
        );
        assert_eq!(
            (&op["latency_ns"]["p99"], &op["latency_ns"]["max"]),
            (&json!(100), &json!(100))
        );
        assert!(!line.to_string().contains('\n'), "one line is one event");
        let head = head(&record.plan, &record.testbed, &record.version, record.started_unix_ns);
        assert_eq!(head["stages"][stage as usize]["workloads"], json!(["w"]));
    }

    #[test]
    fn an_end_says_how_and_why() {
        let plan = Recorded::new("[[workload]]\nname = \"w\"\n").record().plan;
        let ended = |end| line(&Event::RunEnded { unix_ns: 1, end }, &plan);
        assert_eq!(ended(RunEnd::Failed("x".to_owned()))["reason"], json!("x"));
        assert_eq!(
            (&ended(RunEnd::Complete)["end"], &ended(RunEnd::Complete)["reason"]),
            (&json!("complete"), &Value::Null)
        );
        let stray = Event::StageEnded { stage: 99, end: StageEnd::Interrupted };
        assert_eq!(line(&stray, &plan)["end"], json!("interrupted"));
    }
}
