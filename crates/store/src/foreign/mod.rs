//! Run files that hold results of other tools: a format of their own, so that no older version
//! takes them for a run of Plimsoll without results.

use crate::file::checksums;
use crate::file::error::StoreError;
use crate::file::open::{is_foreign, open};
use crate::file::pages::check_pages;
use crate::file::place::{beside, for_sqlite};
use crate::file::schema::{APPLICATION_ID, CHECKSUM_TABLES, FOREIGN_FORMAT, FOREIGN_TABLES};
use crate::file::values::{Problem, each, number, small, unsigned};
use model::foreign::{
    Doubt, DoubtKind, ForeignRun, Form, GivenLatencies, GivenOption, GivenRow, GivenSeries,
    MOST_AT_MS, MOST_POINTS, MOST_ROWS, MOST_VALUE, Measure, Measured, Point, Quantity, Source,
    Span, Statistic, StatisticKind, is_value, short,
};
use model::histogram::EncodedHistogram;
use model::{Histogram, Op};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Row, ToSql, Transaction, params};
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::Path;

/// No row has more of any of these.
const MOST_OF_A_ROW: usize = 10_000;
/// No run has more sources or doubts.
const MOST_OF_A_RUN: usize = 100_000;

/// No text or blob of a file is longer.
const MOST_BYTES: i64 = 32 << 20;

/// The columns that hold texts and blobs.
const WIDE: [(&str, &str); 17] = [
    ("foreign_run", "run_id"),
    ("foreign_run", "name"),
    ("foreign_run", "version"),
    ("foreign_sources", "form"),
    ("foreign_sources", "tool"),
    ("foreign_sources", "tool_version"),
    ("foreign_sources", "file"),
    ("foreign_sources", "sha256"),
    ("foreign_rows", "workload"),
    ("foreign_rows", "op"),
    ("foreign_rows", "place"),
    ("foreign_rows", "options"),
    ("foreign_measures", "measured"),
    ("foreign_latencies", "latency"),
    ("foreign_points", "measured"),
    ("foreign_doubts", "kind"),
    ("foreign_doubts", "name"),
];

/// The tables, with the query for their rows in the order in which they were written.
const TABLES: [(&str, &str); 7] = [
    ("foreign_run", "SELECT * FROM foreign_run"),
    ("foreign_sources", "SELECT * FROM foreign_sources ORDER BY source"),
    ("foreign_rows", "SELECT * FROM foreign_rows ORDER BY row"),
    ("foreign_measures", "SELECT * FROM foreign_measures ORDER BY rowid"),
    ("foreign_latencies", "SELECT * FROM foreign_latencies ORDER BY row"),
    ("foreign_points", "SELECT * FROM foreign_points ORDER BY rowid"),
    ("foreign_doubts", "SELECT * FROM foreign_doubts ORDER BY rowid"),
];

/// Writes a run of other tools' results. The file is whole, or it is not there.
///
/// # Errors
/// Something stands at `path` already, or nothing can be made there; then nothing is left behind.
pub fn write_foreign(path: &Path, run: &ForeignRun) -> Result<(), StoreError> {
    OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| {
        match error.kind() {
            ErrorKind::AlreadyExists => StoreError::Exists(path.to_owned()),
            _ => StoreError::Create(path.to_owned(), error.to_string()),
        }
    })?;
    fill(path, run).map_err(|error| {
        // We made it a moment ago, and nothing in it is whole.
        for made in [path.to_owned(), beside(path, "-journal")] {
            let _ = std::fs::remove_file(made);
        }
        StoreError::Create(path.to_owned(), error.to_string())
    })
}

fn fill(path: &Path, run: &ForeignRun) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(for_sqlite(path), flags)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", FOREIGN_FORMAT)?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(FOREIGN_TABLES)?;
    transaction.execute_batch(CHECKSUM_TABLES)?;
    let mut writer = Writer { transaction: &transaction, sums: [0; TABLES.len()] };
    writer.run(run)?;
    let sums = writer.sums;
    for ((table, _), sum) in TABLES.iter().zip(sums) {
        let insert = "INSERT INTO checksums VALUES (?, 0, ?)";
        transaction.execute(insert, params![table, sum as i64])?;
    }
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)
}

