//! The test programs of the workspace: built by cargo, run by us, so that the one that mostly waits
//! runs beside those that mostly compute.

use super::again::{self, Failed};
use super::groups::Group;
use crate::scope::Scope;
use crate::shell::{self, Outcome};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The whole-program tests: they wait for runs, so that several share a processor.
const WHOLE: &str = "whole";
/// As many of them at once, on a machine of fewer processors.
const WAITING: usize = 6;
/// How much nicer all other tests are. Emulated guests have timers and kernels of their own, which
/// take the more of the processors the longer a test lasts.
const NICER: &str = "5";

/// As many cases of each property are enough of a package in which nothing changed.
const FEW_CASES: &str = "32";

/// What properties are asked with, but where everything is checked: the same cases each time, so
/// that a change is never held up by what it has nothing to do with. `--all` draws others.
const SEED: &str = "20261127";

/// How a program of tests learns how many of them run at once.
const THREADS: &str = "RUST_TEST_THREADS";

/// One program of tests, or a part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The package and the target: `fleet`, `cli whole`.
    name: String,
    package: String,
    file: PathBuf,
    /// Where cargo would start it.
    folder: PathBuf,
    /// Which of its tests run, as its own arguments.
    which: Vec<String>,
    /// As many of them at once, where that is not for the program to say.
    threads: Option<usize>,
    /// Its tests take their turns and for longest: all others are nicer.
    in_turn: bool,
    /// Nothing that it is made of changed since everything was checked.
    in_short: bool,
    /// Its properties draw cases that nobody drew before.
    draws: bool,
}

/// Has cargo build every test program of the workspace.
///
/// # Errors
/// They do not compile; what is wrong stands above.
pub fn build() -> Outcome<Vec<Program>> {
    let mut cargo = shell::cargo();
    // Examples are clippy's to look at.
    cargo.args(["test", "--locked", "--workspace", "--lib", "--bins", "--tests", "--no-run"]);
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
    let (package, file, folder) = (package.to_owned(), file.into(), folder.to_owned());
    Some(Program { name, package, file, folder, ..Program::default() })
}

impl Program {
    fn waits(&self) -> bool {
        self.name.split(' ').nth(1) == Some(WHOLE)
    }

    /// What runs of it: each group, whose tests take turns, and one part with all others.
    fn parts(&self, groups: &[Group], scope: &Scope) -> Vec<Program> {
        if !self.waits() {
            return vec![self.clone()];
        }
        let in_turn = groups.iter().map(|group| Program {
            name: format!("{} {}", self.name, group.tests),
            which: group.which(scope, groups),
            threads: Some(1),
            in_turn: true,
            draws: *scope == Scope::All,
            ..self.clone()
        });
        let in_turn = in_turn.filter(|part| !part.which.is_empty());
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let skipped = groups.iter().flat_map(|group| ["--skip".to_owned(), group.tests.clone()]);
        let others = Program {
            name: format!("{} others", self.name),
            which: skipped.collect(),
            threads: Some(processors.max(WAITING)),
            draws: *scope == Scope::All,
            ..self.clone()
        };
        in_turn.chain([others]).collect()
    }

    /// A program of unit tests: with its proofs, which are `ignored` elsewhere, unless nothing that
    /// its package changed. A proof asks thousands of cases or seeds what a test asks a few.
    fn in_scope(&self, scope: &Scope) -> Program {
        let in_short = scope.packages().is_some_and(|changed| !changed.contains(&self.package));
        let which = if in_short { Vec::new() } else { vec!["--include-ignored".to_owned()] };
        Program { which, in_short, draws: *scope == Scope::All, ..self.clone() }
    }

    /// One of its tests, alone.
    pub fn only(&self, test: &str) -> Program {
        let which = vec!["--exact".to_owned(), test.to_owned()];
        Program { which, threads: Some(1), in_turn: true, ..self.clone() }
    }

    /// What starts it: as it is, or with less of the processors than the tests that take turns.
    fn command(&self) -> Command {
        match shell::which("nice").filter(|_| !self.in_turn) {
            Some(nice) => {
                let mut command = Command::new(nice);
                command.args(["-n", NICER]).arg(&self.file);
                command
            }
            None => Command::new(&self.file),
        }
    }

