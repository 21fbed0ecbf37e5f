//! What each thing that happened inside a measurement did to it: in total, and to every host.

use crate::over_time::aftermath::{Aftermath, Interval, aftermath, aftermath_with};
use model::digest::{Digest, Moment, Part, Span, Spans};
use model::plan::Work;
use model::record::StageRecord;
use model::{Histogram, Occurrence, Op, Record, StageKind};
use std::collections::BTreeMap;

/// So many occurrences of a stage are looked at; of more, the first: a kernel log can tell of one
/// fault a thousand times.
pub const MOST_OF_STAGE: usize = 32;

/// What an occurrence did to one work of the stage in which it fell.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// Its place in [`Record::occurrences`].
    pub occurrence: usize,
    /// The stage.
    pub stage: u32,
    /// The point that the stage measures.
    pub point: u32,
    /// The work's number in the stage.
    pub work: u32,
    /// The work's name.
    pub workload: String,
    /// What it did to all hosts together; `None` where there is too little before or after it to
    /// tell.
    pub total: Option<Aftermath>,
    /// What it did to each host of which that can be told, by the host's number; empty where there
    /// is one host only.
    pub hosts: Vec<(u32, Aftermath)>,
}

/// The effects of everything that happened inside a measure stage, in the order in which it was
/// told; for each, the works of the stage in order.
pub fn effects(record: &Record) -> Vec<Effect> {
    let mut stages: BTreeMap<u32, Looked<'_>> = BTreeMap::new();
    for (place, occurrence) in
        record.occurrences.iter().enumerate().filter(|(_, one)| one.may_have_effects())
    {
        let Some((stage, point)) = measured(record, occurrence) else { continue };
        let occurrences = Vec::new();
        let looked = stages.entry(stage.stage).or_insert(Looked { stage, point, occurrences });
        if looked.occurrences.len() < MOST_OF_STAGE {
            looked.occurrences.push((place, occurrence));
        }
    }
    let mut effects: Vec<Effect> =
        stages.values().flat_map(|looked| looked.effects(record)).collect();
    effects.sort_by_key(|effect| (effect.occurrence, effect.work));
    effects
}

/// A stage, and what of all that happened in it is looked at.
struct Looked<'a> {
    stage: &'a StageRecord,
    point: u32,
    /// Each with its place in [`Record::occurrences`].
    occurrences: Vec<(usize, &'a Occurrence)>,
}

impl Looked<'_> {
    fn effects(&self, record: &Record) -> Vec<Effect> {
        let digest = self.stage.digest(record);
        let planned = record.plan.stages.get(self.stage.stage as usize);
        let names = planned.map_or(&[][..], |stage| &stage.works);
        let of_work = |(work, planned): (u32, &Work)| self.of_work(&digest, work, planned);
        (0..).zip(names).flat_map(of_work).collect()
    }

    /// Of one work. Fsyncs are no requests of their own. The course of one host is held at a time:
    /// those of a thousand hosts over a day would be gigabytes.
    fn of_work(&self, digest: &Digest, work: u32, planned: &Work) -> Vec<Effect> {
        let total = course(digest, work);
        let effect = |(occurrence, one): &(usize, &Occurrence)| Effect {
            occurrence: *occurrence,
            stage: self.stage.stage,
            point: self.point,
            work,
            workload: planned.workload.clone(),
            total: aftermath_with(&total, one.since_s(), |at| times(self.stage, digest, work, at)),
            hosts: Vec::new(),
        };
        let mut effects: Vec<Effect> = self.occurrences.iter().map(effect).collect();
        let several = digest.frame.spans.len() > 1;
        for (host, spans) in digest.frame.spans.iter().filter(|_| several) {
            let intervals = course_of_host(digest, work, *host, spans);
            for (effect, (_, one)) in effects.iter_mut().zip(&self.occurrences) {
                // Of a host, no latencies are kept that would say how long what waited took.
                let found = aftermath(&intervals, one.since_s());
                let found = found.map(|found| Aftermath { extra_latency_ns: None, ..found });
                effect.hosts.extend(found.map(|found| (*host, found)));
            }
        }
        effects
    }
}

/// The stage and the point in whose measurement it fell.
fn measured<'a>(record: &'a Record, occurrence: &Occurrence) -> Option<(&'a StageRecord, u32)> {
    let planned = record.plan.stages.get(occurrence.stage? as usize)?;
    let point = planned.point.filter(|_| planned.kind == StageKind::Measure)?;
    Some((record.stage(occurrence.stage?)?, point))
}

/// The latencies of what a work did in the interval at this place, all hosts together; behind the
/// last one, of what it had left over at the end.
fn times(stage: &StageRecord, digest: &Digest, work: u32, at: usize) -> Option<Histogram> {
    let mut latency = Histogram::new();
    if at == digest.frame.moments.len() {
        let left = stage
            .ends
            .iter()
            .flat_map(|end| &end.left)
            .filter(|left| left.work == work && left.op != Op::Fsync);
        for left in left {
            // Checked when they were taken in.
            let _ = left
                .late
                .merge_into(&mut latency)
                .and_then(|()| left.never.merge_into(&mut latency));
        }
    } else {
        let parts =
            digest.sums.parts.iter().filter(|((of, op), _)| *of == work && *op != Op::Fsync);
        for total in parts.filter_map(|(_, part)| part.total(at)) {
            // Checked when the run file was read.
            total.latency.merge_into(&mut latency).expect("a histogram of a digest");
        }
    }
    (latency.count() > 0).then_some(latency)
}

