//! How much a check looks at: everything, or what changed since everything was last looked at.
//!
//! `.ci/checked` names the commit on which `cargo xtask ci --all` last passed. What differs from it
//! is what changed. Without it, or where history has lost it, everything counts as changed: a check
//! may look at too much, never at too little.

use crate::shell::{self, Outcome};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Where the commit is kept, from the root of the workspace.
pub const KEPT: &str = ".ci/checked";

/// What every package is made of.
const OF_ALL: [&str; 5] = ["Cargo.toml", "Cargo.lock", "clippy.toml", ".cargo/", ".ci/run"];

/// What a check looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything.
    All,
    /// The files that differ from the commit on which everything passed, from the root.
    Changed(BTreeSet<String>),
}

impl Scope {
    /// Everything if `all`; else what changed.
    pub fn of(all: bool) -> Scope {
        if all { Scope::All } else { changed(&shell::root()).unwrap_or(Scope::All) }
    }

    /// Whether one of `places` is looked at: a file, or a folder with a slash behind its name.
    pub fn touches<T: AsRef<str>>(&self, places: &[T]) -> bool {
        let Scope::Changed(files) = self else { return true };
        let is_at = |file: &str, place: &str| match place.ends_with('/') {
            true => file.starts_with(place),
            false => file == place,
        };
        files.iter().any(|file| places.iter().any(|place| is_at(file, place.as_ref())))
    }

    /// The packages that are looked at; `None`: all.
    pub fn packages(&self) -> Option<BTreeSet<String>> {
        if self.touches(&OF_ALL) {
            return None;
        }
        let Scope::Changed(files) = self else { return None };
        Some(files.iter().filter_map(|file| package(file)).collect())
    }
}

/// The package that the file at `path` belongs to.
fn package(path: &str) -> Option<String> {
    let mut parts = path.split('/');
    match (parts.next()?, parts.next()) {
        ("crates", Some(name)) => Some(name.to_owned()),
        ("xtask", Some(_)) => Some("xtask".to_owned()),
        ("tests", Some(_)) => Some("cli".to_owned()),
        _ => None,
    }
}

/// What differs from the commit on record, uncommitted and new files included.
fn changed(root: &Path) -> Option<Scope> {
    let commit = std::fs::read_to_string(root.join(KEPT)).ok()?;
    let commit = commit.trim();
    let git = |args: &[&str]| shell::capture(Command::new("git").current_dir(root).args(args)).ok();
    git(&["merge-base", "--is-ancestor", commit, "HEAD"])?;
    let differing = git(&["diff", "--name-only", "--no-renames", commit])?;
    let new = git(&["ls-files", "--others", "--exclude-standard"])?;
    let files = differing.lines().chain(new.lines()).map(str::to_owned);
    Some(Scope::Changed(files.collect()))
}

/// Keeps the present commit as one on which everything passed; not where files are uncommitted.
///
/// # Errors
/// The file cannot be written.
pub fn keep() -> Outcome<()> {
    let root = shell::root();
    let git = |args: &[&str]| shell::capture(Command::new("git").current_dir(&root).args(args));
    if !git(&["status", "--porcelain"])?.is_empty() {
        println!("{KEPT} stays as it is: there are changes that no commit has");
        return Ok(());
    }
    let commit = git(&["rev-parse", "HEAD"])?;
    std::fs::write(root.join(KEPT), commit).map_err(|error| format!("{KEPT}: {error}"))?;
    println!("commit {KEPT}: from now on the usual check looks at what changes after this commit");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(files: &[&str]) -> Scope {
        Scope::Changed(files.iter().map(|&file| file.to_owned()).collect())
    }

    #[test]
    fn a_file_is_of_its_package_and_what_all_are_made_of_is_of_all() {
        let names = |scope: &Scope| scope.packages().map(|all| all.into_iter().collect::<Vec<_>>());
        let some = changed(&["crates/model/src/lib.rs", "tests/vms.rs", "docs/faq.md"]);
        assert_eq!(names(&some), Some(vec!["cli".to_owned(), "model".to_owned()]));
        assert_eq!(names(&changed(&["docs/faq.md"])), Some(Vec::new()));
        assert_eq!(names(&changed(&["Cargo.lock", "tests/vms.rs"])), None);
        assert_eq!(names(&Scope::All), None);
    }

    #[test]
    fn a_folder_is_touched_by_its_files_and_by_no_name_that_begins_alike() {
        let scope = changed(&["tests/vms/acts.rs"]);
        assert!(scope.touches(&["tests/vms/"]) && Scope::All.touches(&["x"]));
        assert!(!scope.touches(&["tests/vms.rs", "tests/vm/", "tests/vms"]));
    }

    #[test]
    fn history_without_the_commit_on_record_is_looked_at_whole() {
        let root = std::env::temp_dir().join(format!("plimsoll-scope-{}", std::process::id()));
        std::fs::create_dir_all(root.join(".ci")).expect("a folder");
        let git = |args: &[&str]| {
            let who = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
            let mut git = Command::new("git");
            shell::capture(git.current_dir(&root).args(who).args(args)).expect("git runs")
        };
        git(&["init", "--quiet"]);
        std::fs::write(root.join("a"), "1").expect("a file");
        git(&["add", "."]);
        git(&["commit", "--quiet", "-m", "one"]);
        assert_eq!(super::changed(&root), None, "nothing is on record");
        std::fs::write(root.join(KEPT), git(&["rev-parse", "HEAD"])).expect("a file");
        git(&["add", "."]);
        git(&["commit", "--quiet", "-m", "two"]);
        std::fs::write(root.join("b"), "1").expect("a file");
        assert_eq!(super::changed(&root), Some(changed(&[KEPT, "b"])));
        std::fs::write(root.join(KEPT), "0".repeat(40)).expect("a file");
        assert_eq!(super::changed(&root), None, "no such commit");
        std::fs::remove_dir_all(&root).expect("removed");
    }
}
