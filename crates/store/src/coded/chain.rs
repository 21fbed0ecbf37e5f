//! Writes the counters of a long run: sample by sample behind each other, then as blocks.

use super::{CHAIN_STEP, MOST_HELD, MOST_SAMPLES, MOST_SERIES, MOST_VALUES, PLAIN_VALUES};
use crate::counters::rows;
use crate::counters::series::{Series, Value};
use crate::file::checksums::{self, Part, Sums};
use crate::file::values::number;
use model::CounterSample;
use model::columns::{Bad, In, Out, Zeros};
use model::plan::Keep;
use rusqlite::types::Value as Cell;
use rusqlite::{Transaction, params};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

/// The version of a block's coding.
pub(super) const VERSION: u8 = 1;

/// Writes counters, each sample so that a `kill -9` leaves it.
#[derive(Debug, Default)]
pub struct Coder {
    series: Series,
    /// How many values may still stand in rows of their own.
    plain: usize,
    shapes: HashMap<Arc<[Value]>, i64>,
    /// How many values these have, in all.
    shaped: usize,
    chains: BTreeMap<u32, Chain>,
    next_chain: i64,
    /// What each host said that it cannot count.
    said: BTreeSet<(u32, String)>,
    /// When stages began, by the clock for people.
    begun_unix_ns: BTreeMap<u32, u64>,
    /// What is recorded, and how long columns are kept.
    keep: Keep,
    /// The blocks that have columns, with when they ended.
    kept: VecDeque<(i64, u64)>,
}

/// Samples of one host that stand behind each other and are no block yet.
#[derive(Clone, Debug)]
struct Chain {
    number: i64,
    stage: u32,
    shape: i64,
    series: Arc<[Value]>,
    samples: usize,
    /// With so many samples, it becomes a block.
    most: usize,
    end_ns: u64,
}

impl Coder {
    /// For a fresh run file that keeps this.
    pub fn new(keep: Keep) -> Coder {
        Coder { plain: PLAIN_VALUES, next_chain: 1, keep, ..Coder::default() }
    }

    /// With so many values in rows of their own.
    #[cfg(test)]
    pub fn with_plain(self, plain: usize) -> Coder {
        Coder { plain, ..self }
    }

    /// Forgets what was written in a transaction that failed. What stands in the tail stays there,
    /// and is read from there.
    pub fn forget(&mut self) {
        self.series.forget();
        self.forget_shapes();
        self.chains.clear();
        self.said.clear();
        self.kept.clear();
    }

    /// A shape that is forgotten is written once more where it comes again.
    fn forget_shapes(&mut self) {
        self.shapes.clear();
        self.shaped = 0;
    }

    /// A stage began.
    pub fn began(&mut self, stage: u32, unix_ns: u64) {
        self.begun_unix_ns.insert(stage, unix_ns);
    }

    /// Writes one sample.
    pub fn write(
        &mut self,
        transaction: &Transaction<'_>,
        checks: &mut Sums,
        sample: &CounterSample,
    ) -> rusqlite::Result<()> {
        let Some(sample) = self.keep.counters_of(sample) else { return Ok(()) };
        let sample = &*sample;
        let values: usize = sample.entries.iter().map(|entry| entry.values.len()).sum();
        if values <= self.plain || values > MOST_SERIES {
            self.plain = self.plain.saturating_sub(values);
            return rows::write(transaction, &mut self.series, checks, sample);
        }
        self.plain = 0;
        let mut numbered = Vec::with_capacity(values);
        for entry in &sample.entries {
            self.series.number(transaction, checks, entry, &mut numbered)?;
        }
        let (series, values): (Vec<Value>, Vec<u64>) = numbered.into_iter().unzip();
        self.remark(transaction, checks, sample)?;
        let goes_on = |chain: &Chain| chain.stage == sample.stage && *chain.series == *series;
        if !self.chains.get(&sample.host).is_some_and(goes_on) {
            self.close(transaction, checks, sample.host)?;
            self.begin(transaction, checks, sample, series)?;
        }
        let Some(chain) = self.chains.get_mut(&sample.host) else { return Ok(()) };
        let row = chain.number * CHAIN_STEP + chain.samples as i64;
        let cells = params![
            row,
            sample.stage,
            sample.host,
            chain.shape,
            sample.number,
            number(sample.start_ns),
            number(sample.length_ns),
            json(&sample.notes)?,
            row_of(&values)
        ];
        let insert = "INSERT INTO counter_tail VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
        checks.insert(transaction, Part::CounterTail, insert, cells)?;
        chain.samples += 1;
        chain.end_ns = sample.start_ns.saturating_add(sample.length_ns);
        if chain.samples >= chain.most {
            self.close(transaction, checks, sample.host)?;
        }
        Ok(())
    }

