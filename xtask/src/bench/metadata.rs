//! Operations on whole files: ours beside the bare loop of the same system calls, and beside
//! `mdtest` and `elbencho` where they are.
//!
//! Each round every contender has a fresh folder of one file system, and each begins with nothing
//! waiting to be written; rounds go through the contenders in alternating order, so that whoever
//! comes later has no standing advantage. Nobody is bound to a processor.

use super::figures::{median, ratio, spread, take_turns, thousands};
use super::is_here;
use super::scenery::Scenery;
use crate::shell::{self, Outcome};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Its name for `--only`.
pub const NAME: &str = "metadata";
/// What it is about.
pub const TITLE: &str = "65,536 files of 4 KiB, 1,024 in a directory, each worker with \
                         directories of its own, on a tmpfs and on ext4 (of which the image lies \
                         in a tmpfs)";

const FILES: u64 = 65_536;
const PER_DIRECTORY: u64 = 1024;
const WORKERS: [u64; 2] = [1, 4];
const OPERATIONS: [&str; 4] = ["create", "stat", "read", "remove"];

/// Who can do all four operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contender {
    /// Ours, recording every latency. The first of a comparison.
    Plimsoll,
    /// The engine's example `bare-metadata`: no clock in the loop, no statistics.
    Bare,
    Mdtest,
    Elbencho,
}

const ALL: [Contender; 4] =
    [Contender::Plimsoll, Contender::Bare, Contender::Mdtest, Contender::Elbencho];

/// One operation on all files.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Lap {
    /// From the begin of the first worker to the end of the last.
    per_second: f64,
    /// For each second of the workers' CPU time; not a number where the contender keeps it to
    /// itself.
    per_cpu_second: f64,
}

struct Claim {
    /// Ours ÷ theirs.
    least: f64,
    /// The figure in words.
    what: &'static str,
    figure: fn(&Lap) -> f64,
}

struct Job<'a> {
    plimsoll: &'a Path,
    bare: &'a Path,
    /// An empty folder on the file system in question.
    folder: &'a Path,
    /// Where a suite and a run file may stand: in memory.
    scratch: &'a Path,
    workers: u64,
}

