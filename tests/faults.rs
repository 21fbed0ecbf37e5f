//! What goes wrong in the middle: nothing that was recorded is lost, and nothing of ours is left
//! behind.

use crate::common::{
    Ended, Json, Mounted, Words, assert_says, end, has, kill, names, plimsoll, recorded, run,
    scratch, shown, signal, signal_if_there, start, text, wait_for_samples, wait_until,
};
use model::RunEnd;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A run that takes longer than any test waits: reads of 16 MiB.
const LONG: &str = "run --rw randread --iodepth 8 --numjobs 2 --size 8M --runtime 60 \
                    --set interval=50ms --out run.plimsoll data";

/// A number from 0 to 999 that no two calls are likely to share.
fn chance() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
    u64::from(now.subsec_nanos()) / 1_000 % 1_000
}

#[test]
fn kill_9_at_any_instant_loses_the_last_interval_at_most() {
    for _ in 0..10 {
        let folder = scratch();
        let child = start(&folder, LONG);
        wait_for_samples(&folder, 1);
        std::thread::sleep(Duration::from_millis(chance()));
        kill(child);
        let json = shown(&folder);
        assert_eq!(json["state"], "unfinished");
        let row = &json["results"][0];
        assert!(row["ios"].count() > 0, "{json}");
        let incomplete = row.codes().contains(&"incomplete");
        assert!(incomplete, "a part must not pass for the whole");
        plimsoll(&folder, "report run.plimsoll").with_code(0);
        let record = recorded(&folder);
        let samples = &record.stages.last().expect("measured").samples();
        let numbers: Vec<u32> = samples.iter().map(|sample| sample.interval).collect();
        assert_eq!(
            numbers,
            (0..samples.len() as u32).collect::<Vec<_>>(),
            "no interval is missing before the last"
        );
        // What it left on the target is ours, and the next run or `clean` takes it away.
        plimsoll(&folder, "clean data").with_code(0);
        assert!(!folder.join("data").exists());
    }
}

/// Runs the program behind `before`, a line of the shell.
fn behind(before: &str, folder: &Path, args: impl Words) -> Ended {
    let mut shell = Command::new("bash");
    let line = format!("{before} && exec \"$0\" \"$@\"");
    shell
        .args(["-c", &line])
        .arg(env!("CARGO_BIN_EXE_plimsoll"))
        .args(args.words())
        .current_dir(folder);
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    end(shell.spawn().expect("bash"))
}

const SHORT: &str = "run --rw randwrite --size 8M --runtime 1 --out run.plimsoll";

#[test]
fn a_limit_of_file_sizes_is_an_error_of_the_run_and_leaves_nothing_on_the_target() {
    let folder = scratch();
    let data = folder.join("data");
    fs::create_dir(&data).expect("room");
    // In KiB: room for the run file, none for the layout.
    let ended = behind("ulimit -f 4096", &folder, (SHORT, "data")).with_code(3);
    assert!(ended.err.contains("File too large"), "{ended:#?}");
    assert_eq!(names(&data), Vec::<String>::new(), "a folder that was there is as it was");
}

#[test]
fn too_little_address_space_is_said_before_anything_is_touched() {
    let folder = scratch();
    let ended = behind("ulimit -v 300000", &folder, (SHORT, "data")).with_code(4);
    assert!(ended.err.contains("ulimit -v") && !ended.err.contains("panicked"), "{ended:#?}");
    assert_eq!(names(&folder), Vec::<String>::new());
}

#[test]
#[allow(clippy::print_stdout)]
fn too_few_threads_are_said_before_anything_is_touched() {
    let group = format!("/sys/fs/cgroup/pids/plimsoll-test-{}", std::process::id());
    if fs::create_dir(&group).is_err() {
        println!(
            "SKIPPED: too_few_threads_are_said_before_anything_is_touched, because there is no \
             control group of pids to make"
        );
        return;
    }
    let folder = scratch();
    let before = format!("echo 2 > {group}/pids.max && echo $$ > {group}/cgroup.procs");
    let ended = behind(&before, &folder, (SHORT, "data"));
    wait_until("the control group is empty", || fs::remove_dir(&group).is_ok());
    let ended = ended.with_code(4);
    assert!(ended.err.contains("pids.max") && !ended.err.contains("panicked"), "{ended:#?}");
    assert_eq!(names(&folder), Vec::<String>::new());
}

