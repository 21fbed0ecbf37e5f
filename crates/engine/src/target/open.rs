//! Opens the files and devices of a host's plan.

use super::claim::{Claim, lock_for_one, remedy};
use super::patient::{Doing, Haste, Progress, patiently};
use super::simulated::World;
use crate::backend;
use crate::contents::HostContents;
use crate::error::EngineError;
use crate::metadata::grow;
use crate::page_cache;
use crate::together::Together;
use model::plan::{HostPlan, HostStage, PlannedTarget, Target, TargetFile, Work};
use model::spec::{Backend, Poll};
use model::{Note, NoteKind, StageKind};
use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Every target of a host, claimed and open. Claims end when it is dropped.
#[derive(Debug)]
pub struct OpenTargets {
    plan: Arc<HostPlan>,
    backend: Backend,
    /// Shared with the workers: one that hangs keeps them open.
    files: Arc<[OwnedFd]>,
    /// The directories of the trees that this host makes, in the order of the plan.
    trees: Arc<[OwnedFd]>,
    claims: Vec<Claim>,
    notes: Vec<Note>,
    world: Option<Arc<Mutex<World>>>,
    contents: Arc<HostContents>,
    together: Option<Together>,
    haste: Haste,
}

impl OpenTargets {
    /// The plan that they were opened for.
    pub fn plan(&self) -> &HostPlan {
        &self.plan
    }

    /// The backend that serves them: the plan's, or the one that took its place. Of a plan that leaves it open, the one that is tried beside
    /// `sync`.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// The simulated devices, where the targets are such.
    pub(crate) fn world(&self) -> Option<&Arc<Mutex<World>>> {
        self.world.as_ref()
    }

    /// The simulated hosts whose time is theirs.
    pub(crate) fn together(&self) -> Option<&Together> {
        self.together.as_ref()
    }

    /// What had to be done otherwise than planned.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The open files, in the order of [`HostPlan::files`]; none for the null backend.
    pub(crate) fn files(&self) -> Arc<[OwnedFd]> {
        self.files.clone()
    }

    /// The open directories of the trees that this host makes, in the order of the plan.
    pub(crate) fn trees(&self) -> Arc<[OwnedFd]> {
        self.trees.clone()
    }

    /// What is written to them, and how it is checked.
    pub(crate) fn contents(&self) -> Arc<HostContents> {
        self.contents.clone()
    }

    /// Takes in stages that the plan gets while it runs, for the same files. Only between two stages.
    pub fn extend(&mut self, stages: Vec<HostStage>) {
        Arc::make_mut(&mut self.plan).stages.extend(stages);
    }

    /// The plan, for those who may outlive the targets.
    pub(crate) fn shared_plan(&self) -> Arc<HostPlan> {
        self.plan.clone()
    }

    /// Lets go of targets that do not answer: nothing is closed or removed, because both would wait for an answer. The system does it when
    /// the process ends; the files carry our marker.
    pub fn abandon(self) {
        std::mem::forget(self);
    }

    /// Takes the bytes off our own files. The kernel ends a ring after its worker is gone, and holds the files until then: what is only unlinked can
    /// take its space for some time yet, and the next layout may need it. Comes back with the bytes that were freed.
    fn give_space_back(&self, progress: &Progress) -> u64 {
        let targets = self.plan.targets.iter();
        let is_ours = targets.flat_map(|target| {
            let is_ours = matches!(target.kind, PlannedTarget::Directory { .. });
            target.files.iter().map(move |_| is_ours)
        });
        let ours = self.files.iter().zip(is_ours).filter(|(_, is_ours)| *is_ours).map(|(file, _)| file);
        // Where it does not work, the removal that follows does it in its own time.
        let freed = ours.filter_map(|file| {
            let size = rustix::fs::fstat(file).ok()?.st_size as u64;
            let done = rustix::fs::ftruncate(file, 0);
            progress.step();
            done.ok().map(|()| size)
        });
        freed.fold(0, u64::saturating_add)
    }

    /// Closes everything and removes the files that the run made; devices and files of others stay as they are. Comes back with
    /// the bytes that were freed.
    ///
    /// # Errors
    /// When the system refuses, or does not answer for as long as the plan's patience, or a tree holds something of others; what is left carries our
    /// marker still.
    pub fn remove(self) -> Result<u64, EngineError> {
        if self.world.is_some() {
            return Ok(0);
        }
        patiently(self.plan.engine.patience, &self.haste.clone(), Doing::Removing, |progress| self.remove_now(progress))
    }

