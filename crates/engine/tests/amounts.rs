//! Amounts that are measured: who ends when, what counts, and one file for several hosts.

use crate::common::{self, ios_of, run, scratch};
use engine::{StageOutcome, open};
use model::choices::{Access, Backend};
use model::load::Pace;
use model::plan::{EngineSettings, Extent, HostPlan, HostStage, Once, PlannedTarget, Stop};
use model::units::{Bytes, Nanos, Percent};
use model::{IntervalSample, NoteKind, Op, Phase, StageKind};
use std::path::Path;

const BLOCK: u64 = 4096;
const FILE: u64 = 1024 * BLOCK;

/// A stage in which worker `n` has the `n`-th of `shares`, in blocks, one behind the other.
fn stage(number: u32, read: u32, once: Once, shares: &[u64]) -> HostStage {
    let mut offset = 0;
    let mut worker = |blocks: &u64| {
        let extent = Extent { file: 0, offset, length: blocks * BLOCK };
        offset += extent.length;
        common::worker(offset, vec![extent])
    };
    let workers = shares.iter().map(&mut worker).collect();
    let work = common::work(Percent::of(read), Access::Sequential, 2, Stop::Once(once));
    common::stage(number, StageKind::Measure, work, workers)
}

fn plan(
    root: &Path,
    host: u32,
    backend: Backend,
    direct: bool,
    stages: Vec<HostStage>,
) -> HostPlan {
    let mut target = common::directory(root, 1, FILE);
    if host > 0 {
        target.kind = PlannedTarget::Joined;
    }
    let engine = EngineSettings {
        direct,
        evict: true,
        patience: Nanos::seconds(5),
        ..EngineSettings::simple(backend)
    };
    HostPlan {
        host,
        targets: vec![target],
        stages,
        ..HostPlan::empty("test", Nanos::millis(10), engine)
    }
}

/// Successes of an operation in one phase.
fn sum(samples: &[IntervalSample], phase: Phase, op: Op) -> u64 {
    let of_phase: Vec<_> = samples.iter().filter(|one| one.phase == phase).cloned().collect();
    ios_of(&of_phase, op)
}

fn assert_no_block_is_left_out(root: &Path) {
    let bytes = std::fs::read(root.join("data-00000.bin")).expect("there");
    assert!(bytes.chunks(BLOCK as usize).all(|block| block.iter().any(|byte| *byte != 0)));
}

const ALL: Once = Once { stonewall: false, fsync: true, close: true };

#[test]
fn each_worker_does_its_share_and_flushes_it_and_the_first_is_told_apart() {
    for backend in [Backend::IoUring, Backend::Libaio, Backend::Sync] {
        the_first_is_told_apart(backend);
    }
}

fn the_first_is_told_apart(backend: Backend) {
    let (_base, root) = scratch();
    let targets = open(plan(&root, 0, backend, true, vec![unequal(ALL)])).expect("opens");
    let (outcome, samples) = run(&targets, 0);
    assert!(!outcome.failed && !outcome.interrupted, "{backend}: {outcome:?}");
    let of = |phase, op| sum(&samples, phase, op);
    let (load, tail) = (of(Phase::Load, Op::Write), of(Phase::Tail, Op::Write));
    assert_eq!(load + tail, SMALL + LARGE, "{backend}: every block once");
    assert!(tail > 0, "{backend}: the small share was not the first to be done");
    assert!(load >= SMALL, "{backend}: {load:?} {tail:?}");
    assert_eq!(of(Phase::Load, Op::Fsync) + of(Phase::Tail, Op::Fsync), 2, "{backend}");
    assert_eq!((of(Phase::Drain, Op::Write), of(Phase::Drain, Op::Fsync)), (0, 0));
    let ends = samples.iter().map(|sample| sample.start_ns + sample.length_ns);
    for (sample, end) in samples[1..].iter().zip(ends) {
        assert_eq!(sample.start_ns, end, "{backend}: intervals adjoin, also at the wall");
    }
    targets.remove().expect("removed");
}

const SMALL: u64 = 8;
const LARGE: u64 = 120;

/// Two shares of which the large one takes a second at the least, because its worker thinks:
/// whatever a disk under other load does to the flush of the small share, that one is the first to
/// be done.
fn unequal(once: Once) -> HostStage {
    let mut stage = stage(0, 0, once, &[SMALL, LARGE]);
    let mut pensive = stage.works[0].clone();
    pensive.pace = Pace::Closed { think: Nanos::millis(10), burst: 1 };
    stage.works.push(pensive);
    stage.workers[1].work = 1;
    stage
}

