//! Texts that come from anybody (names in a run file, what a host writes to its standard error,
//! what it says that it is) steer no terminal and open no formula, wherever they are shown.

use crate::common::{Ended, Words, plimsoll, run, scratch, text};
use model::note::Fact;
use model::printable::acts;
use model::{Event, Note, Occurrence, OccurrenceKind, Record, resume};
use std::fs;
use std::path::Path;

/// An order to clear the screen, one to name the window, the bell, a C1 order, text from right to
/// left, and a second line.
const HOSTILE: &str = "=cmd\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}evil\nline";

/// Nothing in a text does anything but to be seen, or to end a line.
fn assert_harmless(what: &str, text: &str) {
    let found = text.chars().find(|c| acts(*c) && !matches!(c, '\n' | '\t'));
    assert_eq!(found, None, "{what}: {text:?}");
}

fn assert_shown(folder: &Path, args: impl Words) -> Ended {
    let ended = plimsoll(folder, &args);
    for told in [&ended.out, &ended.err] {
        assert_harmless(&format!("{:?}", args.words()), told);
    }
    ended
}

/// The run of a small suite, as somebody else could have written its file: every name and sentence
/// in it is hostile.
fn hostile_run(folder: &Path, seed: u32, name: &str) {
    let suite = format!(
        "name = \"plain\"\nseed = {seed}\n[stages]\nprepare = false\nmeasure = \
         \"30s\"\n[[workload]]\nname = \"w\"\nworkers = 1\n"
    );
    fs::write(folder.join("plain.toml"), suite).expect("a suite");
    let target = "sim:exponential,mean=1ms,capacity=64MiB";
    plimsoll(folder, ["run", "plain.toml", "-t", target, "--out", "plain.plimsoll", "--quiet"])
        .with_code(0);
    let mut record: Record = store::read(&folder.join("plain.plimsoll")).expect("a run file");
    fs::remove_file(folder.join("plain.plimsoll")).expect("ours");
    fs::remove_file(folder.join("plain.html")).expect("ours");
    let plan = &mut record.plan;
    plan.suite = format!("suite {HOSTILE}");
    plan.description = HOSTILE.to_owned();
    plan.stages
        .iter_mut()
        .flat_map(|stage| &mut stage.works)
        .for_each(|work| work.workload = HOSTILE.to_owned());
    for (host, facts) in plan.hosts.iter_mut().zip(&mut record.testbed) {
        host.hostname = format!("host {HOSTILE}");
        facts.hostname.clone_from(&host.hostname);
        facts.kernel = format!("Linux {HOSTILE}");
        facts.cpu_model = format!("CPU {HOSTILE}");
    }
    let stage = record.stages.last().map(|stage| stage.stage);
    record.notes.push(Note { stage, host: 0, fact: Fact::NoFallocate { path: HOSTILE.into() } });
    let mark = Occurrence {
        stage,
        at_ns: 10_000_000_000,
        ..Occurrence::new(OccurrenceKind::Mark, "mark")
    };
    record.occurrences.push(Occurrence {
        label: HOSTILE.to_owned(),
        detail: HOSTILE.to_owned(),
        ..mark
    });
    write(&folder.join(name), &record, &[]);
}

/// Writes a record as a run file, without these stages and, where there are any, without its end.
fn write(path: &Path, record: &Record, without: &[u32]) {
    let mut writer = store::Writer::create(
        path, &record.plan, &record.testbed, &record.version, record.started_unix_ns,
    )
    .expect("a run file");
    writer.append_all(&resume::kept(record, without)).expect("written");
    if let (Some((unix_ns, end)), true) = (record.end.clone(), without.is_empty()) {
        writer.append(&Event::RunEnded { unix_ns, end }).expect("written");
    }
    writer.finish().expect("written");
}

