//! Populations whose workers stop anywhere, as those of a killed run do, and what is held against
//! them.

use super::course::{Course, Leg};
use super::fit::{self, Fit};
use super::standing::Standing;
use super::*;
use crate::common;
use crate::contents::{HostContents, Origin};
use crate::metadata::{Ledger, Life, Step};
use model::Op;
use model::choices::Backend;
use model::ledger::LedgerSum;
use model::metadata::MetadataWork;
use model::plan::{Contents, EngineSettings};
use model::population::LivingMix;
use model::units::{Nanos, Percent};
use std::fs;
use std::os::unix::fs::FileExt;

const NAMES: u64 = 40;

fn population(stage: PopulationStage) -> Population {
    let parts = [
        (Op::Create, 4),
        (Op::WriteFile, 3),
        (Op::Append, 4),
        (Op::Truncate, 2),
        (Op::ReadFile, 2),
        (Op::Readdir, 1),
        (Op::Rename, 3),
        (Op::Remove, 4),
    ];
    let mix = LivingMix::new(&parts).expect("a good mix");
    Population { mix, fill: Percent::of(80), append: Bytes(3_000), stage }
}

fn plan() -> HostPlan {
    let engine = EngineSettings {
        direct: false,
        contents: Contents { verify: true, ..Contents::RANDOM },
        ..EngineSettings::simple(Backend::Sync)
    };
    HostPlan::empty("r", Nanos::seconds(1), engine)
}

fn tree() -> Tree {
    Tree { depth: 0, per_directory: 1, ..common::tree("/t/tree-00000", NAMES, 5_000) }
}

const SHARE: FileShare = FileShare { tree: 0, first: 0, step: 1, count: NAMES };

fn workers(seed: u64) -> [Worker; 2] {
    [seed, seed + 1].map(|seed| common::worker_on_files(seed, SHARE))
}

/// What a worker is to have done in a stage that came to its end.
fn leg(stage: PopulationStage, worker: &Worker, counts: [u64; MOST_LIVING]) -> Leg<'_> {
    let population = population(stage);
    let of_files = common::metadata(Op::Create, 5_000);
    let metadata = MetadataWork { population: Some(population), ..of_files };
    Leg { stage: 0, worker, metadata, population, counts, errors: 0, is_whole: true }
}

/// Real files, changed as the engine would, operation by operation.
struct Disk {
    folder: tempfile::TempDir,
    contents: HostContents,
}

impl Disk {
    fn new() -> Disk {
        Disk {
            folder: tempfile::tempdir().expect("a folder"),
            contents: HostContents::new(&plan()),
        }
    }

    fn path(&self, kind: Kind, number: u64) -> std::path::PathBuf {
        let mut path = PathBuffer::new();
        self.folder.path().join(path.of(&tree(), kind, number).to_str().expect("ASCII"))
    }

    /// Does `step` of the worker with `seed`; of what it writes, only as much as `part` says.
    fn take(&self, seed: u64, step: &Step, part: u32) {
        let kind = if step.renamed { Kind::Renamed } else { Kind::File };
        let path = self.path(kind, step.number);
        let mut bytes = vec![0; (step.moves as usize).min(5_000)];
        let origin = Origin { number: step.number, ordinal: step.ordinal };
        self.contents.writings(seed).fill(origin, &mut bytes);
        let all: Vec<u8> =
            bytes.iter().cycle().take(step.moves.min(part) as usize).copied().collect();
        let open = || fs::OpenOptions::new().write(true).open(&path).expect("is there");
        match step.op {
            Op::Create => fs::write(&path, &all).expect("writes"),
            Op::WriteFile => open().write_all_at(&all, 0).expect("writes"),
            Op::Append => open().write_all_at(&all, u64::from(step.length)).expect("writes"),
            Op::Truncate => open().set_len(5_000).expect("cuts"),
            Op::Remove => fs::remove_file(&path).expect("removes"),
            Op::Rename => {
                let to = if step.renamed { Kind::File } else { Kind::Renamed };
                fs::rename(&path, self.path(to, step.number)).expect("renames");
            }
            _ => {}
        }
    }
}

