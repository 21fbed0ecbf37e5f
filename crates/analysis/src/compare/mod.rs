//! Is one run better than another, and can it be told?

pub(crate) mod comparable;
pub(crate) mod difference;
mod gate;
mod metric;

pub use comparable::{Load, Unlike};
pub use difference::visible_percent;
pub use gate::{Asked, BadCondition, Condition, Outcome};
pub use metric::Metric;

use crate::doubts::Warning;
use crate::estimate::{CONFIDENCE, Estimate, Interval};
use crate::rows::row::{Covers, Ops, ResultRow};
use model::plan::Work;
use model::plan::names::SCENARIO_AXIS;
use model::{Record, Setting};
use std::collections::{BTreeMap, BTreeSet};

/// At equal depth, rate × latency stays the same up to this share when they are one finding.
const ONE_FINDING: f64 = 0.03;

/// What makes points the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The scenario's label.
    pub scenario: String,
    /// The workload's name.
    pub workload: String,
    /// Axis and value of each sweep axis.
    pub sweep: Vec<Setting>,
    /// Which requests it counts.
    pub ops: Ops,
}

/// Runs against the first of them; or the scenarios of one run against its first.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// One for each run (or scenario) but the first, in their order.
    pub others: Vec<Against>,
}

/// One run against the base.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Against {
    /// Its number among the runs (or scenarios), from 0; the base is 0.
    pub run: usize,
    /// Where scenarios of one run are compared: the labels of the base and of this one.
    pub scenarios: Option<(String, String)>,
    /// In what it differs from the base as a whole. If any of it is refused, there are no points.
    pub unlike: Vec<Unlike>,
    /// Whether it read at random what the base had read, in the same order, and a cache may have
    /// held it.
    pub reads_again: bool,
    /// Points that both have, in the order of the base.
    pub points: Vec<ComparedPoint>,
    /// Points that only the base has.
    pub only_base: Vec<Key>,
    /// Points that only this run has.
    pub only_other: Vec<Key>,
}

/// A point that two runs have.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedPoint {
    /// Which one.
    pub key: Key,
    /// How much of its point it is.
    pub covers: Covers,
    /// Whether it is of operations on whole files.
    pub is_metadata: bool,
    /// In what its work differs. If any of it is refused, there are no differences.
    pub unlike: Vec<Unlike>,
    /// Repetitions of the base and of the other.
    pub repetitions: (usize, usize),
    /// Whether the repetitions ran in turns, and were compared in pairs.
    pub paired: bool,
    /// How the load compares.
    pub load: Load,
    /// At equal depth: whether rate and mean latency say the same thing twice.
    pub one_finding: bool,
    /// Whether a measurement of either side did not keep its fixed rate: its latencies then say
    /// how long it was.
    pub rate_missed: bool,
    /// The figures that both have, in the order of [`Metric::ALL`].
    pub differences: Vec<Difference>,
}

/// The difference of one figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Which figure.
    pub metric: Metric,
    /// The base's, in the metric's unit; the geometric mean of repetitions.
    pub base: f64,
    /// The other's.
    pub other: f64,
    /// The difference in percent of the base.
    pub percent: f64,
    /// Its 95 % interval, in percent, widened for all that is compared: it holds 0 exactly where
    /// no difference is found. `None` where the error is not known.
    pub interval: Option<Interval>,
    /// The probability that equals differ so much, corrected for all that is compared (Holm).
    /// `None` as before.
    pub chance: Option<f64>,
    /// The difference of logarithms as it was tested; `None` as before.
    pub(crate) test: Option<Estimate>,
    /// Whether every repetition of one side lies beyond every one of the other.
    pub(crate) is_apart: bool,
    /// What can be told.
    pub verdict: Verdict,
}

/// What can be told of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The other has more.
    Higher,
    /// The other has less.
    Lower,
    /// No difference can be told.
    NoDifference,
    /// Every repetition of one side lies beyond every one of the other, and they are too few to
    /// decide.
    NotDecided {
        /// So many repetitions of each side would decide, if they differed and strayed as these.
        /// `None` where more than [`MOST_NEEDED`] would.
        needed: Option<u64>,
    },
    /// Nobody knows: there are too few intervals and no repetitions.
    NotKnown,
}

/// More repetitions are not asked for.
pub const MOST_NEEDED: u64 = 1_000;

