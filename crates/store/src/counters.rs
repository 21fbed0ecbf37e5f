//! The kernel's counters in a run file: names stand once, values in rows of three numbers.

use crate::reader::{Problem, each, small, unsigned};
use crate::writer::number;
use model::CounterSample;
use model::counters::{Entry, Layer, Metric};
use model::record::StageRecord;
use rusqlite::{Connection, Row, Transaction, params};
use std::collections::BTreeMap;

/// The numbers of the series that the file knows already, by the place of their layer and by name; then by metric.
#[derive(Debug, Default)]
pub struct Series {
    known: BTreeMap<(u8, String), Vec<(Metric, i64)>>,
}

impl Series {
    /// Forgets what was written in a transaction that failed; what the file knows all the same is then numbered once more.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// The metrics of an entry with the numbers of their series; what is new gets one.
    fn of(&mut self, transaction: &Transaction<'_>, entry: &Entry) -> rusqlite::Result<&[(Metric, i64)]> {
        let series = self.known.entry((entry.layer as u8, entry.name.clone())).or_default();
        for (metric, _) in &entry.values {
            if !series.iter().any(|(known, _)| known == metric) {
                let row = params![entry.layer.word(), entry.name, metric.word()];
                let insert = "INSERT INTO counter_series (layer, name, metric) VALUES (?, ?, ?)";
                transaction.prepare_cached(insert)?.execute(row)?;
                series.push((*metric, transaction.last_insert_rowid()));
            }
        }
        Ok(series)
    }
}

/// Writes one sample.
pub fn write(transaction: &Transaction<'_>, series: &mut Series, sample: &CounterSample) -> rusqlite::Result<()> {
    let notes =
        serde_json::to_string(&sample.notes).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let insert =
        "INSERT INTO counter_samples (stage, host, number, start_ns, length_ns, notes) VALUES (?, ?, ?, ?, ?, ?)";
    let (start_ns, length_ns) = (number(sample.start_ns), number(sample.length_ns));
    let row = params![sample.stage, sample.host, sample.number, start_ns, length_ns, notes];
    transaction.prepare_cached(insert)?.execute(row)?;
    let this = transaction.last_insert_rowid();
    let mut insert = transaction.prepare_cached("INSERT INTO counters VALUES (?, ?, ?)")?;
    for entry in &sample.entries {
        let known = series.of(transaction, entry)?;
        for (metric, value) in &entry.values {
            let found = known.iter().find(|(known, _)| known == metric).map(|(_, series)| *series);
            insert.execute(params![this, found, number(*value)])?;
        }
    }
    Ok(())
}

/// Whether the file has counters at all.
pub fn are_there(connection: &Connection) -> Result<bool, Problem> {
    let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'counter_samples'";
    Ok(connection.query_row(tables, [], |row| row.get::<_, i64>(0))? > 0)
}

/// Puts the samples into their stages. A file from before there were counters has none.
pub fn fill(connection: &Connection, stages: &mut [StageRecord]) -> Result<(), Problem> {
    if !are_there(connection)? {
        return Ok(());
    }
    let series = series(connection)?;
    let mut samples: BTreeMap<i64, CounterSample> = BTreeMap::new();
    let query = "SELECT sample, stage, host, number, start_ns, length_ns, notes FROM counter_samples";
    each(connection, query, |row| {
        samples.insert(row.get(0)?, without_entries(row)?);
        Ok(())
    })?;
    // In the order of writing, so the values of an entry stand together.
    each(connection, "SELECT sample, series, value FROM counters ORDER BY rowid", |row| {
        let sample = samples.get_mut(&row.get(0)?).ok_or("a counter belongs to a sample that is not there")?;
        let (layer, name, metric) = series.get(&row.get(1)?).ok_or("a counter has no name")?;
        let value = (*metric, unsigned(row.get(2)?)?);
        match sample.entries.last_mut().filter(|entry| entry.layer == *layer && entry.name == *name) {
            Some(entry) => entry.values.push(value),
            None => sample.entries.push(Entry { layer: *layer, name: name.clone(), values: vec![value] }),
        }
        Ok(())
    })?;
    put(samples.into_values(), stages)
}

/// Of each group, SQLite takes the other columns from the row of the least (<https://www.sqlite.org/lang_select.html#bareagg>).
const REMARKS: &str = "SELECT min(sample), stage, host, number, start_ns, length_ns, notes FROM counter_samples \
                       WHERE notes != '[]' GROUP BY host, notes ORDER BY 1";

/// Puts into their stages the samples in which a host first said that something cannot be counted, without what they counted: there are as few of
/// them as there are things to say.
pub fn fill_remarks(connection: &Connection, stages: &mut [StageRecord]) -> Result<(), Problem> {
    if !are_there(connection)? {
        return Ok(());
    }
    let mut samples = Vec::new();
    each(connection, REMARKS, |row| {
        samples.push(without_entries(row)?);
        Ok(())
    })?;
    put(samples.into_iter(), stages)
}

fn without_entries(row: &Row<'_>) -> Result<CounterSample, Problem> {
    Ok(CounterSample {
        stage: small(row.get(1)?)?,
        host: small(row.get(2)?)?,
        number: small(row.get(3)?)?,
        start_ns: unsigned(row.get(4)?)?,
        length_ns: unsigned(row.get(5)?)?,
        entries: Vec::new(),
        notes: serde_json::from_str(&row.get::<_, String>(6)?)?,
    })
}

fn put(samples: impl Iterator<Item = CounterSample>, stages: &mut [StageRecord]) -> Result<(), Problem> {
    for sample in samples {
        let record = stages.iter_mut().find(|record| record.stage == sample.stage);
        record.ok_or("counters belong to a stage that never began")?.counters.push(sample);
    }
    Ok(())
}

fn series(connection: &Connection) -> Result<BTreeMap<i64, (Layer, String, Metric)>, Problem> {
    let mut series = BTreeMap::new();
    each(connection, "SELECT series, layer, name, metric FROM counter_series", |row| {
        let (layer, metric): (String, String) = (row.get(1)?, row.get(3)?);
        let (layer, metric) = words(&layer, &metric)?;
        series.insert(row.get(0)?, (layer, row.get(2)?, metric));
        Ok(())
    })?;
    Ok(series)
}

/// A layer and a counter by their words.
pub fn words(layer: &str, metric: &str) -> Result<(Layer, Metric), Problem> {
    let known = Layer::ALL.iter().find(|known| known.word() == layer);
    let layer = *known.ok_or_else(|| Problem(format!("`{layer}` is no layer of a host")))?;
    let known = Metric::ALL.iter().find(|known| known.word() == metric);
    let metric = *known.ok_or_else(|| Problem(format!("`{metric}` is no counter")))?;
    Ok((layer, metric))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::COUNTER_TABLES;

    #[test]
    fn remarks_are_found_without_a_look_at_every_sample() {
        let connection = Connection::open_in_memory().expect("memory");
        connection.execute_batch(COUNTER_TABLES).expect("tables");
        let mut plan = Vec::new();
        let told = each(&connection, &format!("EXPLAIN QUERY PLAN {REMARKS}"), |row| {
            plan.push(row.get::<_, String>(3)?);
            Ok(())
        });
        assert!(told.is_ok());
        assert!(plan.iter().any(|step| step.contains("USING INDEX remarks")), "{plan:?}");
    }
}
