//! Operations on whole files, held to what the file system itself says.

use crate::common::{self, errors, scratch};
use crate::files::{Layout, ios, plan, run};
use engine::{Control, OpenTargets, clean, open, run_stage};
use model::choices::{CloseTime, FileFsync};
use model::metadata::OpMix;
use model::plan::Stop;
use model::units::Nanos;
use model::{Op, Phase};
use std::fs;
use std::path::{Path, PathBuf};

/// Trees that workers share, in order.
const SHARED: Layout = Layout { unique: false, random: false };

/// A tree for each worker, in order.
const UNIQUE: Layout = Layout { unique: true, random: false };

fn opened(root: &Path, files: u64, size: u64, layout: Layout, ops: &[Op]) -> OpenTargets {
    open(plan(root, files, size, layout, ops)).expect("opens")
}

fn cleaned(root: &Path) -> engine::Removed {
    clean(root.to_str().expect("UTF-8"), &engine::Progress::default()).expect("cleans")
}

/// All paths below `root` whose last name begins with `letter`.
fn found(root: &Path, letter: char) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).expect("a directory").flatten() {
            if entry.file_name().to_string_lossy().starts_with(letter) {
                found.push(entry.path());
            }
            if entry.file_type().expect("a type").is_dir() {
                open.push(entry.path());
            }
        }
    }
    found
}

#[test]
fn what_was_counted_is_what_the_file_system_has() {
    for layout in [UNIQUE, Layout { unique: false, random: true }] {
        let (_base, root) = scratch();
        let ops = [
            Op::Create,
            Op::Stat,
            Op::Open,
            Op::ReadFile,
            Op::WriteFile,
            Op::SetAttr,
            Op::Readdir,
            Op::Remove,
        ];
        let targets = opened(&root, 1000, 4096, layout, &ops);
        assert_eq!(found(&root, 'f').len(), 0, "directories only");
        for (number, op) in ops.into_iter().enumerate() {
            let samples = run(&targets, number);
            assert_eq!(errors(&samples), [], "{op}");
            let done = if op == Op::Readdir { found(&root, 'd').len() as u64 } else { 1000 };
            assert_eq!(ios(&samples), done, "{op}");
            let moves = matches!(op, Op::Create | Op::ReadFile | Op::WriteFile);
            let bytes: u64 = common::ops(&samples).map(|op| op.bytes).sum();
            assert_eq!(bytes, if moves { 1000 * 4096 } else { 0 }, "{op}");
            let there = found(&root, 'f');
            assert_eq!(there.len(), if op == Op::Remove { 0 } else { 1000 }, "{op}");
            assert!(
                there.iter().all(|path| fs::metadata(path).expect("a file").len() == 4096),
                "{op}"
            );
        }
        targets.remove().expect("removes");
        assert!(!root.exists());
    }
}

#[test]
fn a_mix_goes_on_for_its_time_and_leaves_the_tree_as_it_is() {
    for layout in [Layout { unique: true, random: true }, SHARED] {
        let (_base, root) = scratch();
        let mut plan = plan(&root, 100, 4096, layout, &[Op::Create, Op::Stat, Op::Remove]);
        let work = &mut plan.stages[1].works[0];
        work.stop = Stop::After(Nanos::millis(200));
        let parts = [(Op::Stat, 60), (Op::ReadFile, 30), (Op::Readdir, 9), (Op::SetAttr, 1)];
        work.metadata.as_mut().expect("metadata").mix = Some(OpMix::new(&parts).expect("a mix"));
        let targets = open(plan).expect("opens");
        run(&targets, 0);
        let before = found(&root, 'f');
        let samples = run(&targets, 1);
        assert_eq!(errors(&samples), []);
        let [stat, read, list] =
            [Op::Stat, Op::ReadFile, Op::Readdir].map(|op| common::ios_of(&samples, op));
        assert!(stat > read && read > list && list > 0, "{stat} stats, {read} reads, {list} lists");
        assert!(stat + read > 100, "files come again");
        assert!(common::ops(&samples).all(|sample| {
            sample.bytes == if sample.op == Op::ReadFile { sample.ios * 4096 } else { 0 }
        }));
        assert_eq!(found(&root, 'f'), before);
        assert_eq!(ios(&run(&targets, 2)), 100, "all files are there to be removed");
        targets.remove().expect("removes");
    }
}

#[test]
fn every_file_holds_bytes_of_its_own() {
    let (_base, root) = scratch();
    let targets = opened(&root, 50, 4096, UNIQUE, &[Op::Create]);
    run(&targets, 0);
    let contents: std::collections::BTreeSet<Vec<u8>> =
        found(&root, 'f').iter().map(|path| fs::read(path).expect("a file")).collect();
    assert_eq!(contents.len(), 50, "no two are alike");
}

