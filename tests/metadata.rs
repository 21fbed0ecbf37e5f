//! Operations on whole files, from a suite to what the file system has.

use crate::common::{
    Json, Mounted, Words, assert_says, has, kill, names, plimsoll, recorded, run_suite, said,
    scratch, start, text, wait_until,
};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A suite with these operations on 600 files in trees of two levels.
fn suite(operations: &str, files: u64) -> String {
    format!(
        "name = \"files\"\n[layout]\nkind = \"tree\"\n[tree]\nfiles = {files}\nsize = \
         \"4KiB\"\nper_directory = 25\ndepth = 2\nfan_out = 4\n[stages]\ninterval = \
         \"10ms\"\n[[workload]]\nname = \"w\"\nkind = \"metadata\"\nworkers = 3\nfile_order = \
         \"random\"\noperations = [{operations}]\n"
    )
}

/// Runs a suite in `folder` on its subfolder `data`.
fn run(folder: &Path, suite: &str, extra: impl Words) -> crate::common::Ended {
    run_suite(folder, suite, ("--target data --out run.plimsoll", extra))
}

/// Regular files anywhere below `folder`, and bytes in them, our own marker left out.
fn files_below(folder: &Path) -> (u64, u64) {
    let mut sum = (0, 0);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let facts = entry.metadata().expect("facts");
        if facts.is_dir() {
            let inner = files_below(&entry.path());
            sum = (sum.0 + inner.0, sum.1 + inner.1);
        } else if !entry.file_name().to_string_lossy().starts_with('.') {
            sum = (sum.0 + 1, sum.1 + facts.len());
        }
    }
    sum
}

fn figure(json: &Value, op: &str, field: &str) -> u64 {
    let rows = json["results"].list();
    let row =
        rows.iter().find(|row| row["op"] == op).unwrap_or_else(|| panic!("no {op} in {json}"));
    row[field].count()
}

#[test]
fn what_was_created_is_there_and_what_was_removed_is_not() {
    let here = &scratch();
    let json =
        run(here, &suite("\"create\", \"stat\", \"read\"", 600), "--keep-data").with_code(0).json();
    for op in ["create", "stat", "read-file"] {
        assert_eq!((figure(&json, op, "ios"), figure(&json, op, "errors")), (600, 0), "{op}");
    }
    assert_eq!(files_below(&here.join("data")), (600, 600 * 4096), "as many as were created");
    assert_eq!((figure(&json, "create", "bytes"), figure(&json, "stat", "bytes")), (600 * 4096, 0));
    fs::remove_file(here.join("run.plimsoll")).expect("a run file");
    let json = run(here, &suite("\"create\", \"remove\"", 300), "--keep-data").with_code(0).json();
    assert_eq!(figure(&json, "remove", "ios"), 300);
    assert_eq!(
        files_below(&here.join("data")),
        (0, 0),
        "none of this run, and none of the one before"
    );
    plimsoll(here, "clean data").with_code(0);
    assert!(!here.join("data").exists());
}

#[test]
fn a_run_of_all_operations_leaves_nothing_but_its_record() {
    let folder = scratch();
    let all = "\"create\", \"stat\", \"open\", \"read\", \"write\", \"readdir\", \"setattr\", \
               \"rename\", \"link\", \"symlink\", \"mkdir\", \"rmdir\", \"unlink\"";
    let json = run(&folder, &suite(all, 600), "").with_code(0).json();
    let rows = json["results"].list();
    assert_eq!(rows.len(), 13);
    assert!(
        rows.iter().all(|row| row["errors"] == 0 && row["iops"].as_f64() > Some(0.0)),
        "{json}"
    );
    assert_eq!(names(&folder), ["run.html", "run.plimsoll", "suite.toml"]);
    for row in rows {
        let (first, last) = (&row["first_done"], &row["last_done"]);
        assert_eq!(last["ios"], row["ios"], "{row}");
        assert!(
            first["ios"].as_u64() > Some(0) && first["ios"].as_u64() <= last["ios"].as_u64(),
            "{row}"
        );
        assert!(
            first["seconds"].as_f64() > Some(0.0)
                && first["seconds"].as_f64() <= last["seconds"].as_f64(),
            "{row}"
        );
    }
    let shown = plimsoll(&folder, "show run.plimsoll").with_code(0).out;
    assert!(shown.contains("op/s") && !shown.contains("IOPS"), "{shown}");
    let page = fs::read_to_string(folder.join("run.html")).expect("a page");
    assert!(page.contains("operation=readdir") && page.contains("Operations per second over time"));
}

