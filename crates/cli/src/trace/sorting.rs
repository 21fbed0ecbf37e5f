//! A trace whose requests are far out of order, sorted with files in bounded memory: pieces are
//! sorted and written, and merged so many at a time.

use super::file::{open, problem};
use super::spool::{Spool, Spooled, made_here};
use crate::args::TraceArgs;
use crate::failure::Failure;
use dialects::trace::{InFile, TraceEnd};
use model::trace::{Header, MOST, Reader, Request};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Requests of a piece: they and what sorting takes are some 60 MiB.
const PIECE: usize = 1 << 20;
/// Pieces that are merged at once: each takes a block of requests, less than 1 MiB.
const MERGED: usize = 64;
/// Where the first instant of the file lies on the axis of pieces; others may be before it.
const ORIGIN: u64 = MOST / 2;

/// Sorts a trace into a nameless file in `folder`, in our own form; says how the trace ended.
pub(crate) fn sort(args: &TraceArgs, folder: &Path) -> Result<(Spooled, TraceEnd), Failure> {
    let mut requests = open(args)?;
    let mut pieces = Pieces::new(folder, PIECE, MERGED);
    let mut first_ns = None;
    while let Some(InFile { at_ns, request, place }) =
        requests.next_in_file().map_err(|what| problem(&args.trace, &what))?
    {
        let since_ns = at_ns - *first_ns.get_or_insert(at_ns);
        let at_ns = u64::try_from(since_ns + i128::from(ORIGIN)).ok();
        let at_ns = at_ns.filter(|at_ns| *at_ns <= MOST).ok_or_else(|| {
            Failure::usage(format!(
                "trace {}: {place}: its instant is decades from the first one; look at the \
                 line",
                args.trace.display()
            ))
        })?;
        pieces.add(Request { at_ns, ..request })?;
    }
    Ok((pieces.finish()?, requests.end()))
}

/// Sorted pieces of a trace. Each level holds pieces that were merged once more often; a level that
/// is full becomes one piece of the next.
struct Pieces<'a> {
    folder: &'a Path,
    piece: Vec<Request>,
    most: usize,
    merged: usize,
    levels: Vec<Vec<Spooled>>,
    earliest_ns: u64,
}

