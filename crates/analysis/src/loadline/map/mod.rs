//! Where on a grid of two rates an objective holds: the load line in two dimensions, from a tenth
//! of the grid's points.
//!
//! `docs/method/load-line.md`, "Over two rates".

mod plain;
mod surface;
#[cfg(test)]
mod tests;

use super::{LoadPoint, SURE, points};
use crate::rows::row::ResultRow;
use model::Record;
use model::objective::Objective;
use model::search::{Cell, SearchAxis};
use model::setting::Setting;
pub use plain::{PlainMap, PlainPlace, plain_maps};
use std::collections::BTreeSet;
use surface::{Estimate, Known, Surface};

/// One point is measured of so many places.
const OF_PLACES: usize = 10;
/// But so many at least.
const LEAST_POINTS: usize = 8;
/// 1 ÷ excess is not told beyond this, as along one rate.
const MOST_ROOM: f64 = 4.0;
/// Its error where nothing is known of it, as a share.
const UNKNOWN_ERROR: f64 = 0.05;
/// A figure further than this from its limit, as a factor, says nothing about where it reaches it.
const LEAP: f64 = 1.6;
/// Of the points, so many are nearer to the limit than that, unless the figure leaps over it.
const OF_NEAR: usize = 5;
/// The surface is followed between places of the grid in so many steps.
const STEPS: usize = 20;

/// What the search over a grid found.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadMap {
    /// What had to hold.
    pub objective: Objective,
    /// Across and up.
    pub axes: [Axis; 2],
    /// Every place of the grid, rows from the least value of the second axis on.
    pub places: Vec<Place>,
    /// The contour: for each value of the second axis, in rising order, how much of the first the
    /// target bears.
    pub contour: Vec<Boundary>,
    /// How many points were measured.
    pub measured: usize,
    /// Pairs of points of which the one with less of both rates failed and the other held.
    pub contradictions: usize,
    /// Whether the search came to its end.
    pub finished: bool,
}

/// One axis of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// As the suite has it: `reads.rate`.
    pub name: String,
    /// Its values, rising.
    pub values: Vec<Setting>,
}

impl Axis {
    /// The value at a place between two of the grid, in the unit of the axis.
    fn at(&self, place: f64) -> f64 {
        let number = |index: usize| self.values.get(index).and_then(|one| one.quantity().number());
        let low = place.floor().max(0.0) as usize;
        let below = number(low).unwrap_or(0.0);
        below + (place - low as f64) * (number(low + 1).unwrap_or(below) - below)
    }
}

/// One place of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Its number along each axis, from 0.
    pub at: [usize; 2],
    /// What was measured there.
    pub point: Option<LoadPoint>,
    /// The worst figure of the objective ÷ its limit, as far as it is known; infinite where the
    /// surface says that nothing of the room is left.
    pub excess: f64,
    /// Whether the objective holds there; `None` where that is not known with 95 %.
    pub holds: Option<bool>,
}

/// Where the objective ceases to hold, in one row of the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boundary {
    /// The most that it bears of the first axis; `None` where that is below the grid or beyond it.
    pub most: Option<f64>,
    /// With 95 %, it is no less; `None` where it may be below the grid. The greatest value of the
    /// axis where it is beyond the grid.
    pub low: Option<f64>,
    /// With 95 %, it is no more; `None` where it may be beyond the grid. The least value of the
    /// axis where it is below the grid.
    pub high: Option<f64>,
}

impl Boundary {
    /// That of a row, from places along the first axis: below 0 is below the grid.
    fn of(axis: &Axis, [most, low, high]: [f64; 3]) -> Boundary {
        let end = axis.values.len().saturating_sub(1) as f64;
        let at = |place: f64| (0.0..=end).contains(&place).then(|| axis.at(place));
        Boundary { most: at(most), low: at(low.min(end)), high: at(high.max(0.0)) }
    }
}

/// A place that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// Its number along each axis.
    pub at: [usize; 2],
    /// The worst figure ÷ its limit.
    pub excess: f64,
    /// The standard error of the excess, as a share of it; `None` where it is not known.
    pub error: Option<f64>,
}

impl Tried {
    fn room(&self) -> f64 {
        (1.0 / self.excess.max(1.0 / MOST_ROOM)).min(MOST_ROOM)
    }

    fn share(&self) -> f64 {
        self.error.filter(|error| error.is_finite()).unwrap_or(UNKNOWN_ERROR)
    }

    /// Whether it holds there without doubt, or fails.
    fn is_sure(&self, holds: bool) -> bool {
        let margin = (SURE * self.share()).exp();
        if holds { self.excess * margin <= 1.0 } else { self.excess > margin }
    }
}

