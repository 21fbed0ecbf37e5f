//! One workload after the other: how it went over time, and how its latencies are spread.

pub(crate) mod hosts_over_time;
pub(crate) mod latency_map;

use super::objective::limits;
use super::results::row::{ceiling_of, name};
use crate::ground::chart::{Axis, Bands, Line, Lines, Point, Scale, ends, reach};
use crate::ground::markup::{Markup, classed, plain};
use crate::ground::moment::time_words;
use crate::ground::words;
use crate::pens::Table;
use crate::pens::contents::folded;
use analysis::ceiling::{Limit, Reached};
use analysis::{Covers, Offer, Ops, QUANTILES, ResultRow, SeriesPoint, series};
use model::{Histogram, Objective, Op, Record};

/// More sections than this are folded.
const MOST_OPEN: usize = 2;
/// More places than this on a line cannot be told apart on a page.
const MOST_POINTS: usize = 240;
/// With fewer, a course over time has no shape.
const LEAST_POINTS: usize = 16;
/// Quantiles are drawn so many times in each tenfold step towards 1.
const STEPS: u32 = 20;
/// So many sections may have all that they can use; more of them share [`POINTS_OF_PAGE`].
const FULL_SECTIONS: usize = 8;
/// So many sections have fine maps of latencies; those of more would weigh as much as all the rest.
const MOST_FINE_MAPS: usize = 32;
/// So many places the sections of a page of many have together: it must still open at once.
const POINTS_OF_PAGE: usize = 800;
/// A quantile is drawn while at least so many requests lie beyond it (see `docs/method`).
const LEAST_BEYOND: f64 = 10.0;

/// A section for each workload of each point, and for those that ran at the same time.
pub fn sections(record: &Record, rows: &[ResultRow], reached: &[Reached]) -> Markup {
    let points = rows.chunk_by(|a, b| (a.point, a.index) == (b.point, b.index));
    let fineness = Fineness::of(points.clone().count());
    if points.clone().count() <= MOST_OPEN {
        return points.map(|rows| section(record, rows, reached, fineness)).collect();
    }
    let mut all = plain("h2", "Each point over time");
    all.push(classed("p", "lead", "Open a line for its charts."));
    all.push(
        points
            .map(|rows| folded(headline(rows), section(record, rows, reached, fineness)))
            .collect::<Markup>(),
    );
    plain("section", all)
}

/// The line that a folded section leaves: name, rate and p99 of the whole.
fn headline(rows: &[ResultRow]) -> Markup {
    let Some(first) = rows.first() else { return Markup::new() };
    let whole = rows.iter().find(|row| row.is_whole()).unwrap_or(first);
    let figures = format!(
        " {} {}, p99 {}",
        words::iops(whole.iops()),
        words::rate_unit(whole.is_metadata()),
        words::latency(whole.latency.quantile_ns(0.99))
    );
    [plain("strong", name(first)), classed("span", "of", figures)].into()
}

/// How finely the lines of a section are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fineness {
    /// Of the maps of latencies.
    bands: Bands,
    /// Places on a line over time.
    points: usize,
    /// Quantiles in each tenfold step towards 1.
    steps: u32,
}

impl Fineness {
    /// Where there are so many sections.
    fn of(sections: usize) -> Fineness {
        if sections <= FULL_SECTIONS {
            return Fineness { bands: Bands::FINE, points: MOST_POINTS, steps: STEPS };
        }
        let points = (POINTS_OF_PAGE / sections).clamp(LEAST_POINTS, MOST_POINTS);
        Fineness {
            bands: if sections <= MOST_FINE_MAPS { Bands::FINE } else { Bands::COARSE },
            points,
            steps: STEPS / 4,
        }
    }
}

