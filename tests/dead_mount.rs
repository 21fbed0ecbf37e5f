//! What Plimsoll does before and after a run where a mount does not answer: every look at it ends,
//! and so does every wait for it.

use crate::common::faulty_fs::{Behaviour, FaultyFs};
use crate::common::{
    Ended, Json, Words, assert_says, end, has, plimsoll, said, scratch, signal, start, text,
    wait_until,
};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn has_fuse(test: &str) -> bool {
    has(test, "fuse mount")
}

/// A folder on a file system that answers nothing any more. It is there already: a name that the
/// kernel does not know is looked up under a lock that whoever asks in vain holds, and nothing ends
/// a wait for that.
fn dead() -> (FaultyFs, PathBuf) {
    let fs = FaultyFs::new();
    let target = fs.path().join("data");
    fs::create_dir(&target).expect("a folder");
    fs.stall();
    (fs, target)
}

/// Runs a program that must not be held up; the file systems of a test that fails let go of it.
fn in_time(folder: &Path, args: impl Words) -> Ended {
    let mut child = start(folder, args);
    wait_until("the end of the program", || child.try_wait().expect("a child of ours").is_some());
    end(child)
}

fn state(folder: &Path) -> Value {
    let shown = plimsoll(folder, "show run.plimsoll --json");
    serde_json::from_str::<Value>(&shown.out).map_or(Value::Null, |shown| shown["state"].clone())
}

#[test]
fn a_plan_for_a_dead_mount_ends_and_names_host_path_and_remedy() {
    let true = has_fuse("a plan for a dead mount") else { return };
    let ((_fs, target), folder) = (dead(), scratch());
    let plan = ("plan --rw randread --size 1M --set patience=1s --target", [&target]);
    let ended = in_time(&folder, plan);
    assert_ne!(ended.code, 0);
    let stuck = "stuck: looking at it was not answered for 1 s";
    assert!(ended.err.contains(stuck) && ended.err.contains(text(&target)), "{ended:#?}");
    assert!(ended.err.contains("engine.patience"), "{ended:#?}");
    let ended = in_time(&folder, (&plan, "--hosts local:2"));
    assert!(ended.err.contains(stuck) && ended.err.contains("local-2"), "{ended:#?}");
}

#[test]
fn an_inventory_shows_what_answers_beside_what_does_not() {
    let true = has_fuse("an inventory with a dead mount") else { return };
    let ((_fs, dead), folder) = (dead(), scratch());
    let well = folder.join("data");
    let ended =
        in_time(&folder, ["inventory", text(&dead), text(&well), "--patience", "5s", "--json"])
            .with_code(0);
    let targets = &ended.json()[0]["targets"];
    let why = targets[0]["kind"]["Unreadable"].text().to_owned();
    assert!(why.contains("was not answered for 5 s") && why.contains("--patience"), "{why}");
    assert_eq!(
        (&targets[1]["kind"], &targets[1]["path"]),
        (&"Missing".into(), &text(&well).into())
    );
    // Who asks for no target has nothing to do with it.
    in_time(&folder, "watch --count 1 --interval 100ms --json").with_code(0);
    let wrong = in_time(&folder, "inventory --patience 2h");
    assert!(
        wrong.err.contains("--patience 2h 00m is out of range; write 100 ms to 1h 00m"),
        "{wrong:#?}"
    );
}

#[test]
fn cleaning_a_dead_mount_ends_and_cleans_the_others() {
    let true = has_fuse("cleaning a dead mount") else { return };
    for hosts in ["", "--hosts local:2"] {
        let ((_fs, dead), folder) = (dead(), scratch());
        let well = folder.join("data");
        fs::create_dir(&well).expect("a folder");
        fs::write(well.join(".plimsoll"), "")
            .expect("a marker, as a run leaves it that is killed early");
        let clean = ["clean", text(&dead), text(&well), "--patience", "5s"];
        let ended = in_time(&folder, (&clean, hosts));
        assert_ne!(ended.code, 0);
        let stuck = "stuck: cleaning it was not answered for 5 s";
        assert!(ended.err.contains(stuck) && ended.err.contains(text(&dead)), "{ended:#?}");
        assert!(hosts.is_empty() || ended.err.contains("host local-2"), "{ended:#?}");
        assert!(!well.join(".plimsoll").exists(), "{ended:#?}");
    }
}

