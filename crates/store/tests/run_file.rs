//! A run file from the outside: what goes in comes out, however it ended.

use crate::common::{create, eventful, events, fresh, swept, write};
use model::{Fact, Record, Setting};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use store::{StoreError, Writer};
use tempfile::TempDir;

/// A file of a run with all that a run can have, with its folder.
fn written() -> (TempDir, PathBuf) {
    let (folder, path) = fresh();
    write(&path, &eventful());
    (folder, path)
}

/// The record of a run that has only begun.
fn begun(record: &Record) -> Record {
    let (plan, testbed) = (record.plan.clone(), record.testbed.clone());
    Record::new(plan, testbed, record.version.clone(), record.started_unix_ns)
}

fn open(path: &Path) -> Connection {
    Connection::open(path).expect("a file")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn what_goes_in_comes_out() {
    let (folder, path) = fresh();
    let record = eventful();
    write(&path, &record);
    assert_eq!(names(folder.path()), ["run.plimsoll"], "one file to mail");
    let before = std::fs::read(&path).expect("a file");
    // Else other programs could not open it on read-only media:
    // <https://www.sqlite.org/fileformat2.html#the_database_header>.
    assert_eq!(before[18..20], [1, 1], "its header asks for no journal");
    assert_eq!(store::read(&path).expect("a run file"), record);
    assert_eq!(std::fs::read(&path).expect("a file"), before, "reading changes nothing");
    assert_eq!(names(folder.path()), ["run.plimsoll"]);
}

#[test]
fn a_run_that_goes_on_can_be_read() {
    let (_folder, path) = fresh();
    let record = eventful();
    let mut writer = create(&path, &record);
    let mut expected = begun(&record);
    for event in events(&record) {
        writer.append(&event).expect("room");
        expected.apply(event);
        assert_eq!(store::read(&path).expect("a run file"), expected);
    }
}

#[test]
fn nothing_is_overwritten_and_a_bad_place_leaves_nothing() {
    let (folder, path) = fresh();
    std::fs::write(&path, "precious").expect("a file");
    let record = eventful();
    let again = |path: &Path| {
        Writer::create(path, &record.plan, &record.testbed, "x", 0).expect_err("refused")
    };
    assert_eq!(again(&path), StoreError::Exists(path.clone()));
    assert_eq!(std::fs::read(&path).expect("a file"), b"precious");
    for place in ["no/run.plimsoll", "run.plimsoll/run.plimsoll"] {
        let error = again(&folder.path().join(place));
        assert!(
            matches!(error, StoreError::Create(..)) && error.to_string().contains("--out"),
            "{error}"
        );
    }
    assert_eq!(names(folder.path()), ["run.plimsoll"]);
}

/// Each refusal has its own kind, names the path and ends in what to do.
#[test]
fn what_is_no_run_file_is_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let other = open(&at("other.db"));
    other.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)").expect("room");
    drop(other);
    std::fs::write(at("empty"), "").expect("a file");
    std::fs::write(at("text"), "[layout]\n".repeat(100)).expect("a file");
    std::fs::create_dir(at("folder")).expect("a folder");
    let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().expect("mkfifo");
    assert!(made.success());
    let refusals = [
        ("other.db", "some other program's"),
        ("empty", "too short"),
        ("text", "not an SQLite file"),
        ("folder", "not a file"),
        ("pipe", "not a file"),
    ];
    for (name, why) in refusals {
        let error = store::read(&at(name)).expect_err(name);
        assert!(
            matches!(&error, StoreError::NotARunFile(path, _) if *path == at(name)),
            "{error:?}"
        );
        let told = error.to_string();
        assert!(
            told.contains(name) && told.contains(why) && told.contains("name one that"),
            "{told}"
        );
    }
    assert!(matches!(store::read(&at("nothing")), Err(StoreError::Open(..))));
    let good = at("good.plimsoll");
    write(&good, &eventful());
    let bytes = std::fs::read(&good).expect("a file");
    std::fs::write(at("cut.plimsoll"), &bytes[..bytes.len() / 2]).expect("room");
    let cut = store::read(&at("cut.plimsoll")).expect_err("half a file");
    assert!(
        matches!(&cut, StoreError::Damaged(..)) && cut.to_string().contains("should have"),
        "{cut}"
    );
}

