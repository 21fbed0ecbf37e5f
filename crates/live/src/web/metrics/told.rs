//! Families of metrics as values: what is pushed. A scrape is written at once instead.

use super::family::{Durations, Family, Series, Value};
use super::kind::Kind;
use super::native::Native;

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

impl Amount {
    /// Those of a histogram.
    pub fn durations(durations: &Durations<'_>) -> Amount {
        Amount::Durations { sum_ns: durations.sum_ns, native: durations.native.clone() }
    }
}

/// Where families go, one after the other.
#[derive(Debug, Default)]
pub struct Out {
    /// The answer to a scrape, as far as it is written.
    pub bytes: Vec<u8>,
    /// What is pushed.
    pub told: Vec<Told>,
}

impl Out {
    /// Takes in a family; one without a metric is left out.
    pub fn put(&mut self, family: Family<'_>) {
        match family.finish() {
            Finished::Bytes(bytes) => self.bytes.extend(bytes),
            Finished::Told(told) if told.points.is_empty() => {}
            Finished::Told(told) => self.told.push(told),
        }
    }
}

/// A family that nothing is added to any more.
#[derive(Debug, PartialEq)]
pub enum Finished {
    /// A part of the answer to a scrape.
    Bytes(Vec<u8>),
    /// The family as values.
    Told(Told),
}

/// A family of one state, or of one total.
pub fn single<'a>(
    series: Series<'a>,
    kind: Kind,
    [name, help]: [&'static str; 2],
    labels: &[(&str, &str)],
    value: Value,
) -> Family<'a> {
    let mut family = Family::new(series, kind, name, help);
    family.add(labels, value);
    family
}
