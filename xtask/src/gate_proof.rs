//! `cargo xtask gate-proof`: how often gates err, and how much they take, on simulated machines and
//! on this one.

use crate::shell::{self, Outcome};
use std::path::Path;
use std::process::{Command, Stdio};

const PAGE: &str = "docs/method/gate.md";
const BEGIN: &str = "<!-- gate-proof: begin -->\n";
const END: &str = "<!-- gate-proof: end -->";

/// Steps of a loop of the shell: some milliseconds, most of them the loop's.
const STEPS: u64 = 15_000;

/// What was asked for.
struct Asked {
    gates: u64,
    write: bool,
    real: Option<String>,
}

/// Simulated gates, or with `--real PROGRAM` real ones of short commands.
///
/// # Errors
/// The arguments are wrong, or a program fails.
pub fn run(arguments: &[String]) -> Outcome<()> {
    let asked = asked(arguments)?;
    match &asked.real {
        Some(program) => real(Path::new(program), asked.gates),
        None => simulated(asked.gates, asked.write),
    }
}

fn asked(arguments: &[String]) -> Outcome<Asked> {
    let mut asked = Asked { gates: 400, write: false, real: None };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--gates" => {
                asked.gates = value()?.parse().map_err(|_| "--gates needs a number".to_owned())?;
            }
            "--write" => asked.write = true,
            "--real" => asked.real = Some(value()?.clone()),
            other => return Err(format!("{other} is unknown; see `cargo xtask help`")),
        }
    }
    if asked.gates == 0 || (asked.write && asked.real.is_some()) {
        return Err("--gates is at least 1, and --write is for simulated gates".to_owned());
    }
    Ok(asked)
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

/// Gates of a loop of the shell against one of more steps.
fn real(program: &Path, gates: u64) -> Outcome<()> {
    println!("| change | gates | worse or better | no change | cannot tell | pairs |");
    println!("|---|---|---|---|---|---|");
    for (percent, gates) in [(0, gates), (3, gates / 4), (5, gates / 4), (10, gates / 4)] {
        let (mut found, mut none, mut unknown, mut pairs) = (0, 0, 0, 0);
        for seed in 0..gates {
            let answer = one_real(program, STEPS + STEPS * percent / 100, seed)?;
            match answer["answer"].as_str() {
                Some("regression") => found += 1,
                Some("improvement") if percent == 0 => found += 1,
                Some("no-change") => none += 1,
                _ => unknown += 1,
            }
            pairs += answer["runs"]["pairs"].as_u64().unwrap_or(0);
        }
        let each = pairs as f64 / gates.max(1) as f64;
        println!("| {percent} % | {gates} | {found} | {none} | {unknown} | {each:.0} |");
    }
    Ok(())
}

fn one_real(program: &Path, steps: u64, seed: u64) -> Outcome<serde_json::Value> {
    let work = |steps: u64| format!("i=0; while [ $i -lt {steps} ]; do i=$((i+1)); done");
    let mut gate = Command::new(program);
    gate.args(["gate", "--base", &work(STEPS), "--head", &work(steps), "--detect", "3%"]);
    gate.args(["--budget", "1m", "--json", "--quiet", "--seed", &seed.to_string()]);
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
        for line in ["--gates", "--gates no", "--gates 0", "--real x --write", "--fast"] {
            assert!(asked(&words(line)).is_err(), "{line}");
        }
    }
}
