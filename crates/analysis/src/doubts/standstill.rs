//! Whether something stood still while a point was measured: the target, or the generator itself.

use crate::doubts::{Seen, Warning};
use crate::rows::row::{Ops, ResultRow};
use model::digest::{Digest, Moment, Part};
use model::event::Pause;
use model::record::StageRecord;
use model::{Nanos, Op, Record};

/// A wait that is shorter is a latency like others: points under a second have intervals of 10 ms.
pub(crate) const LEAST_STALL_NS: u64 = 100_000_000;
/// Nor is one that is less than so many times the median a stall.
const LEAST_TIMES: u64 = 20;
/// With a smaller share of the time, stalls change no figure by much.
const LEAST_SHARE: f64 = 0.05;
/// A heavy tail thins out bit by bit. Between a stall and the usual latencies there is little: the
/// waits of the last two octaves before it are so small a part of the stalls.
const MOST_BELOW: f64 = 0.25;

/// What stood still: the generator where its heart did, and the target where that does not explain
/// it.
pub(crate) fn doubts(seen: Seen<'_>) -> Vec<Warning> {
    let Seen { record, stage, digest, row } = seen;
    let stalled = stalled(stage, digest, row).or_else(|| {
        let paused_ns = paused_ns(stage, 0, u64::MAX);
        stalled_often(row, paused_ns)
    });
    paused(record, stage, row).into_iter().chain(stalled).collect()
}

/// The host whose generator stood still for longest in one piece.
fn paused(record: &Record, stage: &StageRecord, row: &ResultRow) -> Option<Warning> {
    if row.ops == Ops::One(Op::Fsync) {
        return None;
    }
    let longest = |pauses: &[Pause]| pauses.iter().map(|pause| pause.length_ns).max();
    let (end, length_ns) = stage
        .ends
        .iter()
        .filter_map(|end| Some((end, longest(&end.pauses)?)))
        .max_by_key(|(_, length_ns)| *length_ns)?;
    let host = record.plan.hosts.get(end.host as usize)?.hostname.clone();
    Some(Warning::GeneratorPaused {
        host,
        longest: Nanos(length_ns),
        times: end.pauses.len() as u32,
    })
}

