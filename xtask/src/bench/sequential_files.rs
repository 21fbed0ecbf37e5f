//! Large blocks in sequence, a file for each worker (N-N) and one for all (N-1): ours beside fio,
//! beside `IOR` where it is, and beside the bare loop of the same system calls, which is what any
//! of them can reach at most.
//!
//! All contenders overwrite and read the same files, which have a name for each of them: where in
//! memory files happen to lie makes a difference of half, more than the programs do. CPU time is
//! that of all of its processes, by the system's account of ended children, less what a run of one
//! block for each worker takes: so start-up, MPI's and ours, counts for nobody. Rounds go
//! through the contenders in alternating order.

use super::contender::json;
use super::figures::{median, ratio, spread, take_turns};
use super::is_here;
use super::scenery::Scenery;
use crate::shell::{self, Outcome};
use std::path::Path;
use std::process::{Command, Stdio};

/// Its name for `--only`.
pub const NAME: &str = "sequential-files";
/// What it is about.
pub const TITLE: &str = "4 workers with 512 MiB each, one request outstanding, sequential, over \
                         files that are there; on a tmpfs through the page cache, on ext4 (of \
                         which the image lies in a tmpfs) with O_DIRECT";

const WORKERS: u64 = 4;
/// A pass then takes a tenth of a second and more, and half a second of CPU time: of a quarter of
/// it, start-up and ticks were as much as the difference between the contenders.
const MIB_EACH: u64 = 512;
const BLOCKS_MIB: [u64; 2] = [8, 1];
const OPERATIONS: [&str; 2] = ["write", "read"];
/// Ticks of `/proc/self/stat` in a second: `USER_HZ`, 100 on every architecture that we run on.
const TICKS_PER_S: f64 = 100.0;

/// By how much two costs have to differ to count as different, in CPU-seconds per GB: each is known
/// to a tick at its begin and at its end.
const COST_ERROR_S: f64 = 2.0 / TICKS_PER_S / ((WORKERS * MIB_EACH) as f64 * 1_048_576.0 / 1e9);

/// What counts as 1 times the other, in two decimals: ticks of CPU time are not finer.
const LEAST: f64 = 0.995;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contender {
    /// With `backend = "sync"`, as the suite `ior-n-to-1` has it. The first of a comparison.
    Plimsoll,
    /// With `psync`, likewise.
    Fio,
    Ior,
    /// The engine's example `bare-blocks`: no clock in the loop, no statistics, nothing is filled.
    /// Nobody is held to it.
    Bare,
}

const ALL: [Contender; 4] = [Contender::Plimsoll, Contender::Fio, Contender::Ior, Contender::Bare];

/// One pass over all bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Lap {
    gb_per_s: f64,
    cpu_s_per_gb: f64,
}

struct Job<'a> {
    plimsoll: &'a Path,
    bare: &'a Path,
    /// A folder of its own, where its files stay.
    folder: &'a Path,
    /// Where a suite and a run file may stand: in memory.
    scratch: &'a Path,
    shared: bool,
    direct: bool,
    block_mib: u64,
}

/// How much of its files a run goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    /// All.
    Whole,
    /// One block for each worker: what starting and ending takes.
    OneBlock,
}

