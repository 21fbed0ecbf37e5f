//! A comparison at a glance: one line for each point, and what has to be known of all of them once.

use super::{Tone, metric_of, name, not_decided, percent, remarks, tone, value, verdict};
use crate::ground::gather::grouped;
use crate::ground::words::counted;
use analysis::compare::{Against, ComparedPoint, Difference, Metric, Verdict};

/// One point in a line.
pub struct Line {
    /// The point with its operation.
    pub point: String,
    /// The rate of both sides, and its difference.
    pub rate: (String, String),
    /// The same of the p99.
    pub p99: (String, String),
    /// What can be told of it.
    pub verdict: String,
    /// Whether that is good (above 0), bad (below), or neither.
    pub tone: Option<Tone>,
    /// Whether any figure of it changed by more than chance.
    pub is_changed: bool,
}

/// The lines of a comparison.
pub fn lines(other: &Against) -> Vec<Line> {
    other.points.iter().map(line).collect()
}

/// The points of which something changed: they have details.
pub fn changed(other: &Against) -> impl Iterator<Item = &ComparedPoint> {
    other.points.iter().filter(|point| point.differences.iter().any(is_told))
}

/// Whether a difference is more than chance.
pub fn is_told(found: &Difference) -> bool {
    matches!(found.verdict, Verdict::Higher | Verdict::Lower)
}

/// `2 better, 1 worse`.
pub(crate) fn count(all: &[Line]) -> String {
    let count = |tone: Tone| all.iter().filter(|line| line.tone == Some(tone)).count();
    format!("{} better, {} worse", count(Tone::Better), count(Tone::Worse))
}

/// How many of the points changed, and in which direction.
pub fn answer(other: &Against) -> String {
    let all = lines(other);
    let changed = changed(other).count();
    let points = counted(all.len() as u64, "point");
    let verb = if changed == 1 { "differs" } else { "differ" };
    let is_known = !other.points.iter().all(is_unknown);
    match changed {
        0 if all_undecided(other).next().is_some() => not_decided_at(other, &points),
        0 if !is_known => "Cannot tell: too few samples. Measure longer, or repeat each run \
                                 (--set sweep.repetitions=5)."
            .to_owned(),
        0 if all.len() == 1 => "No significant difference.".to_owned(),
        0 => format!("No significant difference at any of {points}."),
        _ => format!("{changed} of {points} {verb}: {} in IOPS or p99.", count(&all)),
    }
}

/// What has to be known of the points: what holds for all of them once, the rest with its points.
pub fn notes(other: &Against) -> Vec<String> {
    let of_point = |compared: &ComparedPoint| {
        let name = name(&compared.key);
        remarks(compared).into_iter().map(move |said| (said, name.clone()))
    };
    let notes = grouped(other.points.iter().flat_map(of_point));
    let all = other.points.len();
    let said = |(remark, points): (String, Vec<String>)| match points.len() {
        some if some == all => remark,
        some if some > 4 => format!("{some} of {all} points: {remark}"),
        _ => format!("{}: {remark}", points.join(", ")),
    };
    notes.into_iter().map(said).collect()
}

fn line(compared: &ComparedPoint) -> Line {
    let of = |is: fn(Metric) -> bool| compared.differences.iter().find(|found| is(found.metric));
    let rate = of(|metric| metric == Metric::Iops);
    let p99 = of(|metric| metric.word() == "p99");
    let cells = |found: Option<&Difference>| match found {
        Some(found) => {
            let say = |of: f64| value(found.metric, of);
            (format!("{} → {}", say(found.base), say(found.other)), percent(found.percent))
        }
        None => ("–".to_owned(), "–".to_owned()),
    };
    let is_changed = compared.differences.iter().any(is_told);
    let (verdict, tone) = judged(compared, rate, p99);
    Line {
        point: name(&compared.key),
        rate: cells(rate),
        p99: cells(p99),
        verdict,
        tone,
        is_changed,
    }
}

/// Whether nothing can be told of rate and p99: too few samples have no interval.
fn is_unknown(compared: &ComparedPoint) -> bool {
    let mut counts = compared.differences.iter().filter(|found| found.metric.is_headline());
    counts.all(|one| one.verdict == Verdict::NotKnown)
}

/// What the rate or the p99 came to, where all its repetitions differ in one direction, too few to
/// decide, and nothing is told of the other: the figure, and how many would.
fn undecided(compared: &ComparedPoint) -> Option<(&Difference, Option<u64>)> {
    let counts = || compared.differences.iter().filter(|found| found.metric.is_headline());
    let found = counts().find_map(|found| match found.verdict {
        Verdict::NotDecided { needed } => Some((found, needed)),
        _ => None,
    });
    found.filter(|_| !counts().any(is_told))
}

fn all_undecided(other: &Against) -> impl Iterator<Item = (&Difference, Option<u64>)> {
    other.points.iter().filter_map(undecided)
}

fn not_decided_at(other: &Against, points: &str) -> String {
    let needed = all_undecided(other).map(|(_, needed)| needed);
    let remedy = match needed.reduce(|one, other| Some(one?.max(other?))).flatten() {
        Some(enough) => {
            format!("Repeat each run {enough} times (--set sweep.repetitions={enough}).")
        }
        None => "First find out why repetitions stray so far.".to_owned(),
    };
    let count = all_undecided(other).count();
    format!(
        "Not decided at {count} of {points}: all repetitions of one side lie beyond the other's, \
         and are too few. {remedy}"
    )
}

/// One word where rate and p99 agree, else what became of each.
fn judged(
    compared: &ComparedPoint,
    rate: Option<&Difference>,
    p99: Option<&Difference>,
) -> (String, Option<Tone>) {
    if compared.differences.is_empty() {
        return ("not compared".to_owned(), None);
    }
    let told: Vec<&Difference> =
        [rate, p99].into_iter().flatten().filter(|found| is_told(found)).collect();
    if let Some((found, needed)) = undecided(compared) {
        let (name, change) = (metric_of(compared, found.metric), percent(found.percent));
        let words = not_decided(compared, needed);
        return (format!("{name} {change}, {words}"), None);
    }
    let is_rate_unknown = rate.is_some_and(|rate| rate.verdict == Verdict::NotKnown);
    match told.as_slice() {
        [] => {
            let of_counts = match is_unknown(compared) {
                true => "not known",
                false if is_rate_unknown => "IOPS not known",
                false => "not significant",
            };
            let is_other = compared.differences.iter().any(is_told);
            let others = is_other.then_some("other figures changed");
            let first = (of_counts != "not significant" || !is_other).then_some(of_counts);
            (first.into_iter().chain(others).collect::<Vec<_>>().join("; "), None)
        }
        [one] => (format!("{} {}", metric_of(compared, one.metric), verdict(one)), tone(one)),
        [one, other] if tone(one) == tone(other) => (verdict(one).to_owned(), tone(one)),
        _ => {
            let each = told.iter();
            let each =
                each.map(|one| format!("{} {}", metric_of(compared, one.metric), verdict(one)));
            (each.collect::<Vec<_>>().join(", "), None)
        }
    }
}
