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
