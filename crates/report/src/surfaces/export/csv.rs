//! Tables as CSV by RFC 4180, in UTF-8, with the names of the columns in the first line; lines end
//! in a line feed alone.

use super::{Cell, Column, Sink, Table};
use model::printable;
use std::io::{self, Write};

/// Writes CSV; one table, for a file of CSV has no room for a second.
pub struct Csv<W> {
    out: W,
}

impl<W: Write> Csv<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Csv<W> {
        Csv { out }
    }

    /// What it wrote to.
    pub fn into_inner(self) -> W {
        self.out
    }
}

impl<W: Write> Sink for Csv<W> {
    fn begin(&mut self, _: Table, columns: &[Column]) -> io::Result<()> {
        let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
        writeln!(self.out, "{}", names.join(","))
    }

    fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        let cells: Vec<String> = cells.iter().map(written).collect();
        writeln!(self.out, "{}", cells.join(","))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn written(cell: &Cell) -> String {
    match cell {
        Cell::Nothing => String::new(),
        Cell::Text(text) => quoted(text),
        Cell::Integer(value) => Cell::integer(*value).to_string(),
        Cell::Real(value) => value.to_string(),
    }
}

/// What a spreadsheet takes for the beginning of a formula (OWASP, "CSV Injection").
const FORMULA: [char; 5] = ['=', '+', '-', '@', '\t'];

/// A text that is not computed where it is opened, in quotes if it needs them; an empty one always,
/// to be told from nothing.
fn quoted(text: &str) -> String {
    let text = printable::lines(text);
    let apart = if text.starts_with(FORMULA) { "'" } else { "" };
    let text = format!("{apart}{text}");
    if !text.is_empty() && !text.contains(['"', ',', '\n', '\r']) {
        return text;
    }
    format!("\"{}\"", text.replace('"', "\"\""))
}
