//! A grid of two swept axes of which every place was measured: a map of what came back, and where
//! the suite's objective ceases to hold.

use super::super::{LoadPoint, points};
use super::{Axis, Boundary, LEAP, SURE, UNKNOWN_ERROR};
use crate::rows::row::ResultRow;
use model::objective::Objective;
use model::search::{Search, SearchAxis};
use model::setting::Setting;
use model::{Nanos, Record};
use std::collections::{BTreeMap, BTreeSet};

/// Values of an axis, at least: fewer are bars.
const LEAST_VALUES: usize = 3;
/// Figures further from their limits than this, as a factor, are all alike.
const MOST_EXCESS: f64 = 1e3;

/// A grid that was measured as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct PlainMap {
    /// The scenario's label.
    pub scenario: String,
    /// The workloads that ran together.
    pub workload: String,
    /// What the suite asks to be kept; `None` where it asks nothing.
    pub objective: Option<Objective>,
    /// Across and up.
    pub axes: [Axis; 2],
    /// Every place, rows from the least value of the second axis on.
    pub places: Vec<PlainPlace>,
    /// For each value of the second axis, in rising order, how much of the first holds; nothing
    /// where no objective is, and no bounds in a row in which it holds, fails and holds again.
    pub contour: Vec<Boundary>,
    /// Rows in which the objective holds behind a place where it fails: they have no one boundary.
    pub unordered: usize,
}

/// One place of it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlainPlace {
    /// Its number along each axis, from 0.
    pub at: [usize; 2],
    /// The point's number in the plan; of repetitions, the last.
    pub point: u32,
    /// What was carried, in requests a second.
    pub iops: f64,
    /// The mean latency.
    pub mean_ns: Option<f64>,
    /// The latency that 99 of 100 requests did not exceed.
    pub p99_ns: Option<u64>,
    /// What came of the objective.
    pub judged: Option<LoadPoint>,
}

/// The maps of a run that swept two axes of numbers; none where a place is missing, or of a search,
/// which has a map of its own.
pub fn plain_maps(record: &Record, rows: &[ResultRow]) -> Vec<PlainMap> {
    if record.plan.search.is_some() {
        return Vec::new();
    }
    // Of repetitions the last: maps go by point, which rises.
    let mut groups: BTreeMap<(&str, &str), BTreeMap<Vec<Setting>, &ResultRow>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.is_of_point() && row.complete) {
        let group = groups.entry((&row.scenario, &row.workload)).or_default();
        group.insert(row.sweep.clone(), row);
    }
    let judged = judged(record, rows);
    groups.into_values().filter_map(|group| of_group(record, &group, &judged)).collect()
}

/// Every point against what the suite asks to be kept.
fn judged(record: &Record, rows: &[ResultRow]) -> BTreeMap<u32, LoadPoint> {
    let Some(objective) = record.plan.objective.clone() else { return BTreeMap::new() };
    let along = SearchAxis::Map;
    let asked = Search { objective, poisson: false, measure: Nanos(0), along, grid: Vec::new() };
    points(record, &asked, rows).into_iter().map(|point| (point.point, point)).collect()
}

fn of_group(
    record: &Record,
    group: &BTreeMap<Vec<Setting>, &ResultRow>,
    judged: &BTreeMap<u32, LoadPoint>,
) -> Option<PlainMap> {
    let (first, row) = group.iter().next().filter(|(sweep, _)| sweep.len() == 2)?;
    let (scenario, workload) = (row.scenario.clone(), row.workload.clone());
    let names = [first[0].axis(), first[1].axis()];
    let is_alike =
        |sweep: &Vec<Setting>| sweep.iter().map(Setting::axis).eq(names) && sweep.len() == 2;
    let is_number = |one: &Setting| one.quantity().number().is_some();
    if !group.keys().all(|sweep| is_alike(sweep) && sweep.iter().all(is_number)) {
        return None;
    }
    let axis = |number: usize| {
        let values: BTreeSet<&Setting> = group.keys().map(|sweep| &sweep[number]).collect();
        Axis { name: names[number].to_owned(), values: values.into_iter().cloned().collect() }
    };
    let axes = [axis(0), axis(1)];
    let [across, up] = [axes[0].values.len(), axes[1].values.len()];
    if across.min(up) < LEAST_VALUES || group.len() != across * up {
        return None;
    }
    let place = |at: [usize; 2]| {
        let row = group.get(&vec![axes[0].values[at[0]].clone(), axes[1].values[at[1]].clone()])?;
        Some(PlainPlace {
            at,
            point: row.point,
            iops: row.iops(),
            mean_ns: row.latency.mean_ns(),
            p99_ns: row.latency.quantile_ns(0.99),
            judged: judged.get(&row.point).cloned(),
        })
    };
    let all = (0..up).flat_map(|row| (0..across).map(move |column| [column, row]));
    let places: Vec<PlainPlace> = all.map(place).collect::<Option<_>>()?;
    let objective = record.plan.objective.clone();
    let rows = places.chunks(across);
    let (mut contour, mut unordered) = (Vec::new(), 0);
    for row in rows.filter(|_| objective.is_some()) {
        let figures: Option<Vec<Figure>> = row.iter().map(Figure::of).collect();
        let found = figures.as_deref().and_then(boundary);
        unordered += usize::from(found.is_none());
        let nothing = Boundary { most: None, low: None, high: None };
        contour.push(found.map_or(nothing, |places| Boundary::of(&axes[0], places)));
    }
    Some(PlainMap { scenario, workload, objective, axes, places, contour, unordered })
}

