//! The CPU time of workers with the kernel's threads behind them. Alone in its process, whose
//! whole time it looks at.

use engine::{Control, open, run_stage};
use model::choices::{Access, Backend};
use model::plan::{
    EngineSettings, Extent, HostPlan, HostStage, PlannedTarget, Stop, Target, TargetFile, Work,
    Worker,
};
use model::units::{Bytes, Nanos, Percent};
use model::{IntervalSample, StageKind};

const BLOCK: u64 = 64 << 10;
const FILE: u64 = 64 * BLOCK;

/// What the kernel has counted for this process and all of its threads, those that have ended too,
/// in ns.
fn of_this_process() -> u64 {
    // SAFETY: an all-zero `rusage` is a valid value of that plain C struct.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is writable and outlives the call.
    assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) }, 0);
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    ns(usage.ru_utime) + ns(usage.ru_stime)
}

/// Two workers with a file each that write through the page cache, which a ring leaves to threads
/// of the kernel.
fn plan(root: &str) -> HostPlan {
    let files = (0..2).map(|number| TargetFile {
        path: format!("{root}/data-0000{number}.bin"),
        size: Bytes(FILE),
    });
    let target = Target {
        path: root.to_owned(),
        kind: PlannedTarget::Directory { root: root.to_owned() },
        files: files.collect(),
    };
    let worker = |number: u32| Worker {
        work: 0,
        seed: u64::from(number) + 1,
        turn: (number, 2),
        extents: vec![Extent { file: number, offset: 0, length: FILE }],
        files: None,
    };
    let stop = Stop::After(Nanos::millis(1500));
    let stage = HostStage {
        stage: 0,
        kind: StageKind::Measure,
        works: vec![Work::simple(Bytes(BLOCK), Percent::ZERO, Access::Random, 8, stop)],
        workers: (0..2).map(worker).collect(),
    };
    let engine = EngineSettings { direct: false, ..EngineSettings::simple(Backend::IoUring) };
    HostPlan {
        targets: vec![target],
        stages: vec![stage],
        ..HostPlan::empty("test", Nanos::millis(100), engine)
    }
}

#[test]
fn the_time_of_workers_is_that_of_the_process_as_the_kernel_counts_it() {
    if !crate::in_a_process_of_its_own(
        "cpu::the_time_of_workers_is_that_of_the_process_as_the_kernel_counts_it",
    ) {
        return;
    }
    let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let plan = plan(base.path().join("target").to_str().expect("UTF-8"));
    let stage = plan.stages[0].clone();
    let targets = open(plan).expect("opens");
    let mut samples: Vec<IntervalSample> = Vec::new();
    let before_ns = of_this_process();
    let outcome = run_stage(&targets, &stage, &Control::new(), &mut || Some(0), &mut |sample| {
        samples.push(sample);
    })
    .expect("runs");
    let process_ns = of_this_process() - before_ns;
    assert!(!outcome.failed && outcome.degraded.is_empty(), "{:?}", outcome.degraded);
    let workers = samples.iter().flat_map(|sample| &sample.workers);
    let told_ns: u64 = workers.map(|worker| worker.cpu_user_ns + worker.cpu_system_ns).sum();
    // The process does little else: it collects samples ten times a second. Its own count is exact
    // to some ticks.
    let share = told_ns as f64 / process_ns as f64;
    assert!((0.9..1.02).contains(&share), "workers {told_ns} ns of {process_ns} ns: {share:.3}");
}
