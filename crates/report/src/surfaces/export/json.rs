//! Tables as one JSON object: under the name of each, a list of its rows, each an object with the
//! columns as its fields.

use super::{Cell, Column, Sink, Table};
use model::printable;
use serde_json::Value;
use std::io::{self, Write};

/// Writes JSON, each row in a line of its own.
pub struct Json<W> {
    out: W,
    /// The columns of the table that goes on, as keys that are written already.
    keys: Vec<String>,
    is_open: bool,
    rows: u64,
}

impl<W: Write> Json<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Json<W> {
        Json { out, keys: Vec::new(), is_open: false, rows: 0 }
    }

    /// What it wrote to.
    pub fn into_inner(self) -> W {
        self.out
    }
}

impl<W: Write> Sink for Json<W> {
    fn begin(&mut self, table: Table, columns: &[Column]) -> io::Result<()> {
        self.out.write_all(if self.is_open { b"\n],\n" } else { b"{\n\"format\": 2,\n" })?;
        self.keys = columns
            .iter()
            .map(|column| {
                printable::json(&Value::from(column.name.as_str()).to_string()).into_owned()
            })
            .collect();
        (self.is_open, self.rows) = (true, 0);
        write!(self.out, "\"{}\": [", table.name())
    }

    fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        let fields: Vec<String> = self
            .keys
            .iter()
            .zip(cells)
            .map(|(key, cell)| format!("{key}: {}", printable::json(&value(cell).to_string())))
            .collect();
        let lead = if self.rows == 0 { "\n" } else { ",\n" };
        self.rows += 1;
        write!(self.out, "{lead}{{{}}}", fields.join(", "))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.write_all(if self.is_open { b"\n]\n}\n" } else { b"{\"format\": 2}\n" })?;
        self.out.flush()
    }
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Nothing => Value::Null,
        Cell::Text(text) => Value::from(text.as_str()),
        Cell::Integer(value) => Value::from(Cell::integer(*value)),
        Cell::Real(value) => Value::from(*value),
    }
}
