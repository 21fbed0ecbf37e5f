//! The largest value of an axis at which an objective holds, from the points of a run that searched
//! for it: bisection on a logarithmic grid.
//!
//! `docs/method/load-line.md`, "Along other axes".

use super::points;
use crate::rows::row::ResultRow;
use model::objective::{Condition, Objective};
use model::search::SearchAxis;
use model::{Histogram, Record};

/// Steps of the grid for each doubling: neighbours are 9 % apart.
const STEPS: f64 = 8.0;
/// The grid has at most so many doublings, down from the greatest value.
const MOST_DOUBLINGS: f64 = 12.0;
/// The most points of a search.
pub const MOST_POINTS: usize = 12;

/// What a search along an axis found.
#[derive(Clone, Debug, PartialEq)]
pub struct AlongLine {
    /// What had to hold.
    pub objective: Objective,
    /// The axis.
    pub along: SearchAxis,
    /// The points in the order in which they were measured.
    pub points: Vec<AlongPoint>,
    /// The largest value at which the objective held, and the next that was measured above it, at
    /// which it did not.
    pub answer: Answer,
    /// Whether the search came to its end.
    pub finished: bool,
}

/// One point.
#[derive(Clone, Debug, PartialEq)]
pub struct AlongPoint {
    /// Requests, or bytes.
    pub value: u64,
    /// The worst figure of the objective ÷ its limit: it holds up to 1.
    pub excess: f64,
    /// The figure that is worst against its limit.
    pub worst: Option<Condition>,
    /// Requests per second that came back.
    pub carried: f64,
    /// Service times.
    pub latency: Histogram,
    /// Requests that failed.
    pub errors: u64,
}

/// See [`AlongLine::answer`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// `None` where the objective held at no value.
    pub value: Option<u64>,
    /// Whether it was measured twice at least.
    pub confirmed: bool,
    /// `None` where the objective held at the greatest value.
    pub fails_at: Option<u64>,
}

/// All measurements at one value.
#[derive(Clone, Copy, Debug)]
struct At {
    value: u64,
    count: usize,
    excess: f64,
}

/// What `record` found along its axis; `None` where its run searched along none, or along the rate.
pub fn along_line(record: &Record, rows: &[ResultRow]) -> Option<AlongLine> {
    let search = record.plan.search.as_ref()?;
    if matches!(search.along, SearchAxis::Rate | SearchAxis::Map) {
        return None;
    }
    let points: Vec<AlongPoint> = points(record, search, rows)
        .into_iter()
        .filter_map(|point| {
            Some(AlongPoint {
                value: record.plan.along(point.point)?,
                excess: point.tried.excess,
                worst: point.worst,
                carried: point.tried.carried,
                latency: point.latency,
                errors: point.errors,
            })
        })
        .collect();
    let tried: Vec<(u64, f64)> = points.iter().map(|point| (point.value, point.excess)).collect();
    let finished = next(record.plan.least_along()?, record.plan.along(0)?, &tried).is_none();
    Some(AlongLine {
        objective: search.objective.clone(),
        along: search.along,
        answer: answer(&tried),
        finished,
        points,
    })
}

/// The value of the next point of the search of which `record` is all so far; `None` where it is
/// over.
pub fn next_value(record: &Record) -> Option<u64> {
    let points = points(record, record.plan.search.as_ref()?, &crate::results(record));
    // A point that cannot be judged would be asked for again and again.
    if points.len() < record.plan.points.len() {
        return None;
    }
    let tried: Option<Vec<(u64, f64)>> = points
        .iter()
        .map(|point| Some((record.plan.along(point.point)?, point.tried.excess)))
        .collect();
    next(record.plan.least_along()?, record.plan.along(0)?, &tried?)
}

/// What to measure after these values with their excesses, from `least` to `most`; the greatest was
/// measured first. `None`: the search is over.
pub fn next(least: u64, most: u64, tried: &[(u64, f64)]) -> Option<u64> {
    if tried.len() >= MOST_POINTS || most == 0 || least > most {
        return None;
    }
    let values = by_value(tried);
    let Some(greatest) = values.last() else { return Some(most) };
    let found = answer(tried);
    let (Some(low), Some(high)) = (found.value, found.fails_at) else {
        return match found.value {
            // It holds up to the greatest value, which is said of two points.
            Some(value) => (!found.confirmed).then_some(value),
            None => {
                let floor = floor(least, most);
                (greatest.value > floor && values.first().is_some_and(|first| first.value > floor))
                    .then_some(floor)
            }
        };
    };
    // The last point belongs to the repetition, if there is none yet.
    let is_last = tried.len() + 1 == MOST_POINTS;
    match between(low, high, most) {
        Some(value) if !is_last || found.confirmed => Some(value),
        _ => (!found.confirmed).then_some(low),
    }
}

