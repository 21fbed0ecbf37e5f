//! The test programs of the workspace: built by cargo, run by us, so that the one that mostly waits
//! runs beside those that mostly compute.

use crate::shell::{self, Outcome};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The whole-program tests: they wait for runs, so that several share a processor.
const WHOLE: &str = "whole";
/// As many of them at once, on a machine of fewer processors.
const WAITING: usize = 6;
/// The module of them whose tests take their turns, one by one, and for longest: it starts first.
const IN_TURN: &str = "vms::";
/// How much nicer all other tests are. Emulated guests have timers and kernels of their own, which
/// take the more of the processors the longer a test lasts.
const NICER: &str = "5";

/// How a program of tests learns how many of them run at once.
const THREADS: &str = "RUST_TEST_THREADS";

/// One program of tests, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The package and the target: `fleet`, `cli whole`.
    name: String,
    file: PathBuf,
    /// Where cargo would start it.
    folder: PathBuf,
    /// Which of its tests run, as its own arguments.
    which: Vec<String>,
    /// As many of them at once, where that is not for the program to say.
    threads: Option<usize>,
}

/// Has cargo build every test program of the workspace.
///
/// # Errors
/// They do not compile; what is wrong stands above.
pub fn build() -> Outcome<Vec<Program>> {
    let mut cargo = shell::cargo();
    cargo.args(["test", "--locked", "--workspace", "--no-run"]);
    cargo.arg("--message-format=json-render-diagnostics").stdin(Stdio::null());
    let output = cargo
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("`{}` cannot be started: {error}", shell::line(&cargo)))?;
    if !output.status.success() {
        return Err("the tests do not compile; what is wrong stands above".to_owned());
    }
    let programs: Vec<Program> =
        String::from_utf8_lossy(&output.stdout).lines().filter_map(program).collect();
    match programs.iter().any(Program::waits) {
        true => Ok(programs),
        false => {
            Err(format!("cargo built no test program `{WHOLE}`; look at crates/cli/Cargo.toml"))
        }
    }
}

/// The test program that a message of cargo's tells of, if it does.
fn program(line: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(line).ok()?;
    let is_test = message["profile"]["test"] == Value::Bool(true);
    let file = message["executable"].as_str().filter(|_| is_test)?;
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    let (package, target) = (folder.file_name()?.to_str()?, message["target"]["name"].as_str()?);
    let name = if package == target { package.to_owned() } else { format!("{package} {target}") };
    let (which, threads) = (Vec::new(), None);
    Some(Program { name, file: file.into(), folder: folder.to_owned(), which, threads })
}

impl Program {
    fn waits(&self) -> bool {
        self.name.split_once(' ').is_some_and(|(_, target)| target == WHOLE)
    }

    /// What runs of it at once: one part whose tests take turns, and one with all the others.
    fn parts(&self) -> Vec<Program> {
        if !self.waits() {
            return vec![self.clone()];
        }
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let part = |name: &str, which: &[&str], threads: usize| Program {
            name: format!("{} {name}", self.name),
            which: which.iter().map(|&word| word.to_owned()).collect(),
            threads: Some(threads),
            ..self.clone()
        };
        let others = processors.max(WAITING);
        vec![part(IN_TURN, &[IN_TURN], 1), part("others", &["--skip", IN_TURN], others)]
    }

    /// What starts it: as it is, or with less of the processors than the tests that take turns.
    fn command(&self) -> Command {
        match shell::which("nice").filter(|_| self.which != [IN_TURN]) {
            Some(nice) => {
                let mut command = Command::new(nice);
                command.args(["-n", NICER]).arg(&self.file);
                command
            }
            None => Command::new(&self.file),
        }
    }

    /// Runs it, and prints what it wrote once it is over.
    fn run(&self, parts: &str) -> Outcome<()> {
        let mut command = self.command();
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command.env("PLIMSOLL_TEST_PARTS", parts).stdin(Stdio::null());
        command.args(&self.which);
        if let Some(threads) = self.threads.filter(|_| std::env::var_os(THREADS).is_none()) {
            command.env(THREADS, threads.to_string());
        }
        let start = Instant::now();
        let output = command
            .output()
            .map_err(|error| format!("{} cannot be started: {error}", self.file.display()))?;
        let texts =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        println!(
            "-- {} ({:.1} s)\n{}{}",
            self.name,
            start.elapsed().as_secs_f64(),
            texts[0],
            texts[1]
        );
        match output.status.success() {
            true => Ok(()),
            false => {
                let what = what_failed(&texts[0]);
                in_short(&what).iter().for_each(|line| println!("{line}"));
                Err(format!("{} ({})\n{what}", self.name, output.status))
            }
        }
    }
}

