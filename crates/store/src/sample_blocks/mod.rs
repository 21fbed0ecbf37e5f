//! The samples of a long run: what hosts did in a block of sums, in pieces of one host and some
//! hundred intervals each.
//!
//! A run begins with rows that every program can read. When there are enough of them, the oldest
//! block of sums is written once more, in columns, and its rows go ([`moving`]). What comes back is
//! what was recorded, to the bit.

mod code;
mod histograms;
mod moments;
mod moving;

pub use moving::{Move, Progress, cost};

use crate::file::checksums::{self, Part, Single, Sums};
use crate::file::values::{Problem, small};
use crate::samples::block_rows::{Beside, Stretch, each_block};
use crate::samples::rows::{Samples, fill_ops, fill_workers};
use model::IntervalSample;
use model::digest::Spans;
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// Intervals of a piece.
pub const PIECE: usize = 256;

/// The intervals of a block, by stage and host.
type Stages<'a> = &'a [(u32, BTreeMap<u32, Spans>)];

/// Takes the samples of a block away.
pub fn remove(
    transaction: &Transaction<'_>,
    checks: &mut Sums,
    block: i64,
) -> rusqlite::Result<()> {
    let found = transaction
        .query_row("SELECT * FROM sample_blocks WHERE block = ?", [block], |row| {
            Ok((row.get::<_, i64>(1)?, row.get::<_, i64>(2)?, checksums::of_row(row)?))
        })
        .optional()?;
    let Some((first, pieces, checksum)) = found else { return Ok(()) };
    remove_pieces(transaction, first, pieces)?;
    transaction.prepare_cached("DELETE FROM sample_blocks WHERE block = ?")?.execute([block])?;
    checks.remove(Part::SampleBlocks, checksum);
    Ok(())
}

/// Takes pieces away, with their checksums.
fn remove_pieces(transaction: &Transaction<'_>, first: i64, pieces: i64) -> rusqlite::Result<()> {
    let range = [first, first.saturating_add(pieces)];
    for sql in [
        "DELETE FROM sample_columns WHERE piece >= ? AND piece < ?",
        "DELETE FROM checksums WHERE part = 'sample_columns' AND row >= ? AND row < ?",
    ] {
        transaction.prepare_cached(sql)?.execute(range)?;
    }
    Ok(())
}

/// Rows of all tables of what hosts did, from one edge to another.
#[derive(Clone, Copy, Debug)]
pub struct Within {
    /// Of the tables that blocks of sums count.
    pub stretch: Stretch,
    /// Of the others, which nobody checks here: from behind the first up to the second.
    pub beside: [Beside; 2],
}

impl Within {
    fn of(&self, part: Part) -> Option<(i64, i64)> {
        let (Stretch { from, to }, [after, last]) = (self.stretch, self.beside);
        from.of(part).zip(to.of(part)).or_else(|| after.of(part).zip(last.of(part)))
    }
}

/// The samples in rows from one edge to another, of these intervals and of what is wanted, by stage
/// and host.
pub fn in_rows(
    connection: &Connection,
    within: Within,
    stages: Stages<'_>,
    wanted: &dyn Fn(u32, u32) -> bool,
) -> Result<Samples, Problem> {
    rows(connection, within, stages, wanted)
}

