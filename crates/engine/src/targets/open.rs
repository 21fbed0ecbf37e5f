//! The files and devices of a host's plan, from their opening to their removal.

use super::claim::{Claim, Opened, gone, moved, remedy};
use super::descriptions::{Further, Own};
use super::directory::{Bounds, Identity};
use super::opener::Opener;
use super::simulated::World;
use super::time_limit::{Doing, Haste, Progress, patiently};
use crate::contents::HostContents;
use crate::error::EngineError;
use crate::generator::Bookmarks;
use crate::metadata::Ledgers;
use crate::page_cache;
use crate::virtual_time::together::Together;
use crate::zones::Kept;
use model::Note;
use model::choices::Backend;
use model::note::Degraded;
use model::plan::{HostPlan, HostStage, PlannedTarget};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

/// Every target of a host, claimed and open. Claims end when it is dropped.
#[derive(Debug)]
pub struct OpenTargets {
    plan: Arc<HostPlan>,
    backend: Backend,
    /// Shared with the workers: one that hangs keeps them open.
    files: Arc<[OwnedFd]>,
    /// More descriptions of them, for workers that use the same file.
    further: Further,
    /// The directories of the trees that this host makes, in the order of the plan.
    trees: Arc<[OwnedFd]>,
    /// Which files of populations are there.
    ledgers: Arc<Ledgers>,
    /// Where workers stopped in what they go through in order.
    bookmarks: Arc<Mutex<Bookmarks>>,
    /// Where the write pointers of targets without zones are.
    zones: Kept,
    claims: Vec<Claim>,
    notes: Vec<Note>,
    world: Option<Arc<Mutex<World>>>,
    contents: Arc<HostContents>,
    together: Option<Together>,
    bounds: Bounds,
    haste: Haste,
}

impl OpenTargets {
    /// The plan that they were opened for.
    pub fn plan(&self) -> &HostPlan {
        &self.plan
    }

    /// The backend that serves them: the plan's, or the one that took its place. Of a plan that
    /// leaves it open, the one that is tried beside `sync`.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// The simulated devices, where the targets are such.
    pub(crate) fn world(&self) -> Option<&Arc<Mutex<World>>> {
        self.world.as_ref()
    }

