//! Intervals that were measured without a host that was lost. They are kept out of every figure as long as there are others: a total over
//! fewer hosts is another figure, not a worse one.

use crate::results::load;
use crate::settled;
use model::record::StageRecord;
use model::{IntervalSample, NoteKind, Record};

/// What a stage lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Degraded {
    /// The hosts' names.
    pub(crate) hosts: Vec<String>,
    /// The first interval without one of them.
    pub(crate) from: u32,
    /// Whether no interval was whole, so that the figures rest on what there is.
    pub(crate) wholly: bool,
}

/// What `stage` lost, if anything.
pub(crate) fn degraded(record: &Record, stage: &StageRecord) -> Option<Degraded> {
    let has_work = |host: u32| {
        let planned = record.plan.hosts.get(host as usize).and_then(|host| host.stages.get(stage.stage as usize));
        planned.is_some_and(|stage| !stage.workers.is_empty())
    };
    let until_now = |lost: Option<u32>| lost.is_some_and(|lost| lost <= stage.stage);
    let mut lost: Vec<u32> = record
        .notes
        .iter()
        .filter(|note| note.kind == NoteKind::HostLost && until_now(note.stage) && has_work(note.host))
        .map(|note| note.host)
        .collect();
    lost.dedup();
    let next = |host: &u32| {
        load(stage)
            .filter(|sample| sample.host == *host)
            .map(|sample| sample.interval.saturating_add(1))
            .max()
            .unwrap_or(0)
    };
    let from = lost.iter().map(next).min()?;
    let name =
        |host: &u32| record.plan.hosts.get(*host as usize).map_or_else(String::new, |host| host.hostname.clone());
    Some(Degraded { hosts: lost.iter().map(name).collect(), from, wholly: from == 0 })
}

/// The intervals that figures rest on.
pub(crate) fn counted<'a>(record: &Record, stage: &'a StageRecord) -> impl Iterator<Item = &'a IntervalSample> + Clone {
    let end = degraded(record, stage).filter(|degraded| !degraded.wholly).map_or(u32::MAX, |degraded| degraded.from);
    // Of what was lost before it settled, there is no steady part.
    let start = Some(settled::from(record, stage)).filter(|start| *start < end).unwrap_or(0);
    load(stage).filter(move |sample| (start..end).contains(&sample.interval))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;
    use crate::{Warning, results};
    use model::{Note, Op, StageKind};

    fn lose(recorded: &mut Recorded, stage: u32, host: u32) {
        let note = Note { stage: Some(stage), host, kind: NoteKind::HostLost, detail: "gone".into() };
        recorded.record_mut().notes.push(note);
    }

    #[test]
    fn what_was_measured_without_a_lost_host_is_in_no_figure() {
        let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\n", 2);
        let stage = recorded.stage(StageKind::Measure);
        for interval in 0..4 {
            recorded.host_interval(stage, 0, interval, &[(Op::Read, &[100; 10])]);
            if interval < 2 {
                recorded.host_interval(stage, 1, interval, &[(Op::Read, &[100; 30])]);
            }
        }
        assert_eq!(results(&recorded.record())[0].ios, 100, "nobody said that a host was lost");
        lose(&mut recorded, stage, 1);
        let rows = results(&recorded.record());
        assert_eq!((rows[0].ios, rows[0].seconds, rows[0].iops()), (80, 2.0, 40.0));
        let warned = Warning::HostLost { hosts: vec!["node1".into()], wholly: false };
        assert!(rows[0].warnings.contains(&warned), "{:?}", rows[0].warnings);
    }

    #[test]
    fn a_stage_without_it_from_the_start_has_the_figures_of_the_others() {
        let mut recorded = Recorded::with_hosts("[[workload]]\nname = \"w\"\n", 2);
        let stage = recorded.stage(StageKind::Measure);
        recorded.host_interval(stage, 0, 0, &[(Op::Read, &[100; 10])]);
        lose(&mut recorded, 0, 1);
        let rows = results(&recorded.record());
        assert_eq!(rows[0].ios, 10);
        assert!(rows[0].warnings.contains(&Warning::HostLost { hosts: vec!["node1".into()], wholly: true }));
    }
}
