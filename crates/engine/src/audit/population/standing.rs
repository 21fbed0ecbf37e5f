//! What a file system has of the names of a worker.

use crate::metadata::{Kind, Known, Ledger, PathBuffer};
use model::metadata::{FileShare, Tree};
use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;

/// Names between two words to whoever waits.
const STEP: u64 = 1 << 10;

/// What is there under a name, where it is not simply a file or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Odd {
    /// Under both names.
    Twice,
    /// Something else than a file.
    NoFile,
    /// The file system does not say.
    Silent(Errno),
}

/// The names of a worker as they are.
pub(super) struct Standing {
    /// Files, by their index among the names of the worker.
    pub(super) files: Ledger,
    /// Names that are neither free nor have one file.
    pub(super) odd: BTreeMap<u64, Odd>,
}

impl Standing {
    /// Looks at all names of `share` below the directory `root` of `tree`; `tick` hears of it now
    /// and then.
    pub(super) fn of(
        root: BorrowedFd<'_>,
        tree: &Tree,
        share: FileShare,
        tick: &mut dyn FnMut(),
    ) -> Standing {
        let mut standing = Standing { files: Ledger::new(share.count), odd: BTreeMap::new() };
        let mut path = PathBuffer::new();
        for index in 0..share.count {
            if index % STEP == 0 {
                tick();
            }
            let number = share.number(index);
            let file = look(root, tree, &mut path, Kind::File, number);
            let renamed = look(root, tree, &mut path, Kind::Renamed, number);
            match (file, renamed) {
                (Ok(None), Ok(None)) => {}
                (Ok(Some(known)), Ok(None)) | (Ok(None), Ok(Some(known))) => {
                    standing.files.set(index, Some(known));
                }
                (Ok(Some(_)), Ok(Some(_))) => {
                    standing.odd.insert(index, Odd::Twice);
                }
                (Err(odd), _) | (_, Err(odd)) => {
                    standing.odd.insert(index, odd);
                }
            }
        }
        standing
    }
}

fn look(
    root: BorrowedFd<'_>,
    tree: &Tree,
    path: &mut PathBuffer,
    kind: Kind,
    number: u64,
) -> Result<Option<Known>, Odd> {
    let path = path.of(tree, kind, number);
    match rustix::fs::statat(root, path, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile => {
            Err(Odd::NoFile)
        }
        Ok(found) => {
            let length = u32::try_from(found.st_size).unwrap_or(u32::MAX);
            Ok(Some(Known { length, renamed: kind == Kind::Renamed }))
        }
        // Without its directory there is no file either.
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(Odd::Silent(error)),
    }
}