#[test]
fn a_population_ends_with_the_files_that_were_born_and_did_not_die() {
    let here = &scratch();
    let mix = "\"create:3, write:1, read:4, stat:2, rename:2, fsync:1, readdir:1, remove:3\"";
    let sets = "--set measure=300ms --keep-data --set workload.w.fill=50%";
    let text = suite(mix, 600).replace("file_order = \"random\"\n", "");
    let json = run(here, &text, sets).with_code(0).json();
    let ios = |op: &str| figure(&json, op, "ios");
    for op in ["create", "write-file", "read-file", "stat", "rename", "fsync-file", "readdir"] {
        assert!(ios(op) > 0 && figure(&json, op, "errors") == 0, "{op}: {json}");
    }
    assert!(ios("create").abs_diff(ios("remove")) <= 3, "one for each worker at most");
    let (files, bytes) = files_below(&here.join("data"));
    // What a worker began within the load and ended behind it is in no row.
    let left = 300 + ios("create") - ios("remove");
    assert!(files.abs_diff(left) <= 3, "half of 600 names, and who came later: {files}, {left}");
    assert_eq!(bytes, files * 4096);
    plimsoll(here, "clean data").with_code(0);
    assert!(!here.join("data").exists(), "nothing of it stays");
}

#[test]
fn a_population_on_a_simulated_cluster_keeps_its_rate() {
    let folder = scratch();
    let text = suite("\"create:1, append:1, read:2, remove:1\"", 600)
        .replace("file_order = \"random\"\n", "rate = 500\n");
    fs::write(folder.join("suite.toml"), text).expect("a suite");
    let target = "sim:cluster=vsan-four-corners";
    let args = ("run suite.toml --json --quiet --target", [target], "--set measure=2s");
    let json = plimsoll(&folder, args).with_code(0).json();
    let ops = ["create", "append", "read-file", "remove"];
    let done: u64 = ops.iter().map(|op| figure(&json, op, "ios")).sum();
    assert!((995..=1000).contains(&done), "500 a second for 2 s: {done}");
    assert!(figure(&json, "create", "ios").abs_diff(figure(&json, "remove", "ios")) <= 3);
}

#[test]
fn a_mix_has_a_row_for_each_of_its_operations_and_one_of_all() {
    let folder = scratch();
    let operations = "\"create\", \"stat:70, open:20, readdir:10\", \"remove\"";
    let measure = "--set measure=300ms";
    let json = run(&folder, &suite(operations, 600), measure).with_code(0).json();
    let rows = json["results"].list();
    let mixed: Vec<&Value> = rows
        .iter()
        .filter(|row| row["sweep"]["operation"] == "stat:70, open:20, readdir:10")
        .collect();
    assert_eq!((rows.len(), mixed.len()), (6, 4), "{json}");
    let ios = |op: &str| figure(&json, op, "ios");
    assert_eq!(
        ios("stat") + ios("open") + ios("readdir"),
        ios("all"),
        "the whole is what its parts add up to"
    );
    assert!(
        ios("stat") > ios("open") && ios("open") > ios("readdir") && ios("readdir") > 0,
        "{json}"
    );
    assert!(
        mixed.iter().all(|row| row["errors"] == 0 && row["last_done"].is_null()),
        "a time ended it: {json}"
    );
    assert_eq!(figure(&json, "remove", "ios"), 600);
    assert_eq!(names(&folder), ["run.html", "run.plimsoll", "suite.toml"]);
}

