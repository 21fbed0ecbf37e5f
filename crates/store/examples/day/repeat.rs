//! Makes a long run of a short one: behind its end, blocks of samples and of counters come again
//! with later numbers, byte for byte as the writer coded them. Readers check them as any others.
//! To measure a day of a thousand hosts takes hours; to repeat half an hour of it takes minutes.

use crate::checksums::{self, Part};
use model::columns::varint::{fold, unfold};
use model::columns::{In, Out};
use rusqlite::{Connection, OptionalExtension, params};
use std::path::Path;

const SECOND_NS: u64 = 1_000_000_000;
/// Seconds of a block.
const BLOCK: u32 = 128;

/// A block of sums whose samples are in columns, 128 seconds of all hosts.
struct Samples {
    /// Its first interval.
    first: u32,
    /// Stage, host and columns of its pieces.
    pieces: Vec<(u32, u32, Vec<u8>)>,
    stage: u32,
    spans: Vec<u8>,
    sums: Vec<u8>,
    times: Vec<u8>,
}

/// A block of counters of one host, 128 seconds.
struct Counters {
    stage: u32,
    host: u32,
    shape: i64,
    number: u32,
    start_ns: i64,
    length_ns: i64,
    sums: Vec<(i64, i64)>,
    columns: Vec<u8>,
}

/// Repeats what a file of `there` seconds has until it has some `wanted` seconds; how many it has.
pub fn repeat(path: &Path, there: u32, wanted: u32) -> rusqlite::Result<u32> {
    let connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN")?;
    connection.set_prepared_statement_cache_capacity(64);
    let (samples, counters) = (samples(&connection)?, counters(&connection)?);
    assert!(!samples.is_empty(), "the first minutes have no blocks of samples yet");
    let mut next = there;
    for turn in 0.. {
        if next + BLOCK > wanted {
            break;
        }
        again(&connection, &samples[turn % samples.len()], next)?;
        let mut of_turn = 0;
        for host in &counters {
            if let Some(block) = host.get(turn % host.len().max(1)) {
                count_again(&connection, block, next)?;
                of_turn += 1;
            }
        }
        assert!(counters.is_empty() || of_turn > 0, "counters come with samples");
        next += BLOCK;
    }
    connection.execute_batch("COMMIT")?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(next)
}

