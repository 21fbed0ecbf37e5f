//! The text of an io500.ini: sections, keys and values.

use super::options::{Config, DEBUG, EXTENDED, FIND, GLOBAL, IOR, MDTEST, Phase, Top};
use super::suite;
use crate::import::{Import, ImportError, MOST_OPTIONS};
use crate::loss::{Losses, Verdict};
use crate::table::{Given, Opt, unknown};

/// Whether a section of this name is IO500's alone.
fn is_phase(section: &str) -> bool {
    table_of(section).is_some_and(|table| !matches!(table, Table::Top(_)))
}

/// Whether a text is an io500.ini.
pub fn detect(text: &str) -> bool {
    let sections = text.lines().filter_map(section);
    let mut all = sections.map(str::to_ascii_lowercase);
    let mut keys = text.lines().filter_map(|line| line.split_once('='));
    all.any(|name| is_phase(&name)) || keys.any(|(key, _)| key.trim() == "datadir")
}

fn section(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix('[')?;
    rest.split_once(']').map(|(name, _)| name.trim())
}

enum Table {
    Top(&'static [Opt<Top>]),
    Phase(&'static [Opt<Phase>]),
}

fn table_of(section: &str) -> Option<Table> {
    Some(match section {
        "global" => Table::Top(GLOBAL),
        "debug" => Table::Top(DEBUG),
        "ior-easy" | "ior-easy-write" | "ior-easy-read" | "ior-hard" | "ior-hard-write"
        | "ior-hard-read" => Table::Phase(IOR),
        "find" => Table::Phase(FIND),
        "timestamp" | "find-easy" | "find-hard" => Table::Phase(EXTENDED),
        name if name.starts_with("mdtest-easy") || name.starts_with("mdtest-hard") => {
            Table::Phase(MDTEST)
        }
        name if name.starts_with("mdworkbench") || name.starts_with("ior-rnd") => {
            Table::Phase(EXTENDED)
        }
        _ => return None,
    })
}

/// A configuration of IO500 as a suite.
///
/// # Errors
/// It is no configuration of IO500.
pub fn file(name: &str, text: &str) -> Result<Import, ImportError> {
    let mut losses = Losses::default();
    let mut config = Config::default();
    let mut now = String::new();
    for (number, line) in text.lines().enumerate() {
        let place = format!("{name}:{}", number + 1);
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(section) = section(line) {
            now = section.to_ascii_lowercase();
            continue;
        }
        if losses.len() >= MOST_OPTIONS {
            return Err(ImportError::new(place, "there are too many options", "take some out"));
        }
        let Some((key, value)) = line.split_once('=') else {
            return Err(ImportError::new(
                place,
                "there is no `=` in the line",
                "write KEY = VALUE",
            ));
        };
        let value = value.split(['#', ';']).next().unwrap_or_default().trim();
        option(&now, key.trim(), value, &place, &mut config, &mut losses);
    }
    if losses.is_empty() {
        let remedy = "name an io500.ini";
        return Err(ImportError::new(name, "no option of IO500 is in it", remedy));
    }
    suite::import(name, &config, losses)
}

fn option(
    section: &str,
    key: &str,
    value: &str,
    place: &str,
    config: &mut Config,
    losses: &mut Losses,
) {
    let id = losses.tell(key, value, place, Verdict::harmless("not set: IO500's default holds"));
    let given = Given { id, value: value.to_owned() };
    let is_set = !value.is_empty();
    let verdict = match table_of(section) {
        Some(Table::Top(table)) => read(table, key, &given, is_set, &mut config.top),
        Some(Table::Phase(table)) => {
            let phase = config.phases.entry(section.to_owned()).or_default();
            read(table, key, &given, is_set, phase)
        }
        None => {
            let shown: String = section.chars().take(40).collect();
            Some(Verdict::refused(format!("IO500 has no section `{shown}` that Plimsoll knows")))
        }
    };
    if let Some(verdict) = verdict {
        losses.replace(id, verdict);
    }
}

/// `None` where nothing is set.
fn read<J>(
    table: &'static [Opt<J>],
    key: &str,
    given: &Given,
    is_set: bool,
    job: &mut J,
) -> Option<Verdict> {
    // IO500 compares names without regard to case.
    let is_it = |option: &&Opt<J>| {
        let mut names = std::iter::once(&option.name).chain(option.aliases);
        names.any(|name| name.eq_ignore_ascii_case(key))
    };
    match table.iter().find(is_it) {
        Some(option) => is_set.then(|| option.apply(job, given)),
        None => Some(unknown(&[table], "IO500", key)),
    }
}