    /// Closes everything and leaves it as it is.
    ///
    /// # Errors
    /// When the system does not answer for as long as the plan's patience.
    pub fn close(self) -> Result<(), EngineError> {
        if self.world.is_some() {
            return Ok(());
        }
        patiently(self.plan.engine.patience, &self.haste.clone(), Doing::Closing, |progress| {
            progress.at(&self.names());
            drop(self);
            Ok(())
        })
    }

    /// The targets as the user named them.
    fn names(&self) -> String {
        let names: Vec<&str> = self.plan.targets.iter().map(|target| target.path.as_str()).collect();
        names.join(", ")
    }

    fn remove_now(self, progress: &Progress) -> Result<u64, EngineError> {
        progress.at(&self.names());
        let mut freed = self.give_space_back(progress);
        drop(self.files);
        drop(self.trees);
        let mut failed = None;
        // What one directory refuses keeps no other from being tidied up.
        for claim in self.claims {
            let root = claim.root().to_string_lossy().into_owned();
            match claim.remove(progress) {
                Ok(removed) => {
                    freed += removed.bytes;
                    if let Some(tree) = removed.left {
                        failed.get_or_insert(not_empty(&tree));
                    }
                }
                Err(error) => {
                    failed.get_or_insert(not_removed(&root, &error));
                }
            }
        }
        failed.map_or(Ok(freed), Err)
    }
}

/// Why `tree` stays, and the marker above it.
fn not_empty(tree: &str) -> EngineError {
    let what = "stays, because something in it is not ours";
    EngineError::target(tree, what, "move that away, then remove the tree with `plimsoll clean`")
}

/// Why the files of a run in the directory `root` stay.
fn not_removed(root: &str, error: &io::Error) -> EngineError {
    if error.kind() == io::ErrorKind::NotFound {
        let what = "the directory is gone, which the run had claimed: somebody removed or renamed it meanwhile";
        return EngineError::target(root, what, "nothing is left to do there, unless it has another name now");
    }
    let what = format!("the files of the run cannot be removed: {error}");
    EngineError::target(root, what, format!("{}; then remove them with `plimsoll clean`", remedy(error)))
}

/// Claims and opens the targets of `plan`.
///
/// # Errors
/// When a target is in use, is not ours, cannot be laid out as planned, or does not answer a call for as long as the plan's patience. Files that were
/// made until then are removed again, but not those of a target that does not answer: they are ours and marked.
pub fn open(plan: HostPlan) -> Result<OpenTargets, EngineError> {
    open_in(plan, &Haste::default())
}

/// The same; while somebody is in `haste`, no call is waited for longer than a second, neither now nor when the targets are let go.
///
/// # Errors
/// As [`open`].
pub fn open_in(plan: HostPlan, haste: &Haste) -> Result<OpenTargets, EngineError> {
    raise_file_limit();
    let contents = Arc::new(HostContents::new(&plan));
    let is_simulated = plan.targets.iter().any(|target| target.kind == PlannedTarget::Simulated);
    if is_simulated && !plan.engine.backend.sends_nothing() {
        let world = Some(Arc::new(Mutex::new(World::new(&[&plan])?)));
        let backend = plan.engine.backend;
        let (files, trees, claims, notes) = (Arc::new([]), Arc::new([]), Vec::new(), Vec::new());
        return Ok(OpenTargets {
            backend,
            files,
            trees,
            claims,
            notes,
            world,
            contents,
            plan: Arc::new(plan),
            together: None,
            haste: haste.clone(),
        });
    }
    let (patience, theirs) = (plan.engine.patience, haste.clone());
    patiently(patience, haste, Doing::Opening, |progress| open_now(plan, contents, theirs, progress))
}

/// Opens what is not simulated.
fn open_now(
    plan: HostPlan,
    contents: Arc<HostContents>,
    haste: Haste,
    progress: &Progress,
) -> Result<OpenTargets, EngineError> {
    let mut opener =
        Opener { plan: &plan, progress, files: Vec::new(), made: Vec::new(), claims: Vec::new(), notes: Vec::new() };
    let backend = opener.choose_backend();
    if !plan.engine.backend.sends_nothing() {
        for target in &plan.targets {
            if let Err(error) = opener.open(target) {
                opener.take_back();
                return Err(error);
            }
        }
    }
    opener.say_what_is_lost(backend);
    let own = plan.trees.iter().filter(|tree| !tree.joined);
    let trees = own.map(|tree| grow(tree, progress)).collect::<Result<Vec<OwnedFd>, EngineError>>()?;
    if let Some(detail) = page_cache::plan_in_words(&plan, &opener.files) {
        opener.note(NoteKind::PageCache, detail);
    }
    let Opener { files, claims, notes, .. } = opener;
    let plan = Arc::new(plan);
    Ok(OpenTargets {
        backend,
        files: files.into(),
        trees: trees.into(),
        claims,
        notes,
        world: None,
        contents,
        plan,
        together: None,
        haste,
    })
}

