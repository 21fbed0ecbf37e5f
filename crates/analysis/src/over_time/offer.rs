//! What a fixed or changing rate asks for between two instants: the integral of the rate.

use crate::over_time::series::SeriesPoint;
use crate::rows::row::ResultRow;
use model::curve::Unit;
use model::load::{Pace, Rate};

/// A part of a rate that changes: a step, or a straight ramp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// When it begins, in seconds after the stage's start.
    pub from_s: f64,
    /// When it ends.
    pub to_s: f64,
    /// What it asks for at its beginning, per second.
    pub from: f64,
    /// What it asks for at its end, per second.
    pub to: f64,
}

impl Stretch {
    /// Whether it is a step, and no ramp.
    pub fn is_level(&self) -> bool {
        self.from == self.to
    }
}

/// The rate of an open loop, over time.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    pace: &'a Pace,
    /// The share of it that is meant, above 0 and at most 1.
    share: f64,
}

impl<'a> Offer<'a> {
    /// That of a pace; `None` for a closed loop, which asks for nothing.
    pub fn of(pace: &'a Pace) -> Option<Offer<'a>> {
        pace.is_open().then_some(Offer { pace, share: 1.0 })
    }

    /// That of all I/O of one workload whose rate changes; `None` of every other row.
    pub fn of_changing(row: &'a ResultRow) -> Option<Offer<'a>> {
        let work = row.work().filter(|_| row.is_of_workload())?;
        Offer::of(&work.pace).filter(|offer| offer.is_changing())
    }

    /// This part of it: `left` workers of `all` that take turns.
    pub(crate) fn shared(self, left: u64, all: u64) -> Offer<'a> {
        Offer { share: self.share * left as f64 / all.max(1) as f64, ..self }
    }

    /// Whether it counts bytes; otherwise requests.
    pub fn counts_bytes(self) -> bool {
        match self.pace {
            Pace::Open { rate, .. } => matches!(rate, Rate::Bytes { .. }),
            Pace::Changing { curve, .. } => curve.unit == Unit::Bytes,
            Pace::Closed { .. } => false,
        }
    }

    /// Whether requests arrive as strangers do.
    pub(crate) fn is_poisson(self) -> bool {
        match self.pace {
            Pace::Open { poisson, .. } | Pace::Changing { poisson, .. } => *poisson,
            Pace::Closed { .. } => false,
        }
    }

    /// Whether it is another at another time.
    pub fn is_changing(self) -> bool {
        self.pace.curve().is_some()
    }

    /// Requests, or bytes, that are due from one instant to another, in ns after the stage's start.
    pub fn between(self, from_ns: u64, to_ns: u64) -> f64 {
        let seconds = to_ns.saturating_sub(from_ns) as f64 / 1e9;
        let all = match self.pace {
            Pace::Open { rate: Rate::Iops { milli }, .. } => *milli as f64 / 1e3 * seconds,
            Pace::Open { rate: Rate::Bytes { per_second }, .. } => *per_second as f64 * seconds,
            Pace::Changing { curve, .. } => curve.due_between(from_ns, to_ns),
            Pace::Closed { .. } => 0.0,
        };
        all * self.share
    }

    /// The stretches of a rate that changes which begin before an instant, and the one behind them;
    /// of at most so many lines.
    pub(crate) fn stretches(self, until_s: f64, most: usize) -> Vec<Stretch> {
        let Some(curve) = self.pace.curve() else { return Vec::new() };
        let unit = if curve.unit == Unit::Bytes { 1.0 } else { 1e-3 };
        let level = |level: u64| level as f64 * unit * self.share;
        let mut all: Vec<Stretch> = Vec::new();
        for (start_ns, line) in curve.lines().take(most) {
            let from_s = start_ns as f64 / 1e9;
            let (to_s, from, to) =
                (from_s + line.length.0 as f64 / 1e9, level(line.from), level(line.to));
            match all.last_mut() {
                // A step is one, however many lines it has.
                Some(last) if last.is_level() && (last.to, from) == (from, to) => last.to_s = to_s,
                _ => all.push(Stretch { from_s, to_s, from, to }),
            }
            if from_s >= until_s {
                break;
            }
        }
        all
    }

    /// Requests, or bytes, that were due in a stretch of time.
    pub fn due_in(self, point: &SeriesPoint) -> f64 {
        let ns = |seconds: f64| (seconds * 1e9).round() as u64;
        self.between(ns(point.start_s), ns(point.start_s + point.length_s))
    }

    /// What was done in it, in the same unit.
    pub fn done_in(self, point: &SeriesPoint) -> u64 {
        if self.counts_bytes() { point.bytes } else { point.ios }
    }

    /// So many units per second as a rate.
    pub(crate) fn rate(self, per_second: f64) -> Rate {
        match self.counts_bytes() {
            true => Rate::Bytes { per_second: per_second.round() as u64 },
            false => Rate::Iops { milli: (per_second * 1e3).round() as u64 },
        }
    }
}
