//! The page that keeps the figures.

use super::options::Options;
use crate::kept;
use crate::shell::{self, Outcome};

/// Where all figures are kept.
pub const PAGE: &str = "docs/benchmarks.md";

/// Puts the benches' tables between their two marks of the page; of a bench that ran by itself, its
/// table in the place of the one there.
///
/// # Errors
/// The page is not there, cannot be written, or has lost its marks; or it has no table of that
/// bench alone.
pub fn write(tables: &str, options: &Options) -> Outcome<()> {
    let command =
        format!("cargo xtask bench --rounds {} --seconds {}", options.rounds, options.seconds);
    let Some(name) = &options.only else {
        return kept::put(PAGE, "bench", &format!("`{command}` on {}\n{tables}", machine()?));
    };
    let page = kept::read(PAGE)?;
    let told = format!("By itself: `{command} --only {name}` on {}", machine()?);
    kept::write(PAGE, &with_section(&page, name, tables, &told)?)
}

/// The page with another section of the bench `name`, whose heading is the first line of `section`;
/// `told` comes below the heading.
fn with_section(page: &str, name: &str, section: &str, told: &str) -> Outcome<String> {
    let heading = format!("\n### {name}: ");
    let start = page.find(&heading).ok_or_else(|| {
        format!(
            "{PAGE} has no table of `{name}` by itself; renew all of them with --write and \
             without --only"
        )
    })?;
    let inner = &page[start + heading.len()..];
    let ends = ["\n### ", "\n<!-- end -->"].iter().filter_map(|mark| inner.find(mark));
    let end = ends.min().ok_or_else(|| format!("{PAGE} has lost its last mark after {name}"))?;
    let (title, table) = section.trim_start().split_once('\n').unwrap_or((section, ""));
    let after = &inner[end..];
    Ok(format!("{}\n{title}\n\n{told}\n\n{}\n{after}", &page[..start], table.trim()))
}

/// The scheduling class of this process where it is one of real time, in words; `stat` is its
/// `/proc/self/stat` (`proc(5)`, field 41).
fn class_of(stat: &str) -> &'static str {
    let policy = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(38));
    match policy {
        Some("1" | "2") => {
            ", all contenders in a real-time class (`chrt`), so that other programs take no \
             processor from them"
        }
        _ => "",
    }
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
    let fio =
        shell::capture(std::process::Command::new("fio").arg("--version")).unwrap_or_default();
    let day = shell::capture(std::process::Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
    // The number before the first dash is the kernel's; what follows names who built it.
    let kernel = kernel.trim().split('-').next().unwrap_or_default().to_owned();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let busy = load.split(' ').nth(1).unwrap_or("unknown");
    Ok(format!(
        "{count} × {}, Linux {kernel}, {}, {}; load average over the last five minutes {busy}, of \
         which 1 is the benchmark's own{}",
        model.unwrap_or("unknown CPU"),
        fio.trim(),
        day.trim(),
        class_of(&std::fs::read_to_string("/proc/self/stat").unwrap_or_default())
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_table_changes_and_the_others_stay() {
        let page = "a\n### one: x\n\n| 1 |\n\n### two: y\n\n| 2 |\n\n<!-- end -->\nz\n";
        let with = |name, section| with_section(page, name, section, "told");
        let first = with("one", "\n### one: new\n\n| 3 |\n").expect("is there");
        assert_eq!(
            first,
            "a\n### one: new\n\ntold\n\n| 3 |\n\n### two: y\n\n| 2 |\n\n<!-- end -->\nz\n"
        );
        let last = with("two", "\n### two: new\n\n| 3 |\n").expect("is there");
        assert_eq!(
            last,
            "a\n### one: x\n\n| 1 |\n\n### two: new\n\ntold\n\n| 3 |\n\n<!-- end -->\nz\n"
        );
        assert!(with("three", "").expect_err("none").contains("without --only"));
        assert_eq!(
            with_section(&last, "two", "\n### two: new\n\n| 3 |\n", "told"),
            Ok(last.clone()),
            "no blank lines grow"
        );
    }

    #[test]
    fn real_time_is_told_from_the_usual_class() {
        let stat = |policy| format!("7 (a) b) R{} {policy} 0 0", " 0".repeat(37));
        assert!(
            class_of(&stat("2")).contains("real-time")
                && class_of(&stat("1")).contains("real-time")
        );
        assert_eq!((class_of(&stat("0")), class_of("")), ("", ""));
        assert!(std::fs::read_to_string("/proc/self/stat").is_ok_and(|stat| {
            stat.rsplit_once(')').is_some_and(|(_, rest)| rest.split_whitespace().count() > 38)
        }));
    }
}
