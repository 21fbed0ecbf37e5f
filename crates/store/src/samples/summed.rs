//! Reads a run file without holding its samples: they are added up as they come, by several
//! threads, each of which has a part of the rows.

use crate::counters::{self, usage};
use crate::file::checksums::{self, Part as Checked};
use crate::file::error::StoreError;
use crate::file::pages::{check_pages, check_rest, is_small};
use crate::file::plausible;
use crate::file::source::Source;
use crate::file::values::{Problem, small, unsigned};
use crate::reader::head;
use crate::sample_blocks::SampleBlocks;
use crate::samples::block_rows::Reach;
use crate::stored_sums::{Again, StoredSums};
use model::digest::{Digest, Frame, OpRow, Place, Span, Spans, Sums, Unfit};
use model::record::StageData;
use model::{Op, Phase, Record};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

/// Reads a run file as [`read`](crate::read) does, with what the samples of each stage come to in
/// the place of the samples, and without the kernel's counters, of which only what hosts said that
/// they cannot count is left: a day on many hosts then fits into any memory.
///
/// # Errors
/// As those of [`read`](crate::read).
pub fn read_digests(path: &Path) -> Result<Record, StoreError> {
    read_from(path, &Source::of(path)?, ReadOptions { is_small: is_small(path), is_judged: false })
}

/// Reads a run file as [`read_digests`] does, with what the kernel's counters of each measurement
/// come to; of a long run, those of some intervals, taken evenly.
///
/// # Errors
/// As those of [`read`](crate::read).
pub fn read_judged(path: &Path) -> Result<Record, StoreError> {
    read_from(path, &Source::of(path)?, ReadOptions { is_small: is_small(path), is_judged: true })
}

/// Reads a run file as [`read_digests`] does, shared by so many threads.
#[cfg(test)]
pub fn by_threads(path: &Path, threads: usize, is_small: bool) -> Result<Record, StoreError> {
    read_from(path, &Source::shared_by(path, threads)?, ReadOptions { is_small, is_judged: false })
}

/// How a run file is read.
#[derive(Clone, Copy)]
struct ReadOptions {
    /// It is small enough to be checked page by page.
    is_small: bool,
    /// What its counters come to is wanted, too.
    is_judged: bool,
}

fn read_from(path: &Path, source: &Source, options: ReadOptions) -> Result<Record, StoreError> {
    let connection = &source.opened.connection;
    let checked = if options.is_small { check_pages(connection) } else { check_rest(connection) };
    let record = checked.and_then(|()| record(source, options));
    let record = record.map_err(|problem| StoreError::damaged(path, problem.0))?;
    plausible::digests(&record).map_err(|why| StoreError::damaged(path, why))?;
    Ok(record)
}

fn record(source: &Source, options: ReadOptions) -> Result<Record, Problem> {
    let mut record = head(&source.opened.connection)?;
    let (frames, kept) = frames(source, &record)?;
    let stages = Stages(frames);
    let sums = || sums(source, options, &stages, &kept);
    let (sums, mut usages) = match options.is_judged {
        true => usage::find_beside(source, &record, |stage| stages.load_ns(stage), sums)?,
        false => (sums()?, usage::Usages::new()),
    };
    let mut remarks = counters::remarks(&source.opened.connection, &record.stages)?;
    assert_eq!((stages.0.len(), sums.len()), (record.stages.len(), record.stages.len()));
    for (record, ((stage, frame), mut sums)) in
        record.stages.iter_mut().zip(stages.0.into_iter().zip(sums))
    {
        // Both are in the order of their numbers.
        assert_eq!(record.stage, stage, "each stage has its own sums");
        sums.close();
        record.data = StageData::Sums {
            digest: Box::new(Digest { frame, sums }),
            usage: usages.remove(&stage).map(Box::new),
            remarks: remarks.remove(&stage).unwrap_or_default(),
        };
    }
    Ok(record)
}

