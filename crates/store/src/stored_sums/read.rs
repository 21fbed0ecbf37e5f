//! The sums of a run file, taken instead of its samples: by several threads, each of which has some
//! blocks in a row.

use crate::file::checksums::{self, Part, Single};
use crate::file::source::Source;
use crate::file::values::{Problem, each, small};
use crate::samples::block_rows::Reach;
use crate::samples::thinned;
use model::digest::{Frame, Held, Spans, Sums, Unfit};
use rusqlite::{Connection, Row};
use std::collections::{BTreeMap, BTreeSet};

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
        source: &Source,
        begun: &[u32],
        hosts: u32,
        spans: &mut [BTreeMap<u32, Spans>],
    ) -> Result<StoredSums, Problem> {
        let connection = &source.opened.connection;
        let there = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'sums'";
        if connection.query_row(there, [], |row| row.get::<_, i64>(0))? == 0 {
            return Ok(StoredSums::default());
        }
        thinned::check(connection)?;
        let mut kept =
            StoredSums { blocks: blocks(connection)?, thinned: thinned::blocks(connection)? };
        let rows = kept.rows(connection)?;
        let each = rows.len().div_ceil(source.threads(kept.reach().samples)).max(1);
        let found = source.side_by_side(rows.chunks(each).collect(), &|connection, rows| {
            Found::of(connection, rows, begun, hosts)
        })?;
        for found in found {
            kept.add(found, spans)?;
        }
        kept.check(connection)?;
        match kept.blocks.iter().all(|block| block.stages.len() as i64 == block.planned) {
            true => Ok(kept),
            false => Err("sums of some stages are missing".into()),
        }
    }

    /// The numbers of the rows that its blocks have, each with the place of its block. Rows of a
    /// block that has gone by are nobody's.
    fn rows(&self, connection: &Connection) -> Result<Vec<(i64, usize)>, Problem> {
        let (mut rows, mut at) = (Vec::new(), 0);
        each(connection, "SELECT rowid, block FROM stage_sums ORDER BY rowid", |row| {
            let number: i64 = row.get(1)?;
            while self.blocks.get(at).is_some_and(|block| block.number < number) {
                at += 1;
            }
            if self.blocks.get(at).is_some_and(|block| block.number == number) {
                rows.push((row.get(0)?, at));
            }
            Ok(())
        })?;
        Ok(rows)
    }

    /// Takes in what one part of the rows has, behind that of all before it.
    fn add(&mut self, found: Found, spans: &mut [BTreeMap<u32, Spans>]) -> Result<(), Problem> {
        let before: Vec<BTreeMap<u32, usize>> = spans
            .iter()
            .map(|hosts| hosts.iter().map(|(host, spans)| (*host, spans.len())).collect())
            .collect();
        for (at, mut stage, checksum) in found.stages {
            let before = &before[stage.at];
            stage.held.put_behind(|host| before.get(&host).copied().unwrap_or_default());
            let block = &mut self.blocks[at];
            block.checksum = block.checksum.wrapping_add(checksum);
            block.stages.push(stage);
        }
        for (all, found) in spans.iter_mut().zip(found.spans) {
            for (host, spans) in found {
                let all = all.entry(host).or_default();
                let ends = all.last().zip(spans.iter().next());
                if ends.is_some_and(|(last, next)| last.interval >= next.interval) {
                    return Err(Unfit::Block.into());
                }
                all.append(spans);
            }
        }
        Ok(())
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
        source: &Source,
        frames: &[(u32, Frame)],
        sums: &mut [Sums],
    ) -> Result<Vec<Again>, Problem> {
        let each = self.blocks.len().div_ceil(source.threads(self.reach().samples)).max(1);
        let jobs: Vec<&[KeptBlock]> = self.blocks.chunks(each).collect();
        let found =
            source.side_by_side(jobs, &|connection, jobs| self.add_up(connection, jobs, frames))?;
        let mut again = Vec::new();
        for (of_part, left) in found {
            for (all, part) in sums.iter_mut().zip(of_part) {
                all.merge(part)?;
            }
            again.extend(left);
        }
        Ok(again)
    }

    /// Adds up some blocks in a row.
    fn add_up(
        &self,
        connection: &Connection,
        blocks: &[KeptBlock],
        frames: &[(u32, Frame)],
    ) -> Result<(Vec<Sums>, Vec<Again>), Problem> {
        let (mut sums, mut again) = (vec![Sums::default(); frames.len()], Vec::new());
        let mut row_of =
            connection.prepare("SELECT sums, times FROM stage_sums WHERE rowid = ?")?;
        let (mut sums_check, mut times_check) =
            (Single::of(connection, Part::StageSums)?, Single::of(connection, Part::StageTimes)?);
        let mut last = None;
        for (block, stage) in blocks.iter().flat_map(|b| b.stages.iter().map(move |s| (b, s))) {
            if let Some(before) = last.replace(stage.at).filter(|before| *before != stage.at)
                && let Some(sums) = sums.get_mut(before)
            {
                sums.pack();
            }
            let Some((_, frame)) = frames.get(stage.at) else { continue };
            let Some(is_counted) = stage.held.is_counted(frame) else {
                if self.thinned.contains(&block.number) {
                    return Err("figures rest on a part of intervals of which it keeps the sum \
                                alone"
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
        Ok((sums, again))
    }
}

/// What some rows of sums have.
struct Found {
    /// With the place of the block, and the checksum of what was read.
    stages: Vec<(usize, StageSums, u64)>,
    /// By stage that began, and host.
    spans: Vec<BTreeMap<u32, Spans>>,
}

impl Found {
    /// Of rows with these numbers, each with the place of its block.
    fn of(
        connection: &Connection,
        numbers: &[(i64, usize)],
        begun: &[u32],
        hosts: u32,
    ) -> Result<Found, Problem> {
        let mut found = Found { stages: Vec::new(), spans: vec![BTreeMap::new(); begun.len()] };
        let mut statement =
            connection.prepare("SELECT block, stage, spans FROM stage_sums WHERE rowid = ?")?;
        for (number, at) in numbers {
            let mut rows = statement.query([number])?;
            let row = rows.next()?.ok_or("sums of some stages are missing")?;
            let stage = small(row.get(1)?)?;
            let place = begun
                .binary_search(&stage)
                .map_err(|_| "sums belong to a stage that never began")?;
            let held = Held::take(blob(row, 2)?, &mut found.spans[place])?;
            if held.hosts().any(|host| host >= hosts) {
                return Err("sums belong to a host that is not there".into());
            }
            let stage = StageSums { row: *number, at: place, held };
            found.stages.push((*at, stage, checksums::of_columns(row, 0..=2)?));
        }
        Ok(found)
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