#[test]
fn hosts_go_to_what_other_hosts_made_and_every_file_has_its_turn_once() {
    for unique in ["true", "false"] {
        let here = &scratch();
        let of_others =
            ["--hosts", "local:3", "--set", "other=host", "--set", "tree.unique", "--keep-data"];
        let set = format!("tree.unique={unique}");
        let of_others: Vec<&str> = of_others
            .iter()
            .map(|word| if *word == "tree.unique" { set.as_str() } else { word })
            .collect();
        let all = "\"create\", \"stat\", \"read\", \"readdir\", \"rename\"";
        let json = run(here, &suite(all, 300), &of_others).with_code(0).json();
        for op in ["create", "stat", "read-file", "rename"] {
            assert_eq!(
                (figure(&json, op, "ios"), figure(&json, op, "errors")),
                (900, 0),
                "{op}, unique {unique}"
            );
        }
        let folders: Vec<String> =
            names(here).into_iter().filter(|name| name.starts_with("data")).collect();
        assert_eq!(folders.len(), 3, "one of each host: {folders:?}");
        for name in &folders {
            assert_eq!(
                files_below(&here.join(name)),
                (300, 300 * 4096),
                "{name}: renamed back by the others"
            );
        }
        let record = recorded(here);
        for (number, host) in record.plan.hosts.iter().enumerate() {
            let maker = &record.plan.hosts[(number + 1) % 3];
            let trees = |stage: usize| -> Vec<&str> {
                let shares = host.stages[stage].workers.iter().filter_map(|worker| worker.files);
                shares.map(|share| host.trees[share.tree as usize].path.as_str()).collect()
            };
            assert!(
                trees(0)
                    .iter()
                    .all(|tree| host.trees.iter().any(|own| own.path == *tree && !own.joined))
            );
            assert!(
                trees(1)
                    .iter()
                    .all(|tree| maker.trees.iter().any(|own| own.path == *tree && !own.joined))
            );
        }
        fs::remove_file(here.join("run.plimsoll")).expect("a run file");
        let of_others = &of_others[..of_others.len() - 1];
        let json =
            run(here, &suite("\"create\", \"mkdir\", \"rmdir\", \"remove\"", 200), of_others)
                .with_code(0)
                .json();
        for op in ["create", "mkdir", "rmdir", "remove"] {
            assert_eq!(
                (figure(&json, op, "ios"), figure(&json, op, "errors")),
                (600, 0),
                "{op}, unique {unique}"
            );
        }
        assert!(
            names(here).iter().all(|name| !name.starts_with("data")),
            "every host took its own folder away"
        );
    }
}

/// The sizes of all files of trees below `folder`, by their paths there.
fn sizes_below(folder: &Path, base: &Path, sizes: &mut std::collections::BTreeMap<String, u64>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, facts) = (entry.path(), entry.metadata().expect("facts"));
        if facts.is_dir() {
            sizes_below(&path, base, sizes);
        } else if !entry.file_name().to_string_lossy().starts_with('.') {
            sizes.insert(text(path.strip_prefix(base).expect("below")).to_owned(), facts.len());
        }
    }
}