#[test]
fn second_names_are_gone_when_their_stage_is_over() {
    let (_base, root) = scratch();
    let ops =
        [Op::Create, Op::Rename, Op::Link, Op::Symlink, Op::Mkdir, Op::Rmdir, Op::Rename, Op::Stat];
    let targets = opened(&root, 60, 0, Layout { unique: false, random: true }, &ops);
    for (number, op) in ops.into_iter().enumerate() {
        let samples = run(&targets, number);
        assert_eq!((ios(&samples), errors(&samples)), (60, vec![]), "{op}");
        assert_eq!(found(&root, 'f').len(), 60, "{op}");
        assert_eq!(found(&root, 'm').len(), if op == Op::Mkdir { 60 } else { 0 }, "{op}");
        assert!(['l', 'r', 's'].iter().all(|letter| found(&root, *letter).is_empty()), "{op}");
    }
    targets.remove().expect("removes");
}

#[test]
fn what_is_not_timed_is_in_no_latency_and_in_the_time_of_the_stage() {
    let (_base, root) = scratch();
    let ops = [Op::Create, Op::WriteFile, Op::WriteFile];
    let mut plan = plan(&root, 400, 4096, UNIQUE, &ops);
    let times = [(FileFsync::Timed, CloseTime::Timed), (FileFsync::Untimed, CloseTime::Untimed)];
    for (stage, times) in plan.stages.iter_mut().zip([times[0], times[0], times[1]]) {
        // One worker: its operations follow each other from the first instant of the stage to the
        // last.
        stage.workers.truncate(1);
        let work = stage.works[0].metadata.as_mut().expect("metadata");
        (work.fsync, work.close) = times;
    }
    let targets = open(plan).expect("opens");
    run(&targets, 0);
    let [timed_ns, untimed_ns] = [1, 2].map(|stage| {
        let samples = run(&targets, stage);
        assert_eq!((ios(&samples), errors(&samples)), (200, vec![]));
        let mut counted_ns: Vec<u64> =
            common::ops(&samples).flat_map(|op| op.raw_latencies.iter().copied()).collect();
        let load_ns: u64 =
            samples.iter().filter(|sample| sample.phase == Phase::Load).map(|s| s.length_ns).sum();
        assert!(
            counted_ns.iter().sum::<u64>() <= load_ns,
            "one worker's operations follow each other"
        );
        counted_ns.sort_unstable();
        counted_ns[counted_ns.len() / 2]
    });
    // To overwrite 4 KiB in memory takes microseconds, to flush them to the disk hundreds of them.
    // The median, because a worker may have to wait for a processor with some of its operations,
    // and between any two of them.
    assert!(
        untimed_ns < timed_ns / 2,
        "{timed_ns} ns with fsync and close, {untimed_ns} ns without"
    );
}

#[test]
fn a_directory_that_is_removed_under_the_run_is_data() {
    let (_base, root) = scratch();
    let ops = [Op::Create, Op::Stat, Op::Readdir];
    let targets = opened(&root, 100, 0, SHARED, &ops);
    run(&targets, 0);
    fs::remove_dir_all(root.join("tree-00000/d000000000000000000")).expect("removes");
    let samples = run(&targets, 1);
    assert_eq!((ios(&samples), errors(&samples)), (90, vec![(libc::ENOENT, 10)]));
    let samples = run(&targets, 2);
    assert_eq!((ios(&samples), errors(&samples)), (9, vec![(libc::ENOENT, 1)]));
    targets.remove().expect("what is left is removed");
    assert!(!root.exists());
}

#[test]
fn files_that_are_there_already_are_counted_as_such() {
    let (_base, root) = scratch();
    let ops = [Op::Create, Op::Create];
    let targets = opened(&root, 20, 0, UNIQUE, &ops);
    run(&targets, 0);
    assert_eq!(errors(&run(&targets, 1)), [(libc::EEXIST, 20)]);
}

#[test]
fn a_file_that_is_shorter_than_it_was_written_is_no_success() {
    let (_base, root) = scratch();
    let ops = [Op::Create, Op::ReadFile];
    let targets = opened(&root, 20, 4096, UNIQUE, &ops);
    run(&targets, 0);
    let victim = found(&root, 'f').into_iter().next().expect("a file");
    fs::File::options().write(true).open(victim).expect("opens").set_len(5).expect("shortens");
    let samples = run(&targets, 1);
    assert_eq!((ios(&samples), errors(&samples)), (19, vec![(0, 1)]));
}

#[test]
fn a_stop_ends_a_stage_and_its_tree_is_removed_all_the_same() {
    let (_base, root) = scratch();
    let ops = [Op::Create];
    let targets = opened(&root, 40_000, 0, UNIQUE, &ops);
    let (control, mut created) = (Control::new(), 0);
    let stage = targets.plan().stages[0].clone();
    let outcome = run_stage(&targets, &stage, &control, &mut || Some(0), &mut |sample| {
        created += sample.ops.iter().map(|op| op.ios).sum::<u64>();
        control.stop();
    });
    assert!(outcome.expect("no failure of ours").interrupted);
    let made = found(&root, 'f').len() as u64;
    assert_eq!(made, created, "what was sent when the stop came is counted, too");
    targets.remove().expect("removes");
    assert!(!root.exists());
}

