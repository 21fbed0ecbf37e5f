//! The rows of a run file, one by one in the order of writing: none is held.

use crate::counters;
use crate::error::StoreError;
use crate::open::open;
use crate::reader::op;
use crate::values::{Problem, each, small, unsigned};
use model::histogram::EncodedHistogram;
use model::rows::{CounterRow, SampleRow};
use model::sample::Phase;
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
/// The file cannot be read or is damaged, or `take` failed.
pub fn each_sample<E>(path: &Path, take: impl FnMut(SampleRow) -> Result<(), E>) -> Result<(), Halted<E>> {
    // A row whose interval is missing must not vanish in silence.
    let query = "SELECT samples.stage, samples.host, samples.interval, samples.work, samples.op, samples.ios, samples.bytes, samples.errors,
            samples.latency, intervals.phase, intervals.start_ns, intervals.length_ns
        FROM samples LEFT JOIN intervals ON intervals.stage = samples.stage AND intervals.host = samples.host
            AND intervals.interval = samples.interval ORDER BY samples.rowid";
    hand_out(path, |_| Ok(Some(query)), sample, take)
}

/// Hands out what each host's kernel counted in each interval. A file from before there were counters has none.
///
/// # Errors
/// As those of [`each_sample`].
pub fn each_counter<E>(path: &Path, take: impl FnMut(CounterRow) -> Result<(), E>) -> Result<(), Halted<E>> {
    let query = "SELECT counter_samples.stage, counter_samples.host, counter_samples.number, counter_samples.start_ns,
            counter_samples.length_ns, counter_series.layer, counter_series.name, counter_series.metric, counters.value
        FROM counters LEFT JOIN counter_samples USING (sample) LEFT JOIN counter_series USING (series) ORDER BY counters.rowid";
    let query = |connection: &Connection| Ok(counters::are_there(connection)?.then_some(query));
    hand_out(path, query, counter, take)
}

/// Runs a query, makes each of its rows a value and hands that out.
fn hand_out<T, E>(
    path: &Path,
    query: impl Fn(&Connection) -> Result<Option<&'static str>, Problem>,
    made: impl Fn(&Row<'_>) -> Result<T, Problem>,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), Halted<E>> {
    let opened = open(path).map_err(Halted::File)?;
    let mut refused = None;
    let ended = query(&opened.connection).and_then(|query| {
        let Some(query) = query else { return Ok(()) };
        each(&opened.connection, query, |row| {
            take(made(row)?).map_err(|error| {
                refused = Some(error);
                Problem::from("the reading was stopped")
            })
        })
    });
    match (refused, ended) {
        (Some(error), _) => Err(Halted::Taker(error)),
        (None, ended) => ended.map_err(|problem| Halted::File(StoreError::damaged(path, problem.0))),
    }
}

fn sample(row: &Row<'_>) -> Result<SampleRow, Problem> {
    let phase: Option<String> = row.get(9)?;
    let phase = phase.ok_or("a row belongs to an interval that is not there")?;
    let sample = SampleRow {
        stage: small(row.get(0)?)?,
        host: small(row.get(1)?)?,
        interval: small(row.get(2)?)?,
        phase: Phase::from_name(&phase).ok_or("a phase is none that a stage can have")?,
        start_ns: unsigned(row.get(10)?)?,
        length_ns: unsigned(row.get(11)?)?,
        work: small(row.get(3)?)?,
        op: op(row, 4)?,
        ios: unsigned(row.get(5)?)?,
        bytes: unsigned(row.get(6)?)?,
        errors: unsigned(row.get(7)?)?,
        latency: EncodedHistogram(row.get(8)?),
    };
    Ok(sample)
}

fn counter(row: &Row<'_>) -> Result<CounterRow, Problem> {
    let stage: Option<i64> = row.get(0)?;
    let layer: Option<String> = row.get(5)?;
    let layer = layer.ok_or("a counter has no name")?;
    let (layer, metric) = counters::words(&layer, &row.get::<_, String>(7)?)?;
    Ok(CounterRow {
        stage: small(stage.ok_or("a counter belongs to a sample that is not there")?)?,
        host: small(row.get(1)?)?,
        number: small(row.get(2)?)?,
        start_ns: unsigned(row.get(3)?)?,
        length_ns: unsigned(row.get(4)?)?,
        layer,
        name: row.get(6)?,
        metric,
        value: unsigned(row.get(8)?)?,
    })
}
