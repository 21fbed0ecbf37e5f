//! Plans of metadata work, as the planner makes them, for one host with two workers.

use crate::common;
use engine::OpenTargets;
use model::choices::Backend;
use model::metadata::{FileShare, MetadataWork};
use model::plan::{EngineSettings, HostPlan, Once, Stop, Worker};
use model::units::Nanos;
use model::{IntervalSample, Op, StageKind};
use std::path::Path;

const WORKERS: u64 = 2;
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
    let trees = if layout.unique { WORKERS } else { 1 };
    let tree = |number: u64| {
        common::tree(format!("{}/tree-{number:05}", root.display()), files / trees, size)
    };
    let share = |op: Op, worker: u64| {
        let all = if op == Op::Readdir { tree(0).listed() } else { files / trees };
        let (tree, first, step) =
            if layout.unique { (worker as u32, 0, 1) } else { (0, worker, WORKERS) };
        FileShare { tree, first, step, count: (all - first).div_ceil(step) }
    };
    let stage = |(number, op): (usize, &Op)| {
        let files = MetadataWork { random: layout.random, ..common::metadata(*op, size) };
        let work = common::work_on_files(files, Stop::Once(ONCE));
        let worker = |worker: u64| Worker {
            turn: (worker as u32, WORKERS as u32),
            ..common::worker_on_files(worker + 1 + 10 * number as u64, share(*op, worker))
        };
        let workers = (0..WORKERS).map(worker).collect();
        common::stage(number as u32, StageKind::Measure, work, workers)
    };
    let engine = EngineSettings {
        evict: true,
        raw_latencies: true,
        ..EngineSettings::simple(Backend::IoUring)
    };
    HostPlan {
        targets: vec![common::directory(root, 0, 0)],
        trees: (0..trees).map(tree).collect(),
        stages: ops.iter().enumerate().map(stage).collect(),
        ..HostPlan::empty("test", Nanos::millis(1), engine)
    }
}

pub fn run(targets: &OpenTargets, number: usize) -> Vec<IntervalSample> {
    let (outcome, samples) = common::run(targets, number);
    assert!(!outcome.failed && !outcome.interrupted);
    samples
}

/// Operations that succeeded.
pub fn ios(samples: &[IntervalSample]) -> u64 {
    common::ops(samples).map(|op| op.ios).sum()
}
