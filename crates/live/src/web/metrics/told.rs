//! Families of metrics as values: what is pushed. A scrape is written at once instead.

use super::kind::Kind;
use super::native::Native;
use super::value::Value;

/// A family with all its metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub help: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Whether totals count since this run, watch or canary was started; older ones go on.
    pub is_new: bool,
    /// Its metrics.
    pub points: Vec<Point>,
}

/// A metric at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Names and values of its labels.
    pub labels: Vec<(String, String)>,
    /// How much.
    pub amount: Amount,
}

/// How much of something there is.
#[derive(Clone, Debug, PartialEq)]
pub enum Amount {
    /// A number, or a time.
    Value(Value),
    /// Times of requests.
    Durations {
        /// Their sum, in ns.
        sum_ns: u128,
        /// How many of which length.
        native: Native,
    },
}

/// Labels as values.
pub fn owned(labels: &[(&str, &str)]) -> Vec<(String, String)> {
    labels.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect()
}

/// A family that nothing is added to any more.
#[derive(Debug, PartialEq)]
pub enum Finished {
    /// A part of the answer to a scrape.
    Bytes(Vec<u8>),
    /// The family as values.
    Told(Told),
}
