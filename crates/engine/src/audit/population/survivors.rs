//! Whether a file holds what was written to it last.

use super::course::{Leg, Pieces, Written};
use crate::contents::{HostContents, Origin, Writings};
use crate::metadata::memory;
use std::os::fd::BorrowedFd;

/// Compares files with what the writers of a share wrote.
pub(super) struct Survivors<'a> {
    legs: &'a [Leg<'a>],
    /// By the number of the leg.
    writings: Vec<Writings>,
    expected: Vec<u8>,
    found: Vec<u8>,
    /// Bytes that were compared.
    pub(super) compared: u64,
}

/// Where a file differs from what it was held to hold: the first and the last byte that does.
type Wrong = (u64, u64);

impl<'a> Survivors<'a> {
    pub(super) fn new(contents: &HostContents, legs: &'a [Leg<'a>]) -> Survivors<'a> {
        Survivors {
            legs,
            writings: legs.iter().map(|leg| contents.writings(leg.worker.seed)).collect(),
            expected: Vec::new(),
            found: Vec::new(),
            compared: 0,
        }
    }

    /// The first byte of `file`, which has the `number` and is `length` long, that is not as one of
    /// `candidates` says; `None` where all are. A write that was cut off has left its first bytes,
    /// and behind them those of another candidate.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn check(
        &mut self,
        file: BorrowedFd<'_>,
        number: u64,
        length: u32,
        candidates: &[Pieces],
    ) -> rustix::io::Result<Option<u64>> {
        let mut wrongs: Vec<Option<Wrong>> = Vec::with_capacity(candidates.len());
        for pieces in candidates {
            let wrong = self.wrong(file, number, length, pieces)?;
            if wrong.is_none() {
                self.compared += u64::from(length);
                return Ok(None);
            }
            wrongs.push(wrong);
        }
        self.compared += u64::from(length);
        let wrongs: Vec<Wrong> = wrongs.into_iter().flatten().collect();
        let is_cut = |first: u64| wrongs.iter().any(|(_, last)| *last < first);
        if wrongs.iter().any(|(first, _)| is_cut(*first)) {
            return Ok(None);
        }
        Ok(wrongs.iter().map(|(first, _)| *first).max())
    }

    fn wrong(
        &mut self,
        file: BorrowedFd<'_>,
        number: u64,
        length: u32,
        pieces: &Pieces,
    ) -> rustix::io::Result<Option<Wrong>> {
        let ends = pieces.appends.iter().map(|(start, _)| *start).chain([length]);
        let starts = [(0, pieces.base)].into_iter().chain(pieces.appends.iter().copied());
        let mut all: Option<Wrong> = None;
        for ((start, by), end) in starts.zip(ends) {
            let end = end.min(length);
            if start >= end {
                continue;
            }
            if let Some((first, last)) = self.wrong_in(file, number, start..end, by)? {
                all = Some((all.map_or(first, |(first, _)| first), last));
            }
        }
        Ok(all)
    }

    /// The same of the bytes that one write left.
    fn wrong_in(
        &mut self,
        file: BorrowedFd<'_>,
        number: u64,
        range: std::ops::Range<u32>,
        by: Written,
    ) -> rustix::io::Result<Option<Wrong>> {
        let whole = Some((u64::from(range.start), u64::from(range.end) - 1));
        let (Some(leg), Some(writings)) = (self.legs.get(by.leg()), self.writings.get(by.leg()))
        else {
            return Ok(whole);
        };
        if by.ordinal() == 0 {
            return Ok(whole);
        }
        // What is longer than the memory of its worker went through it piece by piece.
        let size = memory(&leg.metadata).clamp(1, range.len().max(1));
        self.expected.resize(size, 0);
        writings.fill(Origin { number, ordinal: by.ordinal() }, &mut self.expected);
        self.found.resize(size, 0);
        let (mut at, end) = (u64::from(range.start), u64::from(range.end));
        let mut all: Option<Wrong> = None;
        while at < end {
            let wanted = size.min((end - at) as usize);
            let got = read_at(file, &mut self.found[..wanted], at)?;
            let differs = |(expected, found): (&u8, &u8)| expected != found;
            let (expected, found) = (&self.expected[..got], &self.found[..got]);
            if expected != found {
                let first = expected.iter().zip(found).position(differs).unwrap_or_default();
                let last = expected.iter().zip(found).rposition(differs).unwrap_or_default();
                let first = all.map_or(at + first as u64, |(first, _)| first);
                all = Some((first, at + last as u64));
            }
            if got < wanted {
                // It has become shorter since it was looked at.
                return Ok(Some((all.map_or(at + got as u64, |(first, _)| first), end - 1)));
            }
            at += wanted as u64;
        }
        Ok(all)
    }
}

/// Reads as much as there is.
fn read_at(file: BorrowedFd<'_>, bytes: &mut [u8], offset: u64) -> rustix::io::Result<usize> {
    let mut done = 0;
    while done < bytes.len() {
        match rustix::io::pread(file, &mut bytes[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(moved) => done += moved,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
