//! What a sweep looks like: an axis of at least four numbers as lines on a log2 axis with its knees
//! and odd points marked and its peaks in a table; any other single axis as bars in groups.

use super::bars::groups;
use crate::ground::chart::{Axis, Line, Lines, Point, Scale, reach};
use crate::ground::markup::{Markup, classed};
use crate::ground::words;
use crate::pens::Table;
use crate::topics::findings::{self, large_bytes, request_bytes};
use crate::topics::results::row::{ceiling_of, most_bytes_per_s, most_iops};
use analysis::ceiling::Reached;
use analysis::{Covers, Finding, Measure, ResultRow};
use model::{Bytes, Quantity, Record, Setting};

/// Colours and dashes, so that neighbours can be told without colour.
pub(crate) const STYLES: [&str; 6] =
    ["line read", "line write", "line third", "line fourth", "line fifth", "line sixth"];
const ROOFS: [&str; 6] = [
    "line roof read", "line roof write", "line roof third", "line roof fourth", "line roof fifth",
    "line roof sixth",
];

/// The charts; nothing for a run without a sweep, or with one that no picture suits: the table has
/// it.
pub fn charts(record: &Record, rows: &[ResultRow], reached: &[Reached]) -> Markup {
    let findings: Vec<Finding> = analysis::findings(rows);
    if !findings.is_empty() {
        return lines(rows, &findings, reached);
    }
    groups(record, rows, reached)
}

/// A chart for each part, axis and measure, as many lines in it as can be told apart.
fn lines(rows: &[ResultRow], findings: &[Finding], reached: &[Reached]) -> Markup {
    let mut charts = Markup::new();
    // Wholes: beside the ceiling of a mix, its parts would look as if they missed it.
    let mut left: Vec<&Finding> =
        findings.iter().filter(|found| found.covers >= Covers::Workload).collect();
    while let Some(first) = left.first().copied() {
        // Large requests are told in bandwidth; beside millions of small ones they would lie on the
        // axis.
        let is_alike = |found: &Finding| {
            let is_comparable = found.axis == first.axis && found.measure == first.measure;
            let is_one_kind = found.is_metadata == first.is_metadata;
            // Scenarios of the same workload are compared; those of others are parts by themselves.
            let is_one_part = found.scenario == first.scenario || found.workload == first.workload;
            is_one_part
                && is_comparable
                && is_one_kind
                && is_large(rows, found) == is_large(rows, first)
        };
        let (mut alike, rest): (Vec<&Finding>, Vec<&Finding>) =
            left.into_iter().partition(|found| is_alike(found));
        let later = alike.split_off(alike.len().min(STYLES.len()));
        if let Some(chart) = line_chart(rows, &alike, reached) {
            charts.push(chart);
        }
        left = later.into_iter().chain(rest).collect();
    }
    let mut content = classed("div", "charts", charts);
    content.push(peaks(rows, findings));
    content
}

