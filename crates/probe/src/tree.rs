//! `/proc` and `/sys`, or a recorded copy of them.

use std::io::Read;
use std::path::{Path, PathBuf};

/// Files of the kernel are pages, not books: whatever is longer is not one.
const LARGEST: u64 = 4 << 20;

/// The root under which `proc` and `sys` are read.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
}

impl Tree {
    /// The running kernel's.
    pub fn real() -> Tree {
        Tree { root: PathBuf::from("/") }
    }

    /// A recorded one: the folder that holds its `proc` and `sys`.
    pub fn at(root: &Path) -> Tree {
        Tree { root: root.to_owned() }
    }

    /// Whether it is this host's own.
    pub fn is_real(&self) -> bool {
        self.root == Path::new("/")
    }

    /// Where `path` (without a leading slash) is.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The text of `path` without the white space around it; `None` if it cannot be read.
    pub fn text(&self, path: &str) -> Option<String> {
        text(&self.path(path))
    }

    /// The names in a folder, in order of their letters; none if it cannot be read.
    pub fn names(&self, path: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// The text of a file without the white space around it; `None` if it cannot be read.
pub fn text(path: &Path) -> Option<String> {
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(LARGEST).read_to_string(&mut text).ok()?;
    Some(text.trim().to_owned())
}

/// The number in a file.
pub fn number(path: &Path) -> Option<u64> {
    text(path)?.parse().ok()
}

#[cfg(test)]
pub mod testing {
    use super::Tree;
    use std::fs;

    /// A tree of these files; the folder goes when it is dropped.
    pub fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            fs::write(path, text).expect("a file");
        }
        let tree = Tree::at(folder.path());
        (folder, tree)
    }

    /// Makes `link`, in a tree, a symbolic link to `to`, in the same tree.
    pub fn link(tree: &Tree, link: &str, to: &str) {
        let path = tree.path(link);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::os::unix::fs::symlink(tree.path(to), path).expect("a link");
    }
}
