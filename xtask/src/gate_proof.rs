//! `cargo xtask gate-proof`: how often gates err, and how much they take, on simulated machines and
//! on this one.

use crate::kept;
use crate::shell::{self, Outcome};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PAGE: &str = "docs/method/gate.md";

/// Real gates: what base and head are, and what is to be found.
struct Case {
    name: &'static str,
    base: &'static str,
    head: &'static str,
    detect: &'static str,
    budget: &'static str,
    /// Whether base and head differ: then only a regression is right.
    is_changed: bool,
}

const LOOP: &str = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done";
const SLEEP: &str = "sleep 0.05";

/// The start of a process takes one to two milliseconds beside the 50 of a sleep, so that it is
/// 3.2 % longer for 3.1 % of the whole.
const CASES: [Case; 5] = [
    Case::new("a loop of 5 ms against itself", LOOP, LOOP, "25%", "5s"),
    Case::new("a sleep of 50 ms against itself", SLEEP, SLEEP, "3%", "20s"),
    Case::new("against 3.1 % more", SLEEP, "sleep 0.0516", "3%", "20s"),
    Case::new("against 5 % more", SLEEP, "sleep 0.0526", "3%", "20s"),
    Case::new("against 10 % more", SLEEP, "sleep 0.0552", "3%", "20s"),
];

impl Case {
    const fn new(
        name: &'static str,
        base: &'static str,
        head: &'static str,
        detect: &'static str,
        budget: &'static str,
    ) -> Case {
        // Texts cannot be compared in a constant; those that are equal have one length.
        let is_changed = base.len() != head.len();
        Case { name, base, head, detect, budget, is_changed }
    }
}

/// What is run.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// How many of each kind.
    #[arg(long, value_name = "N", default_value_t = 400,
        value_parser = clap::value_parser!(u64).range(1..))]
    gates: u64,
    /// Keep the table of simulated ones in the method.
    #[arg(long)]
    write: bool,
    /// Real gates of short commands, with this program.
    #[arg(long, value_name = "PROGRAM", conflicts_with = "write")]
    real: Option<PathBuf>,
    /// Of real ones, those whose name has this.
    #[arg(long, value_name = "NAME", requires = "real")]
    only: Option<String>,
}

/// Simulated gates, or with `--real PROGRAM` real ones of short commands.
///
/// # Errors
/// No gate is of this name, or a program fails.
pub fn run(options: &Options) -> Outcome<()> {
    match &options.real {
        Some(program) => real(program, options),
        None => simulated(options.gates, options.write),
    }
}

fn simulated(gates: u64, write: bool) -> Outcome<()> {
    let mut example = shell::cargo();
    example.args(["run", "--quiet", "--locked", "--package", "analysis", "--features", "testing"]);
    example.args(["--example", "gate-proof", "--", &gates.to_string()]);
    let table = shell::capture(&mut example)?;
    print!("{table}");
    if write {
        kept::put(PAGE, "gate-proof", &table)?;
    }
    Ok(())
}

/// Gates of short commands on this machine.
fn real(program: &Path, options: &Options) -> Outcome<()> {
    let gates = options.gates;
    let only = options.only.as_deref().unwrap_or_default();
    let cases: Vec<Case> = CASES.into_iter().filter(|case| case.name.contains(only)).collect();
    if cases.is_empty() {
        let names = CASES.map(|case| case.name).join(", ");
        return Err(format!("no gate is called {only}; there are {names}"));
    }
    println!(
        "| commands | detect | gates | worse or better | wrong side | no change | cannot tell \
         | pairs |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for case in cases {
        let (mut found, mut wrong, mut none, mut unknown, mut pairs) = (0, 0, 0, 0, 0);
        for seed in 0..gates {
            let answer = one_real(program, &case, seed)?;
            match answer["answer"].as_str() {
                Some("regression") => found += 1,
                Some("improvement") if !case.is_changed => found += 1,
                Some("improvement") => wrong += 1,
                Some("no-change") => none += 1,
                _ => unknown += 1,
            }
            pairs += answer["runs"]["pairs"].as_u64().unwrap_or(0);
        }
        let each = pairs as f64 / gates as f64;
        let (name, detect) = (case.name, case.detect);
        println!(
            "| {name} | {detect} | {gates} | {found} | {wrong} | {none} | {unknown} | {each:.0} |"
        );
    }
    Ok(())
}

fn one_real(program: &Path, case: &Case, seed: u64) -> Outcome<serde_json::Value> {
    let mut gate = Command::new(program);
    gate.args(["gate", "--base", case.base, "--head", case.head, "--detect", case.detect]);
    gate.args(["--budget", case.budget, "--json", "--quiet", "--seed", &seed.to_string()]);
    let output = gate.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{} cannot run: {error}", program.display()))?;
    serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("a gate failed: {}", String::from_utf8_lossy(&output.stderr)))
}
