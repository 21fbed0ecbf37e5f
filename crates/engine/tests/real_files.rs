//! Stages on real files: sums, quantiles, faults, stops.

use crate::common::{self, errors, ios_of, ops, run, scratch};
use engine::{Control, EngineError, open, run_stage};
use model::choices::{Access, Backend, Poll, TrimAs};
use model::histogram::bucket_of;
use model::note::Degraded;
use model::plan::{EngineSettings, HostPlan, HostStage, PlannedTarget, Stop, Worker};
use model::priority::Priority;
use model::sample::OpSample;
use model::units::{Bytes, Nanos, Percent};
use model::{Histogram, IntervalSample, Op, Phase, StageKind};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const BLOCK: u64 = 4096;
const FILE: u64 = 256 * BLOCK;

fn stage(kind: StageKind, read: u32, stop: Stop, workers: u32, depth: u32) -> HostStage {
    let share = FILE / u64::from(workers) / BLOCK * BLOCK;
    let access = if stop == Stop::Amount { Access::Sequential } else { Access::Random };
    let worker = |number: u32| Worker {
        turn: (number, workers),
        ..common::worker_at(u64::from(number) + 1, u64::from(number) * share, share)
    };
    let work = common::work(Percent::of(read), access, depth, stop);
    common::stage(0, kind, work, (0..workers).map(worker).collect())
}

fn timed(read: u32, workers: u32, depth: u32, millis: u64) -> HostStage {
    stage(StageKind::Measure, read, Stop::After(Nanos::millis(millis)), workers, depth)
}

fn prepare() -> HostStage {
    stage(StageKind::Prepare, 0, Stop::Amount, 2, 4)
}

fn plan(root: &Path, backend: Backend, direct: bool, stages: Vec<HostStage>) -> HostPlan {
    let engine = EngineSettings { direct, raw_latencies: true, ..EngineSettings::simple(backend) };
    HostPlan {
        targets: vec![common::directory(root, 1, FILE)],
        stages,
        ..HostPlan::empty("test", Nanos::millis(20), engine)
    }
}

fn check_sums(samples: &[IntervalSample]) {
    for (number, sample) in samples.iter().enumerate() {
        assert_eq!(sample.interval as usize, number, "no interval is left out");
        for op in &sample.ops {
            let of_workers = |f: fn(&model::sample::WorkerOp) -> u64| -> u64 {
                sample.workers.iter().flat_map(|w| &w.ops).filter(|w| w.op == op.op).map(f).sum()
            };
            assert_eq!(of_workers(|w| w.ios), op.ios);
            assert_eq!(of_workers(|w| w.bytes), op.bytes);
            assert_eq!(of_workers(|w| w.errors), op.error_count());
            assert_eq!(op.latency.decode().expect("own bytes").count(), op.ios);
        }
    }
}

#[test]
fn every_backend_keeps_its_books_to_the_bit() {
    for backend in [Backend::IoUring, Backend::Libaio, Backend::Sync, Backend::Null, Backend::Nop] {
        let (_base, root) = scratch();
        let depth = if backend == Backend::Sync { 1 } else { 8 };
        let plan = plan(&root, backend, true, vec![prepare(), timed(70, 3, depth, 130)]);
        let targets = open(plan).expect("opens");
        let (outcome, prepared) = run(&targets, 0);
        assert!(!outcome.failed && !outcome.interrupted);
        check_sums(&prepared);
        let bytes: u64 = ops(&prepared).map(|op| op.bytes).sum();
        assert_eq!(bytes, FILE, "{backend}: every byte is written once");
        assert_eq!(ios_of(&prepared, Op::Fsync), u64::from(!backend.sends_nothing()));
        let (_, measured) = run(&targets, 1);
        check_sums(&measured);
        assert_eq!(load_ns(&measured), 130_000_000, "{backend}: intervals cover the stage exactly");
        assert_eq!(errors(&measured), []);
    }
}

fn load_ns(samples: &[IntervalSample]) -> u64 {
    samples.iter().filter(|sample| sample.phase == Phase::Load).map(|one| one.length_ns).sum()
}