impl Contender {
    fn name(self) -> &'static str {
        match self {
            Contender::Plimsoll => "plimsoll",
            Contender::Bare => "bare loop",
            Contender::Mdtest => "mdtest",
            Contender::Elbencho => "elbencho",
        }
    }

    /// The least ratio of a figure of ours to its that the project claims. Where both tell their
    /// CPU time, that is what the claim is about: workers of file systems are always busy, and
    /// other programs on the machine disturb it less.
    fn claim(self) -> Option<Claim> {
        match self {
            Contender::Plimsoll => None,
            Contender::Bare => {
                Some(Claim { least: 1.0, what: "per CPU-second", figure: |lap| lap.per_cpu_second })
            }
            Contender::Mdtest | Contender::Elbencho => {
                Some(Claim { least: 1.2, what: "per second", figure: |lap| lap.per_second })
            }
        }
    }

    /// Whether it can run with so many workers; if not, what is missing.
    fn missing(self, workers: u64) -> Option<&'static str> {
        let programs: &[&str] = match self {
            Contender::Plimsoll | Contender::Bare => &[],
            Contender::Mdtest if workers > 1 => &["mdtest", "mpirun"],
            Contender::Mdtest => &["mdtest"],
            Contender::Elbencho => &["elbencho"],
        };
        programs.iter().copied().find(|program| shell::which(program).is_none())
    }

    fn command(self, job: &Job<'_>) -> Outcome<Command> {
        let (folder, workers) = (job.folder.display(), job.workers);
        let directories = FILES / workers / PER_DIRECTORY;
        let (program, words) = match self {
            Contender::Plimsoll => {
                let suite = job.scratch.join("metadata.toml");
                let written = std::fs::write(&suite, suite_of(workers));
                written.map_err(shell::at(&suite))?;
                let out = job.scratch.join("run.plimsoll");
                let words = format!(
                    "run {} --target {folder} --json --quiet --out {}",
                    suite.display(),
                    out.display()
                );
                (job.plimsoll.to_owned(), words)
            }
            Contender::Bare => (
                job.bare.to_owned(),
                format!(
                    "{folder} --files {FILES} --bytes 4096 --workers {workers} --per-directory \
                     {PER_DIRECTORY}"
                ),
            ),
            Contender::Mdtest => {
                let alone = format!(
                    "-F -u -L -z 1 -b {directories} -I {PER_DIRECTORY} -w 4096 -e 4096 -d {folder}"
                );
                let together =
                    format!("--allow-run-as-root --oversubscribe -n {workers} mdtest {alone}");
                if workers > 1 {
                    (PathBuf::from("mpirun"), together)
                } else {
                    (PathBuf::from("mdtest"), alone)
                }
            }
            Contender::Elbencho => (
                PathBuf::from("elbencho"),
                format!(
                    "--mkdirs --write --stat --read --delfiles --deldirs --threads {workers} \
                     --dirs {directories} --files {PER_DIRECTORY} --size 4k --block 4k --nolive \
                     {folder}"
                ),
            ),
        };
        let mut command = Command::new(program);
        command.args(words.split_whitespace()).stdin(Stdio::null());
        Ok(command)
    }

    /// The laps of the four operations, in their order, from what it wrote.
    fn laps(self, out: &str) -> Option<Vec<Lap>> {
        let rate = |per_second: f64| Lap { per_second, per_cpu_second: f64::NAN };
        match self {
            Contender::Plimsoll => {
                let json: Value = serde_json::from_str(out).ok()?;
                let results = json["results"].as_array()?;
                let lap = |name: &str| {
                    let op = if name == "read" { "read-file" } else { name };
                    let result = results.iter().find(|result| result["op"] == op)?;
                    let (last, cpu) = (&result["last_done"], &result["cpu"]);
                    let cpu_s = cpu["user_s"].as_f64()? + cpu["system_s"].as_f64()?;
                    all_done(last["ios"].as_f64()?, last["seconds"].as_f64()?, cpu_s)
                };
                OPERATIONS.into_iter().map(lap).collect()
            }
            Contender::Bare => {
                let json: Value = serde_json::from_str(out).ok()?;
                let lap = |name: &str| {
                    let lap = &json[name];
                    all_done(lap["ops"].as_f64()?, lap["seconds"].as_f64()?, lap["cpu_s"].as_f64()?)
                };
                OPERATIONS.into_iter().map(lap).collect()
            }
            Contender::Mdtest => {
                let names = ["File creation", "File stat", "File read", "File removal"];
                names.into_iter().map(|name| mdtest_rate(out, name).map(rate)).collect()
            }
            Contender::Elbencho => {
                let names = ["WRITE", "STAT", "READ", "RMFILES"];
                names.into_iter().map(|name| elbencho_rate(out, name).map(rate)).collect()
            }
        }
    }

    /// One run in a fresh folder, which is gone afterwards.
    fn run(self, job: &Job<'_>) -> Outcome<Vec<Lap>> {
        let told = |error: std::io::Error| {
            format!("{} cannot be made anew: {error}", job.folder.display())
        };
        for old in ["run.plimsoll", "run.html"] {
            // One of the round before is ours to remove: nothing is ever overwritten.
            let _ = std::fs::remove_file(job.scratch.join(old));
        }
        std::fs::create_dir(job.folder).map_err(told)?;
        shell::capture(&mut Command::new("sync"))?;
        let out = shell::capture(&mut self.command(job)?)?;
        // Ours takes a folder away that it found empty.
        std::fs::remove_dir_all(job.folder).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(told(error)),
        })?;
        self.laps(&out)
            .ok_or_else(|| format!("{} says nothing of its operations: {out}", self.name()))
    }
}

fn all_done(ops: f64, seconds: f64, cpu_s: f64) -> Option<Lap> {
    let complete = ops == FILES as f64 && seconds > 0.0 && cpu_s > 0.0;
    complete.then(|| Lap { per_second: ops / seconds, per_cpu_second: ops / cpu_s })
}

/// The largest rate of the operation `name`, per second. Versions differ by a colon behind the
/// name.
fn mdtest_rate(out: &str, name: &str) -> Option<f64> {
    let rest = out.lines().find_map(|line| line.trim().strip_prefix(name))?;
    rest.trim_start_matches([' ', ':']).split_whitespace().next()?.parse().ok()
}

