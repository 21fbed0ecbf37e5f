//! One block of samples on its way from rows into columns, a part of it in each transaction: done
//! at once, nothing of a thousand hosts would be recorded for seconds.
//!
//! Pieces are written first, and belong to no block: the rows count. Then one transaction says
//! that the pieces count, and takes the intervals away. From there on the rows are of no use. They
//! go bit by bit, each time up to a checksum. A `kill -9` at any instant leaves each sample once.

use super::moments::Moments;
use super::{PIECE, code};
use crate::file::checksums::{self, Part, Sums};
use crate::file::values::Problem;
use crate::samples::block_edge::{Edge, NUMBERED, take_intervals_away};
use crate::samples::rows::{Samples, fill_ops, fill_workers};
use model::IntervalSample;
use model::digest::Spans;
use rusqlite::{OptionalExtension, Row, Transaction, params};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What it costs to code an operation, in what it costs to read or to remove a row.
const CODING: u64 = 6;

/// What a sample costs on its way, in rows that are read or removed.
pub fn cost(sample: &IntervalSample) -> u64 {
    let ops = sample.ops.len() + sample.ops.iter().map(|op| op.errors.len()).sum::<usize>();
    let workers: usize = sample.workers.iter().map(|worker| 1 + worker.ops.len()).sum();
    2 * (ops + workers) as u64 + 1 + CODING * sample.ops.len() as u64
}

/// A block on its way.
#[derive(Debug)]
pub struct Move {
    block: i64,
    from: Edge,
    to: Edge,
    stages: Vec<(u32, BTreeMap<u32, Spans>)>,
    /// Stage and host of each of its parts.
    hosts: Vec<(u32, u32)>,
    /// Those that are read and in no piece yet.
    samples: Samples,
    moments: Moments,
    /// The number of the first piece; 0 before it is there.
    first: i64,
    pieces: i64,
    doing: Doing,
}

/// What comes next.
#[derive(Clone, Copy, Debug)]
enum Doing {
    /// A host's samples get a place.
    Opening(usize),
    /// Rows of a table behind this number are read, whose checksums add up to this so far.
    Reading { table: usize, after: i64, sum: u64 },
    /// A host's samples become pieces.
    Coding(usize),
    /// Rows of a table behind this number go.
    Removing { table: usize, after: i64 },
}

/// How far a block came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// As far as there was room.
    Paused,
    /// Its samples stay in rows: they would not come back as they are.
    Refused,
    /// From now on its pieces count. There are rows to be removed.
    InColumns,
    /// Nothing is left to do.
    Over,
}

impl Move {
    /// That of a block of sums with these intervals, whose rows are there from one edge to the
    /// other.
    pub fn new(block: i64, from: Edge, to: Edge, stages: Vec<(u32, BTreeMap<u32, Spans>)>) -> Move {
        let of = |(stage, hosts): &(u32, BTreeMap<u32, Spans>)| {
            let stage = *stage;
            hosts.keys().map(move |host| (stage, *host)).collect::<Vec<_>>()
        };
        Move {
            block,
            from,
            to,
            hosts: stages.iter().flat_map(of).collect(),
            stages,
            samples: Samples::new(),
            moments: Moments::default(),
            first: 0,
            pieces: 0,
            doing: Doing::Opening(0),
        }
    }

    /// Goes on until there is no more `room`, or there is something to say.
    pub fn go_on(
        &mut self,
        transaction: &Transaction<'_>,
        checks: &mut Sums,
        room: &mut u64,
    ) -> rusqlite::Result<Progress> {
        while *room > 0 {
            match self.doing {
                Doing::Opening(at) => self.open(at, room),
                Doing::Reading { table, after, sum } => {
                    // We wrote the rows; what cannot be read stays.
                    if self.read(transaction, table, after, sum, room).is_err() {
                        return self.refuse(transaction);
                    }
                }
                Doing::Coding(at) if at < self.hosts.len() => {
                    if !self.code(transaction, at, room)? {
                        return self.refuse(transaction);
                    }
                }
                Doing::Coding(_) => {
                    self.settle(transaction, checks)?;
                    return Ok(Progress::InColumns);
                }
                Doing::Removing { table, after } => match NUMBERED.get(table) {
                    Some(part) => self.remove(transaction, *part, table, after, room)?,
                    None => return Ok(Progress::Over),
                },
            }
        }
        Ok(Progress::Paused)
    }

    fn spans(&self, stage: u32, host: u32) -> Option<&Spans> {
        let (_, hosts) = self.stages.iter().find(|(of, _)| *of == stage)?;
        hosts.get(&host)
    }

    fn open(&mut self, at: usize, room: &mut u64) {
        let Some((stage, host)) = self.hosts.get(at).copied() else {
            self.doing = self.reading(0);
            return;
        };
        let Some(spans) = self.spans(stage, host) else { return };
        let empty: Vec<_> = spans
            .into_iter()
            .map(|span| ((stage, span.interval, host), span.empty(stage, host)))
            .collect();
        *room = room.saturating_sub(empty.len() as u64);
        self.samples.extend(empty);
        self.doing = Doing::Opening(at + 1);
    }

    fn reading(&self, table: usize) -> Doing {
        match NUMBERED.get(table) {
            Some(part) => Doing::Reading { table, after: self.from.rows(*part), sum: 0 },
            None => Doing::Coding(0),
        }
    }