struct Writer<'a> {
    transaction: &'a Transaction<'a>,
    /// The checksums of the tables, in their order.
    sums: [u64; TABLES.len()],
}

impl Writer<'_> {
    fn insert(&mut self, table: &str, values: &[&dyn ToSql]) -> rusqlite::Result<()> {
        let marks = vec!["?"; values.len()].join(", ");
        let sql = format!("INSERT INTO {table} VALUES ({marks})");
        self.transaction.prepare_cached(&sql)?.execute(values)?;
        if let Some(at) = TABLES.iter().position(|(name, _)| *name == table) {
            self.sums[at] = self.sums[at].wrapping_add(checksums::of_values(values)?);
        }
        Ok(())
    }

    fn run(&mut self, run: &ForeignRun) -> rusqlite::Result<()> {
        let (imported, measured) = (number(run.imported_unix_ns), run.measured_unix_ns.map(number));
        self.insert("foreign_run", params![run.run_id, run.name, run.version, imported, measured])?;
        for (place, source) in (0i64..).zip(&run.sources) {
            let (form, bytes) = (source.form.word(), number(source.bytes));
            let row = params![
                place,
                form,
                source.form.tool(),
                source.tool_version,
                source.file,
                bytes,
                source.sha256
            ];
            self.insert("foreign_sources", row)?;
        }
        for (place, row) in (0i64..).zip(&run.rows) {
            self.row(place, row)?;
        }
        for doubt in &run.doubts {
            let row = params![doubt.kind.word(), doubt.name, doubt.said, doubt.computed];
            self.insert("foreign_doubts", row)?;
        }
        Ok(())
    }

    fn row(&mut self, place: i64, row: &GivenRow) -> rusqlite::Result<()> {
        let options: Vec<(&str, &str)> =
            row.options.iter().map(|all| (all.name.as_str(), all.value.as_str())).collect();
        let failed =
            |error: serde_json::Error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
        let options = serde_json::to_string(&options).map_err(failed)?;
        let op = row.op.map(Op::name);
        self.insert(
            "foreign_rows",
            params![place, row.source, row.group, row.workload, op, row.place, options],
        )?;
        for measure in &row.measures {
            let of = measure.quantity;
            let (measured, span) = (of.measured.word(), of.span.map(Span::word));
            let (kind, share) = (of.statistic.kind().word(), of.statistic.share());
            let values = params![place, measured, span, kind, share, measure.value];
            self.insert("foreign_measures", values)?;
        }
        if let Some(latencies) = &row.latencies {
            let EncodedHistogram(bytes) = latencies.latency.encode();
            let (span, error) = (latencies.span.word(), latencies.error_permille);
            self.insert("foreign_latencies", params![place, span, error, bytes])?;
        }
        for (series, all) in (0i64..).zip(&row.series) {
            let of = all.quantity;
            let (measured, span) = (of.measured.word(), of.span.map(Span::word));
            let kind = of.statistic.kind().word();
            for point in &all.points {
                let at = number(point.at_ms);
                let values = params![place, series, measured, span, kind, at, point.value];
                self.insert("foreign_points", values)?;
            }
        }
        Ok(())
    }
}

/// Reads results of other tools; `None` where the file says not that it holds some: it may be a run
/// of Plimsoll, or nothing at all.
///
/// # Errors
/// It is damaged.
pub fn read_foreign(path: &Path) -> Result<Option<ForeignRun>, StoreError> {
    if !is_foreign(path) {
        return Ok(None);
    }
    let opened = open(path)?;
    let read = read(&opened.connection);
    read.map(Some).map_err(|problem| StoreError::damaged(path, problem.0))
}

/// Whether what stands in the file is as it was written.
fn check(connection: &Connection) -> Result<(), Problem> {
    check_pages(connection)?;
    for (table, query) in TABLES {
        let mut sum = 0u64;
        each(connection, query, |row| {
            sum = sum.wrapping_add(checksums::of_row(row)?);
            Ok(())
        })?;
        let query = "SELECT checksum FROM checksums WHERE part = ? AND row = 0";
        let known: i64 = connection.query_row(query, [table], |row| row.get(0))?;
        if known as u64 != sum {
            return Err(Problem(format!(
                "its table `{table}` does not fit its checksum: a bit of it changed after it was \
                 written"
            )));
        }
    }
    Ok(())
}