/// What the samples of each stage come to.
fn sums(
    source: &Source,
    options: ReadOptions,
    stages: &Stages,
    kept: &StoredSums,
) -> Result<Vec<Sums>, Problem> {
    let mut sums = vec![Sums::default(); stages.0.len()];
    let again = kept.take(source, &stages.0, &mut sums)?;
    let blocks = SampleBlocks::of(&source.opened.connection)?;
    let (in_columns, again): (Vec<Again>, Vec<Again>) =
        again.into_iter().partition(|again| blocks.has(again.block));
    for again in in_columns {
        from_columns(&source.opened.connection, &blocks, again, stages, &mut sums)?;
    }
    let is_checked = checksums::are_there(&source.opened.connection)?;
    let left =
        |table, rows: fn(&Reach) -> i64| Left::of(table, is_checked, &kept.reach(), &again, rows);
    let mut is_whole = true;
    is_whole &= scan(
        source,
        &left(Checked::Samples, |reach| reach.samples),
        &mut sums,
        |connection, part, sums| ops(connection, part, stages, sums),
    )?;
    is_whole &= scan(
        source,
        &left(Checked::Workers, |reach| reach.workers),
        &mut sums,
        |connection, part, sums| workers(connection, part, stages, sums),
    )?;
    let there: Vec<_> = sums.iter().map(|sums| sums.workers.keys().copied().collect()).collect();
    let known = Known(there);
    let counts = left(Checked::WorkerSamples, |reach| reach.worker_samples);
    is_whole &= scan(source, &counts, &mut sums, |connection, part, sums| {
        worker_ops(connection, part, stages, &known, sums)
    })?;
    if !options.is_small && !is_whole {
        // Somebody took rows out, or pages are lost.
        check_pages(&source.opened.connection)?;
    }
    let failed = left(Checked::Errors, |reach| reach.errors);
    for part in failed.parts() {
        let (_, sum) = errors(&source.opened.connection, part, stages, &mut sums)?;
        failed.check(&source.opened.connection, part.rows, sum)?;
    }
    Ok(sums)
}

/// Adds up the samples of one stage in a block whose samples are no rows.
fn from_columns(
    connection: &Connection,
    blocks: &SampleBlocks,
    again: Again,
    stages: &Stages,
    sums: &mut [Sums],
) -> Result<(), Problem> {
    let (number, frame) = &stages.0[again.at];
    blocks.each_of(
        connection,
        again.block,
        |stage, _| stage == *number,
        |sample| {
            let place = frame.place(sample.host, sample.interval);
            let place = place.ok_or("a row belongs to an interval that is not there")?;
            Ok(sums[again.at].sample(frame, place, &sample)?)
        },
    )
}

impl From<Unfit> for Problem {
    fn from(unfit: Unfit) -> Problem {
        Problem::from(match unfit {
            Unfit::Histogram => "a histogram does not fit its count",
            Unfit::Twice => "an operation stands twice in one interval",
            Unfit::Stray => "a row belongs to an operation that is not there",
            Unfit::Huge => "a number is out of range",
            Unfit::Block => "the sums of samples are none",
        })
    }
}

/// The workers of each stage, by host and number.
struct Known(Vec<BTreeSet<(u32, u32)>>);

/// The stages that began, by number, with their intervals.
struct Stages(Vec<(u32, Frame)>);

impl Stages {
    /// When the load of a stage was on on which figures rest, in ns after its start.
    fn load_ns(&self, stage: u32) -> Option<Range<u64>> {
        let at = self.0.binary_search_by_key(&stage, |(stage, _)| *stage).ok()?;
        self.0[at].1.load_ns()
    }

    /// Where a row stands whose first three columns are stage, host and interval: the place of its
    /// stage, and that in it.
    fn place(&self, row: &Row<'_>) -> Result<(usize, Place), Problem> {
        let (stage, host, interval) =
            (small(row.get(0)?)?, small(row.get(1)?)?, small(row.get(2)?)?);
        let at = self.0.binary_search_by_key(&stage, |(stage, _)| *stage).ok();
        let place = at.and_then(|at| Some((at, self.0[at].1.place(host, interval)?)));
        place.ok_or_else(|| "a row belongs to an interval that is not there".into())
    }
}

