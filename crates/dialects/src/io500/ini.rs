//! The text of an io500.ini: sections, keys and values.

use super::section::{Config, Section};
use super::suite;
use crate::import::{Import, ImportError, MOST_OPTIONS};
use crate::loss::{Losses, Verdict};
use crate::rows::{Given, unknown};

/// Whether a section of this name is IO500's alone.
fn is_phase(section: &str) -> bool {
    !["global", "debug"].contains(&section) && Section::of(section).is_some()
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

/// A configuration of IO500 as a suite.
///
/// # Errors
/// It is no configuration of IO500.
pub fn file(name: &str, text: &str) -> Result<Import, ImportError> {
    let mut losses = Losses::default();
    let mut config = Config::new();
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
    if !config.sections.contains_key(section)
        && let Some(new) = Section::of(section)
    {
        config.sections.insert(section.to_owned(), new);
    }
    let Some(known) = config.sections.get_mut(section) else {
        let shown: String = section.chars().take(40).collect();
        let why = format!("IO500 has no section `{shown}` that Plimsoll knows");
        losses.replace(id, Verdict::refused(why));
        return;
    };
    match known.find(key) {
        Some(_) if value.is_empty() => {}
        Some(row) => {
            let given = Given { id, value: value.to_owned() };
            let verdict = known.misplaced(section, row);
            losses.replace(id, verdict.unwrap_or_else(|| row.apply(known, &given)));
        }
        None => losses.replace(id, unknown(known.chapter.rows.iter(), "IO500", key)),
    }
}