    /// Writes what a host cannot count, the first time that it says so.
    fn remark(
        &mut self,
        transaction: &Transaction<'_>,
        checks: &mut Sums,
        sample: &CounterSample,
    ) -> rusqlite::Result<()> {
        if sample.notes.is_empty() {
            return Ok(());
        }
        let notes = json(&sample.notes)?;
        if !self.said.insert((sample.host, notes.clone())) {
            return Ok(());
        }
        let (start_ns, length_ns) = (number(sample.start_ns), number(sample.length_ns));
        checks.insert(
            transaction,
            Part::CounterRemarks,
            "INSERT INTO counter_remarks VALUES (?, ?, ?, ?, ?, ?)",
            params![sample.stage, sample.host, sample.number, start_ns, length_ns, notes],
        )
    }

    fn begin(
        &mut self,
        transaction: &Transaction<'_>,
        checks: &mut Sums,
        sample: &CounterSample,
        series: Vec<Value>,
    ) -> rusqlite::Result<()> {
        let series: Arc<[Value]> = series.into();
        let shape = match self.shapes.get(&series) {
            Some(shape) => *shape,
            None => {
                let (mut out, mut last) = (Out::default(), 0);
                for value in &*series {
                    out.signed(value.series.wrapping_sub(last));
                    last = value.series;
                }
                let bytes = out.into_bytes();
                transaction
                    .prepare_cached("INSERT INTO counter_shapes (series) VALUES (?)")?
                    .execute(params![bytes])?;
                let shape = transaction.last_insert_rowid();
                checks.added(Part::CounterShapes, params![shape, bytes])?;
                // A host whose devices come and go has another one each time, for a month.
                if self.shaped.saturating_add(series.len()) > MOST_HELD {
                    self.forget_shapes();
                }
                self.shaped += series.len();
                self.shapes.insert(Arc::clone(&series), shape);
                shape
            }
        };
        let most = (MOST_VALUES / series.len().max(1)).clamp(1, MOST_SAMPLES);
        // Not all hosts at the same instant: the first block of each has a length of its own.
        let early = match self.chains.contains_key(&sample.host) {
            true => most,
            false => most - sample.host as usize * 29 % most * 3 / 4,
        };
        let chain = Chain {
            number: self.next_chain,
            stage: sample.stage,
            shape,
            series,
            samples: 0,
            most: early.clamp(1, most),
            end_ns: 0,
        };
        self.next_chain += 1;
        self.chains.insert(sample.host, chain);
        Ok(())
    }

    /// A stage is over, or with `None` the run: nothing stays in the tail.
    pub fn ended(
        &mut self,
        transaction: &Transaction<'_>,
        checks: &mut Sums,
        stage: Option<u32>,
    ) -> rusqlite::Result<()> {
        let of = |chain: &Chain| stage.is_none_or(|stage| chain.stage == stage);
        let hosts: Vec<u32> =
            self.chains.iter().filter(|(_, chain)| of(chain)).map(|(host, _)| *host).collect();
        hosts.into_iter().try_for_each(|host| self.close(transaction, checks, host))?;
        self.chains.retain(|_, chain| !of(chain));
        Ok(())
    }

