//! A sample of counters as plain rows: values in rows of three numbers.

use crate::counters::series::Series;
use crate::file::checksums::{self, Part, Sums};
use crate::file::values::number;
use model::CounterSample;
use rusqlite::{Transaction, params, params_from_iter};
use std::sync::LazyLock;

/// Values that one statement writes: stepping through a statement costs more than the row. A busy
/// server's sample has some hundred values.
pub const TOGETHER: usize = 32;

/// `INSERT` of [`TOGETHER`] values, whose first parameter is the sample.
static INSERT_TOGETHER: LazyLock<String> = LazyLock::new(|| {
    let rows: Vec<String> =
        (0..TOGETHER).map(|row| format!("(?1, ?{}, ?{})", 2 * row + 2, 2 * row + 3)).collect();
    format!("INSERT INTO counters VALUES {}", rows.join(", "))
});

/// Writes one sample.
pub fn write(
    transaction: &Transaction<'_>,
    series: &mut Series,
    checks: &mut Sums,
    sample: &CounterSample,
) -> rusqlite::Result<()> {
    let notes = serde_json::to_string(&sample.notes)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let insert = "INSERT INTO counter_samples (stage, host, number, start_ns, length_ns, notes) \
                  VALUES (?, ?, ?, ?, ?, ?)";
    let (start_ns, length_ns) = (number(sample.start_ns), number(sample.length_ns));
    let row = params![sample.stage, sample.host, sample.number, start_ns, length_ns, notes];
    transaction.prepare_cached(insert)?.execute(row)?;
    let mut checksum = checksums::of_values(row)?;
    let this = transaction.last_insert_rowid();
    let mut values =
        Vec::with_capacity(sample.entries.iter().map(|entry| entry.values.len()).sum());
    for entry in &sample.entries {
        series.number(transaction, checks, entry, &mut values)?;
    }
    let values: Vec<(i64, i64)> =
        values.into_iter().map(|(of, value)| (of.series, number(value))).collect();
    for (series, value) in &values {
        checksum = checksum.wrapping_add(checksums::of_values(params![series, value])?);
    }
    checksums::write(transaction, Part::Counters, this, checksum)?;
    write_values(transaction, this, &values)
}

/// Writes the values of one sample, each with the number of its series, in their order.
fn write_values(
    transaction: &Transaction<'_>,
    sample: i64,
    values: &[(i64, i64)],
) -> rusqlite::Result<()> {
    let mut together = values.chunks_exact(TOGETHER);
    let mut insert = transaction.prepare_cached(&INSERT_TOGETHER)?;
    for rows in together.by_ref() {
        insert.execute(params_from_iter(
            std::iter::once(sample)
                .chain(rows.iter().flat_map(|(series, value)| [*series, *value])),
        ))?;
    }
    let mut insert = transaction.prepare_cached("INSERT INTO counters VALUES (?, ?, ?)")?;
    for (series, value) in together.remainder() {
        insert.execute(params![sample, series, value])?;
    }
    Ok(())
}
