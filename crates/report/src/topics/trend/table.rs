//! A trend for the terminal.

use super::{LEGEND, Named, change, few_runs, other_work, run, set_apart};
use crate::ground::folding::folded;
use crate::ground::words;
use crate::pens::terminal::{self as columns, Column, Want};
use crate::topics::compare::{interval, metric, percent, point, value, verdict};
use analysis::trend::{Trend, TrendPoint};

/// One block for each point: its figures run by run, changes of level, and the latest run against
/// its level; for a terminal of so many columns, `None` is no terminal.
pub fn table(trend: &Trend, runs: &[Named<'_>], room: Option<usize>) -> String {
    let mut text =
        format!("{} in the order of time\n", words::counted(trend.runs.len() as u64, "run"));
    text.extend(answer(trend, runs).iter().map(|line| format!("  {line}\n")));
    text.extend(set_apart(trend, runs).iter().map(|sentence| format!("  {sentence}\n")));
    text.push('\n');
    text.extend(trend.points.iter().map(|point| block(point, trend, runs, room)));
    text.push_str(&format!("{LEGEND}\n"));
    room.map_or_else(|| text.clone(), |room| folded(&text, room))
}

/// What a reader came for: every change of level, or that there is none, and what so few runs can
/// show.
fn answer(trend: &Trend, runs: &[Named<'_>]) -> Vec<String> {
    let changes = trend.points.iter().flat_map(|here| {
        let of_point = here
            .series
            .iter()
            .flat_map(move |followed| followed.changes.iter().map(move |found| (followed, found)));
        of_point.map(move |(followed, found)| {
            let what = change(followed, found, trend, runs);
            format!("► {} {}: {what}", point(&here.key), here.key.ops.name())
        })
    });
    let mut lines: Vec<String> = changes.collect();
    match few_runs(trend) {
        Some(few) => lines.push(few),
        None if lines.is_empty() && !trend.points.is_empty() => {
            lines.push("No change of level was found.".to_owned());
        }
        None => {}
    }
    lines
}

fn block(here: &TrendPoint, trend: &Trend, runs: &[Named<'_>], room: Option<usize>) -> String {
    let mut text = format!("{} {}\n", point(&here.key), here.key.ops.name());
    let mut table = vec![Column::names("run"), Column::names("began").want(Want::Spare(1))];
    table.extend(here.series.iter().flat_map(|followed| {
        let figure = metric(followed.metric);
        let interval = Column::figures("95 % interval").want(Want::Spare(0));
        [Column::figures(figure), interval.called(&format!("95 % interval of {figure}"))]
    }));
    for place in 0..trend.runs.len() {
        let Some(run) = run(trend, runs, place) else { continue };
        let mut cells = vec![run.name.to_owned(), words::utc(run.record.started_unix_ns)];
        for followed in &here.series {
            let found = followed.values.get(place).copied().flatten();
            let mark =
                if followed.changes.iter().any(|change| change.at == place) { "► " } else { "" };
            let shown = |number| value(followed.metric, number);
            cells.push(
                found.map_or_else(
                    || "–".to_owned(),
                    |found| format!("{mark}{}", shown(found.value)),
                ),
            );
            let ends = found.and_then(|found| found.interval);
            cells.push(ends.map_or_else(
                || "–".to_owned(),
                |ends| format!("{} to {}", shown(ends.low), shown(ends.high)),
            ));
        }
        columns::row(&mut table, cells);
    }
    text.push_str(&columns::within(table, room));
    for followed in &here.series {
        text.extend(
            followed
                .changes
                .iter()
                .map(|found| format!("  ► {}\n", change(followed, found, trend, runs))),
        );
    }
    text.extend(other_work(here, trend, runs).iter().map(|sentence| format!("  {sentence}\n")));
    let latest = trend
        .latest
        .others
        .iter()
        .flat_map(|other| &other.points)
        .find(|point| point.key == here.key);
    for found in latest.iter().flat_map(|point| &point.differences) {
        text.push_str(&format!(
            "  latest run: {} {} against its level ({}): {}\n",
            metric(found.metric),
            percent(found.percent),
            interval(found.interval),
            verdict(found)
        ));
    }
    text.push('\n');
    text
}
