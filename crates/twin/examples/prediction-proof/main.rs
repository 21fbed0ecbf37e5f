//! How far predictions hold: mean-value analysis beside the simulation, and intervals on clusters
//! with hidden parameters (`docs/method/prediction.md` has what it prints).
//!
//! `cargo run -p twin --example prediction-proof -- [--cases N] [--files N] [--skewed N]
//! [--partly N] [--fewer N] [--deep N] [--clusters N] [--first SEED] [--worst] [--reports]
//! [--threads N] [--kept FILE]`: a file keeps the clusters that are done, and a proof that is cut
//! short goes on there.

#![allow(clippy::print_stdout)]

mod cases;
mod closed;
mod hidden;
mod kept;
mod reports;

use cases::Of;

/// Kinds of cases: their options, and how many are drawn where nobody says.
const CASES: [(&str, Of, u64); 6] = [
    ("--cases", Of::Blocks, 500),
    ("--files", Of::Files, 0),
    ("--skewed", Of::Skewed, 0),
    ("--partly", Of::PartlyInOrder, 0),
    ("--fewer", Of::FewerHosts, 0),
    ("--deep", Of::DeepStreams, 0),
];

struct Asked {
    counts: [u64; CASES.len()],
    clusters: u64,
    first: u64,
    worst: bool,
    reports: bool,
    threads: u64,
    kept: Option<String>,
}

fn asked() -> Asked {
    let mut asked = Asked {
        counts: CASES.map(|(_, _, count)| count),
        clusters: 200,
        first: 0,
        worst: false,
        reports: false,
        threads: 1,
        kept: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--kept" {
            asked.kept = arguments.next();
            continue;
        }
        let mut number = || {
            let text = arguments.next().unwrap_or_default();
            text.parse::<u64>().unwrap_or_else(|_| panic!("`{argument}` takes a number"))
        };
        if let Some(place) = CASES.iter().position(|(option, ..)| *option == argument) {
            asked.counts[place] = number();
            continue;
        }
        match argument.as_str() {
            "--clusters" => asked.clusters = number(),
            "--first" => asked.first = number(),
            "--threads" => asked.threads = number(),
            "--worst" => asked.worst = true,
            "--reports" => asked.reports = true,
            other => {
                panic!(
                    "`{other}` is not known; give --cases N, --files N, --skewed N, --partly N, \
                     --fewer N, --deep N, --clusters N, --first SEED, --worst, --reports, \
                     --threads N, --kept FILE"
                )
            }
        }
    }
    asked
}

fn main() {
    let asked = asked();
    if asked.reports {
        reports::told();
    }
    for ((_, of, _), count) in CASES.into_iter().zip(asked.counts) {
        if count > 0 {
            cases::told(asked.first, count, asked.worst, of);
        }
    }
    if asked.clusters > 0 {
        let kept = asked.kept.as_deref().map(kept::Kept::in_file).unwrap_or_default();
        hidden::told(asked.first, asked.clusters, asked.threads as usize, kept);
        println!("\nA fit of 20 rows took {:.0} ms at most.", hidden::slowest_ms(asked.clusters));
    }
}