impl Contender {
    fn name(self) -> &'static str {
        match self {
            Contender::Plimsoll => "plimsoll",
            Contender::Fio => "fio psync",
            Contender::Ior => "IOR",
            Contender::Bare => "bare loop",
        }
    }

    fn missing(self) -> Option<&'static str> {
        let programs: &[&str] = match self {
            Contender::Plimsoll | Contender::Bare => &[],
            Contender::Fio => &["fio"],
            Contender::Ior => &["ior", "mpirun"],
        };
        programs.iter().copied().find(|program| shell::which(program).is_none())
    }

    fn command(self, operation: &str, pass: Pass, job: &Job<'_>) -> Outcome<Command> {
        let (folder, block) = (job.folder.display(), job.block_mib);
        let (program, words) = match self {
            Contender::Plimsoll => {
                let suite = job.scratch.join("sequential-files.toml");
                std::fs::write(&suite, suite_of(operation, pass, job))
                    .map_err(shell::at(&suite))?;
                let out = job.scratch.join("run.plimsoll");
                let words = format!(
                    "run {} --target {folder} --keep-data --json --quiet --out {}",
                    suite.display(),
                    out.display()
                );
                (job.plimsoll.as_os_str(), words)
            }
            Contender::Fio => ("fio".as_ref(), fio_words(operation, pass, job)),
            Contender::Bare => (job.bare.as_os_str(), bare_words(operation, pass, job)),
            Contender::Ior => {
                let each = if pass == Pass::Whole { MIB_EACH } else { block };
                let own = if job.shared { "" } else { "-F" };
                let direct = if job.direct { "--posix.odirect" } else { "" };
                let flag = if operation == "write" { "-w" } else { "-r" };
                let words = format!(
                    "--allow-run-as-root --oversubscribe -n {WORKERS} ior -a POSIX {flag} -E -k \
                     {own} {direct} -t {block}m -b {each}m -s 1 -o {folder}/ior"
                );
                ("mpirun".as_ref(), words)
            }
        };
        let mut command = Command::new(program);
        command.args(words.split_whitespace()).stdin(Stdio::null());
        Ok(command)
    }

    /// GB/s of a whole pass, from what it wrote.
    fn rate(self, operation: &str, out: &str) -> Option<f64> {
        let rate = match self {
            Contender::Plimsoll => {
                let json = json(out)?;
                let rows = json["results"].as_array()?;
                let last = &rows.iter().find(|row| row["op"] == operation)?["last_done"];
                last["bytes"].as_f64()? / last["seconds"].as_f64()? / 1e9
            }
            Contender::Fio => json(out)?["jobs"][0][operation]["bw_bytes"].as_f64()? / 1e9,
            Contender::Bare => {
                let json = json(out)?;
                json["bytes"].as_f64()? / json["seconds"].as_f64()? / 1e9
            }
            Contender::Ior => {
                let row =
                    out.lines().find(|line| line.split_whitespace().next() == Some(operation))?;
                row.split_whitespace().nth(1)?.parse::<f64>().ok()? * 1_048_576.0 / 1e9
            }
        };
        (rate.is_finite() && rate > 0.0).then_some(rate)
    }

    /// One run; its words and the CPU time of all of its processes, in seconds.
    fn run(self, operation: &str, pass: Pass, job: &Job<'_>) -> Outcome<(String, f64)> {
        for old in ["run.plimsoll", "run.html"] {
            // One of the run before is ours to remove: nothing is ever overwritten.
            let _ = std::fs::remove_file(job.scratch.join(old));
        }
        let before = children_cpu_s()?;
        let out = shell::capture(&mut self.command(operation, pass, job)?)?;
        Ok((out, children_cpu_s()? - before))
    }

    /// A pass of each operation.
    fn laps(self, job: &Job<'_>) -> Outcome<Vec<Lap>> {
        let lap = |operation: &&str| {
            let (_, idle_s) = self.run(operation, Pass::OneBlock, job)?;
            let (out, busy_s) = self.run(operation, Pass::Whole, job)?;
            let gb_per_s = self
                .rate(operation, &out)
                .ok_or_else(|| format!("{} says nothing of its {operation}: {out}", self.name()))?;
            let bytes = (WORKERS * (MIB_EACH - job.block_mib)) << 20;
            Ok(Lap {
                gb_per_s,
                cpu_s_per_gb: (busy_s - idle_s).max(1.0 / TICKS_PER_S) / (bytes as f64 / 1e9),
            })
        };
        OPERATIONS.iter().map(lap).collect()
    }
}

