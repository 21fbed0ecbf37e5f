//! What a suite wants to happen in the midst of a measurement.

use crate::plan::stage::{Point, Stage, StageKind};
use crate::plan::work::Work;
use crate::scale::Scale;
use crate::units::{Nanos, Percent};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Something that is to happen in the measure stages of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedEvent {
    /// What it is called.
    pub name: String,
    /// When, in each of its stages.
    pub at: EventTime,
    /// The workloads in whose stages it happens; none for all.
    pub workloads: Vec<String>,
    /// The scenarios in whose stages it happens; none for all, and in runs of versions that knew
    /// none.
    #[serde(default)]
    pub scenarios: Vec<String>,
    /// What the coordinator has a shell do then; `None` for a mark alone.
    pub command: Option<String>,
    /// How long the end of its scenario waits for a command that still runs; 0 for not at all, and
    /// in runs of versions that never waited.
    #[serde(default)]
    pub wait: Nanos,
}

/// When something happens in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventTime {
    /// After this share of the stage's time.
    Share(Percent),
    /// So long after its start.
    After(Nanos),
}

impl EventTime {
    /// The same in a run whose times are scaled.
    pub fn scaled(self, scale: Scale) -> EventTime {
        match self {
            EventTime::Share(_) => self,
            EventTime::After(time) => EventTime::After(Nanos(scale.time().apply(time.0))),
        }
    }
}

impl Default for EventTime {
    fn default() -> EventTime {
        EventTime::Share(Percent::ZERO)
    }
}

impl fmt::Display for EventTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EventTime::Share(share) => share.fmt(f),
            EventTime::After(time) => time.fmt(f),
        }
    }
}

impl PlannedEvent {
    /// When it is due in `stage`, which belongs to `point`, in ns after its start. `None` where it
    /// is not to happen there: it measures nothing, has other workloads, belongs to another
    /// scenario, or ends before, by its time or because an amount ends it and nobody knows when.
    pub fn due_ns(&self, stage: &Stage, point: Option<&Point>) -> Option<u64> {
        if !self.scenarios.is_empty()
            && !point.is_some_and(|point| self.scenarios.contains(&point.scenario))
        {
            return None;
        }
        let is_meant =
            |work: &Work| self.workloads.is_empty() || self.workloads.contains(&work.workload);
        if stage.kind != StageKind::Measure || !stage.works.iter().any(is_meant) {
            return None;
        }
        let time = stage.stop().time().map(|time| time.0);
        match self.at {
            EventTime::Share(share) => {
                let ns = u128::from(time?) * u128::from(share.ppm) / 1_000_000;
                u64::try_from(ns).ok().filter(|ns| Some(*ns) < time)
            }
            EventTime::After(at) => {
                (time.is_none() || time.is_some_and(|time| at.0 < time)).then_some(at.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choices::Access;
    use crate::plan::Stop;
    use crate::units::Bytes;

    fn stage(kind: StageKind, stop: Stop) -> Stage {
        let work = Work::simple(Bytes(4096), Percent::ALL, Access::Random, 1, stop);
        Stage { kind, point: Some(0), works: vec![Work { workload: "w".to_owned(), ..work }] }
    }

    fn point(scenario: &str) -> Point {
        let scenario = scenario.to_owned();
        Point { scenario, repetition: 1, ..Point::default() }
    }

    #[test]
    fn an_event_is_due_in_measure_stages_of_its_workloads_that_last_so_long() {
        let hour = stage(StageKind::Measure, Stop::After(Nanos::millis(3_600_000)));
        let mut event = PlannedEvent {
            name: "e".to_owned(),
            at: EventTime::Share(Percent { ppm: 500_000 }),
            ..PlannedEvent::default()
        };
        assert_eq!(event.due_ns(&hour, None), Some(1_800_000_000_000));
        assert_eq!(
            event.due_ns(
                &stage(StageKind::Precondition, Stop::After(Nanos::millis(3_600_000))),
                None
            ),
            None
        );
        assert_eq!(
            event.due_ns(&stage(StageKind::Measure, Stop::Amount), None),
            None,
            "half of an unknown time"
        );
        event.at = EventTime::After(Nanos::millis(10_000));
        assert_eq!(event.due_ns(&hour, None), Some(10_000_000_000));
        assert_eq!(
            event.due_ns(&stage(StageKind::Measure, Stop::After(Nanos::millis(10_000))), None),
            None
        );
        assert_eq!(
            event.due_ns(&stage(StageKind::Measure, Stop::Amount), None),
            Some(10_000_000_000)
        );
        event.scenarios = vec!["b".to_owned()];
        assert_eq!(event.due_ns(&hour, Some(&point("a"))), None);
        assert_eq!(event.due_ns(&hour, Some(&point("b"))), Some(10_000_000_000));
        assert_eq!(event.due_ns(&hour, None), None, "nobody knows whose stage it is");
        event.workloads = vec!["other".to_owned()];
        assert_eq!(event.due_ns(&hour, Some(&point("b"))), None);
    }
}
