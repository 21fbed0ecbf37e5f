//! What a fixed or changing rate asks for between two instants: the integral of the rate.

use crate::row::ResultRow;
use crate::series::SeriesPoint;
use model::curve::Unit;
use model::load::{Pace, Rate};

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