    /// Takes in rows of a table, at most as many as there is room for.
    fn read(
        &mut self,
        transaction: &Transaction<'_>,
        table: usize,
        after: i64,
        sum: u64,
        room: &mut u64,
    ) -> Result<(), Problem> {
        let (part, most) = (NUMBERED[table], i64::try_from(*room).unwrap_or(i64::MAX));
        let query = format!(
            "SELECT *, rowid FROM {} WHERE rowid > ? AND rowid <= ? ORDER BY rowid LIMIT ?",
            part.word()
        );
        let (stages, to) = (&self.stages, self.to.rows(part));
        let moments = RefCell::new(&mut self.moments);
        let found = RefCell::new((after, sum, 0u64));
        let each = |of: Part, take: &mut dyn FnMut(&Row<'_>) -> Result<(), Problem>| {
            if of != part {
                return Ok(());
            }
            let mut statement = transaction.prepare_cached(&query)?;
            let mut rows = statement.query([after, to, most])?;
            while let Some(row) = rows.next()? {
                let (mut found, number) = (found.borrow_mut(), row.as_ref().column_count() - 1);
                let of_row = checksums::of_columns(row, 0..=number - 1)?;
                *found = (row.get(number)?, found.1.wrapping_add(of_row), found.2 + 1);
                if part == Part::Samples {
                    moments.borrow_mut().take(row, stages)?;
                }
                take(row)?;
            }
            Ok(())
        };
        match part {
            Part::Samples | Part::Errors => fill_ops(&each, &mut self.samples)?,
            _ => fill_workers(&each, &mut self.samples)?,
        }
        let (after, sum, rows) = found.into_inner();
        *room = room.saturating_sub(rows.max(1));
        self.doing = Doing::Reading { table, after, sum };
        if rows < most as u64 {
            checksums::check(transaction, part, self.from.rows(part), to, sum)?;
            self.doing = self.reading(table + 1);
        }
        Ok(())
    }

    /// Writes the pieces of a host. Says whether its samples would come back as they are.
    fn code(
        &mut self,
        transaction: &Transaction<'_>,
        at: usize,
        room: &mut u64,
    ) -> rusqlite::Result<bool> {
        let (stage, host) = self.hosts[at];
        let numbers: Vec<u32> = self
            .spans(stage, host)
            .map(|spans| spans.into_iter().map(|span| span.interval).collect())
            .unwrap_or_default();
        let samples: Vec<IntervalSample> = numbers
            .into_iter()
            .filter_map(|interval| self.samples.remove(&(stage, interval, host)))
            .collect();
        let ops: usize = samples.iter().map(|sample| sample.ops.len()).sum();
        *room = room.saturating_sub(CODING * ops as u64);
        for piece in samples.chunks(PIECE) {
            let Some(bytes) = code::encode(piece) else { return Ok(false) };
            let insert = "INSERT INTO sample_columns (stage, host, columns) VALUES (?, ?, ?)";
            transaction.prepare_cached(insert)?.execute(params![stage, host, bytes])?;
            let piece = transaction.last_insert_rowid();
            let checksum = checksums::of_values(params![piece, stage, host, bytes])?;
            checksums::write(transaction, Part::SampleColumns, piece, checksum)?;
            if self.pieces == 0 {
                self.first = piece;
            }
            assert_eq!(self.first + self.pieces, piece, "the pieces of a block stand together");
            self.pieces += 1;
        }
        self.doing = Doing::Coding(at + 1);
        Ok(true)
    }

    /// Has the pieces count, and the rows no more.
    fn settle(&mut self, transaction: &Transaction<'_>, checks: &mut Sums) -> rusqlite::Result<()> {
        assert!(self.samples.is_empty(), "every sample is in a piece");
        std::mem::take(&mut self.moments).write(transaction)?;
        take_intervals_away(transaction, self.from, self.to, &self.stages)?;
        let row = params![self.block, self.first, self.pieces];
        let insert = "INSERT INTO sample_blocks VALUES (?, ?, ?)";
        checks.insert(transaction, Part::SampleBlocks, insert, row)?;
        self.doing = self.removing(0);
        Ok(())
    }

    fn removing(&self, table: usize) -> Doing {
        let after = NUMBERED.get(table).map_or(0, |part| self.from.rows(*part));
        Doing::Removing { table, after }
    }

    /// Takes rows of a table away that are in columns, up to a checksum.
    fn remove(
        &mut self,
        transaction: &Transaction<'_>,
        part: Part,
        table: usize,
        after: i64,
        room: &mut u64,
    ) -> rusqlite::Result<()> {
        let to = self.to.rows(part);
        // SQLite gives a new row the number behind the last one: the last row of a table stays, or
        // its number would be that of another.
        let is_any_behind =
            format!("SELECT EXISTS (SELECT 1 FROM {} WHERE rowid > ?)", part.word());
        if after >= to || !transaction.query_row(&is_any_behind, [to], |row| row.get(0))? {
            self.doing = self.removing(table + 1);
            return Ok(());
        }
        let wanted = after.saturating_add_unsigned(*room).min(to);
        let end = "SELECT row FROM checksums WHERE part = ? AND row >= ? ORDER BY row LIMIT 1";
        let end: Option<i64> = transaction
            .prepare_cached(end)?
            .query_row(params![part.word(), wanted], |row| row.get(0))
            .optional()?;
        let end = end.unwrap_or(to).min(to);
        let delete = format!("DELETE FROM {} WHERE rowid > ? AND rowid <= ?", part.word());
        transaction.prepare_cached(&delete)?.execute([after, end])?;
        transaction
            .prepare_cached("DELETE FROM checksums WHERE part = ? AND row > ? AND row <= ?")?
            .execute(params![part.word(), after, end])?;
        *room = room.saturating_sub(after.abs_diff(end).max(1));
        self.doing = Doing::Removing { table, after: end };
        Ok(())
    }

    /// Takes the pieces away that are there.
    fn refuse(&mut self, transaction: &Transaction<'_>) -> rusqlite::Result<Progress> {
        super::remove_pieces(transaction, self.first, self.pieces)?;
        Ok(Progress::Refused)
    }
}
