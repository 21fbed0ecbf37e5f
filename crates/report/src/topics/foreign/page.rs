//! The page of results of other tools: the same pieces as those of ours, and marked as foreign in
//! its title.

use super::beside::{self, Side};
use super::table::given_rows;
use super::{NOT_QUOTABLE, doubt, lack, latency, row_name, tool, tools};
use crate::ground::chart::{Axis, Line, Lines, Point, Scale};
use crate::ground::gather::each_once;
use crate::ground::markup::{Markup, classed, list_under, plain, under};
use crate::ground::moment::latency_words;
use crate::ground::words;
use crate::pens::Table;
use analysis::foreign::lacks;
use model::foreign::{ForeignRun, GivenOption, GivenRow, GivenSeries, Measured};

/// No page has more charts, lines of options or quantiles.
const MOST: usize = 60;

/// The title and the body of the page of one or more runs of other tools' results; `sides` are all
/// runs that it tells of, our own among them.
pub fn content(runs: &[&ForeignRun], sides: &[Side]) -> (String, Markup) {
    let title = match runs {
        [one] if sides.len() < 2 => format!("{}: foreign results of {}", one.name, tools(one)),
        _ => format!("{} runs with foreign results", sides.len()),
    };
    let mut body = Markup::new();
    if sides.len() > 1 {
        body.push(plain("header", plain("h1", title.clone())));
        body.push(beside::section(sides));
    }
    runs.iter().for_each(|run| body.push(article(run)));
    (format!("{title}: Plimsoll report"), body)
}

fn article(run: &ForeignRun) -> Markup {
    let mut head = plain("h1", run.name.clone());
    let measured = run.measured_unix_ns.map(words::utc);
    let facts = [
        format!("foreign: measured by {}", tools(run)),
        measured.map_or_else(|| "time not given".to_owned(), |when| format!("of {when}")),
        format!("imported {} by Plimsoll {}", words::utc(run.imported_unix_ns), run.version),
    ];
    head.push(classed("p", "facts", facts.join(" · ")));
    let mut content = plain("header", head);
    let given = "Every figure is as the tool gave it. No interval of confidence is known.";
    content.push(under("Results", [given_rows(&run.rows).scroll(), plain("p", given)]));
    content.push(list_under("Doubts", run.doubts.iter().take(MOST).map(doubt)));
    let mut missing: Vec<String> =
        lacks(run).iter().map(|found| lack(found, run.rows.len())).collect();
    missing.push(NOT_QUOTABLE.to_owned());
    content.push(list_under("What these results do not hold", missing));
    let charts: Markup = run
        .rows
        .iter()
        .flat_map(|row| row.series.iter().filter_map(move |series| chart(row, series)))
        .take(MOST)
        .collect();
    if !charts.nodes().is_empty() {
        let charts = classed("div", "charts", charts);
        content.push(plain("section", [plain("h2", "Over time"), charts]));
    }
    content.push(plain("section", [plain("h2", "Sources"), sources(run)]));
    content.push(plain("section", [plain("h2", "Options as given"), options(&run.rows)]));
    classed("article", "run", content)
}

fn sources(run: &ForeignRun) -> Markup {
    Table::of(&run.sources)
        .words("file", |source| &source.file)
        .words("tool", tool)
        .words("form", |source| source.form.word())
        .words("bytes", |source| words::count(source.bytes))
        .words("SHA-256", |source| &source.sha256)
        .plain()
        .scroll()
}

fn options(rows: &[GivenRow]) -> Markup {
    let option = |option: &GivenOption| match option.value.as_str() {
        "" => option.name.clone(),
        value => format!("{}={value}", option.name),
    };
    let cells = |row: &GivenRow| {
        let all: Vec<String> = row.options.iter().map(option).collect();
        [row.workload.clone(), all.join(" ")]
    };
    let mut told = each_once(rows.iter().filter(|row| !row.options.is_empty()).map(cells));
    told.truncate(MOST);
    match told.is_empty() {
        true => plain("p", "The source says none."),
        false => Table::of(&told)
            .words("workload", |cells| &cells[0])
            .words("options", |cells| &cells[1])
            .plain()
            .scroll(),
    }
}

fn chart(row: &GivenRow, series: &GivenSeries) -> Option<Markup> {
    let last = series.points.last()?.at_ms;
    let what = match series.quantity.measured {
        Measured::Bandwidth => "bandwidth",
        Measured::Latency => "mean latency",
        _ => "requests per second",
    };
    let unit = if series.quantity.measured == Measured::Bandwidth { words::MEBI } else { 1.0 };
    let words_of: fn(f64) -> String = match series.quantity.measured {
        Measured::Bandwidth => words::mebi_per_s,
        Measured::Latency => latency_words,
        _ => words::iops,
    };
    let largest = series.points.iter().map(|point| point.value / unit).fold(0.0, f64::max);
    let place =
        |point: &model::foreign::Point| Point::at(point.at_ms as f64 / 1e3, point.value / unit);
    let name = row_name(row);
    Some(
        Lines {
            title: format!("{name}: {what} over time, as given"),
            description: format!("{what} of {name}; the highest is {}", highest(series, largest)),
            x: Axis::time(last as f64 / 1e3),
            y: Axis::new(Scale::linear_to(largest), words_of),
            lines: vec![Line::new(name, "line read", series.points.iter().map(place))],
        }
        .render(),
    )
}

fn highest(series: &GivenSeries, largest: f64) -> String {
    match series.quantity.measured {
        Measured::Latency => latency(largest),
        Measured::Bandwidth => words::mebi_per_s(largest),
        _ => words::iops(largest),
    }
}