/// A population that did `recorded` operations that are on record, `beyond` more, and a `part` of
/// the bytes of the next.
fn left_by(
    disk: &Disk,
    seed: u64,
    recorded: u64,
    beyond: u64,
    part: Option<u32>,
) -> [u64; MOST_LIVING] {
    let [first, second] = workers(seed);
    let tree = tree();
    let mut fill =
        Life::new(population(PopulationStage::Fill), SHARE, first.seed, Ledger::new(NAMES));
    while let Some(step) = fill.next(&tree) {
        disk.take(first.seed, &step, u32::MAX);
        fill.done(&tree, &step);
    }
    let mut live =
        Life::new(population(PopulationStage::Live), SHARE, second.seed, fill.into_ledger());
    let mut counts = [0; MOST_LIVING];
    for number in 0..recorded + beyond {
        let step = live.next(&tree).expect("goes on");
        disk.take(second.seed, &step, u32::MAX);
        live.done(&tree, &step);
        counts[step.slot] += u64::from(number < recorded);
    }
    if let (Some(part), Some(step)) = (part, live.next(&tree))
        && matches!(step.op, Op::Create | Op::WriteFile | Op::Append)
    {
        disk.take(second.seed, &step, part);
    }
    counts
}

/// What a filling does.
fn filled() -> [u64; MOST_LIVING] {
    let mut filled = [0; MOST_LIVING];
    filled[0] = population(PopulationStage::Fill).target(NAMES);
    filled
}

fn looked(
    disk: &Disk,
    seed: u64,
    counts: [u64; MOST_LIVING],
    is_whole: bool,
) -> (PopulationAudit, Vec<FileFinding>) {
    let workers = workers(seed);
    let legs = [
        leg(PopulationStage::Fill, &workers[0], filled()),
        Leg { is_whole, ..leg(PopulationStage::Live, &workers[1], counts) },
    ];
    let (plan, tree) = (plan(), tree());
    let root = fs::File::open(disk.folder.path()).expect("opens");
    let place = Place { plan: &plan, tree: &tree, root: root.as_fd(), path: "/t" };
    looked_at(&place, &legs, None)
}

