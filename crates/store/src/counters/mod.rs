//! The kernel's counters in a run file: names stand once, values in rows of three numbers.

pub mod rows;
pub mod series;
pub mod usage;

use crate::coded::{self, Blocks};
use crate::file::checksums::{self, Part};
use crate::file::values::{Problem, each, small, unsigned};
use model::CounterSample;
use model::counters::{Entry, Layer, Metric};
use model::record::StageRecord;
use rusqlite::{Connection, Row};
use std::collections::{BTreeMap, BTreeSet};

/// Puts the samples into their stages.
pub fn fill(connection: &Connection, stages: &mut [StageRecord]) -> Result<(), Problem> {
    let series = series(connection)?;
    put(in_rows(connection, &series, &BTreeSet::new())?, stages)?;
    let blocks = Blocks::of(&series);
    let mut is_any = false;
    blocks.each_sample(connection, |sample| {
        is_any = true;
        let record = stages.iter_mut().find(|record| record.stage == sample.stage);
        record.ok_or(NO_STAGE)?.counters_mut().push(sample.clone());
        Ok(())
    })?;
    // A block has one host, and hosts told side by side.
    for stage in stages.iter_mut().filter(|_| is_any) {
        stage.counters_mut().sort_by_key(|sample| (sample.number, sample.host));
    }
    Ok(())
}

/// Layer, name and metric of each series, by its number.
pub type Names = BTreeMap<i64, (Layer, String, Metric)>;

/// The samples that are rows, in the order of writing, without those of some stages.
pub fn in_rows(
    connection: &Connection,
    series: &Names,
    without: &BTreeSet<u32>,
) -> Result<impl Iterator<Item = CounterSample> + use<>, Problem> {
    let mut samples: BTreeMap<i64, CounterSample> = BTreeMap::new();
    let query =
        "SELECT sample, stage, host, number, start_ns, length_ns, notes FROM counter_samples";
    let mut sums: BTreeMap<i64, u64> = BTreeMap::new();
    let mut left_out: BTreeSet<i64> = BTreeSet::new();
    each(connection, query, |row| {
        let sample = without_entries(row)?;
        match without.contains(&sample.stage) {
            true => left_out.insert(row.get(0)?),
            false => {
                samples.insert(row.get(0)?, sample);
                sums.insert(row.get(0)?, checksums::of_columns(row, 1..=6)?);
                true
            }
        };
        Ok(())
    })?;
    // In the order of writing, so the values of an entry stand together.
    each(connection, "SELECT sample, series, value FROM counters ORDER BY rowid", |row| {
        let number: i64 = row.get(0)?;
        if left_out.contains(&number) {
            return Ok(());
        }
        let sample =
            samples.get_mut(&number).ok_or("a counter belongs to a sample that is not there")?;
        let sum = sums.entry(number).or_default();
        *sum = sum.wrapping_add(checksums::of_columns(row, 1..=2)?);
        let (layer, name, metric) = series.get(&row.get(1)?).ok_or("a counter has no name")?;
        let value = (*metric, unsigned(row.get(2)?)?);
        match sample.entries.last_mut().filter(|entry| entry.layer == *layer && entry.name == *name)
        {
            Some(entry) => entry.values.push(value),
            None => sample.entries.push(Entry {
                layer: *layer,
                name: name.clone(),
                values: vec![value],
            }),
        }
        Ok(())
    })?;
    let mut checks = checksums::Single::of(connection, Part::Counters)?;
    sums.into_iter().try_for_each(|(sample, sum)| checks.check(sample, sum))?;
    Ok(samples.into_values())
}

/// Why counters have no place.
const NO_STAGE: &str = "counters belong to a stage that never began";

/// Of each group, SQLite takes the other columns from the row of the least
/// (<https://www.sqlite.org/lang_select.html#bareagg>).
const REMARKS: &str = "SELECT min(sample), stage, host, number, start_ns, length_ns, notes FROM \
                       counter_samples WHERE notes != '[]' GROUP BY host, notes ORDER BY 1";

/// By stage, the samples in which a host first said that something cannot be counted, without what
/// they counted: there are as few of them as there are things to say.
pub fn remarks(
    connection: &Connection,
    stages: &[StageRecord],
) -> Result<BTreeMap<u32, Vec<CounterSample>>, Problem> {
    let mut remarks: BTreeMap<u32, Vec<CounterSample>> = BTreeMap::new();
    let mut take = |row: &Row<'_>| {
        let sample = without_entries(row)?;
        if !stages.iter().any(|record| record.stage == sample.stage) {
            return Err(NO_STAGE.into());
        }
        remarks.entry(sample.stage).or_default().push(sample);
        Ok(())
    };
    each(connection, REMARKS, &mut take)?;
    each(connection, coded::REMARKS, &mut take)?;
    Ok(remarks)
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

fn put(
    samples: impl Iterator<Item = CounterSample>,
    stages: &mut [StageRecord],
) -> Result<(), Problem> {
    for sample in samples {
        let record = stages.iter_mut().find(|record| record.stage == sample.stage);
        record.ok_or(NO_STAGE)?.counters_mut().push(sample);
    }
    Ok(())
}

