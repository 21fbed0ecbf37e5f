//! The page that keeps the figures.

use super::options::Options;
use crate::shell::{self, Outcome};
use std::path::PathBuf;

const PAGE: &str = "docs/benchmarks.md";
const END: &str = "<!-- end -->";

/// Puts the benches' tables between their two marks of the page.
///
/// # Errors
/// The page is not there, cannot be written, or has lost its marks.
pub fn write(tables: &str, options: &Options) -> Outcome<()> {
    let head =
        format!("\n`cargo xtask bench --rounds {} --seconds {}` on {}\n", options.rounds, options.seconds, machine()?);
    put("bench", &format!("{head}{tables}"))
}

/// Puts text between the two marks that the page has for a chore.
///
/// # Errors
/// As [`write`].
pub fn put(chore: &str, text: &str) -> Outcome<()> {
    let path: PathBuf = shell::root().join(PAGE);
    let page = std::fs::read_to_string(&path).map_err(|error| format!("{PAGE} cannot be read: {error}"))?;
    std::fs::write(&path, with(&page, chore, text)?).map_err(|error| format!("{PAGE} cannot be written: {error}"))?;
    println!("written {PAGE}");
    Ok(())
}

/// What stands before a chore's text.
fn begin(chore: &str) -> String {
    format!("<!-- written by `cargo xtask {chore} --write`: begin -->")
}

/// The page with another text of a chore.
fn with(page: &str, chore: &str, text: &str) -> Outcome<String> {
    let begin = begin(chore);
    let (before, rest) = page.split_once(&begin).ok_or_else(|| format!("{PAGE} has lost the mark `{begin}`"))?;
    let (_, after) = rest.split_once(END).ok_or_else(|| format!("{PAGE} has lost the mark `{END}` of {chore}"))?;
    Ok(format!("{before}{begin}\n{text}\n{END}{after}"))
}

/// Processor, kernel, peers and day.
///
/// # Errors
/// `uname` or `date` does not run.
pub fn machine() -> Outcome<String> {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map(|rest| rest.trim_start_matches([' ', '\t', ':']));
    let count = cpu.lines().filter(|line| line.starts_with("processor")).count();
    let kernel = shell::capture(std::process::Command::new("uname").arg("-r"))?;
    let fio = shell::capture(std::process::Command::new("fio").arg("--version")).unwrap_or_default();
    let day = shell::capture(std::process::Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
    // The number before the first dash is the kernel's; what follows names who built it.
    let kernel = kernel.trim().split('-').next().unwrap_or_default().to_owned();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let busy = load.split(' ').nth(1).unwrap_or("unknown");
    Ok(format!(
        "{count} × {}, Linux {kernel}, {}, {}; load average over the last five minutes {busy}, of which 1 is the benchmark's own",
        model.unwrap_or("unknown CPU"),
        fio.trim(),
        day.trim()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_its_marks_and_only_what_stands_between_them_changes() {
        let page = std::fs::read_to_string(shell::root().join(PAGE)).expect("the page");
        for chore in ["bench", "soak --scale"] {
            let changed = with(&page, chore, "other").expect("its marks");
            assert_eq!(changed.matches(END).count(), page.matches(END).count());
            let (before, after) = changed.split_once(&format!("{}\nother\n", begin(chore))).expect("the text");
            assert!(page.starts_with(before) && page.ends_with(after), "{chore}");
        }
        assert!(with(&page, "nothing", "other").expect_err("no marks").contains("xtask nothing --write"));
    }
}
