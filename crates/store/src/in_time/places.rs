//! Where what hosts did in a stage is, by time.

use crate::file::checksums;
use crate::file::values::{Problem, each, small, unsigned};
use crate::reader::each_checked;
use crate::sample_blocks::{self, SampleBlocks, Within};
use crate::samples::block_rows::{Beside, OfStage, Reach, Stretch, each_block, ends_of};
use crate::samples::summed::spans_of;
use crate::samples::thinned::spans;
use model::IntervalSample;
use model::digest::Spans;
use rusqlite::Connection;
use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;

/// Samples in rows that are taken into memory at the same time, before they are packed: a few
/// minutes of a thousand hosts. Each time, all rows of the window are gone through.
const TOGETHER: usize = 1 << 18;

/// Where samples of one host begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A piece of a block.
    Piece(i64),
    /// A block of sums whose samples are rows, by its place among them.
    Rows(usize),
}

/// Samples of one host that stand together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stand<P> {
    pub place: P,
    /// When the first begins and the last ends, in ns after the stage's start.
    pub start_ns: u64,
    pub end_ns: u64,
}

/// What is known of one host in one stage.
#[derive(Debug, Default)]
struct OfHost {
    samples: Vec<Stand<Place>>,
    blocks: Vec<Stand<i64>>,
    tail: Vec<Stand<i64>>,
    heard_ns: Option<u64>,
}

/// Rows that belong together: those of a block of sums, or behind the last one.
#[derive(Debug)]
struct Window {
    within: Within,
    stages: Vec<OfStage>,
}

/// The places of a file.
#[derive(Debug, Default)]
pub(super) struct Places {
    hosts: BTreeMap<(u32, u32), OfHost>,
    windows: Vec<Window>,
    /// The end of what is counted in rows, by stage.
    counted_ns: BTreeMap<u32, u64>,
}

/// Pieces of a window that was read, by host.
pub(super) type Read = BTreeMap<u32, VecDeque<Vec<u8>>>;

impl Places {
    /// Those of a file.
    pub fn of(connection: &Connection) -> Result<Places, Problem> {
        // Blocks of sums say nothing of these: they are held against their checksum at once.
        for part in Beside::PARTS {
            each_checked(connection, part, |_| Ok(()))?;
        }
        let mut places = Places::default();
        places.find_samples(connection)?;
        places.find_counters(connection)?;
        Ok(places)
    }

    pub fn heard_ns(&self, stage: u32) -> BTreeMap<u32, u64> {
        let of = self.of_stage(stage);
        of.filter_map(|(host, own)| Some((host, own.heard_ns?))).collect()
    }

    pub fn counted_ns(&self, stage: u32) -> Option<u64> {
        let end = |own: &OfHost| {
            let ends = own.blocks.iter().chain(&own.tail).map(|stand| stand.end_ns);
            ends.max()
        };
        let coded = self.of_stage(stage).filter_map(|(_, own)| end(own)).max();
        coded.max(self.counted_ns.get(&stage).copied())
    }

    fn of_stage(&self, stage: u32) -> impl Iterator<Item = (u32, &OfHost)> {
        let range = (stage, 0)..=(stage, u32::MAX);
        self.hosts.range(range).map(|((_, host), own)| (*host, own))
    }

    /// Where the samples of each host of a stage are that ended behind an instant.
    pub fn samples(
        &self,
        stage: u32,
        from_ns: u64,
    ) -> impl Iterator<Item = (u32, VecDeque<Place>)> {
        self.of_stage(stage).map(move |(host, own)| (host, behind(&own.samples, from_ns)))
    }

    /// The blocks of counters of each host that ended behind an instant, and its rows in the tail.
    pub fn counters(
        &self,
        stage: u32,
        from_ns: u64,
    ) -> impl Iterator<Item = (u32, VecDeque<i64>, VecDeque<i64>)> {
        self.of_stage(stage).map(move |(host, own)| {
            // A block with gaps in it ends later than it says: never behind the next one's start.
            let mut ends: Vec<Stand<i64>> = own.blocks.clone();
            for at in 0..ends.len() {
                let next = ends.get(at + 1).or(own.tail.first());
                ends[at].end_ns = next.map_or(u64::MAX, |next| next.start_ns);
            }
            (host, behind(&ends, from_ns), behind(&own.tail, from_ns))
        })
    }

