//! Populations on a real file system: what their ledgers say is what a walk of the tree finds.

use crate::StageOutcome;
use crate::common::{self, ios_of, ops, run, scratch};
use crate::metadata::ledger::Known;
use crate::targets::{OpenTargets, open};
use model::choices::Backend;
use model::ledger::{FilesSum, LedgerSum, OneFile};
use model::load::{Pace, SizeMix};
use model::metadata::{FileShare, MetadataWork, Tree};
use model::plan::{EngineSettings, HostPlan, HostStage, Stop, Work, Worker};
use model::population::{LivingMix, Population, PopulationStage};
use model::sample::OpSample;
use model::units::{Bytes, Nanos, Percent};
use model::{Fact, IntervalSample, Op, StageKind};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const NAMES: u64 = 300;
const WORKERS: u64 = 2;

fn all_operations() -> LivingMix {
    let parts = [
        (Op::Create, 6),
        (Op::WriteFile, 2),
        (Op::Append, 6),
        (Op::Truncate, 2),
        (Op::FsyncFile, 1),
        (Op::ReadFile, 6),
        (Op::Open, 2),
        (Op::Stat, 4),
        (Op::SetAttr, 1),
        (Op::Readdir, 2),
        (Op::Rename, 4),
        (Op::Remove, 6),
    ];
    LivingMix::new(&parts).expect("a good mix")
}

fn share(worker: u64) -> FileShare {
    FileShare { tree: 0, first: worker, step: WORKERS, count: NAMES / WORKERS }
}

fn stage(number: u32, what: PopulationStage, pace: Pace) -> HostStage {
    let (kind, stop) = match what {
        PopulationStage::Fill => (StageKind::Prepare, Stop::Amount),
        PopulationStage::Live => (StageKind::Measure, Stop::After(Nanos::millis(300))),
    };
    let population = Population {
        mix: all_operations(),
        fill: Percent::of(80),
        append: Bytes(3_000),
        stage: what,
    };
    let files = MetadataWork {
        population: Some(population),
        mean_size: Some(Bytes(3_000)),
        ..common::metadata(Op::Create, 5_000)
    };
    let work = Work { pace, ..common::work_on_files(files, stop) };
    let worker = |worker: u64| Worker {
        turn: (worker as u32, WORKERS as u32),
        ..common::worker_on_files(17 + worker + 10 * u64::from(number), share(worker))
    };
    common::stage(number, kind, work, (0..WORKERS).map(worker).collect())
}

/// A filling and two stages of the mix, as fast as the file system goes, then at a rate.
fn plan(root: &Path) -> HostPlan {
    let paced = Pace::Open { rate: "2000".parse().expect("a rate"), poisson: false };
    let tree = Tree {
        sizes: Some("1000B:1, 5000B:1".parse::<SizeMix>().expect("sizes")),
        per_directory: 20,
        ..common::tree(format!("{}/tree-00000", root.display()), NAMES, 5_000)
    };
    HostPlan {
        targets: vec![common::directory(root, 0, 0)],
        trees: vec![tree],
        stages: vec![
            stage(0, PopulationStage::Fill, Pace::FREE),
            stage(1, PopulationStage::Live, Pace::FREE),
            stage(2, PopulationStage::Live, paced),
        ],
        ..HostPlan::empty("test", Nanos::millis(50), EngineSettings::simple(Backend::Sync))
    }
}

fn errors(samples: &[IntervalSample]) -> u64 {
    ops(samples).map(OpSample::error_count).sum()
}

/// Every file below `root`, by its number, as a ledger has it; the marker left out.
fn walk(root: &Path) -> BTreeMap<u64, Known> {
    let mut found = BTreeMap::new();
    let mut open: Vec<PathBuf> = vec![root.join("tree-00000")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).expect("a directory").flatten() {
            let facts = entry.metadata().expect("facts");
            if facts.is_dir() {
                open.push(entry.path());
                continue;
            }
            let name = entry.file_name().into_string().expect("UTF-8");
            let (letter, number) = name.split_at(1);
            assert!(matches!(letter, "f" | "r"), "{name}");
            let known = Known { length: facts.len() as u32, renamed: letter == "r" };
            let before = found.insert(number.parse().expect("a number"), known);
            assert_eq!(before, None, "{name} has one of its two names");
        }
    }
    found
}

/// The same from the ledgers.
fn told(targets: &OpenTargets) -> BTreeMap<u64, Known> {
    let mut all = BTreeMap::new();
    for worker in 0..WORKERS {
        let (share, ledgers) = (share(worker), targets.ledgers());
        let ledger = ledgers.take(share);
        let mine: BTreeMap<u64, Known> = (0..ledger.names())
            .filter_map(|index| Some((share.number(index), ledger.get(index)?)))
            .collect();
        let bytes: u64 = mine.values().map(|known| u64::from(known.length)).sum();
        assert_eq!((mine.len() as u64, bytes), (ledger.living(), ledger.bytes()));
        all.extend(mine);
        ledgers.keep(share, ledger);
    }
    all
}

