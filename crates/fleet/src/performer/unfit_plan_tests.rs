//! A plan that does not fit itself reaches no worker: its agent refuses it, and leaves nothing of
//! ours.

use super::Fleet;
use model::choices::{Access, Backend};
use model::plan::{
    EngineSettings, Extent, HostStage, PlannedTarget, Stage, Stop, Target, TargetFile, Work, Worker,
};
use model::units::{Bytes, Nanos, Percent};
use model::{HostPlan, Plan, RunEnd, StageKind};

const FILE: Bytes = Bytes(1 << 20);

/// Two workers for an hour, of which the second is to read a file that is not there: what only a
/// damaged plan or a bug of ours asks for.
fn plan(root: &str) -> Plan {
    let interval = Nanos::millis(100);
    let stop = Stop::After(Nanos::seconds(3600));
    let work = Work::simple(Bytes(4096), Percent::ALL, Access::Random, 1, stop);
    let worker = |number: u32, file: u32| Worker {
        work: 0,
        seed: 1,
        turn: (number, 2),
        extents: vec![Extent { file, offset: 0, length: FILE.0 }],
        files: None,
    };
    let host_stage = HostStage {
        stage: 0,
        kind: StageKind::Measure,
        works: vec![work.clone()],
        workers: vec![worker(0, 0), worker(1, u32::MAX - 1)],
    };
    let engine = EngineSettings { direct: false, ..EngineSettings::simple(Backend::Sync) };
    let files = vec![TargetFile { path: format!("{root}/data-00000.bin"), size: FILE }];
    let kind = PlannedTarget::Directory { root: root.to_owned() };
    let host = HostPlan {
        targets: vec![Target { path: root.to_owned(), kind, files }],
        stages: vec![host_stage],
        ..HostPlan::empty("r", interval, engine)
    };
    Plan {
        interval,
        backend: Backend::Sync,
        direct: false,
        stages: vec![Stage { kind: StageKind::Measure, point: None, works: vec![work] }],
        hosts: vec![host],
        ..crate::coordinator::tests::plan(0, 0)
    }
}

#[test]
fn a_plan_that_does_not_fit_itself_ends_the_run_in_words_and_leaves_nothing() {
    let base = tempfile::tempdir().expect("a folder");
    let root = base.path().join("target");
    let plan = plan(root.to_str().expect("UTF-8"));
    let ending = Fleet::local("test").run(&plan, &[0], false, &|_| false, &mut |_| Ok(()));
    let RunEnd::Failed(why) = &ending.end else { panic!("{:?}", ending.end) };
    assert!(why.contains("a worker loads bytes that its files have not"), "{why}");
    assert!(ending.left.is_empty() && !root.exists(), "{:?}", ending.left);
}
