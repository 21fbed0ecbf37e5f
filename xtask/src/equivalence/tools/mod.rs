//! Drawn command lines of tools that MPI starts, held against them on a directory by the system
//! calls of both. Ours runs as it is imported: with one call for each request.

mod calls;
mod command;
mod files;
mod requests;

use super::judge::{Difference, Kind};
use super::machine::{Disk, Ended, end, load_spans, losses, scratch, text};
use super::{Lost, Oracle, Tool, Verdict};
use crate::shell::Outcome;
use calls::{Call, TRACED, calls};
use command::{Command, draw, grammar};
use serde_json::Value;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process;
use tempfile::TempDir;

/// A directory on a file system of its own, and what is written down beside it.
pub(super) struct Ranks {
    tool: Tool,
    program: PathBuf,
    disk: Disk,
    work: TempDir,
}

/// The version of a tool that tells it only when it runs.
pub(super) fn version(tool: Tool) -> String {
    let folder = scratch();
    let mut command = process::Command::new(tool.name());
    match tool {
        Tool::Mdtest => command.args(["-n", "1", "-d", text(folder.path())]),
        _ => command.args(["-b", "1k", "-t", "1k", "-o", "f"]),
    };
    let said = end(command, folder.path()).out;
    let mut words = said.split(|letter: char| letter.is_whitespace() || letter == ':');
    let is_version = |word: &&str| word.starts_with("IOR-") || word.starts_with("mdtest-");
    words.find(is_version).unwrap_or(tool.name()).to_owned()
}

impl Ranks {
    /// Makes them.
    pub(super) fn new(tool: Tool, program: &Path) -> Ranks {
        Ranks { tool, program: program.to_owned(), disk: Disk::new(), work: scratch() }
    }

    fn directory(&self) -> PathBuf {
        self.disk.path().join("a")
    }

    fn line(&self, job: &Command) -> String {
        job.to_string().replace("DIR", text(&self.directory()))
    }

    /// Runs a program, and tells what it and its children asked of the directory.
    fn traced(&self, words: &[&str]) -> (Ended, Vec<Call>) {
        let traces = self.work.path().join("traces");
        let _ = fs::remove_dir_all(&traces);
        fs::create_dir(&traces).expect("a folder of ours");
        let mut command = process::Command::new("strace");
        let trace = format!("trace={TRACED}");
        command.args(["-ff", "-qq", "-y", "-s", "0", "-ttt", "--seccomp-bpf", "-e", &trace]);
        command.arg("-o").arg(traces.join("calls")).args(words);
        let ended = self.end(command);
        (ended, calls(&traces, text(&self.directory())))
    }

    fn end(&self, mut command: process::Command) -> Ended {
        for name in ["ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM"] {
            command.env(format!("OMPI_{name}"), "1");
        }
        command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
        end(command, self.work.path())
    }

    fn clear(&self) {
        let _ = fs::remove_dir_all(self.directory());
        fs::create_dir(self.directory()).expect("a directory of ours");
    }

    /// What the tool asks. Where it reads or removes alone, what is there was made before.
    fn theirs(&self, job: &Command) -> Result<Vec<Call>, String> {
        self.clear();
        let is_wrong = |ended: &Ended| {
            let said = format!("{}{}", ended.out, ended.err);
            let is_told = ["unable to", "Cannot ", "ERROR"].iter().any(|word| said.contains(word));
            (ended.code != Some(0) || is_told).then(|| {
                let at = said.lines().find(|line| line.contains("ERR") || line.contains("unable"));
                let why = at.or(said.lines().next()).unwrap_or_default();
                format!("{}: {:?} {why}", self.tool.name(), ended.code)
            })
        };
        let run = |job: &Command| self.traced(&self.line(job).split(' ').collect::<Vec<_>>());
        if let Some(before) = job.before() {
            is_wrong(&run(&before).0).map_or(Ok(()), Err)?;
        }
        let (ended, calls) = run(job);
        self.clear();
        is_wrong(&ended).map_or(Ok(calls), Err)
    }

    /// What the suite asks, and when its load is on.
    fn ours(&self, suite: &str) -> Result<(Vec<Call>, Vec<Range<u64>>), String> {
        self.clear();
        let work = self.work.path();
        for left in ["events", "run.plimsoll", "run.html"] {
            let _ = fs::remove_file(work.join(left));
        }
        fs::write(work.join("suite.toml"), suite).expect("room for a suite");
        let words = ["run", "suite.toml", "-q", "--events", "events", "--out", "run.plimsoll"];
        let (ended, calls) = self.traced(&[&[text(&self.program)], &words[..]].concat());
        let events = fs::read_to_string(work.join("events")).unwrap_or_default();
        if ended.code != Some(0) {
            return Err(format!("exit {:?}: {}{}", ended.code, ended.out, ended.err));
        }
        Ok((calls, load_spans(&events, 0)))
    }

    /// What the import does not keep, and the suite; or why it is refused.
    fn import(&self, job: &Command) -> Result<(Vec<Lost>, String), String> {
        let mut command = process::Command::new(&self.program);
        command.args(["import", "--json", "--command", &self.line(job)]);
        let told = self.end(command);
        let Ok(report) = serde_json::from_str::<Value>(&told.out) else { return Err(told.err) };
        let refused = losses(&report, &["refused"]);
        let suite = report["suites"][0]["text"].as_str().unwrap_or_default();
        match refused.first() {
            Some((name, why)) => Err(format!("refused {name}: {why}")),
            None => Ok((losses(&report, &["approximated", "harmless"]), suite.to_owned())),
        }
    }

    fn differences(&self, job: &Command, suite: &str) -> Outcome<Vec<Difference>> {
        let theirs = self.theirs(job)?;
        let (ours, spans) = match self.ours(suite) {
            Ok(ours) => ours,
            Err(how) => return Ok(vec![(Kind::Failure, how)]),
        };
        let in_load = spans
            .iter()
            .map(|span| ours.iter().filter(|call| span.contains(&call.at_us)).collect::<Vec<_>>());
        Ok(match self.tool {
            Tool::Mdtest => files::differences(&theirs, &in_load.collect::<Vec<_>>()),
            _ => requests::differences(job, &theirs, in_load),
        })
    }
}

impl Oracle for Ranks {
    type Job = Command;

    fn draw(&self, seed: u64) -> Command {
        draw(self.tool, seed)
    }

    fn lost(&self, job: &Command) -> Result<Vec<Lost>, String> {
        self.import(job).map(|(lost, _)| lost)
    }

    fn smaller(&self, job: &Command) -> Vec<Command> {
        job.smaller()
    }

    fn hold(&self, job: &Command, _: u64) -> Outcome<Verdict> {
        let (lost, suite) = match self.import(job) {
            Ok(import) => import,
            Err(words) => return Ok(Verdict::Refused(words)),
        };
        let mut found = self.differences(job, &suite)?;
        if !found.is_empty() {
            // Once more: the machine may have been busy.
            let again = self.differences(job, &suite)?;
            found.retain(|one| again.iter().any(|other| other.0 == one.0));
        }
        let explains = |(_, why): &Lost, (_, what): &Difference| {
            let mut all = grammar(self.tool).entries("stated ");
            all.any(|(about, says)| {
                what.starts_with(about) && says.lines().any(|s| why.contains(s))
            })
        };
        Ok(Verdict::of(found, lost, explains))
    }
}