    /// Makes what a host has in the tail a block.
    fn close(
        &mut self,
        transaction: &Transaction<'_>,
        checks: &mut Sums,
        host: u32,
    ) -> rusqlite::Result<()> {
        let Some(chain) = self.chains.get_mut(&host).filter(|chain| chain.samples > 0) else {
            return Ok(());
        };
        let rows = chain.number * CHAIN_STEP..(chain.number + 1) * CHAIN_STEP;
        let mut block = Block::default();
        let mut removed = 0u64;
        let mut statement = transaction
            .prepare_cached("SELECT * FROM counter_tail WHERE tail >= ? AND tail < ?")?;
        let mut found = statement.query([rows.start, rows.end])?;
        while let Some(row) = found.next()? {
            removed = removed.wrapping_add(checksums::of_row(row)?);
            block.take(row)?;
        }
        transaction
            .prepare_cached("DELETE FROM counter_tail WHERE tail >= ? AND tail < ?")?
            .execute([rows.start, rows.end])?;
        checks.remove(Part::CounterTail, removed);
        let written = block.write(transaction, chain, host)?;
        let begun = self.begun_unix_ns.get(&chain.stage).copied().unwrap_or_default();
        let ended = begun.saturating_add(chain.end_ns);
        let most = (MOST_VALUES / chain.series.len().max(1)).clamp(1, MOST_SAMPLES);
        *chain = Chain { number: self.next_chain, samples: 0, most, ..chain.clone() };
        self.next_chain += 1;
        self.thin(transaction, written, ended)
    }

    /// Takes the columns of blocks away that ended so long before this one that they are not kept.
    fn thin(
        &mut self,
        transaction: &Transaction<'_>,
        block: i64,
        ended_unix_ns: u64,
    ) -> rusqlite::Result<()> {
        let Some(keep_ns) = self.keep.full.map(|full| full.0) else { return Ok(()) };
        self.kept.push_back((block, ended_unix_ns));
        while let Some((block, ended)) = self.kept.front().copied() {
            if ended_unix_ns.saturating_sub(ended) <= keep_ns {
                break;
            }
            self.kept.pop_front();
            transaction
                .prepare_cached("DELETE FROM counter_columns WHERE block = ?")?
                .execute([block])?;
            transaction
                .prepare_cached("DELETE FROM checksums WHERE part = 'counter_columns' AND row = ?")?
                .execute([block])?;
        }
        Ok(())
    }
}

/// Samples of one host, each column by itself.
#[derive(Debug, Default)]
struct Block {
    numbers: Vec<u64>,
    starts_ns: Vec<u64>,
    lengths_ns: Vec<u64>,
    /// Values of a sample behind those of the one before.
    values: Vec<u64>,
    /// The place of a sample and its notes.
    notes: Vec<(usize, String)>,
}

impl Block {
    /// Takes in a row of the tail.
    fn take(&mut self, row: &rusqlite::Row<'_>) -> rusqlite::Result<()> {
        let notes: String = row.get(7)?;
        if notes != "[]" {
            self.notes.push((self.numbers.len(), notes));
        }
        self.numbers.push(row.get::<_, i64>(4)? as u64);
        self.starts_ns.push(row.get::<_, i64>(5)? as u64);
        self.lengths_ns.push(row.get::<_, i64>(6)? as u64);
        let bytes = row.get_ref(8)?.as_blob()?;
        // We wrote it a moment ago.
        values_of(bytes, &mut self.values).map_err(|_| rusqlite::Error::InvalidQuery)
    }

