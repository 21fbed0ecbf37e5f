//! The marker of a directory: who made it, which run used it last, and the lock that keeps other
//! runs away while it is open.

use super::directory::{Directory, NotOpened, Unfit};
use crate::error::EngineError;
use model::plan::HostPlan;
use model::testbed::MARKER;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// What stands in a marker.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Marker {
    /// Always `plimsoll`.
    made_by: String,
    /// The run that used the directory last.
    pub(super) run_id: String,
    /// Its process.
    pid: u32,
    /// Whether Plimsoll made the directory itself, so that it may remove it.
    pub(super) made_directory: bool,
    /// What that run calls the host; empty in markers of versions that did not say.
    #[serde(default)]
    host: String,
    /// The host's number in that run.
    #[serde(default)]
    host_number: Option<u32>,
    /// Whether the removal of its files has begun: whoever looks at them after a kill then does not
    /// take what is gone for lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_removed: bool,
}

/// How often is looked again at a marker that another host is just making.
const ANOTHER_LOOK: u32 = 50;
/// Between two looks.
const LOOK: Duration = Duration::from_millis(2);

/// A name of a host is shorter than this, in characters: a marker has a limit.
const LONGEST_NAME: usize = 256;

/// A marker is a line of text; more is not one of ours.
const MARKER_LIMIT: u64 = 4096;

const MADE_BY: &str = "plimsoll";

impl Marker {
    /// That of a host's share of a run.
    fn of(plan: &HostPlan, made_directory: bool) -> Marker {
        Marker {
            made_by: MADE_BY.to_owned(),
            run_id: plan.run_id.clone(),
            pid: std::process::id(),
            made_directory,
            host: printable(&plan.hostname),
            host_number: Some(plan.host),
            is_removed: false,
        }
    }

    /// Whether another host of the run that `plan` is of has the directory, too.
    pub(super) fn is_of_other_host(&self, plan: &HostPlan) -> bool {
        self.run_id == plan.run_id && self.host_number.is_some_and(|number| number != plan.host)
    }

    /// Who holds it, in words.
    fn holder(&self) -> String {
        let host = if self.host.is_empty() {
            String::new()
        } else {
            format!(" on host {}", printable(&self.host))
        };
        format!(" (process {}{host})", self.pid)
    }
}

/// Others write markers, too.
fn printable(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect()
}

/// Why a marker says nothing.
#[derive(Debug)]
pub(super) enum Mute {
    /// It is there, and was written by somebody else.
    NotOurs,
    /// It cannot be read: whose it is, nobody can tell.
    Unreadable(io::Error),
}

impl Mute {
    /// The same as an error of the directory `root`.
    fn at(&self, root: &str) -> EngineError {
        match self {
            Mute::NotOurs => {
                let what = format!("{MARKER} is there, but Plimsoll did not write it");
                EngineError::target(root, what, "name another directory")
            }
            Mute::Unreadable(error) => EngineError::target(
                root,
                format!(
                    "the marker {MARKER} cannot be read: {error}; so nobody can tell whose the \
                     files there are"
                ),
                "name a file system whose files can be read while they are open for writing \
                 (rclone: --vfs-cache-mode writes)",
            ),
        }
    }
}

/// The marker's content; a new and therefore empty one counts as ours.
fn read(mut file: &File) -> Result<Marker, Mute> {
    let mut text = Vec::new();
    file.rewind().map_err(Mute::Unreadable)?;
    file.take(MARKER_LIMIT).read_to_end(&mut text).map_err(Mute::Unreadable)?;
    if text.is_empty() {
        return Ok(Marker::default());
    }
    let marker: Option<Marker> = serde_json::from_slice(&text).ok();
    marker.filter(|marker| marker.made_by == MADE_BY).ok_or(Mute::NotOurs)
}

/// Notes in an open marker of ours that the files beside it are being removed. What cannot be read
/// or written is left as it is: it is about what a reader is told after a kill.
pub(super) fn note_removal(file: &File) {
    let Some(marker) = read(file).ok().filter(|marker| marker.made_by == MADE_BY) else { return };
    let Ok(text) = serde_json::to_string(&Marker { is_removed: true, ..marker }) else { return };
    // In place: what is there differs at its end alone, and is shorter.
    let mut file = file;
    let _ = file.rewind().and_then(|()| writeln!(file, "{text}"));
}

/// Whether the files beside an open `marker` were being removed.
pub(crate) fn is_removed(marker: &File) -> bool {
    read(marker).is_ok_and(|marker| marker.is_removed)
}

/// The run that used a directory last, by its open `marker`; `None` if it is none of ours. Empty
/// where its run has not written it yet.
pub(crate) fn run_of(marker: &File) -> Option<String> {
    read(marker).ok().map(|marker| marker.run_id)
}