fn rows(
    connection: &Connection,
    within: Within,
    stages: Stages<'_>,
    wanted: impl Fn(u32, u32) -> bool,
) -> Result<Samples, Problem> {
    let mut samples = Samples::new();
    let is_checked = checksums::are_there(connection)?;
    for (stage, hosts) in stages {
        for (host, spans) in hosts.iter().filter(|(host, _)| wanted(*stage, **host)) {
            for span in spans {
                let key = (*stage, span.interval, *host);
                samples.insert(key, span.empty(*stage, *host));
            }
        }
    }
    let each_of = |part: Part, take: &mut dyn FnMut(&Row<'_>) -> Result<(), Problem>| {
        let Some((from, to)) = within.of(part) else { return Ok(()) };
        let mut sum = 0u64;
        let query =
            format!("SELECT * FROM {} WHERE rowid > ? AND rowid <= ? ORDER BY rowid", part.word());
        let mut statement = connection.prepare_cached(&query)?;
        let mut rows = statement.query([from, to])?;
        while let Some(row) = rows.next()? {
            sum = sum.wrapping_add(checksums::of_row(row)?);
            if wanted(small(row.get(0)?)?, small(row.get(1)?)?) {
                take(row)?;
            }
        }
        if is_checked && within.stretch.to.of(part).is_some() {
            checksums::check(connection, part, from, to, sum)
        } else {
            Ok(())
        }
    };
    fill_ops(&each_of, &mut samples)?;
    fill_workers(&each_of, &mut samples)?;
    Ok(samples)
}

/// Samples of one host in their order as pieces, without write marks and single latencies.
pub fn packed(mut samples: Vec<IntervalSample>) -> Result<VecDeque<Vec<u8>>, Problem> {
    for sample in &mut samples {
        sample.ops.iter_mut().for_each(|op| op.raw_latencies = Vec::new());
        sample.workers.iter_mut().for_each(|worker| worker.mark = None);
    }
    let mut pieces = VecDeque::new();
    for together in samples.chunks(PIECE) {
        pack(together, &mut pieces)?;
    }
    Ok(pieces)
}

/// Those that are too large for one piece become several.
fn pack(samples: &[IntervalSample], pieces: &mut VecDeque<Vec<u8>>) -> Result<(), Problem> {
    match code::encode(samples) {
        Some(bytes) => pieces.push_back(bytes),
        None if samples.len() > 1 => {
            let (one, other) = samples.split_at(samples.len() / 2);
            pack(one, pieces)?;
            pack(other, pieces)?;
        }
        None => return Err("a sample has more numbers than any host".into()),
    }
    Ok(())
}

/// The samples of a piece.
pub fn unpacked(bytes: &[u8], stage: u32, host: u32) -> Result<Vec<IntervalSample>, Problem> {
    code::decode(bytes, stage, host)
}

/// The blocks of a file whose samples are no rows.
#[derive(Clone, Debug, Default)]
pub struct SampleBlocks(Vec<InColumns>);

/// A block whose samples are no rows.
#[derive(Clone, Copy, Debug)]
struct InColumns {
    block: i64,
    first: i64,
    pieces: i64,
    /// The rows that it was, some of which may be left.
    stretch: Stretch,
}

impl SampleBlocks {
    /// Those of a file; none of an older format.
    pub fn of(connection: &Connection) -> Result<SampleBlocks, Problem> {
        let mut blocks = Vec::new();
        if !is_any(connection)? {
            return Ok(SampleBlocks(blocks));
        }
        check(connection)?;
        let mut places =
            connection.prepare("SELECT first, pieces FROM sample_blocks WHERE block = ?")?;
        each_block(connection, |block, stretch| {
            let place = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            if let Some((first, pieces)) = places.query_row([block], place).optional()? {
                blocks.push(InColumns { block, first, pieces, stretch });
            }
            Ok(())
        })?;
        check_pieces(&blocks)?;
        Ok(SampleBlocks(blocks))
    }

    /// Whether a block of sums is one of them.
    pub fn has(&self, block: i64) -> bool {
        self.0.binary_search_by_key(&block, |own| own.block).is_ok()
    }

    /// The pieces of a block of sums, if it is one of them.
    pub fn pieces(&self, block: i64) -> Option<Range<i64>> {
        let at = self.0.binary_search_by_key(&block, |own| own.block).ok()?;
        let own = &self.0[at];
        Some(own.first..own.first.saturating_add(own.pieces))
    }

