//! What follows a burst: how long the target takes to be back, and what it lives on meanwhile.
//!
//! `docs/method/events.md`, "Bursts", says why each step is as it is.

use crate::offer::Offer;
use crate::series::SeriesPoint;

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
/// Intervals before a burst that say what its level before is.
const BEFORE: usize = 10;

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
    /// What came back per second before it.
    pub before: f64,
    /// The most that had not come back, of what was due.
    pub most_behind: f64,
    /// How long after its end everything had come back; `None` where that was not seen.
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

/// Each burst of a rate that changes by leaps; none of a rate that does not.
pub fn bursts(offer: Offer<'_>, points: &[SeriesPoint]) -> Vec<Burst> {
    let steps = steps(offer, points);
    let asked = |step: &Step| step.due / step.length_s;
    let (low, high) = steps.iter().fold((f64::INFINITY, 0.0), |(low, high), step| {
        (asked(step).min(low), asked(step).max(high))
    });
    if high <= 2.0 * low {
        return Vec::new();
    }
    let middle = low.midpoint(high);
    let mut found = Vec::new();
    let mut at = 0;
    while at < steps.len() {
        if asked(&steps[at]) <= middle {
            at += 1;
            continue;
        }
        let end = (at..steps.len()).find(|end| asked(&steps[*end]) <= middle);
        found.extend(burst(&steps, at, end.unwrap_or(steps.len())));
        at = end.unwrap_or(steps.len());
    }
    found
}

/// The burst of the steps from `from` up to `end`.
fn burst(steps: &[Step], from: usize, end: usize) -> Option<Burst> {
    let (first, last) = (steps.get(from)?, steps.get(end.checked_sub(1)?)?);
    let mine = &steps[from..end];
    let due: f64 = mine.iter().map(|step| step.due).sum();
    let seconds: f64 = mine.iter().map(|step| step.length_s).sum();
    let before = &steps[from.saturating_sub(BEFORE)..from];
    let before_s: f64 = before.iter().map(|step| step.length_s).sum();
    let done: f64 = before.iter().map(|step| step.done).sum();
    let behind_before = before.last().map_or(0.0, |step| step.behind);
    let rest = (GONE * due).max(FEW) + behind_before.max(0.0);
    let to_s = last.start_s + last.length_s;
    let is_back = |step: &&Step| step.behind <= rest;
    let back = steps[end - 1..].iter().find(is_back).map(|step| step.start_s + step.length_s);
    Some(Burst {
        from_s: first.start_s,
        to_s,
        asked: due / seconds,
        before: if before_s > 0.0 { done / before_s } else { 0.0 },
        most_behind: steps[from..]
            .iter()
            .take_while(|step| step.behind > rest || step.start_s < to_s)
            .map(|step| step.behind)
            .fold(0.0, f64::max),
        back_after_s: back.map(|at| (at - to_s).max(0.0)),
    })
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
}