fn line_chart(rows: &[ResultRow], findings: &[&Finding], reached: &[Reached]) -> Option<Markup> {
    let first = findings.first()?;
    let in_bytes = first.measure == Measure::BytesPerSecond
        || findings.iter().all(|found| is_large(rows, found));
    // In the unit of the axis, whose ticks are to be round.
    let unit = if in_bytes { words::MEBI } else { 1.0 };
    let factor = |found: &Finding| {
        let is_of_requests = in_bytes && found.measure == Measure::Iops;
        (if is_of_requests { request_bytes(rows, found) } else { 1.0 }) / unit
    };
    let most = |reached: &Reached| {
        let most = if in_bytes { most_bytes_per_s(reached) } else { most_iops(reached) };
        Some(most? / unit)
    };
    let (mut all, marks) = measured(findings, &factor);
    let roofs = roofs(rows, findings, reached, &most);
    let highest = |lines: &[Line]| -> Vec<f64> {
        lines.iter().flat_map(|line| &line.points).filter_map(|point| point.y).collect()
    };
    let top = reach(highest(&all).into_iter(), highest(&roofs).into_iter());
    all.extend(roofs.into_iter().map(|line| below(line, top)));
    all.extend(marks);
    // Creates and look-ups lie factors of ten apart: on an even axis, the slow ones would lie on
    // its floor.
    let is_metadata = first.is_metadata;
    let lowest = highest(&all).into_iter().fold(top, f64::min);
    let y = if is_metadata { Scale::log_between(lowest, top) } else { Scale::linear_to(top) };
    let what = match (in_bytes, is_metadata) {
        (true, _) => "Bandwidth in MiB/s",
        (false, true) => "Operations per second (log10)",
        (false, false) => "Requests per second",
    };
    let chart = Lines {
        title: format!("{what} over {}{}", first.axis, part(findings)),
        description: format!(
            "{what} of each workload at each value of {}; the table has the figures.",
            first.axis
        ),
        x: axis(findings)?,
        y: Axis::new(y, if in_bytes { mebibytes } else { words::iops }),
        lines: all,
    };
    Some(chart.render())
}

/// The axis of the settings and how its ticks are told; `None` where they are no numbers above 0,
/// or one number.
fn axis(findings: &[&Finding]) -> Option<Axis> {
    let all = |is_one: fn(&Quantity) -> bool| {
        let mut settings = findings.iter().flat_map(|found| &found.settings);
        settings.all(|setting| is_one(setting.quantity()))
    };
    let words: fn(f64) -> String =
        if all(|quantity| matches!(quantity, Quantity::Number(_) | Quantity::Iops(_))) {
            |x| words::count(x.round().max(0.0) as u64)
        } else if all(|quantity| matches!(quantity, Quantity::Size(_))) {
            |bytes| Bytes(bytes as u64).to_string()
        } else {
            return None;
        };
    let along = || findings.iter().flat_map(|found| found.along.iter().copied());
    let (least, most) = (along().fold(f64::MAX, f64::min), along().fold(0.0, f64::max));
    if least.is_nan() || least <= 0.0 || most <= least {
        return None;
    }
    let (min, max) = (2f64.powf(least.log2().floor()), 2f64.powf(most.log2().ceil()));
    Some(Axis { name: "log2", scale: Scale::Doublings { min, max }, words })
}

/// A line for each curve, and those that mark what is special on them.
fn measured(findings: &[&Finding], factor: &dyn Fn(&Finding) -> f64) -> (Vec<Line>, Vec<Line>) {
    let (mut curves, mut knees, mut odd) = (Vec::new(), Vec::new(), Vec::new());
    for (found, style) in findings.iter().zip(STYLES) {
        let factor = factor(found);
        let at = |n: usize, also: String| {
            let y = found.values.get(n).map(|value| value * factor);
            Some(Point { x: *found.along.get(n)?, y, also })
        };
        let points = (0..found.values.len()).filter_map(|n| at(n, String::new()));
        curves.push(Line::new(name(found), style, points));
        let mark = |marks: &mut Vec<Point>, n: usize| {
            // The gap behind each mark keeps it a dot.
            if let Some(point) = at(n, found.workload.clone()) {
                let gap = Point::at(point.x, None);
                marks.extend([point, gap]);
            }
        };
        if !found.curve.is_rising {
            mark(&mut knees, found.curve.knee);
        }
        found.curve.odd.iter().for_each(|point| mark(&mut odd, point.point));
    }
    let marks = [("knee", "line knee", knees), ("out of line", "line odd", odd)];
    let line = |(name, style, points): (&str, _, Vec<Point>)| Line::new(name, style, points);
    (curves, marks.map(line).into_iter().filter(|line| !line.points.is_empty()).collect())
}

/// ` (scenario)` where all curves are of one.
fn part(findings: &[&Finding]) -> String {
    let scenario = findings.first().map_or("", |found| found.scenario.as_str());
    let is_one = !scenario.is_empty() && findings.iter().all(|found| found.scenario == scenario);
    if is_one { format!(" ({scenario})") } else { String::new() }
}

