//! Figures in few columns of text: three digits and a unit, or a dash.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Rate,
    /// Bytes a second, written in MiB/s.
    Bandwidth,
    /// A time in ns.
    Time,
    /// A share of 0 to 1, written in percent.
    Share,
    Number,
    Frequency,
    /// Bytes, written in MiB.
    Size,
}

pub const UNKNOWN: &str = "–";

impl Unit {
    /// Columns of text that every value of it fits into.
    pub fn width(self) -> u16 {
        match self {
            Unit::Share => 4,
            Unit::Rate | Unit::Number | Unit::Frequency => 5,
            Unit::Bandwidth | Unit::Time | Unit::Size => 6,
        }
    }

    /// `value` in at most so many columns.
    pub fn text(self, value: Option<f64>) -> String {
        let Some(value) = value.filter(|value| value.is_finite() && *value >= 0.0) else {
            return UNKNOWN.to_owned();
        };
        match self {
            Unit::Number if value.fract() == 0.0 && value < 9_999.5 => format!("{value:.0}"),
            Unit::Rate | Unit::Number => short(value),
            Unit::Bandwidth | Unit::Size => short(value / 1_048_576.0),
            Unit::Time => time(value),
            Unit::Share => format!("{:.0}%", (value * 100.0).min(999.0)),
            Unit::Frequency => short(value / 1e6),
        }
    }
}

/// `0`, `0.42`, `9.5`, `950`, `9500`, `18.2k`, `182k`, `1.23M`: five columns at most.
fn short(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        v if v < 0.005 => "<0.01".to_owned(),
        v if v < 0.995 => format!("{v:.2}"),
        v if v < 9.95 => format!("{v:.1}"),
        v if v < 9_999.5 => format!("{v:.0}"),
        v if v < 99_950.0 => format!("{:.1}k", v / 1e3),
        v if v < 999_500.0 => format!("{:.0}k", v / 1e3),
        v if v < 9_995_000.0 => format!("{:.2}M", v / 1e6),
        v if v < 99_950_000.0 => format!("{:.1}M", v / 1e6),
        v if v < 999_500_000.0 => format!("{:.0}M", v / 1e6),
        v if v < 9.995e9 => format!("{:.2}G", v / 1e9),
        _ => ">10G".to_owned(),
    }
}

/// `850ns`, `12.3µs`, `1.25ms`, `250ms`, `12.3s`: six columns at most.
fn time(ns: f64) -> String {
    let digits = |value: f64, unit: &str| match value {
        v if v < 9.995 => format!("{v:.2}{unit}"),
        v if v < 99.95 => format!("{v:.1}{unit}"),
        v => format!("{v:.0}{unit}"),
    };
    match ns {
        v if v < 999.5 => format!("{v:.0}ns"),
        v if v < 999_500.0 => digits(v / 1e3, "µs"),
        v if v < 999_500_000.0 => digits(v / 1e6, "ms"),
        v if v < 9.9995e12 => digits(v / 1e9, "s"),
        _ => ">9999s".to_owned(),
    }
}

/// `1:02:03` or `2:03`, from ns.
pub fn clock(ns: u64) -> String {
    let seconds = ns / 1_000_000_000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// A text that may come from anybody, for a terminal: control characters would be orders to it.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if model::printable::acts(c) { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_fits_into_its_columns() {
        let mut values = vec![0.0, f64::MAX, f64::INFINITY, f64::NAN, -1.0, u64::MAX as f64, 1e-9];
        for exponent in -4..22 {
            values.extend(
                [0.994, 0.995, 0.999_49, 0.999_5, 1.0, 5.55].map(|v| v * 10f64.powi(exponent)),
            );
        }
        for unit in [
            Unit::Rate,
            Unit::Bandwidth,
            Unit::Time,
            Unit::Share,
            Unit::Number,
            Unit::Frequency,
            Unit::Size,
        ] {
            for value in &values {
                let text = unit.text(Some(*value));
                assert!(
                    text.chars().count() <= usize::from(unit.width()),
                    "{unit:?} {value}: {text}"
                );
            }
        }
    }

    #[test]
    fn values_have_three_figures() {
        let rates: Vec<String> = [0.0, 0.42, 9.5, 950.0, 9_500.0, 18_234.0, 182_000.0, 1_234_567.0]
            .map(|v| Unit::Rate.text(Some(v)))
            .into();
        assert_eq!(rates, ["0", "0.42", "9.5", "950", "9500", "18.2k", "182k", "1.23M"]);
        let times: Vec<String> =
            [850.0, 12_300.0, 1_250_000.0, 250e6, 12.3e9].map(|v| Unit::Time.text(Some(v))).into();
        assert_eq!(times, ["850ns", "12.3µs", "1.25ms", "250ms", "12.3s"]);
        assert_eq!(Unit::Bandwidth.text(Some(1_048_576.0 * 711.0)), "711");
        assert_eq!(
            (Unit::Share.text(Some(0.126)), Unit::Share.text(None)),
            ("13%".to_owned(), "–".to_owned())
        );
        assert_eq!(
            (clock(123_000_000_000), clock(3_723_000_000_000)),
            ("2:03".to_owned(), "1:02:03".to_owned())
        );
        assert_eq!(harmless("a\u{1b}[2Jb\n"), "a?[2Jb?");
    }
}
