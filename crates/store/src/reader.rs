//! Reads a run file back, complete or cut short. The file may come from anybody: nothing in it is
//! taken at its word.

use crate::file::checksums::{self, Part};
use crate::file::error::StoreError;
use crate::file::open::open_run;
use crate::file::pages::{check_pages, check_rest, is_small};
use crate::file::plausible;
use crate::file::values::{Problem, each, small, unsigned};
use crate::sample_blocks::SampleBlocks;
use crate::samples::block_rows::Reach;
use crate::samples::rows::{Samples, fill_ops, fill_workers, key};
use crate::samples::thinned;
use crate::{counters, host_ends, occurrences};
use model::event::{HostStart, Note, NoteKind, RunEnd, StageEnd};
use model::record::{Record, StageData, StageRecord};
use model::sample::{IntervalSample, Phase};
use model::testbed::HostFacts;
use model::{Fact, resume};
use rusqlite::{Connection, Row};
use std::collections::BTreeSet;
use std::path::Path;

/// Reads a run file. A finished one is not changed; that of a killed run takes in its journal.
///
/// # Errors
/// It is not there, not a run file, of another format, or damaged.
pub fn read(path: &Path) -> Result<Record, StoreError> {
    let opened = open_run(path)?;
    refuse_thinned(&opened.connection, path)?;
    let record = check_pages(&opened.connection).and_then(|()| {
        let mut record = head(&opened.connection)?;
        record.stages.iter_mut().for_each(|stage| stage.data = StageData::no_samples());
        fill(&opened.connection, &mut record.stages)?;
        counters::fill(&opened.connection, &mut record.stages)?;
        Ok(record)
    });
    let record = record.map_err(|problem| StoreError::damaged(path, problem.0))?;
    plausible::samples(&record).map_err(|why| StoreError::damaged(path, why))?;
    Ok(record)
}

fn refuse_thinned(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    match thinned::is_any(connection) {
        Ok(false) => Ok(()),
        Ok(true) => Err(StoreError::Thinned(path.to_owned())),
        Err(problem) => Err(StoreError::damaged(path, problem.0)),
    }
}

/// All of a run of which every interval is there, but what its hosts did.
pub(crate) fn read_to_look(path: &Path) -> Result<Record, StoreError> {
    let opened = open_run(path)?;
    refuse_thinned(&opened.connection, path)?;
    without_data(&opened.connection, path)
}

/// All of a run but what its hosts did, with its pages checked.
fn without_data(connection: &Connection, path: &Path) -> Result<Record, StoreError> {
    let checked = match is_small(path) {
        true => check_pages(connection),
        false => check_rest(connection),
    };
    let record = checked.and_then(|()| head(connection));
    let mut record = record.map_err(|problem| StoreError::damaged(path, problem.0))?;
    record.stages.iter_mut().for_each(|stage| stage.data = StageData::no_samples());
    Ok(record)
}

/// Whether the file no longer keeps every interval: what is handed out of it row by row is then
/// less than what its figures rest on.
///
/// # Errors
/// As those of [`read_head`].
pub fn is_thinned(path: &Path) -> Result<bool, StoreError> {
    let opened = open_run(path)?;
    thinned::is_any(&opened.connection).map_err(|problem| StoreError::damaged(path, problem.0))
}

/// Reads a run file that is gone on with: what hosts did is not held. [`Stages`](crate::Stages)
/// hands it out, stage by stage. So a day takes no more memory than a minute.
///
/// # Errors
/// As those of [`read`]; or a stage that is over has sums alone. What hosts did in it may be
/// damaged.
pub fn read_to_resume(path: &Path) -> Result<Record, StoreError> {
    let opened = open_run(path)?;
    let damaged = |problem: Problem| StoreError::damaged(path, problem.0);
    let record = without_data(&opened.connection, path)?;
    let again: BTreeSet<u32> = resume::left_over(&record).into_iter().collect();
    let thinned = thinned::stages(&opened.connection).map_err(damaged)?;
    if thinned.iter().any(|stage| !again.contains(stage)) {
        return Err(StoreError::Thinned(path.to_owned()));
    }
    plausible::samples(&record).map_err(|why| StoreError::damaged(path, why))?;
    Ok(record)
}

/// Reads all of a run file but what its hosts did: the [data](StageRecord::data) of every stage is
/// left unread.
///
/// # Errors
/// As those of [`read`]; what was not read may be damaged.
pub fn read_head(path: &Path) -> Result<Record, StoreError> {
    let opened = open_run(path)?;
    head(&opened.connection).map_err(|problem| StoreError::damaged(path, problem.0))
}

