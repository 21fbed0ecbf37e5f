//! Values as SQLite has them, and what is wrong where they cannot be ours.

use rusqlite::{Connection, Row};

/// Why a file is damaged, in words.
pub(crate) struct Problem(pub String);

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Problem {
        Problem(error.to_string())
    }
}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Problem {
        Problem(format!("a part of its plan or testbed is not what it should be ({error})"))
    }
}

impl From<String> for Problem {
    fn from(why: String) -> Problem {
        Problem(why)
    }
}

impl From<&str> for Problem {
    fn from(why: &str) -> Problem {
        Problem(why.to_owned())
    }
}

/// SQLite counts in 63 bits. No counter of ours comes near, and a latency of three hundred years is
/// no latency.
pub(crate) fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A count.
pub(crate) fn unsigned(value: i64) -> Result<u64, Problem> {
    u64::try_from(value).map_err(|_| "a counter is negative".into())
}

/// A number of something.
pub(crate) fn small(value: i64) -> Result<u32, Problem> {
    u32::try_from(value).map_err(|_| "a number is out of range".into())
}

/// Runs `query` and hands every row to `take`.
pub(crate) fn each(
    connection: &Connection,
    query: &str,
    mut take: impl FnMut(&Row<'_>) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        take(row)?;
    }
    Ok(())
}
