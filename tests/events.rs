//! What happens at instants of a run: marks from another process, a suite's events, the kernel log,
//! and what came after, in every view.

use crate::common::devtools::Browser;
use crate::common::http::{address_of, get, send};
#[allow(dead_code, reason = "every test file takes what it needs")]
use crate::common::{
    Json, assert_says, end, has, plimsoll, scratch, shown, signal, start, text, wait_for_samples,
    wait_until,
};
use model::OccurrenceKind;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;

/// A run over files of its own, of `measure`, with an event whose command fails.
fn suite(folder: &Path, measure: &str) {
    let suite = format!(
        "name = \"s\"\n[layout]\nsize = \"4MiB\"\nfiles = 1\n[stages]\nmeasure = \
         \"{measure}\"\ninterval = \"100ms\"\n[[workload]]\nname = \"w\"\nread = \"70%\"\nworkers \
         = 1\n[[event]]\nname = \"failover\"\nat = \"2s\"\n"
    );
    fs::write(folder.join("s.toml"), suite).expect("a suite");
}

/// A line as the kernel's own.
const LOGGED: &str = "plimsoll-test0: I/O error, dev none, sector 7";

/// Waits until the run has recorded this.
fn wait_for(folder: &Path, kind: OccurrenceKind, label: &str) {
    wait_until(label, || {
        let record = store::read_head(&folder.join("run.plimsoll"));
        record.is_ok_and(|record| {
            record.occurrences.iter().any(|one| one.kind == kind && one.label == label)
        })
    });
}

fn of_kind<'a>(events: &'a Value, kind: &str) -> Vec<&'a Value> {
    let all = events.list().iter();
    all.filter(|event| event["kind"] == json!(kind)).collect()
}

#[test]
fn a_mark_and_a_command_that_fails_are_recorded_and_the_run_goes_on() {
    let here = &scratch();
    // Longer than all that is waited for: it ends when we say so.
    suite(here, "2m");
    let set = "event.failover.command=echo $PLIMSOLL_EVENT begins; echo broken >&2; exit 3";
    let run = ["run", "s.toml", "--set", set, "-t", "data", "--quiet"];
    let arguments = (&run, "--out run.plimsoll --events lines");
    let child = start(here, arguments);
    wait_for_samples(here, 1);
    let told =
        plimsoll(here, ["mark", "run.plimsoll", "migration \u{1b}[31mstarted"]).with_code(0).out;
    let second = plimsoll(here, "mark --json run.plimsoll second").with_code(0).json();
    // Written as root, it stands in the log like the kernel's own lines.
    let logged = fs::OpenOptions::new().write(true).open("/dev/kmsg");
    let logged =
        logged.and_then(|mut log| log.write_all(format!("<3>{LOGGED}\n").as_bytes())).is_ok()
            && fs::File::open("/dev/kmsg").is_ok();
    wait_for(here, OccurrenceKind::CommandEnded, "failover");
    if logged {
        wait_for(here, OccurrenceKind::KernelLog, LOGGED);
    }
    signal(&child, "INT");
    end(child).with_code(130);

    let shown = shown(here);
    let events = &shown["events"];
    let marks = of_kind(events, "mark");
    assert_eq!(marks.len(), 2, "{events}");
    assert_eq!(marks[0]["label"], json!("migration  [31mstarted"));
    let stage = marks[0]["stage"].count();
    let at_ns = marks[0]["at_ns"].count();
    assert!(at_ns >= 200_000_000, "after the samples that were waited for: {at_ns}");
    let place = format!("{:.3} s into stage {} (w)", at_ns as f64 / 1e9, stage + 1);
    assert!(
        told.starts_with("marked \"migration  [31mstarted\" at ") && told.contains(&place),
        "{told} {place}"
    );
    let wanted = json!({ "recorded": true, "label": "second", "stage": marks[1]["stage"],
        "stage_name": "w",
        "at_ns": marks[1]["at_ns"], "unix_ns": marks[1]["unix_ns"] });
    assert_eq!(second, wanted, "what is told is what the run file has");
    let after = &marks[0]["aftermath"][0];
    assert_eq!(after["workload"], json!("w"));

    let planned = of_kind(events, "planned");
    assert_eq!((planned.len(), &planned[0]["stage"]), (1, &json!(stage)));
    let due_ns = planned[0]["at_ns"].count();
    assert!(due_ns >= 2_000_000_000, "not before it is due: {due_ns}");
    let ended = of_kind(events, "command-ended");
    assert_eq!((&ended[0]["status"], &ended[0]["label"]), (&json!(3), &json!("failover")));
    assert_eq!(ended[0]["detail"], json!("failover begins\nbroken"));
    assert!(ended[0]["duration_ns"].as_u64() > Some(0));

    if logged {
        let found = of_kind(events, "kernel-log");
        assert!(found.iter().any(|line| line["label"] == json!(LOGGED)), "{events}");
    } else {
        println!(
            "SKIPPED: a line of the kernel log, because /dev/kmsg cannot be written and read here"
        );
    }

    all_of_them_tell_it(here);
    let late = plimsoll(here, ["mark", "run.plimsoll", "too late"]).with_code(5);
    assert!(late.err.contains("the run is over"), "{late:?}");
    let none = plimsoll(here, "mark elsewhere.plimsoll x").with_code(5);
    assert!(none.err.contains("no such run file"), "{none:?}");
    assert!(!here.join("run.plimsoll.marks").exists(), "the socket is gone with the run");
}