fn fio_words(operation: &str, pass: Pass, job: &Job<'_>) -> String {
    let folder = job.folder.display();
    let place = if job.shared {
        format!(
            "--filename={folder}/shared --offset_increment={MIB_EACH}m --filesize={}m",
            WORKERS * MIB_EACH
        )
    } else {
        format!("--directory={folder}")
    };
    let count = if pass == Pass::Whole { MIB_EACH / job.block_mib } else { 1 };
    format!(
        "--name=own --ioengine=psync --rw={operation} --bs={}m --size={MIB_EACH}m \
         --numjobs={WORKERS} --thread --direct={} --number_ios={count} --overwrite=1 \
         --invalidate=0 --fallocate=none --group_reporting --output-format=json {place}",
        job.block_mib,
        u8::from(job.direct)
    )
}

fn bare_words(operation: &str, pass: Pass, job: &Job<'_>) -> String {
    let each = if pass == Pass::Whole { MIB_EACH } else { job.block_mib } << 20;
    let mut words = format!("--block {} --bytes {each}", job.block_mib << 20);
    for number in 0..WORKERS {
        let [_, _, name] = other_names(job.shared, number as usize);
        words.push_str(&format!(" {}/{name}", job.folder.display()));
    }
    if operation == "write" {
        words.push_str(" --write");
    }
    if job.direct {
        words.push_str(" --direct");
    }
    words
}

fn suite_of(operation: &str, pass: Pass, job: &Job<'_>) -> String {
    let block = job.block_mib;
    let (kind, files, size) = if job.shared {
        ("shared-file", 1, WORKERS * MIB_EACH)
    } else {
        ("files", WORKERS, MIB_EACH)
    };
    let amount = if pass == Pass::Whole { "all".to_owned() } else { format!("{block}MiB") };
    let files = if job.shared { String::new() } else { format!("files = {files}\n") };
    let read = if operation == "read" { 100 } else { 0 };
    format!(
        "name = \"sequential-files\"\n[layout]\nkind = \"{kind}\"\n{files}size = \
         \"{size}MiB\"\n[stages]\nprepare = false\namount = \"{amount}\"\ncount_fsync = \
         false\ninterval = \"100ms\"\n[engine]\nbackend = \"sync\"\ndirect = \
         {}\n[[workload]]\nname = \"files\"\nblock_size = \"{block}MiB\"\naccess = \
         \"sequential\"\nread = \"{read}%\"\ndepth = 1\nworkers = {WORKERS}\n",
        job.direct
    )
}

/// CPU time of all children that have ended and were waited for, theirs included, in seconds.
fn children_cpu_s() -> Outcome<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")
        .map_err(|error| format!("/proc/self/stat: {error}"))?;
    ended_children_s(&stat)
        .ok_or_else(|| format!("/proc/self/stat has no times of children: {stat}"))
}

/// `cutime` and `cstime`, the 16th and 17th word (`proc(5)`); the second one is in parentheses and
/// may have blanks.
fn ended_children_s(stat: &str) -> Option<f64> {
    let mut words = stat.rsplit_once(')')?.1.split_whitespace().skip(13).map(str::parse::<f64>);
    Some((words.next()?.ok()? + words.next()?.ok()?) / TICKS_PER_S)
}

/// Runs it; comes back with a table in Markdown and what was missed.
///
/// # Errors
/// It cannot be measured here, or a contender fails.
pub fn run(plimsoll: &Path, rounds: u32) -> Outcome<(String, Vec<String>)> {
    let bare = shell::build_example("engine", "bare-blocks")?;
    let scenery = Scenery::new()?;
    let mut table = String::from(
        "| operation | where, files, block | contender | GB/s | CPU-seconds per GB | ours ÷ its, \
         GB/s | its ÷ ours, CPU per GB | claimed |\n|---|---|---|---|---|---|---|---|\n",
    );
    let mut missed = Vec::new();
    let here: Vec<Contender> =
        ALL.into_iter().filter(|one| is_here(one.name(), one.missing())).collect();
    for (place, base, direct) in
        [("tmpfs", scenery.tmpfs()?, false), ("ext4", scenery.ext4()?, true)]
    {
        for (files, shared) in [("N-N", false), ("N-1", true)] {
            for block_mib in BLOCKS_MIB {
                let folder = base.join("load");
                let scratch = scenery.scratch();
                let job = Job {
                    plimsoll,
                    bare: &bare,
                    folder: &folder,
                    scratch,
                    shared,
                    direct,
                    block_mib,
                };
                let laps = all_laps(&here, &job, rounds)?;
                let (text, mut more) =
                    rows(&format!("{place}, {files}, {block_mib} MiB"), &here, &laps);
                print!("{text}");
                table.push_str(&text);
                missed.append(&mut more);
            }
        }
    }
    Ok((table, missed))
}

