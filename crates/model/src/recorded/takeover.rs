//! What agents kept whose coordinator is gone, joined to its record.

use crate::event::{HostEnd, HostStart, Note, NoteKind, StageEnd};
use crate::record::{Record, StageRecord};
use crate::sample::IntervalSample;
use std::collections::BTreeMap;

/// What one host had to tell of the stage that was under way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// Intervals, in order; some of them may be on record.
    pub samples: Vec<IntervalSample>,
    /// How the stage ended there, once it has.
    pub end: Option<StageEnd>,
    /// How it began.
    pub start: Option<HostStart>,
    /// What was left over.
    pub left: Option<HostEnd>,
    /// What came up.
    pub notes: Vec<Note>,
}

/// The stage that was under way when the record ended; `None` where none was.
pub fn under_way(record: &Record) -> Option<u32> {
    record.stages.last().filter(|stage| stage.end.is_none()).map(|stage| stage.stage)
}

/// What of a stage is on record of one host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnRecord {
    intervals: u64,
    last: Option<u32>,
}

impl OnRecord {
    /// Counts an interval.
    pub fn take(&mut self, interval: u32) {
        self.intervals = self.intervals.saturating_add(1);
        self.last = self.last.max(Some(interval));
    }

    /// The interval that follows.
    pub fn next(self) -> u32 {
        self.last.map_or(0, |last| last.saturating_add(1))
    }

    /// Whether there are some, and none is missing between them.
    fn has_no_gap(self) -> bool {
        self.last.is_some_and(|last| u64::from(last) + 1 == self.intervals)
    }
}

/// Joins what hosts told to a record that holds the samples of the stage. Comes back with how many
/// intervals were not on record.
pub fn join(record: &mut Record, stage: u32, told: Vec<(u32, Kept)>) -> u64 {
    let mut known: BTreeMap<u32, OnRecord> = BTreeMap::new();
    let samples = record.stage(stage).map(StageRecord::samples).unwrap_or_default();
    samples.iter().for_each(|sample| known.entry(sample.host).or_default().take(sample.interval));
    let joined = join_behind(record, stage, known, told);
    let added = joined.len() as u64;
    if let Some(known) = record.stages.iter_mut().find(|known| known.stage == stage) {
        known.samples_mut().extend(joined);
        known.samples_mut().sort_by_key(|sample| (sample.interval, sample.host));
    }
    added
}

/// Joins what hosts told, each under its number, to a record without samples, of which this much is
/// `known`. Comes back with the intervals that were not on record, in their order.
///
/// The stage is complete if every host that took part ended it and no interval of any is missing;
/// else it stays as it is, and is to be measured anew.
pub fn join_behind(
    record: &mut Record,
    stage: u32,
    mut known: BTreeMap<u32, OnRecord>,
    told: Vec<(u32, Kept)>,
) -> Vec<IntervalSample> {
    let took_part: Vec<u32> = (0..)
        .zip(&record.plan.hosts)
        .map(|(number, _)| number)
        .filter(|host| is_there(record, *host))
        .collect();
    let Some(of_stage) = record.stages.iter_mut().find(|known| known.stage == stage) else {
        return Vec::new();
    };
    let mut joined = Vec::new();
    for (host, kept) in &told {
        let of_host = known.entry(*host).or_default();
        for sample in &kept.samples {
            // What follows a gap is of no use: the stage is measured anew.
            if sample.interval > of_host.next() {
                break;
            } else if sample.interval == of_host.next() {
                of_host.take(sample.interval);
                joined.push(sample.clone());
            }
        }
    }
    joined.sort_by_key(|sample| (sample.interval, sample.host));
    let is_whole = |host: &u32| {
        let Some((_, kept)) = told.iter().find(|(number, _)| number == host) else { return false };
        let of_host = known.get(host).copied().unwrap_or_default();
        let last = kept.samples.last().map(|sample| sample.interval);
        kept.end == Some(StageEnd::Complete) && of_host.has_no_gap() && of_host.last >= last
    };
    if took_part.is_empty() || !took_part.iter().all(is_whole) {
        return joined;
    }
    of_stage.end = Some(StageEnd::Complete);
    for (host, kept) in told {
        if !of_stage.starts.iter().any(|start| start.host == host) {
            of_stage.starts.extend(kept.start);
        }
        if !of_stage.ends.iter().any(|end| end.host == host) {
            of_stage.ends.extend(kept.left);
        }
        let is_new = |note: &Note| !record.notes.contains(note);
        let notes: Vec<Note> = kept.notes.into_iter().filter(is_new).collect();
        record.notes.extend(notes);
    }
    joined
}

/// Whether a host was there when the record ended.
fn is_there(record: &Record, host: u32) -> bool {
    let about = |note: &&Note| {
        note.host == host && matches!(note.kind(), NoteKind::HostLost | NoteKind::HostReturned)
    };
    let last = record.notes.iter().rfind(about);
    last.is_none_or(|note| note.kind() == NoteKind::HostReturned)
}
