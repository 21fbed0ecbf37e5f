//! A trend as a page: what changed, then a chart of each figure of each point.

use super::{LEGEND, Named, change, changes, few_runs, latest, other_work, run, set_apart};
use crate::ground::chart::{Axis, Line, Lines, Point, Scale};
use crate::ground::markup::{Markup, classed, list, plain, under};
use crate::ground::moment::{clock_words, date_words};
use crate::ground::page::document;
use crate::ground::words;
use crate::pens::Table;
use crate::topics::compare::{interval, metric, name, percent, value, verdict};
use analysis::compare::Metric;
use analysis::trend::{Followed, Trend, TrendPoint, Value};

/// The page.
pub fn page(trend: &Trend, runs: &[Named<'_>]) -> String {
    let suite = run(trend, runs, 0).map_or("?", |run| run.record.plan.suite.as_str());
    let count = words::counted(trend.runs.len() as u64, "run");
    let mut head = plain("h1", format!("{suite} over {count}"));
    let ends = run(trend, runs, 0).zip(run(trend, runs, trend.runs.len().saturating_sub(1)));
    if let Some((first, last)) = ends {
        let began = |run: Named<'_>| words::utc(run.record.started_unix_ns);
        head.push(classed("p", "lead", format!("{} to {}", began(first), began(last))));
    }
    let mut body = plain("header", head);
    body.push(under("What changed", [what_changed(trend, runs), plain("p", LEGEND)]));
    body.push(trend.points.iter().map(|point| section(point, trend, runs)).collect::<Markup>());
    body.push(plain("section", [plain("h2", "The runs"), listed(trend, runs)]));
    document(format!("{suite} over {count}: Plimsoll trend"), body)
}

fn what_changed(trend: &Trend, runs: &[Named<'_>]) -> Markup {
    let found = trend.points.iter().flat_map(|here| {
        changes(here).map(|(followed, found)| {
            format!("{}, {}", name(&here.key), change(followed, found, trend, runs))
        })
    });
    let found: Vec<String> = found.collect();
    if let Some(few) = few_runs(trend) {
        plain("p", few)
    } else if found.is_empty() {
        plain("p", "No figure shows a change of level.")
    } else {
        list(found)
    }
}

fn section(here: &TrendPoint, trend: &Trend, runs: &[Named<'_>]) -> Markup {
    let mut content = plain("h2", name(&here.key));
    content.push(list(latest(trend, here).map(|found| {
        let (figure, by, ends) =
            (metric(found.metric), percent(found.percent), interval(found.interval));
        format!(
            "The latest run against the level before it: {figure} {by} (95 %: {ends}): {}.",
            verdict(found)
        )
    })));
    let charts: Markup =
        here.series.iter().filter_map(|followed| chart(followed, trend, runs)).collect();
    content.push(classed("div", "charts", charts));
    content.push(
        other_work(here, trend, runs)
            .into_iter()
            .map(|sentence| plain("p", sentence))
            .collect::<Markup>(),
    );
    plain("section", content)
}

fn words_of(metric: Metric) -> fn(f64) -> String {
    match metric.measured() {
        Metric::Iops => |value_iops| value(Metric::Iops, value_iops),
        Metric::Bandwidth => words::mebi_per_s,
        _ => |ns| if ns == 0.0 { "0".to_owned() } else { value(Metric::Mean, ns) },
    }
}

/// An axis of less than this has ticks at seconds.
const CLOSE_S: f64 = 360.0;

/// The figure run by run between the ends of its interval; `None` where no run has it.
fn chart(followed: &Followed, trend: &Trend, runs: &[Named<'_>]) -> Option<Markup> {
    let highest =
        |found: &Value| found.interval.map_or(found.value, |ends| ends.high.max(found.value));
    // In the unit of the axis, whose ticks are to be round.
    let unit = if followed.metric.measured() == Metric::Bandwidth { words::MEBI } else { 1.0 };
    let largest = followed.values.iter().flatten().map(highest).max_by(f64::total_cmp)? / unit;
    let began = |place: usize| {
        run(trend, runs, place).map_or(0.0, |run| run.record.started_unix_ns as f64 / 1e9)
    };
    let line = |name: &str, style, pick: fn(&Value) -> Option<f64>| {
        let place = |(place, found): (usize, &Option<Value>)| {
            let value = found.as_ref().and_then(pick);
            Point::at(began(place), value.map(|value| value.max(0.0) / unit))
        };
        Line::new(name, style, followed.values.iter().enumerate().map(place))
    };
    let name = metric(followed.metric);
    let scale = Scale::dates((0..trend.runs.len()).map(began));
    // Ticks that are less than a minute apart would all read the same.
    let is_close = matches!(scale, Scale::Dates { from_s, to_s } if to_s - from_s < CLOSE_S);
    let chart = Lines {
        title: format!("{name} from run to run"),
        description: format!(
            "{name} of {} in the order of time.",
            words::counted(trend.runs.len() as u64, "run")
        ),
        x: Axis {
            name: "began, UTC",
            scale,
            words: if is_close { clock_words } else { date_words },
        },
        y: Axis::new(Scale::linear_to(largest), words_of(followed.metric)),
        lines: vec![
            line(name, "line read", |found| Some(found.value)),
            line("lower end of the 95 % interval", "line max", |found| Some(found.interval?.low)),
            line("upper end", "line q999", |found| Some(found.interval?.high)),
        ],
    };
    let instant = |found: &analysis::trend::LevelChange| {
        let name = run(trend, runs, found.at).map_or("?", |run| run.name);
        (began(found.at), format!("{} {name}", percent(found.percent())))
    };
    Some(chart.render_with(&followed.changes.iter().map(instant).collect::<Vec<_>>()))
}

fn listed(trend: &Trend, runs: &[Named<'_>]) -> Markup {
    let all = (0..trend.runs.len()).filter_map(|place| Some((place, run(trend, runs, place)?)));
    let table = Table::of(all)
        .words("Run", |(place, _)| (place + 1).to_string())
        .class("number")
        .name("File", |(_, run)| run.name)
        .words("Began", |(_, run)| words::utc(run.record.started_unix_ns))
        .words("Plimsoll", |(_, run)| &run.record.version)
        .bare();
    [table.scroll(), list(set_apart(trend, runs))].into()
}
