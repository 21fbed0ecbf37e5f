//! `cargo xtask mutants --fleet`: the faults of `fleet.toml`, each of which the unit tests of the
//! fleet or its simulation have to notice.
//!
//! All of them are put into one copy of the crate, each behind a switch (R. H. Untch et al.,
//! "Mutation analysis using mutant schemata", ISSTA 1993): so there is one build, not one for each.

use crate::kept;
use crate::shell::{self, Outcome};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const LIST: &str = "xtask/src/mutants/fleet.toml";
const PAGE: &str = "docs/fleets.md";
/// A mutant that has not ended its tests by then never will, which is noticed, too.
const LONGEST: Duration = Duration::from_secs(600);
/// Mutants whose tests run at the same time: most of that time, they wait.
const AT_ONCE: usize = 4;
/// What the list calls the switch of a mutant.
const SWITCH: &str = "MUTANT";
/// Which mutant is on.
const VARIABLE: &str = "PLIMSOLL_MUTANT";

/// One small fault.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mutant {
    name: String,
    what: String,
    file: String,
    find: String,
    replace: String,
}

/// What became of a mutant.
struct Verdict {
    mutant: Mutant,
    unit: Option<String>,
    simulation: Option<String>,
}

/// Runs the tests with every mutant of the list, or one; with `write`, keeps the table.
///
/// # Errors
/// The list does not fit the code, the tests fail without a mutant, or a mutant survives.
pub fn run(only: Option<&str>, seeds: u64, write: bool) -> Outcome<()> {
    let all = list(&kept::read(LIST)?)?;
    let tests = build(&all)?;
    let tests = Tests { program: tests, seeds };
    let chosen: Vec<Mutant> =
        all.into_iter().filter(|one| only.is_none_or(|only| is_named(only, one))).collect();
    if chosen.is_empty() {
        return Err(format!("no mutant is called {}; {LIST} has all", only.unwrap_or_default()));
    }
    let (unit, simulation) = tests.both("")?;
    if let Some(why) = unit.or(simulation) {
        return Err(format!("without a mutant, the tests fail: {why}"));
    }
    let verdicts = tests.verdicts(&chosen)?;
    let table = table(&verdicts, seeds);
    println!("\n{table}");
    if write && only.is_none() {
        kept::put(PAGE, "mutants --fleet", &table)?;
    }
    let lives = |one: &&Verdict| one.unit.is_none() && one.simulation.is_none();
    let alive: Vec<&str> =
        verdicts.iter().filter(lives).map(|one| one.mutant.name.as_str()).collect();
    if alive.is_empty() {
        return Ok(());
    }
    Err(format!("no test notices {}; write one that does", alive.join(", ")))
}

/// Whether a list of names, with commas between them, has this one.
fn is_named(only: &str, mutant: &Mutant) -> bool {
    only.split(',').any(|name| name == mutant.name)
}

/// The program of the fleet's tests.
struct Tests {
    program: PathBuf,
    seeds: u64,
}

impl Tests {
    /// What becomes of each, some at the same time, in their order.
    fn verdicts(&self, mutants: &[Mutant]) -> Outcome<Vec<Verdict>> {
        let next = Mutex::new(mutants.iter().enumerate());
        let verdicts = Mutex::new(BTreeMap::new());
        let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    while let Some((number, mutant)) = take() {
                        let verdict = self.verdict(mutant);
                        let mut all = verdicts.lock().unwrap_or_else(PoisonError::into_inner);
                        all.insert(number, verdict);
                    }
                });
            }
        });
        verdicts.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
    }

    fn verdict(&self, mutant: &Mutant) -> Outcome<Verdict> {
        let (unit, simulation) = self.both(&mutant.name)?;
        println!("{}: {} | {}", mutant.name, word(unit.as_ref()), word(simulation.as_ref()));
        Ok(Verdict { mutant: mutant.clone(), unit, simulation })
    }

    /// The unit test that notices a mutant, and what the simulation says of it, where they do.
    fn both(&self, mutant: &str) -> Outcome<(Option<String>, Option<String>)> {
        // Unit tests mostly wait.
        let (unit, soak) = std::thread::scope(|scope| {
            let unit = scope.spawn(|| self.unit(mutant));
            let soak = self.soak(mutant);
            (unit.join(), soak)
        });
        let unit = unit.map_err(|_| "a thread of the unit tests panicked".to_owned())??;
        match soak? {
            None if unit.is_none() && !mutant.is_empty() => Ok((None, self.others(mutant)?)),
            soak => Ok((unit, soak)),
        }
    }

    /// The unit test that notices a mutant, if one does.
    fn unit(&self, mutant: &str) -> Outcome<Option<String>> {
        let mut command = Command::new(&self.program);
        // Flows are none of the list's files, and their tests take as long as the machine likes.
        command.args(["--skip", "simulation::", "--skip", "flow::"]);
        let told = ended(command.env(VARIABLE, mutant), &format!("{mutant}.unit"))?;
        Ok(told.map(|text| failed_test(&text)))
    }

    /// The seed that notices it, and what it says.
    fn soak(&self, mutant: &str) -> Outcome<Option<String>> {
        let mut soak = Command::new(&self.program);
        soak.args(["--exact", "simulation::tests::soak_seeds", "--nocapture"]);
        soak.env("PLIMSOLL_SOAK_SEEDS", self.seeds.to_string());
        soak.env("PLIMSOLL_SOAK_BROKEN", "1");
        Ok(ended(soak.env(VARIABLE, mutant), &format!("{mutant}.soak"))?
            .map(|text| failed_seed(&text)))
    }

    /// Another test of the simulation that notices it. What its thousand seeds see, the soak saw.
    fn others(&self, mutant: &str) -> Outcome<Option<String>> {
        let mut others = Command::new(&self.program);
        others.args([
            "--include-ignored", "simulation::", "--skip", "soak_seeds", "--skip",
            "whatever_goes_wrong",
        ]);
        Ok(ended(others.env(VARIABLE, mutant), &format!("{mutant}.others"))?
            .map(|text| failed_test(&text)))
    }
}

