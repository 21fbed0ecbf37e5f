//! The rows of a run file, one by one in the order of writing: none is held.

use crate::coded::Blocks;
use crate::counters;
use crate::file::checksums::{self, Part, Single};
use crate::file::error::StoreError;
use crate::file::open::open_run;
use crate::file::values::{Problem, each, small, unsigned};
use crate::reader::each_checked;
use crate::sample_blocks::SampleBlocks;
use crate::samples::rows::op;
use model::histogram::EncodedHistogram;
use model::rows::{CounterRow, SampleRow};
use model::sample::{IntervalSample, Phase};
use rusqlite::{Connection, Row};
use std::path::Path;

/// Why not all rows were handed out.
#[derive(Debug)]
pub enum Halted<E> {
    /// The run file.
    File(StoreError),
    /// Whoever took the rows wants no more.
    Taker(E),
}

/// Hands out what each host did in each interval, by work and operation.
///
/// # Errors
/// The file cannot be read or is damaged, or `take` failed. That rows do not fit their checksum
/// shows when all were handed out.
pub fn each_sample<E>(
    path: &Path,
    mut take: impl FnMut(SampleRow) -> Result<(), E>,
) -> Result<(), Halted<E>> {
    // A row whose interval is missing must not vanish in silence.
    let query = "SELECT samples.*, intervals.phase, intervals.start_ns, intervals.length_ns, \
                 samples.rowid
        FROM samples LEFT JOIN intervals ON intervals.stage = samples.stage AND intervals.host = \
                 samples.host
            AND intervals.interval = samples.interval ORDER BY samples.rowid";
    let mut sum = 0u64;
    let opened = open_run(path).map_err(Halted::File)?;
    check_head(&opened.connection)
        .and_then(|()| each_checked(&opened.connection, Part::Intervals, |_| Ok(())))
        .map_err(|problem| Halted::File(StoreError::damaged(path, problem.0)))?;
    let blocks = SampleBlocks::of(&opened.connection)
        .map_err(|problem| Halted::File(StoreError::damaged(path, problem.0)))?;
    each_in_blocks(path, &opened.connection, &blocks, &mut take)?;
    let made = |row: &Row<'_>| {
        sum = sum.wrapping_add(checksums::of_columns(row, 0..=LATENCY)?);
        match blocks.is_in_columns(Part::Samples, row.get(LATENCY + 4)?) {
            true => Ok(None),
            false => sample(row).map(Some),
        }
    };
    hand_out(path, &opened.connection, query, made, |row| row.map_or(Ok(()), &mut take))?;
    let is_checked = checksums::are_there(&opened.connection);
    let checked = is_checked.and_then(|is_checked| match is_checked {
        true => checksums::check(&opened.connection, Part::Samples, 0, i64::MAX, sum),
        false => Ok(()),
    });
    checked.map_err(|problem| Halted::File(StoreError::damaged(path, problem.0)))
}

/// Lets `read` hand out what it reads until somebody refuses it.
pub(crate) fn until_refused<T, E>(
    path: &Path,
    mut take: impl FnMut(T) -> Result<(), E>,
    read: impl FnOnce(&mut dyn FnMut(T) -> Result<(), Problem>) -> Result<(), Problem>,
) -> Result<(), Halted<E>> {
    let mut refused = None;
    let ended = read(&mut |one| {
        take(one).map_err(|error| {
            refused = Some(error);
            Problem::from("the reading was stopped")
        })
    });
    match refused {
        Some(error) => Err(Halted::Taker(error)),
        None => ended.map_err(|problem| Halted::File(StoreError::damaged(path, problem.0))),
    }
}

/// Hands out the samples that are in blocks.
fn each_in_blocks<E>(
    path: &Path,
    connection: &Connection,
    blocks: &SampleBlocks,
    take: &mut impl FnMut(SampleRow) -> Result<(), E>,
) -> Result<(), Halted<E>> {
    until_refused(path, take, |take| {
        blocks.each(connection, |_, _| true, |sample| rows_of(sample).try_for_each(&mut *take))
    })
}

/// The rows of a sample.
fn rows_of(sample: IntervalSample) -> impl Iterator<Item = SampleRow> {
    let IntervalSample { stage, host, interval, phase, start_ns, length_ns, ops, .. } = sample;
    ops.into_iter().map(move |op| SampleRow {
        stage,
        host,
        interval,
        phase,
        start_ns,
        length_ns,
        work: op.work,
        op: op.op,
        ios: op.ios,
        bytes: op.bytes,
        errors: op.error_count(),
        latency: op.latency,
    })
}

/// The last column of `samples`.
const LATENCY: usize = 12;

/// Whether what a run is begins as it was written.
fn check_head(connection: &Connection) -> Result<(), Problem> {
    if checksums::are_there(connection)? { checksums::check_whole(connection) } else { Ok(()) }
}

