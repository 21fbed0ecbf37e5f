//! Results for machines. `docs/reference/json.md` and `docs/reference/results.schema.json` list the
//! fields; a change of meaning is a new `format`.

use crate::ground::words;
use crate::pens::json::{Map, Value, each, object, quantiles};
use crate::topics::split::{self, By};
use crate::topics::{findings, grade, loadline};
use analysis::host_cpu::{HostCpu, host_cpu};
use analysis::verdict::Verdict;
use analysis::{
    Estimate, Interval, Issued, Offer, Progress, QUANTILES, ResultRow, RunState, SeriesPoint,
    series,
};
use catalogue::Cluster;
use model::{Note, Record};

/// The version of the layout of a run's results. In 1, `results` had parts alone, so that a reader
/// could add all of them up.
const RESULTS_FORMAT: u32 = 2;

/// Stretches of time that a rate which changes is told in.
const MOST_STRETCHES: usize = 240;

/// A run's results as one object, with what they reached of the ceilings of the testbed that they
/// ran on, where it is known.
pub fn results(record: &Record, testbed: Option<&Cluster>) -> Value {
    let (rows, reached) = crate::topics::results::judged::judged(record, testbed);
    let state = analysis::run_state(record);
    let verdict = Verdict::of_run(record, &rows);
    let cpus = host_cpu(record, &rows);
    let mut results = object! {
        format: RESULTS_FORMAT, plimsoll: record.version, run_id: record.plan.run_id,
        suite: record.plan.suite, started: words::utc(record.started_unix_ns),
        state: state_word(&state),
        reason: match &state { RunState::Failed(why) => Value::from(why.as_str()),
            _ => Value::Null },
        scale: record.plan.scale.to_string(), verdict: verdict.level.word(),
        verdict_basis: grade::object(&verdict),
        notes: each(record.notes.iter().filter(|note| !note.fact.is_bookkeeping()), note),
        events: crate::topics::occurrences::objects(record),
        issued: each(&analysis::issued(record), issued), flush_probes: flush_probes(record),
        results: each(rows.iter(), |row| result(record, row, &cpus)),
        load_line: analysis::loadline::load_line(record,
            &rows).map(|line| loadline::object(&line)),
        along: analysis::loadline::axis::along_line(record,
            &rows).map(|line| loadline::other_axis::object(&line)),
        ceilings: testbed
            .map(|cluster| crate::topics::ceiling::reached_json(&cluster.top.name.value, &reached)),
        limits: crate::topics::attribution::objects(record,
            &analysis::attribution::attribution(record, &rows)),
        fidelity: crate::topics::fidelity::object(record),
        population: crate::topics::population::object(record),
        left_behind: crate::topics::left_behind::objects(record),
        starts: crate::topics::starts::objects(record),
        imported: crate::topics::imported::object(record),
        findings: each(&analysis::findings(&rows), findings::object),
    };
    if let Some(map) = analysis::loadline::map::load_map(record, &rows) {
        results["map"] = loadline::map::object(&map);
    }
    let maps = analysis::loadline::map::plain_maps(record, &rows);
    if !maps.is_empty() {
        results["maps"] = loadline::grid::objects(&maps).into();
    }
    let beside = crate::topics::told::objects(record, &rows);
    let commands = crate::topics::told::commands(record);
    if !commands.is_empty() {
        results["beside"] = Value::from(beside);
        results["commands"] = Value::from(commands);
    }
    let others = crate::topics::others::objects(record, &rows);
    if !others.is_empty() {
        results["others"] = Value::from(others);
    }
    let event_io = crate::topics::event_io::objects(record);
    if !event_io.is_empty() {
        results["event_io"] = Value::from(event_io);
    }
    if let Some(found) = analysis::rounds::rounds(record, &rows) {
        results["rounds"] = crate::topics::rounds::object(&found);
    }
    results
}

fn state_word(state: &RunState) -> &'static str {
    match state {
        RunState::Complete => "complete",
        RunState::Interrupted => "interrupted",
        RunState::Failed(_) => "failed",
        RunState::Unfinished => "unfinished",
    }
}

fn note(note: &Note) -> Value {
    object! { code: note.kind().word(), message: crate::topics::note::sentence(&note.fact) }
}

fn flush_probes(record: &Record) -> Value {
    let analysis::FlushProbes { ios, errors } = analysis::flush_probes(record);
    object! { ios, errors }
}

