//! Writes a run file as the run goes.

use crate::coded::Coder;
use crate::file::checksums::{Part, Sums};
use crate::file::error::StoreError;
use crate::file::place::{beside, for_sqlite};
use crate::file::schema::{ALL_TABLES, APPLICATION_ID, FORMAT};
use crate::file::values::number;
use crate::stored_sums::Keeper;
use crate::{host_ends, occurrences};
use model::WriteMark;
use model::event::{Event, Note, RunEnd, StageEnd};
use model::histogram::take_apart;
use model::plan::{Plan, Point};
use model::sample::{IntervalSample, OpSample};
use model::testbed::HostFacts;
use rusqlite::{Connection, OpenFlags, ToSql, Transaction, params};
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The run file of a run that goes on.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    connection: Connection,
    plan: Plan,
    coder: Coder,
    sums: Keeper,
    checks: Sums,
    /// Whether the disk was waited for: what was there before the first sample holds then also
    /// against a power cut.
    is_settled: bool,
}

impl Writer {
    /// Makes the run file of a run that is about to begin.
    ///
    /// # Errors
    /// Something stands at `path` already, or nothing can be made there; then nothing is left
    /// behind.
    pub fn create(
        path: &Path,
        plan: &Plan,
        testbed: &[HostFacts],
        version: &str,
        started_unix_ns: u64,
    ) -> Result<Writer, StoreError> {
        OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| match error
            .kind()
        {
            ErrorKind::AlreadyExists => StoreError::Exists(path.to_owned()),
            _ => StoreError::Create(path.to_owned(), error.to_string()),
        })?;
        let filled = fill(path, plan, testbed, version, started_unix_ns);
        let (coder, sums) = (Coder::new(plan.keep), Keeper::new(plan));
        filled
            .map(|(connection, checks)| Writer {
                path: path.to_owned(),
                connection,
                plan: plan.clone(),
                coder,
                sums,
                checks,
                is_settled: false,
            })
            .map_err(|error| {
                // We made it a moment ago, and there is nothing in it.
                for made in [
                    path.to_owned(),
                    beside(path, "-wal"),
                    beside(path, "-shm"),
                    beside(path, "-journal"),
                ] {
                    let _ = std::fs::remove_file(made);
                }
                StoreError::Create(path.to_owned(), in_words(&error))
            })
    }

    /// The same with sums of so few samples and operations that a small run has some.
    #[cfg(test)]
    pub(crate) fn with_blocks_of(self, least: usize) -> Writer {
        Writer { sums: Keeper::with_blocks_of(&self.plan, least), ..self }
    }

    /// The same with samples in blocks as soon as more rows than these are in blocks of sums.
    #[cfg(test)]
    pub(crate) fn with_sample_rows(self, rows: i64) -> Writer {
        Writer { sums: self.sums.with_rows(rows), ..self }
    }

    /// The same with so many counters in rows of their own.
    #[cfg(test)]
    pub(crate) fn with_plain(self, plain: usize) -> Writer {
        Writer { coder: self.coder.with_plain(plain), ..self }
    }

    /// Writes down what happened. When this returns, a `kill -9` no longer loses it.
    ///
    /// # Errors
    /// The disk is full or gone. What was appended before stays readable.
    pub fn append(&mut self, event: &Event) -> Result<(), StoreError> {
        self.append_all(std::slice::from_ref(event))
    }

    /// Writes down several events that came together: all of them or, on an error, none. A journal
    /// that is opened and closed for each event costs more than the event.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub fn append_all(&mut self, events: &[Event]) -> Result<(), StoreError> {
        let (plan, coder, sums) = (&mut self.plan, &mut self.coder, &mut self.sums);
        let mut checks = self.checks;
        let written = self.connection.transaction().and_then(|transaction| {
            for event in events {
                if let Event::PointAdded(addition) = event {
                    plan.add(addition);
                }
                write(&transaction, plan, coder, sums, &mut checks, event)?;
            }
            checks.settle(&transaction)?;
            sums.settle(
                &transaction,
                &mut checks,
                events.iter().any(|event| matches!(event, Event::RunEnded { .. })),
            )?;
            // Of what was taken away.
            checks.settle(&transaction)?;
            transaction.commit()?;
            sums.committed();
            // Of a transaction that fails, nothing was written.
            self.checks = checks;
            Ok(())
        });
        let written = written.and_then(|()| self.settle(events));
        written.map_err(|error| {
            self.coder.forget();
            self.sums.void();
            StoreError::Write(self.path.clone(), in_words(&error))
        })
    }

    /// Has the disk take plan and testbed for good, once, when the first sample comes. The run's
    /// start waits for no disk: until then there is nothing to lose.
    fn settle(&mut self, events: &[Event]) -> rusqlite::Result<()> {
        let is_sample = |event: &Event| matches!(event, Event::Sample(_));
        if self.is_settled || !events.iter().any(is_sample) {
            return Ok(());
        }
        self.is_settled = true;
        // From here on a commit reaches the operating system, which outlives us; a power cut may
        // take the last seconds.
        self.connection.pragma_update(None, "synchronous", "NORMAL")?;
        self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
    }

    /// Closes the file of a run that is over: from then on it is one file, without a journal beside
    /// it.
    ///
    /// # Errors
    /// The disk is full or gone. What was appended stays readable, with the journal beside the
    /// file.
    pub fn finish(self) -> Result<(), StoreError> {
        let written =
            |error: rusqlite::Error| StoreError::Write(self.path.clone(), in_words(&error));
        self.connection.pragma_update(None, "synchronous", "NORMAL").map_err(written)?;
        self.connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .map_err(written)?;
        // Somebody who reads the file just now keeps the journal; all that was recorded is in the
        // file all the same.
        let _ = self.connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()));
        self.connection.close().map_err(|(_, error)| written(error))
    }
}

