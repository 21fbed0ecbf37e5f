//! The load line over two rates: in words, as a map, and as an object.

use super::{judged, verdict};
use crate::ground::chart::{Map, MapAxis, Square};
use crate::ground::markup::{Markup, paragraphs, under};
use crate::ground::words;
use crate::pens::Table;
use crate::pens::json::{Value, each, object};
use analysis::loadline::LoadPoint;
use analysis::loadline::map::{Axis, Boundary, LoadMap, Place};
use model::setting::Setting;

/// A figure at twice its limit, or beyond, has the strongest colour.
const STRONGEST: f64 = 2.0;

/// The finding in sentences.
pub fn sentences(map: &LoadMap) -> Vec<String> {
    let known =
        |wanted: bool| map.places.iter().filter(|place| place.holds == Some(wanted)).count();
    let (all, holds, fails) = (map.places.len(), known(true), known(false));
    let mut told = vec![format!(
        "Map: `{}` held at {holds} of {all} places of {} × {}, and failed at {fails}; {} were \
         measured.",
        map.objective, map.axes[0].name, map.axes[1].name, map.measured
    )];
    if holds + fails < all {
        let open = (all - holds - fails) as u64;
        let open = words::counted(open, "place");
        told.push(format!("{open} near the contour: not known with 95 %."));
    }
    let ends = [
        map.contour.first().zip(Some(0)),
        map.contour.last().zip(map.contour.len().checked_sub(1)),
    ];
    told.extend(ends.into_iter().flatten().map(|(boundary, row)| {
        let label = map.axes[1].values.get(row).map_or("", Setting::label);
        format!("At {} {label}: {}.", map.axes[1].name, bears(&map.axes[0], boundary))
    }));
    if map.contradictions > 0 {
        let pairs = words::counted(map.contradictions as u64, "pair");
        told.push(format!(
            "Points contradict each other ({pairs}): less of both rates failed where more held. \
             Find what disturbs the target, then search again."
        ));
    }
    if !map.finished {
        told.push("The search was cut short: the contour is less sure.".to_owned());
    }
    told
}

/// `reads.rate up to 7,120 (6,900 to 7,300)`.
fn bears(axis: &Axis, boundary: &Boundary) -> String {
    let name = &axis.name;
    let bound = |value: Option<f64>, outside: &str| value.map_or(outside.to_owned(), words::iops);
    match boundary.most {
        Some(most) => format!(
            "{name} up to {} ({} to {})",
            words::iops(most),
            bound(boundary.low, "below the grid"),
            bound(boundary.high, "beyond the grid")
        ),
        None if boundary.low.is_some() => format!("{name} beyond the grid"),
        None if boundary.high.is_some() => format!("{name} below the grid"),
        None => format!("{name} not known within the grid"),
    }
}

/// The value of an axis at a place.
pub(super) fn label(axes: &[Axis], axis: usize, at: [usize; 2]) -> &str {
    axes[axis].values.get(at[axis]).map_or("", Setting::label)
}

pub(super) fn map_axis(axis: &Axis) -> MapAxis {
    MapAxis {
        name: axis.name.clone(),
        words: axis.values.iter().map(|one| one.label().to_owned()).collect(),
        values: axis.values.iter().map(|one| one.quantity().number().unwrap_or(0.0)).collect(),
    }
}

/// The map itself.
pub fn chart(map: &LoadMap) -> Markup {
    let square = |place: &Place| {
        let state = match (&place.point, place.holds) {
            (Some(point), _) => verdict(point),
            (None, Some(true)) => "holds, by its neighbours".to_owned(),
            (None, Some(false)) => "fails, by its neighbours".to_owned(),
            (None, None) => "not known".to_owned(),
        };
        Square {
            at: place.at,
            strength: if place.excess.is_finite() { place.excess / STRONGEST } else { 1.0 },
            words: format!(
                "{} × {}: {state}",
                label(&map.axes, 0, place.at),
                label(&map.axes, 1, place.at)
            ),
            is_measured: place.point.is_some(),
        }
    };
    Map {
        title: format!("Where `{}` holds", map.objective).replace('`', ""),
        description: sentences(map).join(" ").replace('`', ""),
        legend: "the stronger the colour, the more of the limit is used; circles: measured; line: \
                 the contour, between its bounds of 95 %"
            .to_owned(),
        axes: [map_axis(&map.axes[0]), map_axis(&map.axes[1])],
        squares: map.places.iter().map(square).collect(),
        line: map.contour.iter().map(|one| [one.most, one.low, one.high]).collect(),
    }
    .render()
}

/// The section of a run that searched over a grid; its map stands first on the page.
pub fn section(map: &LoadMap) -> Markup {
    let tables = [paragraphs(&sentences(map)), contour(map).scroll(), points(map).scroll()];
    under("Load line over two rates", tables)
}

fn contour(map: &LoadMap) -> Table<(&Boundary, &Setting)> {
    Table::of(map.contour.iter().zip(&map.axes[1].values))
        .figure(&map.axes[1].name, |(_, value)| value.label())
        .words("Holds (95 %)", |(boundary, _)| bears(&map.axes[0], boundary))
        .bare()
}

fn points(map: &LoadMap) -> Table<(&Place, &LoadPoint)> {
    let label = |place: &Place, axis| label(&map.axes, axis, place.at).to_owned();
    Table::of(map.places.iter().filter_map(|place| Some((place, place.point.as_ref()?))))
        .figure(&map.axes[0].name, |(place, _)| label(place, 0))
        .figure(&map.axes[1].name, |(place, _)| label(place, 1))
        .figure("IOPS", |(_, point)| words::iops(point.tried.carried))
        .figure("p50", |(_, point)| words::quantile(&point.latency, 0.5))
        .figure("p99", |(_, point)| words::quantile(&point.latency, 0.99))
        .figure("Errors", |(_, point)| words::count(point.errors))
        .words("Objective", |(_, point)| judged(point))
        .bare()
}

pub(super) fn frame(axes: &[Axis], contour: &[Boundary]) -> (Vec<Value>, Vec<Value>) {
    let axis = |axis: &Axis| {
        object! { name: axis.name, values: each(&axis.values, |one| one.quantity().number()) }
    };
    (each(axes, axis), each(contour, |one| object! { ..one { most, low, high } }))
}

/// The search as one object: the field `map` of the results.
pub fn object(map: &LoadMap) -> Value {
    let place = |place: &Place| {
        object! {
            of_limit: Some(place.excess).filter(|excess| excess.is_finite()),
            iops: place.point.as_ref().map(|point| point.tried.carried),
            measured: place.point.is_some(), ..place { at, holds },
        }
    };
    let (axes, contour) = frame(&map.axes, &map.contour);
    object! {
        objective: map.objective.to_string(), axes, contour,
        places: each(&map.places, place), ..map { measured, contradictions, finished },
    }
}