    /// The rows of a window that belong to a stage, as pieces of each host.
    pub fn read(
        &self,
        connection: &Connection,
        window: usize,
        stage: u32,
    ) -> Result<Read, Problem> {
        let mut read = Read::new();
        let Some(window) = self.windows.get(window) else { return Ok(read) };
        for group in groups(window.stages.iter().filter(|(own, _)| *own == stage)) {
            let wanted = |of: u32, host: u32| of == stage && group.contains(&host);
            let found = sample_blocks::in_rows(connection, window.within, &window.stages, &wanted)?;
            let mut of_hosts: BTreeMap<u32, Vec<IntervalSample>> = BTreeMap::new();
            for sample in found.into_values() {
                of_hosts.entry(sample.host).or_default().push(sample);
            }
            for (host, samples) in of_hosts {
                read.insert(host, sample_blocks::packed(samples)?);
            }
        }
        Ok(read)
    }

    fn find_samples(&mut self, connection: &Connection) -> Result<(), Problem> {
        let blocks = SampleBlocks::of(connection)?;
        let (mut reach, mut beside) = (Reach::default(), Beside::default());
        let mut last: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        each_block(connection, |block, stretch| {
            reach = stretch.to;
            let all = spans(connection, block)?.ok_or("the sums of samples are none")?;
            let ends = ends_of(&all, &mut last);
            let is_of = |stage: u32, host: u32, interval: u32| {
                ends.get(&(stage, host)).is_some_and(|own| own.contains(&interval))
            };
            let next = beside.over(connection, is_of)?;
            let both = [std::mem::replace(&mut beside, next), next];
            match blocks.pieces(block) {
                Some(pieces) => self.take_pieces(connection, pieces, &all),
                None => {
                    self.take_window(Within { stretch, beside: both }, all);
                    Ok(())
                }
            }
        })?;
        let rest = rest(connection, &last)?;
        let stretch = Stretch { from: reach, to: Reach::now(connection)? };
        self.take_window(Within { stretch, beside: [beside, Beside::END] }, rest);
        Ok(())
    }

    fn take_window(&mut self, within: Within, stages: Vec<OfStage>) {
        let place = Place::Rows(self.windows.len());
        for (stage, hosts) in &stages {
            for (host, spans) in hosts {
                let ends = spans.get(0).zip(spans.last());
                let Some((first, last)) = ends else { continue };
                let end_ns = last.start_ns.saturating_add(last.length_ns);
                let stand = Stand { place, start_ns: first.start_ns, end_ns };
                self.put(*stage, *host, stand);
            }
        }
        self.windows.push(Window { within, stages });
    }

    /// Takes in the pieces of a block: those of a host stand in its order, and all but the last one
    /// are full.
    fn take_pieces(
        &mut self,
        connection: &Connection,
        pieces: std::ops::Range<i64>,
        all: &[OfStage],
    ) -> Result<(), Problem> {
        let mut before: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        let query = "SELECT piece, stage, host FROM sample_columns WHERE piece >= ? AND piece < ? \
                     ORDER BY piece";
        let mut statement = connection.prepare_cached(query)?;
        let mut rows = statement.query([pieces.start, pieces.end])?;
        while let Some(row) = rows.next()? {
            let (piece, stage, host) = (row.get(0)?, small(row.get(1)?)?, small(row.get(2)?)?);
            let number = before.entry((stage, host)).or_default();
            let of_stage = all.iter().find(|(own, _)| *own == stage);
            let spans = of_stage.and_then(|(_, hosts)| hosts.get(&host));
            let spans = spans.ok_or("a piece of samples is of a host that has none there")?;
            let first = *number * sample_blocks::PIECE;
            let last = spans.len().min(first + sample_blocks::PIECE).saturating_sub(1);
            let ends = spans.get(first).zip(spans.get(last));
            let (first, last) = ends.ok_or("a block of samples has more pieces than samples")?;
            let end_ns = last.start_ns.saturating_add(last.length_ns);
            let stand = Stand { place: Place::Piece(piece), start_ns: first.start_ns, end_ns };
            *number += 1;
            self.put(stage, host, stand);
        }
        Ok(())
    }

