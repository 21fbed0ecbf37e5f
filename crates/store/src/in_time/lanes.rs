//! The samples of all hosts of a stage, merged by time.

use super::packed::Packed;
use super::places::{self, Place, Read};
use super::{File, Wanted};
use crate::file::values::{self, Problem};
use crate::{counters, sample_blocks};
use model::{CounterSample, Event, IntervalSample};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

/// When a sample ended; of those that ended at one instant, what hosts did comes first, then by
/// number and host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    end_ns: u64,
    kind: Kind,
    number: u32,
    host: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Did,
    Counted,
}

/// What one host did.
#[derive(Debug, Default)]
struct Did {
    places: VecDeque<Place>,
    /// Pieces of a window that wait.
    pieces: VecDeque<Vec<u8>>,
    now: std::vec::IntoIter<IntervalSample>,
    next: Option<IntervalSample>,
}

/// What the kernel of one host counted.
#[derive(Debug, Default)]
struct Counted {
    plain: VecDeque<CounterSample>,
    blocks: VecDeque<i64>,
    now: Packed,
    tail: VecDeque<i64>,
    next: Option<CounterSample>,
}

/// A stage.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    stage: u32,
    from_ns: u64,
    did: BTreeMap<u32, Did>,
    counted: BTreeMap<u32, Counted>,
    turns: BinaryHeap<Reverse<Turn>>,
    /// Windows of rows that were read, until every host took its part.
    read: BTreeMap<usize, Read>,
}

impl Lanes {
    /// What ended behind an instant of a stage.
    pub fn of(
        file: &File,
        stage: u32,
        from_ns: u64,
        wanted: Wanted,
        hosts: u32,
    ) -> Result<Lanes, Problem> {
        let mut lanes = Lanes { stage, from_ns, ..Lanes::default() };
        if wanted == Wanted::All {
            for (host, places) in file.places.samples(stage, from_ns) {
                lanes.did.insert(host, Did { places, ..Did::default() });
            }
        }
        for (host, blocks, tail) in file.places.counters(stage, from_ns) {
            lanes.counted.insert(host, Counted { blocks, tail, ..Counted::default() });
        }
        lanes.find_plain(file)?;
        if lanes.counted.keys().any(|host| *host >= hosts) {
            return Err("counters come from a host that is not there".into());
        }
        for host in lanes.did.keys().copied().collect::<Vec<u32>>() {
            lanes.did_next(file, host)?;
        }
        for host in lanes.counted.keys().copied().collect::<Vec<u32>>() {
            lanes.counted_next(file, host)?;
        }
        Ok(lanes)
    }

    /// Takes in the counters that are rows: those of a short run.
    fn find_plain(&mut self, file: &File) -> Result<(), Problem> {
        let connection = &file.opened.connection;
        let mut others: BTreeSet<u32> = BTreeSet::new();
        values::each(connection, "SELECT DISTINCT stage FROM counter_samples", |row| {
            others.insert(values::small(row.get(0)?)?);
            Ok(())
        })?;
        if !others.remove(&self.stage) {
            return Ok(());
        }
        for sample in counters::in_rows(connection, &file.names, &others)? {
            self.counted.entry(sample.host).or_default().plain.push_back(sample);
        }
        Ok(())
    }

    /// The next sample, with its end.
    pub fn next(&mut self, file: &File) -> Result<Option<(u64, Event)>, Problem> {
        let Some(Reverse(turn)) = self.turns.pop() else { return Ok(None) };
        let event = match turn.kind {
            Kind::Did => {
                let lane = self.did.get_mut(&turn.host);
                let sample = lane.and_then(|lane| lane.next.take());
                self.did_next(file, turn.host)?;
                sample.map(Event::Sample)
            }
            Kind::Counted => {
                let lane = self.counted.get_mut(&turn.host);
                let sample = lane.and_then(|lane| lane.next.take());
                self.counted_next(file, turn.host)?;
                sample.map(|sample| Event::Counters(Box::new(sample)))
            }
        };
        Ok(event.map(|event| (turn.end_ns, event)))
    }

    /// Has the next sample of a host wait for its turn.
    fn did_next(&mut self, file: &File, host: u32) -> Result<(), Problem> {
        let connection = &file.opened.connection;
        let Some(lane) = self.did.get_mut(&host) else { return Ok(()) };
        loop {
            for sample in lane.now.by_ref() {
                let end_ns = sample.start_ns.saturating_add(sample.length_ns);
                if end_ns > self.from_ns || self.from_ns == 0 {
                    let number = sample.interval;
                    self.turns.push(Reverse(Turn { end_ns, kind: Kind::Did, number, host }));
                    lane.next = Some(sample);
                    return Ok(());
                }
            }
            if let Some(bytes) = lane.pieces.pop_front() {
                lane.now = sample_blocks::unpacked(&bytes, self.stage, host)?.into_iter();
                continue;
            }
            match lane.places.pop_front() {
                None => return Ok(()),
                Some(Place::Piece(piece)) => {
                    lane.pieces.push_back(places::piece(connection, piece)?);
                }
                Some(Place::Rows(window)) => {
                    if !self.read.contains_key(&window) {
                        let read = file.places.read(connection, window, self.stage)?;
                        self.read.insert(window, read);
                    }
                    let read = self.read.get_mut(&window);
                    lane.pieces = read.and_then(|read| read.remove(&host)).unwrap_or_default();
                    self.read.retain(|_, read| !read.is_empty());
                }
            }
        }
    }

    /// The same of what its kernel counted.
    fn counted_next(&mut self, file: &File, host: u32) -> Result<(), Problem> {
        let Some(lane) = self.counted.get_mut(&host) else { return Ok(()) };
        while let Some(sample) = lane.following(file)? {
            let end_ns = sample.start_ns.saturating_add(sample.length_ns);
            if sample.stage == self.stage && (end_ns > self.from_ns || self.from_ns == 0) {
                let number = sample.number;
                self.turns.push(Reverse(Turn { end_ns, kind: Kind::Counted, number, host }));
                lane.next = Some(sample);
                break;
            }
        }
        Ok(())
    }
}

impl Counted {
    /// The sample behind the last one.
    fn following(&mut self, file: &File) -> Result<Option<CounterSample>, Problem> {
        if let Some(sample) = self.plain.pop_front() {
            return Ok(Some(sample));
        }
        let blocks = &file.blocks;
        let connection = &file.opened.connection;
        loop {
            if let Some(sample) = self.now.pop()? {
                return Ok(Some(sample));
            }
            if let Some(block) = self.blocks.pop_front() {
                self.now = Packed::default();
                let now = &mut self.now;
                blocks.block(connection, block, |_| true, &mut |sample| {
                    now.push(sample);
                    Ok(())
                })?;
                continue;
            }
            let Some(row) = self.tail.pop_front() else { return Ok(None) };
            return blocks.row_of_tail(connection, row);
        }
    }
}
