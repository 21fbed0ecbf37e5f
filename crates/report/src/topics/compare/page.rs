//! The differences between runs: every figure with its interval, and what can be told of it.

use super::glance::{self, Line};
use super::host_cpu;
use super::table::{at_a_glance, differences};
use crate::ground::chart::{Group, Groups, Step};
use crate::ground::markup::{Markup, classed, list, list_of_any, plain, tiles};
use crate::ground::moment::latency_words;
use crate::ground::words as words_of;
use crate::pens::contents::folded;
use crate::topics::compare as words;
use analysis::ResultRow;
use analysis::compare::{Against, ComparedPoint, Comparison, Metric};
use model::Record;

/// The section of a comparison; nothing where there is nothing to compare.
pub fn section(
    comparison: &Comparison,
    runs: Runs<'_>,
    names: &[String],
    curves: Option<Markup>,
) -> Markup {
    let records = runs.records;
    if comparison.others.is_empty() {
        return Markup::new();
    }
    // Scenarios with nothing in common are parts of one run, and nobody asked to hold them against
    // each other.
    if records.len() == 1 && comparison.others.iter().all(|other| other.points.is_empty()) {
        return Markup::new();
    }
    let mut content = plain("h2", "Differences");
    let has_curves = curves.is_some();
    if let Some(curves) = curves {
        content.push(classed("div", "charts", curves));
    }
    for other in &comparison.others {
        content.push(against(other, runs, names, has_curves));
    }
    if words::has_differences(comparison) {
        content.push(classed("p", "remark", words::LEGEND));
    }
    plain("section", content)
}

/// The answer of two runs as tiles: the verdict, and the first point that differs.
pub(crate) fn headline(comparison: &Comparison) -> Markup {
    let [other] = comparison.others.as_slice() else { return Markup::new() };
    let lines = glance::lines(other);
    let Some(line) = lines.iter().find(|line| line.is_changed).or(lines.first()) else {
        return Markup::new();
    };
    let verdict = if lines.len() == 1 { line.verdict.clone() } else { glance::count(&lines) };
    let tile = |name: &str, (sides, change): &(String, String)| {
        [format!("{name}, A → B"), change.clone(), sides.clone(), line.point.clone()]
    };
    let answer = ["B against A".to_owned(), verdict, String::new(), glance::answer(other)];
    tiles([answer, tile("IOPS", &line.rate), tile("p99", &line.p99)])
}

/// The runs of a comparison with their results.
#[derive(Clone, Copy)]
pub struct Runs<'a> {
    /// The base first.
    pub records: &'a [&'a Record],
    /// Of each of them.
    pub results: &'a [Vec<ResultRow>],
}

fn against(other: &Against, runs: Runs<'_>, names: &[String], has_curves: bool) -> Markup {
    let Runs { records, results } = runs;
    let mut content = plain("h3", words::title(other, records, names));
    content.push(list_of_any(words::of_runs(other)));
    if other.points.is_empty() {
        content.push(plain("p", "No point of the two can be compared."));
        return content;
    }
    content.push(plain("p", glance::answer(other)));
    let (told, same): (Vec<Line>, Vec<Line>) =
        glance::lines(other).into_iter().partition(|line| line.is_changed);
    if !told.is_empty() {
        content.push(at_a_glance(other, &told).scroll());
    }
    if !has_curves {
        content.push(overlay(other, names));
    }
    if !same.is_empty() {
        let count = words_of::counted(same.len() as u64, "point");
        let table = at_a_glance(other, &same).scroll();
        content
            .push(folded(format!("{count} without a significant difference, or not known"), table));
    }
    content.push(list_of_any(glance::notes(other)));
    let cpus = host_cpu::differences(other, records, results, names);
    if !cpus.is_empty() {
        content.push(folded("CPU of the hosts".to_owned(), list(cpus)));
    }
    let details = glance::changed(other).map(|point| {
        let table = differences(point, point.differences.iter()).scroll();
        folded(plain("strong", words::name(&point.key)), table)
    });
    content.push(details.collect::<Markup>());
    content
}

/// More points than this are no picture any more; the table has them.
const MOST_POINTS: usize = 16;

fn overlay(other: &Against, names: &[String]) -> Markup {
    let (base, with) = words::sides(other, names);
    let compared = || other.points.iter().filter(|point| !point.differences.is_empty());
    if !(1..=MOST_POINTS).contains(&compared().count()) {
        return Markup::new();
    }
    let chart = |title: &str, say: fn(f64) -> String, is: fn(Metric) -> bool| {
        let group = |point: &ComparedPoint| {
            let found = point.differences.iter().find(|found| is(found.metric))?;
            let change = format!(" · {}", words::percent(found.percent));
            let bars = vec![
                Step::new("A", found.base, String::new()),
                Step::new("B", found.other, change),
            ];
            Some(Group { name: words::name(&point.key), bars })
        };
        let title = format!("{title}, A: {base}, B: {with}");
        Groups { title, words: say, groups: compared().filter_map(group).collect() }.render()
    };
    let rate = chart("IOPS", words_of::iops, |metric| metric == Metric::Iops);
    let p99 = chart("p99", latency_words, |metric| metric.word() == "p99");
    classed("div", "charts", [rate, p99])
}
