//! What became of each option of a source: the loss report.

use model::printable;
use serde::Serialize;
use std::collections::BTreeSet;

/// What became of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// The suite means the same.
    Same,
    /// It changes nothing that is measured here.
    Harmless,
    /// The suite comes near to it.
    Approximated,
    /// The suite does without it.
    Refused,
}

impl Class {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Class::Same => "same",
            Class::Harmless => "harmless",
            Class::Approximated => "approximated",
            Class::Refused => "refused",
        }
    }
}

/// A class and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The class.
    pub class: Class,
    /// What it became, what differs, why it is harmless, or what Plimsoll would need.
    pub why: String,
}

impl Verdict {
    /// The suite means the same, in this field.
    pub fn same(field: impl Into<String>) -> Verdict {
        Verdict { class: Class::Same, why: field.into() }
    }

    /// It changes nothing here, for this reason.
    pub fn harmless(why: impl Into<String>) -> Verdict {
        Verdict { class: Class::Harmless, why: why.into() }
    }

    /// The suite comes near to it; this is what differs.
    pub fn near(differs: impl Into<String>) -> Verdict {
        Verdict { class: Class::Approximated, why: differs.into() }
    }

    /// The suite does without it; this is what Plimsoll would need.
    pub fn refused(needs: impl Into<String>) -> Verdict {
        Verdict { class: Class::Refused, why: needs.into() }
    }
}

impl Verdict {
    /// The same of a value that is not to be shown: why it is none may quote it.
    pub fn unquoted(self) -> Verdict {
        match self.class {
            Class::Refused => Verdict::refused("its value means nothing here; see its file"),
            _ => self,
        }
    }
}

/// What stands for a line of an included file that is no option: its words may be anybody's.
pub const UNSHOWN: &str = "(a line)";

/// An option of the source and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportedOption {
    /// Its name, as the source writes it.
    pub name: String,
    /// Its value, as the source writes it.
    pub value: String,
    /// Where it is: file and line, or the number of the word on a command line.
    pub place: String,
    /// What became of it.
    pub class: Class,
    /// The reason.
    pub why: String,
}

impl ReportedOption {
    /// The option as the comments of a suite name it.
    pub fn source(&self) -> String {
        let sign = match (self.value.is_empty(), self.name.starts_with('-')) {
            (true, _) => "",
            (false, true) => " ",
            (false, false) => "=",
        };
        let more = if self.value.chars().count() > MOST_QUOTED { "…" } else { "" };
        let value: String = self.value.chars().take(MOST_QUOTED).collect();
        let plain: String = format!("{} {}{sign}{value}{more}", self.place, self.name)
            .chars()
            .map(|c| if printable::acts(c) { ' ' } else { c })
            .collect();
        plain
    }
}

/// A comment quotes no more of a value.
const MOST_QUOTED: usize = 32;

/// Every option of a source, in its order, and the reasons that were said of each beside its first.
/// An option has one verdict; a graver one takes its place.
#[derive(Debug, Default)]
pub struct Losses(Vec<ReportedOption>, BTreeSet<(usize, String)>);

/// One option of a source, by its number in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionId(usize);

impl OptionId {
    /// Its number in the report.
    pub fn number(self) -> usize {
        self.0
    }
}

impl Losses {
    /// Reports an option.
    pub fn tell(&mut self, name: &str, value: &str, place: &str, verdict: Verdict) -> OptionId {
        self.0.push(ReportedOption {
            name: name.to_owned(),
            value: value.to_owned(),
            place: place.to_owned(),
            class: verdict.class,
            why: verdict.why,
        });
        OptionId(self.0.len() - 1)
    }

    fn told(&mut self, id: impl Into<Option<OptionId>>) -> Option<&mut ReportedOption> {
        self.0.get_mut(id.into()?.0)
    }

    /// What is known now that the whole source is read: the graver verdict stays, and of two that
    /// are near both are said. Where no option
    /// was given, nothing is said, here as below.
    pub fn worsen(&mut self, id: impl Into<Option<OptionId>>, verdict: Verdict) {
        let Some(id) = id.into() else { return };
        let Some(told) = self.0.get_mut(id.0) else { return };
        if verdict.class > told.class {
            told.class = verdict.class;
            told.why = verdict.why;
        } else if verdict.class == told.class && told.class == Class::Approximated {
            let is_new = told.why != verdict.why && self.1.insert((id.0, verdict.why.clone()));
            told.why.extend(is_new.then(|| format!("; {}", verdict.why)));
        }
    }

    /// The same where nothing of weight was said before.
    pub fn decide(&mut self, id: impl Into<Option<OptionId>>, verdict: Verdict) {
        let id = id.into();
        match self.told(id) {
            Some(told) if told.class == Class::Harmless => self.replace(id, verdict),
            _ => self.worsen(id, verdict),
        }
    }

    /// The same where the first verdict was no more than a guess. What was refused stays so: an
    /// option of all jobs is refused where one of them cannot have it.
    pub fn replace(&mut self, id: impl Into<Option<OptionId>>, verdict: Verdict) {
        let Some(told) = self.told(id) else { return };
        if told.class == Class::Refused {
            return;
        }
        told.class = verdict.class;
        told.why = verdict.why;
    }

    /// An option as comments name it; empty where none was given.
    pub fn source(&self, id: impl Into<Option<OptionId>>) -> String {
        let told = id.into().and_then(|id| self.0.get(id.0));
        told.map(ReportedOption::source).unwrap_or_default()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn into_all(self) -> Vec<ReportedOption> {
        self.0
    }
}
