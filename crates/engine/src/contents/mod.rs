//! What blocks hold, and whether reads bring it back.

mod crc;
mod damage;
mod fill;
mod generations;
mod header;
mod origin;
mod position;
mod progress;
pub(crate) mod spares;
mod verify;

use crate::io::Io;
pub(crate) use damage::{Damage, Kind};
use fill::{Filler, Pool};
use generations::Generations;
use header::HEADER;
pub(crate) use header::{Found, Header, SECTOR, read as read_header};
use model::note::{Fact, Mismatch, NotChecked};
use model::plan::{Contents, HostPlan, Work};
use model::rng::split_mix;
use model::{Note, WriteMark};
pub(crate) use origin::{Origin, Writings};
use position::UNIT;
use std::sync::Arc;
pub(crate) use verify::Identity;
use verify::{Verdict, Verifier};

/// What a compressor needs for a sector of zeros behind its header, besides the header.
const ZEROS_COST: usize = 6;

/// What all workers of a host share.
#[derive(Debug)]
pub(crate) struct HostContents {
    contents: Contents,
    pool: Pool,
    identity: Identity,
    generations: Option<Arc<Generations>>,
}

impl HostContents {
    /// Makes the memory that contents and their check need, for a run that wrote nothing yet.
    pub(crate) fn new(plan: &HostPlan) -> HostContents {
        let contents = plan.engine.contents;
        HostContents {
            contents,
            pool: Pool::new(contents.seed),
            identity: Identity::of(plan),
            generations: contents
                .verify
                .then(|| Arc::new(Generations::new(&contents, plan.files()))),
        }
    }

    /// A worker's part of it, for `depth` requests of `work`.
    pub(crate) fn worker(&self, work: &Work, depth: usize, seed: u64) -> WorkerContents {
        let is_mix = work.reads() && work.changes();
        let verifier = |generations: &Arc<Generations>| {
            Box::new(Verifier::new(self.identity, Arc::clone(generations), depth, is_mix))
        };
        let mut filler = Filler::new(&self.contents, self.pool.clone(), seed);
        if spares::are_in_vain(work) {
            filler.fill_anew();
        }
        if work.metadata.is_some() {
            filler.write_files();
            // Files have no headers: what they hold follows from who wrote it.
            let known = self.contents.verify.then(|| self.writings(seed));
            return WorkerContents { filler, verifier: None, known };
        }
        WorkerContents { filler, verifier: self.generations.as_ref().map(verifier), known: None }
    }

    /// What the worker with `seed` writes to whole files that are to be known by their bytes.
    pub(crate) fn writings(&self, seed: u64) -> Writings {
        Writings::new(self.contents, self.pool.clone(), self.identity.run, seed)
    }
}

/// Fills a worker's writes and checks its reads.
pub(crate) struct WorkerContents {
    filler: Filler,
    verifier: Option<Box<Verifier>>,
    /// Of whole files: what they are to hold, where that is looked at afterwards.
    known: Option<Writings>,
}

impl WorkerContents {
    /// How many buffers of `stride` bytes are to take turns with those of the writes outstanding,
    /// of writes of at least `smallest` bytes. Where they do not fit into `room` bytes there are
    /// none, and every write is filled anew.
    pub(crate) fn spares(&mut self, smallest: usize, stride: usize, room: usize) -> usize {
        if self.verifier.is_some() || !self.filler.is_stamped() {
            return 0;
        }
        spares::spares(smallest, stride, room).unwrap_or_else(|| {
            self.filler.fill_anew();
            0
        })
    }

    /// Fills `bytes`, which `io` is about to write.
    #[inline]
    pub(crate) fn write_begins(&mut self, io: &Io, bytes: &mut [u8]) {
        match &mut self.verifier {
            None => self.filler.fill(bytes, io.file, io.offset),
            Some(verifier) => {
                let header = verifier.write_begins(io);
                fill_checked(&mut self.filler, header, bytes);
            }
        }
    }

    /// Fills `bytes`, which are about to be written to file `number` of a tree by the operation
    /// `ordinal` of its worker.
    #[inline]
    pub(crate) fn file_begins(&mut self, io: &Io, number: u64, ordinal: u64, bytes: &mut [u8]) {
        match &self.known {
            Some(known) => known.fill(Origin { number, ordinal }, bytes),
            None => self.write_begins(io, bytes),
        }
    }

