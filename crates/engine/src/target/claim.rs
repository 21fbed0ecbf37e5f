//! What is ours: a directory with our marker, held by one run at a time.
//!
//! Nothing is written into or removed from a directory that does not carry the marker, and in one that does, only files that have
//! a name of ours and are regular files, and trees of ours with what in them has a name of ours.

use super::patient::Progress;
use crate::error::EngineError;
use crate::metadata::{is_ours, remove_tree};
use model::plan::HostPlan;
use model::planner::data_file_name;
use model::testbed::MARKER;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{Read, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What stands in a marker.
#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    /// Always `plimsoll`.
    made_by: String,
    /// The run that used the directory last.
    run_id: String,
    /// Its process.
    pid: u32,
    /// Whether Plimsoll made the directory itself, so that it may remove it.
    made_directory: bool,
    /// What that run calls the host; empty in markers of versions that did not say.
    #[serde(default)]
    host: String,
    /// The host's number in that run.
    #[serde(default)]
    host_number: Option<u32>,
}

/// How often is looked again at a marker that another host is just making.
const ANOTHER_LOOK: u32 = 50;
/// Between two looks.
const LOOK: Duration = Duration::from_millis(2);

/// A name of a host is shorter than this, in characters: a marker has a limit.
const LONGEST_NAME: usize = 256;

impl Marker {
    /// Whether another host of the run that `plan` is of has the directory, too.
    fn is_of_other_host(&self, plan: &HostPlan) -> bool {
        self.run_id == plan.run_id && self.host_number.is_some_and(|number| number != plan.host)
    }

    /// Who holds it, in words.
    fn holder(&self) -> String {
        let host = if self.host.is_empty() { String::new() } else { format!(" on host {}", printable(&self.host)) };
        format!(" (process {}{host})", self.pid)
    }
}

/// Others write markers, too.
fn printable(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect()
}

/// A marker is a line of text; more is not one of ours.
const MARKER_LIMIT: u64 = 4096;

/// A claimed directory. The claim lasts until it is dropped or the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Claim {
    root: PathBuf,
    marker: fs::File,
    made_directory: bool,
    /// Whether this claim made the directory.
    made_now: bool,
}

impl Claim {
    /// Claims the directory `root` for a host's plan, and makes it if it is not there.
    pub(crate) fn take(root: &str, plan: &HostPlan) -> Result<Claim, EngineError> {
        let path = Path::new(root);
        let made_now = match fs::create_dir(path) {
            Ok(()) => true,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => false,
            Err(error) => {
                let what = format!("the directory cannot be made: {error}");
                return Err(EngineError::target(root, what, "name a directory that you may write to"));
            }
        };
        let marker = open_marker(path)?;
        lock(&marker, root, Some(plan))?;
        let earlier = read_marker(&marker);
        // Locks of some network file systems end at the host.
        if let Some(other) = earlier.as_ref().filter(|earlier| earlier.is_of_other_host(plan)) {
            return Err(seen_by_both(root, other, plan));
        }
        let made_directory = made_now || earlier.is_some_and(|marker| marker.made_directory);
        let claim = Claim { root: path.to_owned(), marker, made_directory, made_now };
        claim.write(plan)?;
        Ok(claim)
    }

    /// The directory.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    fn write(&self, plan: &HostPlan) -> Result<(), EngineError> {
        let marker = Marker {
            made_by: "plimsoll".to_owned(),
            run_id: plan.run_id.clone(),
            pid: std::process::id(),
            made_directory: self.made_directory,
            host: printable(&plan.hostname),
            host_number: Some(plan.host),
        };
        let text = serde_json::to_string(&marker).map_err(std::io::Error::other);
        let mut file = &self.marker;
        text.and_then(|text| {
            file.rewind()?;
            file.set_len(0)?;
            writeln!(file, "{text}")
        })
        .map_err(|error| {
            let what = format!("the marker {MARKER} cannot be written: {error}");
            EngineError::target(&self.root.to_string_lossy(), what, "free some space, or name another directory")
        })
    }

    /// Lets go of a directory that is not used after all: one that this claim made is removed if only our marker is in it.
    pub(crate) fn take_back(self) {
        let is_alone = || fs::read_dir(&self.root).is_ok_and(|entries| entries.count() == 1);
        if self.made_now && is_alone() && fs::remove_file(self.root.join(MARKER)).is_ok() {
            let _ = fs::remove_dir(&self.root);
        }
    }

    /// Removes our files from number `kept` on, of which earlier runs may have had more, and the trees that they left.
    pub(crate) fn trim(&self, kept: u32, progress: &Progress) -> std::io::Result<u64> {
        Ok(remove_data_files(&self.root, kept, progress)? + remove_trees(&self.root, progress)?)
    }

    /// Removes what is ours: the data files, the trees, the marker, and the directory if we made it and nothing else is in it. Where a tree
    /// stays, because somebody put something into it, the marker stays as well: without it, nobody could tell again whose the tree is.
    pub(crate) fn remove(self, progress: &Progress) -> std::io::Result<Removed> {
        progress.at(&self.root.to_string_lossy());
        let bytes = remove_data_files(&self.root, 0, progress)? + remove_trees(&self.root, progress)?;
        let left = tree_left(&self.root)?;
        if left.is_some() {
            return Ok(Removed { bytes, left });
        }
        fs::remove_file(self.root.join(MARKER))?;
        if self.made_directory {
            match fs::remove_dir(&self.root) {
                // Somebody put a file of theirs beside ours: it stays, and so does the directory.
                Err(error) if error.kind() != std::io::ErrorKind::DirectoryNotEmpty => return Err(error),
                _ => {}
            }
        }
        Ok(Removed { bytes, left: None })
    }
}

