//! Rounds of all points until they are steady: the convergence plot, the window that figures are
//! means of, and their tables.

use crate::ground::chart::{Axis, Line, Lines, Point, Scale, ends};
use crate::ground::markup::{Markup, classed, plain};
use crate::ground::words;
use crate::pens::Table;
use crate::pens::json::{Value, each, object};
use crate::topics::findings::charts::STYLES;
use analysis::rounds::{InRounds, Rounds};
use analysis::steady::{MOST_RANGE, MOST_SLOPE, ROUNDS};
use model::Setting;
use std::collections::BTreeSet;

pub fn sentences(found: &Rounds) -> Vec<String> {
    let count = words::counted(u64::from(found.count), "round");
    if (found.count as usize) < ROUNDS {
        return vec![format!("Rounds: {count}, fewer than the {ROUNDS} of a window.")];
    }
    let (first, last) = (found.window.start + 1, found.window.end);
    let state = match found.is_steady() {
        true => format!("Rounds: steady after {count}, by rounds {first} to {last}."),
        false => format!(
            "Rounds: not steady after {count} (at most {}), by rounds {first} to {last}.",
            found.most
        ),
    };
    let mut said = vec![state];
    said.extend(worst(found).and_then(|point| {
        let steadiness = point.steadiness?;
        Some(format!(
            "{}: range {} of the mean (limit {}), slope {} (limit {}).",
            name(point),
            words::share(steadiness.range),
            words::share(MOST_RANGE),
            words::share(steadiness.slope.abs()),
            words::share(MOST_SLOPE)
        ))
    }));
    said
}

/// The tracked point that is nearest to its limits, or furthest beyond them.
fn worst(found: &Rounds) -> Option<&InRounds> {
    let used = |point: &&InRounds| {
        point
            .steadiness
            .map_or(0.0, |found| (found.range / MOST_RANGE).max(found.slope.abs() / MOST_SLOPE))
    };
    let tracked = found.points.iter().filter(|point| point.is_tracked);
    tracked.max_by(|a, b| used(a).total_cmp(&used(b)))
}

fn name(point: &InRounds) -> String {
    let values: Vec<String> =
        point.sweep.iter().map(|one| format!("{}={}", one.axis(), one.label())).collect();
    match values.is_empty() {
        true => point.workload.clone(),
        false => format!("{} ({})", point.workload, values.join(", ")),
    }
}

pub fn section(found: &Rounds) -> Markup {
    let mut content = plain("h2", "Rounds");
    content.push(sentences(found).iter().map(|said| plain("p", said)).collect::<Markup>());
    content.push(classed("div", "charts", convergence(found)));
    content.push(window(found).scroll());
    if (found.count as usize) < ROUNDS {
        return plain("section", content);
    }
    type Figure = fn(&InRounds) -> String;
    let tables: [(&str, Figure); 4] = [
        ("IOPS", |point| words::iops(point.mean_iops)),
        ("Bandwidth", |point| words::bandwidth(point.mean_bytes_per_s)),
        ("Mean latency", |point| words::latency(point.latency.mean_ns().map(|ns| ns as u64))),
        ("Longest latency", |point| words::latency(point.latency.max_ns())),
    ];
    for (title, figure) in tables {
        content.push(matrix(found, title, figure));
    }
    plain("section", content)
}

/// Rate against round: what is tracked, and of the first tracked point the window with its mean,
/// the limits around it, and the line of least squares.
fn convergence(found: &Rounds) -> Markup {
    let shown: Vec<&InRounds> = found.points.iter().filter(|one| one.is_tracked).collect();
    let line = |(point, style): (&&InRounds, &'static str)| {
        let rounds = (1..).zip(&point.iops);
        let points = rounds.map(|(round, iops)| Point::at(f64::from(round), *iops));
        Line::new(name(point), style, points)
    };
    let mut lines: Vec<Line> = shown.iter().zip(STYLES).map(line).collect();
    if let [one] = shown[..] {
        lines.extend(window_lines(found, one));
    }
    Lines {
        title: "IOPS of what has to be steady, round after round".to_owned(),
        description: sentences(found).join(" "),
        x: Axis {
            name: "round",
            scale: Scale::linear_to(f64::from(found.count.max(2))),
            words: |round| format!("{round:.0}"),
        },
        y: Axis::iops(ends(&lines).1),
        lines,
    }
    .render()
}

