//! The events of a run as lines of JSON, for scripts that act while it goes on. The layout is
//! documented in `docs/reference/json.md`.

use crate::ground::words;
use crate::pens::json::{Map, Value, each, object};
use model::event::{RunEnd, StageEnd};
use model::sample::OpSample;
use model::testbed::HostFacts;
use model::{CounterSample, Event, IntervalSample, Plan};

/// The first line: which run it is.
pub fn head(plan: &Plan, hosts: &[HostFacts], version: &str, started_unix_ns: u64) -> Value {
    let hosts: Vec<&str> = hosts.iter().map(|host| host.hostname.as_str()).collect();
    let stages: Vec<Value> =
        (0..plan.stages.len()).filter_map(|number| of_stage(plan, number)).collect();
    object! {
        event: "run", format: 1, plimsoll: version, started: words::utc(started_unix_ns),
        hosts, stages, ..plan { run_id, suite },
    }
}

fn of_stage(plan: &Plan, number: usize) -> Option<Value> {
    let stage = plan.stages.get(number)?;
    let point = stage.point.and_then(|point| plan.points.get(point as usize));
    let sweep: Map<String, Value> = words::axes(point.map_or(&[], |point| &point.sweep));
    let works: Vec<&str> = stage.works.iter().map(|work| work.workload.as_str()).collect();
    Some(object! {
        stage: number, kind: stage.kind.to_string(), workloads: works, sweep,
    })
}

/// The line of an event; `plan` has what it adds already.
pub fn line(event: &Event, plan: &Plan) -> Value {
    match event {
        Event::StageStarted { stage, unix_ns } => {
            object! { event: "stage_started", stage, unix_ns }
        }
        Event::PointAdded(addition) => {
            let first = plan.stages.len().saturating_sub(addition.stages.len());
            let stages: Vec<Value> =
                (first..plan.stages.len()).filter_map(|number| of_stage(plan, number)).collect();
            object! { event: "point_added", stages }
        }
        Event::Sample(sample) => of_sample(sample, plan),
        Event::HostStarted(start) => {
            object! { event: "host_started", ..start { stage, host, late_ns, error_ns } }
        }
        Event::HostEnded(end) => {
            let count = |histogram: &model::EncodedHistogram| {
                histogram.decode().map_or(0, |latency| latency.count())
            };
            let left = |left: &model::event::Left| {
                object! {
                    work: left.work, op: left.op.name(), late: count(&left.late),
                    never: count(&left.never),
                }
            };
            let pause = |pause: &model::event::Pause| {
                object! { ..pause { at_ns, length_ns } }
            };
            let flush = |flush: &model::event::Flush| {
                object! { ..flush { target, at_ns, took_ns, ended, errno } }
            };
            object! {
                event: "host_ended", left: each(&end.left, left), pauses: each(&end.pauses, pause),
                flushes: each(&end.flushes, flush), ..end { stage, host },
            }
        }
        Event::Waiting(waiting) => object! {
            event: "waiting", ..waiting { stage, host, at_ns, requests(), oldest_ns() },
        },
        Event::Counters(sample) => of_counters(sample),
        Event::StageEnded { stage, end } => {
            let (end, reason) = match end {
                StageEnd::Complete => ("complete", None),
                StageEnd::Interrupted => ("interrupted", None),
                StageEnd::Failed(why) => ("failed", Some(why)),
                StageEnd::Panicked(why) => ("panicked", Some(why)),
            };
            object! { event: "stage_ended", stage, end, reason }
        }
        Event::Note(note) => object! {
            event: "note", code: note.kind().word(),
            message: crate::topics::note::sentence(&note.fact), ..note { stage, host },
        },
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
            object! { event: "run_ended", unix_ns, end, reason }
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
        let errors: Map<String, Value> = op
            .errors
            .iter()
            .map(|(errno, count)| (words::errno(*errno), Value::from(*count)))
            .collect();
        object! {
            workload, op: op.op.name(), errors, latency_ns: latency(op),
            ..op { ios, bytes },
        }
    };
    let cpu = |time: fn(&model::sample::WorkerSample) -> u64| {
        sample.workers.iter().map(time).fold(0, u64::saturating_add)
    };
    object! {
        event: "sample", phase: sample.phase.name(), cpu_user_ns: cpu(|worker| worker.cpu_user_ns),
        cpu_system_ns: cpu(|worker| worker.cpu_system_ns), ops: each(&sample.ops, op),
        ..sample { stage, host, interval, start_ns, length_ns },
    }
}

/// `null` where nothing was completed.
fn latency(op: &OpSample) -> Value {
    let Some(histogram) = op.latency.decode().ok().filter(|histogram| histogram.count() > 0) else {
        return Value::Null;
    };
    let quantile = |share| histogram.quantile_ns(share);
    object! {
        mean: histogram.mean_ns(), p50: quantile(0.5), p99: quantile(0.99), p99_9: quantile(0.999),
        max: histogram.max_ns(),
    }
}

fn of_counters(sample: &CounterSample) -> Value {
    let entry = |entry: &model::counters::Entry| {
        let values: Map<String, Value> = entry
            .values
            .iter()
            .map(|(metric, value)| (metric.word().to_owned(), Value::from(*value)))
            .collect();
        object! { layer: entry.layer.word(), name: entry.name, values }
    };
    object! {
        event: "counters", entries: each(&sample.entries, entry),
        ..sample { stage, host, number, start_ns, length_ns, notes },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, W};
    use model::{Op, StageKind};

    #[test]
    fn a_sample_is_a_line_with_its_figures() {
        let mut recorded = Recorded::new(W);
        let stage = recorded.stage(StageKind::Measure);
        recorded.interval(stage, 0, &[(Op::Read, &[100; 100])]);
        recorded.fail(stage, 0, Op::Read, 5, 2);
        let record = recorded.record();
        let sample = record.stage(stage).expect("a stage").samples()[0].clone();
        let line = line(&Event::Sample(sample), &record.plan);
        assert!(line["event"] == "sample" && line["phase"] == "load" && line["stage"] == stage);
        let op = &line["ops"][0];
        assert!(op["workload"] == "w" && op["op"] == "read");
        assert!(op["ios"] == 100 && op["errors"]["EIO"] == 2);
        assert!(op["latency_ns"]["p99"] == 100 && op["latency_ns"]["max"] == 100);
        assert!(!line.to_string().contains('\n'), "one line is one event");
        let head = head(&record.plan, &record.testbed, &record.version, record.started_unix_ns);
        assert_eq!(head["stages"][stage as usize]["workloads"], Value::from(vec!["w"]));
    }

    #[test]
    fn an_end_says_how_and_why() {
        let plan = Recorded::new(W).record().plan;
        let ended = |end| line(&Event::RunEnded { unix_ns: 1, end }, &plan);
        assert_eq!(ended(RunEnd::Failed("x".to_owned()))["reason"], "x");
        let complete = ended(RunEnd::Complete);
        assert!(complete["end"] == "complete" && complete["reason"].is_null());
        let stray = Event::StageEnded { stage: 99, end: StageEnd::Interrupted };
        assert_eq!(line(&stray, &plan)["end"], "interrupted");
    }
}
