//! A folder of our own for run files and for what commands say.

use crate::failure::Failure;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The folder; removed at the end with its files, unless they are to be kept.
pub(crate) struct Workplace {
    folder: PathBuf,
    is_kept: bool,
    /// What was put there: nothing else is removed.
    files: Vec<PathBuf>,
}

impl Workplace {
    /// A new folder: `keep`, or one among the files that nobody keeps.
    pub(crate) fn new(keep: Option<&Path>) -> Result<Workplace, Failure> {
        let folder = match keep {
            Some(folder) => std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()),
            None => std::env::temp_dir().join(format!("plimsoll-gate-{}", std::process::id())),
        };
        let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+@:,=".contains(letter);
        if !folder.to_string_lossy().chars().all(is_plain) {
            return Err(Failure::usage(format!(
                "the folder {} would be other words to a shell; name another one with \
                 --keep, of letters, digits and /._-",
                folder.display()
            )));
        }
        std::fs::DirBuilder::new().mode(0o700).create(&folder).map_err(|error| {
            Failure::usage(format!(
                "the folder {} cannot be made: {error}; name another one with --keep",
                folder.display()
            ))
        })?;
        Ok(Workplace { folder, is_kept: keep.is_some(), files: Vec::new() })
    }

    pub(crate) fn run_file(&mut self, side: &str, number: usize) -> PathBuf {
        self.file(format!("{side}-{number:04}.plimsoll"))
    }

    pub(crate) fn log(&mut self) -> PathBuf {
        self.file("said.log".to_owned())
    }

    fn file(&mut self, name: String) -> PathBuf {
        let path = self.folder.join(name);
        if !self.files.contains(&path) {
            self.files.push(path.clone());
        }
        path
    }

    /// Takes a run file away that was read, with what stands beside it, unless it is to be kept.
    pub(crate) fn done_with(&self, run: &Path) {
        if !self.is_kept {
            remove(run);
        }
    }
}

fn remove(run: &Path) {
    let beside = ["html", "plimsoll-wal", "plimsoll-shm", "plimsoll-journal"];
    let _ = std::fs::remove_file(run);
    for ending in beside {
        let _ = std::fs::remove_file(run.with_extension(ending));
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        let log = self.folder.join("said.log");
        if self.is_kept {
            let _ = std::fs::remove_file(log);
            return;
        }
        self.files.iter().for_each(|file| remove(file));
        // Anything else in there is not ours, and keeps the folder.
        let _ = std::fs::remove_dir(&self.folder);
    }
}
