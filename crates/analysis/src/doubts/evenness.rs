//! What there is to doubt about how a point went: over its time, and over those who shared its
//! work.

use crate::doubts::{Straggler, Warning};
use crate::estimate::confidence::without_short_end;
use crate::over_time::changes::{Change, changes};
use crate::over_time::steady::steadiness;
use crate::over_time::warmup::warm_up;
use crate::rows::fairness::{Spread, spread};
use crate::rows::little;
use crate::rows::row::{Covers, ResultRow};
use crate::rows::tally::{HostTally, Interval, Slot, Tally};
use model::choices::Backend;
use model::digest::side_by_side;
use model::plan::HostStage;
use model::{Nanos, Record};
use std::collections::{BTreeMap, BTreeSet};

/// The share of points without a change in which one is reported all the same.
const FALSE_ALARMS: f64 = 0.01;
/// Stragglers that are named.
const MOST_STRAGGLERS: usize = 3;
/// Clock granularity and the edges of a stage make a few percent; more than that is a
/// contradiction.
const MOST_OF_DEPTH: f64 = 1.1;

/// The doubts about one row that only time and company show.
pub fn doubts(record: &Record, row: &ResultRow, tally: &Tally<'_>) -> Vec<Warning> {
    let mut found = over_time(row, tally);
    found.extend(over_workers(record, row, tally));
    found.extend(over_hosts(record, row, tally));
    found.extend(little_broken(record, row));
    found
}

/// What settles or does not: the rate; but where the rate is given, the latency. Empty where an
/// interval has none.
fn levels(row: &ResultRow, intervals: &[Interval]) -> Vec<f64> {
    let intervals = without_short_end(loaded_by_all(row, intervals), |interval| interval.length_s);
    match row.is_paced() {
        false => intervals.iter().map(Interval::iops).collect(),
        true if intervals.iter().all(|interval| interval.ios > 0.0) => {
            intervals.iter().map(|interval| interval.latency_ns / interval.ios).collect()
        }
        true => Vec::new(),
    }
}

/// The levels of all hosts together.
fn levels_of_all(row: &ResultRow, tally: &Tally<'_>) -> Vec<f64> {
    levels(row, &tally.total.iter().map(Slot::interval).collect::<Vec<_>>())
}

/// Of a measured amount, the intervals that ended before the first worker was done: behind them
/// fewer and fewer load, which is no change of the target's.
fn loaded_by_all<'a>(row: &ResultRow, intervals: &'a [Interval]) -> &'a [Interval] {
    let Some(done) = &row.done else { return intervals };
    let is_behind = |one: &Interval| one.start_s + one.length_s > done.first.seconds;
    let end = intervals.iter().position(is_behind);
    intervals.get(..end.unwrap_or(intervals.len())).unwrap_or_default()
}

fn over_time(row: &ResultRow, tally: &Tally<'_>) -> Vec<Warning> {
    // How often an fsync comes follows from the writes. And of a rate that changes, level and
    // latency are to change.
    if row.covers == Covers::Beside || row.is_changing() {
        return Vec::new();
    }
    let (levels, of_latency) = (levels_of_all(row, tally), row.is_paced());
    let mut found = Vec::new();
    let warm = warm_up(&levels);
    let start = warm.map_or(0, |(cut, _)| cut);
    let of_all = |place| when(&tally.total, place, |slot| slot.start_s);
    if let Some((cut, share)) = warm {
        found.push(Warning::WarmUp { length: of_all(cut), share, of_latency });
    }
    // What the warm-up explains is not said again.
    let rest = &levels[start..];
    match largest(&changes(rest, FALSE_ALARMS)) {
        Some((change, times)) => {
            found.push(changed(row, None, of_all(start + change.at), change, times));
        }
        None if warm.is_none() => found.extend(one_host(row, tally)),
        None => {}
    }
    // A stage that went on until it was steady was judged by its whole window.
    let is_whole = steadiness(&levels).is_some_and(|window| window.is_steady());
    if let Some(window) = steadiness(rest).filter(|window| !is_whole && !window.is_steady()) {
        let (range, slope) = (window.range, window.slope);
        found.push(Warning::NotSteady { range, slope, of_latency });
    }
    found
}

