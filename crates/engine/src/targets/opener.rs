//! Opens the targets of a plan one after the other, and takes back what it made when one is
//! refused.

use super::claim::{Claim, joined, remedy};
use super::directory::{Bounds, Directory, NotOpened, Unfit};
use super::fallback::fallback;
use super::marker::lock_for_one;
use super::time_limit::Progress;
use crate::backend;
use crate::error::EngineError;
use crate::metadata::grow;
use model::choices::{Backend, Poll};
use model::note::{Degraded, Fact};
use model::plan::names::data_file_name;
use model::plan::{HostPlan, PlannedTarget, Target, TargetFile, Work};
use model::{Note, NoteKind, StageKind};
use rustix::fs::{FallocateFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// How often a host looks whether the first one has made a file.
const LOOK: Duration = Duration::from_millis(20);

pub(super) struct Opener<'a> {
    pub(super) plan: &'a HostPlan,
    pub(super) bounds: &'a Bounds,
    pub(super) progress: &'a Progress,
    pub(super) files: Vec<OwnedFd>,
    /// Those of our own files that were not there before: the claim, and the name.
    pub(super) made: Vec<(usize, String)>,
    /// Each with the number of its target.
    pub(super) claims: Vec<(usize, Claim)>,
    pub(super) notes: Vec<Note>,
}

/// What is to be opened in which directory.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    directory: &'a Directory,
    name: &'a str,
    file: &'a TargetFile,
}

