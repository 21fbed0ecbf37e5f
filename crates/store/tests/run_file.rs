//! A run file from the outside: what goes in comes out, however it ended.

use analysis::testing::Recorded;
use model::event::{Event, Note, NoteKind, RunEnd, StageEnd};
use model::sample::IntervalSample;
use model::{Op, Record, StageKind};
use proptest::prelude::*;
use std::path::Path;
use std::process::{Command, Stdio};
use store::{StoreError, Writer};

const SUITE: &str = "[layout]\nsize = \"8MiB\"\nfiles = 2\n[stages]\nmeasure = \"5s\"\n[[workload]]\nname = \"mix\"\nread = \"70%\"\n\
    [sweep]\ndepth = [1, 8]\n";

/// A run with all that a run can have: two hosts, errors, an interval without a completion, raw latencies, notes, a failed end.
fn eventful() -> Record {
    let mut recorded = Recorded::with_hosts(SUITE, 2);
    recorded.prepare();
    let stage = recorded.stage(StageKind::Measure);
    for host in 0..2 {
        recorded.host_interval(
            stage,
            host,
            0,
            &[(Op::Read, &[100_000; 70]), (Op::Write, &[u64::from(host) + 900_000; 30])],
        );
        recorded.host_interval(stage, host, 1, &[]);
        recorded.host_interval(stage, host, 2, &[(Op::Read, &[3_000_000_000])]);
    }
    recorded.fail(stage, 0, Op::Write, 28, 3);
    recorded.fail(stage, 0, Op::Write, 0, 1);
    recorded.note(Note { stage: None, host: 0, kind: NoteKind::DirectRefused, detail: "it's \"tmpfs\"".to_owned() });
    recorded.note(Note { stage: Some(stage), host: 1, kind: NoteKind::EngineDegraded, detail: "ü".to_owned() });
    let record = recorded.record_mut();
    record.stages[1].samples.sort_by_key(|sample| (sample.interval, sample.host));
    record.stages[0].samples.sort_by_key(|sample| (sample.interval, sample.host));
    record.stages[1].samples[0].ops[0].raw_latencies = vec![1, u64::MAX, 3];
    record.apply(Event::StageEnded { stage, end: StageEnd::Failed("gone".to_owned()) });
    record.apply(Event::RunEnded { unix_ns: 1_800_000_000_000_000_000, end: RunEnd::Failed("gone".to_owned()) });
    recorded.record()
}

/// The events of which a record is made.
fn events(record: &Record) -> Vec<Event> {
    let mut events: Vec<Event> = record.notes.iter().cloned().map(Event::Note).collect();
    for stage in &record.stages {
        events.push(Event::StageStarted { stage: stage.stage, unix_ns: stage.started_unix_ns });
        events.extend(stage.samples.iter().cloned().map(Event::Sample));
        events.extend(stage.end.clone().map(|end| Event::StageEnded { stage: stage.stage, end }));
    }
    events.extend(record.end.clone().map(|(unix_ns, end)| Event::RunEnded { unix_ns, end }));
    events
}

fn create(path: &Path, record: &Record) -> Writer {
    Writer::create(path, &record.plan, &record.testbed, &record.version, record.started_unix_ns).expect("a new file")
}

fn write(path: &Path, record: &Record) {
    let mut writer = create(path, record);
    events(record).iter().for_each(|event| writer.append(event).expect("room"));
    writer.finish().expect("room");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn what_goes_in_comes_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.plimsoll");
    let record = eventful();
    write(&path, &record);
    assert_eq!(names(folder.path()), ["run.plimsoll"], "one file to mail");
    let before = std::fs::read(&path).expect("a file");
    assert_eq!(store::read(&path).expect("a run file"), record);
    assert_eq!(std::fs::read(&path).expect("a file"), before, "reading changes nothing");
    assert_eq!(names(folder.path()), ["run.plimsoll"]);
}

#[test]
fn a_run_that_goes_on_can_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.plimsoll");
    let record = eventful();
    let mut writer = create(&path, &record);
    let mut expected =
        Record::new(record.plan.clone(), record.testbed.clone(), record.version.clone(), record.started_unix_ns);
    for event in events(&record) {
        writer.append(&event).expect("room");
        expected.apply(event);
        assert_eq!(store::read(&path).expect("a run file"), expected);
    }
}

#[test]
fn nothing_is_overwritten_and_a_bad_place_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.plimsoll");
    std::fs::write(&path, "precious").expect("a file");
    let record = eventful();
    let again = |path: &Path| Writer::create(path, &record.plan, &record.testbed, "x", 0).expect_err("refused");
    assert_eq!(again(&path), StoreError::Exists(path.clone()));
    assert_eq!(std::fs::read(&path).expect("a file"), b"precious");
    assert!(matches!(again(&folder.path().join("no/run.plimsoll")), StoreError::Create(..)));
    assert_eq!(names(folder.path()), ["run.plimsoll"]);
}

#[test]
fn a_later_format_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.plimsoll");
    write(&path, &eventful());
    let connection = rusqlite::Connection::open(&path).expect("a file");
    connection.pragma_update(None, "user_version", store::FORMAT + 1).expect("room");
    drop(connection);
    assert_eq!(store::read(&path), Err(StoreError::Newer(path, store::FORMAT + 1)));
}

