//! What runs are called where several of them appear.

use std::path::PathBuf;

/// What runs are called: by the names of their files, and where these are the same by their paths.
pub(crate) fn names_of(runs: &[PathBuf]) -> Vec<String> {
    let stem = |run: &PathBuf| {
        run.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let is_alone =
        |run: &PathBuf| runs.iter().filter(|other| stem(other) == stem(run)).count() == 1;
    let name = |run: &PathBuf| {
        let name = if is_alone(run) { stem(run) } else { run.display().to_string() };
        model::printable::line(&name).into_owned()
    };
    runs.iter().map(name).collect()
}