/// Whether no value is so long that reading it would take memory without bounds: SQLite knows their
/// lengths without their contents.
fn bounded(connection: &Connection) -> Result<(), Problem> {
    for (table, column) in WIDE {
        let query = format!("SELECT max(octet_length({column})) FROM {table}");
        let most: Option<i64> = connection.query_row(&query, [], |row| row.get(0))?;
        if most.is_some_and(|most| most > MOST_BYTES) {
            let what = format!("`{column}` of its table `{table}` has more than 32 MiB");
            return Err(Problem(what));
        }
    }
    Ok(())
}

fn read(connection: &Connection) -> Result<ForeignRun, Problem> {
    bounded(connection)?;
    check(connection)?;
    let mut run = connection.query_row("SELECT * FROM foreign_run LIMIT 1", [], |row| {
        Ok(ForeignRun {
            run_id: row.get::<_, String>(0).map(|id| short(&id))?,
            name: row.get::<_, String>(1).map(|name| short(&name))?,
            version: row.get::<_, String>(2).map(|version| short(&version))?,
            imported_unix_ns: row.get::<_, i64>(3)?.unsigned_abs(),
            measured_unix_ns: row.get::<_, Option<i64>>(4)?.map(i64::unsigned_abs),
            sources: Vec::new(),
            rows: Vec::new(),
            doubts: Vec::new(),
        })
    })?;
    each(connection, TABLES[1].1, |row| {
        let form = word(row, 1, Form::ALL, Form::word)?;
        let tool_version: String = row.get(3)?;
        let file: String = row.get(4)?;
        full(run.sources.len(), MOST_OF_A_RUN)?;
        run.sources.push(Source {
            form,
            tool_version: short(&tool_version),
            file: short(&file),
            bytes: unsigned(row.get(5)?)?,
            sha256: short(&row.get::<_, String>(6)?),
        });
        Ok(())
    })?;
    rows(connection, &mut run)?;
    measures(connection, &mut run.rows)?;
    latencies(connection, &mut run.rows)?;
    points(connection, &mut run.rows)?;
    each(connection, TABLES[6].1, |row| {
        full(run.doubts.len(), MOST_OF_A_RUN)?;
        run.doubts.push(Doubt {
            kind: word(row, 0, DoubtKind::ALL, DoubtKind::word)?,
            name: short(&row.get::<_, String>(1)?),
            said: finite(row, 2)?,
            computed: finite(row, 3)?,
        });
        Ok(())
    })?;
    Ok(run)
}

fn rows(connection: &Connection, run: &mut ForeignRun) -> Result<(), Problem> {
    each(connection, TABLES[2].1, |row| {
        full(run.rows.len(), MOST_ROWS)?;
        if small(row.get(0)?)? as usize != run.rows.len() {
            return Err("a result has a number that it cannot have".into());
        }
        let (workload, place): (String, String) = (row.get(3)?, row.get(5)?);
        let op = row.get::<_, Option<String>>(4)?;
        let op = op.map(|name| Op::from_name(&name).ok_or("a result is of no operation"));
        let mut given = GivenRow::new(&workload, op.transpose()?, place);
        (given.source, given.group) = (small(row.get(1)?)?, small(row.get(2)?)?);
        if given.source as usize >= run.sources.len() {
            return Err("a result comes from a source that is not there".into());
        }
        let options: Vec<(String, String)> = serde_json::from_str(&row.get::<_, String>(6)?)?;
        full(options.len(), MOST_OF_A_ROW)?;
        let option = |(name, value): (String, String)| GivenOption {
            name: short(&name),
            value: short(&value),
        };
        given.options = options.into_iter().map(option).collect();
        run.rows.push(given);
        Ok(())
    })
}

