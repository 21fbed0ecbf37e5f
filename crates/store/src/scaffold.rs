//! What tests of run files share.

use rusqlite::Connection;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder, and where a run file stands in it.
pub fn fresh() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.plimsoll");
    (folder, path)
}

pub fn open(path: &Path) -> Connection {
    Connection::open(path).expect("a file")
}

/// Changes a file by hand without a word about it.
pub fn change_as_it_is(path: &Path, sql: &str) {
    open(path).execute_batch(sql).expect("a changed file");
}

/// Changes a file by hand, and says so, as the document has it: without its checksums, what remains
/// has to make sense by itself.
pub fn change(path: &Path, sql: &str) {
    change_as_it_is(path, &format!("DELETE FROM checksums; {sql}"));
}

/// The number that a query has for an answer.
pub fn count(path: &Path, sql: &str) -> i64 {
    open(path).query_row(sql, [], |row| row.get(0)).expect("a number")
}
