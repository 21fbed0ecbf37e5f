//! How often intervals of predictions hold, on clusters at random with hidden parameters
//! (`docs/method/prediction.md` has what it prints).
//!
//! `cargo run -p analysis --features testing --example prediction-proof -- [CLUSTERS]`

#![allow(clippy::print_stdout)]

use analysis::prediction::calibration::{Judged, calibrate};
use analysis::prediction::drawn::{Drawn, Noise};
use std::time::{Duration, Instant};

const ROWS: usize = 20;

fn main() {
    let clusters: u64 = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(200);
    println!(
        "| rows stray by | clusters | refused | rows | in 90 % interval | not extrapolated | in \
         interval | median error | beyond 30 % | of these extrapolated |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (name, noise) in [
        ("as held likely", Noise::Likely),
        ("3 %", Noise::Of(0.03)),
        ("10 %", Noise::Of(0.1)),
        ("20 %", Noise::Of(0.2)),
    ] {
        told(name, noise, clusters);
    }
    println!("\nA fit of 20 rows took {:.1} ms at most.", slowest(clusters).as_secs_f64() * 1e3);
}

fn told(name: &str, noise: Noise, clusters: u64) {
    let (mut rows, mut refused): (Vec<Judged>, u64) = (Vec::new(), 0);
    for seed in 0..clusters {
        let mut drawn = Drawn::new(seed, noise).expect("a testbed without contradictions");
        match drawn.outcome(ROWS) {
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
    println!(
        "| {name} | {clusters} | {refused} | {} | {:.1} % | {} | {:.1} % | {:.1} % | {} | \
         {:.1} % |",
        all.len(),
        share(covered(&all), all.len()),
        inside.len(),
        share(covered(&inside), inside.len()),
        100.0 * median,
        far.len(),
        share(flagged, far.len()),
    );
}

fn slowest(clusters: u64) -> Duration {
    let mut slowest = Duration::ZERO;
    for seed in 0..clusters {
        let mut drawn = Drawn::new(seed, Noise::Of(0.1)).expect("a testbed");
        let rows = drawn.long(ROWS);
        let began = Instant::now();
        let done = calibrate(&drawn.cluster, &rows, &[]);
        if done.is_ok() {
            slowest = slowest.max(began.elapsed());
        }
    }
    slowest
}