fn issued(total: &Issued) -> Value {
    object! {
        stage: total.stage.word(), op: total.op.name(), ..total { ios, bytes, errors },
    }
}

fn result(record: &Record, row: &ResultRow, cpus: &[HostCpu]) -> Value {
    let verdict = Verdict::of(record, row);
    let warning = |doubt| {
        object! {
            code: analysis::Warning::code(doubt), sort: doubt.row().sort.word(),
            message: crate::topics::warning::sentence(doubt), evidence: grade::evidence(doubt),
        }
    };
    let mut object = object! {
        op: row.ops.name(), covers: row.covers.word(), sweep: words::axes(&row.sweep),
        repetition: row.repetition.unwrap_or(1), latency_ns: quantiles(&row.latency),
        left_over: object! {
            late: row.left.late.count(), never: row.left.never.count(),
            max_ns: row.left.all().max_ns(),
        },
        ci: ci(row), first_done: row.done.map(|done| progress(&done.first)),
        last_done: row.done.map(|done| progress(&done.last)),
        cpu: object! {
            user_s: row.cpu.user_ns as f64 / 1e9, system_s: row.cpu.system_ns as f64 / 1e9,
        },
        errors: row.error_count(), hosts: split::shares(record, row, By::Host),
        labels: split::shares(record, row, By::Label),
        localities: split::shares(record, row, By::Locality),
        means: crate::topics::io_path::json(record, row),
        durable: analysis::durable(record, row).map(|durable| grade::durable(&durable)),
        verdict: verdict.level.word(), verdict_basis: grade::object(&verdict),
        warnings: each(&row.warnings, warning),
        ..row { scenario, workload, ios, bytes, seconds, iops(), bytes_per_s() },
    };
    let layers = crate::topics::simulated_layers::objects(record, row);
    let sites = crate::topics::simulated_layers::site_objects(record, row);
    for (key, known) in [
        ("simulated_layers", layers.map(Value::from)),
        ("simulated_sites", sites.map(Value::from)),
        ("host_cpu", crate::topics::host_cpu::object(cpus, row)),
        ("asked", asked(record, row)),
    ] {
        if let Some(known) = known {
            object[key] = known;
        }
    }
    object
}

/// What a workload whose rate changes was asked for, and did, over the measured time.
fn asked(record: &Record, row: &ResultRow) -> Option<Value> {
    let offer = Offer::of_changing(row)?;
    let points = series(record, row, MOST_STRETCHES).points;
    let stretch = |point: &SeriesPoint| {
        object! {
            due: offer.due_in(point), done: offer.done_in(point), ..point { start_s, length_s },
        }
    };
    let mut asked = object! {
        unit: if offer.counts_bytes() { "bytes" } else { "requests" },
        curve: row.work()?.pace.curve()?.to_string(),
        due: points.iter().map(|point| offer.due_in(point)).sum::<f64>(),
        done: points.iter().map(|point| offer.done_in(point)).sum::<u64>(),
        over_time: each(points.iter(), stretch),
    };
    for field in ["bursts", "credits", "steps"] {
        asked[field] = crate::topics::bursts::object(record, row)?[field].take();
    }
    Some(asked)
}

fn ci(row: &ResultRow) -> Value {
    let ends = |interval: Option<Interval>| {
        Value::from(interval.map(|interval| vec![interval.low, interval.high]))
    };
    let of = |estimate: Option<Estimate>| ends(estimate.map(|estimate| estimate.interval()));
    let mut latency = Map::new();
    latency.insert("mean".to_owned(), of(row.confidence.mean_ns));
    for (quantile, interval) in QUANTILES.iter().zip(row.confidence.quantiles_ns) {
        latency.insert(quantile.key.to_owned(), ends(interval));
    }
    object! {
        level: analysis::CONFIDENCE, intervals: row.confidence.intervals,
        iops: of(row.confidence.iops), bytes_per_s: of(row.confidence.bytes_per_s),
        latency_ns: latency,
    }
}