/// The trees of a run that was killed: its process is gone, and so is the lock, but everything else
/// is there.
fn killed(root: &Path) -> OpenTargets {
    let targets = opened(root, 100, 7, UNIQUE, &[Op::Create]);
    run(&targets, 0);
    targets
}

#[test]
fn leftovers_are_removed_by_name_and_nothing_of_others_is() {
    let (base, root) = scratch();
    drop(killed(&root));
    let outside = base.path().join("outside");
    fs::create_dir(&outside).expect("a directory");
    fs::write(outside.join("f1"), "precious").expect("a file");
    let leaf = root.join("tree-00000/d000000000000000000");
    // Names of ours that are something else, and a name that is not ours.
    std::os::unix::fs::symlink(&outside, root.join("tree-00000/d99")).expect("a link");
    std::os::unix::fs::symlink(&outside, root.join("tree-00007")).expect("a link");
    fs::create_dir(leaf.join("f77")).expect("a directory");
    fs::write(leaf.join("f77/f1"), "precious").expect("a file");
    fs::write(leaf.join("notes.txt"), "precious").expect("a file");
    let left = root.join("tree-00000").to_str().map(str::to_owned);
    assert_eq!(cleaned(&root), engine::Removed { bytes: 100 * 7, left });
    assert_eq!(fs::read_to_string(outside.join("f1")).expect("still there"), "precious");
    assert_eq!(fs::read_to_string(leaf.join("f77/f1")).expect("still there"), "precious");
    assert_eq!(fs::read_to_string(leaf.join("notes.txt")).expect("still there"), "precious");
    assert_eq!(found(&root, 'f'), [leaf.join("f77"), leaf.join("f77/f1")]);
    assert!(!root.join("tree-00001").exists());
    fs::remove_dir_all(leaf.join("f77")).expect("moved away");
    fs::remove_file(leaf.join("notes.txt")).expect("moved away");
    fs::remove_file(root.join("tree-00000/d99")).expect("moved away");
    assert_eq!(
        cleaned(&root),
        engine::Removed { bytes: 0, left: None },
        "the tree is told as ours once more"
    );
    assert!(!root.join("tree-00000").exists() && root.join("tree-00007").is_symlink());
}

#[test]
fn leftovers_of_earlier_versions_are_removed_too() {
    let (_base, root) = scratch();
    drop(killed(&root));
    // They wrote numbers without zeros.
    let leaf = root.join("tree-00000/d12");
    fs::create_dir_all(leaf.join("m12")).expect("a directory");
    fs::write(leaf.join("f12345"), "12345").expect("a file");
    std::os::unix::fs::symlink("f12345", leaf.join("s12345")).expect("a link");
    fs::write(leaf.join("f012345"), "precious").expect("a file of somebody else");
    let freed = cleaned(&root).bytes;
    assert!(freed >= 100 * 7 + 5, "{freed} bytes");
    let left: Vec<_> =
        fs::read_dir(&leaf).expect("stays").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["f012345"]);
    fs::remove_file(leaf.join("f012345")).expect("moved away");
    assert_eq!(cleaned(&root).left, None);
    assert!(!root.join("tree-00000").exists());
}

#[test]
fn the_next_run_begins_where_nothing_is_left_of_the_last() {
    let (_base, root) = scratch();
    drop(killed(&root));
    let ops = [Op::Create, Op::Remove];
    let targets = opened(&root, 30, 0, UNIQUE, &ops);
    assert_eq!(found(&root, 'f').len(), 0);
    assert_eq!(errors(&run(&targets, 0)), []);
    targets.remove().expect("removes");
    assert!(!root.exists());
}

#[test]
fn a_tree_that_holds_something_of_others_stays_with_its_marker_and_says_so() {
    let (_base, root) = scratch();
    let ops = [Op::Create, Op::Remove];
    let targets = opened(&root, 30, 0, UNIQUE, &ops);
    let theirs = root.join("tree-00000/d000000000000000000/notes.txt");
    fs::write(&theirs, "precious").expect("a file");
    let words = targets.remove().expect_err("it stays").to_string();
    assert!(words.contains("tree-00000: stays") && words.contains("plimsoll clean"), "{words}");
    assert!(!root.join("tree-00001").exists(), "the others are gone");
    let refused = open(plan(&root, 30, 0, UNIQUE, &ops)).expect_err("it is there still");
    assert!(refused.to_string().contains("move that away"), "{refused}");
    assert_eq!(fs::read_to_string(&theirs).expect("still there"), "precious");
    fs::remove_file(&theirs).expect("moved away");
    assert_eq!(cleaned(&root).left, None);
    assert!(!root.exists());
}