/// Of each contender, of each round, the laps, over files that are made whole before the first and
/// gone after the last.
fn all_laps(contenders: &[Contender], job: &Job<'_>, rounds: u32) -> Outcome<Vec<Vec<Vec<Lap>>>> {
    let told =
        |error: std::io::Error| format!("{} cannot be made anew: {error}", job.folder.display());
    std::fs::create_dir(job.folder).map_err(told)?;
    Contender::Plimsoll.run("write", Pass::Whole, job)?;
    name_for_all(job)?;
    let laps = take_turns(contenders.len(), rounds, |index| contenders[index].laps(job))?;
    std::fs::remove_dir_all(job.folder).map_err(told)?;
    Ok(laps)
}

/// Gives the files that ours has made the names under which the others look for theirs, too.
fn name_for_all(job: &Job<'_>) -> Outcome<()> {
    let told = |error: std::io::Error| format!("{}: {error}", job.folder.display());
    let entries = std::fs::read_dir(job.folder)
        .map_err(told)?
        .collect::<Result<Vec<_>, _>>()
        .map_err(told)?;
    let mut ours: Vec<_> = entries.iter().map(std::fs::DirEntry::path).collect();
    ours.retain(|path| path.extension().is_some_and(|extension| extension == "bin"));
    ours.sort();
    let expected = if job.shared { 1 } else { WORKERS as usize };
    if ours.len() != expected {
        return Err(format!(
            "{}: {} files of ours instead of {expected}",
            job.folder.display(),
            ours.len()
        ));
    }
    for (number, file) in ours.iter().enumerate() {
        for name in other_names(job.shared, number) {
            std::fs::hard_link(file, job.folder.join(name)).map_err(told)?;
        }
    }
    Ok(())
}

/// What fio, IOR and the bare loop call file `number`.
fn other_names(shared: bool, number: usize) -> [String; 3] {
    match shared {
        true => ["shared".to_owned(), "ior".to_owned(), "bare".to_owned()],
        false => [format!("own.{number}.0"), format!("ior.{number:08}"), format!("bare.{number}")],
    }
}

