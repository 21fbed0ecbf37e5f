//! The CPU time of workers with the kernel's threads behind them. Alone in its process, whose
//! whole time it looks at.

use crate::common;
use engine::{Clock, Control, open, run_stage};
use model::choices::{Access, Backend};
use model::curve::{Curve, Then, Unit};
use model::load::{Pace, Rate};
use model::plan::{EngineSettings, Extent, HostPlan, Stop, Work, Worker};
use model::units::{Bytes, Nanos, Percent};
use model::{IntervalSample, StageKind};
use std::path::Path;
use std::time::Instant;

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

/// What the kernel has counted of the bytes that calls of this process have read.
fn read_by_this_process() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").expect("a kernel that counts");
    let count = io.lines().find_map(|line| line.strip_prefix("rchar: "));
    count.and_then(|count| count.trim().parse().ok()).expect("a number")
}

/// Workers on two files in turn that do `work` through the page cache.
fn plan(root: &Path, backend: Backend, work: Work, workers: u32) -> HostPlan {
    let worker = |number: u32| {
        let extent = Extent { file: number % 2, offset: 0, length: FILE };
        Worker { turn: (number, workers), ..common::worker(u64::from(number) + 1, vec![extent]) }
    };
    let workers = (0..workers).map(worker).collect();
    let engine = EngineSettings { direct: false, ..EngineSettings::simple(backend) };
    HostPlan {
        targets: vec![common::directory(root, 2, FILE)],
        stages: vec![common::stage(0, StageKind::Measure, work, workers)],
        ..HostPlan::empty("test", Nanos::millis(100), engine)
    }
}

/// What was sampled of them, and how late the last of them began, in ns.
fn run(backend: Backend, work: Work, workers: u32) -> (Vec<IntervalSample>, u64) {
    let (_base, root) = common::scratch();
    let plan = plan(&root, backend, work, workers);
    let stage = plan.stages[0].clone();
    let targets = open(plan).expect("opens");
    let mut samples: Vec<IntervalSample> = Vec::new();
    let control = Control::new();
    let mut now = || Some(control.clock().now_ns());
    let outcome = run_stage(&targets, &stage, &control, &mut now, &mut |sample| {
        samples.push(sample);
    })
    .expect("runs");
    assert!(!outcome.failed && outcome.degraded.is_empty(), "{:?}", outcome.degraded);
    (samples, outcome.late_ns)
}

/// What the workers say of themselves, in ns.
fn of_workers(samples: &[IntervalSample]) -> u64 {
    let workers = samples.iter().flat_map(|sample| &sample.workers);
    workers.map(|worker| worker.cpu_user_ns + worker.cpu_system_ns).sum()
}

#[test]
fn the_time_of_workers_is_that_of_the_process_as_the_kernel_counts_it() {
    if !crate::in_a_process_of_its_own(
        "cpu::the_time_of_workers_is_that_of_the_process_as_the_kernel_counts_it",
    ) {
        return;
    }
    // A ring leaves writes through the page cache to threads of the kernel.
    let stop = Stop::After(Nanos::millis(1500));
    let work = Work::simple(Bytes(BLOCK), Percent::ZERO, Access::Random, 8, stop);
    let before_ns = of_this_process();
    let (samples, _) = run(Backend::IoUring, work, 2);
    let process_ns = of_this_process() - before_ns;
    let told_ns = of_workers(&samples);
    // The process does little else: it collects samples ten times a second. Its own count is exact
    // to some ticks.
    let share = told_ns as f64 / process_ns as f64;
    assert!((0.9..1.02).contains(&share), "workers {told_ns} ns of {process_ns} ns: {share:.3}");
}

#[test]
fn sixty_four_workers_on_few_processors_did_what_the_kernel_counted() {
    if !crate::in_a_process_of_its_own(
        "cpu::sixty_four_workers_on_few_processors_did_what_the_kernel_counted",
    ) {
        return;
    }
    const WORKERS: u32 = 64;
    let length = Nanos::millis(1500);
    let work = Work::simple(Bytes(4096), Percent::ALL, Access::Random, 1, Stop::After(length));
    let (before_ns, before) = (of_this_process(), read_by_this_process());
    let start = Instant::now();
    let (samples, late_ns) = run(Backend::Sync, work, WORKERS);
    let took_ns = start.elapsed().as_nanos() as u64;
    let (process_ns, read) = (of_this_process() - before_ns, read_by_this_process() - before);
    let ops = || common::ops(&samples);
    assert!(ops().all(|op| op.errors.is_empty()));
    let (ios, bytes) = (ops().map(|op| op.ios).sum::<u64>(), ops().map(|op| op.bytes).sum::<u64>());
    assert_eq!(bytes, ios * 4096);
    // Besides, it reads a little of its own in /proc.
    assert!((bytes..bytes + (1 << 20)).contains(&read), "{bytes} bytes of {read} that it read");
    // Each worker has one request outstanding from when it begins to the end of the load.
    let latencies = ops().map(|op| op.latency.decode().expect("own bytes"));
    let outstanding_ns = latencies.map(|latency| latency.sum_ns()).sum::<u128>() as f64;
    let least_ns = 0.9 * f64::from(WORKERS) * length.0.saturating_sub(late_ns) as f64;
    let most_ns = f64::from(WORKERS) * took_ns as f64;
    assert!(
        (least_ns..most_ns).contains(&outstanding_ns),
        "{outstanding_ns} ns, where {least_ns} to {most_ns} fit"
    );
    // On a busy machine, to start so many takes more of it than they get to do.
    let workers_ns = of_workers(&samples) as f64;
    let least_ns = 0.9 * process_ns as f64 - Nanos::millis(100).0 as f64;
    assert!(
        (least_ns..1.02 * process_ns as f64).contains(&workers_ns),
        "workers took {workers_ns} of {process_ns} ns"
    );
}

/// The share of a processor that each of two workers of such a pace takes.
fn share_of(backend: Backend, depth: u32, pace: &Pace) -> f64 {
    let (length, stop) = (0.5, Stop::After(Nanos::millis(500)));
    let work = Work::simple(Bytes(4096), Percent::ALL, Access::Random, depth, stop);
    let (samples, _) = run(backend, Work { pace: pace.clone(), ..work }, 2);
    of_workers(&samples) as f64 / 1e9 / length / 2.0
}

#[test]
fn a_worker_that_has_nothing_due_leaves_its_processor_to_others() {
    let rate =
        |each: u64| Pace::Open { rate: Rate::Iops { milli: 2 * each * 1_000 }, poisson: false };
    let silence = Pace::Changing {
        curve: Curve { unit: Unit::MilliIops, lines: Vec::new(), then: Then::Holds(0) },
        poisson: false,
    };
    let think = |burst| Pace::Closed { think: Nanos::millis(10), burst };
    // The last 60 µs before a request are spent awake: of a rate, as much of each second as there
    // are requests.
    let paces = [
        (rate(100), 0.05),
        (rate(1_000), 0.25),
        (silence, 0.05),
        (think(1), 0.05),
        (think(3), 0.05),
    ];
    for backend in [Backend::IoUring, Backend::Libaio, Backend::Sync] {
        let depths = if backend == Backend::Sync { &[1][..] } else { &[1, 2, 9] };
        std::thread::scope(|scope| {
            for (depth, (pace, most)) in
                depths.iter().flat_map(|d| paces.iter().map(move |p| (d, p)))
            {
                scope.spawn(move || {
                    let share = share_of(backend, *depth, pace);
                    assert!(share < *most, "{backend} at depth {depth}, {pace:?}: {share:.3}");
                });
            }
        });
    }
}