/// How many descriptors of this process are of the file at `path`.
fn descriptors_of(path: &Path) -> usize {
    let all = std::fs::read_dir("/proc/self/fd").expect("a /proc").flatten();
    all.filter(|one| std::fs::read_link(one.path()).is_ok_and(|file| file == path)).count()
}

#[test]
fn each_worker_has_the_file_open_for_itself_and_the_first_has_that_of_the_claim() {
    for backend in [Backend::IoUring, Backend::Libaio, Backend::Sync] {
        let (_base, root) = scratch();
        let stages = vec![prepare(), timed(100, 5, 1, 400), timed(100, 3, 1, 100)];
        let targets = open(plan(&root, backend, true, stages)).expect("opens");
        let file = root.join("data-00000.bin");
        assert_eq!(descriptors_of(&file), 1);
        run(&targets, 0);
        assert_eq!(descriptors_of(&file), 2, "{backend}: the preparation has two workers");
        let during = std::thread::scope(|scope| {
            let load = scope.spawn(|| run(&targets, 1));
            let mut most = 0;
            while !load.is_finished() {
                most = most.max(descriptors_of(&file));
            }
            most
        });
        assert_eq!(during, 5, "{backend}");
        run(&targets, 2);
        assert_eq!(descriptors_of(&file), 5, "{backend}: they stay for stages to come");
        targets.remove().expect("removed");
        let gone = root.join("data-00000.bin (deleted)");
        assert_eq!((descriptors_of(&file), descriptors_of(&gone)), (0, 0), "{backend}");
    }
}

#[test]
fn quantiles_of_merged_histograms_are_those_of_the_raw_latencies() {
    let (_base, root) = scratch();
    let targets = open(plan(&root, Backend::IoUring, true, vec![prepare(), timed(100, 4, 4, 200)]))
        .expect("opens");
    run(&targets, 0);
    let (_, samples) = run(&targets, 1);
    let mut merged = Histogram::new();
    let mut raw = Vec::new();
    for op in ops(&samples) {
        op.latency.merge_into(&mut merged).expect("own bytes");
        raw.extend_from_slice(&op.raw_latencies);
    }
    raw.sort_unstable();
    assert_eq!(merged.count(), raw.len() as u64);
    assert_eq!(merged.sum_ns(), raw.iter().map(|v| u128::from(*v)).sum::<u128>());
    assert_eq!((merged.min_ns(), merged.max_ns()), (raw.first().copied(), raw.last().copied()));
    for q in [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0] {
        let rank = ((q * raw.len() as f64).ceil() as usize).clamp(1, raw.len());
        let told = merged.quantile_ns(q).expect("not empty");
        assert_eq!(bucket_of(told), bucket_of(raw[rank - 1]), "q = {q}");
    }
}

#[test]
fn a_stop_ends_the_stage_and_keeps_the_part() {
    let (_base, root) = scratch();
    let targets =
        open(plan(&root, Backend::IoUring, true, vec![prepare(), timed(100, 2, 4, 3_600_000)]))
            .expect("opens");
    run(&targets, 0);
    let control = Control::new();
    let mut samples: Vec<IntervalSample> = Vec::new();
    let stage = targets.plan().stages[1].clone();
    let outcome = run_stage(&targets, &stage, &control, &mut || Some(0), &mut |sample| {
        samples.push(sample);
        if samples.len() == 3 {
            control.stop();
        }
    })
    .expect("no failure of ours");
    assert!(outcome.interrupted);
    check_sums(&samples);
    assert!(samples.len() >= 3);
    let again = run_stage(&targets, &stage, &control, &mut || Some(0), &mut |_| {})
        .expect("no failure of ours");
    assert!(again.interrupted, "no other stage begins");
}

#[test]
fn a_target_that_fails_is_data_and_ends_a_preparation() {
    [Backend::IoUring, Backend::Libaio, Backend::Sync].into_iter().for_each(fails_and_ends);
}

