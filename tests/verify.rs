//! What a crash leaves behind, and what `plimsoll verify` says of it: a killed run over real files,
//! damage done by hand, a target that loses what it has acknowledged.

use crate::common::faulty_fs::{Behaviour, FaultyFs};
use crate::common::{
    Json, Words, end, has, kill, plimsoll, scratch, shown, signal, start, text, wait_until,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const SUITE: &str = r#"
name = "crash"
[layout]
files = 2
size = "2MiB"
[stages]
measure = "60s"
interval = "50ms"
[contents]
verify = true
[[workload]]
name = "writes"
workers = 2
depth = 8
block_size = "4KiB"
access = "random"
read = "20%"
"#;
const BLOCK: usize = 4096;

/// Starts a run of the suite and waits until some of its writes are on record.
fn begin(folder: &Path, target: &str, extra: impl Words) -> std::process::Child {
    fs::write(folder.join("crash.toml"), SUITE).expect("writes");
    let args =
        (["run", "crash.toml", "--target", target, "--out", "run.plimsoll", "--quiet"], extra);
    let child = start(folder, &args);
    wait_for_writes(folder, 40);
    child
}

/// Waits until so many more writes of the measuring are on record as acknowledged than there are
/// now. A busy disk can take its time.
fn wait_for_writes(folder: &Path, more: u32) {
    let acknowledged = || -> Option<u32> {
        let record = store::read(&folder.join("run.plimsoll")).ok()?;
        let measured = record.stages.iter().find(|stage| stage.stage == 1)?;
        let workers = measured.samples().iter().flat_map(|sample| &sample.workers);
        let marks = workers.filter_map(|worker| Some((worker.worker, worker.mark.as_ref()?)));
        let last: BTreeMap<u32, u32> =
            marks.map(|(worker, mark)| (worker, mark.completed - mark.base)).collect();
        Some(last.values().sum())
    };
    let before = acknowledged().unwrap_or_default();
    wait_until("acknowledged writes on record", || {
        acknowledged().is_some_and(|now| now >= before + more)
    });
}

/// Waits until so many more intervals of the measuring are on record than there are now. What is on
/// record lags behind what is on disk, on a busy machine by some intervals: 20 of them, a second,
/// is more than it lags.
fn wait_for_intervals(folder: &Path, more: usize) {
    let recorded = || -> Option<usize> {
        let record = store::read(&folder.join("run.plimsoll")).ok()?;
        let measured = record.stages.iter().find(|stage| stage.stage == 1)?;
        Some(measured.samples().len())
    };
    let before = recorded().unwrap_or_default();
    wait_until("intervals on record", || recorded().is_some_and(|now| now >= before + more));
}

fn verify(folder: &Path, extra: impl Words, code: i32) -> Value {
    plimsoll(folder, ("verify run.plimsoll --json", extra)).with_code(code).json()
}

fn sum(json: &Value, field: &str) -> u64 {
    json["files"].sum(field)
}

/// Kind, file and offset of everything that is told.
fn told(json: &Value) -> Vec<(String, String, u64)> {
    let findings = json["findings"].list().iter();
    let word = |value: &Value| value.text().to_owned();
    let name = |value: &Value| word(value).rsplit('/').next().expect("a name").to_owned();
    findings.map(|f| (word(&f["kind"]), name(&f["path"]), f["offset"].count())).collect()
}

#[test]
fn after_kill_9_every_acknowledged_write_is_there() {
    for backend in ["io_uring", "libaio", "sync"] {
        let here = &scratch();
        kill(begin(here, "data", ["--set", &format!("backend={backend}")]));
        let json = verify(here, "", 0);
        assert_eq!((sum(&json, "blocks"), sum(&json, "good")), (1024, 1024), "{backend}: {json}");
        assert!(json["acknowledged_writes"].count() > 40, "{json}");
        assert!(json["notes"].to_string().contains("the run was killed"), "{json}");
        let words = plimsoll(here, "verify run.plimsoll").with_code(0).out;
        assert!(words.contains("Nothing is missing or damaged."), "{words}");
        // On another host, the data are elsewhere.
        fs::rename(here.join("data"), here.join("moved")).expect("moves");
        let gone = plimsoll(here, "verify run.plimsoll").with_code(3).err;
        assert!(gone.contains("--target"), "{gone}");
        assert_eq!(sum(&verify(here, "--target moved", 0), "good"), 1024);
        plimsoll(here, "clean moved").with_code(0);
    }
}

#[test]
fn damage_done_by_hand_is_named_with_its_kind_and_place() {
    let here = &scratch();
    let child = begin(here, "data", "");
    let path = here.join("data/data-00000.bin");
    signal(&child, "STOP");
    let old = fs::read(&path).expect("reads");
    signal(&child, "CONT");
    wait_for_intervals(here, 20);
    kill(child);
    verify(here, "", 0);
    let new = fs::read(&path).expect("reads");
    let block = |bytes: &[u8], number: usize| bytes[number * BLOCK..(number + 1) * BLOCK].to_vec();
    let file = fs::OpenOptions::new().write(true).open(&path).expect("opens");
    let put = |bytes: &[u8], number: usize| {
        file.write_all_at(bytes, (number * BLOCK) as u64).expect("writes");
        file.sync_all().expect("syncs");
    };

    file.write_all_at(&[new[20 * BLOCK + 600] ^ 1], (20 * BLOCK + 600) as u64).expect("writes");
    put(&block(&new, 31), 30);
    put(&block(&new, 30), 31);
    put(&[0; BLOCK], 40);
    let json = verify(here, "", 7);
    let at =
        |kind: &str, offset: usize| (kind.to_owned(), "data-00000.bin".to_owned(), offset as u64);
    let expected = [
        at("corrupt", 20 * BLOCK + 512),
        at("misdirected", 30 * BLOCK),
        at("misdirected", 31 * BLOCK),
        at("lost", 40 * BLOCK),
    ];
    assert_eq!(told(&json), expected, "{json}");
    assert_eq!(sum(&json, "good"), 1020);
    let words = plimsoll(here, "verify run.plimsoll --list 1").with_code(7).out;
    assert!(
        words.contains("at offset 82432: expected generation")
            && words.contains("and 3 damaged blocks more")
    );

    // Everything as it was in the midst of the run: only what no acknowledged write went to since
    // is right.
    fs::write(&path, &old).expect("writes");
    let json = verify(here, "--list 1000", 7);
    let lost = sum(&json, "lost") + sum(&json, "torn");
    assert!(
        lost > 10 && sum(&json, "corrupt") + sum(&json, "misdirected") == 0,
        "{lost} of {json}"
    );
    let is_other =
        |number: u64| block(&old, number as usize / BLOCK) != block(&new, number as usize / BLOCK);
    assert!(
        told(&json).iter().all(|(_, _, offset)| is_other(*offset)),
        "nothing else is called lost"
    );
    let by = json["findings"][0]["acknowledged"].text();
    assert!(by.contains("in stage 1 (measure)"), "{by}");
}

#[test]
fn a_target_that_drops_acknowledged_writes_is_found_out_after_the_crash() {
    let true = has("a file system that drops writes", "fuse mount") else { return };
    let here = &scratch();
    let fs = FaultyFs::new();
    let target = fs.path().join("data");
    // Only writes, so that nothing reads what is missing while the load runs.
    let child = begin(here, text(&target), "--set workload.writes.read=0%");
    fs.set(Behaviour { drop_every: 10, ..Behaviour::default() });
    wait_for_writes(here, 600);
    // Until the last: a write that arrives heals what an earlier one has lost.
    kill(child);
    let json = verify(here, "--list 1000", 7);
    let lost = sum(&json, "lost");
    assert!(lost > 0, "{json}");
    assert_eq!(
        lost + sum(&json, "good"),
        sum(&json, "blocks"),
        "whole writes were dropped: {json}"
    );
}

/// A population of files that is worked on for so long.
pub fn population(measure: &str) -> String {
    POPULATION.replace("60s", measure)
}

const POPULATION: &str = r#"
name = "alive"
[layout]
kind = "tree"
[tree]
files = 400
sizes = "1KiB:60, 9000:40"
per_directory = 50
[stages]
measure = "60s"
interval = "50ms"
[contents]
verify = true
[[workload]]
name = "mail"
kind = "metadata"
operations = ["create:3, write:1, append:2, truncate:1, read:2, rename:1, remove:3"]
append = "3KiB"
workers = 3
"#;

#[test]
fn after_kill_9_the_files_of_a_population_are_as_its_ledger_says() {
    let here = &scratch();
    fs::write(here.join("alive.toml"), POPULATION).expect("writes");
    let args = "run alive.toml --target data --out run.plimsoll --quiet";
    let child = start(here, args);
    wait_for_intervals(here, 5);
    kill(child);
    let json = verify(here, "", 0);
    // Each worker has a tree of its own.
    let sum = |json: &Value, field: &str| json["populations"].sum(field);
    let of = |field: &str| sum(&json, field);
    // 80 % of 133, 133 and 134 names have a file, within one for each worker.
    assert!(of("names") == 400 && of("expected").abs_diff(319) <= 3, "{json}");
    assert!(of("good").abs_diff(of("expected")) <= 3 && of("compared_bytes") > 1 << 19, "{json}");
    assert!(of("operations") > 330 && of("unsure") == 0, "{json}");
    assert!(json["notes"].to_string().contains("was cut off in stage 1"), "{json}");
    let words = plimsoll(here, "verify run.plimsoll").with_code(0).out;
    assert!(words.contains("Nothing is missing or damaged."), "{words}");
    // A walk finds as many files as are good, but for those that were cut off.
    let all_files = || -> Vec<PathBuf> {
        let trees = (0..3).map(|tree| here.join(format!("data/tree-{tree:05}")));
        trees
            .flat_map(|tree| fs::read_dir(tree).expect("a tree"))
            .flat_map(|leaf| fs::read_dir(leaf.expect("a folder").path()).expect("files"))
            .map(|file| file.expect("a file").path())
            .collect()
    };
    let files = all_files().len() as u64;
    assert!(files.abs_diff(of("good")) <= 3, "{files} of {json}");

    let durable = plimsoll(here, "verify run.plimsoll --acknowledged durable");
    assert!(durable.with_code(2).err.contains("outlive a power cut"));
    plimsoll(here, "clean data").with_code(0);

    // Of a run that ended, all is on record.
    let short = "--set measure=200ms --keep-data";
    fs::remove_file(here.join("run.plimsoll")).expect("removes");
    plimsoll(here, (&args, &short)).with_code(0);
    let json = verify(here, "", 0);
    assert!(sum(&json, "beyond") == 0 && json["clean"] == true, "{json}");

    // What is done by hand then is named.
    let mut files = all_files();
    files.sort();
    fs::remove_file(&files[0]).expect("removes");
    let mut bytes = fs::read(&files[1]).expect("reads");
    bytes[500] ^= 1;
    fs::write(&files[1], bytes).expect("writes");
    fs::write(files[2].with_file_name("notes.txt"), "mine").expect("writes");
    let json = verify(here, "", 7);
    let kinds = ["missing", "content", "stray", "name", "length", "unreadable"];
    assert_eq!(kinds.map(|kind| sum(&json, kind)), [1, 1, 1, 0, 0, 0], "{json}");
}

#[test]
fn what_cannot_be_verified_is_said_and_the_rest_of_a_whole_run_is() {
    let here = &scratch();
    let child = begin(here, "data", "");
    let busy = plimsoll(here, "verify run.plimsoll").with_code(3).err;
    assert!(busy.contains("a run is using it"), "{busy}");
    signal(&child, "INT");
    end(child).with_code(130);
    let gone = plimsoll(here, "verify run.plimsoll").with_code(3).err;
    assert!(gone.contains("--keep-data"), "{gone}");
    let short = "--set measure=200ms --keep-data --quiet";
    let plain = ("run crash.toml --out plain.plimsoll --set verify=false --target data", &short);
    plimsoll(here, plain).with_code(0);
    let unchecked = plimsoll(here, "verify plain.plimsoll").with_code(2).err;
    assert!(unchecked.contains("contents.verify"), "{unchecked}");
    fs::remove_file(here.join("run.plimsoll")).expect("removes");
    let whole = (
        "run crash.toml --out run.plimsoll --set workload.writes.fsync_every=8 --target data",
        &short,
    );
    plimsoll(here, whole).with_code(0);
    let (completed, durable) = (verify(here, "", 0), verify(here, "--acknowledged durable", 0));
    let writes = |json: &Value| json["acknowledged_writes"].count();
    assert!(writes(&durable) <= writes(&completed) && writes(&durable) > 0);
    let other = plimsoll(here, "verify plain.plimsoll --acknowledged perhaps").with_code(2).err;
    assert!(other.contains("completed or durable"), "{other}");
}

#[test]
fn the_pass_after_a_point_that_writes_finds_what_no_read_of_the_load_met() {
    let true = has("a file system that drops writes", "fuse mount") else { return };
    let sets = "--set contents.verify=after --set measure=600ms --set workload.writes.read=0%";
    let args = ("run crash.toml --target data --out sound.plimsoll --json", &sets);
    let here = &scratch();
    fs::write(here.join("crash.toml"), SUITE).expect("writes");
    let sound = plimsoll(here, args).with_code(0).json();
    let pass = |json: &Value| -> Vec<Value> {
        let issued = json["issued"].list().iter();
        issued.filter(|total| total["stage"] == "verify").cloned().collect()
    };
    let [read] = &pass(&sound)[..] else { panic!("{sound}") };
    assert!(read["op"] == "read" && read["errors"] == 0 && read["bytes"] == 4 << 20, "{sound}");

    let fs = FaultyFs::new();
    let child = begin(here, text(&fs.path().join("data")), (&sets, "--set measure=3s"));
    fs.set(Behaviour { drop_every: 10, ..Behaviour::default() });
    end(child).with_code(1);
    let json = shown(here);
    assert!(pass(&json)[0]["errors"].count() > 0, "{json}");
    assert!(json["results"][0]["warnings"].to_string().contains("lost write"), "{json}");
    assert!(json["notes"].to_string().contains("lost write: "), "the places are named: {json}");
}