#[test]
fn ctrl_c_once_stops_keeps_and_reports_the_part() {
    let folder = scratch();
    let child = start(&folder, LONG);
    wait_for_samples(&folder, 1);
    signal(&child, "INT");
    let ended = end(child).with_code(130);
    assert_says(&ended.out, &["randread", "Only a part was measured"]);
    assert_eq!(names(&folder), ["run.html", "run.plimsoll"], "the data are gone, the record stays");
    let json = shown(&folder);
    assert_eq!(json["state"], "interrupted");
}

#[test]
fn ctrl_c_twice_leaves_at_once() {
    let folder = scratch();
    let child = start(&folder, LONG);
    wait_for_samples(&folder, 1);
    signal(&child, "STOP");
    // Both are delivered when it goes on.
    signal(&child, "INT");
    signal(&child, "TERM");
    signal(&child, "CONT");
    end(child).with_code(130);
    plimsoll(&folder, "show run.plimsoll").with_code(0);
}

#[test]
fn a_run_that_would_fill_the_file_system_is_refused_before_it_writes() {
    let true = has("a layout larger than its file system", "losetup loop mkfs.ext4 mount") else {
        return;
    };
    let disk = Mounted::new("mkfs.ext4", 64);
    let folder = scratch();
    let args = ["run", "smoke", "--set", "layout.size=100MiB", "--target", text(disk.path())];
    let ended = plimsoll(&folder, args).with_code(3);
    assert_says(&ended.err, &["at most 95 % are filled", "layout.size"]);
    assert_eq!(names(disk.path()), ["lost+found"]);
    assert!(names(&folder).is_empty(), "no run file of a run that never was");
}

/// A run on a file system that cannot reserve space, and that somebody fills while it goes on. It
/// is stopped when `enough` says so of its record; without that, it has to end by itself.
fn on_a_disk_that_fills_up(
    extra: impl Words,
    enough: Option<fn(&serde_json::Value) -> bool>,
) -> (Ended, serde_json::Value, Vec<String>) {
    // ext2 has no fallocate: blocks are taken when they are written.
    let disk = Mounted::new("mkfs.ext2", 256);
    let folder = scratch();
    let target = disk.path().join("data");
    let args =
        "run --rw randwrite --iodepth 4 --size 200M --runtime 600 --out run.plimsoll --target";
    let record = || plimsoll(&folder, "show run.plimsoll --json");
    // The first thing that it makes there waits until the disk is nearly full; that there is space,
    // it has seen before.
    disk.freeze();
    let child = start(&folder, (&args, [text(&target)], extra));
    wait_until("the run's begin", || record().code == 0);
    signal(&child, "STOP");
    disk.thaw();
    disk.fill_but(8 << 20);
    signal(&child, "CONT");
    if let Some(enough) = enough {
        wait_until("errors", || enough(&record().with_code(0).json()));
        signal_if_there(&child, "INT");
    }
    let ended = end(child);
    let json = shown(&folder);
    (ended, json, names(disk.path()))
}

#[test]
fn a_disk_that_fills_up_in_prepare_ends_the_run_and_says_why() {
    let true = has("a full disk in prepare", "losetup loop mkfs.ext4 mount") else { return };
    let (ended, json, left) = on_a_disk_that_fills_up("--set prepare_block=4KiB", None);
    let ended = ended.with_code(4);
    assert!(ended.err.contains("No space left on device"), "{ended:#?}");
    assert_eq!(json["state"], "failed");
    let failed = json["issued"]
        .list()
        .iter()
        .any(|t| t["stage"] == "prepare" && t["errors"].as_u64() > Some(0));
    assert!(failed, "{json}");
    assert_eq!(left, ["filler", "lost+found"], "our files are gone, the other's is not");
}

#[test]
fn a_disk_that_fills_up_in_measure_is_counted_by_errno() {
    let true = has("a full disk in measure", "losetup loop mkfs.ext4 mount") else { return };
    let has_errors = |json: &serde_json::Value| json["results"][0]["errors"].as_u64() > Some(0);
    let (ended, json, _) = on_a_disk_that_fills_up("--set prepare=false", Some(has_errors));
    assert_eq!(ended.code, 130, "it went on in spite of them: {ended:#?}");
    let row = &json["results"][0];
    assert!(row["errors"].as_u64() > Some(0), "{json}");
    let warnings = row["warnings"].list();
    let told = warnings.iter().find(|warning| warning["code"] == "errors").expect("said");
    assert!(told["message"].text().contains("ENOSPC"), "{told}");
}

