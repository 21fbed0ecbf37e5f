//! What a gate says, in words: on the terminal, in a summary of a pipeline, and for machines.

mod json;
mod junit;
mod markdown;

pub use json::json;
pub use junit::{MARK as JUNIT_MARK, junit};
pub use markdown::{annotation, markdown};

use super::compare::{metric, percent, point};
use crate::ground::words;
use analysis::Interval;
use analysis::gate::{Answer, Judged, Subject, Terms};
use model::Nanos;

/// A gate that has ended.
#[derive(Clone, Debug)]
pub struct Told<'a> {
    /// The base and the head, as the user named them.
    pub sides: [&'a str; 2],
    /// What was to be found.
    pub terms: Terms,
    /// What was watched.
    pub subjects: &'a [Subject],
    /// What is known of each.
    pub judged: &'a [Judged],
    /// What all of it says.
    pub answer: Answer,
    /// What was run.
    pub runs: Runs,
    /// How long all took.
    pub took: Nanos,
    /// How long it could take at most.
    pub budget: Nanos,
}

/// What was run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Runs {
    /// Base and head in turns, in an order that follows from the seed.
    Pairs {
        /// How many pairs.
        pairs: usize,
        /// From which the order follows.
        seed: u64,
        /// How long a pair took, on average.
        each: Nanos,
    },
    /// Runs that were recorded before.
    Recorded {
        /// Runs of the base.
        base: usize,
        /// Runs of the head.
        head: usize,
        /// How long a run of the head took, on average; `None` where it was recorded, too.
        each: Option<Nanos>,
    },
}

/// `randread read IOPS`.
pub fn subject(subject: &Subject) -> String {
    match subject {
        Subject::CommandTime => "command time".to_owned(),
        Subject::Figure { key, is_metadata, metric: of } => {
            let figure = match of {
                analysis::compare::Metric::Iops => words::rate_unit(*is_metadata),
                other => metric(*other),
            };
            format!("{} {} {figure}", point(key), key.ops.name())
        }
    }
}

/// `−1.2 % (95 %: −2.3 to −0.4 %)`.
pub fn change(judged: &Judged) -> String {
    let Some(value) = judged.percent else { return "unknown".to_owned() };
    format!("{} ({}: {})", percent(value), words::share(judged.confidence), range(judged.interval))
}

fn range(interval: Interval) -> String {
    match (interval.low > -99.9, interval.high.is_finite()) {
        (true, true) => {
            let low = percent(interval.low);
            format!("{} to {}", low.trim_end_matches(" %"), percent(interval.high))
        }
        (true, false) => format!("at least {}", percent(interval.low)),
        (false, true) => format!("at most {}", percent(interval.high)),
        (false, false) => "no bound yet".to_owned(),
    }
}

/// What can be said of one figure.
pub fn verdict(answer: Answer) -> &'static str {
    match answer {
        Answer::NoChange => "no change",
        Answer::Regression => "regression",
        Answer::Improvement => "improvement",
        Answer::CannotTell => "cannot tell",
    }
}

/// The size of change that is to be found: `3 %`.
fn detect(told: &Told<'_>) -> String {
    format!("{} %", told.terms.detect_percent)
}

/// The answer in one line, without a full stop.
pub fn headline(told: &Told<'_>) -> String {
    let figures: Vec<String> = told
        .subjects
        .iter()
        .zip(told.judged)
        .filter(|(_, judged)| judged.answer == told.answer)
        .map(|(of, judged)| format!("{} {}", subject(of), change(judged)))
        .collect();
    match told.answer {
        Answer::NoChange => format!("no change as large as {}", detect(told)),
        Answer::CannotTell => format!("cannot tell: {}", limits(told)),
        other => format!("{}: {}", verdict(other), figures.join("; ")),
    }
}

fn limits(told: &Told<'_>) -> String {
    let unknown = told.judged.iter().filter(|judged| judged.answer == Answer::CannotTell);
    let unknown: Vec<&Judged> = unknown.collect();
    let seen: Option<Vec<f64>> = unknown.iter().map(|judged| judged.visible_percent).collect();
    let seen = seen.and_then(|all| all.into_iter().reduce(f64::max));
    let needed: Option<Vec<u64>> = unknown.iter().map(|judged| judged.needed).collect();
    let needed = needed.and_then(|all| all.into_iter().max());
    let seen = match (seen, told.runs) {
        (Some(seen), Runs::Pairs { .. }) => {
            format!("this machine sees {} in {}", plain(seen), told.took)
        }
        (Some(seen), Runs::Recorded { .. }) => format!("these runs show {}", plain(seen)),
        (None, Runs::Pairs { pairs, .. }) => {
            let verb = if pairs == 1 { "is" } else { "are" };
            format!("{} {verb} too few", words::counted(pairs as u64, "pair"))
        }
        (None, Runs::Recorded { .. }) => "nobody knows how far these runs stray".to_owned(),
    };
    format!("{seen}; {}", would_take(told, needed))
}

fn would_take(told: &Told<'_>, needed: Option<u64>) -> String {
    let time = |runs: u64, each: Nanos| Nanos(each.0.saturating_mul(runs));
    match (needed, told.runs) {
        (Some(needed), Runs::Pairs { pairs, .. }) if needed <= pairs as u64 => {
            "the change lies about half way, and a larger --budget may decide".to_owned()
        }
        (Some(needed), Runs::Pairs { each, .. }) => {
            format!("{} would take {}", detect(told), time(needed, each))
        }
        (Some(needed), Runs::Recorded { head, each: Some(each), .. }) if needed > head as u64 => {
            format!("{} would take {}", detect(told), time(needed, each))
        }
        (Some(needed), Runs::Recorded { head, .. }) if needed > head as u64 => {
            format!("{} would take {} of the head", detect(told), words::counted(needed, "run"))
        }
        (None, Runs::Pairs { .. }) => "raise --budget".to_owned(),
        (None, Runs::Recorded { .. }) => {
            "record more runs of the base, or give both sides as commands".to_owned()
        }
        _ => "give both sides as commands, to run them in turns".to_owned(),
    }
}

/// `8 %`, `0.4 %`: a size without a sign.
fn plain(value: f64) -> String {
    if value >= 9.5 { format!("{value:.0} %") } else { format!("{value:.1} %") }
}

/// What was run, and how long it took.
pub fn effort(told: &Told<'_>) -> String {
    let took = told.took;
    match told.runs {
        Runs::Pairs { pairs, seed, .. } => {
            format!("{} in {took}; seed {seed}", words::counted(pairs as u64, "pair"))
        }
        Runs::Recorded { base, head, .. } => {
            format!(
                "{} of the base, {} of the head, in {took}",
                words::counted(base as u64, "run"),
                words::counted(head as u64, "run")
            )
        }
    }
}

/// The answer as a terminal shows it.
pub fn text(told: &Told<'_>) -> String {
    let mut text = format!("{}\n", headline(told));
    let names: Vec<String> = told.subjects.iter().map(subject).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (name, judged) in names.iter().zip(told.judged) {
        text.push_str(&format!(
            "  {name:width$}  {}  {}\n",
            change(judged),
            verdict(judged.answer)
        ));
    }
    text.push_str(&format!("{}\n", effort(told)));
    text
}

#[cfg(test)]
mod tests;
