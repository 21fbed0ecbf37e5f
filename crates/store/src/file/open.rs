//! Opens a run file to read it: tells what it is before SQLite looks at it, and finds a way also
//! where nothing can be written.

use crate::file::error::StoreError;
use crate::file::place::{beside, for_sqlite};
use crate::file::schema::{
    ALL_TABLES, APPLICATION_ID, BEFORE_RELEASE, CHECKSUM_TABLES, FOREIGN_FORMAT, FOREIGN_TABLES,
    FORMAT,
};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::{DirBuilder, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Memory for pages that another connection holds, in KiB: a way through a large table and what
/// stands at its end.
const CACHE_KIB: i64 = 512;

/// A run file that can be read. The fields are dropped in this order: SQLite lets go of a copy
/// before it is removed.
pub struct Opened {
    /// Within one transaction. Its tables are ours; what stands in them is not checked.
    pub connection: Connection,
    _copy: Option<Copy>,
    again: Option<(PathBuf, Access)>,
}

/// How a file that nobody writes to can be opened once more.
#[derive(Clone, Copy, Debug)]
enum Access {
    ReadOnly,
    Immutable,
}

impl Opened {
    /// Whether there can be [another](Self::again) connection.
    pub fn can_again(&self) -> bool {
        self.again.is_some()
    }

    /// Another connection to the same file, for another thread, within one transaction; `None`
    /// where a journal lies beside it, as two connections may then not see the same.
    pub fn again(&self) -> Option<Result<Connection, String>> {
        let (real, access) = self.again.as_ref()?;
        let opened = match access {
            Access::ReadOnly => connect(real, OpenFlags::SQLITE_OPEN_READ_ONLY),
            Access::Immutable => immutable(real),
        };
        // Or each query locks the file and lets go of it, which costs more than looking for a row.
        // Several share the memory of one.
        let settled = opened.and_then(|connection| {
            connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
            connection.execute_batch("BEGIN")?;
            Ok(connection)
        });
        Some(settled.map_err(|error| error.to_string()))
    }
}

/// Whether the file at `path` says that it holds results of another tool.
pub fn is_foreign(path: &Path) -> bool {
    let header = Header::read(path);
    header
        .is_ok_and(|header| header.word(68) == APPLICATION_ID && header.word(60) == FOREIGN_FORMAT)
}

/// Opens the file of a run of Plimsoll at `path`.
///
/// # Errors
/// Those of [`open`], and that it holds results of another tool.
pub fn open_run(path: &Path) -> Result<Opened, StoreError> {
    let opened = open(path)?;
    let format = opened.connection.query_row("PRAGMA user_version", [], |row| row.get(0));
    match format {
        Ok(FOREIGN_FORMAT) => Err(StoreError::Foreign(path.to_owned())),
        Ok(_) => Ok(opened),
        Err(error) => Err(StoreError::damaged(path, error.to_string())),
    }
}

/// Opens the run file at `path`.
///
/// # Errors
/// It is not there, not a run file, of another format, cut off, or has other tables.
pub fn open(path: &Path) -> Result<Opened, StoreError> {
    let unopened = |error: std::io::Error| StoreError::Open(path.to_owned(), error.to_string());
    // SQLite looks for the journal beside the file that a link leads to.
    let real = path.canonicalize().map_err(unopened)?;
    let header = Header::read(path)?;
    let journal = beside(&real, "-wal").metadata().is_ok_and(|meta| meta.len() > 0);
    header.check(path, journal)?;
    let opened = match (journal, header.awaits_journal()) {
        (true, _) => with_journal(path, &real)?,
        (false, true) => sole(immutable(&real), Some((real.clone(), Access::Immutable))),
        (false, false) => sole(
            connect(&real, OpenFlags::SQLITE_OPEN_READ_ONLY),
            Some((real.clone(), Access::ReadOnly)),
        ),
    };
    let damaged = |error: rusqlite::Error| StoreError::damaged(path, error.to_string());
    let opened = opened.map_err(damaged)?;
    // All tables as of one moment: a writer that goes on must not add a sample between two of our
    // looks.
    opened.connection.execute_batch("BEGIN").map_err(damaged)?;
    check_schema(&opened.connection, header.word(60))
        .map_err(|why| StoreError::damaged(path, why))?;
    Ok(opened)
}

fn sole(
    connection: rusqlite::Result<Connection>,
    again: Option<(PathBuf, Access)>,
) -> rusqlite::Result<Opened> {
    Ok(Opened { connection: connection?, _copy: None, again })
}

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection =
        Connection::open_with_flags(for_sqlite(path), flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    // Functions with effects are none of a run file's business.
    connection.pragma_update(None, "trusted_schema", false)?;
    // The first look takes in the journal; what stands in the way shows here.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// Of a killed run whose journal was taken in, the header still asks for one. SQLite would leave an
/// empty one there and fail on read-only media; nobody writes to this file, and that is what
/// `immutable` says (<https://www.sqlite.org/uri.html>).
fn immutable(real: &Path) -> rusqlite::Result<Connection> {
    let name = PathBuf::from(format!("{}?immutable=1", uri(real)));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(name, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// The URI of an absolute path, every byte that could mean something written as a number.
fn uri(real: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let parts = real.as_os_str().as_bytes().iter();
    let parts = parts.map(|byte| {
        if plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") }
    });
    format!("file:{}", parts.collect::<String>())
}

/// SQLite indexes a journal in a file of its own beside it. Where that cannot be made, on read-only
/// media or a full disk, a copy is read elsewhere: the run is not damaged, only the place will not
/// do.
fn with_journal(path: &Path, real: &Path) -> Result<rusqlite::Result<Opened>, StoreError> {
    let error = match connect(real, OpenFlags::SQLITE_OPEN_READ_WRITE) {
        Err(error) if is_of_the_place(&error) => error,
        other => return Ok(sole(other, None)),
    };
    let copy = Copy::make(real).map_err(|why| {
        let why = format!(
            "its journal (-wal) can be read neither there ({error}) nor in a temporary folder \
             ({why})"
        );
        StoreError::Open(path.to_owned(), why)
    })?;
    let connection = connect(&copy.file, OpenFlags::SQLITE_OPEN_READ_WRITE);
    Ok(connection.map(|connection| Opened { connection, _copy: Some(copy), again: None }))
}

fn is_of_the_place(error: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, DiskFull, PermissionDenied, ReadOnly, SystemIoFailure};
    let codes = [CannotOpen, DiskFull, PermissionDenied, ReadOnly, SystemIoFailure];
    error.sqlite_error_code().is_some_and(|code| codes.contains(&code))
}

/// A run file and its journal in a temporary folder that only this user may enter; removed when
/// dropped.
struct Copy {
    folder: PathBuf,
    file: PathBuf,
}

impl Copy {
    fn make(real: &Path) -> std::io::Result<Copy> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "plimsoll-read-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let folder = std::env::temp_dir().join(name);
        // Fails where something stands already, so nobody else can have prepared the folder.
        DirBuilder::new().mode(0o700).create(&folder)?;
        let copy = Copy { file: folder.join("run.plimsoll"), folder };
        // The file's permissions may forbid writing, and SQLite has to write to the copy: the
        // content alone is taken.
        take_content(real, &copy.file)?;
        take_content(&beside(real, "-wal"), &beside(&copy.file, "-wal"))?;
        Ok(copy)
    }
}

fn take_content(from: &Path, to: &Path) -> std::io::Result<()> {
    std::io::copy(&mut File::open(from)?, &mut File::create_new(to)?).map(|_| ())
}

impl Drop for Copy {
    fn drop(&mut self) {
        // What cannot be removed from a temporary folder, the system removes in time.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// What the first hundred bytes of an SQLite file say
/// (<https://www.sqlite.org/fileformat2.html#the_database_header>).
struct Header {
    bytes: [u8; 100],
    file_length: u64,
}

impl Header {
    fn read(path: &Path) -> Result<Header, StoreError> {
        let open = |error: std::io::Error| StoreError::Open(path.to_owned(), error.to_string());
        let not = |why: &str| StoreError::NotARunFile(path.to_owned(), why.to_owned());
        // Asked before it is opened: opening a pipe waits for somebody to write to it.
        let meta = std::fs::metadata(path).map_err(open)?;
        if !meta.is_file() {
            return Err(not("it is not a file"));
        }
        let mut file = File::open(path).map_err(open)?;
        let mut bytes = [0; 100];
        match file.read_exact(&mut bytes) {
            Ok(()) => Ok(Header { bytes, file_length: meta.len() }),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                Err(not("it is too short"))
            }
            Err(error) => Err(open(error)),
        }
    }

    fn check(&self, path: &Path, journal: bool) -> Result<(), StoreError> {
        let not = |why: &str| StoreError::NotARunFile(path.to_owned(), why.to_owned());
        if !self.bytes.starts_with(b"SQLite format 3\0") {
            return Err(not("it is not an SQLite file"));
        }
        if self.word(68) != APPLICATION_ID {
            return Err(not("it is some other program's SQLite file"));
        }
        if ![FORMAT, FOREIGN_FORMAT, BEFORE_RELEASE].contains(&self.word(60)) {
            return Err(StoreError::OtherFormat(path.to_owned(), self.word(60)));
        }
        let page = match u16::from_be_bytes([self.bytes[16], self.bytes[17]]) {
            1 => 65_536,
            page => u64::from(page),
        };
        let pages = u64::from(self.word(28));
        // While a journal is there, the newest pages are in it and the file may be behind.
        if !journal && (page == 0 || self.file_length != page.saturating_mul(pages)) {
            return Err(StoreError::damaged(
                path,
                format!(
                    "it has {} bytes and should have {}",
                    self.file_length,
                    page.saturating_mul(pages)
                ),
            ));
        }
        Ok(())
    }

    /// Whether it was last written with a write-ahead journal, and not finished since.
    fn awaits_journal(&self) -> bool {
        self.bytes[19] == 2
    }

    fn word(&self, at: usize) -> u32 {
        u32::from_be_bytes([
            self.bytes[at],
            self.bytes[at + 1],
            self.bytes[at + 2],
            self.bytes[at + 3],
        ])
    }
}

/// Our tables, word for word: a view in a table's place, or a column that is computed, could keep a
/// reader busy for ever. What somebody added for themselves is not looked at.
fn check_schema(connection: &Connection, format: u32) -> Result<(), String> {
    if format == FOREIGN_FORMAT {
        check_tables(connection, FOREIGN_TABLES)?;
        return check_tables(connection, CHECKSUM_TABLES);
    }
    ALL_TABLES.iter().try_for_each(|tables| check_tables(connection, tables))
}

fn check_tables(connection: &Connection, tables: &str) -> Result<(), String> {
    let words = |error: rusqlite::Error| error.to_string();
    let fresh = Connection::open_in_memory().map_err(words)?;
    fresh.execute_batch(tables).map_err(words)?;
    let tables = "SELECT name, sql FROM sqlite_schema WHERE type = 'table'";
    let mut statement = fresh.prepare(tables).map_err(words)?;
    let mut rows = statement.query([]).map_err(words)?;
    while let Some(row) = rows.next().map_err(words)? {
        let (name, sql): (String, String) =
            (row.get(0).map_err(words)?, row.get(1).map_err(words)?);
        let same =
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ? AND sql = ?";
        let found: i64 =
            connection.query_row(same, [&name, &sql], |row| row.get(0)).map_err(words)?;
        if found != 1 {
            return Err(format!("its table `{name}` is missing or was changed"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::uri;
    use std::path::Path;

    #[test]
    fn no_byte_of_a_path_means_anything_in_a_uri() {
        assert_eq!(
            uri(Path::new("/a b/c?mode=rw#ü%.plimsoll")),
            "file:/a%20b/c%3Fmode%3Drw%23%C3%BC%25.plimsoll"
        );
    }
}
