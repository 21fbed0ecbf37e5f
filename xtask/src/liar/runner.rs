//! Runs the program on a target, and reads which doubts it has.

use crate::shell::{self, Outcome};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What the program is run with, and what goes on beside it.
pub struct Load {
    /// The arguments behind `run`.
    pub arguments: Vec<String>,
    /// Arguments behind `run` of the program as a neighbour that loads the same device.
    pub beside: Option<Vec<String>>,
    /// A control group, by the file that takes its tasks, in which the program runs.
    pub group: Option<PathBuf>,
}

impl Load {
    /// A run with these arguments, and nothing beside it.
    pub fn alone<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Load {
        let arguments = arguments.into_iter().map(str::to_owned).collect();
        Load { arguments, beside: None, group: None }
    }
}

/// A lie and its truthful twin, with what is undone when they are over.
pub struct Staged {
    /// The run on the target that deceives.
    pub lying: Load,
    /// The same run on one that does not.
    pub honest: Load,
    /// Undone in this order when it is dropped.
    pub undo: Vec<Vec<String>>,
}

impl Drop for Staged {
    fn drop(&mut self) {
        for command in &self.undo {
            if let Some((program, arguments)) = command.split_first() {
                // What is gone already needs no undoing.
                let _ = Command::new(program).args(arguments).output();
            }
        }
    }
}

/// The doubts of a lie's run and of its twin's.
pub struct Judged {
    /// Codes of the lie's.
    pub lying: BTreeSet<String>,
    /// Codes of the twin's.
    pub honest: BTreeSet<String>,
}

/// Runs the program in a folder of its own.
pub struct Runner {
    program: PathBuf,
    folder: PathBuf,
}

impl Runner {
    /// One for this program.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn new(program: PathBuf) -> Outcome<Runner> {
        let folder =
            shell::folder(shell::target_dir()?.join(format!("liar-{}", std::process::id())))?;
        Ok(Runner { program, folder })
    }

    /// Where targets and run files are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs both.
    ///
    /// # Errors
    /// A run does not end with results.
    pub fn judge(&self, lying: &Load, honest: &Load) -> Outcome<Judged> {
        Ok(Judged { lying: self.doubts(lying)?, honest: self.doubts(honest)? })
    }

    fn start(&self, arguments: &[String]) -> Option<Child> {
        let mut command = Command::new(&self.program);
        command.arg("run").args(arguments).current_dir(&self.folder);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()
    }

    /// The program, in the load's control group if it has one: a shell that enters it becomes the
    /// program.
    fn command(&self, load: &Load) -> Command {
        let Some(tasks) = &load.group else { return Command::new(&self.program) };
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(tasks).arg(&self.program);
        command
    }

    /// The codes of all doubts beside any result of a run.
    ///
    /// # Errors
    /// The run does not end with results.
    pub fn doubts(&self, load: &Load) -> Outcome<BTreeSet<String>> {
        let out = self.folder.join("run.plimsoll");
        let beside = load.beside.as_ref().and_then(|arguments| self.start(arguments));
        let mut command = self.command(load);
        command.arg("run").args(&load.arguments).args(["--quiet", "--json", "--out"]).arg(&out);
        let output = command.current_dir(&self.folder).output();
        stop(beside);
        for made in [&out, &out.with_extension("html")] {
            // A run that was refused made none.
            let _ = std::fs::remove_file(made);
        }
        let output = output.map_err(|error| format!("{}: {error}", shell::line(&command)))?;
        let object: Value = serde_json::from_slice(&output.stdout).map_err(|_| {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            format!("`{}` has no results: {said}", shell::line(&command))
        })?;
        let rows = object["results"].as_array().into_iter().flatten();
        let doubts = rows.flat_map(|row| row["warnings"].as_array().into_iter().flatten());
        Ok(doubts.filter_map(|doubt| doubt["code"].as_str().map(str::to_owned)).collect())
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // It holds nothing that anybody needs.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn stop(child: Option<Child>) {
    if let Some(mut child) = child {
        // One that has ended already is only waited for.
        let _ = child.kill();
        let _ = child.wait();
    }
}
