//! Finds and opens what a run left: where it was, or where it has been taken since.

use super::AuditError;
use crate::error::EngineError;
use crate::targets::{Progress, is_removed, lock_for_one, run_of};
use model::metadata::Tree;
use model::plan::{HostPlan, PlannedTarget, Target, TargetFile};
use model::testbed::{DATA_DIR, MARKER};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// One file or device, open for reading.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) file: OwnedFd,
    /// The marker of its directory: as long as it is open, no run begins there.
    _marker: Option<fs::File>,
}

/// Opens all files of `plan`, in their order; its targets stand at `here`, if that is not empty.
pub(super) fn open(
    plan: &HostPlan,
    here: &[String],
    progress: &Progress,
) -> Result<Vec<Place>, AuditError> {
    are_all_named(plan, here)?;
    let mut places = Vec::new();
    for (index, target) in plan.targets.iter().enumerate() {
        open_target(plan, target, here.get(index).map(String::as_str), progress, &mut places)?;
    }
    Ok(places)
}

/// Whether `here` names a place for each target of `plan`, or none at all.
pub(super) fn are_all_named(plan: &HostPlan, here: &[String]) -> Result<(), AuditError> {
    if !here.is_empty() && here.len() != plan.targets.len() {
        let was: Vec<&str> = plan.targets.iter().map(|target| target.path.as_str()).collect();
        let text = format!(
            "the run has {} targets ({}) and {} are named; name one --target for each, in this \
             order, or none",
            was.len(),
            was.join(", "),
            here.len()
        );
        return Err(AuditError::Usage(text));
    }
    Ok(())
}

fn open_target(
    plan: &HostPlan,
    target: &Target,
    here: Option<&str>,
    progress: &Progress,
    places: &mut Vec<Place>,
) -> Result<(), AuditError> {
    let PlannedTarget::Directory { root } = &target.kind else {
        for file in &target.files {
            let path = here.unwrap_or(&file.path);
            progress.at(path);
            let opened = open_file(plan, path)?;
            if let Err(Errno::WOULDBLOCK) = lock_for_one(opened.as_fd(), true) {
                return Err(in_use(path));
            }
            places.push(Place { path: path.to_owned(), file: opened, _marker: None });
        }
        return Ok(());
    };
    progress.at(here.unwrap_or(root));
    let root = here.map_or_else(|| PathBuf::from(root), root_of);
    let marker = marker(plan, &root)?;
    for file in &target.files {
        let path = root.join(name_of(file)?);
        let path = path.to_string_lossy().into_owned();
        progress.at(&path);
        let marker = marker.as_ref().and_then(|marker| marker.try_clone().ok());
        places.push(Place { file: open_file(plan, &path)?, path, _marker: marker });
    }
    Ok(())
}

/// A directory may have been named as for `plimsoll run`: then our files are in our folder in it.
pub(super) fn root_of(named: &str) -> PathBuf {
    let (there, inner) = (PathBuf::from(named), Path::new(named).join(DATA_DIR));
    if !there.join(MARKER).is_file() && inner.join(MARKER).is_file() { inner } else { there }
}

/// The file's own name: a path from a run file does not lead out of the directory that is looked
/// at.
fn name_of(file: &TargetFile) -> Result<&Path, AuditError> {
    let name = Path::new(&file.path).file_name().map(Path::new);
    name.ok_or_else(|| super::damaged("a file of its plan has no name"))
}

/// Opens the directory of `tree`, whose target stands at `here`, if it is not where it was. The
/// marker of the target comes with it: as long as it is open, no run begins there.
pub(super) fn open_tree(
    plan: &HostPlan,
    tree: &Tree,
    here: Option<&str>,
) -> Result<(PathBuf, OwnedFd, Option<fs::File>), AuditError> {
    let (root, name) =
        tree.place().ok_or_else(|| super::damaged("a tree of its plan has no name of ours"))?;
    let root = here.map_or_else(|| PathBuf::from(root), root_of);
    let marker = marker(plan, &root)?;
    let path = root.join(name);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let opened = rustix::fs::open(&path, flags, Mode::empty());
    let opened = opened.map_err(|error| cannot_be_opened(&path.to_string_lossy(), error))?;
    Ok((path, opened, marker))
}

/// The marker, if there is one; copied data may be without. Taken together with other readers, so
/// that no run goes on meanwhile.
fn marker(plan: &HostPlan, root: &Path) -> Result<Option<fs::File>, AuditError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let Ok(marker) = rustix::fs::open(root.join(MARKER), flags, Mode::empty()).map(fs::File::from)
    else {
        return Ok(None);
    };
    let name = root.to_string_lossy();
    if let Err(Errno::WOULDBLOCK) = lock_for_one(marker.as_fd(), true) {
        return Err(in_use(&name));
    }
    match run_of(&marker) {
        Some(run) if run != plan.run_id && !run.is_empty() => {
            let what = format!("holds the data of another run, {run}");
            let remedy = "verify the run file of that one, or name the place of this one's data \
                          with --target";
            Err(EngineError::target(&name, what, remedy).into())
        }
        _ if is_removed(&marker) => {
            let what = "the run was cut off while it removed its files, so that those that are \
                        gone say nothing";
            let remedy = "run it with --keep-data, and remove these with `plimsoll clean`";
            Err(EngineError::target(&name, what.to_owned(), remedy).into())
        }
        _ => Ok(Some(marker)),
    }
}

fn in_use(path: &str) -> AuditError {
    EngineError::target(path, "a run is using it", "wait for it to end, and verify then").into()
}

/// Opens around the page cache if the run did, so that it is the target that answers.
fn open_file(plan: &HostPlan, path: &str) -> Result<OwnedFd, AuditError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let direct =
        plan.engine.direct.then(|| rustix::fs::open(path, flags | OFlags::DIRECT, Mode::empty()));
    let opened = match direct {
        Some(Err(Errno::INVAL)) | None => rustix::fs::open(path, flags, Mode::empty()),
        Some(opened) => opened,
    };
    opened.map_err(|error| cannot_be_opened(path, error))
}

fn cannot_be_opened(path: &str, error: Errno) -> AuditError {
    let remedy = match error {
        Errno::NOENT => {
            "a run removes its files at its end unless it has --keep-data; if they are elsewhere, \
             name the place with --target"
        }
        Errno::ACCESS | Errno::PERM => "check your permissions on it",
        _ => "name the place of the data with --target",
    };
    EngineError::target(path, format!("cannot be opened: {error}"), remedy).into()
}
