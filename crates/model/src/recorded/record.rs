//! A whole run as it was recorded: what a run file holds.

use crate::counters::CounterSample;
use crate::digest::{Digest, StageContext};
use crate::event::{Event, HostEnd, HostStart, Note, RunEnd, StageEnd};
use crate::occurrence::Occurrence;
use crate::plan::Plan;
use crate::sample::IntervalSample;
use crate::testbed::HostFacts;
use crate::usage::Usage;
use std::borrow::Cow;

/// A recorded run, complete or cut short.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What was to be done.
    pub plan: Plan,
    /// The hosts as they were before the run, in the order of the plan. Behind them stand those of
    /// which a file told counters: they [send no load](HostFacts::sends_load).
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
    /// What its hosts did.
    pub data: StageData,
}

/// In which form a record holds what the hosts did in a stage: a day on many hosts has more samples
/// than any memory, and a list of runs needs none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StageData {
    /// One by one.
    Samples {
        /// By interval, then host.
        samples: Vec<IntervalSample>,
        /// What the hosts' kernels counted meanwhile, in the order in which it came.
        counters: Vec<CounterSample>,
    },
    /// Added up.
    Sums {
        /// What the samples come to.
        digest: Box<Digest>,
        /// What the counters come to; `None` where that was not asked for, or nothing counted.
        usage: Option<Box<Usage>>,
        /// What hosts said that they cannot count, without what they counted.
        remarks: Vec<CounterSample>,
    },
    /// Not read: only the head of the run is held.
    Unread,
}

impl StageData {
    /// Samples of which none has come yet.
    pub fn no_samples() -> StageData {
        StageData::Samples { samples: Vec::new(), counters: Vec::new() }
    }

    fn word(&self) -> &'static str {
        match self {
            StageData::Samples { .. } => "samples",
            StageData::Sums { .. } => "sums",
            StageData::Unread => "nothing",
        }
    }
}

impl StageRecord {
    /// One that began, and of which no sample has come yet.
    pub fn new(stage: u32, started_unix_ns: u64) -> StageRecord {
        StageRecord {
            stage,
            started_unix_ns,
            end: None,
            starts: Vec::new(),
            ends: Vec::new(),
            data: StageData::no_samples(),
        }
    }

    /// Its samples by interval, then host.
    ///
    /// # Panics
    /// The record does not hold them: whoever reads the run decides in which form.
    pub fn samples(&self) -> &[IntervalSample] {
        match &self.data {
            StageData::Samples { samples, .. } => samples,
            other => panic!("stage {} is held as {}, not as samples", self.stage, other.word()),
        }
    }

    /// The same, to be changed.
    ///
    /// # Panics
    /// The record does not hold them.
    pub fn samples_mut(&mut self) -> &mut Vec<IntervalSample> {
        match &mut self.data {
            StageData::Samples { samples, .. } => samples,
            other => panic!("stage {} is held as {}, not as samples", self.stage, other.word()),
        }
    }

    /// What the hosts' kernels counted, in the order in which it came.
    ///
    /// # Panics
    /// The record does not hold it one by one.
    pub fn counters(&self) -> &[CounterSample] {
        match &self.data {
            StageData::Samples { counters, .. } => counters,
            other => panic!("stage {} is held as {}, not as counters", self.stage, other.word()),
        }
    }

    /// The same, to be changed.
    ///
    /// # Panics
    /// The record does not hold it one by one.
    pub fn counters_mut(&mut self) -> &mut Vec<CounterSample> {
        match &mut self.data {
            StageData::Samples { counters, .. } => counters,
            other => panic!("stage {} is held as {}, not as counters", self.stage, other.word()),
        }
    }

    /// Where hosts may have said that they cannot count something.
    ///
    /// # Panics
    /// Only the head of the run was read.
    pub fn remarks(&self) -> &[CounterSample] {
        match &self.data {
            StageData::Samples { counters, .. } => counters,
            StageData::Sums { remarks, .. } => remarks,
            StageData::Unread => panic!("of stage {} nothing was read", self.stage),
        }
    }

    /// What the samples come to, where the record holds this in their place.
    pub fn summed(&self) -> Option<&Digest> {
        match &self.data {
            StageData::Sums { digest, .. } => Some(digest),
            StageData::Samples { .. } | StageData::Unread => None,
        }
    }

    /// What the counters come to, where the record holds this in their place.
    pub fn summed_usage(&self) -> Option<&Usage> {
        match &self.data {
            StageData::Sums { usage, .. } => usage.as_deref(),
            StageData::Samples { .. } | StageData::Unread => None,
        }
    }

