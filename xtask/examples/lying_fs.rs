//! A file system over a folder that lies as it is told, for `cargo xtask liar`:
//! `lying_fs FOLDER PLACE [WORD]...`. Without a word it is truthful: what comes with `O_DIRECT` or
//! `O_DSYNC` goes so to the folder, and an fsync is one.

use fuser::{
    FileAttr, FileType, Filesystem, KernelConfig, MountOption, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow,
};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// Nothing is answered from the kernel's memory.
const NO_TIME: Duration = Duration::ZERO;
const ALIGNED: usize = 4096;

/// How it lies.
#[derive(Default)]
struct Words {
    /// `buffered`: O_DIRECT is dropped, and the page cache of the folder below answers.
    buffered: bool,
    /// `nosync`: O_DSYNC is dropped, and an fsync does nothing.
    nosync: bool,
    /// `refuse`: O_DIRECT is refused.
    refuse: bool,
    /// `full`: few blocks are free.
    full: bool,
    /// `slow=MIB`: each request takes 2 ms more once so much was read or written.
    slow: Option<u64>,
    /// `stall=MS`: it stands still for so long, every 700 ms.
    stall: Option<u64>,
    /// `limit=N`: so many requests in a second.
    limit: Option<u64>,
    /// `fail=N`: each n-th request fails, if it is a read.
    fail: Option<u64>,
}

impl Words {
    fn of(words: impl Iterator<Item = String>) -> Result<Words, String> {
        let mut all = Words::default();
        for word in words {
            let (name, value) = word.split_once('=').unwrap_or((&word, "0"));
            let value = value.parse().map_err(|_| format!("{word}: no number"))?;
            match name {
                "buffered" => all.buffered = true,
                "nosync" => all.nosync = true,
                "refuse" => all.refuse = true,
                "full" => all.full = true,
                "slow" => all.slow = Some(value << 20),
                "stall" => all.stall = Some(value),
                "limit" => all.limit = Some(value),
                "fail" => all.fail = Some(value),
                _ => return Err(format!("{word}: not a lie")),
            }
        }
        Ok(all)
    }
}

struct Opened {
    file: File,
    is_direct: bool,
}

struct Server {
    words: Words,
    /// The files and folders below, by their number less one; the first is the folder itself.
    names: Vec<PathBuf>,
    opened: BTreeMap<u64, Opened>,
    /// Bytes and requests so far.
    moved: u64,
    requests: u64,
    /// When the next request may be answered, where there is a limit.
    due: Instant,
    stalled: Instant,
}

type Errno = i32;

fn errno(error: &std::io::Error) -> Errno {
    error.raw_os_error().unwrap_or(libc::EIO)
}

impl Server {
    fn path(&self, ino: u64) -> Result<&PathBuf, Errno> {
        self.names.get(ino as usize - 1).ok_or(libc::ESTALE)
    }

    /// The number of what is called so.
    fn number(&mut self, path: PathBuf) -> u64 {
        let known = self.names.iter().position(|name| *name == path);
        known.unwrap_or_else(|| {
            self.names.push(path);
            self.names.len() - 1
        }) as u64
            + 1
    }

    fn attributes(&self, ino: u64) -> Result<FileAttr, Errno> {
        let meta = fs::symlink_metadata(self.path(ino)?).map_err(|error| errno(&error))?;
        let modified = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Ok(FileAttr {
            ino,
            size: meta.size(),
            blocks: meta.blocks(),
            atime: modified,
            mtime: modified,
            ctime: modified,
            crtime: modified,
            kind: if meta.is_dir() { FileType::Directory } else { FileType::RegularFile },
            perm: (meta.mode() & 0o7777) as u16,
            nlink: meta.nlink() as u32,
            uid: meta.uid(),
            gid: meta.gid(),
            rdev: 0,
            blksize: ALIGNED as u32,
            flags: 0,
        })
    }

    fn child(&self, parent: u64, name: &OsStr) -> Result<PathBuf, Errno> {
        self.path(parent).map(|path| path.join(name))
    }

    fn entry(&mut self, parent: u64, name: &OsStr) -> Result<FileAttr, Errno> {
        let path = self.child(parent, name)?;
        let ino = self.number(path);
        self.attributes(ino)
    }

