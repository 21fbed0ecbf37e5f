//! An axis of a sweep as a column: numbers are numbers, with the unit in the column's name.

use super::{Cell, Column, Kind};
use model::{Bytes, Nanos, Percent};

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
    pub fn new(name: &str, values: &[&str]) -> Axis {
        let all = |fits: fn(&str) -> bool| values.iter().copied().all(fits);
        let any = |fits: fn(&str) -> bool| values.iter().copied().any(fits);
        let unit = if all(|value| value.parse::<u64>().is_ok()) {
            Unit::Integer
        } else if all(|value| value.parse::<f64>().is_ok_and(f64::is_finite)) {
            Unit::Real
        } else if any(|value| value.ends_with('%')) && all(|value| value.parse::<Percent>().is_ok())
        {
            Unit::Percent
        } else if any(|value| value.ends_with('B')) && all(|value| value.parse::<Bytes>().is_ok()) {
            Unit::Bytes
        } else if any(|value| value.ends_with(['s', 'm', 'h']))
            && all(|value| value.parse::<Nanos>().is_ok())
        {
            Unit::Nanos
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
    pub fn cell(&self, value: &str) -> Cell {
        match self.unit {
            Unit::Integer => value.parse::<u64>().ok().into(),
            Unit::Real => value.parse::<f64>().ok().into(),
            Unit::Bytes => value.parse::<Bytes>().ok().map(|bytes| bytes.0).into(),
            Unit::Percent => value.trim_end_matches('%').trim().parse::<f64>().ok().into(),
            Unit::Nanos => value.parse::<Nanos>().ok().map(|time| time.0).into(),
            Unit::Words => value.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(values: &[&str]) -> (String, Cell) {
        let axis = Axis::new("a", values);
        (axis.column().name, axis.cell(values[0]))
    }

    #[test]
    fn numbers_are_numbers_and_words_are_words() {
        assert_eq!(told(&["8", "16"]), ("sweep_a".to_owned(), Cell::Integer(8)));
        assert_eq!(told(&["1.5", "2"]), ("sweep_a".to_owned(), Cell::Real(1.5)));
        assert_eq!(told(&["4KiB", "512"]), ("sweep_a_bytes".to_owned(), Cell::Integer(4_096)));
        assert_eq!(told(&["30%", "0.5%"]), ("sweep_a_percent".to_owned(), Cell::Real(30.0)));
        assert_eq!(told(&["10ms", "1s"]), ("sweep_a_ns".to_owned(), Cell::Integer(10_000_000)));
        for words in
            [["4KiB:70, 64KiB:30", "4KiB"], ["auto", "8"], ["NaN", "1"], ["100MiB/s", "10000"]]
        {
            assert_eq!(told(&words), ("sweep_a".to_owned(), Cell::from(words[0])), "{words:?}");
        }
    }
}