/// Runs tests; what they wrote where they failed or did not end.
fn ended(command: &mut Command, what: &str) -> Outcome<Option<String>> {
    let output = shell::target_dir()?.join("mutants/fleet").join(what);
    let file = std::fs::File::create(&output).map_err(shell::at(&output))?;
    let both = file.try_clone().map_err(shell::at(&output))?;
    // What tests leave behind where they run stays in the copy.
    command.current_dir(shell::target_dir()?.join("mutants/fleet/tree"));
    command.stdin(Stdio::null()).stdout(file).stderr(both).env("RUST_BACKTRACE", "0");
    let mut child =
        command.spawn().map_err(|error| format!("{}: {error}", shell::line(command)))?;
    let status = wait(&mut child)?;
    let text =
        String::from_utf8_lossy(&std::fs::read(&output).map_err(shell::at(&output))?).into_owned();
    Ok(match status {
        None => Some(format!("{text}\nits tests never end")),
        Some(status) if status.success() => None,
        Some(_) => Some(text),
    })
}

/// How a program ended; `None` where it had to be killed.
fn wait(child: &mut Child) -> Outcome<Option<ExitStatus>> {
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(Some(status)),
            Ok(None) if began.elapsed() > LONGEST => {
                let killed = child.kill().and_then(|()| child.wait());
                return killed.map(|_| None).map_err(|error| format!("the tests: {error}"));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(50)),
            Err(error) => return Err(format!("the tests: {error}")),
        }
    }
}

/// The first test that failed, by its name.
fn failed_test(text: &str) -> String {
    let failed = |line: &str| {
        let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
        Some(format!("`{name}`"))
    };
    let mut names: Vec<String> = text.lines().filter_map(failed).collect();
    names.sort();
    names.into_iter().next().unwrap_or_else(|| last_words(text))
}

/// The seed that broke an invariant and which one, or what has to be seen and was not.
fn failed_seed(text: &str) -> String {
    let is_seed = |line: &&str| line.starts_with("seed ") && line.contains(": ");
    if let Some(line) = text.lines().find(is_seed) {
        let what = line.split("; see it with").next().unwrap_or(line);
        return cut(what);
    }
    let panicked = text.lines().skip_while(|line| !line.contains("panicked at"));
    let what = panicked.skip(1).find(|line| !line.trim().is_empty());
    what.map_or_else(|| last_words(text), |what| cut(&format!("panics: {}", what.trim())))
}

fn last_words(text: &str) -> String {
    cut(text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it ended in silence"))
}

/// At most so much of it as fits into a table, without what is a table's own.
fn cut(text: &str) -> String {
    const MOST: usize = 110;
    let clean = text.replace('|', "/");
    match clean.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &clean[..end]),
        None => clean,
    }
}

/// The table, and how many of them which tests notice.
fn table(verdicts: &[Verdict], seeds: u64) -> String {
    let count =
        |is: &dyn Fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| is(verdict)).count();
    let (unit, simulation) =
        (count(&|one| one.unit.is_some()), count(&|one| one.simulation.is_some()));
    let dead = count(&|one| one.unit.is_some() || one.simulation.is_some());
    let mut text = format!(
        "{dead} of {} die: {unit} by unit tests, {simulation} by simulation ({seeds} seeds; \
         its other tests where nothing else notices a fault).\n\n\
         | mutant | fault | a unit test that notices it | what the simulation says |\n\
         |---|---|---|---|\n",
        verdicts.len()
    );
    for Verdict { mutant, unit, simulation } in verdicts {
        text.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            mutant.name,
            mutant.what.trim_end_matches('.'),
            word(unit.as_ref()),
            word(simulation.as_ref())
        ));
    }
    text
}

fn word(killed: Option<&String>) -> &str {
    killed.map_or("–", String::as_str)
}

