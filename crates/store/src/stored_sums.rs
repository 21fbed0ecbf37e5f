//! The sums beside the samples: kept while they are written, and taken instead of them when figures
//! are wanted.

use crate::checksums::{self, Part, Single};
use crate::reach::Reach;
use crate::thinned::{self, Thinner};
use crate::values::{Problem, each, small};
use model::digest::{Block, Frame, Held, Spans, Sums};
use model::{IntervalSample, Plan};
use rusqlite::{Connection, Row, Transaction, params};
use std::collections::{BTreeMap, BTreeSet};

/// Samples and operations of a block, at least. With fewer, all that a short run has is added up in
/// no time; with more, a killed run leaves more that has to be.
const LEAST: usize = 65_536;
/// And so many of each host, as its part of a block is then far smaller than its samples are.
const LEAST_OF_A_HOST: usize = 256;

/// Adds up what is being written.
#[derive(Debug)]
pub struct Keeper {
    blocks: BTreeMap<u32, Block>,
    /// Samples and operations in them.
    taken: usize,
    /// So many make a block.
    least: usize,
    /// The number behind each host's last interval in each stage; `None` once the stage ended.
    next: BTreeMap<u32, Option<Vec<u32>>>,
    has_written: bool,
    state: State,
    thinner: Thinner,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    StoredSums,
    /// They may not fit the samples, and have to go.
    Void,
    /// There are none, and there will be none.
    Gone,
}

impl Keeper {
    /// For a run.
    pub fn new(plan: &Plan) -> Keeper {
        Keeper::with_blocks_of(plan, LEAST.max(plan.hosts.len() * LEAST_OF_A_HOST))
    }

    /// With blocks of so many samples and operations, at least.
    pub fn with_blocks_of(plan: &Plan, least: usize) -> Keeper {
        Keeper {
            blocks: BTreeMap::new(),
            taken: 0,
            least,
            next: BTreeMap::new(),
            has_written: false,
            state: State::StoredSums,
            thinner: Thinner::new(plan),
        }
    }

    /// With so many rows of samples before the first block of them.
    #[cfg(test)]
    pub fn with_rows(mut self, rows: i64) -> Keeper {
        self.thinner = self.thinner.with_rows(rows);
        self
    }

    /// A stage began.
    pub fn began(&mut self, plan: &Plan, stage: u32, unix_ns: u64) {
        self.thinner.began(plan, stage, unix_ns);
    }

    /// Whether a sample that is about to be written is too far away from what was taken in, which
    /// is then a block of its own.
    pub fn is_away(&self, sample: &IntervalSample) -> bool {
        self.blocks.get(&sample.stage).is_some_and(|block| !block.reaches(sample))
    }

    /// Takes in a sample that was written.
    pub fn take(&mut self, plan: &Plan, sample: &IntervalSample) {
        if self.state != State::StoredSums {
            return;
        }
        let is_taken = self.is_next(plan.hosts.len(), sample)
            && self
                .blocks
                .entry(sample.stage)
                .or_insert_with(|| Block::new(plan, sample.stage))
                .take(sample)
                .is_ok();
        self.taken += 1 + sample.ops.len();
        self.thinner.took(sample);
        if !is_taken {
            // A reader is told what is wrong with it by the samples.
            self.void();
        }
    }

    /// Whether a sample goes back behind others of its host although rows of the file are gone:
    /// nobody could put it in its place any more.
    pub fn is_lost(&self, sample: &IntervalSample) -> bool {
        let next = self.next.get(&sample.stage).and_then(|next| next.as_ref());
        let next = next.and_then(|next| next.get(sample.host as usize)).copied();
        self.thinner.last() > 0 && next.is_some_and(|next| sample.interval < next)
    }

    /// Whether a host's sample comes after those that were taken in: a reader looks for others only
    /// there.
    fn is_next(&mut self, hosts: usize, sample: &IntervalSample) -> bool {
        let next = self.next.entry(sample.stage).or_insert_with(|| Some(vec![0; hosts]));
        match next.as_mut().and_then(|next| next.get_mut(sample.host as usize)) {
            Some(next) if *next <= sample.interval => {
                *next = sample.interval.saturating_add(1);
                true
            }
            _ => false,
        }
    }

    /// A stage is over.
    pub fn ended(&mut self, stage: u32) {
        self.next.insert(stage, None);
    }

    /// What was taken in may not have been written, or does not fit.
    pub fn void(&mut self) {
        self.blocks.clear();
        self.next.clear();
        self.taken = 0;
        self.thinner.stop();
        if self.state == State::StoredSums {
            self.state = State::Void;
        }
    }

    /// Before a transaction ends: writes a block if there is enough for one or, at the end of a run
    /// that has some, anything; takes all away if they cannot be kept.
    pub fn settle(
        &mut self,
        transaction: &Transaction<'_>,
        checks: &mut checksums::Sums,
        is_end: bool,
    ) -> rusqlite::Result<()> {
        if self.state == State::Void {
            return take_back(transaction, self.thinner.last());
        }
        if self.taken >= self.least || (is_end && self.has_written) {
            self.write(transaction)?;
        }
        self.thinner.work(transaction, checks, is_end)
    }