/// What the rule looks at: the mean of the window, a tenth above and below it, and the straight
/// line through its rounds.
fn window_lines(found: &Rounds, point: &InRounds) -> Vec<Line> {
    let Some(steadiness) = point.steadiness else { return Vec::new() };
    let (mean, rounds) = (point.mean_iops, found.window.clone());
    let (first, last) = (f64::from(rounds.start + 1), f64::from(rounds.end));
    let level = |name: &str, style: &'static str, from: f64, to: f64| {
        Line::new(name, style, [Point::at(first, from), Point::at(last, to)])
    };
    let half = MOST_RANGE / 2.0;
    let slope = steadiness.slope / 2.0;
    vec![
        level("mean of the window", "line roof", mean, mean),
        level("110 % of it", "line limit", mean * (1.0 + half), mean * (1.0 + half)),
        level("90 % of it", "line limit", mean * (1.0 - half), mean * (1.0 - half)),
        level("least squares", "line sixth", mean * (1.0 - slope), mean * (1.0 + slope)),
    ]
}

fn window(found: &Rounds) -> Table<&InRounds> {
    let mut table =
        Table::of(found.points.iter().filter(|one| one.is_tracked)).name("Tracked", name).bare();
    for round in found.window.clone() {
        let iops = |point: &InRounds| point.iops.get(round as usize).copied().map(words::iops);
        table = table.figure(format!("Round {}", round + 1), iops);
    }
    table
        .figure("Mean", |point| words::iops(point.mean_iops))
        .figure("Range", |point| point.steadiness.map(|found| words::share(found.range)))
        .figure("Slope", |point| point.steadiness.map(|found| words::share(found.slope.abs())))
}

fn values(found: &Rounds, axis: &str) -> Vec<Setting> {
    let all: BTreeSet<&Setting> = found
        .points
        .iter()
        .flat_map(|point| &point.sweep)
        .filter(|one| one.axis() == axis)
        .collect();
    all.into_iter().cloned().collect()
}

/// A figure of each point over the window: of two axes, the second one's values are rows and the
/// first one's columns; otherwise each point is a row.
fn matrix(found: &Rounds, title: &str, figure: fn(&InRounds) -> String) -> Markup {
    let axes: Vec<String> = found
        .points
        .first()
        .map(|point| point.sweep.iter().map(|one| one.axis().to_owned()).collect())
        .unwrap_or_default();
    let table = match &axes[..] {
        [across, down] => crossed(found, [across, down], figure),
        _ => listed(found, title, figure),
    };
    let caption = format!("{title}, rounds {} to {}", found.window.start + 1, found.window.end);
    Markup::from([plain("h3", caption), table])
}

fn crossed(found: &Rounds, axes: [&str; 2], figure: fn(&InRounds) -> String) -> Markup {
    let [across, down] = axes.map(|axis| values(found, axis));
    let cell = |row: &Setting, column: &Setting| {
        let is_it = |point: &&InRounds| point.sweep.contains(row) && point.sweep.contains(column);
        found.points.iter().find(is_it).map_or("–".to_owned(), figure)
    };
    let mut table = Table::of(&down).bare();
    table = table.name(format!("{} \\ {}", axes[1], axes[0]), Setting::label);
    for column in &across {
        table = table.figure(column.label(), |row| cell(row, column));
    }
    table.scroll()
}

fn listed(found: &Rounds, title: &str, figure: fn(&InRounds) -> String) -> Markup {
    Table::of(&found.points).name("Point", name).figure(title, figure).bare().scroll()
}

pub fn object(found: &Rounds) -> Value {
    let point = |point: &InRounds| {
        object! {
            sweep: words::axes(&point.sweep),
            tracked: point.is_tracked,
            mean_ns: point.latency.mean_ns(),
            max_ns: point.latency.max_ns(),
            range: point.steadiness.map(|found| found.range),
            slope: point.steadiness.map(|found| found.slope),
            ..point { workload, iops, mean_iops, mean_bytes_per_s },
        }
    };
    object! {
        steady: found.is_steady(),
        window: [found.window.start + 1, found.window.end],
        points: each(&found.points, point),
        ..found { count, most },
    }
}
