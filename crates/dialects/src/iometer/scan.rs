//! A configuration of Iometer as entries. A line that begins with `'` names what the lines below
//! it hold; where it names several things, they are parted by commas in both.

use crate::import::{ImportError, MOST_OPTIONS};

/// The parts of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// `TEST SETUP`
    Setup,
    /// `RESULTS DISPLAY`
    Display,
    /// `ACCESS SPECIFICATIONS`
    Specifications,
    /// `MANAGER LIST`
    Managers,
}

/// A thing that is named, with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it stands.
    pub section: Section,
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// File and line.
    pub place: String,
}

/// No name or value is longer, in bytes.
const MOST_LINE: usize = 4_000;

/// Whether a text is a configuration: what Iometer prints of results has other heads.
pub fn detect(text: &str) -> bool {
    let begins = |wanted: &str| text.lines().any(|line| line.trim_start().starts_with(wanted));
    begins("'ACCESS SPECIFICATIONS ===") || (begins("'TEST SETUP ===") && begins("'MANAGER LIST"))
}

/// All entries in their order.
///
/// # Errors
/// A line is too long, or there are too many.
pub fn entries(file: &str, text: &str) -> Result<Vec<Entry>, ImportError> {
    let (mut all, mut section, mut heads) = (Vec::new(), None, Vec::new());
    for (number, line) in text.lines().enumerate() {
        let place = format!("{file}:{}", number + 1);
        if line.len() > MOST_LINE || all.len() > MOST_OPTIONS {
            let what = format!("it has a line of more than {MOST_LINE} bytes, or too many lines");
            return Err(ImportError::new(place, what, "name a file that Iometer saved"));
        }
        let line = line.trim();
        let Some(head) = line.strip_prefix('\'') else {
            if let (Some(section), false) = (section, line.is_empty()) {
                all.extend(values(section, &heads, line, &place));
            }
            continue;
        };
        match part(head) {
            Some(found) => (section, heads) = (found, Vec::new()),
            // A line of words in columns explains the one above it.
            None if head.starts_with(char::is_whitespace) => {}
            None if head.to_ascii_lowercase().starts_with("end ") => heads = Vec::new(),
            None => heads = head.split(',').map(|name| name.trim().to_owned()).collect(),
        }
    }
    Ok(all)
}

/// The section that a line begins (`Some(Some(…))`) or ends.
fn part(head: &str) -> Option<Option<Section>> {
    let title = head.split("==").next().unwrap_or_default().trim();
    match title {
        "TEST SETUP" => Some(Some(Section::Setup)),
        "RESULTS DISPLAY" => Some(Some(Section::Display)),
        "ACCESS SPECIFICATIONS" => Some(Some(Section::Specifications)),
        "MANAGER LIST" => Some(Some(Section::Managers)),
        "END test setup"
        | "END results display"
        | "END access specifications"
        | "END manager list" => Some(None),
        _ => None,
    }
}

/// The values of a line: one for each name, or all for the one that there is.
fn values(section: Section, heads: &[String], line: &str, place: &str) -> Vec<Entry> {
    let entry = |name: &str, value: &str| Entry {
        section,
        name: name.to_owned(),
        value: value.split_whitespace().collect::<Vec<_>>().join(" "),
        place: place.to_owned(),
    };
    match heads {
        [] => vec![entry("", line)],
        [one] => vec![entry(one, line)],
        // The name of a specification may hold commas; its assignment is the last word.
        [first, second] => {
            let (value, last) = match first.as_str() {
                "Manager ID" => line.split_once(',').unwrap_or((line, "")),
                _ => line.rsplit_once(',').unwrap_or((line, "")),
            };
            vec![entry(first, value), entry(second, last)]
        }
        heads => {
            let cells: Vec<&str> = line.split(',').collect();
            let mut all: Vec<Entry> =
                heads.iter().zip(&cells).map(|(head, cell)| entry(head, cell.trim())).collect();
            let more = cells.get(heads.len()..).unwrap_or_default();
            all.extend(more.iter().map(|cell| entry("", cell.trim())));
            all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_their_values_are_put_together() {
        let text = "Version 1.1.0 \n'TEST SETUP ====\n'Run Time\n'\thours      minutes    seconds\n\
                    \t0          5          0\n'END test setup\n'ACCESS SPECIFICATIONS ===\n\
                    'Access specification name,default assignment\n\tdatabase, 8k,NONE\n\
                    'size,% of size,% reads\n\t8192,100,67\n'END access specifications\n";
        assert!(detect(text));
        let all = entries("a.icf", text).expect("good");
        let words: Vec<(&str, &str)> =
            all.iter().map(|entry| (entry.name.as_str(), entry.value.as_str())).collect();
        assert_eq!(
            words,
            [
                ("Run Time", "0 5 0"),
                ("Access specification name", "database, 8k"),
                ("default assignment", "NONE"),
                ("size", "8192"),
                ("% of size", "100"),
                ("% reads", "67"),
            ]
        );
        assert_eq!(all[0].place, "a.icf:5");
    }

    #[test]
    fn a_line_without_an_end_is_refused() {
        let text = format!("'TEST SETUP ===\n{}", "x".repeat(10_000));
        let error = entries("a.icf", &text).expect_err("too long");
        assert_eq!(error.place, "a.icf:2");
    }
}