/// The run that used the directory last, which stays as it is; `None` if nothing in it is ours.
pub(super) fn run_in(directory: &Directory) -> Option<String> {
    let marker = directory.open_file(MARKER, OFlags::RDONLY, Mode::empty()).ok()?;
    run_of(&File::from(marker))
}

/// A marker that is open and locked.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) file: File,
    /// What an earlier run wrote; nothing where there was none.
    pub(super) earlier: Option<Marker>,
    /// Whether it was not there before.
    pub(super) is_new: bool,
}

impl Held {
    /// Takes the marker of `directory` for a host's plan, and makes it if the directory is empty.
    pub(super) fn take(directory: &Directory, plan: &HostPlan) -> Result<Held, EngineError> {
        let root = directory.path().to_string_lossy();
        let mut looks = 0;
        loop {
            let (file, is_new) = open_or_make(directory, &root)?;
            lock(&file, &root, Some(plan))?;
            looks += 1;
            // Who held it before may have removed it between our opening and our locking: then it
            // is no marker any more. File systems that number their files anew at each look are
            // believed in the end.
            if looks < ANOTHER_LOOK && !directory.holds(MARKER, &file).unwrap_or(true) {
                continue;
            }
            // One that is new is not read: some file systems cannot read what is being written.
            let earlier =
                if is_new { None } else { Some(read(&file).map_err(|mute| mute.at(&root))?) };
            if let Some(other) = earlier.as_ref().filter(|earlier| earlier.is_of_other_host(plan)) {
                // Locks of some network file systems end at the host.
                return Err(seen_by_both(&root, other, plan));
            }
            return Ok(Held { file, earlier, is_new });
        }
    }

    /// Takes the marker that an earlier run left in `directory`.
    pub(super) fn take_left(directory: &Directory) -> Result<Held, EngineError> {
        let root = directory.path().to_string_lossy();
        let file = match open_left(directory) {
            Ok(file) => file,
            Err(NotOpened::System(Errno::NOENT)) => {
                let what = format!("no marker {MARKER} is there, so nothing in it is ours");
                return Err(EngineError::target(
                    &root,
                    what,
                    "name the directory that the run wrote to",
                ));
            }
            Err(error) => return Err(not_opened(&root, &error)),
        };
        lock(&file, &root, None)?;
        let earlier = read(&file).map_err(|mute| mute.at(&root))?;
        Ok(Held { file, earlier: Some(earlier), is_new: false })
    }

    /// Writes whose the directory is from now on.
    pub(super) fn write(&self, plan: &HostPlan, made_directory: bool) -> io::Result<()> {
        let text =
            serde_json::to_string(&Marker::of(plan, made_directory)).map_err(io::Error::other)?;
        let mut file = &self.file;
        if !self.is_new {
            file.rewind()?;
            file.set_len(0)?;
        }
        writeln!(file, "{text}")
    }
}

