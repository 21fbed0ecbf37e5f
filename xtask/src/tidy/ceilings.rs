//! Ceilings that only fall: what a feature adds, it pays for with what it replaces.
//!
//! `ceilings.toml` has one for each thing that is counted. `cargo xtask docs` lowers those that are
//! too high. Raising one takes a decision page of that day that names it.

use super::code::{has_word, only_code, without_tests};
use super::tree::{Text, Tree, is_test};
use super::{Finding, Verdict};
use crate::shell;
use std::collections::BTreeMap;
use std::process::Command;

/// Where the ceilings are.
pub const CEILINGS: &str = "ceilings.toml";
/// A longer function is one of those that are counted.
const SCREEN: usize = 70;
/// What is measured by people, and not counted here.
const MEASURED: &str = "measured";

type Counts = BTreeMap<String, u64>;

/// Holds what is counted against the ceilings.
pub fn check(tree: &Tree) -> Verdict {
    let Some(text) = tree.text(CEILINGS) else {
        let remedy = "write it with `cargo xtask docs`";
        return vec![Finding::new(CEILINGS, "is not there", remedy)].into();
    };
    let mut verdict = judge(&counted(tree), &read(text));
    verdict.findings.extend(raised(tree));
    verdict
}

/// The list with each ceiling lowered to what is counted.
pub fn lower(tree: &Tree) -> String {
    let text = tree.text(CEILINGS).unwrap_or_default();
    let (head, old) = (text.lines().take_while(|line| !line.starts_with('[')), read(text));
    let mut all: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let now = counted(tree);
    let measured = old.iter().filter(|(key, _)| key.starts_with(MEASURED));
    for (key, value) in now.iter().chain(measured) {
        let ceiling = old.get(key).map_or(*value, |old| *old.min(value));
        let (table, name) = key.split_once('.').unwrap_or(("", key));
        all.entry(table).or_default().push(format!("{name} = {ceiling}\n"));
    }
    let head: String = head.flat_map(|line| [line, "\n"]).collect();
    let tables = all.iter().map(|(table, lines)| format!("[{table}]\n{}", lines.concat()));
    format!("{}\n\n{}", head.trim_end(), tables.collect::<Vec<_>>().join("\n"))
}

fn judge(now: &Counts, ceilings: &Counts) -> Verdict {
    let mut verdict = Verdict::default();
    for (key, count) in now {
        match ceilings.get(key) {
            None => verdict.findings.push(Finding::new(
                CEILINGS,
                format!("has no ceiling for {key}, which is {count}"),
                "write it with `cargo xtask docs`",
            )),
            Some(ceiling) if count > ceiling => verdict.findings.push(Finding::new(
                key,
                format!("is {count}, and its ceiling is {ceiling}"),
                "take out as much as comes in; a decision page of today may raise it",
            )),
            Some(ceiling) if count < ceiling => {
                verdict.hints.push(format!("{key} is {count} of {ceiling}: `cargo xtask docs`"));
            }
            Some(_) => {}
        }
    }
    verdict
}

/// All ceilings of the list, as `table.name`.
fn read(text: &str) -> Counts {
    let table: toml::Table = text.parse().unwrap_or_default();
    let numbers = |(name, table): (&String, &toml::Value)| {
        let of = table.as_table().into_iter().flatten();
        let of = of.filter_map(|(key, value)| {
            Some((format!("{name}.{key}"), u64::try_from(value.as_integer()?).ok()?))
        });
        of.collect::<Vec<_>>()
    };
    table.iter().flat_map(numbers).collect()
}

/// What the tree has of each thing.
fn counted(tree: &Tree) -> Counts {
    let mut counts = Counts::new();
    let mut add =
        |key: &str, count: usize| *counts.entry(key.to_owned()).or_default() += count as u64;
    for file in tree.ending(".rs") {
        add("lines.rust", file.text.lines().count());
        let Some(room) = room(&file.path) else { continue };
        if is_test(&file.path) || room == "tests" {
            add("lines.tests", file.text.lines().count());
            continue;
        }
        let (own, beside) = own(file);
        add("lines.tests", beside);
        let code = only_code(&own);
        add(&format!("code.{room}"), code.lines().filter(|line| !line.trim().is_empty()).count());
        add(&format!("public.{room}"), code.lines().filter(|line| is_public(line)).count());
        add("functions.over-a-screen", long_functions(&code));
        if file.path.starts_with("crates/") && file.path.matches('/').count() == 3 {
            add(&format!("loose-files.{room}"), 1);
        }
    }
    let pages = tree.ending(".md").filter(|file| file.path.starts_with("docs/"));
    pages.for_each(|file| add("lines.docs", file.text.lines().count()));
    let lock = tree.text("Cargo.lock").unwrap_or_default();
    add("packages.lock", lock.lines().filter(|line| *line == "[[package]]").count());
    let commands = tree.text("docs/reference/commands.md").unwrap_or_default();
    add("commands.all", commands.lines().filter(|line| line.starts_with("## ")).count());
    let of_run = commands.lines().skip_while(|line| *line != "## plimsoll run").skip(1);
    let of_run = of_run.take_while(|line| !line.starts_with("## "));
    let is_option = |line: &&str| line.trim_start().starts_with('-') && line.contains("--");
    add("options.run", of_run.filter(is_option).filter(|line| line.starts_with(' ')).count());
    let doubts = tree.text("crates/analysis/src/doubts/table.rs").unwrap_or_default();
    add("doubts.all", doubts.lines().filter(|line| line.starts_with("    W::")).count());
    counts
}