#[test]
fn a_stonewall_ends_all_with_the_first() {
    let (_base, root) = scratch();
    let once = Once { stonewall: true, fsync: false, close: false };
    let targets = open(plan(&root, 0, Backend::Sync, true, vec![unequal(once)])).expect("opens");
    let (outcome, samples) = run(&targets, 0);
    assert!(!outcome.interrupted && !outcome.failed);
    let written = ios_of(&samples, Op::Write);
    assert!((SMALL..SMALL + LARGE).contains(&written), "{written}");
    assert!(samples.iter().all(|sample| sample.phase != Phase::Tail));
    let late = sum(&samples, Phase::Drain, Op::Fsync);
    assert_eq!(late, 1, "flushed when nothing is measured any more");
    targets.remove().expect("removed");
}

#[test]
fn a_workers_blocks_in_turn_are_every_nth_of_the_file() {
    let (_base, root) = scratch();
    let mut in_turn = stage(0, 0, ALL, &[1, 1]);
    in_turn.works[0].pattern.stride = Bytes(2 * BLOCK);
    for (number, worker) in in_turn.workers.iter_mut().enumerate() {
        let offset = number as u64 * BLOCK;
        worker.extents = vec![Extent { file: 0, offset, length: FILE - BLOCK }];
    }
    let targets = open(plan(&root, 0, Backend::IoUring, true, vec![in_turn])).expect("opens");
    let (_, samples) = run(&targets, 0);
    assert_eq!(ios_of(&samples, Op::Write), FILE / BLOCK);
    assert_no_block_is_left_out(&root);
    targets.remove().expect("removed");
}

#[test]
fn a_second_host_opens_what_the_first_one_makes_and_removes_nothing() {
    let (_base, root) = scratch();
    let half = |offset: u64| {
        let mut stage = stage(0, 0, ALL, &[FILE / BLOCK / 2]);
        stage.workers[0].extents[0].offset = offset;
        stage
    };
    let second = plan(&root, 1, Backend::Sync, true, vec![half(FILE / 2)]);
    // It waits for the file.
    let waiting = std::thread::spawn(move || open(second).expect("opens once it is there"));
    let first = open(plan(&root, 0, Backend::Sync, true, vec![half(0)])).expect("opens");
    let second = waiting.join().expect("no panic");
    for targets in [&first, &second] {
        run(targets, 0);
    }
    second.remove().expect("nothing to remove");
    assert_no_block_is_left_out(&root);
    first.remove().expect("removed");
    assert!(!root.exists());
    let mut lonely = plan(&root, 1, Backend::Sync, true, vec![half(0)]);
    lonely.engine.patience = Nanos::millis(100);
    let error = open(lonely).expect_err("nobody makes it").to_string();
    assert!(error.contains("the host that makes it") && error.contains("patience"), "{error}");
}

#[test]
fn reads_through_the_page_cache_begin_without_it_and_the_kernel_says_so() {
    let (_base, root) = scratch();
    let stages =
        vec![stage(0, 0, ALL, &[1024]), stage(1, 100, ALL, &[1024]), stage(2, 100, ALL, &[1024])];
    let mut given = plan(&root, 0, Backend::Sync, false, stages);
    let devices = |outcome: &StageOutcome| -> u64 {
        outcome.findings.iter().find_map(|note| note.fact.device_read()).expect("said")
    };
    let targets = open(given.clone()).expect("opens");
    assert!(
        targets.notes().iter().any(|note| note.kind() == NoteKind::PageCache),
        "{:?}",
        targets.notes()
    );
    let (outcome, _) = run(&targets, 0);
    assert!(outcome.findings.is_empty(), "a write needs no empty cache");
    assert!(devices(&run(&targets, 1).0) >= FILE, "evicted, so that the device gave every byte");
    assert!(devices(&run(&targets, 2).0) >= FILE, "and again");
    drop(targets);
    given.engine.evict = false;
    let targets = open(given).expect("opens");
    run(&targets, 1);
    assert!(devices(&run(&targets, 2).0) < FILE / 2, "what was just read comes from memory");
    targets.remove().expect("removed");
}
