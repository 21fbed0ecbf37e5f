//! Folders of disks: made with our marker, and removed only where it is still there.

use crate::record::MARKER;
use crate::{Outcome, Problem, places};
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::Path;

/// A marker is shorter.
const LONGEST: u64 = 4096;

pub(super) fn make(folder: &Path, token: &str) -> Outcome {
    if places::make_new(folder)?.is_none() {
        return Err(Problem::NotOurs { path: folder.to_owned(), why: "is there already" });
    }
    let marker = folder.join(MARKER);
    fs::write(&marker, token).map_err(|error| Problem::file("write", &marker, &error))
}

/// Makes a folder, or finds that it is ours already.
pub(super) fn make_or_find(folder: &Path, token: &str) -> Outcome {
    if folder.symlink_metadata().is_err() {
        return make(folder, token);
    }
    places::is_ours(folder)?;
    match is_marked(folder, token)? {
        true => Ok(()),
        false => Err(Problem::NotOurs { path: folder.to_owned(), why: "is there already" }),
    }
}

/// Removes the files of these names from a folder of ours, and the folder.
pub(super) fn clear(folder: &Path, token: &str, names: &[OsString]) -> Outcome {
    if folder.symlink_metadata().is_err() {
        return Ok(());
    }
    places::is_ours(folder)?;
    if is_marked(folder, token)? {
        names.iter().try_for_each(|name| remove_file(&folder.join(name)))?;
    }
    remove_file(&folder.join(MARKER))?;
    fs::remove_dir(folder).map_err(|error| Problem::file("remove", folder, &error))
}

/// Whether a folder has our whole marker; it has a part of it, or none, where we were ended before
/// anything else was made.
fn is_marked(folder: &Path, token: &str) -> Outcome<bool> {
    let marker = folder.join(MARKER);
    let mut found = String::new();
    let read =
        places::open_file(&marker).and_then(|file| file.take(LONGEST).read_to_string(&mut found));
    match read.map(|_| found) {
        Ok(found) if found == token => Ok(true),
        Ok(part) if token.starts_with(&part) => Ok(false),
        Ok(_) => {
            let why = "has the marker of other machines";
            Err(Problem::NotOurs { path: folder.to_owned(), why })
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Problem::file("read", &marker, &error)),
    }
}

pub(crate) fn remove_file(path: &Path) -> Outcome {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Problem::file("remove", path, &error))
        }
        _ => Ok(()),
    }
}
