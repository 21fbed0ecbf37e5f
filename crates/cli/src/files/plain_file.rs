//! Opens files that users name or that somebody left: a regular file, or nothing. Opening a pipe
//! would wait for its other end, and a device may never say anything.

use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens the file at `path` to read it.
pub(crate) fn open(path: &Path) -> Result<File> {
    open_with(OpenOptions::new().read(true), OFlags::empty(), path)
}

/// The same of a file of our own that nobody may have made a link of.
pub(crate) fn open_own(options: &mut OpenOptions, path: &Path) -> Result<File> {
    open_with(options, OFlags::NOFOLLOW, path)
}

fn open_with(options: &mut OpenOptions, more: OFlags, path: &Path) -> Result<File> {
    // A device may do something when it is opened: this looks first, and once more at what is open.
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return Err(no_file());
    }
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | more;
    let file = options.custom_flags(flags.bits() as i32).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(no_file()),
    }
}

fn no_file() -> Error {
    Error::new(ErrorKind::InvalidInput, "it is no regular file")
}

/// All bytes of the file at `path`.
pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 <= most {
        true => Ok(bytes),
        false => Err(Error::new(ErrorKind::FileTooLarge, format!("it has more than {most} bytes"))),
    }
}

/// Opens something to be written that may be a pipe or a terminal: one that somebody reads.
pub(crate) fn open_output(options: &mut OpenOptions, path: &Path) -> Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = options.custom_flags(flags.bits() as i32).open(path).map_err(|error| {
        match error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) {
            true => Error::new(ErrorKind::NotConnected, "nobody reads this pipe"),
            false => error,
        }
    })?;
    // Only its opening must not wait: a slow reader loses nothing.
    let flags = rustix::fs::fcntl_getfl(&file)?;
    rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    #[test]
    fn nothing_waits_for_a_pipe_and_no_link_is_made_a_file_of() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RWXU, 0).expect("a pipe");
        assert!(open(&at("pipe")).is_err() && read(&at("pipe"), 10).is_err());
        assert!(open(Path::new("/dev/null")).is_err() && open(folder.path()).is_err());
        let waits = open_output(OpenOptions::new().write(true), &at("pipe"));
        assert_eq!(waits.expect_err("a pipe").to_string(), "nobody reads this pipe");
        std::fs::write(at("text"), "12345").expect("written");
        assert_eq!(read(&at("text"), 5).expect("a file"), b"12345");
        assert!(read(&at("text"), 4).is_err());
        std::os::unix::fs::symlink(at("gone"), at("link")).expect("a link");
        assert!(open_own(OpenOptions::new().write(true).create(true), &at("link")).is_err());
        assert!(!at("gone").exists());
    }
}
