//! Of a stage that went on until it was steady: from where on it is what the figures are of.

use crate::results::load;
use model::plan::Steady;
use model::record::StageRecord;
use model::{NoteKind, Record, StageEnd};

/// The first interval that figures rest on: a window of rounds before the end, where the stage was found steady; 0 for any other stage.
///
/// The stage ends as soon as all hosts can hear of it, so this window lies a few intervals behind the one that was found steady.
pub(crate) fn from(record: &Record, stage: &StageRecord) -> u32 {
    let planned = record.plan.stages.get(stage.stage as usize).and_then(|planned| planned.stop().steady());
    let said = |kind: NoteKind| record.notes.iter().any(|note| note.stage == Some(stage.stage) && note.kind == kind);
    let Some(steady) = planned.filter(|_| stage.end == Some(StageEnd::Complete) && said(NoteKind::Settled)) else {
        return 0;
    };
    let intervals = load(stage).map(|sample| u64::from(sample.interval) + 1).max().unwrap_or(0);
    let window = (steady.round.0 / record.plan.interval.0.max(1)).saturating_mul(Steady::ROUNDS);
    u32::try_from(intervals.saturating_sub(window)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use crate::results;
    use crate::testing::Recorded;
    use model::{Note, NoteKind, Op, Record, StageKind};

    /// Ten times the rate in the first five of 25 s.
    fn run(kind: NoteKind) -> Record {
        let suite = "[stages]\nuntil = \"steady\"\nmeasure = \"20s\"\n[[workload]]\nname = \"w\"\n";
        let mut recorded = Recorded::new(suite);
        let stage = recorded.stage(StageKind::Measure);
        for second in 0..25 {
            let ios = if second < 5 { 1_000 } else { 100 };
            recorded.interval(stage, second, &[(Op::Read, &vec![100_000; ios])]);
        }
        recorded.end();
        let mut record = recorded.record();
        record.notes.push(Note { stage: Some(stage), host: 0, kind, detail: String::new() });
        record
    }

    #[test]
    fn the_figures_of_a_stage_that_settled_are_those_of_its_last_window() {
        let row = &results(&run(NoteKind::Settled))[0];
        assert_eq!((row.ios, row.seconds, row.iops()), (2_000, 20.0, 100.0));
        assert!(row.warnings.iter().all(|warning| warning.code() != "unsettled"));
    }

    #[test]
    fn the_figures_of_one_that_did_not_are_those_of_all_of_it_and_it_is_said() {
        let row = &results(&run(NoteKind::Unsettled))[0];
        assert_eq!((row.ios, row.seconds), (7_000, 25.0));
        assert!(row.warnings.iter().any(|warning| warning.code() == "unsettled"));
    }

    #[test]
    fn a_note_of_another_stage_and_a_stage_that_was_cut_short_cut_nothing() {
        let mut record = run(NoteKind::Settled);
        record.stages.iter_mut().for_each(|stage| stage.end = None);
        assert_eq!(results(&record)[0].ios, 7_000);
        let mut record = run(NoteKind::Settled);
        record.notes.iter_mut().for_each(|note| note.stage = Some(77));
        assert_eq!(results(&record)[0].ios, 7_000);
    }
}