impl Opener<'_> {
    /// Removes the files that were made for a run that is refused: a disk that was too small for
    /// all of them is not left full.
    pub(super) fn take_back(self) {
        drop(self.files);
        for (claim, name) in &self.made {
            let Some((_, claim)) = self.claims.get(*claim) else { continue };
            self.progress.at(&claim.directory().path().join(name).to_string_lossy());
            // Whatever says no here, the refusal of the run says more.
            let _ = claim.directory().unlink(name);
            self.progress.step();
        }
        self.claims.into_iter().for_each(|(_, claim)| claim.take_back_trees(self.progress));
    }

    /// Opens every target, then makes the trees. Comes back with the directories of these.
    pub(super) fn open_all(&mut self) -> Result<Vec<OwnedFd>, EngineError> {
        for (number, target) in self.plan.targets.iter().enumerate() {
            self.open(number, target)?;
        }
        let own = self.plan.trees.iter().filter(|tree| !tree.joined);
        own.map(|tree| {
            let claim = self.claims.iter().find(|(number, _)| *number == tree.target as usize);
            match claim {
                Some((_, claim)) => grow(tree, claim.directory(), self.progress),
                None => {
                    let what =
                        "the plan has a tree there, and the target is no directory of this host";
                    Err(EngineError::target(&tree.path, what, "begin the run anew"))
                }
            }
        })
        .collect()
    }

    /// What of the plan the chosen backend cannot do, where no note says so yet.
    pub(super) fn say_what_is_lost(&mut self, backend: Backend) {
        let cached = !self.plan.engine.direct
            || self.notes.iter().any(|note| note.kind() == NoteKind::DirectRefused);
        let says = |note: &Note| match &note.fact {
            Fact::BackendFallback(fallback) => fallback.one_after_the_other,
            _ => false,
        };
        if backend == Backend::Libaio && cached && !self.notes.iter().any(says) {
            self.note(Fact::EngineDegraded(Degraded::OneAfterTheOther));
        }
        let poll = self.plan.engine.poll;
        if poll != Poll::None && matches!(backend, Backend::Libaio | Backend::Sync) {
            self.note(Fact::EngineDegraded(Degraded::NoPoll { poll, backend }));
        }
    }

    pub(super) fn note(&mut self, fact: Fact) {
        if self.notes.iter().all(|note| note.fact != fact) {
            self.notes.push(Note { stage: None, host: self.plan.host, fact });
        }
    }

    pub(super) fn choose_backend(&mut self) -> Backend {
        // A purge has a backend of its own.
        let loads = self.plan.stages.iter().filter(|stage| stage.kind != StageKind::Purge);
        let trims = loads.flat_map(|stage| &stage.works).any(Work::trims);
        let (ring, aio) = (backend::ring_is_allowed, backend::aio_is_allowed);
        let (backend, why) =
            fallback(self.plan.engine.backend, ring, aio, self.plan.engine.direct, trims);
        if let Some(why) = why {
            self.note(Fact::BackendFallback(why));
        }
        backend
    }

    fn open(&mut self, number: usize, target: &Target) -> Result<(), EngineError> {
        match &target.kind {
            PlannedTarget::Directory { root } => self.open_claimed(number, root, target)?,
            PlannedTarget::Joined => self.open_joined(target)?,
            PlannedTarget::ReadOnly => {
                for file in &target.files {
                    self.open_plain(file, OFlags::RDONLY, true)?;
                }
            }
            // All of them or none; then they were made above.
            PlannedTarget::Simulated => {}
            PlannedTarget::Device => {
                for file in &target.files {
                    // O_EXCL on a block device: refused while anybody has it mounted.
                    self.open_plain(file, OFlags::RDWR | OFlags::EXCL, false)?;
                }
            }
        }
        Ok(())
    }

    /// Claims the directory of a target, and opens its files there.
    fn open_claimed(
        &mut self,
        number: usize,
        root: &str,
        target: &Target,
    ) -> Result<(), EngineError> {
        self.progress.at(root);
        let claim = Claim::take(root, &target.path, self.plan, self.bounds)?;
        let filled = self.fill(&claim, root, target);
        // Refused or not, it is held: whoever gives up takes it back.
        self.claims.push((number, claim));
        filled
    }

    /// Has the claimed directory hold the files of its target, and none of an earlier run.
    fn fill(&mut self, claim: &Claim, root: &str, target: &Target) -> Result<(), EngineError> {
        claim.trim(target.files.len() as u32, self.progress).map_err(|error| {
            let what = format!("the files of an earlier run cannot be removed: {error}");
            EngineError::target(root, what, remedy(&error))
        })?;
        for (number, file) in (0..).zip(&target.files) {
            let name = data_file_name(number);
            self.open_ours(Wanted { directory: claim.directory(), name: &name, file })?;
        }
        Ok(())
    }

    /// Opens a file or a device that is there, and takes its lock.
    fn open_plain(
        &mut self,
        file: &TargetFile,
        flags: OFlags,
        shared: bool,
    ) -> Result<(), EngineError> {
        self.progress.at(&file.path);
        let is_fit = |mode| match FileType::from_raw_mode(mode) {
            FileType::BlockDevice => true,
            FileType::RegularFile => shared,
            _ => false,
        };
        let unfit = || {
            let what =
                if shared { "is neither a file nor a block device" } else { "is no block device" };
            EngineError::target(
                &file.path,
                what,
                "look what stands at the path, and name another target",
            )
        };
        // Before it is opened, because a pipe or a tape does something then; and after, because it
        // may be another by then.
        let before =
            rustix::fs::stat(&file.path).map_err(|error| cannot_open(&file.path, error))?;
        if !is_fit(before.st_mode) {
            return Err(unfit());
        }
        let opened = self.open_direct(&file.path, flags, |path, flags| {
            rustix::fs::open(path, flags, Mode::empty())
        })?;
        let after = rustix::fs::fstat(&opened).map_err(|error| cannot_open(&file.path, error))?;
        if !is_fit(after.st_mode) {
            return Err(unfit());
        }
        self.bounds.check(&file.path, &file.path, opened.as_fd()).map_err(|outside| {
            let what = format!("may not be touched: {outside}");
            EngineError::target(&file.path, what, "name a path that this host allows")
        })?;
        lock_for_one(opened.as_fd(), shared).map_err(|error| {
            let what = match error {
                Errno::WOULDBLOCK => "another run is using it".to_owned(),
                error => format!("cannot be locked: {error}"),
            };
            EngineError::target(&file.path, what, "wait for it to end, or name another target")
        })?;
        self.files.push(opened);
        Ok(())
    }

    /// Opens files that another host of the run makes, each once it has its size. Our marker, which
    /// that host holds, keeps other runs away.
    fn open_joined(&mut self, target: &Target) -> Result<(), EngineError> {
        let (Some(root), Some(first)) = (target.root(), target.files.first()) else {
            return Ok(());
        };
        let directory = self.wait_for(&first.path, "claimed its directory", |opener| {
            joined(root, &target.path, &opener.plan.run_id, opener.bounds)
        })?;
        for (number, file) in (0..).zip(&target.files) {
            let name = data_file_name(number);
            let what = format!("made it {} bytes long", file.size.0);
            // Looked at by its name, so that a network file system asks again.
            self.wait_for(&file.path, &what, |_| match directory.stat(&name) {
                Ok(found) => Ok((found.st_size as u64 == file.size.0).then_some(())),
                Err(Errno::NOENT) => Ok(None),
                Err(error) => Err(cannot_open(&file.path, error)),
            })?;
            let wanted = Wanted { directory: &directory, name: &name, file };
            let opened = self.open_there(wanted, OFlags::RDWR)?;
            self.files.push(opened);
        }
        Ok(())
    }

    /// Waits until `look` finds what another host is to do with `path`.
    fn wait_for<T>(
        &mut self,
        path: &str,
        what: &str,
        look: impl Fn(&Self) -> Result<Option<T>, EngineError>,
    ) -> Result<T, EngineError> {
        let give_up = Instant::now() + Duration::from_nanos(self.plan.engine.patience.0);
        loop {
            self.progress.at(path);
            if let Some(found) = look(self)? {
                return Ok(found);
            }
            let is_called_off = self.progress.is_in_haste();
            if is_called_off || Instant::now() >= give_up {
                let until = if is_called_off {
                    "before the run was stopped"
                } else {
                    "in time (engine.patience)"
                };
                let what = format!("the host that makes it has not {what} {until}");
                let remedy = "see whether both hosts have the same file system there, or give \
                              more time with engine.patience";
                return Err(EngineError::target(path, what, remedy));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Opens a file of ours, in the directory that was claimed last, and gives it its size.
    fn open_ours(&mut self, wanted: Wanted<'_>) -> Result<(), EngineError> {
        let Wanted { directory, name, file } = wanted;
        if matches!(directory.stat(name), Err(Errno::NOENT)) {
            self.made.push((self.claims.len(), name.to_owned()));
        }
        let opened = self.open_there(wanted, OFlags::RDWR | OFlags::CREATE)?;
        self.lay_out(&opened, file).map_err(|error| {
            let remedy = match error {
                Errno::NOSPC | Errno::DQUOT => {
                    "give a smaller layout.size or --scale, or free some space"
                }
                Errno::FBIG => "give a smaller layout.size with more layout.files",
                _ => "name another directory",
            };
            EngineError::target(
                &file.path,
                format!("cannot be given its size of {}: {error}", file.size),
                remedy,
            )
        })?;
        self.files.push(opened);
        Ok(())
    }

    /// Opens a file with a name of ours in a directory of ours.
    fn open_there(&mut self, wanted: Wanted<'_>, flags: OFlags) -> Result<OwnedFd, EngineError> {
        let Wanted { directory, name, file } = wanted;
        let mode =
            if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o600) } else { Mode::empty() };
        self.progress.at(&file.path);
        let unfit = std::cell::Cell::new(None);
        let opened = self.open_direct(&file.path, flags, |_, flags| {
            match directory.open_file(name, flags, mode) {
                Ok(opened) => Ok(opened),
                Err(NotOpened::System(error)) => Err(error),
                Err(NotOpened::Unfit(why)) => {
                    unfit.set(Some(why));
                    Err(Errno::LOOP)
                }
            }
        });
        match unfit.get() {
            Some(why) => Err(not_ours(&file.path, why)),
            None => opened,
        }
    }

    fn lay_out(&mut self, opened: &OwnedFd, file: &TargetFile) -> rustix::io::Result<()> {
        let has = rustix::fs::fstat(opened)?.st_size as u64;
        if has > file.size.0 {
            rustix::fs::ftruncate(opened, file.size.0)?;
        }
        let will_prepare = self.plan.stages.iter().any(|stage| stage.kind == StageKind::Prepare);
        if has == file.size.0 && !will_prepare {
            return Ok(());
        }
        // Reserves the space in one piece, so that it cannot run out half-way and writes need not
        // look for any.
        match rustix::fs::fallocate(opened, FallocateFlags::empty(), 0, file.size.0) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                self.note(Fact::NoFallocate { path: file.path.clone() });
                rustix::fs::ftruncate(opened, file.size.0)
            }
            result => result,
        }
    }

    /// Opens with `O_DIRECT` if the plan wants it and the file system lets us, else through the
    /// page cache with a note.
    fn open_direct(
        &mut self,
        path: &str,
        flags: OFlags,
        open: impl Fn(&str, OFlags) -> rustix::io::Result<OwnedFd>,
    ) -> Result<OwnedFd, EngineError> {
        let flags = flags | OFlags::CLOEXEC;
        if self.plan.engine.direct {
            match open(path, flags | OFlags::DIRECT) {
                Err(Errno::INVAL) => {
                    self.note(Fact::DirectRefused { path: path.to_owned() });
                }
                result => {
                    return result
                        .map(without_access_time)
                        .map_err(|error| cannot_open(path, error));
                }
            }
        }
        open(path, flags).map(without_access_time).map_err(|error| cannot_open(path, error))
    }
}

