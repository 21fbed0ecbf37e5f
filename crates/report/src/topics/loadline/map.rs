//! The load line over two rates: in words, as a map, and as an object.

use super::verdict;
use crate::ground::chart::{Map, MapAxis, Square};
use crate::ground::markup::{Markup, classed, element, plain, with_code};
use crate::ground::words;
use analysis::loadline::map::{Axis, Boundary, LoadMap, Place};
use model::setting::Setting;
use serde_json::{Value, json};

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
        None => format!("{name} not known within the grid"),
    }
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
    let label = |axis: usize, place: &Place| {
        map.axes[axis].values.get(place.at[axis]).map_or("", Setting::label).to_owned()
    };
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
            words: format!("{} × {}: {state}", label(0, place), label(1, place)),
            is_measured: place.point.is_some(),
        }
    };
    Map {
        title: format!("Where `{}` holds", map.objective).replace('`', ""),
        description: sentences(map).join(" "),
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
    let mut content = plain("h2", "Load line over two rates");
    content.push(sentences(map).iter().map(|said| plain("p", with_code(said))).collect::<Markup>());
    content.push(classed("div", "scroll", contour(map)));
    content.push(classed("div", "scroll", points(map)));
    plain("section", content)
}

fn heads(names: &[&str], last: &str) -> Markup {
    let number = |name: &&str| element("th", &[("scope", "col"), ("class", "number")], *name);
    let mut heads: Markup = names.iter().map(number).collect();
    heads.push(element("th", &[("scope", "col")], last));
    plain("thead", plain("tr", heads))
}

fn cells(figures: impl IntoIterator<Item = String>, last: String) -> Markup {
    let mut cells: Markup = figures.into_iter().map(|cell| classed("td", "number", cell)).collect();
    cells.push(plain("td", last));
    plain("tr", cells)
}

/// The contour as a table.
fn contour(map: &LoadMap) -> Markup {
    let row = |(boundary, value): (&Boundary, &Setting)| {
        cells([value.label().to_owned()], bears(&map.axes[0], boundary))
    };
    let body: Markup = map.contour.iter().zip(&map.axes[1].values).map(row).collect();
    let head = heads(&[&map.axes[1].name], "Holds (95 %)");
    element("table", &[], [head, plain("tbody", body)])
}

/// What was measured, as a table.
fn points(map: &LoadMap) -> Markup {
    let row = |place: &Place| {
        let point = place.point.as_ref()?;
        let label =
            |axis: usize| map.axes[axis].values.get(place.at[axis]).map_or("", Setting::label);
        let figures = [
            label(0).to_owned(),
            label(1).to_owned(),
            words::iops(point.tried.carried),
            words::latency(point.latency.quantile_ns(0.5)),
            words::latency(point.latency.quantile_ns(0.99)),
            words::count(point.errors),
        ];
        let word = if point.holds { "holds" } else { "does not hold" };
        Some(cells(figures, format!("{word}: {}", verdict(point))))
    };
    let body: Markup = map.places.iter().filter_map(row).collect();
    let names = [&*map.axes[0].name, &*map.axes[1].name, "IOPS", "p50", "p99", "Errors"];
    element("table", &[], [heads(&names, "Objective"), plain("tbody", body)])
}

/// The search as one object: the field `map` of the results.
pub fn object(map: &LoadMap) -> Value {
    let axis = |axis: &Axis| {
        json!({
            "name": axis.name,
            "values": axis.values.iter().map(|one| one.quantity().number()).collect::<Vec<_>>(),
        })
    };
    let place = |place: &Place| {
        json!({
            "at": place.at,
            "of_limit": Some(place.excess).filter(|excess| excess.is_finite()),
            "holds": place.holds,
            "iops": place.point.as_ref().map(|point| point.tried.carried),
            "measured": place.point.is_some(),
        })
    };
    let boundary = |one: &Boundary| json!({ "most": one.most, "low": one.low, "high": one.high });
    json!({
        "objective": map.objective.to_string(),
        "axes": map.axes.iter().map(axis).collect::<Vec<_>>(),
        "contour": map.contour.iter().map(boundary).collect::<Vec<_>>(),
        "measured": map.measured,
        "contradictions": map.contradictions,
        "finished": map.finished,
        "places": map.places.iter().map(place).collect::<Vec<_>>(),
    })
}
