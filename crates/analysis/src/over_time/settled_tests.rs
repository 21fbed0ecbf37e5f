//! Of a stage that went on until it was steady: what its figures are of. [`model::digest::Frame`]
//! says which intervals those are.

use crate::results;
use crate::testing::Recorded;
use model::{Fact, Nanos, Note, Op, Record, StageKind};

/// Ten times the rate in the first five of 25 s.
/// With a word on how it ended: whether it settled.
fn run(settled: bool) -> Record {
    let after = Nanos::seconds(25);
    let fact = match settled {
        true => Fact::Settled { to: after, rounds: 2, round: Nanos::seconds(10), after },
        false => Fact::Unsettled { after },
    };
    let suite = "[stages]\nuntil = \"steady\"\nmeasure = \"20s\"\n[[workload]]\nname = \"w\"\n";
    let mut recorded = Recorded::new(suite);
    let stage = recorded.stage(StageKind::Measure);
    for second in 0..25 {
        let ios = if second < 5 { 1_000 } else { 100 };
        recorded.interval(stage, second, &[(Op::Read, &vec![100_000; ios])]);
    }
    let mut record = recorded.end();
    record.notes.push(Note { stage: Some(stage), host: 0, fact });
    record
}

#[test]
fn the_figures_of_a_stage_that_settled_are_those_of_its_last_window() {
    let row = &results(&run(true))[0];
    assert_eq!((row.ios, row.seconds, row.iops()), (2_000, 20.0, 100.0));
    assert!(row.warnings.iter().all(|warning| warning.code() != "unsettled"));
}

#[test]
fn the_figures_of_one_that_did_not_are_those_of_all_of_it_and_it_is_said() {
    let row = &results(&run(false))[0];
    assert_eq!((row.ios, row.seconds), (7_000, 25.0));
    assert!(row.warnings.iter().any(|warning| warning.code() == "unsettled"));
}

#[test]
fn a_note_of_another_stage_and_a_stage_that_was_cut_short_cut_nothing() {
    let mut record = run(true);
    record.stages.iter_mut().for_each(|stage| stage.end = None);
    assert_eq!(results(&record)[0].ios, 7_000);
    let mut record = run(true);
    record.notes.iter_mut().for_each(|note| note.stage = Some(77));
    assert_eq!(results(&record)[0].ios, 7_000);
}
