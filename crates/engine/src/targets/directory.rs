//! A directory that is held open: what is opened, made or removed in it goes through its
//! descriptor, whatever its path leads to meanwhile.

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, StatxFlags};
use rustix::io::{Errno, Result};
use std::ffi::OsStr;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A directory is opened for reading its names.
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A directory above it only leads to a name: it may be one that nobody may read.
const PARENT: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// How often an opening is tried again that lost a race against a renaming.
const MOST_RACES: u32 = 16;

/// A place that is about to be written to.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Its path in the plan: the target, or a folder of ours in it or beside it.
    pub path: &'a str,
    /// The target that it belongs to, as the user named it.
    pub target: &'a str,
    /// Where it really is, without links.
    pub real: &'a Path,
}

/// Which real places may be touched; by default, all that the process may. Asked after a place is
/// open and before anything is made in it, so that no link that is turned meanwhile leads
/// elsewhere.
#[derive(Clone, Default)]
pub struct Bounds(Option<Arc<Asked>>);

/// A path of a target: an open file or directory, or a name in an open directory.
struct OpenedPlace<'a> {
    path: &'a str,
    target: &'a str,
    /// The path of what is open.
    above: &'a Path,
    opened: BorrowedFd<'a>,
    /// The name in it; `None` where it is the place itself.
    below: Option<&'a OsStr>,
}

type Asked = dyn Fn(Place<'_>) -> std::result::Result<(), String> + Send + Sync;

impl Bounds {
    /// What `may` says, which answers with words for people where a place may not be touched.
    pub fn of(
        may: impl Fn(Place<'_>) -> std::result::Result<(), String> + Send + Sync + 'static,
    ) -> Bounds {
        Bounds(Some(Arc::new(may)))
    }

    /// Whether `opened` may be touched, which was opened as `path` for `target`.
    pub(crate) fn check(
        &self,
        path: &str,
        target: &str,
        opened: BorrowedFd<'_>,
    ) -> std::result::Result<(), Outside> {
        self.check_at(&OpenedPlace { path, target, above: Path::new(path), opened, below: None })
    }

    /// The same for a place that need not be open itself.
    fn check_at(&self, place: &OpenedPlace<'_>) -> std::result::Result<(), Outside> {
        let Some(may) = &self.0 else { return Ok(()) };
        let OpenedPlace { path, target, above, opened, below } = *place;
        let real = real_place(above, opened).map_err(Outside::Unknown)?;
        let real = below.map_or_else(|| real.clone(), |name| real.join(name));
        may(Place { path, target, real: &real }).map_err(Outside::Forbidden)
    }
}

impl fmt::Debug for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Bounds(some)" } else { "Bounds(none)" })
    }
}

/// Why a place may not be touched.
#[derive(Debug)]
pub(crate) enum Outside {
    /// Somebody says so, in words.
    Forbidden(String),
    /// Where it is cannot be told.
    Unknown(Errno),
}

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outside::Forbidden(why) => f.write_str(why),
            Outside::Unknown(error) => write!(f, "its real place cannot be told: {error}"),
        }
    }
}

/// What tells a file from all others of a host, as long as it is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    pub(crate) fn of(stat: &Stat) -> Identity {
        Identity { device: stat.st_dev, inode: stat.st_ino }
    }
}

/// The path of what is open, without links. It is looked up and compared: a path that leads
/// elsewhere by now is no answer.
fn real_place(path: &Path, opened: BorrowedFd<'_>) -> Result<PathBuf> {
    let real =
        path.canonicalize().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let (there, here) = (rustix::fs::lstat(&real)?, rustix::fs::fstat(opened)?);
    if Identity::of(&there) == Identity::of(&here) { Ok(real) } else { Err(Errno::XDEV) }
}

