//! Runs beside each other, of which at least one holds results of another tool.

use super::{figure, headed, value};
use crate::ground::markup::{Markup, plain as plain_element};
use crate::ground::words;
use crate::pens::Table;
use crate::pens::json::{FORMAT, Value, each, object, plain};
use analysis::foreign::{Beside, BesideFigure, BesideRow, Figure, beside};
use model::foreign::GivenRow;
use model::printable;

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

fn table<'a>(sides: &[Side], found: &'a Beside) -> Table<(&'a BesideRow, &'a BesideFigure)> {
    let rows = found.rows.iter();
    let mut table = Table::of(rows.flat_map(|row| row.figures.iter().map(move |of| (row, of))))
        .words("workload", |(row, _)| name(row))
        .words("figure", |(_, of)| figure(of.figure))
        .plain();
    for (run, side) in sides.iter().enumerate() {
        table = table.figure(side.head(), |(_, of)| cell(of, run));
        if run > 0 {
            table = table.figure("change", |(_, of)| of.percent(run).map(percent));
        }
    }
    table
}

/// Each figure of each row, a column for each run, and what differs from the first.
pub fn compared(sides: &[Side], room: Option<usize>) -> String {
    let found = of(sides);
    let mut text = table(sides, &found).within(room);
    text.push('\n');
    let mut line = |head: &str, words: &str| {
        text.push_str(&headed(head, &printable::line(words), room));
    };
    line("given", NO_INTERVAL);
    let is_marked =
        |row: &BesideRow| row.figures.iter().any(|figure| figure.of_completion.contains(&true));
    if found.rows.iter().any(is_marked) {
        let told = "(completion) is without the submission: not compared with whole requests; fio \
                    has those with `lat_percentiles=1`";
        line("spans", told);
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
            object! {
                figure: key(found.figure), percent: changes, interval: (),
                ..found { values, of_completion },
            }
        };
        object! {
            op: row.op.map(model::Op::name), figures: each(&row.figures, of),
            ..row { workload, nth },
        }
    };
    let alone = |(run, name): &(usize, String)| object! { run: sides[*run].name, result: name };
    let run = |side: &Side| object! { foreign: side.is_foreign, ..side { name, measured_unix_ns } };
    plain(object! {
        format: FORMAT, foreign: true, runs: each(sides.iter(), run),
        rows: each(&found.rows, row), alone: each(&found.alone, alone), words: NO_INTERVAL,
    })
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
        let mut table = Table::of(sides.iter().enumerate())
            .words("run", |(_, side)| side.head())
            .words("measured", |(_, side)| side.measured_unix_ns.map(words::utc));
        for of in &row.figures {
            table = table.figure(figure(of.figure), |(run, _)| cell(of, run));
        }
        text.push_str(&table.within(room));
    }
    text.push_str(&format!("\n{NO_INTERVAL}\n"));
    text
}

/// The comparison as a section of a page.
pub fn section(sides: &[Side]) -> Markup {
    let found = of(sides);
    plain_element(
        "section",
        [
            plain_element("h2", "Beside each other"),
            table(sides, &found).scroll(),
            plain_element("p", format!("Differences have {NO_INTERVAL}.")),
        ],
    )
}