/// The intervals of every stage, and the sums of a part of them.
fn frames(source: &Source, record: &Record) -> Result<(Vec<(u32, Frame)>, StoredSums), Problem> {
    let hosts = record.plan.hosts.len() as u32;
    let connection = &source.opened.connection;
    let mut begun: Vec<u32> = record.stages.iter().map(|stage| stage.stage).collect();
    begun.sort_unstable();
    begun.dedup();
    check_begun(connection, &begun, hosts)?;
    let mut by_stage: Vec<BTreeMap<u32, Spans>> = vec![BTreeMap::new(); begun.len()];
    let kept = StoredSums::find(source, &begun, hosts, &mut by_stage)?;
    let after = kept.reach().samples;
    let summed: usize = by_stage.iter().flat_map(BTreeMap::values).map(Spans::len).sum();
    let mut spans: Vec<(usize, u32, Spans, u64)> = Vec::new();
    // With the first interval that no sum has; there is no more of it where there is none.
    let next = |at: usize, host| {
        by_stage[at].get(&host).and_then(|spans: &Spans| spans.last()).map(|span| span.interval)
    };
    let jobs: Vec<(usize, u32, Option<u32>)> = (0..begun.len())
        .flat_map(|at| (0..hosts).map(move |host| (at, host)))
        .map(|(at, host)| (at, host, next(at, host)))
        .collect();
    let rows: i64 =
        connection
            .query_row("SELECT coalesce(max(rowid), 0) FROM samples", [], |row| row.get(0))?;
    let parts = source.threads(rows.saturating_sub(after));
    let of_jobs = |connection: &Connection, jobs: &[(usize, u32, Option<u32>)]| {
        let found = jobs.iter().map(|(at, host, after)| {
            let (spans, sum) = spans_of(connection, begun[*at], *host, *after)?;
            Ok((*at, *host, spans, sum))
        });
        found.collect::<Result<Vec<_>, Problem>>()
    };
    if parts < 2 {
        spans = of_jobs(connection, &jobs)?;
    } else {
        let chunks = jobs.chunks(jobs.len().div_ceil(parts).max(1));
        let found = source.side_by_side(chunks.collect(), &of_jobs)?;
        found.into_iter().for_each(|found| spans.extend(found));
    }
    if checksums::are_there(connection)? {
        let sum = spans.iter().fold(0u64, |sum, (.., of_job)| sum.wrapping_add(*of_job));
        checksums::check(connection, Checked::Intervals, summed as i64, i64::MAX, sum)?;
    }
    for (at, host, found, _) in spans.into_iter().filter(|(.., found, _)| !found.is_empty()) {
        by_stage[at].entry(host).or_default().extend(&found);
    }
    let frame = |(number, spans): (u32, _)| {
        let stage = record.stage(number)?;
        Some((number, Frame::new(record.context(stage), spans)))
    };
    // All that began are on record.
    Ok((begun.into_iter().zip(by_stage).filter_map(frame).collect(), kept))
}

/// Whether all intervals are of stages that began, and of hosts that there are.
fn check_begun(connection: &Connection, begun: &[u32], hosts: u32) -> Result<(), Problem> {
    // From one stage to the next by the key, without a look at the rows in between.
    let mut last: i64 = i64::MIN;
    let next = "SELECT stage FROM intervals WHERE stage > ? ORDER BY stage LIMIT 1";
    while let Some(stage) =
        connection.query_row(next, [last], |row| row.get::<_, i64>(0)).optional()?
    {
        if !small(stage).is_ok_and(|stage| begun.binary_search(&stage).is_ok()) {
            return Err("a sample belongs to a stage that never began".into());
        }
        let below = "SELECT host FROM intervals WHERE stage = ?1 ORDER BY host LIMIT 1";
        let above = "SELECT host FROM intervals WHERE stage = ?1 ORDER BY host DESC LIMIT 1";
        for query in [below, above] {
            let host: i64 = connection.query_row(query, [stage], |row| row.get(0))?;
            if !(0..i64::from(hosts)).contains(&host) {
                return Err("a sample comes from a host that is not there".into());
            }
        }
        last = stage;
    }
    Ok(())
}

/// A host's intervals of a stage behind one of them, in the order of the key, with the sum of their
/// checksums.
pub(crate) fn spans_of(
    connection: &Connection,
    stage: u32,
    host: u32,
    after: Option<u32>,
) -> Result<(Spans, u64), Problem> {
    let query =
        "SELECT * FROM intervals WHERE stage = ? AND host = ? AND interval > ? ORDER BY interval";
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query(params![stage, host, after.map_or(i64::MIN, i64::from)])?;
    let (mut spans, mut sum) = (Spans::default(), 0u64);
    while let Some(row) = rows.next()? {
        sum = sum.wrapping_add(checksums::of_row(row)?);
        let phase = row.get_ref(3)?.as_str().ok().and_then(Phase::from_name);
        let phase = phase.ok_or("a phase is none that a stage can have")?;
        let (start_ns, length_ns) = (unsigned(row.get(4)?)?, unsigned(row.get(5)?)?);
        spans.push(Span { start_ns, length_ns, interval: small(row.get(2)?)?, phase });
    }
    Ok((spans, sum))
}

