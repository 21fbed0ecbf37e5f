//! A run as tidy tables for other programs: one row for each observation, one column for each
//! variable, units in the names of columns (H. Wickham, "Tidy Data", Journal of Statistical
//! Software 59 (10), 2014). `docs/reference/exports.md` lists them.
//!
//! [`Tables`] makes rows, a [`Sink`] writes them; neither holds more than a few at a time.

mod axis;
mod csv;
pub mod fio;
pub mod given;
mod json;
mod tables;

pub use csv::Csv;
pub use json::Json;
pub use tables::{Table, Tables};

use std::io;

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words.
    Text,
    /// Whole numbers from 0 to 2⁶³ − 1.
    Integer,
    /// Other numbers.
    Real,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, which ends in the unit where it has one.
    pub name: String,
    /// What stands in it, if not nothing.
    pub kind: Kind,
}

/// What stands in one row of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing: it was not measured, or there is none.
    Nothing,
    /// Words.
    Text(String),
    /// A whole number; above 2⁶³ − 1 it is that.
    Integer(u64),
    /// A finite number; what is not finite is nothing.
    Real(f64),
}

impl Cell {
    /// A whole number within what all formats can hold.
    fn integer(value: u64) -> i64 {
        i64::try_from(value).unwrap_or(i64::MAX)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(value: u64) -> Cell {
        Cell::Integer(value)
    }
}

impl From<u32> for Cell {
    fn from(value: u32) -> Cell {
        Cell::Integer(u64::from(value))
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Cell {
        if value.is_finite() { Cell::Real(value) } else { Cell::Nothing }
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Nothing, Into::into)
    }
}

/// Takes the rows of one or more tables and writes them.
pub trait Sink {
    /// Begins a table; the one before it is over.
    ///
    /// # Errors
    /// It cannot be written.
    fn begin(&mut self, table: Table, columns: &[Column]) -> io::Result<()>;

    /// Writes a row with a cell for each column.
    ///
    /// # Errors
    /// It cannot be written.
    fn row(&mut self, cells: &[Cell]) -> io::Result<()>;

    /// Writes what is left; there is no row after that.
    ///
    /// # Errors
    /// It cannot be written.
    fn finish(&mut self) -> io::Result<()>;
}

#[cfg(test)]
mod tests;