/// The ceiling of each curve as a line; curves of the same ceiling share one.
fn roofs(
    rows: &[ResultRow],
    findings: &[&Finding],
    reached: &[Reached],
    most: &dyn Fn(&Reached) -> Option<f64>,
) -> Vec<Line> {
    let mut roofs: Vec<(Line, Vec<String>)> = Vec::new();
    for (found, style) in findings.iter().zip(ROOFS) {
        let at = |(setting, along): (&Setting, &f64)| {
            let mine = |row: &&ResultRow| found.has(row) && row.sweep.contains(setting);
            let y = rows.iter().find(mine).and_then(|row| ceiling_of(reached, row)).and_then(most);
            Point::at(*along, y)
        };
        let points: Vec<Point> = found.settings.iter().zip(&found.along).map(at).collect();
        if points.iter().all(|point| point.y.is_none()) {
            continue;
        }
        match roofs.iter_mut().find(|(line, _)| line.points == points) {
            Some((line, names)) => {
                line.style = "line roof";
                names.push(name(found));
            }
            None => roofs.push((Line { name: String::new(), style, points }, vec![name(found)])),
        }
    }
    let all_share = roofs.len() == 1;
    let named = |(line, names): (Line, Vec<String>)| {
        let of = if all_share { String::new() } else { format!(" of {}", names.join(", ")) };
        Line { name: format!("ceiling{of}"), ..line }
    };
    roofs.into_iter().map(named).collect()
}

/// The line without the places that lie above the picture; its name says so where none is left.
fn below(line: Line, top: f64) -> Line {
    let seen = |point: Point| Point { y: point.y.filter(|y| *y <= top), ..point };
    let points: Vec<Point> = line.points.into_iter().map(seen).collect();
    let is_seen = points.iter().any(|point| point.y.is_some());
    let name = if is_seen { line.name } else { format!("{} (above the picture)", line.name) };
    Line { name, points, ..line }
}

fn mebibytes(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { words::mib_per_s(value * words::MEBI) }
}

fn is_large(rows: &[ResultRow], found: &Finding) -> bool {
    large_bytes(rows, found).is_some()
}

pub(crate) fn name(found: &Finding) -> String {
    let others = words::sweep(&found.others, None);
    let others = if others.is_empty() { others } else { format!(" ({others})") };
    // Most names say their direction themselves.
    let op = match found.ops.one() {
        Some(op) if found.workload.contains(op.name()) => String::new(),
        _ => format!(" {}", found.ops.name()),
    };
    format!("{}{op}{others}", found.workload)
}

