//! Reads regions of files once, from end to end, and judges every block.

use super::examples::keep_of_each;
use super::replay::Region;
use crate::contents::{Damage, Found, Identity, Kind, SECTOR, read_header};
use crate::targets::Progress;
use model::audit::{DamageKind, FileAudit};
use model::plan::Extent;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Bytes of one read; a multiple of every grain, so that none is cut.
pub(super) const CHUNK: usize = 1 << 20;
/// Direct I/O wants memory at multiples of a page.
const PAGE: usize = 4096;
/// Reads that are under way at the same time: enough for most devices.
const THREADS: usize = 4;
/// How often whoever waits hears how far the reads are.
const LOOK: Duration = Duration::from_millis(5);

/// A damaged block of the file of a region.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    pub(super) offset: u64,
    pub(super) kind: DamageKind,
    pub(super) generation: u32,
    pub(super) expected: String,
    pub(super) found: String,
}

/// What a scan has found so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) file: FileAudit,
    /// The first damaged blocks, in no order.
    pub(super) hits: Vec<Hit>,
}

/// What to look at, and for what.
pub(super) struct Scan<'a> {
    pub(super) region: &'a Region,
    /// Hears of each read that was answered.
    pub(super) progress: &'a Progress,
    pub(super) identity: Identity,
    /// Where workers of the run gave blocks back: zeros are right there.
    pub(super) given_back: &'a [Extent],
    pub(super) grain: usize,
    /// Bytes of the file that belong to the run.
    pub(super) size: u64,
    /// How many damaged blocks to keep.
    pub(super) kept: usize,
}

/// How the reads of one chunk ended.
enum Brought<'b> {
    Bytes(&'b [u8]),
    Failed(rustix::io::Errno),
}

