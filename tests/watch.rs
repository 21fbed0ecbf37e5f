//! `plimsoll watch` and `run --watch`: in a real terminal, and where there is none.

mod common;
#[path = "common/terminal.rs"]
mod terminal;

use common::{command, end, has, plimsoll, run, scratch, start, wait_until};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;
use terminal::Pane;

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("one object a line")).collect()
}

/// Records a run of two seconds on a file.
fn record(here: &Path) {
    let load = ["--rw", "randread", "--bs", "4k", "--size", "16M", "--runtime", "2"];
    plimsoll(here, &[&["run", "--quiet", "--out", "r.plimsoll"][..], &load, &["data"]].concat()).with_code(0);
}

#[test]
fn without_a_terminal_there_is_a_line_for_each_host_and_interval() {
    let folder = scratch();
    let args = ["watch", "--hosts", "local:2", "--interval", "200ms", "--count", "3"];
    let told = plimsoll(folder.path(), &[&args[..], &["--json"]].concat()).with_code(0);
    let told = objects(&told.out);
    for host in ["local-1", "local-2"] {
        let of_host: Vec<&Value> = told.iter().filter(|object| object["host"] == host).collect();
        assert_eq!(of_host.len(), 3, "{told:?}");
        for object in of_host {
            assert!(object["interval_ns"].as_u64().is_some_and(|ns| ns >= 150_000_000), "{object}");
            assert!(object["cpu"].as_f64().is_some_and(|share| (0.0..=1.0).contains(&share)), "{object}");
        }
    }
    let lines = plimsoll(folder.path(), &args).with_code(0).out;
    assert_eq!(lines.lines().filter(|line| line.contains("local-2") && line.contains("IOPS")).count(), 3, "{lines}");
    plimsoll(folder.path(), &["watch", "--interval", "1ms"]).with_code(2);
    plimsoll(folder.path(), &["watch", "--speed", "0", "x.plimsoll"]).with_code(2);
    plimsoll(folder.path(), &["watch", "x.plimsoll"]).with_code(5);
}