    /// After a transaction.
    pub fn committed(&mut self) {
        if self.state == State::Void {
            assert!(self.blocks.is_empty(), "nothing is taken in that does not fit");
            self.state = State::Gone;
        }
    }

    /// Writes what was taken in as a block. The checksums of all that was written before it have to
    /// be in the file.
    pub fn write(&mut self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let blocks = std::mem::take(&mut self.blocks);
        self.taken = 0;
        if blocks.is_empty() {
            return Ok(());
        }
        assert_eq!(self.state, State::StoredSums, "only sums that fit the samples are written");
        let reach = Reach::now(transaction)?;
        let row = params![
            blocks.len() as i64,
            reach.samples,
            reach.errors,
            reach.workers,
            reach.worker_samples
        ];
        let insert = "INSERT INTO sums (stages, samples, errors, workers, worker_samples) VALUES \
                      (?, ?, ?, ?, ?)";
        transaction.prepare_cached(insert)?.execute(row)?;
        let block = transaction.last_insert_rowid();
        let mut checksum = checksums::of_values(params![
            block,
            blocks.len() as i64,
            reach.samples,
            reach.errors,
            reach.workers,
            reach.worker_samples
        ])?;
        for (stage, sums) in blocks {
            let sums = sums.encode();
            let row = params![block, stage, sums.spans, sums.sums, sums.times];
            transaction
                .prepare_cached("INSERT INTO stage_sums VALUES (?, ?, ?, ?, ?)")?
                .execute(row)?;
            let number = transaction.last_insert_rowid();
            checksums::write(
                transaction,
                Part::StageSums,
                number,
                checksums::of_values(params![sums.sums])?,
            )?;
            checksums::write(
                transaction,
                Part::StageTimes,
                number,
                checksums::of_values(params![sums.times])?,
            )?;
            checksum =
                checksum.wrapping_add(checksums::of_values(params![block, stage, sums.spans])?);
        }
        checksums::write(transaction, Part::Sums, block, checksum)?;
        self.has_written = true;
        self.thinner.wrote(transaction, block, reach)
    }
}

/// Takes all blocks away that may not fit the samples: those behind the last one whose samples are
/// gone. What these come to, nothing else tells.
fn take_back(transaction: &Transaction<'_>, last: i64) -> rusqlite::Result<()> {
    let rows = "DELETE FROM checksums WHERE part IN ('stage_sums', 'stage_times') AND row IN \
                (SELECT rowid FROM stage_sums WHERE block > ?)";
    for sql in [
        rows,
        "DELETE FROM checksums WHERE part = 'sums' AND row > ?",
        "DELETE FROM stage_sums WHERE block > ?",
        "DELETE FROM sums WHERE block > ?",
    ] {
        transaction.prepare_cached(sql)?.execute([last])?;
    }
    Ok(())
}

/// The sums of a file, as far as they reach.
#[derive(Debug, Default)]
pub struct StoredSums {
    blocks: Vec<KeptBlock>,
    /// Those whose samples are gone.
    thinned: BTreeSet<i64>,
}

#[derive(Debug)]
struct KeptBlock {
    number: i64,
    /// How far those before it reach, and how far this one does.
    reach: (Reach, Reach),
    /// How many stages it has sums of.
    planned: i64,
    stages: Vec<StageSums>,
    /// Of what is read of all of it.
    checksum: u64,
}

#[derive(Debug)]
struct StageSums {
    row: i64,
    /// The place of the stage among those that began.
    at: usize,
    held: Held,
}

/// Samples that have to be added up although a block has them: those of one stage.
#[derive(Clone, Copy, Debug)]
pub struct Again {
    pub block: i64,
    pub reach: (Reach, Reach),
    pub at: usize,
}

impl StoredSums {
    /// How far they reach: to no row at all where there are none.
    pub fn reach(&self) -> Reach {
        self.blocks.last().map_or_else(Reach::default, |block| block.reach.1)
    }