/// Tables, plan and testbed. The header is in the file itself before the journal begins, so that a
/// killed run's file tells what it is.
fn fill(
    path: &Path,
    plan: &Plan,
    testbed: &[HostFacts],
    version: &str,
    started_unix_ns: u64,
) -> rusqlite::Result<(Connection, Sums)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(for_sqlite(path), flags)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    // Nothing waits for the disk yet: with the first sample, `settle` makes all of this durable at
    // once. SQLite has to do so itself: were the file opened a second time for it, closing that
    // would take SQLite's locks away.
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", FORMAT)?;
    let transaction = connection.transaction()?;
    ALL_TABLES.iter().try_for_each(|tables| transaction.execute_batch(tables))?;
    let mut checks = Sums::default();
    let plan_text = plan_json::plan::write(plan).map_err(unwritten)?;
    checks.change(&transaction, Part::Run, RUN, &[], || {
        let row = params![
            plan.run_id,
            plan.suite,
            plan.scale.to_string(),
            version,
            number(started_unix_ns),
            plan_text
        ];
        let insert = "INSERT INTO run (run_id, suite, scale, version, started_unix_ns, plan) \
                      VALUES (?, ?, ?, ?, ?, ?)";
        transaction.execute(insert, row).map(|_| ())
    })?;
    for (host, facts) in testbed.iter().enumerate() {
        let row = params![
            host as i64,
            facts.hostname,
            plan_json::host_facts::write(facts).map_err(unwritten)?
        ];
        checks.insert(&transaction, Part::Hosts, "INSERT INTO hosts VALUES (?, ?, ?)", row)?;
    }
    for (number, point) in plan.points.iter().enumerate() {
        write_point(&transaction, &mut checks, number as i64, point)?;
    }
    checks.settle(&transaction)?;
    transaction.commit()?;
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    // A page that several commits change goes into the file once.
    let pages =
        (testbed.len() as i64).saturating_mul(PAGES_OF_A_HOST).clamp(LEAST_PAGES, MOST_PAGES);
    connection.pragma_update(None, "wal_autocheckpoint", pages)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // An empty write makes the journal and its index: better refused for want of room now than
    // after the first stage began.
    connection.execute_batch("BEGIN IMMEDIATE; UPDATE run SET state = NULL; COMMIT")?;
    Ok((connection, checks))
}

/// With so many pages in the journal, they go into the file: of each host as many as it changes in
/// some seconds. A power cut may take what is in the journal.
const PAGES_OF_A_HOST: i64 = 16;
const LEAST_PAGES: i64 = 1_000;
const MOST_PAGES: i64 = 32_000;

/// So many statements are kept ready: more than a writer has.
const STATEMENTS: usize = 64;

/// The only row of its table.
const RUN: &str = "SELECT * FROM run";

fn write_point(
    transaction: &Transaction<'_>,
    checks: &mut Sums,
    number: i64,
    point: &Point,
) -> rusqlite::Result<()> {
    let axes: serde_json::Map<String, serde_json::Value> = point
        .sweep
        .iter()
        .map(|setting| (setting.axis().to_owned(), setting.label().into()))
        .collect();
    let row = params![
        number,
        point.scenario,
        serde_json::Value::Object(axes).to_string(),
        point.repetition
    ];
    checks.insert(transaction, Part::Points, "INSERT INTO points VALUES (?, ?, ?, ?)", row)?;
    for (work, name) in point.workloads.iter().enumerate() {
        let row = params![number, work as i64, name];
        checks.insert(
            transaction,
            Part::Workloads,
            "INSERT INTO workloads VALUES (?, ?, ?)",
            row,
        )?;
    }
    Ok(())
}

