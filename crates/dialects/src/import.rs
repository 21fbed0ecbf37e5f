//! What goes into an import, and what comes out of it.

use crate::asked::{Asked, Quantity};
use crate::loss::{Class, Losses, ReportedOption, Verdict};
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
    /// The value of a variable of the environment. One that begins with `/` is given where it is
    /// the path of something that is there, and not else: it could be any text.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

/// Words of jobs that a variable may hold.
const WORDS: [&str; 16] = [
    "read", "write", "rw", "readwrite", "randread", "randwrite", "randrw", "trim", "randtrim",
    "trimwrite", "libaio", "io_uring", "posixaio", "psync", "pvsync", "sync",
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
    /// The value of a variable of the environment, where it is a number, a word of a job, or a
    /// path. A job may be anybody's: no other text of this environment goes into a suite.
    pub fn plain_variable(&self, name: &str) -> Option<String> {
        (self.variable)(name).filter(|value| is_number_or_word(value) || value.starts_with('/'))
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
    /// What the source asks for in quantities, of dialects that say so: to be laid beside the plans
    /// of the suites.
    #[serde(skip)]
    pub asked: Vec<Asked>,
}

impl Import {
    /// What was made of a source in this dialect.
    pub fn new(dialect: &'static str, losses: Losses, suites: Vec<SuiteText>) -> Import {
        let options = losses.into_all();
        Import { dialect, options, suites, variables: Vec::new(), asked: Vec::new() }
    }

    /// Says on the option which gave a quantity that the suite has another one. Where that option
    /// is no longer the same already, or another one is that says this quantity, it says both;
    /// where none was given, the whole job says it.
    pub fn differs(&mut self, asked: &Asked, quantity: Quantity, verdict: Verdict) {
        let Verdict { class, why } = verdict;
        let of = asked.options.iter().filter(|(of, _)| *of == quantity);
        let mut ids = of.map(|(_, id)| id.number()).filter(|id| *id < self.options.len());
        let first = ids.clone().next();
        let lost = ids.find(|id| self.options[*id].class >= Class::Approximated);
        match lost.or(first).map(|id| &mut self.options[id]) {
            Some(told) if told.class >= Class::Approximated => {
                told.class = told.class.max(class);
                told.why = format!("{}; {why}", told.why);
            }
            Some(told) => (told.class, told.why) = (class, why),
            None => {
                let (name, value) = ("(the job)".to_owned(), asked.workload.clone());
                let place = "as a whole".to_owned();
                self.options.push(ReportedOption { name, value, place, class, why });
            }
        }
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
