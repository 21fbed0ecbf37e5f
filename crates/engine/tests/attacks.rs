//! Nothing that Plimsoll did not create is written or removed: swaps, links and races are thrown at
//! a claim, and plans that name what is not theirs.

use crate::common;
use engine::{Progress, open};
use model::StageKind;
use model::choices::{Access, Backend};
use model::metadata::Tree;
use model::plan::{EngineSettings, HostPlan, PlannedTarget, Stop, TargetFile};
use model::testbed::MARKER;
use model::units::{Bytes, Nanos, Percent};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

const FILE: u64 = 64 << 10;
const PRECIOUS: &str = "ten years of work";

/// Files of somebody else with names that could be ours.
const OF_VICTIM: [&str; 3] =
    ["data-00000.bin", "data-00001.bin", "tree-00000/d000000000000000000/f000000000000000001"];

fn text(path: &Path) -> String {
    path.to_str().expect("UTF-8").to_owned()
}

/// A plan with `files` files in the directory `root`, and a stage that fills them.
fn plan(root: &Path, files: u32) -> HostPlan {
    let work = common::work(Percent::ZERO, Access::Sequential, 1, Stop::Amount);
    let engine = EngineSettings { direct: false, ..EngineSettings::simple(Backend::Sync) };
    HostPlan {
        targets: vec![common::directory(root, files, FILE)],
        stages: vec![common::stage(0, StageKind::Prepare, work, Vec::new())],
        ..HostPlan::empty("r", Nanos::millis(100), engine)
    }
}

fn tree(root: &Path) -> Tree {
    Tree { per_directory: 4, ..common::tree(format!("{}/tree-00000", root.display()), 8, 0) }
}

struct Scratch {
    base: tempfile::TempDir,
    root: PathBuf,
}