/// Why a file with a name of ours is not loaded.
fn not_ours(path: &str, why: Unfit) -> EngineError {
    let what = format!("has a name of ours, but Plimsoll did not make it: {why}");
    EngineError::target(path, what, "move it away, or name another directory")
}

/// Has reads leave the time of the last access alone, as `t/io_uring` does, and fio on devices:
/// what is there already stays as it was, and a tenth of the host's time for a cached read is not
/// spent on looking at that time. Only the owner may ask for it; for others nothing changes.
fn without_access_time(opened: OwnedFd) -> OwnedFd {
    if let Ok(flags) = rustix::fs::fcntl_getfl(&opened) {
        let _ = rustix::fs::fcntl_setfl(&opened, flags | OFlags::NOATIME);
    }
    opened
}

fn cannot_open(path: &str, error: Errno) -> EngineError {
    let remedy = match error {
        Errno::MFILE | Errno::NFILE => {
            "raise the limit of open files (ulimit -n), or give fewer layout.files"
        }
        Errno::BUSY => "unmount it, or name another device",
        Errno::ACCESS | Errno::PERM => "check your permissions on it",
        Errno::ROFS => "name a target that can be written to",
        Errno::NOSPC => "free some space (or inodes), or name another directory",
        _ => "check the path",
    };
    EngineError::target(path, format!("cannot be opened: {error}"), remedy)
}
