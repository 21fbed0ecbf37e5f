//! What Plimsoll does when the target fails, is slow, tells half the truth or never answers.

use crate::common::faulty_fs::{Behaviour, FaultyFs};
use crate::common::{
    Ended, Folder, Json, Loop, RESTS, Words, assert_says, end, ended, has, names, plimsoll, said,
    scratch, shown, signal, start, text, wait_until,
};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const BACKENDS: [&str; 2] = ["io_uring", "sync"];
const SIZE: &str = "2M";

/// What is needed for a file system of our own.
fn has_fuse(test: &str) -> bool {
    has(test, "fuse mount")
}

/// The arguments of a run on `target` that takes so many seconds.
fn arguments(backend: &str, rw: &str, seconds: &str, target: &Path) -> Vec<OsString> {
    let line = format!(
        "run --rw {rw} --bs 4k --iodepth 4 --numjobs 2 --size {SIZE} --runtime {seconds} --json \
         --out run.plimsoll --set interval=100ms --set backend={backend} {RESTS} --target"
    );
    (line, [target]).words()
}

/// The arguments with one word instead of another.
fn instead(mut args: Vec<OsString>, word: &str, other: &str) -> Vec<OsString> {
    args.iter_mut().filter(|one| *one == word).for_each(|one| *one = other.into());
    args
}

/// A run that is being measured on a file system of ours.
struct Loaded {
    fs: FaultyFs,
    folder: Folder,
    child: Child,
}

impl Loaded {
    fn begin(fs: FaultyFs, backend: &str, rw: &str, seconds: &str, extra: impl Words) -> Loaded {
        let folder = scratch();
        let target = fs.path().join("data");
        let args = (&arguments(backend, rw, seconds, &target), extra);
        let child = start(&folder, &args);
        // The layout takes 16 requests of 128 KiB, the most that the kernel sends at once; the rest
        // is the load.
        wait_until("the load", || fs.requests() > 100);
        Loaded { fs, folder, child }
    }

    /// The record, read while the run goes on or after it.
    fn record(&self) -> Value {
        shown(&self.folder)
    }
}

/// Waits for a program that must not be held up; the file systems of a test that fails let go of
/// it.
fn end_in_time(mut child: Child) -> Ended {
    wait_until("the end of the program", || child.try_wait().expect("a child of ours").is_some());
    end(child)
}

#[test]
fn the_file_system_of_these_tests_does_what_it_is_told() {
    let true = has_fuse("a file system that misbehaves") else { return };
    let fs = FaultyFs::new();
    let path = fs.path().join("file");
    let mut file = fs::File::create(&path).expect("a file");
    let mut write = |behaviour: Behaviour, byte: u8| {
        fs.set(behaviour);
        file.seek(SeekFrom::Start(0)).expect("a place");
        let moved = file.write(&[byte; 4096]);
        fs.set(Behaviour::default());
        moved.map_err(|error| error.raw_os_error())
    };
    let good = Behaviour::default();
    assert_eq!(write(good, 1), Ok(4096));
    assert_eq!(
        write(Behaviour { fail_every: 1, errno: libc::EIO, ..good }, 2),
        Err(Some(libc::EIO))
    );
    assert_eq!(write(Behaviour { short_every: 1, ..good }, 3), Ok(2048));
    assert_eq!(
        write(Behaviour { tear_every: 1, ..good }, 4),
        Ok(4096),
        "torn, and it does not say so"
    );
    let mut content = Vec::new();
    fs::File::open(&path).and_then(|mut file| file.read_to_end(&mut content)).expect("readable");
    assert_eq!((content[2047], content[2048]), (4, 1), "half is new, half is old");
    let began = Instant::now();
    assert_eq!(write(Behaviour { delay: Duration::from_millis(30), ..good }, 5), Ok(4096));
    assert!(began.elapsed() >= Duration::from_millis(30));
    fs::remove_file(&path).expect("removable");
    assert!(names(fs.path()).is_empty());
}

