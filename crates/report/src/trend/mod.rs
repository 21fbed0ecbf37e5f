//! A trend over runs, in words: what the terminal, the page and JSON say alike.

mod json;
mod page;
mod table;

pub use json::json;
pub use page::page;
pub use table::table;

use crate::compare::{metric, percent, said};
use crate::words;
use analysis::trend::{Apart, Followed, LevelChange, Trend, Why};
use model::Record;

/// A run as people call it, and what the record says.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// The name of its file.
    pub name: &'a str,
    /// What it recorded.
    pub record: &'a Record,
}

/// How the figures are to be read.
pub(crate) const LEGEND: &str = "A change is told from three runs of the new level on, if it is 5 % or more: in at most 5 % of trends without any change one is told. The latest run is held against the runs since the last change; its 95 % interval holds what a further run strays by. CPU is that of the load generators per request.";

/// The run at a place of the trend.
pub(crate) fn run<'a>(trend: &Trend, runs: &[Named<'a>], place: usize) -> Option<Named<'a>> {
    runs.get(*trend.runs.get(place)?).copied()
}

/// `night-12.plimsoll, 2026-01-02 03:04:05 UTC`.
pub(crate) fn called(run: Named<'_>) -> String {
    format!("{}, {}", run.name, words::utc(run.record.started_unix_ns))
}

/// Which runs are set apart, and why: a sentence for each.
pub fn set_apart(trend: &Trend, runs: &[Named<'_>]) -> Vec<String> {
    trend.apart.iter().map(|found| apart(found, runs)).collect()
}

/// Why a run is set apart, as a sentence.
fn apart(apart: &Apart, runs: &[Named<'_>]) -> String {
    let name = runs.get(apart.run).map_or("?", |run| run.name);
    let why = match &apart.why {
        Why::NotComplete => "it did not come to its planned end.".to_owned(),
        Why::Again => "it is the same run again.".to_owned(),
        Why::Unlike(unlike) => {
            let all =
                unlike.iter().map(|unlike| format!("{}: {} (latest: {})", unlike.what, unlike.other, unlike.base));
            format!("it differs from the latest in {}.", all.collect::<Vec<_>>().join("; "))
        }
    };
    format!("{name} is set apart: {why}")
}

/// A change of level with the run where it begins, and what else changed with that run.
pub(crate) fn change(followed: &Followed, change: &LevelChange, trend: &Trend, runs: &[Named<'_>]) -> String {
    let (here, before) = (run(trend, runs, change.at), change.at.checked_sub(1).and_then(|at| run(trend, runs, at)));
    let value = |value| crate::compare::value(followed.metric, value);
    let mut text = format!(
        "{}: {} from {} to {} since {}",
        metric(followed.metric),
        percent(change.percent()),
        value(change.before),
        value(change.after),
        here.map_or_else(|| "?".to_owned(), called)
    );
    if let Some((before, here)) = before.zip(here) {
        let new = changed_with(before.record, here.record);
        if !new.is_empty() {
            text.push_str(&format!("; new with it: {}", new.join(", ")));
        }
    }
    format!("{text}.")
}

/// What is other in one run than in the one before, without being a reason to set it apart.
fn changed_with(before: &Record, here: &Record) -> Vec<String> {
    let kernels = |record: &Record| {
        let mut all: Vec<String> = record.testbed.iter().map(|host| host.kernel.clone()).collect();
        all.sort_unstable();
        all.dedup();
        all.join(", ")
    };
    let pairs = [(kernels(before), kernels(here)), (version(before), version(here))];
    pairs
        .into_iter()
        .filter(|(before, here)| before != here)
        .map(|(before, here)| format!("{here} (was {before})"))
        .collect()
}

fn version(record: &Record) -> String {
    format!("Plimsoll {}", record.version)
}

/// Runs in which the point did other work, as sentences.
pub(crate) fn other_work(point: &analysis::trend::TrendPoint, trend: &Trend, runs: &[Named<'_>]) -> Vec<String> {
    let sentence = |(place, unlike): &(usize, Vec<analysis::compare::Unlike>)| {
        let name = run(trend, runs, *place).map_or("?", |run| run.name);
        let why: Vec<String> = unlike.iter().map(|unlike| said(unlike, "the point")).collect();
        format!("{name}: {}", why.join(" "))
    };
    point.apart.iter().map(sentence).collect()
}

/// What stands in the way of any trend, with the remedy; `None` where there is one.
pub fn nothing(trend: &Trend) -> Option<&'static str> {
    match trend.runs.len() {
        0 => Some("there is no complete run among these; name runs that came to their planned end"),
        1 => Some("only one run is left, and a trend needs two; name more runs of this suite, scale and testbed"),
        _ => None,
    }
}
