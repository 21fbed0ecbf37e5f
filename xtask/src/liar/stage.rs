//! Targets, each made by steps from the disk upwards: `disk > hole=96 > loop=direct > ext4`. What
//! was made is taken away by a shell of its own, also when this program was killed.

use crate::shell::{self, Outcome};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// How each step is made and undone, by the shell.
const STEPS: &str = include_str!("steps.toml");

/// The group of a stage for a controller, of either version: it is made where it is not there.
const GROUP: &str = "group() { if [ -e /sys/fs/cgroup/cgroup.controllers ]; then c=$1; \
                     [ $c = blkio ] && c=io; echo +$c > /sys/fs/cgroup/cgroup.subtree_control; \
                     g=/sys/fs/cgroup/$T; else g=/sys/fs/cgroup/$1/$T; fi; \
                     mkdir -p $g && echo $g; }";
/// Where the groups of a stage are, for whoever enters or removes them.
pub const GROUPS: &str = "/sys/fs/cgroup/$T /sys/fs/cgroup/*/$T";

/// The device of simulations: times of service are random, as those of devices are.
const SIMULATED: &str = "constant,read=exponential:310us,write=exponential:270us,fsync=120us,\
                         servers=4,capacity=8GiB";

/// A target that stands until this is dropped.
pub struct Stage {
    /// What the program is to load.
    pub target: String,
    /// The name of its control groups.
    pub tag: String,
    /// Its own folder, on the disk.
    pub folder: PathBuf,
    undo: Option<Child>,
}

impl Stage {
    /// Makes a target below `folder` with the help of two programs; or says why this machine
    /// cannot.
    ///
    /// # Errors
    /// A step fails.
    pub fn build(folder: &Path, program: &Path, lying: &Path, text: &str) -> Outcome<Stage> {
        let process = std::process::id();
        let made = (0..).map(|number| folder.join(number.to_string()));
        let own = made.into_iter().find(|path| !path.exists()).unwrap_or_default();
        let own = shell::folder(own)?;
        let tag = format!("plimsoll-liar-{process}");
        let mut stage = Stage { target: String::new(), tag, folder: own, undo: None };
        if text.starts_with("sim:") {
            stage.target = text.to_owned();
        } else if let Some(more) = text.strip_prefix("sim") {
            stage.target = format!("sim:{SIMULATED}{more}");
        } else if !shell::is_root() {
            return Err("it needs root".to_owned());
        }
        stage.begin()?;
        let steps = text.split(" > ").filter(|_| stage.target.is_empty()).collect::<Vec<_>>();
        let mut last_mount = String::new();
        let known: toml::Table = STEPS.parse().map_err(|error| format!("steps.toml: {error}"))?;
        for (number, step) in steps.into_iter().enumerate() {
            let (word, value) = step.split_once('=').unwrap_or((step, ""));
            let own = shell::folder(stage.folder.join(number.to_string()))?;
            let known = known.get(word).ok_or_else(|| format!("`{word}` is no step"))?;
            let part = |key: &str| known.get(key).and_then(toml::Value::as_str).unwrap_or("");
            let (script, undo) = (part("make"), part("undo"));
            let variables = [
                ("P", stage.target.clone()),
                ("V", value.to_owned()),
                ("N", own.display().to_string()),
                ("D", stage.folder.display().to_string()),
                ("E", last_mount.clone()),
                ("T", stage.tag.clone()),
            ];
            stage.undo_by(&variables, undo)?;
            let mut command = Command::new("sh");
            command.args(["-c", &format!("{GROUP}; {script}")]).envs(variables);
            command.env("LYING", lying).env("PLIMSOLL", program);
            stage.target = shell::capture(&mut command)
                .map_err(|why| why.rsplit(": ").next().unwrap_or("it failed").to_owned())?
                .trim()
                .to_owned();
            if word == "ext4" {
                last_mount = stage.target.clone();
            }
        }
        Ok(stage)
    }

    /// Starts the shell that hears what is to be undone, and does it, the last first, as soon as
    /// nobody can tell it more. It is in a group of its own: an interrupt does not reach it.
    fn begin(&mut self) -> Outcome<()> {
        let script = "while IFS= read -r line; do todo=\"$line\n$todo\"; done; eval \"$todo\"";
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped());
        command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        self.undo = Some(command.spawn().map_err(|error| format!("sh: {error}"))?);
        let variables = [("D", self.folder.display().to_string()), ("T", self.tag.clone())];
        let remove = "rm -rf --one-file-system $D; rmdir $(dirname $D)";
        self.undo_by(&variables, &format!("{remove}; for g in {GROUPS}; do rmdir $g; done"))
    }

    fn undo_by(&mut self, variables: &[(&str, String)], script: &str) -> Outcome<()> {
        let set = variables.iter().map(|(name, value)| {
            let quoted = value.replace('\'', "'\\''").replace('\n', " ");
            format!("{name}='{quoted}'; ")
        });
        let line = set.collect::<String>() + if script.is_empty() { ":" } else { script } + "\n";
        let pipe = self.undo.as_mut().and_then(|child| child.stdin.as_mut());
        pipe.map_or(Ok(()), |pipe| pipe.write_all(line.as_bytes())).map_err(shell::at("sh"))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(mut undo) = self.undo.take() {
            drop(undo.stdin.take());
            // What it could not undo is not there.
            let _ = undo.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_of_a_lie_is_known_and_undone_in_a_line() {
        let known: toml::Table = STEPS.parse().expect("a good table");
        for lie in super::super::table::lies().expect("a good table") {
            let targets = [lie.lying.target, lie.honest.target].join(" > ");
            for step in targets.split(" > ").filter(|step| !step.starts_with("sim")) {
                let word = step.split_once('=').map_or(step, |(word, _)| word);
                let step = known.get(word).unwrap_or_else(|| panic!("{word}: no step"));
                assert!(step["make"].as_str().is_some_and(|make| !make.is_empty()), "{word}");
                let undo = step.get("undo").and_then(toml::Value::as_str).unwrap_or_default();
                assert!(!undo.contains('\n'), "{word}: the shell that undoes it reads lines");
            }
        }
    }
}
