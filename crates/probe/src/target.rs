//! What stands at a path.

use crate::tree::Tree;
use crate::{chain, device, device_number, mounts};
use model::Bytes;
use model::testbed::{
    DATA_DIR, DeviceFacts, DirectIo, DirectoryState, MARKER, TargetFacts, TargetKind, host_suffix,
};
use procfs::process::MountInfo;
use rustix::fs::Access;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The facts of the target at `path`, for the only host or for one of several.
pub fn facts(tree: &Tree, mounts: &[MountInfo], path: &str, host: Option<u32>) -> TargetFacts {
    let kind = kind(tree, mounts, path, host);
    // What is missing lies where its parent lies.
    let place = match kind {
        TargetKind::Missing | TargetKind::NoParent => parent(Path::new(path)),
        // A host's own folder stands beside it.
        TargetKind::Directory { .. } if !Path::new(path).exists() => parent(Path::new(path)),
        _ => PathBuf::from(path),
    };
    if let TargetKind::Device { size, .. } = kind {
        let number = device_number::device_number(&place);
        let facts = number.as_deref().and_then(|number| device::facts(tree, number));
        return TargetFacts {
            path: path.to_owned(),
            writable: may_write(&place),
            file_system: None,
            free: size,
            reserved: Bytes(0),
            total: size,
            free_inodes: None,
            direct: direct(facts.as_ref()),
            device: facts,
            chain: number.map(|number| chain::of_device(tree, &number)).unwrap_or_default(),
            kind,
        };
    }
    let mount = place.canonicalize().ok().and_then(|real| mounts::holding(mounts, &real));
    let facts = mount.and_then(|mount| under(tree, mount));
    let Space { free, reserved, total, free_inodes } = space(&place);
    TargetFacts {
        path: path.to_owned(),
        writable: writable(&kind, &place),
        file_system: mount.map(|mount| mount.fs_type.clone()),
        free,
        reserved,
        total,
        free_inodes,
        direct: direct(facts.as_ref()),
        device: facts,
        chain: mount.map(|mount| chain::below_mount(tree, mount)).unwrap_or_default(),
        kind,
    }
}

fn kind(tree: &Tree, mounts: &[MountInfo], path: &str, host: Option<u32>) -> TargetKind {
    let place = Path::new(path);
    let meta = match std::fs::metadata(place) {
        Ok(meta) => meta,
        Err(error) if error.kind() == ErrorKind::NotFound => return missing(place, host),
        Err(error) => return TargetKind::Unreadable(error.to_string()),
    };
    let kind = meta.file_type();
    if kind.is_dir() {
        directory(place, host)
    } else if kind.is_file() {
        TargetKind::File { size: Bytes(meta.len()) }
    } else if kind.is_block_device() {
        let number = device_number::numbers(meta.rdev());
        let size = device::facts(tree, &number).map_or(Bytes(0), |facts| facts.size);
        TargetKind::Device { size, in_use: device::in_use(tree, mounts, &number) }
    } else if kind.is_char_device() {
        TargetKind::Other("a character device".to_owned())
    } else if kind.is_fifo() {
        TargetKind::Other("a named pipe".to_owned())
    } else {
        TargetKind::Other("a socket".to_owned())
    }
}

fn missing(place: &Path, host: Option<u32>) -> TargetKind {
    if place.symlink_metadata().is_ok() {
        return TargetKind::Unreadable("a symbolic link that leads nowhere".to_owned());
    }
    match std::fs::metadata(parent(place)) {
        Ok(meta) if meta.is_dir() => match host {
            None => TargetKind::Missing,
            // Beside it, because a directory that several hosts share belongs to none of them.
            Some(host) => in_folder(&with_suffix(place, host)),
        },
        Ok(_) => TargetKind::Unreadable("what stands above it is not a directory".to_owned()),
        Err(_) => TargetKind::NoParent,
    }
}

fn parent(place: &Path) -> PathBuf {
    match place.parent() {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => PathBuf::from("/"),
    }
}

/// Our files go into the directory itself if it is empty or ours, and else into a subfolder with a
/// name of ours.
fn directory(place: &Path, host: Option<u32>) -> TargetKind {
    let inner = place.join(DATA_DIR);
    if let Some(host) = host {
        return in_folder(&with_suffix(&inner, host));
    }
    let (root, state) = match state(place) {
        Ok(DirectoryState::Foreign) => (inner.clone(), state(&inner)),
        state => (place.to_owned(), state),
    };
    match state {
        Ok(state) => TargetKind::Directory { root: root.to_string_lossy().into_owned(), state },
        Err(why) => TargetKind::Unreadable(why),
    }
}

/// Our files go into this folder and nowhere else.
fn in_folder(folder: &Path) -> TargetKind {
    match state(folder) {
        Ok(state) => TargetKind::Directory { root: folder.to_string_lossy().into_owned(), state },
        Err(why) => TargetKind::Unreadable(why),
    }
}

fn with_suffix(place: &Path, host: u32) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(host_suffix(host));
    PathBuf::from(name)
}

/// What a directory holds.
fn state(place: &Path) -> Result<DirectoryState, String> {
    let entries = match std::fs::read_dir(place) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(DirectoryState::Missing),
        Err(error) => return Err(format!("{}: {error}", place.display())),
    };
    if place.join(MARKER).is_file() {
        return Ok(DirectoryState::Claimed { used: used(place), run: String::new() });
    }
    Ok(if entries.flatten().next().is_none() {
        DirectoryState::Empty
    } else {
        DirectoryState::Foreign
    })
}

