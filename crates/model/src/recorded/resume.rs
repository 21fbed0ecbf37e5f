//! What is left to do of a run that was cut short.

use crate::event::{Event, Note, NoteKind, StageEnd};
use crate::note::{Fact, TakesPart};
use crate::op::Op;
use crate::plan::{HostPlan, Part, PlannedTarget, Stage};
use crate::record::{Record, StageRecord};
use crate::testbed::{DirectoryState, HostFacts, TargetKind};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::Range;

/// The stages that a resumed run goes through, in order: those of every point that is not complete,
/// from the first to the last of the point, and `prepare` where it is not. None where the run is
/// whole.
///
/// A point is begun anew: half of one cannot be joined to another half, because the storage was in
/// another state between them. So is a round of operations on whole files, because each of them
/// finds what the one before it left. A purge is for the stage right behind it: where that begins
/// anew, so does the purge.
pub fn left_over(record: &Record) -> Vec<u32> {
    let is_complete =
        |stage: u32| record.stage(stage).is_some_and(|stage| stage.end == Some(StageEnd::Complete));
    let stages = || (0..).zip(&record.plan.stages);
    let point_is_complete = |point: u32| {
        stages()
            .filter(|(_, stage)| stage.point == Some(point))
            .all(|(number, _)| is_complete(number))
    };
    let rounds = rounds(&record.plan.stages);
    let is_left = |(number, stage): (u32, &Stage)| {
        let complete = match rounds.iter().find(|round| round.contains(&number)) {
            Some(round) => round.clone().all(is_complete),
            None => stage.point.map_or_else(|| is_complete(number), point_is_complete),
        };
        (!complete).then_some(number)
    };
    let left: Vec<u32> = stages().filter_map(is_left).collect();
    let follows_purge =
        |number: u32| number.checked_sub(1).filter(|before| is_purge(record, *before));
    let purges = left.iter().filter_map(|number| follows_purge(*number));
    let mut all: Vec<u32> = purges.chain(left.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn is_purge(record: &Record, stage: u32) -> bool {
    record.plan.stages.get(stage as usize).is_some_and(Stage::purges)
}

/// The stages that work on whole files, in rounds: from the first that makes something in the empty
/// tree to the one that leaves it empty again. A resumed run begins with empty trees, so that a
/// stage in the midst of a round would find nothing.
fn rounds(stages: &[Stage]) -> Vec<Range<u32>> {
    let (mut files, mut directories) = (false, false);
    let mut rounds: Vec<Range<u32>> = Vec::new();
    for (number, stage) in (0..).zip(stages) {
        // A population is filled by the first stage of its point, however many files are there.
        let of_files = stage.works.iter().find_map(|work| work.metadata);
        let Some(work) = of_files.filter(|work| work.population.is_none()) else { continue };
        match rounds.last_mut() {
            Some(round) if files || directories => round.end = number + 1,
            _ => rounds.push(number..number + 1),
        }
        match work.op {
            Op::Create => files = true,
            Op::Remove => files = false,
            Op::Mkdir => directories = true,
            Op::Rmdir => directories = false,
            _ => {}
        }
    }
    rounds
}

/// Which of these stages a host may begin with that was away: the first of each point, as long as
/// no round of operations on whole files is under way, for it finds its trees empty. With layouts
/// of scenarios, only those that come first in a `part` while no other part stands, because what
/// stands of another one nobody can tell, and nobody would write it again.
pub fn entries(stages: &[Stage], parts: &[Part]) -> Vec<bool> {
    let rounds = rounds(stages);
    let is_entry = |(number, stage): (u32, &Stage)| {
        let before = number.checked_sub(1).and_then(|before| stages.get(before as usize));
        let is_in_round = rounds.iter().any(|round| round.start < number && number < round.end);
        let begins = |part: &Part| part.stages.first() == Some(&number);
        let stands = |part: &Part| part.stands_at(number) && !begins(part);
        let is_in_part =
            !parts.is_empty() && (!parts.iter().any(begins) || parts.iter().any(stands));
        before.is_none_or(|before| before.point != stage.point) && !is_in_round && !is_in_part
    };
    (0..).zip(stages).map(is_entry).collect()
}

/// The stages with those in front that lay the data out anew, for a layout that is gone. A scenario
/// that is over needs none.
pub fn with_prepare(record: &Record, mut stages: Vec<u32>) -> Vec<u32> {
    let part_of = |stage: u32| record.plan.hosts.first().and_then(|host| host.part_of(stage));
    let parts: Vec<Option<usize>> = stages.iter().map(|stage| part_of(*stage)).collect();
    for (number, stage) in (0..).zip(&record.plan.stages) {
        let is_needed = parts.contains(&part_of(number));
        if (stage.prepares_all() || stage.purges()) && is_needed && !stages.contains(&number) {
            stages.push(number);
        }
    }
    stages.sort_unstable();
    stages
}

/// Whether a host still has all that `prepare` wrote. What blocks hold is not looked at.
///
/// Where reads are checked it never has: which generation each block is of, only the process knew
/// that wrote them. Nor where scenarios have layouts of their own: that of another one may stand in
/// its place.
pub fn layout_is_there(plan: &HostPlan, facts: &HostFacts) -> bool {
    if plan.engine.contents.verify || !plan.parts.is_empty() {
        return false;
    }
    plan.targets.iter().all(|target| {
        let planned: u64 = target.files.iter().map(|file| file.size.0).fold(0, u64::saturating_add);
        let there = facts.targets.iter().find(|facts| facts.path == target.path);
        match (&target.kind, there.map(|there| &there.kind)) {
            (
                PlannedTarget::Directory { root: planned_root },
                Some(TargetKind::Directory { root, state }),
            ) => {
                let used = match state {
                    // That of another run holds other data.
                    DirectoryState::Claimed { used, run }
                        if run.is_empty() || *run == plan.run_id =>
                    {
                        used.0
                    }
                    _ => 0,
                };
                root == planned_root && used >= planned
            }
            (PlannedTarget::Directory { .. }, _) => false,
            // A device keeps what was written, and a simulated one holds nothing.
            _ => true,
        }
    })
}

/// What of a record goes into that of the run that resumes it, as the events that made it.
pub fn kept(record: &Record, left_over: &[u32]) -> Vec<Event> {
    let mut events = Vec::new();
    let done = |stage: &StageRecord, take: &mut Take<'_, Infallible>| {
        stage.samples().iter().cloned().map(Event::Sample).try_for_each(&mut *take)?;
        let counters = stage.counters().iter().cloned();
        counters.map(|counters| Event::Counters(Box::new(counters))).try_for_each(take)
    };
    let Ok(()) = hand_on(record, left_over, done, &mut |event| {
        events.push(event);
        Ok(())
    });
    events
}

/// Whoever takes events.
pub type Take<'a, E> = dyn FnMut(Event) -> Result<(), E> + 'a;

/// Hands on what [`kept`] has, one event after the other; what hosts did and counted in a stage,
/// `done` hands out, wherever it is.
///
/// # Errors
/// Those of `done` and `take`.
pub fn hand_on<E>(
    record: &Record,
    left_over: &[u32],
    mut done: impl FnMut(&StageRecord, &mut Take<'_, E>) -> Result<(), E>,
    take: &mut Take<'_, E>,
) -> Result<(), E> {
    let stays = |stage: u32| !left_over.contains(&stage);
    let mut events: Vec<Event> = record
        .notes
        .iter()
        .filter(|note| note.stage.is_none_or(stays))
        .cloned()
        .map(Event::Note)
        .collect();
    events.extend(returned(record, left_over).into_iter().map(Event::Note));
    let happened =
        record.occurrences.iter().filter(|occurrence| occurrence.stage.is_none_or(stays));
    events.extend(happened.cloned().map(|occurrence| Event::Happened(Box::new(occurrence))));
    events.into_iter().try_for_each(&mut *take)?;
    for stage in record.stages.iter().filter(|stage| stays(stage.stage)) {
        take(Event::StageStarted { stage: stage.stage, unix_ns: stage.started_unix_ns })?;
        done(stage, take)?;
        let mut events: Vec<Event> = Vec::new();
        events.extend(stage.ends.iter().cloned().map(|end| Event::HostEnded(Box::new(end))));
        events.extend(stage.starts.iter().copied().map(Event::HostStarted));
        events.extend(stage.end.clone().map(|end| Event::StageEnded { stage: stage.stage, end }));
        events.into_iter().try_for_each(&mut *take)?;
    }
    Ok(())
}

/// For each host that was lost in what stays: that it takes part again from the first stage that is
/// left behind that on.
fn returned(record: &Record, left_over: &[u32]) -> Vec<Note> {
    let mut lost: BTreeMap<u32, u32> = BTreeMap::new();
    for note in &record.notes {
        match (note.kind(), note.stage) {
            (NoteKind::HostLost, Some(stage)) if !left_over.contains(&stage) => {
                lost.insert(note.host, stage)
            }
            (NoteKind::HostReturned, Some(stage)) if !left_over.contains(&stage) => {
                lost.remove(&note.host)
            }
            _ => None,
        };
    }
    let note = |(host, lost): (u32, u32)| {
        let stage = left_over.iter().copied().filter(|stage| *stage > lost).min()?;
        let planned = record.plan.hosts.get(host as usize);
        let name = planned.map_or_else(String::new, |host| host.hostname.clone());
        let fact = Fact::HostReturned { name, from: TakesPart::Resumed };
        Some(Note { stage: Some(stage), host, fact })
    };
    lost.into_iter().filter_map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choices::{Access, CloseTime, FileFsync};
    use crate::metadata::MetadataWork;
    use crate::plan::{StageKind, Stop, Work};
    use crate::units::{Bytes, Percent};

    #[test]
    fn a_round_goes_from_an_empty_tree_to_an_empty_tree() {
        let stage = |op: Option<Op>| {
            let mut work =
                Work::simple(Bytes(4096), Percent::ALL, Access::Sequential, 1, Stop::Amount);
            let (fsync, close) = (FileFsync::Never, CloseTime::Timed);
            work.metadata = op.map(|op| MetadataWork {
                op,
                mix: None,
                population: None,
                random: false,
                size: Bytes(0),
                mean_size: None,
                fsync,
                close,
            });
            Stage { kind: StageKind::Measure, point: Some(0), works: vec![work] }
        };
        let ops = [
            Op::Create,
            Op::Mkdir,
            Op::Stat,
            Op::Remove,
            Op::Rmdir,
            Op::Readdir,
            Op::Create,
            Op::Stat,
            Op::Remove,
        ];
        let stages: Vec<Stage> = ops.into_iter().map(|op| stage(Some(op))).collect();
        assert_eq!(rounds(&stages), [0..5, 5..6, 6..9]);
        assert_eq!(rounds(&[stage(None), stage(None)]), []);
        // Whoever was away finds empty trees, so he begins with a round.
        let mut points = stages;
        (0..).zip(&mut points).for_each(|(point, stage)| stage.point = Some(point));
        assert_eq!(
            entries(&points, &[]),
            [true, false, false, false, false, true, true, false, false]
        );
    }

    #[test]
    fn whoever_was_away_begins_with_a_point_and_with_a_layout_that_is_still_to_be_made() {
        let work = Work::simple(Bytes(4096), Percent::ALL, Access::Sequential, 1, Stop::Amount);
        let stage = |kind, point| Stage { kind, point, works: vec![work.clone()] };
        let stages = [
            stage(StageKind::Prepare, None),
            stage(StageKind::Precondition, Some(0)),
            stage(StageKind::Measure, Some(0)),
            stage(StageKind::Measure, Some(1)),
            stage(StageKind::Prepare, None),
            stage(StageKind::Measure, Some(2)),
        ];
        assert_eq!(entries(&stages, &[]), [true, true, false, true, true, true]);
        let part = |stages: Vec<u32>| {
            let engine = crate::plan::EngineSettings::simple(crate::choices::Backend::Sync);
            Part { stages, targets: 0..0, trees: 0..0, engine }
        };
        let parts = [part(vec![0, 1, 2, 3]), part(vec![4, 5])];
        assert_eq!(entries(&stages, &parts), [true, false, false, false, true, false]);
        // The second layout begins while the first one stands, which nobody would write again.
        let in_turns = [part(vec![0, 1, 2, 5]), part(vec![3, 4])];
        assert_eq!(entries(&stages, &in_turns), [true, false, false, false, false, false]);
    }
}
