//! Runs beside each other, of which at least one holds results of another tool.

use super::{figure, value};
use crate::ground::folding::hung;
use crate::ground::markup::{Markup, classed, plain as plain_element};
use crate::ground::words;
use crate::pens::json::plain;
use crate::pens::terminal::{self as columns, Column};
use analysis::foreign::{Beside, BesideFigure, BesideRow, Figure, beside};
use model::foreign::GivenRow;
use model::printable;
use serde_json::{Value, json};

/// The version of the object; raised when a field changes its meaning.
const FORMAT: u32 = 1;

/// Said wherever differences are told.
pub const NO_INTERVAL: &str = "no interval: foreign results hold no samples, so that any \
                               difference may be chance";

/// A run with its rows, its own or those of other tools.
#[derive(Clone, Debug)]
pub struct Side {
    /// What it is called.
    pub name: String,
    /// Whether another tool measured it.
    pub is_foreign: bool,
    /// When it was measured, in ns since 1970, where that is known.
    pub measured_unix_ns: Option<u64>,
    /// What was measured.
    pub rows: Vec<GivenRow>,
}

impl Side {
    fn head(&self) -> String {
        let foreign = if self.is_foreign { " (foreign)" } else { "" };
        format!("{}{foreign}", self.name)
    }
}

/// The runs beside each other.
pub fn of(sides: &[Side]) -> Beside {
    let rows: Vec<&[GivenRow]> = sides.iter().map(|side| side.rows.as_slice()).collect();
    beside(&rows)
}

fn name(row: &BesideRow) -> String {
    let op = row.op.map_or("all", model::Op::name);
    let nth = if row.nth > 0 { format!(" ({})", row.nth + 1) } else { String::new() };
    format!("{} {op}{nth}", row.workload)
}

fn percent(value: f64) -> String {
    format!("{value:+.1} %")
}

fn cell(found: &BesideFigure, run: usize) -> String {
    let Some(shown) = found.values.get(run).copied().flatten() else { return "–".to_owned() };
    let is_of_completion = found.of_completion.get(run) == Some(&true);
    let mark = if is_of_completion { " (completion)" } else { "" };
    format!("{}{mark}", value(found.figure, shown))
}

fn change(found: &BesideFigure, run: usize) -> String {
    found.percent(run).map_or_else(|| "–".to_owned(), percent)
}

/// Each figure of each row, a column for each run, and what differs from the first.
pub fn compared(sides: &[Side], room: Option<usize>) -> String {
    let found = of(sides);
    let mut columns =
        vec![Column::names("workload"), Column::names("figure"), Column::figures(&sides[0].head())];
    for side in &sides[1..] {
        columns.push(Column::figures(&side.head()));
        columns.push(Column::figures("change"));
    }
    for row in &found.rows {
        for figure in &row.figures {
            let mut cells = vec![name(row), self::figure(figure.figure), cell(figure, 0)];
            for run in 1..sides.len() {
                cells.push(cell(figure, run));
                cells.push(change(figure, run));
            }
            columns::row(&mut columns, cells);
        }
    }
    let mut text = columns::within(columns, room);
    text.push('\n');
    let mut line = |head: &str, words: &str| {
        let words = printable::line(words);
        text.push_str(&hung(&format!("{head:<10}"), &words, 10, room.unwrap_or(100)));
        text.push('\n');
    };
    line("given", NO_INTERVAL);
    let is_marked =
        |row: &BesideRow| row.figures.iter().any(|figure| figure.of_completion.contains(&true));
    if found.rows.iter().any(is_marked) {
        line("spans", "(completion) is without the submission: not compared with whole requests");
    }
    for (run, name) in found.alone.iter().take(20) {
        line("alone", &format!("{name}: only {} has it", sides[*run].name));
    }
    text
}

