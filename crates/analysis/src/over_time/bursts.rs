//! What follows a burst: how long the target takes to be back, and what it lives on meanwhile.
//!
//! `docs/method/events.md`, "Bursts", says why each step is as it is.

use crate::over_time::offer::{Offer, Stretch};
use crate::over_time::series::SeriesPoint;
use model::Histogram;

/// Fewer intervals at the lasting rate are an accident.
const LEAST_INTERVALS: usize = 3;
/// A rate so many times the lasting one was carried on something that is used up.
const ABOVE: f64 = 1.2;
/// What is under way at the end of an interval is no backlog: this share of what is due in it.
const UNDER_WAY: f64 = 0.02;
/// Nor are so few requests.
const FEW: f64 = 3.0;
/// A burst is over once so little of it is left, as a share of what it asked for.
const GONE: f64 = 0.01;
/// A step is a burst if it asks for so many times as much as what is before and behind it.
const LEAP: f64 = 2.0;
/// Instants that are one but for the rounding of seconds.
const SLIP_S: f64 = 1e-6;
/// Stretches of a curve that are looked at.
const MOST_STRETCHES: usize = 20_000;

/// A bucket of credits, as a target's behaviour shows it: requests (or bytes) that it carries above
/// its lasting rate until they are used up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Credits {
    /// How many, from full to empty.
    pub size: f64,
    /// How many come back in each second: the lasting rate.
    pub per_s: f64,
    /// Half of what holds four fifths of the findings of the size, as a share of it.
    pub size_error: f64,
    /// The same of the rate.
    pub per_s_error: f64,
}

/// A burst and what became of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// From when on more was asked for, in seconds after the stage's start.
    pub from_s: f64,
    /// Until when.
    pub to_s: f64,
    /// What was asked for meanwhile, per second.
    pub asked: f64,
    /// What was asked for just before it, per second; 0 where the stage begins with it.
    pub before: f64,
    /// The most that had not come back, of what was due.
    pub most_behind: f64,
    /// Within how long after its end everything had come back, to the end of an interval; `None`
    /// where that was not seen before the next one.
    pub back_after_s: Option<f64>,
}

/// One interval: what was due, what was done, and what had piled up at its ends.
#[derive(Clone, Copy, Debug)]
struct Step {
    start_s: f64,
    length_s: f64,
    due: f64,
    done: f64,
    behind: f64,
}

impl Step {
    fn end_s(&self) -> f64 {
        self.start_s + self.length_s
    }

    fn rate(&self) -> f64 {
        self.done / self.length_s
    }

    /// Whether the target is what limits, and not what is asked for.
    fn is_limited(&self, before: &Step) -> bool {
        let is_behind = |step: &Step| step.behind > (UNDER_WAY * step.due).max(FEW);
        is_behind(self) && is_behind(before)
    }
}

fn steps(offer: Offer<'_>, points: &[SeriesPoint]) -> Vec<Step> {
    let mut behind = 0.0;
    let step = |point: &SeriesPoint| {
        let (due, done) = (offer.due_in(point), offer.done_in(point) as f64);
        behind += due - done;
        Step { start_s: point.start_s, length_s: point.length_s, due, done, behind }
    };
    points.iter().filter(|point| point.length_s > 0.0).map(step).collect()
}

/// The credits that a target used up and got back; `None` where it shows none. What it had at the
/// beginning counts as all that it can have.
pub fn credits(offer: Offer<'_>, points: &[SeriesPoint]) -> Option<Credits> {
    let steps = steps(offer, points);
    let limited: Vec<usize> =
        (1..steps.len()).filter(|at| steps[*at].is_limited(&steps[at - 1])).collect();
    let rates: Vec<f64> = limited.iter().map(|at| steps[*at].rate()).collect();
    let [low, high] = [quantile(&rates, 0.1)?, quantile(&rates, 0.9)?];
    // Before they are used up, it may be limited too: by what it carries at most.
    let between = if high > ABOVE * low { (low * high).sqrt() } else { f64::INFINITY };
    let lasting: Vec<usize> =
        limited.into_iter().filter(|at| steps[*at].rate() <= between).collect();
    let rates: Vec<f64> = lasting.iter().map(|at| steps[*at].rate()).collect();
    let per_s = quantile(&rates, 0.5).filter(|rate| *rate > 0.0)?;
    let is_above = steps.iter().any(|step| step.rate() > ABOVE * per_s);
    if lasting.len() < LEAST_INTERVALS || !is_above {
        return None;
    }
    // What is missing from the bucket at the end of each interval; at the lasting rate, everything.
    let mut missing = 0.0;
    let missing: Vec<f64> = steps
        .iter()
        .map(|step| {
            missing = f64::max(missing + step.done - per_s * step.length_s, 0.0);
            missing
        })
        .collect();
    let sizes: Vec<f64> = lasting.iter().map(|at| missing[*at]).collect();
    let size = quantile(&sizes, 0.5).filter(|size| *size > per_s * ABOVE * shortest(&steps))?;
    Some(Credits {
        size,
        per_s,
        size_error: spread(&sizes)? / size,
        per_s_error: spread(&rates)? / per_s,
    })
}

