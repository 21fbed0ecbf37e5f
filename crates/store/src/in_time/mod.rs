//! What hosts did and counted in a stage, in the order of time: what a run that is played again
//! needs. Of each host, one piece of samples and one block of counters are held, packed. So a day
//! takes no more memory than some minutes.

mod lanes;
mod packed;
mod places;
#[cfg(test)]
pub(crate) mod tests;

use crate::coded::Blocks;
use crate::counters;
use crate::file::error::StoreError;
use crate::file::open::{Opened, open_run};
use crate::file::plausible::{self, Adding};
use crate::file::values::Problem;
use crate::reader::read_to_look;
use lanes::Lanes;
use model::{Event, Record};
use places::Places;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is asked for of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// What hosts did, and what their kernels counted.
    All,
    /// What kernels counted alone.
    Counters,
}

/// A run file that is read in the order of time.
pub struct InTime {
    path: PathBuf,
    file: File,
    record: Record,
    adding: Adding,
    /// The stage that is read.
    lanes: Lanes,
}

/// The file, and where everything is in it.
struct File {
    opened: Opened,
    places: Places,
    blocks: Blocks,
    names: counters::Names,
}

impl InTime {
    /// A run file that keeps every interval.
    ///
    /// # Errors
    /// As those of [`read`](crate::read). What hosts did may be damaged, which shows when it is
    /// read.
    pub fn of(path: &Path) -> Result<InTime, StoreError> {
        let record = read_to_look(path)?;
        plausible::samples(&record).map_err(|why| StoreError::damaged(path, why))?;
        let opened = open_run(path)?;
        let file = File::of(opened).map_err(|problem| StoreError::damaged(path, problem.0))?;
        let (adding, lanes) = (Adding::default(), Lanes::default());
        Ok(InTime { path: path.to_owned(), file, record, adding, lanes })
    }

    /// The run without what its hosts did.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// When the last interval of each host in a stage ended, in ns after the stage's start.
    pub fn heard_ns(&self, stage: u32) -> BTreeMap<u32, u64> {
        self.file.places.heard_ns(stage)
    }

    /// When the last sample of counters in a stage ended, in ns after its start; about then where a
    /// host left one out.
    pub fn counted_ns(&self, stage: u32) -> Option<u64> {
        self.file.places.counted_ns(stage)
    }

    /// Goes to what ended behind an instant of a stage, in ns after its start.
    ///
    /// # Errors
    /// The file cannot be read or is damaged.
    pub fn seek(&mut self, stage: u32, from_ns: u64, wanted: Wanted) -> Result<(), StoreError> {
        self.adding = Adding::default();
        let hosts = self.record.testbed.len() as u32;
        let lanes = Lanes::of(&self.file, stage, from_ns, wanted, hosts);
        self.lanes = lanes.map_err(|problem| StoreError::damaged(&self.path, problem.0))?;
        Ok(())
    }

    /// The next sample of the stage, with its end in ns after the stage's start; `None` behind the
    /// last one.
    ///
    /// # Errors
    /// The file cannot be read or is damaged.
    pub fn next_sample(&mut self) -> Result<Option<(u64, Event)>, StoreError> {
        let next = self.lanes.next(&self.file).and_then(|next| {
            if let Some((_, Event::Sample(sample))) = &next {
                self.adding.take(&self.record.plan, sample)?;
            }
            Ok(next)
        });
        next.map_err(|problem| StoreError::damaged(&self.path, problem.0))
    }
}

impl File {
    fn of(opened: Opened) -> Result<File, Problem> {
        let connection = &opened.connection;
        let places = Places::of(connection)?;
        let names = counters::series(connection)?;
        let blocks = Blocks::of(&names);
        Ok(File { opened, places, blocks, names })
    }
}
