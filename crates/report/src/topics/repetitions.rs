//! The repetitions of a point in one line: mean, deviation, least and largest. What one repetition
//! says is a sample; what all of them say is the result.

use crate::ground::columns::{self, Column, Want};
use crate::ground::markup::{Markup, classed, element, plain};
use crate::ground::words;
use analysis::{Ops, ResultRow};

/// The figures of some repetitions.
struct Summary {
    mean: f64,
    /// The standard deviation (of a sample) ÷ the mean.
    deviation: f64,
    least: f64,
    largest: f64,
}

impl Summary {
    /// Nothing of fewer than two values: one of them has no deviation.
    fn of(values: &[f64]) -> Option<Summary> {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        if values.len() < 2 || mean <= 0.0 {
            return None;
        }
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Summary {
            mean,
            deviation: (squares / (count - 1.0)).sqrt() / mean,
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            largest: values.iter().copied().fold(0.0, f64::max),
        })
    }
}

/// The points that were repeated, each with its complete repetitions.
fn points(rows: &[ResultRow]) -> Vec<Vec<&ResultRow>> {
    let mut points: Vec<Vec<&ResultRow>> = Vec::new();
    for row in rows.iter().filter(|row| row.repetition.is_some() && row.complete) {
        match points.iter_mut().find(|point| point.first().is_some_and(|one| alike(one, row))) {
            Some(point) => point.push(row),
            None => points.push(vec![row]),
        }
    }
    points
}

/// The table of a terminal, in `room` columns; nothing of a run that repeats nothing.
pub fn text(rows: &[ResultRow], room: usize) -> String {
    let rate = words::rate_head(rows);
    let mut table = vec![
        Column::names("point").want(Want::Folded),
        Column::names("op"),
        Column::figures("runs"),
        Column::figures(&format!("{rate}, mean")),
        Column::figures("deviation"),
        Column::figures("least").want(Want::Spare(1)),
        Column::figures("largest").want(Want::Spare(1)),
        Column::figures("p99, mean"),
        Column::figures("deviation").called("deviation of p99").want(Want::Spare(3)),
        Column::figures("least").called("least p99").want(Want::Spare(2)),
        Column::figures("largest").called("largest p99").want(Want::Spare(2)),
    ];
    let mut is_empty = true;
    for point in points(rows) {
        let Some(Line { name, op, runs, rate, p99 }) = Line::of(&point) else { continue };
        is_empty = false;
        let cells = [name, op.to_owned(), runs].into_iter().chain(rate).chain(p99);
        columns::row(&mut table, cells.collect::<Vec<String>>());
    }
    if is_empty {
        return String::new();
    }
    columns::fit(&mut table, room);
    format!("\nRepetitions together\n{}\n", columns::render(&table))
}

/// The table of a page; nothing of a run that repeats nothing.
pub fn table(rows: &[ResultRow]) -> Markup {
    let lines: Markup = points(rows).iter().filter_map(|point| line(point)).collect();
    if lines == Markup::new() {
        return lines;
    }
    let rate = words::rate_head(rows);
    let of_rate = format!("{rate}, mean");
    let head = [
        ("Workload", ""),
        ("Op", ""),
        ("Runs", "number"),
        (&*of_rate, "number"),
        ("Deviation", "number"),
        ("Least", "number"),
        ("Largest", "number"),
        ("p99, mean", "number"),
        ("Deviation", "number"),
        ("Least", "number"),
        ("Largest", "number"),
    ];
    let head: Markup = head
        .into_iter()
        .map(|(word, class)| element("th", &[("scope", "col"), ("class", class)], word))
        .collect();
    let caption = plain(
        "caption",
        "Each line is all repetitions of a point. Deviation: the standard deviation from run to \
         run, as a share of the mean.",
    );
    let table =
        element("table", &[], [caption, plain("thead", plain("tr", head)), plain("tbody", lines)]);
    [plain("h3", "Repetitions together"), classed("div", "scroll", table)].into()
}

