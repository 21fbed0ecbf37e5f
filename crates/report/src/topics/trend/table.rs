//! A trend for the terminal.

use super::{LEGEND, Named, change, changes, few_runs, latest, other_work, run, set_apart};
use crate::ground::folding::folded;
use crate::ground::words;
use crate::pens::Table;
use crate::pens::terminal::Want;
use crate::topics::compare::{interval, metric, name, percent, value, verdict};
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
    let found = trend.points.iter().flat_map(|here| {
        changes(here).map(|(followed, found)| {
            format!("► {}: {}", name(&here.key), change(followed, found, trend, runs))
        })
    });
    let mut lines: Vec<String> = found.collect();
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
    let mut text = format!("{}\n", name(&here.key));
    let all = (0..trend.runs.len()).filter_map(|place| Some((place, run(trend, runs, place)?)));
    let mut table = Table::of(all)
        .words("run", |(_, run)| run.name)
        .words("began", |(_, run)| words::utc(run.record.started_unix_ns))
        .want(Want::Spare(1));
    for followed in &here.series {
        let found = |place: usize| followed.values.get(place).copied().flatten();
        let shown = |number| value(followed.metric, number);
        let marked = |place: usize| {
            let is_change = followed.changes.iter().any(|change| change.at == place);
            let mark = if is_change { "► " } else { "" };
            found(place).map(|found| format!("{mark}{}", shown(found.value)))
        };
        let ends = |place: usize| {
            let ends = found(place)?.interval?;
            Some(format!("{} to {}", shown(ends.low), shown(ends.high)))
        };
        let figure = metric(followed.metric);
        table = table
            .figure(figure, |(place, _)| marked(place))
            .figure("95 % interval", |(place, _)| ends(place))
            .want(Want::Spare(0))
            .called(format!("95 % interval of {figure}"));
    }
    text.push_str(&table.within(room));
    text.extend(
        changes(here)
            .map(|(followed, found)| format!("  ► {}\n", change(followed, found, trend, runs))),
    );
    text.extend(other_work(here, trend, runs).iter().map(|sentence| format!("  {sentence}\n")));
    for found in latest(trend, here) {
        text.push_str(&format!(
            "  latest run: {} {} against the level before it (95 %: {}): {}\n",
            metric(found.metric),
            percent(found.percent),
            interval(found.interval),
            verdict(found)
        ));
    }
    text.push('\n');
    text
}
