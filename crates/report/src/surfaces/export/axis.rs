//! An axis of a sweep as a column: numbers are numbers, with the unit in the column's name.

use super::{Cell, Column, Kind};
use model::{Quantity, Setting};

/// What the values of an axis are, all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Integer,
    Real,
    Bytes,
    Percent,
    Nanos,
    Words,
}

/// An axis, and what its values are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Its name, as the suite has it.
    pub name: String,
    unit: Unit,
}

impl Axis {
    /// An axis with these values.
    pub fn new(name: &str, values: &[&Setting]) -> Axis {
        let are = |fits: fn(&Quantity) -> bool| values.iter().all(|one| fits(one.quantity()));
        // A number without a unit is one on every axis: `hosts = [1, 2]`.
        let is_whole = |one: &&Setting| one.label().parse::<u64>().is_ok();
        let is_real = |quantity: &Quantity| matches!(quantity, Quantity::Number(_));
        let unit = if are(|quantity| matches!(quantity, Quantity::Size(_))) {
            Unit::Bytes
        } else if are(|quantity| matches!(quantity, Quantity::Share(_))) {
            Unit::Percent
        } else if are(|quantity| matches!(quantity, Quantity::Time(_))) {
            Unit::Nanos
        } else if values.iter().all(is_whole) {
            Unit::Integer
        } else if are(is_real) {
            Unit::Real
        } else {
            Unit::Words
        };
        Axis { name: name.to_owned(), unit }
    }

    /// Its column.
    pub fn column(&self) -> Column {
        let (unit, kind) = match self.unit {
            Unit::Integer => ("", Kind::Integer),
            Unit::Real => ("", Kind::Real),
            Unit::Bytes => ("_bytes", Kind::Integer),
            Unit::Percent => ("_percent", Kind::Real),
            Unit::Nanos => ("_ns", Kind::Integer),
            Unit::Words => ("", Kind::Text),
        };
        Column { name: format!("sweep_{}{unit}", self.name), kind }
    }

    /// One of its values.
    pub fn cell(&self, value: &Setting) -> Cell {
        match (self.unit, value.quantity()) {
            (Unit::Bytes, Quantity::Size(bytes)) => bytes.0.into(),
            (Unit::Percent, Quantity::Share(share)) => (f64::from(share.ppm) / 1e4).into(),
            (Unit::Nanos, Quantity::Time(time)) => time.0.into(),
            (Unit::Real, Quantity::Number(number)) => number.get().into(),
            (Unit::Integer, _) => value.label().parse::<u64>().ok().into(),
            (Unit::Words, _) => value.label().into(),
            _ => Cell::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(name: &str, values: &[&str]) -> (String, Cell) {
        let all: Vec<Setting> = values.iter().map(|value| Setting::new(name, *value)).collect();
        let axis = Axis::new(name, &all.iter().collect::<Vec<_>>());
        (axis.column().name, axis.cell(&all[0]))
    }

    #[test]
    fn an_axis_has_the_unit_of_its_quantities_and_words_are_words() {
        assert_eq!(told("depth", &["8", "16"]), ("sweep_depth".to_owned(), Cell::Integer(8)));
        assert_eq!(told("hosts", &["1", "2"]), ("sweep_hosts".to_owned(), Cell::Integer(1)));
        assert_eq!(told("burst", &["1.5", "2"]), ("sweep_burst".to_owned(), Cell::Real(1.5)));
        for sizes in [["4KiB", "512"], ["4096", "512"]] {
            let expected = ("sweep_block_size_bytes".to_owned(), Cell::Integer(4_096));
            assert_eq!(told("block_size", &sizes), expected);
        }
        let share = ("sweep_read_percent".to_owned(), Cell::Real(30.0));
        assert_eq!(told("read", &["30%", "0.5%"]), share);
        let time = ("sweep_think_ns".to_owned(), Cell::Integer(10_000_000));
        assert_eq!(told("think", &["10ms", "1s"]), time);
        for (axis, words) in [
            ("block_size", ["4KiB:70, 64KiB:30", "4KiB"]),
            ("workers", ["auto", "8"]),
            ("depth", ["NaN", "1"]),
            ("rate", ["100MiB/s", "10000"]),
        ] {
            let expected = (format!("sweep_{axis}"), Cell::from(words[0]));
            assert_eq!(told(axis, &words), expected, "{words:?}");
        }
    }
}
