//! How far into the tables of a run file a block of sums reaches.

use crate::file::checksums::Part;
use crate::file::values::{Problem, each, small};
use model::digest::Spans;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Which of the rows of each table a block reaches to: their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    pub samples: i64,
    pub errors: i64,
    pub workers: i64,
    pub worker_samples: i64,
}

/// The rows of all tables behind one reach, up to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    pub from: Reach,
    pub to: Reach,
}

impl Reach {
    /// How far it reaches in the table of a part; `None` of one that blocks of sums do not have.
    pub fn of(&self, part: Part) -> Option<i64> {
        match part {
            Part::Samples => Some(self.samples),
            Part::Errors => Some(self.errors),
            Part::Workers => Some(self.workers),
            Part::WorkerSamples => Some(self.worker_samples),
            _ => None,
        }
    }

    /// To the last rows that there are.
    pub fn now(connection: &Connection) -> rusqlite::Result<Reach> {
        let last = |table: &str| {
            connection.query_row(
                &format!("SELECT coalesce(max(rowid), 0) FROM {table}"),
                [],
                |row| row.get(0),
            )
        };
        let (samples, errors) = (last("samples")?, last("errors")?);
        Ok(Reach {
            samples,
            errors,
            workers: last("workers")?,
            worker_samples: last("worker_samples")?,
        })
    }

    /// Whether no table ends before it does in `other`.
    pub fn is_within(&self, other: &Reach) -> bool {
        self.samples <= other.samples
            && self.errors <= other.errors
            && self.workers <= other.workers
            && self.worker_samples <= other.worker_samples
    }
}

/// Hands out each block of sums of a file in order: its number and its rows, which begin where
/// those of the block before it end.
///
/// # Errors
/// They do not follow one another; or those of `take`.
pub fn each_block(
    connection: &Connection,
    mut take: impl FnMut(i64, Stretch) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let mut before = Reach::default();
    let query = "SELECT block, samples, errors, workers, worker_samples FROM sums ORDER BY block";
    each(connection, query, |row| {
        let (samples, errors, workers, worker_samples) =
            (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
        let to = Reach { samples, errors, workers, worker_samples };
        let from = std::mem::replace(&mut before, to);
        match from.is_within(&to) {
            true => take(row.get(0)?, Stretch { from, to }),
            false => Err("its sums do not follow one another".into()),
        }
    })
}

/// A stage, and the intervals of its hosts.
pub type OfStage = (u32, BTreeMap<u32, Spans>);

/// The first and the last interval of each host in a block, by stage and host; `last` follows.
pub fn ends_of(
    all: &[OfStage],
    last: &mut BTreeMap<(u32, u32), u32>,
) -> BTreeMap<(u32, u32), RangeInclusive<u32>> {
    let mut ends = BTreeMap::new();
    for (stage, hosts) in all {
        for (host, spans) in hosts {
            let end = spans.last().map(|span| span.interval).unwrap_or_default();
            let begin = spans.get(0).map_or(end, |span| span.interval);
            let known = last.entry((*stage, *host)).or_insert(end);
            *known = end.max(*known);
            ends.insert((*stage, *host), begin..=end);
        }
    }
    ends
}

/// How far rows go in the tables that blocks of sums do not count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside {
    pub write_marks: i64,
    pub raw_latencies: i64,
}

impl Beside {
    /// The tables.
    pub const PARTS: [Part; 2] = [Part::WriteMarks, Part::RawLatencies];

    /// All rows that there are, and more.
    pub const END: Beside = Beside { write_marks: i64::MAX, raw_latencies: i64::MAX };

    /// How far they go in one of the tables; `None` of another.
    pub fn of(&self, part: Part) -> Option<i64> {
        match part {
            Part::WriteMarks => Some(self.write_marks),
            Part::RawLatencies => Some(self.raw_latencies),
            _ => None,
        }
    }

    /// The same, where those that follow belong to these intervals: rows are written with their
    /// samples, so that the first one of another interval ends them.
    pub fn over(
        self,
        connection: &Connection,
        is_of: impl Fn(u32, u32, u32) -> bool,
    ) -> Result<Beside, Problem> {
        let end = |part: Part, after: i64| -> Result<i64, Problem> {
            let query = format!(
                "SELECT rowid, stage, host, interval FROM {} WHERE rowid > ? ORDER BY rowid",
                part.word()
            );
            let mut statement = connection.prepare_cached(&query)?;
            let (mut rows, mut last) = (statement.query([after])?, after);
            while let Some(row) = rows.next()? {
                if !is_of(small(row.get(1)?)?, small(row.get(2)?)?, small(row.get(3)?)?) {
                    break;
                }
                last = row.get(0)?;
            }
            Ok(last)
        };
        let [marks, latencies] = Beside::PARTS;
        Ok(Beside {
            write_marks: end(marks, self.write_marks)?,
            raw_latencies: end(latencies, self.raw_latencies)?,
        })
    }
}