/// Each burst of a rate that changes: a step to which it leaps up, and from which it falls again.
/// A ramp is none, nor is a step of a staircase. When it begins, how long it is and what it asks
/// for is the curve's word; only what became of it was measured.
pub fn bursts(offer: Offer<'_>, points: &[SeriesPoint]) -> Vec<Burst> {
    let steps = steps(offer, points);
    let end_s = steps.last().map_or(0.0, Step::end_s);
    let stretches = offer.stretches(end_s, MOST_STRETCHES);
    let leaps = |at: &usize| {
        let (stretch, next) = (stretches[*at], stretches.get(at + 1));
        let lowest = |next: &Stretch| next.from.min(next.to);
        let is_above = |other: f64| stretch.from > LEAP * other;
        stretch.is_level()
            && stretch.from_s < end_s
            && is_above(before(&stretches, *at))
            && next.is_some_and(|next| is_above(lowest(next)))
    };
    let found: Vec<usize> = (0..stretches.len()).filter(leaps).collect();
    let of = |(number, at): (usize, &usize)| {
        let next = found.get(number + 1).map_or(f64::INFINITY, |next| stretches[*next].from_s);
        let Stretch { from_s, to_s, from: asked, .. } = stretches[*at];
        let burst = Burst {
            from_s,
            to_s: to_s.min(end_s),
            asked,
            before: before(&stretches, *at),
            most_behind: 0.0,
            back_after_s: None,
        };
        followed(burst, &steps, next)
    };
    found.iter().enumerate().map(of).collect()
}

/// What the curve asks for just before a stretch.
fn before(stretches: &[Stretch], at: usize) -> f64 {
    at.checked_sub(1).map_or(0.0, |before| stretches[before].to)
}

/// The burst with what became of it, until the next one begins.
fn followed(burst: Burst, steps: &[Step], next_s: f64) -> Burst {
    let due = burst.asked * (burst.to_s - burst.from_s);
    let earlier = steps.iter().take_while(|step| step.end_s() <= burst.from_s + SLIP_S);
    let behind_before = earlier.last().map_or(0.0, |step| step.behind.max(0.0));
    let rest = (GONE * due).max(FEW) + behind_before;
    let until_next = || steps.iter().take_while(|step| step.start_s < next_s - SLIP_S);
    let back = until_next()
        .filter(|step| step.end_s() >= burst.to_s - SLIP_S)
        .find(|step| step.behind <= rest)
        .map(Step::end_s);
    let most_behind = until_next()
        .filter(|step| step.end_s() > burst.from_s + SLIP_S)
        .take_while(|step| back.is_none_or(|back| step.end_s() <= back))
        .map(|step| step.behind)
        .fold(0.0, f64::max);
    let back_after_s = back.map(|at| (at - burst.to_s).max(0.0));
    Burst { most_behind, back_after_s, ..burst }
}

/// A step or a ramp of a rate that changes, with what came back in it.
#[derive(Clone, Debug)]
pub struct RateStep {
    /// What was asked for.
    pub asked: Stretch,
    /// What came back per second in the intervals that lie in it as a whole; `None` where none
    /// does.
    pub done: Option<f64>,
    /// Their latencies.
    pub latency: Histogram,
    /// Requests that failed in these intervals; `None` as of [`SeriesPoint`].
    pub errors: Option<u64>,
}