/// Whether SNIA's rule holds over the whole measured time of a row; `None` where that is too short,
/// or the rate changes.
pub fn settled(row: &ResultRow, tally: &Tally<'_>) -> Option<bool> {
    if row.is_changing() {
        return None;
    }
    steadiness(&levels_of_all(row, tally)).map(|window| window.is_steady())
}

/// When an interval began, after the first one of the point; each by its own start, in seconds.
fn when<T>(all: &[T], place: usize, start_s: impl Fn(&T) -> f64) -> Nanos {
    let start = all.first().map_or(0.0, &start_s);
    let seconds = all.get(place).map_or(0.0, |one| start_s(one) - start);
    // Whole milliseconds: what lies below comes from the arithmetic.
    Nanos((seconds.max(0.0) * 1e3).round() as u64 * 1_000_000)
}

/// The change with the largest ratio, and how many there are.
fn largest(changes: &[Change]) -> Option<(Change, u32)> {
    let size = |change: &Change| (change.after.max(1e-9) / change.before.max(1e-9)).ln().abs();
    let largest = changes.iter().max_by(|a, b| size(a).total_cmp(&size(b)))?;
    Some((*largest, changes.len() as u32))
}

fn changed(row: &ResultRow, host: Option<u32>, at: Nanos, change: Change, times: u32) -> Warning {
    let share = if change.before > 0.0 { change.after / change.before } else { f64::MAX };
    Warning::Changed { host, times, at, share, of_latency: row.is_paced() }
}

/// The host that changed most, where all together did not.
fn one_host(row: &ResultRow, tally: &Tally<'_>) -> Option<Warning> {
    let hosts: Vec<(u32, &HostTally<'_>)> =
        tally.hosts.iter().map(|(host, of_host)| (*host, of_host)).collect();
    if hosts.len() < 2 {
        return None;
    }
    // With many hosts, each may alarm the more rarely (Bonferroni).
    let false_alarms = FALSE_ALARMS / hosts.len() as f64;
    let values = hosts.len().saturating_mul(tally.total.len());
    let found = side_by_side(&hosts, values, |(host, of_host)| {
        let intervals = of_host.intervals();
        let (change, times) = largest(&changes(&levels(row, &intervals), false_alarms))?;
        let at = when(&intervals, change.at, |interval| interval.start_s);
        Some((
            (change.after - change.before).abs() / change.before.max(1e-9),
            changed(row, Some(*host), at, change, times),
        ))
    });
    let found = found.into_iter().flatten();
    found.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, warning)| warning)
}

fn unfair(counts: &[f64]) -> Option<Spread> {
    spread(counts).filter(Spread::is_unfair)
}

fn over_workers(record: &Record, row: &ResultRow, tally: &Tally<'_>) -> Option<Warning> {
    if record.plan.backend == Backend::Null || row.covers == Covers::Beside {
        return None;
    }
    // Of workers that wait for the same turn, one is quicker than the other; the target has no part
    // in that.
    if row.works.iter().any(|work| work.share > 0) {
        return None;
    }
    // Workers of one host and of one work: that hosts differ is another finding, and that works do
    // is none.
    let mut alike: BTreeMap<(u32, Option<u32>), Vec<f64>> = BTreeMap::new();
    for ((host, worker), ios) in &tally.workers {
        let planned =
            stage_of(record, row, *host).and_then(|one| one.workers.get(*worker as usize));
        let work = planned.map(|worker| worker.work);
        alike.entry((*host, work)).or_default().push(*ios as f64);
    }
    let worst = alike
        .values()
        .filter_map(|counts| unfair(counts))
        .min_by(|a, b| a.least.total_cmp(&b.least))?;
    Some(Warning::UnfairWorkers { short: worst.short, of: worst.of, least: worst.least })
}

fn stage_of<'a>(record: &'a Record, row: &ResultRow, host: u32) -> Option<&'a HostStage> {
    record.plan.hosts.get(host as usize)?.stages.get(row.stage as usize)
}