impl<'a> Pieces<'a> {
    fn new(folder: &'a Path, most: usize, merged: usize) -> Pieces<'a> {
        Pieces { folder, piece: Vec::new(), most, merged, levels: Vec::new(), earliest_ns: MOST }
    }

    fn add(&mut self, request: Request) -> Result<(), Failure> {
        self.earliest_ns = self.earliest_ns.min(request.at_ns);
        self.piece.push(request);
        if self.piece.len() >= self.most { self.put_away() } else { Ok(()) }
    }

    /// Writes the piece down, sorted. Requests of one instant keep their order, here and in a
    /// merge.
    fn put_away(&mut self) -> Result<(), Failure> {
        self.piece.sort_by_key(|request| request.at_ns);
        let mut spool = Spool::create(self.folder, &header())?;
        for request in self.piece.drain(..) {
            spool.add(&request)?;
        }
        let mut next = spool.finish()?;
        for level in 0.. {
            if self.levels.len() == level {
                self.levels.push(Vec::new());
            }
            self.levels[level].push(next);
            if self.levels[level].len() < self.merged {
                break;
            }
            next = merge(self.folder, &std::mem::take(&mut self.levels[level]), 0)?;
        }
        Ok(())
    }

    /// All of them as one, from instant 0 on.
    fn finish(mut self) -> Result<Spooled, Failure> {
        if !self.piece.is_empty() || self.levels.is_empty() {
            self.put_away()?;
        }
        self.piece = Vec::new();
        // A higher level holds what came earlier, and a level holds its pieces as they came.
        let mut all: Vec<Spooled> = self.levels.into_iter().rev().flatten().collect();
        while all.len() > self.merged {
            // The last are the smallest.
            let last = all.split_off(all.len() - self.merged);
            all.push(merge(self.folder, &last, 0)?);
        }
        merge(self.folder, &all, self.earliest_ns)
    }
}

/// Merges sorted pieces, the earlier first where instants are equal, with all instants `less_ns`
/// earlier.
fn merge(folder: &Path, pieces: &[Spooled], less_ns: u64) -> Result<Spooled, Failure> {
    let mut spool = Spool::create(folder, &header())?;
    let mut sources = Vec::new();
    for piece in pieces {
        sources.push(Piece::open(piece)?);
    }
    let mut next = BinaryHeap::new();
    for (number, source) in sources.iter_mut().enumerate() {
        next.extend(source.next()?.map(|request| Reverse((request.at_ns, number, Held(request)))));
    }
    while let Some(Reverse((at_ns, number, Held(request)))) = next.pop() {
        spool.add(&Request { at_ns: at_ns - less_ns, ..request })?;
        let request = sources[number].next()?;
        next.extend(request.map(|request| Reverse((request.at_ns, number, Held(request)))));
    }
    spool.finish()
}

/// A request that has no part in the order: instant and piece decide it.
struct Held(Request);

impl PartialEq for Held {
    fn eq(&self, _: &Held) -> bool {
        true
    }
}

impl Eq for Held {}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Held) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Held {
    fn cmp(&self, _: &Held) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

struct Piece {
    reader: Reader<BufReader<File>>,
    block: Vec<Request>,
    at: usize,
}

impl Piece {
    fn open(spooled: &Spooled) -> Result<Piece, Failure> {
        let file = spooled.open()?;
        let reader = Reader::new(BufReader::with_capacity(16 << 10, file));
        Ok(Piece { reader: reader.map_err(|error| unreadable(&error))?, block: Vec::new(), at: 0 })
    }

    fn next(&mut self) -> Result<Option<Request>, Failure> {
        while self.at == self.block.len() {
            self.at = 0;
            if !self.reader.next_block(&mut self.block).map_err(|error| unreadable(&error))? {
                return Ok(None);
            }
        }
        self.at += 1;
        Ok(Some(self.block[self.at - 1]))
    }
}

fn unreadable(error: &dyn std::fmt::Display) -> Failure {
    Failure::run(format!(
        "a sorted part of the trace cannot be read again: {error}; see the disk of this \
         directory, or name a run file elsewhere with --out"
    ))
}

fn header() -> Header {
    made_here(String::new(), "sorted")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Op;
    use model::rng::Rng;

    fn sorted(count: u64, most: usize, merged: usize) -> (Vec<Request>, Vec<Request>) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut pieces = Pieces::new(folder.path(), most, merged);
        let mut rng = Rng::new(count);
        let mut all: Vec<Request> = (0..count)
            .map(|number| Request {
                // Few instants, so that many are equal.
                at_ns: ORIGIN + rng.below(count / 4 + 1) - count / 8,
                op: Op::Read,
                offset: number * 512,
                length: 512,
                source: 0,
            })
            .collect();
        for request in &all {
            pieces.add(*request).expect("room");
        }
        let mut piece = Piece::open(&pieces.finish().expect("room")).expect("a trace");
        let out = std::iter::from_fn(|| piece.next().expect("a trace")).collect();
        all.sort_by_key(|request| request.at_ns);
        let first_ns = all.first().map_or(0, |request| request.at_ns);
        all.iter_mut().for_each(|request| request.at_ns -= first_ns);
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
        (out, all)
    }

    #[test]
    fn however_many_pieces_there_are_they_are_sorted_and_equal_instants_keep_their_order() {
        for (count, most, merged) in
            [(1, 4, 2), (7, 100, 3), (1_000, 10, 3), (999, 10, 64), (4_096, 1, 2), (500, 7, 5)]
        {
            let (out, expected) = sorted(count, most, merged);
            assert!(out == expected, "{count} requests in pieces of {most}, {merged} at a time");
        }
    }
}
