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

impl World<'_> {
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
}

impl Import {
    /// What was made of a source in this dialect.
    pub fn new(dialect: &'static str, losses: Losses, suites: Vec<SuiteText>) -> Import {
        Import { dialect, options: losses.into_all(), suites }
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