/// A run whose file is on a disk that becomes full. What is on record stays; where there is room
/// again, the run goes on with the layout that it wrote.
#[test]
fn a_run_file_without_room_ends_the_run_which_goes_on_where_there_is_room_again() {
    let true = has("a full disk below the run file", "losetup loop mkfs.ext4 mount") else {
        return;
    };
    let (disk, folder) = (Mounted::new("mkfs.ext4", 64), scratch());
    let file = disk.path().join("run.plimsoll");
    disk.fill_but(1 << 20);
    let line = (
        "run --rw randread --runtime 600 --size 8M",
        ["--numjobs", "1", "--set", "interval=10ms", "--out", text(&file), "data"],
    );
    let ended = plimsoll(&folder, line).with_code(4);
    assert!(ended.err.contains("full") && ended.err.contains("plimsoll resume"), "{ended:#?}");
    let part = store::read(&file).expect("what was recorded");
    let samples = part.stages.last().expect("measured").samples().len();
    let is_complete = matches!(part.end, Some((_, RunEnd::Complete)));
    assert!(samples > 0 && !is_complete, "{samples}");
    let data = names(&folder.join("data"));
    assert!(data.iter().any(|name| name.starts_with("data-")), "{data:?}");

    // Without room, it is said again, and nothing is lost.
    let again = plimsoll(&folder, ["resume", text(&file)]);
    assert!(again.code != 0 && store::read(&file).is_ok(), "{again:#?}");
    fs::remove_file(disk.path().join("filler")).expect("there");
    let child = start(&folder, ["resume", text(&file), "--out", "whole.plimsoll"]);
    wait_until("the run goes on", || {
        let record = store::read(&folder.join("whole.plimsoll"));
        record
            .is_ok_and(|record| record.stages.get(1).is_some_and(|stage| stage.samples().len() > 3))
    });
    signal(&child, "INT");
    end(child).with_code(130);
    let whole = store::read(&folder.join("whole.plimsoll")).expect("a run file");
    let kinds: Vec<_> = whole.stages.iter().map(|stage| stage.samples().is_empty()).collect();
    assert_eq!(kinds, [false, false], "the layout is not written again, and its record stays");
}

#[test]
fn a_read_only_file_system_is_refused() {
    let true = has("a read-only file system", "losetup loop mkfs.ext4 mount") else { return };
    let disk = Mounted::new("mkfs.ext4", 64);
    disk.make_read_only();
    let folder = scratch();
    let ended = plimsoll(&folder, ["run", "smoke", "--target", text(disk.path())]).with_code(3);
    assert!(ended.err.contains("read-only"), "{ended:#?}");
}

#[test]
fn two_runs_on_one_target_do_not_meet() {
    let folder = scratch();
    let first = start(&folder, LONG);
    wait_for_samples(&folder, 1);
    let second = plimsoll(&folder, "run smoke --target data --out second.plimsoll").with_code(3);
    assert!(second.err.contains("another run") || second.err.contains("in use"), "{second:#?}");
    assert!(!folder.join("second.plimsoll").exists());
    signal(&first, "INT");
    end(first).with_code(130);
}

#[test]
fn without_io_uring_another_backend_takes_over_and_says_so() {
    let true = has("io_uring forbidden by the kernel", "setpriv loop") else { return };
    let rule = crate::common::IO_URING_RULE.write();
    let forbidden = Forbidden::io_uring();
    let folder = scratch();
    let program = crate::common::program_for_all(&folder);
    let mut nobody = Command::new("setpriv");
    nobody
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program)
        .current_dir(&folder);
    nobody.args(["run", "smoke", "--json", "--out", "run.plimsoll"]);
    let ended = Ended::from(nobody.output().expect("setpriv starts"));
    drop(forbidden);
    drop(rule);
    let json = ended.with_code(0).json();
    for row in json["results"].list() {
        let codes: Vec<&str> = row.codes();
        assert!(codes.contains(&"backend-fallback"), "{codes:?}");
        let means = &row["means"][0];
        assert!(means["backend"] != "io_uring" && means["because"] == "refused", "{means}");
        assert!(row["ios"].as_u64() > Some(0));
    }
}

