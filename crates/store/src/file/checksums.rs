//! Checksums of what a run file holds: SQLite has none of its own, and a flipped bit of a number is
//! another number.
//!
//! Each row has a checksum of 64 bits; what is stored is the sum (modulo 2⁶⁴) of those of some
//! rows, which does not depend on the order in which they are read, nor on how several threads
//! share them. Every step of it can be undone, so that no change of one word of a row leaves its
//! checksum as it was.

use super::values::{Problem, each};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, Params, Row, ToSql, Transaction, params};
use std::ops::RangeInclusive;

model::plain_words! {
    /// What is checked together, with its name in the file: that of its table.
    pub enum Part {
        Run = "run",
        Hosts = "hosts",
        Points = "points",
        Workloads = "workloads",
        Stages = "stages",
        Starts = "starts",
        Notes = "notes",
        Occurrences = "occurrences",
        LeftOver = "left_over",
        Pauses = "pauses",
        Flushes = "flushes",
        CounterSeries = "counter_series",
        CounterShapes = "counter_shapes",
        CounterTail = "counter_tail",
        CounterRemarks = "counter_remarks",
        Thinned = "thinned",
        SampleBlocks = "sample_blocks",
        Intervals = "intervals",
        Samples = "samples",
        Errors = "errors",
        Workers = "workers",
        WorkerSamples = "worker_samples",
        WriteMarks = "write_marks",
        RawLatencies = "raw_latencies",
        /// The values of one sample of counters, by its number.
        Counters = "counters",
        /// A block of sums with what is read of all of it, by its number.
        Sums = "sums",
        /// The sums of one stage in a block, by the number of its row.
        StageSums = "stage_sums",
        /// The same of its times.
        StageTimes = "stage_times",
        /// A block of counters with what it comes to, by its number.
        CounterBlocks = "counter_blocks",
        /// What a block of counters holds, by its number.
        CounterColumns = "counter_columns",
        /// Samples of one host, by the number of their piece.
        SampleColumns = "sample_columns",
    }
}

/// How a part's rows are summed up.
const WHOLE: usize = Part::SampleBlocks as usize + 1;
const IN_TURN: usize = Part::RawLatencies as usize + 1 - WHOLE;

/// Tables of which one sum is kept, with the query for their rows.
pub const TABLES: [(Part, &str); WHOLE] = [
    (Part::Run, "SELECT * FROM run"),
    (Part::Hosts, "SELECT * FROM hosts"),
    (Part::Points, "SELECT * FROM points"),
    (Part::Workloads, "SELECT * FROM workloads"),
    (Part::Stages, "SELECT * FROM stages"),
    (Part::Starts, "SELECT * FROM starts"),
    (Part::Notes, "SELECT stage, host, kind, detail FROM notes"),
    (
        Part::Occurrences,
        "SELECT kind, stage, at_ns, unix_ns, host, label, detail, status, duration_ns FROM \
         occurrences",
    ),
    (Part::LeftOver, "SELECT * FROM left_over"),
    (Part::Pauses, "SELECT * FROM pauses"),
    (Part::Flushes, "SELECT * FROM flushes"),
    (Part::CounterSeries, "SELECT * FROM counter_series"),
    (Part::CounterShapes, "SELECT * FROM counter_shapes"),
    (Part::CounterTail, "SELECT * FROM counter_tail"),
    (Part::CounterRemarks, "SELECT * FROM counter_remarks"),
    (Part::Thinned, "SELECT * FROM thinned"),
    (Part::SampleBlocks, "SELECT * FROM sample_blocks"),
];

