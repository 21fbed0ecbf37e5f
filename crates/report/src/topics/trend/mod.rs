//! A trend over runs, in words: what the terminal, the page and JSON say alike.

mod json;
mod page;
mod table;

pub use json::json;
pub use page::page;
pub use table::table;

use crate::ground::words;
use crate::topics::compare::{metric, percent, said};
use analysis::compare::Difference;
use analysis::trend::{ExcludedRun, Followed, LevelChange, Trend, TrendPoint, Why};
use model::Record;

/// A run as people call it, and what the record says.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// The name of its file.
    pub name: &'a str,
    /// What it recorded.
    pub record: &'a Record,
}

pub(crate) const LEGEND: &str = "A change is reported once three runs show it, if it is 5 % or \
     more. Of trends without a change, at most 5 % report one. A level is all runs since the last \
     change. The 95 % interval of the latest run includes how far single runs spread. Verdicts \
     are corrected for the number of figures (Holm): an interval just beside 0 may still be no \
     significant difference. CPU is that of the load generators, for each request.";

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

fn apart(apart: &ExcludedRun, runs: &[Named<'_>]) -> String {
    let name = runs.get(apart.run).map_or("?", |run| run.name);
    let why = match &apart.why {
        Why::NotComplete => "it did not come to its planned end.".to_owned(),
        Why::Again => "it is the same run again.".to_owned(),
        Why::Unlike(unlike) => {
            let all = unlike.iter().map(|unlike| {
                format!("{}: {} (latest: {})", unlike.what, unlike.other, unlike.base)
            });
            format!("it differs from the latest in {}.", all.collect::<Vec<_>>().join("; "))
        }
    };
    format!("{name} is set apart: {why}")
}

/// A change of level with the run where it begins, and what else changed with that run.
pub(crate) fn change(
    followed: &Followed,
    change: &LevelChange,
    trend: &Trend,
    runs: &[Named<'_>],
) -> String {
    let (here, before) =
        (run(trend, runs, change.at), change.at.checked_sub(1).and_then(|at| run(trend, runs, at)));
    let value = |value| crate::topics::compare::value(followed.metric, value);
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
        let mut all: Vec<String> =
            record.loaders().iter().map(|host| host.kernel.clone()).collect();
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

/// Every change of level of a point, with the figure that changed.
fn changes(here: &TrendPoint) -> impl Iterator<Item = (&Followed, &LevelChange)> {
    here.series.iter().flat_map(|followed| followed.changes.iter().map(move |one| (followed, one)))
}

pub(crate) fn latest<'a>(
    trend: &'a Trend,
    here: &'a TrendPoint,
) -> impl Iterator<Item = &'a Difference> {
    let mut points = trend.latest.others.iter().flat_map(|other| &other.points);
    points.find(|point| point.key == here.key).into_iter().flat_map(|point| &point.differences)
}

pub(crate) fn other_work(point: &TrendPoint, trend: &Trend, runs: &[Named<'_>]) -> Vec<String> {
    let sentence = |(place, unlike): &(usize, Vec<analysis::compare::Unlike>)| {
        let name = run(trend, runs, *place).map_or("?", |run| run.name);
        let why: Vec<String> = unlike.iter().map(|unlike| said(unlike, "the point")).collect();
        format!("{name}: {}", why.join(" "))
    };
    point.apart.iter().map(sentence).collect()
}

/// That so few runs cannot tell of a change, where none was told: level or not, they look the same
/// to the test.
pub(crate) fn few_runs(trend: &Trend) -> Option<String> {
    // Of 6 and 6 runs on two levels, 12 of 924 orders keep the levels in one piece, which is rare
    // enough for three figures at 5 %; of 5 and 6, 11 of 462 are not.
    const LEAST: usize = 12;
    let has_changes = trend.points.iter().flat_map(changes).next().is_some();
    (trend.runs.len() < LEAST && !has_changes).then(|| {
        format!(
            "{} are too few to show a change of level, however large: that takes about {LEAST}. \
             To compare two of them: `plimsoll compare A B`.",
            words::counted(trend.runs.len() as u64, "run")
        )
    })
}

/// What stands in the way of any trend, with the remedy; `None` where there is one.
pub fn nothing(trend: &Trend) -> Option<&'static str> {
    match trend.runs.len() {
        0 => Some("there is no complete run among these; name runs that came to their planned end"),
        1 => Some(
            "only one run is left, and a trend needs two; name more runs of this suite, scale and \
             testbed",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::reading;
    use analysis::trend::trend;

    fn night(number: u64, per_second: u64, kernel: &str) -> Record {
        let suite = "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n";
        let ios = |second| per_second + (second + number) * 7 % 11 + number * 5 % 7;
        let latencies = |second| (0..ios(second)).map(|n| 100_000 + n % 97 * 100).collect();
        let mut record = reading(suite, latencies);
        record.started_unix_ns += number * 86_400_000_000_000;
        record.testbed[0].kernel = kernel.to_owned();
        record
    }

    #[test]
    fn a_change_is_named_with_its_run_and_what_came_with_it() {
        let kernel = |number| if number < 9 { "Linux 6.12.0" } else { "Linux 6.18.0" };
        let mut records: Vec<Record> = (0..14)
            .map(|number| night(number, if number < 9 { 500 } else { 400 }, kernel(number)))
            .collect();
        records.push(records[3].clone());
        let names: Vec<String> =
            (0..15).map(|number| format!("<night-{number}>.plimsoll")).collect();
        let runs: Vec<Named<'_>> =
            names.iter().zip(&records).map(|(name, record)| Named { name, record }).collect();
        let found = trend(&records.iter().collect::<Vec<_>>());
        assert_eq!((nothing(&found), few_runs(&found)), (None, None));
        insta::assert_snapshot!(table(&found, &runs, None));
        let narrow = table(&found, &runs, Some(80));
        assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
        assert!(narrow.contains("Columns hidden for width: "), "{narrow}");
        let told = "since <night-9>.plimsoll, 2026-01-11 03:04:05 UTC; new with it: Linux 6.18.0 \
                    (was Linux 6.12.0).";
        let escaped = told.replace('<', "&lt;").replace('>', "&gt;");
        let page = page(&found, &runs);
        // IOPS, bandwidth and CPU per request, which is the same CPU over fewer; names are text in
        // a page.
        assert_eq!((page.matches(&escaped).count(), page.contains("<night")), (3, false), "{page}");
        assert_eq!(json(&found, &runs, &[])["points"][0]["figures"][0]["changes"][0]["run"], 9);
    }

    #[test]
    fn a_step_that_so_few_runs_cannot_tell_is_not_called_level() {
        let records: Vec<Record> = (0..7)
            .map(|number| night(number, if number < 4 { 500 } else { 400 }, "Linux"))
            .collect();
        let names: Vec<String> = (0..7).map(|number| format!("{number}.plimsoll")).collect();
        let runs: Vec<Named<'_>> =
            names.iter().zip(&records).map(|(name, record)| Named { name, record }).collect();
        let found = trend(&records.iter().collect::<Vec<_>>());
        let words = "7 runs are too few to show a change of level, however large";
        assert!(table(&found, &runs, None).contains(words) && page(&found, &runs).contains(words));
        assert!(!page(&found, &runs).contains("No figure changed its level"));
    }

    #[test]
    fn what_has_no_trend_says_what_to_do() {
        let record = night(0, 500, "Linux");
        assert!(nothing(&trend(&[])).is_some_and(|why| why.contains("no complete run")));
        assert!(nothing(&trend(&[&record, &record])).is_some_and(|why| why.contains("needs two")));
    }
}
