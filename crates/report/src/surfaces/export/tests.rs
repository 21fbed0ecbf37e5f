//! Tables as files.

use super::{Cell, Column, Csv, Json, Kind, Sink, Table, Tables};
use analysis::testing::Recorded;
use model::histogram::EncodedHistogram;
use model::occurrence::{Occurrence, OccurrenceKind};
use model::rows::SampleRow;
use model::{Op, Record, StageKind};

fn record() -> Record {
    let mut recorded =
        Recorded::with_hosts("[[workload]]\nname = \"w, \\\"x\\\"\"\n[sweep]\ndepth = [1, 8]\n", 2);
    for second in 0..5 {
        recorded.host_second(0, second, &[(Op::Read, &[100_000; 200])]);
        recorded.host_second(1, second, &[(Op::Read, &[300_000; 100])]);
    }
    recorded.record_mut().occurrences.push(Occurrence::new(OccurrenceKind::ALL[0], "=cmd|x\n,"));
    recorded.end()
}

fn written<S: Sink>(tables: &Tables<'_>, table: Table, mut sink: S) -> S {
    sink.begin(table, &tables.columns(table)).expect("room");
    tables.rows(table).iter().for_each(|row| sink.row(row).expect("room"));
    sink.finish().expect("room");
    sink
}

#[test]
fn every_row_has_a_cell_of_its_kind_for_each_column() {
    let record = record();
    let tables = Tables::new(&record);
    for table in Table::ALL {
        let columns = tables.columns(table);
        for row in tables.rows(table) {
            assert_eq!(row.len(), columns.len(), "{}", table.name());
            for (cell, Column { name, kind }) in row.iter().zip(&columns) {
                let fits = match cell {
                    Cell::Nothing => true,
                    Cell::Text(_) => *kind == Kind::Text,
                    Cell::Integer(_) => *kind == Kind::Integer,
                    Cell::Real(_) => *kind == Kind::Real,
                };
                assert!(fits, "{}.{name}: {cell:?}", table.name());
            }
        }
        let mut names: Vec<&String> = columns.iter().map(|column| &column.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), columns.len(), "a name stands twice in {}", table.name());
    }
    assert_eq!(tables.rows(Table::Events).len(), 1);
}

#[test]
fn results_are_those_of_the_record() {
    let record = record();
    let tables = Tables::new(&record);
    let columns = tables.columns(Table::Results);
    let at = |name: &str| columns.iter().position(|column| column.name == name).expect("a column");
    let rows = tables.rows(Table::Results);
    let expected = analysis::results(&record);
    assert_eq!(rows.len(), expected.len());
    assert_eq!(rows[0][at("requests")], Cell::Integer(1_500));
    assert_eq!(rows[0][at("sweep_depth")], Cell::Integer(1));
    assert_eq!(rows[0][at("rate_per_s")], Cell::Real(expected[0].iops()));
    assert_eq!(rows[0][at("latency_p99_ns")], Cell::from(expected[0].latency.quantile_ns(0.99)));
}

#[test]
fn the_values_of_an_axis_have_its_type() {
    let column = |axis: &str, values: &[&str]| {
        let text =
            format!("[[workload]]\nname = \"w\"\n[sweep]\n{axis} = [{}]\n", values.join(", "));
        let mut recorded = Recorded::new(&text);
        for number in 0..values.len() as u32 {
            recorded.interval(
                recorded.stage(StageKind::Measure) + number,
                0,
                &[(Op::Read, &[100_000; 20])],
            );
        }
        let record = recorded.record();
        let tables = Tables::new(&record);
        let columns = tables.columns(Table::Results);
        let at =
            columns.iter().position(|column| column.name.starts_with("sweep_")).expect("a column");
        let cells: Vec<Cell> =
            tables.rows(Table::Results).into_iter().map(|row| row[at].clone()).collect();
        (columns[at].name.clone(), cells)
    };
    let integers = |values: &[u64]| values.iter().copied().map(Cell::Integer).collect::<Vec<_>>();
    assert_eq!(column("depth", &["1", "8"]), ("sweep_depth".to_owned(), integers(&[1, 8])));
    assert_eq!(
        column("block_size", &["\"4KiB\"", "\"1MiB\""]),
        ("sweep_block_size_bytes".to_owned(), integers(&[4_096, 1_048_576]))
    );
    assert_eq!(
        column("read", &["\"70%\"", "\"100%\""]),
        // Reads, writes and both together, then reads alone.
        ("sweep_read_percent".to_owned(), [70.0, 70.0, 70.0, 100.0].map(Cell::Real).to_vec())
    );
    let (name, cells) = column("access", &["\"random\"", "\"sequential\""]);
    assert_eq!((name.as_str(), &cells[0]), ("sweep_access", &Cell::from("random")));
}

