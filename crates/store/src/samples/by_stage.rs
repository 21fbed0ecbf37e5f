//! What hosts did in one stage after the other, without a record that holds it: what a run that is
//! gone on with takes over from its file.

use crate::coded::Blocks;
use crate::counters;
use crate::file::error::StoreError;
use crate::file::open::{Opened, open_run};
use crate::file::plausible::Adding;
use crate::file::values::Problem;
use crate::reader::each_checked;
use crate::rows::{Halted, until_refused};
use crate::sample_blocks::{SampleBlocks, Within, in_rows};
use crate::samples::block_rows::{Beside, OfStage, Reach, Stretch, each_block, ends_of};
use crate::samples::summed::spans_of;
use crate::samples::thinned::spans;
use model::digest::Spans;
use model::{Event, IntervalSample, Record};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The stages of a run file.
pub struct Stages {
    path: PathBuf,
    opened: Opened,
    places: Places,
    adding: Adding,
}

/// Where the samples of a file are.
#[derive(Default)]
struct Places {
    blocks: SampleBlocks,
    /// Blocks of sums whose samples are rows, with the stages of each.
    in_rows: Vec<Window>,
    /// The last block of sums reaches so far.
    reach: Reach,
    /// And what belongs to it so far.
    beside: Beside,
    /// The last interval in a block, by stage and host.
    last: BTreeMap<(u32, u32), u32>,
}

/// A block of sums whose samples are rows.
struct Window {
    block: i64,
    within: Within,
    stages: BTreeSet<u32>,
}

impl Stages {
    /// Those of a file that [`read_to_resume`](crate::read_to_resume) has read.
    ///
    /// # Errors
    /// As those of [`read`](crate::read).
    pub fn of(path: &Path) -> Result<Stages, StoreError> {
        let opened = open_run(path)?;
        let places = Places::of(&opened.connection);
        let places = places.map_err(|problem| StoreError::damaged(path, problem.0))?;
        Ok(Stages { path: path.to_owned(), opened, places, adding: Adding::default() })
    }

    /// Hands out what hosts did and counted in a stage of the record: each host's samples in their
    /// order, then each host's counters. Some hundred intervals of each host are held at a time.
    ///
    /// # Errors
    /// The file cannot be read or is damaged, or `take` failed.
    pub fn each<E>(
        &mut self,
        record: &Record,
        stage: u32,
        take: impl FnMut(Event) -> Result<(), E>,
    ) -> Result<(), Halted<E>> {
        let path = self.path.clone();
        until_refused(&path, take, |take| self.events(record, stage, take))
    }

    fn events(
        &mut self,
        record: &Record,
        stage: u32,
        take: &mut dyn FnMut(Event) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let (connection, hosts) = (&self.opened.connection, record.plan.hosts.len() as u32);
        let (adding, wanted) = (&mut self.adding, |of: u32, _: u32| of == stage);
        self.places.each(connection, stage, 0..hosts, &wanted, &mut |sample| {
            adding.take(&record.plan, &sample)?;
            take(Event::Sample(sample))
        })?;
        counted(connection, record, stage, take)
    }

    /// Hands out what one host did in a stage of the record, in its order.
    ///
    /// # Errors
    /// The file cannot be read or is damaged.
    pub fn each_of_host(
        &mut self,
        record: &Record,
        stage: u32,
        host: u32,
        take: &mut dyn FnMut(IntervalSample),
    ) -> Result<(), StoreError> {
        let adding = &mut self.adding;
        let wanted = |of: u32, by: u32| of == stage && by == host;
        let hosts = host..host.saturating_add(1);
        let read =
            self.places.each(&self.opened.connection, stage, hosts, &wanted, &mut |sample| {
                adding.take(&record.plan, &sample)?;
                take(sample);
                Ok(())
            });
        read.map_err(|problem| StoreError::damaged(&self.path, problem.0))
    }
}

impl Places {
    /// Hands out the samples of a stage and of hosts that are wanted, each host's in their order.
    fn each(
        &self,
        connection: &Connection,
        stage: u32,
        hosts: Range<u32>,
        wanted: &dyn Fn(u32, u32) -> bool,
        take: &mut dyn FnMut(IntervalSample) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        self.blocks.each(connection, wanted, &mut *take)?;
        for window in self.in_rows.iter().filter(|window| window.stages.contains(&stage)) {
            let all = spans(connection, window.block)?.ok_or("the sums of samples are none")?;
            let found = in_rows(connection, window.within, &all, wanted)?;
            found.into_values().try_for_each(&mut *take)?;
        }
        let mut rest: BTreeMap<u32, Spans> = BTreeMap::new();
        for host in hosts {
            let after = self.last.get(&(stage, host)).copied();
            let (spans, _) = spans_of(connection, stage, host, after)?;
            if !spans.is_empty() {
                rest.insert(host, spans);
            }
        }
        let stretch = Stretch { from: self.reach, to: Reach::now(connection)? };
        let within = Within { stretch, beside: [self.beside, Beside::END] };
        let found = in_rows(connection, within, &[(stage, rest)], wanted)?;
        found.into_values().try_for_each(take)
    }
}

/// Hands out what the kernels counted in a stage.
fn counted(
    connection: &Connection,
    record: &Record,
    stage: u32,
    take: &mut dyn FnMut(Event) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let hosts = record.testbed.len() as u32;
    let mut take = |sample: model::CounterSample| match sample.host < hosts {
        true => take(Event::Counters(Box::new(sample))),
        false => Err("counters come from a host that is not there".into()),
    };
    let others: BTreeSet<u32> =
        record.stages.iter().map(|other| other.stage).filter(|other| *other != stage).collect();
    let series = counters::series(connection)?;
    counters::in_rows(connection, &series, &others)?.try_for_each(&mut take)?;
    let blocks = Blocks::of(&series);
    blocks.each_sample_but(connection, &others, |sample| take(sample.clone()))
}

impl Places {
    /// Those of a file.
    fn of(connection: &Connection) -> Result<Places, Problem> {
        // Blocks of sums say nothing of these: they are held against their checksum at once.
        for part in Beside::PARTS {
            each_checked(connection, part, |_| Ok(()))?;
        }
        let mut places = Places { blocks: SampleBlocks::of(connection)?, ..Places::default() };
        let thinned = crate::samples::thinned::blocks(connection)?;
        each_block(connection, |block, stretch| {
            let all = spans(connection, block)?.ok_or("the sums of samples are none")?;
            places.take(connection, block, stretch, &all, thinned.contains(&block))
        })?;
        Ok(places)
    }

    /// Takes in the block of sums behind the last one.
    fn take(
        &mut self,
        connection: &Connection,
        block: i64,
        stretch: Stretch,
        all: &[OfStage],
        is_thinned: bool,
    ) -> Result<(), Problem> {
        self.reach = stretch.to;
        let ends = ends_of(all, &mut self.last);
        let is_of = |stage: u32, host: u32, interval: u32| {
            ends.get(&(stage, host)).is_some_and(|own| own.contains(&interval))
        };
        let beside = [self.beside, self.beside.over(connection, is_of)?];
        self.beside = beside[1];
        if !self.blocks.has(block) && !is_thinned {
            let stages = all.iter().map(|(stage, _)| *stage).collect();
            let within = Within { stretch, beside };
            self.in_rows.push(Window { block, within, stages });
        }
        Ok(())
    }
}
