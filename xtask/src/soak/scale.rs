//! What fleets of several sizes cost their coordinator: instructions, which nothing else on the
//! machine has a part in, and CPU time.

use crate::bench::page;
use crate::kept;
use crate::shell::{self, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Fleets that are compared, the smallest first: the others are held to it.
const FLEETS: [u32; 4] = [10, 100, 1_000, 10_000];
/// The virtual time of each, in s.
const SECONDS: u32 = 3_600;
/// Instructions are counted in two runs, in s: what the longer one has more is what the seconds
/// cost, without beginning and end.
const COUNTED: (u32, u32) = (10, 30);
/// The function that holds every decision of the simulated run's coordinator, as callgrind names
/// it.
const DECISION: &str = "*simulation*world*decide*";

/// What a fleet cost.
#[derive(Clone, Debug, PartialEq)]
struct Cost {
    hosts: u32,
    samples: u64,
    /// CPU time of decisions for a host and second, in ns.
    host_second_ns: f64,
    /// CPU time of the simulation and of both its coordinators, in s.
    simulation_s: f64,
    /// The most memory that the process had, in MiB.
    most_mib: u64,
    /// Instructions of decisions for a host and second, where callgrind is there to count them.
    instructions: Option<f64>,
}

/// Measures all fleets and prints the table; with `write`, keeps it in `docs/benchmarks.md`.
///
/// # Errors
/// The simulation does not compile, breaks an invariant, or says something else than its costs; the
/// page cannot be written.
pub fn run(write: bool) -> Outcome<()> {
    let program = build()?;
    let callgrind = shell::which("valgrind");
    if callgrind.is_none() {
        println!("valgrind is not installed: instructions are left out");
    }
    let mut costs = Vec::new();
    for hosts in FLEETS {
        println!("{hosts} hosts");
        let text = shell::capture(
            simulated(Command::new(&program), "cost_of_a_fleet", hosts, SECONDS).arg("--nocapture"),
        )?;
        let mut cost =
            read(&text).ok_or_else(|| format!("{} told no cost: {text}", program.display()))?;
        if let Some(valgrind) = &callgrind {
            let [few, many] =
                [COUNTED.0, COUNTED.1].map(|seconds| counted(valgrind, &program, hosts, seconds));
            let more = many?.saturating_sub(few?);
            cost.instructions =
                Some(more as f64 / f64::from(hosts) / f64::from(COUNTED.1 - COUNTED.0));
        }
        costs.push(cost);
    }
    let table = table(&costs);
    println!("\n{table}");
    if write {
        let on = page::machine()?;
        let text = format!("`cargo xtask soak --scale --write` on {on}\n\n{table}");
        kept::put(page::PAGE, "soak --scale", &text)
    } else {
        Ok(())
    }
}

/// Builds the simulation, optimised, and says where it is.
fn build() -> Outcome<PathBuf> {
    let mut cargo = shell::cargo();
    cargo.args(["test", "--release", "--locked", "--package", "fleet", "--lib"]);
    shell::build_tests(&mut cargo)
}

/// The command that runs one of the simulation's tests with a fleet of this size.
fn simulated(mut command: Command, test: &str, hosts: u32, seconds: u32) -> Command {
    command.args(["--exact", &format!("simulation::scale::{test}")]);
    command
        .env("PLIMSOLL_SOAK_HOSTS", hosts.to_string())
        .env("PLIMSOLL_SOAK_SECONDS", seconds.to_string());
    command
}

/// The instructions of all decisions in a run of so many seconds.
fn counted(valgrind: &Path, program: &Path, hosts: u32, seconds: u32) -> Outcome<u64> {
    let mut command = Command::new(valgrind);
    command
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--toggle-collect={DECISION}"));
    command.arg(program);
    let mut command = simulated(command, "decisions_of_a_fleet", hosts, seconds);
    // Its summary stands among the errors.
    let output = command.output().map_err(|error| format!("{}: {error}", shell::line(&command)))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let count = collected(&text).filter(|count| output.status.success() && *count > 0);
    count.ok_or_else(|| format!("`{}` counted nothing: {text}", shell::line(&command)))
}

/// The instructions in callgrind's summary.
fn collected(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
}

/// The line of words and numbers with which the simulation says what a fleet cost.
fn read(text: &str) -> Option<Cost> {
    let (_, line) = text.lines().find_map(|line| line.split_once("cost: "))?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let value = |name: &str| words.chunks_exact(2).find(|pair| pair[0] == name).map(|pair| pair[1]);
    Some(Cost {
        hosts: value("hosts")?.parse().ok()?,
        samples: value("samples")?.parse().ok()?,
        host_second_ns: value("host_second_ns")?.parse().ok()?,
        simulation_s: value("simulation_s")?.parse().ok()?,
        most_mib: value("most_mib")?.parse().ok()?,
        instructions: None,
    })
}

/// The costs, and how many times as much a host costs as in the smallest fleet.
fn table(costs: &[Cost]) -> String {
    let mut text = "| hosts | samples | instructions per host and second | × the first | ns of \
                    CPU time per host and second | × the first | of one processor | whole \
                    simulation, s of CPU time | most memory, MiB \
                    |\n|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let times = |of: Option<f64>, first: Option<f64>| match (of, first) {
        (Some(of), Some(first)) if first > 0.0 => format!("{:.2}", of / first),
        _ => "–".to_owned(),
    };
    let first = costs.first();
    for cost in costs {
        text += &format!(
            "| {} | {} | {} | {} | {:.0} | {} | {:.3} % | {:.1} | {} |\n",
            thousands(cost.hosts.into()),
            thousands(cost.samples),
            cost.instructions.map_or("–".to_owned(), |count| format!("{count:.0}")),
            times(cost.instructions, first.and_then(|first| first.instructions)),
            cost.host_second_ns,
            times(Some(cost.host_second_ns), first.map(|first| first.host_second_ns)),
            cost.host_second_ns * f64::from(cost.hosts) / 1e7,
            cost.simulation_s,
            cost.most_mib
        );
    }
    text
}

