//! What stands still while the program measures: the target beyond the end of a stage, and the
//! program itself.

use crate::common::{
    Json, Mounted, Words, end, has, scratch, signal, start, text, wait_for_samples, wait_until,
};
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

const SHAPE: &str = "run --bs 4k --iodepth 8 --size 8M --set interval=100ms --json --quiet \
                     --out run.plimsoll --target";

/// The first result of a run on `target`, during whose load something happens.
fn disturbed(target: &Path, more: impl Words, happens: impl FnOnce(&std::process::Child)) -> Value {
    let folder = scratch();
    let child = start(&folder, (SHAPE, [text(target)], more));
    wait_for_samples(&folder, 1);
    happens(&child);
    end(child).with_code(0).json()["results"][0].clone()
}

/// For how long this doubt says that something stood still, in ns; `None` without the doubt.
fn longest(row: &Value, code: &str) -> Option<u64> {
    let mut warnings = row["warnings"].list().iter();
    let evidence = warnings.find(|warning| warning["code"] == code)?["evidence"].as_array()?;
    evidence.iter().find(|told| told["what"] == "longest_ns")?["value"].as_u64()
}

/// How long the whole load takes, and for how long it is held up: beyond its end.
const LOAD: &str = "3s";
const STALL: Duration = Duration::from_secs(4);

#[test]
fn a_stall_that_outlasts_the_stage_is_in_its_figures_and_its_doubts() {
    let true = has("a file system that is frozen", "losetup loop mkfs.ext4 mount") else { return };
    let disk = Mounted::new("mkfs.ext4", 64);
    let target = disk.path().join("data");
    let stalled = |more: &str| {
        let load = ["--rw", "randwrite", "--runtime", LOAD];
        disturbed(&target, (&load, more), |_| {
            disk.freeze();
            let begun = Instant::now();
            wait_until("the end of the load", || begun.elapsed() >= STALL);
            disk.thaw();
        })
    };
    let closed = stalled("");
    assert!(closed.codes().contains(&"stalled"), "{closed}");
    // A machine with other work may keep the program waiting, too; for less.
    assert!(longest(&closed, "generator-paused") < Some(STALL.as_nanos() as u64 / 2), "{closed}");
    assert_eq!(closed["left_over"]["late"], 8, "all that was outstanding: {closed}");
    let longest_ns = |row: &Value| row["left_over"]["max_ns"].count();
    assert!(u128::from(longest_ns(&closed)) >= STALL.as_nanos() - 50_000_000, "{closed}");
    assert_eq!(closed["latency_ns"]["max"].as_u64(), Some(longest_ns(&closed)), "{closed}");
    // Of 500 a second, hundreds were due while the file system was frozen; 8 of them were sent.
    let open = stalled("--set rate=500");
    let unsent = open["left_over"]["never"].count();
    let (done, due) = (open["ios"].count(), 1_500);
    assert!(unsent > 100 && (due - 3..=due + 3).contains(&(done + unsent + 8)), "{open}");
    let p99_ns = open["latency_ns"]["p99"].count();
    assert!(p99_ns >= 500_000_000, "{open}");
    assert_eq!(open["latency_ns"]["max"].as_u64(), Some(longest_ns(&open)), "{open}");
    assert!(open.codes().contains(&"rate-missed"), "{open}");
}

#[test]
fn a_program_that_was_stopped_says_that_it_stood_still_itself() {
    let folder = scratch();
    let load = "--rw randread --runtime 5s --set backend=null";
    let row = disturbed(&folder.join("data"), load, |child| {
        signal(child, "STOP");
        let begun = Instant::now();
        wait_until("a pause that is worth the name", || begun.elapsed() >= Duration::from_secs(1));
        signal(child, "CONT");
    });
    assert!(row.codes().contains(&"generator-paused"), "{row}");
    let paused_ns = longest(&row, "generator-paused");
    assert!(paused_ns > Some(850_000_000), "{row}");
    // A machine with other work may hold up a request for as long as a stall takes; what waited for
    // the pause waited for all of it.
    assert!(longest(&row, "stalled") < paused_ns.map(|ns| ns * 3 / 4), "{row}");
}

/// For how long the disk of a record does not answer; agents end their load after less.
const DEAF: Duration = Duration::from_secs(9);

#[test]
fn a_record_whose_disk_does_not_answer_for_a_while_costs_no_host() {
    let true = has("a record whose disk stalls", "losetup loop mkfs.ext4 mount") else { return };
    let (folder, disk) = (scratch(), Mounted::new("mkfs.ext4", 64));
    let out = disk.path().join("run.plimsoll");
    let run = "run --rw randread --bs 4k --size 8M --runtime 14s";
    let more = "--hosts local:2 --target data --set fleet.lost_after=4s";
    let told = ["--set", "rate=100", "--json", "--quiet", "--out", text(&out)];
    let child = start(&folder, (&run, &more, &told));
    wait_for_samples(disk.path(), 2);
    disk.freeze();
    let begun = Instant::now();
    wait_until("agents that would have given up", || begun.elapsed() >= DEAF);
    disk.thaw();
    let json = end(child).with_code(0).json();
    let hosts = json["results"][0]["hosts"].list();
    // 700 were due at each, 450 of them while nothing could be recorded.
    let is_whole = |host: &Value| host["ios"].as_u64() > Some(500);
    assert!(hosts.len() == 2 && hosts.iter().all(is_whole), "{json}");
}
