//! A trend for the terminal.

use super::{LEGEND, Named, change, few_runs, other_work, run, set_apart};
use crate::compare::{interval, metric, percent, point, value, verdict};
use crate::words;
use analysis::trend::{Trend, TrendPoint};
use comfy_table::{CellAlignment, Table, presets};

/// One block for each point: its figures run by run, changes of level, and the latest run against its level.
pub fn table(trend: &Trend, runs: &[Named<'_>]) -> String {
    let mut text = format!("{} in the order of time\n", words::counted(trend.runs.len() as u64, "run"));
    text.extend(set_apart(trend, runs).iter().map(|sentence| format!("  {sentence}\n")));
    text.push('\n');
    text.extend(trend.points.iter().map(|point| block(point, trend, runs)));
    text.extend(few_runs(trend).map(|few| format!("{few}\n")));
    text.push_str(&format!("{LEGEND}\n"));
    text
}

fn block(here: &TrendPoint, trend: &Trend, runs: &[Named<'_>]) -> String {
    let mut text = format!("{} {}\n", point(&here.key), here.key.op.name());
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let figures = here.series.iter().flat_map(|followed| [metric(followed.metric), "95 % interval"]);
    table.set_header(["run", "began"].into_iter().chain(figures));
    for place in 0..trend.runs.len() {
        let Some(run) = run(trend, runs, place) else { continue };
        let mut cells = vec![run.name.to_owned(), words::utc(run.record.started_unix_ns)];
        for followed in &here.series {
            let found = followed.values.get(place).copied().flatten();
            let mark = if followed.changes.iter().any(|change| change.at == place) { "► " } else { "" };
            let shown = |number| value(followed.metric, number);
            cells.push(found.map_or_else(|| "–".to_owned(), |found| format!("{mark}{}", shown(found.value))));
            let ends = found.and_then(|found| found.interval);
            cells.push(
                ends.map_or_else(|| "–".to_owned(), |ends| format!("{} to {}", shown(ends.low), shown(ends.high))),
            );
        }
        table.add_row(cells);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 2 } else { 0 }, 2));
        column.set_cell_alignment(if index < 2 { CellAlignment::Left } else { CellAlignment::Right });
    }
    text.extend(table.lines().map(|line| format!("{}\n", line.trim_end())));
    for followed in &here.series {
        text.extend(followed.changes.iter().map(|found| format!("  ► {}\n", change(followed, found, trend, runs))));
    }
    text.extend(other_work(here, trend, runs).iter().map(|sentence| format!("  {sentence}\n")));
    let latest = trend.latest.others.iter().flat_map(|other| &other.points).find(|point| point.key == here.key);
    for found in latest.iter().flat_map(|point| &point.differences) {
        text.push_str(&format!(
            "  latest against its level: {} {} ({}): {}\n",
            metric(found.metric),
            percent(found.percent),
            interval(found.interval),
            verdict(found)
        ));
    }
    text.push('\n');
    text
}
