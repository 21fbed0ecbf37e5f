//! vdbench: parameter files.

mod convert;
mod definition;
mod file_suite;
mod loops;
mod population;
mod raw_stages;
mod raw_suite;
mod raw_targets;
mod raw_unit;
mod scan;
mod shares;
mod values;

pub use convert::file;
pub use definition::OPTIONS;

/// Whether a text is a parameter file: it defines storage or files, and a run, and little else is
/// in it.
pub fn detect(text: &str) -> bool {
    let is_comment = |line: &&str| line.is_empty() || line.starts_with(['#', '*', '/', '<']);
    let lines = || text.lines().map(str::trim).filter(|line| !is_comment(line));
    let begins = |wanted: &[&str]| {
        lines().any(|line| {
            let line = line.to_ascii_lowercase();
            wanted.iter().any(|key| line.starts_with(key))
        })
    };
    let (all, assigned) = (lines().count(), lines().filter(|line| line.contains('=')).count());
    // A script that writes one is none, and neither is a page that shows one.
    !text.starts_with("#!")
        && assigned * 2 > all
        && begins(&["sd=", "fsd="])
        && begins(&["wd=", "fwd=", "rd="])
}
