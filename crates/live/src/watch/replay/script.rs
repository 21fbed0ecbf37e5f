//! What happened in a run besides what hosts did: few events, each with its time.

use super::Film;
use model::record::StageRecord;
use model::{Event, Note, NoteKind, Record};
use std::collections::BTreeMap;

/// Events in order, each with its time in ns after the run's start.
#[derive(Debug)]
pub(super) struct Script {
    pub events: Vec<(u64, Event)>,
    /// Where stages begin among them.
    pub starts: Vec<usize>,
    /// By stage: when it began, and what nothing of it comes after.
    pub bounds: BTreeMap<u32, (u64, u64)>,
}

impl Script {
    /// When the last thing of all happened.
    pub fn length_ns(&self) -> u64 {
        let of_stages = self.bounds.values().map(|(_, end_ns)| *end_ns).max().unwrap_or(0);
        self.events.last().map_or(0, |(at_ns, _)| *at_ns).max(of_stages)
    }

    /// That of a record. A run file has no times of notes: they come with the end of their stage,
    /// the loss of a host after the last that was heard of it.
    pub fn of(record: &Record, film: &impl Film) -> Script {
        let began_ns = record.started_unix_ns;
        let of_none = |note: &&Note| note.stage.is_none_or(|stage| record.stage(stage).is_none());
        let mut events: Vec<(u64, Event)> = record
            .notes
            .iter()
            .filter(of_none)
            .map(|note| (0, Event::Note(note.clone())))
            .collect();
        // A run that was resumed may have gone back to a stage.
        let mut stages: Vec<&StageRecord> = record.stages.iter().collect();
        stages.sort_by_key(|stage| stage.started_unix_ns);
        let starts: Vec<u64> =
            stages.iter().map(|stage| stage.started_unix_ns.saturating_sub(began_ns)).collect();
        let mut bounds = BTreeMap::new();
        let mut last_ns = 0;
        for (place, stage) in stages.into_iter().enumerate() {
            let first = events.len();
            let end_ns = put_stage(&mut events, stage, starts[place], &record.notes, film);
            // The last sample ends by a host's clock, the next stage begins by ours: nothing of a
            // stage comes after the next one began.
            let limit_ns = starts.get(place + 1).copied().unwrap_or(u64::MAX);
            for (at_ns, _) in &mut events[first..] {
                *at_ns = limit_ns.min(*at_ns);
            }
            let end_ns = end_ns.min(limit_ns);
            last_ns = last_ns.max(end_ns);
            bounds.insert(stage.stage, (starts[place], end_ns));
        }
        for occurrence in &record.occurrences {
            let stage = occurrence.stage.and_then(|stage| bounds.get(&stage));
            let at_ns = match stage {
                Some((start_ns, _)) => start_ns.saturating_add(occurrence.at_ns),
                None => occurrence.unix_ns.saturating_sub(began_ns),
            };
            last_ns = last_ns.max(at_ns);
            events.push((at_ns, Event::Happened(Box::new(occurrence.clone()))));
        }
        if let Some((unix_ns, end)) = record.end.clone() {
            events.push((
                unix_ns.saturating_sub(began_ns).max(last_ns),
                Event::RunEnded { unix_ns, end },
            ));
        }
        // Stable: what happened at one time stays in order.
        events.sort_by_key(|(at_ns, _)| *at_ns);
        let is_start = |(place, (_, event)): (usize, &(u64, Event))| {
            matches!(event, Event::StageStarted { .. }).then_some(place)
        };
        let starts = events.iter().enumerate().filter_map(is_start).collect();
        Script { events, starts, bounds }
    }
}

/// The events of a stage that began at `start_ns`, its notes among `notes`. When it ended.
fn put_stage(
    events: &mut Vec<(u64, Event)>,
    stage: &StageRecord,
    start_ns: u64,
    notes: &[Note],
    film: &impl Film,
) -> u64 {
    let number = stage.stage;
    events.push((start_ns, Event::StageStarted { stage: number, unix_ns: stage.started_unix_ns }));
    let heard_ns: BTreeMap<u32, u64> = film.heard_ns(number);
    let after = |ns: &u64| start_ns.saturating_add(*ns);
    let last_ns = heard_ns.values().copied().max().max(film.counted_ns(number));
    let end_ns = last_ns.as_ref().map_or(start_ns, after);
    for note in notes.iter().filter(|note| note.stage == Some(number)) {
        let at_ns = match note.kind() {
            NoteKind::HostReturned => start_ns,
            NoteKind::HostLost => heard_ns.get(&note.host).map_or(start_ns, after),
            _ => end_ns,
        };
        events.push((at_ns, Event::Note(note.clone())));
    }
    if let Some(end) = stage.end.clone() {
        events.push((end_ns, Event::StageEnded { stage: number, end }));
    }
    end_ns
}
