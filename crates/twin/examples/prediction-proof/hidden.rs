//! Clusters with hidden parameters: their short suites are fitted, their long ones predicted.

use super::cases::simulated;
use analysis::prediction::calibration::{Judged, calibrate};
use analysis::prediction::drawn::{Drawn, Noise, Rate, modelled};
use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Instant;

const ROWS: usize = 20;

/// How often the short suite is measured.
const REPEATS: [usize; 2] = [1, 3];

/// Prints how often intervals hold, and which errors were announced.
pub fn told(first: u64, clusters: u64) {
    println!(
        "\n| measured by | short suite | rows stray by | clusters | refused | rows | in 90 % \
         interval | predicted | in interval | median error | marked | beyond 30 % | of these \
         marked |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    // Noise comes afterwards: each load is simulated once.
    let known: RefCell<HashMap<String, f64>> = RefCell::default();
    let simulation: Rate<'_> = &|truth, load| {
        let key = format!("{:?} {:?} {load:?}", truth.software, truth.nodes);
        let found = known.borrow().get(&key).copied();
        found.unwrap_or_else(|| {
            let rate = simulated(truth, load).rate;
            known.borrow_mut().insert(key, rate);
            rate
        })
    };
    for (by, rate) in [("the simulation", simulation), ("the model", &modelled)] {
        for repeats in REPEATS {
            for (name, noise) in [
                ("0 %", Noise::Of(0.0)),
                ("3 %", Noise::Of(0.03)),
                ("10 %", Noise::Of(0.1)),
                ("20 %", Noise::Of(0.2)),
                ("as held likely", Noise::Likely),
            ] {
                let measured = Measuring { by, rate, repeats, name, noise };
                row(&measured, first..first + clusters);
            }
        }
    }
}

/// How clusters are measured.
struct Measuring<'a> {
    by: &'a str,
    rate: Rate<'a>,
    repeats: usize,
    name: &'a str,
    noise: Noise,
}

fn row(measuring: &Measuring<'_>, seeds: std::ops::Range<u64>) {
    let Measuring { by, rate, repeats, name, noise } = *measuring;
    let clusters = seeds.end - seeds.start;
    let (mut rows, mut refused): (Vec<Judged>, u64) = (Vec::new(), 0);
    for seed in seeds {
        let mut drawn = Drawn::new(seed, noise).expect("a testbed without contradictions");
        match drawn.outcome(repeats, ROWS, rate) {
            Ok(outcome) => rows.extend(outcome.held_out),
            Err(_) => refused += 1,
        }
    }
    let share = |of: usize, all: usize| 100.0 * of as f64 / all.max(1) as f64;
    let covered = |rows: &[&Judged]| rows.iter().filter(|row| row.is_covered()).count();
    let all: Vec<&Judged> = rows.iter().collect();
    let inside: Vec<&Judged> = rows.iter().filter(|row| !row.is_extrapolated()).collect();
    let mut errors: Vec<f64> = inside.iter().map(|row| row.error().abs()).collect();
    errors.sort_by(f64::total_cmp);
    let median = errors.get(errors.len() / 2).copied().unwrap_or_default();
    let far: Vec<&Judged> = rows.iter().filter(|row| row.error().abs() > 0.3).collect();
    let flagged = far.iter().filter(|row| row.is_extrapolated()).count();
    let suite = if repeats == 1 { "once".to_owned() } else { format!("{repeats} times") };
    println!(
        "| {by} | {suite} | {name} | {clusters} | {refused} | {} | {:.1} % | {} | {:.1} % \
         | {:.1} % | {:.1} % | {} | {:.1} % |",
        all.len(),
        share(covered(&all), all.len()),
        inside.len(),
        share(covered(&inside), inside.len()),
        100.0 * median,
        share(all.len() - inside.len(), all.len()),
        far.len(),
        share(flagged, far.len()),
    );
}

/// The longest time that a fit of twenty rows took, in ms.
pub fn slowest_ms(clusters: u64) -> f64 {
    let mut slowest: f64 = 0.0;
    for seed in 0..clusters.min(50) {
        let mut drawn = Drawn::new(seed, Noise::Of(0.1)).expect("a testbed");
        let rows = drawn.long(ROWS, &modelled);
        let began = Instant::now();
        if calibrate(&drawn.cluster, &rows, &[]).is_ok() {
            slowest = slowest.max(began.elapsed().as_secs_f64() * 1e3);
        }
    }
    slowest
}
