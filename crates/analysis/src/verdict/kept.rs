//! Whether a run keeps what its suite asks of every measured point, and whether that could fail at
//! all.

use crate::doubts::Warning;
use crate::loadline::judge;
use crate::rows::row::ResultRow;
use model::objective::{Condition, Limit, Objective};
use model::{Histogram, Record};

/// How one condition went at one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The point's number in the plan.
    pub point: u32,
    /// The condition.
    pub condition: Condition,
    /// The figure ÷ its limit, or the limit ÷ the figure where more is better: kept up to 1.
    pub of_limit: f64,
}

impl Kept {
    /// Whether it was kept.
    pub fn is_kept(&self) -> bool {
        self.of_limit <= 1.0
    }
}

/// What a condition takes to fail.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// The condition.
    pub condition: Condition,
    /// It fails where all figures are so many times worse; `None` where it holds even then.
    pub times: Option<u64>,
}

/// A condition that holds where all figures are so many times worse cannot fail.
pub const MOST_TIMES: u64 = 1 << 20;

/// The rows that a condition is about, by point. A point that was cut short has none.
fn points<'a>(record: &Record, rows: &'a [ResultRow]) -> Vec<(u32, Vec<&'a ResultRow>)> {
    let numbers = 0..record.plan.points.len() as u32;
    let of_point = |number: u32| {
        let is_judged = |row: &&ResultRow| row.point == number && row.complete && row.is_addend();
        (number, rows.iter().filter(is_judged).collect::<Vec<_>>())
    };
    numbers.map(of_point).filter(|(_, rows)| !rows.is_empty()).collect()
}

/// Every condition at every point that was measured to its end.
pub fn kept(record: &Record, objective: &Objective, rows: &[ResultRow]) -> Vec<Kept> {
    let mut all = Vec::new();
    for (point, rows) in points(record, rows) {
        for condition in &objective.conditions {
            let of_limit = judge(condition, &rows).excess;
            all.push(Kept { point, condition: condition.clone(), of_limit });
        }
    }
    all
}

/// The points that fell behind their rate: they did not do what was to be judged.
pub fn behind(record: &Record, rows: &[ResultRow]) -> Vec<u32> {
    let is_missed = |row: &&ResultRow| {
        row.warnings.iter().any(|warning| matches!(warning, Warning::RateMissed { .. }))
    };
    let fell = points(record, rows).into_iter().filter(|(_, rows)| rows.iter().any(is_missed));
    fell.map(|(point, _)| point).collect()
}

/// Makes each condition fail once: the figures of the first point are made worse until it does.
pub fn proven(record: &Record, objective: &Objective, rows: &[ResultRow]) -> Vec<Proof> {
    let Some((_, rows)) = points(record, rows).into_iter().next() else { return Vec::new() };
    let fails = |condition: &Condition, times: u64| {
        let worse: Vec<ResultRow> =
            rows.iter().map(|row| worse(row, condition.limit, times)).collect();
        judge(condition, &worse.iter().collect::<Vec<_>>()).excess > 1.0
    };
    let times = |condition: &Condition| {
        let doubled = std::iter::successors(Some(1), |times| Some(times * 2));
        doubled.take_while(|times| *times <= MOST_TIMES).find(|times| fails(condition, *times))
    };
    let proof =
        |condition: &Condition| Proof { times: times(condition), condition: condition.clone() };
    objective.conditions.iter().map(proof).collect()
}

/// A row as of a target that is so many times worse: as much slower, and that many more requests
/// fail.
fn worse(row: &ResultRow, limit: Limit, times: u64) -> ResultRow {
    let mut worse = row.clone();
    let more = times - 1;
    match limit {
        Limit::Mean(_) | Limit::Max(_) | Limit::Quantile { .. } => {
            worse.latency = Histogram::new();
            for (low, high, count) in row.latency.buckets() {
                // A part of the run that took no time takes some.
                let middle_ns = (low + (high - low) / 2).max(1);
                worse.latency.record_many(middle_ns.saturating_mul(times), count);
            }
        }
        Limit::Errors(_) | Limit::ErrorShare(_) => {
            // Each request counts, so that a share comes near to 1 and never beyond it.
            let failed = worse.errors.entry(EIO).or_insert(0);
            *failed = failed.saturating_add(row.ios.max(1).saturating_mul(more));
        }
        Limit::Iops { .. } | Limit::Bandwidth { .. } => {
            worse.ios /= times;
            worse.bytes /= times;
            worse.done = None;
        }
    }
    worse
}

/// The error of a device, as Linux numbers it.
const EIO: i32 = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;
    use model::Op;

    /// A minute of 100 reads a second that took 1 ms.
    fn recorded() -> Record {
        let mut recorded =
            Recorded::new("[stages]\nmeasure = \"60s\"\n[[workload]]\nname = \"w\"\n");
        recorded.load(0..60, &[(Op::Read, &[1_000_000; 100])]);
        recorded.end()
    }

    fn objective(text: &str) -> Objective {
        text.parse().expect("an objective")
    }

    #[test]
    fn each_condition_is_held_against_its_limit_at_each_point() {
        let record = recorded();
        let rows = crate::results(&record);
        let told = kept(&record, &objective("p99 < 4ms, iops > 200, errors = 0"), &rows);
        let seen: Vec<bool> = told.iter().map(Kept::is_kept).collect();
        assert_eq!(seen, [true, false, true], "{told:?}");
        assert!((told[0].of_limit - 0.25).abs() < 0.01, "{told:?}");
        assert!((told[1].of_limit - 2.0).abs() < 0.05, "{told:?}");
        assert_eq!(behind(&record, &rows), [] as [u32; 0]);
    }

    #[test]
    fn a_limit_that_no_run_could_break_is_found_and_every_other_one_fails_once() {
        let record = recorded();
        let rows = crate::results(&record);
        let text = "p99 < 5ms, mean < 5ms, max < 5ms, errors <= 50%, iops > 60, bandwidth > 1KB/s, \
                    read errors <= 7";
        let proofs = proven(&record, &objective(text), &rows);
        let times: Vec<Option<u64>> = proofs.iter().map(|proof| proof.times).collect();
        // 1 ms reaches 5 ms at 8 times; 60 % of requests are a half at twice as many.
        assert_eq!(&times[..3], [Some(8); 3]);
        assert_eq!(times[4], Some(2));
        assert!(times.iter().all(Option::is_some), "{proofs:?}");
        let never = proven(&record, &objective("p50 < 10h, errors <= 100%"), &rows);
        assert!(never.iter().all(|proof| proof.times.is_none()), "{never:?}");
    }
}
