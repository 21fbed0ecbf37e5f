//! Reads the counters of a long run back: block by block, of which one is held at a time.

use super::chain::{VERSION, values_of};
use super::{MOST_HELD, MOST_SAMPLES, MOST_SERIES, MOST_VALUES};
use crate::file::checksums::{self, Part, Single};
use crate::file::values::{Problem, each, small, unsigned};
use model::CounterSample;
use model::columns::In;
use model::counters::{Entry, Layer, Metric};
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// The first time that a host said that it cannot count something, as
/// [`REMARKS`](crate::counters) has it of samples in rows.
pub const REMARKS: &str = "SELECT min(rowid), stage, host, number, start_ns, length_ns, notes \
                           FROM counter_remarks GROUP BY host, notes ORDER BY 1";

/// What a sample of a shape counts, in its order.
#[derive(Clone, Debug, Default)]
struct Shape {
    /// Without values.
    entries: Vec<Entry>,
    /// The series of each value, over all entries.
    series: Vec<i64>,
}

/// What a counter is, by the number of its series.
type Names = BTreeMap<i64, (Layer, String, Metric)>;

/// The blocks of counters of a file.
#[derive(Debug)]
pub struct Blocks {
    names: Names,
    held: Mutex<Held>,
}

/// The shapes that were used last. A host whose devices come and go has another one each time: all
/// those of a month are too many.
#[derive(Debug, Default)]
struct Held {
    shapes: BTreeMap<i64, Arc<Shape>>,
    /// How many values they have, in all.
    values: usize,
}

impl Held {
    fn put(&mut self, number: i64, shape: Arc<Shape>) {
        let values = shape.series.len();
        if self.values.saturating_add(values) > MOST_HELD {
            *self = Held::default();
        }
        self.values += values;
        self.shapes.insert(number, shape);
    }
}

/// A block without what it holds.
#[derive(Clone, Copy, Debug)]
struct Head {
    stage: u32,
    host: u32,
    shape: i64,
    number: u32,
    samples: usize,
    start_ns: u64,
    length_ns: u64,
}

impl Blocks {
    /// Those of a file with these series.
    pub fn of(names: &Names) -> Blocks {
        Blocks { names: names.clone(), held: Mutex::default() }
    }

