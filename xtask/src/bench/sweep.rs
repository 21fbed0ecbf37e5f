//! What a sweep adds to its points, and what very many files weigh.

use super::contender::Programs;
use super::peak::high_water_mib;
use super::scenery::Scenery;
use crate::shell::{self, Outcome};
use std::path::PathBuf;
use std::process::Command;

const POINTS: u32 = 20;
const MANY_FILES: u64 = 1 << 21;

/// The time between the end of a point's last interval and the start of the next point, by the run
/// file: stop, save, set up. Negative where points would overlap.
const GAPS: &str = "WITH points AS (SELECT stage, started_unix_ns AS began, started_unix_ns + \
                    (SELECT max(start_ns + length_ns) FROM intervals WHERE intervals.stage = \
                    stages.stage) AS ended FROM stages WHERE kind = 'measure'), gaps AS (SELECT \
                    lead(began) OVER (ORDER BY stage) - ended AS gap_ns FROM points) SELECT \
                    count(gap_ns), avg(gap_ns) / 1e6 FROM gaps";

/// The mean time between two points of a sweep that share their layout, in ms.
///
/// # Errors
/// There is no `sqlite3` to read the run file with, or the sweep fails.
pub fn between_points_ms(programs: &Programs, _seconds: u32) -> Outcome<f64> {
    let sqlite3 = shell::which("sqlite3").ok_or("sqlite3 is not installed")?;
    let scenery = Scenery::new()?;
    let depths: Vec<String> = (1..=POINTS).map(|depth| depth.to_string()).collect();
    let suite = format!(
        "name = \"sweep\"\n[layout]\nsize = \"64KiB\"\nfiles = 1\n[stages]\nmeasure = \
         \"100ms\"\ninterval = \"50ms\"\n[[workload]]\nname = \"w\"\n[sweep]\ndepth = \
         [{}]\n[engine]\nbackend = \"sync\"\n",
        depths.join(", ")
    );
    let (mut command, record) = job(programs, &scenery, &suite)?;
    shell::capture(&mut command)?;
    let answer = shell::capture(Command::new(sqlite3).arg(record).arg(GAPS))?;
    gap_ms(&answer).ok_or_else(|| {
        format!("the run file says of the time between {POINTS} points: `{}`", answer.trim())
    })
}

/// The most memory that a run held which creates and removes 2^21 empty files, in MiB.
///
/// # Errors
/// The run fails.
pub fn many_files_mib(programs: &Programs, _seconds: u32) -> Outcome<f64> {
    let scenery = Scenery::new()?;
    let suite = format!(
        "name = \"many\"\n[layout]\nkind = \"tree\"\n[tree]\nfiles = {MANY_FILES}\nsize = \
         0\nper_directory = 1024\ndepth = 1\n[[workload]]\nname = \"w\"\nkind = \
         \"metadata\"\nworkers = 4\noperations = [\"create\", \"remove\"]\n"
    );
    let (mut command, _) = job(programs, &scenery, &suite)?;
    high_water_mib(&mut command)
}

/// A run of `suite` with everything that it makes in memory, and where its run file will be.
fn job(programs: &Programs, scenery: &Scenery, suite: &str) -> Outcome<(Command, PathBuf)> {
    let (file, record) =
        (scenery.scratch().join("sweep.toml"), scenery.scratch().join("run.plimsoll"));
    std::fs::write(&file, suite).map_err(shell::at(&file))?;
    let mut command = Command::new(&programs.plimsoll);
    command.arg("run").arg(file).arg("--target").arg(scenery.tmpfs()?.join("load"));
    command.args(["--quiet", "--json", "--out"]).arg(&record);
    Ok((command, record))
}

/// `19|12.3`: as many gaps as there have to be, and their mean.
fn gap_ms(answer: &str) -> Option<f64> {
    let (count, mean_ms) = answer.trim().split_once('|')?;
    (count.parse() == Ok(POINTS - 1)).then(|| mean_ms.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_between_points_is_told_where_all_points_are_there() {
        assert_eq!(gap_ms("19|12.5\n"), Some(12.5));
        assert_eq!(gap_ms("18|12.5\n"), None, "a point is missing");
        assert_eq!(gap_ms("0|\n"), None);
        assert_eq!(gap_ms(""), None);
    }
}
