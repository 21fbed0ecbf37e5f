//! The operations that an engine can send to a target.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One kind of request to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Op {
    /// Read a block.
    Read,
    /// Write a block.
    Write,
    /// Make everything written so far durable (`fdatasync`).
    Fsync,
    /// Give a block back (discard): what a read of it brings afterwards is zeros or what stood
    /// there.
    Trim,
    /// Make a file that is not there, write all of it, close it.
    Create,
    /// Read a file's attributes by its name (`statx`).
    Stat,
    /// Open a file and close it.
    Open,
    /// Open a file, read all of it, close it.
    ReadFile,
    /// Open a file, write all of it over what it holds, close it.
    WriteFile,
    /// Open a file, write behind what it holds, close it.
    Append,
    /// Cut a file back to the length that it was created with, by its open descriptor.
    Truncate,
    /// Open a file, make all of it durable (`fsync`), close it.
    FsyncFile,
    /// Read the names of all that a directory holds, from its opening to its closing.
    Readdir,
    /// Set a file's times by its name.
    SetAttr,
    /// Give a file another name in its directory.
    Rename,
    /// Make a second name of a file (a hard link).
    Link,
    /// Make a symbolic link to a file.
    Symlink,
    /// Remove a file by its name.
    Remove,
    /// Make a directory.
    Mkdir,
    /// Remove an empty directory.
    Rmdir,
}

impl Op {
    /// Every operation, in the order in which reports list them.
    pub const ALL: [Op; 20] = [
        Op::Read,
        Op::Write,
        Op::Fsync,
        Op::Trim,
        Op::Create,
        Op::Stat,
        Op::Open,
        Op::ReadFile,
        Op::WriteFile,
        Op::Append,
        Op::Truncate,
        Op::FsyncFile,
        Op::Readdir,
        Op::SetAttr,
        Op::Rename,
        Op::Link,
        Op::Symlink,
        Op::Remove,
        Op::Mkdir,
        Op::Rmdir,
    ];

    /// How many operations there are: the length of an array with one entry for each.
    pub const COUNT: usize = Op::ALL.len();

    /// The name used in run files, JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Fsync => "fsync",
            Op::Trim => "trim",
            Op::Create => "create",
            Op::Stat => "stat",
            Op::Open => "open",
            Op::ReadFile => "read-file",
            Op::WriteFile => "write-file",
            Op::Append => "append",
            Op::Truncate => "truncate",
            Op::FsyncFile => "fsync-file",
            Op::Readdir => "readdir",
            Op::SetAttr => "setattr",
            Op::Rename => "rename",
            Op::Link => "link",
            Op::Symlink => "symlink",
            Op::Remove => "remove",
            Op::Mkdir => "mkdir",
            Op::Rmdir => "rmdir",
        }
    }

    /// The operation with this [`name`](Op::name).
    pub fn from_name(name: &str) -> Option<Op> {
        Op::ALL.into_iter().find(|op| op.name() == name)
    }

    /// Whether it is done to a whole file or directory by its name, not to a block.
    pub fn is_metadata(self) -> bool {
        !matches!(self, Op::Read | Op::Write | Op::Fsync | Op::Trim)
    }

    /// Whether it leaves names, sizes and contents of files as they are, so that any operation may
    /// follow it.
    pub fn leaves_files(self) -> bool {
        matches!(self, Op::Stat | Op::Open | Op::ReadFile | Op::Readdir | Op::SetAttr)
    }

    /// Whether it writes bytes of a whole file.
    pub fn writes_file(self) -> bool {
        matches!(self, Op::Create | Op::WriteFile | Op::Append)
    }

    /// Whether it moves the bytes of a whole file.
    pub fn moves_file(self) -> bool {
        self == Op::ReadFile || self.writes_file()
    }

    /// Whether it changes a directory or an inode, which a file system keeps in its journal.
    pub fn changes_names(self) -> bool {
        matches!(
            self,
            Op::Create
                | Op::Append
                | Op::Truncate
                | Op::FsyncFile
                | Op::SetAttr
                | Op::Rename
                | Op::Link
                | Op::Symlink
                | Op::Remove
                | Op::Mkdir
                | Op::Rmdir
        )
    }

    /// A dense index, for arrays with one entry per operation.
    pub fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Op;

    #[test]
    fn names_round_trip_and_indices_are_dense() {
        for (index, op) in Op::ALL.into_iter().enumerate() {
            assert_eq!(Op::from_name(op.name()), Some(op));
            assert_eq!(op.index(), index);
        }
        assert_eq!(Op::from_name("frobnicate"), None);
    }
}