#[test]
fn files_differ_in_size_by_their_weights_and_each_run_gives_a_name_the_same_one() {
    let sizes = "4KiB:60, 20000:30, 0:10";
    let set = format!("sizes = \"{sizes}\"");
    let suite = suite("\"create\", \"write\", \"read\"", 900).replace("size = \"4KiB\"", &set);
    let run_once = || {
        let folder = scratch();
        let json = run(&folder, &suite, "--keep-data --set other=true").with_code(0).json();
        let mut found = std::collections::BTreeMap::new();
        let data = folder.join("data");
        sizes_below(&data, &data, &mut found);
        let bytes: u64 = found.values().sum();
        for op in ["create", "write-file", "read-file"] {
            let told =
                (figure(&json, op, "ios"), figure(&json, op, "bytes"), figure(&json, op, "errors"));
            assert_eq!(told, (900, bytes, 0), "{op}");
        }
        found
    };
    let found = run_once();
    for (size, wanted) in [(4096, 540), (20_000, 270), (0, 90)] {
        let count = found.values().filter(|own| **own == size).count();
        assert!(count.abs_diff(wanted) < 80, "{count} files of {size}");
    }
    assert_eq!(run_once(), found, "sizes follow from the names");
    let folder = scratch();
    fs::write(folder.join("suite.toml"), &suite).expect("a suite");
    let plan = plimsoll(&folder, "plan suite.toml --target data").with_code(0).out;
    assert!(plan.contains("on average 8.26 KiB, about 7.26 MiB in all"), "{plan}");
}

#[test]
fn the_files_of_a_killed_run_are_removed_by_clean_and_no_others() {
    let here = &scratch();
    fs::write(here.join("suite.toml"), suite("\"create\", \"remove\"", 1_000_000))
        .expect("a suite");
    let child = start(here, "run suite.toml --target data --quiet --set tree.depth=0");
    let tree = here.join("data/tree-00000");
    wait_until("files", || files_below(&tree).0 > 20);
    kill(child);
    assert!(files_below(&here.join("data")).0 > 20, "nobody was there to remove them");
    fs::write(tree.join("precious"), "theirs").expect("a file");
    let cleaned = plimsoll(here, "clean data").with_code(0);
    assert!(
        cleaned.out.contains("tree-00000 stays, because something in it is not ours"),
        "{}",
        cleaned.out
    );
    assert_eq!(fs::read_to_string(tree.join("precious")).expect("still there"), "theirs");
    assert_eq!(files_below(&here.join("data")), (1, 6));
    fs::remove_file(tree.join("precious")).expect("moved away");
    plimsoll(here, "clean data").with_code(0);
    assert!(!here.join("data").exists(), "nothing of ours is left behind");
}

#[test]
fn a_resumed_run_begins_its_round_of_operations_with_the_making() {
    let here = &scratch();
    let operations = "\"create\", \"stat\", \"setattr\", \"write\", \"stat\", \"read\", \"remove\"";
    fs::write(here.join("suite.toml"), suite(operations, 20_000)).expect("a suite");
    let args = "run suite.toml --target data --out run.plimsoll";
    let mut child = start(here, args);
    // A look at the run file takes longer than some operations on a busy machine.
    said(&mut child, "[1/7]");
    kill(child);
    let cut = recorded(here);
    assert!(cut.stages.len() < 7, "it was cut short");
    let json = plimsoll(here, "resume run.plimsoll --json --quiet").with_code(0).json();
    let rows = json["results"].list();
    assert_eq!(rows.len(), 7);
    assert!(rows.iter().all(|row| row["errors"] == 0 && row["ios"] == 20_000), "{json}");
    assert!(!here.join("data").exists(), "nothing is left");
}

#[test]
fn a_tree_beyond_the_inodes_of_a_file_system_is_refused_before_it_starts() {
    let true = has("inodes of a small file system", "losetup loop mkfs.ext4 mount") else { return };
    let mounted = Mounted::new("mkfs.ext4", 16);
    let folder = scratch();
    fs::write(folder.join("suite.toml"), suite("\"create\", \"remove\"", 100_000))
        .expect("a suite");
    let target = text(mounted.path());
    let args = ["run", "suite.toml", "--target", target, "--quiet", "--set", "tree.size=0"];
    let ended = plimsoll(&folder, args);
    assert_ne!(ended.code, 0);
    assert_says(&ended.err, &["inodes", "give fewer tree.files"]);
    assert_eq!(names(mounted.path()), ["lost+found"], "nothing was touched");
}
