//! Whether what is read is what was written: header by header, as reads complete.

use super::damage::{Damage, Kind};
use super::generations::{Generations, LAST_GENERATION};
use super::header::{self, Found, Header, SECTOR, Sector};
use super::progress::Progress;
use crate::io::Io;
use model::plan::{Contents, HostPlan};
use model::rng::derive;
use model::{Op, WriteMark};
use std::sync::Arc;

/// How many of the first damaged places are kept.
pub(crate) const KEPT: usize = 16;

/// A request while the target has it.
#[derive(Clone, Copy, Debug)]
struct Flight {
    io: Io,
    /// A write's own generation; of an `fdatasync`, the one up to which all writes had come back
    /// when it was sent.
    generation: u32,
    /// Of a write: the oldest generation that may stand there once it has come back. Writes that
    /// were under way at the same time and place may have come after it; 0 if a trim may have.
    low: u32,
    /// A read that met a write or a trim at the same place: it may bring either, or some of both.
    raced: bool,
}

/// Where a check looks: what all sectors that a host writes have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(crate) run: u64,
    pub(crate) host: u16,
    /// How many hosts write the same files: 1 where no other does.
    pub(crate) hosts: u16,
    /// Whether a place without a header is damage even if this run never wrote it.
    pub(crate) filled: bool,
}

impl Identity {
    /// What `plan`'s host writes into its headers.
    pub(crate) fn of(plan: &HostPlan) -> Identity {
        let bytes = plan.run_id.bytes().map(u64::from);
        let run = bytes.fold(plan.engine.contents.seed, |run, byte| derive(run, &[byte]));
        let Contents { hosts, filled, .. } = plan.engine.contents;
        Identity { run, host: plan.host as u16, hosts, filled }
    }

    /// What is wrong with the sector of `file` at `offset`, in which `found` stands and whose
    /// generation must be at least `floor`; 0 where this run wrote nothing.
    #[inline]
    pub(crate) fn judge(&self, found: Found, file: u32, offset: u64, floor: u32) -> Option<Kind> {
        match found {
            Found::Whole(header) => {
                let is_ours = header.run == self.run;
                let is_mine = header.host == self.host;
                // Another host's block is in its place in a file that both write; which of its
                // generations it must be, only that host knows.
                let is_in_place = header.file == file && header.offset == offset;
                let is_here = is_in_place && (is_mine || header.host < self.hosts);
                match () {
                    () if !is_here => Some(Kind::Misdirected),
                    // What an earlier run wrote is right until this one has written.
                    () if floor > 0 && (!is_ours || (is_mine && header.generation < floor)) => {
                        Some(Kind::Stale)
                    }
                    () => None,
                }
            }
            Found::Damaged(_) => Some(Kind::Corrupt),
            Found::Zeros if floor > 0 => Some(Kind::Stale),
            Found::Zeros | Found::Foreign => (floor > 0 || self.filled).then_some(Kind::Corrupt),
        }
    }
}

/// One worker's check.
pub(crate) struct Verifier {
    identity: Identity,
    generations: Arc<Generations>,
    generation: u32,
    flights: Box<[Option<Flight>]>,
    /// Whether reads can meet writes or trims at all.
    is_mix: bool,
    damages: Vec<Damage>,
    raced: u64,
    progress: Progress,
}

/// The verdict on a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Good,
    Damaged(Kind),
}

impl Verifier {
    /// A check for a worker with `depth` requests, which both reads and writes or trims if it
    /// `is_mix`.
    pub(crate) fn new(
        identity: Identity,
        generations: Arc<Generations>,
        depth: usize,
        is_mix: bool,
    ) -> Verifier {
        Verifier {
            identity,
            generation: generations.highest(),
            progress: Progress::new(generations.highest()),
            generations,
            flights: vec![None; depth].into(),
            is_mix,
            damages: Vec::with_capacity(KEPT),
            raced: 0,
        }
    }

    /// A read is about to be sent.
    #[inline]
    pub(crate) fn read_begins(&mut self, io: &Io) {
        let raced = self.is_mix && self.meeting(io).any(|flight| flight.io.op != Op::Read);
        self.flights[io.slot as usize] = Some(Flight { io: *io, generation: 0, low: 0, raced });
    }

    /// A write is about to be sent; comes back with the header of its first sector.
    #[inline]
    pub(crate) fn write_begins(&mut self, io: &Io) -> Header {
        // Past four thousand million writes the counter stands still: lost writes are no longer
        // seen, and none is invented.
        self.generation = self.generation.saturating_add(1).min(LAST_GENERATION);
        let (mut low, mut oldest) = (self.generation, self.generation);
        for flight in self.flights.iter_mut().flatten().filter(|flight| meets(&flight.io, io)) {
            match flight.io.op {
                Op::Write => {
                    (low, oldest) = (low.min(flight.generation), oldest.min(flight.generation));
                }
                Op::Trim => low = 0,
                _ => flight.raced = true,
            }
        }
        self.flights[io.slot as usize] =
            Some(Flight { io: *io, generation: self.generation, low, raced: false });
        self.progress.sends(io.file, self.generation - oldest);
        Header {
            run: self.identity.run,
            host: self.identity.host,
            file: io.file,
            offset: io.offset,
            generation: self.generation,
            sectors: u16::try_from(io.length as usize / SECTOR).unwrap_or(u16::MAX),
        }
    }

