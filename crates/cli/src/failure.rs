//! What a user can mend: one line or a few, the remedy, and an exit code of the documented table.

use crate::files::caret;
use form::{Place, Problem, SpecErrors};
use model::printable;
use std::fmt::{self, Write};
use std::io::IsTerminal;
use std::process::ExitCode;
use suite::planner::{Refusal, RefusalKind};

#[derive(Debug)]
pub(crate) enum Failure {
    Usage(String),
    /// The same of a file that is shown with the places of its mistakes, in colours where these are
    /// wanted.
    Drawn(String),
    Target(String),
    /// Something of another tool's job was refused.
    Lost(String),
    Run(String),
    RunFile(String),
    Interrupted(String),
    Bug(String),
}

/// Requests failed, but the run is complete.
pub(crate) const REQUESTS_FAILED: u8 = 1;
/// A condition of `compare --fail-if` was met, the objective of `loadline` was not, or `gate` found
/// a regression.
pub(crate) const CONDITION_MET: u8 = 6;
/// `gate` does not know, or a condition of `--fail-if` could decide nothing.
pub(crate) const CANNOT_TELL: u8 = 9;
/// Data that a run left are missing or damaged.
pub(crate) const DATA_DAMAGED: u8 = 7;
/// Something of another tool's job was refused.
pub(crate) const LOST: u8 = 8;

impl Failure {
    pub(crate) fn usage(what: impl fmt::Display) -> Failure {
        Failure::Usage(format!("error: {what}"))
    }

    pub(crate) fn target(what: impl fmt::Display) -> Failure {
        Failure::Target(format!("error: {what}"))
    }

    pub(crate) fn run(what: impl fmt::Display) -> Failure {
        Failure::Run(format!("error: {what}"))
    }

    pub(crate) fn run_file(what: impl fmt::Display) -> Failure {
        Failure::RunFile(format!("error: {what}"))
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Failure::Usage(_) | Failure::Drawn(_) => 2,
            Failure::Target(_) => 3,
            Failure::Run(_) => 4,
            Failure::RunFile(_) => 5,
            Failure::Lost(_) => LOST,
            Failure::Bug(_) => 101,
            Failure::Interrupted(_) => 130,
        })
    }

    /// Every reason why a plan was refused; the gravest decides the code.
    pub(crate) fn refused(refusals: &[Refusal]) -> Failure {
        let mut lines: Vec<(String, usize)> = Vec::new();
        for refusal in refusals {
            let line = format!("error: {refusal}");
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, count)) => *count += 1,
                None => lines.push((line, 1)),
            }
        }
        let counted = |(line, count): &(String, usize)| match count {
            1 => line.clone(),
            count => format!("{line} ({count} times)"),
        };
        let text = lines.iter().map(counted).collect::<Vec<_>>().join("\n");
        match refusals.iter().all(|refusal| refusal.kind == RefusalKind::Usage) {
            true => Failure::Usage(text),
            false => Failure::Target(text),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(text)
            | Failure::Drawn(text)
            | Failure::Target(text)
            | Failure::Lost(text)
            | Failure::Run(text)
            | Failure::RunFile(text)
            | Failure::Bug(text)
            | Failure::Interrupted(text) => f.write_str(text),
        }
    }
}

pub(crate) fn suite_failure(errors: &SpecErrors) -> Failure {
    file_failure(errors, "the suite")
}

/// The same of a file that is called `what`.
pub(crate) fn file_failure(errors: &SpecErrors, what: &str) -> Failure {
    let fancy = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    Failure::Drawn(render(errors, what, fancy))
}

fn render(errors: &SpecErrors, what: &str, fancy: bool) -> String {
    let mut text = String::new();
    for (problem, others) in equal(&errors.problems) {
        let place = errors.sources.place(&problem.span);
        let (help, message) = (harmless(&problem.remedy), harmless(&problem.message));
        let message = match others.len() {
            0 => message,
            others => format!("{message} ({} times)", others + 1),
        };
        let (name, of) = (harmless(place.name), harmless(place.text));
        let shown = Place { name: &name, text: &of, span: place.span };
        text.push_str(&caret::drawn(&message, &help, &shown, fancy));
        if !others.is_empty() {
            let _ = writeln!(text, "  also at {}", places(errors, &others));
        }
    }
    let count = errors.problems.len();
    let mistakes = if count == 1 { "1 mistake".to_owned() } else { format!("{count} mistakes") };
    format!("{text}error: {mistakes} in {what}; nothing was touched")
}

/// The first of the mistakes that say the same, with the others.
fn equal(problems: &[Problem]) -> Vec<(&Problem, Vec<&Problem>)> {
    let mut all: Vec<(&Problem, Vec<&Problem>)> = Vec::new();
    for problem in problems {
        let is_same = |known: &Problem| {
            (&known.message, &known.remedy) == (&problem.message, &problem.remedy)
        };
        match all.iter_mut().find(|(known, _)| is_same(known)) {
            Some((_, others)) => others.push(problem),
            None => all.push((problem, Vec::new())),
        }
    }
    all
}

fn places(errors: &SpecErrors, problems: &[&Problem]) -> String {
    let place = |problem: &&Problem| {
        let place = errors.sources.place(&problem.span);
        let before = place.text.get(..place.span.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        format!("{}:{line}", harmless(place.name))
    };
    let first: Vec<String> = problems.iter().take(MOST_PLACES).map(place).collect();
    match problems.len() - first.len() {
        0 => first.join(", "),
        more => format!("{}, and {more} more", first.join(", ")),
    }
}

/// So many further places of one mistake are named.
const MOST_PLACES: usize = 8;

/// A text that may come from anybody, for a terminal: control characters would be orders to it.
/// Each is replaced by one of as many bytes, so that places in the text stay where they are.
fn harmless(text: &str) -> String {
    let plain = |c: char| match c.len_utf8() {
        _ if matches!(c, '\n' | '\t') || !printable::acts(c) => c,
        1 => '?',
        2 => '¿',
        _ => '\u{fffd}',
    };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_has_an_exit_code_of_its_own() {
        let of = |failure: Failure| format!("{:?}", failure.exit_code());
        assert_eq!(of(Failure::Bug(String::new())), format!("{:?}", ExitCode::from(101)));
        assert_ne!(of(Failure::Bug(String::new())), of(Failure::Run(String::new())));
    }

    #[test]
    fn equal_mistakes_are_one_with_a_count_and_their_places() {
        let one = |name: &str| format!("[[workload]]\nname = \"{name}\"\ndept = 4\n");
        let text: String = "abcdefg".chars().map(|name| one(&name.to_string())).collect();
        let errors = suite::Spec::parse("s.toml", &format!("name = \"s\"\n{text}"), &[]);
        let said = render(&errors.expect_err("dept is no field"), "the suite", false);
        assert_eq!(said.matches("is not a known field").count(), 1, "{said}");
        assert!(said.contains("is not a known field (7 times)"), "{said}");
        assert!(said.contains("also at s.toml:7, s.toml:10, s.toml:13"), "{said}");
        assert!(said.ends_with("error: 7 mistakes in the suite; nothing was touched"), "{said}");
    }

    #[test]
    fn a_terminal_gets_no_orders_and_places_stay() {
        let text = "a\u{1b}]0;owned\u{7}\u{9b}b\r\n\tç\u{202e}";
        let safe = harmless(text);
        assert_eq!(safe, "a?]0;owned?¿b?\n\tç\u{fffd}");
        assert_eq!(safe.len(), text.len());
    }
}
