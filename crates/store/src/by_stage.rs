//! What hosts did in one stage after the other, without a record that holds it: what a run that is
//! gone on with takes over from its file.

use crate::coded::{self, Blocks};
use crate::counters;
use crate::error::StoreError;
use crate::open::{Opened, open_run};
use crate::plausible::Adding;
use crate::reach::{Reach, Stretch};
use crate::rows::Halted;
use crate::sample_blocks::{SampleBlocks, in_rows};
use crate::summed::spans_of;
use crate::thinned::spans;
use crate::values::{Problem, each};
use model::digest::Spans;
use model::{Event, Record};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The stages of a run file.
pub struct Stages {
    path: PathBuf,
    opened: Opened,
    blocks: SampleBlocks,
    /// Blocks of sums whose samples are rows, with the stages of each.
    in_rows: Vec<Window>,
    /// The last block of sums reaches so far.
    reach: Reach,
    /// The last interval in a block, by stage and host.
    last: BTreeMap<(u32, u32), u32>,
    adding: Adding,
}

/// A block of sums whose samples are rows.
struct Window {
    block: i64,
    stretch: Stretch,
    stages: BTreeSet<u32>,
}

impl Stages {
    /// Those of a file that [`read_to_resume`](crate::read_to_resume) has read.
    ///
    /// # Errors
    /// As those of [`read`](crate::read).
    pub fn of(path: &Path) -> Result<Stages, StoreError> {
        let opened = open_run(path)?;
        let found = found(&opened.connection);
        let (blocks, in_rows, reach, last) =
            found.map_err(|problem| StoreError::damaged(path, problem.0))?;
        let (path, adding) = (path.to_owned(), Adding::default());
        Ok(Stages { path, opened, blocks, in_rows, reach, last, adding })
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
        mut take: impl FnMut(Event) -> Result<(), E>,
    ) -> Result<(), Halted<E>> {
        let mut refused = None;
        let ended = self.events(record, stage, &mut |event| {
            take(event).map_err(|error| {
                refused = Some(error);
                Problem::from("the reading was stopped")
            })
        });
        match (refused, ended) {
            (Some(error), _) => Err(Halted::Taker(error)),
            (None, ended) => {
                ended.map_err(|problem| Halted::File(StoreError::damaged(&self.path, problem.0)))
            }
        }
    }

    fn events(
        &mut self,
        record: &Record,
        stage: u32,
        take: &mut dyn FnMut(Event) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let (connection, adding) = (&self.opened.connection, &mut self.adding);
        let mut sample = |sample| {
            adding.take(&record.plan, &sample)?;
            take(Event::Sample(sample))
        };
        self.blocks.each(connection, |of| of == stage, &mut sample)?;
        for window in self.in_rows.iter().filter(|window| window.stages.contains(&stage)) {
            let all = spans(connection, window.block)?.ok_or("the sums of samples are none")?;
            let found = in_rows(connection, window.stretch, &all, stage)?;
            found.into_values().try_for_each(&mut sample)?;
        }
        let mut rest: BTreeMap<u32, Spans> = BTreeMap::new();
        for host in 0..record.plan.hosts.len() as u32 {
            let after = self.last.get(&(stage, host)).copied();
            let (spans, _) = spans_of(connection, stage, host, after)?;
            if !spans.is_empty() {
                rest.insert(host, spans);
            }
        }
        let stretch = Stretch { from: self.reach, to: Reach::now(connection)? };
        let found = in_rows(connection, stretch, &[(stage, rest)], stage)?;
        found.into_values().try_for_each(&mut sample)?;
        counted(connection, record, stage, take)
    }
}

/// Hands out what the kernels counted in a stage.
fn counted(
    connection: &Connection,
    record: &Record,
    stage: u32,
    take: &mut dyn FnMut(Event) -> Result<(), Problem>,
) -> Result<(), Problem> {
    if !counters::are_there(connection)? {
        return Ok(());
    }
    let hosts = record.plan.hosts.len() as u32;
    let mut take = |sample: model::CounterSample| match sample.host < hosts {
        true => take(Event::Counters(Box::new(sample))),
        false => Err("counters come from a host that is not there".into()),
    };
    let others: BTreeSet<u32> =
        record.stages.iter().map(|other| other.stage).filter(|other| *other != stage).collect();
    let series = counters::series(connection)?;
    counters::in_rows(connection, &series, &others)?.try_for_each(&mut take)?;
    if !coded::are_there(connection)? {
        return Ok(());
    }
    let blocks = Blocks::of(&series);
    blocks.each_sample_but(connection, &others, |sample| take(sample.clone()))
}

type Found = (SampleBlocks, Vec<Window>, Reach, BTreeMap<(u32, u32), u32>);

/// Where the samples of a file are.
fn found(connection: &Connection) -> Result<Found, Problem> {
    let blocks = SampleBlocks::of(connection)?;
    let (mut windows, mut reach, mut last) = (Vec::new(), Reach::default(), BTreeMap::new());
    if !crate::values::is_there(connection, "sums")? {
        return Ok((blocks, windows, reach, last));
    }
    let thinned = crate::thinned::blocks(connection)?;
    let query = "SELECT block, samples, errors, workers, worker_samples FROM sums ORDER BY block";
    each(connection, query, |row| {
        let (samples, errors, workers, worker_samples) =
            (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
        let to = Reach { samples, errors, workers, worker_samples };
        let (block, from) = (row.get(0)?, std::mem::replace(&mut reach, to));
        if !from.is_within(&to) {
            return Err("its sums do not follow one another".into());
        }
        let all = spans(connection, block)?.ok_or("the sums of samples are none")?;
        for (stage, hosts) in &all {
            for (host, spans) in hosts {
                let end = spans.last().map(|span| span.interval).unwrap_or_default();
                let known = last.entry((*stage, *host)).or_insert(end);
                *known = end.max(*known);
            }
        }
        if !blocks.has(block) && !thinned.contains(&block) {
            let stages = all.into_iter().map(|(stage, _)| stage).collect();
            windows.push(Window { block, stretch: Stretch { from, to }, stages });
        }
        Ok(())
    })?;
    Ok((blocks, windows, reach, last))
}