/// The same for a simulated host that shares its virtual time, and a cluster, with the others of `together`.
///
/// # Errors
/// As [`open`].
pub fn open_together(plan: HostPlan, together: &Together, haste: &Haste) -> Result<OpenTargets, EngineError> {
    let mut targets = open_in(plan, haste)?;
    if targets.world.is_some() && targets.plan.engine.virtual_time {
        targets.together = Some(together.clone());
    }
    Ok(targets)
}

/// Lets this process have as many open files as the administrator allows; the usual soft limit of 1,024 is made for `select`.
fn raise_file_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // If the kernel says no, opening a file will say so more to the point.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// What libaio costs without direct I/O.
const ONE_AFTER_THE_OTHER: &str = "does one request after the other through the page cache";

/// The backend for `wanted`, of which `auto` begins with the best that keeps many requests outstanding, or what takes its place where the kernel
/// forbids it: io_uring, then libaio, then sync; and why, in words.
fn fallback(
    wanted: Backend,
    ring: impl FnOnce() -> io::Result<()>,
    aio: impl FnOnce() -> io::Result<()>,
    direct: bool,
    trims: bool,
) -> (Backend, Option<String>) {
    let mut why = String::new();
    if matches!(wanted, Backend::IoUring | Backend::Auto) {
        match ring() {
            Ok(()) => return (Backend::IoUring, None),
            Err(error) => why = format!("io_uring: {error}; "),
        }
    } else if wanted != Backend::Libaio {
        return (wanted, None);
    }
    let aio = || if trims { Err(io::Error::other("it has no request for a trim")) } else { aio() };
    match aio() {
        Ok(()) if wanted == Backend::Libaio => (wanted, None),
        Ok(()) if direct => (Backend::Libaio, Some(format!("{why}libaio takes its place"))),
        Ok(()) => (Backend::Libaio, Some(format!("{why}libaio takes its place, which {ONE_AFTER_THE_OTHER}"))),
        Err(error) => {
            let cost = "with one request outstanding per worker";
            (Backend::Sync, Some(format!("{why}libaio: {error}; sync takes its place, {cost}")))
        }
    }
}

/// How often a host looks whether the first one has made a file.
const LOOK: Duration = Duration::from_millis(20);

struct Opener<'a> {
    plan: &'a HostPlan,
    progress: &'a Progress,
    files: Vec<OwnedFd>,
    /// Those of our own files that were not there before.
    made: Vec<String>,
    claims: Vec<Claim>,
    notes: Vec<Note>,
}