fn measures(connection: &Connection, rows: &mut [GivenRow]) -> Result<(), Problem> {
    each(connection, TABLES[3].1, |row| {
        let given = at(rows, row)?;
        full(given.measures.len(), MOST_OF_A_ROW)?;
        let share = row.get::<_, Option<i64>>(4)?.map(small).transpose()?;
        let quantity = quantity(row, share)?;
        let value = value(row, 5)?;
        given.measures.push(Measure { quantity, value });
        Ok(())
    })
}

/// What a number is, by the columns behind the number of its row.
fn quantity(row: &Row<'_>, share: Option<u32>) -> Result<Quantity, Problem> {
    let skip = usize::from(row.as_ref().column_count() > 6);
    let kind = word(row, 3 + skip, StatisticKind::ALL, StatisticKind::word)?;
    let span = match row.get::<_, Option<String>>(2 + skip)? {
        Some(_) => Some(word(row, 2 + skip, Span::ALL, Span::word)?),
        None => None,
    };
    Ok(Quantity {
        measured: word(row, 1 + skip, Measured::ALL, Measured::word)?,
        span,
        statistic: Statistic::new(kind, share).ok_or("a quantile is of no share")?,
    })
}

fn latencies(connection: &Connection, rows: &mut [GivenRow]) -> Result<(), Problem> {
    each(connection, TABLES[4].1, |row| {
        let given = at(rows, row)?;
        let encoded = EncodedHistogram(row.get(3)?);
        let latency: Histogram = encoded.decode().map_err(|_| "a histogram is none")?;
        let span = word(row, 1, Span::ALL, Span::word)?;
        let error_permille = small(row.get(2)?)?;
        given.latencies = Some(GivenLatencies { span, latency, error_permille });
        Ok(())
    })
}

fn points(connection: &Connection, rows: &mut [GivenRow]) -> Result<(), Problem> {
    each(connection, TABLES[5].1, |row| {
        let series = small(row.get(1)?)? as usize;
        let quantity = quantity(row, None)?;
        let point = Point { at_ms: unsigned(row.get(5)?)?, value: value(row, 6)? };
        if point.at_ms > MOST_AT_MS {
            return Err("a point is later than any measurement lasts".into());
        }
        let given = at(rows, row)?;
        if series == given.series.len() {
            full(series, 100)?;
            given.series.push(GivenSeries { quantity, points: Vec::new() });
        }
        let all = given.series.get_mut(series).ok_or("a point is of no series")?;
        full(all.points.len(), MOST_POINTS + 1)?;
        all.points.push(point);
        Ok(())
    })
}

/// The row that a line belongs to, by its first column.
fn at<'a>(rows: &'a mut [GivenRow], row: &Row<'_>) -> Result<&'a mut GivenRow, Problem> {
    let number = small(row.get(0)?)? as usize;
    rows.get_mut(number).ok_or_else(|| "a number is of a result that is not there".into())
}

fn full(length: usize, most: usize) -> Result<(), Problem> {
    if length > most { Err("it has more than any results have".into()) } else { Ok(()) }
}

/// A number, or nothing.
fn finite(row: &Row<'_>, column: usize) -> Result<Option<f64>, Problem> {
    match row.get::<_, Value>(column)? {
        Value::Null => Ok(None),
        Value::Real(value) if value.is_finite() => Ok(Some(value)),
        Value::Integer(value) => Ok(Some(value as f64)),
        _ => Err("a value is no number".into()),
    }
}

/// A number of something.
fn value(row: &Row<'_>, column: usize) -> Result<f64, Problem> {
    let value = finite(row, column)?.ok_or("a result has no value")?;
    let wrong = || {
        let what =
            format!("a result has the value {value:e}; none is below 0 or past {MOST_VALUE:e}");
        Problem(what)
    };
    if is_value(value) { Ok(value) } else { Err(wrong()) }
}

/// The word in a column.
fn word<T: Copy>(
    row: &Row<'_>,
    column: usize,
    all: &[T],
    of: fn(T) -> &'static str,
) -> Result<T, Problem> {
    let found: String = row.get(column)?;
    let known = all.iter().copied().find(|one| of(*one) == found);
    known.ok_or_else(|| Problem(format!("`{}` is no word of results", short(&found))))
}

#[cfg(test)]
mod tests;