/// Layer, name and metric of each series, by its number.
pub fn series(connection: &Connection) -> Result<Names, Problem> {
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
    use crate::counters::rows::{TOGETHER, write};
    use crate::counters::series::Series;
    use crate::file::checksums::Sums;
    use crate::file::schema::{CHECKSUM_TABLES, COUNTER_TABLES};

    #[test]
    fn remarks_are_found_without_a_look_at_every_sample() {
        let connection = Connection::open_in_memory().expect("memory");
        connection.execute_batch(COUNTER_TABLES).expect("tables");
        connection.execute_batch(CHECKSUM_TABLES).expect("tables");
        let mut plan = Vec::new();
        let told = each(&connection, &format!("EXPLAIN QUERY PLAN {REMARKS}"), |row| {
            plan.push(row.get::<_, String>(3)?);
            Ok(())
        });
        assert!(told.is_ok());
        assert!(plan.iter().any(|step| step.contains("USING INDEX remarks")), "{plan:?}");
    }

    fn sample(number: u32, values: usize) -> CounterSample {
        let value = |place: usize| {
            (Metric::ALL[place % Metric::ALL.len()], place as u64 * 1_000 + u64::from(number))
        };
        // Entries of seven values, so that statements end within them.
        let all: Vec<(Metric, u64)> = (0..values).map(value).collect();
        let entry = |(place, values): (usize, &[(Metric, u64)])| Entry {
            layer: Layer::Block,
            name: format!("disk{place}"),
            values: values.to_vec(),
        };
        CounterSample {
            number,
            entries: all.chunks(7).enumerate().map(entry).collect(),
            ..CounterSample::default()
        }
    }

    #[test]
    fn any_number_of_values_is_written_once_and_in_order() {
        let mut connection = Connection::open_in_memory().expect("a database");
        connection
            .execute_batch("CREATE TABLE stages (stage INTEGER PRIMARY KEY, kind TEXT)")
            .expect("a table");
        connection.execute_batch(COUNTER_TABLES).expect("tables");
        connection.execute_batch(CHECKSUM_TABLES).expect("tables");
        let lengths = [0, 1, TOGETHER - 1, TOGETHER, TOGETHER + 1, 2 * TOGETHER, 3 * TOGETHER + 5];
        let samples: Vec<CounterSample> =
            (0..).zip(lengths).map(|(number, length)| sample(number, length)).collect();
        let mut known = Series::default();
        let transaction = connection.transaction().expect("a transaction");
        for sample in &samples {
            write(&transaction, &mut known, &mut Sums::default(), sample).expect("room");
        }
        transaction.commit().expect("room");
        let numbered: i64 = connection
            .query_row("SELECT count(*) FROM counter_series", [], |row| row.get(0))
            .expect("rows");
        assert_eq!(
            numbered,
            3 * TOGETHER as i64 + 5,
            "each series has one number, whatever samples it is in"
        );

        let read = series(&connection).map_err(|problem| problem.0).expect("names");
        let mut rows = connection
            .prepare("SELECT sample, series, value FROM counters ORDER BY rowid")
            .expect("rows");
        let rows = rows.query_map([], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
        });
        let mut rows = rows.expect("rows").map(|row| row.expect("a row"));
        for (place, sample) in (1..).zip(&samples) {
            for entry in &sample.entries {
                for (metric, value) in &entry.values {
                    let (of, series, read_value) = rows.next().expect("a value");
                    let name = (entry.layer, entry.name.clone(), *metric);
                    assert_eq!(
                        (of, &read[&series], read_value),
                        (place, &name, crate::file::values::number(*value))
                    );
                }
            }
        }
        assert_eq!(rows.next(), None);
    }

    #[test]
    fn a_host_that_counts_in_another_order_keeps_its_series() {
        let mut connection = Connection::open_in_memory().expect("a database");
        connection
            .execute_batch("CREATE TABLE stages (stage INTEGER PRIMARY KEY, kind TEXT)")
            .expect("a table");
        connection.execute_batch(COUNTER_TABLES).expect("tables");
        connection.execute_batch(CHECKSUM_TABLES).expect("tables");
        let (first, mut second) = (sample(0, 7), sample(1, 7));
        second.entries[0].values.reverse();
        let mut known = Series::default();
        let transaction = connection.transaction().expect("a transaction");
        for sample in [&first, &second] {
            write(&transaction, &mut known, &mut Sums::default(), sample).expect("room");
        }
        let query = "SELECT count(DISTINCT series), count(*), min(value % 1000), max(value / \
                     1000) FROM counters";
        let all: [i64; 4] = transaction
            .query_row(query, [], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))
            .expect("values");
        assert_eq!(all, [7, 14, 0, 6]);
        let query = "SELECT count(*) FROM counters AS a JOIN counters AS b USING (series) WHERE \
                     a.sample = 1 AND b.sample = 2 AND b.value = a.value + 1";
        let same: i64 = transaction.query_row(query, [], |row| row.get(0)).expect("pairs");
        assert_eq!(same, 7, "values stay with their metric");
    }
}