/// Opens the marker, or makes it in a directory that is empty.
fn open_or_make(directory: &Directory, root: &str) -> Result<(File, bool), EngineError> {
    for _ in 0..ANOTHER_LOOK {
        match directory.open_file(MARKER, OFlags::RDWR, Mode::empty()) {
            Ok(file) => return Ok((File::from(file), false)),
            Err(NotOpened::System(Errno::NOENT)) => {}
            Err(error) => return Err(not_opened(root, &error)),
        }
        // The plan was made when the directory was empty, but somebody may have come since.
        let is_empty = directory.names().is_ok_and(|mut names| names.next().is_none());
        if !is_empty {
            // Another host may have made it between our two looks.
            if directory.stat(MARKER).is_ok() {
                continue;
            }
            let what = "holds files that Plimsoll did not make";
            return Err(EngineError::target(
                root,
                what,
                "name another directory, or move those files away",
            ));
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        match directory.open_file(MARKER, flags, Mode::from_raw_mode(0o644)) {
            Ok(file) => return Ok((File::from(file), true)),
            Err(NotOpened::System(Errno::EXIST)) => {}
            Err(NotOpened::System(error)) => {
                let what =
                    format!("the marker {MARKER} cannot be made: {}", io::Error::from(error));
                return Err(EngineError::target(
                    root,
                    what,
                    "name a directory that you may write to",
                ));
            }
            Err(error) => return Err(not_opened(root, &error)),
        }
    }
    let what = format!("the marker {MARKER} comes and goes: another program makes and removes it");
    Err(EngineError::target(root, what, "name another directory"))
}

/// Opens a marker that is only to be read and removed: some file systems open nothing for reading
/// and writing.
fn open_left(directory: &Directory) -> Result<File, NotOpened> {
    match directory.open_file(MARKER, OFlags::RDWR, Mode::empty()) {
        Err(NotOpened::System(error)) if error != Errno::NOENT => {
            directory.open_file(MARKER, OFlags::RDONLY, Mode::empty()).map(File::from)
        }
        result => result.map(File::from),
    }
}

fn not_opened(root: &str, error: &NotOpened) -> EngineError {
    match error {
        NotOpened::System(error) => {
            let what = format!("the marker {MARKER} cannot be opened: {}", io::Error::from(*error));
            EngineError::target(
                root,
                what,
                "check your permissions on it, and whether its file system is well",
            )
        }
        NotOpened::Unfit(
            unfit @ (Unfit::NotRegular | Unfit::SeveralNames(_) | Unfit::Elsewhere),
        ) => {
            let what = format!("{MARKER} is there, but Plimsoll did not make it: {unfit}");
            EngineError::target(root, what, "name another directory")
        }
    }
}

/// The content of a marker that another one holds, who may be about to write it.
fn settled(marker: &File) -> Option<Marker> {
    for _ in 0..ANOTHER_LOOK {
        if let Ok(told) = read(marker)
            && !told.run_id.is_empty()
        {
            return Some(told);
        }
        std::thread::sleep(LOOK);
    }
    read(marker).ok()
}

/// Takes the marker's lock, for a host's plan or to clean.
fn lock(marker: &File, root: &str, plan: Option<&HostPlan>) -> Result<(), EngineError> {
    lock_for_one(marker.as_fd(), false).map_err(|error| match error {
        Errno::WOULDBLOCK => match (settled(marker), plan) {
            (Some(other), Some(plan)) if other.is_of_other_host(plan) => {
                seen_by_both(root, &other, plan)
            }
            (other, _) => {
                let holder = other.map_or_else(String::new, |marker| marker.holder());
                let what = format!("another run is using it{holder}");
                EngineError::target(root, what, "wait for it to end, or name another target")
            }
        },
        error => {
            EngineError::target(root, format!("cannot be locked: {error}"), "name another target")
        }
    })
}

/// Two hosts of a run that are to have a directory each have the same one.
fn seen_by_both(root: &str, other: &Marker, plan: &HostPlan) -> EngineError {
    let (other, mine) = (printable(&other.host), &plan.hostname);
    let what = format!(
        "hosts {other} and {mine} see one directory here, and each would overwrite the other's \
         files"
    );
    EngineError::target(
        root,
        what,
        "give each host a directory of its own, and look for links and mounts that lead to one \
         place",
    )
}

/// Takes the lock of a target: alone for those who write, together with other readers for those who
/// read.
pub(crate) fn lock_for_one(file: BorrowedFd<'_>, shared: bool) -> rustix::io::Result<()> {
    flock(
        file,
        if shared {
            FlockOperation::NonBlockingLockShared
        } else {
            FlockOperation::NonBlockingLockExclusive
        },
    )
}

/// Whether an error of removing a file may be due to its being open.
pub(super) fn is_busy(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ResourceBusy | ErrorKind::ExecutableFileBusy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::choices::Backend;
    use model::plan::EngineSettings;
    use model::units::Nanos;

    #[test]
    fn a_removal_that_began_is_noted_in_a_marker_of_ours_alone() {
        let folder = tempfile::tempdir().expect("a directory");
        let open = |name: &str| {
            let options =
                File::options().read(true).write(true).create(true).truncate(false).clone();
            options.open(folder.path().join(name)).expect("a file")
        };
        let engine = EngineSettings::simple(Backend::Sync);
        let plan = HostPlan::empty("r", Nanos::seconds(1), engine);
        let file = open("ours");
        Held { file: open("ours"), earlier: None, is_new: true }.write(&plan, true).expect("room");
        assert!(!is_removed(&file));
        // Twice: a directory whose removal was cut off is cleaned later.
        for _ in 0..2 {
            note_removal(&file);
            assert!(is_removed(&file));
            let marker = read(&file).expect("still one of ours");
            assert_eq!((marker.made_directory, marker.run_id), (true, plan.run_id.clone()));
        }
        Held { file: open("ours"), earlier: None, is_new: false }.write(&plan, true).expect("room");
        assert!(!is_removed(&file), "the next run begins anew");
        for (name, text) in [("empty", ""), ("other", "{\"made_by\":\"me\"}")] {
            std::fs::write(folder.path().join(name), text).expect("room");
            note_removal(&open(name));
            assert_eq!(std::fs::read_to_string(folder.path().join(name)).expect("a file"), text);
        }
    }
}
