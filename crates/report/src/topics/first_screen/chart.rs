//! Which chart answers the question of a suite.

use super::curve;
use crate::ground::chart::{Bar, Bars, Group, Groups, Step};
use crate::ground::gather::each_once;
use crate::ground::markup::Markup;
use crate::ground::words;
use crate::topics::compare::percent;
use crate::topics::results::row::{name, style};
use crate::topics::{occurrences, workload};
use analysis::ceiling::Reached;
use analysis::{ResultRow, effects::effects};
use model::Record;

/// More bars than this are no picture any more.
const MOST_BARS: usize = 40;

pub enum Question {
    /// A chart of its own.
    Own(Markup),
    /// The first chart of the results: values of an axis or workloads side by side.
    OfResults,
}

pub fn chart(record: &Record, rows: &[ResultRow], reached: &[Reached]) -> Question {
    let own = dip(record, rows, reached)
        .or_else(|| changing(record, rows, reached))
        .or_else(|| scenarios(rows))
        .or_else(|| curve::chart(rows))
        .or_else(|| operations(rows))
        .or_else(|| percentiles(rows));
    own.map_or(Question::OfResults, Question::Own)
}

/// Of a run with events: the rate over time where the first of them did something.
fn dip(record: &Record, rows: &[ResultRow], reached: &[Reached]) -> Option<Markup> {
    let effect = effects(record).into_iter().find(|effect| effect.total.is_some())?;
    let here = |row: &&ResultRow| row.stage == effect.stage && row.index == Some(effect.work);
    let rows: Vec<ResultRow> = rows.iter().filter(here).cloned().collect();
    let instants = occurrences::on_axis(record, effect.stage);
    workload::course(record, &rows, reached, &instants)
}

/// Of a run whose rate changes: what was asked and what was carried over time, of the first such
/// workload.
fn changing(record: &Record, rows: &[ResultRow], reached: &[Reached]) -> Option<Markup> {
    let first = rows.iter().find(|row| row.is_changing() && row.is_of_workload())?;
    let here = |row: &&ResultRow| row.stage == first.stage && row.index == first.index;
    let rows: Vec<ResultRow> = rows.iter().filter(here).cloned().collect();
    workload::course(record, &rows, reached, &[])
}

/// Of a run of several scenarios: what each workload carried in each, and how far that is from the
/// first.
fn scenarios(rows: &[ResultRow]) -> Option<Markup> {
    let whole =
        || rows.iter().filter(|row| row.is_whole() && row.repetition.is_none_or(|n| n == 1));
    let scenarios = each_once(whole().map(|row| row.scenario.as_str()));
    let names = each_once(whole().map(name));
    if scenarios.len() < 2 || scenarios.len() * names.len() > MOST_BARS {
        return None;
    }
    let rate = |scenario: &str, of: &str| {
        whole().find(|row| row.scenario == scenario && name(row) == of).map(ResultRow::iops)
    };
    let group = |of: &String| {
        let base = scenarios.first().and_then(|first| rate(first, of));
        let bar = |(n, scenario): (usize, &&str)| {
            let figure = rate(scenario, of);
            let change = figure.zip(base).filter(|(_, base)| n > 0 && *base > 0.0);
            let note = change.map_or_else(String::new, |(figure, base)| {
                format!(" · {}", percent((figure / base - 1.0) * 100.0))
            });
            Step::new(*scenario, figure, note)
        };
        Group { name: of.clone(), bars: scenarios.iter().enumerate().map(bar).collect() }
    };
    let title = "IOPS by scenario, and the change against the first".to_owned();
    let groups = names.iter().map(group).collect();
    Some(Groups { title, words: words::iops, groups }.render())
}

/// Of operations on files: one bar an operation, on an axis of factors, because they lie factors of
/// ten apart.
fn operations(rows: &[ResultRow]) -> Option<Markup> {
    let single = |row: &&ResultRow| row.is_metadata() && row.is_addend() && row.ios > 0;
    let mut bars: Vec<Bar> = Vec::new();
    for row in rows.iter().filter(single) {
        let Some(op) = row.ops.one() else { continue };
        let title = format!("{} {}", row.workload, op.name());
        let value = row.iops();
        match bars.iter_mut().find(|bar| bar.name == title) {
            // Of several points the highest.
            Some(bar) => bar.parts.iter_mut().for_each(|part| part.1 = part.1.max(value)),
            None => bars.push(Bar { name: title, parts: vec![(style(op), value)], ceiling: None }),
        }
    }
    let is_seen = (2..=MOST_BARS).contains(&bars.len()) && rows.iter().all(ResultRow::is_metadata);
    let title = "Highest rate of each operation in op/s (log10)".to_owned();
    is_seen
        .then(|| Bars { title, words: words::iops, legend: Vec::new(), bars }.render_by_factors())
}

fn percentiles(rows: &[ResultRow]) -> Option<Markup> {
    let mut points = rows.iter().filter(|row| row.is_of_point() && row.ios > 0);
    let row = points.next().filter(|_| points.next().is_none())?;
    let quantiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];
    let quantiles = quantiles.map(|(name, share)| (name, row.latency.quantile_ns(share)));
    let bar = |(name, ns): (&str, Option<u64>)| {
        let parts = vec![("bar step1", ns? as f64)];
        Some(Bar { name: name.to_owned(), parts, ceiling: None })
    };
    let all = quantiles.into_iter().chain([("max", row.latency.max_ns())]);
    let chart = Bars {
        title: format!("Latency of {}", name(row)),
        words: |ns| words::latency(Some(ns.round() as u64)),
        legend: Vec::new(),
        bars: all.filter_map(bar).collect(),
    };
    Some(chart.render())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, W, has, swept};
    use analysis::Ops;
    use model::Op;

    fn drawn(rows: &[ResultRow]) -> Option<String> {
        let record = Recorded::new(W).record();
        match chart(&record, rows, &[]) {
            Question::Own(chart) => Some(chart.into_string()),
            Question::OfResults => None,
        }
    }

    fn rows(sweep: &str, points: usize) -> Vec<ResultRow> {
        let points = (1..=points).map(|number| vec![1_000_000; 10 * number]);
        analysis::results(&swept(&format!("{W}{sweep}"), points))
    }

    #[test]
    fn each_kind_of_suite_has_its_own_chart() {
        let single = drawn(&rows("", 1)).expect("a chart");
        assert!(single.contains("Latency of w") && single.contains(">p99.9<"), "{single}");
        let two = rows("[sweep]\nsize = [\"1MiB\", \"2MiB\"]\n", 2);
        assert_eq!(drawn(&two), None, "groups of the results");
        let mut scenarios = two.clone();
        scenarios.iter_mut().for_each(|row| row.sweep.clear());
        scenarios[1].scenario = "degraded".to_owned();
        let scenarios = drawn(&scenarios).expect("a chart");
        has(&scenarios, &["20.0 · +100 %", "degraded"]);
        let mut files = two;
        files.iter_mut().for_each(|row| row.ops = Ops::One(Op::Create));
        files[1].ops = Ops::One(Op::Stat);
        let files = drawn(&files).expect("a chart");
        assert!(files.contains("(log10)") && files.contains("w stat"), "{files}");
    }
}