#[test]
fn a_run_file_chooses_no_other_machine() {
    let here = &scratch();
    let run_line = "run --rw randread --size 1M --runtime 1 data --out whole.plimsoll";
    plimsoll(here, (&run_line, "--quiet")).with_code(0);
    let mut record: Record = store::read(&here.join("whole.plimsoll")).expect("a run file");
    let last = record.stages.last().expect("measured").stage;
    let host = record.plan.hosts[0].hostname.clone();
    // Whoever is asked for another machine leaves a trace.
    let bin = here.join("bin");
    fs::create_dir(&bin).expect("a folder");
    for program in ["ssh", "kubectl", "salloc"] {
        fs::write(
            bin.join(program),
            format!("#!/bin/sh\ntouch {}\nexit 1\n", text(&here.join("asked"))),
        )
        .expect("room");
        run("chmod", ["755", text(&bin.join(program))]);
    }
    let path = format!("{}:{}", text(&bin), std::env::var("PATH").unwrap_or_default());
    for (number, (option, again)) in [
        ("--hosts=evil.example", "plimsoll resume 0.plimsoll --hosts=evil.example".to_owned()),
        ("--kubernetes=app=x", "plimsoll resume 1.plimsoll --kubernetes=app=x".to_owned()),
        (
            "--slurm=-N1 -w n9 -p x",
            format!("plimsoll resume 2.plimsoll '--slurm=-N1 -p x -w {host}'"),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        record.plan.hosts_from = vec![option.to_owned()];
        let name = format!("{number}.plimsoll");
        write(&here.join(&name), &record, &[last]);
        let mut command = crate::common::command(here, ["resume", &name]);
        let ended: Ended = command.env("PATH", &path).output().expect("it starts").into();
        let ended = ended.with_code(2);
        assert!(ended.err.contains(&again), "{option}: {ended:#?}");
        assert!(!here.join("asked").exists(), "{option}");
    }
}

#[test]
fn a_run_file_steers_nothing_that_shows_it() {
    let here = &scratch();
    hostile_run(here, 1, "a.plimsoll");
    hostile_run(here, 2, "b.plimsoll");
    let shown = assert_shown(here, "show a.plimsoll").with_code(0);
    let rows =
        shown.out.lines().filter(|line| line.contains("evil") && line.contains("read")).count();
    assert!(
        rows >= 1 && !shown.out.lines().any(|line| line.starts_with("line")),
        "names stay in their row: {shown:#?}"
    );
    assert_shown(here, "show a.plimsoll --by host").with_code(0);
    let json = assert_shown(here, "show a.plimsoll --json").with_code(0).json();
    assert_eq!(json["results"][0]["workload"], HOSTILE, "JSON keeps what it says");
    assert_shown(here, "compare a.plimsoll b.plimsoll");
    assert_shown(here, "compare a.plimsoll b.plimsoll --json");
    assert_shown(here, "trend a.plimsoll b.plimsoll");
    assert_shown(here, "resume a.plimsoll");
    assert_shown(here, "watch a.plimsoll --json");
    assert_shown(here, "watch a.plimsoll");
    for table in ["results", "quantiles", "series", "counters", "events"] {
        let csv =
            assert_shown(here, ["export", "a.plimsoll", "--table", table, "-o", "-"]).with_code(0);
        assert!(!csv.out.contains(",=cmd") && !csv.out.contains(",\"=cmd"), "{csv:#?}");
    }
    assert_shown(here, "export a.plimsoll --format json -o -").with_code(0);
    assert_shown(here, "report a.plimsoll b.plimsoll --out page.html").with_code(0);
    assert_shown(here, "report a.plimsoll --out page.md").with_code(0);
    for file in ["page.html", "page.md"] {
        assert_harmless(file, &fs::read_to_string(here.join(file)).expect("written"));
    }
}

#[test]
fn a_host_steers_no_terminal_with_what_it_writes_or_says_that_it_is() {
    let here = &scratch();
    for (name, script) in [
        ("refuses", "printf 'no\\033[2J\\007\\302\\233x \\342\\200\\256route\\n' >&2; exit 255"),
        ("lies", "printf 'plimsoll-missing Li\\033[2Jnux \\342\\200\\256x\\n'; exit 0"),
        ("hides", "printf 'plimsoll-refused folder /x\\033]0;y\\007\\n'; exit 0"),
    ] {
        let launcher = here.join(name);
        fs::write(&launcher, format!("#!/bin/sh\n{script}\n")).expect("a script");
        run("chmod", ["755", text(&launcher)]);
        let launcher = format!("{} {{host}}", text(&launcher));
        let line = ["run", "smoke", "--hosts", "n1", "--launcher", &launcher, "-t", "/nowhere"];
        let ended = assert_shown(here, line).with_code(3);
        assert!(ended.err.contains("host n1"), "{name}: {ended:#?}");
    }
}