    /// `io` is about to read.
    #[inline]
    pub(crate) fn read_begins(&mut self, io: &Io) {
        if let Some(verifier) = &mut self.verifier {
            verifier.read_begins(io);
        }
    }

    /// `io` is about to give its bytes back.
    #[inline]
    pub(crate) fn trim_begins(&mut self, io: &Io) {
        if let Some(verifier) = &mut self.verifier {
            verifier.trim_begins(io);
        }
    }

    /// `io` is about to be sent, an `fdatasync`.
    #[inline]
    pub(crate) fn sync_begins(&mut self, io: &Io) {
        if let Some(verifier) = &mut self.verifier {
            verifier.sync_begins(io);
        }
    }

    /// How far writes have got since the last time that it was asked; `None` where nothing is
    /// checked.
    pub(crate) fn mark(&mut self) -> Option<WriteMark> {
        self.verifier.as_mut().map(|verifier| verifier.mark())
    }

    /// Whether completions have to be shown to [`ends`](Self::ends).
    #[inline]
    pub(crate) fn is_checked(&self) -> bool {
        self.verifier.is_some()
    }

    /// The request of `slot` came back with `result`; if it was a read, with `bytes`. The result
    /// that counts: of damage, its number as a negative errno.
    #[inline]
    pub(crate) fn ends(&mut self, slot: u32, result: i32, bytes: &[u8]) -> i32 {
        let Some(verifier) = &mut self.verifier else { return result };
        match verifier.ends(slot, result, bytes) {
            Verdict::Good => result,
            Verdict::Damaged(kind) => -kind.errno(),
        }
    }

    /// What a reader of the results has to know of the checks; `path` names a file by its number.
    pub(crate) fn findings<'a>(&self, path: impl Fn(u32) -> &'a str) -> Findings {
        let Some(verifier) = &self.verifier else { return Findings::default() };
        let tell = |damage: &Damage| damage.told(path(damage.file));
        Findings { damages: verifier.damages().iter().map(tell).collect(), raced: verifier.raced() }
    }
}

/// Fills `bytes` with a header in every sector and, in each unit, as many zeros as it takes to
/// compress by what was asked for.
fn fill_checked(filler: &mut Filler, mut header: Header, bytes: &mut [u8]) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let first = UNIT - header.offset as usize % UNIT;
        let (unit, after) = rest.split_at_mut(first.min(rest.len()));
        let number = filler.number();
        let random = without_headers(filler.random_bytes(unit.len()), unit.len());
        filler.fill_random(unit, random, number);
        let mut nonces = number;
        for sector in unit.as_chunks_mut::<SECTOR>().0 {
            header.write(sector, split_mix(&mut nonces) as u32);
            header.offset += SECTOR as u64;
        }
        rest = after;
    }
}

/// How many bytes at the end of a unit of `length` to fill at random, so that these and the headers
/// before them compress to `random`.
fn without_headers(random: usize, length: usize) -> usize {
    let each = HEADER + ZEROS_COST;
    let left = |headers: usize| random.saturating_sub(headers * each);
    let fits = |headers: &usize| (length - left(*headers)).div_ceil(SECTOR) <= *headers;
    left((0..=length / SECTOR).find(fits).unwrap_or_default())
}

/// What the checks of a stage found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    damages: Vec<Mismatch>,
    raced: u64,
}

impl Findings {
    /// Takes in what another worker found.
    pub(crate) fn add(&mut self, other: Findings) {
        self.damages.extend(other.damages);
        self.damages.truncate(verify::KEPT);
        self.raced += other.raced;
    }

    /// The same as notes on a stage.
    pub(crate) fn notes(self, stage: u32, host: u32) -> Vec<Note> {
        let note = |fact| Note { stage: Some(stage), host, fact };
        let mut notes: Vec<Note> =
            self.damages.into_iter().map(|damage| note(Fact::Mismatch(damage))).collect();
        if self.raced > 0 {
            notes.push(note(Fact::NotChecked(NotChecked::Raced { reads: self.raced })));
        }
        notes
    }
}

#[cfg(test)]
mod tests;

/// For the tests of other modules.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// Contents of a worker that writes random bytes and checks nothing.
    pub(crate) fn random() -> WorkerContents {
        let contents = Contents::RANDOM;
        WorkerContents {
            filler: Filler::new(&contents, Pool::new(contents.seed), 1),
            verifier: None,
            known: None,
        }
    }
}
