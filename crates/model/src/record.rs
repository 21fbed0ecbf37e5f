//! A whole run as it was recorded: what a run file holds.

use crate::counters::CounterSample;
use crate::digest::Digest;
use crate::event::{Event, HostEnd, HostStart, Note, RunEnd, StageEnd};
use crate::occurrence::Occurrence;
use crate::plan::Plan;
use crate::sample::IntervalSample;
use crate::testbed::HostFacts;
use crate::usage::Usage;

/// A recorded run, complete or cut short.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What was to be done.
    pub plan: Plan,
    /// The hosts as they were before the run.
    pub testbed: Vec<HostFacts>,
    /// The version of Plimsoll that made the run.
    pub version: String,
    /// When it began, in ns since 1970.
    pub started_unix_ns: u64,
    /// One entry for each stage that began, in order.
    pub stages: Vec<StageRecord>,
    /// What came up on the way.
    pub notes: Vec<Note>,
    /// What happened at an instant, in the order in which it was told.
    pub occurrences: Vec<Occurrence>,
    /// When and how it ended; `None` where the run was killed.
    pub end: Option<(u64, RunEnd)>,
}

/// One stage as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageRecord {
    /// Its number in the plan.
    pub stage: u32,
    /// When it began, in ns since 1970.
    pub started_unix_ns: u64,
    /// How it ended; `None` where the run was killed in it.
    pub end: Option<StageEnd>,
    /// When each host really began it; one entry for each that ended it.
    pub starts: Vec<HostStart>,
    /// What each host had left over at its end; one entry for each that ended it, none of runs of
    /// versions that did not tell.
    pub ends: Vec<HostEnd>,
    /// Its samples by interval, then host.
    pub samples: Vec<IntervalSample>,
    /// What the hosts' kernels counted meanwhile, in the order in which it came.
    pub counters: Vec<CounterSample>,
    /// What the samples come to, where they are not held themselves: then `samples` is empty.
    pub digest: Option<Box<Digest>>,
    /// What the counters come to, where they are not held themselves: then `counters` has only
    /// what hosts said that they cannot count.
    pub usage: Option<Box<Usage>>,
}

impl Record {
    /// A run of which nothing has happened yet.
    pub fn new(
        plan: Plan,
        testbed: Vec<HostFacts>,
        version: String,
        started_unix_ns: u64,
    ) -> Record {
        Record {
            plan,
            testbed,
            version,
            started_unix_ns,
            stages: Vec::new(),
            notes: Vec::new(),
            occurrences: Vec::new(),
            end: None,
        }
    }

    /// The record of a stage, if it began.
    pub fn stage(&self, stage: u32) -> Option<&StageRecord> {
        self.stages.iter().find(|record| record.stage == stage)
    }

    /// Takes in what happened next. A sample or an end of a stage that never began is dropped: only
    /// a damaged file has one.
    pub fn apply(&mut self, event: Event) {
        match event {
            Event::StageStarted { stage, unix_ns } => {
                self.stages.push(StageRecord {
                    stage,
                    started_unix_ns: unix_ns,
                    end: None,
                    starts: Vec::new(),
                    ends: Vec::new(),
                    samples: Vec::new(),
                    counters: Vec::new(),
                    digest: None,
                    usage: None,
                });
            }
            Event::PointAdded(addition) => self.plan.add(&addition),
            Event::Sample(sample) => {
                if let Some(record) =
                    self.stages.iter_mut().find(|record| record.stage == sample.stage)
                {
                    record.samples.push(sample);
                }
            }
            Event::HostStarted(start) => {
                if let Some(record) =
                    self.stages.iter_mut().find(|record| record.stage == start.stage)
                {
                    record.starts.push(start);
                }
            }
            Event::HostEnded(end) => {
                if let Some(record) =
                    self.stages.iter_mut().find(|record| record.stage == end.stage)
                {
                    let place = record.ends.partition_point(|known| known.host <= end.host);
                    record.ends.insert(place, *end);
                }
            }
            Event::Counters(sample) => {
                if let Some(record) =
                    self.stages.iter_mut().find(|record| record.stage == sample.stage)
                {
                    record.counters.push(*sample);
                }
            }
            Event::StageEnded { stage, end } => {
                if let Some(record) = self.stages.iter_mut().find(|record| record.stage == stage) {
                    record.end = Some(end);
                }
            }
            Event::Note(note) => self.notes.push(note),
            Event::Happened(occurrence) => self.occurrences.push(*occurrence),
            Event::RunEnded { unix_ns, end } => self.end = Some((unix_ns, end)),
        }
    }
}