/// SQLite takes some names for instructions. To us they are files.
#[test]
fn a_name_means_nothing_but_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let precious = folder.path().join("precious.db");
    std::fs::write(&precious, "precious").expect("a file");
    let record = eventful();
    for name in
        [":memory:", "file:precious.db", "file:precious.db?mode=memory", "a b%41#?.plimsoll"]
    {
        // Relative names are what SQLite reads so; the test's own folder is left alone by a child
        // with another one.
        let mut child = std::process::Command::new(std::env::current_exe().expect("this program"));
        child
            .args(["--exact", "run_file::child_that_writes_one_run"])
            .env("RUN_FILE_NAME", name)
            .current_dir(folder.path());
        assert!(
            child.stdout(std::process::Stdio::null()).status().expect("a child").success(),
            "{name}"
        );
        assert_eq!(store::read(&folder.path().join(name)), Ok(record.clone()), "{name}");
    }
    assert_eq!(std::fs::read(&precious).expect("a file"), b"precious");
    assert_eq!(names(folder.path()).len(), 5);
}

/// The child of the test above.
#[test]
fn child_that_writes_one_run() {
    let Some(name) = std::env::var_os("RUN_FILE_NAME") else { return };
    let (path, record) = (Path::new(&name), eventful());
    write(path, &record);
    assert_eq!(store::read(path), Ok(record));
}

/// A file that still asks for a journal, and that journal is gone: it is read as it stands, and
/// nothing is made beside it.
#[test]
fn a_file_without_its_journal_is_read_as_it_stands() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, copy) = (folder.path().join("run.plimsoll"), folder.path().join("a copy?.plimsoll"));
    let record = eventful();
    let writer = create(&path, &record);
    std::fs::copy(&path, &copy).expect("a copy");
    writer.finish().expect("room");
    let read = store::read(&copy).expect("a run file");
    assert_eq!((read.plan, read.stages.len(), read.end), (record.plan, 0, None));
    assert_eq!(names(folder.path()).len(), 2);
}

#[test]
fn a_later_format_is_refused() {
    let (_folder, path) = written();
    let connection = open(&path);
    let later = store::FORMAT + 1;
    connection.pragma_update(None, "user_version", later).expect("room");
    drop(connection);
    assert_eq!(store::read(&path), Err(StoreError::OtherFormat(path, later)));
}

/// Before the first release, the same tables had another number.
#[test]
fn a_file_from_before_the_first_release_says_the_same() {
    let (_folder, path) = written();
    let connection = open(&path);
    let before = store::read(&path).expect("a run file");
    connection.pragma_update(None, "user_version", 10).expect("room");
    assert_eq!(store::read(&path).as_ref(), Ok(&before));
    connection.pragma_update(None, "user_version", 9).expect("room");
    assert_eq!(store::read(&path), Err(StoreError::OtherFormat(path.clone(), 9)));
}

/// What a forger might put in: every statement, run on a good file, has to end in an error and
/// never in a panic.
const FORGERIES: &[&str] = &[
    "UPDATE samples SET ios = -1",
    "UPDATE samples SET ios = 5",
    "UPDATE samples SET bytes = 9223372036854775807",
    "UPDATE samples SET latency = x'0105'",
    "UPDATE samples SET latency = 'text'",
    "UPDATE samples SET work = 7",
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
    "UPDATE run SET plan = replace(plan, '\"length\":8388608', \
     '\"length\":9223372036854775807')",
    "UPDATE hosts SET facts = 'null'",
    "DELETE FROM hosts",
    "DELETE FROM run",
    "UPDATE notes SET kind = 'gossip'",
    "UPDATE occurrences SET kind = 'gossip'",
    "UPDATE occurrences SET host = 7",
    "UPDATE occurrences SET stage = 99",
    "UPDATE occurrences SET at_ns = -1",
    "UPDATE occurrences SET status = 9223372036854775807",
    "ALTER TABLE occurrences ADD COLUMN more AS (hex(zeroblob(1000000)))",
    "DROP TABLE occurrences; CREATE VIEW occurrences AS SELECT * FROM notes",
    "UPDATE counters SET value = -1",
    "UPDATE counters SET series = 99",
    "UPDATE counters SET sample = 99",
    "UPDATE counter_series SET metric = 'gossip'",
    "UPDATE counter_series SET layer = 'cake'",
    "UPDATE counter_samples SET host = 7",
    "UPDATE counter_samples SET stage = 99",
    "UPDATE counter_samples SET length_ns = 9223372036854775807",
    "UPDATE counter_samples SET notes = 'x'",
    "DROP TABLE counters",
    "DROP TABLE samples",
    // Without end: reading it must not begin.
    "DROP TABLE notes; CREATE VIEW notes AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT \
     x + 1 FROM n)
    SELECT x AS note, NULL AS stage, 0 AS host, 'adjusted' AS kind, '' AS detail FROM n",
    "ALTER TABLE notes ADD COLUMN more AS (hex(zeroblob(1000000)))",
];