fn over_hosts(record: &Record, row: &ResultRow, tally: &Tally<'_>) -> Option<Warning> {
    if record.plan.backend == Backend::Null || row.covers == Covers::Beside {
        return None;
    }
    let works = |host: u32| -> Vec<u32> {
        let workers = stage_of(record, row, host).map_or(&[][..], |stage| &stage.workers);
        workers.iter().map(|worker| worker.work).filter(|work| row.has_work(*work)).collect()
    };
    // Hosts of different works have no reason to do as much.
    let kinds: BTreeSet<BTreeSet<u32>> =
        tally.hosts.keys().map(|host| works(*host).into_iter().collect()).collect();
    if kinds.iter().filter(|kind| !kind.is_empty()).count() > 1 {
        return None;
    }
    let planned = |host: u32| works(host).len();
    let done: BTreeMap<u32, f64> =
        tally.hosts.iter().map(|(host, slots)| (*host, slots.ios())).collect();
    let each: Vec<(u32, f64, f64)> = done
        .iter()
        .filter_map(|(host, ios)| match planned(*host) {
            0 => None,
            workers => Some((*host, ios / workers as f64, workers as f64)),
        })
        .collect();
    let counts: Vec<f64> = each.iter().map(|(_, count, _)| *count).collect();
    unfair(&counts).map(|found| {
        let stragglers = stragglers(&each, &found, |host| name_of(record, host));
        Warning::UnequalHosts { short: found.short, of: found.of, stragglers }
    })
}

fn name_of(record: &Record, host: u32) -> String {
    record
        .plan
        .hosts
        .get(host as usize)
        .map_or_else(|| host.to_string(), |host| host.hostname.clone())
}

/// The hosts that lack most, of those that have too little: each with its number, what it did for
/// each worker, and its workers.
fn stragglers(
    each: &[(u32, f64, f64)],
    found: &Spread,
    name: impl Fn(u32) -> String,
) -> Vec<Straggler> {
    let lacks = |(_, count, workers): &(u32, f64, f64)| (found.median - count) * workers;
    let mut short: Vec<&(u32, f64, f64)> =
        each.iter().filter(|(_, count, _)| found.is_short(*count)).collect();
    short.sort_by(|a, b| lacks(b).total_cmp(&lacks(a)));
    let all: f64 = short.iter().map(|one| lacks(one)).sum();
    let one = |host: &&(u32, f64, f64)| Straggler {
        host: name(host.0),
        level: host.1 / found.median,
        loss: lacks(host) / all,
    };
    short.iter().take(MOST_STRAGGLERS).map(one).collect()
}