/// Rows of a table, by their numbers, both among them.
#[derive(Clone, Copy)]
struct Rows {
    first: i64,
    last: i64,
}

/// Rows of a table that are to be added up; of one stage or of all.
#[derive(Clone, Copy)]
struct Part {
    rows: Rows,
    only: Option<usize>,
}

impl Part {
    /// Whether it takes those of the stage at this place.
    fn takes(&self, at: usize) -> bool {
        self.only.is_none_or(|only| only == at)
    }
}

/// The rows of a table that no sum stands for.
struct Left {
    table: Checked,
    /// Whether the file has checksums.
    is_checked: bool,
    /// All behind this number.
    after: i64,
    again: Vec<Part>,
}

impl Left {
    fn of(
        table: Checked,
        is_checked: bool,
        reach: &Reach,
        again: &[Again],
        rows: fn(&Reach) -> i64,
    ) -> Left {
        let part = |again: &Again| {
            let (after, last) = (rows(&again.reach.0), rows(&again.reach.1));
            let first = if after > 0 { after.saturating_add(1) } else { i64::MIN };
            Part { rows: Rows { first, last }, only: Some(again.at) }
        };
        Left { table, is_checked, after: rows(reach), again: again.iter().map(part).collect() }
    }

    /// Whether these rows, which are all from one block's end to another's, have this sum of
    /// checksums.
    fn check(&self, connection: &Connection, rows: Rows, sum: u64) -> Result<(), Problem> {
        let after = rows.first.saturating_sub(1).max(0);
        match self.is_checked {
            true => checksums::check(connection, self.table, after, rows.last, sum),
            false => Ok(()),
        }
    }

    /// All behind the sums.
    fn rest(&self) -> Part {
        let first = if self.after > 0 { self.after.saturating_add(1) } else { i64::MIN };
        Part { rows: Rows { first, last: i64::MAX }, only: None }
    }

    fn parts(&self) -> impl Iterator<Item = Part> {
        self.again.iter().copied().chain([self.rest()])
    }
}

/// Takes in the rows of a table that are left. Says whether, of those behind the sums, every number
/// from the first to the last one is there, as a writer leaves it.
fn scan(
    source: &Source,
    left: &Left,
    sums: &mut [Sums],
    take: impl Fn(&Connection, Part, &mut [Sums]) -> Result<Taken, Problem> + Sync,
) -> Result<bool, Problem> {
    let connection = &source.opened.connection;
    for part in &left.again {
        let (_, sum) = take(connection, *part, sums)?;
        left.check(connection, part.rows, sum)?;
    }
    let ends = |end: &str| {
        let query = format!("SELECT coalesce({end}(rowid), 0) FROM {}", left.table.word());
        connection.query_row(&query, [], |row| row.get::<_, i64>(0))
    };
    let (first, last) =
        (if left.after > 0 { left.after.saturating_add(1) } else { ends("min")? }, ends("max")?);
    let wanted = if last > 0 && last >= first { last.abs_diff(first).saturating_add(1) } else { 0 };
    let parts = source.threads(last.saturating_sub(first));
    if parts < 2 {
        let (taken, sum) = take(connection, left.rest(), sums)?;
        left.check(connection, left.rest().rows, sum)?;
        return Ok(taken == wanted);
    }
    let step = last.saturating_sub(first) / parts as i64 + 1;
    let from = |part: i64| first.saturating_add(step.saturating_mul(part));
    let range = |part| {
        let rows = Rows { first: from(part), last: from(part + 1).saturating_sub(1) };
        Part { rows, only: None }
    };
    let count = sums.len();
    let found = source.side_by_side(
        (0..parts as i64).map(range).collect(),
        &|connection: &Connection, part: Part| {
            let mut sums = vec![Sums::default(); count];
            let taken = take(connection, part, &mut sums)?;
            sums.iter_mut().for_each(Sums::close);
            Ok((taken, sums))
        },
    )?;
    let (mut taken, mut sum) = (0u64, 0u64);
    for ((rows, of_rows), part) in found {
        (taken, sum) = (taken.saturating_add(rows), sum.wrapping_add(of_rows));
        for (mine, theirs) in sums.iter_mut().zip(part) {
            mine.merge(theirs)?;
            mine.pack();
        }
    }
    left.check(connection, left.rest().rows, sum)?;
    Ok(taken == wanted)
}

/// How many rows were taken in, and the sum of their checksums.
type Taken = (u64, u64);

