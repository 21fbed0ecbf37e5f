//! What the base and the head are: a command, or runs that were recorded before.

use crate::failure::Failure;
use crate::files::plain_file;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const OUT: &str = "{out}";
/// More files than this are a mistaken folder.
const MOST_RUNS: usize = 2_000;
/// With this begins every run file.
const RUN_FILE: &[u8] = b"SQLite format 3\0";

pub(crate) enum Side {
    Command(String),
    Runs(RunFiles),
}

pub(crate) struct RunFiles {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) is_folder: bool,
}

impl Side {
    /// The side that `text` names, which was given as `--NAME`.
    pub(crate) fn of(text: &str, name: &str) -> Result<Side, Failure> {
        let path = Path::new(text);
        if text.trim().is_empty() {
            return Err(wrong(name, "is empty; name a command or a run file"));
        }
        if path.is_dir() {
            return folder(path, name);
        }
        let runs = || {
            let paths = vec![path.to_owned()];
            Ok(Side::Runs(RunFiles { paths, is_folder: false }))
        };
        if !path.is_file() {
            let is_one_word = !text.contains(char::is_whitespace);
            if is_one_word && path.extension().is_some_and(|ending| ending == "plimsoll") {
                // Reading it says why it cannot be read.
                return runs();
            }
            return Ok(Side::Command(text.to_owned()));
        }
        if begins_as_run_file(path) {
            return runs();
        }
        let may_run = path.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0);
        if may_run {
            return Ok(Side::Command(text.to_owned()));
        }
        Err(wrong(name, &format!("{text} is neither a run file nor a program that may be run")))
    }
}

fn wrong(name: &str, what: &str) -> Failure {
    Failure::usage(format!("--{name} {what}"))
}

fn folder(path: &Path, name: &str) -> Result<Side, Failure> {
    let failed = |error: std::io::Error| {
        Failure::run_file(format!("the folder {} cannot be read: {error}", path.display()))
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_some_and(|ending| ending == "plimsoll") && file.is_file() {
            paths.push(file);
        }
    }
    if paths.is_empty() || paths.len() > MOST_RUNS {
        return Err(wrong(
            name,
            &format!(
                "{} has {} run files (*.plimsoll); name a folder with 1 to {MOST_RUNS}",
                path.display(),
                paths.len()
            ),
        ));
    }
    paths.sort_unstable();
    Ok(Side::Runs(RunFiles { paths, is_folder: true }))
}

fn begins_as_run_file(path: &Path) -> bool {
    let mut head = [0; RUN_FILE.len()];
    plain_file::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok()
        && head == RUN_FILE
}

pub(crate) fn writes_run(command: &str) -> bool {
    command.contains(OUT)
}

pub(crate) fn with_out(command: &str, out: &Path) -> String {
    command.replace(OUT, &out.to_string_lossy())
}