/// One step: with an odd factor and a shift to the right, each of which can be undone.
fn mix(state: u64, word: u64) -> u64 {
    let product = (state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let folded = (product ^ (product >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    folded ^ (folded >> 29)
}

fn mix_bytes(state: u64, kind: u64, bytes: &[u8]) -> u64 {
    let state = mix(mix(state, kind), bytes.len() as u64);
    let (words, rest) = bytes.as_chunks::<8>();
    let state = words.iter().fold(state, |state, word| mix(state, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    if rest.is_empty() { state } else { mix(state, u64::from_le_bytes(last)) }
}

fn mix_value(state: u64, value: ValueRef<'_>) -> u64 {
    match value {
        ValueRef::Null => mix(state, 1),
        ValueRef::Integer(number) => mix(mix(state, 2), number as u64),
        ValueRef::Real(number) => mix(mix(state, 3), number.to_bits()),
        ValueRef::Text(bytes) => mix_bytes(state, 4, bytes),
        ValueRef::Blob(bytes) => mix_bytes(state, 5, bytes),
    }
}

/// The checksum of a row with these values.
pub fn of_values(values: &[&dyn ToSql]) -> rusqlite::Result<u64> {
    values.iter().try_fold(0, |state, value| {
        Ok(match value.to_sql()? {
            ToSqlOutput::Borrowed(value) => mix_value(state, value),
            ToSqlOutput::Owned(value) => mix_value(state, ValueRef::from(&value)),
            // Nothing of ours is anything else.
            _ => state,
        })
    })
}

/// The checksum of these columns of a row.
pub fn of_columns(row: &Row<'_>, columns: RangeInclusive<usize>) -> rusqlite::Result<u64> {
    let mut state = 0;
    for column in columns {
        state = mix_value(state, row.get_ref(column)?);
    }
    Ok(state)
}

/// The checksum of a whole row.
pub fn of_row(row: &Row<'_>) -> rusqlite::Result<u64> {
    of_columns(row, 0..=row.as_ref().column_count() - 1)
}

/// The sum of the checksums of all rows of a query.
fn of_query(connection: &Connection, query: &str, params: impl Params) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query(params)?;
    let mut sum = 0u64;
    while let Some(row) = rows.next()? {
        sum = sum.wrapping_add(of_row(row)?);
    }
    Ok(sum)
}

/// The checksums of what is being written. A transaction that fails leaves a copy from before it as
/// true as it was.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    /// Of the tables that have one sum each.
    whole: [Pending; WHOLE],
    /// Of the others: of the rows since the last sum.
    in_turn: [Pending; IN_TURN],
    /// Intervals so far: they have no row numbers.
    intervals: i64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    sum: u64,
    /// The number of the last row.
    last: i64,
    is_changed: bool,
}

impl Sums {
    /// Inserts a row by a statement with these values.
    pub fn insert(
        &mut self,
        transaction: &Transaction<'_>,
        part: Part,
        sql: &str,
        values: &[&dyn ToSql],
    ) -> rusqlite::Result<()> {
        transaction.prepare_cached(sql)?.execute(values)?;
        self.add(part, of_values(values)?, transaction.last_insert_rowid());
        Ok(())
    }

    fn add(&mut self, part: Part, checksum: u64, row: i64) {
        let last = if part == Part::Intervals { self.intervals + 1 } else { row };
        if part == Part::Intervals {
            self.intervals = last;
        }
        let pending = self.pending(part);
        *pending = Pending { sum: pending.sum.wrapping_add(checksum), last, is_changed: true };
    }

    /// A row with these values was written to a table with one sum.
    pub fn added(&mut self, part: Part, values: &[&dyn ToSql]) -> rusqlite::Result<()> {
        self.add(part, of_values(values)?, 0);
        Ok(())
    }

    /// Rows of a table with one sum were taken away, whose checksums add up to this.
    pub fn remove(&mut self, part: Part, sum: u64) {
        self.add(part, 0u64.wrapping_sub(sum), 0);
    }

    fn pending(&mut self, part: Part) -> &mut Pending {
        let place = part as usize;
        if place < WHOLE { &mut self.whole[place] } else { &mut self.in_turn[place - WHOLE] }
    }

    /// Changes those rows of a table with one sum that `query` finds, with `params`.
    pub fn change(
        &mut self,
        transaction: &Transaction<'_>,
        part: Part,
        query: &str,
        params: &[&dyn ToSql],
        change: impl FnOnce() -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        let before = of_query(transaction, query, params)?;
        change()?;
        let after = of_query(transaction, query, params)?;
        self.add(part, after.wrapping_sub(before), 0);
        Ok(())
    }

    /// Writes the sums of what was written since the last time: at the end of a transaction, and
    /// before a block of sums.
    pub fn settle(&mut self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        for (pending, (part, _)) in self.whole.iter_mut().zip(TABLES) {
            if std::mem::take(&mut pending.is_changed) {
                write(transaction, part, 0, pending.sum)?;
            }
        }
        for (pending, part) in self.in_turn.iter_mut().zip(TABLES_IN_TURN) {
            if std::mem::take(&mut pending.is_changed) {
                write(transaction, part, pending.last, std::mem::take(&mut pending.sum))?;
            }
        }
        Ok(())
    }
}

const TABLES_IN_TURN: [Part; IN_TURN] = [
    Part::Intervals,
    Part::Samples,
    Part::Errors,
    Part::Workers,
    Part::WorkerSamples,
    Part::WriteMarks,
    Part::RawLatencies,
];

/// Writes down the checksum of a part, up to a row or of one.
pub fn write(
    transaction: &Transaction<'_>,
    part: Part,
    row: i64,
    checksum: u64,
) -> rusqlite::Result<()> {
    let insert = "INSERT OR REPLACE INTO checksums VALUES (?, ?, ?)";
    transaction.prepare_cached(insert)?.execute(params![part.word(), row, checksum as i64])?;
    Ok(())
}

/// Whether the file has checksums. Whoever changes rows by hand takes them away.
pub fn are_there(connection: &Connection) -> Result<bool, Problem> {
    Ok(connection.query_row("SELECT EXISTS (SELECT 1 FROM checksums)", [], |row| row.get(0))?)
}

/// What the checksums of a part from behind one row up to another come to.
fn expected(connection: &Connection, part: Part, after: i64, to: i64) -> Result<u64, Problem> {
    let query = "SELECT checksum FROM checksums WHERE part = ? AND row > ? AND row <= ?";
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query(params![part.word(), after, to])?;
    let mut sum = 0u64;
    while let Some(row) = rows.next()? {
        sum = sum.wrapping_add(row.get::<_, i64>(0)? as u64);
    }
    Ok(sum)
}

fn damaged(part: Part) -> Problem {
    Problem(format!(
        "its table `{}` does not fit its checksum: a bit of it changed after it was written",
        part.word()
    ))
}

/// Whether the rows of a part from behind one row up to another have this sum.
pub fn check(
    connection: &Connection,
    part: Part,
    after: i64,
    to: i64,
    sum: u64,
) -> Result<(), Problem> {
    if expected(connection, part, after, to)? == sum { Ok(()) } else { Err(damaged(part)) }
}

/// Whether all tables with one sum are as they were written.
pub fn check_whole(connection: &Connection) -> Result<(), Problem> {
    for (part, query) in TABLES {
        let mut sum = 0u64;
        each(connection, query, |row| {
            sum = sum.wrapping_add(of_row(row)?);
            Ok(())
        })?;
        check(connection, part, -1, 0, sum)?;
    }
    Ok(())
}

/// The checksums of single rows of a part, each looked up by its number.
pub struct Single<'a> {
    part: Part,
    /// `None` where the file has no checksums.
    statement: Option<CachedStatement<'a>>,
}

impl<'a> Single<'a> {
    /// Those of a file.
    pub fn of(connection: &'a Connection, part: Part) -> Result<Single<'a>, Problem> {
        let query = "SELECT checksum FROM checksums WHERE part = ? AND row = ?";
        let statement =
            if are_there(connection)? { Some(connection.prepare_cached(query)?) } else { None };
        Ok(Single { part, statement })
    }

    /// Whether the row of this number has this checksum.
    pub fn check(&mut self, row: i64, checksum: u64) -> Result<(), Problem> {
        let Some(statement) = &mut self.statement else { return Ok(()) };
        let mut rows = statement.query(params![self.part.word(), row])?;
        let found = rows.next()?.map(|row| row.get::<_, i64>(0)).transpose()?;
        if found == Some(checksum as i64) { Ok(()) } else { Err(damaged(self.part)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bit_of_a_row_leaves_its_checksum_as_it_was() {
        let of = |number: i64, text: &str, blob: &[u8]| {
            of_values(&[&number, &text, &blob]).expect("values")
        };
        let (number, text, blob) = (77, "read", [1u8, 2, 3, 0, 0, 0, 0, 0, 9]);
        let whole = of(number, text, &blob);
        for bit in 0..64 {
            assert_ne!(of(number ^ (1 << bit), text, &blob), whole);
        }
        for bit in 0..8 * blob.len() {
            let mut flipped = blob;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(of(number, text, &flipped), whole);
        }
        assert_ne!(of(number, "reae", &blob), whole);
        assert_ne!(of(number, text, &blob[..8]), whole, "zeros at the end count");
        let (one, none): (Option<i64>, Option<i64>) = (Some(1), None);
        assert_ne!(of_values(&[&one]).expect("a value"), of_values(&[&none]).expect("a value"));
    }

    #[test]
    fn the_checksum_stays_what_it_is() {
        let values: [&dyn ToSql; 5] =
            [&1i64, &"text of 18 letters", &vec![1u8, 2, 3], &2.5f64, &None::<i64>];
        assert_eq!(of_values(&values).expect("values"), EXPECTED, "files are read with it");
    }

    /// As the document's `mix` has it, worked out by another program.
    const EXPECTED: u64 = 0x2ad7_6a30_3dfa_5a81;

    #[test]
    fn parts_stand_in_the_order_of_their_places() {
        let whole = TABLES.iter().map(|(part, _)| *part);
        for (place, part) in whole.chain(TABLES_IN_TURN).enumerate() {
            assert_eq!(part as usize, place, "{part:?}");
        }
    }
}
