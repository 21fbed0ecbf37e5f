//! Makes the directories of a tree before anything is measured.

use super::path::PathBuffer;
use crate::error::EngineError;
use crate::targets::{Bounds, Directory, Progress, joined, open_below};
use model::metadata::Tree;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// Makes all directories of `tree`, which is not there yet, in the claimed directory `root`, and
/// opens the one that holds the rest.
///
/// # Errors
/// When the file system refuses. What was made until then has names of ours in a directory with our
/// marker.
pub(crate) fn grow(
    tree: &Tree,
    root: &Directory,
    progress: &Progress,
) -> Result<OwnedFd, EngineError> {
    progress.at(&tree.path);
    make_all(tree, root.as_fd(), progress).map_err(|error| {
        let remedy = match error {
            Errno::MFILE | Errno::NFILE => {
                "raise the limit of open files (ulimit -n), or use fewer workers"
            }
            Errno::NOSPC | Errno::DQUOT => "free some space (or inodes), or give fewer tree.files",
            Errno::NAMETOOLONG => "name a target with a shorter path, or give a smaller tree.depth",
            Errno::EXIST => {
                "an earlier run left it, and something in it is not ours: move that away"
            }
            Errno::MLINK => "give a larger tree.per_directory, or a tree.depth of 2 or more",
            other => crate::targets::remedy(&other.into()),
        };
        EngineError::target(
            &tree.path,
            format!("the directories of the tree cannot be made: {error}"),
            remedy,
        )
    })
}

/// Opens the directory that holds the rest of a `tree` of `target` that another host of the run
/// `run_id` has made.
///
/// # Errors
/// When it is not there, may not be touched, or the file system refuses.
pub(crate) fn visit(
    tree: &Tree,
    target: &str,
    run_id: &str,
    bounds: &Bounds,
) -> Result<OwnedFd, EngineError> {
    let refuse = |what: &str| {
        EngineError::target(
            &tree.path,
            format!("the tree that another host has made {what}"),
            "see whether all hosts have the same file system there, and may search it",
        )
    };
    let (root, name) = tree.place().ok_or_else(|| refuse("has no name of ours"))?;
    let directory = joined(root, target, run_id, bounds)?;
    let directory = directory
        .ok_or_else(|| refuse("is not there, or its directory carries another run's marker"))?;
    open_below(directory.as_fd(), name, DIRECTORY, Mode::empty())
        .map_err(|error| refuse(&format!("cannot be opened: {error}")))
}

fn make_all(
    tree: &Tree,
    parent: BorrowedFd<'_>,
    progress: &Progress,
) -> rustix::io::Result<OwnedFd> {
    let mode = Mode::from_raw_mode(0o700);
    let (_, name) = tree.place().ok_or(Errno::INVAL)?;
    rustix::fs::mkdirat(parent, name, mode)?;
    let root = open_below(parent, name, DIRECTORY, Mode::empty())?;
    let mut path = PathBuffer::new();
    for leaf in 0..tree.leaves() {
        // A directory is made on the way to the first of the lowest ones below it.
        for level in (1..=tree.depth).filter(|level| leaf.is_multiple_of(tree.leaves_below(*level)))
        {
            rustix::fs::mkdirat(&root, path.directory(tree, leaf, level), mode)?;
            progress.step();
        }
    }
    Ok(root)
}
