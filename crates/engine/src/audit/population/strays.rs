//! What is in the directories of a tree and has no name of a file of it.

use crate::metadata::{Kind, PathBuffer};
use model::metadata::Tree;
use rustix::fs::{Mode, OFlags, RawDir};
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;

const BUFFER: usize = 32 << 10;

/// Hands each name below the directory `root` of `tree` that no operation of a population can have
/// left there to `take`, with its directory. A directory that cannot be read has none: its files
/// are looked at one by one.
pub(super) fn each(
    root: BorrowedFd<'_>,
    tree: &Tree,
    tick: &mut dyn FnMut(),
    take: &mut dyn FnMut(String),
) {
    let mut path = PathBuffer::new();
    let mut buffer = vec![MaybeUninit::uninit(); BUFFER];
    let mut list = |leaf: u64, level: u32| {
        let path = path.directory(tree, leaf, level);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let Ok(directory) = rustix::fs::openat(root, path, flags, Mode::empty()) else { return };
        let mut entries = RawDir::new(&directory, &mut buffer);
        while let Some(Ok(entry)) = entries.next() {
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") && !is_of(tree, level, name) {
                let folder = if level == 0 { String::new() } else { lossy(path.to_bytes()) + "/" };
                take(folder + &lossy(name));
            }
        }
        tick();
    };
    if tree.depth > 0 {
        list(0, 0);
    }
    for leaf in 0..tree.listed() {
        for level in (1..=tree.depth).filter(|level| leaf % tree.leaves_below(*level) == 0) {
            list(leaf, level);
        }
    }
    if tree.depth == 0 {
        list(0, 0);
    }
}

/// Whether a directory of `level` may have something with this name in it.
fn is_of(tree: &Tree, level: u32, name: &[u8]) -> bool {
    match Kind::numbered(name) {
        Some((Kind::File | Kind::Renamed, number)) => level == tree.depth && number < tree.files,
        Some((Kind::Directory, _)) => level < tree.depth,
        _ => false,
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_and_directories_of_the_tree_belong_there() {
        let tree = crate::common::tree("/t/tree-00000", 20, 1);
        let of = |level, name: &str| is_of(&tree, level, name.as_bytes());
        assert!(of(1, "f000000000000000019") && of(1, "r000000000000000003"));
        assert!(of(0, "d000000000000000001"));
        for (level, name) in
            [(1, "f000000000000000020"), (1, "d000000000000000001"), (1, "notes.txt"), (0, "f0")]
        {
            assert!(!of(level, name), "{name}");
        }
    }
}
