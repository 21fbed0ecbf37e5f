//! The sums beside the samples: kept while they are written. [`read`] takes them instead of the
//! samples when figures are wanted.

mod read;

pub use read::{Again, StoredSums};

use crate::file::checksums::{self, Part};
use crate::samples::block_rows::Reach;
use crate::samples::thinned::Thinner;
use model::digest::Block;
use model::{IntervalSample, Plan};
use rusqlite::{Transaction, params};
use std::collections::BTreeMap;

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
        let Reach { samples, errors, workers, worker_samples } = reach;
        let stages = blocks.len() as i64;
        let insert = "INSERT INTO sums (stages, samples, errors, workers, worker_samples) VALUES \
                      (?, ?, ?, ?, ?)";
        transaction
            .prepare_cached(insert)?
            .execute(params![stages, samples, errors, workers, worker_samples])?;
        let block = transaction.last_insert_rowid();
        let own = params![block, stages, samples, errors, workers, worker_samples];
        let mut checksum = checksums::of_values(own)?;
        for (stage, sums) in blocks {
            let sums = sums.encode();
            let row = params![block, stage, sums.spans, sums.sums, sums.times];
            transaction
                .prepare_cached("INSERT INTO stage_sums VALUES (?, ?, ?, ?, ?)")?
                .execute(row)?;
            let number = transaction.last_insert_rowid();
            for (part, bytes) in [(Part::StageSums, &sums.sums), (Part::StageTimes, &sums.times)] {
                checksums::write(transaction, part, number, checksums::of_values(params![bytes])?)?;
            }
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

#[cfg(test)]
mod tests;