fn samples(connection: &Connection) -> rusqlite::Result<Vec<Samples>> {
    let mut found = Vec::new();
    let mut blocks = connection.prepare("SELECT block, first, pieces FROM sample_blocks")?;
    let mut rows = blocks.query([])?;
    while let Some(row) = rows.next()? {
        let (block, first, count): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let mut pieces = connection.prepare_cached(
            "SELECT stage, host, columns FROM sample_columns WHERE piece >= ? AND piece < ?",
        )?;
        let pieces: Vec<(u32, u32, Vec<u8>)> = pieces
            .query_map([first, first + count], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<Result<_, _>>()?;
        let sums = "SELECT stage, spans, sums, times FROM stage_sums WHERE block = ?";
        let (stage, spans, sums, times) = connection.query_row(sums, [block], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?;
        let (intervals, ..) = taken(&pieces[0].2);
        // The first block of a run has another base than all others.
        if block > 1 && pieces.iter().all(|piece| taken(&piece.2).0.len() == BLOCK as usize) {
            found.push(Samples { first: intervals[0] as u32, pieces, stage, spans, sums, times });
        }
    }
    Ok(found)
}

/// Intervals, phases, gaps and lengths of a piece, and the rest of its bytes.
fn taken(bytes: &[u8]) -> (Vec<u64>, Vec<u64>, Vec<u64>, &[u8]) {
    let mut rest = In::new(&bytes[1..]);
    let count = rest.small().expect("a count");
    let mut column = || {
        let mut out = Vec::new();
        rest.column(count, &mut out).expect("a column");
        out
    };
    let (intervals, phases, gaps) = (column(), column(), column());
    (intervals, phases, gaps, rest.rest())
}

fn later(column: &mut [u64], by: u64) {
    column.iter_mut().for_each(|number| *number += by);
}

/// Gaps of which the first is from the stage's start.
fn begin_later(gaps: &mut [u64], by_ns: u64) {
    gaps[0] = fold(unfold(gaps[0]) + by_ns as i64);
}

fn again(connection: &Connection, block: &Samples, first: u32) -> rusqlite::Result<()> {
    let by = u64::from(first - block.first);
    let mut numbers: Option<i64> = None;
    for (stage, host, bytes) in &block.pieces {
        let (mut intervals, phases, mut gaps, rest) = taken(bytes);
        later(&mut intervals, by);
        begin_later(&mut gaps, by * SECOND_NS);
        let mut out = Out::of(bytes[0]);
        out.count(intervals.len());
        [&intervals, &phases, &gaps].into_iter().for_each(|column| out.column(column));
        out.raw(rest);
        let out = out.into_bytes();
        connection
            .prepare_cached("INSERT INTO sample_columns (stage, host, columns) VALUES (?, ?, ?)")?
            .execute(params![stage, host, out])?;
        let piece = connection.last_insert_rowid();
        check(connection, Part::SampleColumns, piece, params![piece, stage, host, out])?;
        numbers.get_or_insert(piece);
    }
    // No rows are behind those that the last block reaches to.
    let reach =
        "SELECT samples, errors, workers, worker_samples FROM sums ORDER BY block DESC LIMIT 1";
    let reach: [i64; 4] = connection
        .query_row(reach, [], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))?;
    connection
        .prepare_cached(
            "INSERT INTO sums (stages, samples, errors, workers, worker_samples) VALUES (1, ?, ?, \
             ?, ?)",
        )?
        .execute(reach)?;
    let number = connection.last_insert_rowid();
    let spans = spans_later(&block.spans, by);
    connection
        .prepare_cached("INSERT INTO stage_sums VALUES (?, ?, ?, ?, ?)")?
        .execute(params![number, block.stage, spans, block.sums, block.times])?;
    let row = connection.last_insert_rowid();
    check(connection, Part::StageSums, row, params![block.sums])?;
    check(connection, Part::StageTimes, row, params![block.times])?;
    let [samples, errors, workers, worker_samples] = reach;
    let own = of(params![number, 1, samples, errors, workers, worker_samples])?;
    let own = own.wrapping_add(of(params![number, block.stage, spans])?);
    write(connection, Part::Sums, number, own)?;
    let place = params![number, numbers.unwrap_or_default(), block.pieces.len() as i64];
    connection.prepare_cached("INSERT INTO sample_blocks VALUES (?, ?, ?)")?.execute(place)?;
    add(connection, Part::SampleBlocks, of(place)?)?;
    connection
        .prepare_cached(
            "INSERT INTO moments SELECT stage, interval + ?1, phase, work, op, hosts, start_ns + \
             ?1 * 1000000000, length_ns, ios, bytes, errors, mean_ns, worst_p99_ns, max_ns FROM \
             moments WHERE interval >= ?2 AND interval < ?2 + 128 AND stage = ?3",
        )?
        .execute(params![by as i64, block.first, block.stage])
        .map(|_| ())
}

/// The spans of a block of sums with later numbers.
fn spans_later(bytes: &[u8], by: u64) -> Vec<u8> {
    let (mut rest, mut out) = (In::new(&bytes[1..]), Out::of(bytes[0]));
    let mut take = || rest.number().expect("a number");
    out.number(take() + by);
    let hosts = take();
    out.number(hosts);
    for _ in 0..hosts {
        out.number(take());
        let count = take();
        out.number(count);
        for place in 0..count {
            let (word, start, length) = (take(), take(), take());
            let (word, start) = match place {
                0 => (word + 4 * by, fold(unfold(start) + (by * SECOND_NS) as i64)),
                _ => (word, start),
            };
            [word, start, length].into_iter().for_each(|number| out.number(number));
        }
    }
    out.into_bytes()
}

/// By host, its blocks of 128 samples.
fn counters(connection: &Connection) -> rusqlite::Result<Vec<Vec<Counters>>> {
    let mut hosts: Vec<Vec<Counters>> = Vec::new();
    let query = "SELECT block, stage, host, shape, number, start_ns, length_ns FROM counter_blocks \
                 WHERE samples = 128 ORDER BY host, block";
    let mut blocks = connection.prepare(query)?;
    let mut rows = blocks.query([])?;
    while let Some(row) = rows.next()? {
        let block: i64 = row.get(0)?;
        let mut sums =
            connection.prepare_cached("SELECT series, value FROM counter_sums WHERE block = ?")?;
        let sums = sums.query_map([block], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let found = Counters {
            stage: row.get(1)?,
            host: row.get(2)?,
            shape: row.get(3)?,
            number: row.get(4)?,
            start_ns: row.get(5)?,
            length_ns: row.get(6)?,
            sums: sums.collect::<Result<_, _>>()?,
            columns: connection.query_row(
                "SELECT columns FROM counter_columns WHERE block = ?",
                [block],
                |row| row.get(0),
            )?,
        };
        let of_host = |own: &&mut Vec<Counters>| own.first().is_some_and(|o| o.host == found.host);
        match hosts.last_mut().filter(of_host) {
            Some(own) if own.len() < 4 => own.push(found),
            Some(_) => {}
            None => hosts.push(vec![found]),
        }
    }
    Ok(hosts)
}

fn count_again(connection: &Connection, block: &Counters, first: u32) -> rusqlite::Result<()> {
    let by = u64::from(first - block.number);
    let (stage, host, shape, length_ns) = (block.stage, block.host, block.shape, block.length_ns);
    let start_ns = block.start_ns + (by * SECOND_NS) as i64;
    connection
        .prepare_cached(
            "INSERT INTO counter_blocks (stage, host, shape, number, samples, start_ns, \
             length_ns) VALUES (?, ?, ?, ?, 128, ?, ?)",
        )?
        .execute(params![stage, host, shape, first, start_ns, length_ns])?;
    let number = connection.last_insert_rowid();
    let mut checksum = of(params![number, stage, host, shape, first, 128, start_ns, length_ns])?;
    let mut insert = connection.prepare_cached("INSERT INTO counter_sums VALUES (?, ?, ?)")?;
    for (series, value) in &block.sums {
        insert.execute(params![number, series, value])?;
        checksum = checksum.wrapping_add(of(params![number, series, value])?);
    }
    write(connection, Part::CounterBlocks, number, checksum)?;
    let mut rest = In::new(&block.columns[1..]);
    let mut column = || {
        let mut out = Vec::new();
        rest.column(BLOCK as usize, &mut out).expect("a column");
        out
    };
    let (mut numbers, mut gaps) = (column(), column());
    later(&mut numbers, by);
    begin_later(&mut gaps, by * SECOND_NS);
    let mut out = Out::of(block.columns[0]);
    out.column(&numbers);
    out.column(&gaps);
    out.raw(rest.rest());
    let out = out.into_bytes();
    connection
        .prepare_cached("INSERT INTO counter_columns VALUES (?, ?)")?
        .execute(params![number, out])?;
    check(connection, Part::CounterColumns, number, params![number, out])
}

fn of(values: &[&dyn rusqlite::ToSql]) -> rusqlite::Result<u64> {
    checksums::of_values(values)
}

fn check(
    connection: &Connection,
    part: Part,
    row: i64,
    values: &[&dyn rusqlite::ToSql],
) -> rusqlite::Result<()> {
    write(connection, part, row, of(values)?)
}

fn write(connection: &Connection, part: Part, row: i64, sum: u64) -> rusqlite::Result<()> {
    let insert = "INSERT OR REPLACE INTO checksums VALUES (?, ?, ?)";
    connection.prepare_cached(insert)?.execute(params![part.word(), row, sum as i64]).map(|_| ())
}

/// To the sum of a table that has one.
fn add(connection: &Connection, part: Part, sum: u64) -> rusqlite::Result<()> {
    let query = "SELECT checksum FROM checksums WHERE part = ? AND row = 0";
    let known: Option<i64> =
        connection.query_row(query, [part.word()], |row| row.get(0)).optional()?;
    write(connection, part, 0, (known.unwrap_or_default() as u64).wrapping_add(sum))
}