/// io_uring forbidden to all but root, until dropped.
struct Forbidden {
    before: String,
}

const IO_URING: &str = "/proc/sys/kernel/io_uring_disabled";

impl Forbidden {
    fn io_uring() -> Forbidden {
        let before = fs::read_to_string(IO_URING).expect("a kernel with io_uring_disabled");
        fs::write(IO_URING, "1").expect("root");
        Forbidden { before }
    }
}

impl Drop for Forbidden {
    fn drop(&mut self) {
        let _ = fs::write(IO_URING, self.before.trim());
    }
}

#[test]
fn a_damaged_run_file_is_refused_in_words() {
    let here = &scratch();
    plimsoll(here, "run smoke --scale 1/20 --quiet --out run.plimsoll").with_code(0);
    let whole = fs::read(here.join("run.plimsoll")).expect("a run file");
    let refused = |name: &str| {
        for command in ["show", "report"] {
            let ended = plimsoll(here, [command, name]).with_code(5);
            assert!(
                ended.err.starts_with("error: ")
                    && ended.err.contains(name)
                    && ended.out.is_empty(),
                "{ended:#?}"
            );
        }
    };
    for (number, length) in
        [0, 1, 99, 4096, whole.len() / 2, whole.len() - 1].into_iter().enumerate()
    {
        let name = format!("cut-{number}.plimsoll");
        fs::write(here.join(&name), &whole[..length]).expect("a file");
        refused(&name);
    }
    fs::write(here.join("letter.txt"), "Dear all, attached is the report.").expect("a file");
    refused("letter.txt");
    refused("missing.plimsoll");
    run("sqlite3", [text(&here.join("other.db")), "create table t(x); insert into t values (1);"]);
    refused("other.db");
    fs::create_dir(here.join("folder")).expect("a folder");
    refused("folder");
}

#[test]
fn a_run_file_is_never_overwritten() {
    let folder = scratch();
    fs::write(folder.join("run.plimsoll"), "precious").expect("a file");
    let ended = plimsoll(&folder, "run smoke --out run.plimsoll");
    assert!(ended.code == 2 || ended.code == 4, "{ended:#?}");
    assert!(ended.err.contains("--out"), "{ended:#?}");
    assert_eq!(fs::read_to_string(folder.join("run.plimsoll")).expect("still there"), "precious");
    assert_eq!(names(&folder), ["run.plimsoll"], "nothing was touched");
}

#[test]
fn somebodys_files_are_never_touched() {
    let folder = scratch();
    let theirs = folder.join("theirs");
    fs::create_dir(&theirs).expect("a folder");
    fs::write(theirs.join("thesis.tex"), "years of work").expect("a file");
    fs::write(theirs.join("data-00000.bin"), "a name like ours").expect("a file");
    let args = "run smoke --scale 1/20 --quiet --out run.plimsoll --target theirs";
    plimsoll(&folder, args).with_code(0);
    assert_eq!(names(&theirs), ["data-00000.bin", "thesis.tex"]);
    assert_eq!(
        fs::read_to_string(theirs.join("data-00000.bin")).expect("still there"),
        "a name like ours"
    );
    // Not by `clean` either.
    plimsoll(&folder, "clean theirs").with_code(3);
    assert_eq!(names(&theirs), ["data-00000.bin", "thesis.tex"]);
}

#[test]
fn ctrl_c_ends_an_interval_of_virtual_time_that_takes_hours_of_ours() {
    let folder = scratch();
    // Some 60 million requests a second, for a minute: a day of any processor.
    let target = "sim:constant,service=1us,servers=64,capacity=64MiB";
    let line = ("run --rw randread --iodepth 64 --size 64M --runtime 60", [target]);
    let more = "--set interval=60s --set prepare=false --events events --out run.plimsoll";
    let mut child = start(&folder, (&line, &more));
    let events = folder.join("events");
    wait_until("the stage", || {
        fs::read_to_string(&events).is_ok_and(|told| told.contains("stage_started"))
    });
    signal(&child, "INT");
    wait_until("the end", || child.try_wait().expect("ours").is_some());
    end(child).with_code(130);
}
