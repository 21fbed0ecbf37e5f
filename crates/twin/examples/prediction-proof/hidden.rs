//! Clusters with hidden parameters: their short suites are fitted, their long ones predicted.

use super::cases::simulated;
use analysis::prediction::calibration::{Judged, calibrate};
use analysis::prediction::drawn::{Drawn, Noise, Rate, modelled};
use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Instant;

const ROWS: usize = 20;
/// An error that has to be announced.
const FAR: f64 = 0.3;

/// How often the short suite is measured.
const REPEATS: [usize; 2] = [1, 3];

/// Prints how often intervals hold, and which errors were announced.
///
/// Errors are counted twice: against the row as it was measured, noise and all, and against what
/// the cluster carries without noise, which is what a prediction is of.
pub fn told(first: u64, clusters: u64) {
    println!(
        "\n| measured by | short suite | rows stray by | clusters | refused | rows | in 90 % \
         interval | predicted | in interval | median error | marked | beyond 30 % of the row | of \
         these marked | beyond 30 % without its noise | of these marked |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
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
                ("as held likely", Noise::Likely),
                ("0 %", Noise::Of(0.0)),
                ("3 %", Noise::Of(0.03)),
                ("10 %", Noise::Of(0.1)),
                ("20 %", Noise::Of(0.2)),
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
    let (mut rows, mut refused): (Vec<(Judged, f64)>, u64) = (Vec::new(), 0);
    for seed in seeds {
        let mut drawn = Drawn::new(seed, noise).expect("a testbed without contradictions");
        match drawn.outcome(repeats, ROWS, rate) {
            Ok(outcome) => rows.extend(outcome.held_out.into_iter().zip(outcome.rates)),
            Err(_) => refused += 1,
        }
    }
    let share = |of: usize, all: usize| 100.0 * of as f64 / all.max(1) as f64;
    let covered = |rows: &[&Judged]| rows.iter().filter(|row| row.is_covered()).count();
    let all: Vec<&Judged> = rows.iter().map(|(row, _)| row).collect();
    let inside: Vec<&Judged> = all.iter().copied().filter(|row| !row.is_extrapolated()).collect();
    let mut errors: Vec<f64> = inside.iter().map(|row| row.error().abs()).collect();
    errors.sort_by(f64::total_cmp);
    let median = errors.get(errors.len() / 2).copied().unwrap_or_default();
    let marked = |far: &dyn Fn(&Judged, f64) -> bool| {
        let far: Vec<&Judged> =
            rows.iter().filter(|(row, rate)| far(row, *rate)).map(|(row, _)| row).collect();
        let marked = far.iter().filter(|row| row.is_extrapolated()).count();
        format!("{} | {:.1} %", far.len(), share(marked, far.len()))
    };
    let of_row = marked(&|row, _| row.error().abs() > FAR);
    let of_rate = marked(&|row, rate| (row.predicted.value / rate - 1.0).abs() > FAR);
    let suite = if repeats == 1 { "once".to_owned() } else { format!("{repeats} times") };
    println!(
        "| {by} | {suite} | {name} | {clusters} | {refused} | {} | {:.1} % | {} | {:.1} % \
         | {:.1} % | {:.1} % | {of_row} | {of_rate} |",
        all.len(),
        share(covered(&all), all.len()),
        inside.len(),
        share(covered(&inside), inside.len()),
        100.0 * median,
        share(all.len() - inside.len(), all.len()),
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
