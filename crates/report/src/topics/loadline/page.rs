//! The load line on a page: latency against load, the sentences, and each point.

use super::{judged, sentences};
use crate::ground::chart::{Axis, Line, Lines, Point, Scale, ends};
use crate::ground::markup::{Markup, paragraphs, under};
use crate::ground::words;
use crate::pens::Table;
use crate::pens::json::{object, some_quantiles};
use crate::topics::objective::limits;
use analysis::loadline::{LoadLine, LoadPoint};
use model::objective::Condition;

/// The lines of the chart: name, style, quantile (below 0: the mean).
const CURVES: [(&str, &str, f64); 4] = [
    ("mean", "line sixth", -1.0),
    ("p50", "line q50", 0.5),
    ("p99", "line q99", 0.99),
    ("p99.9", "line q999", 0.999),
];

/// The section of a run that searched; its curve stands first on the page.
pub fn section(line: &LoadLine) -> Markup {
    under("Load line", [paragraphs(&sentences(line)), table(line).scroll()])
}

/// Response times against the load, with the limits of the objective.
pub fn curve(line: &LoadLine) -> Markup {
    let mut points: Vec<&LoadPoint> =
        line.points.iter().filter(|point| point.tried.rate.is_some()).collect();
    points.sort_by(|a, b| a.tried.rate.unwrap_or(0.0).total_cmp(&b.tried.rate.unwrap_or(0.0)));
    let rates: Vec<f64> = points.iter().filter_map(|point| point.tried.rate).collect();
    let figure = |point: &LoadPoint, share: f64| match share {
        share if share < 0.0 => point.latency.mean_ns(),
        share => point.latency.quantile_ns(share).map(|ns| ns as f64),
    };
    let one = |(name, style, share): (&str, &'static str, f64)| {
        let at =
            |point: &&LoadPoint| Point::at(point.tried.rate.unwrap_or(0.0), figure(point, share));
        Line::new(name, style, points.iter().map(at))
    };
    let along = [rates.first(), rates.last()].map(|rate| rate.copied().unwrap_or(0.0));
    let limits = limits(&line.objective, along);
    let lines: Vec<Line> = CURVES.map(one).into_iter().chain(limits).collect();
    let (least, most) = ends(&lines);
    let chart = Lines {
        title: "Response time against load".to_owned(),
        description: sentences(line).join(" ").replace('`', ""),
        x: Axis {
            name: "IOPS that were due",
            scale: Scale::log_between(
                rates.iter().copied().fold(f64::INFINITY, f64::min),
                rates.iter().copied().fold(0.0, f64::max),
            ),
            words: words::iops,
        },
        y: Axis::latency(least, most),
        lines,
    };
    chart.render()
}

pub(super) fn table(line: &LoadLine) -> Table<&LoadPoint> {
    let due = |point: &LoadPoint| point.tried.rate.map_or("closed loop".to_owned(), words::iops);
    let others = |point: &LoadPoint| {
        point.others.as_ref().map(|others| object! { ..others { host, share } })
    };
    Table::of(&line.points)
        .figure("IOPS due", due)
        .field("rate", |point| point.tried.rate)
        .known("iops", "IOPS", |point| point.tried.carried, words::iops)
        .figure("Mean", |point| words::mean(&point.latency))
        .figure("p50", |point| words::quantile(&point.latency, 0.5))
        .figure("p99", |point| words::quantile(&point.latency, 0.99))
        .figure("p99.9", |point| words::quantile(&point.latency, 0.999))
        .figure("Max", |point| words::latency(point.latency.max_ns()))
        .field("latency_ns", |point| some_quantiles(&point.latency, "mean p50 p99 p99_9 max"))
        .known("errors", "Errors", |point| point.errors, words::count)
        .words("Objective", judged)
        .field("of_limit", |point| Some(point.of_limit).filter(|excess| excess.is_finite()))
        .field("worst", |point| point.worst.as_ref().map(Condition::figure))
        .field("holds", |point| point.holds)
        .field("keeps_up", |point| point.keeps_up)
        .field("others_cpu", others)
        .bare()
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, has};
    use model::search::Search;
    use model::{Nanos, Op, StageKind};

    fn recorded(objective: &str, latency_ns: fn(u64, u64) -> u64) -> (LoadLine, String, String) {
        let mut recorded =
            Recorded::new("[stages]\nmeasure = \"2s\"\n[[workload]]\nname = \"w\"\n");
        let search = Search {
            objective: objective.parse().expect("good"),
            poisson: false,
            measure: Nanos::seconds(2),
            along: model::search::SearchAxis::Rate,
            grid: Vec::new(),
        };
        recorded.record_mut().plan.begin_search(search).expect("one point");
        let (mut stage, mut due) = (recorded.stage(StageKind::Measure), 1_000);
        loop {
            let values: Vec<u64> = (0..due.min(1_000)).map(|nth| latency_ns(due, nth)).collect();
            recorded.interval(stage, 0, &[(Op::Read, &values)]);
            recorded.interval(stage, 1, &[(Op::Read, &values)]);
            recorded.end();
            let Some(milli) = analysis::loadline::next_rate_milli(&recorded.record()) else {
                break;
            };
            let addition = recorded.record().plan.at_rate(milli).expect("a search");
            recorded.record_mut().plan.add(&addition);
            (stage, due) = (stage + 1, milli / 1_000);
        }
        let record = recorded.record();
        let line =
            analysis::loadline::load_line(&record, &analysis::results(&record)).expect("a search");
        let page = crate::surfaces::html::render(&[&record]);
        (line, crate::surfaces::table::results(&record, None), page)
    }

    #[test]
    fn the_line_is_told_with_what_it_rests_on_in_table_and_page() {
        let (_, table, page) = recorded("read p99 < 1ms", |rate, _| 100_000 + rate * 1_000);
        let told = table.lines().find(|text| text.starts_with("Load line: ")).expect("a headline");
        has(told, &["`read p99 < 1ms` held, measured twice. At ", "of its limit"]);
        has(&page, &["Response time against load", "closed loop", "does not hold: read p99 "]);
        has(&page, &["limit: read p99 1 ms", "line limit"]);
        assert!(page.contains("<dt>Load line</dt>"), "the answer stands first: {page}");
    }

    #[test]
    fn an_objective_that_never_holds_is_told_as_such() {
        let (line, table, page) = recorded("mean < 1us", |_, _| 900_000);
        assert_eq!(line.answer.rate, None);
        has(
            &table,
            &["Load line: none. `mean < 1us` held at no rate, down to ", "measured once)."],
        );
        assert!(page.contains("held at no rate"));
        let object = crate::topics::loadline::object(&line);
        assert_eq!(object["rate"], serde_json::Value::Null);
        assert_eq!(object["points"][0]["rate"], serde_json::Value::Null);
    }

    #[test]
    fn an_objective_that_fails_by_chance_is_not_called_none() {
        // Every fiftieth is slow, and p99 of the few at the lowest rate has no interval.
        let slow = |_, nth| if nth % 50 == 0 { 2_660_000 } else { 900_000 };
        let (line, table, _) = recorded("read p99 < 1ms", slow);
        assert!(line.answer.rate.is_none() && line.is_by_chance());
        has(
            &table,
            &["Load line: not known. The lowest rate is ", "too few to tell. Measure longer"],
        );
    }
}
