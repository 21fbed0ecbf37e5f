//! A rate that changes over time: straight lines from one level to the next, jumps between them,
//! and what comes behind the last.
//!
//! Everything is counted in whole numbers. With levels in thousandths of a request per second and
//! times in ns, twice the integral over a line is a whole number of *parts*: 2 × 10¹² of them are a
//! request, or 2 × 10⁹ a byte. So no instant drifts, however long the curve is.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// More lines than this are no curve that anybody drew; every host's share of a plan has them all.
pub const MOST_LINES: usize = 10_000;
/// No curve, and none of its periods, is longer than a year.
pub const MOST_LENGTH: Nanos = Nanos::seconds(366 * 24 * 3600);

/// What the levels of a curve count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Thousandths of a request per second.
    MilliIops,
    /// Bytes per second.
    Bytes,
}

impl Unit {
    /// The parts of one request, or of one byte.
    pub const fn parts(self) -> u128 {
        match self {
            Unit::MilliIops => 2_000_000_000_000,
            Unit::Bytes => 2_000_000_000,
        }
    }

    /// The highest level that a curve may have: a billion requests, or an EiB, per second.
    pub const fn most(self) -> u64 {
        match self {
            Unit::MilliIops => 1_000_000_000_000,
            Unit::Bytes => 1 << 60,
        }
    }
}

/// A straight line of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// How long it is; at least 1 ns.
    pub length: Nanos,
    /// The level at its beginning.
    pub from: u64,
    /// The level at its end, from which the next line may begin elsewhere.
    pub to: u64,
}

/// What comes behind the last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Then {
    /// This level, for good.
    Holds(u64),
    /// The lines from this one on, again and again.
    Repeats(u32),
}

/// A rate over time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Curve {
    /// What levels count.
    pub unit: Unit,
    /// At least one, in the order of time.
    pub lines: Vec<Line>,
    /// What comes behind them.
    pub then: Then,
}

/// Where in a curve somebody has got to, who only goes forward.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    line: usize,
    /// When the line begins, in ns after the start.
    start_ns: u64,
    /// Parts that were due before it.
    before: u128,
}

impl Line {
    /// Parts that are due in all of it.
    fn parts(self) -> u128 {
        (u128::from(self.from) + u128::from(self.to)) * u128::from(self.length.0)
    }

    /// Parts that are due before `t_ns` of it, rounded up: 2·a·t + (b − a)·t² ÷ L.
    fn parts_before(self, t_ns: u64) -> u128 {
        let (time, length) = (u128::from(t_ns), u128::from(self.length.0.max(1)));
        let level = 2 * u128::from(self.from) * time;
        let slope = u128::from(self.to.abs_diff(self.from)) * time;
        // slope × t ÷ L, in whole parts and what is left, so that nothing overflows.
        let (whole, left) = (slope / length * time, slope % length * time);
        if self.to >= self.from {
            level + whole + left.div_ceil(length)
        } else {
            level - (whole + left / length)
        }
    }

    /// The last ns of the line before which at most `parts` are due, which are fewer than all.
    fn last_before(self, parts: u128) -> u64 {
        if self.from == self.to {
            // A line without a level has no parts, and nobody asks for fewer.
            return (parts / (2 * u128::from(self.from).max(1))) as u64;
        }
        let holds = |t_ns: u64| self.parts_before(t_ns) <= parts;
        // The root of the square, by the form that loses no digits to cancellation; then the exact
        // one, which is near.
        let (level, length) = (self.from as f64, self.length.0 as f64);
        let slope = (self.to as f64 - level) / length;
        let root = (level * level + slope * parts as f64).max(0.0).sqrt();
        let guess = parts as f64 / (level + root).max(f64::MIN_POSITIVE);
        let guess = (guess as u64).min(self.length.0 - 1);
        let (mut low, mut high);
        let mut step = 1;
        if holds(guess) {
            (low, high) = (guess, guess.saturating_add(1).min(self.length.0));
            while high < self.length.0 && holds(high) {
                (low, high) = (high, high.saturating_add(step).min(self.length.0));
                step *= 2;
            }
        } else {
            (low, high) = (guess.saturating_sub(1), guess);
            while low > 0 && !holds(low) {
                (low, high) = (low.saturating_sub(step), low);
                step *= 2;
            }
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if holds(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }
}

impl Curve {
    /// Whether the numbers of the curve are in their ranges and something is due at all.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.lines.is_empty() {
            return Err("a curve has no length");
        }
        if self.lines.len() > MOST_LINES {
            return Err("a curve has more than 10000 lines");
        }
        let most = self.unit.most();
        if self.lines.iter().any(|line| line.from.max(line.to) > most) {
            return Err("a level of a curve is out of range");
        }
        let sum = self.lines.iter().try_fold(0u64, |sum, line| sum.checked_add(line.length.0));
        let has_length = self.lines.iter().all(|line| line.length.0 >= 1);
        if !has_length || sum.is_none_or(|sum| sum > MOST_LENGTH.0) {
            return Err("a curve is longer than a year, or a line of it has no length");
        }
        let is_none = self.lines.iter().all(|line| line.from == 0 && line.to == 0);
        match self.then {
            Then::Holds(level) if level > most => Err("a level of a curve is out of range"),
            Then::Holds(0) if is_none => Err("a curve asks for nothing"),
            Then::Repeats(_) if is_none => Err("a curve asks for nothing"),
            Then::Repeats(from) if from as usize >= self.lines.len() => {
                Err("a curve repeats lines that it has not")
            }
            Then::Holds(_) | Then::Repeats(_) => Ok(()),
        }
    }

