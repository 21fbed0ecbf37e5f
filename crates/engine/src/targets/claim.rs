//! What is ours: a directory with our marker, held by one run at a time.
//!
//! Nothing is written into or removed from a directory that does not carry the marker, and in one
//! that does, only files that have a name of ours and are regular files with that name alone, and
//! trees of ours with what in them has a name of ours. All of it goes through the directory's
//! descriptor, from the claim to the removal: what its path leads to meanwhile is not touched.

use super::directory::{Bounds, Directory, Identity, Leads, NotMade, make_or_open};
use super::marker::{Held, is_busy, note_removal, run_in};
use super::time_limit::Progress;
use super::tree_removal::{is_ours, remove_tree};
use crate::error::EngineError;
use model::plan::HostPlan;
use model::plan::names::data_file_name;
use model::testbed::MARKER;
use rustix::fs::FileType;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// How long is waited for the files that a file system hides while they are still open somewhere,
/// and how often is looked.
const HIDDEN: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);

/// A claimed directory. The claim lasts until it is dropped or the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Claim {
    directory: Directory,
    marker: File,
    made_directory: bool,
    /// What this claim made: the directory, the marker.
    made_now: (bool, bool),
}

impl Claim {
    /// Claims the directory `root` of `target` for a host's plan, and makes it if it is not there
    /// and `bounds` allow it. A claim that is refused leaves nothing.
    pub(crate) fn take(
        root: &str,
        target: &str,
        plan: &HostPlan,
        bounds: &Bounds,
    ) -> Result<Claim, EngineError> {
        let (directory, is_new) =
            make_or_open(root, target, bounds).map_err(|error| not_made(root, error))?;
        let held = match Held::take(&directory, plan) {
            Ok(held) => held,
            Err(error) => {
                if is_new {
                    // If somebody has come meanwhile, it is theirs.
                    let _ = directory.remove();
                }
                return Err(error);
            }
        };
        let made_directory =
            is_new || held.earlier.as_ref().is_some_and(|marker| marker.made_directory);
        let made_now = (is_new, held.is_new);
        let written = held.write(plan, made_directory);
        let claim = Claim { directory, marker: held.file, made_directory, made_now };
        if let Err(error) = written {
            claim.take_back();
            let what = format!("the marker {MARKER} cannot be written: {error}");
            return Err(EngineError::target(
                root,
                what,
                "free some space, or name another directory",
            ));
        }
        Ok(claim)
    }

    /// The directory.
    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Lets go of a directory that is not used after all: the marker goes if this claim made it and
    /// nothing else is there, and so does the directory.
    pub(crate) fn take_back(self) {
        let (directory_is_new, marker_is_new) = self.made_now;
        let is_alone = || {
            let mut names = self.directory.names().ok()?;
            Some(names.all(|name| name.is_ok_and(|name| name == MARKER || is_hidden(&name))))
        };
        if !marker_is_new || is_alone() != Some(true) {
            return;
        }
        // Whatever says no here, the refusal of the run says more.
        let _ = give_up(&self.directory, self.marker, directory_is_new, &Progress::default());
    }

    /// The same after trees were begun in it: beside a marker that this claim made, all are its
    /// own.
    pub(crate) fn take_back_trees(self, progress: &Progress) {
        let (_, marker_is_new) = self.made_now;
        if marker_is_new {
            // Whatever says no here, the refusal of the run says more.
            let _ = remove_trees(&self.directory, progress);
        }
        self.take_back();
    }

    /// Removes our files from number `kept` on, of which earlier runs may have had more, and the
    /// trees that they left.
    pub(crate) fn trim(&self, kept: u32, progress: &Progress) -> io::Result<u64> {
        Ok(remove_data_files(&self.directory, kept, &Opened::new(), progress)?
            + remove_trees(&self.directory, progress)?)
    }

    /// Notes that the files are being removed.
    pub(crate) fn begin_removal(&self) {
        note_removal(&self.marker);
    }