/// What became of our files in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// How much they held that was freed, in bytes.
    pub bytes: u64,
    /// The path of a tree of ours that stays, with our marker, because something in it is not ours.
    pub left: Option<String>,
}

/// What to do about an `error` of removing our files.
pub(crate) fn remedy(error: &std::io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE) => "raise the limit of open files (ulimit -n)",
        Some(libc::EROFS) => "see why the file system cannot be written to",
        Some(libc::EIO | libc::ESTALE | libc::ENOTCONN) => "see whether the file system is well",
        _ => "check your permissions on it",
    }
}

/// Removes what an earlier run left in `directory`: our files and the marker. Waits for the system as long
/// as that takes: who cannot, calls it [`patiently`](super::patiently), whose progress this is.
///
/// # Errors
/// When the directory carries no marker of ours, or a run is using it, or the system refuses.
pub fn clean(directory: &str, progress: &Progress) -> Result<Removed, EngineError> {
    progress.at(directory);
    let path = Path::new(directory);
    if !path.join(MARKER).is_file() {
        let what = format!("no marker {MARKER} is there, so nothing in it is ours");
        return Err(EngineError::target(directory, what, "name the directory that the run wrote to"));
    }
    let marker = open_marker(path)?;
    lock(&marker, directory, None)?;
    let made_directory = read_marker(&marker).is_some_and(|marker| marker.made_directory);
    let claim = Claim { root: path.to_owned(), marker, made_directory, made_now: false };
    claim.remove(progress).map_err(|error| {
        EngineError::target(directory, format!("our files cannot be removed: {error}"), remedy(&error))
    })
}

fn open_marker(root: &Path) -> Result<fs::File, EngineError> {
    // Another host may make it between our looking and our making.
    for _ in 0..ANOTHER_LOOK {
        let result = open_or_make_marker(root);
        if result.is_ok() || !root.join(MARKER).is_file() {
            return result;
        }
    }
    open_or_make_marker(root)
}

fn open_or_make_marker(root: &Path) -> Result<fs::File, EngineError> {
    let name = root.to_string_lossy();
    let path = root.join(MARKER);
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    match rustix::fs::open(&path, flags, Mode::empty()) {
        Ok(file) => {
            let file = fs::File::from(file);
            if read_marker(&file).is_none() {
                let what = format!("{MARKER} is there, but Plimsoll did not write it");
                return Err(EngineError::target(&name, what, "name another directory"));
            }
            Ok(file)
        }
        Err(Errno::NOENT) => {
            // The planner saw this too, but somebody may have come since.
            let is_empty = fs::read_dir(root).is_ok_and(|mut entries| entries.next().is_none());
            if !is_empty {
                let what = "holds files that Plimsoll did not make";
                return Err(EngineError::target(&name, what, "name another directory, or move those files away"));
            }
            let mode = Mode::from_raw_mode(0o644);
            rustix::fs::open(&path, flags | OFlags::CREATE | OFlags::EXCL, mode).map(fs::File::from).map_err(|error| {
                let what = format!("the marker {MARKER} cannot be made: {error}");
                EngineError::target(&name, what, "name a directory that you may write to")
            })
        }
        Err(error) => {
            let what = format!("the marker {MARKER} cannot be opened: {error}");
            Err(EngineError::target(&name, what, "check your permissions on it"))
        }
    }
}