/// The steps and ramps of a rate that changes, as far as the stage went.
pub fn rate_steps(offer: Offer<'_>, points: &[SeriesPoint]) -> Vec<RateStep> {
    let end_s = points.last().map_or(0.0, |point| point.start_s + point.length_s);
    let stretches = offer.stretches(end_s, MOST_STRETCHES);
    let within = stretches.into_iter().filter(|stretch| stretch.from_s < end_s);
    let step = |stretch: Stretch| {
        let asked = Stretch { to_s: stretch.to_s.min(end_s), ..stretch };
        let first = points.partition_point(|point| point.start_s < asked.from_s - SLIP_S);
        let mine = points[first..]
            .iter()
            .take_while(|point| point.start_s + point.length_s <= asked.to_s + SLIP_S);
        let (mut done, mut seconds, mut latency) = (0.0, 0.0, Histogram::new());
        let mut errors = Some(0u64);
        for point in mine {
            done += offer.done_in(point) as f64;
            seconds += point.length_s;
            latency.merge(&point.latency);
            errors = errors.zip(point.errors).map(|(one, more)| one.saturating_add(more));
        }
        let is_seen = seconds > 0.0;
        let done = is_seen.then(|| done / seconds);
        RateStep { asked, done, latency, errors: errors.filter(|_| is_seen) }
    };
    within.map(step).collect()
}

fn shortest(steps: &[Step]) -> f64 {
    steps.iter().map(|step| step.length_s).fold(f64::INFINITY, f64::min)
}

/// A quantile of values, the nearest one.
fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = share * sorted.len().checked_sub(1)? as f64;
    sorted.get(at.round() as usize).copied()
}