/// Why a file with a name of ours is none of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// It is something else than a regular file.
    NotRegular,
    /// It has this many names: what is written to it appears under the others, too.
    SeveralNames(u64),
    /// It is mounted there from somewhere else.
    Elsewhere,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::NotRegular => f.write_str("it is no regular file"),
            Unfit::SeveralNames(names) => {
                write!(f, "it is a hard link, one of {names} names of one file")
            }
            Unfit::Elsewhere => f.write_str("it is mounted there from another place"),
        }
    }
}

/// Why a file of a directory could not be opened.
#[derive(Debug)]
pub(crate) enum NotOpened {
    /// The system says so.
    System(Errno),
    /// It is none of ours.
    Unfit(Unfit),
}

impl From<Errno> for NotOpened {
    fn from(error: Errno) -> NotOpened {
        NotOpened::System(error)
    }
}

/// The number of the mount that a file is on, where the kernel tells (5.8 and later).
fn mount_of(file: BorrowedFd<'_>) -> Option<u64> {
    let stat = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
    (stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(stat.stx_mnt_id)
}

/// Whether two files are on one mount. Their devices are asked where the kernel tells no mounts:
/// some file systems in layers give their files the device of a layer, so that a mount in common
/// says more.
fn on_one_mount(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> Result<bool> {
    match (mount_of(one), mount_of(other)) {
        (Some(one), Some(other)) => Ok(one == other),
        _ => Ok(rustix::fs::fstat(one)?.st_dev == rustix::fs::fstat(other)?.st_dev),
    }
}

/// Opens `name` in `directory`, and nothing that a link or a mount there leads to: `LOOP` or `XDEV`
/// then.
pub(crate) fn open_in<P: rustix::path::Arg + Copy>(
    directory: BorrowedFd<'_>,
    name: P,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    for _ in 0..MOST_RACES {
        match rustix::fs::openat2(directory, name, flags, mode, resolve) {
            Err(Errno::AGAIN) => {}
            // Kernels before 5.6, and sandboxes that do not know the call.
            Err(Errno::NOSYS | Errno::PERM) => return open_and_look(directory, name, flags, mode),
            result => return result,
        }
    }
    Err(Errno::AGAIN)
}

/// The same without the kernel's help: the name must be a single one.
fn open_and_look<P: rustix::path::Arg>(
    directory: BorrowedFd<'_>,
    name: P,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd> {
    let name = name.into_c_str()?;
    let is_single = !name.to_bytes().contains(&b'/') && !matches!(name.to_bytes(), b"" | b"..");
    if !is_single {
        return Err(Errno::XDEV);
    }
    let opened = rustix::fs::openat(directory, &*name, flags, mode)?;
    if on_one_mount(directory, opened.as_fd())? { Ok(opened) } else { Err(Errno::XDEV) }
}

/// Where the path of an open directory leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leads {
    /// To the directory.
    Here,
    /// To nothing: it was removed or renamed.
    Nowhere,
    /// To something else that stands there now.
    Elsewhere,
}

/// An open directory.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    opened: OwnedFd,
    identity: Identity,
    /// Whether the path's last name may be a link: it is the user's own.
    follows: bool,
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.opened.as_fd()
    }
}

