//! What agents kept whose coordinator is gone, joined to its record.

use crate::event::{HostEnd, HostStart, Note, NoteKind, StageEnd};
use crate::record::Record;
use crate::sample::IntervalSample;

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

/// Joins what hosts told to the record, each under its number. Comes back with how many intervals
/// were not on record.
///
/// The stage is complete if every host that took part ended it and no interval of any is missing;
/// else it stays as it is, and is to be measured anew.
pub fn join(record: &mut Record, stage: u32, told: Vec<(u32, Kept)>) -> u64 {
    let took_part: Vec<u32> = (0..)
        .zip(&record.plan.hosts)
        .map(|(number, _)| number)
        .filter(|host| is_there(record, *host))
        .collect();
    let Some(known) = record.stages.iter_mut().find(|known| known.stage == stage) else {
        return 0;
    };
    let mut added = 0;
    for (host, kept) in &told {
        let of_host = known.samples().iter().filter(|sample| sample.host == *host);
        let mut next = of_host.map(|sample| sample.interval.saturating_add(1)).max().unwrap_or(0);
        for sample in &kept.samples {
            // What follows a gap is of no use: the stage is measured anew.
            if sample.interval == next {
                next = next.saturating_add(1);
                known.samples_mut().push(sample.clone());
                added += 1;
            } else if sample.interval > next {
                break;
            }
        }
    }
    let is_whole = |host: &u32| {
        let Some((_, kept)) = told.iter().find(|(number, _)| number == host) else { return false };
        let of_host = known.samples().iter().filter(|sample| sample.host == *host);
        let count = of_host.clone().count() as u64;
        let last = kept.samples.last().map(|sample| sample.interval);
        let behind = of_host.map(|sample| sample.interval).max();
        kept.end == Some(StageEnd::Complete)
            && behind.is_some_and(|behind| u64::from(behind) + 1 == count)
            && last.is_none_or(|last| behind >= Some(last))
    };
    if took_part.is_empty() || !took_part.iter().all(is_whole) {
        return added;
    }
    known.samples_mut().sort_by_key(|sample| (sample.interval, sample.host));
    known.end = Some(StageEnd::Complete);
    for (host, kept) in told {
        if !known.starts.iter().any(|start| start.host == host) {
            known.starts.extend(kept.start);
        }
        if !known.ends.iter().any(|end| end.host == host) {
            known.ends.extend(kept.left);
        }
        let is_new = |note: &Note| !record.notes.contains(note);
        let notes: Vec<Note> = kept.notes.into_iter().filter(is_new).collect();
        record.notes.extend(notes);
    }
    added
}

/// Whether a host was there when the record ended.
fn is_there(record: &Record, host: u32) -> bool {
    let about = |note: &&Note| {
        note.host == host && matches!(note.kind(), NoteKind::HostLost | NoteKind::HostReturned)
    };
    let last = record.notes.iter().rfind(about);
    last.is_none_or(|note| note.kind() == NoteKind::HostReturned)
}