    /// Removes what is ours: the data files, the trees, the marker, and the directory if we made it
    /// and nothing else is in it. Where a tree stays, because somebody put something into it, the
    /// marker stays as well: without it, nobody could tell again whose the tree is.
    ///
    /// Where the path of the directory leads elsewhere by now, nothing is touched there, and what
    /// is ours is removed where it is; the second value says where the path leads. What stands in
    /// the place of a file that was `opened` is not ours, and stays.
    pub(crate) fn remove(
        self,
        opened: &Opened,
        progress: &Progress,
    ) -> io::Result<(Removed, Leads)> {
        progress.at(&self.directory.path().to_string_lossy());
        self.begin_removal();
        let bytes = remove_data_files(&self.directory, 0, opened, progress)?
            + remove_trees(&self.directory, progress)?;
        let left = tree_left(&self.directory)?;
        let leads = self.directory.leads()?;
        if left.is_none() {
            wait_for_hidden(&self.directory, progress)?;
            give_up(
                &self.directory,
                self.marker,
                self.made_directory && leads == Leads::Here,
                progress,
            )?;
        }
        Ok((Removed { bytes, left }, leads))
    }
}

/// Removes the marker, then the directory if it is ours as well.
fn give_up(
    directory: &Directory,
    marker: File,
    with_directory: bool,
    progress: &Progress,
) -> io::Result<()> {
    // As long as it is open, no other run can take it. One that somebody put in its place is not
    // ours.
    if directory.holds(MARKER, &marker)? {
        match directory.unlink(MARKER).map_err(io::Error::from) {
            Err(error) if is_busy(&error) => {
                drop(marker);
                directory.unlink(MARKER)?;
            }
            // Closed before the directory goes: some file systems hide an open file there instead
            // of removing it.
            result => result.map(|()| drop(marker))?,
        }
    }
    if !with_directory {
        return Ok(());
    }
    wait_for_hidden(directory, progress)?;
    match directory.remove() {
        // Somebody put a file of theirs beside ours: it stays, and so does the directory. Or
        // somebody was quicker.
        Ok(()) | Err(Errno::NOTEMPTY | Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether a file system gives such a name to a file that was removed while it was open: NFS,
/// libfuse.
fn is_hidden(name: &str) -> bool {
    let is_of = |prefix: &str| {
        let digits = name.strip_prefix(prefix).unwrap_or_default();
        digits.len() >= 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    is_of(".nfs") || is_of(".fuse_hidden")
}

/// Waits until a file system has removed what it hid while it was open: the kernel closes the files
/// of a ring in its own time.
fn wait_for_hidden(directory: &Directory, progress: &Progress) -> io::Result<()> {
    let give_up = Instant::now() + HIDDEN;
    loop {
        let mut hidden =
            directory.names()?.filter(|name| name.as_ref().map_or(true, |name| is_hidden(name)));
        let Some(name) = hidden.next().transpose()? else { return Ok(()) };
        if Instant::now() >= give_up || progress.is_in_haste() {
            let what = format!(
                "{name} stays, which the file system keeps as long as a removed file is open"
            );
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, what));
        }
        std::thread::sleep(LOOK);
        progress.step();
    }
}

fn not_made(root: &str, error: NotMade) -> EngineError {
    match error {
        NotMade::System(error) => {
            let what = format!("the directory cannot be made: {}", io::Error::from(error));
            EngineError::target(root, what, "name a directory that you may write to")
        }
        NotMade::NotOpened(Errno::LOOP | Errno::NOTDIR) => {
            let what =
                "is no directory, or a link, which is not followed where a folder of ours is to be";
            EngineError::target(root, what, "move it away, or name another target")
        }
        NotMade::NotOpened(error) => {
            let what = format!("the directory cannot be opened: {}", io::Error::from(error));
            EngineError::target(root, what, remedy(&error.into()))
        }
        NotMade::Outside(outside) => {
            let what = format!("may not be touched: {outside}");
            EngineError::target(
                root,
                what,
                "name a path that this host allows, and put no links there",
            )
        }
    }
}

/// What became of our files in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// How much they held that was freed, in bytes.
    pub bytes: u64,
    /// The path of a tree of ours that stays, with our marker, because something in it is not
    /// ours.
    pub left: Option<String>,
}

/// What is to be said of a directory whose path `root` does not lead to it any more.
pub(crate) fn moved(root: &str, leads: Leads) -> Option<EngineError> {
    match leads {
        Leads::Here => None,
        Leads::Nowhere => Some(gone(root)),
        Leads::Elsewhere => Some(exchanged(root)),
    }
}

/// Why nothing of the directory `root` is left, as far as its path tells.
pub(crate) fn gone(root: &str) -> EngineError {
    let what = "the directory is gone, which the run had claimed: somebody removed or renamed it \
                meanwhile";
    EngineError::target(
        root,
        what,
        "our files in it are removed; if it has another name now, remove the empty directory",
    )
}

fn exchanged(root: &str) -> EngineError {
    let what = "leads to another place than the run had claimed: somebody moved that directory, \
                or mounted over it";
    let remedy = "our files are removed from the claimed directory, and nothing was touched in \
                  the other place; look for the empty directory, and remove it";
    EngineError::target(root, what, remedy)
}

/// What to do about an `error` of removing our files.
pub(crate) fn remedy(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE) => "raise the limit of open files (ulimit -n)",
        Some(libc::EROFS) => "see why the file system cannot be written to",
        Some(libc::EIO | libc::ESTALE | libc::ENOTCONN) => "see whether the file system is well",
        Some(libc::EBUSY | libc::ETXTBSY) => "see which program or mount uses it, and try again",
        Some(libc::ENOSPC | libc::EDQUOT) => "free some space (or inodes)",
        Some(libc::EACCES | libc::EPERM) => "check your permissions on it",
        _ if is_busy(error) => "see which program has it open",
        _ => "see what the error means for this file system",
    }
}