/// Whether more requests were outstanding than the workers can have. Only from above: a generator
/// that has other things to do keeps fewer.
fn little_broken(record: &Record, row: &ResultRow) -> Option<Warning> {
    if row.works.iter().any(|work| work.pace.is_open())
        || row.covers == Covers::Beside
        || record.plan.backend == Backend::Null
    {
        return None;
    }
    let works = (0..).zip(record.plan.stages.get(row.stage as usize)?.works.iter());
    let places = works
        .filter(|(index, _)| row.has_work(*index))
        .map(|(index, work)| f64::from(work.depth) * record.plan.workers(row.stage, index) as f64);
    let most: f64 = places.sum();
    let found = little::outstanding(row.iops(), row.latency.mean_ns()? / 1e9);
    // A request that began before the load counts with its whole latency: each place can have one
    // such.
    let edge = row.latency.max_ns()? as f64 / 1e9 / row.seconds.max(1e-9);
    (found > most * (MOST_OF_DEPTH + edge)).then_some(Warning::LittleBroken { found, most })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::simulated::Normal;
    use crate::results;
    use crate::testing::Recorded;
    use model::{Op, StageKind};

    const READS: &str = "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n";

    /// The codes for two hosts whose rates (per second) are as given.
    fn codes(seconds: u32, rates: [&dyn Fn(u32) -> f64; 2]) -> Vec<&'static str> {
        let mut recorded = Recorded::with_hosts(READS, 2);
        let mut normal = Normal::new(11);
        for second in 0..seconds {
            for (host, rate) in (0..).zip(rates) {
                let ios = (rate(second) * (1.0 + 0.02 * normal.draw())) as usize;
                recorded.host_second(host, second, &[(Op::Read, &vec![100_000; ios])]);
            }
        }
        let rows = results(&recorded.end());
        let codes = rows[0].warnings.iter().map(Warning::code);
        codes.filter(|code| !["few-samples", "thin-tail"].contains(code)).collect()
    }

    #[test]
    fn a_steady_run_of_equal_hosts_is_not_doubted() {
        assert_eq!(codes(100, [&|_| 1_000.0, &|_| 1_000.0]), [""; 0]);
        assert_eq!(
            codes(3, [&|second| f64::from(second) * 500.0, &|_| 1_000.0]),
            ["unequal-hosts"],
            "too short for more"
        );
    }

    #[test]
    fn stragglers_are_named_with_their_part_of_the_loss() {
        // Host 3 has twice the workers of the others, so that it lacks most.
        let each = [
            (0, 1_000.0, 1.0),
            (1, 500.0, 1.0),
            (2, 1_000.0, 1.0),
            (3, 250.0, 2.0),
            (4, 1_000.0, 1.0),
        ];
        let counts: Vec<f64> = each.iter().map(|(_, count, _)| *count).collect();
        let found = unfair(&counts).expect("two are short");
        let told = stragglers(&each, &found, |host| format!("n{host}"));
        let is = |place: usize| (told[place].host.as_str(), told[place].level, told[place].loss);
        assert_eq!((told.len(), is(0), is(1)), (2, ("n3", 0.25, 0.75), ("n1", 0.5, 0.25)));
    }

    #[test]
    fn a_warm_up_is_said_once_and_by_its_name() {
        let warm = |second: u32| if second < 15 { 2_500.0 } else { 1_000.0 };
        assert_eq!(codes(100, [&warm, &warm]), ["warm-up"]);
    }

    #[test]
    fn a_change_in_the_middle_is_not_steady_and_says_when() {
        let half = |second: u32| if second < 70 { 1_000.0 } else { 600.0 };
        assert_eq!(codes(100, [&half, &half]), ["level-changed", "not-steady"]);
    }

    #[test]
    fn an_amount_is_judged_until_the_first_worker_is_done() {
        let mut recorded = Recorded::new(READS);
        recorded.second(0, &[(Op::Read, &[100_000; 100])]);
        let mut row = results(&recorded.end()).remove(0);
        let interval = |second: u32| {
            // From the twentieth second on, workers end one after the other.
            let ios = if second < 20 { 1_000.0 } else { 100.0 };
            Interval { start_s: f64::from(second), length_s: 1.0, ios, latency_ns: 0.0 }
        };
        let slots: Vec<Interval> = (0..30).map(interval).collect();
        assert_eq!(levels(&row, &slots).len(), 30, "a time has no such end");
        let at = |seconds: f64| crate::Progress { seconds, ios: 0, bytes: 0 };
        row.done = Some(crate::Done { first: at(19.5), last: at(30.0) });
        assert_eq!(levels(&row, &slots), [1_000.0; 19]);
        row.done = Some(crate::Done { first: at(0.5), last: at(30.0) });
        assert!(levels(&row, &slots).is_empty());
    }

    #[test]
    fn one_host_that_changes_is_named_where_the_other_makes_up_for_it() {
        let (up, down) = (
            |second: u32| if second < 50 { 900.0 } else { 1_100.0 },
            |second: u32| {
                if second < 50 { 1_100.0 } else { 900.0 }
            },
        );
        assert_eq!(codes(100, [&up, &down]), ["level-changed"]);
    }

    #[test]
    fn a_host_with_half_is_said() {
        assert_eq!(codes(100, [&|_| 1_000.0, &|_| 500.0]), ["unequal-hosts"]);
    }

    #[test]
    fn more_outstanding_than_there_can_be_is_a_contradiction() {
        let mut recorded = Recorded::new(&format!("{READS}depth = 4\n"));
        let stage = recorded.stage(StageKind::Measure);
        let workers = f64::from(recorded.record().plan.workers(stage, 0) as u32);
        for second in 0..30 {
            let ios = (4.0 * workers * 1_000.0) as usize;
            recorded.interval(stage, second, &[(Op::Read, &vec![1_500_000; ios])]);
        }
        let rows = results(&recorded.end());
        let broken = rows[0].warnings.iter().find(|warning| warning.code() == "little-broken");
        assert_eq!(
            broken,
            Some(&Warning::LittleBroken { found: 6.0 * workers, most: 4.0 * workers })
        );
    }
}