/// What is told of the files of `legs`, where the ledgers on record come to `ledger`.
fn looked_at(
    place: &Place<'_>,
    legs: &[Leg<'_>],
    ledger: Option<LedgerSum>,
) -> (PopulationAudit, Vec<FileFinding>) {
    let mut audit = [PopulationAudit::default()];
    let mut findings = Findings { kept: 100, all: Vec::new() };
    let mut by_ledger = ByLedger::default();
    let mut told = Told {
        audit: &mut audit[0],
        number: 0,
        findings: &mut findings,
        by_ledger: &mut by_ledger,
    };
    worker(place, SHARE, legs, &mut told, &mut |_| {}).expect("can be looked at");
    by_ledger.settle(&|_| ledger, &mut audit, &mut findings);
    let [audit] = audit;
    (audit, findings.all)
}

#[test]
fn wherever_a_worker_was_cut_off_its_files_are_as_they_must_be() {
    for seed in 0..150 {
        let disk = Disk::new();
        let (recorded, beyond) = (seed * 7 % 200, seed * 3 % 50);
        let part = [None, Some(0), Some(1_234), Some(4_096)][(seed % 4) as usize];
        let counts = left_by(&disk, seed, recorded, beyond, part);
        let (audit, findings) = looked(&disk, seed, counts, false);
        assert!(findings.is_empty(), "{seed}: {findings:?}");
        assert!(audit.beyond <= beyond && audit.compared > Bytes(0), "{seed}: {audit:?}");
        assert!(audit.good.abs_diff(audit.expected) <= 1);
    }
}

#[test]
fn what_was_done_by_hand_is_found_with_its_kind() {
    type Damage = fn(&Disk, u64);
    let cases: [(FileDamage, Damage); 4] = [
        (FileDamage::Missing, |disk, it| {
            fs::remove_file(disk.path(Kind::File, it)).expect("removes");
        }),
        (FileDamage::Content, |disk, it| {
            let path = disk.path(Kind::File, it);
            let mut bytes = fs::read(&path).expect("reads");
            bytes[777] ^= 1;
            fs::write(&path, bytes).expect("writes");
        }),
        (FileDamage::Length, |disk, it| {
            let file = fs::OpenOptions::new().write(true).open(disk.path(Kind::File, it));
            file.expect("opens").set_len(4_999).expect("cuts");
        }),
        (FileDamage::Stray, |disk, it| {
            fs::copy(disk.path(Kind::File, it), disk.path(Kind::Renamed, it)).expect("copies");
        }),
    ];
    for (number, (kind, damage)) in cases.into_iter().enumerate() {
        for is_whole in [true, false] {
            let disk = Disk::new();
            let beyond = if is_whole { 0 } else { 20 };
            let counts = left_by(&disk, 5, 100, beyond, None);
            let victim = (0..NAMES).find(|it| disk.path(Kind::File, *it).exists());
            damage(&disk, victim.expect("a file with its first name"));
            let (_, findings) = looked(&disk, 5, counts, is_whole);
            let kinds: Vec<FileDamage> = findings.iter().map(|finding| finding.kind).collect();
            assert_eq!(kinds, [kind], "{number}, whole: {is_whole}: {findings:?}");
        }
    }
}

#[test]
fn files_from_before_the_record_are_not_as_they_must_be() {
    let disk = Disk::new();
    left_by(&disk, 9, 100, 0, None);
    // The record knows of more than the disk has.
    let counts = left_by(&Disk::new(), 9, 140, 0, None);
    let (audit, findings) = looked(&disk, 9, counts, true);
    assert!(findings.len() > 3 && audit.damaged_files() > 3, "{findings:?}");
    let (audit, _) = looked(&disk, 9, counts, false);
    assert!(audit.damaged_files() > 3, "nor are they those of any later instant: {audit:?}");
}

#[test]
fn counts_that_do_not_follow_from_the_plan_are_refused() {
    let disk = Disk::new();
    let mut counts = left_by(&disk, 3, 100, 0, None);
    counts.swap(0, 1);
    let (plan, tree) = (plan(), tree());
    let workers = workers(3);
    let leg = leg(PopulationStage::Live, &workers[1], counts);
    assert!(Course::after(&tree, SHARE, &[leg], false, &mut |_| {}).is_err());
    let root = fs::File::open(disk.folder.path()).expect("opens");
    let place = Place { plan: &plan, tree: &tree, root: root.as_fd(), path: "/t" };
    // What failed is not gone through again: nobody knows which operation it was.
    let failed = [Leg { errors: 1, ..leg }];
    let (audit, findings) = looked_at(&place, &failed, None);
    assert_eq!((audit.unsure, audit.good, findings.len()), (NAMES, 0, 0));
}

#[test]
fn files_of_failed_operations_are_compared_with_the_sum_of_the_ledger() {
    let disk = Disk::new();
    let counts = left_by(&disk, 3, 100, 0, None);
    let (plan, tree, workers) = (plan(), tree(), workers(3));
    let root = fs::File::open(disk.folder.path()).expect("opens");
    let sum = |guessed| {
        let standing = Standing::of(root.as_fd(), &tree, SHARE, &mut || {});
        LedgerSum { sum: standing.files.sum(SHARE), guessed }
    };
    let leg = Leg { errors: 7, ..leg(PopulationStage::Live, &workers[1], counts) };
    let place = Place { plan: &plan, tree: &tree, root: root.as_fd(), path: "/t" };
    let kept = sum(0);
    assert!(kept.sum.files > 20 && kept.sum.bytes > 100_000, "{kept:?}");
    let (audit, findings) = looked_at(&place, &[leg], Some(kept));
    assert_eq!((audit.unsure, audit.good, findings.len()), (0, kept.sum.files, 0));
    // Where the file system did not say, or the run was cut off, the sum says nothing.
    for (leg, ledger) in [(leg, sum(1)), (Leg { is_whole: false, ..leg }, kept)] {
        let (audit, findings) = looked_at(&place, &[leg], Some(ledger));
        assert_eq!((audit.unsure, audit.good, findings.len()), (NAMES, 0, 0));
    }
    let victim = (0..NAMES).map(|it| disk.path(Kind::File, it)).find(|path| path.exists());
    let victim = victim.expect("a file with its first name");
    fs::OpenOptions::new().append(true).open(&victim).expect("opens").set_len(1).expect("cuts");
    let (audit, findings) = looked_at(&place, &[leg], Some(kept));
    assert_eq!((audit.good, findings[0].kind), (0, FileDamage::Length), "{findings:?}");
    fs::remove_file(&victim).expect("removes");
    let (_, findings) = looked_at(&place, &[leg], Some(kept));
    assert_eq!(findings[0].kind, FileDamage::Missing, "{findings:?}");
}

#[test]
fn a_file_that_was_removed_and_made_again_may_hold_either() {
    let (tree, disk) = (tree(), Disk::new());
    let counts = left_by(&disk, 12, 50, 0, None);
    let workers = workers(12);
    let legs = [
        Leg { is_whole: false, ..leg(PopulationStage::Fill, &workers[0], filled()) },
        Leg { stage: 1, is_whole: false, ..leg(PopulationStage::Live, &workers[1], counts) },
    ];
    let course =
        || Course::after(&tree, SHARE, &legs, true, &mut |_| {}).expect("follows from its plan");
    let root = fs::File::open(disk.folder.path()).expect("opens");
    let standing = Standing::of(root.as_fd(), &tree, SHARE, &mut || {});
    assert_eq!(fit::least(course(), &standing, 1_000, &mut |_| {}), 0);
    let Fit { beyond, cut_off, .. } = fit::find(course(), &standing, 1_000, 0);
    assert_eq!((beyond, cut_off), (0, None));
}