    /// Whether a row of a table is in columns, too, and no longer of use.
    pub fn is_in_columns(&self, part: Part, row: i64) -> bool {
        let end = |block: &InColumns| block.stretch.to.of(part).unwrap_or(i64::MAX);
        let at = self.0.partition_point(|block| end(block) < row);
        let from = self.0.get(at).and_then(|block| block.stretch.from.of(part));
        from.is_some_and(|from| row > from)
    }

    /// Hands out the samples of all blocks whose stage and host are `wanted`: each host's in their
    /// order, one piece at a time.
    pub fn each(
        &self,
        connection: &Connection,
        wanted: impl Fn(u32, u32) -> bool,
        mut take: impl FnMut(IntervalSample) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        self.0.iter().try_for_each(|block| block.each(connection, &wanted, &mut take))
    }

    /// The same of one block.
    pub fn each_of(
        &self,
        connection: &Connection,
        block: i64,
        wanted: impl Fn(u32, u32) -> bool,
        mut take: impl FnMut(IntervalSample) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let of = self.0.iter().find(|own| own.block == block);
        of.map_or(Ok(()), |own| own.each(connection, &wanted, &mut take))
    }
}

/// Refuses blocks that have a piece in common, whose samples would count twice.
fn check_pieces(blocks: &[InColumns]) -> Result<(), Problem> {
    let mut ranges: Vec<(i64, i64, i64)> =
        blocks.iter().map(|block| (block.first, block.pieces, block.block)).collect();
    if let Some((.., block)) = ranges.iter().find(|(first, pieces, _)| *first < 0 || *pieces < 0) {
        return Err(format!("block {block} of samples has no pieces that can be").into());
    }
    ranges.retain(|(_, pieces, _)| *pieces > 0);
    ranges.sort_unstable();
    let meets = |pair: &&[(i64, i64, i64)]| pair[0].0.saturating_add(pair[0].1) > pair[1].0;
    match ranges.windows(2).find(meets) {
        None => Ok(()),
        Some(pair) => {
            let (one, other) = (pair[0].2.min(pair[1].2), pair[0].2.max(pair[1].2));
            Err(format!("blocks {one} and {other} of samples have a piece in common").into())
        }
    }
}

impl InColumns {
    fn each(
        &self,
        connection: &Connection,
        wanted: &impl Fn(u32, u32) -> bool,
        take: &mut impl FnMut(IntervalSample) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let query = "SELECT * FROM sample_columns WHERE piece >= ? AND piece < ? ORDER BY piece";
        let mut statement = connection.prepare_cached(query)?;
        let mut rows = statement.query([self.first, self.first.saturating_add(self.pieces)])?;
        let mut checks = Single::of(connection, Part::SampleColumns)?;
        let mut found = 0;
        while let Some(row) = rows.next()? {
            found += 1;
            let (stage, host) = (small(row.get(1)?)?, small(row.get(2)?)?);
            if !wanted(stage, host) {
                continue;
            }
            checks.check(row.get(0)?, checksums::of_row(row)?)?;
            let bytes = row.get_ref(3)?.as_blob().map_err(|_| "a block of samples is none")?;
            code::decode(bytes, stage, host)?.into_iter().try_for_each(&mut *take)?;
        }
        if found == self.pieces { Ok(()) } else { Err("samples are missing in a block".into()) }
    }
}

fn is_any(connection: &Connection) -> Result<bool, Problem> {
    let query = "SELECT 1 FROM sample_blocks LIMIT 1";
    Ok(connection.query_row(query, [], |_| Ok(())).optional()?.is_some())
}

/// Whether the sums of every block are there whose samples are no rows: nothing else says where
/// these were.
pub fn check(connection: &Connection) -> Result<(), Problem> {
    if !is_any(connection)? {
        return Ok(());
    }
    let missing = "SELECT count(*) FROM sample_blocks WHERE block NOT IN (SELECT block FROM sums)";
    match connection.query_row(missing, [], |row| row.get::<_, i64>(0))? {
        0 => Ok(()),
        _ => Err("sums are missing of which the file has no rows".into()),
    }
}
