//! What blocks hold, and damage that a run finds in what another one left: the whole way from the
//! suite to the report.

use crate::common::{Json, Words, plimsoll, scratch};
use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

const SUITE: &str = r#"
name = "checked"
[layout]
files = 1
size = "4MiB"
[stages]
measure = "300ms"
interval = "50ms"
[contents]
verify = true
compressible = "50%"
[[workload]]
name = "reads"
workers = 2
depth = 4
block_size = "64KiB"
access = "permutation"
"#;

fn run(folder: &Path, args: impl Words) -> serde_json::Value {
    plimsoll(folder, ("run checked.toml --json", args)).with_code(0).json()
}

fn warnings(json: &serde_json::Value) -> Vec<&str> {
    let found = json["results"][0]["warnings"].list();
    found.iter().map(|warning| warning["code"].text()).collect()
}

/// What compresses a file by records sees blocks beside each other that were written at quite
/// different times.
#[test]
fn blocks_written_at_random_have_nothing_in_common_with_their_neighbours() {
    let here = &scratch();
    let suite = "name = \"scattered\"\n[layout]\nfiles = 1\nsize = \
                 \"4MiB\"\n[stages]\nprecondition = \"0s\"\namount = \"all\"\n[[workload]]\nname \
                 = \"w\"\nread = \"0%\"\nblock_size = \"4KiB\"\naccess = \"permutation\"\ndepth = \
                 8\nworkers = 1\n";
    fs::write(here.join("s.toml"), suite).expect("writes");
    plimsoll(here, "run s.toml --target data --keep-data --quiet").with_code(0);
    let bytes = fs::read(here.join("data/data-00000.bin")).expect("kept");
    for (number, record) in bytes.chunks(1 << 20).enumerate() {
        // Stamps stand at the beginning of sectors; what follows them must differ, too.
        let words: Vec<&[u8]> = record.chunks_exact(64).map(|line| &line[8..16]).collect();
        let distinct = words.iter().collect::<HashSet<_>>().len();
        assert_eq!(distinct, words.len(), "record {number}");
    }
}

#[test]
fn damage_between_two_runs_is_found_counted_and_told_with_its_place() {
    let here = &scratch();
    fs::write(here.join("checked.toml"), SUITE).expect("writes");
    let sound = run(here, "--target data --keep-data --out one.plimsoll");
    assert!(warnings(&sound).contains(&"reducible-contents"), "{sound}");
    assert!(!warnings(&sound).contains(&"errors"), "{sound}");

    let path = here.join("data/data-00000.bin");
    let existing = "--existing --target data/data-00000.bin --out";
    let again = run(here, (&existing, "two.plimsoll"));
    assert!(!warnings(&again).contains(&"errors"), "{again}");

    let file = fs::OpenOptions::new().write(true).open(&path).expect("opens");
    file.write_all_at(b"!", 1_000_000).expect("writes");
    file.sync_all().expect("syncs");
    let args = ("run checked.toml --json", &existing, "three.plimsoll");
    let damaged = plimsoll(here, args).with_code(1).json();
    assert!(warnings(&damaged).contains(&"errors"), "{damaged}");
    let notes = damaged["notes"].list();
    let mismatches = notes.iter().filter(|note| note["code"] == "mismatch").count();
    assert_eq!(mismatches, 1, "one place, however often it was read: {damaged}");
    let told = plimsoll(here, "show three.plimsoll").out;
    assert!(told.contains("corrupt block"), "{told}");
    let page = fs::read_to_string(here.join("three.html")).expect("the report");
    // 1,000,000 lies in the sector that begins at 999,936.
    assert!(page.contains("data-00000.bin at offset 999936"), "the report names the place");
}

#[test]
fn what_cannot_be_checked_is_refused_or_said() {
    let here = &scratch();
    fs::write(here.join("checked.toml"), SUITE).expect("writes");
    let refused = plimsoll(here, "run checked.toml --set contents.duplicate=30%");
    assert!(
        refused.code == 2 && refused.err.contains("leave out duplicate, or verify"),
        "{refused:?}"
    );
    let plan = plimsoll(here, "plan checked.toml --set prepare=false").with_code(0).out;
    assert!(plan.contains("blocks that no workload of this run wrote are not checked"), "{plan}");
}

/// One file that the workers of two hosts write and read in turns, as IOR's N-1 and the hard part
/// of IO500 have it.
#[test]
fn blocks_in_turn_are_checked_over_several_hosts_and_what_is_shared_is_refused_once() {
    let here = &scratch();
    let suite = "name = \"turns\"\n[layout]\nkind = \"shared-file\"\nsize = \
                 \"3MiB\"\n[stages]\namount = \"all\"\nprepare_block = \"64KiB\"\ninterval = \
                 \"50ms\"\n[contents]\nverify = \"after\"\n[engine]\ndirect = \
                 false\n[[workload]]\nname = \"write\"\nread = \"0%\"\nblock_size = \
                 \"47KiB\"\naccess = \"sequential\"\nsharing = \"interleaved\"\nworkers = \
                 2\ndepth = 2\n[[workload]]\nname = \"read\"\nblock_size = \"16KiB\"\naccess = \
                 \"permutation\"\nworkers = 2\n";
    fs::write(here.join("turns.toml"), suite).expect("writes");
    let line = "run turns.toml --hosts local:2 --target data --json --quiet";
    let json = plimsoll(here, (&line, "--out turns.plimsoll")).with_code(0).json();
    let rows = json["results"].list();
    let errors: Vec<_> = json["issued"].list().iter().map(|total| &total["errors"]).collect();
    assert!(rows.len() >= 2 && errors.iter().all(|count| **count == 0), "{json}");
    let stages: Vec<_> = json["issued"].list().iter().map(|total| &total["stage"]).collect();
    assert!(
        stages.iter().any(|stage| **stage == "verify"),
        "all of it was read once more: {stages:?}"
    );

    let whole = (&line, "--set workload.write.sharing=whole --out no.plimsoll");
    let refused = plimsoll(here, whole).with_code(2);
    let told = refused.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(told.matches("use the same bytes at the same time").count(), 1, "{told}");
    assert!(told.contains("several workers of workload `write`"), "{told}");
}
