//! What goes into an import, and what comes out of it.

use crate::loss::{Class, Losses, ReportedOption};
use serde::Serialize;
use std::fmt;

/// No source is larger, with all that it includes.
pub const MOST_BYTES: usize = 1 << 20;

/// No source has more options.
pub const MOST_OPTIONS: usize = 50_000;

/// What a source may ask for while it is read.
pub struct World<'a> {
    /// The text of an included file, by the name that the source gives it.
    pub file: &'a dyn Fn(&str) -> Result<String, String>,
    /// The value of a variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

/// Words of jobs that a variable may hold.
const WORDS: [&str; 16] = [
    "read",
    "write",
    "rw",
    "readwrite",
    "randread",
    "randwrite",
    "randrw",
    "trim",
    "randtrim",
    "trimwrite",
    "libaio",
    "io_uring",
    "posixaio",
    "psync",
    "pvsync",
    "sync",
];

/// No number of a job is longer, lists of some included.
const LONGEST_NUMBER: usize = 24;

/// Whether a text is a number with its unit, a list of some, or a word of a job.
fn is_number_or_word(text: &str) -> bool {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit())
        && text.len() <= LONGEST_NUMBER
        && text.split([',', ':', '/', '-']).all(|part| {
            let unit = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            unit.len() <= 3 && unit.chars().all(|c| c.is_ascii_alphabetic() || c == '%')
        });
    is_number || WORDS.contains(&text)
}

impl World<'_> {
    /// The value of a variable of the environment, where it is a number or a word of a job. A job
    /// may be anybody's: no other text of this environment goes into a suite.
    pub fn plain_variable(&self, name: &str) -> Option<String> {
        (self.variable)(name).filter(|value| is_number_or_word(value))
    }

    /// No file and no variable.
    pub const NOTHING: World<'static> =
        World { file: &|_| Err("no file is at hand".to_owned()), variable: &|_| None };
}

impl fmt::Debug for World<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("World")
    }
}

/// A suite that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SuiteText {
    /// Its name.
    pub name: String,
    /// Its TOML text.
    pub text: String,
}

/// A source in Plimsoll's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Import {
    /// The dialect that it was read as.
    pub dialect: &'static str,
    /// Every option of the source, in its order, and what became of it.
    pub options: Vec<ReportedOption>,
    /// The suites.
    pub suites: Vec<SuiteText>,
    /// The variables of the environment that were read, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
}

impl Import {
    /// What was made of a source in this dialect.
    pub fn new(dialect: &'static str, losses: Losses, suites: Vec<SuiteText>) -> Import {
        Import { dialect, options: losses.into_all(), suites, variables: Vec::new() }
    }

    /// The options that were refused.
    pub fn refused(&self) -> impl Iterator<Item = &ReportedOption> {
        self.options.iter().filter(|told| told.class == Class::Refused)
    }
}

/// Why a source could not be read at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError {
    /// File and line, or the number of a word.
    pub place: String,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl ImportError {
    /// This is wrong there; do this.
    pub fn new(
        place: impl Into<String>,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> ImportError {
        ImportError { place: place.into(), what: what.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.what, self.remedy)
    }
}

impl std::error::Error for ImportError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_environment_only_numbers_and_words_of_jobs_are_taken() {
        for good in ["8", "4k", "4k,8k", "1.5Gi", "50%", "10/90", "300s", "1-4", "randread"] {
            assert!(is_number_or_word(good), "{good}");
        }
        for bad in ["", "hunter2", "/mnt/x", "4k; touch x", "12ab34cd", "k", "8\n9"] {
            assert!(!is_number_or_word(bad), "{bad}");
        }
    }
}
