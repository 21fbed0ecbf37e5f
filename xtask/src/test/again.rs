//! What becomes of tests that failed: one of a whole program runs once more, alone.
//!
//! Such a test waits for hosts, kernels and processors that others use, too. One that passes alone
//! is *flaky*: a defect of the test or of the program, which is named and does not hold up what has
//! nothing to do with it. Nothing else is tried again.

use crate::shell::Outcome;

/// More failures than this are no chance: none of them runs again.
const MOST: usize = 10;

/// A program of tests that ended badly.
#[derive(Debug, PartialEq, Eq)]
pub struct Failed<Program> {
    /// The program, with what ran of it. None where ours failed: the thread that watched one.
    pub program: Option<Program>,
    /// Whether its tests may run again.
    pub may_run_again: bool,
    /// Those that failed. None where the program itself did not end as it should.
    pub tests: Vec<String>,
    /// What it wrote of them.
    pub why: String,
}

/// Runs what may run again with `run`, and comes back with a line for each test that is flaky.
///
/// # Errors
/// Names what failed twice, or failed once and has no second chance.
pub fn judge<Program>(
    failed: Vec<Failed<Program>>,
    run: impl Fn(&Program, &str) -> Option<Failed<Program>>,
) -> Outcome<Vec<String>> {
    let count: usize = failed.iter().map(|one| one.tests.len().max(1)).sum();
    let (mut flaky, mut bad) = (Vec::new(), Vec::new());
    for one in failed {
        let may = one.may_run_again && !one.tests.is_empty() && count <= MOST;
        let Some(program) = one.program.as_ref().filter(|_| may) else {
            bad.push(one.why);
            continue;
        };
        for test in &one.tests {
            println!("\n== {test} failed; once more, alone");
            match run(program, test) {
                None => flaky.push(format!("flaky: {test} failed, and passed alone")),
                Some(again) => bad.push(again.why),
            }
        }
        println!("\n== what failed at first\n{}", one.why);
    }
    if bad.is_empty() { Ok(flaky) } else { Err(format!("a test failed:\n{}", bad.join("\n"))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn failed(whole: bool, tests: &[&str]) -> Failed<()> {
        let tests: Vec<String> = tests.iter().map(|&test| test.to_owned()).collect();
        let why = format!("why of {}", tests.join(", "));
        Failed { program: Some(()), may_run_again: whole, tests, why }
    }

    #[test]
    fn a_whole_test_has_a_second_chance_alone_and_is_named_flaky() {
        let asked = RefCell::new(Vec::new());
        let run = |(): &(), test: &str| {
            asked.borrow_mut().push(test.to_owned());
            (test == "b").then(|| failed(true, &["b"]))
        };
        assert_eq!(judge(Vec::new(), run), Ok(Vec::new()));
        let lines = judge(vec![failed(true, &["a"])], run).expect("it passes alone");
        assert_eq!(lines, ["flaky: a failed, and passed alone"]);
        let why = judge(vec![failed(true, &["a", "b"])], run).expect_err("b fails twice");
        assert!(why.contains("why of b") && !why.contains("why of a"), "{why}");
        assert_eq!(*asked.borrow(), ["a", "a", "b"]);
    }

    #[test]
    fn nothing_else_is_tried_again() {
        let never = |(): &(), test: &str| -> Option<Failed<()>> { panic!("{test} ran again") };
        assert!(judge(vec![failed(false, &["unit"])], never).is_err());
        assert!(judge(vec![failed(true, &[])], never).is_err(), "the program itself ended badly");
        assert!(judge(vec![failed(true, &["a"; MOST + 1])], never).is_err(), "that is no chance");
    }
}