    /// Whether there is anything that a kernel counted.
    pub fn is_counted(&self) -> bool {
        match &self.data {
            StageData::Samples { counters, .. } => {
                counters.iter().any(|sample| !sample.entries.is_empty())
            }
            StageData::Sums { usage, .. } => usage.is_some(),
            StageData::Unread => false,
        }
    }

    /// The same of the kernels of the first `hosts`, which load: what a file told of others says
    /// nothing of what was measured.
    pub fn is_counted_on(&self, hosts: usize) -> bool {
        match &self.data {
            StageData::Samples { counters, .. } => counters
                .iter()
                .any(|sample| !sample.entries.is_empty() && (sample.host as usize) < hosts),
            StageData::Sums { usage: Some(usage), .. } => {
                usage.others.is_empty() || !usage.uses.is_empty()
            }
            StageData::Sums { usage: None, .. } | StageData::Unread => false,
        }
    }

    /// What the samples of this stage of `record` come to: as it was read, or from the samples.
    ///
    /// # Panics
    /// Only the head of the run was read.
    pub fn digest<'a>(&'a self, record: &Record) -> Cow<'a, Digest> {
        match &self.data {
            StageData::Sums { digest, .. } => Cow::Borrowed(digest),
            _ => Cow::Owned(Digest::of(record.context(self), self.samples())),
        }
    }

    /// What the counters of this stage of `record` come to: as it was read, or from the counters.
    /// `digest` is that of the stage.
    ///
    /// # Panics
    /// Only the head of the run was read.
    pub fn usage<'a>(&'a self, record: &Record, digest: &Digest) -> Cow<'a, Usage> {
        match (&self.data, digest.frame.load_ns()) {
            (StageData::Sums { usage: Some(usage), .. }, _) => Cow::Borrowed(usage),
            (StageData::Sums { usage: None, .. }, _) | (_, None) => Cow::Owned(Usage::default()),
            (_, Some(load_ns)) => Cow::Owned(Usage::of(&record.testbed, &load_ns, self.counters())),
        }
    }
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

    /// The hosts that load.
    pub fn loaders(&self) -> &[HostFacts] {
        let of_plan = self.plan.hosts.len().min(self.testbed.len());
        &self.testbed[..of_plan]
    }

    /// The record of a stage, if it began.
    pub fn stage(&self, stage: u32) -> Option<&StageRecord> {
        self.stages.iter().find(|record| record.stage == stage)
    }

    /// The samples of all stages.
    ///
    /// # Panics
    /// The record does not hold them.
    pub fn samples(&self) -> impl Iterator<Item = &IntervalSample> {
        self.stages.iter().flat_map(StageRecord::samples)
    }

    /// What the hosts' kernels counted in all stages.
    ///
    /// # Panics
    /// The record does not hold it one by one.
    pub fn counters(&self) -> impl Iterator<Item = &CounterSample> {
        self.stages.iter().flat_map(StageRecord::counters)
    }

    /// What says which intervals of a stage count.
    pub fn context<'a>(&'a self, stage: &'a StageRecord) -> StageContext<'a> {
        StageContext {
            plan: &self.plan,
            notes: &self.notes,
            occurrences: &self.occurrences,
            stage: stage.stage,
            end: stage.end.as_ref(),
        }
    }

    /// Takes in what happened next. A sample or an end of a stage that never began is dropped: only
    /// a damaged file has one.
    pub fn apply(&mut self, event: Event) {
        match event {
            Event::StageStarted { stage, unix_ns } => {
                self.stages.push(StageRecord::new(stage, unix_ns));
            }
            Event::PointAdded(addition) => self.plan.add(&addition),
            Event::Sample(sample) => {
                if let Some(record) =
                    self.stages.iter_mut().find(|record| record.stage == sample.stage)
                {
                    record.samples_mut().push(sample);
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
                    record.counters_mut().push(*sample);
                }
            }
            Event::StageEnded { stage, end } => {
                if let Some(record) = self.stages.iter_mut().find(|record| record.stage == stage) {
                    record.end = Some(end);
                }
            }
            Event::Waiting(_) => {}
            Event::Note(note) => self.notes.push(note),
            Event::Happened(occurrence) => self.occurrences.push(*occurrence),
            Event::RunEnded { unix_ns, end } => self.end = Some((unix_ns, end)),
        }
    }
}
