//! Where the rows of a block of sums end in each table, and what goes with them.

use crate::file::checksums::Part;
use crate::samples::block_rows::Reach;
use model::digest::Spans;
use rusqlite::{Transaction, params};
use std::collections::BTreeMap;

/// The tables whose rows have numbers.
pub const NUMBERED: [Part; 4] = [Part::Samples, Part::Errors, Part::Workers, Part::WorkerSamples];

/// How far a block reaches: rows of each table, and of `intervals`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Edge {
    /// Of the tables that sums count rows of.
    pub reach: Reach,
    /// Of the table of intervals.
    pub intervals: i64,
}

impl Edge {
    /// The last row of a table.
    pub fn rows(self, part: Part) -> i64 {
        match part {
            Part::Samples => self.reach.samples,
            Part::Errors => self.reach.errors,
            Part::Workers => self.reach.workers,
            Part::WorkerSamples => self.reach.worker_samples,
            _ => self.intervals,
        }
    }
}

/// Takes the intervals of a block away.
pub fn take_intervals_away(
    transaction: &Transaction<'_>,
    from: Edge,
    to: Edge,
    stages: &[(u32, BTreeMap<u32, Spans>)],
) -> rusqlite::Result<()> {
    let mut delete = transaction.prepare_cached(
        "DELETE FROM intervals WHERE stage = ? AND host = ? AND interval BETWEEN ? AND ?",
    )?;
    for (stage, hosts) in stages {
        for (host, spans) in hosts {
            if let (Some(first), Some(last)) = (spans.get(0), spans.last()) {
                delete.execute(params![stage, host, first.interval, last.interval])?;
            }
        }
    }
    take_checksums_away(transaction, Part::Intervals, from, to)
}

/// Takes the sums of a block's rows away: they end where blocks do.
pub fn take_checksums_away(
    transaction: &Transaction<'_>,
    part: Part,
    from: Edge,
    to: Edge,
) -> rusqlite::Result<()> {
    let delete = "DELETE FROM checksums WHERE part = ? AND row > ? AND row <= ?";
    let rows = params![part.word(), from.rows(part), to.rows(part)];
    transaction.prepare_cached(delete)?.execute(rows)?;
    Ok(())
}