impl Directory {
    /// Opens the directory `root` of `target`. A link is followed only where the user named it: in
    /// the target's own path.
    pub(crate) fn open(root: &str, target: &str) -> Result<Directory> {
        let path = Path::new(root);
        let follows = root == target;
        let opened = match parent_and_name(path).filter(|_| !follows) {
            Some((parent, name)) => {
                let parent = rustix::fs::open(parent, PARENT, Mode::empty())?;
                // A mount there is the administrator's.
                rustix::fs::openat(&parent, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?
            }
            None => rustix::fs::open(path, DIRECTORY, Mode::empty())?,
        };
        let identity = Identity::of(&rustix::fs::fstat(&opened)?);
        Ok(Directory { path: path.to_owned(), opened, identity, follows })
    }

    /// Its path, as it was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where its path leads by now.
    pub(crate) fn leads(&self) -> Result<Leads> {
        let found = match self.follows {
            true => rustix::fs::stat(&self.path),
            false => rustix::fs::lstat(&self.path),
        };
        match found {
            Ok(found) if Identity::of(&found) == self.identity => Ok(Leads::Here),
            Ok(_) => Ok(Leads::Elsewhere),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(Leads::Nowhere),
            Err(error) => Err(error),
        }
    }

    /// Opens the regular file `name`, which must be ours: one with this name alone.
    pub(crate) fn open_file(
        &self,
        name: &str,
        flags: OFlags,
        mode: Mode,
    ) -> std::result::Result<OwnedFd, NotOpened> {
        let before = match self.stat(name) {
            Ok(found) => Some(found),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(error.into()),
        };
        // A pipe or a device does something when it is opened.
        if before
            .is_some_and(|found| FileType::from_raw_mode(found.st_mode) != FileType::RegularFile)
        {
            return Err(NotOpened::Unfit(Unfit::NotRegular));
        }
        let opened = open_in(self.as_fd(), name, flags, mode).map_err(|error| match error {
            Errno::XDEV => NotOpened::Unfit(Unfit::Elsewhere),
            Errno::LOOP => NotOpened::Unfit(Unfit::NotRegular),
            error => NotOpened::System(error),
        })?;
        match self.unfit(&opened)? {
            Some(unfit) => Err(NotOpened::Unfit(unfit)),
            None => Ok(opened),
        }
    }

    /// What speaks against an open file of this directory being ours.
    fn unfit(&self, opened: &OwnedFd) -> Result<Option<Unfit>> {
        let found = rustix::fs::fstat(opened)?;
        let names = u64::from(found.st_nlink as u32);
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Ok(Some(Unfit::NotRegular));
        }
        if names > 1 {
            return Ok(Some(Unfit::SeveralNames(names)));
        }
        Ok((!on_one_mount(self.as_fd(), opened.as_fd())?).then_some(Unfit::Elsewhere))
    }