fn alike(one: &ResultRow, other: &ResultRow) -> bool {
    type Key<'a> = (&'a str, &'a str, Option<u32>, Ops, &'a [model::Setting]);
    fn key(row: &ResultRow) -> Key<'_> {
        (&row.scenario, &row.workload, row.index, row.ops, &row.sweep)
    }
    key(one) == key(other)
}

/// A line of either table.
struct Line {
    name: String,
    op: &'static str,
    runs: String,
    rate: [String; 4],
    p99: [String; 4],
}

impl Line {
    /// Nothing of a point that ran once.
    fn of(point: &[&ResultRow]) -> Option<Line> {
        let first = point.first()?;
        let rates: Vec<f64> = point.iter().map(|row| row.iops()).collect();
        let p99 = |row: &&ResultRow| row.latency.quantile_ns(0.99).map(|ns| ns as f64);
        let latencies: Vec<f64> = point.iter().filter_map(p99).collect();
        let rate = Summary::of(&rates)?;
        let name = match words::sweep(&first.sweep, None).as_str() {
            "" => first.workload.clone(),
            axes => format!("{} ({axes})", first.workload),
        };
        let latency = |ns: f64| words::latency(Some(ns.round() as u64));
        Some(Line {
            name,
            op: first.ops.name(),
            runs: words::count(point.len() as u64),
            rate: figures(Some(&rate), &words::iops),
            p99: figures(Summary::of(&latencies).as_ref(), &latency),
        })
    }
}

fn line(point: &[&ResultRow]) -> Option<Markup> {
    let Line { name, op, runs, rate, p99 } = Line::of(point)?;
    let mut cells = element("th", &[("scope", "row")], name);
    cells.push(plain("td", op));
    let figures = std::iter::once(runs).chain(rate).chain(p99);
    figures.for_each(|figure| cells.push(classed("td", "number", figure)));
    Some(plain("tr", cells))
}

/// Mean, deviation, least and largest.
fn figures(summary: Option<&Summary>, say: &dyn Fn(f64) -> String) -> [String; 4] {
    summary.map_or_else(
        || ["–", "–", "–", "–"].map(str::to_owned),
        |found| {
            let deviation = words::share(found.deviation);
            [say(found.mean), deviation, say(found.least), say(found.largest)]
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::testing::Recorded;
    use model::{Op, StageKind};

    #[test]
    fn repetitions_of_a_point_are_one_line() {
        let suite = "[[workload]]\nname = \"w\"\n[sweep]\ndepth = [1, 4]\nrepetitions = 3\n";
        let mut recorded = Recorded::new(suite);
        let stages = recorded.record().plan.stages.clone();
        let measured = (0..).zip(&stages).filter(|(_, stage)| stage.kind == StageKind::Measure);
        for (number, _) in measured {
            let count = 90 + 10 * (number as usize % 3);
            recorded.interval(number, 0, &[(Op::Read, &vec![1_000_000; count])]);
        }
        recorded.end();
        let rows = analysis::results(&recorded.record());
        assert_eq!(rows.len(), 6);
        let shown = table(&rows).into_string();
        assert_eq!(shown.matches("<tr>").count(), 3, "a head and two points: {shown}");
        assert!(shown.contains("w (depth=4)") && shown.contains(">10 %<"), "{shown}");
        assert!(shown.contains(">90.0<") && shown.contains(">110<"), "{shown}");
        let shown = text(&rows, 120);
        assert_eq!(shown.trim().lines().count(), 4, "two heads and two points: {shown}");
        assert!(shown.contains("w (depth=4)") && shown.contains(" 10 %"), "{shown}");
        assert_eq!(text(&rows[..1], 120), "", "one run has no deviation");
    }

    #[test]
    fn nothing_repeated_is_nothing_told() {
        assert_eq!(table(&[]), Markup::new());
    }
}