/// All of a run but what its hosts did.
pub(crate) fn head(connection: &Connection) -> Result<Record, Problem> {
    let has_checksums = checksums::are_there(connection)?;
    if has_checksums {
        checksums::check_whole(connection)?;
    }
    let (plan, version, started, ended, state, reason) = connection.query_row(
        "SELECT plan, version, started_unix_ns, ended_unix_ns, state, reason FROM run LIMIT 1",
        [],
        |row| {
            let head: (String, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let tail: (Option<i64>, Option<String>, Option<String>) =
                (row.get(3)?, row.get(4)?, row.get(5)?);
            Ok((head.0, head.1, head.2, tail.0, tail.1, tail.2))
        },
    )?;
    let plan = plan_json::plan::read(&plan)?;
    let testbed = testbed(connection)?;
    plausible::plan(&plan, testbed.len())?;
    let mut record = Record::new(plan, testbed, version, unsigned(started)?);
    record.stages = stages(connection, record.plan.stages.len())?;
    starts(connection, &mut record.stages)?;
    host_ends::read(connection, &mut record.stages)?;
    record.notes = notes(connection)?;
    // A run that went on from such a file says it already.
    let is_said = |note: &Note| note.fact == Fact::NoChecksums;
    if !has_checksums && !record.notes.iter().any(is_said) {
        record.notes.insert(0, Note { stage: None, host: 0, fact: Fact::NoChecksums });
    }
    record.occurrences = occurrences::read(connection)?;
    record.end = match (ended, state.as_deref()) {
        (Some(when), Some("complete")) => Some((unsigned(when)?, RunEnd::Complete)),
        (Some(when), Some("interrupted")) => Some((unsigned(when)?, RunEnd::Interrupted)),
        (Some(when), Some("failed")) => {
            Some((unsigned(when)?, RunEnd::Failed(reason.unwrap_or_default())))
        }
        (Some(when), Some("panicked")) => {
            Some((unsigned(when)?, RunEnd::Panicked(reason.unwrap_or_default())))
        }
        (None, None) => None,
        _ => return Err("its end is none that a run can have".into()),
    };
    Ok(record)
}

fn testbed(connection: &Connection) -> Result<Vec<HostFacts>, Problem> {
    let mut hosts = Vec::new();
    each(connection, "SELECT facts FROM hosts ORDER BY host", |row| {
        hosts.push(plan_json::host_facts::read(&row.get::<_, String>(0)?)?);
        Ok(())
    })?;
    Ok(hosts)
}

fn stages(connection: &Connection, planned: usize) -> Result<Vec<StageRecord>, Problem> {
    let mut stages: Vec<StageRecord> = Vec::new();
    // In the order in which they began.
    each(
        connection,
        "SELECT stage, started_unix_ns, state, reason FROM stages ORDER BY stage",
        |row| {
            let stage = small(row.get(0)?)?;
            if stage as usize >= planned {
                return Err("a stage began that was never planned".into());
            }
            if stages.last().is_some_and(|last| last.stage == stage) {
                return Err("a stage began twice".into());
            }
            let end = match row.get::<_, Option<String>>(2)?.as_deref() {
                None => None,
                Some("complete") => Some(StageEnd::Complete),
                Some("interrupted") => Some(StageEnd::Interrupted),
                Some("failed") => {
                    Some(StageEnd::Failed(row.get::<_, Option<String>>(3)?.unwrap_or_default()))
                }
                Some("panicked") => {
                    Some(StageEnd::Panicked(row.get::<_, Option<String>>(3)?.unwrap_or_default()))
                }
                Some(_) => return Err("a stage ended in a way that is none".into()),
            };
            stages.push(StageRecord {
                end,
                data: StageData::Unread,
                ..StageRecord::new(stage, unsigned(row.get(1)?)?)
            });
            Ok(())
        },
    )?;
    Ok(stages)
}

fn starts(connection: &Connection, stages: &mut [StageRecord]) -> Result<(), Problem> {
    each(
        connection,
        "SELECT stage, host, late_ns, error_ns FROM starts ORDER BY stage, host",
        |row| {
            let start = HostStart {
                stage: small(row.get(0)?)?,
                host: small(row.get(1)?)?,
                late_ns: unsigned(row.get(2)?)?,
                error_ns: unsigned(row.get(3)?)?,
            };
            let record = stages.iter_mut().find(|record| record.stage == start.stage);
            record.ok_or("a host began a stage that never did")?.starts.push(start);
            Ok(())
        },
    )
}

/// Puts the samples into their stages. Every table is read once, in the order of its rows, which is
/// that of writing.
fn fill(connection: &Connection, stages: &mut [StageRecord]) -> Result<(), Problem> {
    let mut samples = Samples::new();
    let blocks = SampleBlocks::of(connection)?;
    let each_checked = |part: Part, take: &mut dyn FnMut(&Row<'_>) -> Result<(), Problem>| {
        each_checked_but(connection, part, &blocks, take)
    };
    each_checked(Part::Intervals, &mut |row| {
        let (stage, interval, host) = key(row)?;
        let phase = Phase::from_name(&row.get::<_, String>(3)?)
            .ok_or("a phase is none that a stage can have")?;
        let (start_ns, length_ns) = (unsigned(row.get(4)?)?, unsigned(row.get(5)?)?);
        let sample = IntervalSample {
            stage,
            host,
            interval,
            start_ns,
            length_ns,
            phase,
            ops: Vec::new(),
            workers: Vec::new(),
        };
        samples.insert((stage, interval, host), sample);
        Ok(())
    })?;
    fill_ops(&each_checked, &mut samples)?;
    fill_workers(&each_checked, &mut samples)?;
    blocks.each(
        connection,
        |_, _| true,
        |sample| match samples.insert((sample.stage, sample.interval, sample.host), sample) {
            None => Ok(()),
            Some(_) => Err("an interval of a host stands twice".into()),
        },
    )?;
    for ((stage, ..), sample) in samples {
        let record = stages.iter_mut().find(|record| record.stage == stage);
        record.ok_or("a sample belongs to a stage that never began")?.samples_mut().push(sample);
    }
    Ok(())
}

/// Hands every row of a table to `take` that is not in blocks, in the order of writing where it has
/// one, and holds all rows against their checksum.
fn each_checked_but(
    connection: &Connection,
    part: Part,
    blocks: &SampleBlocks,
    mut take: impl FnMut(&Row<'_>) -> Result<(), Problem>,
) -> Result<(), Problem> {
    if Reach::default().of(part).is_none() {
        return each_checked(connection, part, take);
    }
    let mut sum = 0u64;
    each(connection, &format!("SELECT *, rowid FROM {} ORDER BY rowid", part.word()), |row| {
        let last = row.as_ref().column_count() - 1;
        sum = sum.wrapping_add(checksums::of_columns(row, 0..=last - 1)?);
        if blocks.is_in_columns(part, row.get(last)?) { Ok(()) } else { take(row) }
    })?;
    check_all(connection, part, sum)
}

/// Whether all rows of a table have this sum of checksums.
fn check_all(connection: &Connection, part: Part, sum: u64) -> Result<(), Problem> {
    match checksums::are_there(connection)? {
        true => checksums::check(connection, part, 0, i64::MAX, sum),
        false => Ok(()),
    }
}

/// Hands every row of a table to `take`, in the order of writing where it has one, and holds them
/// all against their checksum.
pub(crate) fn each_checked(
    connection: &Connection,
    part: Part,
    mut take: impl FnMut(&Row<'_>) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let order = if part == Part::Intervals { "" } else { " ORDER BY rowid" };
    let mut sum = 0u64;
    each(connection, &format!("SELECT * FROM {}{order}", part.word()), |row| {
        sum = sum.wrapping_add(checksums::of_row(row)?);
        take(row)
    })?;
    check_all(connection, part, sum)
}

fn notes(connection: &Connection) -> Result<Vec<Note>, Problem> {
    let mut notes = Vec::new();
    each(connection, "SELECT stage, host, kind, detail FROM notes ORDER BY note", |row| {
        let word: String = row.get(2)?;
        let kind = NoteKind::ALL.iter().copied().find(|kind| kind.word() == word);
        let kind = kind.ok_or_else(|| Problem(format!("`{word}` is no kind of note")))?;
        let stage = row.get::<_, Option<i64>>(0)?.map(small).transpose()?;
        let detail: String = row.get(3)?;
        let fact = plan_json::fact::read(&detail)?;
        if fact.kind() != kind {
            return Err(Problem(format!("a note is no `{word}`, as it says")));
        }
        notes.push(Note { stage, host: small(row.get(1)?)?, fact });
        Ok(())
    })?;
    Ok(notes)
}
