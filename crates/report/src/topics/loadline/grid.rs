//! Maps of plain grids: what came back at each place of two swept axes, and where the suite's
//! objective ceases to hold.

use super::judged;
use super::map::{frame, label, map_axis};
use crate::ground::chart::{Map, Square};
use crate::ground::markup::{Markup, classed, paragraphs, plain};
use crate::ground::words;
use crate::pens::Table;
use crate::pens::json::{Value, each, object};
use analysis::loadline::map::{Axis, PlainMap, PlainPlace};
use model::{Bytes, Nanos, Percent, Quantity, Setting};

/// A figure at twice its limit, or beyond, has the strongest colour.
const STRONGEST: f64 = 2.0;
/// More maps than these are told in the table of results alone.
const MOST_MAPS: usize = 6;

fn name(map: &PlainMap) -> String {
    format!("{}: {} × {}", map.workload, map.axes[0].name, map.axes[1].name)
}

/// What the map says, in sentences.
pub fn sentences(map: &PlainMap) -> Vec<String> {
    let all = map.places.len();
    let Some(objective) = &map.objective else {
        return vec![format!(
            "All {all} places of the grid were measured. With [objective] in the suite, the map \
             has its contour."
        )];
    };
    let judged = map.places.iter().filter_map(|place| place.judged.as_ref());
    let holds = judged.filter(|point| point.holds).count();
    let mut said = vec![format!("`{objective}` held at {holds} of {all} places.")];
    if map.unordered > 0 {
        let rows = words::counted(map.unordered as u64, "row");
        said.push(format!(
            "No contour in {rows}: the objective fails there and holds again further on."
        ));
    }
    said
}

/// The sections of the page, a map for each load that was swept over a grid.
pub fn sections(maps: &[PlainMap]) -> Markup {
    maps.iter().take(MOST_MAPS).map(section).collect()
}

fn section(map: &PlainMap) -> Markup {
    let scenario = if map.scenario == "default" { String::new() } else { map.scenario.clone() };
    let title = [scenario.as_str(), &name(map)].join(" ");
    let mut content = plain("h2", format!("Map of {}", title.trim()));
    content.push(paragraphs(&sentences(map)));
    content.push(classed("div", "charts", chart(map)));
    if map.objective.is_some() {
        content.push(contour(map).scroll());
    }
    plain("section", content)
}

fn chart(map: &PlainMap) -> Markup {
    let (title, legend) = match &map.objective {
        Some(objective) => (
            format!("Where {objective} holds"),
            "the stronger the colour, the more of the limit is used; line: the contour, between \
             its bounds of 95 %",
        ),
        None => (
            "p99 latency".to_owned(),
            "the stronger the colour, the longer: each shade by the same factor",
        ),
    };
    let [least, most] = ends(map);
    let strength = |place: &PlainPlace| match (&map.objective, &place.judged, place.p99_ns) {
        (Some(_), Some(point), _) => (point.tried.excess / STRONGEST).min(1.0),
        (Some(_), None, _) | (None, _, None) => 1.0,
        (None, _, Some(ns)) if most > least => (ns as f64 / least).ln() / (most / least).ln(),
        (None, _, Some(_)) => 0.0,
    };
    let square = |place: &PlainPlace| Square {
        at: place.at,
        strength: strength(place),
        words: told(map, place),
        is_measured: false,
    };
    Map {
        title,
        description: sentences(map).join(" ").replace('`', ""),
        legend: legend.to_owned(),
        axes: [map_axis(&map.axes[0]), map_axis(&map.axes[1])],
        squares: map.places.iter().map(square).collect(),
        line: map.contour.iter().map(|one| [one.most, one.low, one.high]).collect(),
    }
    .render()
}

fn ends(map: &PlainMap) -> [f64; 2] {
    let all = || map.places.iter().filter_map(|place| place.p99_ns).map(|ns| ns.max(1) as f64);
    [all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max)]
}

fn told(map: &PlainMap, place: &PlainPlace) -> String {
    let label = |axis| label(&map.axes, axis, place.at);
    let judged =
        place.judged.as_ref().map_or(String::new(), |point| format!("; {}", judged(point)));
    format!(
        "{} × {}: {} IOPS, p99 {}{judged}",
        label(0),
        label(1),
        words::iops(place.iops),
        words::latency(place.p99_ns)
    )
}

fn contour(map: &PlainMap) -> Table<(usize, &Setting)> {
    Table::of(map.axes[1].values.iter().enumerate())
        .words(&map.axes[1].name, |(_, value)| value.label())
        .class("number")
        .words("Holds (95 %)", |(number, _)| holds(map, number))
        .bare()
}

/// How much of the first axis holds in a row.
fn holds(map: &PlainMap, row: usize) -> String {
    let axis = &map.axes[0];
    let places = map.places.iter().filter(|place| place.at[1] == row);
    let held: Vec<bool> =
        places.map(|place| place.judged.as_ref().is_some_and(|point| point.holds)).collect();
    let falls_once = held.windows(2).all(|pair| pair[0] || !pair[1]);
    let boundary = map.contour.get(row).filter(|_| falls_once);
    match boundary.and_then(|one| Some((one, one.most?))) {
        Some((one, most)) => {
            let bound = |value: Option<f64>, outside: &str| {
                value.map_or(outside.to_owned(), |value| figure(axis, value))
            };
            let [low, high] =
                [bound(one.low, "below the grid"), bound(one.high, "beyond the grid")];
            format!("{} up to {} ({low} to {high})", axis.name, figure(axis, most))
        }
        None if !falls_once => "fails, and holds again further on".to_owned(),
        None if held.first() == Some(&true) => "all of the grid".to_owned(),
        None => "fails from the least on".to_owned(),
    }
}

fn figure(axis: &Axis, value: f64) -> String {
    let whole = value.max(0.0).round();
    match axis.values.first().map(Setting::quantity) {
        Some(Quantity::Size(_)) => Bytes(whole as u64).to_string(),
        Some(Quantity::Time(_)) => Nanos(whole as u64).to_string(),
        Some(Quantity::Share(_)) => Percent { ppm: whole as u32 }.to_string(),
        Some(Quantity::Bandwidth(_)) => words::bandwidth(value),
        Some(Quantity::Iops(_)) => words::iops(value),
        _ => words::plain_number((value * 100.0).round() / 100.0),
    }
}

/// The field `maps` of the results.
pub fn objects(maps: &[PlainMap]) -> Vec<Value> {
    let place = |place: &PlainPlace| {
        let excess = place.judged.as_ref().map(|point| point.tried.excess);
        object! {
            of_limit: excess.filter(|excess| excess.is_finite()),
            holds: place.judged.as_ref().map(|point| point.holds),
            ..place { at, iops, mean_ns, p99_ns },
        }
    };
    let object = |map: &PlainMap| {
        let (axes, contour) = frame(&map.axes, &map.contour);
        object! {
            objective: map.objective.as_ref().map(ToString::to_string), axes,
            contour, places: each(&map.places, place), ..map { scenario, workload },
        }
    };
    each(maps, object)
}