    fn put(&mut self, stage: u32, host: u32, stand: Stand<Place>) {
        let own = self.hosts.entry((stage, host)).or_default();
        own.heard_ns = own.heard_ns.max(Some(stand.end_ns));
        own.samples.push(stand);
    }

    fn find_counters(&mut self, connection: &Connection) -> Result<(), Problem> {
        let query = "SELECT stage, max(start_ns + length_ns) FROM counter_samples GROUP BY stage";
        each(connection, query, |row| {
            self.counted_ns.insert(small(row.get(0)?)?, unsigned(row.get(1)?)?);
            Ok(())
        })?;
        for (table, number) in [("counter_blocks", "block"), ("counter_tail", "tail")] {
            let query = format!(
                "SELECT {number}, stage, host, start_ns, length_ns FROM {table} ORDER BY {number}"
            );
            each(connection, &query, |row| {
                let of = (small(row.get(1)?)?, small(row.get(2)?)?);
                let start_ns = unsigned(row.get(3)?)?;
                let end_ns = start_ns.saturating_add(unsigned(row.get(4)?)?);
                let stand = Stand { place: row.get(0)?, start_ns, end_ns };
                let own = self.hosts.entry(of).or_default();
                let to = if number == "tail" { &mut own.tail } else { &mut own.blocks };
                to.push(stand);
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// The hosts of a stage, in groups that together have so many samples as fit into memory.
fn groups<'a>(of_stage: impl Iterator<Item = &'a OfStage>) -> Vec<RangeInclusive<u32>> {
    let mut groups: Vec<(RangeInclusive<u32>, usize)> = Vec::new();
    for (host, spans) in of_stage.flat_map(|(_, hosts)| hosts) {
        match groups.last_mut().filter(|(_, samples)| samples + spans.len() <= TOGETHER) {
            Some((hosts, samples)) => {
                *hosts = *hosts.start()..=*host;
                *samples += spans.len();
            }
            None => groups.push((*host..=*host, spans.len())),
        }
    }
    groups.into_iter().map(|(hosts, _)| hosts).collect()
}

/// The places from the first one on that ended behind an instant.
fn behind<P: Copy>(stands: &[Stand<P>], from_ns: u64) -> VecDeque<P> {
    let wanted = stands.iter().skip_while(|stand| from_ns > 0 && stand.end_ns <= from_ns);
    wanted.map(|stand| stand.place).collect()
}

/// The intervals behind the last block of sums.
fn rest(
    connection: &Connection,
    last: &BTreeMap<(u32, u32), u32>,
) -> Result<Vec<OfStage>, Problem> {
    let mut of_stages: BTreeMap<u32, BTreeMap<u32, Spans>> = BTreeMap::new();
    let mut hosts: Vec<(u32, u32)> = Vec::new();
    each(connection, "SELECT DISTINCT stage, host FROM intervals", |row| {
        hosts.push((small(row.get(0)?)?, small(row.get(1)?)?));
        Ok(())
    })?;
    for (stage, host) in hosts {
        let (spans, _) = spans_of(connection, stage, host, last.get(&(stage, host)).copied())?;
        if !spans.is_empty() {
            of_stages.entry(stage).or_default().insert(host, spans);
        }
    }
    Ok(of_stages.into_iter().collect())
}

/// A piece of the file as it is.
pub(super) fn piece(connection: &Connection, piece: i64) -> Result<Vec<u8>, Problem> {
    let mut statement =
        connection.prepare_cached("SELECT * FROM sample_columns WHERE piece = ?")?;
    let mut rows = statement.query([piece])?;
    let row = rows.next()?.ok_or("samples are missing in a block")?;
    checksums::Single::of(connection, checksums::Part::SampleColumns)?
        .check(piece, checksums::of_row(row)?)?;
    let bytes = row.get_ref(3)?.as_blob().map_err(|_| "a block of samples is none")?;
    Ok(bytes.to_vec())
}
