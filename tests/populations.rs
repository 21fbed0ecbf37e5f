//! Populations of files where things go wrong: operations that fail, several hosts, and kills at
//! random instants. What the ledgers say must be what a walk of the directories finds.

use super::verify::population;
use crate::common::faulty_fs::{Behaviour, FaultyFs};
use crate::common::{Json, end, has, plimsoll, scratch, start, wait_until};
use model::rng::Rng;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How many files there are below a folder, and their bytes; markers left out.
fn walk(folder: &Path) -> (u64, u64) {
    let (mut files, mut bytes, mut open) = (0, 0, vec![folder.to_path_buf()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            let facts = entry.metadata().expect("facts");
            if facts.is_dir() {
                open.push(entry.path());
            } else if !entry.file_name().to_string_lossy().starts_with('.') {
                files += 1;
                bytes += facts.len();
            }
        }
    }
    (files, bytes)
}

fn figures(one: &Value) -> (u64, u64) {
    let field = |name: &str| one[name].as_u64().unwrap_or_else(|| panic!("{name} of {one}"));
    (field("files"), field("bytes"))
}

fn sum(json: &Value, field: &str) -> u64 {
    json["populations"].sum(field)
}

#[test]
fn after_failed_operations_the_ledger_is_what_the_file_system_has() {
    let true = has("a file system whose writes fail", "fuse mount") else { return };
    for errno in [libc::ENOSPC, libc::EIO] {
        let (folder, fs) = (scratch(), FaultyFs::new());
        let (here, data) = (&folder, fs.path().join("data"));
        fs::write(here.join("alive.toml"), population("400ms")).expect("a suite");
        // One name a file: this file system renames nothing.
        let mix = "workload.mail.operations=\"create:3, write:1, append:2, truncate:1, read:2, \
                   remove:3\"";
        let line = (
            "run alive.toml -t",
            [&data],
            "--keep-data --out run.plimsoll --json -q --set",
            [
                mix, // A busy machine sees late that it began.
                "--set",
            ],
            "measure=3s",
        );
        let child = start(here, line);
        wait_until("the measuring to begin", || {
            store::read_head(&here.join("run.plimsoll"))
                .is_ok_and(|record| record.stages.iter().any(|stage| stage.stage == 1))
        });
        fs.set(Behaviour { fail_every: 5, errno, short_every: 7, ..Behaviour::default() });
        // Failed requests are data, and the exit code says that there were some.
        let json = end(child).with_code(1).json();
        fs.set(Behaviour::default());
        let rows = json["results"].list();
        let failed: u64 = rows.iter().filter_map(|row| row["errors"].as_u64()).sum();
        assert!(failed > 0, "something failed: {json}");
        assert_eq!(figures(&json["population"]), walk(&data), "{errno}: {json}");
        assert_eq!(json["population"]["guessed"], 0);
        let verify = |code| plimsoll(here, "verify run.plimsoll --json").with_code(code).json();
        let sound = verify(0);
        assert_eq!((sum(&sound, "unsure"), sum(&sound, "good")), (0, walk(&data).0), "{sound}");
        assert!(sound["notes"].to_string().contains("sums of the ledger"), "{sound}");
        // One file that is lost afterwards is missed, although nobody knows which it is.
        let victim = first_file(&data);
        fs::remove_file(victim).expect("removes");
        assert!(sum(&verify(7), "missing") > 0);
    }
}

/// Any file of a population.
fn first_file(folder: &Path) -> PathBuf {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let visible = entries.map(|entry| entry.path()).filter(|path| {
        path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.'))
    });
    let path = visible.min().expect("something in it");
    if path.is_dir() { first_file(&path) } else { path }
}

#[test]
fn each_host_has_a_ledger_and_they_add_up() {
    let here = &scratch();
    fs::write(here.join("alive.toml"), population("400ms")).expect("a suite");
    let line = "run alive.toml --hosts local:2 -t data --keep-data";
    let json = plimsoll(here, (&line, "--out run.plimsoll --json -q"));
    let json = json.with_code(0).json();
    let hosts = json["population"]["hosts"].list();
    let each: Vec<(u64, u64)> = hosts.iter().map(figures).collect();
    let found = [0, 1].map(|host| walk(&here.join(format!("data-h{host:04}"))));
    assert_eq!(each, found, "{json}");
    let all = (found[0].0 + found[1].0, found[0].1 + found[1].1);
    assert_eq!(figures(&json["population"]), all);
    assert!(all.0.abs_diff(640) <= 6, "80 % of 400 names on each of two hosts: {all:?}");
    for host in hosts {
        let name = host["host"].text();
        let line = ["verify", "run.plimsoll", "--host", name, "--json"];
        let json = plimsoll(here, line).with_code(0).json();
        assert_eq!((sum(&json, "good"), sum(&json, "beyond")), (figures(host).0, 0), "{json}");
    }
    let told = plimsoll(here, "show run.plimsoll").with_code(0).out;
    assert!(told.contains("\nFiles  6") && told.contains("on 2 hosts"), "{told}");
    plimsoll(here, "clean data-h0000 data-h0001").with_code(0);
}

/// The stages of the run of three points: each is filled, then measured.
const STAGES: u64 = 6;

/// Kills a run of several points `delay` after its `stage` began, wherever it is then: filling,
/// measuring, between two stages, or removing its files. What `verify` says of it, if there is
/// anything to look at.
fn killed(folder: &Path, name: &str, stage: u64, delay: Duration) -> Option<Value> {
    let (run, data) = (format!("{name}.plimsoll"), format!("data-{name}"));
    let line = ["run", "alive.toml", "-t", &data, "--out", &run, "-q", "--set", "measure=100ms"];
    let mut child = start(folder, line);
    wait_until("the stage to begin", || {
        let began = store::read_head(&folder.join(&run))
            .is_ok_and(|record| record.stages.iter().any(|one| u64::from(one.stage) >= stage));
        // It may have gone on to its end meanwhile.
        began || child.try_wait().expect("a child").is_some()
    });
    std::thread::sleep(delay);
    let _ = child.kill();
    child.wait().expect("an end");
    let looked = plimsoll(folder, ["verify", &run, "--json"]);
    if folder.join(&data).exists() {
        plimsoll(folder, ["clean", &data]).with_code(0);
    }
    match looked.code {
        // Its files are gone, or were about to go: that is said, and nothing is called damaged.
        3 => None,
        _ => Some(looked.with_code(0).json()),
    }
}

#[test]
fn wherever_a_run_is_killed_its_files_are_not_taken_for_damaged() {
    let here = &scratch();
    let sweep = "[sweep]\nappend = [\"1KiB\", \"3KiB\", \"2KiB\"]\n";
    fs::write(here.join("alive.toml"), population("400ms") + sweep).expect("a suite");
    let mut rng = Rng::new(25);
    // `PLIMSOLL_KILLS` makes them more.
    let kills = std::env::var("PLIMSOLL_KILLS").ok().and_then(|text| text.parse().ok());
    let (kills, mut looked) = (kills.unwrap_or(6), 0);
    for kill in 0..kills {
        let delay = Duration::from_micros(rng.below(120_000));
        if let Some(json) = killed(here, &format!("k{kill}"), kill % STAGES, delay) {
            looked += 1;
            assert!(sum(&json, "unsure") == 0 && json["clean"] == true, "{kill}: {json}");
        }
    }
    println!("{looked} of {kills} left something to look at");
}