/// The rows of one place and block, and the claims that they do not bear out: at least the others'
/// GB/s, at no more CPU for each GB.
fn rows(place: &str, contenders: &[Contender], laps: &[Vec<Vec<Lap>>]) -> (String, Vec<String>) {
    let (mut text, mut missed) = (String::new(), Vec::new());
    for (number, operation) in OPERATIONS.iter().enumerate() {
        let of = |index: usize, figure: fn(&Lap) -> f64| -> Vec<f64> {
            laps[index].iter().filter_map(|round| round.get(number)).map(figure).collect()
        };
        let ours = |figure| of(0, figure);
        for (index, contender) in contenders.iter().enumerate() {
            let (rates, costs) = (of(index, |lap| lap.gb_per_s), of(index, |lap| lap.cpu_s_per_gb));
            let (mut faster, mut cheaper, mut claimed) =
                (String::new(), String::new(), String::new());
            if index > 0 {
                let (our_rates, our_costs) =
                    (ours(|lap: &Lap| lap.gb_per_s), ours(|lap: &Lap| lap.cpu_s_per_gb));
                (faster, cheaper) = (ratio(&our_rates, &rates), ratio(&costs, &our_costs));
                let dearer_s = median(&our_costs) - median(&costs);
                let reached = [
                    ("GB/s", median(&our_rates) / median(&rates), true),
                    ("CPU per GB", median(&costs) / median(&our_costs), dearer_s > COST_ERROR_S),
                ];
                let short: Vec<_> =
                    reached.iter().filter(|(_, reached, told)| *told && *reached < LEAST).collect();
                if *contender != Contender::Bare {
                    claimed =
                        format!("1 in both: {}", if short.is_empty() { "held" } else { "missed" });
                    let name = contender.name();
                    missed.extend(short.iter().map(|(what, reached, _)| {
                        format!(
                            "{NAME}: {operation} on {place}: {reached:.2} × {name} in {what} \
                             where 1 × is claimed"
                        )
                    }));
                }
            }
            text.push_str(&format!(
                "| {operation} | {place} | {} | {} | {} | {faster} | {cheaper} | {claimed} |\n",
                contender.name(),
                spread(&rates, |value| format!("{value:.2}")),
                spread(&costs, |value| format!("{value:.3}")),
            ));
        }
    }
    (text, missed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_is_read_in_its_own_words() {
        let ours = "{\"results\": [{\"op\": \"write\", \"last_done\": {\"bytes\": 4000000000, \
                    \"seconds\": 2.0}}]}";
        assert_eq!(Contender::Plimsoll.rate("write", ours), Some(2.0));
        assert_eq!(Contender::Plimsoll.rate("read", ours), None);
        let fio = "note: a line before it\n{\"jobs\": [{\"read\": {\"bw_bytes\": 1500000000}}]}";
        assert_eq!(Contender::Fio.rate("read", fio), Some(1.5));
        let ior = "access    bw(MiB/s)  IOPS\n------    ---------  ----\nwrite     1000.00    \
                   2958.03    0.000408\nOperation   Max(MiB)\nwrite        2952.83\n";
        assert_eq!(Contender::Ior.rate("write", ior), Some(1.048_576));
        assert_eq!(Contender::Ior.rate("read", ior), None);
        let bare = "{\"bytes\": 3000000000, \"seconds\": 2.0}";
        assert_eq!(Contender::Bare.rate("read", bare), Some(1.5));
    }

    #[test]
    fn the_times_of_children_are_found_behind_any_name() {
        let stat = "7 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 250 50 20 0";
        assert_eq!(ended_children_s(stat), Some(3.0));
        assert_eq!(ended_children_s("7 (a) S 1"), None);
    }

    #[test]
    fn ours_is_held_to_the_others_in_rate_and_cost() {
        let lap = |gb_per_s, cpu_s_per_gb| vec![vec![Lap { gb_per_s, cpu_s_per_gb }; 2]; 3];
        let (text, missed) =
            rows("p", &ALL, &[lap(2.0, 0.2), lap(1.0, 0.4), lap(4.0, 0.2), lap(9.0, 0.1)]);
        assert_eq!(
            (text.lines().count(), missed.len()),
            (8, 2),
            "nobody is held to the bare loop: {missed:?}"
        );
        assert!(missed[0].contains("write on p: 0.50 × IOR in GB/s"), "{missed:?}");
        let (_, missed) = rows("p", &ALL[..2], &[lap(2.0, 0.2), lap(1.0, 0.195)]);
        assert!(missed.is_empty(), "within a tick: {missed:?}");
        let (_, missed) = rows("p", &ALL[..2], &[lap(2.0, 0.2), lap(1.0, 0.1)]);
        assert!(
            missed.len() == 2 && missed[0].contains("0.50 × fio psync in CPU per GB"),
            "{missed:?}"
        );
        assert!(
            text.lines().nth(1).is_some_and(|line| line.ends_with("1 in both: held |")),
            "{text}"
        );
    }
}