#[test]
fn a_host_that_dies_is_lost_and_the_others_go_on() {
    let folder = scratch();
    let mut child = command(folder.path(), &["watch", "--hosts", "local:2", "--interval", "100ms", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a program");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut next =
        || -> Value { serde_json::from_str(&lines.next().expect("a line").expect("text")).expect("an object") };
    next();
    let id = child.id();
    let agents = run("cat", &[&format!("/proc/{id}/task/{id}/children")]);
    let mut agents = agents.split_whitespace().chain(std::iter::empty());
    run("kill", &["-KILL", agents.next().expect("an agent")]);
    let lost = (0..1_000).map(|_| next()).find(|object| object.get("lost").is_some()).expect("a loss");
    let after: Vec<Value> = (0..5).map(|_| next()).collect();
    assert!(after.iter().all(|object| object["host"] != lost["host"]), "{lost} {after:?}");
    // When the last one dies there is nothing left to watch.
    agents.for_each(|agent| drop(run("kill", &["-KILL", agent])));
    wait_until("the end", || child.try_wait().expect("a child").is_some());
    let mut words = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut words).expect("text");
    assert_eq!(child.wait().expect("an end").code(), Some(4), "{words}");
    assert!(words.contains("every host is lost"), "{words}");
}

#[test]
fn a_signal_ends_a_watch_and_so_does_a_reader_that_goes() {
    let folder = scratch();
    let child = start(folder.path(), &["watch", "--hosts", "local:1", "--interval", "100ms"]);
    let id = child.id();
    wait_until("an agent", || !run("cat", &[&format!("/proc/{id}/task/{id}/children")]).trim().is_empty());
    common::signal(&child, "TERM");
    let said = end(child).with_code(130).err;
    assert!(said.contains("stopped") && !said.contains("measured"), "there is no run: {said}");
    let mut child =
        command(folder.path(), &["watch", "--interval", "100ms"]).stdout(Stdio::piped()).spawn().expect("a program");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    out.read_line(&mut String::new()).expect("a line");
    drop(out);
    wait_until("the end", || child.try_wait().expect("a child").is_some());
    assert_eq!(child.wait().expect("an end").code(), Some(0));
}

#[test]
fn a_run_that_is_to_be_watched_without_a_terminal_says_so_and_goes_on() {
    let folder = scratch();
    let load = ["--rw", "randread", "--bs", "4k", "--size", "16M", "--runtime", "1"];
    let told = plimsoll(folder.path(), &[&["run", "--watch"][..], &load, &["data"]].concat()).with_code(0);
    let said = told.err.lines().filter(|line| line.contains("--watch") && line.contains("no terminal")).count();
    assert_eq!(said, 1, "{}", told.err);
}

#[test]
fn a_run_file_is_watched_again() {
    let folder = scratch();
    record(folder.path());
    let told = objects(&plimsoll(folder.path(), &["watch", "r.plimsoll", "--json"]).with_code(0).out);
    assert!(told.len() >= 2, "{told:?}");
    let times: Vec<u64> = told.iter().map(|object| object["unix_ns"].as_u64().expect("a time")).collect();
    assert!(times.is_sorted());
    // In the few milliseconds of a short stage the kernel may count no CPU time at all.
    let long: Vec<&Value> =
        told.iter().filter(|o| o["interval_ns"].as_u64().is_some_and(|ns| ns > 500_000_000)).collect();
    assert!(!long.is_empty(), "{told:?}");
    for object in long {
        assert!(object["cpu"].as_f64().is_some_and(|share| share > 0.0 && share <= 1.0), "{object}");
        assert!(object["read"]["iops"].is_number() && object["network"]["sent_bytes_per_s"].is_number(), "{object}");
    }
}

#[test]
fn hosts_are_watched_in_a_real_terminal() {
    if !has("watch in a terminal", &["tmux"]) {
        return;
    }
    let folder = scratch();
    let pane = Pane::start(folder.path(), 80, 24, &["watch", "--hosts", "local:3", "--interval", "200ms"]);
    let first = pane.wait_for("all hosts tell", |shown| shown.lines().filter(|line| line.contains('%')).count() == 4);
    assert!(first.contains("plimsoll watch · 3 nodes") && first.contains("1–3 of 3"), "{first}");
    pane.press(&["/", "2", "Enter"]);
    pane.wait_for("the filter", |shown| shown.contains("1–1 of 1") && shown.contains("local-2"));
    pane.press(&["Enter"]);
    pane.wait_for("devices", |shown| shown.contains("· local-2") && shown.contains("device"));
    pane.press(&["Tab", "Tab"]);
    pane.wait_for("cores", |shown| shown.contains("core") && shown.contains("stolen"));
    pane.press(&["Escape"]);
    pane.wait_for("nodes", |shown| shown.contains("3 nodes"));
    pane.press(&["Space"]);
    pane.wait_for("a pause", |shown| shown.contains("PAUSED"));
    pane.press(&["?"]);
    pane.wait_for("help", |shown| shown.contains("sort by the name"));
    pane.press(&["x"]);
    pane.resize(20, 24);
    pane.wait_for("a remark", |shown| shown.contains("needs") && shown.contains("40 columns"));
    pane.resize(200, 60);
    pane.wait_for("a table", |shown| shown.contains("1–3 of 3"));
    pane.press(&["q"]);
    pane.ends_with(0);
}

#[test]
fn the_terminal_is_given_back_on_signals_and_ctrl_c() {
    if !has("watch in a terminal", &["tmux"]) {
        return;
    }
    let folder = scratch();
    for (signal, code) in [("TERM", 130), ("HUP", 130), ("", 0)] {
        let pane = Pane::start(folder.path(), 80, 24, &["watch", "--interval", "200ms"]);
        pane.wait_for("a table", |shown| shown.contains("1–1 of 1"));
        match signal {
            "" => pane.press(&["C-c"]),
            name => drop(run("kill", &[&format!("-{name}"), &pane.program()])),
        }
        pane.ends_with(code);
    }
}

#[test]
fn a_run_is_watched_and_its_results_follow() {
    if !has("watch in a terminal", &["tmux"]) {
        return;
    }
    let folder = scratch();
    let load = ["--rw", "randread", "--bs", "4k", "--size", "16M"];
    let args = |runtime| [&["run", "--watch"][..], &load, &["--runtime", runtime, "data"]].concat();
    let pane = Pane::start(folder.path(), 100, 30, &args("3"));
    pane.wait_for("the run", |shown| shown.contains("p50") && shown.contains("p99") && shown.contains("1–1 of 1"));
    let end = pane.ends_with(0);
    assert!(end.contains("run file"), "{end}");
    drop(pane);
    // Ctrl-C stops the run and keeps what was measured.
    let pane = Pane::start(folder.path(), 100, 30, &args("600"));
    pane.wait_for("the run", |shown| shown.contains("p50"));
    pane.press(&["C-c"]);
    let end = pane.ends_with(130);
    assert!(end.contains("a part of the run"), "{end}");
    drop(pane);
    // The view is left, and the run goes on.
    let pane = Pane::start(folder.path(), 100, 30, &args("3"));
    pane.wait_for("the run", |shown| shown.contains("p50"));
    pane.press(&["q"]);
    let end = pane.ends_with(0);
    assert!(end.contains("run file"), "{end}");
}

#[test]
fn a_recorded_run_is_played_in_a_real_terminal() {
    if !has("watch in a terminal", &["tmux"]) {
        return;
    }
    let folder = scratch();
    record(folder.path());
    let pane = Pane::start(folder.path(), 90, 24, &["watch", "r.plimsoll", "--speed", "4"]);
    pane.wait_for("the end", |shown| shown.contains("PAUSED") && shown.contains("p50"));
    pane.press(&["Left"]);
    pane.wait_for("the beginning", |shown| shown.contains("0:00 /") && shown.contains("waiting for the first stage"));
    pane.press(&["-"]);
    pane.wait_for("half the speed", |shown| shown.contains("· 2×"));
    pane.press(&["Space"]);
    pane.wait_for("the end", |shown| shown.contains("PAUSED") && shown.contains("p50"));
    pane.press(&["Escape"]);
    pane.ends_with(0);
}
