//! One operation on one file: the system calls of it, and nothing else.
//!
//! Plain calls, relative to the directory of the tree: nothing in them waits for anything but the
//! file system, so that a ring would add its own cost and a thread of the kernel (it does creates
//! and removes on worker threads) without any gain.

use super::ledger::Known;
use super::life::Step;
use super::path::{Kind, PathBuffer};
use crate::clock::Clock;
use crate::contents::WorkerContents;
use crate::io::Io;
use crate::worker::Outcome;
use model::Op;
use model::choices::{CloseTime, FileFsync};
use model::metadata::{MetadataWork, Tree};
use model::rng::Rng;
use rustix::fs::{AtFlags, Mode, OFlags, RawDir, StatxFlags, Timespec, Timestamps, UTIME_NOW};
use rustix::io::Errno;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::{BorrowedFd, IntoRawFd, OwnedFd};

/// What is read of a directory at once: as much as the C library does.
const DIRECTORY_BUFFER: usize = 32 << 10;

/// A worker's hands: its tree, its memory, and the operation that it does.
pub(crate) struct Files<'a, C> {
    root: BorrowedFd<'a>,
    tree: &'a Tree,
    work: MetadataWork,
    clock: C,
    path: PathBuffer,
    /// The other name where an operation has two.
    other: PathBuffer,
    /// Which of the names of a file the operation now on goes to.
    kind: Kind,
    /// What is written and read: a file of full size.
    buffer: Box<[u8]>,
    contents: WorkerContents,
    /// Whose write is now on, where it is to be known by its bytes.
    ordinal: u64,
    names: Box<[MaybeUninit<u8>]>,
    /// What of the operation now on is not to be counted, in ns.
    uncounted_ns: u64,
}

/// An errno, and how many bytes had moved until then.
type Failed = (Errno, u64);

fn none_moved(error: Errno) -> Failed {
    (error, 0)
}

