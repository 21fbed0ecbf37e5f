//! Removes what runs left at a target: exactly our own files.

use super::Guard;
use crate::wire::{Cleaned, Outcome};
use engine::{Doing, EngineError, Haste, Progress, patiently};
use model::Nanos;
use model::plan::places::own_folder;
use model::testbed::{DATA_DIR, MARKER};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Removes what is ours at `target` and beside it, as far as `guard` allows. A target that leaves a
/// call unanswered for `patience` is given up.
pub(super) fn clean(guard: &Guard, target: &str, patience: Nanos, haste: &Haste) -> Vec<Cleaned> {
    if engine::is_simulated(target) {
        let why = "is simulated, and nothing stays of it".to_owned();
        return vec![Cleaned {
            target: target.to_owned(),
            root: target.to_owned(),
            outcome: Outcome::Nothing(why),
        }];
    }
    let (guard, theirs) = (guard.clone(), target.to_owned());
    let cleaned = patiently(patience, haste, Doing::Cleaning, move |progress| {
        progress.at(&theirs);
        Ok(clean_now(&guard, &theirs, progress))
    });
    cleaned.unwrap_or_else(|error| {
        let outcome = Outcome::Unanswered(error.to_string());
        vec![Cleaned { target: target.to_owned(), root: target.to_owned(), outcome }]
    })
}

/// The same, for as long as it takes.
fn clean_now(guard: &Guard, target: &str, progress: &Progress) -> Vec<Cleaned> {
    let of =
        |root: &str, outcome| Cleaned { target: target.to_owned(), root: root.to_owned(), outcome };
    if let Err(error) = guard.check(target) {
        return vec![of(target, Outcome::Failed(error.to_string()))];
    }
    let roots = roots_of(target);
    let is_missing = || {
        Path::new(target)
            .symlink_metadata()
            .is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    };
    // Where somebody's files are and nothing of ours, the path may be a wrong one.
    if roots.is_empty() && (is_missing() || is_empty(Path::new(target))) {
        // Whoever cleans twice has what they wanted.
        return vec![of(target, Outcome::Removed { bytes: 0, left: None })];
    }
    if roots.is_empty() {
        // It says that nothing there is ours.
        let cleaned = engine::clean_in(target, target, &guard.bounds(), progress);
        let why = cleaned.err().map_or_else(String::new, |error| error.to_string());
        return vec![of(target, Outcome::Nothing(why))];
    }
    let one = |root: String| {
        let outcome = match guard
            .check_root(&root, target)
            .map(|()| clean_root(guard, &root, target, progress))
        {
            Ok(Ok(engine::Removed { bytes, left })) => Outcome::Removed { bytes, left },
            Ok(Err(error)) => Outcome::Failed(error.to_string()),
            Err(error) => Outcome::Failed(error.to_string()),
        };
        of(&root, outcome)
    };
    roots.into_iter().map(one).collect()
}

/// Whether a directory holds nothing, but for what a file system makes for itself.
fn is_empty(directory: &Path) -> bool {
    let Ok(mut entries) = std::fs::read_dir(directory) else { return false };
    entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == "lost+found"))
}

fn clean_root(
    guard: &Guard,
    root: &str,
    target: &str,
    progress: &Progress,
) -> Result<engine::Removed, EngineError> {
    engine::clean_in(root, target, &guard.bounds(), progress)
}

/// Where runs with this target keep their files: there, or in our subfolder among somebody's own,
/// or in one folder for each of several hosts, or scenarios.
fn roots_of(target: &str) -> Vec<String> {
    let place = Path::new(target);
    let inner = place.join(DATA_DIR);
    let beside = place
        .parent()
        .map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
    let of_hosts = |folder: &Path, stem: Option<&OsStr>| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let is_ours = |name: &OsStr| stem.is_some_and(|stem| is_host_folder(stem, name));
        entries.filter(|entry| is_ours(&entry.file_name())).map(|entry| entry.path()).collect()
    };
    let mut roots = vec![place.to_owned(), inner];
    roots.extend(of_hosts(place, Some(OsStr::new(DATA_DIR))));
    // Named as the target is, from here or from the root.
    let named = |folder: PathBuf| folder.file_name().map(|name| place.with_file_name(name));
    roots.extend(
        beside.into_iter().flat_map(|parent| of_hosts(parent, place.file_name())).filter_map(named),
    );
    // A marker that is there and cannot be looked at is told when it is opened. A folder of ours is
    // no link.
    let is_marked = |root: &PathBuf| root.join(MARKER).symlink_metadata().is_ok();
    roots.retain(|root| is_marked(root) && (root == place || !root.is_symlink()));
    roots.sort();
    roots.into_iter().map(|root| root.to_string_lossy().into_owned()).collect()
}

/// Whether `name` is that of a folder of a host, or of a scenario, beside `stem`.
fn is_host_folder(stem: &OsStr, name: &OsStr) -> bool {
    let (Some(stem), Some(name)) = (stem.to_str(), name.to_str()) else { return false };
    name.strip_prefix(stem).is_some_and(|suffix| own_folder(suffix).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_with_a_hosts_number_are_taken() {
        let is = |name: &str| is_host_folder(OsStr::new("x"), OsStr::new(name));
        assert!(is("x-h0003") && is("x-h12345") && is("x-s0002") && is("x-h0003-s0002"));
        assert!(!is("x-s2") && !is("x-s0002.bak") && !is("x-h0003-s2"));
        assert!(!is("x-h3") && !is("x") && !is("y-h0003") && !is("x-h00o3") && !is("x-h0003.bak"));
    }

    #[test]
    fn what_is_not_allowed_or_not_ours_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        std::fs::create_dir(place("theirs")).expect("a folder");
        std::fs::write(folder.path().join("theirs/file"), "x").expect("a file");
        let outcome = |guard: &Guard, name: &str| {
            clean(guard, &place(name), Nanos::seconds(60), &Haste::default()).remove(0).outcome
        };
        assert!(matches!(outcome(&Guard::none(), "theirs"), Outcome::Nothing(_)));
        let nothing = Outcome::Removed { bytes: 0, left: None };
        assert_eq!(outcome(&Guard::none(), "missing"), nothing, "what is gone is clean");
        std::fs::create_dir_all(place("empty/lost+found")).expect("a folder");
        assert_eq!(outcome(&Guard::none(), "empty"), nothing, "so is a new file system");
        let guard = Guard::of_host(&[folder.path().join("other")], Path::new("/nonexistent"))
            .expect("no list");
        assert!(matches!(outcome(&guard, "theirs"), Outcome::Failed(_)));
        assert!(folder.path().join("theirs/file").exists());
    }
}