/// Whether a closed loop stood still: an interval with less than half of the usual completions, and
/// in it or after it a request that took at least half of that interval, twice as long as the
/// longest of a usual interval, and 100 ms. So it did where half of what was outstanding at the end
/// waited as long: nothing of that came back in time.
fn stalled(stage: &StageRecord, digest: &Digest, row: &ResultRow) -> Option<Warning> {
    if row.works.iter().any(|work| work.pace.is_open()) {
        return None;
    }
    let parts = digest.sums.parts.iter().filter(|((work, op), _)| row.counts(*work, *op));
    let parts: Vec<&Part> = parts.map(|(_, part)| part).collect();
    let points = &digest.frame.moments;
    let totals = |index: usize| parts.iter().filter_map(move |part| part.total(index));
    let ios =
        |index: usize| totals(index).map(|total| total.counts.ios).fold(0, u64::saturating_add);
    let longest = |index: usize| {
        totals(index).filter_map(|total| total.latency.max_ns().ok()?).max().unwrap_or(0)
    };
    let median = |of: &dyn Fn(usize) -> u64| {
        let mut all: Vec<u64> = (0..points.len()).map(of).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied()
    };
    let (usual, usual_longest) = (median(&ios)?, median(&longest)?);
    let least = |index: usize| {
        (points[index].length_ns / 2).max(usual_longest.saturating_mul(2)).max(LEAST_STALL_NS)
    };
    let left = row.left.all();
    let (left_ns, typical_left_ns) =
        (left.max_ns().unwrap_or(0), left.quantile_ns(0.5).unwrap_or(0));
    // From here on nothing came back before the end.
    let silent_from = (0..points.len()).rfind(|index| ios(*index) > 0).map_or(0, |last| last + 1);
    // Of a wait that ended in an interval, what the generator's own pauses do not explain.
    let unexplained = |index: usize, wait_ns: u64| {
        let begin_ns = points.get(index).map_or(0, |point| point.start_ns);
        let end_ns = begin_ns.saturating_add(points.get(index).map_or(0, |point| point.length_ns));
        wait_ns.saturating_sub(paused_ns(stage, begin_ns.saturating_sub(wait_ns), end_ns))
    };
    // The wait of which most is not explained: that part, and the whole of it.
    let slowest = |index: usize| {
        let later = if index + 1 >= silent_from { left_ns } else { 0 };
        let waits =
            [(index, longest(index)), (index + 1, longest(index + 1)), (points.len() - 1, later)];
        let both = waits.map(|(ended, wait_ns)| (unexplained(ended, wait_ns), wait_ns));
        both.into_iter().max().unwrap_or_default()
    };
    let stood =
        |index: usize| ios(index).saturating_mul(2) < usual && slowest(index).0 >= least(index);
    // Where the generator did not run for half of an interval, no more than half comes back.
    let is_ours = |index: &usize| {
        let Moment { start_ns, length_ns, .. } = points[*index];
        paused_ns(stage, start_ns, start_ns.saturating_add(length_ns)) >= length_ns / 2
    };
    // The intervals before one in which a wait ended are of that wait.
    let mut is_in_wait = false;
    let of_waits = (0..points.len()).rev().filter(|&index| {
        is_in_wait = stood(index) || is_in_wait && ios(index).saturating_mul(2) < usual;
        is_in_wait
    });
    let slow: Vec<usize> = of_waits.filter(|index| !is_ours(index)).collect();
    let last = points.len().checked_sub(1)?;
    // One that only the last interval has a part of may leave that half of its usual completions.
    let end_ns = points[last].start_ns.saturating_add(points[last].length_ns);
    let around = end_ns.saturating_sub(typical_left_ns)..end_ns.saturating_add(typical_left_ns);
    let paused_ns = paused_ns(stage, around.start, around.end);
    let is_at_end = typical_left_ns.saturating_sub(paused_ns) >= least(last);
    let at_end = is_at_end.then_some(left_ns);
    let longest_ns = slow.iter().map(|index| slowest(*index).1).max().max(at_end)?;
    Some(Warning::Stalled { longest: Nanos(longest_ns), intervals: slow.len() as u32 })
}

/// Whether a closed loop stood still for a part of the time, in stalls that no interval shows:
/// requests that took [`LEAST_STALL_NS`] and [`LEAST_TIMES`] the median hold much of the time that
/// its requests have together. What the generator's own pauses explain is taken off.
fn stalled_often(row: &ResultRow, paused_ns: u64) -> Option<Warning> {
    if row.works.iter().any(|work| work.pace.is_open()) || row.is_metadata() || row.seconds <= 0.0 {
        return None;
    }
    let least_ns = row.latency.quantile_ns(0.5)?.saturating_mul(LEAST_TIMES).max(LEAST_STALL_NS);
    // The time in buckets from `from_ns` to below `to_ns`, in ns, and their requests.
    let between = |from_ns: u64, to_ns: u64| {
        let buckets = row.latency.buckets().filter(|(low, ..)| (from_ns..to_ns).contains(low));
        buckets.fold((0.0, 0), |(ns, waits): (f64, u64), (low, high, count)| {
            (ns + (low as f64 + high as f64) / 2.0 * count as f64, waits.saturating_add(count))
        })
    };
    let (long_ns, waits) = between(least_ns, u64::MAX);
    let below_ns = between(least_ns / 4, least_ns).0;
    let depth = row.works.iter().map(|work| u64::from(work.depth)).max()?;
    let slots = depth.saturating_mul(u64::from(row.workers)) as f64;
    let share = (long_ns / slots - paused_ns as f64) / 1e9 / row.seconds;
    let longest = Nanos(row.latency.max_ns()?);
    let is_stall = share >= LEAST_SHARE && below_ns < long_ns * MOST_BELOW;
    is_stall.then_some(Warning::StalledOften { longest, waits, share: share.min(1.0) })
}