/// The parts of a work, one for each operation but fsync.
fn parts(digest: &Digest, work: u32) -> impl Iterator<Item = &Part> + Clone {
    let of = digest.sums.parts.iter();
    of.filter(move |((of, op), _)| *of == work && *op != Op::Fsync).map(|(_, part)| part)
}

/// How one work went on all hosts together, in all intervals of load.
pub(crate) fn course(digest: &Digest, work: u32) -> Vec<Interval> {
    let interval = |(at, moment): (usize, &Moment)| {
        let totals = || parts(digest, work).filter_map(|part| part.total(at));
        Interval {
            start_s: moment.start_ns as f64 / 1e9,
            length_s: moment.length_ns as f64 / 1e9,
            ios: totals().map(|total| total.counts.ios as f64).sum(),
            // Checked when the run file was read.
            latency_ns: totals().map(|total| total.latency.sum_ns().unwrap_or(0) as f64).sum(),
        }
    };
    digest.frame.moments.iter().enumerate().map(interval).collect()
}

/// The same on one host.
fn course_of_host(digest: &Digest, work: u32, host: u32, spans: &Spans) -> Vec<Interval> {
    let here: Vec<_> = parts(digest, work).filter_map(|part| part.hosts.get(&host)).collect();
    let loads = spans.iter().enumerate().filter(|(_, span)| span.phase.counts());
    let interval = |(at, span): (usize, Span)| Interval {
        start_s: span.start_ns as f64 / 1e9,
        length_s: span.length_ns as f64 / 1e9,
        ios: here.iter().map(|part| part.ios(at) as f64).sum(),
        latency_ns: here.iter().map(|part| part.latency_ns(at) as f64).sum(),
    };
    loads.map(interval).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;
    use model::OccurrenceKind;

    fn mark(stage: Option<u32>, second: u64) -> Occurrence {
        Occurrence {
            stage,
            at_ns: second * 1_000_000_000,
            ..Occurrence::new(OccurrenceKind::Mark, "m")
        }
    }

    /// Ten machines at 2,000 a second for 40 s; from 20 s to 30 s eight of them at 1,500 and two,
    /// the fourth and the eighth, at 300.
    fn migration() -> (Recorded, u32) {
        let mut recorded =
            Recorded::with_hosts("[stages]\nmeasure = \"40s\"\n[[workload]]\nname = \"w\"\n", 10);
        let stage = recorded.stage(StageKind::Measure);
        for second in 0..40 {
            for host in 0..10 {
                let hit = host == 3 || host == 7;
                let rate = if !(20..30).contains(&second) {
                    2_000
                } else if hit {
                    300
                } else {
                    1_500
                };
                recorded.host_interval(stage, host, second, &[(Op::Read, &vec![8_000_000; rate])]);
            }
        }
        (recorded, stage)
    }

    #[test]
    fn the_total_and_the_two_machines_that_suffered_most_are_told() {
        let (mut recorded, stage) = migration();
        recorded.record_mut().occurrences.push(mark(Some(stage), 20));
        let effects = effects(&recorded.record());
        let [effect] = effects.as_slice() else { panic!("{effects:?}") };
        let total = effect.total.expect("an aftermath");
        assert_eq!((total.before, total.lowest), (20_000.0, 12_600.0));
        assert_eq!((total.began_after_s, total.recovered_after_s), (Some(0.0), Some(10.0)));
        assert_eq!((total.missing_ios, effect.hosts.len()), (74_000.0, 10));
        for (host, found) in &effect.hosts {
            let lowest = if *host == 3 || *host == 7 { 300.0 } else { 1_500.0 };
            assert_eq!(
                (found.before, found.lowest, found.recovered_after_s),
                (2_000.0, lowest, Some(10.0))
            );
        }
    }

    /// Four machines at 100 a second; nothing is heard of one after 20 s, and it is given up after
    /// 23 s.
    #[test]
    fn the_silence_of_a_lost_host_is_no_part_of_the_level_before() {
        let mut recorded =
            Recorded::with_hosts("[stages]\nmeasure = \"26s\"\n[[workload]]\nname = \"w\"\n", 4);
        let stage = recorded.stage(StageKind::Measure);
        for second in 0..26 {
            for host in (0..4).filter(|host| *host != 1 || second < 20) {
                recorded.host_interval(stage, host, second, &[(Op::Read, &vec![8_000_000; 100])]);
            }
        }
        let lost = |duration_ns| Occurrence {
            kind: OccurrenceKind::HostLost,
            host: Some(1),
            duration_ns,
            ..mark(Some(stage), 23)
        };
        recorded.record_mut().occurrences = vec![lost(Some(3_000_000_000)), lost(None)];
        let effects = effects(&recorded.record());
        let told = |place: usize| effects[place].total.expect("an aftermath");
        assert_eq!(
            (told(0).before, told(0).lowest, told(0).began_after_s),
            (400.0, 300.0, Some(0.0))
        );
        // Files of versions that kept no last word say what they said.
        assert!(told(1).before < 400.0);
    }

    #[test]
    fn only_what_happened_inside_a_measurement_and_may_have_done_something_is_looked_at() {
        let (mut recorded, stage) = migration();
        let record = recorded.record_mut();
        record.occurrences.extend([mark(None, 20), mark(Some(99), 20)]);
        record
            .occurrences
            .push(Occurrence { kind: OccurrenceKind::CommandEnded, ..mark(Some(stage), 20) });
        record.occurrences.push(mark(Some(stage), 1_000_000));
        record.occurrences.extend((0..100).map(|_| mark(Some(stage), 20)));
        let effects = effects(&recorded.record());
        assert_eq!(
            (effects.len(), effects[0].occurrence, effects[0].total),
            (MOST_OF_STAGE, 3, None)
        );
        assert!(effects[1].total.is_some());
    }
}