/// The table, the lines of `--events` and the page.
fn all_of_them_tell_it(here: &Path) {
    let table = plimsoll(here, "show run.plimsoll").with_code(0).out;
    assert_says(&table, &["mark: migration  [31mstarted", "exit status 3 after"]);
    let lines = fs::read_to_string(here.join("lines")).expect("lines");
    assert!(
        lines
            .lines()
            .any(|line| line.contains("\"event\":\"happened\"")
                && line.contains("\"kind\":\"mark\""))
    );
    let page = fs::read_to_string(here.join("run.html")).expect("a page");
    assert!(
        page.contains("class=\"instant\"")
            && page.contains("What came after")
            && page.contains("broken")
    );
}

#[test]
fn a_plan_shows_its_events_and_a_bad_one_is_refused() {
    let here = &scratch();
    suite(here, "4s");
    let plan = |set: &str| plimsoll(here, ("plan s.toml -t data", set));
    let alone = plan("").with_code(0).out;
    assert_says(
        &alone,
        &["failover: 2 s into 1 measure stage; a mark alone", "--set event.failover.command"],
    );
    let with =
        plan("--set event.failover.command=true --set event.failover.at=50%").with_code(0).out;
    assert!(
        with.contains("failover: at 50%, 2 s into 1 measure stage; the coordinator runs: true"),
        "{with}"
    );
    let never = plan("--set event.failover.at=5s").with_code(0).out;
    assert!(never.contains("failover: never"), "{never}");
    let bad = plan("--set event.failovr.command=true").with_code(2);
    assert!(bad.err.contains("names no field of this suite"), "{bad:?}");
}

/// The simulated device answers no read from 20 s to 26 s after its start: known where the dip is,
/// how deep, and when it is over.
#[test]
fn a_stall_of_a_simulated_device_is_found_behind_the_event() {
    let here = &scratch();
    let suite = "name = \"stall\"\n[stages]\nprepare = false\nprecondition = \"0s\"\nmeasure = \
                 \"60s\"\ninterval = \"1s\"\n[[workload]]\nname = \"w\"\naccess = \
                 \"random\"\nblock_size = \"4KiB\"\nread = \"100%\"\nworkers = 4\ndepth = \
                 4\n[[event]]\nname = \"fault\"\nat = \"20s\"\ncommand = \"touch \
                 must-not-be-there\"\n";
    fs::write(here.join("stall.toml"), suite).expect("a suite");
    let target = "sim:exponential,mean=1ms,servers=4,stall=20s+6s";
    plimsoll(here, ["run", "stall.toml", "-t", target, "--out", "run.plimsoll", "--quiet"])
        .with_code(0);
    let shown = shown(here);
    let planned = of_kind(&shown["events"], "planned");
    assert_eq!((planned.len(), &planned[0]["at_ns"]), (1, &json!(20_000_000_000_u64)));
    assert!(!here.join("must-not-be-there").exists(), "simulated time runs no command");
    let found = &planned[0]["aftermath"][0]["total"];
    let value = |key: &str| found[key].as_f64().unwrap_or_else(|| panic!("{key} of {found}"));
    assert!(value("depth") > 0.99, "{found}");
    assert_eq!(
        (value("began_after_s"), value("recovered_after_s"), value("duration_s")),
        (0.0, 6.0, 6.0),
        "{found}"
    );
    let missing = value("missing_ios") / (6.0 * value("before_iops"));
    assert!((0.99..=1.01).contains(&missing), "{found}");
}

#[test]
fn the_live_page_takes_a_mark_and_shows_it() {
    let true = has("a mark in the browser", "chromium") else { return };
    let here = &scratch();
    suite(here, "2m");
    // First of all, because it takes longer than anything else.
    let mut browser = Browser::open(here);
    let arguments = "run s.toml -t data --out run.plimsoll --serve=127.0.0.1:0";
    let mut child = start(here, arguments);
    let address = address_of(&mut child);
    wait_for_samples(here, 1);
    let post = |headers: &str, body: &str| {
        let request = format!(
            "POST /mark HTTP/1.1\r\nHost: {address}\r\nConnection: \
             close\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        send(&address, &request).status
    };
    assert_eq!(post("Origin: http://evil.example\r\n", "label=x"), 403);
    assert_eq!(post("Sec-Fetch-Site: cross-site\r\n", "label=x"), 403);
    assert_eq!(post("", "label=+"), 400);
    assert_eq!(post("", &"x".repeat(9_000)), 413);
    assert_eq!(post("", "label=by+hand+%3Cb%3E"), 303);
    assert_eq!(get(&address, "/mark", &[]).status, 404, "a mark is set by POST alone");
    browser.go(&format!("http://{address}/"));
    browser.wait("document.querySelector('#happened').textContent.includes('mark: by hand <b>')");
    browser.wait("document.querySelectorAll('#charts line.instant').length > 0");
    browser.value(
        "(document.getElementById('mark-label').value = 'typed', \
         document.querySelector('form.mark button').click(), 1)",
    );
    browser.wait(
        "document.querySelector('#happened') && \
         document.querySelector('#happened').textContent.includes('mark: typed')",
    );
    wait_for(here, OccurrenceKind::Planned, "failover");
    signal(&child, "INT");
    end(child).with_code(130);
    browser.go(&format!("file://{}", text(&here.join("run.html"))));
    browser.wait("document.querySelectorAll('line.instant').length >= 4");
    browser
        .wait("document.querySelector('section.occurrences').textContent.includes('mark: typed')");
}