impl Verdict {
    /// Whether there are figures enough, and they may be chance.
    pub fn may_be_chance(self) -> bool {
        matches!(self, Verdict::NoDifference | Verdict::NotDecided { .. })
    }

    /// A stable word for machines.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Higher => "higher",
            Verdict::Lower => "lower",
            Verdict::NoDifference => "no-difference",
            Verdict::NotDecided { .. } => "not-decided",
            Verdict::NotKnown => "not-known",
        }
    }
}

/// Compares runs with the first of them, or the scenarios of a single run with its first. Empty
/// where there is nothing to compare.
pub fn compare(records: &[&Record]) -> Comparison {
    let rows: Vec<Vec<ResultRow>> = records.iter().map(|record| crate::results(record)).collect();
    compare_results(records, &rows)
}

/// Compares as [`compare`] does, for who has the [results](fn@crate::results) of each run already:
/// those of a day take a while.
pub fn compare_results(records: &[&Record], results: &[Vec<ResultRow>]) -> Comparison {
    let mut comparison = match (records, results) {
        ([one], [rows]) => scenarios(one, rows),
        (several, rows) => runs(several, rows.to_vec()),
    };
    judge(&mut comparison);
    comparison
}

fn runs(records: &[&Record], mut rows: Vec<Vec<ResultRow>>) -> Comparison {
    // Runs of one scenario each are what is compared, and not what makes points the same.
    let names: Vec<Vec<&str>> = records.iter().map(|record| record.plan.scenarios()).collect();
    if names.iter().all(|names| names.len() <= 1) && names.iter().any(|names| *names != ["default"])
    {
        rows.iter_mut().flatten().for_each(without_scenario);
    }
    one_name(&mut rows);
    let against = |run: usize| {
        let unlike = comparable::runs(records[0], records[run]);
        let mut against = Against::new(run, None, unlike);
        if !against.unlike.iter().any(|unlike| unlike.refused) {
            against.reads_again = comparable::reads_again(records[0], records[run], &rows[run]);
            against.fill(&rows[0], &rows[run]);
        }
        against
    };
    Comparison { others: (1..records.len().min(rows.len())).map(against).collect() }
}

/// Runs of one workload each that are alike but for its name meet: people name a run *before*, and
/// the next one *after*.
fn one_name(rows: &mut [Vec<ResultRow>]) {
    let plain = |row: &ResultRow| {
        let works = row.works.iter().cloned();
        works.map(|work| Work { workload: String::new(), ..work }).collect::<Vec<Work>>()
    };
    let Some(first) = rows.first().and_then(|rows| rows.first()).cloned() else { return };
    let is_one = |run: &Vec<ResultRow>| {
        let is_alike = |row: &ResultRow| plain(row) == plain(&first);
        run.first().is_some_and(|own| run.iter().all(|row| row.workload == own.workload))
            && run.iter().all(is_alike)
    };
    if rows.iter().all(is_one) {
        let all = rows.iter_mut().flatten();
        all.for_each(|row| row.workload.clone_from(&first.workload));
    }
}

/// The row as it would be in a suite without scenarios.
fn without_scenario(row: &mut ResultRow) {
    row.scenario.clear();
    row.sweep.retain(|setting| setting.axis() != SCENARIO_AXIS);
}

fn scenarios(record: &Record, rows: &[ResultRow]) -> Comparison {
    let mut sides: Vec<(String, Vec<ResultRow>)> = Vec::new();
    if rows.windows(2).all(|pair| pair[0].scenario == pair[1].scenario) {
        return Comparison { others: Vec::new() };
    }
    for mut row in rows.iter().cloned() {
        // What the sides are told apart by is no part of what makes points the same.
        let label = row.scenario.clone();
        without_scenario(&mut row);
        match sides.iter_mut().find(|(known, _)| *known == label) {
            Some((_, rows)) => rows.push(row),
            None => sides.push((label, vec![row])),
        }
    }
    let Some(((base, rows), others)) = sides.split_first() else {
        return Comparison { others: Vec::new() };
    };
    let against = |(index, (label, other)): (usize, &(String, Vec<ResultRow>))| {
        let unlike = match (rows.first(), other.first()) {
            (Some(base), Some(other)) => comparable::scenarios(record, base.stage, other.stage),
            _ => Vec::new(),
        };
        let mut against = Against::new(index + 1, Some((base.clone(), label.clone())), unlike);
        against.fill(rows, other);
        against
    };
    Comparison { others: others.iter().enumerate().map(against).collect() }
}