#[test]
fn a_backend_that_is_left_open_is_tried_and_named_and_the_trials_count_nowhere() {
    let (_base, root) = scratch();
    let targets = open(plan(&root, Backend::Auto, true, vec![prepare(), timed(70, 2, 4, 60)]))
        .expect("opens");
    let (prepared, samples) = run(&targets, 0);
    check_sums(&samples);
    assert!(prepared.findings.is_empty(), "nothing is tried before there is anything to read");
    let (outcome, samples) = run(&targets, 1);
    check_sums(&samples);
    assert_eq!(load_ns(&samples), 60_000_000);
    let [note] = outcome.findings.as_slice() else { panic!("one note: {:?}", outcome.findings) };
    let model::Fact::BackendChosen(choice) = &note.fact else { panic!("{note:?}") };
    assert_eq!((note.host, choice.stage), (0, StageKind::Measure));
    assert!(choice.deep_iops > 0 && choice.sync_iops > 0, "{choice:?}");

    let control = Control::new();
    control.stop();
    let stage = targets.plan().stages[1].clone();
    let stopped =
        run_stage(&targets, &stage, &control, &mut || Some(0), &mut |_| panic!("no load"))
            .expect("no failure of ours");
    assert!(stopped.interrupted && stopped.findings.is_empty());
}

#[test]
fn where_nobody_named_a_backend_a_file_in_memory_is_tried_by_reads_alone() {
    let folder = tempfile::tempdir_in("/dev/shm").expect("a directory in memory");
    let root = folder.path().join("t");
    let mut plan = plan(&root, Backend::IoUring, false, vec![prepare(), timed(0, 2, 4, 60)]);
    plan.engine.left_open = true;
    let targets = open(plan).expect("opens");
    let (prepared, _) = run(&targets, 0);
    assert!(prepared.findings.is_empty());
    let (outcome, samples) = run(&targets, 1);
    check_sums(&samples);
    // If the ring was taken, the kernel's threads are on record, too.
    let [note, ..] = outcome.findings.as_slice() else { panic!("{:?}", outcome.findings) };
    let model::Fact::BackendChosen(choice) = &note.fact else { panic!("{note:?}") };
    let cpu = choice.cpu.expect("what a request costs");
    assert!(choice.deep_iops > 0 && choice.sync_iops > 0, "{choice:?}");
    assert!(cpu.deep.0 > 0 && cpu.sync.0 > 0, "{choice:?}");
}

#[test]
fn a_polled_ring_keeps_its_books_or_says_why_there_is_none() {
    for poll in [Poll::Completions, Poll::Submissions] {
        let (_base, root) = scratch();
        let mut plan = plan(&root, Backend::IoUring, true, vec![prepare(), timed(70, 2, 8, 130)]);
        plan.engine.poll = poll;
        let targets = open(plan).expect("opens");
        for stage in [0, 1] {
            let (outcome, samples) = run(&targets, stage);
            check_sums(&samples);
            // What a machine has is its own affair.
            let is_of_poll = |one: &Degraded| match one {
                Degraded::CannotPoll { poll: of, .. } | Degraded::PollRefused { poll: of, .. } => {
                    *of == poll
                }
                _ => false,
            };
            assert!(outcome.degraded.iter().all(is_of_poll), "{:?}", outcome.degraded);
            assert_eq!(errors(&samples), [], "{poll}");
            assert!(ops(&samples).map(|op| op.ios).sum::<u64>() > 8, "{poll}");
        }
    }
}

/// A stage of one worker that trims and reads, half and half, with a priority.
fn trimming(depth: u32) -> HostStage {
    let mut stage = timed(100, 1, depth, 150);
    (stage.works[0].trim, stage.works[0].priority) = (Percent::of(50), Priority::BestEffort(7));
    stage
}

#[test]
fn a_trim_gives_the_space_back_and_keeps_the_size() {
    for (backend, depth) in [(Backend::IoUring, 4), (Backend::Sync, 1)] {
        let (_base, root) = scratch();
        let targets =
            open(plan(&root, backend, true, vec![prepare(), trimming(depth)])).expect("opens");
        run(&targets, 0);
        let file = root.join("data-00000.bin");
        let before = std::fs::metadata(&file).expect("a file");
        let (outcome, samples) = run(&targets, 1);
        assert_eq!(outcome.degraded, [], "{backend}: nothing is refused");
        check_sums(&samples);
        let trims: Vec<_> = ops(&samples).filter(|op| op.op == Op::Trim).collect();
        let is_whole = |op: &&OpSample| op.errors.is_empty() && op.bytes == op.ios * BLOCK;
        assert!(trims.iter().all(is_whole), "{backend}: {trims:?}");
        assert!(ios_of(&samples, Op::Trim) > 0, "{backend}");
        let after = std::fs::metadata(&file).expect("a file");
        assert_eq!(after.len(), FILE);
        let (after, before) = (after.blocks(), before.blocks());
        assert!(after < before, "{backend}: {after} < {before}");
    }
}