/// How one workload of one point went over time, with its instants.
pub fn course(
    record: &Record,
    rows: &[ResultRow],
    reached: &[Reached],
    instants: &[(f64, String)],
) -> Option<Markup> {
    let first = rows.first()?;
    let drawn: Vec<(Ops, Vec<SeriesPoint>)> =
        rows.iter().map(|row| (row.ops, series(record, row, MOST_POINTS).points)).collect();
    let asked = asked(rows, &drawn);
    let chart = rate(&drawn, first.is_metadata(), ceiling_of(reached, first), asked);
    let title = format!("{}: {}", name(first), chart.title);
    Some(Lines { title, ..chart }.render_with(instants))
}

fn section(record: &Record, rows: &[ResultRow], reached: &[Reached], fineness: Fineness) -> Markup {
    let most = fineness.points;
    let Some(first) = rows.first() else { return Markup::new() };
    let mut intervals = 0;
    let of_row = |row: &ResultRow| {
        let series = series(record, row, most);
        intervals = series.intervals;
        (row.ops, series.points)
    };
    let drawn: Vec<(Ops, Vec<SeriesPoint>)> = rows.iter().map(of_row).collect();
    let instants = crate::topics::occurrences::on_axis(record, first.stage);
    let is_metadata = rows.iter().any(ResultRow::is_metadata);
    let asked = asked(rows, &drawn);
    let chart = rate(&drawn, is_metadata, ceiling_of(reached, first), asked);
    let mut charts = chart.render_with(&instants);
    // Of a total beside its parts, a page of many sections has the rate alone.
    let is_full = fineness.points == MOST_POINTS || rows.len() == 1;
    let detailed: Vec<&(Ops, Vec<SeriesPoint>)> =
        drawn.iter().filter(|(ops, _)| is_full || ops.one().is_some()).collect();
    for (ops, points) in &detailed {
        let objective = record.plan.objective.as_ref();
        charts.push(latency(*ops, points, rows.len() > 1, objective).render_with(&instants));
        // A map of several operations would show their levels beside each other: theirs do so by
        // name.
        let is_mapped = ops.one().is_some() || rows.len() == 1;
        if let Some(map) =
            latency_map::map(*ops, points, rows.len() > 1, fineness.bands).filter(|_| is_mapped)
        {
            charts.push(map.render_with(&instants));
        }
    }
    if let Some(work) = first.index {
        charts.push(hosts_over_time::chart(record, first.stage, work, most, &instants));
    }
    let told: Vec<&ResultRow> =
        rows.iter().filter(|row| is_full || row.ops.one().is_some()).collect();
    charts.push(distribution(&told, fineness.steps).render());
    charts.push(figures(&told));
    let mut content = plain("h2", name(first));
    let lead = |said: String| classed("p", "lead", said);
    let together = || "These workloads ran at the same time: all their requests together.".into();
    content.push(lead(first.work().map_or_else(together, |work| words::work(work, first.workers))));
    let others = others(record, first).filter(|_| first.index.is_some());
    content.push(
        others.map(|others| lead(format!("At the same time as {others}."))).unwrap_or_default(),
    );
    let done = |row: &ResultRow| {
        let done = row.done.filter(|_| row.covers != Covers::Beside)?;
        Some(lead(format!("{}: {}.", row.ops.name(), words::done(row, &done))))
    };
    content.push(rows.iter().filter_map(done).collect::<Markup>());
    content.push(merged_words(
        intervals,
        drawn.first().map_or(0, |(_, points)| points.len()),
        most,
    ));
    content.push(classed("div", "charts", charts));
    content.push(data(&detailed, is_metadata, intervals));
    classed("section", "workload", content)
}

fn others(record: &Record, row: &ResultRow) -> Option<String> {
    let point = record.plan.points.get(row.point as usize)?;
    let others: Vec<&str> =
        point.workloads.iter().map(String::as_str).filter(|name| *name != row.workload).collect();
    (!others.is_empty()).then(|| others.join(", "))
}

