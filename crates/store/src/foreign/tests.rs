//! What is written is read back; what was changed is found.

use super::*;

fn run() -> ForeignRun {
    let mut row = GivenRow::new("job", Some(Op::Read), "jobs[0].read".to_owned());
    row.options = vec![GivenOption { name: "bs".to_owned(), value: "4k".to_owned() }];
    row.add(Quantity::whole(Measured::Rate), Some(1234.5));
    row.add(Quantity::latency(Span::Completion, Statistic::Quantile(999_900_000)), Some(7e6));
    let mut latency = Histogram::new();
    latency.record_many(1_000, 7);
    row.latencies = Some(GivenLatencies { span: Span::Completion, latency, error_permille: 8 });
    let quantity = Quantity::of(Measured::Bandwidth, Statistic::Mean);
    let points = vec![Point { at_ms: 0, value: 1.0 }, Point { at_ms: 1_000, value: 2.5 }];
    row.series = vec![GivenSeries { quantity, points }];
    ForeignRun {
        run_id: "abc".to_owned(),
        name: "results".to_owned(),
        version: "1".to_owned(),
        imported_unix_ns: 7,
        measured_unix_ns: Some(5),
        sources: vec![Source {
            form: Form::FioJson,
            tool_version: "fio-3".to_owned(),
            file: "a.json".to_owned(),
            bytes: 12,
            sha256: "00".to_owned(),
        }],
        rows: vec![row, GivenRow::new("other", None, "x".to_owned())],
        doubts: vec![Doubt {
            kind: DoubtKind::LittlesLaw,
            name: "job".to_owned(),
            said: Some(1.0),
            computed: None,
        }],
    }
}

fn place(name: &str) -> tempfile::TempDir {
    tempfile::Builder::new().prefix(name).tempdir().expect("a folder")
}

#[test]
fn what_is_written_is_read_back() {
    let folder = place("foreign");
    let path = folder.path().join("r.plimsoll");
    write_foreign(&path, &run()).expect("written");
    assert_eq!(read_foreign(&path).expect("read"), Some(run()));
    assert!(matches!(write_foreign(&path, &run()), Err(StoreError::Exists(_))));
}

#[test]
fn no_reader_of_runs_takes_it_for_one() {
    let folder = place("foreign");
    let path = folder.path().join("r.plimsoll");
    write_foreign(&path, &run()).expect("written");
    let whole = crate::read(&path).err();
    let errors = [
        whole,
        crate::read_head(&path).err(),
        crate::read_digests(&path).err(),
        crate::read_judged(&path).err(),
        crate::each_sample(&path, |_| Ok::<(), ()>(())).err().map(|halted| match halted {
            crate::Halted::File(error) => error,
            crate::Halted::Taker(()) => panic!("it has no sample"),
        }),
    ];
    for error in errors {
        let said = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains("results of another tool"), "{said}");
    }
}

#[test]
fn a_changed_value_is_found() {
    let folder = place("foreign");
    let path = folder.path().join("r.plimsoll");
    write_foreign(&path, &run()).expect("written");
    let connection = Connection::open(&path).expect("opened");
    connection.execute("UPDATE foreign_measures SET value = 1234.6", []).expect("changed");
    drop(connection);
    let error = read_foreign(&path).expect_err("changed");
    assert!(error.to_string().contains("foreign_measures"), "{error}");
}

/// What is read of a file after `sql` changed it, with checksums that fit again.
fn forged(sql: &str) -> Result<Option<ForeignRun>, String> {
    let folder = place("forged");
    let path = folder.path().join("r.plimsoll");
    write_foreign(&path, &run()).expect("written");
    let connection = Connection::open(&path).expect("opens");
    connection.execute_batch(sql).expect(sql);
    for (table, query) in TABLES {
        let mut sum = 0u64;
        let added = each(&connection, query, |row| {
            sum = sum.wrapping_add(checksums::of_row(row)?);
            Ok(())
        });
        let update = "UPDATE checksums SET checksum = ? WHERE part = ?";
        let is_there = added.is_ok();
        assert!(!is_there || connection.execute(update, params![sum as i64, table]).is_ok());
    }
    drop(connection);
    read_foreign(&path).map_err(|error| error.to_string())
}

#[test]
fn what_a_forger_sealed_again_is_refused_with_the_reason() {
    assert!(forged("UPDATE foreign_run SET name = 'other'").is_ok_and(|run| run.is_some()));
    for (sql, why) in [
        ("DROP TABLE foreign_points", "table"),
        (
            "DROP TABLE foreign_doubts; CREATE VIEW foreign_doubts AS WITH RECURSIVE n(x) AS \
             (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 1) SELECT 'x', 'y', x, x FROM n",
            "table",
        ),
        ("DELETE FROM foreign_run", "no rows"),
        ("UPDATE foreign_measures SET value = 'many'", "no number"),
        ("UPDATE foreign_measures SET value = x'00'", "no number"),
        ("UPDATE foreign_measures SET row = 'first'", "type"),
        ("UPDATE foreign_measures SET row = 99", "not there"),
        ("UPDATE foreign_measures SET measured = 'luck'", "no word"),
        ("UPDATE foreign_rows SET source = 7", "not there"),
        ("UPDATE foreign_rows SET options = '{}'", "not what it should be"),
        ("UPDATE foreign_rows SET options = zeroblob(40000000)", "32 mib"),
        ("UPDATE foreign_latencies SET latency = zeroblob(40000000)", "32 mib"),
        ("UPDATE foreign_latencies SET latency = x'ffffffffffffffffff'", "histogram"),
        ("UPDATE foreign_latencies SET latency = 12", "type"),
        ("UPDATE foreign_points SET at_ms = -1", "negative"),
        ("UPDATE foreign_points SET series = 5", "no series"),
        ("UPDATE foreign_doubts SET said = 'x'", "no number"),
    ] {
        let told = forged(sql).err().unwrap_or_else(|| panic!("taken: {sql}"));
        assert!(told.to_lowercase().contains(why), "{sql}: {told}");
        assert!(told.len() < 1_000, "{sql}");
    }
}