fn peaks(rows: &[ResultRow], findings: &[Finding]) -> Markup {
    let level = |found: &Finding, say: &dyn Fn(f64) -> String| found.curve.sustained.map(say);
    let label = |found: &Finding, n: usize| found.label(n).unwrap_or("–").to_owned();
    let say =
        |found: &Finding, value: f64| findings::figure(found, value, large_bytes(rows, found));
    let peak = |found: &Finding| found.values.get(found.curve.peak).copied().unwrap_or(0.0);
    Table::of(findings.iter().filter(|found| found.covers != Covers::Beside))
        .name("Curve", name)
        .words("Over", |found| &found.axis)
        .words("Peak", |found| say(found, peak(found)))
        .words("at", |found| label(found, found.curve.peak))
        .words("Sustained", |found| level(found, &|value| say(found, value)))
        .words("from", |found| level(found, &|_| label(found, found.curve.knee)))
        .words("to", |found| level(found, &|_| label(found, found.curve.plateau_end)))
        .bare()
        .caption(
            "Sustained: the median of the values within 5 % of the peak; it begins at the knee. \
             –: the last value is the peak; sweep further.",
        )
        .scroll()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{Recorded, W, has};
    use analysis::Ops;
    use model::Op;

    fn charts_of(rows: &[ResultRow]) -> Markup {
        charts(&Recorded::new(W).record(), rows, &[])
    }

    #[test]
    fn a_swept_size_stands_beside_the_footprint_that_it_comes_to() {
        let sizes = "[layout]\nfiles = 2\n[[workload]]\nname = \"w\"\nread = \"100%\"\n\
                     [sweep]\nsize = [\"10MB\", \"50MB\"]\n";
        let record = crate::ground::testing::swept(sizes, vec![vec![1_000; 10]; 2]);
        let drawn = charts(&record, &analysis::results(&record), &[]).into_string();
        assert!(drawn.contains(">10MB (") && drawn.contains(" MB)<"), "{drawn}");
    }

    #[test]
    fn parts_of_other_workloads_are_a_chart_each_and_scenarios_of_one_share_theirs() {
        let mut rows = swept("depth = \"1..16 x2\"", &[10, 20, 40, 41, 41]);
        let mut other = rows.clone();
        rows.iter_mut().for_each(|row| row.scenario = "one".to_owned());
        other.iter_mut().for_each(|row| row.scenario = "two".to_owned());
        let both = [rows.clone(), other.clone()].concat();
        assert_eq!(charts_of(&both).into_string().matches("<figcaption").count(), 1);
        other.iter_mut().for_each(|row| row.workload = "v".to_owned());
        let parts = charts_of(&[rows, other].concat()).into_string();
        has(&parts, &["over depth (one)", "over depth (two)"]);
    }

    /// A sweep whose points carry so many reads each.
    fn swept(axis: &str, counts: &[usize]) -> Vec<ResultRow> {
        let counts = counts.iter().map(|count| vec![1_000; *count]);
        analysis::results(&crate::ground::testing::swept(&format!("{W}[sweep]\n{axis}\n"), counts))
    }

    #[test]
    fn few_values_are_bars_and_many_numbers_are_lines_with_their_knee() {
        let bars =
            charts_of(&swept("size = [\"1MiB\", \"2MiB\", \"4MiB\"]", &[90, 60, 30])).into_string();
        has(&bars, &["Requests per second by size", "Mean latency by size"]);
        assert_eq!(bars.matches("class=\"groups\"").count(), 3);
        let lines = charts_of(&swept("depth = \"1..16 x2\"", &[10, 20, 40, 41, 41])).into_string();
        has(&lines, &["Requests per second over depth", "dot line knee"]);
        assert!(lines.contains("Sustained") && !lines.contains("class=\"groups\""));
    }

    #[test]
    fn large_requests_and_small_ones_are_a_chart_each() {
        let mut rows = swept("depth = \"1..16 x2\"", &[10, 20, 40, 41, 41]);
        let mut large = rows.clone();
        for row in &mut large {
            (row.workload, row.bytes) = ("large".to_owned(), row.ios << 23);
        }
        rows.extend(large);
        let lines = charts_of(&rows).into_string();
        has(&lines, &["Requests per second over depth", "Bandwidth in MiB/s over depth"]);
    }

    #[test]
    fn operations_that_lie_factors_of_ten_apart_share_a_log_axis() {
        let mut rows = swept("depth = \"1..16 x2\"", &[10, 20, 40, 41, 41]);
        rows.iter_mut().for_each(|row| row.ops = Ops::One(Op::Create));
        let mut fast = rows.clone();
        for row in &mut fast {
            (row.ops, row.ios) = (Ops::One(Op::Stat), row.ios * 100);
        }
        rows.extend(fast);
        let lines = charts_of(&rows).into_string();
        assert!(lines.contains("Operations per second (log10) over depth"), "{lines}");
        assert!(!lines.contains("Requests per second"), "{lines}");
    }

    #[test]
    fn without_a_sweep_there_is_no_chart() {
        assert_eq!(charts_of(&swept("repetitions = 2", &[10, 20])), Markup::new());
        assert_eq!(charts_of(&[]), Markup::new());
    }
}
