//! Our own loop and nothing else: the `null` backend, whose requests complete at once.
//!
//! `cargo build --release -p engine --example null-loop`, then count its instructions:
//! `valgrind --tool=callgrind --toggle-collect='*driver::drive*' null-loop 1 70`: the depth and the
//! share of reads in percent. It prints how many requests it sent.
#![allow(clippy::print_stdout)]

use engine::{Control, open, run_stage};
use model::StageKind;
use model::choices::{Access, Backend};
use model::plan::{
    EngineSettings, Extent, HostPlan, HostStage, PlannedTarget, Stop, Target, TargetFile, Work,
    Worker,
};
use model::units::{Bytes, Nanos, Percent};

fn main() {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<u32>().expect("a number"));
    let (depth, read) = (words.next().unwrap_or(1), words.next().unwrap_or(100));
    let root = std::env::temp_dir().join(format!("plimsoll-null-loop-{}", std::process::id()));
    let root = root.to_str().expect("UTF-8").to_owned();
    let size = 1 << 20;
    let stop = Stop::After(Nanos::seconds(1));
    let extents = vec![Extent { file: 0, offset: 0, length: size }];
    let stage = HostStage {
        stage: 0,
        kind: StageKind::Measure,
        works: vec![Work::simple(Bytes(4096), Percent::of(read), Access::Random, depth, stop)],
        workers: vec![Worker { work: 0, seed: 1, turn: (0, 1), extents, files: None }],
    };
    let plan = HostPlan {
        targets: vec![Target {
            path: root.clone(),
            kind: PlannedTarget::Directory { root: root.clone() },
            files: vec![TargetFile { path: format!("{root}/data-00000.bin"), size: Bytes(size) }],
        }],
        stages: vec![stage.clone()],
        ..HostPlan::empty("test", Nanos::millis(100), EngineSettings::simple(Backend::Null))
    };
    let targets = open(plan).expect("opens");
    let mut requests = 0;
    let mut sink = |sample: model::IntervalSample| {
        requests += sample.ops.iter().map(|op| op.ios).sum::<u64>();
    };
    run_stage(&targets, &stage, &Control::new(), &mut || Some(0), &mut sink).expect("runs");
    println!("{requests}");
    drop(targets);
    let _ = std::fs::remove_dir_all(root);
}