    /// How long its lines are together.
    pub fn length(&self) -> Nanos {
        Nanos(self.lines.iter().fold(0, |sum, line| sum.saturating_add(line.length.0)))
    }

    /// The highest level.
    pub fn highest(&self) -> u64 {
        let behind = match self.then {
            Then::Holds(level) => level,
            Then::Repeats(_) => 0,
        };
        self.lines.iter().map(|line| line.from.max(line.to)).fold(behind, u64::max)
    }

    /// Each level so many times as high, up to the highest that there may be.
    #[must_use]
    pub fn times(&self, count: u64) -> Curve {
        let most = self.unit.most();
        let times = |level: u64| level.saturating_mul(count.max(1)).min(most);
        let line = |line: &Line| Line { from: times(line.from), to: times(line.to), ..*line };
        let then = match self.then {
            Then::Holds(level) => Then::Holds(times(level)),
            again @ Then::Repeats(_) => again,
        };
        Curve { unit: self.unit, lines: self.lines.iter().map(line).collect(), then }
    }

    /// The same levels at other times: `scale` says how long a time becomes. A line that loses its
    /// length stays 1 ns long.
    #[must_use]
    pub fn stretched(&self, scale: impl Fn(u64) -> u64) -> Curve {
        let line = |line: &Line| Line {
            length: Nanos(scale(line.length.0).clamp(1, MOST_LENGTH.0)),
            ..*line
        };
        Curve { unit: self.unit, lines: self.lines.iter().map(line).collect(), then: self.then }
    }

    /// When what follows the first `position` parts is due, in ns after the start and rounded down;
    /// `None` for never. `place` goes with it: positions that are asked for may not fall.
    ///
    /// That is the last instant before which no more than `position` is due: where nothing is asked
    /// for, the end of that time.
    pub fn due_ns(&self, place: &mut Place, position: u128) -> Option<u64> {
        loop {
            let left = position.checked_sub(place.before)?;
            if let Some(line) = self.lines.get(place.line) {
                let parts = line.parts();
                if left < parts {
                    return place.start_ns.checked_add(line.last_before(left));
                }
                place.before += parts;
                place.start_ns = place.start_ns.checked_add(line.length.0)?;
                place.line += 1;
                continue;
            }
            match self.then {
                Then::Holds(0) => return None,
                Then::Holds(level) => {
                    let behind = u64::try_from(left / (2 * u128::from(level))).ok()?;
                    return place.start_ns.checked_add(behind);
                }
                Then::Repeats(from) => self.again(place, from as usize, left)?,
            }
        }
    }

    /// Goes from the end back to the line `from`, past all whole periods that `left` parts hold.
    fn again(&self, place: &mut Place, from: usize, left: u128) -> Option<()> {
        let period = self.lines.get(from..)?;
        let parts: u128 = period.iter().map(|line| line.parts()).sum();
        let length: u128 = period.iter().map(|line| u128::from(line.length.0)).sum();
        let whole = left.checked_div(parts)?;
        place.before += whole * parts;
        let ns = whole.checked_mul(length).and_then(|ns| u64::try_from(ns).ok())?;
        place.start_ns = place.start_ns.checked_add(ns)?;
        place.line = from;
        Some(())
    }

    /// Parts that are due before an instant, in ns after the start, rounded up.
    pub fn parts_before(&self, at_ns: u64) -> u128 {
        let (mut left_ns, mut before) = (at_ns, 0u128);
        let mut first = 0;
        loop {
            for line in self.lines.get(first..).unwrap_or_default() {
                if left_ns < line.length.0 {
                    return before.saturating_add(line.parts_before(left_ns));
                }
                left_ns -= line.length.0;
                before = before.saturating_add(line.parts());
            }
            match self.then {
                Then::Holds(level) => {
                    return before.saturating_add(2 * u128::from(level) * u128::from(left_ns));
                }
                Then::Repeats(from) => {
                    let period = self.lines.get(from as usize..).unwrap_or_default();
                    let length =
                        period.iter().fold(0, |sum: u64, line| sum.saturating_add(line.length.0));
                    let Some(whole) = left_ns.checked_div(length) else { return before };
                    let parts: u128 = period.iter().map(|line| line.parts()).sum();
                    before = before.saturating_add(parts.saturating_mul(u128::from(whole)));
                    left_ns -= whole * length;
                    first = from as usize;
                }
            }
        }
    }

    /// Its lines one after the other, for good, each with its beginning in ns after the start. What
    /// is held behind the last line is one line without an end.
    pub fn lines(&self) -> impl Iterator<Item = (u64, Line)> + '_ {
        let (mut number, mut start_ns) = (0, 0u64);
        std::iter::from_fn(move || {
            if let (None, Then::Repeats(from)) = (self.lines.get(number), self.then) {
                number = from as usize;
            }
            let line = match (self.lines.get(number), self.then) {
                (Some(line), _) => *line,
                (None, Then::Holds(level)) => {
                    Line { length: Nanos(u64::MAX - start_ns), from: level, to: level }
                }
                (None, Then::Repeats(_)) => return None,
            };
            let begins_ns = start_ns;
            start_ns = start_ns.checked_add(line.length.0).filter(|_| line.length.0 > 0)?;
            number += 1;
            Some((begins_ns, line))
        })
    }

    /// How much is due from one instant to another, in ns after the start: requests, or bytes.
    pub fn due_between(&self, from_ns: u64, to_ns: u64) -> f64 {
        let parts = self.parts_before(to_ns).saturating_sub(self.parts_before(from_ns));
        parts as f64 / self.unit.parts() as f64
    }
}

#[cfg(test)]
mod tests;
