//! The page that keeps the figures.

use super::options::Options;
use crate::shell::{self, Outcome};
use std::path::PathBuf;

const PAGE: &str = "docs/benchmarks.md";
const BEGIN: &str = "<!-- written by `cargo xtask bench --write`: begin -->";
const END: &str = "<!-- end -->";

/// Puts the tables between the two marks of the page.
///
/// # Errors
/// The page is not there, cannot be written, or has lost its marks.
pub fn write(tables: &str, options: &Options) -> Outcome<()> {
    let path: PathBuf = shell::root().join(PAGE);
    let page = std::fs::read_to_string(&path).map_err(|error| format!("{PAGE} cannot be read: {error}"))?;
    let (before, rest) = page.split_once(BEGIN).ok_or_else(|| format!("{PAGE} has lost the mark `{BEGIN}`"))?;
    let (_, after) = rest.split_once(END).ok_or_else(|| format!("{PAGE} has lost the mark `{END}`"))?;
    let head =
        format!("\n`cargo xtask bench --rounds {} --seconds {}` on {}\n", options.rounds, options.seconds, machine()?);
    std::fs::write(&path, format!("{before}{BEGIN}\n{head}{tables}\n{END}{after}"))
        .map_err(|error| format!("{PAGE} cannot be written: {error}"))?;
    println!("written {PAGE}");
    Ok(())
}

/// Processor, kernel, peers and day.
fn machine() -> Outcome<String> {
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
    fn the_page_has_its_marks() {
        let page = std::fs::read_to_string(shell::root().join(PAGE)).expect("the page");
        let (_, rest) = page.split_once(BEGIN).expect("the first mark");
        assert!(rest.contains(END));
    }
}
