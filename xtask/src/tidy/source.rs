//! Rules about Rust sources.

use super::code::{is_in_name, lines_with_word, members, only_code, starts_word};
use super::tree::{Text, Tree};
use super::{Finding, Verdict};

/// A file of more lines than this has more than one duty.
const MAX_LINES: usize = 800;
/// From here on it is time to look for the second duty.
const HINT_LINES: usize = 500;

/// Columns of a line, comments and sentences included.
const MAX_COLUMNS: usize = 100;

/// No line is wider than a reader's window.
pub fn width(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.ending(".rs") {
        for (index, line) in file.text.lines().enumerate() {
            let columns = line.chars().count();
            if columns > MAX_COLUMNS {
                let what = format!("{columns} columns are more than {MAX_COLUMNS}");
                findings.push(Finding::at(&file.path, index + 1, what, "break the line"));
            }
        }
    }
    findings
}

/// Crates with lints of their own: the engine has unsafe code, and chores print.
const OWN_LINTS: [&str; 2] = ["crates/engine/Cargo.toml", "xtask/Cargo.toml"];

/// The compiler forbids unsafe code outside the engine, and clippy printing: anybody else's words
/// would end up between the lines of a report. So every crate takes the lints of the workspace, and
/// only `report`, `live`, `cli` and tests may lift that of printing.
pub fn lints(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.ending("/Cargo.toml").filter(|file| {
        !OWN_LINTS.contains(&&*file.path) && !file.text.contains("[lints]\nworkspace = true\n")
    });
    let without = manifests.map(|file| {
        let what = "does not take the lints of the workspace";
        Finding::new(&file.path, what, "write `[lints]` and below it `workspace = true`")
    });
    let remedy = "return the words, or send them as an event, and let `report` print them";
    let in_file = |file: &Text| {
        let code = only_code(&file.text);
        let lifted = ["print_stdout", "print_stderr"].map(|lint| lines_with_word(&code, lint));
        lifted
            .concat()
            .into_iter()
            .map(|line| Finding::at(&file.path, line, "lifts the lint of printing", remedy))
            .collect::<Vec<_>>()
    };
    let silent = tree.ending(".rs").filter(|file| !may_print(&file.path));
    without.chain(silent.flat_map(in_file)).collect()
}

fn may_print(path: &str) -> bool {
    let Some(inside) = path.strip_prefix("crates/") else { return true };
    let test_or_build =
        path.contains("/tests/") || path.contains("/benches/") || path.contains("/examples/");
    let test_or_build = test_or_build || path.ends_with("/tests.rs") || path.ends_with("/build.rs");
    ["report/", "live/", "cli/"].iter().any(|room| inside.starts_with(room)) || test_or_build
}

/// Rooms that open no file, start no thread and read no clock: whatever they decide can be tested
/// by calling it.
const PURE: [&str; 7] = ["model", "form", "catalogue", "suite", "dialects", "analysis", "twin"];

/// The one place of them that starts threads: to reckon, so that the same comes out as by one
/// thread. `docs/decisions/2026-11-26-hosts-side-by-side.md` says why.
const RECKONS_SIDE_BY_SIDE: &str = "crates/model/src/digest/side_by_side.rs";

/// Every effect in a room that has none.
pub fn purity(tree: &Tree) -> Vec<Finding> {
    let remedy = "take the value as an argument and let `fleet` or `cli` fetch it";
    let mut findings = Vec::new();
    for file in tree.ending(".rs") {
        let room = file.path.strip_prefix("crates/").and_then(|path| path.split_once("/src/"));
        // A folder of tests alone may read its fixtures.
        let is_pure =
            |(room, inside): (&str, &str)| PURE.contains(&room) && !inside.starts_with("tests/");
        if !room.is_some_and(is_pure) {
            continue;
        }
        let code = only_code(&file.text);
        let mut say = |line, what| findings.push(Finding::at(&file.path, line, what, remedy));
        for name in ["Instant", "SystemTime"] {
            let lines = lines_with_word(&code, name).into_iter();
            lines.for_each(|line| say(line, format!("`{name}` is a clock")));
        }
        for (line, module) in std_modules(&code) {
            let is_known = module == "thread" && file.path == RECKONS_SIDE_BY_SIDE;
            if !is_known && ["fs", "net", "thread", "process", "env"].contains(&&*module) {
                say(line, format!("`std::{module}` is an effect"));
            }
        }
    }
    findings
}

/// The modules of `std` that `code` names, as `std::fs` or inside `std::{…}`, each with its 1-based
/// line.
fn std_modules(code: &str) -> Vec<(usize, String)> {
    let mut modules = Vec::new();
    for (at, _) in code.match_indices("std") {
        if !starts_word(code, at) {
            continue;
        }
        let Some(path) = code[at + 3..].trim_start().strip_prefix("::") else { continue };
        let line = code[..at].matches('\n').count() + 1;
        let path = path.trim_start();
        match path.strip_prefix('{') {
            None => modules.push((line, first_name(path))),
            Some(group) => {
                modules.extend(members(group).into_iter().map(|member| (line, first_name(member))));
            }
        }
    }
    modules
}

