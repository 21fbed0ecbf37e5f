//! `plimsoll lab`: a replicated cluster that this machine plays, made, loaded, broken, healed and
//! removed.

use crate::common::{Json, command, has, scratch, wait_until};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// Exit code, standard output and standard error of the program with records of its own.
fn on(state: &Path, args: &str) -> (i32, String, String) {
    let mut program = command(state, args);
    let ended = program.env("XDG_STATE_HOME", state).output().expect("a program");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (ended.status.code().unwrap_or(-1), text(ended.stdout), text(ended.stderr))
}

fn good(state: &Path, args: &str) -> String {
    let (code, out, said) = on(state, args);
    assert_eq!(code, 0, "{args}: {out}{said}");
    out
}

/// The processes of a lab: they and what they hold are all of it, beside its folder.
fn processes(state: &Path) -> usize {
    let wanted = format!("PLIMSOLL_VMS_FOLDER={}/plimsoll/lab", state.display());
    let entries = fs::read_dir("/proc").expect("processes").flatten();
    let environs = entries.filter_map(|entry| fs::read(entry.path().join("environ")).ok());
    let is_of =
        |environ: &Vec<u8>| environ.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes());
    environs.filter(is_of).count()
}

fn doubts(run: &str) -> Vec<String> {
    let run: Value = serde_json::from_str(run).expect("an object");
    let rows = run["results"].list().iter();
    let codes = rows.flat_map(|row| row["warnings"].list()).map(|doubt| doubt["code"].text());
    codes.map(str::to_owned).collect()
}

/// A run before or after whose stage the storage answered. On a busy machine its command may take
/// longer than the second that a stage waits for it, and the run says so.
fn answered(state: &Path, load: &str) -> String {
    let mut runs = (0..6).map(|_| good(state, load));
    let answered = runs.find(|run| {
        let is_silent = run.contains(": not known");
        assert!(is_silent || run.contains("bricks connected"), "neither is said: {run}");
        run.contains("bricks connected")
    });
    answered.expect("the storage answers within a second")
}

#[test]
fn a_lab_carries_a_run_breaks_heals_and_leaves_nothing() {
    let true = has("a lab of GlusterFS", "glusterd mount.glusterfs ip fuse") else { return };
    let state = scratch();
    good(&state, "lab up --nodes 3");
    let (code, _, said) = on(&state, "lab up");
    assert!(code != 0 && said.contains("lab is there already"), "{said}");
    let load = "run --rw randrw --bs 4k --size 4MiB --runtime 2s --hosts lab --json";
    let whole = good(&state, load);
    let codes = doubts(&whole);
    assert!(codes.iter().any(|code| code == "one-machine"), "{codes:?}");
    assert!(!codes.iter().any(|code| code.starts_with("cluster-")), "{codes:?}");
    good(&state, "lab break n2");
    let codes = doubts(&answered(&state, load));
    assert!(codes.iter().any(|code| code == "cluster-degraded"), "{codes:?}");
    assert!(!codes.iter().any(|code| code == "errors"), "{codes:?}");
    let (code, ..) = on(&state, "lab break n2");
    assert_ne!(code, 0, "it is broken already");
    good(&state, "lab heal");
    let shown: Value = serde_json::from_str(&good(&state, "lab status --json")).expect("an object");
    assert_eq!(shown["to_heal"].number(), 0.0, "{shown:#}");
    for node in shown["nodes"].list() {
        let is_whole = node["bricks"] == node["bricks_planned"] && node["mounted"] == true;
        assert!(is_whole, "{shown:#}");
    }
    good(&state, "lab down");
    assert!(!state.join("plimsoll/lab").exists());
    assert_eq!(processes(&state), 0);
}

#[test]
fn a_lab_whose_maker_is_killed_is_removed_whole() {
    let true = has("a lab of GlusterFS", "glusterd mount.glusterfs ip fuse") else { return };
    let state = scratch();
    let mut making = command(&state, "lab up --nodes 2 --sites 1");
    making.env("XDG_STATE_HOME", &*state).stdout(Stdio::null()).stderr(Stdio::null());
    let mut making = making.spawn().expect("started");
    wait_until("a node", || processes(&state) > 2);
    let (code, _, said) = on(&state, "lab down");
    assert!(code != 0 && said.contains("another plimsoll"), "{said}");
    making.kill().and_then(|()| making.wait()).expect("ours");
    let (_, _, said) = on(&state, "run quick --hosts lab");
    assert!(said.contains("plimsoll lab down"), "{said}");
    good(&state, "lab down");
    assert_eq!((processes(&state), state.join("plimsoll/lab").exists()), (0, false));
}