    /// A trim is about to be sent. It may come before or after any write to its place that is under
    /// way.
    #[inline]
    pub(crate) fn trim_begins(&mut self, io: &Io) {
        for flight in self.flights.iter_mut().flatten().filter(|flight| meets(&flight.io, io)) {
            match flight.io.op {
                Op::Write => flight.low = 0,
                _ => flight.raced = true,
            }
        }
        self.flights[io.slot as usize] =
            Some(Flight { io: *io, generation: 0, low: 0, raced: false });
    }

    /// An `fdatasync` is about to be sent.
    pub(crate) fn sync_begins(&mut self, io: &Io) {
        let generation = self.completed();
        self.flights[io.slot as usize] =
            Some(Flight { io: *io, generation, low: generation, raced: false });
    }

    /// The generation up to which every write has come back.
    fn completed(&self) -> u32 {
        let writes = self.flights.iter().flatten().filter(|flight| flight.io.op == Op::Write);
        writes.map(|flight| flight.generation.saturating_sub(1)).min().unwrap_or(self.generation)
    }

    /// How far writes have got since the last time that it was asked.
    pub(crate) fn mark(&mut self) -> WriteMark {
        self.progress.mark(self.generation, self.completed())
    }

    /// A request came back; of a read, `bytes` is what it brought. `moved` is negative for an
    /// error.
    #[inline]
    pub(crate) fn ends(&mut self, slot: u32, moved: i32, bytes: &[u8]) -> Verdict {
        let Some(flight) = self.flights[slot as usize].take() else { return Verdict::Good };
        let Io { op, file, offset, length, .. } = flight.io;
        let is_whole = moved == length as i32;
        match op {
            // A write that failed may be there, or a part of it, or not: anything from the floor on
            // is right.
            Op::Write if is_whole => self.generations.raise(file, offset, length, flight.low),
            Op::Write => self.progress.failed(flight.generation),
            // Also of one that failed: a part may be gone.
            Op::Trim => self.generations.give_back(file, offset, length),
            Op::Fsync if moved == 0 => self.progress.synced(flight.generation),
            Op::Read if flight.raced => self.raced += 1,
            Op::Read if is_whole => return self.check(file, offset, bytes),
            _ => {}
        }
        Verdict::Good
    }

    fn meeting<'a>(&'a self, io: &'a Io) -> impl Iterator<Item = &'a Flight> {
        self.flights.iter().flatten().filter(move |flight| meets(&flight.io, io))
    }

    /// Checks every whole sector of `bytes`, which stand at `offset` of `file`.
    fn check(&mut self, file: u32, offset: u64, bytes: &[u8]) -> Verdict {
        let skip = offset.next_multiple_of(SECTOR as u64) - offset;
        let sectors = bytes.get(skip as usize..).unwrap_or_default().as_chunks::<SECTOR>().0;
        let start = offset + skip;
        for (index, sector) in sectors.iter().enumerate() {
            let place = start + (index * SECTOR) as u64;
            if !self.is_good(sector, file, place) {
                return self.condemn(sectors, file, start);
            }
        }
        Verdict::Good
    }

    #[inline]
    fn is_good(&self, sector: &Sector, file: u32, offset: u64) -> bool {
        self.judge(header::read(sector), file, offset).is_none()
    }

    /// What is wrong with the sector of `file` at `offset`, in which `found` stands.
    #[inline]
    fn judge(&self, found: Found, file: u32, offset: u64) -> Option<Kind> {
        if found == Found::Zeros && self.generations.is_given_back(file, offset) {
            return None;
        }
        self.identity.judge(found, file, offset, self.generations.floor(file, offset))
    }

    /// Writes down the first damage of a read, and names it.
    #[cold]
    fn condemn(&mut self, sectors: &[Sector], file: u32, start: u64) -> Verdict {
        let place = |index: usize| start + (index * SECTOR) as u64;
        let judged = sectors.iter().enumerate().map(|(index, sector)| {
            let found = header::read(sector);
            (place(index), found, self.judge(found, file, place(index)))
        });
        let Some((offset, found, Some(kind))) =
            judged.into_iter().find(|(.., kind)| kind.is_some())
        else {
            return Verdict::Good;
        };
        let expected = self.generations.floor(file, offset);
        // A write of which another part did arrive was not lost as a whole.
        let arrived = |(index, sector): (usize, &Sector)| {
            matches!(header::read(sector), Found::Whole(header) if header.run == self.identity.run
                && header.generation == expected && header.reaches(offset, self.generations.grain())
                    && self.generations.floor(file, place(index)) == expected)
        };
        let is_torn = kind == Kind::Stale && sectors.iter().enumerate().any(arrived);
        let kind = if is_torn { Kind::Torn } else { kind };
        // A place that is read again and again must not crowd out the others.
        let is_new = self
            .damages
            .iter()
            .all(|known| (known.kind, known.file, known.offset) != (kind, file, offset));
        if is_new && self.damages.len() < KEPT {
            let ours = self.identity.run;
            self.damages.push(Damage { kind, file, offset, expected, found, ours });
        }
        Verdict::Damaged(kind)
    }

    /// The first places that were damaged.
    pub(crate) fn damages(&self) -> &[Damage] {
        &self.damages
    }

    /// Reads that were not checked because a write or a trim to the same place was under way.
    pub(crate) fn raced(&self) -> u64 {
        self.raced
    }
}

impl Drop for Verifier {
    fn drop(&mut self) {
        self.generations.reached(self.generation);
    }
}

#[inline]
fn meets(one: &Io, other: &Io) -> bool {
    one.file == other.file
        && one.offset < other.offset + u64::from(other.length)
        && other.offset < one.offset + u64::from(one.length)
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
