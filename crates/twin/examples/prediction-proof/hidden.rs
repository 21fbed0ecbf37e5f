//! Clusters with hidden parameters: their short suites are fitted, their long ones predicted.

use super::cases::simulated;
use super::kept::{Kept, Predicted};
use analysis::prediction::calibration::{Judged, WIDE, calibrate};
use analysis::prediction::drawn::{Drawn, Noise, Rate, modelled};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
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

/// Prints how often intervals hold, which errors were announced, and what other rules would find.
///
/// Errors are counted twice: against the row as it was measured, noise and all, and against what
/// the cluster carries without noise, which is what a prediction is of. What `kept` has already is
/// not computed again.
pub fn told(first: u64, clusters: u64, threads: usize, kept: Kept) {
    let kept = Mutex::new(kept);
    let next = AtomicU64::new(first);
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + clusters {
                        return;
                    }
                    if !kept.lock().expect("no panic").has(seed) {
                        let found = of_cluster(seed);
                        kept.lock().expect("no panic").add(seed, found);
                    }
                }
            });
        }
    });
    let kept = kept.into_inner().expect("no panic");
    println!(
        "\n| short suite | rows stray by | clusters | refused | rows | in 90 % interval \
         | predicted | in interval | median error | marked | marked though right \
         | beyond 30 % of the row \
         | of these marked | beyond 30 % without its noise | of these marked |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let seeds = first..first + clusters;
    let mut all = Vec::new();
    for (number, (repeats, name, _)) in MEASURED.into_iter().enumerate() {
        let of: Vec<&Option<Vec<Predicted>>> =
            seeds.clone().filter_map(|seed| kept.of(seed, number)).collect();
        let rows: Vec<Predicted> = of.iter().copied().flatten().flatten().copied().collect();
        let refused = of.iter().filter(|rows| rows.is_none()).count();
        row(&Way { repeats, name, clusters: of.len(), refused }, &rows);
        all.extend(rows);
    }
    curve(&all);
}

/// What each way of measuring says of the rows of a cluster; nothing where its fit is refused.
fn of_cluster(seed: u64) -> Vec<Option<Vec<Predicted>>> {
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
    let measured = |(repeats, _, noise): (usize, &str, Noise)| {
        let mut drawn = Drawn::new(seed, noise).expect("a testbed without contradictions");
        let outcome = drawn.outcome(repeats, ROWS, simulation).ok()?;
        let rows = outcome.held_out.iter().zip(&outcome.rates);
        Some(rows.map(|(row, rate)| predicted(row, *rate)).collect())
    };
    MEASURED.into_iter().map(measured).collect()
}

fn predicted(row: &Judged, carried: f64) -> Predicted {
    Predicted {
        value: row.predicted.value,
        low: row.predicted.low,
        high: row.predicted.high,
        measured: row.row.rate,
        carried,
        far_off: row.far_off,
        is_extrapolated: row.is_extrapolated(),
    }
}

/// Which share of rows is marked, and of errors found, with other limits.
fn curve(rows: &[Predicted]) {
    println!(
        "\n| wide above | marked | marked though right | errors beyond 30 % without noise \
         | marked |"
    );
    println!("|---|---|---|---|---|");
    let far: Vec<&Predicted> = rows.iter().filter(|row| row.is_far(FAR)).collect();
    let right: Vec<&Predicted> = rows.iter().filter(|row| !row.is_far(FAR)).collect();
    for limit in MAY_BE_FAR {
        let of = |rows: &[&Predicted]| {
            share(rows.iter().filter(|row| row.is_marked(limit)).count(), rows.len())
        };
        let above = if limit < 1.0 {
            format!("{} %", 100.0 * limit)
        } else {
            "extrapolated alone".to_owned()
        };
        let marked = rows.iter().filter(|row| row.is_marked(limit)).count();
        println!(
            "| {above} | {:.1} % | {:.1} % | {} | {:.1} % |",
            share(marked, rows.len()),
            of(&right),
            far.len(),
            of(&far)
        );
    }
}

fn share(of: usize, all: usize) -> f64 {
    100.0 * of as f64 / all.max(1) as f64
}

/// A way of measuring, and what became of the clusters.
struct Way<'a> {
    repeats: usize,
    name: &'a str,
    clusters: usize,
    refused: usize,
}

fn row(way: &Way<'_>, rows: &[Predicted]) {
    let Way { repeats, name, clusters, refused } = *way;
    let covered = |rows: &[&Predicted]| rows.iter().filter(|row| row.is_covered()).count();
    let all: Vec<&Predicted> = rows.iter().collect();
    let inside: Vec<&Predicted> = all.iter().copied().filter(|row| !row.is_marked(WIDE)).collect();
    let mut errors: Vec<f64> =
        inside.iter().map(|row| (row.value / row.measured - 1.0).abs()).collect();
    errors.sort_by(f64::total_cmp);
    let median = errors.get(errors.len() / 2).copied().unwrap_or_default();
    let marked = |is_it: &dyn Fn(&Predicted) -> bool| {
        let these: Vec<&Predicted> = all.iter().copied().filter(|row| is_it(row)).collect();
        let marked = these.iter().filter(|row| row.is_marked(WIDE)).count();
        (these.len(), share(marked, these.len()))
    };
    let of_row = marked(&|row| (row.value / row.measured - 1.0).abs() > FAR);
    let of_rate = marked(&|row| row.is_far(FAR));
    let right = marked(&|row| !row.is_far(FAR));
    let suite = if repeats == 1 { "once".to_owned() } else { format!("{repeats} times") };
    println!(
        "| {suite} | {name} | {clusters} | {refused} | {} | {:.1} % | {} | {:.1} % \
         | {:.1} % | {:.1} % | {:.1} % | {} | {:.1} % | {} | {:.1} % |",
        all.len(),
        share(covered(&all), all.len()),
        inside.len(),
        share(covered(&inside), inside.len()),
        100.0 * median,
        share(all.len() - inside.len(), all.len()),
        right.1,
        of_row.0,
        of_row.1,
        of_rate.0,
        of_rate.1,
    );
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
