//! Where families go, whatever their form.

use super::family::{Family, Series};
use super::kind::Kind;
use super::told::{Finished, Told};
use super::value::Value;

#[derive(Debug, Default)]
pub struct Out {
    /// The answer to a scrape, as far as it is written.
    pub bytes: Vec<u8>,
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