/// The crate of a file, or `xtask` or `tests`.
fn room(path: &str) -> Option<&str> {
    match path.split('/').collect::<Vec<_>>().as_slice() {
        ["crates", _, "tests", ..] => Some("tests"),
        ["crates", room, ..] => Some(room),
        ["xtask", ..] => Some("xtask"),
        ["tests", ..] => Some("tests"),
        _ => None,
    }
}

/// What of a file is not its tests, and how many lines its tests have.
fn own(file: &Text) -> (String, usize) {
    let code = without_tests(&file.text);
    let (all, own) = (file.text.lines().count(), code.lines().count());
    (code, all - own)
}

/// Whether a line declares something for other crates.
fn is_public(line: &str) -> bool {
    let line = line.trim_start();
    let words = ["fn", "struct", "enum", "trait", "const", "static", "type", "mod", "use"];
    line.strip_prefix("pub ")
        .is_some_and(|rest| words.iter().any(|word| rest.starts_with(word) && has_word(rest, word)))
}

/// How many functions have more lines than a screen.
fn long_functions(code: &str) -> usize {
    let lines: Vec<&str> = code.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_long = |(at, line): (usize, &&str)| {
        let begins = has_word(line, "fn") && !line.trim_end().ends_with(';');
        let end = || {
            let behind = lines[at..].iter();
            behind.take_while(|next| **next != format!("{}}}", " ".repeat(indent(line)))).count()
        };
        begins && end() + 1 > SCREEN
    };
    lines.iter().enumerate().filter(|&(at, line)| is_long((at, line))).count()
}

/// The ceilings that a commit raised without a decision page of its day that names the list.
fn raised(tree: &Tree) -> Vec<Finding> {
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        shell::capture(git.current_dir(shell::root()).args(args)).unwrap_or_default()
    };
    let commits = git(&["log", "--format=%H %cs", "--", CEILINGS]);
    let commits: Vec<(&str, &str)> =
        commits.lines().filter_map(|line| line.split_once(' ')).collect();
    let lists: Vec<Counts> = commits
        .iter()
        .map(|(hash, _)| read(&git(&["show", &format!("{hash}:{CEILINGS}")])))
        .collect();
    let mut findings = Vec::new();
    for ((later, earlier), (_, day)) in lists.iter().zip(lists.iter().skip(1)).zip(&commits) {
        let is_told = tree.ending(".md").any(|page| {
            page.path.starts_with(&format!("docs/decisions/{day}")) && page.text.contains(CEILINGS)
        });
        findings.extend(higher(earlier, later).filter(|_| !is_told).map(|key| {
            let what = format!("has a higher ceiling for {key} since {day}");
            let remedy = "say why in a page docs/decisions/ of that day, and name the list there";
            Finding::new(CEILINGS, what, remedy)
        }));
    }
    findings
}

fn higher<'a>(earlier: &'a Counts, later: &'a Counts) -> impl Iterator<Item = &'a String> {
    later.iter().filter_map(|(key, now)| (earlier.get(key)? < now).then_some(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "//! A page.\n\n/// What.\npub fn a() {\n    // why\n    b(\"x\");\n}\n\n\
                        #[cfg(test)]\nmod tests {\n    fn c() {}\n}\n";

    fn tree(ceilings: &str) -> Tree {
        let long = format!("fn long() {{\n{}}}\n", "    b();\n".repeat(SCREEN));
        let lock = "[[package]]\nname = \"a\"\n[[package]]\n";
        let commands =
            "# Commands\n## plimsoll run\n  -q, --quiet\n      --name <N>\n          Not --x\n";
        Tree::of(&[
            ("crates/a/src/b.rs", FILE),
            ("crates/a/src/c/d.rs", &long),
            ("crates/a/tests/e.rs", "fn e() {}\n"),
            ("Cargo.lock", lock),
            ("docs/reference/commands.md", commands),
            (CEILINGS, ceilings),
        ])
    }

    #[test]
    fn what_is_counted_is_code_and_not_what_stands_around_it() {
        let counts = counted(&tree(""));
        let of = |key: &str| counts.get(key).copied().unwrap_or_default();
        assert_eq!(of("code.a"), 3 + SCREEN as u64 + 2);
        assert_eq!((of("public.a"), of("loose-files.a"), of("functions.over-a-screen")), (1, 1, 1));
        assert_eq!((of("lines.tests"), of("packages.lock"), of("commands.all")), (4 + 1, 2, 1));
        assert_eq!((of("options.run"), of("doubts.all")), (2, 0));
    }

    #[test]
    fn one_line_too_many_is_found_and_one_less_lowers_the_ceiling() {
        let list = lower(&tree("# What may only fall.\n\n[measured]\nminutes = 20\n"));
        assert!(list.starts_with("# What may only fall.\n\n[code]\na = 75\n"), "{list}");
        assert!(list.contains("[measured]\nminutes = 20\n"), "{list}");
        let (now, ceilings) = (counted(&tree("")), read(&list));
        assert_eq!(judge(&now, &ceilings), Verdict::default());
        let lower = Counts::from([("code.a".into(), 74)]);
        let found = judge(&Counts::from([("code.a".into(), 75)]), &lower);
        assert!(found.findings[0].to_string().starts_with("code.a is 75, and its ceiling is 74"));
        let higher: Vec<_> = higher(&lower, &ceilings).collect();
        assert_eq!(higher, ["code.a"]);
        let hint = judge(&Counts::from([("code.a".into(), 70)]), &lower);
        assert!(hint.findings.is_empty() && hint.hints.len() == 1);
        assert_eq!(judge(&now, &Counts::new()).findings.len(), now.len());
    }
}