impl Opener<'_> {
    /// Removes the files that were made for a run that is refused: a disk that was too small for all of them is not left full.
    fn take_back(self) {
        drop(self.files);
        for path in &self.made {
            self.progress.at(path);
            // Whatever says no here, the refusal of the run says more.
            let _ = rustix::fs::unlink(path.as_str());
            self.progress.step();
        }
        self.claims.into_iter().for_each(Claim::take_back);
    }

    /// What of the plan the chosen backend cannot do, where no note says so yet.
    fn say_what_is_lost(&mut self, backend: Backend) {
        let cached = !self.plan.engine.direct || self.notes.iter().any(|note| note.kind == NoteKind::DirectRefused);
        let is_said = self.notes.iter().any(|note| note.detail.ends_with(ONE_AFTER_THE_OTHER));
        if backend == Backend::Libaio && cached && !is_said {
            self.note(NoteKind::EngineDegraded, format!("libaio {ONE_AFTER_THE_OTHER}"));
        }
        let wanted = self.plan.engine.poll;
        if wanted != Poll::None && matches!(backend, Backend::Libaio | Backend::Sync) {
            self.note(NoteKind::EngineDegraded, format!("poll {wanted}: there is none with {backend}"));
        }
    }

    fn note(&mut self, kind: NoteKind, detail: String) {
        let is_new = |note: &Note| note.kind != kind || note.detail != detail;
        if self.notes.iter().all(is_new) {
            self.notes.push(Note { stage: None, host: self.plan.host, kind, detail });
        }
    }

    fn choose_backend(&mut self) -> Backend {
        let trims = self.plan.stages.iter().flat_map(|stage| &stage.works).any(Work::trims);
        let (ring, aio) = (backend::ring_is_allowed, backend::aio_is_allowed);
        let (backend, detail) = fallback(self.plan.engine.backend, ring, aio, self.plan.engine.direct, trims);
        if let Some(detail) = detail {
            self.note(NoteKind::BackendFallback, detail);
        }
        backend
    }

    fn open(&mut self, target: &Target) -> Result<(), EngineError> {
        match &target.kind {
            PlannedTarget::Directory { root } => {
                self.progress.at(root);
                let claim = Claim::take(root, self.plan)?;
                claim.trim(target.files.len() as u32, self.progress).map_err(|error| {
                    let what = format!("the files of an earlier run cannot be removed: {error}");
                    EngineError::target(root, what, remedy(&error))
                })?;
                self.claims.push(claim);
                for file in &target.files {
                    self.open_ours(file)?;
                }
            }
            PlannedTarget::Joined => {
                for file in &target.files {
                    self.open_joined(file)?;
                }
            }
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

    /// Opens a file or a device that is there, and takes its lock.
    fn open_plain(&mut self, file: &TargetFile, flags: OFlags, shared: bool) -> Result<(), EngineError> {
        let opened = self.open_direct(&file.path, flags, Mode::empty())?;
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

    /// Opens a file that another host of the run makes, once it has its size. Our marker, which that host holds, keeps other runs away.
    fn open_joined(&mut self, file: &TargetFile) -> Result<(), EngineError> {
        let give_up = Instant::now() + Duration::from_nanos(self.plan.engine.patience.0);
        loop {
            self.progress.at(&file.path);
            // Looked at by its name, so that a network file system asks again.
            let has = match rustix::fs::stat(&file.path) {
                Ok(found) => Some(found.st_size as u64),
                Err(Errno::NOENT) => None,
                Err(error) => return Err(cannot_open(&file.path, error)),
            };
            if has == Some(file.size.0) {
                let opened = self.open_direct(&file.path, OFlags::RDWR | OFlags::NOFOLLOW, Mode::empty())?;
                self.files.push(opened);
                return Ok(());
            }
            let is_called_off = self.progress.is_in_haste();
            if is_called_off || Instant::now() >= give_up {
                let until = if is_called_off { "before the run was stopped" } else { "in time (engine.patience)" };
                let what = format!("the host that makes it has not made it {} bytes long {until}", file.size.0);
                let remedy =
                    "see whether both hosts have the same file system there, or give more time with engine.patience";
                return Err(EngineError::target(&file.path, what, remedy));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Opens a file of ours and gives it its size.
    fn open_ours(&mut self, file: &TargetFile) -> Result<(), EngineError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW;
        if matches!(rustix::fs::lstat(file.path.as_str()), Err(Errno::NOENT)) {
            self.made.push(file.path.clone());
        }
        let opened = self.open_direct(&file.path, flags, Mode::from_raw_mode(0o600))?;
        self.lay_out(&opened, file).map_err(|error| {
            let remedy = match error {
                Errno::NOSPC | Errno::DQUOT => "give a smaller layout.size or --scale, or free some space",
                Errno::FBIG => "give a smaller layout.size with more layout.files",
                _ => "name another directory",
            };
            EngineError::target(&file.path, format!("cannot be given its size of {}: {error}", file.size), remedy)
        })?;
        self.files.push(opened);
        Ok(())
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
        // Reserves the space in one piece, so that it cannot run out half-way and writes need not look for any.
        match rustix::fs::fallocate(opened, FallocateFlags::empty(), 0, file.size.0) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                self.note(NoteKind::NoFallocate, format!("{}: the file system reserves no space ahead", file.path));
                rustix::fs::ftruncate(opened, file.size.0)
            }
            result => result,
        }
    }

    /// Opens with `O_DIRECT` if the plan wants it and the file system lets us, else through the page cache with a note.
    fn open_direct(&mut self, path: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, EngineError> {
        self.progress.at(path);
        let flags = flags | OFlags::CLOEXEC;
        if self.plan.engine.direct {
            match rustix::fs::open(path, flags | OFlags::DIRECT, mode) {
                Err(Errno::INVAL) => {
                    self.note(NoteKind::DirectRefused, format!("{path}: the file system refuses O_DIRECT"));
                }
                result => return result.map(without_access_time).map_err(|error| cannot_open(path, error)),
            }
        }
        rustix::fs::open(path, flags, mode).map(without_access_time).map_err(|error| cannot_open(path, error))
    }
}

/// Has reads leave the time of the last access alone, as `t/io_uring` does, and fio on devices: what is there already stays as it was, and a
/// tenth of the host's time for a cached read is not spent on looking at that time. Only the owner may ask for it; for others nothing changes.
pub(crate) fn without_access_time(opened: OwnedFd) -> OwnedFd {
    if let Ok(flags) = rustix::fs::fcntl_getfl(&opened) {
        let _ = rustix::fs::fcntl_setfl(&opened, flags | OFlags::NOATIME);
    }
    opened
}

fn cannot_open(path: &str, error: Errno) -> EngineError {
    let remedy = match error {
        Errno::MFILE | Errno::NFILE => "raise the limit of open files (ulimit -n), or give fewer layout.files",
        Errno::BUSY => "unmount it, or name another device",
        Errno::ACCESS | Errno::PERM => "check your permissions on it",
        Errno::ROFS => "name a target that can be written to",
        Errno::NOSPC => "free some space (or inodes), or name another directory",
        _ => "check the path",
    };
    EngineError::target(path, format!("cannot be opened: {error}"), remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> io::Result<()> {
        Ok(())
    }

    fn forbidden() -> io::Result<()> {
        Err(Errno::PERM.into())
    }

    #[test]
    fn the_next_best_backend_takes_over_and_says_at_what_cost() {
        let (backend, why) = fallback(Backend::IoUring, forbidden, allowed, true, false);
        let why = why.expect("said");
        assert_eq!(backend, Backend::Libaio);
        assert!(why.starts_with("io_uring: ") && why.ends_with("libaio takes its place"), "{why}");
        let (_, why) = fallback(Backend::IoUring, forbidden, allowed, false, false);
        assert!(why.expect("said").contains("one request after the other"));
        let (backend, why) = fallback(Backend::IoUring, forbidden, forbidden, true, false);
        let why = why.expect("said");
        assert_eq!(backend, Backend::Sync);
        assert!(why.contains("libaio: ") && why.contains("one request outstanding per worker"), "{why}");
        let (backend, why) = fallback(Backend::Libaio, allowed, forbidden, true, false);
        assert_eq!(backend, Backend::Sync, "a ring that was not asked for is no way out");
        assert!(!why.expect("said").contains("io_uring"));
    }

    #[test]
    fn what_was_taken_can_be_read_from_the_note() {
        for (wanted, ring, direct) in [(Backend::IoUring, false, true), (Backend::Auto, false, false)] {
            for aio in [true, false] {
                let answer = |is_allowed: bool| if is_allowed { allowed() } else { forbidden() };
                let (taken, why) = fallback(wanted, || answer(ring), || answer(aio), direct, false);
                let kind = NoteKind::BackendFallback;
                let note = Note { stage: None, host: 0, kind, detail: why.expect("said") };
                assert_eq!(note.backend(), Some(taken), "{note:?}");
                assert_eq!(Note { kind: NoteKind::Stuck, ..note }.backend(), None);
            }
        }
    }

    #[test]
    fn libaio_is_no_way_out_for_a_load_that_trims() {
        let (backend, why) = fallback(Backend::IoUring, forbidden, allowed, true, true);
        assert_eq!(backend, Backend::Sync);
        assert!(why.expect("said").contains("no request for a trim"));
    }

    #[test]
    fn what_is_allowed_is_used_in_silence() {
        for wanted in [Backend::IoUring, Backend::Libaio] {
            assert_eq!(fallback(wanted, allowed, allowed, true, false), (wanted, None));
        }
        assert_eq!(fallback(Backend::Auto, allowed, allowed, true, false), (Backend::IoUring, None));
        let (backend, why) = fallback(Backend::Auto, forbidden, allowed, true, false);
        assert!(backend == Backend::Libaio && why.is_some());
        for wanted in [Backend::Sync, Backend::Null, Backend::Nop] {
            assert_eq!(fallback(wanted, forbidden, forbidden, true, true), (wanted, None));
        }
    }
}