/// The error, with SQLite's own account of it where the message says no more than that something
/// failed.
fn in_words(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(cause, _)
            if cause.code == rusqlite::ErrorCode::SystemIoFailure =>
        {
            format!("{error} (SQLite code {}): the disk is full or gone", cause.extended_code)
        }
        _ => error.to_string(),
    }
}

fn unwritten(error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(error.into())
}

fn write(
    transaction: &Transaction<'_>,
    plan: &Plan,
    coder: &mut Coder,
    sums: &mut Keeper,
    checks: &mut Sums,
    event: &Event,
) -> rusqlite::Result<()> {
    let execute = |sql: &str, row: &[&dyn ToSql]| transaction.execute(sql, row).map(|_| ());
    match event {
        Event::StageStarted { stage, unix_ns } => {
            coder.began(*stage, *unix_ns);
            sums.began(plan, *stage, *unix_ns);
            let planned = plan.stages.get(*stage as usize);
            let kind = planned.map(|stage| stage.kind.word()).unwrap_or_default();
            let row = params![stage, kind, planned.and_then(|stage| stage.point), number(*unix_ns)];
            let insert =
                "INSERT INTO stages (stage, kind, point, started_unix_ns) VALUES (?, ?, ?, ?)";
            checks.change(transaction, Part::Stages, STAGE, &[stage], || execute(insert, row))?;
        }
        Event::PointAdded(addition) => {
            write_point(transaction, checks, plan.points.len() as i64 - 1, &addition.point)?;
            let text = plan_json::plan::write(plan).map_err(unwritten)?;
            let update = "UPDATE run SET plan = ?";
            checks.change(transaction, Part::Run, RUN, &[], || execute(update, params![text]))?;
        }
        Event::Sample(sample) => take_sample(transaction, plan, sums, checks, sample)?,
        Event::HostStarted(start) => {
            let (stage, host) = (start.stage, start.host);
            let row = params![stage, host, number(start.late_ns), number(start.error_ns)];
            let query = "SELECT * FROM starts WHERE stage = ? AND host = ?";
            let replace = "INSERT OR REPLACE INTO starts VALUES (?, ?, ?, ?)";
            let key = params![stage, host];
            checks.change(transaction, Part::Starts, query, key, || execute(replace, row))?;
        }
        Event::HostEnded(end) => host_ends::write(transaction, checks, end)?,
        Event::Waiting(_) => {}
        Event::Counters(sample) => coder.write(transaction, checks, sample)?,
        Event::StageEnded { stage, end } => {
            sums.ended(*stage);
            coder.ended(transaction, checks, Some(*stage))?;
            let (state, reason) = match end {
                StageEnd::Complete => ("complete", None),
                StageEnd::Interrupted => ("interrupted", None),
                StageEnd::Failed(why) => ("failed", Some(why)),
                StageEnd::Panicked(why) => ("panicked", Some(why)),
            };
            let update = "UPDATE stages SET state = ?, reason = ? WHERE stage = ?";
            let row = params![state, reason, stage];
            checks.change(transaction, Part::Stages, STAGE, &[stage], || execute(update, row))?;
        }
        Event::Note(note) => write_note(transaction, checks, note)?,
        Event::Happened(occurrence) => occurrences::write(transaction, checks, occurrence)?,
        Event::RunEnded { unix_ns, end } => {
            coder.ended(transaction, checks, None)?;
            let (state, reason) = match end {
                RunEnd::Complete => ("complete", None),
                RunEnd::Interrupted => ("interrupted", None),
                RunEnd::Failed(why) => ("failed", Some(why)),
                RunEnd::Panicked(why) => ("panicked", Some(why)),
            };
            let row = params![number(*unix_ns), state, reason];
            let update = "UPDATE run SET ended_unix_ns = ?, state = ?, reason = ?";
            checks.change(transaction, Part::Run, RUN, &[], || execute(update, row))?;
        }
    }
    Ok(())
}

/// A sample, and its part of the sums beside it.
fn take_sample(
    transaction: &Transaction<'_>,
    plan: &Plan,
    sums: &mut Keeper,
    checks: &mut Sums,
    sample: &IntervalSample,
) -> rusqlite::Result<()> {
    if sums.is_lost(sample) {
        let why = "a host told of an interval that lies behind others of its own";
        return Err(rusqlite::Error::ToSqlConversionFailure(why.into()));
    }
    if sums.is_away(sample) {
        checks.settle(transaction)?;
        sums.write(transaction)?;
    }
    write_sample(transaction, checks, sample)?;
    sums.take(plan, sample);
    Ok(())
}