/// What a forger might put in: every statement, run on a good file, has to end in an error and never in a panic.
#[test]
fn forged_numbers_are_refused() {
    let forgeries = [
        "UPDATE samples SET ios = -1",
        "UPDATE samples SET ios = 5",
        "UPDATE samples SET bytes = 9223372036854775807",
        "UPDATE samples SET latency = x'0105'",
        "UPDATE samples SET latency = 'text'",
        "UPDATE samples SET op = 'frobnicate'",
        "UPDATE samples SET interval = 77 WHERE rowid = 1",
        "UPDATE errors SET errno = 99999999999",
        "UPDATE errors SET op = 'fsync'",
        "UPDATE intervals SET host = 7 WHERE host = 1",
        "UPDATE intervals SET phase = 'nap'",
        "UPDATE intervals SET length_ns = 9223372036854775807",
        "UPDATE intervals SET stage = 99 WHERE stage = 1",
        "UPDATE stages SET stage = 99 WHERE stage = 1",
        "UPDATE stages SET state = 'bored'",
        "UPDATE workers SET worker = 4294967296",
        "UPDATE workers SET cpu_user_ns = 9223372036854775807",
        "UPDATE worker_samples SET worker = 5",
        "UPDATE raw_latencies SET latencies = x'0102'",
        "UPDATE run SET plan = '{}'",
        "UPDATE run SET state = NULL",
        "UPDATE run SET plan = replace(plan, '\"point\":0', '\"point\":9')",
        "UPDATE run SET plan = replace(plan, '\"length\":8388608', '\"length\":9223372036854775807')",
        "UPDATE hosts SET facts = 'null'",
        "DELETE FROM hosts",
        "DELETE FROM run",
        "UPDATE notes SET kind = 'gossip'",
        "DROP TABLE samples",
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let good = folder.path().join("good.plimsoll");
    write(&good, &eventful());
    for (number, forgery) in forgeries.iter().enumerate() {
        let path = folder.path().join(format!("{number}.plimsoll"));
        std::fs::copy(&good, &path).expect("a copy");
        let connection = rusqlite::Connection::open(&path).expect("a file");
        connection.execute_batch(forgery).unwrap_or_else(|error| panic!("{forgery}: {error}"));
        drop(connection);
        assert!(
            matches!(store::read(&path), Err(StoreError::Damaged(..))),
            "{forgery}: {:?}",
            store::read(&path).map(|_| ())
        );
    }
}

/// The child of the test below: appends until it is killed.
#[test]
fn child_that_appends() {
    let Some(path) = std::env::var_os("RUN_FILE_CHILD") else { return };
    let record = eventful();
    let mut writer = create(Path::new(&path), &record);
    writer.append(&Event::StageStarted { stage: 1, unix_ns: 1 }).expect("room");
    let template = record.stages[1].samples[0].clone();
    for interval in 0.. {
        let start_ns = u64::from(interval) * 1_000;
        writer
            .append(&Event::Sample(IntervalSample { interval, start_ns, length_ns: 1_000, ..template.clone() }))
            .expect("room");
    }
}

#[test]
fn a_killed_writer_loses_nothing_that_was_appended() {
    let folder = tempfile::tempdir().expect("a folder");
    for round in 0..5u64 {
        let path = folder.path().join(format!("{round}.plimsoll"));
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "child_that_appends"])
            .env("RUN_FILE_CHILD", &path)
            .stdout(Stdio::null())
            .spawn()
            .expect("a child");
        let intervals =
            || store::read(&path).ok().and_then(|record| record.stages.first().map(|s| s.samples.len())).unwrap_or(0);
        let mut seen = 0;
        while seen < 20 * (round as usize + 1) {
            seen = intervals();
        }
        child.kill().expect("alive");
        child.wait().expect("dead");
        let record = store::read(&path).expect("a run file");
        let numbers: Vec<u32> = record.stages[0].samples.iter().map(|sample| sample.interval).collect();
        assert!(numbers.len() >= seen, "{} were there, {} are left", seen, numbers.len());
        assert_eq!(numbers, (0..numbers.len() as u32).collect::<Vec<_>>());
        assert_eq!((record.end, &record.stages[0].end), (None, &None));
    }
}

/// The queries of the document are run on a real file, so that the page cannot rot.
#[test]
fn the_queries_of_the_document_work() {
    let page = include_str!("../../../docs/run-file.md");
    let queries: Vec<&str> = page.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(queries.len() >= 3);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.plimsoll");
    write(&path, &eventful());
    let connection = rusqlite::Connection::open(&path).expect("a file");
    for query in queries {
        let mut statement = connection.prepare(query).unwrap_or_else(|error| panic!("{query}: {error}"));
        let mut rows = statement.query([]).expect("rows");
        let mut count = 0;
        while rows.next().unwrap_or_else(|error| panic!("{query}: {error}")).is_some() {
            count += 1;
        }
        assert!(count > 0, "{query} finds nothing");
    }
}

#[test]
fn the_document_names_every_table_and_column() {
    let page = include_str!("../../../docs/run-file.md");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.plimsoll");
    write(&path, &eventful());
    let connection = rusqlite::Connection::open(&path).expect("a file");
    let mut statement = connection
        .prepare(
            "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type IN ('table', 'view')",
        )
        .expect("a query");
    let columns =
        statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).expect("rows");
    for column in columns {
        let (table, column) = column.expect("a row");
        assert!(page.contains(&format!("`{table}`")), "table {table} is missing");
        assert!(page.contains(&format!("`{column}`")), "column {table}.{column} is missing");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn damaged_bytes_never_panic(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.plimsoll");
        write(&path, &eventful());
        let mut bytes = std::fs::read(&path).expect("a file");
        for (place, value) in flips {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        std::fs::write(&path, &bytes).expect("room");
        if let Ok(record) = store::read(&path) {
            // What passes can be worked with.
            let rows = analysis::results(&record);
            prop_assert!(rows.len() < 1_000);
            analysis::issued(&record);
        }
    }
}