#[test]
fn forged_numbers_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = folder.path().join("good.plimsoll");
    write(&good, &eventful());
    for (number, forgery) in FORGERIES.iter().enumerate() {
        let path = folder.path().join(format!("{number}.plimsoll"));
        std::fs::copy(&good, &path).expect("a copy");
        // A forger takes the checksums away: what the rows say has to be refused for itself.
        let forged = format!("DELETE FROM checksums; {forgery}");
        open(&path).execute_batch(&forged).unwrap_or_else(|error| panic!("{forgery}: {error}"));
        let refused = |read: Result<Record, StoreError>| {
            let read = read.map(|_| ());
            assert!(matches!(read, Err(StoreError::Damaged(..))), "{forgery}: {read:?}");
        };
        let begins = |starts: &[&str]| starts.iter().any(|start| forgery.starts_with(start));
        refused(store::read(&path));
        // Counters and single latencies are no part of a digest.
        if !begins(&["UPDATE counter", "UPDATE raw_"]) {
            refused(store::read_digests(&path));
        }
        if begins(&["UPDATE counters", "UPDATE counter_series"]) {
            refused(store::read_judged(&path));
        }
    }
}

/// The starts of the samples of a day on a hundred hosts come to more than 64 bits hold; nobody
/// adds them up.
#[test]
fn a_long_run_on_many_hosts_is_no_damaged_one() {
    let (_folder, path) = written();
    let sql = "DELETE FROM checksums; UPDATE intervals SET start_ns = 2305843009213693952; UPDATE \
               counter_samples SET start_ns = 2305843009213693952";
    open(&path).execute_batch(sql).expect("a changed file");
    assert!(store::read(&path).is_ok());
    assert!(store::read_digests(&path).is_ok());
    assert!(store::read_judged(&path).is_ok());
}

/// The queries of the document are run on a real file, so that the page cannot rot.
#[test]
fn the_queries_of_the_document_work() {
    let page = include_str!("../../../docs/reference/run-file.md");
    let queries: Vec<&str> =
        page.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(queries.len() >= 3);
    let (_folder, path) = written();
    let connection = open(&path);
    for query in queries {
        let mut statement =
            connection.prepare(query).unwrap_or_else(|error| panic!("{query}: {error}"));
        let mut rows = statement.query([]).expect("rows");
        let mut count = 0;
        while rows.next().unwrap_or_else(|error| panic!("{query}: {error}")).is_some() {
            count += 1;
        }
        assert!(count > 0, "{query} finds nothing");
    }
}

/// Points that ran one after the other are never added up: no query and no snippet of the document
/// mixes the points of a sweep.
#[test]
fn the_queries_of_the_document_keep_the_points_of_a_sweep_apart() {
    let page = include_str!("../../../docs/reference/run-file.md");
    let (_folder, path) = fresh();
    write(&path, &swept());
    let connection = open(&path);
    let after = |head: &str, fence: &str| {
        let rest = page.split_once(head).unwrap_or_else(|| panic!("{head} is missing")).1;
        rest.split_once(fence)
            .and_then(|(_, code)| code.split_once("```"))
            .expect("a block")
            .0
            .to_owned()
    };
    // Four points (two depths, each twice) of a mix on two hosts: 10, 20, 30, 40 reads and 5 writes
    // of each host a second.
    let rates = |query: &str| {
        let mut statement =
            connection.prepare(query).unwrap_or_else(|error| panic!("{query}: {error}"));
        let rows = statement.query_map([], |row| row.get::<_, f64>("iops")).expect("rows");
        let mut rates: Vec<f64> = rows.map(|row| row.expect("a row")).collect();
        rates.sort_by(f64::total_cmp);
        rates
    };
    let each = [10.0, 10.0, 10.0, 10.0, 20.0, 40.0, 60.0, 80.0];
    assert_eq!(rates(&after("IOPS over time, to plot:", "```sql\n")), each);
    assert_eq!(
        rates(&after("The same of all I/O of each workload.", "```sql\n")),
        [30.0, 50.0, 70.0, 90.0]
    );
    assert_eq!(rates(&after("IOPS of each workload,", "```sql\n")), each);
    assert_eq!(
        rates(&after("The interval with the highest p99 of every workload", "```sql\n")).len(),
        each.len()
    );
    let python = after("In Python", "```python\n");
    let query = python.split("\"\"\"").nth(1).expect("a query");
    assert_eq!(rates(query), each);
    // What a line is named by tells all rows of one instant apart.
    let columns = python
        .split_once("columns=[")
        .and_then(|(_, rest)| rest.split_once(']'))
        .expect("columns")
        .0;
    let place = format!("{columns}, \"start_s\"");
    let twice = format!("SELECT count(*) FROM ({query}) GROUP BY {place} HAVING count(*) > 1");
    let mut statement =
        connection.prepare(&twice).unwrap_or_else(|error| panic!("{twice}: {error}"));
    assert!(!statement.exists([]).expect("rows"), "two rows have one place: {columns}");
    assert!(
        python.contains(".pivot(") && !python.contains("aggfunc"),
        "nothing adds up behind the query"
    );
}

