//! One file for all workers, amounts, and the page cache: a whole run against what the kernel and
//! the file system say.

use crate::common::{Json, Loop, Mounted, Words, has, plimsoll, run_suite, scratch, text};
use serde_json::Value;
use std::path::Path;

/// Writes `suite` into `folder` and runs it; the results.
fn run(folder: &Path, suite: &str, extra: impl Words) -> Value {
    run_suite(folder, suite, extra).with_code(0).json()
}

const IN_TURN: &str = "\
name = \"in-turn\"
[layout]
kind = \"shared-file\"
size = \"24MiB\"
[stages]
prepare = false
amount = \"all\"
interval = \"10ms\"
[[workload]]
name = \"write\"
block_size = \"64KiB\"
access = \"sequential\"
read = \"0%\"
workers = 3
depth = 4
[[workload]]
name = \"read\"
block_size = \"64KiB\"
access = \"sequential\"
workers = 3
depth = 4
";

#[test]
fn every_block_of_a_shared_file_goes_to_the_kernel_once_however_it_is_shared_out() {
    let true = has("kernel truth of a shared file", "losetup loop") else { return };
    for sharing in ["sharing=\"segment\"", "sharing=\"interleaved\"", "segments=4"] {
        let device = Loop::new(32);
        let folder = scratch();
        let before = device.counters();
        let json =
            run(&folder, IN_TURN, ["--destroy-data", text(&device.device), "--set", sharing]);
        let seen = device.counters().since(before);
        let sectors = (24 << 20) / 512;
        assert_eq!((seen.read_sectors, seen.write_sectors), (sectors, sectors), "{sharing}");
        assert_eq!(
            (seen.reads, seen.writes),
            (384, 384 + 3),
            "{sharing}: in blocks of 64 KiB, and a flush of each worker"
        );
        // Flushes that wait for the same one become one.
        assert!((1..=3).contains(&seen.flushes), "{sharing}: {seen:?}");
        assert_eq!(
            json.issued("fsync", "ios"),
            3,
            "each worker flushes what it wrote, within its time"
        );
        for (workload, op) in [("write", "write"), ("read", "read")] {
            let row = json.row(workload, op);
            assert_eq!(row["bytes"].as_u64(), Some(24 << 20));
            assert_eq!(row["last_done"]["bytes"], row["bytes"]);
            assert!(row["first_done"]["seconds"].number() <= row["last_done"]["seconds"].number());
            assert!(
                row["first_done"]["bytes"].as_u64() >= Some(8 << 20),
                "the first worker's share, at least"
            );
            assert!(
                !row.codes().contains(&"not-prepared")
                    && !row.codes().contains(&"not-preconditioned"),
                "{row:#}"
            );
        }
    }
}

#[test]
fn a_stonewall_ends_all_with_the_first_and_both_figures_are_kept() {
    let folder = scratch();
    let stop =
        ["--set", "stonewall=true", "--set", "workload.write.workers=2", "--set", "direct=false"];
    let json = run(&folder, IN_TURN, (&stop, "--target data --set sharing=\"whole\""));
    let row = json.row("write", "write");
    let (first, last) = (&row["first_done"], &row["last_done"]);
    let bytes = first["bytes"].count();
    assert!((24 << 20..=48 << 20).contains(&bytes), "{row:#}");
    assert!(first["bytes"].number() <= last["bytes"].number());
    assert_eq!(row["bytes"], first["bytes"], "the figure is that at the wall");
    assert_eq!(row["seconds"], first["seconds"]);
    let table = plimsoll(&folder, "run suite.toml --quiet --target data").with_code(0).out;
    assert!(table.contains("\nwrite: the first worker was done after"), "{table}");
}

/// Two servers of 100 µs each, and two workers with one request outstanding: 120 and 280 blocks
/// take 12 and 28 ms.
#[test]
fn a_simulation_shows_both_ends_where_arithmetic_has_them() {
    let suite = |stonewall: bool| {
        let workload = |name: &str, range: &str| {
            format!(
                "[[workload]]\nname = \"{name}\"\ngroup = \"g\"\nworkers = 1\ndepth = 1\nrange = \
                 \"{range}\"\n"
            )
        };
        let (short, long) = (workload("short", "0%-30%"), workload("long", "30%-100%"));
        let stages = format!(
            "prepare = false\namount = \"all\"\ninterval = \"10ms\"\nstonewall = {stonewall}"
        );
        format!(
            "name = \"ends\"\n[layout]\nfiles = 1\nsize = \
             1638400\n[stages]\n{stages}\n{short}{long}"
        )
    };
    let figures = |json: &Value, workload: &str, end: &str| {
        let done = &json.row(workload, "read")[end];
        (done["seconds"].number(), done["ios"].count())
    };
    let folder = scratch();
    let target = "--target sim:md1,servers=2";
    let json = run(&folder, &suite(false), target);
    assert_eq!(
        (figures(&json, "short", "first_done"), figures(&json, "short", "last_done")),
        ((0.012, 120), (0.028, 120))
    );
    let (seconds, at_wall) = figures(&json, "long", "first_done");
    assert!(
        (119..=120).contains(&at_wall),
        "what comes back at that very instant may count or not: {at_wall}"
    );
    assert_eq!((seconds, figures(&json, "long", "last_done")), (0.012, (0.028, 280)));
    let json = run(&folder, &suite(true), target);
    let (first, last) = (figures(&json, "long", "first_done"), figures(&json, "long", "last_done"));
    assert_eq!(first.0, 0.012);
    assert!(
        (119..=120).contains(&first.1) && last.1 >= first.1 && last.1 <= 121,
        "{first:?} {last:?}"
    );
    assert_eq!(
        json.row("long", "read")["ios"].as_u64(),
        Some(first.1),
        "the figure is that at the wall"
    );
}

