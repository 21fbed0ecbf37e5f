//! `cargo xtask features`: the tests of what is off by default (Parquet, PNG).
//!
//! They cost a second build of half the workspace, and what they test seldom changes. So what they
//! passed on is kept as a sum of its files, beside this one; CI runs them again where it differs.

use crate::shell::{self, Outcome};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Where the sum is kept, from the root of the workspace.
const KEPT: &str = "xtask/src/features.sum";
/// What the features are made of. Packages that they use are in the lock file.
const SOURCES: [&str; 11] = [
    "Cargo.lock",
    "crates/report/Cargo.toml",
    "crates/report/src/ground/chart",
    "crates/report/src/ground/markup.rs",
    "crates/report/src/ground/palette.rs",
    "crates/report/src/surfaces/export",
    "crates/report/src/surfaces/markdown",
    "crates/cli/Cargo.toml",
    "crates/cli/src/commands/export.rs",
    "crates/cli/src/outputs.rs",
    "tests/export.rs",
];

/// Runs the tests of the features, and keeps the sum of what they passed on.
///
/// # Errors
/// A test fails, or the sum cannot be written.
pub fn run() -> Outcome<()> {
    let rooms = ["--package", "report", "--lib", "--package", "cli", "--test", "whole"];
    let features = ["--features", "cli/parquet,cli/png", "--", "export", "markdown"];
    shell::show(shell::cargo().args(["test", "--locked"]).args(rooms).args(features)).map_err(
        |_| "a test of the optional features failed; its output stands above".to_owned(),
    )?;
    let file = shell::root().join(KEPT);
    std::fs::write(&file, format!("{}\n", sum(&shell::root())?)).map_err(shell::at(&file))
}

/// Runs them unless they passed on just these files.
///
/// # Errors
/// See [`run`].
pub fn run_where_changed() -> Outcome<()> {
    let kept = std::fs::read_to_string(shell::root().join(KEPT)).unwrap_or_default();
    if kept.trim() == sum(&shell::root())? {
        println!("nothing that the features are made of changed since their tests passed ({KEPT})");
        return Ok(());
    }
    run()?;
    println!("commit {KEPT}, and the next run leaves these tests out until something changes");
    Ok(())
}

/// The sum of the names and bytes of all that the features are made of.
fn sum(root: &Path) -> Outcome<String> {
    let mut hasher = DefaultHasher::new();
    for source in SOURCES {
        for file in files(&root.join(source))? {
            file.strip_prefix(root).unwrap_or(&file).hash(&mut hasher);
            let bytes = std::fs::read(&file);
            bytes.map_err(shell::at(&file))?.hash(&mut hasher);
        }
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// The file itself, or every file below the folder, in one order.
fn files(place: &Path) -> Outcome<Vec<PathBuf>> {
    if place.is_file() {
        return Ok(vec![place.to_owned()]);
    }
    let entries = std::fs::read_dir(place).map_err(|error| {
        format!("{}: {error}; mend the list in xtask/src/features.rs", place.display())
    })?;
    let mut entries: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    let mut all = Vec::new();
    for entry in entries {
        all.extend(files(&entry)?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_changes_with_a_byte_and_with_a_name() {
        let root = std::env::temp_dir().join(format!("plimsoll-features-{}", std::process::id()));
        for source in SOURCES {
            let place = root.join(source);
            let file = if place.extension().is_some() { place } else { place.join("a.rs") };
            std::fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
            std::fs::write(file, "1").expect("a file");
        }
        let first = sum(&root).expect("a sum");
        assert_eq!(sum(&root), Ok(first.clone()));
        std::fs::write(root.join("Cargo.lock"), "2").expect("a file");
        let second = sum(&root).expect("a sum");
        let folder = root.join("crates/report/src/ground/chart");
        std::fs::rename(folder.join("a.rs"), folder.join("b.rs")).expect("another name");
        let third = sum(&root).expect("a sum");
        assert!(first != second && second != third);
        std::fs::remove_file(root.join("tests/export.rs")).expect("removed");
        assert!(sum(&root).is_err_and(|why| why.contains("export.rs")));
        std::fs::remove_dir_all(&root).expect("removed");
    }

    #[test]
    fn every_source_is_there() {
        assert!(sum(&shell::root()).is_ok());
    }
}