impl<'a, C: Clock> Files<'a, C> {
    /// Hands for `work` on the files of `tree`, whose directory is open at `root`. All memory that
    /// it needs is there when it comes back.
    pub(crate) fn new(
        root: BorrowedFd<'a>,
        tree: &'a Tree,
        work: MetadataWork,
        clock: C,
        contents: WorkerContents,
        seed: u64,
    ) -> Files<'a, C> {
        let moves_bytes = work.ops().any(|op| op == Op::ReadFile || op.writes_file());
        // Random from the start, as the filler of plain contents expects; with that every page of
        // it is in memory, too.
        let mut rng = Rng::new(seed);
        let length = if moves_bytes { memory(&work) } else { 0 };
        let buffer = (0..length).map(|_| rng.next_u64() as u8).collect();
        let names =
            vec![MaybeUninit::uninit(); if work.does(Op::Readdir) { DIRECTORY_BUFFER } else { 0 }]
                .into();
        let (path, other) = (PathBuffer::new(), PathBuffer::new());
        let kind = Kind::File;
        Files {
            root,
            tree,
            work,
            clock,
            path,
            other,
            kind,
            buffer,
            contents,
            ordinal: 0,
            names,
            uncounted_ns: 0,
        }
    }

    /// Does `op`, one of the work's, to file `number` (of `readdir`: to the directory of that
    /// number). Comes back with the outcome, and with how long of it is not to be counted, in ns.
    #[inline]
    pub(crate) fn perform(&mut self, op: Op, number: u64) -> (Outcome, u64) {
        self.perform_step(&Step::plain(self.tree, 0, op, number))
    }

    /// Does the operation of `step`.
    #[inline]
    pub(crate) fn perform_step(&mut self, step: &Step) -> (Outcome, u64) {
        self.uncounted_ns = 0;
        self.ordinal = step.ordinal;
        self.kind = if step.renamed { Kind::Renamed } else { Kind::File };
        let Step { op, number, .. } = *step;
        let (length, moves) = (step.length as usize, step.moves as usize);
        let result = match op {
            Op::Create => self.write(number, moves, OFlags::CREATE | OFlags::EXCL),
            Op::WriteFile => self.write(number, moves, OFlags::empty()),
            Op::Append => self.write(number, moves, OFlags::APPEND),
            Op::ReadFile => self.read(number, length),
            Op::Truncate => self.cut_back(number).map_err(none_moved),
            Op::FsyncFile => self.flush(number).map_err(none_moved),
            Op::Open => self
                .open(number, OFlags::RDONLY)
                .and_then(|file| self.close(file))
                .map_err(none_moved),
            Op::Readdir => self.list(number),
            op => self.by_name(op, number).map_err(none_moved),
        };
        let bytes_of = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        let outcome = match result {
            // A file that is shorter than it was written.
            Ok(bytes) if op == Op::ReadFile && bytes < u64::from(step.length) => {
                Outcome::Failure { errno: 0, bytes: bytes_of(bytes) }
            }
            Ok(bytes) => Outcome::Success { bytes: bytes_of(bytes) },
            Err((error, bytes)) => {
                Outcome::Failure { errno: error.raw_os_error(), bytes: bytes_of(bytes) }
            }
        };
        (outcome, self.uncounted_ns)
    }

    /// What needs no open file.
    #[inline]
    fn by_name(&mut self, op: Op, number: u64) -> rustix::io::Result<u64> {
        let path = self.path.of(
            self.tree,
            if matches!(op, Op::Mkdir | Op::Rmdir) { Kind::Made } else { self.kind },
            number,
        );
        match op {
            Op::Stat => {
                rustix::fs::statx(
                    self.root,
                    path,
                    AtFlags::SYMLINK_NOFOLLOW,
                    StatxFlags::BASIC_STATS,
                )?;
            }
            Op::SetAttr => {
                let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
                let times = Timestamps { last_access: now, last_modification: now };
                rustix::fs::utimensat(self.root, path, &times, AtFlags::SYMLINK_NOFOLLOW)?;
            }
            Op::Rename => {
                // There and, where it has its second name, back.
                let is_back = self.kind == Kind::Renamed;
                let kind = if is_back { Kind::File } else { Kind::Renamed };
                let other = self.other.of(self.tree, kind, number);
                rustix::fs::renameat(self.root, path, self.root, other)?;
            }
            Op::Link => {
                let other = self.other.of(self.tree, Kind::Link, number);
                rustix::fs::linkat(self.root, path, self.root, other, AtFlags::empty())?;
            }
            Op::Symlink => {
                let other = self.other.of(self.tree, Kind::Symlink, number);
                rustix::fs::symlinkat(last_name(path), self.root, other)?;
            }
            Op::Remove => rustix::fs::unlinkat(self.root, path, AtFlags::empty())?,
            Op::Mkdir => rustix::fs::mkdirat(self.root, path, Mode::from_raw_mode(0o700))?,
            Op::Rmdir => rustix::fs::unlinkat(self.root, path, AtFlags::REMOVEDIR)?,
            // Those that need an open file, and those of blocks, which no metadata work has.
            _ => return Err(Errno::INVAL),
        }
        Ok(0)
    }

    #[inline]
    fn open(&mut self, number: u64, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let path = self.path.of(self.tree, self.kind, number);
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        rustix::fs::openat(self.root, path, flags, Mode::from_raw_mode(0o600))
    }

    /// Cuts a file back to the length that it was created with.
    fn cut_back(&mut self, number: u64) -> rustix::io::Result<u64> {
        let length = self.tree.size_of(number).0;
        let file = self.open(number, OFlags::WRONLY)?;
        rustix::fs::ftruncate(&file, length)?;
        self.close(file)
    }

    fn flush(&mut self, number: u64) -> rustix::io::Result<u64> {
        let file = self.open(number, OFlags::WRONLY)?;
        rustix::fs::fsync(&file)?;
        self.close(file)
    }

    /// What of `left` bytes goes through the memory at once, of which `done` are through: a file
    /// that has grown is longer than the memory, and goes through it piece by piece.
    fn piece(&self, done: usize, left: usize) -> Range<usize> {
        let from = done % self.buffer.len().max(1);
        from..(from + left).min(self.buffer.len())
    }

    fn write(&mut self, number: u64, size: usize, flags: OFlags) -> Result<u64, Failed> {
        if size > 0 {
            let length = u32::try_from(size.min(self.buffer.len())).unwrap_or(u32::MAX);
            // As far apart as if all were of the largest size: no two have the same contents.
            let offset = number.wrapping_mul(self.work.size.0);
            let io = Io { slot: 0, op: Op::Write, file: 0, offset, length };
            let bytes = &mut self.buffer[..length as usize];
            self.contents.file_begins(&io, number, self.ordinal, bytes);
        }
        let file = self.open(number, flags | OFlags::WRONLY).map_err(none_moved)?;
        let mut done = 0;
        while done < size {
            match rustix::io::write(&file, &self.buffer[self.piece(done, size - done)]) {
                Ok(0) => return Err((Errno::NOSPC, done as u64)),
                Ok(moved) => done += moved,
                Err(error) => return Err((error, done as u64)),
            }
        }
        let moved = |error| (error, done as u64);
        match self.work.fsync {
            FileFsync::Never => {}
            FileFsync::Timed => rustix::fs::fsync(&file).map_err(moved)?,
            FileFsync::Untimed => self.uncounted(|| rustix::fs::fsync(&file)).map_err(moved)?,
        }
        self.close(file).map_err(moved)?;
        Ok(done as u64)
    }

    fn read(&mut self, number: u64, size: usize) -> Result<u64, Failed> {
        let file = self.open(number, OFlags::RDONLY).map_err(none_moved)?;
        let mut done = 0;
        while done < size {
            let piece = self.piece(done, size - done);
            match rustix::io::read(&file, &mut self.buffer[piece]) {
                Ok(0) => break,
                Ok(moved) => done += moved,
                Err(error) => return Err((error, done as u64)),
            }
        }
        self.close(file).map_err(|error| (error, done as u64))?;
        Ok(done as u64)
    }

    /// Reads all names of the directory `number` of those that hold files.
    fn list(&mut self, number: u64) -> Result<u64, Failed> {
        let path = self.path.directory(self.tree, number, self.tree.depth);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let directory =
            rustix::fs::openat(self.root, path, flags, Mode::empty()).map_err(none_moved)?;
        let mut entries = RawDir::new(&directory, &mut self.names);
        while let Some(entry) = entries.next() {
            entry.map_err(none_moved)?;
        }
        self.close(directory).map_err(none_moved)
    }

    /// Closes a file with what the file system says to it, which the standard library keeps to
    /// itself.
    #[inline]
    fn close(&mut self, file: OwnedFd) -> rustix::io::Result<u64> {
        let close = || {
            let number = file.into_raw_fd();
            // SAFETY: `number` was owned by `file`, which gave it up; nobody else has it.
            if unsafe { libc::close(number) } == 0 {
                return Ok(0);
            }
            let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
            Err(Errno::from_raw_os_error(errno))
        };
        match self.work.close {
            CloseTime::Timed => close(),
            CloseTime::Untimed => self.uncounted(close),
        }
    }

    /// Does something in time that is not counted.
    fn uncounted<T>(&mut self, what: impl FnOnce() -> T) -> T {
        let start_ns = self.clock.now_ns();
        let result = what();
        self.uncounted_ns += self.clock.now_ns().saturating_sub(start_ns);
        result
    }

    /// What the file system has of the file of `step`, whose operation failed; `None` if it does
    /// not say.
    #[cold]
    pub(crate) fn look(&mut self, step: &Step) -> Option<Option<Known>> {
        for kind in [Kind::File, Kind::Renamed] {
            let path = self.path.of(self.tree, kind, step.number);
            match rustix::fs::statat(self.root, path, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) => {
                    let length = u32::try_from(found.st_size).unwrap_or(u32::MAX);
                    return Some(Some(Known { length, renamed: kind == Kind::Renamed }));
                }
                Err(Errno::NOENT) => {}
                Err(_) => return None,
            }
        }
        Some(None)
    }

    /// Undoes the operation to file `number` where it left a second name or another one, so that
    /// the next operation finds the tree as this one did. What fails is left: it goes with the
    /// tree.
    pub(crate) fn undo(&mut self, number: u64) {
        let second = match self.work.op {
            Op::Rename => Kind::Renamed,
            Op::Link => Kind::Link,
            Op::Symlink => Kind::Symlink,
            _ => return,
        };
        let other = self.other.of(self.tree, second, number);
        let _ = if second == Kind::Renamed {
            rustix::fs::renameat(
                self.root,
                other,
                self.root,
                self.path.of(self.tree, Kind::File, number),
            )
        } else {
            rustix::fs::unlinkat(self.root, other, AtFlags::empty())
        };
    }

    /// Whether [`undo`](Self::undo) has anything to do.
    pub(crate) fn leaves_names(&self) -> bool {
        matches!(self.work.op, Op::Rename | Op::Link | Op::Symlink)
    }
}