    /// Runs it, and prints what it wrote once it is over. Comes back with what failed, if it did.
    pub fn run(&self, parts: &str) -> Option<Failed<Program>> {
        let mut command = self.command();
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command.env("PLIMSOLL_TEST_PARTS", parts).stdin(Stdio::null());
        if self.in_short {
            command.env("PROPTEST_CASES", FEW_CASES);
        }
        if !self.draws {
            command.env("PROPTEST_RNG_SEED", SEED);
        }
        command.args(&self.which);
        if let Some(threads) = self.threads.filter(|_| std::env::var_os(THREADS).is_none()) {
            command.env(THREADS, threads.to_string());
        }
        let failed = |tests: Vec<String>, why: String| {
            let program = Some(self.clone());
            Some(Failed { program, may_run_again: self.waits(), tests, why })
        };
        let start = Instant::now();
        let output = match command.output() {
            Ok(output) => output,
            Err(error) => {
                let why = format!("{} cannot be started: {error}", self.file.display());
                return failed(Vec::new(), why);
            }
        };
        let texts =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        println!(
            "-- {} ({:.1} s)\n{}{}",
            self.name,
            start.elapsed().as_secs_f64(),
            texts[0],
            texts[1]
        );
        if output.status.success() {
            return None;
        }
        let what = what_failed(&texts[0]);
        in_short(&what).iter().for_each(|line| println!("{line}"));
        failed(names_of_failed(&texts[0]), format!("{} ({})\n{what}", self.name, output.status))
    }
}

/// Runs the programs: the groups of the one that waits follow one another, beside all its other
/// tests and beside the other programs, which follow one another too.
/// Whole-program tests that failed run once more at the end, each alone; the lines that come back
/// are of those that passed then.
///
/// # Errors
/// Names the programs of which a test failed.
pub fn run(
    programs: &[Program],
    parts: &str,
    groups: &[Group],
    scope: &Scope,
) -> Outcome<Vec<String>> {
    let (waiting, computing): (Vec<&Program>, Vec<&Program>) =
        programs.iter().partition(|program| program.waits());
    let parts_of_it = waiting.into_iter().flat_map(|program| program.parts(groups, scope));
    let (in_turn, at_once): (Vec<Program>, Vec<Program>) =
        parts_of_it.partition(|part| part.in_turn);
    let computing: Vec<Program> =
        computing.into_iter().map(|program| program.in_scope(scope)).collect();
    let failed: Vec<Failed<Program>> = std::thread::scope(|scope| {
        let one_by_one = |programs: &[Program]| -> Vec<Failed<Program>> {
            programs.iter().filter_map(|program| program.run(parts)).collect()
        };
        let beside = [&in_turn, &at_once].map(|programs| scope.spawn(move || one_by_one(programs)));
        let mut failed = one_by_one(&computing);
        for thread in beside {
            failed.extend(thread.join().unwrap_or_else(|_| vec![thread_of_ours()]));
        }
        failed
    });
    again::judge(failed, |program, test| program.only(test).run(parts))
}

/// What is said where a thread that watched programs panicked.
fn thread_of_ours() -> Failed<Program> {
    let (tests, why) = (Vec::new(), "a thread of the check's own".to_owned());
    Failed { program: None, may_run_again: false, tests, why }
}

/// As much of what one failed test said as is repeated at the end, where it is read.
const LINES_AT_THE_END: usize = 40;
/// As many tests say something there.
const TESTS_AT_THE_END: usize = 20;

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
    let (mut tests, mut of_one) = (0, 0);
    let mut kept = Vec::new();
    for line in lines {
        let begins = line.starts_with("---- ") && line.ends_with(" stdout ----");
        (tests, of_one) = if begins { (tests + 1, 1) } else { (tests, of_one + 1) };
        if tests <= TESTS_AT_THE_END && of_one <= LINES_AT_THE_END {
            kept.push(line);
        }
    }
    kept.join("\n")
}

