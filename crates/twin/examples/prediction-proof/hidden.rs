//! Clusters with hidden parameters: their short suites are fitted, their long ones predicted.

use super::cases::simulated;
use analysis::prediction::calibration::{Judged, calibrate};
use analysis::prediction::drawn::{Drawn, Noise, Rate, modelled};
use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Instant;

/// Rows of a long suite.
const ROWS: usize = 12;
/// Rows of the fit whose time is stated.
const FITTED_ROWS: usize = 20;
/// An error that has to be announced.
const FAR: f64 = 0.3;
/// How often the short suite is measured, and how far rows stray.
const MEASURED: [(usize, &str, Noise); 5] = [
    (1, "as held likely", Noise::Likely),
    (1, "0 %", Noise::Of(0.0)),
    (1, "20 %", Noise::Of(0.2)),
    (3, "as held likely", Noise::Likely),
    (3, "20 %", Noise::Of(0.2)),
];
/// Probabilities of an error above 30 % from which on a row is wide: other limits than the one in
/// force.
const MAY_BE_FAR: [f64; 6] = [0.005, 0.01, 0.02, 0.05, 0.1, 1.0];

/// Rows as they were judged, each with its rate without noise.
type Rows = Vec<(Judged, f64)>;

/// Prints how often intervals hold, which errors were announced, and what other rules would find.
///
/// Errors are counted twice: against the row as it was measured, noise and all, and against what
/// the cluster carries without noise, which is what a prediction is of.
pub fn told(first: u64, clusters: u64) {
    println!(
        "\n| short suite | rows stray by | clusters | refused | rows | in 90 % interval \
         | predicted | in interval | median error | marked | marked though right \
         | beyond 30 % of the row \
         | of these marked | beyond 30 % without its noise | of these marked |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    // Noise comes afterwards: each load is simulated once.
    let known: RefCell<HashMap<String, f64>> = RefCell::default();
    let simulation: Rate<'_> = &|truth, load| {
        let key = format!("{:?} {:?} {:?} {load:?}", truth.software, truth.nodes, truth.protection);
        let found = known.borrow().get(&key).copied();
        found.unwrap_or_else(|| {
            let rate = simulated(truth, load).rate;
            known.borrow_mut().insert(key, rate);
            rate
        })
    };
    let mut all = Rows::new();
    for (repeats, name, noise) in MEASURED {
        let measured = Measuring { rate: simulation, repeats, name, noise };
        all.extend(row(&measured, first..first + clusters));
    }
    curve(&all);
}

/// Which share of rows is marked, and of errors found, with other limits.
fn curve(rows: &Rows) {
    println!("\n| wide above | marked | errors beyond 30 % without noise | marked |");
    println!("|---|---|---|---|");
    for limit in MAY_BE_FAR {
        let is_marked = |row: &Judged| row.is_extrapolated() || row.far_off > limit;
        let marked = rows.iter().filter(|(row, _)| is_marked(row)).count();
        let far: Vec<&Judged> =
            rows.iter().filter(|(row, rate)| is_far(row, *rate)).map(|(row, _)| row).collect();
        let found = far.iter().filter(|row| is_marked(row)).count();
        let above = if limit < 1.0 {
            format!("{} %", 100.0 * limit)
        } else {
            "extrapolated alone".to_owned()
        };
        println!(
            "| {above} | {:.1} % | {} | {:.1} % |",
            share(marked, rows.len()),
            far.len(),
            share(found, far.len())
        );
    }
}

/// Whether a prediction is far from what the cluster carries.
fn is_far(row: &Judged, rate: f64) -> bool {
    (row.predicted.value / rate - 1.0).abs() > FAR
}

fn share(of: usize, all: usize) -> f64 {
    100.0 * of as f64 / all.max(1) as f64
}

/// How clusters are measured.
struct Measuring<'a> {
    rate: Rate<'a>,
    repeats: usize,
    name: &'a str,
    noise: Noise,
}

/// Prints the row of the table, and comes back with the rows of the suites.
fn row(measuring: &Measuring<'_>, seeds: std::ops::Range<u64>) -> Rows {
    let Measuring { rate, repeats, name, noise } = *measuring;
    let clusters = seeds.end - seeds.start;
    let (mut rows, mut refused): (Rows, u64) = (Vec::new(), 0);
    for seed in seeds {
        let mut drawn = Drawn::new(seed, noise).expect("a testbed without contradictions");
        match drawn.outcome(repeats, ROWS, rate) {
            Ok(outcome) => rows.extend(outcome.held_out.into_iter().zip(outcome.rates)),
            Err(_) => refused += 1,
        }
    }
    let covered = |rows: &[&Judged]| rows.iter().filter(|row| row.is_covered()).count();
    let all: Vec<&Judged> = rows.iter().map(|(row, _)| row).collect();
    let is_marked = |row: &Judged| row.is_extrapolated() || row.is_wide();
    let inside: Vec<&Judged> = all.iter().copied().filter(|row| !is_marked(row)).collect();
    let mut errors: Vec<f64> = inside.iter().map(|row| row.error().abs()).collect();
    errors.sort_by(f64::total_cmp);
    let median = errors.get(errors.len() / 2).copied().unwrap_or_default();
    let marked = |far: &dyn Fn(&Judged, f64) -> bool| {
        let far: Vec<&Judged> =
            rows.iter().filter(|(row, rate)| far(row, *rate)).map(|(row, _)| row).collect();
        let marked = far.iter().filter(|row| is_marked(row)).count();
        format!("{} | {:.1} %", far.len(), share(marked, far.len()))
    };
    let of_row = marked(&|row, _| row.error().abs() > FAR);
    let of_rate = marked(&is_far);
    let right = marked(&|row, rate| !is_far(row, rate));
    let right = right.split_once("| ").map_or("", |(_, share)| share);
    let suite = if repeats == 1 { "once".to_owned() } else { format!("{repeats} times") };
    println!(
        "| {suite} | {name} | {clusters} | {refused} | {} | {:.1} % | {} | {:.1} % \
         | {:.1} % | {:.1} % | {right} | {of_row} | {of_rate} |",
        all.len(),
        share(covered(&all), all.len()),
        inside.len(),
        share(covered(&inside), inside.len()),
        100.0 * median,
        share(all.len() - inside.len(), all.len()),
    );
    rows
}

/// The longest time that a fit of twenty rows took, in ms.
pub fn slowest_ms(clusters: u64) -> f64 {
    let mut slowest: f64 = 0.0;
    for seed in 0..clusters.min(50) {
        let mut drawn = Drawn::new(seed, Noise::Of(0.1)).expect("a testbed");
        let rows = drawn.long(FITTED_ROWS, &modelled);
        let began = Instant::now();
        if calibrate(&drawn.cluster, &rows, &[]).is_ok() {
            slowest = slowest.max(began.elapsed().as_secs_f64() * 1e3);
        }
    }
    slowest
}
