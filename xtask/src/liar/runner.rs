//! Runs the program on a target, and reads what it says of it.

use super::stage::{GROUPS, Stage};
use crate::shell::{self, Outcome};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What was said of a run: the codes of all doubts beside its results, `verdict:WORD`, and
/// `refuted:CHECK`.
pub type Said = BTreeSet<String>;

/// The file system that lies, `xtask/examples`.
const EXAMPLE: &str = "lying_fs";

/// Runs the program in folders of its own.
pub struct Runner {
    program: PathBuf,
    /// The file system that lies.
    lying: PathBuf,
    folder: PathBuf,
}

impl Runner {
    /// One for this program, or for one that is built.
    ///
    /// # Errors
    /// A program does not compile, or the folder cannot be made.
    pub fn new(program: Option<&Path>) -> Outcome<Runner> {
        let program = match program {
            None => shell::build_plimsoll()?,
            Some(program) => shell::root().join(program),
        };
        // As this program is built: what it needs is there.
        shell::show(
            shell::cargo().args(["build", "--quiet", "-p", "xtask", "--example", EXAMPLE]),
        )?;
        let target = shell::target_dir()?;
        let lying = target.join("debug/examples").join(EXAMPLE);
        let folder = target.join(format!("liar-{}", std::process::id()));
        Ok(Runner { program, lying, folder })
    }

    /// Makes a target.
    ///
    /// # Errors
    /// Why this machine cannot.
    pub fn stage(&self, text: &str) -> Outcome<Stage> {
        Stage::build(&shell::folder(self.folder.clone())?, &self.program, &self.lying, text)
    }

    /// What is said of a run on a target, by the program in the stage's control groups.
    ///
    /// # Errors
    /// The run does not end with results.
    pub fn run(&self, stage: &Stage, load: &str) -> Outcome<Said> {
        let enter = format!(
            "for g in {GROUPS}; do for f in cgroup.procs tasks; do \
             [ -e $g/$f ] && echo $$ > $g/$f && break; done; done; exec \"$0\" \"$@\""
        );
        let mut command = Command::new("sh");
        command.args(["-c", &enter]).env("T", &stage.tag).arg(&self.program);
        command.args(["run", "--quiet", "--json", "--out", "run.plimsoll"]);
        command.args(load.split_whitespace()).arg(&stage.target);
        let output = command.current_dir(&stage.folder).output();
        let output = output.map_err(|error| format!("{}: {error}", shell::line(&command)))?;
        let object: Value = serde_json::from_slice(&output.stdout).map_err(|_| {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            format!("`run {load} {}` has no results: {said}", stage.target)
        })?;
        let words = |list: &Value, key: &str| {
            let words = list.as_array().into_iter().flatten();
            words
                .filter_map(|word| word.get(key).unwrap_or(word).as_str().map(str::to_owned))
                .collect::<Vec<_>>()
        };
        let rows = object["results"].as_array().into_iter().flatten();
        let mut said: Said = rows.flat_map(|row| words(&row["warnings"], "code")).collect();
        said.extend(object["verdict"].as_str().map(|level| format!("verdict:{level}")));
        let refuted = words(&object["verdict_basis"]["refuted"], "");
        said.extend(refuted.into_iter().map(|check| format!("refuted:{check}")));
        Ok(said)
    }
}
