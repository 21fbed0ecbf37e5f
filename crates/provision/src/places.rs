//! Where things of machines are kept: records in the user's state folder, kernels in its cache.
//! Only folders that are this user's alone are used.

use crate::{Outcome, Problem};
use rustix::fs::OFlags;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The folders of this user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// Has a folder for each name of machines.
    pub state: PathBuf,
    /// Has what packages of kernels were unpacked to.
    pub kernels: PathBuf,
}

impl Places {
    /// The folders that the environment names. Nothing is made.
    ///
    /// # Errors
    /// It names none.
    pub fn of_user() -> Outcome<Places> {
        let of = |name: &str| std::env::var_os(name);
        let state = folder(of("XDG_STATE_HOME"), of("HOME"), ".local/state");
        let cache = folder(of("XDG_CACHE_HOME"), of("HOME"), ".cache");
        match (state, cache) {
            (Some(state), Some(cache)) => Ok(Places {
                state: state.join("plimsoll/vms"),
                kernels: cache.join("plimsoll-guest-kernels"),
            }),
            _ => Err(Problem::Homeless),
        }
    }

    /// The folder of a lab: its record, and all that it stores.
    pub(crate) fn lab(&self) -> PathBuf {
        self.state.with_file_name("lab")
    }
}

/// The folder that a variable names, or one in the home folder; only whole paths count.
fn folder(named: Option<OsString>, home: Option<OsString>, below: &str) -> Option<PathBuf> {
    let whole = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    named.and_then(whole).or_else(|| home.and_then(whole).map(|home| home.join(below)))
}

/// Opens a file to read it; nothing waits for a pipe that stands in its place.
pub(crate) fn open_file(path: &Path) -> std::io::Result<File> {
    let flags = OFlags::NONBLOCK.bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(std::io::Error::other("it is no regular file")),
    }
}

/// The text of a file, at most so many bytes of it.
pub(crate) fn read(path: &Path, longest: u64) -> std::io::Result<String> {
    let mut text = String::new();
    open_file(path)?.take(longest).read_to_string(&mut text).map(|_| text)
}

/// Makes a folder for this user alone, with those above it, if it is not there.
pub(crate) fn make_all(path: &Path) -> Outcome {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| Problem::file("make", path, &error))?;
    is_ours(path)
}

/// Makes a folder for this user alone that was not there; `None` if something was.
pub(crate) fn make_new(path: &Path) -> Outcome<Option<()>> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => Ok(Some(())),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(Problem::file("make", path, &error)),
    }
}

/// Refuses what is not a folder of this user that nobody else can write to.
pub(crate) fn is_ours(path: &Path) -> Outcome {
    let told = fs::symlink_metadata(path).map_err(|error| Problem::file("read", path, &error))?;
    let refuse = |why| Err(Problem::NotOurs { path: path.to_owned(), why });
    if !told.is_dir() {
        return refuse("is no folder");
    }
    if told.uid() != rustix::process::geteuid().as_raw() {
        return refuse("belongs to another user");
    }
    if told.mode() & 0o022 != 0 {
        return refuse("can be written to by others");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_whole_paths_name_a_folder() {
        let of = |named: Option<&str>, home: Option<&str>| {
            folder(named.map(OsString::from), home.map(OsString::from), "x")
        };
        assert_eq!(of(Some("/a"), Some("/h")), Some("/a".into()));
        assert_eq!(of(Some("a"), Some("/h")), Some("/h/x".into()));
        assert_eq!(of(None, Some("")), None);
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("a/b");
        make_all(&path).expect("made");
        assert_eq!(make_new(&path), Ok(None));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).expect("set");
        assert!(matches!(is_ours(&path), Err(Problem::NotOurs { .. })));
        let link = root.path().join("link");
        std::os::unix::fs::symlink(root.path(), &link).expect("made");
        assert!(matches!(is_ours(&link), Err(Problem::NotOurs { .. })));
    }
}