fn first_name(path: &str) -> String {
    path.trim_start().chars().take_while(|c| is_in_name(*c)).collect()
}

/// A reader holds a file of a few hundred lines.
pub fn lengths(tree: &Tree) -> Verdict {
    let mut verdict = Verdict::default();
    for file in tree.ending(".rs") {
        let lines = file.text.lines().count();
        if lines > MAX_LINES {
            let what = format!("{lines} lines are more than {MAX_LINES}");
            let remedy = "give its second duty a file of its own";
            verdict.findings.push(Finding::new(&file.path, what, remedy));
        } else if lines > HINT_LINES {
            verdict.hints.push(format!("{} has {lines} lines", file.path));
        }
    }
    verdict
}

/// What a test says that is `ignored` on purpose: `cargo xtask ci` runs it where something changed
/// that it is about.
const PROOF: &str = "= \"a proof\"]";

/// No notes to ourselves, and no test that is switched off; a proof is not.
pub fn leftovers(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let read = [".rs", ".sh", ".toml", ".html", ".js", ".css", ".ci/run"];
    for file in
        tree.texts.iter().filter(|file| read.iter().any(|ending| file.path.ends_with(ending)))
    {
        for note in [concat!("TO", "DO"), concat!("FIX", "ME")] {
            let remedy = "do it, or open an issue and take the note out";
            let lines = lines_with_word(&file.text, note).into_iter();
            findings.extend(
                lines.map(|line| Finding::at(&file.path, line, format!("`{note}`"), remedy)),
            );
        }
        if file.path.ends_with(".rs") {
            let lines = only_code(&file.text);
            for (index, (line, whole)) in lines.lines().zip(file.text.lines()).enumerate() {
                let attribute: String = line.chars().filter(|c| !c.is_whitespace()).collect();
                if attribute.contains("#[ignore") && !whole.ends_with(PROOF) {
                    let remedy = "mend the test, let it ask PLIMSOLL_TEST_PARTS for what it needs, \
                                  or name it `= \"a proof\"`";
                    let what = "a test that is switched off";
                    findings.push(Finding::at(&file.path, index + 1, what, remedy));
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|finding| finding.place.as_str()).collect()
    }

    #[test]
    fn every_crate_takes_the_lints_and_only_some_lift_that_of_printing() {
        let text = "// print_stdout\n#![allow(clippy::print_stdout)]\n";
        let files =
            ["crates/model/src/a.rs", "crates/cli/src/a.rs", "xtask/src/a.rs", "tests/a.rs"];
        let manifests =
            [("crates/a/Cargo.toml", "[lints]\nworkspace = true\n"), ("crates/b/Cargo.toml", "")];
        let tree = Tree::of(&[&files.map(|path| (path, text))[..], &manifests].concat());
        assert_eq!(places(&lints(&tree)), ["crates/b/Cargo.toml", "crates/model/src/a.rs:2"]);
        assert!(may_print("crates/engine/tests/a.rs") && may_print("crates/suite/src/tests.rs"));
    }

    /// A pure room, its tests, and a room that may have effects.
    const PURITY_CASES: [&str; 3] =
        ["crates/model/src/a.rs", "crates/model/src/tests/a.rs", "crates/probe/src/a.rs"];

    #[test]
    fn pure_rooms_have_no_effects() {
        let text = "use std::{fmt, fs::{self, File}};\nuse std::fmt;\n\nfn f() { \
                    std::thread::yield_now() }\nuse std::time::Instant;\n//! std::fs\nuse \
                    mystd::net;\nuse std :: net;\n";
        let tree = Tree::of(&PURITY_CASES.map(|path| (path, text)));
        let mut found: Vec<usize> = purity(&tree)
            .iter()
            .filter_map(|finding| finding.place.rsplit(':').next()?.parse().ok())
            .collect();
        found.sort_unstable();
        assert_eq!(found, [1, 4, 5, 8]);
        assert!(purity(&tree).iter().all(|finding| finding.place.starts_with("crates/model/")));
    }

    #[test]
    fn long_files_are_hinted_at_and_longer_ones_refused() {
        let (short, long, longer) = ("\n".repeat(500), "\n".repeat(501), "\n".repeat(801));
        let verdict = lengths(&Tree::of(&[
            ("a.rs", &short),
            ("b.rs", &long),
            ("c.rs", &longer),
            ("d.md", &longer),
        ]));
        assert_eq!(verdict.hints, ["b.rs has 501 lines"]);
        assert_eq!(places(&verdict.findings), ["c.rs"]);
    }

    #[test]
    fn notes_and_sleeping_tests_are_found() {
        // Put together here, so that no search takes the example for a note or a sleeping test of
        // ours.
        let (todo, asleep) = (["TO", "DO"].concat(), ["ig", "nore"].concat());
        let note = format!(
            "// {todo}: later\n#[ {asleep} = \"slow\" ]\n// #[{asleep}]\nfn {asleep}() {{}}\n\
             #[{asleep} = \"a proof\"]\n"
        );
        let tree = Tree::of(&[("a.rs", &note), ("a.md", &note), ("b.sh", &note)]);
        assert_eq!(places(&leftovers(&tree)), ["a.rs:1", "a.rs:2", "b.sh:1"]);
    }
}