/// For how long the generator of a host did not run within this time, in ns after the stage's
/// start; the longest of all hosts.
fn paused_ns(stage: &StageRecord, from_ns: u64, to_ns: u64) -> u64 {
    let within = |pause: &Pause| {
        let end_ns = pause.at_ns.saturating_add(pause.length_ns).min(to_ns);
        end_ns.saturating_sub(pause.at_ns.max(from_ns))
    };
    stage.ends.iter().map(|end| end.pauses.iter().map(within).sum()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results;
    use crate::testing::Recorded;
    use model::event::{HostEnd, Left};
    use model::{Histogram, StageKind};

    const CLOSED: &str = "[stages]\nprecondition = \"1s\"\n[[workload]]\nname = \"w\"\n";

    fn times(values: &[(u64, u64)]) -> Histogram {
        let mut latency = Histogram::new();
        values.iter().for_each(|(value, count)| latency.record_many(*value, *count));
        latency
    }

    /// The row of a run with so many requests of 1 ms in each second, and an end.
    fn row(
        suite: &str,
        ios: &[usize],
        late: &[(u64, u64)],
        never: &[(u64, u64)],
        pauses: &[Pause],
    ) -> ResultRow {
        let mut recorded = Recorded::new(suite);
        let stage = recorded.stage(StageKind::Measure);
        for (second, ios) in (0..).zip(ios) {
            recorded.interval(stage, second, &[(Op::Read, &vec![1_000_000; *ios])]);
        }
        let (late, never) = (times(late).encode(), times(never).encode());
        let left = vec![Left { work: 0, op: Op::Read, late, never }];
        let end = HostEnd { stage, host: 0, left, pauses: pauses.to_vec(), ..HostEnd::default() };
        recorded.record_mut().apply(model::Event::HostEnded(Box::new(end)));
        results(&recorded.end()).remove(0)
    }

    #[test]
    fn a_wait_that_the_generator_s_pause_explains_is_no_stall_of_the_target_s() {
        let of = |length_ns: u64| {
            let mut recorded = Recorded::new(CLOSED);
            let stage = recorded.stage(StageKind::Measure);
            // Others took the processor in the third second; the pause began behind it, and the
            // request that waited for it came back before the fourth was over.
            for (second, ios) in (0..).zip([1_000, 1_000, 400, 60, 1_000, 1_000]) {
                let mut latencies = vec![1_000_000; ios];
                latencies.extend((second == 3).then_some(950_000_000));
                recorded.interval(stage, second, &[(Op::Read, &latencies)]);
            }
            let pauses = vec![Pause { at_ns: 3_040_000_000, length_ns }];
            let end = HostEnd { stage, host: 0, left: Vec::new(), pauses, ..HostEnd::default() };
            recorded.record_mut().apply(model::Event::HostEnded(Box::new(end)));
            stall(&results(&recorded.end()).remove(0))
        };
        assert_eq!(of(900_000_000), None);
        // A short pause does not explain so long a wait.
        assert_eq!(of(200_000_000), Some((950, 2)));
    }

    fn stall(row: &ResultRow) -> Option<(u64, u32)> {
        row.warnings.iter().find_map(|warning| match warning {
            Warning::Stalled { longest, intervals } => Some((longest.0 / 1_000_000, *intervals)),
            _ => None,
        })
    }

    #[test]
    fn a_request_without_an_answer_is_in_the_tail_with_its_age_and_ordinary_ones_are_not() {
        let of = |late: &[(u64, u64)], never: &[(u64, u64)]| {
            let row = row(CLOSED, &[1_000; 5], late, never, &[]);
            (row.latency.count(), row.latency.max_ns(), row.longest_is_age(), row.ios)
        };
        let second = 1_000_000_000;
        assert_eq!(of(&[(12 * second, 1)], &[]), (5_001, Some(12 * second), false, 5_000));
        assert_eq!(of(&[], &[(12 * second, 1)]), (5_001, Some(12 * second), true, 5_000));
        let both = of(&[(12 * second, 1)], &[(4 * second, 2)]);
        assert_eq!(both, (5_003, Some(12 * second), false, 5_000));
        // What is under way at an instant is longer than the rest, and says nothing.
        assert_eq!(of(&[(9_000_000, 32)], &[]), (5_000, Some(1_000_000), false, 5_000));
    }

    #[test]
    fn a_stall_that_outlasts_the_stage_is_said_with_the_time_that_requests_took() {
        let long = [(4_034_000_000, 32)];
        let of = |ios: &[usize], late: &[(u64, u64)]| stall(&row(CLOSED, ios, late, &[], &[]));
        assert_eq!(of(&[1_000, 1_000, 1_000, 200, 0], &long), Some((4_034, 2)));
        assert_eq!(
            of(&[1_000, 1_000, 1_000, 1_000, 800], &long),
            Some((4_034, 0)),
            "most of the last interval was good"
        );
        assert_eq!(
            of(&[1_000, 1_000, 1_000, 1_000, 800], &[(4_034_000_000, 3), (1_000_000, 29)]),
            None,
            "stragglers"
        );
        assert_eq!(of(&[1_000; 5], &[(1_000_000, 32)]), None);
        let closed = row(CLOSED, &[1_000; 5], &long, &[], &[]);
        assert_eq!(
            (closed.latency.max_ns(), closed.left.all().max_ns()),
            (Some(4_034_000_000), Some(4_034_000_000)),
            "the longest is known, whatever came back in time"
        );
    }

    /// The share of the time and the waits that a closed loop of this depth is said to have stood
    /// still, of as many seconds as these latencies fill.
    fn stood_still(depth: u32, latencies: &[(u64, u64)], paused_ns: u64) -> Option<(f64, u64)> {
        let mut one = row(&format!("{CLOSED}depth = {depth}\n"), &[1_000; 10], &[], &[], &[]);
        (one.workers, one.latency) = (1, times(latencies));
        one.seconds = one.latency.sum_ns() as f64 / 1e9 / f64::from(depth);
        match stalled_often(&one, paused_ns)? {
            Warning::StalledOften { waits, share, .. } => Some((share, waits)),
            _ => None,
        }
    }

    #[test]
    fn stalls_that_no_interval_shows_are_in_the_histogram() {
        // A stall of 200 ms in each second, with four requests outstanding.
        let stalls = [(100_000, 320_000), (200_000_000, 40)];
        let (share, waits) = stood_still(4, &stalls, 0).expect("a stall");
        assert!((share - 0.2).abs() < 0.01 && waits == 40, "{share}");
        assert_eq!(stood_still(4, &stalls, 1_900_000_000), None, "the generator's own pauses");
        assert_eq!(stood_still(4, &[(100_000, 390_000), (200_000_000, 8)], 0), None, "4 %");
        assert_eq!(stood_still(4, &[(11_000_000, 3_000), (200_000_000, 40)], 0), None, "18 times");
    }

    /// Latencies of a lognormal law, by Box and Muller; `sigma` is that of the logarithm.
    fn lognormal(median_ns: f64, sigma: f64) -> Vec<(u64, u64)> {
        let mut rng = model::rng::Rng::new(7);
        let mut share = || (rng.below(1 << 40) as f64 + 0.5) / (1u64 << 40) as f64;
        let mut one = || {
            let normal = (-2.0 * share().ln()).sqrt() * (std::f64::consts::TAU * share()).cos();
            ((median_ns * (sigma * normal).exp()) as u64, 1)
        };
        (0..20_000).map(|_| one()).collect()
    }

    #[test]
    fn an_honest_target_with_a_heavy_tail_is_no_stall() {
        // Flash, flash with a heavy tail, a disk, a disk behind a queue, a slow object store.
        for (median_ns, sigma, depth) in [
            (100e3, 0.3, 4),
            (100e3, 1.5, 4),
            (1e6, 2.0, 16),
            (10e6, 0.5, 1),
            (10e6, 1.5, 1),
            (10e6, 1.5, 32),
            (150e6, 1.0, 64),
        ] {
            let latencies = lognormal(median_ns, sigma);
            assert_eq!(stood_still(depth, &latencies, 0), None, "{median_ns} ns, sigma {sigma}");
        }
        // A queue at 95 % of its capacity: waits are exponential.
        let queue = |n: u64| ((-20e6 * (1.0 - (n as f64 + 0.5) / 2e4).ln()) as u64, 1);
        assert_eq!(stood_still(64, &(0..20_000).map(queue).collect::<Vec<_>>(), 0), None);
    }

    #[test]
    fn at_a_rate_all_that_was_due_is_in_the_latencies() {
        let suite = format!("{CLOSED}rate = 1000\n");
        let never: Vec<(u64, u64)> = (1..=3_000).map(|ms| (ms * 1_000_000, 1)).collect();
        let found = row(&suite, &[1_000, 1_000, 0, 0, 0], &[], &never, &[]);
        assert_eq!((found.ios, found.latency.count()), (2_000, 5_000));
        let second = |share| found.latency.quantile_ns(share).expect("requests") as f64 / 1e9;
        assert!(
            (second(0.99) - 2.95).abs() < 0.03 && (second(0.5) - 0.5).abs() < 0.01,
            "{}",
            second(0.99)
        );
        assert!(
            found.confidence.quantiles_ns.iter().all(Option::is_none)
                && found.confidence.mean_ns.is_none()
        );
        assert!(found.warnings.iter().any(|warning| warning.code() == "rate-missed"));
    }

    #[test]
    fn the_generator_s_own_pause_is_told_as_such_and_not_as_the_target_s() {
        let pause = Pause { at_ns: 2_500_000_000, length_ns: 2_000_000_000 };
        let ios = [1_000, 1_000, 500, 0, 490, 1_000, 1_000];
        let of = |pauses: &[Pause]| row(CLOSED, &ios, &[(1_000_000, 8)], &[], pauses);
        let codes = |row: &ResultRow| row.warnings.iter().map(Warning::code).collect::<Vec<_>>();
        let mut quick = of(&[pause]);
        assert!(codes(&quick).contains(&"generator-paused"), "{:?}", codes(&quick));
        quick.warnings.retain(|warning| matches!(warning, Warning::GeneratorPaused { .. }));
        let longest = Nanos(2_000_000_000);
        assert_eq!(
            quick.warnings,
            [Warning::GeneratorPaused { host: "node0".to_owned(), longest, times: 1 }]
        );
        assert!(!codes(&of(&[])).contains(&"generator-paused"));
        // Both: the target stood still at the end, long after the pause.
        // Nor does a short one in the midst of it explain a long one, whenever it began.
        for (at_ns, ios, late_ns) in [
            (500_000_000, [800, 1_000, 1_000, 1_000, 0], 1_500_000_000),
            (4_200_000_000, [800, 1_000, 1_000, 1_000, 0], 1_500_000_000),
            (1_700_000_000, [900, 0, 0, 0, 0], 4_100_000_000),
        ] {
            let pause = Pause { at_ns, length_ns: 200_000_000 };
            let both = codes(&row(CLOSED, &ios, &[(late_ns, 8)], &[], &[pause])).join(" ");
            assert!(both.contains("generator-paused") && both.contains("stalled"), "{both}");
        }
        let paused = row(
            CLOSED,
            &[1_000, 1_000, 1_000, 1_000, 0],
            &[(1_500_000_000, 8)],
            &[],
            &[Pause { at_ns: 3_900_000_000, length_ns: 1_500_000_000 }],
        );
        assert!(
            codes(&paused).contains(&"generator-paused") && !codes(&paused).contains(&"stalled")
        );
    }
}