/// Removes what an earlier run left in `directory`: our files and the marker. Waits for the system
/// as long as that takes: who cannot, calls it [`patiently`](super::patiently), whose progress this
/// is.
///
/// # Errors
/// When the directory carries no marker of ours, or a run is using it, or the system refuses.
pub fn clean(directory: &str, progress: &Progress) -> Result<Removed, EngineError> {
    clean_in(directory, directory, &Bounds::default(), progress)
}

/// The same for a directory of `target`, which is the target or a folder of ours in it or beside
/// it, as far as `bounds` allow.
///
/// # Errors
/// As [`clean`], and when it may not be touched.
pub fn clean_in(
    root: &str,
    target: &str,
    bounds: &Bounds,
    progress: &Progress,
) -> Result<Removed, EngineError> {
    progress.at(root);
    let opened = Directory::open(root, target).map_err(|error| match error {
        Errno::NOENT => {
            let what = format!("no marker {MARKER} is there, so nothing in it is ours");
            EngineError::target(root, what, "name the directory that the run wrote to")
        }
        error => not_made(root, NotMade::NotOpened(error)),
    })?;
    bounds
        .check(root, target, opened.as_fd())
        .map_err(|outside| not_made(root, NotMade::Outside(outside)))?;
    let held = Held::take_left(&opened)?;
    let made_directory = held.earlier.is_some_and(|marker| marker.made_directory);
    let claim =
        Claim { directory: opened, marker: held.file, made_directory, made_now: (false, false) };
    match claim.remove(&Opened::new(), progress) {
        Ok((removed, leads)) => moved(root, leads).map_or(Ok(removed), Err),
        Err(error) => Err(EngineError::target(
            root,
            format!("our files cannot be removed: {error}"),
            remedy(&error),
        )),
    }
}

/// The run that used the directory `root` of `target` last; `None` where it carries no marker of
/// ours. Nothing is changed.
pub fn marked_by(root: &str, target: &str) -> Option<String> {
    run_in(&Directory::open(root, target).ok()?)
}