/// What these values with their excesses say: the largest that holds below the smallest that does
/// not.
pub fn answer(tried: &[(u64, f64)]) -> Answer {
    let values = by_value(tried);
    let fails_at = values.iter().find(|at| at.excess > 1.0).map(|at| at.value);
    let held = values
        .iter()
        .rev()
        .find(|at| at.excess <= 1.0 && fails_at.is_none_or(|fails| at.value < fails));
    Answer {
        value: held.map(|at| at.value),
        confirmed: held.is_some_and(|at| at.count > 1),
        fails_at,
    }
}

/// The smallest value of the grid.
fn floor(least: u64, most: u64) -> u64 {
    least.max((most as f64 / MOST_DOUBLINGS.exp2()).ceil() as u64).max(1)
}

/// The middle of the grid's values between two; `None` where they are neighbours.
fn between(low: u64, high: u64, most: u64) -> Option<u64> {
    // The k-th value from the top: most ÷ 2^(k ÷ 8).
    let step = |value: u64| (most as f64 / value.max(1) as f64).log2() * STEPS;
    if step(low) - step(high) < 1.5 {
        return None;
    }
    let middle = ((step(low) + step(high)) / 2.0).round();
    let value = (most as f64 / (middle / STEPS).exp2()).round() as u64;
    // Small counts are further apart than the grid.
    let value = if value > low && value < high { value } else { low + (high - low) / 2 };
    (value > low && value < high).then_some(value)
}

/// Merged and in rising order; excesses of repetitions are averaged.
fn by_value(tried: &[(u64, f64)]) -> Vec<At> {
    let mut values: Vec<At> = Vec::new();
    for (value, excess) in tried.iter().copied() {
        let excess = if excess.is_nan() { f64::INFINITY } else { excess };
        match values.iter_mut().find(|at| at.value == value) {
            Some(at) => {
                at.excess = (at.excess * at.count as f64 + excess) / (at.count as f64 + 1.0);
                at.count += 1;
            }
            None => values.push(At { value, count: 1, excess }),
        }
    }
    values.sort_by_key(|at| at.value);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole search, where `excess` says what a measurement of a value brings.
    fn search(least: u64, most: u64, mut excess: impl FnMut(u64) -> f64) -> (Answer, usize) {
        let mut tried = Vec::new();
        while let Some(value) = next(least, most, &tried) {
            assert!(
                tried.len() < MOST_POINTS && (least..=most).contains(&value),
                "{tried:?}: {value}"
            );
            tried.push((value, excess(value)));
        }
        (answer(&tried), tried.len())
    }

    #[test]
    fn a_sharp_edge_anywhere_is_found_within_a_step_of_the_grid_and_measured_twice() {
        for most in [256_u64, 1 << 20, 1 << 30, 100_000_000_000] {
            for part in 1..200 {
                let edge = (most as f64 * (f64::from(part) / 200.0).powi(3))
                    .max(most as f64 / 4_000.0)
                    .max(1.0);
                let (found, points) =
                    search(1, most, |value| if value as f64 <= edge { 0.5 } else { 2.0 });
                let value = found.value.expect("it holds somewhere") as f64;
                let (step, whole) = (f64::exp2(1.5 / STEPS), 1.0);
                assert!(
                    value <= edge && edge < value * step + whole,
                    "{edge} of {most}: {found:?}"
                );
                assert!(
                    found.confirmed && points <= MOST_POINTS,
                    "{edge} of {most}: {found:?} in {points}"
                );
            }
        }
    }

    #[test]
    fn what_holds_everywhere_or_nowhere_is_told_in_two_points() {
        let all = Answer { value: Some(64), confirmed: true, fails_at: None };
        assert_eq!(search(1, 64, |_| 0.9), (all, 2));
        assert_eq!(
            search(1, 64, |_| 1.1),
            (Answer { value: None, confirmed: false, fails_at: Some(1) }, 2)
        );
        assert_eq!(search(64, 64, |_| 1.1).1, 1);
        assert_eq!((next(1, 0, &[]), next(9, 8, &[])), (None, None));
    }

    #[test]
    fn a_repetition_that_breaks_the_objective_lowers_the_answer() {
        let mut seen = std::collections::BTreeMap::new();
        let (found, _) = search(1, 1 << 20, |value| {
            let times = seen.entry(value).and_modify(|times| *times += 1).or_insert(1);
            match value {
                value if value > 300_000 => 3.0,
                value if value > 270_000 && *times > 1 => 1.5,
                value if value > 270_000 => 0.99,
                _ => 0.5,
            }
        });
        // One step of the grid below the value that was taken first.
        assert_eq!((found.value, found.confirmed), (Some(262_144), true), "{found:?}");
        assert!(
            found.fails_at.is_some_and(|fails| (270_000..=300_000).contains(&fails)),
            "{found:?}"
        );
    }
}
