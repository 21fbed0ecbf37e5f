//! A search over the grid of two rates: each point is a place of the grid.

use super::{Addition, Cell, Search};
use crate::plan::{Plan, Point, Stop};
use crate::setting::{Quantity, Setting};
use std::collections::BTreeSet;

/// Values of an axis at least: fewer show no line.
const LEAST_VALUES: usize = 3;
const REMEDY: &str = "give two workloads of a group an axis each, such as `reads.rate = [1000, \
                      2000, 4000]` and `writes.rate = [500, 1000, 2000]`";

impl Plan {
    /// Turns a plan of a grid of two rates into the beginning of a search over it: its first point
    /// is the first of the grid.
    ///
    /// # Errors
    /// The points are no grid of two rates, or do not end after a time; in words.
    pub(crate) fn begin_map(&mut self, mut search: Search) -> Result<(), String> {
        is_grid(&self.points)?;
        if self.has_parts() {
            return Err("a map is that of one layout, and the scenarios of this suite have \
                        several; name one of them with --scenario"
                .to_owned());
        }
        let measured: Option<Vec<_>> = (0..self.points.len() as u32)
            .map(|point| self.stages.get(self.measure_stage(point)? as usize))
            .collect();
        let measured = measured.ok_or("a point without a measured stage")?;
        if measured.iter().any(|stage| stage.stop().time().is_none()) {
            return Err("a map needs workloads that go on for a time; leave out what bounds them"
                .to_owned());
        }
        let cell = |(point, stage): (&Point, &&crate::plan::Stage)| Cell {
            sweep: point.sweep.clone(),
            paces: stage.works.iter().map(|work| work.pace.clone()).collect(),
        };
        search.grid = self.points.iter().zip(&measured).map(cell).collect();
        // Those of the first point stay, and what comes before all of them.
        let is_first = |point: Option<u32>| point.is_none_or(|point| point == 0);
        let stay = self.stages.iter().take_while(|stage| is_first(stage.point)).count();
        self.points.truncate(1);
        self.stages.truncate(stay);
        for host in &mut self.hosts {
            host.stages.truncate(stay);
        }
        self.search = Some(search);
        Ok(())
    }

    /// The point at a place of the grid, behind those that there are. `None` where the plan is no
    /// such search, or the grid has no such place.
    pub fn at_cell(&self, cell: usize) -> Option<Addition> {
        let search = self.search.as_ref()?;
        let cell = search.grid.get(cell)?;
        let point = Point { sweep: cell.sweep.clone(), ..self.points.first()?.clone() };
        self.like(0, point, |number, work| {
            if let Some(pace) = cell.paces.get(number) {
                work.pace = pace.clone();
            }
            work.stop = Stop::After(search.measure);
        })
    }
}

/// Whether these points are all places of a grid of two rates, once each.
fn is_grid(points: &[Point]) -> Result<(), String> {
    let is_rate = |setting: &Setting| {
        matches!(setting.quantity(), Quantity::Iops(_) | Quantity::Bandwidth(_))
    };
    let axes = |point: &Point| -> Option<[String; 2]> {
        match point.sweep.as_slice() {
            [x, y] if is_rate(x) && is_rate(y) => Some([x, y].map(|one| one.axis().to_owned())),
            _ => None,
        }
    };
    let first = points.first().and_then(axes);
    if first.is_none() || points.iter().any(|point| axes(point) != first) {
        return Err(format!("a map has a grid of two rates, and this suite has none; {REMEDY}"));
    }
    if points.iter().any(|point| point.repetition > 1) {
        return Err("a map chooses its points itself; leave out repetitions".to_owned());
    }
    let workloads = points.first().map(|point| &point.workloads);
    if points.iter().any(|point| Some(&point.workloads) != workloads) {
        return Err("a map is that of one group, and this suite has others beside it; leave them \
                    out"
        .to_owned());
    }
    let values = |axis: usize| {
        let values: BTreeSet<&Setting> =
            points.iter().filter_map(|point| point.sweep.get(axis)).collect();
        values.len()
    };
    let [across, up] = [values(0), values(1)];
    if across < LEAST_VALUES || up < LEAST_VALUES {
        return Err(format!(
            "a grid of {across} × {up} rates has no line; give each axis {LEAST_VALUES} values or \
             more"
        ));
    }
    if across * up != points.len() {
        return Err(
            "the grid has gaps, or a rate twice; leave out `skip` and repeated values".to_owned()
        );
    }
    Ok(())
}
