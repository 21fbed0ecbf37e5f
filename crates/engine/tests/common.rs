// What the tests of the engine share: plans, and stages that run. Its unit tests and both programs
// of tests take this file in.

use super::{Control, OpenTargets, StageOutcome, run_stage};
use model::choices::{Access, CloseTime, FileFsync};
use model::metadata::{FileShare, MetadataWork, Tree};
use model::plan::names::data_file_name;
use model::plan::{Extent, HostStage, PlannedTarget, Stop, Target, TargetFile, Work, Worker};
use model::sample::OpSample;
use model::units::{Bytes, Nanos, Percent};
use model::{IntervalSample, Op, StageKind};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// After so many ms.
pub fn after_ms(millis: u64) -> Stop {
    Stop::After(Nanos::millis(millis))
}

/// Blocks of 4 KiB.
pub fn work(read: Percent, access: Access, depth: u32, stop: Stop) -> Work {
    Work::simple(Bytes(4096), read, access, depth, stop)
}

/// Operations on whole files instead of blocks.
pub fn work_on_files(files: MetadataWork, stop: Stop) -> Work {
    Work { metadata: Some(files), ..work(Percent::ALL, Access::Sequential, 1, stop) }
}

pub fn metadata(op: Op, size: u64) -> MetadataWork {
    MetadataWork {
        op,
        mix: None,
        population: None,
        random: false,
        size: Bytes(size),
        mean_size: None,
        fsync: FileFsync::Never,
        close: CloseTime::Timed,
    }
}

/// One of its work alone.
pub fn worker(seed: u64, extents: Vec<Extent>) -> Worker {
    Worker { work: 0, seed, turn: (0, 1), extents, files: None }
}

/// The same, with bytes of the first file.
pub fn worker_at(seed: u64, offset: u64, length: u64) -> Worker {
    worker(seed, vec![Extent { file: 0, offset, length }])
}

/// The same, with files of trees.
pub fn worker_on_files(seed: u64, files: FileShare) -> Worker {
    Worker { files: Some(files), ..worker(seed, Vec::new()) }
}

/// A stage of one work.
pub fn stage(number: u32, kind: StageKind, work: Work, workers: Vec<Worker>) -> HostStage {
    HostStage { stage: number, kind, works: vec![work], workers }
}

/// Of one level, with ten files in a directory.
pub fn tree(path: impl Into<String>, files: u64, size: u64) -> Tree {
    Tree {
        path: path.into(),
        files,
        size: Bytes(size),
        depth: 1,
        fan_out: 1,
        per_directory: 10,
        ..Tree::default()
    }
}

/// A directory of its own with so many files of so many bytes.
pub fn directory(root: &Path, files: u32, size: u64) -> Target {
    let root = root.to_str().expect("UTF-8").to_owned();
    let file = |number| TargetFile {
        path: format!("{root}/{}", data_file_name(number)),
        size: Bytes(size),
    };
    let files = (0..files).map(file).collect();
    Target { path: root.clone(), kind: PlannedTarget::Directory { root: root.clone() }, files }
}

/// A directory that `open` makes itself, on the disk under the build.
pub fn scratch() -> (tempfile::TempDir, PathBuf) {
    let place = option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let base = tempfile::tempdir_in(place).expect("a directory");
    let root = base.path().join("target");
    (base, root)
}

/// Runs a stage of the plan.
pub fn run(targets: &OpenTargets, number: usize) -> (StageOutcome, Vec<IntervalSample>) {
    let mut samples = Vec::new();
    let stage = targets.plan().stages[number].clone();
    let mut sink = |sample| samples.push(sample);
    let outcome = run_stage(targets, &stage, &Control::new(), &mut || Some(0), &mut sink);
    (outcome.expect("no failure of ours"), samples)
}

/// The operations of all intervals.
pub fn ops(samples: &[IntervalSample]) -> impl Iterator<Item = &OpSample> {
    samples.iter().flat_map(|sample| &sample.ops)
}

/// Successes of one operation.
pub fn ios_of(samples: &[IntervalSample], op: Op) -> u64 {
    ops(samples).filter(|sample| sample.op == op).map(|sample| sample.ios).sum()
}

/// Failures by errno.
pub fn errors(samples: &[IntervalSample]) -> Vec<(i32, u64)> {
    let mut errors = BTreeMap::new();
    for (errno, count) in ops(samples).flat_map(|op| &op.errors) {
        *errors.entry(*errno).or_insert(0) += count;
    }
    errors.into_iter().collect()
}