#[test]
fn verifying_on_a_dead_mount_ends_and_says_that_nothing_was_changed() {
    let true = has_fuse("verifying on a dead mount") else { return };
    let (fs, folder) = (FaultyFs::new(), scratch());
    let target = fs.path().join("data");
    let run = "run --rw randwrite --size 1M --runtime 1 --out run.plimsoll --keep-data";
    let here = ["--set", "contents.verify=true", "--target", text(&target)];
    plimsoll(&folder, (&run, &here)).with_code(0);
    plimsoll(&folder, "verify run.plimsoll").with_code(0);
    fs.stall();
    let ended = in_time(&folder, "verify run.plimsoll --patience 1s").with_code(3);
    let stuck = "stuck: checking it was not answered for 1 s; nothing was changed";
    assert!(ended.err.contains(stuck) && ended.err.contains(text(&target)), "{ended:#?}");
    assert!(ended.err.contains("--patience") && ended.out.is_empty(), "{ended:#?}");
    let wrong = in_time(&folder, "verify run.plimsoll --patience 1ms").with_code(2);
    assert!(wrong.err.contains("write 100 ms to 1h 00m"), "{wrong:#?}");
}

#[test]
fn ctrl_c_does_not_wait_for_a_file_that_never_opens_and_what_is_there_can_be_cleaned() {
    let true = has_fuse("Ctrl-C while a target is opened") else { return };
    let (fs, folder) = (FaultyFs::new(), scratch());
    fs.set(Behaviour { hang_open: true, ..Behaviour::default() });
    let target = fs.path().join("data");
    let run =
        ["run", "--rw", "randread", "--size", "1M", "--runtime", "1", "--out", "run.plimsoll"];
    let mut child = start(&folder, (&run, ["--set", "patience=1h", "--target", text(&target)]));
    wait_until("the open", || fs.held() > 0);
    signal(&child, "INT");
    // The kernel keeps the process until the call ends; the words come before. Of a run in which
    // nothing began, no record stays.
    let words = said(&mut child, "stuck");
    assert_says(&words, &["opening it was not answered for 1 s", "plimsoll clean"]);
    fs.release();
    wait_until("the end of the program", || child.try_wait().expect("a child of ours").is_some());
    assert!(target.join(".plimsoll").exists(), "the marker stays");
    in_time(&folder, ["clean", text(&target)]).with_code(0);
    assert!(!target.exists() || !target.join(".plimsoll").exists());
}

#[test]
fn ctrl_c_does_not_wait_for_a_file_that_never_closes() {
    let true = has_fuse("Ctrl-C while a target is let go of") else { return };
    let (fs, folder) = (FaultyFs::that_flushes(), scratch());
    let target = fs.path().join("data");
    let run = "run --rw randread --size 1M --runtime 1 --out run.plimsoll --set";
    let mut child = start(&folder, (&run, ["patience=1h", "--target", text(&target)]));
    wait_until("the load", || fs.requests() > 100);
    fs.set(Behaviour { hang_flush: true, ..Behaviour::default() });
    wait_until("the close", || fs.held() > 0);
    signal(&child, "INT");
    let words = said(&mut child, "stuck");
    assert_says(&words, &["removing it was not answered for 1 s", "plimsoll clean"]);
    wait_until("what was measured", || state(&folder) == "complete");
    fs.release();
    wait_until("the end of the program", || child.try_wait().expect("a child of ours").is_some());
}