    fn shape(&self, connection: &Connection, number: i64) -> Result<Arc<Shape>, Problem> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shape) = held.shapes.get(&number) {
            return Ok(Arc::clone(shape));
        }
        let mut query =
            connection.prepare_cached("SELECT series FROM counter_shapes WHERE shape = ?")?;
        let mut rows = query.query([number])?;
        let row = rows.next()?.ok_or_else(|| {
            Problem::from(format!("counters have shape {number}, which is not there"))
        })?;
        let bytes = row.get_ref(0)?.as_blob().map_err(|_| "a shape of counters is none")?;
        let shape = Arc::new(shape(bytes, &self.names)?);
        held.put(number, Arc::clone(&shape));
        Ok(shape)
    }

    /// How many values a block has, as the mean of a few of them: 1 and more.
    pub fn usual_values(&self, connection: &Connection, extent: Extent) -> Result<i64, Problem> {
        let mut query = connection
            .prepare_cached("SELECT samples, shape FROM counter_blocks WHERE block = ?")?;
        let (mut values, mut found) = (0i64, 0i64);
        for place in 0..LOOKS.min(extent.count) {
            let block = extent.first.saturating_add(extent.count / LOOKS.min(extent.count) * place);
            let head = query.query_row([block], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            let Some((samples, shape)) = head else { continue };
            let series =
                i64::try_from(self.shape(connection, shape)?.series.len()).unwrap_or(i64::MAX);
            values = values.saturating_add(series.saturating_mul(samples));
            found += 1;
        }
        Ok((values / found.max(1)).max(1))
    }

    /// Hands out every sample that is in a block with columns and in the tail; of a block without
    /// them, what it comes to as one sample. The next one is written over it.
    pub fn each_sample(
        &self,
        connection: &Connection,
        take: impl FnMut(&CounterSample) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        self.each_sample_but(connection, &BTreeSet::new(), take)
    }

    /// The same, without the samples of some stages.
    pub fn each_sample_but(
        &self,
        connection: &Connection,
        without: &BTreeSet<u32>,
        mut take: impl FnMut(&CounterSample) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let mut take = |sample: &CounterSample| match without.contains(&sample.stage) {
            true => Ok(()),
            false => take(sample),
        };
        let mut after = i64::MIN;
        while let Some((block, stage)) = next(connection, after)? {
            if !without.contains(&stage) {
                self.block(connection, block, |_| true, &mut take)?;
            }
            after = block;
        }
        self.tail(connection, take)
    }

    /// Hands out the samples of the block with this number, if there is one: those at the `wanted`
    /// places of it.
    pub fn block(
        &self,
        connection: &Connection,
        block: i64,
        wanted: impl Fn(usize) -> bool,
        take: &mut impl FnMut(&CounterSample) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let mut statement =
            connection.prepare_cached("SELECT * FROM counter_blocks WHERE block = ?")?;
        let mut rows = statement.query([block])?;
        let Some(row) = rows.next()? else { return Ok(()) };
        let (head, of_head) = (head(row)?, checksums::of_row(row)?);
        let shape = &*self.shape(connection, head.shape)?;
        if head.samples > MOST_SAMPLES || head.samples * shape.series.len() > MOST_VALUES {
            return Err(format!("block {block} of counters has more of them than a block").into());
        }
        let (sums, of_sums) = sums(connection, block)?;
        Single::of(connection, Part::CounterBlocks)?.check(block, of_head.wrapping_add(of_sums))?;
        let mut statement =
            connection.prepare_cached("SELECT * FROM counter_columns WHERE block = ?")?;
        let mut rows = statement.query([block])?;
        match rows.next()? {
            Some(row) => {
                Single::of(connection, Part::CounterColumns)?
                    .check(block, checksums::of_row(row)?)?;
                let bytes = row.get_ref(1)?.as_blob().map_err(|_| "columns are none")?;
                let places: Vec<usize> = (0..head.samples).filter(|at| wanted(*at)).collect();
                let columns = Columns::read(bytes, &head, shape.series.len(), &places)?;
                columns.each(&head, shape, &places, take)
            }
            // A bit that changed may not pass for a block that was thinned.
            None if has_columns(connection, block)? => {
                Err("the columns of a block of counters are missing".into())
            }
            None if wanted(0) => take(&head.summed(shape, &sums)),
            None => Ok(()),
        }
    }

    /// Hands out the samples of the tail.
    pub fn tail(
        &self,
        connection: &Connection,
        mut take: impl FnMut(&CounterSample) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let mut values = Vec::new();
        each(connection, "SELECT * FROM counter_tail ORDER BY tail", |row| {
            take(&self.of_tail(connection, row, &mut values)?)
        })
    }

    /// The sample in a row of the tail, if it is there.
    pub fn row_of_tail(
        &self,
        connection: &Connection,
        tail: i64,
    ) -> Result<Option<CounterSample>, Problem> {
        let mut statement =
            connection.prepare_cached("SELECT * FROM counter_tail WHERE tail = ?")?;
        let mut rows = statement.query([tail])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        self.of_tail(connection, row, &mut Vec::new()).map(Some)
    }

    fn of_tail(
        &self,
        connection: &Connection,
        row: &Row<'_>,
        values: &mut Vec<u64>,
    ) -> Result<CounterSample, Problem> {
        let shape = self.shape(connection, row.get(3)?)?;
        values.clear();
        values_of(row.get_ref(8)?.as_blob().map_err(|_| "a sample is none")?, values)?;
        if values.len() != shape.series.len() {
            return Err("a sample of counters does not fit its shape".into());
        }
        let mut sample = CounterSample {
            stage: small(row.get(1)?)?,
            host: small(row.get(2)?)?,
            number: small(row.get(4)?)?,
            start_ns: unsigned(row.get(5)?)?,
            length_ns: unsigned(row.get(6)?)?,
            entries: shape.entries.clone(),
            notes: serde_json::from_str(&row.get::<_, String>(7)?)?,
        };
        fill(&mut sample, values.iter().copied());
        Ok(sample)
    }
}

/// So many blocks say how large one is.
const LOOKS: i64 = 16;

/// The numbers of blocks in a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    /// The first.
    pub first: i64,
    /// So many from there on, if none is missing.
    pub count: i64,
}

impl Extent {
    /// That of a file.
    pub fn of(connection: &Connection) -> Result<Extent, Problem> {
        let end = |end: &str| {
            let query = format!("SELECT {end}(block) FROM counter_blocks");
            connection.query_row(&query, [], |row| row.get::<_, Option<i64>>(0))
        };
        let (Some(first), Some(last)) = (end("min")?, end("max")?) else {
            return Ok(Extent::default());
        };
        Ok(Extent { first, count: last.saturating_sub(first).saturating_add(1).max(0) })
    }
}