/// What a stage of trims of this kind leaves of a file that was written: its blocks on the file
/// system before and after, and the share of its sectors that hold zeros.
fn trimmed(backend: Backend, way: TrimAs) -> Option<(u64, u64, f64)> {
    let (_base, root) = scratch();
    let depth = if backend == Backend::Sync { 1 } else { 4 };
    let mut stage = timed(0, 1, depth, 100);
    (stage.works[0].trim, stage.works[0].trim_as) = (Percent::ALL, way);
    let targets = open(plan(&root, backend, true, vec![prepare(), stage])).expect("opens");
    run(&targets, 0);
    let file = root.join("data-00000.bin");
    let before = std::fs::metadata(&file).expect("a file");
    let (_, samples) = run(&targets, 1);
    let errors = errors(&samples);
    if errors.iter().any(|(errno, _)| *errno == libc::EOPNOTSUPP) {
        // It says so in the open, which the test's own output does not.
        let said = format!("SKIPPED: {} has no such `fallocate`\n", root.display());
        std::io::stderr().write_all(said.as_bytes()).expect("a terminal");
        return None;
    }
    assert!(ios_of(&samples, Op::Trim) > 0 && errors.is_empty(), "{errors:?}");
    let after = std::fs::metadata(&file).expect("a file");
    assert_eq!(after.len(), before.len(), "{way}: the size stays");
    let bytes = std::fs::read(&file).expect("a file");
    let zeros = bytes.chunks(512).filter(|sector| sector.iter().all(|byte| *byte == 0)).count();
    Some((before.blocks(), after.blocks(), zeros as f64 / (bytes.len() / 512) as f64))
}

#[test]
fn a_trim_writes_zeroes_or_allocates_where_it_is_told_to() {
    for backend in [Backend::IoUring, Backend::Sync] {
        if let Some((before, after, zeros)) = trimmed(backend, TrimAs::Zeroes) {
            assert!(after >= before && zeros > 0.0, "{backend}: {before} {after} {zeros}");
        }
        if let Some((before, after, zeros)) = trimmed(backend, TrimAs::Allocate) {
            assert!(after >= before && zeros == 0.0, "{backend}: {before} {after} {zeros}");
        }
    }
}

#[test]
fn libaio_sends_its_priority_and_answers_a_trim_with_an_error() {
    let (_base, root) = scratch();
    let mut reads = timed(50, 1, 4, 60);
    reads.works[0].priority = Priority::BestEffort(3);
    // No plan asks libaio for trims; here one is put upon it.
    let targets = open(plan(&root, Backend::Libaio, true, vec![prepare(), reads])).expect("opens");
    run(&targets, 0);
    let (outcome, samples) = run(&targets, 1);
    assert_eq!(outcome.degraded, []);
    assert!(ops(&samples).all(|op| op.errors.is_empty() && op.ios > 0));
    let mut refused = |sample: IntervalSample| {
        for op in sample.ops.iter().filter(|op| op.op == Op::Trim) {
            let is_refused = op.errors.iter().all(|(errno, _)| *errno == libc::EOPNOTSUPP);
            assert!(op.ios == 0 && is_refused, "{op:?}");
        }
    };
    let outcome = run_stage(&targets, &trimming(4), &Control::new(), &mut || Some(0), &mut refused);
    assert!(outcome.is_ok_and(|outcome| outcome.stuck.is_none()));
}

