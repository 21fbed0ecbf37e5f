//! elbencho: command lines and configuration files.

mod options;
mod suite;

pub use options::{Elbencho, OPTIONS};

use crate::import::{Import, ImportError, MOST_OPTIONS};
use crate::loss::{Losses, Verdict};
use crate::mpi::line::split;
use crate::table::{Given, find, unknown};

/// The words behind `elbencho`, which begin at `first`.
///
/// # Errors
/// There are too many words, or no phase among them.
pub fn command(words: &[String], first: usize) -> Result<Import, ImportError> {
    if words.len() > MOST_OPTIONS {
        let what = format!("the command has more than {MOST_OPTIONS} words");
        return Err(ImportError::new("command", what, "take some out"));
    }
    let mut losses = Losses::default();
    let mut job = Elbencho::default();
    let mut number = first;
    while number < words.len() {
        let word = &words[number];
        let place = format!("word {}", number + 1);
        number += 1;
        if !word.starts_with('-') {
            option("path", word, &place, &mut job, &mut losses);
            continue;
        }
        let next = words.get(number).map(String::as_str);
        let (options, took) = split(word, next, |name| {
            let takes = |option: &crate::table::Opt<Elbencho>| {
                !matches!(option.takes, crate::table::Takes::Flag | crate::table::Takes::Nothing)
            };
            find(&[OPTIONS], name).map(takes)
        });
        number += usize::from(took);
        for (name, value) in options {
            option(&name, &value, &place, &mut job, &mut losses);
        }
    }
    suite::import("command", "a command line", &job, losses)
}

/// A configuration file: `option=value`.
///
/// # Errors
/// It names no phase.
pub fn file(name: &str, text: &str) -> Result<Import, ImportError> {
    let mut losses = Losses::default();
    let mut job = Elbencho::default();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let place = format!("{name}:{}", number + 1);
        if line.is_empty() {
            continue;
        }
        if losses.len() >= MOST_OPTIONS {
            return Err(ImportError::new(place, "there are too many options", "take some out"));
        }
        let (key, value) = line.split_once('=').unwrap_or((line, "true"));
        option(key.trim(), value.trim(), &place, &mut job, &mut losses);
    }
    suite::import(name, name, &job, losses)
}

/// Whether a text is a configuration file: it has nothing but options, a phase among them.
pub fn detect(text: &str) -> bool {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let keys: Vec<&str> = lines
        .filter(|line| !line.is_empty())
        .map(|line| line.split('=').next().unwrap_or(line).trim())
        .collect();
    let is_phase = |key: &&str| ["write", "read", "stat", "mkdirs", "delfiles"].contains(key);
    keys.iter().any(is_phase)
        && keys.iter().all(|key| find(&[OPTIONS], &format!("--{key}")).is_some())
}

fn option(name: &str, value: &str, place: &str, job: &mut Elbencho, losses: &mut Losses) {
    let id = losses.tell(name, value, place, Verdict::harmless(""));
    let dashed = match name.starts_with('-') {
        true => name.to_owned(),
        false => format!("--{name}"),
    };
    let is_off = ["false", "0", "no", "off"].contains(&value);
    let verdict = match find(&[OPTIONS], &dashed) {
        Some(option) if is_off && option.takes == crate::table::Takes::Flag => {
            Verdict::harmless("it is switched off")
        }
        Some(option) => option.apply(job, &Given { id, value: value.to_owned() }),
        None => unknown(&[OPTIONS], "elbencho", &dashed),
    };
    losses.replace(id, verdict);
}
