//! How far into the tables of a run file a block of sums reaches.

use crate::checksums::Part;
use rusqlite::Connection;

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