#[test]
fn a_row_of_a_series_has_the_interval_s_own_figures() {
    let record = record();
    let tables = Tables::new(&record);
    let mut latency = model::Histogram::new();
    (0..10).for_each(|_| latency.record(1_000));
    let row = |latency| SampleRow {
        stage: Recorded::new("[[workload]]\nname = \"w\"\n").stage(StageKind::Measure),
        host: 1,
        interval: 3,
        phase: model::sample::Phase::Load,
        start_ns: 0,
        length_ns: 500_000_000,
        work: 0,
        op: Op::Read,
        ios: 10,
        bytes: 40_960,
        errors: 0,
        latency,
    };
    let cells = tables.series(&row(latency.encode())).expect("whole");
    let columns = tables.columns(Table::Series);
    let at = |name: &str| {
        &cells[columns.iter().position(|column| column.name == name).expect("a column")]
    };
    assert_eq!(cells.len(), columns.len());
    assert_eq!(at("rate_per_s"), &Cell::Real(20.0));
    assert_eq!(at("latency_max_ns"), &Cell::Integer(1_000));
    assert_eq!(at("workload"), &Cell::from("w, \"x\""));
    assert_eq!(at("stage_kind"), &Cell::from("measure"));
    assert!(tables.series(&row(EncodedHistogram(vec![255; 3]))).is_err());
}

#[test]
fn an_interval_in_which_nothing_came_back_is_a_row_of_zeros() {
    let mut recorded = Recorded::new("[[workload]]\nname = \"w\"\n");
    recorded.host_second(0, 0, &[(Op::Read, &[100; 5])]);
    recorded.host_second(0, 1, &[]);
    recorded.host_second(0, 2, &[(Op::Read, &[100; 7])]);
    let record = recorded.record();
    let tables = Tables::new(&record);
    let mut told = Vec::new();
    let taken = tables.each_silent(|row| {
        told.push((row.interval, row.ios, tables.series(&row).map(|cells| cells.len())));
        Ok::<(), ()>(())
    });
    assert_eq!((taken, told), (Ok(()), vec![(1, 0, Ok(tables.columns(Table::Series).len()))]));
}

#[test]
fn csv_quotes_what_would_break_it() {
    let mut sink = Csv::new(Vec::new());
    let columns = ["a", "b,c"].map(|name| Column { name: name.to_owned(), kind: Kind::Text });
    sink.begin(Table::Results, &columns).expect("room");
    let rows = [[Cell::from("x \"y\""), Cell::Nothing], [Cell::from(""), Cell::from("1\n2")]];
    rows.iter().for_each(|row| sink.row(row).expect("room"));
    sink.row(&[Cell::Integer(u64::MAX), Cell::from(0.1)]).expect("room");
    let text = String::from_utf8(sink.into_inner()).expect("text");
    assert_eq!(text, "a,\"b,c\"\n\"x \"\"y\"\"\",\n\"\",\"1\n2\"\n9223372036854775807,0.1\n");
    let mut sink = Csv::new(Vec::new());
    for formula in ["=1+1", "+a", "-a", "@x", "\t=x", "a=b", "=x,\"y\""] {
        sink.row(&[Cell::from(formula)]).expect("room");
    }
    sink.row(&[Cell::Real(-1.5)]).expect("room");
    let text = String::from_utf8(sink.into_inner()).expect("text");
    assert_eq!(text, "'=1+1\n'+a\n'-a\n'@x\n'\t=x\na=b\n\"'=x,\"\"y\"\"\"\n-1.5\n");
    assert_eq!((Cell::from(f64::NAN), Cell::from(f64::INFINITY)), (Cell::Nothing, Cell::Nothing));
}

#[test]
fn json_is_one_object_with_a_list_for_each_table() {
    let record = record();
    let tables = Tables::new(&record);
    let mut sink = Json::new(Vec::new());
    for table in Table::ALL {
        sink.begin(table, &tables.columns(table)).expect("room");
        tables.rows(table).iter().for_each(|row| sink.row(row).expect("room"));
    }
    sink.finish().expect("room");
    let told: serde_json::Value = serde_json::from_slice(&sink.into_inner()).expect("JSON");
    assert_eq!((&told["format"], &told["results"][0]["requests"]), (&2.into(), &1_500.into()));
    assert_eq!(told["results"].as_array().map(Vec::len), Some(tables.rows(Table::Results).len()));
    assert_eq!(told["series"].as_array().map(Vec::len), Some(0));
    let mut empty = Json::new(Vec::new());
    empty.finish().expect("room");
    assert!(serde_json::from_slice::<serde_json::Value>(&empty.into_inner()).is_ok());
    let lines = written(&tables, Table::Quantiles, Csv::new(Vec::new())).into_inner();
    assert!(lines.iter().filter(|byte| **byte == b'\n').count() > 20);
}
