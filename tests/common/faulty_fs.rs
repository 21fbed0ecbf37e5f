//! A file system over memory that misbehaves on command, for tests of what a load generator does
//! then.
//!
//! Only requests for data (reads and writes) are delayed, failed, shortened, torn or held: what the
//! run does to set up and to tidy away goes through, unless the whole server is stalled.

use super::Folder;
use fuser::{
    BackgroundSession, FileAttr, FileType, Filesystem, KernelConfig, MountOption, ReplyAttr,
    ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs,
    ReplyWrite, Request, TimeOrNow,
};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long the kernel may believe what it was told: not at all, so that nothing is answered from a
/// cache.
const NO_TIME: Duration = Duration::ZERO;
const ROOT: u64 = 1;
const BLOCK: u32 = 4096;
/// What `statfs` tells of free space, in bytes.
const FREE_BYTES: u64 = 1 << 30;
/// Looking up this name stalls the server, if [`FaultyFs::stall`] asked for it.
const STALL: &str = ".stall";

/// What happens to requests for data; every n-th of them, where a field says `every`, 0 being
/// never.
#[derive(Clone, Copy, Debug, Default)]
pub struct Behaviour {
    /// Every request is answered so much later.
    pub delay: Duration,
    /// These fail ...
    pub fail_every: u64,
    /// ... with this errno.
    pub errno: i32,
    /// These move the first half only, and say so.
    pub short_every: u64,
    /// These writes move the first half only, and claim to have moved all.
    pub tear_every: u64,
    /// These writes move nothing, and claim to have moved all.
    pub drop_every: u64,
    /// No request is answered, until this is unset again: then all of them are.
    pub hang: bool,
    /// The same for `fsync` alone.
    pub hang_fsync: bool,
    /// The same for `open` of a file alone, also of a new one.
    pub hang_open: bool,
    /// The same for `flush` alone, which every close of a file waits for: with
    /// [`FaultyFs::that_flushes`].
    pub hang_flush: bool,
    /// No read is answered with data, as where what is being written cannot be read.
    pub refuse_reads: bool,
}

/// What becomes of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Whole,
    Fail(i32),
    Short,
    Torn,
    Dropped,
}

impl Behaviour {
    /// Whether anything is held.
    fn hangs(self) -> bool {
        self.hang || self.hang_fsync || self.hang_open || self.hang_flush
    }

    /// The fate of the request of number `count`, from 1.
    fn fate(self, count: u64) -> Fate {
        let is_turn = |every: u64| every > 0 && count.is_multiple_of(every);
        if is_turn(self.fail_every) {
            Fate::Fail(self.errno)
        } else if is_turn(self.short_every) {
            Fate::Short
        } else if is_turn(self.tear_every) {
            Fate::Torn
        } else if is_turn(self.drop_every) {
            Fate::Dropped
        } else {
            Fate::Whole
        }
    }
}

type Answer = Box<dyn FnOnce() + Send>;

/// What the tests and the server share.
#[derive(Default)]
struct Switch {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    behaviour: Behaviour,
    requests: u64,
    held: Vec<Answer>,
    /// The server shall stall.
    stalled: bool,
    /// It does.
    stalling: bool,
}