#[test]
fn a_file_system_that_hides_open_files_is_left_as_it_was() {
    let true = has_fuse("a file system that hides open files") else { return };
    let fs = FaultyFs::that_hides();
    // It does what libfuse does.
    let open = fs::File::create(fs.path().join("open")).expect("a file");
    fs::remove_file(fs.path().join("open")).expect("removed");
    assert!(names(fs.path())[0].starts_with(".fuse_hidden"), "{:?}", names(fs.path()));
    drop(open);
    wait_until("the hidden file is gone", || names(fs.path()).is_empty());
    // Beside somebody's file, so that the run makes a folder of its own there.
    fs::write(fs.path().join("foreign"), "precious").expect("a file");
    for backend in BACKENDS {
        let folder = scratch();
        let ended = plimsoll(&folder, arguments(backend, "randrw", "1", fs.path())).with_code(0);
        assert!(!ended.err.contains("cannot be removed"), "{ended:?}");
        assert_eq!(names(fs.path()), ["foreign"], "{backend}");
    }
}

#[test]
fn a_marker_that_cannot_be_read_is_not_told_as_somebody_elses() {
    let true = has_fuse("a marker that cannot be read") else { return };
    let fs = FaultyFs::new();
    let (folder, target) = (scratch(), fs.path().join("data"));
    let run = arguments("sync", "randwrite", "1", &target);
    plimsoll(&folder, (&run, "--keep-data")).with_code(0);
    fs.set(Behaviour { refuse_reads: true, ..Behaviour::default() });
    fs::remove_file(folder.join("run.plimsoll")).expect("a run file");
    for args in [run.clone(), ("clean", [&target]).words()] {
        let refused = plimsoll(&folder, args).with_code(3);
        assert!(
            refused.err.contains("cannot be read") && !refused.err.contains("did not write it"),
            "{refused:?}"
        );
    }
    assert!(target.join("data-00000.bin").exists());
    fs.release();
    plimsoll(&folder, ["clean", text(&target)]).with_code(0);
    assert!(!target.exists());
}

#[test]
fn errors_are_counted_by_errno_and_the_run_goes_on() {
    let true = has_fuse("EIO at a rate") else { return };
    for backend in BACKENDS {
        for rw in ["randread", "randwrite"] {
            let loaded = Loaded::begin(FaultyFs::new(), backend, rw, "2", "");
            loaded.fs.set(Behaviour { fail_every: 10, errno: libc::EIO, ..Behaviour::default() });
            let json = end_in_time(loaded.child).with_code(1).json();
            let row = &json["results"][0];
            let (good, bad) = (row["ios"].count(), row["errors"].count());
            assert!(bad > 0 && bad < good / 5, "{backend} {rw}: about one in ten: {bad} of {good}");
            assert!(row.doubt("errors").contains("EIO"), "{backend} {rw}: {row}");
        }
    }
}

#[test]
fn a_part_that_moved_is_told_from_the_whole() {
    let true = has_fuse("short reads and writes") else { return };
    for backend in BACKENDS {
        for rw in ["randread", "randwrite"] {
            let loaded = Loaded::begin(FaultyFs::that_blocks(), backend, rw, "2", "");
            loaded.fs.set(Behaviour { short_every: 3, ..Behaviour::default() });
            let json = end_in_time(loaded.child).with_code(1).json();
            let row = &json["results"][0];
            assert!(row["errors"].as_u64() > Some(0), "{backend} {rw}: {row}");
            let told = row.doubt("errors");
            assert!(told.contains("part") || told.contains("short"), "{backend} {rw}: {told}");
        }
    }
}

#[test]
fn a_delay_of_the_target_stands_in_the_latencies() {
    let true = has_fuse("a known delay") else { return };
    const DELAY: Duration = Duration::from_millis(40);
    for backend in BACKENDS {
        let fs = FaultyFs::new();
        fs.set(Behaviour { delay: DELAY, ..Behaviour::default() });
        let folder = scratch();
        let target = fs.path().join("data");
        let json =
            plimsoll(&folder, arguments(backend, "randread", "2", &target)).with_code(0).json();
        let p50 = json["results"][0]["latency_ns"]["p50"]
            .as_u64()
            .unwrap_or_else(|| panic!("p50 in {json}"));
        // The middle of a bucket, at most 0.4 % from the truth.
        assert!(p50 as f64 >= DELAY.as_nanos() as f64 * 0.996, "{backend}: {p50} ns");
        assert_eq!(json["results"][0]["errors"], 0);
    }
}

