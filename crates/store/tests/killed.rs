//! A run file whose writer is still at it, was killed, or had no room left.

use crate::common::{create, eventful, fresh};
use model::Record;
use model::event::{Event, RunEnd};
use model::sample::IntervalSample;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Says to [`child_that_appends`] where, and with that that it is a child.
const CHILD: &str = "RUN_FILE_CHILD";

/// The child of the tests below: appends, and says each interval that is safe, until it is killed
/// or has no room.
#[test]
fn child_that_appends() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let record = eventful();
    let mut writer = create(Path::new(&path), &record);
    writer.append(&Event::StageStarted { stage: 1, unix_ns: 1 }).expect("room");
    let safe = Path::new(&path).with_extension("safe");
    for interval in 0..5_000 {
        let counters = Event::Counters(Box::new(crate::common::counters(1, interval)));
        let both = writer
            .append(&counters)
            .and_then(|()| writer.append(&Event::Sample(sample(&record, interval))));
        if let Err(error) = both {
            std::fs::write(safe.with_extension("error"), error.to_string())
                .expect("room for a line");
            // The limit is for each file, and the run file is smaller than its journal.
            writer.finish().expect("room for the file itself");
            return;
        }
        std::fs::write(&safe, interval.to_string()).expect("room for a number");
    }
    std::thread::sleep(Duration::from_secs(60));
}

fn sample(record: &Record, interval: u32) -> IntervalSample {
    let template = record.stages[1].samples()[0].clone();
    IntervalSample { interval, start_ns: u64::from(interval) * 1_000, length_ns: 1_000, ..template }
}

/// This program again, as the child above.
fn child(path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "killed::child_that_appends"]).env(CHILD, path).stdout(Stdio::null());
    command.spawn().expect("a child")
}

/// The intervals of the one stage that the child runs.
fn intervals(record: &Record) -> Vec<u32> {
    record
        .stages
        .first()
        .map(|stage| stage.samples().iter().map(|sample| sample.interval).collect())
        .unwrap_or_default()
}

/// The last interval that the child knows to be safe.
fn last_safe(path: &Path) -> Option<u32> {
    std::fs::read_to_string(path.with_extension("safe")).ok().and_then(|text| text.parse().ok())
}

#[test]
fn a_killed_writer_loses_nothing_that_was_appended() {
    let folder = tempfile::tempdir().expect("a folder");
    for round in 0..12u32 {
        let path = folder.path().join(format!("{round}.plimsoll"));
        let mut child = child(&path);
        while last_safe(&path).is_none_or(|last| last < round * 7) {
            assert_eq!(child.try_wait().expect("a child"), None, "the child ended by itself");
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().expect("alive");
        assert_eq!(child.wait().expect("dead").signal(), Some(9));
        let safe = last_safe(&path);
        let record = store::read(&path).expect("a run file");
        let found = intervals(&record);
        // A kill can come while the number is written: then it is empty, and the bound is the one
        // we waited for.
        assert!(
            found.len() as u32 > safe.unwrap_or(round * 7),
            "{safe:?} was safe, {} are left",
            found.len()
        );
        assert_eq!(found, (0..found.len() as u32).collect::<Vec<_>>());
        assert_eq!(record.stages[0].samples()[0], sample(&eventful(), 0));
        let counters = record.stages[0].counters();
        assert!(counters.len() >= found.len(), "they are appended before the sample");
        assert_eq!(counters[0], crate::common::counters(1, 0));
        assert_eq!((record.end, &record.stages[0].end), (None, &None));
    }
}

/// Every read sees the file as of one moment, however fast the writer goes on.
#[test]
fn a_run_can_be_read_while_it_is_written() {
    let (_folder, path) = fresh();
    let mut child = child(&path);
    while last_safe(&path).is_none() {
        assert_eq!(child.try_wait().expect("a child"), None, "the child ended by itself");
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut seen = 0;
    for _ in 0..30 {
        let safe = last_safe(&path);
        let found = intervals(&store::read(&path).expect("a run file"));
        assert!(found.len() >= seen && safe.is_none_or(|safe| found.len() as u32 > safe));
        assert_eq!(found, (0..found.len() as u32).collect::<Vec<_>>());
        seen = found.len();
    }
    child.kill().expect("alive");
    child.wait().expect("dead");
}

/// The system refuses every write past a size, as it does on a full disk.
#[test]
fn without_room_the_error_says_so_and_what_was_recorded_stays() {
    let (_folder, path) = fresh();
    let ended = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 600; exec \"$0\" --exact killed::child_that_appends"])
        .arg(std::env::current_exe().expect("this program"))
        .env(CHILD, &path)
        .stdout(Stdio::null())
        .status()
        .expect("a shell");
    assert!(ended.success());
    let error =
        std::fs::read_to_string(path.with_extension("error")).expect("the child met the limit");
    assert!(error.contains("run.plimsoll") && error.contains("free some space"), "{error}");
    let record = store::read(&path).expect("a run file");
    let safe = last_safe(&path).expect("a number");
    assert!(safe > 3);
    assert_eq!(intervals(&record), (0..=safe).collect::<Vec<_>>());
}

