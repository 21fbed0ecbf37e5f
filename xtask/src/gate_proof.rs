//! `cargo xtask gate-proof`: how often gates err, and how much they take, on simulated machines and
//! on this one.

use crate::shell::{self, Outcome};
use std::path::Path;
use std::process::{Command, Stdio};

const PAGE: &str = "docs/method/gate.md";
const BEGIN: &str = "<!-- gate-proof: begin -->\n";
const END: &str = "<!-- gate-proof: end -->";

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

/// What was asked for.
struct Asked {
    gates: u64,
    write: bool,
    real: Option<String>,
    /// Of real ones, those whose name has this.
    only: Option<String>,
}

/// Simulated gates, or with `--real PROGRAM` real ones of short commands.
///
/// # Errors
/// The arguments are wrong, or a program fails.
pub fn run(arguments: &[String]) -> Outcome<()> {
    let asked = asked(arguments)?;
    match &asked.real {
        Some(program) => real(Path::new(program), &asked),
        None => simulated(asked.gates, asked.write),
    }
}

fn asked(arguments: &[String]) -> Outcome<Asked> {
    let mut asked = Asked { gates: 400, write: false, real: None, only: None };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--gates" => {
                asked.gates = value()?.parse().map_err(|_| "--gates needs a number".to_owned())?;
            }
            "--write" => asked.write = true,
            "--real" => asked.real = Some(value()?.clone()),
            "--only" => asked.only = Some(value()?.clone()),
            other => return Err(format!("{other} is unknown; see `cargo xtask help`")),
        }
    }
    if asked.gates == 0 || (asked.write && asked.real.is_some()) {
        return Err("--gates is at least 1, and --write is for simulated gates".to_owned());
    }
    if asked.only.as_ref().is_some_and(|_| asked.real.is_none() || asked.cases().next().is_none()) {
        let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        return Err(format!("--only names some of --real: {}", names.join(", ")));
    }
    Ok(asked)
}

impl Asked {
    fn cases(&self) -> impl Iterator<Item = Case> {
        let named = |case: &Case| self.only.as_ref().is_none_or(|only| case.name.contains(only));
        CASES.into_iter().filter(named)
    }
}

fn simulated(gates: u64, write: bool) -> Outcome<()> {
    let mut example = shell::cargo();
    example.args(["run", "--quiet", "--locked", "--package", "analysis", "--features", "testing"]);
    example.args(["--example", "gate-proof", "--", &gates.to_string()]);
    let table = shell::capture(&mut example)?;
    print!("{table}");
    if write {
        let path = shell::root().join(PAGE);
        let page = std::fs::read_to_string(&path).map_err(|error| format!("{PAGE}: {error}"))?;
        let new = replaced(&page, &table).ok_or(format!("{PAGE} has no place for the table"))?;
        std::fs::write(&path, new).map_err(|error| format!("{PAGE}: {error}"))?;
    }
    Ok(())
}

/// The page with this table between its marks.
fn replaced(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
}

/// Gates of short commands on this machine.
fn real(program: &Path, asked: &Asked) -> Outcome<()> {
    let gates = asked.gates;
    println!(
        "| commands | detect | gates | worse or better | wrong side | no change | cannot tell \
         | pairs |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for case in asked.cases() {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_a_page_is_renewed_and_nothing_else() {
        let page = format!("# A\n{BEGIN}\nold\n{END}\nmore\n");
        let new = replaced(&page, "new\n").expect("a place");
        assert_eq!(new, format!("# A\n{BEGIN}\nnew\n\n{END}\nmore\n"));
        assert_eq!(replaced("# A\n", "new"), None);
    }

    #[test]
    fn arguments_that_make_no_sense_are_refused() {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert!(asked(&words("--gates 7 --write")).is_ok_and(|asked| asked.gates == 7));
        for line in [
            "--gates",
            "--gates no",
            "--gates 0",
            "--real x --write",
            "--fast",
            "--only loop",
            "--real x --only no",
        ] {
            assert!(asked(&words(line)).is_err(), "{line}");
        }
    }
}