/// The names of the tests that failed: the last list of what their program wrote.
fn names_of_failed(output: &str) -> Vec<String> {
    let Some((_, list)) = output.rsplit_once("\nfailures:\n") else { return Vec::new() };
    let names = list.lines().map_while(|line| line.strip_prefix("    "));
    names.map(str::to_owned).collect()
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
        let of_many = format!(
            "failures:\n---- a stdout ----\n{}---- b stdout ----\nthat\n",
            "x\n".repeat(99)
        );
        let told = what_failed(&of_many);
        assert!(told.ends_with("---- b stdout ----\nthat") && told.lines().count() == 42, "{told}");
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

    /// One group, of which a change elsewhere leaves `vms::a`.
    fn groups() -> (Vec<Group>, Scope) {
        let groups = crate::test::groups::read().expect("the file of the workspace");
        (groups, Scope::Changed([].into()))
    }

    fn named(name: &str, file: &str) -> Program {
        let folder = std::env::temp_dir();
        Program { name: name.to_owned(), file: file.into(), folder, ..Program::default() }
    }

    #[test]
    fn no_test_of_a_whole_check_is_left_out_and_none_runs_twice() {
        let (groups, elsewhere) = groups();
        let whole = named("cli whole", "true");
        let parts = whole.parts(&groups, &Scope::All);
        let program_of = |part: &Program| part.command().get_program().to_owned();
        assert_eq!(program_of(&parts[0]), "true", "it is the one that waits for nobody");
        let others = parts.last().expect("all others");
        assert!(shell::which("nice").is_none() || program_of(others) != "true");
        assert_eq!(parts.len(), groups.len() + 1);
        for (group, part) in groups.iter().zip(&parts) {
            assert_eq!(part.which[0], group.tests);
            assert!(others.which.windows(2).any(|two| two == ["--skip", &group.tests]));
        }
        let of_the_usual = whole.parts(&groups, &elsewhere);
        assert_eq!(of_the_usual[0].which[0], "--exact");
        assert_eq!(of_the_usual.last().map(|last| &last.which), Some(&others.which));
        assert_eq!(whole.only("vms::a").which, ["--exact", "vms::a"]);
        assert!(parts.iter().all(Program::waits), "each part may run again");
    }

    #[test]
    fn proofs_run_where_something_changed() {
        let twin = Program { package: "twin".into(), ..named("twin", "true") };
        let of = |file: &str| {
            let scope = Scope::Changed([file.to_owned()].into());
            let program = twin.in_scope(&scope);
            (program.which.join(" "), program.in_short)
        };
        let (whole, short) = (("--include-ignored".to_owned(), false), (String::new(), true));
        assert_eq!((of("crates/twin/src/lib.rs"), of("Cargo.lock")), (whole.clone(), whole));
        assert_eq!(
            (of("crates/fleet/src/lib.rs"), of("crates/model/src/lib.rs")),
            (short.clone(), short)
        );
    }

    #[test]
    fn every_program_runs_and_those_that_fail_are_named() {
        let (groups, scope) = groups();
        let (good, whole) = (named("good", "true"), named("cli whole", "true"));
        assert_eq!(run(&[good.clone(), whole], "", &groups, &scope), Ok(Vec::new()));
        let all = [named("bad", "false"), good, named("cli whole", "false")];
        let problem = run(&all, "", &groups, &scope).expect_err("two fail");
        assert!(problem.contains("bad (") && problem.contains("whole vms:: ("), "{problem}");
        assert!(!problem.contains("good"), "{problem}");
    }

    #[test]
    fn the_names_of_failed_tests_are_the_last_list() {
        let lines =
            ["test a ... FAILED", "", "failures:", "", "---- a::b stdout ----", "    x", "", ""];
        let list = ["failures:", "    a::b", "    c", "", "test result: FAILED. 1 passed"];
        let output = [&lines[..], &list[..]].concat().join("\n");
        assert_eq!(names_of_failed(&output), ["a::b", "c"]);
        assert!(names_of_failed("signal: 6").is_empty());
    }
}