/// A figure against its limit, as a logarithm: above 0 it fails.
#[derive(Clone, Copy, Debug)]
struct Figure {
    ln: f64,
    error: f64,
    holds: bool,
}

impl Figure {
    fn of(place: &PlainPlace) -> Option<Figure> {
        let judged = place.judged.as_ref()?;
        let excess = judged.tried.excess.clamp(1.0 / MOST_EXCESS, MOST_EXCESS);
        let error = judged.tried.error.filter(|error| error.is_finite()).unwrap_or(UNKNOWN_ERROR);
        Some(Figure { ln: excess.ln(), error, holds: judged.holds })
    }

    /// The figure with its error, so many times of it.
    fn with(self, errors: f64) -> f64 {
        self.ln + errors * self.error
    }
}

/// Where the objective ceases to hold in a row: between two measured places, on the straight line
/// through the logarithms of their figures; and the same of both ends of their errors, or both
/// places where a figure is far from its limit. −1 is below the row, one more than its last place
/// beyond it. `None` for a row in which it holds behind a place where it fails.
fn boundary(row: &[Figure]) -> Option<[f64; 3]> {
    if row.windows(2).any(|pair| !pair[0].holds && pair[1].holds) {
        return None;
    }
    let crossing = |errors: f64| match row.iter().position(|one| one.with(errors) > 0.0) {
        None => row.len() as f64,
        Some(0) => -1.0,
        Some(above) => {
            let (low, high) = (row[above - 1].with(errors), row[above].with(errors));
            (above - 1) as f64 + (-low / (high - low)).clamp(0.0, 1.0)
        }
    };
    let [most, low, high] = [0.0, SURE, -SURE].map(crossing);
    let is_within = (0.0..row.len() as f64).contains(&most);
    let cell = is_within.then(|| [most.floor(), most.floor() + 1.0]);
    // Where a figure leaps over its limit, no line tells where between the two places it does.
    let is_far = |place: f64| row.get(place as usize).is_some_and(|one| one.ln.abs() > LEAP.ln());
    match cell.filter(|cell| cell.iter().any(|place| is_far(*place))) {
        Some([before, above]) => Some([most, low.min(before), high.max(above)]),
        None => Some([most, low, high]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Recorded;
    use model::{Event, Op, StageEnd};

    /// A grid of depth × workers on a target with `latency_ns(depth, workers)` for each request.
    fn maps(more: &str, latency_ns: fn(u64, u64) -> u64) -> Vec<PlainMap> {
        let suite = format!(
            "[stages]\nmeasure = \"1s\"\n[[workload]]\nname = \"w\"\n[sweep]\ndepth = [1, 2, 4, \
             8]\nworkers = [1, 2, 3]\n{more}"
        );
        let mut recorded = Recorded::new(&suite);
        let record = recorded.record();
        for (number, stage) in (0..).zip(&record.plan.stages) {
            let Some(point) = stage.point else { continue };
            let sweep = &record.plan.points[point as usize].sweep;
            let value = |at: usize| sweep[at].quantity().number().expect("a number") as u64;
            let latency = latency_ns(value(0), value(1));
            recorded.interval(number, 0, &[(Op::Read, &vec![latency; 5_000])]);
            recorded
                .record_mut()
                .apply(Event::StageEnded { stage: number, end: StageEnd::Complete });
        }
        let record = recorded.record();
        plain_maps(&record, &crate::results(&record))
    }

    #[test]
    fn a_grid_is_a_map_with_the_contour_of_its_objective() {
        let found = maps("[objective]\nkeep = \"mean < 1ms\"\n", |depth, workers| {
            100_000 * depth * workers
        });
        let [map] = &found[..] else { panic!("one map: {found:?}") };
        assert_eq!((map.places.len(), map.unordered), (12, 0));
        assert_eq!([map.axes[0].name.as_str(), &map.axes[1].name], ["depth", "workers"]);
        let most: Vec<Option<f64>> = map.contour.iter().map(|one| one.most).collect();
        // 100 µs × 8 holds with one worker; × 2: at depth 5; × 3: at 3.33. A logarithm of what is
        // linear between two places is off by less than a tenth of their distance.
        assert_eq!(most[0], None);
        assert!((most[1].expect("within") - 5.0).abs() < 0.4, "{most:?}");
        assert!((most[2].expect("within") - 3.33).abs() < 0.2, "{most:?}");
        let row = map.contour[2];
        assert!(row.low <= row.most && row.most <= row.high, "{row:?}");
        // Wholly held, to the end of the grid, and wholly failed, from its start on.
        assert_eq!((map.contour[0].low, map.contour[0].high), (Some(8.0), None));
        let none = maps("[objective]\nkeep = \"mean < 1us\"\n", |_, _| 100_000);
        let outside = Boundary { most: None, low: None, high: Some(1.0) };
        assert_eq!(none[0].contour, [outside; 3]);
    }

    #[test]
    fn a_row_that_holds_again_has_no_boundary_and_no_objective_no_contour() {
        let found = maps("[objective]\nkeep = \"mean < 1ms\"\n", |depth, workers| {
            if depth == 2 && workers == 2 { 5_000_000 } else { 100_000 }
        });
        assert_eq!(found[0].unordered, 1);
        assert_eq!(found[0].contour[1].most, None);
        let plain = maps("", |depth, _| 100_000 * depth);
        assert!(plain[0].contour.is_empty() && plain[0].objective.is_none());
        assert_eq!(plain[0].places[3].p99_ns.map(|ns| ns / 10_000), Some(80));
    }

    #[test]
    fn what_is_no_grid_of_numbers_is_no_map() {
        assert_eq!(maps("skip = \"depth * workers > 20\"\n", |_, _| 1), []);
    }
}