#[test]
fn no_space_in_prepare_ends_the_run() {
    let true = has_fuse("ENOSPC in prepare") else { return };
    for backend in BACKENDS {
        let fs = FaultyFs::new();
        fs.set(Behaviour { fail_every: 4, errno: libc::ENOSPC, ..Behaviour::default() });
        let folder = scratch();
        let target = fs.path().join("data");
        let ended = plimsoll(&folder, arguments(backend, "randread", "60", &target)).with_code(4);
        assert_says(&ended.err, &["No space left on device", "layout.size"]);
        assert_eq!(shown(&folder)["state"], "failed");
        assert!(names(fs.path()).is_empty(), "{backend}: nothing of ours stays");
    }
}

/// The words of the note that the target does not answer.
fn stuck_note(json: &Value) -> &str {
    json.note("stuck").unwrap_or_else(|| panic!("no note in {json}"))
}

const IMPATIENT: &str = "--set patience=1s";

#[test]
fn a_target_that_stalls_for_good_holds_up_no_end() {
    let true = has_fuse("a target that stalls for good") else { return };
    for (backend, outstanding, fs) in
        [("io_uring", 8, FaultyFs::new()), ("sync", 2, FaultyFs::that_blocks())]
    {
        let loaded = Loaded::begin(fs, backend, "randread", "2", IMPATIENT);
        wait_until("the first sample", || loaded.record()["results"][0]["ios"].as_u64() > Some(0));
        // Requests that the server never took, so that the kernel lets their process go.
        loaded.fs.stall();
        // It still stalls when the program ends; otherwise this waits for ever.
        let ended = end_in_time(loaded.child).with_code(4);
        let target = loaded.fs.path().join("data");
        let expected = format!("stuck: {outstanding} requests outstanding at {}", target.display());
        assert!(ended.err.contains(&expected), "{backend}: {ended:#?}");
        assert!(ended.err.contains("plimsoll clean"), "what stays there is named: {ended:#?}");
        let json = shown(&loaded.folder);
        assert_eq!(json["state"], "failed", "{json}");
        assert!(json["results"][0]["ios"].as_u64() > Some(0), "what was recorded is kept: {json}");
        assert!(stuck_note(&json).contains(&expected), "{json}");
        assert!(loaded.folder.join("run.html").exists());
        loaded.fs.release();
        wait_until("the files to be free", || {
            plimsoll(&loaded.folder, ["clean", text(&target)]).code == 0 || !target.exists()
        });
        assert!(names(loaded.fs.path()).is_empty(), "{backend}");
    }
}

#[test]
fn requests_that_the_target_took_and_never_answers_are_given_up() {
    let true = has_fuse("a target that never answers") else { return };
    // With one request at a time, not even the end of a process ends the wait in the kernel; see
    // the next test.
    let loaded = Loaded::begin(FaultyFs::new(), "io_uring", "randwrite", "2", IMPATIENT);
    loaded.fs.set(Behaviour { hang: true, ..Behaviour::default() });
    let ended = end_in_time(loaded.child).with_code(4);
    // Eight, but for a worker that was kept from its processor and saw an answer after the end.
    let held = loaded.fs.held();
    assert!(ended.err.contains(&format!("stuck: {held} requests outstanding")), "{ended:#?}");
    assert!((5..=8).contains(&held), "{held}");
}

#[test]
fn the_record_is_whole_before_the_kernel_lets_a_hanging_process_go() {
    let true = has_fuse("a call of the kernel that nothing ends") else { return };
    let loaded = Loaded::begin(FaultyFs::new(), "sync", "randread", "2", IMPATIENT);
    loaded.fs.set(Behaviour { hang: true, ..Behaviour::default() });
    wait_until("the record's end", || loaded.record()["state"] == "failed");
    assert!(stuck_note(&loaded.record()).contains("stuck: 2 requests"));
    loaded.fs.release();
    end_in_time(loaded.child).with_code(4);
}

#[test]
fn ctrl_c_is_not_held_up_by_a_target_that_hangs() {
    let true = has_fuse("Ctrl-C while the target hangs") else { return };
    for (backend, fs) in [("io_uring", FaultyFs::new()), ("sync", FaultyFs::that_blocks())] {
        let loaded = Loaded::begin(fs, backend, "randread", "3000", IMPATIENT);
        loaded.fs.stall();
        signal(&loaded.child, "INT");
        let ended = end_in_time(loaded.child).with_code(130);
        assert!(ended.err.contains("does not answer"), "{backend}: {ended:#?}");
        let json = shown(&loaded.folder);
        assert_eq!(json["state"], "interrupted");
        assert!(stuck_note(&json).contains("stuck"), "{json}");
    }
}

