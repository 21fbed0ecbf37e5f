//! A command line with options of one letter, and the launcher before it.

use super::job::Ranks;
use crate::import::{ImportError, MOST_OPTIONS};
use crate::loss::{Losses, Verdict};
use crate::table::{Given, Opt, Takes, find, unknown};

/// Launchers, and their options for the number of ranks.
const LAUNCHERS: [&str; 8] =
    ["mpirun", "mpiexec", "mpiexec.hydra", "srun", "prun", "aprun", "jsrun", "orterun"];
const RANKS: [&str; 4] = ["-n", "-np", "--np", "--ntasks"];

/// The ranks that the launcher starts, and the number of the first word behind the program.
pub fn launcher(words: &[String], program: &str, losses: &mut Losses) -> (Ranks, usize) {
    let base = |word: &str| word.rsplit('/').next().unwrap_or(word).to_ascii_lowercase();
    let at = words.iter().position(|word| base(word) == program);
    let end = at.unwrap_or(0);
    let mut ranks = Ranks::default();
    let mut number = 0;
    while number < end {
        let word = words[number].as_str();
        let place = format!("word {}", number + 1);
        number += 1;
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let next = words.get(number).filter(|_| value.is_empty() && number < end);
        let value = if value.is_empty() { next.map_or("", String::as_str) } else { value };
        if RANKS.contains(&name) {
            number += usize::from(!word.contains('='));
            let count = value.parse().ok();
            let verdict = match count {
                Some(_) => Verdict::same("`workers`, with `spread = \"all-hosts\"`"),
                None => Verdict::refused(format!("`{value}` is no number of ranks")),
            };
            let id = losses.tell(name, value, &place, verdict);
            ranks = Ranks { count: count.or(ranks.count), from: losses.source(id) };
        } else if !LAUNCHERS.contains(&base(word).as_str()) {
            let why = "of the launcher: hosts are named with `--hosts` or `--slurm`";
            losses.tell(word, "", &place, Verdict::harmless(why));
        }
    }
    (ranks, at.map_or(0, |at| at + 1))
}

/// Reads the options behind the program into `job`.
pub fn read<J>(
    words: &[String],
    first: usize,
    table: &'static [Opt<J>],
    job: &mut J,
    tool: &str,
    losses: &mut Losses,
) -> Result<(), ImportError> {
    if words.len() > MOST_OPTIONS {
        let what = format!("the command has more than {MOST_OPTIONS} words");
        return Err(ImportError::new("command", what, "take some out"));
    }
    let mut number = first;
    while number < words.len() {
        let word = &words[number];
        let place = format!("word {}", number + 1);
        number += 1;
        let next = words.get(number).map(String::as_str);
        let takes = |option: &Opt<J>| !matches!(option.takes, Takes::Flag | Takes::Nothing);
        let (options, took) = split(word, next, |name| find(&[table], name).map(takes));
        number += usize::from(took);
        for (name, value) in options {
            let id = losses.tell(&name, &value, &place, Verdict::harmless(""));
            let verdict = match find(&[table], &name) {
                Some(option) => option.apply(job, &Given { id, value }),
                None => unknown(&[table], tool, &name),
            };
            losses.replace(id, verdict);
        }
    }
    Ok(())
}

/// A word as options with their values, and whether it took the next one. `takes` says of an option
/// whether it takes a value; `None` of what is none.
pub fn split(
    word: &str,
    next: Option<&str>,
    takes: impl Fn(&str) -> Option<bool>,
) -> (Vec<(String, String)>, bool) {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    if let Some(takes) = takes(name) {
        return match (takes, word.contains('='), next) {
            (true, false, Some(next)) => (vec![(name.to_owned(), next.to_owned())], true),
            _ => (vec![(name.to_owned(), value.to_owned())], false),
        };
    }
    let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
        return (vec![(name.to_owned(), value.to_owned())], false);
    };
    // `-i4`, `-wr`, and both together.
    let mut all = Vec::new();
    for (at, letter) in letters.char_indices() {
        let name = format!("-{letter}");
        let rest = &letters[at + letter.len_utf8()..];
        match takes(&name) {
            Some(true) if rest.is_empty() => {
                all.push((name, next.unwrap_or_default().to_owned()));
                return (all, next.is_some());
            }
            Some(true) => {
                all.push((name, rest.to_owned()));
                return (all, false);
            }
            Some(false) => all.push((name, String::new())),
            None => return (vec![(word.to_owned(), String::new())], false),
        }
    }
    (all, false)
}