impl Scratch {
    fn new() -> Scratch {
        let (base, root) = common::scratch();
        Scratch { base, root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.base.path().join(name)
    }

    /// A folder of somebody else with names that could be ours.
    fn victim(&self) -> PathBuf {
        let victim = self.path("victim");
        fs::create_dir_all(victim.join("tree-00000/d000000000000000000")).expect("folders");
        for name in OF_VICTIM {
            fs::write(victim.join(name), PRECIOUS).expect("a file");
        }
        victim
    }
}

/// Nothing in the folder of [`Scratch::victim`] has changed.
fn is_whole(victim: &Path) {
    for name in OF_VICTIM {
        assert_eq!(fs::read_to_string(victim.join(name)).expect("it is there"), PRECIOUS, "{name}");
    }
    assert_eq!(fs::read_dir(victim).expect("a folder").count(), 3, "nothing was put there");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_plan_that_names_what_is_not_its_targets_touches_nothing() {
    let scratch = Scratch::new();
    let victim = scratch.victim();
    let precious = text(&victim.join("data-00001.bin"));
    let attacks: [&dyn Fn(&mut HostPlan); 7] = [
        &|plan| plan.targets[0].files[0].path.clone_from(&precious),
        &|plan| plan.targets[0].kind = PlannedTarget::Directory { root: text(&victim) },
        &|plan| {
            plan.targets[0].kind = PlannedTarget::Joined;
            plan.targets[0].files[0] =
                TargetFile { path: precious.clone(), size: Bytes(PRECIOUS.len() as u64) };
        },
        &|plan| {
            plan.targets[0].kind = PlannedTarget::Device;
            plan.targets[0].files[0].path.clone_from(&precious);
        },
        &|plan| {
            plan.targets[0].path.clone_from(&precious);
            plan.targets[0].kind = PlannedTarget::Device;
            plan.targets[0].files[0].path.clone_from(&precious);
        },
        &|plan| plan.trees[0].path = text(&victim.join("tree-00001")),
        &|plan| {
            plan.targets[0].files[1].path =
                format!("{}/../victim/data-00001.bin", scratch.root.display());
        },
    ];
    for (number, attack) in attacks.iter().enumerate() {
        let mut plan = plan(&scratch.root, 2);
        plan.trees = vec![tree(&scratch.root)];
        plan.engine.patience = Nanos::millis(100);
        attack(&mut plan);
        let refused = open(plan).expect_err("not its targets").to_string();
        assert!(refused.contains("; "), "{number}: the remedy follows: {refused}");
        is_whole(&victim);
        assert!(!scratch.root.exists(), "{number}: {refused}");
    }
}

#[test]
fn files_of_another_host_are_loaded_beside_the_marker_of_this_run_alone() {
    let scratch = Scratch::new();
    drop(open(plan(&scratch.root, 1)).expect("another run leaves its files"));
    let of = |run: &str| {
        let mut plan = plan(&scratch.root, 1);
        plan.run_id = run.to_owned();
        plan.host = 1;
        plan.engine.patience = Nanos::millis(200);
        plan.targets[0].kind = PlannedTarget::Joined;
        plan
    };
    drop(open(of("r")).expect("that of this run"));
    let refused = open(of("another")).expect_err("not of this run").to_string();
    assert!(refused.contains("has not claimed its directory in time"), "{refused}");
    // As where its host has made the marker, and what it holds is not sent yet.
    fs::write(scratch.root.join(MARKER), "").expect("a marker");
    drop(open(of("another")).expect("a marker of a run that begins"));
    fs::remove_file(scratch.root.join(MARKER)).expect("removed");
    open(of("another")).expect_err("no marker");
}

#[test]
fn a_directory_that_is_swapped_in_mid_run_is_emptied_where_it_is_and_nowhere_else() {
    for with_link in [true, false] {
        let scratch = Scratch::new();
        let victim = scratch.victim();
        let mut plan = plan(&scratch.root, 2);
        plan.trees = vec![tree(&scratch.root)];
        let targets = open(plan).expect("opens");
        let moved = scratch.path("moved");
        fs::rename(&scratch.root, &moved).expect("moved");
        let swapped = if with_link {
            symlink(&victim, &scratch.root).expect("a link");
            &victim
        } else {
            fs::rename(&victim, &scratch.root).expect("moved");
            &scratch.root
        };
        let told = targets.remove().expect_err("it is told").to_string();
        assert!(
            told.contains("leads to another place")
                && told.contains(scratch.root.to_str().expect("UTF-8")),
            "{told}"
        );
        is_whole(swapped);
        assert_eq!(names(&moved), [""; 0], "what is ours is removed where it is");
    }
}

#[test]
fn a_directory_with_another_runs_marker_in_the_place_of_ours_stays_whole() {
    let scratch = Scratch::new();
    let targets = open(plan(&scratch.root, 1)).expect("opens");
    fs::rename(&scratch.root, scratch.path("moved")).expect("moved");
    drop(open(plan(&scratch.root, 2)).expect("another run keeps its data there"));
    targets.remove().expect_err("it is told");
    assert_eq!(names(&scratch.root), [MARKER, "data-00000.bin", "data-00001.bin"]);
}

#[test]
fn a_marker_that_somebody_put_in_the_place_of_ours_stays() {
    let scratch = Scratch::new();
    let targets = open(plan(&scratch.root, 1)).expect("opens");
    fs::remove_file(scratch.root.join(MARKER)).expect("removed");
    fs::write(scratch.root.join(MARKER), PRECIOUS).expect("a file");
    targets.remove().expect("removes what is ours");
    assert_eq!(names(&scratch.root), [MARKER]);
    assert_eq!(fs::read_to_string(scratch.root.join(MARKER)).expect("a file"), PRECIOUS);
}

#[test]
fn a_file_that_somebody_put_in_the_place_of_ours_stays() {
    let scratch = Scratch::new();
    let targets = open(plan(&scratch.root, 2)).expect("opens");
    let place = scratch.root.join("data-00001.bin");
    fs::rename(&place, scratch.path("moved")).expect("moved away");
    fs::write(&place, PRECIOUS).expect("a file");
    targets.remove().expect("removes what is ours");
    assert_eq!(names(&scratch.root), ["data-00001.bin"]);
    assert_eq!(fs::read_to_string(&place).expect("a file"), PRECIOUS);
}

#[test]
fn a_hard_link_of_our_name_is_neither_written_nor_cut_nor_removed() {
    for marker in
        ["", "{\"made_by\":\"plimsoll\",\"run_id\":\"r\",\"pid\":1,\"made_directory\":true}"]
    {
        let scratch = Scratch::new();
        let important = scratch.path("important");
        fs::write(&important, PRECIOUS).expect("a file");
        fs::create_dir(&scratch.root).expect("a folder");
        fs::write(scratch.root.join(MARKER), marker).expect("a marker");
        fs::hard_link(&important, scratch.root.join("data-00001.bin")).expect("a link");
        let refused = open(plan(&scratch.root, 2)).expect_err("not ours").to_string();
        assert!(
            refused.contains("data-00001.bin") && refused.contains("hard link, one of 2 names"),
            "{refused}"
        );
        // One more than the plan has would be removed as an earlier run's.
        open(plan(&scratch.root, 1)).expect("no file of the plan").remove().expect("removes");
        assert_eq!(names(&scratch.root), ["data-00001.bin"]);
        assert_eq!(fs::read_to_string(&important).expect("a file"), PRECIOUS);
    }
}

#[test]
fn a_hard_link_in_the_place_of_the_marker_is_not_written() {
    let scratch = Scratch::new();
    let important = scratch.path("important");
    fs::write(&important, "").expect("a file");
    fs::create_dir(&scratch.root).expect("a folder");
    fs::hard_link(&important, scratch.root.join(MARKER)).expect("a link");
    let refused = open(plan(&scratch.root, 1)).expect_err("not ours").to_string();
    assert!(refused.contains("Plimsoll did not make it"), "{refused}");
    assert!(engine::clean(&text(&scratch.root), &Progress::default()).is_err());
    assert_eq!(fs::read_to_string(&important).expect("a file"), "");
    assert_eq!(names(&scratch.root), [MARKER]);
}

#[test]
fn a_file_of_ours_with_a_second_name_keeps_what_it_holds() {
    let scratch = Scratch::new();
    let targets = open(plan(&scratch.root, 1)).expect("opens");
    let kept = scratch.path("kept");
    fs::hard_link(scratch.root.join("data-00000.bin"), &kept).expect("a link");
    targets.remove().expect("removes the rest");
    assert_eq!(fs::metadata(&kept).expect("a file").len(), FILE);
    assert_eq!(names(&scratch.root), ["data-00000.bin"], "it is somebody's by now");
}

#[test]
fn links_pipes_and_folders_of_our_names_are_refused_and_stay() {
    let scratch = Scratch::new();
    let important = scratch.path("important");
    let pipe = |path: &Path| {
        let made = std::process::Command::new("mkfifo").arg(path).status().expect("coreutils");
        assert!(made.success());
    };
    let make: [&dyn Fn(&Path); 3] =
        [&|path| symlink(&important, path).expect("a link"), &pipe, &|path| {
            fs::create_dir(path).expect("a folder");
        }];
    for make in make {
        fs::write(&important, PRECIOUS).expect("a file");
        fs::create_dir(&scratch.root).expect("a folder");
        fs::write(scratch.root.join(MARKER), "").expect("a marker");
        make(&scratch.root.join("data-00000.bin"));
        let refused = open(plan(&scratch.root, 1)).expect_err("not ours").to_string();
        assert!(refused.contains("it is no regular file"), "{refused}");
        engine::clean(&text(&scratch.root), &Progress::default()).expect("the rest is ours");
        assert_eq!(names(&scratch.root), ["data-00000.bin"]);
        assert_eq!(fs::read_to_string(&important).expect("a file"), PRECIOUS);
        fs::remove_dir_all(&scratch.root).expect("removed");
    }
}

#[test]
fn a_folder_of_ours_is_no_link() {
    let scratch = Scratch::new();
    let victim = scratch.victim();
    let mut beside = plan(&scratch.path("target-h0001"), 1);
    beside.targets[0].path = text(&scratch.root);
    symlink(&victim, scratch.path("target-h0001")).expect("a link");
    let refused = open(beside).expect_err("a link").to_string();
    assert!(refused.contains("a link, which is not followed"), "{refused}");
    is_whole(&victim);
    // The target itself may be one: its user named it.
    let real = scratch.path("real");
    fs::create_dir(&real).expect("a folder");
    symlink(&real, &scratch.root).expect("a link");
    open(plan(&scratch.root, 1)).expect("follows").remove().expect("removes");
    assert_eq!(names(&real), [""; 0]);
}

#[test]
fn a_refused_first_run_leaves_an_empty_directory_empty() {
    let scratch = Scratch::new();
    fs::create_dir(&scratch.root).expect("a folder");
    let mut plan = plan(&scratch.root, 2);
    plan.targets[0].files[1].size = Bytes(1 << 62);
    open(plan).expect_err("no file system has so much");
    assert_eq!(names(&scratch.root), [""; 0]);
}

#[test]
fn swaps_that_race_with_openings_and_removals_hit_no_victim() {
    let scratch = Scratch::new();
    let victim = scratch.victim();
    let (mine, link) = (scratch.path("mine"), scratch.path("link"));
    fs::create_dir(&mine).expect("a folder");
    symlink(&victim, &link).expect("a link");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // One name leads to a folder of ours and to the victim in turn, and so does a name of
            // ours in it.
            while !is_over.load(Ordering::Relaxed) {
                let _ = fs::rename(&mine, &scratch.root);
                let _ = symlink(victim.join("data-00001.bin"), scratch.root.join("data-00001.bin"));
                let _ = fs::rename(&scratch.root, &mine);
                let _ = fs::remove_file(mine.join("data-00001.bin"));
                let _ = fs::rename(&link, &scratch.root);
                let _ = fs::rename(&scratch.root, &link);
            }
        });
        for _ in 0..300 {
            let mut plan = plan(&scratch.root, 2);
            plan.trees = vec![tree(&scratch.root)];
            if let Ok(targets) = open(plan) {
                let _ = targets.remove();
            }
            let _ = engine::clean(&text(&scratch.root), &Progress::default());
        }
        is_over.store(true, Ordering::Relaxed);
    });
    is_whole(&victim);
}