/// `Files/s` of the phase `name`, at "last done", the last column.
fn elbencho_rate(out: &str, name: &str) -> Option<f64> {
    let mut lines = out.lines().skip_while(|line| line.split_whitespace().next() != Some(name));
    let line = lines.find(|line| line.split_whitespace().any(|word| word == "Files/s"))?;
    line.split_whitespace().last()?.parse().ok()
}

fn suite_of(workers: u64) -> String {
    format!(
        "name = \"metadata\"\n[layout]\nkind = \"tree\"\n[tree]\nfiles = {FILES}\nsize = \
         \"4KiB\"\nper_directory = {PER_DIRECTORY}\ndepth = 1\nunique = true\n[stages]\ninterval \
         = \"100ms\"\n[[workload]]\nname = \"files\"\nkind = \"metadata\"\nworkers = \
         {workers}\noperations = [\"create\", \"stat\", \"read\", \"remove\"]\n"
    )
}

/// Runs it; comes back with a table in Markdown and what was missed.
///
/// # Errors
/// It cannot be measured here, or a contender fails.
pub fn run(plimsoll: &Path, rounds: u32) -> Outcome<(String, Vec<String>)> {
    let bare = shell::build_example("engine", "bare-metadata")?;
    let scenery = Scenery::new()?;
    let mut table = String::from(
        "| operation | where, workers | contender | operations per second | ours ÷ its, per \
         second | ours ÷ its, per CPU-second | claimed |\n|---|---|---|---|---|---|---|\n",
    );
    let mut missed = Vec::new();
    for (place, folder) in [("tmpfs", scenery.tmpfs()?), ("ext4", scenery.ext4()?)] {
        for workers in WORKERS {
            let folder = folder.join("load");
            let job =
                Job { plimsoll, bare: &bare, folder: &folder, scratch: scenery.scratch(), workers };
            let here: Vec<Contender> =
                ALL.into_iter().filter(|one| is_here(one.name(), one.missing(workers))).collect();
            let laps = take_turns(here.len(), rounds, |index| here[index].run(&job))?;
            let rows = rows(&format!("{place}, {workers}"), &here, &laps);
            print!("{}", rows.text);
            table.push_str(&rows.text);
            missed.extend(rows.missed);
        }
    }
    Ok((table, missed))
}

/// Rows of the table, and the claims that they do not bear out.
struct Rows {
    text: String,
    missed: Vec<String>,
}