/// What somebody adds to a run file for themselves does not lock them out of it.
#[test]
fn notes_of_ones_own_do_no_harm() {
    let (_folder, path) = fresh();
    let record = eventful();
    write(&path, &record);
    let connection = open(&path);
    let own = "CREATE TABLE mine (x); CREATE INDEX faster ON samples (op); CREATE VIEW v AS \
               SELECT * FROM run; VACUUM";
    connection.execute_batch(own).expect("room");
    drop(connection);
    assert_eq!(store::read(&path), Ok(record));
}

/// Without checksums, nobody sees that a number was changed.
#[test]
fn a_file_whose_checksums_were_taken_away_says_so() {
    let (_folder, path) = written();
    let says = || {
        let said = |record: &Record| record.notes.iter().any(|note| note.fact == Fact::NoChecksums);
        let (whole, head) = (store::read(&path), store::read_head(&path));
        let sums = store::read_digests(&path);
        [whole, head, sums].map(|read| said(&read.expect("a run file")))
    };
    assert_eq!(says(), [false; 3]);
    let connection = open(&path);
    connection.execute_batch("DELETE FROM checksums").expect("room");
    assert_eq!(says(), [true; 3]);
    connection.execute_batch("DROP TABLE checksums").expect("room");
    assert!(store::read(&path).is_err());
}

#[test]
fn the_document_names_every_table_and_column() {
    let page = include_str!("../../../docs/reference/run-file.md");
    let (_folder, path) = written();
    let connection = open(&path);
    let mut statement = connection
        .prepare(
            "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type \
             IN ('table', 'view')",
        )
        .expect("a query");
    let columns = statement
        .query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))
        .expect("rows");
    for column in columns {
        let (table, column) = column.expect("a row");
        assert!(page.contains(&format!("`{table}`")), "table {table} is missing");
        assert!(page.contains(&format!("`{column}`")), "column {table}.{column} is missing");
    }
}

#[test]
fn a_plan_that_grows_is_in_the_file_as_it_stands() {
    let (_folder, path) = fresh();
    let mut record = eventful();
    record.plan.points.truncate(1);
    record.plan.points[0].workloads.truncate(1);
    record.plan.stages.retain(|stage| stage.point.is_none_or(|point| point == 0));
    let stages = record.plan.stages.len();
    record.plan.hosts.iter_mut().for_each(|host| host.stages.truncate(stages));
    let objective = "errors = 0".parse().expect("an objective");
    let search = model::search::Search {
        objective,
        poisson: true,
        measure: model::Nanos::seconds(3),
        along: model::search::SearchAxis::Rate,
        grid: Vec::new(),
    };
    record.plan.begin_search(search).expect("one point");
    let mut writer = create(&path, &record);
    let mut expected = begun(&record);
    for milli in [1_500_000, 1_500_000, 7] {
        let addition = expected.plan.at_rate(milli).expect("a search");
        let event = model::Event::PointAdded(Box::new(addition));
        writer.append(&event).expect("room");
        expected.apply(event);
        assert_eq!(store::read(&path).expect("a run file"), expected);
    }
    let points = &expected.plan.points;
    assert_eq!((points.len(), points[1].repetition, points[2].repetition), (4, 1, 2));
    assert_eq!(points[3].sweep, [Setting::new("rate", "0.007")]);
    let seeds: Vec<u64> = expected.plan.hosts[0].stages[stages - 1..]
        .iter()
        .map(|stage| stage.workers[0].seed)
        .collect();
    assert!(!seeds.is_empty());
    assert!(
        seeds.windows(2).all(|pair| pair[0] != pair[1]),
        "no two points send the same requests: {seeds:?}"
    );
}
