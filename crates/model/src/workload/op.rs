//! The operations that an engine can send to a target.

crate::words! {
    #[derive(PartialOrd, Ord, Hash)]
    /// One kind of request to a target.
    pub enum Op {
        /// Read a block.
        Read = "read",
        /// Write a block.
        Write = "write",
        /// Make everything written so far durable (`fdatasync`).
        Fsync = "fsync",
        /// Give a block back (discard): what a read of it brings afterwards is zeros or what stood
        /// there.
        Trim = "trim",
        /// Make a file that is not there, write all of it, close it.
        Create = "create",
        /// Read a file's attributes by its name (`statx`).
        Stat = "stat",
        /// Open a file and close it.
        Open = "open",
        /// Open a file, read all of it, close it.
        ReadFile = "read-file",
        /// Open a file, write all of it over what it holds, close it.
        WriteFile = "write-file",
        /// Open a file, write behind what it holds, close it.
        Append = "append",
        /// Cut a file back to the length that it was created with, by its open descriptor.
        Truncate = "truncate",
        /// Open a file, make all of it durable (`fsync`), close it.
        FsyncFile = "fsync-file",
        /// Read the names of all that a directory holds, from its opening to its closing.
        Readdir = "readdir",
        /// Set a file's times by its name.
        SetAttr = "setattr",
        /// Give a file another name in its directory.
        Rename = "rename",
        /// Make a second name of a file (a hard link).
        Link = "link",
        /// Make a symbolic link to a file.
        Symlink = "symlink",
        /// Remove a file by its name.
        Remove = "remove",
        /// Make a directory.
        Mkdir = "mkdir",
        /// Remove an empty directory.
        Rmdir = "rmdir",
    }
}

impl Op {
    /// Every operation, in the order in which reports list them.
    pub const EACH: [Op; Op::COUNT] = match Op::ALL.first_chunk() {
        Some(all) => *all,
        None => [Op::Read; Op::COUNT],
    };

    /// How many operations there are: the length of an array with one entry for each.
    pub const COUNT: usize = Op::ALL.len();

    /// The name used in run files, JSON and tables.
    pub fn name(self) -> &'static str {
        self.word()
    }

    /// The operation with this [`name`](Op::name).
    pub fn from_name(name: &str) -> Option<Op> {
        Op::EACH.into_iter().find(|op| op.name() == name)
    }

    /// Whether it is done to a whole file or directory by its name, not to a block.
    pub fn is_metadata(self) -> bool {
        !matches!(self, Op::Read | Op::Write | Op::Fsync | Op::Trim)
    }

    /// Whether it leaves names, sizes and contents of files as they are, so that any operation may
    /// follow it.
    pub(crate) fn leaves_files(self) -> bool {
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

#[cfg(test)]
mod tests {
    use super::Op;

    #[test]
    fn names_round_trip_and_indices_are_dense() {
        for (index, op) in Op::EACH.into_iter().enumerate() {
            assert_eq!(Op::from_name(op.name()), Some(op));
            assert_eq!(op.index(), index);
        }
        assert_eq!(Op::from_name("frobnicate"), None);
    }
}
