//! While its load is on, a worker allocates nothing: not for a request, and not for the page of an
//! interval.

#[allow(dead_code)] // A part is used here.
mod common;

use engine::{Control, OpenTargets, StageOutcome, open, run_stage};
use model::choices::{Access, Backend, CloseTime};
use model::metadata::{FileShare, MetadataWork, Tree};
use model::plan::{Contents, EngineSettings, HostPlan, Stop, Worker};
use model::population::{LivingMix, Population, PopulationStage};
use model::units::{Bytes, Nanos, Percent};
use model::{Op, Phase, StageKind};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counts what threads other than the test's own ask for while it is armed.
struct Counting;

static ARMED: AtomicBool = AtomicBool::new(false);
static COUNTED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    // Constant and without a destructor: neither allocates.
    static IS_TEST: Cell<bool> = const { Cell::new(false) };
}

fn count() {
    if ARMED.load(Ordering::SeqCst) && !IS_TEST.get() {
        COUNTED.fetch_add(1, Ordering::SeqCst);
    }
}

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as our caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as our caller promised.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as our caller promised.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as our caller promised.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const WORKERS: u32 = 3;
const BLOCK: u64 = 4096;
const SHARE: u64 = 64 * BLOCK;
/// Enough turned pages that a queue which allocates every few dozen messages is found out; and as
/// many requests.
const PAGES: u32 = 20;
/// Windows that are looked at until there was nothing in one. Whatever belongs to the loop
/// allocates in each of them; that the collector was kept from its processor for several intervals,
/// so that a worker had to make itself another page, does not happen in all.
const WINDOWS: usize = 16;

fn plan(root: &Path, backend: Backend, verify: bool) -> HostPlan {
    let depth = if backend == Backend::Sync { 1 } else { 8 };
    let worker = |number: u32| Worker {
        turn: (number, WORKERS),
        ..common::worker_at(u64::from(number) + 1, u64::from(number) * SHARE, SHARE)
    };
    let stage = |kind, read, access, stop| {
        let work = common::work(Percent::of(read), access, depth, stop);
        common::stage(0, kind, work, (0..WORKERS).map(worker).collect())
    };
    let engine = EngineSettings {
        direct: false,
        contents: Contents { verify, filled: true, grain: Bytes(BLOCK), ..Contents::RANDOM },
        ..EngineSettings::simple(backend)
    };
    HostPlan {
        targets: vec![common::directory(root, 1, u64::from(WORKERS) * SHARE)],
        stages: vec![
            stage(StageKind::Prepare, 0, Access::Sequential, Stop::Amount),
            stage(StageKind::Measure, 70, Access::Random, Stop::After(Nanos::seconds(3600))),
        ],
        ..HostPlan::empty("test", Nanos::millis(20), engine)
    }
}

/// The same for files that are created: more of them than there are while anybody looks.
fn plan_of_files(root: &Path) -> HostPlan {
    let mut plan = plan(root, Backend::Sync, false);
    let tree = |number: u32| Tree {
        depth: 0,
        per_directory: 1 << 32,
        ..common::tree(format!("{}/tree-{number:05}", root.display()), 1 << 32, BLOCK)
    };
    plan.targets[0].files.clear();
    plan.trees = (0..WORKERS).map(tree).collect();
    for (stage, count) in plan.stages.iter_mut().zip([100, 1 << 32]) {
        // The first stage takes files of its own, so that the second finds none.
        let first = if count == 100 { 1 << 33 } else { 0 };
        let of_files = common::metadata(Op::Create, BLOCK);
        let files = MetadataWork { random: true, close: CloseTime::Untimed, ..of_files };
        stage.works = vec![common::work_on_files(files, Stop::Amount)];
        for (tree, worker) in (0..).zip(&mut stage.workers) {
            worker.files = Some(FileShare { tree, first, step: 1, count });
        }
    }
    plan.interval = Nanos::millis(5);
    plan
}

/// The same for a population of files.
fn plan_of_population(root: &Path) -> HostPlan {
    let mut plan = plan_of_files(root);
    let parts = [
        (Op::Create, 2),
        (Op::Append, 1),
        (Op::ReadFile, 2),
        (Op::Readdir, 1),
        (Op::Rename, 1),
        (Op::Remove, 2),
    ];
    let mix = LivingMix::new(&parts).expect("a good mix");
    let stages = [PopulationStage::Fill, PopulationStage::Live];
    for (stage, what) in plan.stages.iter_mut().zip(stages) {
        let (fill, append) = (Percent::of(80), Bytes(BLOCK));
        let population = Population { mix, fill, append, stage: what };
        if let Some(metadata) = &mut stage.works[0].metadata {
            metadata.population = Some(population);
        }
        if what == PopulationStage::Live {
            stage.works[0].stop = Stop::After(Nanos::seconds(3600));
        }
        for (tree, worker) in (0..).zip(&mut stage.workers) {
            worker.files = Some(FileShare { tree, first: 0, step: 1, count: 100 });
        }
    }
    plan
}

/// What workers allocated in each window of a stage.
fn windows(plan: impl Fn(&Path) -> HostPlan) -> Vec<u64> {
    let (_base, root) = common::scratch();
    let targets = open(plan(&root)).expect("opens");
    let stages = targets.plan().stages.clone();

    COUNTED.store(0, Ordering::SeqCst);
    ARMED.store(true, Ordering::SeqCst);
    run_stage(&targets, &stages[0], &Control::new(), &mut || Some(0), &mut |_| {})
        .expect("no failure of ours");
    ARMED.store(false, Ordering::SeqCst);
    assert!(
        COUNTED.load(Ordering::SeqCst) > 0,
        "setting up allocates on the workers' threads, and the count sees them"
    );

    let control = Control::new();
    let (mut told, mut ios, mut counts) = (0, 0_u64, Vec::new());
    run_stage(&targets, &stages[1], &control, &mut || Some(0), &mut |sample| {
        if sample.phase != Phase::Load {
            return;
        }
        told += 1;
        ios += sample.ops.iter().map(|op| op.ios).sum::<u64>();
        // The first intervals are past once they are told, so that every worker is in its loop. A
        // window lasts longer where pages are empty, because others have the disk or processors.
        if told >= PAGES && ios >= u64::from(PAGES) {
            (told, ios) = (0, 0);
            if ARMED.swap(false, Ordering::SeqCst) {
                counts.push(COUNTED.load(Ordering::SeqCst));
            }
            if counts.last() == Some(&0) || counts.len() == WINDOWS {
                control.stop();
            } else {
                COUNTED.store(0, Ordering::SeqCst);
                ARMED.store(true, Ordering::SeqCst);
            }
        }
    })
    .expect("no failure of ours");
    ARMED.store(false, Ordering::SeqCst);
    counts
}

#[test]
fn nothing_is_allocated_while_the_load_is_on() {
    IS_TEST.set(true);
    let unchecked = [Backend::IoUring, Backend::Libaio, Backend::Sync, Backend::Null, Backend::Nop]
        .map(|backend| (backend, false));
    for (backend, verify) in unchecked.into_iter().chain([(Backend::IoUring, true)]) {
        let counts = windows(|root| plan(root, backend, verify));
        assert!(
            counts.contains(&0),
            "{backend}, verify {verify}: workers allocated in every window: {counts:?}"
        );
    }
    for (name, plan) in
        [("files", plan_of_files as fn(&Path) -> HostPlan), ("a population", plan_of_population)]
    {
        let counts = windows(plan);
        assert!(counts.contains(&0), "{name}: workers allocated in every window: {counts:?}");
    }
}