/// Builds the tests of a copy that has every mutant, and says where they are.
fn build(mutants: &[Mutant]) -> Outcome<PathBuf> {
    let own = shell::target_dir()?.join("mutants/fleet");
    let tree = own.join("tree");
    copy(&tree, mutants)?;
    let mut cargo = shell::cargo();
    cargo.current_dir(&tree).env("CARGO_TARGET_DIR", own.join("target"));
    cargo.args(["test", "--locked", "--package", "fleet", "--lib"]);
    shell::build_tests(&mut cargo)
}

/// Makes the copy. A file that is as it has to be stays untouched, so that it is not built again.
fn copy(tree: &Path, mutants: &[Mutant]) -> Outcome<()> {
    let mut git = Command::new("git");
    git.current_dir(shell::root()).args(["ls-files", "--cached", "--others", "-z"]);
    let files = shell::capture(git.arg("--exclude-standard"))?;
    for file in files.split('\0').filter(|file| !file.is_empty()) {
        let from = shell::root().join(file);
        // What git knows may be gone, or be a link.
        let Ok(mut bytes) = std::fs::read(&from) else { continue };
        let original = bytes.clone();
        if file.starts_with("crates/fleet/") && file.ends_with(".rs") {
            let text = String::from_utf8(bytes).map_err(|_| format!("{file} is no text"))?;
            bytes = mutated(file, text, mutants)?.into_bytes();
        }
        let to = tree.join(file);
        if std::fs::read(&to).is_ok_and(|old| old == bytes) {
            continue;
        }
        let folder = to.parent().unwrap_or(tree);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&to, &bytes))
            .and_then(|()| if bytes == original { keep_time(&from, &to) } else { Ok(()) })
            .map_err(shell::at(&to))?;
    }
    Ok(())
}

/// Gives a copy the time of its original, so that what was built of that is not built again.
fn keep_time(from: &Path, to: &Path) -> std::io::Result<()> {
    let changed = from.metadata()?.modified()?;
    std::fs::File::options().write(true).open(to)?.set_modified(changed)
}

/// A file with all its mutants, each behind its switch.
fn mutated(file: &str, mut text: String, mutants: &[Mutant]) -> Outcome<String> {
    for mutant in mutants.iter().filter(|mutant| mutant.file == file) {
        if text.matches(&mutant.find).count() != 1 {
            return Err(format!(
                "{LIST}: {}: what it finds does not stand in {file} exactly once; write it anew",
                mutant.name
            ));
        }
        let switch = format!("crate::is_mutant(\"{}\")", mutant.name);
        text = text.replacen(&mutant.find, &mutant.replace.replace(SWITCH, &switch), 1);
    }
    if file == "crates/fleet/src/lib.rs" {
        text.push_str(&format!(
            "\n/// Whether this mutant is on.\npub(crate) fn is_mutant(name: &str) -> bool {{\n    \
             static ON: std::sync::OnceLock<String> = std::sync::OnceLock::new();\n    \
             ON.get_or_init(|| std::env::var(\"{VARIABLE}\").unwrap_or_default()) == name\n}}\n"
        ));
    }
    Ok(text)
}

fn list(text: &str) -> Outcome<Vec<Mutant>> {
    let table: toml::Table = text.parse().map_err(|error| format!("{LIST}: {error}"))?;
    let all = table.get("mutant").and_then(toml::Value::as_array);
    let mutants = all.ok_or_else(|| format!("{LIST} has no [[mutant]]"))?;
    mutants.iter().map(one).collect()
}

fn one(value: &toml::Value) -> Outcome<Mutant> {
    let field = |name: &str| {
        let text = value.get(name).and_then(toml::Value::as_str).filter(|text| !text.is_empty());
        text.map(str::to_owned)
            .ok_or_else(|| format!("{LIST}: a mutant without `{name}`: {value:?}"))
    };
    Ok(Mutant {
        name: field("name")?,
        what: field("what")?,
        file: field("file")?,
        find: field("find")?,
        replace: field("replace")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_mutant_of_the_list_fits_the_code_and_has_its_switch() {
        let all = list(&kept::read(LIST).expect("the list")).expect("mutants");
        let names: BTreeSet<&str> = all.iter().map(|mutant| mutant.name.as_str()).collect();
        assert!(all.len() >= 20 && names.len() == all.len(), "{} of {}", names.len(), all.len());
        for mutant in &all {
            let text = kept::read(&mutant.file).expect("a file of the fleet");
            mutated(&mutant.file, text, &all).unwrap_or_else(|why| panic!("{why}"));
            assert!(mutant.replace.contains(SWITCH), "{}", mutant.name);
        }
    }

    #[test]
    fn what_is_told_of_a_dead_mutant_is_its_test_or_its_seed() {
        let text = "test b::c ... ok\ntest a::b ... FAILED\ntest a::a ... FAILED\n";
        assert_eq!(failed_test(text), "`a::a`");
        let text = "thread x panicked at a.rs:1:2:\nseed 7: host 0 | x; see it with `y`\n";
        assert_eq!(failed_seed(text), "seed 7: host 0 / x");
        let text = "thread x panicked at a.rs:1:2:\na host owes\nnote: run";
        assert_eq!(failed_seed(text), "panics: a host owes");
        assert_eq!(failed_test("x\nits tests never end"), "its tests never end");
    }
}
