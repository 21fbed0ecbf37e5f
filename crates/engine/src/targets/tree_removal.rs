//! Removes trees of ours with all in them that is ours.

use super::directory::open_in as open_below;
use super::time_limit::Progress;
use crate::metadata::Kind;
use model::metadata::MOST_DEPTH;
use model::plan::names::tree_name;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// The directories of a tree, those that a load makes in the lowest of them included.
const MOST_LEVELS: u32 = MOST_DEPTH + 2;

/// Whether `name` is that of a tree of ours.
pub(crate) fn is_ours(name: &str) -> bool {
    let number = name.strip_prefix("tree-").and_then(|number| number.parse().ok());
    number.is_some_and(|number| tree_name(number) == name)
}

/// Removes the tree `name` in `parent`, all in it that has a name of ours, and what is left of its
/// directories. What somebody else put there stays, and with it the directories that lead to it.
/// Comes back with the bytes that were freed.
///
/// # Errors
/// When the file system refuses.
pub(crate) fn remove_tree(
    parent: BorrowedFd<'_>,
    name: &str,
    progress: &Progress,
) -> rustix::io::Result<u64> {
    let freed = match open_below(parent, name, DIRECTORY, Mode::empty()) {
        Ok(directory) => empty(directory.as_fd(), MOST_LEVELS, progress)?,
        // No directory, or one that is mounted there: it is not ours, whatever it is called.
        Err(Errno::NOTDIR | Errno::LOOP | Errno::XDEV | Errno::NOENT) => return Ok(0),
        Err(error) => return Err(error),
    };
    tolerate(rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR))?;
    Ok(freed)
}

/// Somebody may have been quicker, or have put a file of theirs beside ours, or mounted something
/// there.
fn tolerate(result: rustix::io::Result<()>) -> rustix::io::Result<()> {
    match result {
        Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::BUSY) => Ok(()),
        result => result,
    }
}

/// Removes what is ours in `directory`, at most so many levels deep.
fn empty(directory: BorrowedFd<'_>, levels: u32, progress: &Progress) -> rustix::io::Result<u64> {
    let mut freed = 0;
    let Some(below) = levels.checked_sub(1) else { return Ok(0) };
    let mut buffer = vec![MaybeUninit::uninit(); 16 << 10];
    loop {
        let mut removed = false;
        rustix::fs::seek(directory, rustix::fs::SeekFrom::Start(0))?;
        let mut entries = RawDir::new(directory, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name();
            let Some(kind) = Kind::of(name.to_bytes()) else { continue };
            progress.step();
            let Ok(stat) = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            match (FileType::from_raw_mode(stat.st_mode), kind.is_directory()) {
                (FileType::Directory, true) => {
                    match open_below(directory, name, DIRECTORY, Mode::empty()) {
                        Ok(inner) => freed += empty(inner.as_fd(), below, progress)?,
                        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => continue,
                        Err(error) => return Err(error),
                    }
                    match rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR) {
                        Ok(()) => removed = true,
                        result => tolerate(result)?,
                    }
                }
                (FileType::RegularFile | FileType::Symlink, false) => {
                    match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
                        Ok(()) => removed = true,
                        result => {
                            tolerate(result)?;
                            continue;
                        }
                    }
                    // The last name of a file takes its bytes along.
                    if stat.st_nlink == 1 {
                        freed += u64::try_from(stat.st_size).unwrap_or(0);
                    }
                }
                _ => {}
            }
        }
        // Some file systems skip names while others are removed: another look finds them.
        if !removed {
            return Ok(freed);
        }
    }
}
