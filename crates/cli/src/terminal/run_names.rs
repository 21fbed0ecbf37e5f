//! What runs are called where several of them appear.

use crate::failure::Failure;
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

pub(crate) fn paths_of(runs: &[PathBuf]) -> Vec<String> {
    runs.iter().map(|run| run.display().to_string()).collect()
}

/// A run beside itself has no differences, and would open any gate; and it is no repetition.
pub(crate) fn same_run_twice(ids: &[&str], names: &[String]) -> Result<(), Failure> {
    for second in 1..ids.len() {
        if let Some(first) = (0..second).find(|first| ids[*first] == ids[second]) {
            return Err(Failure::usage(format!(
                "{} is the same run as {}; name each run once",
                names[second], names[first]
            )));
        }
    }
    Ok(())
}