/// What is known of a grid.
struct Grid<'a> {
    size: [usize; 2],
    tried: &'a [Tried],
    surface: Option<Surface>,
    /// Whether more of a rate never made the figure better.
    is_monotone: bool,
}

impl<'a> Grid<'a> {
    fn new(size: [usize; 2], tried: &'a [Tried]) -> Grid<'a> {
        let known: Vec<Known> = tried
            .iter()
            .map(|one| Known {
                at: scaled(size, [one.at[0] as f64, one.at[1] as f64]),
                value: one.room(),
                error: one.room() * one.share(),
            })
            .collect();
        let is_monotone = contradictions(tried) == 0;
        Grid { size, tried, surface: Surface::through(&known), is_monotone }
    }

    fn at(&self, place: [f64; 2]) -> Estimate {
        let nothing = Estimate { value: 1.0, error: f64::MAX };
        self.surface.as_ref().map_or(nothing, |surface| surface.at(scaled(self.size, place)))
    }

    /// What follows for a place from others: what holds with more of both rates holds here.
    fn follows(&self, at: [usize; 2]) -> Option<bool> {
        if !self.is_monotone {
            return None;
        }
        let (mut tells, within) =
            (self.tried.iter(), |a: [usize; 2], b: [usize; 2]| a[0] <= b[0] && a[1] <= b[1]);
        if tells.clone().any(|one| one.is_sure(true) && within(at, one.at)) {
            return Some(true);
        }
        tells.any(|one| one.is_sure(false) && within(one.at, at)).then_some(false)
    }

    fn holds(&self, at: [usize; 2]) -> Option<bool> {
        if let Some(one) = self.tried.iter().find(|one| one.at == at) {
            return Some(one.excess <= 1.0);
        }
        self.follows(at).or_else(|| {
            let Estimate { value, error } = self.at([at[0] as f64, at[1] as f64]);
            ((value - 1.0).abs() > SURE * error).then_some(value > 1.0)
        })
    }

    /// Whether the figure leaps over its limit, instead of passing it.
    fn leaps(&self) -> bool {
        let near = |one: &&Tried| (1.0 / LEAP..=LEAP).contains(&one.excess);
        self.tried.iter().filter(near).count() * OF_NEAR < self.tried.len()
    }

    /// The boundary in a row with its bounds, in places along the first axis: −1 is below the grid,
    /// one more than the last place beyond it.
    fn boundary(&self, row: usize) -> [f64; 3] {
        let end = (self.size[0] - 1) as f64;
        let first_below = |sign: f64| {
            let steps = (self.size[0] - 1) * STEPS;
            (0..=steps).map(|step| step as f64 / STEPS as f64).find(|place| {
                let Estimate { value, error } = self.at([*place, row as f64]);
                value + sign * SURE * error <= 1.0
            })
        };
        let [most, low, high] = [0.0, -1.0, 1.0].map(|sign| match first_below(sign) {
            Some(place) if place > 0.0 => place,
            Some(_) => -1.0,
            None => end + 1.0,
        });
        let follows: Vec<Option<bool>> =
            (0..self.size[0]).map(|column| self.follows([column, row])).collect();
        let least = follows.iter().rposition(|one| *one == Some(true)).map_or(-1.0, |at| at as f64);
        let greatest =
            follows.iter().position(|one| *one == Some(false)).map_or(end + 1.0, |at| at as f64);
        let within = |place: f64| place.clamp(least, greatest.max(least));
        // Where the figure leaps, no surface tells where between two points it does.
        let [low, high] = if self.leaps() { [least, greatest] } else { [low, high] };
        [most, low, high].map(within)
    }
}

/// A place of the grid on axes from 0 to 1.
fn scaled(size: [usize; 2], place: [f64; 2]) -> [f64; 2] {
    [0, 1].map(|axis| place[axis] / (size[axis].max(2) - 1) as f64)
}

/// Pairs of points of which the one with less of both rates failed without doubt, and the other
/// held.
fn contradictions(tried: &[Tried]) -> usize {
    let is_pair = |low: &Tried, high: &Tried| {
        low.at[0] <= high.at[0]
            && low.at[1] <= high.at[1]
            && low.is_sure(false)
            && high.is_sure(true)
    };
    tried.iter().map(|low| tried.iter().filter(|high| is_pair(low, high)).count()).sum()
}

/// How many points a grid of so many places gets: a tenth.
pub fn budget(places: usize) -> usize {
    places.div_ceil(OF_PLACES).max(LEAST_POINTS).min(places)
}

/// The next place of a grid to measure, by those that were; `None`: the search is over.
///
/// The corners come first. Then the place that tells most: where the surface is unsure and may be
/// at the limit (the straddle heuristic of B. Bryan and others, "Active learning for identifying
/// function threshold boundaries", NIPS 2005).
pub fn next(size: [usize; 2], tried: &[Tried]) -> Option<[usize; 2]> {
    if size.contains(&0) || tried.len() >= budget(size[0] * size[1]) {
        return None;
    }
    let grid = Grid::new(size, tried);
    let is_new =
        |at: &[usize; 2]| grid.tried.iter().all(|one| one.at != *at) && grid.follows(*at).is_none();
    let [right, top] = [size[0] - 1, size[1] - 1];
    let corners = [[0, 0], [right, top], [right, 0], [0, top]];
    if let Some(corner) = corners.into_iter().find(is_new) {
        return Some(corner);
    }
    let told = |at: &[usize; 2]| {
        let Estimate { value, error } = grid.at([at[0] as f64, at[1] as f64]);
        SURE * error - (value - 1.0).abs()
    };
    let all = (0..size[1]).flat_map(|row| (0..size[0]).map(move |column| [column, row]));
    all.filter(is_new).max_by(|a, b| told(a).total_cmp(&told(b)))
}

/// The values of both axes of a grid; `None` where it is none.
fn axes(grid: &[Cell]) -> Option<[Axis; 2]> {
    let axis = |number: usize| {
        let name = grid.first()?.sweep.get(number)?.axis().to_owned();
        let values: BTreeSet<&Setting> =
            grid.iter().filter_map(|cell| cell.sweep.get(number)).collect();
        Some(Axis { name, values: values.into_iter().cloned().collect() })
    };
    Some([axis(0)?, axis(1)?])
}

/// Where a combination of rates is on the grid.
fn place_of(axes: &[Axis; 2], sweep: &[Setting]) -> Option<[usize; 2]> {
    let along = |number: usize| {
        let value = sweep.get(number)?;
        axes.get(number)?.values.iter().position(|one| one == value)
    };
    Some([along(0)?, along(1)?])
}

/// The grid of a record that searches over one, and its points with their places; `None` of every
/// other record.
fn measured(record: &Record, rows: &[ResultRow]) -> Option<Measured> {
    let search = record.plan.search.as_ref().filter(|search| search.along == SearchAxis::Map)?;
    let axes = axes(&search.grid)?;
    let place = |point: LoadPoint| {
        let sweep = &record.plan.points.get(point.point as usize)?.sweep;
        Some((place_of(&axes, sweep)?, point))
    };
    let points = points(record, search, rows).into_iter().filter_map(place).collect();
    Some(Measured { axes, points })
}

struct Measured {
    axes: [Axis; 2],
    points: Vec<([usize; 2], LoadPoint)>,
}

impl Measured {
    fn size(&self) -> [usize; 2] {
        [0, 1].map(|axis: usize| self.axes[axis].values.len())
    }