/// A number with commas, as the page has them.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut text = digits[..first].to_owned();
    for place in (first..digits.len()).step_by(3) {
        let comma = if text.is_empty() { "" } else { "," };
        text = format!("{text}{comma}{}", &digits[place..place + 3]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "test a ... cost: hosts 10 samples 36010 host_second_ns 120.5 simulation_s \
                        0.1 most_mib 5\nok";

    #[test]
    fn what_the_simulation_says_is_read_and_held_to_the_smallest_fleet() {
        let small = Cost { instructions: Some(400.0), ..read(LINE).expect("a cost") };
        let large = Cost {
            hosts: 10_000,
            host_second_ns: 241.0,
            instructions: Some(300.0),
            ..small.clone()
        };
        let table = table(&[small, large]);
        let rows: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(rows[0], "| 10 | 36,010 | 400 | 1.00 | 120 | 1.00 | 0.000 % | 0.1 | 5 |");
        assert_eq!(rows[1], "| 10,000 | 36,010 | 300 | 0.75 | 241 | 2.00 | 0.241 % | 0.1 | 5 |");
        assert_eq!(read("cost: hosts ten"), None);
    }

    #[test]
    fn without_callgrind_nothing_is_said_of_instructions() {
        let table = table(&[read(LINE).expect("a cost")]);
        assert!(
            table.ends_with("| 10 | 36,010 | – | – | 120 | 1.00 | 0.000 % | 0.1 | 5 |\n"),
            "{table}"
        );
    }

    #[test]
    fn the_count_is_found_in_what_callgrind_prints() {
        assert_eq!(collected("==7== \n==7== Collected : 123456\n==7== \n"), Some(123_456));
        assert_eq!(collected("==7== nothing"), None);
    }

    #[test]
    fn numbers_have_commas() {
        assert_eq!([7, 999, 1_000, 36_010_000].map(thousands), ["7", "999", "1,000", "36,010,000"]);
    }
}
