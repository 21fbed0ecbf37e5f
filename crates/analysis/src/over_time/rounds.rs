//! Rounds of all points of a sweep, as SNIA's performance tests have them: whether what is tracked
//! is steady over the last five, and what each point came to in them.

use crate::over_time::steady::{self, ROUNDS, Steadiness};
use crate::rows::row::ResultRow;
use model::{Histogram, Record, Setting};
use std::collections::BTreeMap;
use std::ops::Range;

/// The rounds of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounds {
    /// Whole rounds that were measured.
    pub count: u32,
    /// The most that the suite allows.
    pub most: u32,
    /// The rounds that figures are means of, from 0: the last five, or all where there are fewer.
    pub window: Range<u32>,
    /// Each point of a round.
    pub points: Vec<InRounds>,
}

/// A point, round after round.
#[derive(Clone, Debug, PartialEq)]
pub struct InRounds {
    /// Its workloads.
    pub workload: String,
    /// Its values.
    pub sweep: Vec<Setting>,
    /// Whether it has to be steady.
    pub is_tracked: bool,
    /// Requests a second in each round.
    pub iops: Vec<f64>,
    /// The mean of the window, in requests a second.
    pub mean_iops: f64,
    /// The same in bytes a second.
    pub mean_bytes_per_s: f64,
    /// All latencies of the window together.
    pub latency: Histogram,
    /// The rule over the window; `None` of fewer than five rounds, or where nothing was done.
    pub steadiness: Option<Steadiness>,
}

impl Rounds {
    /// Whether the window is whole and all that is tracked is steady in it.
    pub fn is_steady(&self) -> bool {
        let mut tracked = self.points.iter().filter(|point| point.is_tracked).peekable();
        tracked.peek().is_some()
            && tracked.all(|point| point.steadiness.is_some_and(|found| found.is_steady()))
    }
}

/// What one point came to: its requests, bytes and latencies.
#[derive(Clone, Debug, Default)]
struct Carried {
    iops: f64,
    bytes_per_s: f64,
    latency: Histogram,
    is_whole: bool,
}

fn carried(rows: &[ResultRow]) -> BTreeMap<u32, Carried> {
    let mut found: BTreeMap<u32, Carried> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.is_addend()) {
        let one =
            found.entry(row.point).or_insert(Carried { is_whole: true, ..Carried::default() });
        one.iops += row.iops();
        one.bytes_per_s += row.bytes_per_s();
        one.latency.merge(&row.latency);
        one.is_whole &= row.complete;
    }
    found
}

/// The rounds of `record`; `None` where its points make none.
pub fn rounds(record: &Record, rows: &[ResultRow]) -> Option<Rounds> {
    let planned = &record.plan.rounds;
    if planned.most == 0 || planned.points == 0 {
        return None;
    }
    let carried = carried(rows);
    let is_whole = |round: &u32| {
        let numbers = round * planned.points..(round + 1) * planned.points;
        numbers.into_iter().all(|point| carried.get(&point).is_some_and(|one| one.is_whole))
    };
    let count = (0..planned.whole(record.plan.points.len())).take_while(is_whole).count() as u32;
    let window = count.saturating_sub(ROUNDS as u32)..count;
    let one = |place: u32| {
        let point = record.plan.points.get(place as usize)?;
        let of = |round: u32| carried.get(&(round * planned.points + place));
        let iops: Vec<f64> = (0..count).filter_map(of).map(|one| one.iops).collect();
        let last = || window.clone().filter_map(of);
        let mean = |figure: fn(&Carried) -> f64| {
            last().map(figure).sum::<f64>() / f64::from(window.len().max(1) as u32)
        };
        let mut latency = Histogram::new();
        last().for_each(|one| latency.merge(&one.latency));
        let values = iops.get(window.start as usize..).unwrap_or_default();
        let steadiness = (values.len() == ROUNDS).then(|| steady::window(values)).flatten();
        Some(InRounds {
            workload: point.name(),
            sweep: point.sweep.clone(),
            is_tracked: planned.tracks(place),
            mean_iops: mean(|one| one.iops),
            mean_bytes_per_s: mean(|one| one.bytes_per_s),
            iops,
            latency,
            steadiness,
        })
    };
    let points = (0..planned.points).filter_map(one).collect();
    Some(Rounds { count, most: planned.most, window, points })
}

