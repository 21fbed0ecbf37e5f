//! `cargo xtask tidy`: the rules of the house that no compiler checks.
//!
//! Every check is a pure function over a [`Tree`], with its tests beside it. To add one: write the
//! function, and give it a line in [`CHECKS`].

mod arrows;
mod ceilings;
mod circles;
mod code;
mod dependencies;
mod layers;
mod orphans;
mod pages;
mod parameters;
mod prose;
mod rooms;
mod sentences;
mod source;
mod suites;
mod tree;

use crate::shell::{self, Outcome};
use std::fmt;
use tree::Tree;

/// Something that breaks a rule: where, what, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    place: String,
    what: String,
    remedy: &'static str,
}

impl Finding {
    fn new(place: impl fmt::Display, what: impl Into<String>, remedy: &'static str) -> Finding {
        Finding { place: place.to_string(), what: what.into(), remedy }
    }

    /// A finding at the 1-based `line` of `path`.
    fn at(path: &str, line: usize, what: impl Into<String>, remedy: &'static str) -> Finding {
        Finding::new(format_args!("{path}:{line}"), what, remedy)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}; {}", self.place, self.what, self.remedy)
    }
}

/// What a check found.
#[derive(Debug, Default, PartialEq, Eq)]
struct Verdict {
    /// These fail the check.
    findings: Vec<Finding>,
    /// These are worth knowing and fail nothing.
    hints: Vec<String>,
    /// What was measured, printed as it is.
    table: Vec<String>,
}

impl From<Vec<Finding>> for Verdict {
    fn from(findings: Vec<Finding>) -> Verdict {
        Verdict { findings, ..Verdict::default() }
    }
}

type Check = fn(&Tree) -> Verdict;

/// Every check and its name.
const CHECKS: &[(&str, Check)] = &[
    ("arrows", |tree| arrows::check(tree).into()),
    ("ceilings", ceilings::check),
    ("circles", |tree| circles::check(tree).into()),
    ("layers", |tree| layers::check(tree).into()),
    ("pens", |tree| layers::pens(tree).into()),
    ("width", |tree| source::width(tree).into()),
    ("lints", |tree| source::lints(tree).into()),
    ("purity", |tree| source::purity(tree).into()),
    ("sentences", |tree| sentences::check(tree).into()),
    ("parameters", |tree| parameters::check(tree).into()),
    ("lengths", source::lengths),
    ("leftovers", |tree| source::leftovers(tree).into()),
    ("orphans", |tree| orphans::check(tree).into()),
    ("rooms", |tree| rooms::check(tree).into()),
    ("generated-pages", |tree| pages::generated(tree, &crate::docs::pages()).into()),
    ("dependency-reasons", |tree| dependencies::reasons(tree).into()),
    ("suites", |tree| suites::check(tree).into()),
    ("links", |tree| pages::links(tree).into()),
    ("prose", prose::check),
    ("machine-paths", |tree| pages::machine_paths(tree).into()),
    ("licences", dependencies_of_the_lock),
];

/// The lists of ceilings, path and text, with each lowered to what there is.
///
/// # Errors
/// The tree cannot be read.
pub fn ceilings() -> Outcome<[(&'static str, String); 2]> {
    let tree = Tree::load(&shell::root())?;
    Ok([(prose::CEILINGS, prose::lower(&tree)), (ceilings::CEILINGS, ceilings::lower(&tree))])
}

/// Runs every check and prints a line for each.
pub fn run() -> Outcome<()> {
    let tree = Tree::load(&shell::root())?;
    let mut failed = 0;
    for (name, check) in CHECKS {
        let verdict = check(&tree);
        for line in &verdict.table {
            println!("{line}");
        }
        for hint in &verdict.hints {
            println!("hint {name}: {hint}");
        }
        for finding in &verdict.findings {
            println!("FAIL {name}: {finding}");
        }
        if verdict.findings.is_empty() {
            println!("ok {name}");
        } else {
            failed += 1;
        }
    }
    match cargo_deny() {
        Ok(()) if failed == 0 => Ok(()),
        Ok(()) => Err(format!(
            "{failed} of {} checks failed; every FAIL line names its remedy",
            CHECKS.len()
        )),
        Err(problem) => Err(problem),
    }
}

/// The packages that the lock file names for this platform, as cargo knows them, against the rules
/// of `deny.toml`.
fn dependencies_of_the_lock(tree: &Tree) -> Verdict {
    let metadata = shell::host_triple().and_then(|triple| {
        // For all platforms, cargo would download packages that no build here ever needs.
        let arguments =
            ["metadata", "--format-version", "1", "--locked", "--filter-platform", &triple];
        shell::capture(shell::cargo().args(arguments))
    });
    match metadata {
        Ok(text) => dependencies::judge(tree, &text),
        Err(problem) => {
            vec![Finding::new("Cargo.lock", problem, "bring the lock file up to date")].into()
        }
    }
}

/// cargo-deny knows the licence texts and not only the names; it takes minutes to build, so it is
/// used where it is.
fn cargo_deny() -> Outcome<()> {
    if shell::which("cargo-deny").is_none() {
        println!(
            "SKIPPED: cargo-deny because it is not installed; `licences` above checks the same \
             deny.toml by name"
        );
        return Ok(());
    }
    let deny = ["deny", "--offline", "check", "licenses", "bans", "sources"];
    shell::show(shell::cargo().args(deny))
        .map_err(|_| "cargo deny refuses a package; see above".to_owned())
}