fn fails_and_ends(backend: Backend) {
    let (_base, root) = scratch();
    let stages = vec![prepare(), timed(0, 2, if backend == Backend::Sync { 1 } else { 4 }, 60)];
    let ours = open(plan(&root, backend, false, stages.clone())).expect("opens");
    drop(ours);
    // The same file, opened for reading only: every write fails with EBADF.
    let mut read_only = plan(&root, backend, false, stages);
    read_only.targets[0].kind = PlannedTarget::ReadOnly;
    // What is only read is named itself.
    read_only.targets[0].path = read_only.targets[0].files[0].path.clone();
    let targets = open(read_only).expect("opens");
    let (outcome, samples) = run(&targets, 0);
    assert!(outcome.failed, "a layout with a hole is no layout");
    check_sums(&samples);
    let failed = errors(&samples);
    assert!(matches!(failed[..], [(libc::EBADF, _)]), "{failed:?}");
    let (outcome, samples) = run(&targets, 1);
    assert!(!outcome.failed, "in a measurement errors are counted");
    check_sums(&samples);
    assert!(!errors(&samples).is_empty());
}

#[test]
fn a_directory_of_somebody_else_is_refused_and_ours_is_removed_whole() {
    let (_base, root) = scratch();
    std::fs::create_dir(&root).expect("makes");
    std::fs::write(root.join("thesis.txt"), "ten years").expect("writes");
    let refused = open(plan(&root, Backend::IoUring, true, vec![prepare()])).expect_err("not ours");
    assert!(refused.to_string().contains("did not make"), "{refused}");
    std::fs::remove_file(root.join("thesis.txt")).expect("removes");

    let targets = open(plan(&root, Backend::IoUring, true, vec![prepare()]))
        .expect("an empty one is claimed");
    let second = open(plan(&root, Backend::IoUring, true, vec![prepare()])).expect_err("in use");
    let holder =
        format!("another run is using it (process {} on host h); wait for it", std::process::id());
    assert!(second.to_string().contains(&holder), "{second}");
    std::fs::write(root.join("data-1.bin"), "not a name of ours").expect("writes");
    targets.remove().expect("removes");
    let left: Vec<_> = std::fs::read_dir(&root)
        .expect("still there")
        .map(|e| e.expect("entry").file_name())
        .collect();
    assert_eq!(left, ["data-1.bin"]);
}

#[test]
fn a_second_host_of_the_run_is_kept_out_of_the_directory_of_the_first() {
    let (_base, root) = scratch();
    let of = |host: u32, hostname: &str, run: &str| {
        let plan = plan(&root, Backend::Sync, false, vec![prepare()]);
        HostPlan { host, hostname: hostname.into(), run_id: run.into(), ..plan }
    };
    let targets = open(of(0, "a", "r")).expect("opens");
    let told = "hosts a and b see one directory here, and each would overwrite the other's files; \
                give each host a directory of its own";
    let refused = open(of(1, "b", "r")).expect_err("held");
    assert!(refused.to_string().contains(told), "{refused}");
    let refused = open(of(1, "b", "another")).expect_err("held by another run");
    assert!(refused.to_string().contains(" on host a); wait for it"), "{refused}");
    // As where a lock does not reach the other host: the marker alone tells.
    drop(targets);
    let refused = open(of(1, "b", "r")).expect_err("marked");
    assert!(refused.to_string().contains(told), "{refused}");
    drop(open(of(0, "a", "r")).expect("a host that comes back finds its own"));
    let next = open(of(1, "b", "another")).expect("what an earlier run left is no obstacle");
    next.remove().expect("removes");

    // Of a version that named no hosts.
    std::fs::create_dir(&root).expect("makes");
    let old = r#"{"made_by":"plimsoll","run_id":"r","pid":1,"made_directory":true}"#;
    std::fs::write(root.join(model::testbed::MARKER), old).expect("writes");
    open(of(1, "b", "r")).expect("as before").remove().expect("removes");
}

#[test]
fn cleaning_removes_exactly_what_a_killed_run_left() {
    let (_base, root) = scratch();
    drop(open(plan(&root, Backend::IoUring, true, vec![prepare()])).expect("opens"));
    let path = root.to_str().expect("UTF-8");
    assert_eq!(engine::clean(path, &engine::Progress::default()).expect("ours").bytes, FILE);
    assert!(!root.exists(), "we made the directory, so it goes too");
    std::fs::create_dir(&root).expect("makes");
    let refused = engine::clean(path, &engine::Progress::default()).expect_err("no marker");
    assert!(refused.to_string().contains("nothing in it is ours"), "{refused}");
}