    /// Looks for the sums of a file, and puts the intervals of the `begun` stages into `spans`, by
    /// stage and host.
    pub fn find(
        connection: &Connection,
        begun: &[u32],
        hosts: u32,
        spans: &mut [BTreeMap<u32, Spans>],
    ) -> Result<StoredSums, Problem> {
        let there = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'sums'";
        if connection.query_row(there, [], |row| row.get::<_, i64>(0))? == 0 {
            return Ok(StoredSums::default());
        }
        thinned::check(connection)?;
        let mut kept =
            StoredSums { blocks: blocks(connection)?, thinned: thinned::blocks(connection)? };
        let mut at = 0;
        let query = "SELECT rowid, block, stage, spans FROM stage_sums ORDER BY rowid";
        each(connection, query, |row| {
            let number: i64 = row.get(1)?;
            while kept.blocks.get(at).is_some_and(|block| block.number < number) {
                at += 1;
            }
            let Some(block) = kept.blocks.get_mut(at).filter(|block| block.number == number) else {
                return Ok(());
            };
            let stage = small(row.get(2)?)?;
            let place = begun
                .binary_search(&stage)
                .map_err(|_| "sums belong to a stage that never began")?;
            let held = Held::take(blob(row, 3)?, &mut spans[place])?;
            if held.hosts().any(|host| host >= hosts) {
                return Err("sums belong to a host that is not there".into());
            }
            block.stages.push(StageSums { row: row.get(0)?, at: place, held });
            block.checksum = block.checksum.wrapping_add(checksums::of_columns(row, 1..=3)?);
            Ok(())
        })?;
        kept.check(connection)?;
        match kept.blocks.iter().all(|block| block.stages.len() as i64 == block.planned) {
            true => Ok(kept),
            false => Err("sums of some stages are missing".into()),
        }
    }

    /// Whether its blocks are those that were written, all of them, as they were.
    fn check(&self, connection: &Connection) -> Result<(), Problem> {
        if self.blocks.is_empty() || !checksums::are_there(connection)? {
            return Ok(());
        }
        let written: i64 = connection.query_row(
            "SELECT count(*) FROM checksums WHERE part = 'sums'",
            [],
            |row| row.get(0),
        )?;
        if written != self.blocks.len() as i64 {
            return Err("some of its sums are missing".into());
        }
        let mut checks = Single::of(connection, Part::Sums)?;
        self.blocks.iter().try_for_each(|block| checks.check(block.number, block.checksum))
    }

    /// Adds them up, one frame and one sum for each stage that began. What could not be taken from
    /// them is handed back.
    pub fn take(
        &self,
        connection: &Connection,
        frames: &[(u32, Frame)],
        sums: &mut [Sums],
    ) -> Result<Vec<Again>, Problem> {
        let mut again = Vec::new();
        if self.blocks.is_empty() {
            return Ok(again);
        }
        let mut row_of =
            connection.prepare("SELECT sums, times FROM stage_sums WHERE rowid = ?")?;
        let (mut sums_check, mut times_check) =
            (Single::of(connection, Part::StageSums)?, Single::of(connection, Part::StageTimes)?);
        let mut last = None;
        for block in &self.blocks {
            for stage in &block.stages {
                if let Some(before) = last.replace(stage.at).filter(|before| *before != stage.at) {
                    let sums: &mut Sums = &mut sums[before];
                    sums.pack();
                }
                let Some((_, frame)) = frames.get(stage.at) else { continue };
                let Some(is_counted) = stage.held.is_counted(frame) else {
                    if self.thinned.contains(&block.number) {
                        return Err("figures rest on a part of intervals of which it keeps the \
                                    sum alone"
                            .into());
                    }
                    again.push(Again { block: block.number, reach: block.reach, at: stage.at });
                    continue;
                };
                let mut rows = row_of.query([stage.row])?;
                let Some(row) = rows.next()? else {
                    return Err("sums of some stages are missing".into());
                };
                sums_check.check(stage.row, checksums::of_columns(row, 0..=0)?)?;
                let times = if frame.is_any_timed() { Some(blob(row, 1)?) } else { None };
                if times.is_some() {
                    times_check.check(stage.row, checksums::of_columns(row, 1..=1)?)?;
                }
                sums[stage.at].take_block(frame, &stage.held, is_counted, blob(row, 0)?, times)?;
            }
        }
        Ok(again)
    }
}

fn blob<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a [u8], Problem> {
    row.get_ref(column)?.as_blob().map_err(|_| "the sums of samples are none".into())
}

/// The blocks of a file, of which each begins where the one before it ends.
fn blocks(connection: &Connection) -> Result<Vec<KeptBlock>, Problem> {
    let mut blocks: Vec<KeptBlock> = Vec::new();
    let query =
        "SELECT block, stages, samples, errors, workers, worker_samples FROM sums ORDER BY block";
    each(connection, query, |row| {
        let from = blocks.last().map_or_else(Reach::default, |block| block.reach.1);
        let to = Reach {
            samples: row.get(2)?,
            errors: row.get(3)?,
            workers: row.get(4)?,
            worker_samples: row.get(5)?,
        };
        if !from.is_within(&to) {
            return Err("its sums do not follow one another".into());
        }
        blocks.push(KeptBlock {
            number: row.get(0)?,
            reach: (from, to),
            planned: row.get(1)?,
            stages: Vec::new(),
            checksum: checksums::of_row(row)?,
        });
        Ok(())
    })?;
    match blocks
        .last()
        .is_none_or(|last| Reach::now(connection).is_ok_and(|now| last.reach.1.is_within(&now)))
    {
        true => Ok(blocks),
        false => Err("its sums are of more samples than there are".into()),
    }
}

#[cfg(test)]
mod tests;