fn progress(progress: &Progress) -> Value {
    object! { ..progress { seconds, ios, bytes, iops(), bytes_per_s() } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{W, lasting, measured, swept};
    use model::layer::Layer;
    use model::note::{CountedBy, Crossing, EventIo};
    use model::{Bytes, Fact, Nanos, Op};

    fn mixed() -> Value {
        let record = measured(
            "[[workload]]\nname = \"mix\"\nread = \"70%\"\n[sweep]\ndepth = [1, 8]\n",
            &[(Op::Read, &[100_000; 2_000])],
        );
        results(&record, None)
    }

    #[test]
    fn the_object_is_what_the_documents_say() {
        insta::assert_snapshot!(serde_json::to_string_pretty(&mixed()).expect("JSON"));
    }

    /// A small checker for the part of JSON Schema that our schema uses: type, required,
    /// properties, items, enum.
    fn check(value: &Value, schema: &Value, place: &str) {
        let types: Vec<&str> = match &schema["type"] {
            Value::String(one) => vec![one],
            Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
            _ => panic!("{place}: the schema names no type"),
        };
        let fits = types.iter().any(|name| match *name {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            other => panic!("{place}: unknown type {other}"),
        });
        assert!(fits, "{place}: {value} is not {types:?}");
        if let Some(words) = schema["enum"].as_array() {
            assert!(words.contains(value), "{place}: {value} is none of {words:?}");
        }
        if let (Some(object), Some(properties)) =
            (value.as_object(), schema["properties"].as_object())
        {
            for (key, part) in object {
                let known = properties
                    .get(key)
                    .unwrap_or_else(|| panic!("{place}.{key} is not in the schema"));
                check(part, known, &format!("{place}.{key}"));
            }
            for key in schema["required"].as_array().into_iter().flatten() {
                assert!(object.contains_key(key.as_str().expect("a name")), "{place} lacks {key}");
            }
        }
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            check(item, &schema["items"], &format!("{place}[{index}]"));
        }
    }

    fn schema() -> Value {
        let text = include_str!("../../../../docs/reference/results.schema.json");
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn what_a_sweep_shows_fits_the_schema() {
        let suite = format!("{W}[sweep]\ndepth = \"1..16 x2\"\nrepetitions = 2\n");
        let counts = [100, 100, 50, 50, 100, 100, 100, 100, 98, 98];
        let record = swept(&suite, counts.map(|count| vec![1_000; count]));
        let value = results(&record, None);
        check(&value, &schema(), "$");
        let finding = &value["findings"][0];
        assert!(finding["knee"]["value"] == "1" && finding["plateau"]["to"] == "16");
        assert!(finding["odd"][0]["value"] == "2" && finding["repetitions"] == 2);
        assert_eq!(value["results"][1]["repetition"], 2);
    }

    #[test]
    fn the_object_fits_its_schema() {
        let value = mixed();
        check(&value, &schema(), "$");
        assert_eq!(
            value["results"].as_array().map(Vec::len),
            Some(3),
            "the second point never began"
        );
        assert_eq!(value["results"][2]["op"], "all");
        assert!(value["results"][2]["ios"] == 2_000 && value["results"][2]["covers"] == "point");
        assert_eq!(value["results"][1]["latency_ns"]["p99"], Value::Null, "no write completed");
    }

    #[test]
    fn what_a_simulation_knows_fits_the_schema() {
        let reads = format!("{W}read = \"100%\"\n");
        let mut record = lasting(&reads, 4, &[(Op::Read, &[1_000; 40])]);
        let stage = analysis::results(&record)[0].stage;
        let none = results(&record, None);
        assert!(
            none.get("event_io").is_none() && none["results"][0].get("simulated_layers").is_none()
        );
        let io = EventIo {
            event: "migration".to_owned(),
            at: Nanos::seconds(1),
            length: Nanos::seconds(2),
            reads: Some(20),
            writes: Some(10),
            read: Bytes(20 << 16),
            written: Bytes(10 << 16),
            by: CountedBy::Simulation,
        };
        let layers = Fact::SimulatedLayers { busy_ppm: vec![(Layer::Ports, 250_000)] };
        let way = Crossing { op: Op::Read, planned_ppm: 0, bytes: Bytes(8), far: Bytes(4) };
        for fact in [Fact::EventIo(io), layers, Fact::SimulatedSites(vec![way])] {
            record.notes.push(Note { stage: Some(stage), host: 0, fact });
        }
        let value = results(&record, None);
        check(&value, &schema(), "$");
        assert_eq!(value["event_io"][0]["together_iops"], 55.0, "40 of hosts, 15 its own");
        assert_eq!(value["results"][0]["simulated_sites"][0]["share"], 0.5);
        let layers = &value["results"][0]["simulated_layers"];
        assert_eq!(layers[0], object! { layer: "ports", busy: 0.25 });
    }
}