/// The same for programs.
pub fn compared_json(sides: &[Side]) -> Value {
    let found = of(sides);
    let row = |row: &BesideRow| {
        let of = |found: &BesideFigure| {
            let changes: Vec<Option<f64>> =
                (1..sides.len()).map(|run| found.percent(run)).collect();
            json!({ "figure": key(found.figure), "values": found.values, "percent": changes,
                    "of_completion": found.of_completion, "interval": null })
        };
        json!({ "workload": row.workload, "op": row.op.map(model::Op::name), "nth": row.nth,
                "figures": row.figures.iter().map(of).collect::<Vec<_>>() })
    };
    let alone = |(run, name): &(usize, String)| json!({ "run": sides[*run].name, "result": name });
    plain(json!({
        "format": FORMAT,
        "foreign": true,
        "runs": sides.iter().map(of_side).collect::<Vec<_>>(),
        "rows": found.rows.iter().map(row).collect::<Vec<_>>(),
        "alone": found.alone.iter().map(alone).collect::<Vec<_>>(),
        "words": NO_INTERVAL,
    }))
}

fn of_side(side: &Side) -> Value {
    json!({ "name": side.name, "foreign": side.is_foreign,
            "measured_unix_ns": side.measured_unix_ns })
}

/// A stable name of a figure: its unit is its last word.
fn key(figure: Figure) -> String {
    match figure {
        Figure::Rate => "rate_per_s".to_owned(),
        Figure::Bandwidth => "bytes_per_s".to_owned(),
        Figure::Latency(span, statistic) => {
            format!("{}_{}_ns", span.word(), super::statistic(statistic).replace('.', "_"))
        }
    }
}

/// Runs in the order of time: those without a time come first, in the order in which they were
/// named.
pub fn in_time(mut sides: Vec<Side>) -> Vec<Side> {
    sides.sort_by_key(|side| side.measured_unix_ns);
    sides
}

/// A block for each row, a line for each run.
pub fn trend(sides: &[Side], room: Option<usize>) -> String {
    let found = of(sides);
    let mut text = format!("{} in the order of time\n", words::counted(sides.len() as u64, "run"));
    for row in &found.rows {
        text.push_str(&format!("\n{}\n", printable::line(&name(row))));
        let mut columns = vec![Column::names("run"), Column::names("measured")];
        columns.extend(row.figures.iter().map(|of| Column::figures(&figure(of.figure))));
        for (run, side) in sides.iter().enumerate() {
            let when = side.measured_unix_ns.map_or_else(|| "–".to_owned(), words::utc);
            let mut cells = vec![side.head(), when];
            cells.extend(row.figures.iter().map(|figure| cell(figure, run)));
            columns::row(&mut columns, cells);
        }
        text.push_str(&columns::within(columns, room));
    }
    text.push_str(&format!("\n{NO_INTERVAL}\n"));
    text
}

/// The comparison as a section of a page.
pub fn section(sides: &[Side]) -> Markup {
    let found = of(sides);
    let mut head: Vec<Markup> =
        ["workload", "figure"].into_iter().map(|head| plain_element("th", head)).collect();
    head.push(plain_element("th", sides[0].head()));
    for side in &sides[1..] {
        head.push(plain_element("th", side.head()));
        head.push(plain_element("th", "change"));
    }
    let mut rows = Markup::new();
    for row in &found.rows {
        for of in &row.figures {
            let mut cells: Vec<Markup> = [name(row), figure(of.figure), cell(of, 0)]
                .map(|cell| plain_element("td", cell))
                .into();
            for run in 1..sides.len() {
                cells.push(plain_element("td", cell(of, run)));
                cells.push(plain_element("td", change(of, run)));
            }
            rows.push(plain_element("tr", cells.into_iter().collect::<Markup>()));
        }
    }
    let head = plain_element("thead", plain_element("tr", head.into_iter().collect::<Markup>()));
    let table = plain_element("table", [head, plain_element("tbody", rows)]);
    plain_element(
        "section",
        [
            plain_element("h2", "Beside each other"),
            classed("div", "scroll", table),
            plain_element("p", format!("Differences have {NO_INTERVAL}.")),
        ],
    )
}