/// Bytes that our own files take on the medium; a file with holes takes less than its length.
fn used(place: &Path) -> Bytes {
    let is_ours = |name: &str| name.starts_with("data-") && name.ends_with(".bin");
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| is_ours(&entry.file_name().to_string_lossy()));
    Bytes(ours.filter_map(|entry| entry.metadata().ok()).map(|meta| meta.blocks() * 512).sum())
}

/// Whether files may be made there. Asks the kernel, which knows read-only mounts too, where
/// permissions of root do not count.
fn writable(kind: &TargetKind, place: &Path) -> bool {
    match kind {
        TargetKind::Directory { root, state: DirectoryState::Missing } => {
            may_write(&parent(Path::new(root)))
        }
        TargetKind::Directory { root, .. } => may_write(Path::new(root)),
        _ => may_write(place),
    }
}

fn may_write(place: &Path) -> bool {
    rustix::fs::access(place, Access::WRITE_OK).is_ok()
}

/// What a file system has left for a user without privileges, and in all.
#[derive(Default)]
struct Space {
    free: Bytes,
    /// Free, and kept for others.
    reserved: Bytes,
    total: Bytes,
    free_inodes: Option<u64>,
}

fn space(place: &Path) -> Space {
    let Ok(stat) = rustix::fs::statvfs(place) else { return Space::default() };
    let bytes = |blocks: u64| Bytes(blocks.saturating_mul(stat.f_frsize));
    Space {
        free: bytes(stat.f_bavail),
        reserved: bytes(stat.f_bfree.saturating_sub(stat.f_bavail)),
        total: bytes(stat.f_blocks),
        // Some file systems make inodes as they need them, and say that they have none at all.
        free_inodes: (stat.f_files > 0).then_some(stat.f_favail),
    }
}

/// The block device under a mount. Btrfs gives its own numbers, so that the source's path is the
/// second way. Others are free to name any source: a program behind FUSE may name a disk.
fn under(tree: &Tree, mount: &MountInfo) -> Option<DeviceFacts> {
    device::facts(tree, &mount.majmin).or_else(|| {
        let source = mount.mount_source.as_ref().filter(|_| mount.fs_type == "btrfs")?;
        device::facts(tree, &device_number::device_number(Path::new(source))?)
    })
}

fn direct(device: Option<&DeviceFacts>) -> DirectIo {
    device.map_or(DirectIo::Unknown, |device| DirectIo::Aligned(device.logical_block))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn look(path: &Path) -> TargetFacts {
        let tree = Tree::real();
        facts(&tree, &mounts::read(&tree), path.to_str().expect("UTF-8"), None)
    }

    fn root_and_state(path: &Path) -> (PathBuf, DirectoryState) {
        match look(path).kind {
            TargetKind::Directory { root, state } => (PathBuf::from(root), state),
            other => panic!("{other:?} is not a directory"),
        }
    }

    #[test]
    fn directories_are_told_apart() {
        let folder = tempfile::tempdir().expect("a folder");
        let here = folder.path();
        assert_eq!(root_and_state(here), (here.to_owned(), DirectoryState::Empty));
        fs::write(here.join("letter.txt"), "dear").expect("a file");
        let inner = here.join(DATA_DIR);
        assert_eq!(root_and_state(here), (inner.clone(), DirectoryState::Missing));
        fs::create_dir(&inner).expect("a folder");
        fs::write(inner.join(MARKER), "ours").expect("a marker");
        fs::write(inner.join("data-00000.bin"), vec![1; 8192]).expect("a file");
        fs::write(inner.join("notes.txt"), vec![1; 8192]).expect("a file");
        assert_eq!(
            root_and_state(here),
            (inner.clone(), DirectoryState::Claimed { used: Bytes(8192), run: String::new() })
        );
        assert_eq!(root_and_state(&inner).0, inner);
        fs::remove_file(inner.join(MARKER)).expect("gone");
        assert_eq!(root_and_state(here), (inner, DirectoryState::Foreign));
    }

    #[test]
    fn what_is_not_there_lies_where_its_parent_lies() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = look(&folder.path().join("new"));
        assert_eq!(missing.kind, TargetKind::Missing);
        assert!(missing.writable && missing.free > Bytes(0) && missing.file_system.is_some());
        assert_eq!(look(&folder.path().join("no/new")).kind, TargetKind::NoParent);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("nowhere", &link).expect("a link");
        assert!(matches!(look(&link).kind, TargetKind::Unreadable(_)));
    }

    #[test]
    fn files_links_and_other_things_are_told_apart() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "12345").expect("a file");
        assert_eq!(look(&file).kind, TargetKind::File { size: Bytes(5) });
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        assert_eq!(look(&link).kind, TargetKind::File { size: Bytes(5) });
        assert_eq!(
            look(Path::new("/dev/null")).kind,
            TargetKind::Other("a character device".to_owned())
        );
        assert!(matches!(look(&file.join("below")).kind, TargetKind::Unreadable(_)));
    }

    #[test]
    fn a_place_that_nobody_writes_to_is_not_writable() {
        // /proc takes no new files, from root neither.
        let proc = look(Path::new("/proc"));
        assert_eq!(proc.file_system.as_deref(), Some("proc"));
        assert_eq!((proc.device, proc.direct), (None, DirectIo::Unknown));
    }
}