fn key(row: &ResultRow) -> Key {
    Key {
        scenario: row.scenario.clone(),
        workload: row.workload.clone(),
        sweep: row.sweep.clone(),
        ops: row.ops,
    }
}

/// Rows by what makes them the same, repetitions together, in the order of the run.
pub(crate) fn grouped(rows: &[ResultRow]) -> Vec<(Key, Vec<&ResultRow>)> {
    let mut groups: Vec<(Key, Vec<&ResultRow>)> = Vec::new();
    let mut places: BTreeMap<Key, usize> = BTreeMap::new();
    for row in rows {
        let key = key(row);
        let place = *places.entry(key.clone()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    groups
}

impl Against {
    fn new(run: usize, scenarios: Option<(String, String)>, unlike: Vec<Unlike>) -> Against {
        Against { run, scenarios, unlike, ..Against::default() }
    }

    fn fill(&mut self, base: &[ResultRow], other: &[ResultRow]) {
        let (base, other) = (grouped(base), grouped(other));
        let places: BTreeMap<&Key, &Vec<&ResultRow>> =
            other.iter().map(|(key, rows)| (key, rows)).collect();
        for (key, rows) in &base {
            match places.get(key) {
                // Only in one run do scenarios take turns, repetition by repetition; and there only
                // if the suite says so.
                Some(others) => {
                    let in_turns = self.scenarios.is_some() && took_turns(rows, others);
                    self.points.push(point(key, rows, others, in_turns));
                }
                None => self.only_base.push(key.clone()),
            }
        }
        let known: BTreeSet<&Key> = base.iter().map(|(key, _)| key).collect();
        let is_new = |key: &Key| !known.contains(key);
        self.only_other =
            other.iter().filter(|(key, _)| is_new(key)).map(|(key, _)| key.clone()).collect();
    }
}

/// Whether the repetitions of two sides ran as pairs: both sides of each before those of the next.
/// Then what drifts with time is in both alike.
fn took_turns(base: &[&ResultRow], other: &[&ResultRow]) -> bool {
    let later = |pair: (&&ResultRow, &&ResultRow)| pair.0.stage.max(pair.1.stage);
    let pairs: Vec<(&&ResultRow, &&ResultRow)> = base.iter().zip(other).collect();
    pairs.windows(2).all(|pair| later(pair[0]) < pair[1].0.stage.min(pair[1].1.stage))
}

fn point(key: &Key, base: &[&ResultRow], other: &[&ResultRow], turns: bool) -> ComparedPoint {
    let paired = turns && base.len() == other.len() && base.len() > 1;
    let (first, second) = (base[0], other[0]);
    let unlike = comparable::rows(first, second);
    let load = comparable::load(first, second);
    let refused = unlike.iter().any(|unlike| unlike.refused);
    let differences: Vec<Difference> = match refused {
        true => Vec::new(),
        false => Metric::ALL
            .into_iter()
            .filter_map(|metric| difference(metric, base, other, paired))
            .collect(),
    };
    let change =
        |metric| differences.iter().find(|found| found.metric == metric).map(|found| found.percent);
    let one_finding = load == Load::EqualDepth
        && change(Metric::Iops).zip(change(Metric::Mean)).is_some_and(|(rate, latency)| {
            ((1.0 + rate / 100.0) * (1.0 + latency / 100.0) - 1.0).abs() <= ONE_FINDING
        });
    ComparedPoint {
        key: key.clone(),
        covers: first.covers,
        is_metadata: first.is_metadata(),
        unlike,
        repetitions: (base.len(), other.len()),
        paired,
        load,
        one_finding,
        rate_missed: base.iter().chain(other).any(|row| has_missed_its_rate(row)),
        differences,
    }
}

fn has_missed_its_rate(row: &ResultRow) -> bool {
    row.warnings.iter().any(|warning| matches!(warning, Warning::RateMissed { .. }))
}

fn difference(
    metric: Metric,
    base: &[&ResultRow],
    other: &[&ResultRow],
    paired: bool,
) -> Option<Difference> {
    let logarithms = |rows: &[&ResultRow]| {
        rows.iter().map(|row| metric.value(row).map(f64::ln)).collect::<Option<Vec<f64>>>()
    };
    let (one, two) = (logarithms(base)?, logarithms(other)?);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let side = |rows: &[&ResultRow], values: &[f64]| -> Option<Estimate> {
        match rows {
            [row] => metric.ln_estimate(row),
            _ => difference::repeated(values),
        }
    };
    let in_pairs =
        || difference::paired(&one.iter().copied().zip(two.iter().copied()).collect::<Vec<_>>());
    let apart = || {
        side(base, &one)
            .zip(side(other, &two))
            .map(|(base, other)| difference::unpaired(base, other))
    };
    let ratio = if paired { in_pairs() } else { apart() };
    let ratio = ratio.unwrap_or_else(|| difference::bare(mean(&one), mean(&two)));
    let ratio = difference::no_surer_than(ratio, metric.resolution());
    Some(Difference {
        metric,
        base: mean(&one).exp(),
        other: mean(&two).exp(),
        percent: ratio.percent,
        interval: ratio.interval,
        chance: ratio.chance,
        test: ratio.test,
        is_apart: is_apart(&one, &two),
        verdict: Verdict::NotKnown,
    })
}

/// A factor that no chance is called: a tenth, as a logarithm.
const OBVIOUS: f64 = std::f64::consts::LN_10;

/// Whether every one of these logarithms lies beyond every other. Single measurements do so always:
/// they count if they differ by ten times.
fn is_apart(base: &[f64], other: &[f64]) -> bool {
    let ends = |values: &[f64]| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        (least, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((base_low, base_high), (low, high)) = (ends(base), ends(other));
    let between = (low - base_high).max(base_low - high);
    between > OBVIOUS || (between > 0.0 && base.len() > 1 && other.len() > 1)
}

/// The families of tests. Each is corrected by itself: rate and p99 answer whether a point is
/// better or worse, and all else says in what.
const FAMILIES: usize = 2;

/// The family of a difference; `None` for what follows from the rate. Bandwidth does, and at equal
/// depth the mean latency: what is one finding is tested once.
fn family(point: &ComparedPoint, found: &Difference) -> Option<usize> {
    match found.metric {
        Metric::Bandwidth => None,
        Metric::Mean if point.one_finding => None,
        metric => Some(usize::from(!metric.is_headline())),
    }
}

/// Corrects the probabilities for all that is compared, and says what can be told.
pub(crate) fn judge(comparison: &mut Comparison) {
    let mut families: [Vec<f64>; FAMILIES] = Default::default();
    for point in comparison.others.iter().flat_map(|other| &other.points) {
        for found in &point.differences {
            if let (Some(family), Some(chance)) = (family(point, found), found.chance) {
                families[family].push(chance);
            }
        }
    }
    let tests = families.each_ref().map(Vec::len);
    let mut adjusted = families.map(|chances| difference::holm(&chances).into_iter());
    for point in comparison.others.iter_mut().flat_map(|other| &mut other.points) {
        let of: Vec<Option<usize>> =
            point.differences.iter().map(|found| family(point, found)).collect();
        for (found, family) in point.differences.iter_mut().zip(&of) {
            if let Some(family) = family.filter(|_| found.chance.is_some()) {
                found.chance = adjusted[family].next();
            }
        }
        let rate = point
            .differences
            .iter()
            .find(|found| found.metric == Metric::Iops)
            .and_then(|found| found.chance);
        for (found, family) in point.differences.iter_mut().zip(of) {
            if family.is_none() && found.chance.is_some() {
                found.chance = rate.or(found.chance);
            }
            if let (Some(test), Some(chance)) = (found.test, found.chance) {
                found.interval = Some(difference::agreeing(test, chance));
            }
            let (base, other) = point.repetitions;
            found.verdict = verdict(found, base.min(other), tests[family.unwrap_or(0)]);
        }
    }
}

/// What can be told of one of so many `tests`, with so many `repetitions` of either side at least.
fn verdict(found: &Difference, repetitions: usize, tests: usize) -> Verdict {
    let Some(chance) = found.chance else { return Verdict::NotKnown };
    // What it follows may not make it surer than it is.
    let may_be_none = found.interval.is_some_and(|interval| interval.holds(0.0));
    match chance >= 1.0 - CONFIDENCE || may_be_none {
        true if found.is_apart => {
            let needed = |test| difference::needed(test, repetitions as u64, tests);
            let needed = found.test.and_then(needed);
            Verdict::NotDecided { needed }
        }
        true => Verdict::NoDifference,
        false if found.percent > 0.0 => Verdict::Higher,
        false => Verdict::Lower,
    }
}

#[cfg(test)]
mod tests;