/// That intervals were merged, where they were: beside the charts, because a short dip is flatter
/// in a longer stretch.
fn merged_words(intervals: usize, drawn: usize, most: usize) -> Markup {
    if drawn == 0 || drawn == intervals {
        return Markup::new();
    }
    let text = format!(
        "Each point of a line merges up to {} neighbouring intervals ({} in all). Rates and \
         quantiles are those of all their requests.",
        intervals.div_ceil(most),
        words::count(intervals as u64)
    );
    classed("p", "remark", text)
}

/// Where an interval stands on the axis of time: at its end, when its figures were known.
fn end_s(point: &SeriesPoint) -> f64 {
    point.start_s + point.length_s
}

/// The style of an operation's line.
pub fn line_of(op: Op) -> &'static str {
    match op {
        Op::Read => "line read",
        Op::Write => "line write",
        Op::Fsync => "line fsync",
        Op::Trim => "line trim",
        _ => "line metadata",
    }
}

/// The styles of lines of several operations on files, which can be told in grey.
const OF_FILES: [&str; 5] =
    ["line metadata", "line write", "line third", "line fourth", "line fifth"];

/// The style of an operation's line that is number `place` in its chart: those of files differ by
/// their places, the sixth being like the first.
pub fn line_at(op: Op, place: usize) -> &'static str {
    if op.is_metadata() { OF_FILES[place % OF_FILES.len()] } else { line_of(op) }
}

fn line_of_row(ops: Ops) -> &'static str {
    ops.one().map_or("line sixth", line_of)
}

/// What was asked for over time, where the rate changes; bytes as requests of the size that they
/// had.
fn asked(rows: &[ResultRow], series: &[(Ops, Vec<SeriesPoint>)]) -> Option<Line> {
    let (row, (_, points)) =
        rows.iter().zip(series).find(|(row, _)| Offer::of_changing(row).is_some())?;
    let offer = Offer::of_changing(row)?;
    let unit = match offer.counts_bytes() {
        true if row.ios == 0 => return None,
        true => row.bytes as f64 / row.ios as f64,
        false => 1.0,
    };
    let rate = |point: &SeriesPoint| offer.due_in(point) / unit / point.length_s.max(1e-9);
    let at = |point: &SeriesPoint| Point::at(end_s(point), rate(point));
    Some(Line::new("asked", "line roof", points.iter().map(at)))
}

fn rate(
    series: &[(Ops, Vec<SeriesPoint>)],
    is_metadata: bool,
    reached: Option<&Reached>,
    asked: Option<Line>,
) -> Lines {
    let line = |(place, (ops, points)): (usize, &(Ops, Vec<SeriesPoint>))| {
        let style = ops.one().map_or_else(|| line_of_row(*ops), |op| line_at(op, place));
        Line::new(ops.name(), style, points.iter().map(rate_at))
    };
    let mut lines: Vec<Line> = series.iter().enumerate().map(line).collect();
    let (least, most) = ends(&lines);
    let ceiling = reached.and_then(|one| one.ceiling.binding());
    let of_asked = asked.iter().flat_map(|line| &line.points).filter_map(|point| point.y);
    let drawn = of_asked.fold(most, f64::max);
    let top = reach(std::iter::once(drawn), ceiling.iter().map(|limit| limit.iops));
    lines.extend(asked);
    lines.extend(ceiling.map(|limit| roof(series, limit, top)));
    let end_s = series.iter().flat_map(|(_, points)| points).map(end_s).fold(0.0, f64::max);
    let title = format!("{} over time", if is_metadata { "Operations per second" } else { "IOPS" });
    Lines {
        description: format!(
            "From {} to {} requests per second",
            words::iops(least.min(most)),
            words::iops(most)
        ),
        ..Lines::over_time(title, end_s, Axis::iops(top), lines)
    }
}

