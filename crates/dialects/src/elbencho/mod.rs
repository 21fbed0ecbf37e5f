//! elbencho: command lines and configuration files.

mod suite;

use crate::import::{Import, ImportError, MOST_OPTIONS};
use crate::loss::{Losses, OptionId, Verdict};
use crate::rows::{Given, Reads, Row, Table, Takes, Values, unknown};
use crate::words::line::Line;
use crate::words::values::{self, Notation};
use std::sync::LazyLock;

/// elbencho's options.
pub static OPTIONS: LazyLock<Table> =
    LazyLock::new(|| Table::read(include_str!("../elbencho/options.txt")));

/// What the options of elbencho say.
struct Elbencho {
    values: Values,
    /// Directories, files and devices.
    paths: Vec<(String, OptionId)>,
}

impl Elbencho {
    fn new() -> Elbencho {
        Elbencho { values: Values::of(&OPTIONS), paths: Vec::new() }
    }
}

impl Reads for Elbencho {
    fn values(&mut self) -> &mut Values {
        &mut self.values
    }

    fn notation(&self) -> Notation {
        Notation::BINARY
    }

    fn decide(&mut self, row: &Row, given: &Given) -> Result<Verdict, String> {
        match row.slot {
            Some("varied") if self.values.number("varied") == Some(1_000_000) => {
                Ok(Verdict::same("no two blocks are alike"))
            }
            Some("verify") if self.values.number("verify") == Some(0) => {
                self.values.forget("verify");
                Ok(Verdict::same("nothing is checked"))
            }
            Some(_) => Ok(row.verdict(&given.value)),
            None => {
                let all = values::ranged_list(&given.value)?;
                for one in &all {
                    self.paths.push((values::plain_text(one)?, given.id));
                }
                match all.iter().all(|one| one.starts_with("/dev/")) {
                    true => Ok(Verdict::same("targets")),
                    false => Ok(row.verdict(&given.value)),
                }
            }
        }
    }
}

/// The words behind `elbencho`, which begin at `first`.
///
/// # Errors
/// No phase is among them.
pub fn command(words: &[String], first: usize) -> Result<Import, ImportError> {
    let mut losses = Losses::default();
    let mut job = Elbencho::new();
    let line = Line { tool: "elbencho", words, first, bare: |_| Some("path") };
    line.read(OPTIONS.chapter("Options"), &mut job, &mut losses);
    suite::import("command", "a command line", &job, losses)
}

/// A configuration file: `option=value`.
///
/// # Errors
/// It names no phase.
pub fn file(name: &str, text: &str) -> Result<Import, ImportError> {
    let mut losses = Losses::default();
    let mut job = Elbencho::new();
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
        let (key, value) = (key.trim(), value.trim().to_owned());
        let id = losses.tell(key, &value, &place, Verdict::harmless(""));
        let dashed = format!("--{}", key.trim_start_matches('-'));
        let verdict = match OPTIONS.find(&dashed) {
            Some(row) if row.takes == Takes::Flag && values::flag(&value) == Ok(false) => {
                Verdict::harmless("it is switched off")
            }
            Some(row) => row.apply(&mut job, &Given { id, value }),
            None => unknown(OPTIONS.rows(), "elbencho", &dashed),
        };
        losses.replace(id, verdict);
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
    keys.iter().any(is_phase) && keys.iter().all(|key| OPTIONS.find(&format!("--{key}")).is_some())
}