/// Files as they go on record.
fn sum(files: &BTreeMap<u64, Known>) -> LedgerSum {
    let mut sum = FilesSum::default();
    for (number, Known { length, renamed }) in files {
        sum.add(OneFile { tree: 0, number: *number, length: *length, renamed: *renamed });
    }
    LedgerSum { sum, guessed: 0 }
}

/// What a stage says of its files when it is over.
fn told_at_end(outcome: &StageOutcome) -> Option<LedgerSum> {
    outcome.findings.iter().find_map(|note| match &note.fact {
        Fact::Ledger(ledger) => Some(*ledger),
        _ => None,
    })
}

#[test]
fn ledgers_are_what_a_walk_of_the_tree_finds() {
    let (_base, root) = scratch();
    let targets = open(plan(&root)).expect("opens");
    let (_, samples) = run(&targets, 0);
    assert_eq!((ios_of(&samples, Op::Create), errors(&samples)), (240, 0), "80 % of 300 names");
    assert_eq!(walk(&root), told(&targets));
    let mut living = 240;
    for number in 1..=2 {
        let (outcome, samples) = run(&targets, number);
        assert!(!outcome.failed && !outcome.interrupted);
        assert_eq!(told_at_end(&outcome), Some(sum(&walk(&root))), "what goes on record");
        assert_eq!(errors(&samples), 0, "every operation finds what it needs");
        for (op, _) in all_operations().parts() {
            assert!(ios_of(&samples, op) > 0, "{op}");
        }
        let (found, ledger) = (walk(&root), told(&targets));
        assert_eq!(found, ledger, "names and lengths");
        living = living + ios_of(&samples, Op::Create) - ios_of(&samples, Op::Remove);
        assert_eq!(found.len() as u64, living);
        assert!(living.abs_diff(240) <= WORKERS, "each worker is within one of its 120");
        assert!(found.values().any(|known| known.renamed));
        assert!(found.values().any(|known| known.length > 5_000), "some have grown");
    }
    let (_, samples) = run(&targets, 0);
    assert!(ios_of(&samples, Op::Create) <= WORKERS, "what is there needs no filling");
    targets.remove().expect("removes");
    assert!(!root.exists());
}

#[test]
fn at_a_rate_everything_that_was_due_is_told() {
    let (_base, root) = scratch();
    let targets = open(plan(&root)).expect("opens");
    run(&targets, 0);
    let (outcome, samples) = run(&targets, 2);
    let done: u64 = ops(&samples).map(|op| op.ios).sum();
    let never: u64 =
        outcome.left.iter().map(|left| left.never.decode().expect("a histogram").count()).sum();
    assert_eq!(done + never, 600, "2000 a second for 300 ms, each due at its own time");
    targets.remove().expect("removes");
}

#[test]
fn what_others_remove_is_data_and_the_ledger_learns_of_it() {
    let (_base, root) = scratch();
    let targets = open(plan(&root)).expect("opens");
    run(&targets, 0);
    let victims: Vec<u64> = walk(&root).into_keys().take(40).collect();
    for number in &victims {
        let directory = format!("tree-00000/d{:018}", number / 20);
        fs::remove_file(root.join(directory).join(format!("f{number:018}"))).expect("removes");
    }
    let (outcome, samples) = run(&targets, 1);
    let missing = errors(&samples);
    assert!((1..=40).contains(&missing), "each is missed once: {missing}");
    assert_eq!(common::errors(&samples), [(libc::ENOENT, missing)]);
    let (found, ledger) = (walk(&root), told(&targets));
    assert_eq!(told_at_end(&outcome), Some(sum(&ledger)));
    assert!(found.iter().all(|(number, known)| ledger.get(number) == Some(known)));
    let unseen = ledger.keys().filter(|number| !found.contains_key(number));
    assert!(unseen.clone().all(|number| victims.contains(number)), "not yet looked at");
    assert_eq!(unseen.count() as u64, 40 - missing);
    targets.remove().expect("removes");
}

#[test]
fn a_filling_that_fails_ends_the_stage() {
    let (_base, root) = scratch();
    let targets = open(plan(&root)).expect("opens");
    fs::remove_dir_all(root.join("tree-00000/d000000000000000003")).expect("removes");
    let (outcome, samples) = run(&targets, 0);
    assert!(outcome.failed && errors(&samples) > 0);
    assert_eq!(walk(&root), told(&targets), "what it made is known all the same");
    targets.remove().expect("removes");
}
