//! The files that the checks look at.

use crate::shell::{self, Outcome};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Files larger than this are data, not text that anyone reads.
const MAX_TEXT: u64 = 4 << 20;

/// The files of the workspace: those in git, and the new ones that git does not ignore.
#[derive(Debug, Default)]
pub struct Tree {
    /// Every file's path from the root, with `/` between.
    pub paths: BTreeSet<String>,
    /// The files that are text.
    pub texts: Vec<Text>,
}

/// A text file.
#[derive(Debug)]
pub struct Text {
    /// Path from the root.
    pub path: String,
    /// What it says.
    pub text: String,
}

impl Tree {
    /// Reads the files under `root`, as git lists them.
    ///
    /// # Errors
    /// Git does not list them.
    pub fn load(root: &Path) -> Outcome<Tree> {
        let mut git = Command::new("git");
        git.current_dir(root)
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        // In a container, the checkout often belongs to another user than the one who looks at it.
        git.args(["--", "."]).env("GIT_CONFIG_COUNT", "1");
        git.env("GIT_CONFIG_KEY_0", "safe.directory").env("GIT_CONFIG_VALUE_0", "*");
        let listed = shell::capture(&mut git)
            .map_err(|error| format!("{error}; tidy needs git and a checkout, not an archive"))?;
        let mut tree = Tree::default();
        for path in listed.split('\0').filter(|path| !path.is_empty()) {
            let file = root.join(path);
            // A file that was removed and not yet committed is still listed.
            let Ok(meta) = file.symlink_metadata() else { continue };
            tree.paths.insert(path.to_owned());
            if meta.is_file() && meta.len() <= MAX_TEXT {
                let bytes = std::fs::read(&file)
                    .map_err(|error| format!("{path} cannot be read: {error}"))?;
                if let Ok(text) = String::from_utf8(bytes) {
                    tree.texts.push(Text { path: path.to_owned(), text });
                }
            }
        }
        Ok(tree)
    }

    /// The text of the file at `path`.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.texts.iter().find(|file| file.path == path).map(|file| file.text.as_str())
    }

    /// The text files whose name ends in `ending`.
    pub fn ending<'a>(&'a self, ending: &'a str) -> impl Iterator<Item = &'a Text> {
        self.texts.iter().filter(move |file| file.path.ends_with(ending))
    }

    /// Whether `path` is a file, or a directory with files in it.
    pub fn has(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        path.is_empty()
            || self.paths.contains(path)
            || self
                .paths
                .range(folder.clone()..)
                .next()
                .is_some_and(|next| next.starts_with(&folder))
    }

    /// A tree of these files, for tests.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Tree {
        Tree {
            paths: files.iter().map(|(path, _)| (*path).to_owned()).collect(),
            texts: files
                .iter()
                .map(|(path, text)| Text { path: (*path).to_owned(), text: (*text).to_owned() })
                .collect(),
        }
    }
}

/// Whether tests or examples are in the file at `path`.
pub fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("tests.rs") || path.contains("/examples/")
}

/// `path` as seen from `folder`, as a path from the root; `None` where it leads out of the tree.
pub fn resolve(folder: &str, path: &str) -> Option<String> {
    let base = if path.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_the_directories_above_them_are_there() {
        let tree = Tree::of(&[("docs/a.md", ""), ("docs-old", "")]);
        assert!(tree.has("docs/a.md") && tree.has("docs") && tree.has("docs/") && tree.has(""));
        assert!(!tree.has("doc") && !tree.has("docs/b.md") && !tree.has("docs/a.md/c"));
    }

    #[test]
    fn this_workspace_is_found() {
        let tree = Tree::load(&shell::root()).expect("a checkout");
        assert!(tree.text("Cargo.toml").is_some_and(|text| text.contains("[workspace]")));
        assert!(tree.paths.iter().all(|path| !path.starts_with("target/")));
    }
}