/// A writer that is dropped leaves what a killed one leaves, once it is read: nothing but the file.
#[test]
fn reading_what_was_left_over_leaves_one_file_and_then_changes_nothing() {
    let (folder, path) = fresh();
    let mut child = child(&path);
    while last_safe(&path).is_none_or(|last| last < 3) {
        assert_eq!(child.try_wait().expect("a child"), None, "the child ended by itself");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("alive");
    child.wait().expect("dead");
    std::fs::remove_file(path.with_extension("safe")).expect("a file");
    let first = store::read(&path).expect("a run file");
    let before = std::fs::read(&path).expect("a file");
    assert_eq!(store::read(&path), Ok(first));
    assert_eq!(std::fs::read(&path).expect("a file"), before);
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 1, "no journal and no index are left");
}

/// A journal that was cut or overwritten loses its end or all of it, as in a power cut; what is
/// left stays true.
#[test]
fn a_cut_journal_loses_only_its_end() {
    let (folder, path) = fresh();
    let record = eventful();
    let mut writer = create(&path, &record);
    writer.append(&Event::StageStarted { stage: 1, unix_ns: 1 }).expect("room");
    (0..20).for_each(|interval| {
        writer.append(&Event::Sample(sample(&record, interval))).expect("room");
    });
    writer.append(&Event::RunEnded { unix_ns: 2, end: RunEnd::Complete }).expect("room");
    let main = std::fs::read(&path).expect("a file");
    let journal = std::fs::read(folder.path().join("run.plimsoll-wal")).expect("a journal");
    let mut last = 0;
    for part in 1..=40 {
        let copy = folder.path().join(format!("{part}.plimsoll"));
        std::fs::write(&copy, &main).expect("room");
        let cut = &journal[..journal.len() * part / 40];
        std::fs::write(folder.path().join(format!("{part}.plimsoll-wal")), cut).expect("room");
        let read = store::read(&copy).expect("a run that was cut short");
        let found = intervals(&read);
        assert_eq!(found, (0..found.len() as u32).collect::<Vec<_>>());
        assert!(found.len() >= last && (read.end.is_some() == (part == 40)));
        last = found.len();
    }
    assert_eq!(last, 20);
    let copy = folder.path().join("overwritten.plimsoll");
    std::fs::write(&copy, &main).expect("room");
    let overwritten: Vec<u8> = journal.iter().map(|byte| byte ^ 0x55).collect();
    std::fs::write(folder.path().join("overwritten.plimsoll-wal"), overwritten).expect("room");
    let left = store::read(&copy).expect("a run whose journal is nothing");
    assert_eq!(intervals(&left), [0], "what the disk took for good with the first sample");
}