impl Scan<'_> {
    /// Reads the region of `file` and judges it. `tick` hears now and then how many bytes were read
    /// since it was last called.
    pub(super) fn run(&self, file: &OwnedFd, tick: &mut dyn FnMut(u64)) -> Tally {
        let start = self.region.first * self.grain as u64;
        let end = (start + self.region.floors.len() as u64 * self.grain as u64).min(self.size);
        let (next, done) = (AtomicU64::new(start), AtomicU64::new(0));
        let all = Mutex::new(Tally::default());
        let read = || {
            let mut memory = vec![0; CHUNK + PAGE];
            let skip = memory.as_ptr().align_offset(PAGE).min(PAGE);
            let buffer = &mut memory[skip..skip + CHUNK];
            let mut mine = Tally::default();
            loop {
                let offset = next.fetch_add(CHUNK as u64, Ordering::Relaxed);
                if offset >= end {
                    break;
                }
                let length = (end - offset).min(CHUNK as u64) as usize;
                self.chunk(file, offset, length, buffer, &mut mine);
                done.fetch_add(length as u64, Ordering::Relaxed);
            }
            if let Ok(mut all) = all.lock() {
                all.add(mine, self.kept);
            }
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(read)).collect();
            while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
                thread::sleep(LOOK);
                tick(done.swap(0, Ordering::Relaxed));
            }
        });
        tick(done.into_inner());
        all.into_inner().unwrap_or_default()
    }

    /// Reads and judges `length` bytes with the help of `buffer`, block by block where they cannot
    /// be read as a whole.
    fn chunk(
        &self,
        file: &OwnedFd,
        offset: u64,
        length: usize,
        buffer: &mut [u8],
        tally: &mut Tally,
    ) {
        // Direct I/O takes whole pages only; what stands behind the end does not come back.
        let brought = read(file, offset, &mut buffer[..length.next_multiple_of(PAGE)]);
        self.progress.step();
        if let Brought::Bytes(bytes) = brought
            && bytes.len() >= length
        {
            return self.judge_chunk(offset, &bytes[..length], tally);
        }
        for (index, block) in buffer[..length].chunks_mut(self.grain).enumerate() {
            let offset = offset + (index * self.grain) as u64;
            let length = block.len();
            let brought = read(file, offset, block);
            self.progress.step();
            match brought {
                Brought::Bytes(bytes) if bytes.len() == length => {
                    self.judge_chunk(offset, block, tally);
                }
                Brought::Bytes(_) => {
                    self.missing(offset, "nothing: the file ends before it".to_owned(), tally);
                }
                Brought::Failed(error) => self.missing(offset, format!("an error: {error}"), tally),
            }
        }
    }

    /// Counts a block that the target does not deliver.
    fn missing(&self, offset: u64, found: String, tally: &mut Tally) {
        let generation = self.floor(offset);
        let expected = Damage::expected_in_words(generation);
        tally.file.blocks += 1;
        tally.damaged(
            Hit { offset, kind: DamageKind::Unreadable, generation, expected, found },
            self.kept,
        );
    }

    fn floor(&self, offset: u64) -> u32 {
        let grain = (offset / self.grain as u64).saturating_sub(self.region.first);
        self.region.floors.get(grain as usize).copied().unwrap_or_default()
    }

    /// Judges whole blocks that stand at `offset`.
    fn judge_chunk(&self, offset: u64, bytes: &[u8], tally: &mut Tally) {
        // What was found out about the neighbours of the last lost block, which the next one mostly
        // shares.
        let mut neighbours = (0..0, false);
        for (index, block) in bytes.chunks(self.grain).enumerate() {
            let place = offset + (index * self.grain) as u64;
            let floor = self.floor(place);
            tally.file.blocks += 1;
            match self.judge_block(place, block, floor) {
                Judged::Good => tally.file.good += 1,
                Judged::NeverWritten => tally.file.never_written += 1,
                Judged::Damaged { offset: at, kind, found } => {
                    let kind = match kind {
                        Kind::Corrupt => DamageKind::Corrupt,
                        Kind::Misdirected => DamageKind::Misdirected,
                        Kind::Stale | Kind::Torn => {
                            if !neighbours.0.contains(&index) {
                                neighbours = self.neighbours(offset, bytes, index);
                            }
                            // A write of which another part did arrive was not lost as a whole.
                            let is_torn = neighbours.1 || self.is_partly_new(place, block, floor);
                            if is_torn { DamageKind::Torn } else { DamageKind::Lost }
                        }
                    };
                    let (file, ours) = (self.region.file, self.identity.run);
                    let of_engine = Damage {
                        kind: kind_of(kind),
                        file,
                        offset: at,
                        expected: floor,
                        found,
                        ours,
                    };
                    let expected = Damage::expected_in_words(floor);
                    let hit = Hit {
                        offset: at,
                        kind,
                        generation: floor,
                        expected,
                        found: of_engine.to_string(),
                    };
                    tally.damaged(hit, self.kept);
                }
            }
        }
    }

    fn judge_block(&self, offset: u64, block: &[u8], floor: u32) -> Judged {
        let mut is_ours = floor > 0;
        for (index, sector) in block.as_chunks::<SECTOR>().0.iter().enumerate() {
            let place = offset + (index * SECTOR) as u64;
            let found = read_header(sector);
            if found == Found::Zeros && self.is_given_back(place) {
                continue;
            }
            if let Some(kind) = self.identity.judge(found, self.region.file, place, floor) {
                return Judged::Damaged { offset: place, kind, found };
            }
            is_ours |= matches!(found, Found::Whole(header) if header.run == self.identity.run);
        }
        if is_ours { Judged::Good } else { Judged::NeverWritten }
    }

    /// Whether the sector at `offset` may have been trimmed.
    fn is_given_back(&self, offset: u64) -> bool {
        self.given_back.iter().any(|extent| {
            extent.file == self.region.file
                && offset >= extent.offset
                && offset - extent.offset < extent.length
        })
    }

    /// Whether a sector of the block at `offset` holds what it must.
    fn is_partly_new(&self, offset: u64, block: &[u8], floor: u32) -> bool {
        let mut sectors = block.as_chunks::<SECTOR>().0.iter().enumerate();
        sectors.any(|(index, sector)| {
            let place = offset + (index * SECTOR) as u64;
            let found = read_header(sector);
            matches!(found, Found::Whole(_))
                && self.identity.judge(found, self.region.file, place, floor).is_none()
        })
    }

    /// Whether a block around block `index` of a chunk holds the write that is missing there, and
    /// in which blocks that is so.
    fn neighbours(&self, offset: u64, bytes: &[u8], index: usize) -> (Range<usize>, bool) {
        let place = |index: usize| offset + (index * self.grain) as u64;
        let generation = self.floor(place(index));
        let is_same = |index: &usize| self.floor(place(*index)) == generation;
        let first = (0..index).rev().take_while(is_same).last().unwrap_or(index);
        let blocks = bytes.len().div_ceil(self.grain);
        let end = (index..blocks).take_while(is_same).last().unwrap_or(index) + 1;
        let held = (first..end).filter_map(|index| {
            let sector = bytes[index * self.grain..].first_chunk::<SECTOR>().map(read_header);
            let Some(Found::Whole(header)) = sector else { return None };
            let is_it = header.run == self.identity.run
                && header.generation == generation
                && header.offset == place(index);
            is_it.then_some(header)
        });
        let mut all = first..end;
        for header in held {
            if header.reaches(place(index), self.grain as u64) {
                let near = |index: &usize| header.reaches(place(*index), self.grain as u64);
                let until = (index..end).take_while(near).count();
                return (index..index + until, true);
            }
            // Another worker's write of this generation may reach others of these blocks.
            all = index..index + 1;
        }
        (all, false)
    }
}