/// The marker's content; a new and therefore empty one counts as ours.
fn read_marker(mut file: &fs::File) -> Option<Marker> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(MARKER_LIMIT).read_to_string(&mut text).ok()?;
    if text.is_empty() {
        let made_by = "plimsoll".to_owned();
        let (run_id, host) = (String::new(), String::new());
        return Some(Marker { made_by, run_id, pid: 0, made_directory: false, host, host_number: None });
    }
    serde_json::from_str(&text).ok().filter(|marker: &Marker| marker.made_by == "plimsoll")
}

/// The content of a marker that another one holds, who may be about to write it.
fn settled(marker: &fs::File) -> Option<Marker> {
    for _ in 0..ANOTHER_LOOK {
        if let Some(told) = read_marker(marker).filter(|told| !told.run_id.is_empty()) {
            return Some(told);
        }
        std::thread::sleep(LOOK);
    }
    read_marker(marker)
}

/// The run that used a directory last, by its open `marker`; `None` if it is none of ours.
pub(crate) fn run_of(marker: &fs::File) -> Option<String> {
    read_marker(marker).map(|marker| marker.run_id)
}

/// Takes the marker's lock, for a host's plan or to clean.
fn lock(marker: &fs::File, root: &str, plan: Option<&HostPlan>) -> Result<(), EngineError> {
    lock_for_one(marker.as_fd(), false).map_err(|error| match error {
        Errno::WOULDBLOCK => match (settled(marker), plan) {
            (Some(other), Some(plan)) if other.is_of_other_host(plan) => seen_by_both(root, &other, plan),
            (other, _) => {
                let holder = other.map_or_else(String::new, |marker| marker.holder());
                let what = format!("another run is using it{holder}");
                EngineError::target(root, what, "wait for it to end, or name another target")
            }
        },
        error => EngineError::target(root, format!("cannot be locked: {error}"), "name another target"),
    })
}

/// Two hosts of a run that are to have a directory each have the same one.
fn seen_by_both(root: &str, other: &Marker, plan: &HostPlan) -> EngineError {
    let (other, mine) = (printable(&other.host), &plan.hostname);
    let what = format!("hosts {other} and {mine} see one directory here, and each would overwrite the other's files");
    EngineError::target(
        root,
        what,
        "give each host a directory of its own, and look for links and mounts that lead to one place",
    )
}

/// Takes the lock of a target: alone for those who write, together with other readers for those who read.
pub(crate) fn lock_for_one(file: BorrowedFd<'_>, shared: bool) -> rustix::io::Result<()> {
    flock(file, if shared { FlockOperation::NonBlockingLockShared } else { FlockOperation::NonBlockingLockExclusive })
}

fn remove_data_files(root: &Path, from: u32, progress: &Progress) -> std::io::Result<u64> {
    let mut freed = 0;
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        let Some(number) = entry.file_name().to_str().and_then(number_of) else { continue };
        let metadata = entry.metadata()?;
        if number >= from && metadata.is_file() {
            fs::remove_file(entry.path())?;
            progress.step();
            freed += metadata.len();
        }
    }
    Ok(freed)
}

fn remove_trees(root: &Path, progress: &Progress) -> std::io::Result<u64> {
    let mut freed = 0;
    let directory = fs::File::open(root)?;
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        if let Some(name) = entry.file_name().to_str().filter(|name| is_ours(name)) {
            freed += remove_tree(directory.as_fd(), name, progress)?;
        }
    }
    Ok(freed)
}

/// The path of a tree of ours that is still there.
fn tree_left(root: &Path) -> std::io::Result<Option<String>> {
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        // A link of that name is not ours, and was left for that reason.
        let is_tree = entry.file_name().to_str().is_some_and(is_ours) && entry.file_type()?.is_dir();
        if is_tree {
            return Ok(Some(entry.path().to_string_lossy().into_owned()));
        }
    }
    Ok(None)
}

/// The number in a name of ours; `None` for any other name.
fn number_of(name: &str) -> Option<u32> {
    let number = name.strip_prefix("data-")?.strip_suffix(".bin")?.parse().ok()?;
    (data_file_name(number) == name).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_fits_its_error() {
        let of = |errno| remedy(&std::io::Error::from_raw_os_error(errno));
        assert!(of(libc::EMFILE).contains("ulimit") && of(libc::ENFILE).contains("ulimit"));
        assert!(of(libc::EACCES).contains("permissions") && of(libc::EROFS).contains("cannot be written"));
    }

    #[test]
    fn only_our_own_names_are_ours() {
        assert_eq!(number_of("data-00012.bin"), Some(12));
        assert_eq!(number_of(&data_file_name(123_456)), Some(123_456));
        for name in
            ["data-12.bin", "data-000012.bin", "data-+0012.bin", "data-.bin", "precious.bin", "data-00001.bin.bak"]
        {
            assert_eq!(number_of(name), None, "{name}");
        }
    }
}