    /// Writes the block of a chain, and returns its number.
    fn write(
        &self,
        transaction: &Transaction<'_>,
        chain: &Chain,
        host: u32,
    ) -> rusqlite::Result<i64> {
        let length_ns = self.lengths_ns.iter().fold(0u64, |sum, ns| sum.saturating_add(*ns));
        let (first, start_ns) = (self.numbers.first(), self.starts_ns.first());
        let (first, start_ns) = (
            number(first.copied().unwrap_or_default()),
            number(start_ns.copied().unwrap_or_default()),
        );
        let samples = self.numbers.len() as i64;
        let length_ns = number(length_ns);
        let insert = "INSERT INTO counter_blocks (stage, host, shape, number, samples, start_ns, \
                      length_ns) VALUES (?, ?, ?, ?, ?, ?, ?)";
        let row = params![chain.stage, host, chain.shape, first, samples, start_ns, length_ns];
        transaction.prepare_cached(insert)?.execute(row)?;
        let block = transaction.last_insert_rowid();
        let mut checksum = checksums::of_values(params![
            block, chain.stage, host, chain.shape, first, samples, start_ns, length_ns
        ])?;
        let mut insert = transaction.prepare_cached("INSERT INTO counter_sums VALUES (?, ?, ?)")?;
        for (series, value) in self.sums(&chain.series) {
            let row: [Cell; 3] = [block.into(), series.into(), value.into()];
            checksum = checksum.wrapping_add(checksums::of_values(params![block, series, value])?);
            insert.execute(row)?;
        }
        checksums::write(transaction, Part::CounterBlocks, block, checksum)?;
        let columns = self.encode(chain.series.len());
        transaction
            .prepare_cached("INSERT INTO counter_columns VALUES (?, ?)")?
            .execute(params![block, columns])?;
        let checksum = checksums::of_values(params![block, columns])?;
        checksums::write(transaction, Part::CounterColumns, block, checksum)?;
        Ok(block)
    }

    /// What the block comes to, by series; a 0 is left out.
    fn sums(&self, series: &[Value]) -> BTreeMap<i64, i64> {
        let mut sums: BTreeMap<i64, i64> = BTreeMap::new();
        for sample in self.values.chunks_exact(series.len().max(1)) {
            for (of, value) in series.iter().zip(sample) {
                let sum = sums.entry(of.series).or_default();
                *sum =
                    if of.is_gauge { number(*value) } else { sum.saturating_add(number(*value)) };
            }
        }
        sums.retain(|_, sum| *sum != 0);
        sums
    }

    fn encode(&self, series: usize) -> Vec<u8> {
        let mut out = Out::of(VERSION);
        out.column(&self.numbers);
        out.stretches(self.starts_ns.iter().copied().zip(self.lengths_ns.iter().copied()));
        let mut column = Vec::with_capacity(self.numbers.len());
        for place in 0..series {
            column.clear();
            column.extend(self.values.chunks_exact(series).map(|sample| sample[place]));
            out.column(&column);
        }
        out.count(self.notes.len());
        for (place, notes) in &self.notes {
            out.count(*place);
            out.text(notes);
        }
        out.into_bytes()
    }
}

/// The values of a sample in the tail.
fn row_of(values: &[u64]) -> Vec<u8> {
    let (mut out, mut zeros) = (Out::of(VERSION), Zeros::default());
    values.iter().for_each(|value| zeros.put(&mut out, *value));
    zeros.end(&mut out);
    out.into_bytes()
}

/// Adds the values of a sample in the tail to `out`.
///
/// # Errors
/// They are none, or more than a sample can have.
pub(super) fn values_of(bytes: &[u8], out: &mut Vec<u64>) -> Result<(), Bad> {
    let mut rest = In::of(VERSION, bytes).ok_or(Bad::OutOfRange)?;
    let (mut zeros, begun) = (Zeros::default(), out.len());
    while !(rest.is_over() && zeros.is_over()) {
        out.push(zeros.take(&mut rest)?.ok_or(Bad::OutOfRange)?);
        if out.len() - begun > MOST_SERIES {
            return Err(Bad::TooLong);
        }
    }
    Ok(())
}

fn json(notes: &[String]) -> rusqlite::Result<String> {
    serde_json::to_string(notes)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
