//! Values of metrics: numbers, times, counts by size.

use super::native::Native;
use super::text;

/// A value of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A number as it is.
    Whole(u128),
    /// A time in ns, which is told in seconds.
    Time(u128),
    /// A share, a rate, or another number with a fraction.
    Ratio(f64),
}

impl Value {
    /// It as text, with every digit.
    pub fn text(self) -> String {
        match self {
            Value::Whole(number) => number.to_string(),
            Value::Time(ns) => text::seconds(ns),
            Value::Ratio(number) => number.to_string(),
        }
    }

    /// It as Prometheus counts: whole numbers up to 2^53, times in s.
    pub fn number(self) -> f64 {
        match self {
            Value::Whole(number) => number as f64,
            Value::Time(ns) => ns as f64 / 1e9,
            Value::Ratio(number) => number,
        }
    }
}

/// Counts by size, as they are told.
#[derive(Clone, Copy, Debug)]
pub struct Durations<'a> {
    /// Upper ends of the classic buckets in ns, inclusive, and how many were no longer, in rising
    /// order.
    pub at_most: &'a [(u64, u64)],
    /// How many there were.
    pub count: u64,
    /// Their sum, in ns.
    pub sum_ns: u128,
    /// The same as a native histogram.
    pub native: &'a Native,
}
