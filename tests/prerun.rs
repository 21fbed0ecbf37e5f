//! `stages.prerun`: what the coordinator does before each point, with real commands in a real
//! shell.

use crate::common::{Json, assert_says, end, plimsoll, scratch, shown, signal, start, wait_until};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Two points of one workload, each with a stage of its own before it is measured, over a layout
/// that is written first.
fn suite(folder: &Path, prerun: &str) {
    let suite = format!(
        "name = \"s\"\n[layout]\nsize = \"4MiB\"\nfiles = 1\n[stages]\nprecondition = \
         \"100ms\"\nmeasure = \"300ms\"\ninterval = \"100ms\"\nprerun = \
         '''{prerun}'''\n[sweep]\ndepth = [1, 2]\n[[workload]]\nname = \"w\"\nworkers = 1\n"
    );
    fs::write(folder.join("s.toml"), suite).expect("a suite");
}

/// What was done before points, in the order in which it was recorded.
fn preruns(shown: &Value) -> Vec<&Value> {
    let all = shown["events"].list().iter();
    all.filter(|event| event["kind"] == json!("prerun")).collect()
}

/// For each result, whether it is in doubt because of caches.
fn doubts(shown: &Value) -> Vec<bool> {
    let is_kept = |warning: &Value| warning["code"] == json!("caches-not-emptied");
    let in_doubt = |row: &Value| row["warnings"].list().iter().any(is_kept);
    shown["results"].list().iter().map(in_doubt).collect()
}

#[test]
fn a_command_runs_before_each_point_and_one_that_fails_is_a_doubt_about_its_point_alone() {
    let here = &scratch();
    // The second one fails, with words of its own.
    suite(
        here,
        "echo $PLIMSOLL_EVENT >> calls; if [ $(wc -l < calls) = 2 ]; then echo no server >&2; \
         exit 3; fi",
    );
    let plan = plimsoll(here, "plan s.toml -t data").with_code(0).out;
    assert!(
        plan.contains("before each of 2 points, the coordinator runs: echo $PLIMSOLL_EVENT"),
        "{plan}"
    );
    assert!(!here.join("calls").exists(), "a plan does nothing");

    let out = "--out run.plimsoll --quiet";
    plimsoll(here, ("run s.toml -t data", &out)).with_code(0);
    assert_eq!(fs::read_to_string(here.join("calls")).expect("calls"), "prerun\nprerun\n");
    let shown = shown(here);
    let done = preruns(&shown);
    assert_eq!(done.len(), 2, "{shown}");
    assert_eq!((&done[0]["status"], &done[1]["status"]), (&json!(0), &json!(3)));
    assert_eq!((&done[1]["detail"], &done[1]["stage"]), (&json!("no server"), &Value::Null));
    assert!(
        done[1]["label"]
            .as_str()
            .is_some_and(|label| label.starts_with("before point 2 (w): echo")),
        "{shown}"
    );
    assert!(done[1]["duration_ns"].as_u64() > Some(0));
    assert_eq!(doubts(&shown), [false, true], "{shown}");
    let table = plimsoll(here, "show run.plimsoll --explain").with_code(0).out;
    assert_says(&table, &["Caches were not emptied as asked", "exit status 3"]);
}

#[test]
fn no_command_reads_the_token_of_the_live_page() {
    let here = &scratch();
    suite(here, "echo ${PLIMSOLL_TOKEN-none} >> tokens");
    let mut command = crate::common::command(here, "run s.toml -t data --out run.plimsoll --quiet");
    let ended: crate::common::Ended =
        command.env("PLIMSOLL_TOKEN", "a-token-of-sixteen").output().expect("it starts").into();
    ended.with_code(0);
    assert_eq!(fs::read_to_string(here.join("tokens")).expect("calls"), "none\nnone\n");
}

#[test]
fn a_command_that_is_not_there_ends_no_run() {
    let here = &scratch();
    suite(here, "");
    let set = "stages.prerun=no-such-command-of-plimsoll";
    plimsoll(here, ("run s.toml -t data --set", [set], "--out run.plimsoll --quiet")).with_code(0);
    let shown = shown(here);
    assert_eq!(
        preruns(&shown).iter().map(|done| done["status"].clone()).collect::<Vec<_>>(),
        [json!(127), json!(127)]
    );
    assert_eq!(doubts(&shown), [true, true], "{shown}");
}

#[test]
fn ctrl_c_ends_a_command_with_its_children_and_what_is_resumed_runs_none() {
    let here = &scratch();
    suite(here, "sleep 60 & echo $! > child; wait");
    let child = start(here, "run s.toml -t data --out run.plimsoll --quiet");
    let started = || fs::read_to_string(here.join("child")).unwrap_or_default();
    wait_until("the command begins", || started().ends_with('\n'));
    let stat = format!("/proc/{}/stat", started().trim());
    assert!(Path::new(&stat).exists(), "it sleeps");
    signal(&child, "INT");
    end(child).with_code(130);
    // Whoever takes it over may not have asked for its end yet.
    wait_until("the child is gone", || {
        fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z"))
    });
    let shown = plimsoll(here, "show run.plimsoll --json").json();
    assert_eq!(preruns(&shown)[0]["detail"], json!("it was ended with the run"), "{shown}");

    fs::remove_file(here.join("child")).expect("a file");
    let line = "resume run.plimsoll --target data --out rest.plimsoll --quiet";
    let again = plimsoll(here, line).with_code(0);
    assert!(
        again.err.contains("stages.prerun: a run that is resumed runs no command"),
        "{again:?}"
    );
    assert!(!here.join("child").exists(), "no command of a run file is run");
    let shown = plimsoll(here, "show rest.plimsoll --json").with_code(0).json();
    assert_eq!(doubts(&shown), [true, true], "{shown}");
}