/// A directory that another host of the run `run_id` has claimed, once its marker says so.
///
/// # Errors
/// `None` as long as it does not; otherwise why it cannot be loaded.
pub(crate) fn joined(
    root: &str,
    target: &str,
    run_id: &str,
    bounds: &Bounds,
) -> Result<Option<Directory>, EngineError> {
    let directory = match Directory::open(root, target) {
        Ok(directory) => directory,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(not_made(root, NotMade::NotOpened(error))),
    };
    bounds
        .check(root, target, directory.as_fd())
        .map_err(|outside| not_made(root, NotMade::Outside(outside)))?;
    // A network file system may show what is written only later: until then, it is empty.
    Ok(run_in(&directory).filter(|run| run.is_empty() || run == run_id).map(|_| directory))
}

/// Data files that are open, by their number.
pub(crate) type Opened = BTreeMap<u32, Identity>;

fn remove_data_files(
    directory: &Directory,
    from: u32,
    opened: &Opened,
    progress: &Progress,
) -> io::Result<u64> {
    let mut freed = 0;
    for name in directory.names()? {
        let name = name?;
        let Some(number) = number_of(&name).filter(|number| *number >= from) else { continue };
        let found = match directory.stat(&name) {
            Ok(found) => found,
            Err(Errno::NOENT) => continue,
            Err(error) => return Err(error.into()),
        };
        // A file that has another name, too, is somebody's: ours have one.
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile || found.st_nlink > 1 {
            continue;
        }
        // Somebody put one of theirs in the place of ours.
        if opened.get(&number).is_some_and(|ours| *ours != Identity::of(&found)) {
            continue;
        }
        match directory.unlink(&name) {
            Ok(()) => freed += u64::try_from(found.st_size).unwrap_or(0),
            // Somebody was quicker, or something is mounted there.
            Err(Errno::NOENT | Errno::BUSY) => {}
            Err(error) => return Err(error.into()),
        }
        progress.step();
    }
    Ok(freed)
}

fn remove_trees(directory: &Directory, progress: &Progress) -> io::Result<u64> {
    let mut freed = 0;
    for name in directory.names()? {
        let name = name?;
        if is_ours(&name) {
            freed += remove_tree(directory.as_fd(), &name, progress)?;
        }
    }
    Ok(freed)
}

/// The path of a tree of ours that is still there.
fn tree_left(directory: &Directory) -> io::Result<Option<String>> {
    for name in directory.names()? {
        let name = name?;
        // A link of that name is not ours, and was left for that reason.
        let is_directory =
            |found: rustix::fs::Stat| FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        if is_ours(&name) && directory.stat(&name).is_ok_and(is_directory) {
            return Ok(Some(directory.path().join(name).to_string_lossy().into_owned()));
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
        let of = |errno| remedy(&io::Error::from_raw_os_error(errno));
        assert!(of(libc::EMFILE).contains("ulimit") && of(libc::ENFILE).contains("ulimit"));
        assert!(
            of(libc::EACCES).contains("permissions")
                && of(libc::EROFS).contains("cannot be written")
        );
        assert!(of(libc::EBUSY).contains("which program"));
    }

    #[test]
    fn what_a_file_system_hides_is_told_by_its_name() {
        assert!(
            is_hidden(".fuse_hidden0000000300000001") && is_hidden(".nfs000000000012a8b300000001")
        );
        let others =
            ".nfs .nfsnotes .fuse_hidden fuse_hidden00000001 .fuse_hidden0000000x .plimsoll";
        for name in others.split(' ') {
            assert!(!is_hidden(name), "{name}");
        }
    }

    #[test]
    fn only_our_own_names_are_ours() {
        assert_eq!(number_of("data-00012.bin"), Some(12));
        assert_eq!(number_of(&data_file_name(123_456)), Some(123_456));
        let others = "data-12.bin data-000012.bin data-+0012.bin data-.bin precious.bin \
                      data-00001.bin.bak";
        for name in others.split(' ') {
            assert_eq!(number_of(name), None, "{name}");
        }
    }
}
