//! Runs against the first of them, in words: what the terminal, the page and JSON say alike.

pub(crate) mod glance;
mod host_cpu;
mod json;
pub(crate) mod page;
pub(crate) mod side_by_side;
mod table;

pub use host_cpu::table as host_cpu_table;
pub use json::json;
pub(crate) use json::{named, outcome, point as compared, unlike};
pub use table::{ComparisonStyle, table};

use crate::ground::emphasis::{self, Emphasis};
use crate::ground::words;
use analysis::Interval;
use analysis::compare::{
    Against, ComparedPoint, Comparison, Condition, Difference, Key, Load, MOST_NEEDED, Metric,
    Unlike, Verdict,
};
use model::Record;

pub(crate) fn run_name(names: &[String], run: usize) -> String {
    names.get(run).cloned().unwrap_or_else(|| format!("Run {}", run + 1))
}

pub(crate) fn sides(against: &Against, names: &[String]) -> (String, String) {
    match &against.scenarios {
        Some((base, other)) => (base.clone(), other.clone()),
        None => (run_name(names, 0), run_name(names, against.run)),
    }
}

/// Which two sides are compared: `A: before · B: after`, with their suites where these differ.
pub(crate) fn title(against: &Against, records: &[&Record], names: &[String]) -> String {
    let (base, other) = sides(against, names);
    let suite = |run: usize| records.get(run).map_or("?", |record| record.plan.suite.as_str());
    if against.scenarios.is_none() && suite(0) != suite(against.run) {
        return format!("A: {base} ({}) · B: {other} ({})", suite(0), suite(against.run));
    }
    format!("A: {base} · B: {other}")
}

pub(crate) fn metric(metric: Metric) -> &'static str {
    match metric {
        Metric::Iops => "IOPS",
        Metric::Bandwidth => "bandwidth",
        Metric::Mean => "mean latency",
        Metric::CpuPerIo => "CPU per request",
        Metric::OfLatency => "deviation of latency",
        Metric::OverTime => "deviation over time",
        Metric::OverHosts => "deviation over hosts",
        Metric::Told => "told rate",
        Metric::ToldBandwidth => "told bandwidth",
        Metric::ToldMean => "told mean latency",
        Metric::ToldP99 => "told p99",
        quantile => quantile.word(),
    }
}

/// The same of a point: operations on files have a rate, but no IOPS.
pub(crate) fn metric_of(point: &ComparedPoint, of: Metric) -> &'static str {
    match of {
        Metric::Iops => words::rate_unit(point.is_metadata),
        other => metric(other),
    }
}

pub(crate) fn value(metric: Metric, value: f64) -> String {
    match metric.measured() {
        Metric::Iops => words::iops(value),
        Metric::Bandwidth => words::bandwidth(value),
        Metric::OfLatency | Metric::OverTime | Metric::OverHosts => words::share(value),
        _ => words::latency(Some(value.round() as u64)),
    }
}

/// `+3.2 %`, with as many digits as it takes to tell small differences from none.
pub(crate) fn percent(value: f64) -> String {
    // What rounds to nothing has no sign.
    let sign = match value {
        v if v.abs() < 0.05 => "",
        v if v < 0.0 => "−",
        _ => "+",
    };
    match value.abs() {
        size if size >= 999.5 => format!("{sign}{} %", words::count(size.min(1e15).round() as u64)),
        size if size >= 99.95 => format!("{sign}{size:.0} %"),
        size => format!("{sign}{size:.1} %"),
    }
}

pub(crate) fn interval(interval: Option<Interval>) -> String {
    match interval {
        Some(interval) => {
            let low = percent(interval.low);
            format!("{} to {}", low.trim_end_matches(" %"), percent(interval.high))
        }
        None => "no interval".to_owned(),
    }
}

pub(crate) fn verdict(found: &Difference) -> &'static str {
    match (tone(found), found.verdict) {
        (Some(Tone::Better), _) => "better",
        (Some(Tone::Worse), _) => "worse",
        (None, Verdict::NotKnown) => "not known",
        (None, Verdict::NotDecided { .. }) => "not decided",
        (None, _) => "no significant difference",
    }
}