/// The rows of one place and number of workers: operation by operation, ours first.
fn rows(place: &str, contenders: &[Contender], laps: &[Vec<Vec<Lap>>]) -> Rows {
    let mut rows = Rows { text: String::new(), missed: Vec::new() };
    let bare = contenders.iter().position(|contender| *contender == Contender::Bare);
    for (number, operation) in OPERATIONS.iter().enumerate() {
        let of = |index: usize, figure: fn(&Lap) -> f64| -> Vec<f64> {
            laps[index].iter().filter_map(|round| round.get(number)).map(figure).collect()
        };
        for (index, contender) in contenders.iter().enumerate() {
            let rates = of(index, |lap| lap.per_second);
            let against = |figure: fn(&Lap) -> f64| {
                let theirs = of(index, figure);
                let known = index > 0 && theirs.iter().all(|value| value.is_finite());
                if known { ratio(&of(0, figure), &theirs) } else { String::new() }
            };
            let claimed =
                contender.claim().map_or(String::new(), |Claim { least, what, figure }| {
                    let reached = median(&of(0, figure)) / median(&of(index, figure));
                    // What anybody could reach who makes these calls: the share of the kernel's own
                    // time decides it.
                    let limit = match bare.filter(|bare| *bare != index) {
                        Some(bare) => format!(
                            "; bare loop {:.2}",
                            median(&of(bare, figure)) / median(&of(index, figure))
                        ),
                        None => String::new(),
                    };
                    if reached >= least {
                        return format!("{least} {what}: held{limit}");
                    }
                    let name = contender.name();
                    rows.missed.push(format!(
                        "{NAME}: {operation} on {place}: {reached:.2} × {name} {what} where \
                         {least} × is claimed"
                    ));
                    format!("{least} {what}: missed{limit}")
                });
            rows.text.push_str(&format!(
                "| {operation} | {place} | {} | {} | {} | {} | {claimed} |\n",
                contender.name(),
                spread(&rates, thousands),
                against(|lap| lap.per_second),
                against(|lap| lap.per_cpu_second),
            ));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_is_read_in_its_own_words() {
        let mdtest = "SUMMARY rate: (of 1 iterations)\n   Operation    Max   Min   Mean   Std \
                      Dev\n\x20  Directory creation   9.0   9.0   9.0   0.0\n   File creation   \
                      24392.8   2.0   3.0   0.0\n\x20  File stat     :   5.5 5.5 5.5 0\n   File \
                      read   6.5 6 6 0\n   File removal   7.5 7 7 0\n";
        let rates = |contender: Contender, out| -> Option<Vec<f64>> {
            Some(contender.laps(out)?.iter().map(|lap| lap.per_second).collect())
        };
        assert_eq!(rates(Contender::Mdtest, mdtest), Some(vec![24392.8, 5.5, 6.5, 7.5]));
        let phase = |name: &str, rate: u32| {
            format!("{name:12}Elapsed time : 1s 2s\n   Files/s : 999999 {rate}\n---\n")
        };
        let elbencho =
            [("MKDIRS", 1), ("WRITE", 2), ("STAT", 3), ("READ", 4), ("RMFILES", 5), ("RMDIRS", 6)]
                .map(|(name, rate)| phase(name, rate))
                .concat();
        assert_eq!(rates(Contender::Elbencho, &elbencho), Some(vec![2.0, 3.0, 4.0, 5.0]));
        assert_eq!(rates(Contender::Elbencho, "WRITE Elapsed time : 1s"), None);
        let lap = |ops: u64| format!("{{\"ops\": {ops}, \"seconds\": 2.0, \"cpu_s\": 0.5}}");
        let bare = |ops| OPERATIONS.map(|name| format!("\"{name}\": {}", lap(ops))).join(",");
        let whole = format!("{{{}}}", bare(FILES));
        let wanted = Lap { per_second: FILES as f64 / 2.0, per_cpu_second: FILES as f64 * 2.0 };
        assert_eq!(Contender::Bare.laps(&whole), Some(vec![wanted; 4]));
        assert_eq!(
            Contender::Bare.laps(&format!("{{{}}}", bare(FILES - 1))),
            None,
            "a file was left out"
        );
    }

    #[test]
    fn rows_hold_ours_to_each_of_the_others() {
        let round = |rate: f64| {
            OPERATIONS.map(|_| Lap { per_second: rate, per_cpu_second: 2.0 * rate }).to_vec()
        };
        let silent = |rate: f64| {
            OPERATIONS.map(|_| Lap { per_second: rate, per_cpu_second: f64::NAN }).to_vec()
        };
        let laps = [
            vec![round(3e4), round(5e4)],
            vec![round(2e4), round(2e4)],
            vec![silent(4e4), silent(4e4)],
        ];
        let rows =
            rows("tmpfs, 1", &[Contender::Plimsoll, Contender::Bare, Contender::Mdtest], &laps);
        assert_eq!(rows.text.lines().count(), 12);
        let stat: Vec<&str> = rows.text.lines().skip(3).take(3).collect();
        assert_eq!(stat[0], "| stat | tmpfs, 1 | plimsoll | 40 k (30 k to 50 k) |  |  |  |");
        assert!(
            stat[1].ends_with(
                "| **2.00** (1.50 to 2.50) | **2.00** (1.50 to 2.50) | 1 per CPU-second: held |"
            ),
            "{}",
            stat[1]
        );
        assert!(
            stat[2].ends_with(
                "| **1.00** (0.75 to 1.25) |  | 1.2 per second: missed; bare loop 0.50 |"
            ),
            "{}",
            stat[2]
        );
        assert_eq!(rows.missed.len(), 4);
        assert_eq!(
            rows.missed[1],
            "metadata: stat on tmpfs, 1: 1.00 × mdtest per second where 1.2 × is claimed"
        );
    }
}