    /// Opens a file below with what is left of the flags.
    fn open_below(&mut self, path: &PathBuf, flags: i32, makes: bool) -> Result<u64, Errno> {
        if self.words.refuse && flags & libc::O_DIRECT != 0 {
            return Err(libc::EINVAL);
        }
        let mut kept = flags & (libc::O_DIRECT | libc::O_SYNC | libc::O_DSYNC | libc::O_TRUNC);
        if self.words.buffered {
            kept &= !libc::O_DIRECT;
        }
        if self.words.nosync {
            kept &= !(libc::O_SYNC | libc::O_DSYNC);
        }
        let writes = makes || flags & libc::O_ACCMODE != libc::O_RDONLY;
        let mut options = OpenOptions::new();
        let file = options.read(true).write(writes).create(makes).custom_flags(kept).open(path);
        let file = file.map_err(|error| errno(&error))?;
        let handle = self.opened.last_key_value().map_or(1, |(last, _)| last + 1);
        self.opened.insert(handle, Opened { file, is_direct: kept & libc::O_DIRECT != 0 });
        Ok(handle)
    }

    fn file(&self, handle: u64) -> Result<&Opened, Errno> {
        self.opened.get(&handle).ok_or(libc::EBADF)
    }

    /// What becomes of a request of so many bytes before it is carried out.
    fn lie(&mut self, bytes: usize) {
        self.requests += 1;
        self.moved += bytes as u64;
        if self.words.slow.is_some_and(|most| self.moved > most) {
            sleep(Duration::from_millis(2));
        }
        if let Some(ms) = self.words.stall
            && self.stalled.elapsed() > Duration::from_millis(700)
        {
            sleep(Duration::from_millis(ms));
            self.stalled = Instant::now();
        }
        if let Some(limit) = self.words.limit {
            let now = Instant::now();
            // A sleep that was too long is made up for.
            self.due = self.due.max(now - Duration::from_millis(500));
            self.due += Duration::from_nanos(1_000_000_000 / limit.max(1));
            sleep(self.due.saturating_duration_since(now));
        }
    }
}

/// Where in a buffer an aligned part begins.
fn aligned(buffer: &[u8]) -> usize {
    buffer.as_ptr().align_offset(ALIGNED)
}

impl Filesystem for Server {
    fn init(&mut self, _: &Request<'_>, config: &mut KernelConfig) -> Result<(), Errno> {
        const FUSE_ASYNC_DIO: u64 = 1 << 15;
        config.add_capabilities(FUSE_ASYNC_DIO).map_err(|_| libc::ENOSYS)
    }

    fn lookup(&mut self, _: &Request<'_>, parent: u64, name: &OsStr, reply: ReplyEntry) {
        match self.entry(parent, name) {
            Ok(attributes) => reply.entry(&NO_TIME, &attributes, 0),
            Err(errno) => reply.error(errno),
        }
    }

    fn getattr(&mut self, _: &Request<'_>, ino: u64, _: Option<u64>, reply: ReplyAttr) {
        match self.attributes(ino) {
            Ok(attributes) => reply.attr(&NO_TIME, &attributes),
            Err(errno) => reply.error(errno),
        }
    }

    fn setattr(
        &mut self,
        _: &Request<'_>,
        ino: u64,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<u64>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<u32>,
        reply: ReplyAttr,
    ) {
        let cut = |path: &PathBuf| match size {
            Some(size) => {
                let file = OpenOptions::new().write(true).open(path);
                file.and_then(|file| file.set_len(size)).map_err(|error| errno(&error))
            }
            None => Ok(()),
        };
        match self.path(ino).and_then(cut).and_then(|()| self.attributes(ino)) {
            Ok(attributes) => reply.attr(&NO_TIME, &attributes),
            Err(errno) => reply.error(errno),
        }
    }

    fn mkdir(
        &mut self,
        _: &Request<'_>,
        parent: u64,
        name: &OsStr,
        mode: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        let make = |path: PathBuf| {
            fs::DirBuilder::new().mode(mode).create(path).map_err(|error| errno(&error))
        };
        match self.child(parent, name).and_then(make).and_then(|()| self.entry(parent, name)) {
            Ok(attributes) => reply.entry(&NO_TIME, &attributes, 0),
            Err(errno) => reply.error(errno),
        }
    }

    fn create(
        &mut self,
        _: &Request<'_>,
        parent: u64,
        name: &OsStr,
        _: u32,
        _: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let path = self.child(parent, name);
        let handle = path.and_then(|path| self.open_below(&path, flags, true));
        match handle.and_then(|handle| Ok((handle, self.entry(parent, name)?))) {
            Ok((handle, attributes)) => reply.created(&NO_TIME, &attributes, 0, handle, 0),
            Err(errno) => reply.error(errno),
        }
    }

    fn open(&mut self, _: &Request<'_>, ino: u64, flags: i32, reply: ReplyOpen) {
        let path = self.path(ino).cloned();
        match path.and_then(|path| self.open_below(&path, flags, false)) {
            Ok(handle) => reply.opened(handle, 0),
            Err(errno) => reply.error(errno),
        }
    }