/// Runs the programs: the parts of the one that waits beside the others, which follow one another.
///
/// # Errors
/// Names the programs of which a test failed.
pub fn run(programs: &[Program], parts: &str) -> Outcome<()> {
    let (waiting, computing): (Vec<&Program>, Vec<&Program>) =
        programs.iter().partition(|program| program.waits());
    let in_turn = |programs: Vec<&Program>| -> Vec<String> {
        programs.into_iter().filter_map(|program| program.run(parts).err()).collect()
    };
    let parts_of_it: Vec<Program> = waiting.into_iter().flat_map(Program::parts).collect();
    let failed = std::thread::scope(|scope| {
        let beside: Vec<_> =
            parts_of_it.iter().map(|part| scope.spawn(|| part.run(parts).err())).collect();
        let mut failed = in_turn(computing);
        for part in beside {
            failed.extend(part.join().unwrap_or_else(|_| Some("the thread of a part".to_owned())));
        }
        failed
    });
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("a test failed:\n{}", failed.join("\n"))),
    }
}

/// As much of what failed tests said as is repeated at the end, where it is read.
const LINES_AT_THE_END: usize = 80;

/// What the tests that failed said, of all that their program wrote: without backtraces, and not
/// without a bound.
fn what_failed(output: &str) -> String {
    let is_of_a_backtrace = |line: &&str| {
        let line = line.trim_start();
        let number = line.split(':').next().unwrap_or_default();
        line == "stack backtrace:"
            || line.starts_with("at /")
            || line.starts_with("at ./")
            || line.starts_with("note: ")
            || (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let failures = output.lines().skip_while(|line| *line != "failures:").skip(1);
    let said = failures.take_while(|line| *line != "failures:");
    let lines = said.filter(|line| !line.is_empty()).filter(|line| !is_of_a_backtrace(line));
    lines.take(LINES_AT_THE_END).collect::<Vec<_>>().join("\n")
}

/// How much of a failure's words is on its line, in characters.
const LONGEST_LINE: usize = 600;

/// A line for each test that failed, of [`what_failed`]: its name, the place and the words. A log
/// that is cut keeps lines of failures first.
fn in_short(what: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in what.lines() {
        let name = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"));
        match (name, lines.last_mut()) {
            (Some(name), _) => lines.push(format!("test {name} ... FAILED:")),
            (None, Some(last)) => {
                last.push(' ');
                last.push_str(line.trim());
            }
            (None, None) => {}
        }
    }
    for line in &mut lines {
        *line = line.chars().take(LONGEST_LINE).collect();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_repeated_without_its_backtrace() {
        let output = [
            "test a ... FAILED",
            "",
            "failures:",
            "",
            "---- a stdout ----",
            "",
            "thread 'a' panicked at x.rs:1:2:",
            "no",
            "stack backtrace:",
            "   0: main",
            "note: Some details are omitted.",
            "             at ./x.rs:1",
            "",
            "failures:",
            "    a",
        ];
        let output = &output.join("\n");
        assert_eq!(what_failed(output), "---- a stdout ----\nthread 'a' panicked at x.rs:1:2:\nno");
        let in_short = in_short(&what_failed(output));
        assert_eq!(in_short, ["test a ... FAILED: thread 'a' panicked at x.rs:1:2: no"]);
        assert_eq!(what_failed("test result: ok"), "");
    }

    fn message(test: bool, package: &str, target: &str) -> String {
        format!(
            r#"{{"reason": "compiler-artifact", "manifest_path": "/w/crates/{package}/Cargo.toml",
                "target": {{"name": "{target}"}}, "profile": {{"test": {test}}},
                "executable": "/t/{target}-1"}}"#
        )
    }

    #[test]
    fn programs_of_tests_are_taken_from_what_cargo_says() {
        let whole = program(&message(true, "cli", "whole")).expect("a program");
        assert_eq!((whole.name.as_str(), whole.waits()), ("cli whole", true));
        assert_eq!(whole.folder, Path::new("/w/crates/cli"));
        let unit = program(&message(true, "fleet", "fleet")).expect("a program");
        assert_eq!((unit.name.as_str(), unit.waits()), ("fleet", false));
        assert_eq!(program(&message(false, "cli", "plimsoll")), None);
        assert_eq!(program("{\"reason\": \"build-finished\"}"), None);
        assert_eq!(program("Compiling"), None);
    }

    #[test]
    fn every_program_runs_and_those_that_fail_are_named() {
        let program = |name: &str, file: &str| Program {
            name: name.to_owned(),
            file: file.into(),
            folder: std::env::temp_dir(),
            which: Vec::new(),
            threads: None,
        };
        let good = program("good", "true");
        let whole = program("cli whole", "true");
        let parts = whole.parts();
        let program_of = |part: &Program| part.command().get_program().to_owned();
        assert_eq!(program_of(&parts[0]), "true", "it is the one that waits for nobody");
        assert!(shell::which("nice").is_none() || program_of(&parts[1]) != "true");
        // No test is left out, and none runs twice.
        assert_eq!(parts[0].which, ["vms::"]);
        assert_eq!(
            (&parts[1].which[..], parts.len()),
            (&["--skip", "vms::"].map(String::from)[..], 2)
        );
        assert_eq!(run(&[good.clone(), whole], ""), Ok(()));
        let all = [program("bad", "false"), good, program("cli whole", "false")];
        let problem = run(&all, "").expect_err("two fail");
        assert!(problem.contains("bad (") && problem.contains("whole vms:: ("), "{problem}");
        assert!(!problem.contains("good"), "{problem}");
    }
}