#[test]
fn a_flush_that_never_ends_holds_up_ctrl_c_no_longer_than_the_patience() {
    let true = has_fuse("an fsync that hangs") else { return };
    let fs = FaultyFs::new();
    fs.set(Behaviour { hang_fsync: true, ..Behaviour::default() });
    let folder = scratch();
    let target = fs.path().join("data");
    let args = (&arguments("io_uring", "randread", "60", &target), IMPATIENT);
    let child = start(&folder, args);
    wait_until("the flush", || fs.held() == 1);
    signal(&child, "INT");
    wait_until("the record's end", || shown(&folder)["state"] == "interrupted");
    assert!(stuck_note(&shown(&folder)).contains("stuck: 1 request outstanding"));
    fs.release();
    end(child).with_code(130);
}

#[test]
fn a_flush_of_an_amount_or_of_the_page_cache_holds_up_no_longer_either() {
    let true = has_fuse("an fsync that hangs within a stage and before it") else { return };
    let amount = "--set amount=\"all\" --set prepare=false";
    // A busy machine may need a second for an answer that comes.
    let patient = "--set patience=4s";
    let through_the_cache = "--set prepare=false --buffered";
    for (pattern, extra, held) in
        [("randwrite", amount, 1..=2), ("randread", through_the_cache, 1..=1)]
    {
        let fs = FaultyFs::new();
        fs.set(Behaviour { hang_fsync: true, ..Behaviour::default() });
        let folder = scratch();
        let target = fs.path().join("data");
        let line = ("run --rw", [pattern], "--size 1M --numjobs 2 --target", [&target]);
        let args = (&line, extra, "--json --out run.plimsoll", &patient);
        let mut child = start(&folder, args);
        wait_until("the flush", || {
            assert!(child.try_wait().expect("a child of ours").is_none(), "{pattern}: it goes on");
            fs.held() > 0
        });
        assert!(held.contains(&fs.held()), "{pattern}: {} are held", fs.held());
        signal(&child, "INT");
        wait_until("the run file", || folder.join("run.plimsoll").exists());
        wait_until("the record's end", || shown(&folder)["state"] == "interrupted");
        let shown = shown(&folder);
        let note = stuck_note(&shown);
        assert!(note.contains("outstanding at") && note.contains("data"), "{pattern}: {note}");
        fs.release();
        end(child).with_code(130);
    }
}

#[test]
fn a_file_that_never_opens_is_given_up_and_named() {
    let true = has_fuse("an open that hangs") else { return };
    let fs = FaultyFs::new();
    fs.set(Behaviour { hang_open: true, ..Behaviour::default() });
    let (folder, target) = (scratch(), fs.path().join("data"));
    let args = (&arguments("io_uring", "randread", "1", &target), IMPATIENT);
    let mut child = start(&folder, args);
    // The kernel keeps the process until the call ends; the words come before.
    let words = said(&mut child, "stuck");
    assert_says(&words, &[text(&target), "opening it was not answered for 1 s"]);
    assert!(words.contains("engine.patience") && words.contains("plimsoll clean"), "{words}");
    assert!(fs.held() > 0);
    fs.release();
    wait_until("the end of the program", || child.try_wait().expect("a child of ours").is_some());
    assert_ne!(child.wait().expect("an end").code(), Some(0));
}

#[test]
fn a_file_that_never_closes_holds_up_no_record() {
    let true = has_fuse("a close that hangs") else { return };
    let loaded = Loaded::begin(FaultyFs::that_flushes(), "io_uring", "randread", "2", IMPATIENT);
    loaded.fs.set(Behaviour { hang_flush: true, ..Behaviour::default() });
    let Loaded { fs, folder, mut child } = loaded;
    let words = said(&mut child, "stuck");
    assert!(words.contains("removing it was not answered for 1 s"), "{words}");
    assert!(words.contains(text(&fs.path().join("data"))), "{words}");
    assert!(shown(&folder)["results"][0]["ios"].as_u64() > Some(0), "what was measured is kept");
    fs.release();
    wait_until("the end of the program", || child.try_wait().expect("a child of ours").is_some());
}

