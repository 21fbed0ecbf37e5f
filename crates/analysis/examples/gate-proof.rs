//! What a gate does on simulated machines: false alarms, changes found and waved through, and the
//! pairs that it takes, as a table in Markdown. `cargo xtask gate-proof` keeps it in
//! `docs/method/gate.md`.
#![allow(clippy::print_stdout)]

use analysis::gate::noise::{Machine, Noise};
use analysis::gate::{Answer, Gate, Subject, Terms};

const TERMS: Terms = Terms { detect_percent: 3.0, power: 0.9, alpha: 0.05 };
/// A gate that knows nothing after so many pairs says so.
const MOST_PAIRS: usize = 1_500;

fn main() {
    let gates = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(400);
    println!("| noise | change | worse or better | no change | cannot tell | pairs | fixed size |");
    println!("|---|---|---|---|---|---|---|");
    for noise in Noise::ALL.iter().copied() {
        let fixed = fixed_size(noise);
        for percent in [0.0, 3.0, 5.0, 10.0] {
            row(noise, percent, gates, fixed);
        }
    }
}

/// The pairs of Student's paired test that finds 3 % with a power of 0.9 and, by two one-sided
/// tests, excludes it with the same: (1.645 + 1.645)² × variance ÷ 3 %², by 100,000 pairs.
fn fixed_size(noise: Noise) -> f64 {
    let mut machine = Machine::new(noise, 77);
    let squares: f64 = (0..100_000).map(|_| machine.pair(0.0).powi(2)).sum();
    10.82 * squares / 100_000.0 / 0.03_f64.ln_1p().powi(2)
}

fn row(noise: Noise, percent: f64, gates: u64, fixed: f64) {
    let (mut found, mut none, mut unknown, mut pairs) = (0, 0, 0, 0);
    for seed in 0..gates {
        let mut machine = Machine::new(noise, 1_000 * seed + percent as u64);
        let mut gate = Gate::new(TERMS, vec![Subject::CommandTime]);
        while gate.answer() == Answer::CannotTell && gate.pairs() < MOST_PAIRS {
            gate.add(&[machine.pair((percent / 100.0).ln_1p())]);
        }
        pairs += gate.pairs();
        match gate.answer() {
            Answer::Regression | Answer::Improvement if percent == 0.0 => found += 1,
            Answer::Regression => found += 1,
            // A change that is told with the wrong sign is not found.
            Answer::Improvement | Answer::CannotTell => unknown += 1,
            Answer::NoChange => none += 1,
        }
    }
    println!(
        "| {} | {percent} % | {} | {} | {unknown} | {:.0} | {fixed:.0} |",
        noise.word(),
        share(found, gates),
        share(none, gates),
        pairs as f64 / gates as f64,
    );
}

/// A share with its 95 % interval (Wilson, *Journal of the American Statistical Association* 22,
/// 1927).
fn share(count: u64, of: u64) -> String {
    let (n, z) = (of as f64, 1.96_f64);
    let part = count as f64 / n;
    let middle = (part + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (part * (1.0 - part) / n + z * z / (4.0 * n * n)).sqrt();
    let (low, high) = (100.0 * (middle - half).max(0.0), 100.0 * (middle + half).min(1.0));
    format!("{:.1} % ({low:.1} to {high:.1})", 100.0 * part)
}