/// Bytes of the memory that all that is written of a file goes through: a file of full size, or a
/// longer append.
pub(crate) fn memory(work: &MetadataWork) -> usize {
    work.size.0.max(work.population.map_or(0, |population| population.append.0)) as usize
}

/// The last part of a path: a symbolic link beside its file says just that.
fn last_name(path: &CStr) -> &CStr {
    let bytes = path.to_bytes_with_nul();
    let start = bytes.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    CStr::from_bytes_with_nul(&bytes[start..]).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common;
    use std::cell::Cell;
    use std::os::fd::AsFd;

    /// Goes on by 10 ns whenever it is read, and sees whether a file was open then.
    struct Steps<'a> {
        now_ns: Cell<u64>,
        watched: &'a str,
        open: &'a Cell<Vec<bool>>,
    }

    impl Clock for Steps<'_> {
        fn now_ns(&self) -> u64 {
            let links =
                std::fs::read_dir("/proc/self/fd").expect("a list of what is open").flatten();
            let is_open = links
                .filter_map(|link| std::fs::read_link(link.path()).ok())
                .any(|path| path.to_str().is_some_and(|path| path == self.watched));
            let mut open = self.open.take();
            open.push(is_open);
            self.open.set(open);
            self.now_ns.set(self.now_ns.get() + 10);
            self.now_ns.get()
        }

        fn rest(&self, _: u64) {}
    }

    #[test]
    fn what_is_not_timed_lies_between_two_looks_at_the_clock() {
        let base = tempfile::tempdir().expect("a directory");
        let root = std::fs::File::open(base.path()).expect("opens");
        let watched = base.path().canonicalize().expect("a path").join("f000000000000000007");
        let path = base.path().to_str().expect("UTF-8").to_owned();
        let tree = Tree { depth: 0, ..common::tree(path, 8, 4) };
        let cases = [
            (FileFsync::Never, CloseTime::Timed, 0, vec![]),
            (FileFsync::Timed, CloseTime::Timed, 0, vec![]),
            (FileFsync::Untimed, CloseTime::Timed, 10, vec![true, true]),
            (FileFsync::Timed, CloseTime::Untimed, 10, vec![true, false]),
            (FileFsync::Untimed, CloseTime::Untimed, 20, vec![true, true, true, false]),
        ];
        for (fsync, close, uncounted_ns, seen) in cases {
            let open = Cell::new(Vec::new());
            let clock = Steps {
                now_ns: Cell::new(0),
                watched: watched.to_str().expect("UTF-8"),
                open: &open,
            };
            let work = MetadataWork { fsync, close, ..common::metadata(Op::Create, 4) };
            let mut files =
                Files::new(root.as_fd(), &tree, work, clock, crate::contents::testing::random(), 1);
            let case = format!("fsync {fsync}, close {close}");
            let done = (Outcome::Success { bytes: 4 }, uncounted_ns);
            assert_eq!(files.perform(Op::Create, 7), done, "{case}");
            assert_eq!(open.take(), seen, "whether the file was open at each look, {case}");
            std::fs::remove_file(&watched).expect("removes");
        }
    }
}