/// Whether another point follows in the rounds of which `record` is all so far: in the midst of a
/// round always, behind one while what is tracked is not steady. A point that is not whole ends
/// them.
pub fn goes_on(record: &Record) -> bool {
    if record.plan.is_within_round() {
        return true;
    }
    let points = record.plan.points.len();
    let whole = record.plan.rounds.whole(points);
    rounds(record, &crate::results(record))
        .is_some_and(|found| found.count == whole && !found.is_steady())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;
    use model::{Op, StageKind};

    const SUITE: &str = "[stages]\nprepare = false\nmeasure = \"1s\"\n[[workload]]\nname = \
                         \"w\"\n[sweep]\nread = [\"0%\", \"100%\"]\norder = \
                         \"interleaved\"\nrepetitions_max = 9\ntrack = \"read=0%\"\n";

    /// A run whose writes take these rates, round after round; reads never settle.
    fn run(writes: &[u64]) -> (Record, Option<Rounds>) {
        let mut recorded = Recorded::new(SUITE);
        let first = recorded.stage(StageKind::Measure);
        for (round, rate) in (0..).zip(writes) {
            for place in 0..2 {
                let stage = first + 2 * round + place;
                if round > 0 {
                    let more = recorded.record().plan.next_in_rounds().expect("not the last");
                    assert_eq!(more.point.repetition, round + 1);
                    recorded.record_mut().plan.add(&more);
                }
                let (op, ios) = match place {
                    0 => (Op::Write, *rate),
                    _ => (Op::Read, 1_000 * u64::from(round % 2 + 1)),
                };
                recorded.interval(stage, 0, &[(op, &vec![100_000; ios as usize])]);
                let end = model::StageEnd::Complete;
                recorded.record_mut().apply(model::Event::StageEnded { stage, end });
                let goes_on = goes_on(&recorded.record());
                assert!(round == 0 || place == 1 || goes_on, "a round is never left in its midst");
            }
        }
        let record = recorded.record();
        let found = rounds(&record, &crate::results(&record));
        (record, found)
    }

    #[test]
    fn rounds_end_with_the_first_five_in_which_what_is_tracked_is_steady() {
        let falling = [4_000, 3_000, 2_200, 1_000, 1_010, 990, 1_000];
        let (record, found) = run(&falling);
        let found = found.expect("rounds");
        assert!(goes_on(&record) && !found.is_steady(), "the window holds 2,200");
        let (record, found) = run(&[4_000, 3_000, 2_200, 1_000, 1_010, 990, 1_000, 1_000]);
        let found = found.expect("rounds");
        assert!(!goes_on(&record) && found.is_steady());
        assert_eq!((found.count, found.window.clone()), (8, 3..8));
        let [writes, reads] = &found.points[..] else { panic!("two points") };
        assert!(writes.is_tracked && !reads.is_tracked);
        assert!((writes.mean_iops - 1_000.0).abs() < 1e-6, "{}", writes.mean_iops);
        assert!(reads.steadiness.is_some_and(|found| !found.is_steady()));
        assert_eq!(writes.latency.count(), 5_000);
    }

    #[test]
    fn the_greatest_number_of_rounds_ends_them_steady_or_not() {
        let (record, found) = run(&[9_000, 8_000, 7_000, 6_000, 5_000, 4_000, 3_000, 2_000, 1_000]);
        assert!(!found.expect("rounds").is_steady() && goes_on(&record));
        assert_eq!(record.plan.next_in_rounds(), None);
        let (_, found) = run(&[1_000, 1_000]);
        assert_eq!(found.expect("rounds").points[0].steadiness, None, "no window yet");
    }
}
