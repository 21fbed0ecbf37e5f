//! Names of files as SQLite has to be told them.

use std::path::{Path, PathBuf};

/// The file that SQLite keeps beside the one at `path`: `-wal`, `-shm` or `-journal`.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The same file under a name that SQLite takes for a file's: `:memory:` and what starts with
/// `file:` mean something else to it.
pub fn for_sqlite(path: &Path) -> PathBuf {
    Path::new(".").join(path)
}