/// `not decided: 3 repetitions; 5 would`.
pub(crate) fn not_decided(point: &ComparedPoint, needed: Option<u64>) -> String {
    let (base, other) = point.repetitions;
    let have = match base == other {
        true => words::counted(base as u64, "repetition"),
        false => format!("{base} and {other} repetitions"),
    };
    match needed {
        Some(needed) => format!("not decided: {have}; {needed} would"),
        None => format!("not decided: {have}; {MOST_NEEDED} would not do"),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// For the better.
    Better,
    /// For the worse.
    Worse,
}

impl Tone {
    pub(crate) fn marked(self, words: &str) -> String {
        let emphasis = match self {
            Tone::Better => Emphasis::Better,
            Tone::Worse => Emphasis::Worse,
        };
        emphasis::marked(emphasis, words)
    }
}

/// Which way `found` went; `None` where no difference is known.
pub(crate) fn tone(found: &Difference) -> Option<Tone> {
    let more_is_better = found.metric.more_is_better();
    match found.verdict {
        Verdict::Higher if more_is_better => Some(Tone::Better),
        Verdict::Lower if !more_is_better => Some(Tone::Better),
        Verdict::Higher | Verdict::Lower => Some(Tone::Worse),
        Verdict::NoDifference | Verdict::NotDecided { .. } | Verdict::NotKnown => None,
    }
}

pub(crate) fn point(key: &Key) -> String {
    let mut text = key.workload.clone();
    if !key.sweep.is_empty() {
        text.push_str(&format!(" ({})", words::sweep(&key.sweep, None)));
    }
    text
}

/// What has to be known of a point before its differences are read.
pub(crate) fn remarks(point: &ComparedPoint) -> Vec<String> {
    let mut found: Vec<String> =
        point.unlike.iter().map(|unlike| said(unlike, "the point")).collect();
    let is_told = |found: &Difference| matches!(found.verdict, Verdict::Higher | Verdict::Lower);
    let rate_differs =
        point.differences.iter().any(|found| found.metric == Metric::Iops && is_told(found));
    match (point.load, point.one_finding && rate_differs) {
        (Load::EqualDepth, true) => found.push(
            "Equal depth: with the same number of requests outstanding, rate and mean latency \
             are one finding (Little's law), not two. Compare at an equal rate, too."
                .to_owned(),
        ),
        (Load::EqualDepth, false) => {
            found.push("Equal depth: both had the same number of requests outstanding.".to_owned());
        }
        (Load::EqualRate, _) if point.rate_missed => found.push(
            "Equal rate, but not both kept it: latencies then include the wait in a queue that \
             grows for as long as the load lasts. Compare at a rate that both keep."
                .to_owned(),
        ),
        (Load::EqualRate, _) => {
            found.push("Equal rate: the rate is given, the latency is the finding.".to_owned());
        }
        (Load::Unequal, _) => {}
    }
    let is_of_tool = |found: &&Difference| found.metric.measured() != found.metric;
    found.extend(point.differences.iter().filter(is_of_tool).map(|one| {
        let say = |of| value(one.metric, of);
        let (name, by) = (metric(one.metric), percent(one.percent));
        format!("By the command's word: {name} {} → {} ({by}).", say(one.base), say(one.other))
    }));
    let single = point.repetitions.0 == 1 || point.repetitions.1 == 1;
    found.push(match point.repetitions {
        _ if point.differences.is_empty() => return found,
        (1, 1) => {
            "One measurement of each: the intervals include chance within a run, but not from \
                   run to run. Repeat both to include it."
                .to_owned()
        }
        (base, other) if single => {
            format!(
                "{base} and {other} measurements: how far chance moves a figure from run to run \
                 is known of one side only."
            )
        }
        (base, _) if point.paired => {
            format!("{} in turns, compared in pairs.", words::counted(base as u64, "repetition"))
        }
        (base, other) => format!("{base} and {other} repetitions."),
    });
    found
}

pub(crate) fn said(unlike: &Unlike, whole: &str) -> String {
    let values = format!("{}: {} against {}", unlike.what, unlike.base, unlike.other);
    match unlike.refused {
        true => format!("Not compared, because {whole} is not the same. {values}."),
        false => format!("Differs in {values}."),
    }
}

/// What has to be known of both runs once: one seed, and caches that may hold what it leads to.
fn again(other: &Against) -> Option<String> {
    other.reads_again.then(|| {
        "Both read the same blocks in the same order, by one seed: a cache below the target may \
         have held for B what A read. Give each run a seed of its own (--set seed=2)."
            .to_owned()
    })
}

/// What has to be known of both runs before any point of them.
pub(crate) fn of_runs(other: &Against) -> Vec<String> {
    let whole = other.unlike.iter().map(|unlike| said(unlike, "the run"));
    let missing = [again(other), only(&other.only_base, "A has"), only(&other.only_other, "B has")];
    whole.chain(missing.into_iter().flatten()).collect()
}

/// `4k-read (depth=8) read`.
pub(crate) fn name(key: &Key) -> String {
    format!("{} {}", point(key), key.ops.name())
}

/// What only one of the two sides has, as a sentence.
fn only(keys: &[Key], side: &str) -> Option<String> {
    let names: Vec<String> = keys.iter().map(name).collect();
    (!names.is_empty()).then(|| format!("Only {side}: {}.", words::first_of(&names, 8, ", ")))
}

/// What meets a condition of `--fail-if`, as a line: the condition, the point with its values of
/// the sweep, and the difference.
pub fn met(condition: &Condition, run: usize, key: &Key, found: &Difference) -> String {
    let by = percent(found.percent);
    format!("fail-if   {condition}: {} of run {}: {by}", name(key), run + 1)
}

/// Whether there is a figure to read at all: points that are alike in nothing have none.
pub fn has_differences(comparison: &Comparison) -> bool {
    comparison
        .others
        .iter()
        .flat_map(|other| &other.points)
        .any(|point| !point.differences.is_empty())
}

pub(crate) const LEGEND: &str = "Differences are in percent of A, with their 95 % interval. \
    Intervals and verdicts are corrected for the number of figures (Holm). Where nothing differs, \
    at most 5 % of comparisons report a difference of rate or p99, and at most 5 % one of any \
    other figure. An interval that includes 0 is no significant difference.";