    fn release(
        &mut self,
        _: &Request<'_>,
        _: u64,
        handle: u64,
        _: i32,
        _: Option<u64>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.opened.remove(&handle);
        reply.ok();
    }

    fn unlink(&mut self, _: &Request<'_>, parent: u64, name: &OsStr, reply: ReplyEmpty) {
        let gone = self.child(parent, name);
        match gone.and_then(|path| fs::remove_file(path).map_err(|error| errno(&error))) {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(errno),
        }
    }

    fn rmdir(&mut self, _: &Request<'_>, parent: u64, name: &OsStr, reply: ReplyEmpty) {
        let gone = self.child(parent, name);
        match gone.and_then(|path| fs::remove_dir(path).map_err(|error| errno(&error))) {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(errno),
        }
    }

    fn readdir(
        &mut self,
        _: &Request<'_>,
        ino: u64,
        _: u64,
        offset: i64,
        mut reply: ReplyDirectory,
    ) {
        let Ok(path) = self.path(ino).cloned() else { return reply.error(libc::ESTALE) };
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let names = entries.map(|entry| (entry.file_name(), entry.path().is_dir()));
        let dots = [".", ".."].map(|name| (name.into(), true));
        for (at, (name, is_folder)) in (1..).zip(dots.into_iter().chain(names)) {
            let kind = if is_folder { FileType::Directory } else { FileType::RegularFile };
            // Any number will do: whoever wants to know looks the name up.
            if at > offset && reply.add(u64::MAX, at, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&mut self, _: &Request<'_>, _: u64, reply: ReplyStatfs) {
        let blocks = 1 << 22;
        let free = if self.words.full { blocks / 14 } else { blocks / 2 };
        reply.statfs(blocks, free, free, 1 << 20, 1 << 20, ALIGNED as u32, 255, ALIGNED as u32);
    }

    fn fsync(&mut self, _: &Request<'_>, _: u64, handle: u64, _: bool, reply: ReplyEmpty) {
        let sync = |opened: &Opened| opened.file.sync_all().map_err(|error| errno(&error));
        match self.file(handle).and_then(|one| if self.words.nosync { Ok(()) } else { sync(one) }) {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(errno),
        }
    }

    fn read(
        &mut self,
        _: &Request<'_>,
        _: u64,
        handle: u64,
        offset: i64,
        size: u32,
        _: i32,
        _: Option<u64>,
        reply: ReplyData,
    ) {
        let mut buffer = vec![0; size as usize + ALIGNED];
        let start = aligned(&buffer);
        let place = &mut buffer[start..start + size as usize];
        let read = |opened: &Opened| {
            opened.file.read_at(place, offset as u64).map_err(|error| errno(&error))
        };
        self.lie(size as usize);
        if self.words.fail.is_some_and(|every| self.requests.is_multiple_of(every.max(1))) {
            return reply.error(libc::EIO);
        }
        match self.file(handle).and_then(read) {
            Ok(length) => reply.data(&buffer[start..start + length]),
            Err(errno) => reply.error(errno),
        }
    }

    fn write(
        &mut self,
        _: &Request<'_>,
        _: u64,
        handle: u64,
        offset: i64,
        data: &[u8],
        _: u32,
        _: i32,
        _: Option<u64>,
        reply: ReplyWrite,
    ) {
        let write = |opened: &Opened| {
            let mut buffer = Vec::new();
            let data = if opened.is_direct {
                buffer.resize(data.len() + ALIGNED, 0);
                let start = aligned(&buffer);
                buffer[start..start + data.len()].copy_from_slice(data);
                &buffer[start..start + data.len()]
            } else {
                data
            };
            opened.file.write_at(data, offset as u64).map_err(|error| errno(&error))
        };
        self.lie(data.len());
        match self.file(handle).and_then(write) {
            Ok(length) => reply.written(length as u32),
            Err(errno) => reply.error(errno),
        }
    }
}

fn main() -> Result<(), String> {
    let mut words = std::env::args().skip(1);
    let (Some(folder), Some(place)) = (words.next(), words.next()) else {
        return Err("lying_fs FOLDER PLACE [WORD]...".to_owned());
    };
    let now = Instant::now();
    let server = Server {
        words: Words::of(words)?,
        names: vec![PathBuf::from(folder)],
        opened: BTreeMap::new(),
        moved: 0,
        requests: 0,
        due: now,
        stalled: now,
    };
    fuser::mount2(server, &place, &[MountOption::FSName("lying".to_owned())])
        .map_err(|error| format!("{place}: {error}"))
}
