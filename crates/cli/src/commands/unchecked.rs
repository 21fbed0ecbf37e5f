//! What is said of a run file without checksums, by every command that reads one.

use model::{Fact, Record};
use report::topics;
use std::path::Path;

/// Warns of a file that may have been changed without anybody seeing it: a table of few notes does
/// not say so.
pub(crate) fn warn(path: &Path, record: &Record) {
    if record.notes.iter().any(|note| note.fact == Fact::NoChecksums) {
        eprintln!("warning: {}: {}", path.display(), topics::note::sentence(&Fact::NoChecksums));
    }
}