    fn tried(&self) -> Vec<Tried> {
        let one = |(at, point): &([usize; 2], LoadPoint)| Tried {
            at: *at,
            excess: point.tried.excess,
            error: point.tried.error,
        };
        self.points.iter().map(one).collect()
    }
}

/// The number of the next place in the grid of the search of which `record` is all so far; `None`
/// where it is over.
pub fn next_cell(record: &Record) -> Option<usize> {
    let found = measured(record, &crate::results(record))?;
    // A point that cannot be judged would be asked for again and again.
    if found.points.len() < record.plan.points.len() {
        return None;
    }
    let at = next(found.size(), &found.tried())?;
    let grid = &record.plan.search.as_ref()?.grid;
    grid.iter().position(|cell| place_of(&found.axes, &cell.sweep) == Some(at))
}

/// What `record` found on its grid; `None` where its run searched over none.
pub fn load_map(record: &Record, rows: &[ResultRow]) -> Option<LoadMap> {
    let found = measured(record, rows)?;
    let (size, tried) = (found.size(), found.tried());
    let grid = Grid::new(size, &tried);
    let place = |at: [usize; 2]| {
        let point = found.points.iter().find(|(place, _)| *place == at).map(|(_, point)| point);
        let room = grid.at([at[0] as f64, at[1] as f64]).value;
        let estimated = if room > 0.0 { 1.0 / room } else { f64::INFINITY };
        Place {
            at,
            excess: point.map_or(estimated, |point| point.tried.excess),
            point: point.cloned(),
            holds: grid.holds(at),
        }
    };
    let all = (0..size[1]).flat_map(|row| (0..size[0]).map(move |column| [column, row]));
    let boundary = |row: usize| Boundary::of(&found.axes[0], grid.boundary(row));
    Some(LoadMap {
        objective: record.plan.search.as_ref()?.objective.clone(),
        places: all.map(place).collect(),
        contour: (0..size[1]).map(boundary).collect(),
        measured: found.points.len(),
        contradictions: contradictions(&tried),
        finished: next(size, &tried).is_none(),
        axes: found.axes,
    })
}
