//! Plans of metadata work, as the planner makes them, for one host with two workers.

use engine::{Control, OpenTargets, run_stage};
use model::choices::{Access, Backend, CloseTime, FileFsync};
use model::metadata::{FileShare, MetadataWork, Tree};
use model::plan::{
    EngineSettings, HostPlan, HostStage, Once, PlannedTarget, Stop, Target, Work, Worker,
};
use model::units::{Bytes, Nanos, Percent};
use model::{IntervalSample, Op, StageKind};
use std::collections::BTreeMap;
use std::path::Path;

const WORKERS: u64 = 2;
const PER_DIRECTORY: u64 = 10;
/// As planned: each worker ends with its last file.
const ONCE: Once = Once { stonewall: false, fsync: false, close: false };

/// Where the files of a worker are, and in what order it goes through them.
#[derive(Clone, Copy)]
pub struct Layout {
    /// Whether each worker has a tree of its own.
    pub unique: bool,
    /// Whether the order is without pattern.
    pub random: bool,
}

/// A plan with a stage for each of `ops` on `files` files (an even number of them, of `size`
/// bytes), 10 in a directory.
pub fn plan(root: &Path, files: u64, size: u64, layout: Layout, ops: &[Op]) -> HostPlan {
    let root = root.to_str().expect("UTF-8").to_owned();
    let trees = if layout.unique { WORKERS } else { 1 };
    let tree = |number: u64| Tree {
        target: 0,
        path: format!("{root}/tree-{number:05}"),
        files: files / trees,
        size: Bytes(size),
        sizes: None,
        depth: 1,
        fan_out: 1,
        per_directory: PER_DIRECTORY,
        joined: false,
    };
    let share = |op: Op, worker: u64| {
        let all = if op == Op::Readdir { tree(0).listed() } else { files / trees };
        let (tree, first, step) =
            if layout.unique { (worker as u32, 0, 1) } else { (0, worker, WORKERS) };
        FileShare { tree, first, step, count: (all - first).div_ceil(step) }
    };
    let stage = |(number, op): (usize, &Op)| {
        let mut work =
            Work::simple(Bytes(4096), Percent::ALL, Access::Sequential, 1, Stop::Once(ONCE));
        let (fsync, close) = (FileFsync::Never, CloseTime::Timed);
        work.metadata = Some(MetadataWork {
            op: *op,
            mix: None,
            population: None,
            random: layout.random,
            size: Bytes(size),
            mean_size: None,
            fsync,
            close,
        });
        let worker = |worker: u64| Worker {
            work: 0,
            seed: worker + 1 + 10 * number as u64,
            turn: (worker as u32, WORKERS as u32),
            extents: Vec::new(),
            files: Some(share(*op, worker)),
        };
        let workers = (0..WORKERS).map(worker).collect();
        HostStage { stage: number as u32, kind: StageKind::Measure, works: vec![work], workers }
    };
    let engine = EngineSettings {
        evict: true,
        raw_latencies: true,
        ..EngineSettings::simple(Backend::IoUring)
    };
    HostPlan {
        targets: vec![Target {
            path: root.clone(),
            kind: PlannedTarget::Directory { root: root.clone() },
            files: Vec::new(),
        }],
        trees: (0..trees).map(tree).collect(),
        stages: ops.iter().enumerate().map(stage).collect(),
        ..HostPlan::empty("test", Nanos::millis(1), engine)
    }
}

/// Runs the stage `number` to its end.
pub fn run(targets: &OpenTargets, number: usize) -> Vec<IntervalSample> {
    let mut samples = Vec::new();
    let stage = targets.plan().stages[number].clone();
    let mut sink = |sample| samples.push(sample);
    let outcome = run_stage(targets, &stage, &Control::new(), &mut || Some(0), &mut sink)
        .expect("no failure of ours");
    assert!(!outcome.failed && !outcome.interrupted);
    samples
}

/// Operations that succeeded.
pub fn ios(samples: &[IntervalSample]) -> u64 {
    samples.iter().flat_map(|sample| &sample.ops).map(|op| op.ios).sum()
}

/// Operations that failed, by errno.
pub fn errors(samples: &[IntervalSample]) -> Vec<(i32, u64)> {
    let mut errors = BTreeMap::new();
    for (errno, count) in samples.iter().flat_map(|sample| &sample.ops).flat_map(|op| &op.errors) {
        *errors.entry(*errno).or_insert(0) += count;
    }
    errors.into_iter().collect()
}