impl Switch {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, behaviour: Behaviour) {
        let held = {
            let mut state = self.lock();
            state.behaviour = behaviour;
            if behaviour.hangs() { Vec::new() } else { std::mem::take(&mut state.held) }
        };
        held.into_iter().for_each(|answer| answer());
    }

    /// Counts a request and decides its fate.
    fn next(&self) -> Fate {
        let mut state = self.lock();
        state.requests += 1;
        state.behaviour.fate(state.requests)
    }

    /// Gives the answer: now, late, or when the hang is over.
    fn answer(&self, answer: Answer) {
        let mut state = self.lock();
        let delay = state.behaviour.delay;
        if state.behaviour.hang {
            state.held.push(answer);
        } else if delay > NO_TIME {
            // A thread each, so that requests wait beside and not behind each other.
            thread::spawn(move || {
                thread::sleep(delay);
                answer();
            });
        } else {
            drop(state);
            answer();
        }
    }

    /// The server's only thread stays here while it is stalled.
    fn wait_out_stall(&self) {
        let mut state = self.lock();
        state.stalling = state.stalled;
        while state.stalled {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The file system, mounted; unmounted at the end, after whatever it holds was answered.
pub struct FaultyFs {
    switch: Arc<Switch>,
    session: Option<BackgroundSession>,
    /// Who asked the questions that stalled it; answered when it is released.
    asking: Mutex<Vec<std::process::Child>>,
    folder: Folder,
}

impl FaultyFs {
    /// An empty one that behaves well.
    pub fn new() -> FaultyFs {
        FaultyFs::mount(true, false, false)
    }

    /// One that gives a removed file another name as long as somebody has it open, as libfuse and
    /// NFS do.
    pub fn that_hides() -> FaultyFs {
        FaultyFs::mount(true, false, true)
    }

    /// The same, but every request holds a thread of the kernel until it is answered. With many
    /// direct requests at once, the kernel makes an EIO of every short write; here it passes it on.
    pub fn that_blocks() -> FaultyFs {
        FaultyFs::mount(false, false, false)
    }

    /// One whose files are flushed when they are closed.
    pub fn that_flushes() -> FaultyFs {
        FaultyFs::mount(true, true, false)
    }

    fn mount(many_at_once: bool, flushes: bool, hides: bool) -> FaultyFs {
        let folder = super::scratch();
        let switch = Arc::new(Switch::default());
        let server = Server {
            switch: switch.clone(),
            nodes: BTreeMap::from([(ROOT, Node::folder(0, ""))]),
            last: ROOT,
            many_at_once,
            flushes,
            hides,
            opens: BTreeMap::new(),
        };
        let options = [MountOption::FSName("faulty".to_owned()), MountOption::AllowOther];
        let session =
            fuser::spawn_mount2(server, &folder, &options).expect("a mount over /dev/fuse");
        // The first close asks the server to flush and may learn that it does not; from then on,
        // closing waits for nobody.
        drop(std::fs::File::create(folder.join(".first")).expect("a file"));
        std::fs::remove_file(folder.join(".first")).expect("ours");
        FaultyFs { switch, session: Some(session), asking: Mutex::default(), folder }
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// From now on it behaves so. Requests that were held are answered unless it still hangs.
    pub fn set(&self, behaviour: Behaviour) {
        self.switch.set(behaviour);
    }

    /// Requests for data so far.
    pub fn requests(&self) -> u64 {
        self.switch.lock().requests
    }

    /// Requests that wait for the end of the hang.
    pub fn held(&self) -> usize {
        self.switch.lock().held.len()
    }

    /// The server takes no request any more, not even to close or to remove a file, as one that was
    /// stopped or lost its network.
    pub fn stall(&self) {
        self.switch.lock().stalled = true;
        // Somebody has to ask the last question, and is not answered either. Not this process:
        // killed, it would wait for itself for ever, keep its end of /dev/fuse, and leave a mount
        // that hangs whoever looks at it.
        let asked = std::process::Command::new("stat")
            .arg(self.folder.join(STALL))
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn();
        self.asking.lock().unwrap_or_else(PoisonError::into_inner).push(asked.expect("stat"));
        super::wait_until("the stall", || self.switch.lock().stalling);
    }

    /// Everything works again, and everything that was held is answered.
    pub fn release(&self) {
        {
            let mut state = self.switch.lock();
            (state.stalled, state.stalling) = (false, false);
        }
        self.switch.changed.notify_all();
        self.set(Behaviour::default());
    }
}

impl Drop for FaultyFs {
    fn drop(&mut self) {
        self.release();
        for asked in self.asking.get_mut().unwrap_or_else(PoisonError::into_inner) {
            let _ = asked.wait();
        }
        drop(self.session.take());
        // If somebody still has a file open, the mount goes when the file does.
        let _ = std::process::Command::new("umount")
            .arg("--lazy")
            .arg(self.path())
            .stderr(std::process::Stdio::null())
            .status();
    }
}

/// A file or a folder.
struct Node {
    parent: u64,
    name: OsString,
    kind: FileType,
    data: Vec<u8>,
}

impl Node {
    fn folder(parent: u64, name: impl Into<OsString>) -> Node {
        Node { parent, name: name.into(), kind: FileType::Directory, data: Vec::new() }
    }

    fn attributes(&self, ino: u64) -> FileAttr {
        let size = self.data.len() as u64;
        FileAttr {
            ino,
            size,
            blocks: size.div_ceil(512),
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: self.kind,
            perm: if self.kind == FileType::Directory { 0o777 } else { 0o666 },
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: BLOCK,
            flags: 0,
        }
    }
}

struct Server {
    switch: Arc<Switch>,
    nodes: BTreeMap<u64, Node>,
    last: u64,
    /// Many direct requests of a file at once, as a network file system has them.
    many_at_once: bool,
    /// Answers when a file that is closed is flushed.
    flushes: bool,
    /// Keeps a removed file under another name while it is open.
    hides: bool,
    /// How often each file is open.
    opens: BTreeMap<u64, u32>,
}

impl Server {
    fn find(&self, parent: u64, name: &OsStr) -> Option<u64> {
        self.nodes
            .iter()
            .find(|(_, node)| node.parent == parent && node.name == name)
            .map(|(ino, _)| *ino)
    }

    fn add(&mut self, node: Node) -> FileAttr {
        self.last += 1;
        let attributes = node.attributes(self.last);
        self.nodes.insert(self.last, node);
        attributes
    }

    /// Gives the answer now, or once nothing hangs any more.
    fn hold_if(&self, is_held: impl Fn(Behaviour) -> bool, answer: impl FnOnce() + Send + 'static) {
        let mut state = self.switch.lock();
        if is_held(state.behaviour) {
            state.held.push(Box::new(answer));
        } else {
            drop(state);
            answer();
        }
    }

    fn remove(&mut self, parent: u64, name: &OsStr, reply: ReplyEmpty) {
        match self.find(parent, name) {
            Some(ino) if self.nodes.values().any(|node| node.parent == ino) => {
                reply.error(libc::ENOTEMPTY);
            }
            Some(ino) if self.hides && self.opens.get(&ino).is_some_and(|count| *count > 0) => {
                if let Some(node) = self.nodes.get_mut(&ino) {
                    node.name = hidden(ino).into();
                }
                reply.ok();
            }
            // Who has it open goes on with it: the number is never used again, and no test looks at
            // the data then.
            Some(ino) => {
                self.nodes.remove(&ino);
                reply.ok();
            }
            None => reply.error(libc::ENOENT),
        }
    }
}

/// The name of a removed file that is open.
fn hidden(ino: u64) -> String {
    format!(".fuse_hidden{ino:08x}00000001")
}

impl Filesystem for Server {
    fn init(&mut self, _: &Request<'_>, config: &mut KernelConfig) -> Result<(), i32> {
        const FUSE_ASYNC_DIO: u64 = 1 << 15;
        if !self.many_at_once {
            return Ok(());
        }
        config.add_capabilities(FUSE_ASYNC_DIO).map_err(|_| libc::ENOSYS)
    }

    fn lookup(&mut self, _: &Request<'_>, parent: u64, name: &OsStr, reply: ReplyEntry) {
        if name == STALL {
            self.switch.wait_out_stall();
        }
        match self.find(parent, name) {
            Some(ino) => reply.entry(&NO_TIME, &self.nodes[&ino].attributes(ino), 0),
            None => reply.error(libc::ENOENT),
        }
    }

    fn getattr(&mut self, _: &Request<'_>, ino: u64, _: Option<u64>, reply: ReplyAttr) {
        match self.nodes.get(&ino) {
            Some(node) => reply.attr(&NO_TIME, &node.attributes(ino)),
            None => reply.error(libc::ENOENT),
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
        let Some(node) = self.nodes.get_mut(&ino) else { return reply.error(libc::ENOENT) };
        if let Some(size) = size {
            node.data.resize(size as usize, 0);
        }
        reply.attr(&NO_TIME, &node.attributes(ino));
    }

    fn mkdir(
        &mut self,
        _: &Request<'_>,
        parent: u64,
        name: &OsStr,
        _: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        if self.find(parent, name).is_some() {
            return reply.error(libc::EEXIST);
        }
        reply.entry(&NO_TIME, &self.add(Node::folder(parent, name)), 0);
    }

    fn create(
        &mut self,
        _: &Request<'_>,
        parent: u64,
        name: &OsStr,
        _: u32,
        _: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        let file =
            Node { parent, name: name.to_owned(), kind: FileType::RegularFile, data: Vec::new() };
        let attributes = self.add(file);
        *self.opens.entry(attributes.ino).or_default() += 1;
        self.hold_if(
            |behaviour| behaviour.hang_open,
            move || reply.created(&NO_TIME, &attributes, 0, 0, 0),
        );
    }

    fn open(&mut self, _: &Request<'_>, ino: u64, _: i32, reply: ReplyOpen) {
        *self.opens.entry(ino).or_default() += 1;
        self.hold_if(|behaviour| behaviour.hang_open, move || reply.opened(0, 0));
    }

    fn release(
        &mut self,
        _: &Request<'_>,
        ino: u64,
        _: u64,
        _: i32,
        _: Option<u64>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        let count = self.opens.entry(ino).or_default();
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.opens.remove(&ino);
            if self.nodes.get(&ino).is_some_and(|node| node.name == *hidden(ino)) {
                self.nodes.remove(&ino);
            }
        }
        reply.ok();
    }

    fn flush(&mut self, _: &Request<'_>, _: u64, _: u64, _: u64, reply: ReplyEmpty) {
        if !self.flushes {
            return reply.error(libc::ENOSYS);
        }
        self.hold_if(|behaviour| behaviour.hang_flush, move || reply.ok());
    }

    fn unlink(&mut self, _: &Request<'_>, parent: u64, name: &OsStr, reply: ReplyEmpty) {
        self.remove(parent, name, reply);
    }

    fn rmdir(&mut self, _: &Request<'_>, parent: u64, name: &OsStr, reply: ReplyEmpty) {
        self.remove(parent, name, reply);
    }

    fn readdir(
        &mut self,
        _: &Request<'_>,
        ino: u64,
        _: u64,
        offset: i64,
        mut reply: ReplyDirectory,
    ) {
        let dots = [
            (ino, FileType::Directory, OsString::from(".")),
            (ROOT, FileType::Directory, OsString::from("..")),
        ];
        let inside = self.nodes.iter().filter(|(_, node)| node.parent == ino);
        let entries =
            dots.into_iter().chain(inside.map(|(ino, node)| (*ino, node.kind, node.name.clone())));
        for (index, (ino, kind, name)) in entries.enumerate().skip(offset as usize) {
            if reply.add(ino, index as i64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&mut self, _: &Request<'_>, _: u64, reply: ReplyStatfs) {
        let blocks = FREE_BYTES / u64::from(BLOCK);
        reply.statfs(blocks, blocks, blocks, 1 << 20, 1 << 20, BLOCK, 255, BLOCK);
    }

    fn fsync(&mut self, _: &Request<'_>, _: u64, _: u64, _: bool, reply: ReplyEmpty) {
        self.hold_if(|behaviour| behaviour.hang || behaviour.hang_fsync, move || reply.ok());
    }

    fn read(
        &mut self,
        _: &Request<'_>,
        ino: u64,
        _: u64,
        offset: i64,
        size: u32,
        _: i32,
        _: Option<u64>,
        reply: ReplyData,
    ) {
        let Some(node) = self.nodes.get(&ino) else { return reply.error(libc::ESTALE) };
        if self.switch.lock().behaviour.refuse_reads {
            return reply.error(libc::EPERM);
        }
        let start = (offset as usize).min(node.data.len());
        let mut data = node.data[start..(start + size as usize).min(node.data.len())].to_vec();
        let fate = self.switch.next();
        if fate == Fate::Short {
            data.truncate(data.len() / 2);
        }
        self.switch.answer(Box::new(move || match fate {
            Fate::Fail(errno) => reply.error(errno),
            _ => reply.data(&data),
        }));
    }

    fn write(
        &mut self,
        _: &Request<'_>,
        ino: u64,
        _: u64,
        offset: i64,
        data: &[u8],
        _: u32,
        _: i32,
        _: Option<u64>,
        reply: ReplyWrite,
    ) {
        let Some(node) = self.nodes.get_mut(&ino) else { return reply.error(libc::ESTALE) };
        let fate = self.switch.next();
        let (stored, told) = match fate {
            Fate::Whole => (data.len(), data.len()),
            Fate::Short => (data.len() / 2, data.len() / 2),
            Fate::Torn => (data.len() / 2, data.len()),
            Fate::Dropped => (0, data.len()),
            Fate::Fail(_) => (0, 0),
        };
        let (start, end) = (offset as usize, offset as usize + stored);
        if end > node.data.len() {
            node.data.resize(end, 0);
        }
        node.data[start..end].copy_from_slice(&data[..stored]);
        self.switch.answer(Box::new(move || match fate {
            Fate::Fail(errno) => reply.error(errno),
            _ => reply.written(told as u32),
        }));
    }
}
