//! What a suite writes as a rate, and a curve in words.

use crate::curve::{Curve, Then, Unit};
use crate::load::Rate;
use crate::units::{Bytes, Percent, UnitError};
use std::fmt;
use std::str::FromStr;

/// Lines that are written out in words.
const MOST_TOLD: usize = 8;

impl Unit {
    /// A level as a rate; a level of nothing is the least rate that there is.
    pub fn rate(self, level: u64) -> Rate {
        match self {
            Unit::MilliIops => Rate::Iops { milli: level.max(1) },
            Unit::Bytes => Rate::Bytes { per_second: level.max(1) },
        }
    }
}

impl fmt::Display for Curve {
    /// `0 to 2000 IOPS in 5 s, 2000 IOPS for 5 s, then 2000 IOPS`; of many lines, the first ones
    /// and how many more there are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = |level: u64| match (level, self.unit) {
            (0, _) => "0".to_owned(),
            (level, unit) => unit.rate(level).to_string(),
        };
        let mut words: Vec<String> = Vec::new();
        for line in self.lines.iter().take(MOST_TOLD) {
            words.push(match line.from == line.to {
                true => format!("{} for {}", level(line.to), line.length),
                false => format!("{} to {} in {}", level(line.from), level(line.to), line.length),
            });
        }
        if let Some(more @ 1..) = self.lines.len().checked_sub(MOST_TOLD) {
            let highest = level(self.highest());
            words.push(format!("{more} more lines of {} up to {highest}", self.length()));
        }
        words.push(match self.then {
            Then::Holds(last) => format!("then {}", level(last)),
            Then::Repeats(0) => "again and again".to_owned(),
            Then::Repeats(from) => format!("again and again from line {}", from + 1),
        });
        f.pad(&words.join(", "))
    }
}

/// What a suite writes as a rate: one for all the time, or a curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offered {
    /// The same all the time.
    Fixed(Rate),
    /// One that changes.
    Changing(Curve),
    /// A share of the rate that a closed loop of the same workload carries, which is measured
    /// first; above 0.
    Share(Percent),
}

/// A level that a suite writes: nothing, or a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Nothing is due; of either unit.
    Nothing,
    /// A rate.
    Of(Rate),
}

impl FromStr for Level {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Level, Self::Err> {
        let text = text.trim();
        let without = |unit: &str| text.strip_suffix(unit).map_or(text, str::trim);
        let is_nothing = |number: &str| {
            let digits = number.bytes().all(|byte| byte == b'0' || byte == b'.');
            digits && number.bytes().any(|byte| byte == b'0')
        };
        let bandwidth = without("/s").parse::<Bytes>();
        if is_nothing(text) || is_nothing(without("IOPS")) || bandwidth == Ok(Bytes(0)) {
            return Ok(Level::Nothing);
        }
        text.parse().map(Level::Of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Line;
    use crate::units::Nanos;

    #[test]
    fn levels_may_be_nothing_of_either_unit() {
        for text in ["0", "0.0", "0 IOPS", "0MiB/s", "0B/s"] {
            assert_eq!(text.parse(), Ok(Level::Nothing), "{text}");
        }
        assert_eq!("2k".parse(), Ok(Level::Of(Rate::Iops { milli: 2_000_000 })));
        assert_eq!("1MiB/s".parse(), Ok(Level::Of(Rate::Bytes { per_second: 1 << 20 })));
        for text in ["", "-1", ".", "x", "0x", "0s"] {
            assert!(text.parse::<Level>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_curve_is_told_in_words() {
        let line = |from, to| Line { length: Nanos::seconds(5), from, to };
        let lines = vec![line(0, 2_000_000), line(2_000_000, 2_000_000)];
        let curve = Curve { unit: Unit::MilliIops, lines, then: Then::Holds(2_000_000) };
        let words = "0 to 2000 IOPS in 5 s, 2000 IOPS for 5 s, then 2000 IOPS";
        assert_eq!(curve.to_string(), words);
        assert_eq!(curve.times(3).highest(), 6_000_000);
        assert_eq!(curve.stretched(|ns| ns / 10).length(), Nanos::seconds(1));
    }
}