#[test]
fn a_device_that_loses_its_ground_is_counted_by_errno() {
    let true = has("a loop device whose file is cut off", "losetup loop") else { return };
    for backend in BACKENDS {
        let device = Loop::new(64);
        let folder = scratch();
        let args = instead(
            arguments(backend, "randread", "2", &device.device),
            "--target",
            "--destroy-data",
        );
        let before = device.counters();
        let child = start(&folder, &args);
        wait_until("the load", || device.counters().since(before).reads > 100);
        device.cut_off();
        let json = end(child).with_code(1).json();
        let row = &json["results"][0];
        assert!(
            row["ios"].as_u64() > Some(0) && row["errors"].as_u64() > Some(0),
            "{backend}: {row}"
        );
        assert!(row.doubt("errors").contains("EIO"), "{backend}: {row}");
    }
}

/// Runs the program as a user without privileges, in a folder of its own, under a limit.
fn as_nobody(limit: &str, args: impl Words) -> (Ended, Folder) {
    let _io_uring = crate::common::IO_URING_RULE.read();
    let folder = scratch();
    let program = crate::common::program_for_all(&folder);
    let mut nobody = Command::new("prlimit");
    nobody
        .args([limit, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program);
    nobody.args(args.words()).current_dir(&folder).stdin(Stdio::null()).env("NO_COLOR", "1");
    (ended(&mut nobody), folder)
}

#[test]
fn without_memory_to_lock_the_ring_does_without_registered_buffers_and_says_so() {
    let true = has("a low limit of locked memory", "prlimit setpriv loop") else { return };
    // Enough for the rings themselves, and half of what each worker's buffers take.
    let args = instead(arguments("io_uring", "randread", "1", Path::new("data")), "4k", "64k");
    let (ended, _folder) = as_nobody("--memlock=131072:131072", &args);
    let json = ended.with_code(0).json();
    let of_buffers = |note: &Value| {
        note["code"] == "engine-degraded"
            && note["message"].text().starts_with("registered buffers: ")
    };
    assert!(json["notes"].list().iter().any(of_buffers), "{json}");
    assert!(json["results"][0]["ios"].as_u64() > Some(0), "{json}");
}

#[test]
fn more_workers_than_open_files_are_refused_in_words() {
    let true = has("a low limit of open files", "prlimit setpriv loop") else { return };
    let args = instead(arguments("io_uring", "randread", "1", Path::new("data")), "2", "100");
    let (ended, folder) = as_nobody("--nofile=64:64", (args, "--set files=2"));
    let ended = ended.with_code(4);
    assert_says(&ended.err, &["Too many open files", "ulimit -n"]);
    assert!(!folder.join("data").exists(), "nothing of ours stays");
}

#[test]
fn a_file_system_without_links_and_renames_fails_these_and_no_others() {
    let true = has_fuse("no hard links") else { return };
    let fs = FaultyFs::new();
    let folder = scratch();
    let suite = "name = \"poor\"\n[layout]\nkind = \"tree\"\n[tree]\nfiles = 40\nsize = \
                 \"4KiB\"\nper_directory = 10\n[[workload]]\nname = \"files\"\nkind = \
                 \"metadata\"\nworkers = 2\noperations = [\"create\", \"link\", \"symlink\", \
                 \"rename\", \"stat\", \"read\", \"remove\"]\n";
    fs::write(folder.join("poor.toml"), suite).expect("written");
    let target = fs.path().join("data");
    let ended =
        plimsoll(&folder, ("run poor.toml --target", [&target], "--json --out run.plimsoll"));
    let json = ended.with_code(1).json();
    let of = |op: &str| {
        let rows = json["results"].list();
        rows.iter().find(|row| row["op"] == op).unwrap_or_else(|| panic!("no {op} in {json}"))
    };
    for op in ["create", "stat", "read-file", "remove"] {
        assert_eq!((&of(op)["ios"], &of(op)["errors"]), (&40.into(), &0.into()), "{op}");
    }
    for (op, errno) in [("link", "EPERM"), ("symlink", "EPERM"), ("rename", "ENOSYS")] {
        assert_eq!((&of(op)["ios"], &of(op)["errors"]), (&0.into(), &40.into()), "{op}");
        let said = of(op).doubt("errors");
        assert_says(said, &[&format!("40 × {errno}"), &format!("leave `{op}` out")]);
    }
    assert!(names(fs.path()).is_empty(), "nothing of ours stays");
}