/// A row of its table.
const STAGE: &str = "SELECT * FROM stages WHERE stage = ?";

fn write_note(
    transaction: &Transaction<'_>,
    checks: &mut Sums,
    note: &Note,
) -> rusqlite::Result<()> {
    let fact = plan_json::fact::write(&note.fact).map_err(unwritten)?;
    let row = params![note.stage, note.host, note.kind().word(), fact];
    checks.insert(
        transaction,
        Part::Notes,
        "INSERT INTO notes (stage, host, kind, detail) VALUES (?, ?, ?, ?)",
        row,
    )
}

fn write_sample(
    transaction: &Transaction<'_>,
    checks: &mut Sums,
    sample: &IntervalSample,
) -> rusqlite::Result<()> {
    let (stage, host, interval) = (sample.stage, sample.host, sample.interval);
    let times = (number(sample.start_ns), number(sample.length_ns));
    let row = params![stage, host, interval, sample.phase.name(), times.0, times.1];
    checks.insert(
        transaction,
        Part::Intervals,
        "INSERT INTO intervals VALUES (?, ?, ?, ?, ?, ?)",
        row,
    )?;
    let (worker_row, count_row) = (
        "INSERT INTO workers VALUES (?, ?, ?, ?, ?, ?)",
        "INSERT INTO worker_samples VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    );
    for worker in &sample.workers {
        let cpu = (number(worker.cpu_user_ns), number(worker.cpu_system_ns));
        let row = params![stage, host, interval, worker.worker, cpu.0, cpu.1];
        checks.insert(transaction, Part::Workers, worker_row, row)?;
        if let Some(mark) = &worker.mark {
            write_mark(transaction, checks, sample, worker.worker, mark)?;
        }
        for op in &worker.ops {
            let counts = (number(op.ios), number(op.bytes), number(op.errors));
            let row = params![
                stage,
                host,
                interval,
                worker.worker,
                op.op.name(),
                counts.0,
                counts.1,
                counts.2
            ];
            checks.insert(transaction, Part::WorkerSamples, count_row, row)?;
        }
    }
    sample.ops.iter().try_for_each(|op| write_op(transaction, checks, sample, op))
}

fn write_mark(
    transaction: &Transaction<'_>,
    checks: &mut Sums,
    sample: &IntervalSample,
    worker: u32,
    mark: &WriteMark,
) -> rusqlite::Result<()> {
    let failed: Vec<u8> =
        mark.failed.iter().flat_map(|generation| generation.to_le_bytes()).collect();
    let row = params![
        sample.stage, sample.host, sample.interval, worker, mark.base, mark.sent, mark.completed,
        mark.durable, mark.overtaken, failed, mark.more_failed
    ];
    checks.insert(
        transaction,
        Part::WriteMarks,
        "INSERT INTO write_marks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        row,
    )
}

fn write_op(
    transaction: &Transaction<'_>,
    checks: &mut Sums,
    sample: &IntervalSample,
    op: &OpSample,
) -> rusqlite::Result<()> {
    let (stage, host, interval, name) = (sample.stage, sample.host, sample.interval, op.op.name());
    // For those who look with other programs; we read the histogram. One that is none comes without
    // them.
    let mut buckets = Vec::new();
    let latency = take_apart(&op.latency.0, &mut buckets).unwrap_or_default();
    let row = params![
        stage,
        host,
        interval,
        op.work,
        name,
        number(op.ios),
        number(op.bytes),
        number(op.error_count()),
        latency.mean_ns(),
        latency.quantile_ns(&buckets, 0.5).map(number),
        latency.quantile_ns(&buckets, 0.99).map(number),
        latency.max_ns().map(number),
        op.latency.0
    ];
    let insert = "INSERT INTO samples VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    checks.insert(transaction, Part::Samples, insert, row)?;
    for (errno, count) in &op.errors {
        let row = params![stage, host, interval, op.work, name, errno, number(*count)];
        checks.insert(
            transaction,
            Part::Errors,
            "INSERT INTO errors VALUES (?, ?, ?, ?, ?, ?, ?)",
            row,
        )?;
    }
    if !op.raw_latencies.is_empty() {
        let bytes: Vec<u8> = op.raw_latencies.iter().flat_map(|ns| ns.to_le_bytes()).collect();
        let row = params![stage, host, interval, op.work, name, bytes];
        let insert = "INSERT INTO raw_latencies VALUES (?, ?, ?, ?, ?, ?)";
        checks.insert(transaction, Part::RawLatencies, insert, row)?;
    }
    Ok(())
}
