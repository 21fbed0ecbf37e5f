//! Layouts of scenarios on several hosts, of which one is slow: nothing is taken from under a load,
//! and a scenario ends with its events.

use crate::common::{Json, end, names, plimsoll, run, scratch, start, wait_until};
use model::{OccurrenceKind, Record, StageKind};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Two scenarios, in each of which a host reads what the other one wrote. A command stops one of
/// the two agents as soon as the first is measured.
const ROTATED: &str = "\
name = \"rotated\"
[stages]
amount = \"all\"
stonewall = false
interval = \"100ms\"
[engine]
direct = false
backend = \"sync\"
[fleet]
lost_after = \"5m\"
[[workload]]
name = \"blocks\"
block_size = \"64KiB\"
access = \"sequential\"
read = \"100%\"
rotate = 1
rate = 32
depth = 1
workers = 1
[[scenario]]
name = \"one\"
layout = { kind = \"files\", files = 1, size = \"4MiB\" }
[[scenario]]
name = \"two\"
layout = { kind = \"files\", files = 1, size = \"2MiB\" }
[[event]]
name = \"stop\"
at = \"0s\"
scenarios = \"one\"
command = '''
agent=$(pgrep -P $PPID -f \"agent --allow\" | head -n 1)
kill -STOP \"$agent\" && echo \"$agent\" >stopping && mv stopping stopped
'''
";

/// What is recorded so far, of what can be read.
fn so_far(folder: &Path) -> Option<Record> {
    store::read(&folder.join("run.plimsoll")).ok()
}

/// The numbers of the stages that are measured.
fn measured(record: &Record) -> Vec<u32> {
    let stages = (0..).zip(&record.plan.stages);
    stages.filter(|(_, stage)| stage.kind == StageKind::Measure).map(|(number, _)| number).collect()
}

#[test]
fn what_a_host_made_stays_until_the_slowest_host_is_through_with_it() {
    let here = &scratch();
    fs::write(here.join("rotated.toml"), ROTATED).expect("a suite");
    let data = here.join("data");
    let arguments =
        ("run rotated.toml --hosts local:2 -t", [&data], "--out run.plimsoll --json --quiet");
    let child = start(here, arguments);
    wait_until("one agent to be stopped", || here.join("stopped").exists());
    // When a host says that its stage is over, it has done all that it does then.
    wait_until("the other agent to be through with its stage", || {
        let Some(record) = so_far(here) else { return false };
        let first = measured(&record).first().copied();
        first.and_then(|first| record.stage(first)).is_some_and(|stage| stage.starts.len() == 1)
    });
    let sizes: Vec<u64> = (0..2)
        .map(|host| {
            fs::metadata(here.join(format!("data-h000{host}/data-00000.bin")))
                .map_or(0, |file| file.len())
        })
        .collect();
    let agent = fs::read_to_string(here.join("stopped")).expect("its number");
    run("kill", ["-s", "CONT", agent.trim()]);
    let json = end(child).with_code(0).json();
    assert_eq!(sizes, [4 << 20; 2], "the stopped host still reads it");
    let results = json["results"].list();
    let counts = |field: &str| results.iter().map(|row| row[field].as_u64()).collect::<Vec<_>>();
    assert_eq!(
        (counts("ios"), counts("errors")),
        (vec![Some(128), Some(64)], vec![Some(0); 2]),
        "{json}"
    );
    assert!(names(here).iter().all(|name| !name.starts_with("data")), "{:?}", names(here));
}

const EVENTFUL: &str = "\
name = \"eventful\"
[layout]
files = 1
size = \"1MiB\"
[stages]
measure = \"300ms\"
interval = \"100ms\"
[[workload]]
name = \"w\"
workers = 1
[[scenario]]
name = \"moved\"
[[scenario]]
name = \"rests\"
engine = { direct = false }
[[event]]
name = \"move\"
at = \"0s\"
scenarios = \"moved\"
";

fn eventful(folder: &Path, set: &[&str]) -> (Value, Record) {
    fs::write(folder.join("eventful.toml"), EVENTFUL).expect("a suite");
    let set: Vec<&str> = set.iter().flat_map(|set| ["--set", set]).collect();
    let line = "run eventful.toml -t data --out run.plimsoll --json --quiet";
    let json = plimsoll(folder, (line, set)).with_code(0).json();
    (json, so_far(folder).expect("a run file"))
}

/// The doubts of the second scenario, by their words for machines.
fn doubts(json: &Value) -> Vec<&str> {
    let rows = json["results"].list().iter().filter(|row| row["scenario"] == "rests");
    rows.flat_map(|row| row["warnings"].list()).filter_map(|doubt| doubt["code"].as_str()).collect()
}

#[test]
fn a_scenario_is_over_when_the_command_of_its_event_is() {
    let folder = scratch();
    let (json, record) = eventful(&folder, &["event.move.command=sleep 2"]);
    let ended = record
        .occurrences
        .iter()
        .find(|one| one.kind == OccurrenceKind::CommandEnded)
        .expect("it ended");
    assert_eq!((ended.status, ended.stage), (Some(0), None), "between the stages");
    let next = measured(&record)[1];
    let began_unix_ns = record.stage(next).expect("it was measured").started_unix_ns;
    assert!(ended.unix_ns <= began_unix_ns, "{} ns before it ended", ended.unix_ns - began_unix_ns);
    assert!(!doubts(&json).contains(&"event-running"), "{json}");
}

#[test]
fn what_is_measured_while_a_command_of_another_scenario_still_runs_says_so() {
    let folder = scratch();
    let command = "event.move.command=until [ -e over ] || [ ! -e \"$PWD\" ]; do sleep 0.05; done";
    let (json, record) = eventful(&folder, &[command, "event.move.wait=0s"]);
    fs::write(folder.join("over"), "").expect("the command ends");
    assert!(doubts(&json).contains(&"event-running"), "{json}");
    let still = record.occurrences.iter().filter(|one| one.kind == OccurrenceKind::StillRunning);
    assert_eq!(
        still.map(|one| (one.label.as_str(), one.stage)).collect::<Vec<_>>().last(),
        Some(&("move", Some(measured(&record)[1])))
    );
}