/// The ceiling from the first place to the last; a name alone where it lies far above the picture,
/// which ends at `top`.
fn roof(series: &[(Ops, Vec<SeriesPoint>)], limit: Limit, top: f64) -> Line {
    let ends =
        series.iter().filter_map(|(_, points)| Some([points.first()?, points.last()?])).next();
    let at = |point: &SeriesPoint| Point::at(end_s(point), limit.iops);
    let points = if limit.iops <= top { ends.map(|ends| ends.map(at)) } else { None };
    let both = if series.len() > 1 { ", all together" } else { "" };
    let far = if points.is_none() { ", above the picture" } else { "" };
    let layer = crate::topics::ceiling::layer(limit.layer);
    let name = format!("ceiling {} ({layer}{both}{far})", words::iops(limit.iops));
    Line::new(name, "line roof", points.into_iter().flatten())
}

fn rate_at(point: &SeriesPoint) -> Point {
    Point { x: end_s(point), y: Some(point.iops()), also: words::bandwidth(point.bytes_per_s()) }
}

/// The lines of the latency chart: name, style, quantile (above 1: the maximum).
pub const LATENCIES: [(&str, &str, f64); 4] = [
    ("p50", "line q50", 0.5),
    ("p99", "line q99", 0.99),
    ("p99.9", "line q999", 0.999),
    ("max", "line max", 2.0),
];

fn latency(ops: Ops, points: &[SeriesPoint], is_mix: bool, objective: Option<&Objective>) -> Lines {
    let value = |point: &SeriesPoint, share: f64| {
        let ns =
            if share > 1.0 { point.latency.max_ns() } else { point.latency.quantile_ns(share) };
        ns.map(|ns| (ns as f64).max(1.0))
    };
    let line = |(name, style, share)| {
        let at = |point: &SeriesPoint| Point::at(end_s(point), value(point, share));
        Line::new(name, style, points.iter().map(at))
    };
    let mut lines = LATENCIES.map(line).to_vec();
    let last = points.iter().map(end_s).fold(0.0, f64::max);
    lines.extend(objective.into_iter().flat_map(|objective| limits(objective, [0.0, last])));
    let of = if is_mix { format!(", {}", ops.name()) } else { String::new() };
    Lines::latencies(format!("Latency over time{of}"), last, lines)
}

/// Latency against the share of requests that did not exceed it, on an axis of nines.
fn distribution(rows: &[&ResultRow], steps: u32) -> Lines {
    let lines: Vec<Line> = rows.iter().map(|row| quantiles(row.ops, &row.latency, steps)).collect();
    let (least, most) = ends(&lines);
    let all = lines.iter().flat_map(|line| &line.points);
    let nines = all.map(|point| -(1.0 - point.x).log10()).fold(1.0, f64::max);
    Lines {
        title: "Latency distribution".to_owned(),
        description: "The latency that a share of the requests did not exceed".to_owned(),
        x: Axis {
            name: "share of requests",
            scale: Scale::Nines { most: nines },
            words: share_words,
        },
        y: Axis::latency(least, most),
        lines,
    }
}

fn quantiles(ops: Ops, latency: &Histogram, fine: u32) -> Line {
    let supported = (latency.count() as f64 / LEAST_BEYOND).log10().clamp(0.0, 4.0);
    let steps =
        if latency.count() == 0 { 0 } else { (supported * f64::from(fine) + 1e-6) as u32 + 1 };
    let point = |step: u32| {
        let share = 1.0 - 10f64.powf(-f64::from(step) / f64::from(fine));
        Point::at(share, latency.quantile_ns(share).map(|ns| (ns as f64).max(1.0)))
    };
    Line::new(ops.name(), line_of_row(ops), (0..steps).map(point))
}