/// Hands out what each host's kernel counted in each interval. A file from before there were
/// counters has none.
///
/// # Errors
/// As those of [`each_sample`]; that a sample of counters does not fit its checksum shows when it
/// was handed out.
pub fn each_counter<E>(
    path: &Path,
    mut take: impl FnMut(CounterRow) -> Result<(), E>,
) -> Result<(), Halted<E>> {
    let query = "SELECT counter_samples.stage, counter_samples.host, counter_samples.number, \
                 counter_samples.start_ns,
            counter_samples.length_ns, counter_samples.notes, counter_series.layer, \
                 counter_series.name, counter_series.metric,
            counters.series, counters.value, counters.sample
        FROM counters LEFT JOIN counter_samples USING (sample) LEFT JOIN counter_series USING \
                 (series) ORDER BY counters.rowid";
    let file = |problem: Problem| Halted::File(StoreError::damaged(path, problem.0));
    let opened = open_run(path).map_err(Halted::File)?;
    check_head(&opened.connection).map_err(file)?;
    let mut checks = Single::of(&opened.connection, Part::Counters).map_err(file)?;
    let mut current: Option<(i64, u64)> = None;
    let made = |row: &Row<'_>| {
        let (sample, value) = (row.get(11)?, checksums::of_columns(row, 9..=10)?);
        match &mut current {
            Some((known, sum)) if *known == sample => *sum = sum.wrapping_add(value),
            _ => {
                let begun = (sample, checksums::of_columns(row, 0..=5)?.wrapping_add(value));
                if let Some((before, sum)) = current.replace(begun) {
                    checks.check(before, sum)?;
                }
            }
        }
        counter(row)
    };
    hand_out(path, &opened.connection, query, made, &mut take)?;
    current.map_or(Ok(()), |(last, sum)| checks.check(last, sum)).map_err(file)?;
    each_coded(path, &opened.connection, take)
}

/// Hands out the counters of blocks, and those that are no block yet: of a block that was thinned,
/// what it comes to.
fn each_coded<E>(
    path: &Path,
    connection: &Connection,
    take: impl FnMut(CounterRow) -> Result<(), E>,
) -> Result<(), Halted<E>> {
    until_refused(path, take, |take| {
        let blocks = Blocks::of(&counters::series(connection)?);
        blocks.each_sample(connection, |sample| {
            for entry in &sample.entries {
                for (metric, value) in &entry.values {
                    take(CounterRow {
                        stage: sample.stage,
                        host: sample.host,
                        number: sample.number,
                        start_ns: sample.start_ns,
                        length_ns: sample.length_ns,
                        layer: entry.layer,
                        name: entry.name.clone(),
                        metric: *metric,
                        value: *value,
                    })?;
                }
            }
            Ok(())
        })
    })
}

/// Runs a query, makes each of its rows a value and hands that out.
fn hand_out<T, E>(
    path: &Path,
    connection: &Connection,
    query: &str,
    mut made: impl FnMut(&Row<'_>) -> Result<T, Problem>,
    take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), Halted<E>> {
    until_refused(path, take, |take| each(connection, query, |row| take(made(row)?)))
}

fn sample(row: &Row<'_>) -> Result<SampleRow, Problem> {
    let phase: Option<String> = row.get(LATENCY + 1)?;
    let phase = phase.ok_or("a row belongs to an interval that is not there")?;
    let sample = SampleRow {
        stage: small(row.get(0)?)?,
        host: small(row.get(1)?)?,
        interval: small(row.get(2)?)?,
        phase: Phase::from_name(&phase).ok_or("a phase is none that a stage can have")?,
        start_ns: unsigned(row.get(LATENCY + 2)?)?,
        length_ns: unsigned(row.get(LATENCY + 3)?)?,
        work: small(row.get(3)?)?,
        op: op(row, 4)?,
        ios: unsigned(row.get(5)?)?,
        bytes: unsigned(row.get(6)?)?,
        errors: unsigned(row.get(7)?)?,
        latency: EncodedHistogram(row.get(LATENCY)?),
    };
    Ok(sample)
}

fn counter(row: &Row<'_>) -> Result<CounterRow, Problem> {
    let stage: Option<i64> = row.get(0)?;
    let layer: Option<String> = row.get(6)?;
    let layer = layer.ok_or("a counter has no name")?;
    let (layer, metric) = counters::words(&layer, &row.get::<_, String>(8)?)?;
    Ok(CounterRow {
        stage: small(stage.ok_or("a counter belongs to a sample that is not there")?)?,
        host: small(row.get(1)?)?,
        number: small(row.get(2)?)?,
        start_ns: unsigned(row.get(3)?)?,
        length_ns: unsigned(row.get(4)?)?,
        layer,
        name: row.get(7)?,
        metric,
        value: unsigned(row.get(10)?)?,
    })
}
