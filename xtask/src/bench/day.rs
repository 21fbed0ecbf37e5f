//! What a day on many hosts takes to look at.

use super::peak::high_water_mib;
use super::target::{Folder, scratch};
use crate::shell::{self, Outcome};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The name for `--only`.
pub const NAME: &str = "day";
/// What it is about.
pub const TITLE: &str = "a run of one-second samples, from its file to its figures and to its page";

/// Processors that the kernel of each host counts, beside a disk: 30 values a second, more than are
/// looked at of a day.
const CPUS: u32 = 8;

/// How long the run is, in hours, and on how many hosts.
type Size = (u32, u32);
/// A moment's work, beside other tables: says nothing of a day.
const SMALL: Size = (1, 16);
/// The one that is claimed for. Its file has 13 GB, and takes some minutes to write.
const FULL: Size = (24, 128);

/// A command, its time in seconds and its memory in MiB as the project claims them of the full
/// size.
const CLAIMS: [(&str, f64, f64); 2] = [("show", 5.0, 1024.0), ("report", 2.0, 500.0)];

/// The table, and what it misses. Only `full` is held to the claims: what a shorter run takes,
/// times its length, is not what a day takes.
///
/// # Errors
/// The file cannot be made, for want of room as a rule, or not be read.
pub fn run(plimsoll: &Path, full: bool) -> Outcome<(String, Vec<String>)> {
    let (hours, hosts) = if full { FULL } else { SMALL };
    let example = shell::build_example("store", "day")?;
    let folder = Folder(scratch()?);
    let (run, page) = (folder.0.join("day.plimsoll"), folder.0.join("day.html"));
    shell::capture(
        Command::new(example)
            .arg(&run)
            .args([hours, hosts, 1, CPUS].map(|number| number.to_string())),
    )?;
    let bytes = std::fs::metadata(&run)
        .map_err(|error| format!("{} is not there: {error}", run.display()))?
        .len();
    let samples = u64::from(hours) * 3_600 * u64::from(hosts);
    let mut table = format!(
        "{hours} h on {hosts} hosts: {samples} samples, with the counters of {CPUS} processors \
         and a disk, in {:.0} MiB, {} bytes each.\n\n| command | s | MiB | claimed of 24 h on 128 \
         hosts |\n|---|---|---|---|\n",
        bytes as f64 / 1_048_576.0,
        bytes / samples
    );
    let mut missed = Vec::new();
    for (word, most_s, most_mib) in CLAIMS {
        let command = || {
            let mut command = Command::new(plimsoll);
            command.arg(word).arg(&run);
            if word == "report" {
                command.arg("--out").arg(&page);
            }
            command
        };
        // Once to measure its memory, which also brings the file into the page cache as far as it
        // fits.
        let mib = high_water_mib(&mut command())?;
        let seconds = seconds(&mut command())?;
        let verdict =
            verdict(full, &Cost { seconds, mib }, &Cost { seconds: most_s, mib: most_mib });
        if verdict.ends_with("missed") {
            missed.push(format!("{NAME}: {word} took {seconds:.1} s and {mib:.0} MiB"));
        }
        table.push_str(&format!("| {word} | **{seconds:.2}** | **{mib:.0}** | {verdict} |\n"));
    }
    print!("{table}");
    Ok((table, missed))
}

struct Cost {
    seconds: f64,
    mib: f64,
}

/// What is claimed, and of the full size whether it is held.
fn verdict(full: bool, found: &Cost, most: &Cost) -> String {
    let claimed = format!("under {} s and {} MiB", most.seconds, most.mib);
    match (full, found.seconds < most.seconds && found.mib < most.mib) {
        (false, _) => format!("{claimed}; `--only {NAME}` measures it"),
        (true, true) => format!("{claimed}: held"),
        (true, false) => format!("{claimed}: missed"),
    }
}

fn seconds(command: &mut Command) -> Outcome<f64> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let status = command
        .status()
        .map_err(|error| format!("`{}` cannot be started: {error}", shell::line(command)))?;
    if status.success() {
        Ok(begun.elapsed().as_secs_f64())
    } else {
        Err(format!("`{}` ended with {status}", shell::line(command)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_full_size_is_held_to_what_is_claimed_of_it() {
        let found = |full, seconds, mib| {
            verdict(full, &Cost { seconds, mib }, &Cost { seconds: 5.0, mib: 1024.0 })
        };
        assert_eq!(found(true, 4.0, 900.0), "under 5 s and 1024 MiB: held");
        assert_eq!(found(true, 6.0, 900.0), "under 5 s and 1024 MiB: missed");
        assert_eq!(found(true, 4.0, 1025.0), "under 5 s and 1024 MiB: missed");
        assert!(found(false, 0.1, 9.0).ends_with("measures it"));
    }
}
