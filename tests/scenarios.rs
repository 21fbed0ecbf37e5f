//! Scenarios of one suite, on a real file system: what stands there when, what is left behind, and
//! what the figures say.

use crate::common::{
    Json, Loop, Mounted, assert_says, has, kill, names, plimsoll, scratch, start, text, wait_until,
};
use serde_json::Value;
use std::path::Path;

const THREE: &str = "\
name = \"three\"
[stages]
measure = \"200ms\"
interval = \"50ms\"
[[workload]]
name = \"blocks\"
block_size = \"64KiB\"
access = \"random\"
read = \"50%\"
workers = 2
depth = 4
[[workload]]
name = \"small\"
kind = \"metadata\"
workers = 2
[[scenario]]
name = \"own\"
workloads = [\"blocks\"]
layout = { files = 2, size = \"6MiB\" }
[[scenario]]
name = \"shared\"
workloads = [\"blocks\"]
layout = { kind = \"shared-file\", size = \"8MiB\" }
engine = { direct = false }
[[scenario]]
name = \"tree\"
workloads = [\"small\"]
layout = { kind = \"tree\" }
tree = { files = 300, size = \"4KiB\", per_directory = 50 }
";

const IN_TURNS: &str = "--set sweep.order=\"interleaved\" --set sweep.repetitions=2";

fn suite(folder: &Path) {
    std::fs::write(folder.join("three.toml"), THREE).expect("a suite");
}

/// Whether the run is in this stage, and has told of requests in it.
fn measures(folder: &Path, stage: u32) -> bool {
    store::read(&folder.join("cut.plimsoll")).is_ok_and(|record| {
        record.stages.last().is_some_and(|last| last.stage == stage && !last.samples().is_empty())
    })
}

fn folders_of_data(folder: &Path) -> Vec<String> {
    names(folder).into_iter().filter(|name| name.starts_with("data")).collect()
}

/// Scenario, workload's operation and repetition of each row.
fn rows(json: &Value) -> Vec<(String, String, u64)> {
    let word = |value: &Value| value.text().to_owned();
    let of = |row: &Value| {
        let repetition = row["repetition"].as_u64().unwrap_or(1);
        (word(&row["sweep"]["scenario"]), word(&row["op"]), repetition)
    };
    json["results"].list().iter().map(of).collect()
}

#[test]
fn three_layouts_take_turns_and_nothing_stays() {
    let true = has("scenarios on a file system", "losetup loop mkfs.ext4 mount") else { return };
    let (folder, mounted) = (scratch(), Mounted::new("mkfs.ext4", 96));
    suite(&folder);
    let target = mounted.path().join("data");
    let run = ("run three.toml --target", [&target], "--quiet --json --out turns.plimsoll");
    let json = plimsoll(&folder, (&run, IN_TURNS)).with_code(0).json();
    let all = rows(&json);
    let round = |n: u64| {
        let blocks = ["own", "shared"].map(|name| ["read", "write", "all"].map(|op| (name, op)));
        let small = ["create", "stat", "read-file", "remove"].map(|op| ("tree", op));
        let rows = blocks.into_iter().flatten().chain(small);
        rows.map(|(name, op)| (name.to_owned(), op.to_owned(), n)).collect::<Vec<_>>()
    };
    assert_eq!(all, [round(1), round(2)].concat());
    assert!(json["results"].list().iter().all(|row| row["ios"].as_u64() > Some(0)));
    assert_eq!(names(mounted.path()), ["lost+found"], "what was made is gone");

    // The scenario through the page cache is told to be one, the other is not.
    let doubted = |scenario: &str| {
        let rows = json["results"].list().iter().filter(|row| row["sweep"]["scenario"] == scenario);
        rows.flat_map(Json::codes).any(|code| code == "fits-in-memory")
    };
    assert!(doubted("shared") && !doubted("own"));

    let told = plimsoll(&folder, "compare turns.plimsoll").with_code(0).out;
    let in_pairs = "2 repetitions in turns, compared in pairs";
    let parts = ["A: own · B: shared", in_pairs, "Differs in direct I/O: yes against no"];
    assert_says(&told, &parts);
}

#[test]
fn only_the_largest_layout_has_to_fit_where_they_take_no_turns() {
    let true = has("scenarios on a full file system", "losetup loop mkfs.ext4 mount") else {
        return;
    };
    let (folder, mounted) = (scratch(), Mounted::new("mkfs.ext4", 64));
    suite(&folder);
    let target = mounted.path().join("data");
    let sizes =
        ["--set", "scenario.own.layout.size=17MiB", "--set", "scenario.shared.layout.size=30MiB"];
    let run = ("run three.toml --target", [&target], "--quiet --json --out one.plimsoll");
    let json = plimsoll(&folder, (&run, &sizes)).with_code(0).json();
    assert_eq!(rows(&json).len(), 10);
    assert_eq!(names(mounted.path()), ["lost+found"]);
    let refused = plimsoll(&folder, (&run, &sizes, IN_TURNS)).with_code(3);
    assert!(refused.err.contains("the layout needs 64 MiB more"), "{refused:?}");
    assert_eq!(names(mounted.path()), ["lost+found"], "a refusal touches nothing");
}

#[test]
fn a_killed_run_is_cleaned_up_and_goes_on_at_its_scenario() {
    let folder = scratch();
    suite(&folder);
    let long = "--set scenario.shared.measure=60s --out cut.plimsoll";
    let child = start(&folder, ("run three.toml --target data --quiet", &long));
    wait_until("the second scenario is measured", || measures(&folder, 3));
    assert_eq!(
        names(&folder.join("data")),
        [".plimsoll", "data-00000.bin"],
        "the first layout is gone"
    );
    kill(child);
    let record = store::read(&folder.join("cut.plimsoll")).expect("a run file");
    // The long measurement would be repeated in full.
    let left = model::resume::with_prepare(&record, model::resume::left_over(&record));
    assert_eq!(left, [2, 3, 4, 5, 6, 7], "the first scenario is over");
    plimsoll(&folder, "clean data").with_code(0);
    assert!(!folder.join("data").exists());
}

#[test]
fn a_run_that_was_killed_among_layouts_side_by_side_leaves_what_clean_removes() {
    let folder = scratch();
    suite(&folder);
    // The first repetition of the last scenario is over when the second one of the first begins.
    let long = "--set scenario.own.measure=1500ms --out cut.plimsoll";
    let args = ("run three.toml --target data --quiet", IN_TURNS, &long);
    let child = start(&folder, args);
    wait_until("the second repetition has begun", || measures(&folder, 8));
    kill(child);
    assert_eq!(folders_of_data(&folder), ["data", "data-s0001", "data-s0002"]);
    std::fs::write(folder.join("data-s0001/theirs.txt"), "x").expect("a file");
    plimsoll(&folder, "clean data").with_code(0);
    assert_eq!(folders_of_data(&folder), ["data-s0001"]);
    assert_eq!(names(&folder.join("data-s0001")), ["theirs.txt"], "what is not ours stays");
    std::fs::remove_dir_all(folder.join("data-s0001")).expect("removed");

    let resumed =
        plimsoll(&folder, "resume cut.plimsoll --target data --quiet --json").with_code(0);
    assert_eq!(rows(&resumed.json()).len(), 20, "all of it is there");
    assert!(
        resumed.err.contains("5 of 12 points left") || resumed.err.contains("6 of 12 points left"),
        "{}",
        resumed.err
    );
    assert!(folders_of_data(&folder).is_empty());
}

#[test]
fn hosts_of_a_fleet_change_from_layout_to_layout_together() {
    let folder = scratch();
    suite(&folder);
    for turns in ["", IN_TURNS] {
        let run = "run three.toml --hosts local:2 --target data --quiet --json --out two.plimsoll";
        let json = plimsoll(&folder, (&run, turns)).with_code(0).json();
        assert_eq!(rows(&json).len(), if turns.is_empty() { 10 } else { 20 });
        assert_eq!(folders_of_data(&folder), [""; 0]);
        std::fs::remove_file(folder.join("two.plimsoll")).expect("ours");
    }
}

#[test]
fn some_scenarios_can_be_taken_and_each_can_have_its_own_target() {
    let folder = scratch();
    suite(&folder);
    let own = "--set scenario.own.target=a --set scenario.shared.target=b";
    let take = "--scenario own --scenario shared";
    let plan = plimsoll(&folder, ("plan three.toml --json", &own, &take)).with_code(0).json();
    assert_eq!(plan["points"].texts("scenario"), ["own", "shared"]);
    assert_eq!(plan["hosts"][0]["targets"].texts("path"), ["a", "b"]);
    for (args, words) in [
        ("plan three.toml --scenario tre", "did you mean `tree`?"),
        ("plan smoke --scenario own", "the suite has no scenarios"),
        ("run three.toml --set scenario.nobody.depth=3", "names no field"),
        ("run three.toml --set scenario.own.target=sim:constant", "real and simulated"),
    ] {
        let ended = plimsoll(&folder, args).with_code(2);
        assert!(ended.err.contains(words) && ended.out.is_empty(), "{args:?}: {ended:?}");
    }
    assert_eq!(names(&folder), ["three.toml"]);
}

#[test]
fn a_device_goes_from_layout_to_layout() {
    let true = has("scenarios on a device", "losetup loop") else { return };
    let (folder, device) = (scratch(), Loop::new(16));
    suite(&folder);
    let path = text(&device.device);
    // The same device in two layouts: of all of its 8 MiB, and of the first 6.
    let sets =
        ["--set", "scenario.shared.layout.kind=\"files\"", "--set", "scenario.own.layout.files=1"];
    let take = ("--scenario own --scenario shared --destroy-data", [path], "--out d.plimsoll");
    let run = ("run three.toml --quiet --json", &sets, &take);
    assert_eq!(rows(&plimsoll(&folder, run).with_code(0).json()).len(), 6);
    let refused = plimsoll(&folder, (&run, IN_TURNS)).with_code(3);
    assert!(refused.err.contains("each would overwrite the other's"), "{refused:?}");
}

#[test]
fn the_layout_that_still_stands_is_verified_and_the_others_are_named() {
    let folder = scratch();
    let (blocks, _) = THREE.split_once("[[scenario]]\nname = \"tree\"").expect("its last scenario");
    let blocks = blocks
        .replace("[[workload]]\nname = \"small\"\nkind = \"metadata\"\nworkers = 2\n", "")
        .replace("kind = \"shared-file\", size", "files = 1, size");
    std::fs::write(folder.join("three.toml"), blocks).expect("a suite");
    let run = "run three.toml --target data --keep-data --quiet";
    let checked = "--set contents.verify=true --set workload.blocks.read=0%";
    plimsoll(&folder, (&run, &checked, "--out r.plimsoll")).with_code(0);
    let verify =
        |extra: &str, code| plimsoll(&folder, ("verify r.plimsoll", extra)).with_code(code);
    let json = verify("--json", 0).json();
    let notes = json["notes"].to_string();
    assert!(notes.contains("scenario own: not checked, its layout was removed"), "{notes}");
    assert!(
        json["acknowledged_writes"].as_u64() > Some(0),
        "the layout was written at least: {json}"
    );
    assert_eq!(json["files"].as_array().map(Vec::len), Some(1), "{json}");
    verify("--scenario shared", 0);
    assert!(verify("--scenario own", 2).err.contains("no layout of the run can be checked"));
    assert!(verify("--scenario none", 2).err.contains("it had own, shared"));

    // A block that somebody has destroyed is found.
    let file = files_below(&folder.join("data"))
        .into_iter()
        .find(|path| text(path).ends_with(".bin"))
        .expect("data");
    std::fs::write(&file, vec![7; 8 << 20]).expect("writes");
    let damaged = verify("", 7);
    assert!(damaged.out.contains("Data are missing or damaged"), "{damaged:?}");
}

#[test]
fn a_run_of_which_no_layout_can_be_verified_says_why() {
    let folder = scratch();
    suite(&folder);
    plimsoll(&folder, "run three.toml --target data --quiet --out r.plimsoll").with_code(0);
    let refused = plimsoll(&folder, "verify r.plimsoll").with_code(2);
    assert!(
        refused.err.contains("scenario tree: not checked, the run worked on whole files"),
        "{refused:?}"
    );
    assert!(refused.err.contains("run it alone with --scenario NAME --keep-data"), "{refused:?}");
}

/// All files in a folder and those below it.
fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}
