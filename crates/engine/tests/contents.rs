//! Damage to real files, done by another program between two stages, is found and named.

use crate::common::{self, errors, run, scratch};
use engine::{OpenTargets, open};
use model::choices::{Access, Backend};
use model::note::{Damage, FoundBlock, Mismatch};
use model::plan::{Contents, EngineSettings, HostPlan, HostStage, Stop, Work};
use model::sample::{VERIFY_CORRUPT, VERIFY_MISDIRECTED, VERIFY_STALE, VERIFY_TORN};
use model::units::{Bytes, Nanos, Percent};
use model::{Fact, NoteKind, StageKind};
use std::os::unix::fs::FileExt;
use std::path::Path;

const BLOCK: u64 = 8192;
const BLOCKS: u64 = 64;

fn stage(number: u32, kind: StageKind, block: u64, read: u32, stop: Stop) -> HostStage {
    let access = if stop == Stop::Amount { Access::Sequential } else { Access::Random };
    let share = BLOCKS / 2 * BLOCK;
    let worker = |worker: u64| {
        common::worker_at(worker + 1 + u64::from(number) * 100, worker * share, share)
    };
    let work = Work::simple(Bytes(block), Percent::of(read), access, 4, stop);
    common::stage(number, kind, work, (0..2).map(worker).collect())
}

/// Prepare in large blocks, a mix, and two sweeps over every block: a write and a read.
fn stages() -> Vec<HostStage> {
    let mix = Stop::After(Nanos::millis(100));
    vec![
        stage(0, StageKind::Prepare, 65_536, 0, Stop::Amount),
        stage(1, StageKind::Measure, BLOCK, 50, mix),
        stage(2, StageKind::Measure, BLOCK, 0, Stop::Amount),
        stage(3, StageKind::Measure, BLOCK, 100, Stop::Amount),
    ]
}

fn opened(root: &Path, backend: Backend, run_id: &str, filled: bool) -> OpenTargets {
    let engine = EngineSettings {
        contents: Contents { verify: true, filled, grain: Bytes(BLOCK), ..Contents::RANDOM },
        ..EngineSettings::simple(backend)
    };
    let plan = HostPlan {
        targets: vec![common::directory(root, 1, BLOCKS * BLOCK)],
        stages: stages(),
        ..HostPlan::empty(run_id, Nanos::millis(20), engine)
    };
    open(plan).expect("opens")
}

/// Writes with another program's means, through a descriptor of its own.
fn meddle(root: &Path, meddling: impl FnOnce(&std::fs::File)) {
    let path = root.join("data-00000.bin");
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).expect("opens");
    meddling(&file);
    file.sync_all().expect("syncs");
}

fn block(file: &std::fs::File, number: u64) -> Vec<u8> {
    let mut bytes = vec![0; BLOCK as usize];
    file.read_exact_at(&mut bytes, number * BLOCK).expect("reads");
    bytes
}

/// Reads every block, expects exactly one damaged one, and comes back with what is told of it.
fn single_damage(targets: &OpenTargets, errno: i32) -> Mismatch {
    let (outcome, samples) = run(targets, 3);
    assert_eq!(errors(&samples), [(errno, 1)], "{:?}", outcome.findings);
    assert_eq!(outcome.findings.len(), 1);
    assert_eq!(outcome.findings[0].stage, Some(3));
    match &outcome.findings[0].fact {
        Fact::Mismatch(mismatch) => mismatch.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_sound_target_has_no_mismatch_whatever_runs() {
    for backend in [Backend::IoUring, Backend::Libaio, Backend::Sync] {
        let (_base, root) = scratch();
        let targets = opened(&root, backend, "r", true);
        for stage in [0, 3, 1, 3, 1, 2, 3] {
            let (outcome, samples) = run(&targets, stage);
            let told = format!("{backend}, stage {stage}: {:?}", outcome.findings);
            assert_eq!(errors(&samples), [], "{told}");
            let is_raced = |note: &model::Note| note.kind() == NoteKind::NotChecked;
            assert!(outcome.findings.iter().all(is_raced), "{told}");
        }
    }
}

#[test]
fn every_kind_of_damage_is_named_with_its_offset() {
    let (_base, root) = scratch();
    let targets = opened(&root, Backend::IoUring, "r", true);
    run(&targets, 0);

    let mut sound = Vec::new();
    meddle(&root, |file| {
        sound = block(file, 5);
        file.write_all_at(&[sound[700] ^ 1], 5 * BLOCK + 700).expect("writes");
    });
    let told = single_damage(&targets, VERIFY_CORRUPT);
    assert!(told.path.ends_with("data-00000.bin"), "{told:?}");
    assert_eq!((told.damage, told.offset), (Damage::Corrupt, 41_472));
    assert!(matches!(told.found, FoundBlock::Block { is_whole: false, .. }), "{told:?}");

    meddle(&root, |file| file.write_all_at(&block(file, 9), 5 * BLOCK).expect("writes"));
    let told = single_damage(&targets, VERIFY_MISDIRECTED);
    assert_eq!(told.offset, 40_960);
    let is_that_one =
        matches!(told.found, FoundBlock::Elsewhere { host: 0, file: 0, offset: 73_728, .. });
    assert!(is_that_one, "{told:?}");

    meddle(&root, |file| file.write_all_at(&sound, 5 * BLOCK).expect("writes"));
    assert!(errors(&run(&targets, 3).1).is_empty(), "what is put back is whole again");

    run(&targets, 2);
    let mut new = Vec::new();
    meddle(&root, |file| {
        new = block(file, 5);
        file.write_all_at(&sound, 5 * BLOCK).expect("writes");
    });
    let told = single_damage(&targets, VERIFY_STALE);
    assert_eq!((told.damage, told.offset), (Damage::Stale, 40_960));
    assert!(told.expected > 0, "{told:?}");

    meddle(&root, |file| file.write_all_at(&new[..4096], 5 * BLOCK).expect("writes"));
    let told = single_damage(&targets, VERIFY_TORN);
    assert_eq!((told.damage, told.offset), (Damage::Torn, 45_056));
}

#[test]
fn two_blocks_that_changed_places_are_two_misdirected_reads() {
    let (_base, root) = scratch();
    let targets = opened(&root, Backend::Sync, "r", true);
    run(&targets, 0);
    meddle(&root, |file| {
        let (one, other) = (block(file, 1), block(file, 60));
        file.write_all_at(&one, 60 * BLOCK).expect("writes");
        file.write_all_at(&other, BLOCK).expect("writes");
    });
    let (outcome, samples) = run(&targets, 3);
    assert_eq!(errors(&samples), [(VERIFY_MISDIRECTED, 2)]);
    assert_eq!(outcome.findings.len(), 2);
}

#[test]
fn a_later_run_checks_what_an_earlier_one_left() {
    let (_base, root) = scratch();
    run(&opened(&root, Backend::IoUring, "first", true), 0);
    let again = opened(&root, Backend::IoUring, "second", true);
    assert!(errors(&run(&again, 3).1).is_empty());
    meddle(&root, |file| file.write_all_at(&[0; 512], 3 * BLOCK + 1024).expect("writes"));
    let told = single_damage(&again, VERIFY_CORRUPT);
    assert_eq!((told.offset, told.expected, told.found), (25_600, 0, FoundBlock::Zeros));
    drop(again);
    let partial = opened(&root, Backend::IoUring, "third", false);
    assert!(
        errors(&run(&partial, 3).1).is_empty(),
        "where nothing was prepared, zeros are no damage"
    );
}