/// Hands every row of a range to `take`.
fn each_in(
    connection: &Connection,
    query: &str,
    rows: Rows,
    mut take: impl FnMut(&Row<'_>) -> Result<(), Problem>,
) -> Result<Taken, Problem> {
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([rows.first, rows.last])?;
    let (mut taken, mut sum) = (0, 0u64);
    while let Some(row) = rows.next()? {
        sum = sum.wrapping_add(checksums::of_row(row)?);
        take(row)?;
        taken += 1;
    }
    Ok((taken, sum))
}

fn op(row: &Row<'_>, column: usize) -> Result<Op, Problem> {
    let op = row.get_ref(column)?.as_str().ok().and_then(Op::from_name);
    op.ok_or_else(|| "an operation is none".into())
}

fn ops(
    connection: &Connection,
    part: Part,
    stages: &Stages,
    sums: &mut [Sums],
) -> Result<Taken, Problem> {
    let query = "SELECT * FROM samples WHERE rowid BETWEEN ? AND ? ORDER BY rowid";
    // Stages stand one behind the other: those that are over take little room.
    let mut last = None;
    each_in(connection, query, part.rows, |row| {
        let (at, place) = stages.place(row)?;
        if !part.takes(at) {
            return Ok(());
        }
        if let Some(before) = last.replace(at).filter(|before| *before != at) {
            sums[before].pack();
        }
        let (work, op) = (small(row.get(3)?)?, op(row, 4)?);
        let done = OpRow { work, op, ios: unsigned(row.get(5)?)?, bytes: unsigned(row.get(6)?)? };
        let latency = row.get_ref(12)?.as_blob().map_err(|_| "a histogram is none")?;
        Ok(sums[at].op(&stages.0[at].1, place, done, latency)?)
    })
}

fn workers(
    connection: &Connection,
    part: Part,
    stages: &Stages,
    sums: &mut [Sums],
) -> Result<Taken, Problem> {
    let query = "SELECT stage, host, interval, worker, cpu_user_ns, cpu_system_ns FROM workers \
                 WHERE rowid BETWEEN ? AND ? ORDER BY rowid";
    each_in(connection, query, part.rows, |row| {
        let (at, place) = stages.place(row)?;
        if !part.takes(at) {
            return Ok(());
        }
        let (user_ns, system_ns) = (unsigned(row.get(4)?)?, unsigned(row.get(5)?)?);
        sums[at].worker(&stages.0[at].1, place, small(row.get(3)?)?, user_ns, system_ns);
        Ok(())
    })
}

fn worker_ops(
    connection: &Connection,
    part: Part,
    stages: &Stages,
    known: &Known,
    sums: &mut [Sums],
) -> Result<Taken, Problem> {
    let query = "SELECT stage, host, interval, worker, op, ios, bytes, errors FROM worker_samples \
                 WHERE rowid BETWEEN ? AND ? ORDER BY rowid";
    each_in(connection, query, part.rows, |row| {
        let (at, place) = stages.place(row)?;
        if !part.takes(at) {
            return Ok(());
        }
        let (worker, ios) = (small(row.get(3)?)?, unsigned(row.get(5)?)?);
        unsigned(row.get(6)?)?;
        unsigned(row.get(7)?)?;
        let op = op(row, 4)?;
        if place.counts && !known.0[at].contains(&(place.host, worker)) {
            return Err("a row belongs to a worker that is not there".into());
        }
        sums[at].worker_op(place, worker, op, ios);
        Ok(())
    })
}

/// Failed requests, once all operations are there. They are few, or else nothing is as fast as it
/// should be.
fn errors(
    connection: &Connection,
    part: Part,
    stages: &Stages,
    sums: &mut [Sums],
) -> Result<Taken, Problem> {
    let query = "SELECT stage, host, interval, work, op, errno, count FROM errors WHERE rowid \
                 BETWEEN ? AND ? ORDER BY rowid";
    each_in(connection, query, part.rows, |row| {
        let (at, place) = stages.place(row)?;
        if !part.takes(at) {
            return Ok(());
        }
        let (work, op) = (small(row.get(3)?)?, op(row, 4)?);
        let errno = i32::try_from(row.get::<_, i64>(5)?).map_err(|_| "an errno is out of range")?;
        let count = unsigned(row.get(6)?)?;
        Ok(sums[at].errors(&stages.0[at].1, place, work, op, errno, count)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Writer;
    use crate::scaffold::{change, fresh};
    use analysis::testing::Recorded;
    use model::record::StageRecord;
    use model::{Event, Op, RunEnd, StageKind};
    use std::path::PathBuf;

    /// Ten seconds of three hosts, reads and writes, some of which fail; with its folder.
    fn file() -> (tempfile::TempDir, PathBuf, Record) {
        let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\nread = \"50%\"\n", 3);
        let stage = recorded.stage(StageKind::Measure);
        for interval in 0..10 {
            for host in 0..3 {
                let reads: Vec<u64> =
                    (1..50).map(|n| n * 1_000 + u64::from(interval * 3 + host)).collect();
                recorded.host_interval(
                    stage,
                    host,
                    interval,
                    &[(Op::Read, &reads), (Op::Write, &[90_000; 7])],
                );
            }
        }
        recorded.fail(stage, 4, Op::Read, 5, 3);
        let record = recorded.end();
        let (folder, path) = fresh();
        let mut writer =
            Writer::create(&path, &record.plan, &record.testbed, &record.version, 0).expect("room");
        for stage in &record.stages {
            writer.append(&Event::StageStarted { stage: stage.stage, unix_ns: 0 }).expect("room");
            let samples: Vec<Event> = stage.samples().iter().cloned().map(Event::Sample).collect();
            writer.append_all(&samples).expect("room");
        }
        writer.append(&Event::RunEnded { unix_ns: 1, end: RunEnd::Complete }).expect("room");
        writer.finish().expect("room");
        (folder, path, record)
    }

    #[test]
    fn what_hosts_said_of_their_counters_is_kept_once_and_what_they_counted_is_not() {
        let (_folder, path, record) = file();
        let stage = record.stages[0].stage;
        let rows: String = (0..9)
            .map(|n| {
                let notes = if n % 3 == 0 { "[]" } else { "[\"block sda: gone\"]" };
                format!(
                    "INSERT INTO counter_samples VALUES ({n}, {stage}, {}, {n}, {n}000, 1000, \
                     '{notes}');",
                    n % 2
                )
            })
            .collect();
        change(&path, &rows);
        let read = read_digests(&path).expect("a run file");
        let told: Vec<_> = read.stages.iter().flat_map(StageRecord::remarks).collect();
        assert_eq!(
            told.iter().map(|sample| (sample.host, sample.number)).collect::<Vec<_>>(),
            [(1, 1), (0, 2)]
        );
        assert!(
            told.iter()
                .all(|sample| sample.notes == ["block sda: gone"] && sample.entries.is_empty())
        );
    }

    #[test]
    fn any_number_of_threads_comes_to_what_the_samples_come_to() {
        let (_folder, path, _) = file();
        let whole = crate::read(&path).expect("a run file");
        for (threads, is_small) in [(1, true), (2, false), (3, true), (7, false)] {
            let record = by_threads(&path, threads, is_small).expect("a run file");
            for (stage, held) in record.stages.iter().zip(&whole.stages) {
                let digest = stage.summed().expect("a digest");
                assert_eq!(digest, &*held.digest(&whole), "{threads} threads");
            }
            assert_eq!(analysis::results(&record), analysis::results(&whole), "{threads} threads");
            assert_eq!(analysis::issued(&record), analysis::issued(&whole));
        }
    }

    #[test]
    fn an_operation_that_stands_twice_is_found_in_whichever_parts_it_is() {
        let (_folder, path, _) = file();
        change(&path, "INSERT INTO samples SELECT * FROM samples WHERE rowid = 1");
        for threads in [1, 4] {
            let why = by_threads(&path, threads, false).expect_err("a damaged file").to_string();
            assert!(why.contains("twice"), "{why}");
        }
    }

    #[test]
    fn rows_that_somebody_took_out_are_not_there_and_the_rest_is() {
        let (_folder, path, _) = file();
        change(&path, "DELETE FROM samples WHERE rowid = 5");
        let record = by_threads(&path, 3, false).expect("a file that SQLite finds whole");
        assert_eq!(
            analysis::results(&record),
            analysis::results(&crate::read(&path).expect("a run file"))
        );
    }

    #[test]
    fn a_worker_that_only_counts_is_refused() {
        let (_folder, path, _) = file();
        change(&path, "UPDATE worker_samples SET worker = 77 WHERE rowid = 20");
        assert!(crate::read(&path).is_err());
        for threads in [1, 4] {
            by_threads(&path, threads, false).expect_err("a damaged file");
        }
    }
}