#[test]
fn a_directory_that_is_gone_is_named_and_keeps_no_other_from_being_tidied_up() {
    let (base, root) = scratch();
    let other = base.path().join("other");
    let mut both = plan(&root, Backend::Sync, false, vec![prepare()]);
    both.targets.extend(plan(&other, Backend::Sync, false, vec![]).targets);
    let targets = open(both).expect("opens");
    assert!(root.join("data-00000.bin").is_file() && other.join("data-00000.bin").is_file());
    std::fs::remove_dir_all(&root).expect("somebody removes it under the run");
    let words = targets.remove().expect_err("one is gone").to_string();
    assert!(
        words.contains(root.to_str().expect("UTF-8"))
            && words.contains("somebody removed or renamed it"),
        "{words}"
    );
    assert!(!words.contains("plimsoll clean"), "there is nothing to clean: {words}");
    assert!(!other.exists(), "it was the second one");
}

/// `plan` with `count` files in place of one.
fn with_files(root: &Path, count: u32) -> HostPlan {
    let targets = vec![common::directory(root, count, FILE)];
    HostPlan { targets, ..plan(root, Backend::Sync, false, vec![]) }
}

#[test]
fn a_refused_layout_leaves_nothing_that_was_not_there() {
    let (_folder, root) = scratch();
    drop(open(with_files(&root, 1)).expect("one file"));
    std::os::unix::fs::symlink("/nowhere", root.join("data-00002.bin"))
        .expect("a link that is not ours");
    let error = open(with_files(&root, 3)).expect_err("our files are no links");
    assert!(error.to_string().contains("data-00002.bin"), "{error}");
    assert!(root.join("data-00000.bin").exists(), "it was there before");
    assert!(!root.join("data-00001.bin").exists(), "it was made for nothing");
    // Where the directory itself was made for nothing, it goes, too: a file of this size fits
    // nowhere.
    let (_folder, root) = scratch();
    let mut plan = with_files(&root, 2);
    plan.targets[0].files[1].size = Bytes(1 << 62);
    open(plan).expect_err("no file system has so much");
    assert!(!root.exists());
}

#[test]
fn what_the_backend_cannot_do_is_said() {
    let (_folder, root) = scratch();
    let mut plan = plan(&root, Backend::Sync, false, vec![]);
    plan.engine.poll = Poll::Submissions;
    let targets = open(plan).expect("open");
    let (poll, backend) = (Poll::Submissions, Backend::Sync);
    let said = model::Fact::EngineDegraded(Degraded::NoPoll { poll, backend });
    assert!(targets.notes().iter().any(|note| note.fact == said), "{:?}", targets.notes());
}

#[test]
fn a_panic_of_a_worker_ends_its_stage_with_its_words() {
    let (_base, root) = scratch();
    // Far longer than anybody waits: only the panic ends it.
    let mut stages = vec![timed(100, 2, 4, 3_600_000)];
    // A file that is in no target, as only a damaged plan or a bug of ours has one.
    stages[0].workers[1].extents[0].file = u32::MAX - 1;
    for backend in [Backend::IoUring, Backend::Libaio, Backend::Sync] {
        let mut plan = plan(&root, backend, false, stages.clone());
        plan.stages[0].works[0].depth = if backend == Backend::Sync { 1 } else { 4 };
        let targets = open(plan).expect("opens");
        let stage = targets.plan().stages[0].clone();
        let error = run_stage(&targets, &stage, &Control::new(), &mut || Some(0), &mut |_| ())
            .expect_err("a panic");
        assert!(
            matches!(&error, EngineError::Panicked { thread, .. } if thread == "worker-1"),
            "{backend}: {error}"
        );
        targets.remove().expect("removes");
    }
}

#[test]
fn a_plan_that_is_refused_leaves_nothing_behind() {
    let (base, there) = scratch();
    let made = base.path().join("made");
    std::fs::create_dir(&there).expect("made");
    let target = |root: &Path| common::directory(root, 1, FILE);
    let mut plan = plan(&there, Backend::Sync, false, vec![prepare()]);
    plan.targets = vec![target(&there), target(&made), target(&base.path().join("no/parent"))];
    open(plan).expect_err("the last cannot be made");
    assert!(!made.exists(), "a directory that the run made");
    let left = std::fs::read_dir(&there).expect("still there").count();
    assert_eq!(left, 0, "one that was there is as it was");
}
