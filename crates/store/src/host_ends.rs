//! What hosts had left over at the end of a stage, in a run file.

use crate::file::checksums::{Part, Sums};
use crate::file::values::{Problem, each, number, small, unsigned};
use model::Op;
use model::event::{Flush, HostEnd, Left, MOST_FLUSHES, MOST_LEFT, MOST_PAUSES, Pause};
use model::histogram::EncodedHistogram;
use model::record::StageRecord;
use rusqlite::{Connection, Transaction, params};

/// Writes one.
pub fn write(
    transaction: &Transaction<'_>,
    checks: &mut Sums,
    end: &HostEnd,
) -> rusqlite::Result<()> {
    let insert = "INSERT INTO left_over VALUES (?, ?, ?, ?, ?, ?)";
    for left in &end.left {
        let row =
            params![end.stage, end.host, left.work, left.op.name(), left.late.0, left.never.0];
        checks.insert(transaction, Part::LeftOver, insert, row)?;
    }
    let insert = "INSERT INTO pauses VALUES (?, ?, ?, ?)";
    for pause in &end.pauses {
        let row = params![end.stage, end.host, number(pause.at_ns), number(pause.length_ns)];
        checks.insert(transaction, Part::Pauses, insert, row)?;
    }
    let insert = "INSERT INTO flushes VALUES (?, ?, ?, ?, ?, ?, ?)";
    for flush in &end.flushes {
        let (at_ns, took_ns) = (number(flush.at_ns), number(flush.took_ns));
        let row =
            params![end.stage, end.host, flush.target, at_ns, took_ns, flush.ended, flush.errno];
        checks.insert(transaction, Part::Flushes, insert, row)?;
    }
    Ok(())
}

/// Those of all stages, by host.
pub fn read(connection: &Connection, stages: &mut [StageRecord]) -> Result<(), Problem> {
    read_left(connection, stages)?;
    read_pauses(connection, stages)?;
    read_flushes(connection, stages)?;
    stages.iter_mut().for_each(|stage| stage.ends.sort_by_key(|end| end.host));
    Ok(())
}

fn read_left(connection: &Connection, stages: &mut [StageRecord]) -> Result<(), Problem> {
    let query =
        "SELECT stage, host, work, op, late, never FROM left_over ORDER BY stage, host, rowid";
    each(connection, query, |row| {
        let op: String = row.get(3)?;
        let left = Left {
            work: small(row.get(2)?)?,
            op: Op::from_name(&op).ok_or("what was left over is of no operation")?,
            late: EncodedHistogram(row.get(4)?),
            never: EncodedHistogram(row.get(5)?),
        };
        if left.late.decode().is_err() || left.never.decode().is_err() {
            return Err("a histogram of what was left over is none".into());
        }
        let end = end_of(stages, small(row.get(0)?)?, small(row.get(1)?)?)?;
        (end.left.len() < MOST_LEFT)
            .then(|| end.left.push(left))
            .ok_or("more was left over than a host can have".into())
    })
}

fn read_pauses(connection: &Connection, stages: &mut [StageRecord]) -> Result<(), Problem> {
    each(
        connection,
        "SELECT stage, host, at_ns, length_ns FROM pauses ORDER BY stage, host, rowid",
        |row| {
            let pause = Pause { at_ns: unsigned(row.get(2)?)?, length_ns: unsigned(row.get(3)?)? };
            let end = end_of(stages, small(row.get(0)?)?, small(row.get(1)?)?)?;
            let is_room = end.pauses.len() < MOST_PAUSES;
            is_room
                .then(|| end.pauses.push(pause))
                .ok_or("a host paused more often than it can".into())
        },
    )
}

fn read_flushes(connection: &Connection, stages: &mut [StageRecord]) -> Result<(), Problem> {
    let query = "SELECT stage, host, target, at_ns, took_ns, ended, errno FROM flushes ORDER BY \
                 stage, host, rowid";
    each(connection, query, |row| {
        let flush = Flush {
            target: row.get(2)?,
            at_ns: unsigned(row.get(3)?)?,
            took_ns: unsigned(row.get(4)?)?,
            ended: row.get(5)?,
            errno: row.get(6)?,
        };
        let end = end_of(stages, small(row.get(0)?)?, small(row.get(1)?)?)?;
        let is_room = end.flushes.len() < MOST_FLUSHES;
        is_room
            .then(|| end.flushes.push(flush))
            .ok_or("a host flushed more targets than it can have".into())
    })
}

/// The entry of a host in its stage, a fresh one where there is none.
fn end_of(stages: &mut [StageRecord], stage: u32, host: u32) -> Result<&mut HostEnd, Problem> {
    let record = stages.iter_mut().find(|record| record.stage == stage);
    let ends = &mut record.ok_or("something was left over of a stage that never began")?.ends;
    // Rows come by host.
    let at = match ends.iter().position(|end| end.host == host) {
        Some(at) => at,
        None => {
            ends.push(HostEnd { stage, host, ..HostEnd::default() });
            ends.len() - 1
        }
    };
    Ok(&mut ends[at])
}
