//! Counters of a host where no agent runs, from a file to the limits of a run.

use crate::common::{Json, assert_says, plimsoll, recorded, scratch, shown};
use model::Record;
use std::path::Path;

const SECOND: u64 = 1_000_000_000;

/// A file of perfmon over the time of a run, a row for each half second: a disk that is never idle,
/// and CPUs that are busy for 30 %.
fn perfmon(record: &Record, days_ago: u64) -> String {
    let (ended, _) = record.end.clone().expect("an end");
    let mut text = "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\WIN1\\Processor(_Total)\\% Processor Time\",\
                    \"\\\\WIN1\\PhysicalDisk(0 D:)\\% Idle Time\",\
                    \"\\\\WIN1\\PhysicalDisk(0 D:)\\Disk Write Bytes/sec\",\
                    \"\\\\WIN1\\PhysicalDisk(0 D:)\\Disk Read Bytes/sec\",\
                    \"\\\\WIN1\\Process(\u{1b}[2J)\\ID Process\"\r\n"
        .to_owned();
    let mut at = record.started_unix_ns - 2 * SECOND - days_ago * 86_400 * SECOND;
    while at < ended + 2 * SECOND {
        let time = clock(at);
        text.push_str(&format!("\"{time}\",\"30\",\"0\",\"1000000\",\"0\",\"7\"\r\n"));
        at += SECOND / 2;
    }
    text
}

/// `11/28/2026 22:25:36.123`.
fn clock(unix_ns: u64) -> String {
    let utc = report::ground::words::utc(unix_ns);
    let (year, month, day, time) = (&utc[..4], &utc[5..7], &utc[8..10], &utc[11..19]);
    format!("{month}/{day}/{year} {time}.{:03}", unix_ns / 1_000_000 % 1_000)
}

fn ran(folder: &Path) -> Record {
    let suite = crate::common::random_suite("attached").replace("700ms", "3s");
    std::fs::write(folder.join("suite.toml"), suite).expect("a suite");
    plimsoll(folder, "run suite.toml --quiet --out run.plimsoll").with_code(0);
    recorded(folder)
}

#[test]
fn a_disk_of_a_host_without_an_agent_is_a_limit_of_the_run() {
    let folder = scratch();
    let record = ran(&folder);
    let before = std::fs::read(folder.join("run.plimsoll")).expect("a run file");
    let own = shown(&folder);
    std::fs::write(folder.join("perf.csv"), perfmon(&record, 0)).expect("a file");
    let told = plimsoll(&folder, "attach run.plimsoll perf.csv --json").with_code(0).json();
    let host = &told["hosts"][0];
    assert_eq!((&host["host"], &host["form"]), (&"WIN1".into(), &"perfmon".into()));
    assert_eq!((&host["error_ns"], &host["left_out"]), (&250_000_000.into(), &1.into()));
    assert_eq!(std::fs::read(folder.join("run.plimsoll")).expect("a file"), before, "as it was");

    let shown = plimsoll(&folder, "show run-attached.plimsoll --json").with_code(0).json();
    assert_eq!(shown["results"], own["results"], "no figure is another one");
    let limits = shown["limits"][0]["at_limit"].list();
    let disk = limits.iter().find(|one| one["host"] == "WIN1" && one["layer"] == "disk");
    let disk = disk.unwrap_or_else(|| panic!("{limits:?}"));
    assert_eq!((&disk["name"], &disk["from_file"]), (&"0 D:".into(), &true.into()));
    let other = &shown["others"][0];
    assert_eq!((&other["host"], &other["disk"]), (&"WIN1".into(), &"0 D:".into()));
    let cpu = other["cpu"].as_f64().expect("CPUs");
    assert!((cpu - 0.3).abs() < 0.01, "{cpu}");

    let text = plimsoll(&folder, "show run-attached.plimsoll --explain").with_code(0).out;
    assert_says(&text, &["disk 0 D: of WIN1 (from a file)", "Hosts from files"]);
    assert_says(&text, &["WIN1, from a file", "± 250 ms", "perf.csv"]);
    plimsoll(&folder, "report run-attached.plimsoll --out page.html").with_code(0);
    let page = std::fs::read_to_string(folder.join("page.html")).expect("a page");
    assert_says(&page, &["Hosts from files", "disk 0 D: of WIN1 (from a file)"]);
    plimsoll(&folder, "export run-attached.plimsoll --table counters").with_code(0);
    let rows = std::fs::read_to_string(folder.join("run-attached.counters.csv")).expect("a table");
    assert_says(&rows, &["WIN1"]);
    let lines = plimsoll(&folder, "watch run-attached.plimsoll --json --count 2").with_code(0).out;
    assert_says(&lines, &["WIN1"]);
    let again = plimsoll(&folder, "attach run-attached.plimsoll perf.csv").with_code(2).err;
    assert_says(&again, &["is attached to run-attached.plimsoll already"]);
    let other = perfmon(&record, 0).replace("WIN1", "WIN2");
    std::fs::write(folder.join("other.csv"), other).expect("a file");
    let second = plimsoll(&folder, "attach run-attached.plimsoll other.csv --out two.plimsoll");
    assert_says(&second.with_code(0).out, &["WIN2, from a file", "two.plimsoll"]);
    let both = plimsoll(&folder, "show two.plimsoll --json").with_code(0).json();
    assert_eq!(both["others"].list().len(), 2);
}

#[test]
fn a_file_of_another_day_is_refused_with_both_times_and_moved_where_that_is_said() {
    let folder = scratch();
    let record = ran(&folder);
    std::fs::write(folder.join("perf.csv"), perfmon(&record, 1)).expect("a file");
    // Up to the end of the run, a day later.
    let text = std::fs::read_to_string(folder.join("perf.csv")).expect("a file");
    let head: Vec<&str> = text.lines().take(20).collect();
    std::fs::write(folder.join("perf.csv"), head.join("\r\n")).expect("a file");
    let refused = plimsoll(&folder, "attach run.plimsoll perf.csv").with_code(2).err;
    assert_says(&refused, &["its counters are of 20", "and the run was from 20", "--offset"]);
    assert!(!folder.join("run-attached.plimsoll").exists());
    let moved = plimsoll(&folder, "attach run.plimsoll perf.csv --offset +1d").with_code(0).out;
    assert_says(&moved, &["moved by +24h 00m"]);
    let other = plimsoll(&folder, "attach run.plimsoll suite.toml").with_code(2).err;
    assert_says(&other, &["no file of counters that is known"]);
}