#[test]
fn transfers_that_suit_no_block_go_through_the_page_cache_and_are_refused_past_it() {
    let true = has("odd transfers to ext4", "losetup loop mkfs.ext4 mount") else { return };
    let disk = Mounted::new("mkfs.ext4", 64);
    let folder = scratch();
    let data = disk.path().join("data");
    std::fs::write(folder.join("suite.toml"), IN_TURN).expect("a suite");
    let odd = ["--set", "block_size=47008", "--target", text(&data), "--json", "--quiet"];
    let past = plimsoll(&folder, ("run suite.toml", &odd)).with_code(3);
    assert!(past.err.contains("47008 bytes") && past.err.contains("--buffered"), "{}", past.err);
    let json = plimsoll(&folder, ("run suite.toml --buffered", &odd)).with_code(0).json();
    let blocks = (24 << 20) / 47_008;
    for op in ["write", "read"] {
        assert_eq!(json.row(op, op)["ios"].as_u64(), Some(blocks), "every whole transfer once");
    }
}

/// The caches of this host, claimed from every other copy of these tests: what one of them reads
/// from memory, another would drop. A file that stays, because a name that came and went would be
/// claimed twice.
fn claimed_caches() -> std::fs::File {
    let claim = std::env::temp_dir().join("plimsoll-tests-caches");
    let file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&claim)
        .expect("a file that all may share");
    file.lock().expect("a lock");
    file
}

#[test]
fn what_the_page_cache_answers_is_said_and_eviction_leaves_it_nothing() {
    let true = has("the page cache over ext4", "losetup loop mkfs.ext4 mount") else { return };
    let _caches = claimed_caches();
    let disk = Mounted::new("mkfs.ext4", 64);
    let folder = scratch();
    let data = disk.path().join("data");
    let buffered = |set: &str| {
        let json = run(&folder, IN_TURN, ["--buffered", "--target", text(&data), "--set", set]);
        assert!(json.note("page-cache").is_some(), "what was done about the cache is said: {json}");
        json.row("read", "read").codes().contains(&"read-from-memory")
    };
    assert!(buffered("evict=false"), "the file was just written, and nobody evicted it");
    assert!(!buffered("evict=true"));
    assert!(!buffered("drop_caches=true"));
    let direct = run(&folder, IN_TURN, ["--target", text(&data)]);
    let codes: Vec<&Value> = direct["notes"].list().iter().map(|note| &note["code"]).collect();
    assert!(!codes.iter().any(|code| *code == "page-cache" || *code == "device-read"), "{codes:?}");
}

#[test]
fn the_suites_of_the_file_system_tools_run_on_a_small_machine() {
    let folder = scratch();
    for (suite, workloads) in [
        ("iozone-n-to-n", [("write", "write"), ("read", "read")]),
        ("ior-n-to-1", [("write", "write"), ("read", "read")]),
        ("iozone-random", [("random-write", "write"), ("random-read", "read")]),
    ] {
        let small = "--scale 1/65536 --set sweep.workers=[1,2] --json --quiet --target data";
        let files = if suite == "ior-n-to-1" { "" } else { "--set files=2" };
        let json = plimsoll(&folder, (["run", suite], &small, files)).with_code(0).json();
        assert_eq!(json["state"], "complete", "{suite}");
        for (workload, op) in workloads {
            let rows = json["results"].list();
            let rows: Vec<&Value> =
                rows.iter().filter(|row| row["workload"] == workload && row["op"] == op).collect();
            assert_eq!(rows.len(), 2, "{suite}: one and two workers");
            assert_eq!(
                rows[0]["bytes"], rows[1]["bytes"],
                "{suite}: the amount is the same for any number of workers"
            );
            assert!(
                rows.iter().all(|row| !row.codes().contains(&"not-prepared") && row["errors"] == 0),
                "{suite}: {rows:#?}"
            );
        }
    }
}