    /// Which places may be touched.
    pub(crate) fn bounds(&self) -> &Bounds {
        &self.bounds
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

    /// What each worker of `stage` has of the files instead of that, so that no two have the same
    /// open description; and why some have to, where the system opens no more.
    ///
    /// # Errors
    /// When the system does not answer for as long as the plan's patience.
    pub(crate) fn own_files(
        &self,
        stage: &HostStage,
    ) -> Result<(Vec<Own>, Option<Degraded>), EngineError> {
        self.further.hand_out(&self.plan, stage, &self.files, &self.haste)
    }

    /// The open directories of the trees that this host makes, in the order of the plan.
    pub(crate) fn trees(&self) -> Arc<[OwnedFd]> {
        self.trees.clone()
    }

    /// Which files of populations are there.
    pub(crate) fn ledgers(&self) -> Arc<Ledgers> {
        self.ledgers.clone()
    }

    /// Where workers stopped in what they go through in order.
    pub(crate) fn bookmarks(&self) -> Arc<Mutex<Bookmarks>> {
        self.bookmarks.clone()
    }

    /// The zones of the last stage.
    pub(crate) fn zones(&self) -> &Kept {
        &self.zones
    }

    /// What is written to them, and how it is checked.
    pub(crate) fn contents(&self) -> Arc<HostContents> {
        self.contents.clone()
    }

    /// Takes in stages that the plan gets while it runs, for the same files. Only between two
    /// stages.
    pub fn extend(&mut self, stages: Vec<HostStage>) {
        Arc::make_mut(&mut self.plan).stages.extend(stages);
    }

    /// The plan, for those who may outlive the targets.
    pub(crate) fn shared_plan(&self) -> Arc<HostPlan> {
        self.plan.clone()
    }

    /// Lets go of targets that do not answer: nothing is closed or removed, because both would wait
    /// for an answer. The system does it when the process ends; the files carry our marker.
    pub fn abandon(self) {
        std::mem::forget(self);
    }

    /// Takes the bytes off our own files. The kernel ends a ring after its worker is gone, and
    /// holds the files until then: what is only unlinked can take its space for some time yet, and
    /// the next layout may need it. Comes back with the bytes that were freed.
    fn give_space_back(&self, progress: &Progress) -> u64 {
        let targets = self.plan.targets.iter();
        let is_ours = targets.flat_map(|target| {
            let is_ours = matches!(target.kind, PlannedTarget::Directory { .. });
            target.files.iter().map(move |_| is_ours)
        });
        let ours =
            self.files.iter().zip(is_ours).filter(|(_, is_ours)| *is_ours).map(|(file, _)| file);
        // Where it does not work, the removal that follows does it in its own time.
        let freed = ours.filter_map(|file| {
            // Somebody who gave a file of ours a second name wants to keep what it holds.
            let found = rustix::fs::fstat(file).ok().filter(|found| found.st_nlink <= 1)?;
            let size = found.st_size as u64;
            let done = rustix::fs::ftruncate(file, 0);
            progress.step();
            done.ok().map(|()| size)
        });
        freed.fold(0, u64::saturating_add)
    }

    /// Closes everything and removes the files that the run made; devices and files of others stay
    /// as they are. Comes back with the bytes that were freed.
    ///
    /// # Errors
    /// When the system refuses, or does not answer for as long as the plan's patience, or a tree
    /// holds something of others; what is left carries our marker still.
    pub fn remove(self) -> Result<u64, EngineError> {
        if self.world.is_some() {
            return Ok(0);
        }
        patiently(self.plan.engine.patience, &self.haste.clone(), Doing::Removing, |progress| {
            self.remove_now(progress)
        })
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
        let names: Vec<&str> =
            self.plan.targets.iter().map(|target| target.path.as_str()).collect();
        names.join(", ")
    }

    /// Which files are open, of each claim.
    fn opened(&self) -> Vec<Opened> {
        let mut files = self.files.iter();
        let mut all = Vec::new();
        for target in &self.plan.targets {
            let own = files.by_ref().take(target.files.len());
            let identity = |file| rustix::fs::fstat(file).ok().map(|found| Identity::of(&found));
            let own = (0..).zip(own).filter_map(|(number, file)| Some((number, identity(file)?)));
            let own: Opened = own.collect();
            if matches!(target.kind, PlannedTarget::Directory { .. }) {
                all.push(own);
            }
        }
        all
    }

    fn remove_now(self, progress: &Progress) -> Result<u64, EngineError> {
        progress.at(&self.names());
        self.claims.iter().for_each(Claim::begin_removal);
        let opened = self.opened();
        let mut freed = self.give_space_back(progress);
        drop(self.further);
        drop(self.files);
        drop(self.trees);
        let mut failed = None;
        // What one directory refuses keeps no other from being tidied up.
        for (claim, opened) in self.claims.into_iter().zip(opened) {
            let root = claim.directory().path().to_string_lossy().into_owned();
            match claim.remove(&opened, progress) {
                Ok((removed, leads)) => {
                    freed += removed.bytes;
                    if let Some(tree) = removed.left {
                        failed.get_or_insert(not_empty(&tree));
                    }
                    if let Some(moved) = moved(&root, leads) {
                        failed.get_or_insert(moved);
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
        return gone(root);
    }
    let what = format!("the files of the run cannot be removed: {error}");
    EngineError::target(
        root,
        what,
        format!("{}; then remove them with `plimsoll clean`", remedy(error)),
    )
}

/// Claims and opens the targets of `plan`.
///
/// # Errors
/// When a target is in use, is not ours, cannot be laid out as planned, or does not answer a call
/// for as long as the plan's patience. Files that were made until then are removed again, but not
/// those of a target that does not answer: they are ours and marked.
pub fn open(plan: HostPlan) -> Result<OpenTargets, EngineError> {
    open_in(plan, &Bounds::default(), &Haste::default())
}

/// The same within `bounds`; while somebody is in `haste`, no call is waited for longer than a
/// second, neither now nor when the targets are let go.
///
/// # Errors
/// As [`open`], and when a target is not within the bounds.
pub fn open_in(plan: HostPlan, bounds: &Bounds, haste: &Haste) -> Result<OpenTargets, EngineError> {
    raise_file_limit();
    if let Some(misplaced) = plan.misplaced() {
        let remedy =
            "a run opens its own targets alone: do not trust this run file, or begin the run anew";
        return Err(EngineError::target(&misplaced.path, misplaced.to_string(), remedy));
    }
    let contents = Arc::new(HostContents::new(&plan));
    let is_simulated = plan.targets.iter().any(|target| target.kind == PlannedTarget::Simulated);
    if is_simulated && !plan.engine.backend.sends_nothing() {
        let world = Some(Arc::new(Mutex::new(World::new(&[&plan])?)));
        let backend = plan.engine.backend;
        let (files, trees, claims, notes) = (Arc::new([]), Arc::new([]), Vec::new(), Vec::new());
        return Ok(OpenTargets {
            backend,
            files,
            further: Further::default(),
            trees,
            ledgers: Arc::default(),
            bookmarks: Arc::default(),
            zones: Kept::default(),
            claims,
            notes,
            world,
            contents,
            plan: Arc::new(plan),
            together: None,
            bounds: bounds.clone(),
            haste: haste.clone(),
        });
    }
    let (patience, within, theirs) = (plan.engine.patience, bounds.clone(), haste.clone());
    patiently(patience, haste, Doing::Opening, |progress| {
        open_now(plan, contents, within, theirs, progress)
    })
}

/// Opens what is not simulated.
fn open_now(
    plan: HostPlan,
    contents: Arc<HostContents>,
    bounds: Bounds,
    haste: Haste,
    progress: &Progress,
) -> Result<OpenTargets, EngineError> {
    let mut opener = Opener {
        plan: &plan,
        bounds: &bounds,
        progress,
        files: Vec::new(),
        made: Vec::new(),
        claims: Vec::new(),
        notes: Vec::new(),
    };
    let backend = opener.choose_backend();
    let opened =
        if plan.engine.backend.sends_nothing() { Ok(Vec::new()) } else { opener.open_all() };
    let trees = match opened {
        Ok(trees) => trees,
        Err(error) => {
            opener.take_back();
            return Err(error);
        }
    };
    opener.say_what_is_lost(backend);
    if let Some(fact) = page_cache::planned(&plan, &opener.files) {
        opener.note(fact);
    }
    let Opener { files, claims, notes, .. } = opener;
    let claims = claims.into_iter().map(|(_, claim)| claim).collect();
    let plan = Arc::new(plan);
    Ok(OpenTargets {
        backend,
        files: files.into(),
        further: Further::default(),
        trees: trees.into(),
        ledgers: Arc::default(),
        bookmarks: Arc::default(),
        zones: Kept::default(),
        claims,
        notes,
        world: None,
        contents,
        plan,
        together: None,
        bounds,
        haste,
    })
}

/// The same for a simulated host that shares its virtual time, and a cluster, with the others of
/// `together`.
///
/// # Errors
/// As [`open`].
pub fn open_together(
    plan: HostPlan,
    together: &Together,
    haste: &Haste,
) -> Result<OpenTargets, EngineError> {
    // Nothing of it is real.
    let mut targets = open_in(plan, &Bounds::default(), haste)?;
    if targets.world.is_some() && targets.plan.engine.virtual_time {
        targets.together = Some(together.clone());
    }
    Ok(targets)
}

/// Lets this process have as many open files as the administrator allows; the usual soft limit of
/// 1,024 is made for `select`.
fn raise_file_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // If the kernel says no, opening a file will say so more to the point.
    let _ = setrlimit(Resource::Nofile, limit);
}