    /// What has `name` in it; of a link, the link.
    pub(crate) fn stat(&self, name: &str) -> Result<Stat> {
        rustix::fs::statat(&self.opened, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Whether `name` in it is `file`.
    pub(crate) fn holds(&self, name: &str, file: impl AsFd) -> Result<bool> {
        match self.stat(name) {
            Ok(found) => Ok(Identity::of(&found) == Identity::of(&rustix::fs::fstat(file)?)),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes the file `name`.
    pub(crate) fn unlink(&self, name: &str) -> Result<()> {
        rustix::fs::unlinkat(&self.opened, name, AtFlags::empty())
    }

    /// The names in it, but for `.` and `..`; those that are no UTF-8 with replacements, which no
    /// name of ours has.
    pub(crate) fn names(&self) -> Result<impl Iterator<Item = Result<String>> + use<>> {
        let names = Dir::read_from(&self.opened)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        Ok(names.filter(|name: &Result<String>| !matches!(name.as_deref(), Ok("." | ".."))))
    }

    /// Removes the directory itself, if it is empty and its path leads to it.
    ///
    /// # Errors
    /// `NOTEMPTY` if it is not empty; otherwise what the system says.
    pub(crate) fn remove(&self) -> Result<()> {
        let Some((parent, name)) = parent_and_name(&self.path) else { return Ok(()) };
        let parent = rustix::fs::open(parent, PARENT, Mode::empty())?;
        let found = rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
        // A link to it is the user's, and stays with what it leads to.
        if Identity::of(&found) != self.identity {
            return Ok(());
        }
        match rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR) {
            Err(Errno::EXIST) => Err(Errno::NOTEMPTY),
            result => result,
        }
    }
}

/// The directory above `path`, and its name there; `None` for a path without a name, such as `/` or
/// `..`.
fn parent_and_name(path: &Path) -> Option<(&Path, &OsStr)> {
    let parent = path.parent()?;
    Some((if parent.as_os_str().is_empty() { Path::new(".") } else { parent }, path.file_name()?))
}

/// Makes the directory `root` of `target` if it is not there, where `bounds` allow it, and opens
/// it. Comes back with whether it was made.
pub(crate) fn make_or_open(
    root: &str,
    target: &str,
    bounds: &Bounds,
) -> std::result::Result<(Directory, bool), NotMade> {
    match Directory::open(root, target) {
        Ok(directory) => {
            bounds.check(root, target, directory.as_fd()).map_err(NotMade::Outside)?;
            return Ok((directory, false));
        }
        Err(Errno::NOENT) => {}
        Err(error) => return Err(NotMade::NotOpened(error)),
    }
    let (parent, name) = parent_and_name(Path::new(root)).ok_or(NotMade::System(Errno::NOENT))?;
    let above = rustix::fs::open(parent, PARENT, Mode::empty()).map_err(NotMade::System)?;
    bounds
        .check_at(&OpenedPlace {
            path: root,
            target,
            above: parent,
            opened: above.as_fd(),
            below: Some(name),
        })
        .map_err(NotMade::Outside)?;
    let made = match rustix::fs::mkdirat(&above, name, Mode::from_raw_mode(0o777)) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(error) => return Err(NotMade::System(error)),
    };
    // Whoever put a link there meanwhile is not followed.
    let opened = rustix::fs::openat(&above, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty());
    let opened = opened.map_err(NotMade::NotOpened)?;
    let identity = Identity::of(&rustix::fs::fstat(&opened).map_err(NotMade::NotOpened)?);
    Ok((Directory { path: PathBuf::from(root), opened, identity, follows: root == target }, made))
}

/// Why a directory of ours is not there.
#[derive(Debug)]
pub(crate) enum NotMade {
    /// It is missing, and cannot be made.
    System(Errno),
    /// It is there, and cannot be opened.
    NotOpened(Errno),
    /// It may not be touched.
    Outside(Outside),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_in_the_directory_are_opened_with_the_kernels_help_and_without() {
        let base = tempfile::tempdir().expect("a directory");
        let inner = base.path().join("inner");
        std::fs::create_dir(&inner).expect("a directory");
        for place in [base.path().join("outside"), inner.join("file")] {
            std::fs::write(place, "x").expect("a file");
        }
        std::os::unix::fs::symlink("../outside", inner.join("link")).expect("a link");
        std::os::unix::fs::symlink("file", inner.join("beside")).expect("a link");
        let directory = std::fs::File::open(&inner).expect("a directory");
        for with_help in [true, false] {
            let opens = |name: &str| {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW;
                let open = if with_help { open_in } else { open_and_look };
                open(directory.as_fd(), name, flags, Mode::empty()).is_ok()
            };
            assert!(opens("file"));
            let outside = base.path().join("outside");
            for name in ["link", "beside", "../outside", "..", "", outside.to_str().expect("UTF-8")]
            {
                assert!(!opens(name), "{name}");
            }
        }
    }

    #[test]
    fn a_path_that_is_turned_is_noticed() {
        let base = tempfile::tempdir().expect("a directory");
        let (here, there) = (base.path().join("here"), base.path().join("there"));
        std::fs::create_dir(&here).expect("a directory");
        let root = here.to_str().expect("UTF-8");
        let directory = Directory::open(root, root).expect("opens");
        assert_eq!(directory.leads(), Ok(Leads::Here));
        std::fs::rename(&here, &there).expect("renamed");
        assert_eq!(directory.leads(), Ok(Leads::Nowhere));
        std::fs::create_dir(&here).expect("a directory");
        assert_eq!(directory.leads(), Ok(Leads::Elsewhere));
        assert_eq!(directory.remove(), Ok(()), "it is left alone");
        assert!(here.is_dir() && real_place(&here, directory.as_fd()).is_err());
        std::fs::remove_dir(&here).expect("removed");
        std::os::unix::fs::symlink(&there, &here).expect("a link");
        assert_eq!(
            directory.leads(),
            Ok(Leads::Here),
            "a link of the user's leads to the same place"
        );
        assert_eq!(real_place(&here, directory.as_fd()).ok(), there.canonicalize().ok());
    }
}
