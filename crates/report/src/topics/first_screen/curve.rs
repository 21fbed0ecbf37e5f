//! The question of a sweep of depth, workers or rate: how much throughput costs how much latency,
//! and where more load only buys latency.

use crate::ground::chart::{Axis, Curve, Curves, Place, Scale};
use crate::ground::markup::Markup;
use crate::ground::words;
use crate::topics::findings::charts::{STYLES, name};
use crate::topics::findings::large_bytes;
use analysis::{Covers, Finding, ResultRow};

/// The axes along which the load grows.
const LOADS: [&str; 3] = ["depth", "workers", "rate"];

/// The chart of a run; nothing without a sweep of the load.
pub fn chart(rows: &[ResultRow]) -> Option<Markup> {
    overlay(&[(String::new(), rows)])
}

/// The curves of runs in one picture, each with what stands before its names. Small requests are
/// drawn in requests, large ones in bandwidth: beside each other they would lie on an axis, so the
/// more numerous are drawn.
pub fn overlay(runs: &[(String, &[ResultRow])]) -> Option<Markup> {
    let findings: Vec<Vec<Finding>> =
        runs.iter().map(|(_, rows)| analysis::findings(rows)).collect();
    let is_load =
        |one: &&Finding| LOADS.contains(&one.axis.as_str()) && one.covers >= Covers::Workload;
    let loads: Vec<(&(String, &[ResultRow]), &Finding)> = runs
        .iter()
        .zip(&findings)
        .flat_map(|(run, found)| found.iter().filter(is_load).map(move |one| (run, one)))
        .collect();
    let first = loads.first()?.1;
    let is_small =
        |(run, one): &(&(String, &[ResultRow]), &Finding)| large_bytes(run.1, one).is_none();
    let alike = loads
        .iter()
        .copied()
        .filter(|(_, one)| one.axis == first.axis && one.is_metadata == first.is_metadata);
    let (small, large): (Vec<_>, Vec<_>) = alike.partition(is_small);
    let in_bytes = large.len() > small.len();
    let drawn = if in_bytes { large } else { small };
    let curves: Vec<Curve> = drawn
        .iter()
        .zip(STYLES)
        .map(|((run, found), style)| {
            let curve = curve(run.1, found, style, in_bytes);
            Curve { name: format!("{}{}", run.0, curve.name), ..curve }
        })
        .filter(|curve| curve.places.len() > 1)
        .collect();
    let places = || curves.iter().flat_map(|curve| &curve.places);
    let (xs, ys) = (|| places().map(|place| place.x), || places().map(|place| place.y));
    let y = Axis::latency(ys().fold(f64::INFINITY, f64::min), ys().fold(0.0, f64::max));
    let what = if in_bytes { "MiB/s" } else { words::rate_unit(first.is_metadata) };
    let more = loads.len().saturating_sub(curves.len());
    let rest = if more == 0 { String::new() } else { format!(" ({more} more below)") };
    let chart = Curves {
        title: format!("p99 latency against {what}, by {}{rest}", first.axis),
        axis: first.axis.clone(),
        x: Axis {
            name: what,
            scale: Scale::linear_to(xs().fold(0.0, f64::max)),
            words: if in_bytes {
                |value| words::mib_per_s(value * words::MEBI)
            } else {
                words::iops
            },
        },
        y,
        curves,
    };
    (!chart.curves.is_empty()).then(|| chart.render())
}

fn curve(rows: &[ResultRow], found: &Finding, style: &'static str, in_bytes: bool) -> Curve {
    let mut knee = None;
    let mut places = Vec::new();
    for (n, setting) in found.settings.iter().enumerate() {
        // The median run of a point's repetitions: rate and latency are those of one run.
        let mut here: Vec<&ResultRow> = rows
            .iter()
            .filter(|row| row.complete && found.has(row) && row.sweep.contains(setting))
            .collect();
        here.sort_by(|a, b| a.iops().total_cmp(&b.iops()));
        let Some(row) = here.get(here.len() / 2) else { continue };
        let Some(p99) = row.latency.quantile_ns(0.99) else { continue };
        if n == found.curve.knee && !found.curve.is_rising {
            knee = Some(places.len());
        }
        let x = if in_bytes { row.bytes_per_s() / words::MEBI } else { row.iops() };
        places.push(Place { x, y: (p99 as f64).max(1.0), label: setting.label().to_owned() });
    }
    Curve { name: name(found), style, places, knee }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::testing::{W, has};

    fn swept(axis: &str, counts: &[u64]) -> Vec<ResultRow> {
        let points = counts.iter().map(|count| vec![1_000 * count; *count as usize]);
        analysis::results(&crate::ground::testing::swept(&format!("{W}[sweep]\n{axis}\n"), points))
    }

    #[test]
    fn a_sweep_of_the_load_is_latency_against_throughput_with_its_knee() {
        let rows = swept("depth = \"1..16 x2\"", &[10, 20, 40, 41, 41]);
        let drawn = chart(&rows).expect("a curve").into_string();
        has(&drawn, &["p99 latency against IOPS, by depth", "dot line knee", "depth 4: 40.0 IOPS"]);
        assert_eq!(drawn.matches("class=\"place line read\"").count(), 5);
    }

    #[test]
    fn another_axis_is_another_question() {
        assert_eq!(chart(&swept("align = [512, 1024, 2048, 4096]", &[10, 20, 40, 41])), None);
        assert_eq!(chart(&[]), None);
    }
}
