//! The series of a run file: what counts, and the number that the file knows it by.

use crate::file::checksums::{Part, Sums};
use model::counters::{Entry, Metric};
use rusqlite::{Transaction, params};
use std::collections::{BTreeMap, HashMap};

/// A series of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    /// Its number.
    pub series: i64,
    /// Whether it is a state, and no sum.
    pub is_gauge: bool,
}

/// The metrics of one thing that counts, with the numbers of their series.
type Metrics = Vec<(Metric, i64)>;

/// The numbers of the series that the file knows already, by the place of their layer and by name;
/// then by metric.
#[derive(Debug, Default)]
pub struct Series {
    known: BTreeMap<u8, HashMap<String, Metrics>>,
}

impl Series {
    /// Forgets what was written in a transaction that failed; what the file knows all the same is
    /// then numbered once more.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// Adds the values of an entry with the numbers of their series to `values`; a series that is
    /// new gets a number.
    pub fn number(
        &mut self,
        transaction: &Transaction<'_>,
        checks: &mut Sums,
        entry: &Entry,
        values: &mut Vec<(Value, u64)>,
    ) -> rusqlite::Result<()> {
        let names = self.known.entry(entry.layer as u8).or_default();
        // Nearly every name is known, and is not copied to be looked for.
        if !names.contains_key(&entry.name) {
            names.insert(entry.name.clone(), Vec::new());
        }
        let Some(known) = names.get_mut(&entry.name) else { return Ok(()) };
        for (place, (metric, value)) in entry.values.iter().enumerate() {
            let here = known.get(place).filter(|(known, _)| known == metric);
            let series = match here.or_else(|| known.iter().find(|(known, _)| known == metric)) {
                Some((_, series)) => *series,
                None => {
                    let row = params![entry.layer.word(), entry.name, metric.word()];
                    let insert =
                        "INSERT INTO counter_series (layer, name, metric) VALUES (?, ?, ?)";
                    transaction.prepare_cached(insert)?.execute(row)?;
                    let series = transaction.last_insert_rowid();
                    checks.added(
                        Part::CounterSeries,
                        params![series, entry.layer.word(), entry.name, metric.word()],
                    )?;
                    known.push((*metric, series));
                    series
                }
            };
            values.push((Value { series, is_gauge: metric.is_gauge() }, *value));
        }
        Ok(())
    }
}