/// Half of what holds four fifths of the values.
fn spread(values: &[f64]) -> Option<f64> {
    Some((quantile(values, 0.9)? - quantile(values, 0.1)?) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Histogram;
    use model::curve::{Curve, Line, Then, Unit};
    use model::load::Pace;
    use model::units::Nanos;

    /// Bursts of `on` seconds at `at`, `off` seconds at `between`.
    fn pace(on: u64, off: u64, at: u64, between: u64) -> Pace {
        let line = |seconds, level: u64| Line {
            length: Nanos::seconds(seconds),
            from: level * 1_000,
            to: level * 1_000,
        };
        let lines = vec![line(off, between), line(on, at)];
        let curve = Curve { unit: Unit::MilliIops, lines, then: Then::Repeats(0) };
        Pace::Changing { curve, poisson: false }
    }

    /// What a bucket of this size and refill gives back of it, second by second; it carries at most
    /// so many in each.
    fn given(pace: &Pace, size: f64, per_s: f64, most: f64, seconds: u64) -> Vec<SeriesPoint> {
        let offer = Offer::of(pace).expect("an open loop");
        let (mut tokens, mut waiting) = (size, 0.0);
        let mut all = Vec::new();
        for second in 0..seconds {
            waiting += offer.between(second * 1_000_000_000, (second + 1) * 1_000_000_000);
            tokens = f64::min(tokens + per_s, size + per_s);
            let done = f64::min(waiting, f64::min(tokens, most)).floor();
            tokens = f64::min(tokens - done, size);
            waiting -= done;
            all.push(SeriesPoint {
                start_s: second as f64,
                length_s: 1.0,
                ios: done as u64,
                bytes: 0,
                latency: Histogram::new(),
                errors: Some(second % 3),
            });
        }
        all
    }

    #[test]
    fn credits_and_their_refill_are_found_whatever_the_burst_is() {
        for (size, per_s, at, most) in [
            (50_000.0, 1_000.0, 6_000, 1e9),
            (50_000.0, 1_000.0, 6_000, 4_000.0),
            (8_000.0, 300.0, 2_000, 1e9),
        ] {
            let pace = pace(30, 90, at, 100);
            let points = given(&pace, size, per_s, most, 600);
            let offer = Offer::of(&pace).expect("an open loop");
            let found = credits(offer, &points).expect("credits");
            assert!((found.size / size - 1.0).abs() < 0.05, "{size}: {found:?}");
            assert!((found.per_s / per_s - 1.0).abs() < 0.05, "{per_s}: {found:?}");
            assert!(found.size_error < 0.05 && found.per_s_error < 0.05, "{found:?}");
        }
    }

    #[test]
    fn a_target_that_carries_the_same_for_good_has_no_credits() {
        let pace = pace(30, 90, 6_000, 100);
        let offer = Offer::of(&pace).expect("an open loop");
        for most in [1e9, 2_000.0] {
            assert_eq!(credits(offer, &given(&pace, 1e12, 1e9, most, 600)), None, "{most}");
        }
        assert_eq!(credits(offer, &[]), None);
    }

    #[test]
    fn a_burst_is_told_with_the_time_until_all_of_it_is_back() {
        let pace = pace(10, 90, 1_100, 100);
        let offer = Offer::of(&pace).expect("an open loop");
        let found = bursts(offer, &given(&pace, 1e12, 1e9, 600.0, 200));
        assert_eq!(found.len(), 2);
        // 500 a second pile up for 10 s, and 500 a second go.
        let first = found[0];
        assert_eq!(
            (first.from_s, first.to_s, first.asked, first.before),
            (90.0, 100.0, 1_100.0, 100.0)
        );
        assert_eq!(first.most_behind, 5_000.0);
        let back = first.back_after_s.expect("seen");
        assert!((9.0..=10.0).contains(&back), "{back}");
        assert_eq!(found[1].back_after_s, None, "the stage ends with it");
        let steady = Pace::Open { rate: model::load::Rate::Iops { milli: 5_000 }, poisson: false };
        assert_eq!(
            bursts(Offer::of(&steady).expect("open"), &given(&steady, 1e9, 1e9, 1e9, 9)),
            []
        );
    }

    /// A curve of levels per second for so many ms, or of ramps between two.
    fn curve(lines: &[(u64, u64, u64)]) -> Pace {
        let line = |(ms, from, to): &(u64, u64, u64)| Line {
            length: Nanos::millis(*ms),
            from: from * 1_000,
            to: to * 1_000,
        };
        let lines = lines.iter().map(line).collect();
        let curve = Curve { unit: Unit::MilliIops, lines, then: Then::Holds(500_000) };
        Pace::Changing { curve, poisson: false }
    }

    fn told(pace: &Pace, seconds: u64) -> Vec<(f64, f64, f64, f64)> {
        let offer = Offer::of(pace).expect("an open loop");
        let found = bursts(offer, &given(pace, 1e12, 1e9, 1e9, seconds));
        found.iter().map(|one| (one.from_s, one.to_s, one.asked, one.before)).collect()
    }

    #[test]
    fn a_burst_is_what_the_curve_says_and_neither_a_ramp_nor_a_stair_is_one() {
        assert_eq!(told(&curve(&[(12_000, 0, 2_000), (4_000, 2_000, 2_000)]), 16), []);
        let stairs = [(4_000, 500, 500), (4_000, 1_000, 1_000), (4_000, 2_000, 2_000)];
        assert_eq!(told(&curve(&stairs), 12), []);
        let bursts = [(1_000, 6_000, 6_000), (3_000, 2_000, 2_000), (1_000, 6_000, 6_000)];
        let all = [&stairs[..], &bursts, &[(3_000, 2_000, 2_000)]].concat();
        let expected = [(12.0, 13.0, 6_000.0, 2_000.0), (16.0, 17.0, 6_000.0, 2_000.0)];
        assert_eq!(told(&curve(&all), 20), expected);
        // Far shorter than an interval.
        let short = [(2_300, 100, 100), (200, 5_000, 5_000), (2_500, 100, 100)];
        assert_eq!(told(&curve(&short), 5), [(2.3, 2.5, 5_000.0, 100.0)]);
    }

    #[test]
    fn the_steps_of_a_rate_have_what_came_back_in_them() {
        let pace = curve(&[(4_000, 500, 500), (2_500, 1_000, 1_000), (4_000, 1_000, 3_000)]);
        let offer = Offer::of(&pace).expect("an open loop");
        let points = given(&pace, 1e12, 1e9, 800.0, 12);
        let found = rate_steps(offer, &points);
        let asked: Vec<(f64, f64, f64, f64)> = found
            .iter()
            .map(|one| (one.asked.from_s, one.asked.to_s, one.asked.from, one.asked.to))
            .collect();
        let expected = [
            (0.0, 4.0, 500.0, 500.0),
            (4.0, 6.5, 1_000.0, 1_000.0),
            (6.5, 10.5, 1_000.0, 3_000.0),
            (10.5, 12.0, 500.0, 500.0),
        ];
        assert_eq!(asked, expected);
        let done: Vec<Option<f64>> = found.iter().map(|one| one.done).collect();
        assert_eq!(done, [Some(500.0), Some(800.0), Some(800.0), Some(800.0)]);
        // Of whole seconds: 0 to 3, 4 and 5, 7 to 9, 11.
        let failed =
            |points| rate_steps(offer, points).iter().map(|one| one.errors).collect::<Vec<_>>();
        assert_eq!(failed(&points), [Some(3), Some(3), Some(3), Some(2)]);
        let mut unknown = points.clone();
        unknown[8].errors = None;
        assert_eq!(failed(&unknown), [Some(3), Some(3), None, Some(2)]);
    }
}