fn figures(rows: &[&ResultRow]) -> Markup {
    type Line<'a> = (&'a str, &'a dyn Fn(&ResultRow) -> Markup);
    let mean: Line<'_> = ("mean", &|row| words::mean(&row.latency).into());
    let max: Line<'_> = ("max", &|row| words::longest(row).into());
    let quantiles = QUANTILES.map(|one| (one.name, move |row: &_| quantile_words(row, one.share)));
    let middle = quantiles.iter().map(|(name, words)| -> Line<'_> { (name, words) });
    let lines = [mean].into_iter().chain(middle).chain([max]);
    let mut table = Table::of(lines).name("", |(name, _)| name).bare().of_class("figures");
    for row in rows {
        let head = format!("{}, {}", row.ops.name(), words::counted(row.ios, "request"));
        table = table.figure(head, |(_, words)| words(row));
    }
    plain("figure", [plain("figcaption", "Latency in figures"), table.html()])
}

/// A quantile, or that too few requests lie beyond it.
fn quantile_words(row: &ResultRow, share: f64) -> Markup {
    let value = words::latency(row.latency.quantile_ns(share));
    // The shares are not exact in binary.
    if row.ios as f64 * (1.0 - share) + 1e-6 >= LEAST_BEYOND {
        return Markup::from(value);
    }
    [Markup::from(value), classed("span", "thin", " (fewer than 10 beyond)")].into()
}

/// `0 %`, `90 %`, `99.9 %`: as many figures as it takes.
fn share_words(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = match 1.0 - share {
        rest if rest > 0.0099 => 0,
        rest if rest > 0.00099 => 1,
        _ => 2,
    };
    format!("{percent:.decimals$} %")
}

/// The numbers behind the charts, for those who would rather read them.
fn data(series: &[&(Ops, Vec<SeriesPoint>)], is_metadata: bool, intervals: usize) -> Markup {
    let rows = series.iter().map(|(_, points)| points.len()).max().unwrap_or(0);
    let of_interval = |index: usize| {
        series.iter().filter_map(move |(ops, points)| Some((*ops, points.get(index)?)))
    };
    let table = Table::of((0..rows).flat_map(of_interval))
        .figure("Time", |(_, point)| time_words(end_s(point)))
        .words("Op", |(ops, _)| ops.name())
        .figure("Requests", |(_, point)| words::count(point.ios))
        .figure(words::rate_unit(is_metadata), |(_, point)| words::iops(point.iops()))
        .figure("MiB/s", |(_, point)| words::mib_per_s(point.bytes_per_s()))
        .figure("p50", |(_, point)| words::quantile(&point.latency, 0.5))
        .figure("p99", |(_, point)| words::quantile(&point.latency, 0.99))
        .figure("p99.9", |(_, point)| words::quantile(&point.latency, 0.999))
        .figure("Max", |(_, point)| words::latency(point.latency.max_ns()))
        .bare();
    let summary = if rows < intervals {
        format!(
            "The numbers behind these charts ({intervals} intervals, neighbours merged to {rows})"
        )
    } else {
        "The numbers behind these charts".to_owned()
    };
    plain("details", [plain("summary", summary), table.scroll()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_sections_share_the_room_of_the_page() {
        let points = [0, 1, 8, 9, 50, 1_000].map(|sections| Fineness::of(sections).points);
        assert_eq!(points, [240, 240, 240, 88, 16, 16]);
    }

    #[test]
    fn quantiles_end_where_too_few_requests_lie_beyond() {
        let mut latency = Histogram::new();
        (0..10_000).for_each(|value| latency.record(value));
        let last =
            quantiles(Ops::One(Op::Read), &latency, STEPS).points.last().cloned().expect("points");
        assert!((last.x - 0.999).abs() < 1e-9, "{last:?}");
        assert!(quantiles(Ops::One(Op::Read), &Histogram::new(), STEPS).points.is_empty());
    }

    #[test]
    fn shares_have_as_many_figures_as_it_takes() {
        let told: Vec<String> = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999].map(share_words).into();
        assert_eq!(told, ["0 %", "50 %", "90 %", "99 %", "99.9 %", "99.99 %"]);
    }
}
