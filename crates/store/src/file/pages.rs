//! Whether SQLite finds the pages of a file whole.

use crate::file::values::Problem;
use rusqlite::Connection;
use std::path::Path;

/// Files up to this size are checked page by page, which takes a second at most.
const CHECKED_WHOLE: u64 = 256 << 20;

/// Whether a file is checked page by page.
pub fn is_small(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.len() <= CHECKED_WHOLE)
}

/// SQLite's own check of its pages. A file that was cut or overwritten in the middle is found here,
/// not by chance later.
pub fn check_pages(connection: &Connection) -> Result<(), Problem> {
    let word: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if word == "ok" { Ok(()) } else { Err(Problem(word)) }
}

/// SQLite's check of its pages, without the tables of which every row is looked at later: it takes
/// longer than all else.
pub fn check_rest(connection: &Connection) -> Result<(), Problem> {
    let has = |table: &str| {
        let query = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?";
        connection.query_row(query, [table], |row| row.get::<_, i64>(0)).map(|count| count > 0)
    };
    for table in
        ["run", "hosts", "points", "workloads", "stages", "starts", "errors", "notes", "checksums"]
    {
        // Files of earlier formats have no checksums.
        if table == "checksums" && !has(table)? {
            continue;
        }
        let word: String =
            connection.query_row(&format!("PRAGMA quick_check({table})"), [], |row| row.get(0))?;
        if word != "ok" {
            return Err(Problem(word));
        }
    }
    Ok(())
}