/// The block behind one, and its stage.
fn next(connection: &Connection, after: i64) -> Result<Option<(i64, u32)>, Problem> {
    let mut query = connection.prepare_cached(
        "SELECT block, stage FROM counter_blocks WHERE block > ? ORDER BY block LIMIT 1",
    )?;
    Ok(query.query_row([after], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

fn has_columns(connection: &Connection, block: i64) -> Result<bool, Problem> {
    let query = "SELECT count(*) FROM checksums WHERE part = 'counter_columns' AND row = ?";
    Ok(connection.query_row(query, [block], |row| row.get::<_, i64>(0))? > 0)
}

fn shape(bytes: &[u8], names: &Names) -> Result<Shape, Problem> {
    let (mut rest, mut shape, mut last) = (In::new(bytes), Shape::default(), 0i64);
    while !rest.is_over() {
        last = last.wrapping_add(rest.signed()?);
        let (layer, name, metric) = names.get(&last).ok_or("a counter has no name")?;
        if shape.series.len() >= MOST_SERIES {
            return Err("a sample of counters has more values than any host".into());
        }
        shape.series.push(last);
        let is_same = |entry: &&mut Entry| entry.layer == *layer && entry.name == *name;
        match shape.entries.last_mut().filter(is_same) {
            Some(entry) => entry.values.push((*metric, 0)),
            None => shape.entries.push(Entry {
                layer: *layer,
                name: name.clone(),
                values: vec![(*metric, 0)],
            }),
        }
    }
    Ok(shape)
}

fn head(row: &Row<'_>) -> Result<Head, Problem> {
    Ok(Head {
        stage: small(row.get(1)?)?,
        host: small(row.get(2)?)?,
        shape: row.get(3)?,
        number: small(row.get(4)?)?,
        samples: small(row.get(5)?)? as usize,
        start_ns: unsigned(row.get(6)?)?,
        length_ns: unsigned(row.get(7)?)?,
    })
}

/// What a block comes to, by series, and the checksum of that.
fn sums(connection: &Connection, block: i64) -> Result<(BTreeMap<i64, u64>, u64), Problem> {
    let mut statement = connection.prepare_cached("SELECT * FROM counter_sums WHERE block = ?")?;
    let mut rows = statement.query([block])?;
    let (mut sums, mut checksum) = (BTreeMap::new(), 0u64);
    while let Some(row) = rows.next()? {
        sums.insert(row.get(1)?, unsigned(row.get(2)?)?);
        checksum = checksum.wrapping_add(checksums::of_row(row)?);
    }
    Ok((sums, checksum))
}

impl Head {
    /// The block as one sample. What has no row is 0.
    fn summed(&self, shape: &Shape, sums: &BTreeMap<i64, u64>) -> CounterSample {
        let mut sample = self.empty(shape);
        let of = |series: &i64| sums.get(series).copied().unwrap_or_default();
        fill(&mut sample, shape.series.iter().map(of));
        sample
    }

    fn empty(&self, shape: &Shape) -> CounterSample {
        CounterSample {
            stage: self.stage,
            host: self.host,
            number: self.number,
            start_ns: self.start_ns,
            length_ns: self.length_ns,
            entries: shape.entries.clone(),
            notes: Vec::new(),
        }
    }
}

/// Puts values into the entries of a sample, in their order.
fn fill(sample: &mut CounterSample, values: impl Iterator<Item = u64>) {
    let places = sample.entries.iter_mut().flat_map(|entry| &mut entry.values);
    places.zip(values).for_each(|((_, place), value)| *place = value);
}

/// What a block holds.
struct Columns {
    numbers: Vec<u64>,
    /// When each began, and how long it was.
    stretches: Vec<(u64, u64)>,
    /// Column behind column, each at the wanted places alone.
    values: Vec<u64>,
    notes: BTreeMap<usize, Vec<String>>,
}

impl Columns {
    fn read(
        bytes: &[u8],
        head: &Head,
        series: usize,
        wanted: &[usize],
    ) -> Result<Columns, Problem> {
        let mut rest = In::of(VERSION, bytes).ok_or("a block of counters has another layout")?;
        let samples = head.samples;
        let mut numbers = Vec::with_capacity(samples);
        rest.column(samples, &mut numbers)?;
        let stretches = rest.stretches(samples)?;
        let mut values = Vec::with_capacity(series * wanted.len());
        let mut of_series = || match wanted.len() == samples {
            true => rest.column(samples, &mut values),
            false => rest.some_of_column(samples, wanted, &mut values),
        };
        (0..series).try_for_each(|_| of_series())?;
        let mut notes = BTreeMap::new();
        for _ in 0..rest.number()? {
            notes.insert(rest.number()? as usize, serde_json::from_slice(rest.block()?)?);
        }
        rest.end().map_err(|_| "a block of counters is longer than its columns")?;
        Ok(Columns { numbers, stretches, values, notes })
    }

    /// Hands out each of the samples that were wanted; the next one is written over it.
    fn each(
        mut self,
        head: &Head,
        shape: &Shape,
        wanted: &[usize],
        take: &mut impl FnMut(&CounterSample) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let mut sample = head.empty(shape);
        for (row, place) in wanted.iter().enumerate() {
            sample.number = u32::try_from(self.numbers[*place])
                .map_err(|_| Problem::from("a number is out of range"))?;
            (sample.start_ns, sample.length_ns) = self.stretches[*place];
            sample.notes = self.notes.remove(place).unwrap_or_default();
            let column = |column: usize| self.values[column * wanted.len() + row];
            fill(&mut sample, (0..shape.series.len()).map(column));
            take(&sample)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_held_up_to_a_bound() {
        let mut held = Held::default();
        let shape = Arc::new(Shape { series: vec![1; MOST_HELD / 4], ..Shape::default() });
        for number in 0..10 {
            held.put(number, Arc::clone(&shape));
            let values: usize = held.shapes.values().map(|shape| shape.series.len()).sum();
            assert!(values == held.values && values <= MOST_HELD, "{values}");
            assert!(held.shapes.contains_key(&number), "the last one is held");
        }
    }
}