/// The verdict on a block.
enum Judged {
    Good,
    NeverWritten,
    Damaged { offset: u64, kind: Kind, found: Found },
}

/// The engine's word for it, for its sentence about what was found.
fn kind_of(kind: DamageKind) -> Kind {
    match kind {
        DamageKind::Lost => Kind::Stale,
        DamageKind::Torn => Kind::Torn,
        DamageKind::Corrupt | DamageKind::Unreadable => Kind::Corrupt,
        DamageKind::Misdirected => Kind::Misdirected,
    }
}

impl Tally {
    /// Counts a damaged block, and keeps it if it is among the first of its kind.
    fn damaged(&mut self, hit: Hit, kept: usize) {
        let kind = DamageKind::ALL.iter().position(|kind| *kind == hit.kind).unwrap_or_default();
        self.file.damaged[kind] += 1;
        // Each thread goes from the start to the end, so that its first are first.
        if self.file.damaged[kind] <= kept as u64 {
            self.hits.push(hit);
        }
    }

    /// What it comes to, of the file at this path.
    pub(super) fn named(self, path: &str) -> FileAudit {
        FileAudit { path: path.to_owned(), ..self.file }
    }

    /// Takes in what another thread or another region of the same file has shown.
    pub(super) fn add(&mut self, other: Tally, kept: usize) {
        self.file.blocks += other.file.blocks;
        self.file.good += other.file.good;
        self.file.never_written += other.file.never_written;
        for (sum, count) in self.file.damaged.iter_mut().zip(other.file.damaged) {
            *sum += count;
        }
        self.hits.extend(other.hits);
        self.hits.sort_by_key(|hit| hit.offset);
        keep_of_each(&mut self.hits, |hit| hit.kind, kept);
    }
}

/// Fills `buffer` from `offset` on, as far as the file goes.
fn read<'b>(file: &OwnedFd, offset: u64, buffer: &'b mut [u8]) -> Brought<'b> {
    let mut filled = 0;
    while filled < buffer.len() {
        match rustix::io::pread(file, &mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => {
                filled += count;
                // Only at its end does a file give a part of a sector, and direct I/O cannot go on
                // from there.
                if count % SECTOR != 0 {
                    break;
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Brought::Failed(error),
        }
    }
    Brought::Bytes(&buffer[..filled])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::Header;

    #[test]
    fn a_lost_write_beside_another_workers_of_its_generation_is_not_torn() {
        // Blocks of 4 KiB in turn by two workers, two of each, and then one write of 8 KiB.
        let mut region = Region::new(0, 0, 6);
        region.floors = vec![1, 1, 2, 2, 3, 3];
        let mut bytes = vec![0; 6 * 4096];
        for (number, sector) in bytes.chunks_exact_mut(SECTOR).enumerate() {
            let generation = region.floors[number / 8];
            let sectors = if generation == 3 { 16 } else { 8 };
            let offset = (number * SECTOR) as u64;
            let header = Header { run: 7, host: 0, file: 0, offset, generation, sectors };
            header.write(sector.try_into().expect("a sector"), 1);
        }
        for lost in [0, 3, 5] {
            bytes[lost * 4096..(lost + 1) * 4096].fill(0);
        }
        let (progress, mut tally) = (Progress::default(), Tally::default());
        let identity = Identity { run: 7, host: 0, hosts: 1, filled: true };
        let (given_back, grain, size, kept) = (&[][..], 4096, 6 * 4096, 8);
        let scan =
            Scan { region: &region, progress: &progress, identity, given_back, grain, size, kept };
        scan.judge_chunk(0, &bytes, &mut tally);
        let told: Vec<DamageKind> = tally.hits.iter().map(|hit| hit.kind).collect();
        assert_eq!(told, [DamageKind::Lost, DamageKind::Lost, DamageKind::Torn]);
    }
}
